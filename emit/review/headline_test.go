package review

import (
	"math/big"
	"testing"

	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/jobs"
	"github.com/batchwright/batchwright/emit/review/live"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// TestHeadline checks that the headline says what a reviewer decides on, the worst first, and
// otherwise what changes.
func TestHeadline(t *testing.T) {
	pool := func(name, hardware string, nodes int) objects.Replacement {
		return objects.Replacement{
			Address: "google_container_node_pool." + name, Hardware: hardware, Nodes: nodes, Fixed: hardware != "l4",
		}
	}
	bucket := objects.Replacement{Address: `google_storage_bucket.team["a"]`}
	cluster := objects.Replacement{Address: "google_container_cluster.main", Guard: "while deletion protection is on"}
	changed := []objects.Object{{Kind: "ClusterQueue", Name: "q", File: "a.yaml", Op: delta.Changed}}
	quota := lineOf(summary.TopicQuota, "a note")
	stop := jobs.Outcome{Kind: jobs.Stop, Text: "stop"}
	some := jobs.Outcome{Kind: jobs.NeverStart, Text: "with more than 4 GPUs never start"}
	for want, r := range map[string]*Review{
		"nothing changes": {},
		"applying changes only the labels of 1 compared object": {Live: &live.Facts{Adopted: []string{"a"}}},
		"1 generated object changes":                            {Objects: changed},
		"applying creates or changes 1 object":                  {Objects: changed, Live: &live.Facts{}},
		"undoes 1 edit by hand": {
			Objects: changed, Base: &Base{Objects: 1, FromEdits: 1},
		},

		"changes only pages for people": {
			Objects: []objects.Object{{Kind: "file", File: "README.md"}},
		},
		"changes only pages for people; 1 of 1 change does not follow from the blueprint": {
			Objects: []objects.Object{{Kind: "file", File: "README.md"}}, Base: &Base{Objects: 1, FromTool: 1},
		},
		"about quota: a -> b":      {Summary: []summary.Line{quota, lineOf(summary.TopicCloudQuota, "")}},
		"about alerts: a -> b (n)": {Summary: []summary.Line{lineOf(summary.TopicAlerts, "n")}},
		"3 changes in quota and access": {
			Summary: []summary.Line{quota, quota, lineOf(summary.TopicAccess, "")},
		},
		"moves the Terraform state":  {StateTo: "gs://b", Objects: changed},
		"replaces 12 h100 nodes":     {Replacements: []objects.Replacement{pool("h", "h100", 12)}},
		"replaces 1 node pool":       {Replacements: []objects.Replacement{pool("h", "", 0)}},
		"deletes some h100 nodes":    {Shrunk: []objects.Replacement{pool("h", "h100", 0)}},
		"recreates up to 4 l4 nodes": {Recreated: []objects.Replacement{pool("h", "l4", 4)}},
		"removes up to 8 l4 nodes; removes 1 bucket": {
			Removals: []objects.Replacement{pool("a", "l4", 4), pool("b", "l4", 4), bucket},
		},
		"replaces up to 10 nodes in 4 classes of hardware": {
			Replacements: []objects.Replacement{
				pool("a", "a", 1), pool("b", "b", 2), pool("c", "c", 3), pool("d", "d", 4),
			},
		},
		"replaces the cluster with all its nodes, and the build fails while deletion protection is on; " +
			"replaces 1 bucket": {
			Replacements: []objects.Replacement{cluster, pool("a", "a", 1), bucket},
		},
		"about security: a -> b; 1 change removes a protection": {
			Summary: []summary.Line{lineOf(summary.TopicSecurity, "dangerous: x")},
		},
		"stops jobs of a and b": {
			Jobs: []jobs.Effect{{Teams: []string{"a", "b"}, Running: stop, Waiting: some}},
		},
		"stops jobs of 4 teams; some waiting jobs of a never start": {Jobs: []jobs.Effect{
			{Teams: []string{"a", "b", "c", "d"}, Running: stop}, {Teams: []string{"a"}, Waiting: some},
		}},
		"about quota: a -> b; stops jobs of all teams": {
			Jobs: []jobs.Effect{{Running: stop}}, Summary: []summary.Line{quota, lineOf(summary.TopicAlerts, "")},
		},
		"stops jobs of all teams": {Jobs: []jobs.Effect{{Running: stop}}},
		"2 of 3 changes do not follow from the blueprint; replaces 1 a node": {
			Base: &Base{Objects: 3, FromTool: 2}, Replacements: []objects.Replacement{pool("a", "a", 1)},
		},
		"about quota: a -> b; +5 EUR a month; 1 new warning; 1 newly accepted finding; 1 warning gone": {
			Summary: []summary.Line{quota}, Cost: monthly(5, 5, 5),
			Findings: &Findings{
				New: []Finding{{Severity: "warning"}, {Severity: "note", Accepted: "why"}}, Gone: []Finding{{}},
			},
		},
		"1 accepted finding changed or gone": {Findings: &Findings{Gone: []Finding{{Accepted: "why"}}}},
		"what happens to nodes and data is unknown, because Terraform files cannot be read": {
			Unknown: true, Objects: changed,
		},
		"1 changed warning": {Findings: &Findings{Changed: []Finding{{Severity: "warning"}}}},
		"about quota: a -> b; -7 EUR a month at most": {
			Summary: []summary.Line{quota}, Cost: monthly(0, 0, -7),
		},
		"about quota: a -> b; cost unknown: no price": {Summary: []summary.Line{quota}, CostUnknown: "no price"},
	} {
		if got := r.Headline(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// monthly returns a difference in cost.
func monthly(standing, guaranteed, maximum int64) *cost.Change {
	return &cost.Change{
		Currency: "EUR", Standing: big.NewRat(standing, 1), Guaranteed: big.NewRat(guaranteed, 1),
		Maximum: big.NewRat(maximum, 1),
	}
}
