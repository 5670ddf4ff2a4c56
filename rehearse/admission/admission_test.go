package admission_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/golden/worlds"
	"github.com/batchwright/batchwright/rehearse/admission"
)

// number is how many random worlds TestWorlds imports: most if make conformance runs it.
var number = flag.Int("worlds", sampled(50, 1000), "number of random worlds to import")

func sampled(few, most int) int {
	if os.Getenv("EVERY_CASE") != "" {
		return most
	}
	return few
}

// TestWorlds checks that Kueue accepts random worlds, that they come back from an import as they are,
// and that Kueue accepts what the imported blueprints compile to.
func TestWorlds(t *testing.T) {
	cluster := newCluster(t)
	created, compiled := 0, 0
	for seed := range *number {
		was, err := worlds.Random(uint64(seed))
		if err != nil {
			t.Fatal(err)
		}
		n, err := cluster.Create(t.Context(), was)
		if err != nil {
			t.Errorf("Kueue rejects world %d: %v\n%s", seed, err, was)
		}
		created += n
		is, err := worlds.Recompile(t.Context(), exports.File{Name: "queues.yaml", Content: was})
		if err != nil {
			t.Errorf("world %d: %v\n%s", seed, err, was)
			continue
		}
		if n, err = cluster.Create(t.Context(), is); err != nil {
			t.Errorf("Kueue rejects what world %d compiles to: %v\n%s", seed, err, is)
		}
		compiled += n
		differ, err := worlds.Compare(was, is)
		if err != nil {
			t.Fatal(err)
		}
		if len(differ) > 0 {
			t.Errorf("world %d (running -> compiled):\n%s", seed, strings.Join(differ, "\n"))
		}
	}
	if created != compiled || created < 5**number {
		t.Errorf("of %d objects, %d came back", created, compiled)
	}
	t.Logf("%d objects of %d worlds", created, *number)
}

// TestRejected checks that each part of a cluster rejects what is invalid, so that TestWorlds can fail.
func TestRejected(t *testing.T) {
	cluster := newCluster(t)
	const group = `coveredResources: [cpu], flavors: [{name: spot, resources: [{name: cpu, nominalQuota: "4"`
	for _, test := range []struct{ kind, name, spec, want string }{
		{"ClusterQueue", "accepted", `{cohortName: lab, resourceGroups: [{` + group + `, lendingLimit: "4"}]}]}]}`, ""},
		{"ClusterQueue", "limit", `{resourceGroups: [{` + group + `, lendingLimit: "4"}]}]}]}`,
			"must be nil when cohort is empty"},
		{"ClusterQueue", "field", `{cohort: lab}`, "unknown fields: spec.cohort"},
		{"ClusterQueue", "value", `{queueingStrategy: LIFO}`, `supported values: "StrictFIFO", "BestEffortFIFO"`},
		{"ClusterQueue", "Name", `{}`, "a lowercase RFC 1123 subdomain"},
		{"Cohort", "limit", `{resourceGroups: [{` + group + `, borrowingLimit: "4"}]}]}]}`,
			"must be nil when parent is empty"},
		{"ResourceFlavor", "taint", `{nodeTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}`,
			"taints must be unique"},
		{"ResourceFlavor", "topology", `{topologyName: racks}`, "at least one nodeLabel is required"},
		{"Topology", "levels", `{levels: [{nodeLabel: rack}, {nodeLabel: rack}]}`, "must be unique"},
		{"Queue", "kind", `{}`, "no such kind"},
	} {
		document := "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " + test.kind + "\nmetadata: {name: " + test.name +
			"}\nspec: " + test.spec + "\n"
		_, err := cluster.Create(t.Context(), []byte(document))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.kind, test.name, err, test.want)
		}
	}
}

func newCluster(t *testing.T) *admission.Cluster {
	t.Helper()
	cluster, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}
