package golden_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestReadme runs what README.md shows. In a directory of its own, in order:
// a cue block after a comment "file: NAME" is written to that file; of a
// console block, lines that start with "$ " are run in a shell and the lines
// below must be exactly what they print; of a yaml block, what a step runs must
// succeed; a make line must name a target.
func TestReadme(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "blueprints"), os.DirFS(filepath.Join(root, "blueprints"))); err != nil {
		t.Fatal(err)
	}
	bin := buildBatchwright(t)
	ran := 0
	for _, block := range readmeBlocks(string(source)) {
		switch block.language {
		case "cue":
			if block.file == "" {
				t.Errorf("line %d: a cue block without a comment that names its file", block.line)
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, block.file), []byte(block.text), 0o644); err != nil {
				t.Fatal(err)
			}
		case "console":
			for _, session := range strings.Split("\n"+block.text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(session, "\n")
				got := shell(t, dir, bin, strings.ReplaceAll(command, "go run ./cmd/batchwright", "batchwright"))
				if strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Errorf("README.md:%d: %s\n%s", block.line, command, diff(want, got))
				}
				ran++
			}
		case "yaml":
			for _, command := range regexp.MustCompile(`(?m)^ *-? *run: (.*)$`).FindAllStringSubmatch(block.text, -1) {
				if out := shell(t, dir, bin, command[1]+" && echo succeeded"); !strings.HasSuffix(out, "succeeded\n") {
					t.Errorf("README.md:%d: %s fails:\n%s", block.line, command[1], out)
				}
				ran++
			}
		case "sh":
			checkMakeLines(t, block)
		}
	}
	if strings.Contains(string(source), "<!-- bench") {
		t.Error("the table of measurements is missing")
	}
	if ran < 6 {
		t.Errorf("only %d commands of README.md were run", ran)
	}
}

// TestEveryModuleHasAReason: a dependency is a decision, and go.mod says why it
// was taken.
func TestEveryModuleHasAReason(t *testing.T) {
	for _, name := range []string{
		"go.mod", "conformance/go.mod", "conformance/cluster/go.mod", "conformance/repository/go.mod",
		"conformance/terraform/go.mod", "conformance/workflows/go.mod",
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range file.Require {
			if !r.Indirect && len(r.Syntax.Suffix) == 0 {
				t.Errorf("%s does not say what %s is for", name, r.Mod.Path)
			}
		}
	}
}

// shell runs a command line and returns what it prints; that it fails shows in
// the output, as it does to a reader.
func shell(t *testing.T, dir, bin, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func checkMakeLines(t *testing.T, block readmeBlock) {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(block.text) {
		target, ok := strings.CutPrefix(strings.TrimSpace(line), "make ")
		if !ok || !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(target)+`:`).Match(makefile) {
			t.Errorf("README.md:%d: %q is not a target of the Makefile", block.line, strings.TrimSpace(line))
		}
	}
}

type readmeBlock struct {
	language, file, text string
	line                 int
}

// readmeBlocks returns the fenced blocks of a Markdown file.
func readmeBlocks(source string) []readmeBlock {
	var out []readmeBlock
	file, open := "", -1
	n := 0
	for line := range strings.Lines(source) {
		n++
		text := strings.TrimSpace(line)
		switch {
		case open >= 0 && text == "```":
			open = -1
		case open >= 0:
			out[open].text += line
		case strings.HasPrefix(text, "```"):
			out = append(out, readmeBlock{language: text[3:], file: file, line: n})
			open, file = len(out)-1, ""
		case strings.HasPrefix(text, "<!-- file: "):
			file = strings.TrimSuffix(strings.TrimPrefix(text, "<!-- file: "), " -->")
		}
	}
	return out
}

// buildBatchwright builds the command and returns its path.
func buildBatchwright(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "batchwright")
	if out, err := exec.Command("go", "build", "-o", bin, root+"/cmd/batchwright").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
