package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// TestExistingNodes holds that the platform sees of nodes of others what the blueprint says, and
// that it obtains none of them.
func TestExistingNodes(t *testing.T) {
	seconds := int64(60)
	b := &schema.Blueprint{
		Zones:    []string{"us-central1-a"},
		Hardware: map[string]schema.Hardware{"l4": {Machine: "g2-standard-24"}},
		Capacity: map[string]schema.Capacity{
			"any": {Consumption: schema.Consumption{Existing: &struct{}{}}},
			"known": {
				Hardware: new("l4"), Nodes: new(3), Consumption: schema.Consumption{Existing: &struct{}{}},
				Flavor: &schema.Flavor{
					Name: new("1x.l4"), NodeLabels: map[string]string{"pool": "l4"},
					NodeTaints: []schema.NodeTaint{{Key: "mine", Effect: "NoSchedule"}},
					Tolerations: []schema.Toleration{
						{Operator: "Exists", Effect: new("NoExecute"), Seconds: &seconds},
					},
				},
			},
		},
	}
	own, existing := lowerCapacities(b, b.Zones)
	if len(own) != 0 || len(existing) != 2 {
		t.Fatalf("%d own, %d existing", len(own), len(existing))
	}
	unknown, known := existing[0], existing[1]
	if unknown.KnowsNodes() || unknown.PerNode != nil || unknown.NodeLabels != nil || unknown.OwnsPools() ||
		unknown.Flavor.Name != "any" || unknown.Flavor.Tolerations != nil {
		t.Errorf("unknown nodes: %+v", unknown)
	}
	want := ir.Flavor{
		Name: "1x.l4", Differs: true, Taints: []ir.Taint{{Key: "mine", Effect: "NoSchedule"}},
		Tolerations: []ir.Toleration{{Operator: "Exists", Effect: "NoExecute", Seconds: &seconds}},
	}
	if diff := cmp.Diff(want, known.Flavor); diff != "" || known.MaxNodes != 3 || len(known.PerNode) != 3 ||
		known.Selector() != "pool=l4" {
		t.Errorf("known nodes: %+v\n%s", known, diff)
	}
}

// TestFlavorOfOwnNodes holds that labels of a flavor that GKE does not set become labels of the
// pool, and that the others only select its nodes.
func TestFlavorOfOwnNodes(t *testing.T) {
	in := schema.Capacity{
		Hardware: new("l4"), MaxNodes: new(2), Consumption: schema.Consumption{Spot: &struct{}{}},
		NodeLabels: map[string]string{"example.com/a": "1"},
	}
	b := &schema.Blueprint{
		Hardware: map[string]schema.Hardware{"l4": {Machine: "g2-standard-24"}},
		Capacity: map[string]schema.Capacity{"l4-spot": in},
	}
	plain, _ := lowerCapacities(b, nil)
	in.Flavor = &schema.Flavor{NodeLabels: map[string]string{
		"cloud.google.com/gke-accelerator": "nvidia-l4", "example.com/pool": "flex",
	}}
	b.Capacity["l4-spot"] = in
	own, _ := lowerCapacities(b, nil)
	c := own[0]
	if got := c.Selector(); got != "cloud.google.com/gke-accelerator=nvidia-l4,example.com/pool=flex" {
		t.Errorf("Kueue selects nodes by %s", got)
	}
	want := []ir.KeyValue{{Key: "example.com/a", Value: "1"}, {Key: "example.com/pool", Value: "flex"}}
	if diff := cmp.Diff(want, c.OwnLabels); diff != "" {
		t.Errorf("labels of the pool (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plain[0].NodeTaints, c.Flavor.Taints); diff != "" ||
		len(c.Flavor.Tolerations) != len(c.NodeTaints) {
		t.Errorf("the flavor has other taints than the nodes:\n%s", diff)
	}
	if diff := cmp.Diff(plain[0].PoolLabels, withoutLabel(c.PoolLabels, "example.com/pool")); diff != "" {
		t.Errorf("the flavor changes other labels of the pool:\n%s", diff)
	}
}

func withoutLabel(labels []ir.KeyValue, key string) []ir.KeyValue {
	var out []ir.KeyValue
	for _, l := range labels {
		if l.Key != key {
			out = append(out, l)
		}
	}
	return out
}
