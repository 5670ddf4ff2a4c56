package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// newRepository makes a repository with git, and returns a function that runs
// git in it.
func newRepository(t *testing.T, args ...string) (dir string, git func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return dir, git
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// openTree opens a revision of a repository.
func openTree(t *testing.T, dir, revision string) (*repository, gitTree) {
	t.Helper()
	r, err := openRepository(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	tree, err := r.readTree(revision)
	if err != nil {
		t.Fatal(err)
	}
	return r, tree
}

func TestGitTree(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			dir, git := newRepository(t, "--object-format="+format)
			writeFiles(t, dir, map[string]string{
				"a.cue": "a", "a/b/c.cue": "c", "a-b": "sorts between", "empty": "", "line\nbreak ünïcode": "odd",
			})
			for link, target := range map[string]string{
				"link": "a/b/c.cue", "a/up": "../a.cue", "dir": "a/./b/", "a/b/far": "../../dir/../up",
				"out": "../x", "root": "/etc/passwd", "circle": "circle", "none": "nothing", "through": "a.cue/x",
			} {
				if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			git("add", "-A")
			git("update-index", "--add", "--cacheinfo", "160000,"+git("hash-object", "empty")+",module")
			git("commit", "-q", "-m", "one")
			_, tree := openTree(t, dir, "main")

			for name, want := range map[string]string{
				"a.cue": "a", "a/b/c.cue": "c", "a-b": "sorts between", "empty": "", "line\nbreak ünïcode": "odd",
				"link": "c", "a/up": "a", "dir/c.cue": "c", "a/b/far": "a",
			} {
				got, err := fs.ReadFile(tree, name)
				if err != nil || string(got) != want {
					t.Errorf("%s: %q, %v, want %q", name, got, err, want)
				}
				info, err := fs.Stat(tree, name)
				if err != nil || info.Size() != int64(len(want)) || !info.Mode().IsRegular() {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			}
			for name, want := range map[string]string{
				"out": "path escapes from parent", "root": "path escapes from parent",
				"circle": "too many levels of symbolic links",
				"none":   "file does not exist", "through": "not a directory", "a.cue/x": "not a directory",
				"module/x": "is in a submodule, which has its own revisions", "../a.cue": "invalid argument",
			} {
				_, err := fs.ReadFile(tree, name)
				if failed := new(fs.PathError); !errors.As(err, &failed) || failed.Err.Error() != want {
					t.Errorf("%s: %v, want %s", name, err, want)
				}
			}

			part, err := fs.Sub(tree, "dir")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fs.ReadFile(part, "far"); !errors.Is(err, errOutside) {
				t.Errorf("a link leads out of a part: %v", err)
			}
		})
	}
}

// TestGitTreeIsAFileSystem holds it against the contract of io/fs, which knows
// nothing of links that lead nowhere.
func TestGitTreeIsAFileSystem(t *testing.T) {
	dir, git := newRepository(t)
	writeFiles(t, dir, map[string]string{"a.cue": "a", "a/b/c.cue": "c", "a-b": "", "z/z": "z"})
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	_, tree := openTree(t, dir, "HEAD")
	if err := fstest.TestFS(tree, "a.cue", "a/b/c.cue", "a-b", "z/z"); err != nil {
		t.Error(err)
	}
}

func TestGitLargeFile(t *testing.T) {
	dir, git := newRepository(t)
	writeFiles(t, dir, map[string]string{"large.cue": strings.Repeat(" ", 16<<20+1), "small.cue": "x"})
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	_, tree := openTree(t, dir, "HEAD")
	if info, err := fs.Stat(tree, "large.cue"); err != nil || info.Size() != 16<<20+1 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := fs.ReadFile(tree, "large.cue"); !errors.Is(err, errLarge) {
		t.Errorf("read: %v", err)
	}
	if got, err := fs.ReadFile(tree, "small.cue"); err != nil || string(got) != "x" {
		t.Errorf("after a large file: %q, %v", got, err)
	}
}

func TestGitPaths(t *testing.T) {
	dir, _ := newRepository(t)
	writeFiles(t, dir, map[string]string{"a/b/c.cue": "c"})
	if err := os.Symlink("a/b", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"a/b", "link"} {
		r, err := openRepository(t.Context(), filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for name, want := range map[string]string{
			".": "a/b", "c.cue": "a/b/c.cue", "../x/y.cue": "a/x/y.cue", "../..": ".", "../../../x": "",
			filepath.Join(dir, "link", "c.cue"): "a/b/c.cue", "/nowhere": "",
		} {
			if got, err := r.revisionPath(name); got != want || (err != nil) != (want == "") {
				t.Errorf("%s from %s: %q, %v, want %q", name, from, got, err, want)
			}
		}
	}
}

func TestGitTrouble(t *testing.T) {
	dir, git := newRepository(t)
	writeFiles(t, dir, map[string]string{"a.cue": "a"})
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	git("branch", "feature")
	r, _ := openTree(t, dir, "HEAD")
	for revision, want := range map[string]string{
		"feture":     `the repository has no revision "feture"; did you mean "feature"?`,
		"nonsense":   `the repository has no revision "nonsense"`,
		"HEAD:a.cue": `the repository has no revision "HEAD:a.cue"`,
		"--all":      `the repository has no revision "--all"`,
		"main..HEAD": `the repository has no revision "main..HEAD"; this is a range: write its ends ` +
			`as --base and --head`,
		"^main":  `the repository has no revision "^main"; did you mean "main"?`,
		"a\nb":   `the repository has no revision "a\nb"`,
		"HEAD~3": `the repository has no revision "HEAD~3"`,
	} {
		if _, err := r.readTree(revision); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", revision, err, want)
		}
	}
	if _, err := (gitTree{r, strings.Repeat("0", 40)}).Open("a.cue"); err == nil ||
		!strings.Contains(err.Error(), "missing") {
		t.Errorf("a missing object: %v", err)
	}

	// The cure for a repository of another user's is git's own.
	said := "fatal: detected dubious ownership in repository at '/r'\nTo add an exception for this directory, " +
		"call:\n\n\tgit config --global --add safe.directory /r\n"
	want := "git: detected dubious ownership in repository at '/r'; if you trust it, git config --global --add " +
		"safe.directory /r"
	if got := r.gitError(errors.New("exit status 128"), said).Error(); got != want {
		t.Errorf("%s, want %s", got, want)
	}

	// What no git prints ends the reading of it.
	for _, script := range []string{"echo x tree -5", "echo x tree 99999999999", "exec cat /dev/zero"} {
		fake := t.TempDir()
		if err := os.WriteFile(filepath.Join(fake, "git"), []byte("#!/bin/sh\nread id\n"+script+"\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
		cat, err := startCatFile(exec.CommandContext(t.Context(), filepath.Join(fake, "git")))
		if err != nil {
			t.Fatal(err)
		}
		if o, err := cat.readObject("x"); err == nil {
			t.Errorf("%s: %+v", script, o)
		}
		cat.cmd.Process.Kill()
		cat.stopProcess()
	}

	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if _, err := openRepository(t.Context(), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("without a repository: %v", err)
	}
	t.Setenv("PATH", "")
	if _, err := openRepository(t.Context(), dir); err == nil ||
		err.Error() != "git is not installed, but is necessary to read revisions" {
		t.Errorf("without git: %v", err)
	}
}

// TestGitInterrupt: a git that waits, or what it has started, ends with the
// context. What it has started lives on for a minute, with the open files of the test.
func TestGitInterrupt(t *testing.T) {
	dir, _ := newRepository(t)
	fake := t.TempDir()
	if err := os.WriteFile(filepath.Join(fake, "git"), []byte("#!/bin/sh\nsleep 60\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", fake+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for name, run := range map[string]func(*repository) error{
		"a command": func(r *repository) error { _, err := r.runGit("rev-parse"); return err },
		"objects":   func(r *repository) error { _, err := r.readObject("x"); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		err := run(&repository{ctx: ctx, dir: dir, objects: map[string]gitObject{}})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 50*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(began))
		}
	}
}
