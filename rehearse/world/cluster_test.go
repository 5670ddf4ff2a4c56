package world

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// TestQueueDefaults checks that a ClusterQueue gets the defaults of Kueue's own CRD.
func TestQueueDefaults(t *testing.T) {
	structural := queueSchema(t)
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
		defaulting.Default(fields, structural)
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

// queueSchema returns the schema of ClusterQueues in Kueue's CRD.
func queueSchema(t *testing.T) *schema.Structural {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config", "components", "crd", "bases",
		"kueue.x-k8s.io_clusterqueues.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Name != kueue.SchemeGroupVersion.Version {
			continue
		}
		var internal apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			v.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(&internal)
		if err != nil {
			t.Fatal(err)
		}
		return structural
	}
	t.Fatalf("the CRD has no version %s", kueue.SchemeGroupVersion.Version)
	return nil
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
