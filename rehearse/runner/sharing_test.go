package runner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
)

// addObject adds an object of Kueue.
func addObject(t *testing.T, s *rehearsal.Scenario, kind string, meta, spec fields) {
	t.Helper()
	s.Objects = append(s.Objects, encode(t, fields{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, "spec": spec,
	}))
}

// setSpec replaces a part of the spec of the object with a kind and a name.
func setSpec(t *testing.T, s *rehearsal.Scenario, kind, name, field string, value any) {
	t.Helper()
	for i, raw := range s.Objects {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		whole := fields{}
		for _, to := range []any{&o, &whole} {
			if err := json.Unmarshal(raw, to); err != nil {
				t.Fatal(err)
			}
		}
		if o.Kind == kind && o.Metadata.Name == name {
			whole["spec"].(map[string]any)[field] = value
			s.Objects[i] = encode(t, whole)
			return
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
}

// borrowed plays two teams that each want all 12 vCPUs of a cohort, which belong to nobody, the
// second later. It returns what they have in the end.
func borrowed(t *testing.T, settings fields, weights ...string) [2]int {
	t.Helper()
	s := scenario(t, queue{team: "a", cohort: "lab", across: "Any"}, queue{team: "b", cohort: "lab", across: "Any"})
	addObject(t, s, "Cohort", fields{"name": "lab"}, fields{"resourceGroups": []fields{{
		"coveredResources": []string{"cpu"},
		"flavors": []fields{{
			"name": "standard", "resources": []fields{{"name": "cpu", "nominalQuota": 12}},
		}},
	}}})
	for i, weight := range weights {
		setSpec(t, s, "ClusterQueue", []string{"a", "b"}[i], "fairSharing", fields{"weight": weight})
	}
	configure(t, s, settings)
	for i := range 12 {
		submit(t, s, "a", "low", 1, rehearsal.Job{At: int64(i), Runs: 100000})
	}
	for i := range 12 {
		submit(t, s, "b", "low", 1, rehearsal.Job{At: int64(100 + i), Runs: 100000})
	}
	s.Looks = []int64{5000}
	h := play(t, s)
	state := h.States[0].Queues
	return [2]int{state[0].Admitted, state[1].Admitted}
}

// TestFairSharing checks that queues divide what belongs to their cohort by their weights, and
// that without fair sharing the first team keeps everything.
func TestFairSharing(t *testing.T) {
	fair := func() fields {
		return fields{"fairSharing": fields{
			"preemptionStrategies": []string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"},
		}}
	}
	equal(t, "weights 2 and 1", borrowed(t, fair(), "2", "1"), [2]int{8, 4})
	equal(t, "weights 1 and 2", borrowed(t, fair(), "1", "2"), [2]int{4, 8})
	equal(t, "equal weights", borrowed(t, fair()), [2]int{6, 6})
	equal(t, "weight 0", borrowed(t, fair(), "0", "1"), [2]int{0, 12})
	equal(t, "without fair sharing", borrowed(t, fields{}, "1", "2"), [2]int{12, 0})
}

// TestUsage checks that the team that has used less comes first in a queue that is shared by
// usage, in relation to the weights.
func TestUsage(t *testing.T) {
	for _, test := range []struct {
		name, weight string // of the team that has used the queue
		byUsage      bool
		first        string
	}{
		{"by age", "1", false, "a"},
		{"by usage", "1", true, "b"},
		{"by usage and weight", "1000", true, "a"},
	} {
		s := scenario(t, queue{team: "a", quota: 2})
		addObject(t, s, "LocalQueue", fields{"name": "jobs", "namespace": "b"}, fields{"clusterQueue": "a"})
		s.Objects = append(s.Objects, encode(t, fields{
			"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": "b"},
		}))
		settings := fields{}
		if test.byUsage {
			setSpec(t, s, "ClusterQueue", "a", "admissionScope",
				fields{"admissionMode": "UsageBasedAdmissionFairSharing"})
			settings["admissionFairSharing"] = fields{"usageHalfLifeTime": "24h", "usageSamplingInterval": "5m"}
		}
		setSpec(t, s, "LocalQueue", "jobs", "fairSharing", fields{"weight": test.weight})
		configure(t, s, settings)
		submit(t, s, "b", "low", 2, rehearsal.Job{At: 0, Runs: 600})
		submit(t, s, "a", "low", 2, rehearsal.Job{At: 1, Runs: 36000})
		waits := map[string]int{
			"a": submit(t, s, "a", "low", 2, rehearsal.Job{At: 2000, Runs: 60}),
			"b": submit(t, s, "b", "low", 2, rehearsal.Job{At: 3000, Runs: 60}),
		}
		h := play(t, s)
		second := strings.Trim("ab", test.first)
		first := h.Jobs[waits[test.first]].Runs[0].Reserved
		if then := h.Jobs[waits[second]].Runs[0].Reserved; first >= then || first < 36600 {
			t.Errorf("%s: %s starts at %d, and %s at %d", test.name, test.first, first, second, then)
		}
	}
}
