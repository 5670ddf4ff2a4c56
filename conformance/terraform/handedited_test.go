package terraform

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestHandEdited changes the state of a platform that stands, or the platform itself, as
// somebody could by hand. The next apply must bring back what the folder describes, or say
// which resource it found, and an import of this resource must be all that is missing.
func TestHandEdited(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	r.prepare(t)
	r.create(t)
	const (
		spot  = "google_container_node_pool.l4_spot"
		named = "projects/my-project/locations/us-central1/clusters/gke-batch/nodePools/l4-spot"
	)
	file := filepath.Join(r.dir, "terraform.tfstate")
	state, restore := read(t, file), r.cloud.snapshot()
	for _, test := range []struct {
		name    string
		edit    func(t *testing.T)
		actions map[string]string // that the next apply plans
		says    string            // what it says until the pool is imported, "" for nothing
	}{
		{
			name: "an argument that only the state has",
			edit: func(t *testing.T) {
				changed := strings.Replace(state, `"deletion_protection": true`, `"deletion_protection": false`, 1)
				if changed == state {
					t.Fatal("the state has no protected cluster")
				}
				write(t, file, changed)
			},
			actions: map[string]string{"google_container_cluster.main": "update"},
		},
		{
			name:    "a pool that the state has forgotten",
			edit:    func(t *testing.T) { r.must(t, "state", "rm", spot) },
			actions: map[string]string{spot: "create"},
			says:    named + ": " + errExists.Error(),
		},
		{
			name: "a pool that is deleted",
			edit: func(t *testing.T) {
				r.cloud.Lock()
				defer r.cloud.Unlock()
				delete(r.cloud.stored, [2]string{"google_container_node_pool", named})
			},
			actions: map[string]string{spot: "create"},
		},
		{
			name: "a reservation that is resized",
			edit: func(*testing.T) {
				r.cloud.set("google_compute_reservation", "machine-reservation", "specific_reservation.count", 5)
			},
			actions: map[string]string{"google_compute_reservation.l4_reserved": "update"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(t, file, state)
			restore()
			test.edit(t)
			planned := r.plan(t, "plan", "-out=platform.tfplan")
			if d := cmp.Diff(test.actions, planned.actions, cmpopts.EquateEmpty()); len(planned.said) > 0 || d != "" {
				t.Errorf("terraform says %q and plans (-want +got):\n%s", planned.said, d)
			}
			said := strings.Join(r.plan(t, "apply", "platform.tfplan").said, "\n")
			if !strings.Contains(said, test.says) || test.says == "" && said != "" {
				t.Errorf("terraform says %q, want %q", said, test.says)
			}
			if test.says != "" {
				r.must(t, "import", "-input=false", spot, named)
			}
			if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
				t.Errorf("a second apply would do %v, and terraform says %q", again.actions, again.said)
			}
		})
	}
}
