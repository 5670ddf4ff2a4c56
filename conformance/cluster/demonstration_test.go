package cluster_test

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The tests perform the phases of a folder's demonstration with the folder's own
// script. The script compares the cluster with the numbers that the compiler has put
// into it, and fails if they differ.

// demonstrate runs the script of the folder, and returns its output.
func (f *folder) demonstrate(args ...string) (string, error) {
	f.Helper()
	script, err := filepath.Abs(filepath.Join(f.dir, "demonstrate.sh"))
	if err != nil {
		f.Fatal(err)
	}
	return f.plane.Script(f.ctx, script, args...)
}

// scriptWaits returns the script's option that makes it wait as long as eventually.
func scriptWaits() string {
	return fmt.Sprintf("--wait=%.0f", float64(*mostWaits)*patience.Seconds())
}

// perform performs a phase, and returns the script's output. After the phase
// everything must be as the folder expects.
func (f *folder) perform(phase string) string {
	f.Helper()
	out, err := f.demonstrate(scriptWaits(), phase)
	if err != nil {
		f.Fatalf("phase %s: %v\n%s", phase, err, out)
	}
	if !strings.Contains(out, "Phase "+phase+" is as expected.") {
		f.Errorf("phase %s does not say that it is as expected:\n%s", phase, out)
	}
	f.Log(out)
	return out
}

// refusedPhase checks that the script refuses a phase with the message, and changes
// nothing.
func (f *folder) refusedPhase(phase, message string) {
	f.Helper()
	jobs := func() string { return f.kubectl("get", "jobs,jobsets", "--all-namespaces", "-o", "name") }
	before := jobs()
	out, err := f.demonstrate(phase)
	if err == nil || !strings.Contains(out, message) {
		f.Errorf("phase %s, which cannot follow: %v\n%s", phase, err, out)
	}
	if after := jobs(); after != before {
		f.Errorf("phase %s, which is refused, has changed the jobs from\n%sto\n%s", phase, before, after)
	}
}

// cleanUp removes the demonstration. No job and no cordoned node may remain.
func (f *folder) cleanUp() {
	f.Helper()
	if out, err := f.demonstrate("clean-up"); err != nil {
		f.Fatalf("clean-up: %v\n%s", err, out)
	}
	f.emptied()
	if left := f.get("nodes", "--selector=demonstration"); len(left) > 0 {
		f.Errorf("after the clean-up, nodes have the label of the demonstration: %v", left)
	}
}
