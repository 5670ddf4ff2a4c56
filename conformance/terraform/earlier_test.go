package terraform

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// earlier is the commit whose folders failed in Google's APIs, or were never in step with
// them.
const earlier = "6e4074c2"

// TestEarlier applies a folder of an earlier batchwright, and plans the folder of today on
// its state: nothing may be replaced or deleted.
func TestEarlier(t *testing.T) {
	t.Parallel()
	if exec.CommandContext(t.Context(), "git", "cat-file", "-e", earlier+"^{commit}").Run() != nil {
		t.Skipf("the clone has no commit %s: no folder of it was applied", earlier)
	}
	for _, name := range []string{
		"a3-ultra-flex", "batch-platform", "batch-platform-argocd", "batch-platform-dws", "existing",
		"kai-departments", "shared-vpc", "tpu-training",
	} {
		t.Run(name, func(t *testing.T) {
			was := t.TempDir()
			archive := exec.CommandContext(t.Context(), "git", "archive", earlier, "golden/"+name)
			archive.Dir = repository
			content, err := archive.Output()
			if err != nil {
				t.Fatal(err)
			}
			unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", was, "--strip-components=2")
			unpack.Stdin = bytes.NewReader(content)
			if out, err := unpack.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			r := open(t, name)
			is := t.TempDir()
			if name == "tpu-training" { // its range of pods had room for two slices
				compile(t, batchwright(t), is, repository+"/blueprints/"+name, "-t", "pods=192.168.64.0/20")
			} else if err := os.CopyFS(is, os.DirFS(filepath.Dir(r.dir))); err != nil {
				t.Fatal(err)
			}
			r.become(t, was)
			r.prepare(t)
			// The apply of this folder failed until its user wrote the zone out.
			pools := filepath.Join(r.dir, "node_pools.tf")
			write(t, pools, strings.ReplaceAll(read(t, pools), "[google_compute_reservation.l4_reserved.zone]",
				`["us-central1-c"]`))
			if said := r.plan(t, "apply", "-auto-approve").said; len(said) > 0 {
				t.Fatal(said)
			}
			r.become(t, is)
			r.must(t, "init", "-input=false")
			plan := r.plan(t, "plan")
			for address, action := range plan.actions {
				// One dashboard has become two, and has no data.
				if action != "update" && action != "create" && address != `google_monitoring_dashboard.main["admin"]` {
					t.Errorf("%s: %s", address, action)
				}
			}
			if len(plan.said) > 0 {
				t.Error(plan.said)
			}
			if said := r.plan(t, "apply", "-auto-approve").said; len(said) > 0 {
				t.Error(said)
			}
			if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
				t.Errorf("a second apply would do %v, and terraform says %q", again.actions, again.said)
			}
		})
	}
}
