package cost_test

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// platform returns the plan of a blueprint with the given lines.
func platform(t *testing.T, lines string) *ir.Platform {
	t.Helper()
	return platformIn(t, `systemPool: {machine: "e2-standard-4", nodesPerZone: 2}`, lines)
}

// platformIn returns the plan of a blueprint with the given lines and cluster.
func platformIn(t *testing.T, cluster, lines string) *ir.Platform {
	t.Helper()
	dir := t.TempDir()
	head := `package platform
name: "p", project: "my-project", region: "us-central1", zones: ["us-central1-a"]
cluster: ` + cluster + "\n"
	if err := os.WriteFile(filepath.Join(dir, "p.cue"), []byte(head+lines), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: []string{"p.cue"}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan == nil {
		t.Fatalf("the blueprint has errors: %v", res.Findings.Sorted())
	}
	return res.Plan
}

// readPrices returns the prices in a text, and its findings as "code line:column".
func readPrices(text string) (*cost.Prices, []string) {
	var findings diag.List
	prices := cost.ReadPrices(&diag.Source{Name: "prices.csv", Content: []byte(text)}, &findings)
	return prices, placesOf(&findings)
}

func placesOf(findings *diag.List) []string {
	var out []string
	for _, f := range findings.Sorted() {
		out = append(out, f.Code+" "+strings.TrimPrefix(f.Span.String(), "prices.csv:"))
	}
	return out
}

const prices = `# All numbers are made up.
machine,hardware,region,consumption,currency,price
e2-standard-4,,,onDemand,EUR,0.1
g2-standard-24,,,onDemand,EUR,3
g2-standard-24,,us-central1,onDemand,EUR,2.000000001
g2-standard-24,,europe-west4,onDemand,EUR,100
g2-standard-24,,,reservation,EUR,1.5
g2-standard-24,,,spot,EUR,1
a3-highgpu-8g,,,calendar,EUR,80
a3-highgpu-8g,,,flexStart,EUR,40
ct6e-standard-4t,,,onDemand,EUR,8
n1-standard-8,,,onDemand,EUR,7777
,t4,,onDemand,EUR,0.5
`

// The bill of each capacity has its nodes, and the money for an hour.
func TestOf(t *testing.T) {
	const l4 = `hardware: l4: machine: "g2-standard-24"
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 6
`
	const h100 = `hardware: h100: machine: "a3-highgpu-8g"
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 16
`
	for _, test := range []struct{ name, blueprint, want string }{
		{"scales from zero; the price of the region", l4 +
			`capacity: some: {hardware: "l4", consumption: onDemand: {}, maxNodes: 4}`,
			"0 3 4: 0 6.000000003 8.000000004"},
		{"a minimum stands", l4 +
			`capacity: some: {hardware: "l4", consumption: spot: {}, minNodes: 1, maxNodes: 4}`, "1 3 4: 1 3 4"},
		{"a created reservation stands", l4 +
			`capacity: some: {hardware: "l4", consumption: reservation: {name: "r", create: true}, nodes: 4}`,
			"4 4 4: 6 6 6"},
		{"a reservation stands even if its nodes scale", l4 +
			`capacity: some: {hardware: "l4", consumption: reservation: name: "r", maxNodes: 4}`, "4 4 4: 6 6 6"},
		{"a reservation of another project", l4 +
			`capacity: some: {hardware: "l4", maxNodes: 4}
capacity: some: consumption: reservation: {name: "r", project: "other-project"}`,
			"0 3 4: 0 9/2 6"},
		{"any reservation has the price of a reservation", l4 +
			`capacity: some: {hardware: "l4", consumption: anyReservation: {}, nodes: 4}`, "4 4 4: 6 6 6"},
		{"flex-start stands at zero", h100 +
			`capacity: some: {hardware: "h100", consumption: flexStart: queued: true, maxNodes: 4}`,
			"0 2 4: 0 80 160"},
		{"a calendar reservation that has begun", h100 +
			`capacity: some: {hardware: "h100", nodes: 2}
capacity: some: consumption: reservation: {name: "r", kind: "calendar", days: 30}`,
			"2 2 2: 160 160 160"},
		{"a calendar reservation that has not begun", h100 +
			`capacity: some: {hardware: "h100", nodes: 2}
capacity: some: consumption: reservation: {name: "r", kind: "calendar", days: 30, active: false}`,
			"0 0 2: 0 0 160"},
		{"guarantees beyond the nodes", l4 +
			`capacity: some: {hardware: "l4", consumption: onDemand: {}, maxNodes: 2, accept: E0602: "for the test"}`,
			"0 2 2: 0 4.000000002 4.000000002"},
		{"attached GPUs have the price of their hardware", `
hardware: t4: {machine: "n1-standard-8", gpus: {type: "nvidia-tesla-t4", count: 2}}
capacity: some: {hardware: "t4", consumption: onDemand: {}, maxNodes: 4}
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 6
`, "0 3 4: 0 3/2 2"},
	} {
		p := platform(t, test.blueprint)
		list, mistakes := readPrices(prices)
		if list == nil || !list.Check(&diag.List{}, p) {
			t.Fatalf("%s: the prices are refused: %v", test.name, mistakes)
		}
		c := cost.Of(p, list).Capacities[0]
		got := c.Standing.Nodes.RatString() + " " + c.Guaranteed.Nodes.RatString() + " " +
			c.Maximum.Nodes.RatString() + ": " + exact(c.Standing.Money) + " " + exact(c.Guaranteed.Money) + " " +
			exact(c.Maximum.Money)
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestExistingCluster holds that a platform in a cluster of others pays for its own nodes,
// and needs no price for others.
func TestExistingCluster(t *testing.T) {
	p := platformIn(t, `existing: {name: "prod", version: "1.34"}`, `hardware: l4: machine: "g2-standard-24"
capacity: some: {hardware: "l4", consumption: spot: {}, maxNodes: 4}
tiers: batch: {priority: 10, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 8
`)
	list, mistakes := readPrices("machine,consumption,currency,price\ng2-standard-24,spot,EUR,1\n")
	if list == nil || !list.Check(&diag.List{}, p) {
		t.Fatalf("the prices are refused: %v", mistakes)
	}
	bill := cost.Of(p, list)
	if len(bill.Capacities) != 1 || bill.Capacities[0].Name != "some" {
		t.Errorf("capacities of the bill: %+v", bill.Capacities)
	}
	if got := bill.Total.Standing.Money.RatString() + " " + bill.Total.Maximum.Money.RatString(); got != "0 4" {
		t.Errorf("total %s, want 0 4", got)
	}
}

// exact returns an amount as a decimal number if it has nine decimals, and otherwise as
// a fraction.
func exact(x *big.Rat) string {
	if s := x.FloatString(9); strings.TrimRight(s, "0") == s {
		return s
	}
	return x.RatString()
}

// TPU slices are counted in nodes: four hosts each, of which a part of a slice needs
// all.
func TestSlices(t *testing.T) {
	p := platform(t, `hardware: v6e: {machine: "ct6e-standard-4t", topology: "4x4"}
capacity: some: {hardware: "v6e", consumption: onDemand: {}, maxSlices: 3}
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: {
	vision: quota: batch: some: accelerators: 16
	speech: quota: batch: some: accelerators: 16
}
`)
	list, _ := readPrices(prices)
	bill := cost.Of(p, list)
	c := bill.Capacities[0]
	if got := c.Guaranteed.Nodes.RatString() + " " + c.Maximum.Nodes.RatString(); got != "8 12" {
		t.Errorf("nodes: %s, want 8 12", got)
	}
	if got := bill.Teams[0].Guaranteed.Money.RatString(); got != "32" {
		t.Errorf("team speech is guaranteed slices of %s EUR an hour, want 32", got)
	}
}

// Tiers and teams share nodes. The total counts each node once, and the guarantees of
// the teams and of the shared queues add up to the guarantees of the tiers.
func TestShares(t *testing.T) {
	p := platform(t, `hardware: l4: machine: "g2-standard-24"
capacity: {
	list: {hardware: "l4", consumption: onDemand: {}, nodes: 10}
	cheap: {hardware: "l4", consumption: spot: {}, maxNodes: 6}
}
tiers: {
	high: {priority: 20, default: true, capacity: ["list"]}
	low: {priority: 10, capacity: ["list", "cheap"], shared: quota: {
		list: accelerators: 7
		cheap: accelerators: 12
	}}
}
cohorts: all: {}
teams: {
	vision: {cohort: "all", quota: high: list: {accelerators: 8, borrow: "all"}}
	speech: {cohort: "all", quota: high: list: {accelerators: 5, borrow: 2}}
}
`)
	list, _ := readPrices(strings.ReplaceAll(prices, "2.000000001", "2"))
	bill := cost.Of(p, list)
	sum := func(shares ...cost.Share) *big.Rat {
		out := new(big.Rat)
		for _, s := range shares {
			out.Add(out, s.Guaranteed.Money)
		}
		return out
	}
	for _, test := range []struct {
		what      string
		got, want string
	}{
		{"total that stands", bill.Total.Standing.Money.RatString(), "101/5"}, // 10 nodes of 2, and 2 of 0.1
		{"total of the guarantees", bill.Total.Guaranteed.Money.RatString(), "131/5"},
		{"team vision", bill.Teams[1].Guaranteed.Money.RatString(), "8"},
		{"team vision at most", bill.Teams[1].Maximum.Money.RatString(), "20"},
		{"team speech", bill.Teams[0].Guaranteed.Money.RatString(), "5"},
		{"team speech at most", bill.Teams[0].Maximum.Money.RatString(), "7"},
		{"shared queue", bill.Shared[0].Guaranteed.Money.RatString(), "13"},
		{"tiers", sum(bill.Tiers...).RatString(), sum(append(bill.Teams, bill.Shared...)...).RatString()},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s EUR an hour, want %s", test.what, test.got, test.want)
		}
	}
}

// The machines of one reservation stand once, even if two capacities can take them.
func TestSharedReservation(t *testing.T) {
	p := platform(t, `hardware: l4: machine: "g2-standard-24"
capacity: {
	one: {hardware: "l4", consumption: reservation: name: "r", maxNodes: 4}
	two: {hardware: "l4", consumption: reservation: name: "r", maxNodes: 6}
}
tiers: batch: {priority: 10, default: true, capacity: ["one", "two"]}
teams: vision: quota: batch: {
	one: accelerators: 2
	two: accelerators: 2
}
`)
	if got := cost.Of(p, nil).Total.Standing.Nodes.RatString(); got != "8" { // with 2 of the system pool
		t.Errorf("%s nodes stand, want 8", got)
	}
}

func TestReadPrices(t *testing.T) {
	const head = "machine,consumption,region,currency,price\n"
	const row = "g2-standard-24,spot,,EUR,1\n"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a price", head + row, nil},
		{"spaces, quotes, comments and line ends of Windows",
			"\xef\xbb\xbf# a comment\r\nmachine, consumption ,currency,price\r\n\"g2-standard-24\", spot,EUR , 1\r\n",
			nil},
		{"zero", head + "g2-standard-24,spot,,EUR,0\n", nil},
		{"nothing", "", []string{"E0910 prices.csv"}},
		{"only comments", "# nothing\n", []string{"E0910 1:1"}},
		{"a quote that is not closed", head + "\"g2-standard-24,spot,,EUR,1\n", []string{"E0910 3:1"}},
		{"semicolons", strings.ReplaceAll(head+row, ",", ";"), []string{"E0911 1:1"}},
		{"a column twice", "machine,price,consumption,price,currency\n", []string{"E0911 1:27"}},
		{"columns that are missing", "region,consumption\n", []string{"E0911 1:1", "E0911 1:1", "E0911 1:1"}},
		{"a field that is missing", head + "g2-standard-24,spot,EUR,1\n", []string{"E0911 2:1"}},
		{"no machine", head + ",spot,,EUR,1\n", []string{"E0912 2:1"}},
		{"a machine that does not exist", head + "g2-standard-25,spot,,EUR,1\n", []string{"E0912 2:1"}},
		{"machine and hardware", "hardware,machine,consumption,currency,price\nl4,g2-standard-24,spot,EUR,1\n",
			[]string{"E0912 2:1"}},
		{"every field is wrong", head + "g2,cheap,mars,eur,1e3\n",
			[]string{"E0912 2:1", "E0913 2:4", "E0913 2:10", "E0914 2:15", "E0914 2:19"}},
		{"a negative price", head + "g2-standard-24,spot,,EUR,-1\n", []string{"E0914 2:26"}},
		{"a decimal comma", head + "g2-standard-24,spot,,EUR,\"1,5\"\n", []string{"E0914 2:26"}},
		{"no price", head + "g2-standard-24,spot,,EUR,\n", []string{"E0914 2:26"}},
		{"two currencies", head + row + "g2-standard-24,spot,us-central1,USD,1\n", []string{"E0914 3:33"}},
		{"a price twice", head + row + "\n" + row, []string{"E0915 4:1"}},
	} {
		list, got := readPrices(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if (list == nil) != (test.want != nil) {
			t.Errorf("%s: the prices are nil: %v", test.name, list == nil)
		}
	}
}

// An example has every price that its platform needs, and no other one.
func TestExample(t *testing.T) {
	p := platform(t, `hardware: {
	l4: machine: "g2-standard-24"
	t4: {machine: "n1-standard-8", gpus: {type: "nvidia-tesla-t4", count: 2}}
}
capacity: {
	l4: {hardware: "l4", consumption: spot: {}, maxNodes: 4}
	more: {hardware: "l4", consumption: spot: {}, maxNodes: 4}
	t4: {hardware: "t4", consumption: onDemand: {}, maxNodes: 4}
}
tiers: batch: {priority: 10, default: true, capacity: ["l4", "more", "t4"]}
teams: vision: quota: batch: {for c, _ in capacity {(c): accelerators: 2}}
`)
	list, mistakes := readPrices(string(cost.Example(p)))
	var findings diag.List
	if list == nil || !list.Check(&findings, p) || findings.Len() > 0 {
		t.Errorf("the example is refused: %v %v", mistakes, placesOf(&findings))
	}
	list, _ = readPrices("machine,consumption,currency,price\nn1-standard-8,onDemand,EUR,1\n")
	if list.Check(&findings, p) || findings.Len() != 3 {
		t.Errorf("got %v, want three missing prices", placesOf(&findings))
	}
}

func TestCompare(t *testing.T) {
	const blueprint = `hardware: l4: machine: "g2-standard-24"
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: accelerators: 6
capacity: some: {hardware: "l4", consumption: spot: {}, `
	list, _ := readPrices(prices)
	bill := func(size string) *cost.Bill { return cost.Of(platform(t, blueprint+size+"}\n"), list) }
	change := cost.Compare(bill("minNodes: 2, maxNodes: 9"), bill("maxNodes: 5"))
	const want = "This change: -1,460 EUR a month standing, +0 with all guarantees in use, -2,920 at most."
	if got := change.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	absent := cost.Of(&ir.Platform{Name: "p"}, list)
	if got := cost.Compare(absent, bill("maxNodes: 5")).Standing.RatString(); got != "146" { // the system pool
		t.Errorf("a new platform adds %s, want 146", got)
	}
	var text bytes.Buffer
	if err := cost.JSON(&text, absent); err != nil || !strings.Contains(text.String(), `"capacities":[],"tiers":[]`) {
		t.Errorf("the bill of nothing: %s, %v", text.String(), err)
	}
}
