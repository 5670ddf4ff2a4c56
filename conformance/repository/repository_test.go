// Package repository checks the files that "batchwright init" writes with the tools
// that read them: CUE's own command and language server, and pre-commit.
package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository of batchwright.
const root = "../.."

// examples are the examples that init knows.
func examples() []string {
	return []string{"a3-ultra-flex", "batch-platform", "batch-platform-argocd", "batch-platform-dws", "existing",
		"kai-departments", "shared-vpc", "tpu-training"}
}

// build builds a command of a module, and returns the path of the program.
func build(t *testing.T, dir, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), filepath.Base(pkg))
	run(t, dir, "go", "build", "-o", bin, pkg)
	return bin
}

// run runs a program that must succeed, and returns what it prints.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	out, err := try(dir, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

func try(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// edit replaces a text that must occur once in a file.
func edit(t *testing.T, file, old, text string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), old); n != 1 {
		t.Fatalf("%q stands %d times in %s, want once", old, n, file)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), old, text, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
