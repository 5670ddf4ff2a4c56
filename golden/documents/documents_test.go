package documents_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/golden/fixture"
)

// documentNames returns the names of the repository's documents, relative to root.
func documentNames(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(fixture.Path("docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("no documents in docs: %v", err)
	}
	names := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, doc := range docs {
		names = append(names, "docs/"+filepath.Base(doc))
	}
	return names
}

// TestDocumentation executes every document; see runDocument.
func TestDocumentation(t *testing.T) {
	bin := fixture.Batchwright(t)
	for _, name := range documentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, problem := range runDocument(t, bin, fixture.ReadText(t, fixture.Path(name))) {
				t.Errorf("%s:%s", name, problem)
			}
		})
	}
}

// TestDocumentationNoticesLies checks documents that have one mistake each.
func TestDocumentationNoticesLies(t *testing.T) {
	bin := fixture.Batchwright(t)
	for _, test := range []struct{ name, document, problem string }{
		{"nothing wrong", "```console\n$ echo a\na\n$ cd blueprints\n$ ls -d kai*\nkai-departments\n```\n", ""},
		{"another output", "```console\n$ echo a\nb\n```\n", "1: echo a prints"},
		{"a failing command", "```console\n$ batchwright vet none.cue\n```\n", "1: batchwright vet none.cue prints"},
		{"a directory that does not exist", "```console\n$ cd none\n```\n", "1: cd none: "},
		{"a cue block without a file", "```cue\na: 1\n```\n", "1: a cue block needs a comment that names its file"},
		{"a file that is neither CUE nor YAML nor CSV", "<!-- file: a.txt -->\n```text\na\n```\n",
			"2: a text block is not written to a file"},
		{"YAML that does not parse", "```yaml\na: [\n```\n", "1: yaml: "},
		{"a failing step", "```yaml\n- run: false\n```\n", "1: false fails"},
		{"no target", "```sh\nmake nothing\n```\n", `1: "make nothing" is not a target of the Makefile`},
		{"no language", "```\na\n```\n", `1: blocks of language "" are neither executed nor marked as text`},
		{"a command that is not run", "```text\n$ echo a\n```\n", " 1 lines start with \"$ \", and 0 of them were run"},
		{"a block without an end", "```text\na\n", "1: the block has no end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			problems := runDocument(t, bin, test.document)
			if test.problem == "" && len(problems) > 0 {
				t.Fatalf("got %q, want no problem", problems)
			}
			if test.problem != "" && (len(problems) != 1 || !strings.HasPrefix(problems[0], test.problem)) {
				t.Fatalf("got %q, want one problem that starts with %q", problems, test.problem)
			}
		})
	}
}

// runDocument executes the blocks of a Markdown file in order, in a new directory
// that holds the blueprints. It returns the problems, each with its line.
//
//   - A cue or yaml block after a comment "file: NAME" is written to that file.
//   - In a console block, each line that starts with "$ " is run in a shell, and
//     must print exactly the lines below it. "cd DIR" applies to the rest of the
//     document.
//   - A yaml block must parse, and the commands of its steps must succeed.
//   - Each line of an sh block must be a target of the Makefile.
//   - A text block is not executed. Blocks of other languages are problems.
func runDocument(t *testing.T, bin, source string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "blueprints"), os.DirFS(fixture.Path("blueprints"))); err != nil {
		t.Fatal(err)
	}
	var problems []string
	report := func(b fixture.Block, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%d: ", b.Line)+fmt.Sprintf(format, args...))
	}
	ran := 0
	for _, b := range fixture.Blocks(source) {
		if !b.Closed {
			report(b, "the block has no end")
		}
		switch {
		case b.File != "" && !slices.Contains([]string{"cue", "yaml", "csv"}, b.Language):
			report(b, "a %s block is not written to a file", b.Language)
		case b.File != "":
			file := filepath.Join(dir, b.File)
			if err := errors.Join(
				os.MkdirAll(filepath.Dir(file), 0o755),
				os.WriteFile(file, []byte(b.Text), 0o644),
			); err != nil {
				t.Fatal(err)
			}
		}
		switch b.Language {
		case "cue":
			if b.File == "" {
				report(b, "a cue block needs a comment that names its file")
			}
		case "console":
			for _, session := range strings.Split("\n"+b.Text, "\n$ ")[1:] {
				ran++
				command, want, _ := strings.Cut(session, "\n")
				if to, ok := strings.CutPrefix(command, "cd "); ok {
					dir = filepath.Join(dir, to)
					if _, err := os.Stat(dir); err != nil {
						report(b, "%s: %v", command, err)
						return problems
					}
					continue
				}
				got := fixture.RunShell(t, dir, strings.ReplaceAll(command, "go run ./cmd/batchwright", "batchwright"))
				if strings.TrimSpace(got) != strings.TrimSpace(want) {
					report(b, "%s prints\n%s", command, cmp.Diff(want, got))
				}
			}
		case "yaml":
			var document any
			if err := yaml.Unmarshal([]byte(b.Text), &document); err != nil {
				report(b, "%v", err)
			}
			for _, step := range regexp.MustCompile(`(?m)^ *-? *run: (.*)$`).FindAllStringSubmatch(b.Text, -1) {
				out := fixture.RunShell(t, dir, step[1]+" && echo succeeded")
				if !strings.HasSuffix(out, "succeeded\n") {
					report(b, "%s fails:\n%s", step[1], out)
				}
			}
		case "sh":
			for line := range strings.Lines(b.Text) {
				if line = strings.TrimSpace(line); !isMakeTarget(t, line) {
					report(b, "%q is not a target of the Makefile", line)
				}
			}
		case "text", "csv", "mermaid": // the page itself shows a drawing
		default:
			report(b, "blocks of language %q are neither executed nor marked as text", b.Language)
		}
	}
	if lines := strings.Count("\n"+source, "\n$ "); lines != ran {
		problems = append(problems, fmt.Sprintf(" %d lines start with \"$ \", and %d of them were run", lines, ran))
	}
	return problems
}

// TestReadmeIsShort limits README.md to the text that a newcomer reads. The rest
// belongs in docs/.
func TestReadmeIsShort(t *testing.T) {
	source := fixture.ReadText(t, fixture.Path("README.md"))
	if lines := strings.Count(source, "\n"); lines > 130 {
		t.Errorf("README.md has %d lines, want at most 130", lines)
	}
	if words := len(strings.Fields(source)); words > 900 {
		t.Errorf("README.md has %d words, want at most 900", words)
	}
}

// TestLinks checks that every link in a document leads to an existing file, and to
// an existing heading in it.
func TestLinks(t *testing.T) {
	for _, name := range documentNames(t) {
		for _, problem := range brokenLinks(os.DirFS(fixture.Root()), name) {
			t.Error(problem)
		}
	}
}

// TestBrokenLinks checks that brokenLinks finds links that lead nowhere.
func TestBrokenLinks(t *testing.T) {
	files := fstest.MapFS{
		"a.md": {Data: []byte("# One `word`\n\n[a](#one-word) [b](docs/b.md#two-words) [c](docs) " +
			"[d](https://example.com)\n```text\n# no heading\n[e](none.md)\n```\n[f](none.md) " +
			"[g](docs/b.md#one-word) [h](#no-heading) [i]\n\n[i]: docs/none.md\n")},
		"docs/b.md": {Data: []byte("## Two, words?\n\n## Two words\n\n[a](../a.md#one-word) [b](#two-words-1) " +
			"[c](../../out.md)\n")},
	}
	for name, want := range map[string][]string{
		"a.md": {"a.md: none.md does not exist", "a.md: docs/b.md has no heading #one-word",
			"a.md: a.md has no heading #no-heading", "a.md: docs/none.md does not exist"},
		"docs/b.md": {"docs/b.md: ../out.md does not exist"},
	} {
		if got := brokenLinks(files, name); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// brokenLinks returns the relative links of a Markdown file that lead to a missing
// file or heading.
func brokenLinks(files fs.FS, name string) []string {
	source, err := fs.ReadFile(files, name)
	if err != nil {
		return []string{err.Error()}
	}
	links := regexp.MustCompile(`\]\(([^()\s]+)\)|(?m:^\[[^]]+\]: *(\S+))`)
	var problems []string
	for _, m := range links.FindAllStringSubmatch(withoutBlocks(string(source)), -1) {
		link := m[1] + m[2]
		if strings.Contains(link, "://") {
			continue
		}
		file, heading, _ := strings.Cut(link, "#")
		target := path.Join(path.Dir(name), file)
		if file == "" {
			target = name
		}
		if _, err := fs.Stat(files, target); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s does not exist", name, target))
			continue
		}
		if heading == "" {
			continue
		}
		text, err := fs.ReadFile(files, target)
		if err != nil || !slices.Contains(headingFragments(string(text)), heading) {
			problems = append(problems, fmt.Sprintf("%s: %s has no heading #%s", name, target, heading))
		}
	}
	return problems
}

// headingFragments returns the fragments with which GitHub links to the headings of a
// Markdown file.
func headingFragments(source string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^#+ +(.*)$`).FindAllStringSubmatch(withoutBlocks(source), -1) {
		fragment := strings.ToLower(strings.TrimSpace(m[1]))
		fragment = regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(fragment, "")
		fragment = strings.ReplaceAll(fragment, " ", "-")
		unique := fragment
		for n := 1; slices.Contains(out, unique); n++ {
			unique = fmt.Sprintf("%s-%d", fragment, n)
		}
		out = append(out, unique)
	}
	return out
}

// withoutBlocks returns a Markdown file without its fenced blocks.
func withoutBlocks(source string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(source, "")
}

// isMakeTarget reports whether a line of shell code runs a target of the Makefile.
func isMakeTarget(t *testing.T, line string) bool {
	t.Helper()
	target, ok := strings.CutPrefix(line, "make ")
	return ok && strings.Contains("\n"+fixture.ReadText(t, fixture.Path("Makefile")), "\n"+target+":")
}
