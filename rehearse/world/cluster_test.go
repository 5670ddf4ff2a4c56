package world

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/rehearse/admission"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestQueueDefaults checks that a ClusterQueue gets the defaults of Kueue's own CRD.
func TestQueueDefaults(t *testing.T) {
	definitions, err := admission.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	queues := definitions["ClusterQueue"].Schema
	for _, text := range []string{
		`{}`,
		`{"preemption": {"withinClusterQueue": "LowerPriority"}}`,
		`{"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": 5}}, "queueingStrategy": "StrictFIFO"}`,
		`{"flavorFungibility": {"whenCanPreempt": "MayStopSearch"}, "stopPolicy": "Hold"}`,
	} {
		var fields map[string]any
		if err := json.Unmarshal([]byte(`{"spec": `+text+`}`), &fields); err != nil {
			t.Fatal(err)
		}
		defaulting.Default(fields, queues)
		raw, err := json.Marshal(fields["spec"])
		if err != nil {
			t.Fatal(err)
		}
		want, err := stage.Decode[kueue.ClusterQueueSpec](raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := stage.Decode[kueue.ClusterQueueSpec]([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		setQueueDefaults(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-CRD +rehearsal):\n%s", text, diff)
		}
	}
}

// TestReadCluster checks that a cluster with what a rehearsal cannot play is refused by
// name.
func TestReadCluster(t *testing.T) {
	for _, test := range []struct{ name, object, want string }{
		{"kind", `{"apiVersion": "v1", "kind": "Service"}`, `objects of kind "Service"`},
		{"field", `{"apiVersion": "v1", "kind": "Namespace", "spek": {}}`, `unknown field "spek"`},
		{
			"fair sharing",
			`{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "fairSharing": {}}`,
			"preemptionStrategies must be specified",
		},
		{
			"limit of requeuing",
			`{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", ` +
				`"waitForPodsReady": {"requeuingStrategy": {"backoffLimitCount": 3}}}`,
			"cannot play waitForPodsReady with a backoffLimitCount",
		},
		{
			"measuring of usage",
			`{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", ` +
				`"admissionFairSharing": {"usageSamplingInterval": "-1s"}}`,
			"usageSamplingInterval must be greater than 0",
		},
		{
			"feature gate",
			`{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", ` +
				`"featureGates": {"NoSuch": true}}`,
			"NoSuch",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadCluster([]json.RawMessage{json.RawMessage(test.object)})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want: %s", err, test.want)
			}
		})
	}
}

// TestSplit checks which ClusterQueues share a part, with their cohorts and LocalQueues.
func TestSplit(t *testing.T) {
	const queues = `{"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"cohortName": "left"}}
		{"kind": "ClusterQueue", "metadata": {"name": "alone"}}
		{"kind": "ClusterQueue", "metadata": {"name": "b"}, "spec": {"cohortName": "right"}}
		{"kind": "ClusterQueue", "metadata": {"name": "c"}, "spec": {"cohortName": "unwritten"}}
		{"kind": "ClusterQueue", "metadata": {"name": "single"}}
		{"kind": "LocalQueue", "metadata": {"name": "jobs-b"}, "spec": {"clusterQueue": "b"}}
		{"kind": "LocalQueue", "metadata": {"name": "lost"}, "spec": {"clusterQueue": "none"}}
		{"kind": "Cohort", "metadata": {"name": "left"}, "spec": {"parentName": "root"}}
		{"kind": "Cohort", "metadata": {"name": "right"}, "spec": {"parentName": "root"}}`
	for _, test := range []struct {
		name, more string
		blocked    bool
		want       []string
		err        string
	}{
		{"cohorts", "", false, []string{"a b left right jobs-b", "alone", "c", "single"}, ""},
		{"a cycle", `{"kind": "Cohort", "metadata": {"name": "root"}, "spec": {"parentName": "left"}}`, false, nil,
			"its parents form a cycle"},
		{"blocked admission", "", true, []string{"a alone b c single left right jobs-b lost"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var objects []json.RawMessage
			decoder := json.NewDecoder(strings.NewReader(queues + test.more))
			for decoder.More() {
				var raw json.RawMessage
				if err := decoder.Decode(&raw); err != nil {
					t.Fatal(err)
				}
				objects = append(objects, raw)
			}
			c, err := ReadCluster(objects)
			if err != nil {
				t.Fatal(err)
			}
			c.Configuration = &config.Configuration{
				WaitForPodsReady: &config.WaitForPodsReady{BlockAdmission: &test.blocked},
			}
			parts, err := c.Split()
			if test.err == "" && err != nil {
				t.Fatal(err)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			var got []string
			for _, part := range parts {
				var names []string
				for _, q := range part.ClusterQueues {
					names = append(names, q.Name)
				}
				for _, cohort := range part.Cohorts {
					names = append(names, cohort.Name)
				}
				for _, q := range part.LocalQueues {
					names = append(names, q.Name)
				}
				got = append(got, strings.Join(names, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}
