// Package catalog holds facts about the hardware of Google Kubernetes Engine:
// machine types and how to obtain them, the shapes of TPU slices, the GPUs that can
// be attached, zones, and the quotas that each of them counts against.
//
// The facts are in data files with one row a line, sorted:
//
//	machines.jsonl     machine types
//	series.jsonl       machine types whose facts follow from their names
//	attachments.jsonl  GPUs that can be attached to machines of a family
//	localssds.jsonl    local SSDs that can be requested, by family and vCPUs
//	slices.jsonl       TPU slice shapes by machine type
//	zones.jsonl        zones by machine type, series of them, or accelerator
//	regions.jsonl      regions with all of their zones
//	families.jsonl     what all machines of a family have in common
//	synonyms.jsonl     names that people give to accelerators
//	quotas.jsonl       quota metrics by accelerator, disk type and family
//	systempods.jsonl   requests of GKE's pods and of the installed software
//
// The facts were collected in 2026 from Google's documentation, the sources of the
// GKE cluster autoscaler, Google's Cluster Toolkit and the Terraform provider. A row
// omits a fact that could not be verified; readers must treat it as unknown and not
// guess. If sources contradict each other, the row's note says so.
package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed machines.jsonl
var machines string

// Machine is one machine type.
type Machine struct {
	Type   string `json:"type"`
	Family string `json:"family"`

	// Arch is "amd64" or "arm64".
	Arch string `json:"arch,omitzero"`

	VCPUs     int     `json:"vcpus"`
	MemoryGiB float64 `json:"memoryGiB"`

	// SharedCore reports whether the vCPUs are parts of cores that other machines
	// use, too. GKE reserves more of them.
	SharedCore bool `json:"sharedCore,omitzero"`

	// Accelerator is the GKE accelerator type, "" without accelerators. For TPUs it
	// is the value of the node label gke-tpu-accelerator. Count is the number of
	// accelerators that come with the machine; for TPUs, the chips of one VM.
	// AcceleratorMemoryGiB is the memory of one accelerator; 0 means unverified.
	Accelerator          string `json:"accelerator,omitzero"`
	Count                int    `json:"count,omitzero"`
	AcceleratorMemoryGiB int    `json:"acceleratorMemoryGiB,omitzero"`

	SSDs SSDs `json:"ssds,omitzero"`

	// Disks are the boot disk types that the machine takes, and Disk is its default
	// type. An empty list means unverified.
	Disks []string `json:"disks,omitzero"`
	Disk  string   `json:"disk,omitzero"`

	// CompactNodes is the number of nodes that a compact placement holds: 0 means
	// that the machine has no compact placement, nil means unverified.
	CompactNodes *int `json:"compactNodes,omitzero"`

	// CompactFlexStart reports whether flex-start can place the nodes compactly.
	// Source: GKE documentation, "About GPU and TPU provisioning with flex-start".
	CompactFlexStart bool `json:"compactFlexStart,omitzero"`

	Networks Networks `json:"networks,omitzero"`
	Options  Options  `json:"options"`

	// MinVersion is the lowest GKE version that supports the machine, "" if none is
	// known. AutoFrom lists the lowest versions whose auto-provisioning supports the
	// machine, one for each minor version that received the support.
	MinVersion string   `json:"minVersion,omitzero"`
	AutoFrom   []string `json:"autoFrom,omitzero"`

	// ClassFrom is the lowest GKE version whose ComputeClasses take the machine type,
	// "" if every version does that supports the machine.
	ClassFrom string `json:"classFrom,omitzero"`

	// Withheld says why a blueprint cannot use the machine, "" if it can.
	Withheld string `json:"withheld,omitzero"`

	// Note is a remark for an administrator, or "".
	Note string `json:"note,omitzero"`
}

// SSDs are a machine's local SSDs.
type SSDs struct {
	// Bundled is the number of local SSDs that come with the machine.
	Bundled int `json:"bundled,omitzero"`

	// Allowed are the counts that can be requested in addition to 0. If Bundled is
	// 0, an empty list means that the machine takes no local SSDs, and nil means
	// unverified.
	Allowed []int `json:"allowed,omitzero"`

	// SizeGB is the size of one local SSD, 0 if there are none.
	SizeGB int `json:"sizeGB,omitzero"`
}

// Verified reports whether the local SSDs are known, including the fact that there
// are none.
func (s SSDs) Verified() bool { return s.Bundled > 0 || s.Allowed != nil }

// Networks are the networks that a machine's interfaces can be in, in addition to
// the primary network.
type Networks struct {
	GVNIC int `json:"gvnic,omitzero"`
	RDMA  int `json:"rdma,omitzero"`

	// Direct is the GPUDirect variant that connects the machine's GPUs to GPUs of
	// other machines: "TCPX", "TCPXO", "RDMA", or "" for none.
	Direct string `json:"direct,omitzero"`

	// From lists the lowest GKE versions that have the variant, one for each minor
	// version that received it in a patch. It is nil if every version that a
	// blueprint can name has the variant.
	From []string `json:"from,omitzero"`

	// Unverified reports whether the numbers that are 0 are unknown.
	Unverified bool `json:"unverified,omitzero"`
}

// Lookup returns the machine type of the given name, even if it is withheld. It
// reads a single row, so a blueprint with two machine types costs two rows.
func Lookup(name string) (Machine, bool) {
	if row := findRows(machines, "type", name); row != "" {
		return decodeMachine(row), true
	}
	if m, ok := inSeries(name); ok {
		return m, true
	}
	return customMachine(name)
}

// Usable returns the machine type of the given name if a blueprint can use it.
func Usable(name string) (Machine, bool) {
	if m, ok := Lookup(name); ok && m.Withheld == "" {
		return m, true
	}
	return Machine{}, false
}

// All returns every machine type except the custom ones, sorted by name. It reads all
// rows.
func All() []Machine {
	all := seriesMachines()
	for row := range strings.Lines(machines) {
		all = append(all, decodeMachine(row))
	}
	slices.SortFunc(all, func(a, b Machine) int { return strings.Compare(a.Type, b.Type) })
	return all
}

// Names returns the names of the machine types that a blueprint can use, sorted. It
// reads all rows.
func Names() []string {
	var names []string
	for _, m := range All() {
		if m.Withheld == "" {
			names = append(names, m.Type)
		}
	}
	return names
}

// Accelerators returns the sorted GKE accelerator types that a blueprint can use,
// whether they come with a machine type or can be attached to one. Every compile
// calls it, so it searches the text of the rows and decodes none.
func Accelerators() []string {
	return acceleratorTypes(func(row string) bool { return !strings.Contains(row, `"withheld":"`) })
}

// allAccelerators returns the same as Accelerators, and the withheld types.
func allAccelerators() []string { return acceleratorTypes(func(string) bool { return true }) }

func acceleratorTypes(wanted func(row string) bool) []string {
	var types []string
	for _, file := range []string{machines, attachments} {
		for row := range strings.Lines(file) {
			_, rest, ok := strings.Cut(row, `"accelerator":"`)
			if ok && wanted(rest) {
				name, _, _ := strings.Cut(rest, `"`)
				types = append(types, name)
			}
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Summary returns the machine's size in a few words.
func (m Machine) Summary() string {
	size := fmt.Sprintf("%d vCPUs, %g GiB", m.VCPUs, m.MemoryGiB)
	if m.Count > 0 {
		size += fmt.Sprintf(", %d %s", m.Count, m.Accelerator)
	}
	return size
}

// BootDisk returns the type of the boot disk that a node has unless the blueprint names
// one. It prefers pd-balanced to the machine's own default, which is a hard disk for some
// machines.
func (m Machine) BootDisk() string {
	if m.Disk == "" || slices.Contains(m.Disks, "pd-balanced") {
		return "pd-balanced"
	}
	return m.Disk
}

// HasTPUs reports whether the machine's accelerators are TPUs.
func (m Machine) HasTPUs() bool { return isTPU(m.Accelerator) }

func isTPU(accelerator string) bool { return strings.HasPrefix(accelerator, "tpu") }

func decodeMachine(row string) Machine {
	m := decodeRow[Machine](row)
	if m.Arch == "" {
		m.Arch = "amd64"
	}
	if !m.SSDs.Verified() {
		m.SSDs = requestableSSDs(m.Family, m.VCPUs)
	}
	return m
}

// Allocatable returns the resources that GKE leaves for pods on a machine, in
// thousandths of a vCPU and in MiB.
//
// Source: GKE documentation, "Plan node sizes". Of the CPU, GKE reserves 6% of the
// first core, 1% of the second, 0.5% of the next two and 0.25% of the others; of a
// shared-core machine it reserves 1060 thousandths. Of the memory, it reserves 25% of
// the first 4 GiB, 20% of the next 4, 10% of the next 8, 6% of the next 112 and 2% of
// the rest, and 100 MiB for eviction.
func (m Machine) Allocatable() (milliCPU, memoryMiB int64) {
	reservedCPU := sumBands(float64(m.VCPUs), []band{{1, .06}, {1, .01}, {2, .005}, {0, .0025}})
	if m.SharedCore {
		reservedCPU = 1.06
	}
	reservedGiB := sumBands(m.MemoryGiB, []band{{4, .25}, {4, .20}, {8, .10}, {112, .06}, {0, .02}})
	return int64(1000 * (float64(m.VCPUs) - reservedCPU)), int64(1024*(m.MemoryGiB-reservedGiB)) - 100
}

// band is the reserved share of the next width units of an amount; a width of 0
// means the rest.
type band struct{ width, share float64 }

func sumBands(amount float64, bs []band) float64 {
	reserved := 0.0
	for _, b := range bs {
		width := min(b.width, amount)
		if b.width == 0 {
			width = amount
		}
		reserved += width * b.share
		amount -= width
	}
	return reserved
}
