// Package markdown_test reads the reviews that batchwright writes for pull
// requests with a parser of GitHub Flavored Markdown.
package markdown_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/tools/txtar"
)

// own matches the HTML that batchwright itself puts into a review, line by line.
var own = regexp.MustCompile(`^(<!-- batchwright review(: [a-z0-9-]+)? -->|<details><summary>(<b>[a-zA-Z0-9, ]+</b>` +
	`( \([0-9]+\)|: [a-z0-9, ]+)?|<code>[^<>]*</code>: [a-z0-9, ]+)</summary>|</details>)$`)

// row matches the beginning of a line of a table, which can be in an alert.
var row = regexp.MustCompile(`(?m)^(> )?\| `)

// TestReviews checks that a review contains only text and code. It has no link,
// image, emphasis or HTML except what batchwright itself put there, and every row
// of a table has its cells.
func TestReviews(t *testing.T) {
	for name, source := range readReviews(t) {
		t.Run(name, func(t *testing.T) {
			for _, problem := range check(source) {
				t.Error(problem)
			}
		})
	}
}

// readReviews returns the reviews of golden/review and golden/pulls, by file.
func readReviews(t *testing.T) map[string][]byte {
	t.Helper()
	glob := func(pattern string) []string {
		files, err := filepath.Glob("../../golden/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no reviews in golden/%s: %v", pattern, err)
		}
		return files
	}
	reviews := map[string][]byte{}
	for _, file := range glob("review/*.txtar") {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "review.md" {
				reviews[filepath.Base(file)] = f.Data
			}
		}
	}
	for _, file := range glob("pulls/*.md") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reviews[filepath.Base(file)] = source
	}
	return reviews
}

func check(source []byte) []string {
	var problems []string
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	tables, rows := 0, 0
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			// Only batchwright itself breaks lines. A tag of a blueprint is code.
			if html := string(n.Segments.Value(source)); html != "<br>" {
				problems = append(problems, "there is HTML: "+html)
			}
		case *ast.Link:
			if string(n.Destination) != guide {
				problems = append(problems, "there is a link to "+string(n.Destination))
			}
		case *ast.Image, *ast.AutoLink, *extast.Strikethrough, *extast.TaskCheckBox,
			*ast.CodeBlock, *ast.ThematicBreak:
			problems = append(problems, "there is a "+n.Kind().String())
		case *ast.Emphasis:
			if n.Level != 2 || n.Parent().Parent().Kind() != ast.KindBlockquote && !isHeadline(n) {
				problems = append(problems, "there is emphasis outside of the alert")
			}
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(source))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(source))
			}
			for line := range strings.Lines(strings.TrimSpace(html)) {
				if line = strings.TrimSpace(line); !own.MatchString(line) {
					problems = append(problems, "there is HTML: "+line)
				}
			}
		case *ast.FencedCodeBlock:
			if string(n.Language(source)) != "diff" {
				problems = append(problems, "there is another block of code")
			}
		case *extast.Table:
			tables++
		case *extast.TableRow:
			rows++
			if n.ChildCount() != 3 && !isJobs(n.Parent(), source) {
				problems = append(problems, "a row has other cells")
			}
		case *ast.Text:
			if value := string(n.Value(source)); n.Parent().Kind() != ast.KindCodeSpan &&
				strings.ContainsAny(value, "@#<>") {
				problems = append(problems, "outside of code stands "+value)
			}
		}
		return ast.WalkContinue, nil
	})
	lines := len(row.FindAll(source, -1))
	if want := max(0, lines-2*tables); rows != want {
		problems = append(problems, "a row is no row")
	}
	return problems
}

// guide is the only page to which a comment has a link.
const guide = "https://github.com/batchwright/batchwright/blob/main/docs/reading-a-review.md"

// isHeadline reports whether emphasis is the whole paragraph below the title.
func isHeadline(n *ast.Emphasis) bool {
	title, ok := n.Parent().PreviousSibling().(*ast.Heading)
	return ok && title.Level == 3 && n.Parent().ChildCount() == 1
}

// isJobs reports whether a table is the one on jobs, which has two columns.
func isJobs(table ast.Node, source []byte) bool {
	head := table.FirstChild()
	return head.ChildCount() == 2 && string(head.LastChild().Lines().Value(source)) == "What happens to jobs"
}

// TestCheckFinds checks that a value that was not escaped is found.
func TestCheckFinds(t *testing.T) {
	for _, source := range []string{
		"see @team", "a <b>c</b>", "<div>", "[a](b)", "![a](b)", "http://example.com", "www.example.com",
		"a@example.com", "~~a~~", "**a**",
		"### a\n\n**b** c", "### a\n\nb\n\n**c**", "```sh\n```",
		"| a | b |\n| --- | --- |\n| c | d |", "a<br/>b",
	} {
		if len(check([]byte(source))) == 0 {
			t.Errorf("%q is not found", source)
		}
	}
}
