package catalog

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// readFile decodes a data file, and fails the test on a field that is not known,
// a row that does not come after the one above, and one that is not written as
// its type is: then a change of a fact is the only change there is to review.
func readFile[T any](t *testing.T, name, text string, compare func(a, b T) int) []T {
	t.Helper()
	if !strings.HasSuffix(text, "\n") {
		t.Errorf("%s: the last row is not a whole line", name)
	}
	var out []T
	for row := range strings.Lines(text) {
		d := json.NewDecoder(strings.NewReader(row))
		d.DisallowUnknownFields()
		var v T
		if err := d.Decode(&v); err != nil {
			t.Errorf("%s: %v: %s", name, err, row)
		}
		if again, err := json.Marshal(v); err != nil || string(again)+"\n" != row {
			t.Errorf("%s: the row\n%s\nshould read (%v)\n%s", name, row, err, again)
		}
		if len(out) > 0 && compare(out[len(out)-1], v) >= 0 {
			t.Errorf("%s: not in order, or there already: %s", name, row)
		}
		out = append(out, v)
	}
	return out
}

func TestMachineRows(t *testing.T) {
	rows := readFile(t, "machines.jsonl", machines, func(a, b Machine) int { return cmp.Compare(a.Type, b.Type) })
	for _, m := range rows {
		if got, ok := Lookup(m.Type); !ok || got.Type != m.Type {
			t.Errorf("Lookup(%q) = %q, %v", m.Type, got.Type, ok)
		}
		if _, ok := Usable(m.Type); ok != (m.Withheld == "") {
			t.Errorf("Usable(%q): %v, though withheld is %q", m.Type, ok, m.Withheld)
		}
		switch {
		case m.VCPUs <= 0 || m.MemoryGiB <= 0,
			(m.Accelerator != "") != (m.Count > 0),
			m.AcceleratorMemoryGiB > 0 && m.Accelerator == "",
			!slices.Contains([]string{"", "arm64"}, m.Arch),
			!slices.Contains([]string{"", "TCPX", "TCPXO", "RDMA"}, m.Networks.Direct),
			m.SSDs.Bundled > 0 && m.SSDs.Allowed != nil,
			(m.SSDs.Bundled > 0 || len(m.SSDs.Allowed) > 0) != (m.SSDs.SizeGB > 0),
			!slices.IsSorted(m.SSDs.Allowed):
			t.Errorf("%s: implausible: %+v", m.Type, m)
		case m.Disk != "" && !slices.Contains(m.Disks, m.Disk):
			t.Errorf("%s: default disk %q is not among %q", m.Type, m.Disk, m.Disks)
		}
	}
}

func TestAttachmentRows(t *testing.T) {
	for _, a := range readFile(t, "attachments.jsonl", attachments, func(a, b Attachment) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Accelerator, b.Accelerator),
			cmp.Compare(a.Count, b.Count))
	}) {
		if a.Family == "" || a.Accelerator == "" || a.Count <= 0 || a.MaxVCPUs <= 0 ||
			a.Withheld == "" && a.MaxMemoryGiB <= 0 {
			t.Errorf("implausible: %+v", a)
		}
	}
}

var zoneName = regexp.MustCompile(`^[a-z]+-[a-z]+\d+-(ai\d)?[a-f]$`)

func TestZoneRows(t *testing.T) {
	for _, r := range readFile(t, "zones.jsonl", zones, func(a, b zoneRow) int { return cmp.Compare(a.Of, b.Of) }) {
		if !slices.ContainsFunc(All(), func(m Machine) bool { return m.zoneRow().Of == r.Of }) &&
			!slices.ContainsFunc(AllAttachments(), func(a Attachment) bool { return a.Accelerator == r.Of }) {
			t.Errorf("zones of %q, which nothing has", r.Of)
		}
		lists := [][]string{r.Zones}
		for option, list := range r.Options {
			lists = append(lists, list)
			Options{}.Offered(option) // panics if there is no such column
		}
		for _, list := range lists {
			if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
				t.Errorf("%s: not in order, or twice: %q", r.Of, list)
			}
			for _, zone := range list {
				if !zoneName.MatchString(zone) {
					t.Errorf("%s: %q is not a zone", r.Of, zone)
				}
				if len(r.Zones) > 0 && !slices.Contains(r.Zones, zone) {
					t.Errorf("%s: %s is not among its zones", r.Of, zone)
				}
			}
		}
	}
}

func TestQuotaRows(t *testing.T) {
	kind := func(r quotaRow) int {
		return slices.Index([]bool{r.Accelerator != "", r.Disk != "", r.Family != ""}, true)
	}
	for _, r := range readFile(t, "quotas.jsonl", quotas, func(a, b quotaRow) int {
		return cmp.Or(cmp.Compare(kind(a), kind(b)),
			cmp.Compare(a.Accelerator+a.Disk+a.Family, b.Accelerator+b.Disk+b.Family))
	}) {
		if kind(r) < 0 || r.Standard == "" && r.Note == "" {
			t.Errorf("implausible: %+v", r)
		}
	}
}

func TestFamilyRows(t *testing.T) {
	known := map[string]bool{}
	for _, m := range All() {
		known[m.Family] = true
	}
	byName := func(a, b Family) int { return cmp.Compare(a.Family, b.Family) }
	for _, f := range readFile(t, "families.jsonl", families, byName) {
		if got := FamilyOf(f.Family); got != f {
			t.Errorf("FamilyOf(%q) = %+v", f.Family, got)
		}
		if f == (Family{Family: f.Family}) || (f.TPUType != "") != (f.TensorCores > 0) ||
			(f.LinkedNodes > 0) != (f.LinkTopology != "") || !known[f.Family] {
			t.Errorf("implausible: %+v", f)
		}
	}
	if got := FamilyOf("n2"); got != (Family{Family: "n2"}) {
		t.Errorf("n2 has no facts of its own, got %+v", got)
	}
}

func TestSliceRows(t *testing.T) {
	rows := readFile(t, "slices.jsonl", tpuSlices, func(a, b sliceRow) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Chips, b.Chips), cmp.Compare(a.Topology, b.Topology))
	})
	shapes := map[string]int{}
	for _, r := range rows {
		m, ok := Lookup(r.Type)
		if !ok || !m.HasTPUs() {
			t.Errorf("a slice of %q, which has no TPUs", r.Type)
			continue
		}
		shapes[m.Accelerator]++
		if s, ok := m.Slice(r.Topology); !ok || s != r.Slice {
			t.Errorf("%s: Slice(%q) = %v, %v", r.Type, r.Topology, s, ok)
		}
		product, sizes := 1, []int{}
		for _, d := range strings.Split(r.Topology, "x") {
			n, err := strconv.Atoi(d)
			if err != nil {
				t.Errorf("%s: topology %q", r.Type, r.Topology)
			}
			product *= n
			sizes = append(sizes, n)
		}
		if product != r.Chips || r.Hosts*m.Count != r.Chips {
			t.Errorf("%s: %s has %d chips; %d hosts of %d are said to have %d", r.Type, r.Topology, product, r.Hosts,
				m.Count, r.Chips)
		}
		flat := strings.HasPrefix(m.Accelerator, "tpu-v5-lite") || m.Accelerator == "tpu-v6e-slice"
		if want := map[bool]int{true: 2, false: 3}[flat]; len(sizes) != want {
			t.Errorf("%s: %s has %d dimensions, want %d", r.Type, r.Topology, len(sizes), want)
		}
		// 2x2x1 is the one shape whose dimensions do not ascend.
		if !slices.IsSorted(sizes) && r.Topology != "2x2x1" {
			t.Errorf("%s: the dimensions of %s do not ascend", r.Type, r.Topology)
		}
		if !flat && r.Chips > 64 && slices.ContainsFunc(sizes, func(n int) bool { return n%4 != 0 }) {
			t.Errorf("%s: above 64 chips the dimensions of %s must be multiples of 4", r.Type, r.Topology)
		}
	}
	want := map[string]int{
		"tpu-v4-podslice": 11, "tpu-v5-lite-device": 3, "tpu-v5-lite-podslice": 9,
		"tpu-v5p-slice": 96, "tpu-v6e-slice": 9, "tpu7x": 99,
	}
	if d := gocmp.Diff(want, shapes); d != "" {
		t.Errorf("shapes by generation (-want +got):\n%s", d)
	}
}

func TestSlices(t *testing.T) {
	for _, c := range []struct {
		machine string
		want    []Slice
	}{
		{"ct6e-standard-1t", []Slice{{"1x1", 1, 1}}},
		{
			"ct6e-standard-4t",
			[]Slice{
				{"2x2", 4, 1}, {"2x4", 8, 2}, {"4x4", 16, 4}, {"4x8", 32, 8}, {"8x8", 64, 16}, {"8x16", 128, 32},
				{"16x16", 256, 64},
			},
		},
		{"ct6e-standard-8t", []Slice{{"2x4", 8, 1}}},
		{"tpu7x-ultranet-4t", nil},
		{"g2-standard-24", nil},
	} {
		m, _ := Lookup(c.machine)
		if d := gocmp.Diff(c.want, m.Slices()); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.machine, d)
		}
	}
	v5p, _ := Lookup("ct5p-hightpu-4t")
	for _, topology := range []string{"", "2x2", "2x2x3", "4x4x2", `2x2x1","chips":4,"x":"`} {
		if s, ok := v5p.Slice(topology); ok {
			t.Errorf("Slice(%q) = %v", topology, s)
		}
	}
}

func TestLookupMisses(t *testing.T) {
	for _, name := range []string{
		"", "g2-standard", "g2-standard-240", `g2-standard-24","x`, "type", "n1-* + 1x nvidia-tesla-t4",
	} {
		if m, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %+v", name, m)
		}
	}
}

// What cannot be used is found, and suggested to nobody.
func TestWithheld(t *testing.T) {
	var names, accelerators []string
	for _, m := range All() {
		if m.Withheld == "" {
			names = append(names, m.Type)
			accelerators = append(accelerators, m.Accelerator)
		}
	}
	for _, a := range AllAttachments() {
		if a.Withheld == "" {
			accelerators = append(accelerators, a.Accelerator)
		}
	}
	slices.Sort(accelerators)
	if d := gocmp.Diff(names, Names()); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	if d := gocmp.Diff(slices.Compact(accelerators)[1:], Accelerators()); d != "" { // the first is "", of CPU machines
		t.Errorf("accelerators (-want +got):\n%s", d)
	}
	for _, name := range []string{"ct3-hightpu-4t", "g4-standard-6", "a4x-maxgpu-4g-metal", "tpu7x-standard-1t"} {
		if m, ok := Lookup(name); !ok || m.Withheld == "" {
			t.Errorf("%s: found %v, withheld %q", name, ok, m.Withheld)
		}
	}
	for _, name := range []string{
		"ct4p-hightpu-4t", "ct5lp-hightpu-8t", "tpu7x-standard-4t", "a4x-highgpu-4g", "a4x-highgpu-4g-nolssd",
	} {
		if _, ok := Usable(name); !ok {
			t.Errorf("%s cannot be used", name)
		}
	}
}

func TestArchitecture(t *testing.T) {
	for name, want := range map[string]string{
		"g2-standard-24": "amd64", "ct6e-standard-4t": "amd64", "a4x-highgpu-4g": "arm64",
	} {
		if m, _ := Lookup(name); m.Arch != want {
			t.Errorf("%s is %q, want %q", name, m.Arch, want)
		}
	}
}

func TestAttachments(t *testing.T) {
	for _, c := range []struct {
		machine string
		want    string // accelerators without their prefix, and counts
	}{
		{"n1-standard-8", "p100 1 2 4, p4 1 2 4, t4 1 2 4, v100 1 2 4 8"},
		{"n1-standard-16", "p100 1 2 4, p4 1 2 4, t4 1 2 4, v100 2 4 8"},
		{"n1-highcpu-64", "p100 4, p4 4, t4 4, v100 8"}, // 57.6 GiB
		{"n1-standard-64", "p4 4, t4 4, v100 8"},        // 240 GiB: too much for P100s
		{"n1-highmem-96", "p4 4, t4 4, v100 8"},
		{"e2-standard-8", ""},
		{"g2-standard-24", ""},
		{"n1-standard-7", ""},
	} {
		var got []string
		last := ""
		for _, a := range Attachments(c.machine) {
			name := strings.TrimPrefix(a.Accelerator, "nvidia-tesla-")
			if name != last {
				got, last = append(got, name), name
			}
			got[len(got)-1] += " " + strconv.Itoa(a.Count)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s takes %s, want %s", c.machine, s, c.want)
		}
	}
}

func TestZones(t *testing.T) {
	for _, c := range []struct {
		machine               string
		zones, flex, calendar int
		one                   string // among the zones
	}{
		{"a2-highgpu-4g", 19, 0, 0, "us-west3-b"}, // by its series
		{"a2-megagpu-16g", 8, 0, 0, "europe-west4-b"},
		{"a3-ultragpu-8g", 9, 0, 0, "us-south1-b"}, // by its type
		{"a3-highgpu-1g", 0, 0, 0, ""},             // the table of a3-highgpu-8g is not its own
		{"ct6e-standard-8t", 21, 3, 4, "us-south1-ai1b"},
		{"ct5lp-hightpu-4t", 27, 1, 3, "us-west4-a"},
		{"tpu7x-standard-4t", 0, 0, 1, ""},
		{"g2-standard-24", 0, 0, 0, ""},
		{"e2-standard-4", 0, 0, 0, ""},
	} {
		m, ok := Lookup(c.machine)
		if !ok {
			t.Fatalf("no %s", c.machine)
		}
		flex, calendar := m.OptionZones("flexStart"), m.OptionZones("calendar")
		if len(m.Zones()) != c.zones || len(flex) != c.flex || len(calendar) != c.calendar {
			t.Errorf("%s: zones %q, flex-start %q, calendar %q", c.machine, m.Zones(), flex, calendar)
		}
		if c.one != "" && !slices.Contains(m.Zones(), c.one) {
			t.Errorf("%s: %s is not among %q", c.machine, c.one, m.Zones())
		}
	}
	for _, a := range AllAttachments() {
		want := a.Accelerator == "nvidia-tesla-t4" || a.Accelerator == "nvidia-tesla-p4"
		if got := a.Zones(); (len(got) > 0) != want {
			t.Errorf("%s: %q", a.Accelerator, got)
		}
	}
	regions := Regions()
	if !slices.IsSorted(regions) || len(regions) != 31 || !slices.Contains(regions, "us-south1") ||
		slices.Contains(regions, "us-south1-ai1b") {
		t.Errorf("%d regions: %q", len(regions), regions)
	}
}

func TestQuotaMetrics(t *testing.T) {
	if got, want := QuotaMetrics("nvidia-l4"),
		(Quota{Standard: "NVIDIA_L4_GPUS", Preemptible: "PREEMPTIBLE_NVIDIA_L4_GPUS"}); got != want {
		t.Errorf("L4: %+v, want %+v", got, want)
	}
	if got := QuotaMetrics("tpu7x"); got != (Quota{}) {
		t.Errorf("nobody verified %+v", got)
	}
	for _, c := range []struct{ what, got, want string }{
		{"c3d", CPUQuota("c3d").Standard, "cpus_per_vm_family (vm_family=C3D)"},
		{"a3", CPUQuota("a3").Standard, ""},
		{"nvidia-l4 as a family", CPUQuota("nvidia-l4").Standard, ""},
		{"pd-balanced", DiskMetric("pd-balanced"), "SSD_TOTAL_GB"},
		{"pd-standard", DiskMetric("pd-standard"), "DISKS_TOTAL_GB"},
		{"pd-extreme", DiskMetric("pd-extreme"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

func TestAllocatable(t *testing.T) {
	for _, test := range []struct {
		machine  string
		cpu, mem int64
	}{
		// 4 vCPUs less 60+10+10 m; 16 GiB less 1024+819.2+819.2+100 MiB.
		{"e2-standard-4", 3920, 13621},
		// 2 vCPUs less 1060 m; 4 GiB less 1024+100 MiB.
		{"e2-medium", 940, 2972},
	} {
		m, _ := Lookup(test.machine)
		if cpu, mem := m.Allocatable(); cpu != test.cpu || mem != test.mem {
			t.Errorf("%s: %d m, %d MiB", test.machine, cpu, mem)
		}
	}
}

// A compile looks up a few rows; BenchmarkAll is what it must not pay.
func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		Lookup("tpu7x-standard-4t") // almost the last row
	}
}

func BenchmarkAccelerators(b *testing.B) {
	for b.Loop() {
		Accelerators()
	}
}

func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		All()
	}
}
