package worlds_test

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/golden/worlds"
)

// number is the number of random worlds that TestWorlds imports. Their seeds are fixed.
var number = flag.Int("worlds", 50, "number of random worlds to import")

// TestWorlds checks that queues that run come back as they are, whatever they count, in any number of
// groups, in any namespaces, whoever owns the nodes.
func TestWorlds(t *testing.T) {
	for seed := range *number {
		was, err := worlds.Random(uint64(seed))
		if err != nil {
			t.Fatal(err)
		}
		is, err := worlds.Recompile(t.Context(), exports.File{Name: "queues.yaml", Content: was})
		if err != nil {
			t.Errorf("world %d: %v\n%s", seed, err, was)
			continue
		}
		differ, err := worlds.Compare(was, is)
		if err != nil {
			t.Fatal(err)
		}
		if len(differ) > 0 {
			t.Errorf("world %d (running -> compiled):\n%s", seed, strings.Join(differ, "\n"))
		}
	}
}

// TestCompare checks that a comparison finds a changed amount, another order of waiting jobs, an
// object that is missing, and another queue.
func TestCompare(t *testing.T) {
	text, err := worlds.Random(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][3]string{
		{`nominalQuota: "`, `nominalQuota: "7`, ".NominalQuota: "},
		{"queueingStrategy: BestEffortFIFO", "queueingStrategy: StrictFIFO", `: "BestEffortFIFO" -> "StrictFIFO"`},
		{"kind: LocalQueue", "kind: Other", " -> absent"},
		{"clusterQueue: ", "clusterQueue: x", ".Spec.ClusterQueue: "},
	} {
		other := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(text, other) {
			t.Fatalf("the world has no %s", change[0])
		}
		differ, err := worlds.Compare(text, other)
		if err != nil || len(differ) != 1 || !strings.Contains(differ[0], change[2]) {
			t.Errorf("%s instead of %s: %q %v, want %q", change[1], change[0], differ, err, change[2])
		}
	}
	if differ, err := worlds.Compare(text, text); len(differ) > 0 || err != nil {
		t.Errorf("the same world: %q %v", differ, err)
	}
}
