package review_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit/review"
	"github.com/batchwright/batchwright/emit/review/jobs"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestJobsOfFlavors checks what a review says of jobs if a capacity is no longer
// auto-provisioned, so that its ResourceFlavor gets other labels, and no node pool of
// Terraform is lost. If the cluster is replaced as well, no queue is left in which jobs
// could wait.
func TestJobsOfFlavors(t *testing.T) {
	const (
		auto        = "autoProvisioned: true\n\t\tmaxNodes:        100"
		pool        = "zones: [\"us-central1-a\"]\n\t\tmaxNodes: 100"
		unprotected = "package platform\ncluster: deletionProtection: false\n"
		moved       = unprotected + "network: controlPlane: \"172.16.1.32/28\"\n"
	)
	state := func(settings, of string) review.State {
		dir := t.TempDir()
		files := map[string]string{"settings.cue": settings}
		maps.Copy(files, fixture.EditBatchPlatform(t, auto, of))
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tree, res := compile.Input(t, compiler.Input{Dir: dir})
		return review.State{Tree: tree, Plan: res.Plan}
	}
	before := state(unprotected, auto)
	for _, test := range []struct {
		name  string
		after review.State
		want  []string
	}{
		{"another pool", state(unprotected, pool), []string{`capacity "a100-compact": its nodes are replaced`}},
		{"another pool and cluster", state(moved, pool), []string{"the cluster is replaced"}},
	} {
		for _, known := range []review.State{before, {Tree: before.Tree}} { // a folder has no plan
			var got []string
			for _, e := range review.Compare(known, test.after).Jobs {
				if e.Running.Kind == jobs.Stop {
					got = append(got, e.Cause)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, plan known: %t (-want +got):\n%s", test.name, known.Plan != nil, diff)
			}
		}
	}
}
