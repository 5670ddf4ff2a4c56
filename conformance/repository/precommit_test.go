package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreCommit commits to a new repository with the hooks of the working tree.
// pre-commit itself builds and runs them.
func TestPreCommit(t *testing.T) {
	if _, err := exec.LookPath("pre-commit"); err != nil {
		t.Skip("pre-commit is not installed: its hooks are not run")
	}
	cache := strings.TrimSpace(run(t, ".", "go", "env", "GOMODCACHE")) // pre-commit has a GOPATH of its own
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("PRE_COMMIT_HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", gitConfig(t))
	hooks := t.TempDir()
	rev := hookRepository(t, hooks)

	dir := filepath.Join(t.TempDir(), "platform")
	run(t, ".", build(t, root, "./cmd/batchwright"), "init", "--from", "kai-departments", dir)
	config := filepath.Join(dir, ".pre-commit-config.yaml")
	edit(t, config, "https://github.com/batchwright/batchwright", "file://"+hooks)
	edit(t, config, lineOf(t, config, "rev: "), "rev: "+rev)
	edit(t, config, "  - id: batchwright-compile",
		"  - id: batchwright-vet\n    args: [--strict, .]\n  - id: batchwright-compile")
	run(t, dir, "git", "init", "-q")
	run(t, dir, "pre-commit", "install")

	platform := filepath.Join(dir, "platform.cue")
	tests := []struct {
		name   string
		change func()
		// says are parts of the output if the commit is refused. Without any, the commit
		// is accepted.
		says []string
		// again: the hooks have corrected everything, so the next commit succeeds.
		again bool
	}{
		{"a new repository", func() {}, []string{"fmt...", "Passed", "compile...", "Failed", "files written"}, true},
		{
			"nothing wrong", func() { edit(t, filepath.Join(dir, "README.md"), "# kai-departments", "# Platform") },
			nil, false,
		},
		{"not formatted", func() {
			edit(t, platform, "cluster: systemPool: nodesPerZone: 2",
				"cluster: systemPool:   nodesPerZone: 2 // one each")
		}, []string{"fmt...", "platform.cue"}, true},
		{
			"a stale folder", func() { edit(t, platform, "accelerators: 8, borrow", "accelerators: 7, borrow") },
			[]string{"compile...", "files written"}, true,
		},
		{
			"a bad blueprint", func() { edit(t, platform, "scheduler: \"kai\"", "sheduler: \"kai\"") },
			[]string{"vet...", "E0101", "compile...", "exit code: 1"}, false,
		},
		{"a generated file edited", func() {
			edit(t, platform, "sheduler: \"kai\"", "scheduler: \"kai\"")
			edit(t, filepath.Join(dir, "kai-departments", "destroy-platform.sh"), "#!/usr/bin/env", "#! /usr/bin/env")
		}, []string{"E0901", "nothing written"}, false},
	}
	for _, test := range tests {
		test.change()
		run(t, dir, "git", "add", "-A")
		out, err := try(dir, "git", "commit", "-q", "-m", test.name)
		if (err != nil) != (test.says != nil) {
			t.Fatalf("%s: %v\n%s", test.name, err, out)
		}
		for _, want := range test.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s: it does not say %q:\n%s", test.name, want, out)
			}
		}
		if test.again {
			run(t, dir, "git", "add", "-A")
			run(t, dir, "git", "commit", "-q", "-m", test.name)
		}
	}
}

// hookRepository copies the files of the hooks from the working tree into a new
// repository, and returns its commit.
func hookRepository(t *testing.T, dir string) string {
	t.Helper()
	for name := range strings.Lines(
		run(t, root, "git", "ls-files", "-co", "--exclude-standard", "--", ".", ":!golden", ":!conformance")) {
		name = strings.TrimSpace(name)
		info, err := os.Stat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet from the index
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "init", "-q")
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "commit", "-q", "-m", "hooks")
	return strings.TrimSpace(run(t, dir, "git", "rev-parse", "HEAD"))
}

// gitConfig writes a configuration of git that names a committer.
func gitConfig(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(name,
		[]byte("[user]\n\tname = test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// lineOf returns a file's line from a text to its end.
func lineOf(t *testing.T, file, text string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(content), text)
	if !found {
		t.Fatalf("%s has no %q", file, text)
	}
	line, _, _ := strings.Cut(after, "\n")
	return text + line
}
