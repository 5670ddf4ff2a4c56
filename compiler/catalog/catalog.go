// Package catalog knows the hardware Google Kubernetes Engine offers: machine
// types with what they hold and how they can be obtained, the shapes of TPU
// slices, GPUs to attach, zones, and the quotas all of it counts against.
//
// The facts stand in data files, one row a line, sorted:
//
//	machines.jsonl     machine types
//	attachments.jsonl  GPUs that can be attached to machines of a family
//	slices.jsonl       TPU slice shapes by machine type
//	zones.jsonl        zones by machine type, series of them, or accelerator
//	families.jsonl     what all machines of a family have in common
//	quotas.jsonl       quota metrics by accelerator, disk type and family
//
// They were read off Google's documentation, the GKE cluster autoscaler's
// sources, Google's Cluster Toolkit and the Terraform provider in 2026. A fact
// that could not be verified is left out of its row, and read as unknown rather
// than guessed. Where sources contradict each other the row's note says so.
package catalog

import (
	_ "embed"
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

	// Accelerator is the GKE accelerator type, for TPUs the value of the node
	// label gke-tpu-accelerator, "" without one; Count of them come with the
	// machine, for TPUs the chips of one VM. AcceleratorMemoryGiB is of one of
	// them, 0 where it is unverified.
	Accelerator          string `json:"accelerator,omitzero"`
	Count                int    `json:"count,omitzero"`
	AcceleratorMemoryGiB int    `json:"acceleratorMemoryGiB,omitzero"`

	SSDs SSDs `json:"ssds,omitzero"`

	// Disks are the boot disk types it takes and Disk is its default. None
	// means unverified.
	Disks []string `json:"disks,omitzero"`
	Disk  string   `json:"disk,omitzero"`

	// CompactNodes is how many nodes a compact placement holds: 0 means the
	// machine has no compact placement, nil that it is unverified.
	CompactNodes *int `json:"compactNodes,omitzero"`

	// CompactFlexStart reports that flex-start can place the nodes compactly. Source:
	// GKE documentation, "About GPU and TPU provisioning with flex-start".
	CompactFlexStart bool `json:"compactFlexStart,omitzero"`

	Networks Networks `json:"networks,omitzero"`
	Options  Options  `json:"options"`

	// MinVersion is the lowest GKE version that takes the machine, "" where
	// none is known. AutoFrom are the lowest versions whose auto-provisioning
	// does, one for each of the minor versions it came to.
	MinVersion string   `json:"minVersion,omitzero"`
	AutoFrom   []string `json:"autoFrom,omitzero"`

	// Withheld says why a blueprint cannot use the machine, "" if it can.
	Withheld string `json:"withheld,omitzero"`

	// Note is what an administrator should know besides, "" for nothing.
	Note string `json:"note,omitzero"`
}

// SSDs are a machine's local SSDs.
type SSDs struct {
	// Bundled come with the machine.
	Bundled int `json:"bundled,omitzero"`

	// Allowed are the counts that can be asked for besides 0. Where none
	// come with the machine, empty means that it takes none, and nil that it is
	// unverified.
	Allowed []int `json:"allowed,omitzero"`

	// SizeGB is the size of one, 0 without any.
	SizeGB int `json:"sizeGB,omitzero"`
}

// Verified reports whether the local SSDs are known, be it that there are none.
func (s SSDs) Verified() bool { return s.Bundled > 0 || s.Allowed != nil }

// Networks are the networks a machine's additional interfaces can be in,
// besides the primary one.
type Networks struct {
	GVNIC int `json:"gvnic,omitzero"`
	RDMA  int `json:"rdma,omitzero"`

	// Direct is the GPUDirect variant the machine's GPUs reach each other by:
	// "TCPX", "TCPXO", "RDMA", or "" for none.
	Direct string `json:"direct,omitzero"`

	// From are the lowest GKE versions that have the variant, one for each of
	// the minor versions it came to by a patch, nil where all have it that a
	// blueprint can ask for.
	From []string `json:"from,omitzero"`

	// Unverified tells that the numbers are not known, wherever they are 0.
	Unverified bool `json:"unverified,omitzero"`
}

// Options tells which consumption options a machine type has; nil means
// unverified. Calendar is a future reservation in calendar mode.
type Options struct {
	OnDemand    *bool `json:"onDemand,omitzero"`
	Spot        *bool `json:"spot,omitzero"`
	Reservation *bool `json:"reservation,omitzero"`
	FlexStart   *bool `json:"flexStart,omitzero"`
	Queued      *bool `json:"queued,omitzero"`
	Calendar    *bool `json:"calendar,omitzero"`
}

// Lookup returns the machine type of that name, also if it is withheld. It
// reads one row, so that a blueprint of two machines costs two rows.
func Lookup(name string) (Machine, bool) {
	row := rows(machines, "type", name)
	if row == "" {
		return Machine{}, false
	}
	return decodeMachine(row), true
}

// Usable returns the machine type of that name if a blueprint can use it.
func Usable(name string) (Machine, bool) {
	if m, ok := Lookup(name); ok && m.Withheld == "" {
		return m, true
	}
	return Machine{}, false
}

// All returns every machine type, by name. It reads all rows.
func All() []Machine {
	var all []Machine
	for row := range strings.Lines(machines) {
		all = append(all, decodeMachine(row))
	}
	return all
}

// Names returns the names of the machine types a blueprint can use, sorted. It
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

// Accelerators returns the GKE accelerator types that come with a machine type
// a blueprint can use or can be attached to one, sorted. It is on the path of a
// compile, so it searches the rows' text and decodes none.
func Accelerators() []string {
	var types []string
	for _, file := range []string{machines, attachments} {
		for row := range strings.Lines(file) {
			_, rest, ok := strings.Cut(row, `"accelerator":"`)
			if ok && !strings.Contains(rest, `"withheld":"`) {
				name, _, _ := strings.Cut(rest, `"`)
				types = append(types, name)
			}
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// HasTPUs reports whether the machine's accelerators are TPUs.
func (m Machine) HasTPUs() bool { return strings.HasPrefix(m.Accelerator, "tpu") }

func decodeMachine(row string) Machine {
	m := decode[Machine](row)
	if m.Arch == "" {
		m.Arch = "amd64"
	}
	return m
}

// Allocatable returns what GKE leaves of a machine for pods, in thousandths of
// a vCPU and in MiB.
//
// Source: GKE documentation, "Plan node sizes": of the CPU, 6% of the first
// core, 1% of the second, 0.5% of the next two and 0.25% of the others are
// reserved; of the memory, 25% of the first 4 GiB, 20% of the next 4, 10% of
// the next 8, 6% of the next 112 and 2% of the rest, and 100 MiB for eviction.
func (m Machine) Allocatable() (milliCPU, memoryMiB int64) {
	reservedCPU := bands(float64(m.VCPUs), []band{{1, .06}, {1, .01}, {2, .005}, {0, .0025}})
	reservedGiB := bands(m.MemoryGiB, []band{{4, .25}, {4, .20}, {8, .10}, {112, .06}, {0, .02}})
	return int64(1000 * (float64(m.VCPUs) - reservedCPU)), int64(1024*(m.MemoryGiB-reservedGiB)) - 100
}

// band reserves a share of an amount's next width; a width of 0 is the rest.
type band struct{ width, share float64 }

func bands(amount float64, bs []band) float64 {
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
