package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolders checks the folders of all blueprints, and of forms that no blueprint has.
func TestFolders(t *testing.T) {
	const root = "../../.."
	dir := t.TempDir()
	lay := func(program string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	lay("conformance/folders", dir)
	for form, args := range map[string]string{
		"tpu-training-v4-managed":   "-t type=v4 -t managed=true blueprints/tpu-training",
		"batch-platform-flux":       "blueprints/batch-platform golden/testdata/gitops/flux.cue",
		"batch-platform-configsync": "blueprints/batch-platform golden/testdata/gitops/configsync.cue",
		"adopted-cluster":           "golden/testdata/platforms/adopted-cluster.cue",
	} {
		lay("go", append([]string{"run", "./cmd/batchwright", "compile", "-o", filepath.Join(dir, form)},
			strings.Fields(args)...)...)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(folders) < 12 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run([]string{folder}, &stdout, &stderr); status != 0 {
				t.Errorf("status %d\n%s%s", status, &stdout, &stderr)
			}
		})
	}
}

func TestRun(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct {
		name           string
		args           []string
		status         int
		stdout, stderr string // parts of the output
	}{
		{"no folder", nil, 2, "", "usage: check [-only CHECK] DIR..."},
		{"no such check", []string{"-only", "taste", empty}, 2, "", "no check is called \"taste\""},
		{"one check", []string{"-only", "policies", empty}, 1, "[policies]", ""},
		{"no such folder", []string{empty + "/none"}, 2, "", "is not a directory"},
		{"empty folder", []string{empty}, 1, "[dashboards]", ""},
		{"reference platform", []string{"../../../golden/batch-platform"}, 0, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(test.args, &stdout, &stderr); status != test.status {
				t.Errorf("status %d, want %d\n%s%s", status, test.status, &stdout, &stderr)
			}
			for _, output := range []struct {
				got  *bytes.Buffer
				want string
			}{{&stdout, test.stdout}, {&stderr, test.stderr}} {
				if !strings.Contains(output.got.String(), output.want) ||
					(output.want == "") != (output.got.Len() == 0) {
					t.Errorf("output %q, want %q in it", output.got, output.want)
				}
			}
		})
	}
}
