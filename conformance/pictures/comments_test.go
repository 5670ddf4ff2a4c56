package pictures

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pictures is the folder for pictures of all comments, for a person to look at.
var pictures = flag.String("pictures", "", "write pictures of the comments to this existing `folder`")

// update reports whether the pictures in docs are drawn again.
var update = flag.Bool("update", false, "draw the pictures of comments in docs/pictures again")

// documented are the comments of which docs has pictures.
var documented = []string{"machine", "namespace", "quota"}

// githubCSS is the style of a comment on GitHub. Source: github-markdown-css, which
// extracts it from GitHub's pages.
var githubCSS = npmPackage{
	"github-markdown-css", "5.9.0",
	"tmT5sY+zvg2302XLYEfH2mtkViIM1SWf2nvYoF5N1ZsO0V6B2qZTiw3GOzw4vpjLygK/KG35qRlPFweHqfzz5w==",
}

// screen is the height of a screen in pixels: a reviewer sees so much of a comment without
// scrolling.
const screen = 900

// comment holds the heights that comments.html measures, in pixels.
type comment struct {
	Folds        int
	BeforeFold   float64  // the height of the text before the first fold
	Closed, Open float64  // the height of the comment with all folds closed, and open
	Wide         []string // the elements that are wider than the comment
	Broken       []string // the words of tables that are broken
	Empty        []string // the folds that show nothing
}

// problems returns what keeps a reviewer from reading a comment.
func (c comment) problems() []string {
	var out []string
	if c.BeforeFold > screen {
		out = append(out, fmt.Sprintf("%.0f pixels before the first fold, and a screen has %d", c.BeforeFold, screen))
	}
	for _, s := range c.Wide {
		out = append(out, "wider than the comment: "+s)
	}
	for _, s := range c.Broken {
		out = append(out, "a table breaks a word: "+s)
	}
	for _, s := range c.Empty {
		out = append(out, "a fold shows nothing: "+s)
	}
	return out
}

// commentFiles returns the files of a page with comments.
func commentFiles(t *testing.T, open bool, comments ...[]byte) map[string][]byte {
	t.Helper()
	var rendered []string
	for _, source := range comments {
		rendered = append(rendered, renderMarkdown(t, source))
	}
	files := pageFiles(t, "comments.html", map[string]any{"comments": rendered, "open": open})
	files["github.css"] = loadFile(t, githubCSS, "package/github-markdown-light.css")
	return files
}

// golden is a comment of golden/pulls.
type golden struct {
	name   string
	source []byte
}

// readGoldens returns the comments of golden/pulls.
func readGoldens(t *testing.T) []golden {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "golden/pulls/*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("golden/pulls has no comments: %v", err)
	}
	var all []golden
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, golden{strings.TrimSuffix(filepath.Base(file), ".md"), source})
	}
	return all
}

// TestComments checks that a reviewer can read the comments of golden/pulls on GitHub, and
// prints their heights.
func TestComments(t *testing.T) {
	browser := findBrowser(t)
	goldens := readGoldens(t)
	var sources [][]byte
	for _, g := range goldens {
		sources = append(sources, g.source)
	}
	for i, c := range measureComments(t, browser, sources...) {
		name, source := goldens[i].name, goldens[i].source
		t.Logf("%s: %.0f pixels before the first fold, %.0f with %d folds closed, %.0f with all open",
			name, c.BeforeFold, c.Closed, c.Folds, c.Open)
		problems := c.problems()
		for _, problem := range problems {
			t.Errorf("%s: %s", name, problem)
		}
		if *pictures != "" {
			file := filepath.Join(*pictures, name)
			writePNG(t, file+".png", drawComment(t, browser, source, false, c.Closed), "")
			writePNG(t, file+"-open.png", drawComment(t, browser, source, true, c.Open), "")
		}
		if *update && len(problems) == 0 && slices.Contains(documented, name) {
			file := filepath.Join(root, "docs/pictures/review-"+name+".png")
			drawnFrom := fmt.Sprintf("golden/pulls/%s.md sha256:%x", name, sha256.Sum256(source))
			writePNG(t, file, drawComment(t, browser, source, false, c.Closed), drawnFrom)
		}
	}
}

// measureComments renders comments, and measures them.
func measureComments(t *testing.T, browser string, sources ...[]byte) []comment {
	t.Helper()
	results := measurePage[comment](t, browser, commentFiles(t, false, sources...))
	if len(results) != len(sources) {
		t.Fatalf("%d of %d comments were rendered", len(results), len(sources))
	}
	return results
}

// TestUnreadableComments checks that the measurements show what a reviewer cannot read.
func TestUnreadableComments(t *testing.T) {
	browser := findBrowser(t)
	long := strings.Repeat("x", 200)
	tests := []struct{ name, source, want string }{
		{"nothing", "### Review\n\n<details><summary>more</summary>\n\ntext\n\n</details>\n", ""},
		{"long text", strings.Repeat("a paragraph\n\n", 40), "before the first fold"},
		{
			"long table", "| a |\n| --- |\n" + strings.Repeat("| b |\n", 40) +
				"\n<details><summary>more</summary>\n\ntext\n\n</details>\n",
			"before the first fold",
		},
		{"wide table", "| a | b |\n| --- | --- |\n| c | `" + long + "` |\n", "wider than the comment: table"},
		{
			"wide diff", "<details><summary>more</summary>\n\n```diff\n+ " + long + "\n```\n\n</details>\n",
			"wider than the comment: pre",
		},
		{
			"broken word", "<table style='word-break: break-all'><tr><td>" + long + "</td></tr></table>",
			"a table breaks a word",
		},
		{"empty fold", "<details><summary>more</summary></details>\n", "a fold shows nothing: more"},
	}
	var sources [][]byte
	for _, test := range tests {
		sources = append(sources, []byte(test.source))
	}
	for i, c := range measureComments(t, browser, sources...) {
		problems := strings.Join(c.problems(), "\n")
		if want := tests[i].want; want == "" && problems != "" || !strings.Contains(problems, want) {
			t.Errorf("%s: the problems are %q, want %q", tests[i].name, problems, want)
		}
	}
}
