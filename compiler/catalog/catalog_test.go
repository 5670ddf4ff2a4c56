package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
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

func TestSeriesRows(t *testing.T) {
	rows := map[string]bool{}
	for row := range strings.Lines(machines) {
		rows[decodeMachine(row).Type] = true
	}
	for _, s := range readFile(t, "series.jsonl", series, func(a, b seriesRow) int {
		return cmp.Compare(a.Family, b.Family)
	}) {
		for _, c := range s.Classes {
			bundled := c.LocalSSDs != nil
			if c.GiBPerVCPU <= 0 || !slices.IsSorted(c.VCPUs) || bundled && len(c.LocalSSDs) != len(c.VCPUs) ||
				!bundled && (strings.HasSuffix(c.Suffix, "lssd") || c.SSDGB > 0) {
				t.Errorf("%s: implausible: %+v", s.Family, c)
			}
		}
		for _, m := range s.machines() {
			if got, ok := Lookup(m.Type); !ok || !gocmp.Equal(got, m) || rows[m.Type] {
				t.Errorf("Lookup(%q) = %+v, %v; in machines.jsonl: %v", m.Type, got, ok, rows[m.Type])
			}
			if m.Disk != "" && !slices.Contains(m.Disks, m.Disk) || m.VCPUs <= 0 || m.MemoryGiB < 1 {
				t.Errorf("implausible: %+v", m)
			}
		}
		if l := s.Custom; l.MostMiB > 0 != (len(l.Steps) > 0) || l.LeastMiB > l.MostMiB {
			t.Errorf("%s: implausible: %+v", s.Family, l)
		}
	}
}

func TestSeries(t *testing.T) {
	for name, want := range map[string]Machine{
		"c4a-standard-4":        {Arch: "arm64", VCPUs: 4, MemoryGiB: 16},
		"c4a-highmem-72-lssd":   {Arch: "arm64", VCPUs: 72, MemoryGiB: 576, SSDs: SSDs{Bundled: 16, SizeGB: 375}},
		"t2a-standard-48":       {Arch: "arm64", VCPUs: 48, MemoryGiB: 192},
		"c4d-highcpu-2":         {Arch: "amd64", VCPUs: 2, MemoryGiB: 3},
		"c4-standard-24-lssd":   {Arch: "amd64", VCPUs: 24, MemoryGiB: 90, SSDs: SSDs{Bundled: 4, SizeGB: 375}},
		"c4-highmem-288-lssd":   {Arch: "amd64", VCPUs: 288, MemoryGiB: 2232, SSDs: SSDs{Bundled: 48, SizeGB: 375}},
		"c3d-highmem-360-lssd":  {Arch: "amd64", VCPUs: 360, MemoryGiB: 2880, SSDs: SSDs{Bundled: 32, SizeGB: 375}},
		"z3-highmem-8-highlssd": {Arch: "amd64", VCPUs: 8, MemoryGiB: 64, SSDs: SSDs{Bundled: 1, SizeGB: 3000}},
		"z3-highmem-176":        {Arch: "amd64", VCPUs: 176, MemoryGiB: 1406, SSDs: SSDs{Bundled: 12, SizeGB: 3000}},
		"e2-custom-small-2304":  {Arch: "amd64", VCPUs: 2, MemoryGiB: 2.25},
		"e2-custom-medium-8192": {Arch: "amd64", VCPUs: 2, MemoryGiB: 8},
		"c4d-standard-384":      {Arch: "amd64", VCPUs: 384, MemoryGiB: 1488},
		"n2d-standard-224":      {Arch: "amd64", VCPUs: 224, MemoryGiB: 896, SSDs: SSDs{SizeGB: 375}},
		"m3-ultramem-32":        {Arch: "amd64", VCPUs: 32, MemoryGiB: 976, SSDs: SSDs{SizeGB: 375}},
		"n2-custom-8-32768":     {Arch: "amd64", VCPUs: 8, MemoryGiB: 32, SSDs: SSDs{SizeGB: 375}},
		"n2-custom-8-69632-ext": {Arch: "amd64", VCPUs: 8, MemoryGiB: 68, SSDs: SSDs{SizeGB: 375}},
		"custom-1-1024":         {Arch: "amd64", VCPUs: 1, MemoryGiB: 1, SSDs: SSDs{SizeGB: 375}},
		"n1-custom-4-8192":      {Arch: "amd64", VCPUs: 4, MemoryGiB: 8, SSDs: SSDs{SizeGB: 375}},
		"custom-12-46080":       {Arch: "amd64", VCPUs: 12, MemoryGiB: 45, SSDs: SSDs{SizeGB: 375}},
		"e2-custom-6-3072":      {Arch: "amd64", VCPUs: 6, MemoryGiB: 3},
		"n4-custom-10-20480":    {Arch: "amd64", VCPUs: 10, MemoryGiB: 20},
		"n4a-custom-3-6144":     {Arch: "arm64", VCPUs: 3, MemoryGiB: 6},
	} {
		m, ok := Usable(name)
		if !ok || m.Arch != want.Arch || m.VCPUs != want.VCPUs || m.MemoryGiB != want.MemoryGiB ||
			m.SSDs.Bundled != want.SSDs.Bundled || m.SSDs.SizeGB != want.SSDs.SizeGB || m.Family == "" {
			t.Errorf("%s: %+v, %v", name, m, ok)
		}
	}
	for _, name := range []string{
		"c4a-standard-5", "c4a-standard-2-lssd", "c4a-custom-4-8192", "t2a-standard-4-lssd", "c4a-standard",
		"n2-custom", "n2-custom-8", "n2-custom-8-x", "custom-8", "n4-standard-3", "n2custom-8-8192", "-custom-8-8192",
		"c4a-standard-04", "c4a-standard-+4", "c4a-standard-4-", "c4a-standard-8-lssd-x",
		"n2-custom-08-8192", "n2-custom-8-+8192", "n2-custom-8-8192-", "n2-custom-8-8192-ext-ext",
		"n2-custom-small-4096", "e2-custom-large-4096", "e2-custom-small", "e2-custom-small-04096", "z3-highmem-22",
	} {
		if m, ok := Lookup(name); ok || CustomMistake(name) != "" {
			t.Errorf("%s: %+v, %q", name, m, CustomMistake(name))
		}
	}
	for name, want := range map[string]string{
		"n2-custom-7-8192":          "7 vCPUs are not a multiple of 2 up to 32 or a multiple of 4 up to 128",
		"n2-custom-0-8192":          "0 vCPUs are not",
		"n2-custom-34-65536":        "34 vCPUs are not",
		"n2-custom-8-32000000":      "at most 65536 MiB of memory, and more only with the suffix -ext",
		"n2-custom-8-32100":         "not a multiple of 256",
		"n2-custom-8-0":             "not a multiple of 256",
		"n2-custom-8-2048":          "8 vCPUs need at least 4096 MiB",
		"custom-2-1024":             "2 vCPUs need at least 2048 MiB",
		"n2d-custom-6-8192":         "6 vCPUs are not",
		"e2-custom-micro-512":       "e2-custom-micro needs at least 1024 MiB",
		"e2-custom-small-4352":      "e2-custom-small has at most 4096 MiB of memory",
		"e2-custom-small-3000":      "not a multiple of 256",
		"e2-custom-medium-4096-ext": "e2 has no extended memory",
		"e2-custom-4-65536":         "4 vCPUs have at most 32768 MiB of memory",
		"e2-custom-4-65536-ext":     "e2 has no extended memory",
		"n2d-custom-96-806912-ext":  "a machine has at most 786432 MiB",
	} {
		if got := CustomMistake(name); !strings.Contains(got, want) || got == "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if m, ok := Lookup(name); ok {
			t.Errorf("%s exists: %+v", name, m)
		}
	}
	if all := All(); len(all) != 263+len(seriesMachines()) || !slices.IsSortedFunc(all, func(a, b Machine) int {
		return cmp.Compare(a.Type, b.Type)
	}) {
		t.Errorf("%d machine types", len(all))
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

func TestLocalSSDRows(t *testing.T) {
	known := map[string]bool{}
	for _, m := range All() {
		known[m.Family] = true
	}
	for _, r := range readFile(t, "localssds.jsonl", localSSDs, func(a, b localSSDRow) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.MostVCPUs, b.MostVCPUs))
	}) {
		if !known[r.Family] || r.Allowed == nil || !slices.IsSorted(r.Allowed) ||
			!strings.HasPrefix(r.Source, "https://") {
			t.Errorf("implausible: %+v", r)
		}
	}
	for name, want := range map[string][]int{
		"n1-standard-4": {1, 2, 3, 4, 5, 6, 7, 8, 16, 24}, "n2-standard-8": {1, 2, 4, 8, 16, 24},
		"n2-custom-12-32768": {2, 4, 8, 16, 24}, "n2-standard-128": {16, 24}, "n2d-standard-32": {2, 4, 8, 16, 24},
		"n2d-standard-224": {8, 16, 24}, "c2-standard-30": {4, 8}, "c2d-highmem-112": {8},
		"c3-standard-8": {}, "c4-highcpu-16": {}, "e2-standard-8": {}, "e2-custom-small-2048": {}, "h3-standard-88": {},
		"c4a-standard-8": {}, "n4-standard-8": {}, "t2d-standard-8": nil, "m1-ultramem-40": nil,
	} {
		m, _ := Lookup(name)
		if !gocmp.Equal(m.SSDs.Allowed, want) || m.SSDs.Verified() != (want != nil) ||
			(len(want) > 0) != (m.SSDs.SizeGB > 0) {
			t.Errorf("%s: %+v, want %v", name, m.SSDs, want)
		}
	}
}

func TestSynonymRows(t *testing.T) {
	types := allAccelerators()
	for _, r := range readFile(t, "synonyms.jsonl", synonyms, func(a, b synonymRow) int {
		return cmp.Compare(a.Name, b.Name)
	}) {
		if len(r.Accelerators) == 0 || !slices.IsSorted(r.Accelerators) || shortName(r.Name) != r.Name {
			t.Errorf("implausible: %+v", r)
		}
		for _, a := range r.Accelerators {
			if !slices.Contains(types, a) || shortName(a) == r.Name && len(r.Accelerators) == 1 {
				t.Errorf("%s: %s is no accelerator, or needs no synonym", r.Name, a)
			}
		}
	}
}

func TestAcceleratorsNamed(t *testing.T) {
	for word, want := range map[string]string{
		"h100": "nvidia-h100-80gb nvidia-h100-mega-80gb", "NVIDIA H100": "nvidia-h100-80gb nvidia-h100-mega-80gb",
		"h100-80gb": "nvidia-h100-80gb", "h200": "nvidia-h200-141gb", "B200": "nvidia-b200", "gb200": "nvidia-gb200",
		"a100": "nvidia-a100-80gb nvidia-tesla-a100", "a100-80gb": "nvidia-a100-80gb", "A100 40GB": "nvidia-tesla-a100",
		"nvidia-tesla-a100": "nvidia-tesla-a100", "l4": "nvidia-l4", "t4": "nvidia-tesla-t4",
		"tesla-t4": "nvidia-tesla-t4",
		"v100":     "nvidia-tesla-v100", "rtx-pro-6000": "nvidia-rtx-pro-6000",
		"v5": "tpu-v5-lite-device tpu-v5-lite-podslice tpu-v5p-slice", "TPU v6": "tpu-v6e-slice", "v7": "tpu7x",
		"RTX 6000": "nvidia-rtx-pro-6000",
		"v4":       "tpu-v4-podslice", "v5e": "tpu-v5-lite-device tpu-v5-lite-podslice",
		"tpu-v5e": "tpu-v5-lite-device tpu-v5-lite-podslice", "v5litepod-16": "tpu-v5-lite-podslice",
		"v5p": "tpu-v5p-slice", "v6e": "tpu-v6e-slice", "v6e-256": "tpu-v6e-slice",
		"trillium": "tpu-v6e-slice", "ironwood": "tpu7x", "tpu7x": "tpu7x", "tpu7x-8": "tpu7x", "v7x": "tpu7x",
		"": "", "h10": "", "n2": "", "tpu": "", "v100-8": "", "a100-8": "", "-": "",
	} {
		if got := strings.Join(AcceleratorsNamed(word), " "); got != want {
			t.Errorf("%q means %q, want %q", word, got, want)
		}
	}
	if got := AcceleratorsNamed("l44"); got != nil {
		t.Errorf("a word without a meaning means %q, want nil", got)
	}
}

func TestAcceleratorsOfKind(t *testing.T) {
	gpus, tpus := AcceleratorsOfKind("GPU"), AcceleratorsOfKind("tpus")
	if len(gpus)+len(tpus) != len(allAccelerators()) || !slices.Contains(gpus, "nvidia-l4") ||
		!slices.Contains(tpus, "tpu7x") {
		t.Errorf("GPUs %q, TPUs %q", gpus, tpus)
	}
	if got := AcceleratorsOfKind("h100"); got != nil {
		t.Errorf("h100 is a kind: %q", got)
	}
}

func TestSliceChips(t *testing.T) {
	for _, c := range []struct {
		machine, word string
		want          int
	}{
		{"ct5lp-hightpu-4t", "v5litepod-16", 16}, {"ct5p-hightpu-4t", "v5p-16", 8},
		{"ct6e-standard-4t", "tpu-v6e-32", 32},
		{"ct6e-standard-4t", "v5p-16", 0}, {"ct5p-hightpu-4t", "v5p-15", 0}, {"ct5p-hightpu-4t", "v5p", 0},
		{"g2-standard-4", "l4-16", 0},
	} {
		m, _ := Lookup(c.machine)
		if got := m.SliceChips(c.word); got != c.want {
			t.Errorf("%s: %s has %d chips, want %d", c.machine, c.word, got, c.want)
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
		{"a3-ultragpu-8g", 9, 0, 0, "us-south1-b"},    // by its type
		{"a3-highgpu-1g", 25, 0, 0, "europe-west8-c"}, // the table of a3-highgpu-8g is not its own
		{"ct6e-standard-8t", 21, 3, 4, "us-south1-ai1b"},
		{"ct5lp-hightpu-4t", 27, 1, 3, "us-west4-a"},
		{"tpu7x-standard-4t", 0, 0, 1, ""},
		{"g2-standard-24", 44, 0, 0, "us-west4-c"}, // by its family
		{"n2-custom-8-32768", 122, 0, 0, "us-south1-ai1b"},
		{"c4-standard-4-lssd", 106, 0, 0, "me-west1-b"},
		{"g4-standard-48", 0, 0, 0, ""},
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
}

func TestRegionRows(t *testing.T) {
	known := map[string]bool{}
	for _, r := range readFile(t, "regions.jsonl", regions, func(a, b Region) int {
		return cmp.Compare(a.Region, b.Region)
	}) {
		if got, ok := LookupRegion(r.Region); !ok || !gocmp.Equal(got, r) {
			t.Errorf("LookupRegion(%q) = %+v, %v", r.Region, got, ok)
		}
		if len(r.Zones) == 0 || !slices.IsSorted(r.Zones) {
			t.Errorf("%s: zones %q", r.Region, r.Zones)
		}
		for _, zone := range r.Zones {
			if !zoneName.MatchString(zone) || RegionOf(zone) != r.Region {
				t.Errorf("%s: zone %q", r.Region, zone)
			}
			known[zone] = true
		}
	}
	for row := range strings.Lines(zones) {
		r := decodeRow[zoneRow](row)
		for _, list := range append(slices.Collect(maps.Values(r.Options)), r.Zones) {
			for _, zone := range list {
				if !known[zone] {
					t.Errorf("%s: regions.jsonl has no zone %s", r.Of, zone)
				}
			}
		}
	}
	if len(Regions()) != 44 || len(known) != 133 {
		t.Errorf("%d regions, %d zones: did a region open?", len(Regions()), len(known))
	}
	if _, ok := LookupRegion("us-central1-a"); ok {
		t.Error("a zone is a region")
	}
	for zone, ai := range map[string]bool{"us-south1-ai1b": true, "us-south1-a": false, "us-south1": false, "": false} {
		if IsAIZone(zone) != ai {
			t.Errorf("IsAIZone(%q) = %v", zone, !ai)
		}
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

func BenchmarkLookupInSeries(b *testing.B) {
	for b.Loop() {
		Lookup("c4a-highmem-72-lssd")
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
