package losses

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOf reads changes of node pools in the form in which Terraform prints them.
func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		change string
		want   []Loss
	}{
		"unchanged": {
			change: `"actions": ["no-op"], "before": {"name": "l4-a", "node_count": 4, "node_locations": ["a", "b"]},
				"after": {"name": "l4-a", "node_count": 4, "node_locations": ["b", "a"]}`,
		},
		"new":    {change: `"actions": ["create"], "before": null, "after": {"name": "l4-a", "node_locations": ["a"]}`},
		"larger": {change: `"actions": ["update"], "before": {"node_count": 4}, "after": {"node_count": 5}`},
		"autoscaled from now on": {
			change: `"actions": ["update"], "before": {"node_count": 4}, "after": {"autoscaling": []},
				"after_unknown": {"node_count": true}`,
		},
		"removed": {
			`"actions": ["delete"], "before": {"name": "l4-a", "node_count": 4}, "after": null`,
			[]Loss{{"l4-a", "l4-a", Removed, "", 0}},
		},
		"replaced": {
			`"actions": ["delete", "create"], "before": {"name": "l4-a-1"}, "after": {"name": "l4-a-1"}`,
			[]Loss{{"l4-a", "l4-a-1", Replaced, "", 0}},
		},
		"replaced, the new one first": {
			`"actions": ["create", "delete"], "before": {"name": "l4-a"}, "after": {"name": "l4-a"}`,
			[]Loss{{"l4-a", "l4-a", Replaced, "", 0}},
		},
		"a zone less": {
			`"actions": ["update"], "before": {"name": "l4-a", "node_locations": ["a", "b", "c"], "node_count": null},
				"after": {"name": "l4-a", "node_locations": ["a", "d"], "node_count": null}`,
			[]Loss{{"l4-a", "l4-a", Zone, "b", 0}, {"l4-a", "l4-a", Zone, "c", 0}},
		},
		"a zone less, and fewer nodes in the other": {
			`"actions": ["update"], "before": {"name": "l4-a", "node_locations": ["a", "b"], "node_count": 4},
				"after": {"name": "l4-a", "node_locations": ["a"], "node_count": 2}`,
			[]Loss{{"l4-a", "l4-a", Fewer, "", 2}, {"l4-a", "l4-a", Zone, "b", 0}},
		},
		"fewer nodes": {
			`"actions": ["update"], "before": {"name": "l4-a", "node_count": 12},
				"after": {"name": "l4-a", "node_count": 10}`,
			[]Loss{{"l4-a", "l4-a", Fewer, "", 10}},
		},
		"no nodes": {
			`"actions": ["update"], "before": {"name": "l4-a", "node_count": 1},
				"after": {"name": "l4-a", "node_count": 0}`,
			[]Loss{{"l4-a", "l4-a", Fewer, "", 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			// A cluster without protection is no loss of its own.
			plan := `{"resource_changes": [
				{"type": "google_container_cluster", "name": "main", "change": {"actions": ["delete"], "before": {}}},
				{"type": "google_container_node_pool", "name": "l4_a", "change": {` + test.change + `}}]}`
			var decoded any
			if err := json.Unmarshal([]byte(plan), &decoded); err != nil {
				t.Fatal(err)
			}
			got, err := Of(decoded)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("(-want +got):\n%s\n%v", diff, err)
			}
		})
	}
	var protected any
	err := json.Unmarshal([]byte(`{"resource_changes": [
		{"type": "google_container_cluster", "name": "main", "change": {"actions": ["create"], "before": null}},
		{"type": "google_container_cluster", "name": "main", "change": {"actions": ["delete", "create"],
			"before": {"name": "c", "deletion_protection": true}}}]}`), &protected)
	if err != nil {
		t.Fatal(err)
	}
	want := []Loss{{"main", "c", Protected, "", 0}}
	if got, err := Of(protected); !cmp.Equal(got, want) || err != nil {
		t.Errorf("a protected cluster: %v, %v, want %v", got, err, want)
	}
	if got, err := Of(map[string]any{}); got != nil || err != nil {
		t.Errorf("a plan without changes: %v, %v", got, err)
	}
	if _, err := Of("no plan"); err == nil {
		t.Error("a text is no plan")
	}
}
