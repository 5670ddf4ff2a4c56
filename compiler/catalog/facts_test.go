package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// factsDir is where the facts are expected that the data files were taken from.
const factsDir = "../../../shared/facts"

func readFacts(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(factsDir, name))
	if err != nil {
		t.Skipf("the facts are not at %s: the data files are not held against them", factsDir)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// object is a row as it stands in its file, so that what is absent from it can
// be told from what is 0.
type object = map[string]any

// The catalogue has every fact on machines, and nothing that is null there.
func TestMachinesAgreeWithFacts(t *testing.T) {
	var facts struct{ Machines []object }
	readFacts(t, "machines.json", &facts)

	rows := map[string]object{}
	for row := range strings.Lines(machines) {
		o := decode[object](row)
		rows[o["type"].(string)] = o
	}
	for row := range strings.Lines(attachments) {
		o := decode[object](row)
		rows[fmt.Sprintf("%s-* + %vx %s", o["family"], o["count"], o["accelerator"])] = o
	}
	if len(facts.Machines) != len(rows) {
		t.Errorf("%d machine types in the facts, %d in the catalogue", len(facts.Machines), len(rows))
	}
	for _, fact := range facts.Machines {
		name := fact["machine_type"].(string)
		row := rows[name]
		if row == nil {
			t.Errorf("%s is not in the catalogue", name)
			continue
		}
		got := maps.Clone(row)
		for _, key := range []string{"type", "withheld", "note", "minVersion", "autoFrom"} {
			delete(got, key)
		}
		want := machineOfFact(fact)
		switch {
		case name == "tpu7x-standard-4t":
			// null for two sources that contradict each other, of which the
			// catalogue takes the smaller figure.
			want["memoryGiB"] = 960.0
		case fact["accelerator"] != nil && fact["vcpus"] == nil:
			rangeOfFact(fact, want)
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s (-facts +catalogue):\n%s", name, d)
		}
		if d := gocmp.Diff(versionsIn(fact["gke_min_version"]), versionsIn(row["minVersion"], row["autoFrom"])); d != "" {
			t.Errorf("%s: GKE versions (-facts +catalogue):\n%s", name, d)
		}
	}
}

// machineOfFact is the row that a fact asks for.
func machineOfFact(fact object) object {
	row := object{"options": object{}}
	set := func(in object, key string, value any) {
		if value != nil {
			in[key] = value
		}
	}
	set(row, "family", fact["family"])
	if fact["architecture"] != "amd64" {
		row["arch"] = fact["architecture"]
	}
	set(row, "vcpus", fact["vcpus"])
	set(row, "memoryGiB", fact["memory_gb"])
	if fact["accelerator"] != nil {
		row["accelerator"], row["count"] = fact["accelerator"], fact["accelerator_count"]
		set(row, "acceleratorMemoryGiB", fact["accelerator_memory_gb"])
	}

	ssd := fact["local_ssd"].(object)
	switch ssd["mode"] {
	case "bundled":
		row["ssds"] = object{"bundled": ssd["default_count"], "sizeGB": ssd["disk_size_gb"]}
	case "optional":
		row["ssds"] = object{"allowed": ssd["allowed_counts"], "sizeGB": ssd["disk_size_gb"]}
	case "none":
		row["ssds"] = object{"allowed": []any{}}
	}
	set(row, "disks", fact["boot_disk_types"])
	set(row, "disk", fact["default_boot_disk"])

	supports := fact["supports"].(object)
	set(row, "compactNodes", fact["compact_placement_max_nodes"])
	if supports["compact_placement"] == false {
		row["compactNodes"] = 0.0
	}
	for ours, theirs := range map[string]string{
		"onDemand": "on_demand", "spot": "spot", "reservation": "reservation",
		"flexStart": "flex_start", "queued": "queued_provisioning", "calendar": "calendar",
	} {
		set(row["options"].(object), ours, supports[theirs])
	}

	network, networks := fact["network"].(object), object{}
	for ours, theirs := range map[string]string{"gvnic": "extra_gvnic_nics", "rdma": "rdma_nics"} {
		if n := network[theirs]; n == nil {
			networks["unverified"] = true
		} else if n != 0.0 {
			networks[ours] = n
		}
	}
	if network["gpudirect"] != "none" {
		networks["direct"] = network["gpudirect"]
	}
	if len(networks) > 0 {
		row["networks"] = networks
	}
	return row
}

var attachmentRange = regexp.MustCompile(`1\.\.(\d+) vCPU(?: and 1\.\.(\d+) GB)?`)

// rangeOfFact makes an attachment of a row: its machine is a range, which stands
// in a note, and it boots and is placed as the machine it is attached to.
func rangeOfFact(fact, row object) {
	delete(row, "compactNodes")
	for _, note := range fact["notes"].([]any) {
		if m := attachmentRange.FindStringSubmatch(note.(string)); m != nil {
			row["maxVCPUs"] = decode[float64](m[1])
			if m[2] != "" {
				row["maxMemoryGiB"] = decode[float64](m[2])
			}
		}
	}
}

var gkeVersion = regexp.MustCompile(`\d+\.\d+\.\d+(-gke\.\d+)?`)

func versionsIn(values ...any) []string {
	out := gkeVersion.FindAllString(fmt.Sprint(values...), -1)
	slices.Sort(out)
	return out
}

func TestSlicesAgreeWithFacts(t *testing.T) {
	type shape struct {
		Topology   string `json:"topology"`
		Chips      int    `json:"chips"`
		Hosts      int    `json:"hosts"`
		ChipsPerVM int    `json:"chips_per_vm"`
	}
	var facts struct {
		Generations []struct {
			MachineTypes map[string]struct {
				ChipsPerVM int `json:"chips_per_vm"`
			} `json:"machine_types"`
			Topologies []shape
		}
	}
	readFacts(t, "tpu_topologies.json", &facts)

	want := map[string][]Slice{}
	for _, g := range facts.Generations {
		for name, m := range g.MachineTypes {
			if got, _ := Lookup(name); got.Count != m.ChipsPerVM {
				t.Errorf("%s has %d chips, the facts say %d", name, got.Count, m.ChipsPerVM)
			}
			for _, s := range g.Topologies {
				if s.ChipsPerVM == m.ChipsPerVM {
					want[name] = append(want[name], Slice{s.Topology, s.Chips, s.Hosts})
				}
			}
		}
	}
	got := map[string][]Slice{}
	for _, m := range All() {
		if s := m.Slices(); s != nil {
			got[m.Type] = s
		}
	}
	for _, shapes := range want {
		slices.SortFunc(shapes, func(a, b Slice) int {
			return cmp.Or(cmp.Compare(a.Chips, b.Chips), cmp.Compare(a.Topology, b.Topology))
		})
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("slices (-facts +catalogue):\n%s", d)
	}
}
