package kinds_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// TestRows checks what the readers of the table rely on: complete rows, and fields of the
// spec that distinguish the kinds.
func TestRows(t *testing.T) {
	names, fields := map[string]bool{}, map[string]string{}
	for _, k := range kinds.All() {
		if k.Name == "" || k.Group == "" || k.Version == "" || k.Resource == "" || k.Framework == "" || names[k.Name] {
			t.Errorf("row %q is incomplete, or is there twice", k.Name)
		}
		names[k.Name] = true
		if k.Name != kinds.Job && len(k.PodSets) == 0 {
			t.Errorf("row %s has no pods", k.Name)
		}
		for _, s := range k.PodSets[:min(1, len(k.PodSets))] {
			field, _, _ := strings.Cut(s.Path, ".")
			if fields[field] != "" {
				t.Errorf("the spec of %s has the field of %s, %s", k.Name, fields[field], field)
			}
			fields[field] = k.Name
		}
		if c := k.Controller; c != nil && (c.Kind != k.Name || c.SHA256[c.Tested] == "" || c.Field == "") {
			t.Errorf("the controller of %s lacks its kind, its field or the digest of release %s", k.Name, c.Tested)
		}
	}
}

// TestEachSet checks the CEL of objects, of lists and of lists that a job can lack.
func TestEachSet(t *testing.T) {
	k := kinds.Kind{PodSets: []kinds.PodSet{
		{Path: "cluster.head"}, {Path: "cluster.workers", List: true, Optional: true, Spec: "job"},
	}}
	got := k.EachSet("s", func(s kinds.PodSet, object string) string { return kinds.Below(object, s.Spec) })
	if want := "[s.cluster.head] + s.cluster.?workers.orValue([]).map(j, j.job)"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
