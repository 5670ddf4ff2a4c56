package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// newKueue returns the settings as the schema completes them.
func newKueue() schema.Kueue {
	return schema.Kueue{WaitForPodsReady: schema.WaitForPodsReady{
		Timeout: "30m", Recovery: "15m", Place: "Eviction", First: "1m", Longest: "1h",
	}}
}

// TestSettings holds that the schema's defaults leave the plan without settings, and that each
// written setting reaches it.
func TestSettings(t *testing.T) {
	b := &schema.Blueprint{Kueue: newKueue()}
	if got := lowerKueueSettings(b); got.OwnPodsReady != nil || got.Strategies != nil || got.Usage != nil {
		t.Errorf("the defaults are settings: %+v", got)
	}
	limit := 10
	b.Kueue.WaitForPodsReady.Timeout, b.Kueue.WaitForPodsReady.Limit = "45m", &limit
	b.Kueue.FairSharing = &schema.FairSharing{Strategies: []string{"LessThanInitialShare"}}
	b.Kueue.AdmissionFairSharing = &schema.AdmissionFairSharing{
		HalfLife: "2d", Interval: "90s", Resources: map[string]float64{"memory": 0, "cpu": 1},
	}
	ready := ir.DefaultPodsReady()
	ready.Timeout, ready.Limit = 45*60, &limit
	want := ir.KueueSettings{
		Strategies: []string{"LessThanInitialShare"},
		Usage: &ir.UsageSettings{
			HalfLife: 2 * 24 * 3600, Interval: 90, Weights: []ir.ResourceWeight{{Resource: "memory", Weight: 0}},
		},
		OwnPodsReady: &ready,
	}
	if diff := cmp.Diff(want, lowerKueueSettings(b)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// TestRequests holds the name, the retries and the pauses of requests for nodes.
func TestRequests(t *testing.T) {
	limit := 96
	for _, c := range []struct {
		flex    schema.FlexStart
		check   string
		retries int
		pauses  ir.RetryPauses
	}{
		{schema.FlexStart{Queued: true, Retries: 340}, "dws-some", 340, ir.RetryPauses{}},
		{
			schema.FlexStart{Queued: true, Retries: 340, Retry: &schema.Retry{First: "1m", Longest: "30m"}},
			"dws-some", 340, ir.RetryPauses{},
		},
		{
			schema.FlexStart{
				Queued: true, Retries: 340, Retry: &schema.Retry{Limit: &limit, First: "1m", Longest: "15m"},
				AdmissionCheck: new("requests"),
			},
			"requests", 96, ir.RetryPauses{First: 60, Longest: 900},
		},
	} {
		b := newBlueprint()
		in := schema.Capacity{Hardware: new("l4"), Consumption: schema.Consumption{FlexStart: &c.flex}}
		check := lowerAdmissionChecks([]ir.Capacity{lowerCapacity(b, "some", in, b.Zones)})[0]
		if check.Name != c.check || check.Retries != c.retries || check.Retry != c.pauses {
			t.Errorf("%+v: got %+v", c.flex, check)
		}
	}
}

// TestWeights holds which weight a queue has: that of the tier, then that of the team, and none
// for Kueue's default.
func TestWeights(t *testing.T) {
	half, one, two := 0.5, 1.0, 2.0
	for _, c := range []struct {
		weights []*float64
		want    string
	}{
		{[]*float64{nil, nil}, "none"}, {[]*float64{nil, &two}, "2"}, {[]*float64{&half, &two}, "500m"},
		{[]*float64{&one, &two}, "none"}, {[]*float64{new(0.0)}, "0"},
	} {
		got := "none"
		if q := lowerWeight(c.weights...); q != nil {
			got = q.String()
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	b := &schema.Blueprint{Scheduler: string(ir.KAI)}
	if got := queueWeightOf(b, &two); got != 2 {
		t.Errorf("KAI Scheduler has the weight %d, want 2", got)
	}
	b.Scheduler = string(ir.Kueue)
	if got := queueWeightOf(b, &two); got != queueWeight {
		t.Errorf("Kueue has a weight %d of KAI Scheduler", got)
	}
}
