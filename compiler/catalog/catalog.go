// Package catalog knows the hardware Google Kubernetes Engine offers: machine
// types with what they hold and how they can be obtained.
//
// The facts stand in machines.jsonl, one machine type a line, sorted. They
// were read off Google's documentation, the GKE cluster autoscaler's sources
// and the Terraform provider in 2026. A fact that could not be verified is
// left out of its row, and read as unknown rather than guessed.
package catalog

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

//go:embed machines.jsonl
var machines string

// Machine is one machine type.
type Machine struct {
	Type      string  `json:"type"`
	Family    string  `json:"family"`
	VCPUs     int     `json:"vcpus"`
	MemoryGiB float64 `json:"memoryGiB"`

	// Accelerator is the GKE accelerator type, "" without one; Count of them
	// come with the machine.
	Accelerator string `json:"accelerator"`
	Count       int    `json:"count"`

	// BundledSSDs are the local SSDs that come with the machine.
	BundledSSDs int `json:"bundledSSDs"`

	// Disks are the boot disk types it takes and Disk is its default. None
	// means unverified.
	Disks []string `json:"disks"`
	Disk  string   `json:"disk"`

	// CompactNodes is how many nodes a compact placement holds: 0 means the
	// machine has no compact placement, nil that it is unverified.
	CompactNodes *int `json:"compactNodes"`

	Options Options `json:"options"`
}

// Options tells which consumption options a machine type has; nil means
// unverified.
type Options struct {
	OnDemand    *bool `json:"onDemand"`
	Spot        *bool `json:"spot"`
	Reservation *bool `json:"reservation"`
	FlexStart   *bool `json:"flexStart"`
	Queued      *bool `json:"queued"`
}

// Lookup returns the machine type of that name. It reads one row, so that a
// blueprint of two machines costs two rows.
func Lookup(name string) (Machine, bool) {
	if name == "" || strings.ContainsAny(name, "\"\\\n") {
		return Machine{}, false
	}
	prefix := `{"type":"` + name + `",`
	start := 0
	if !strings.HasPrefix(machines, prefix) {
		if start = strings.Index(machines, "\n"+prefix) + 1; start == 0 {
			return Machine{}, false
		}
	}
	row, _, _ := strings.Cut(machines[start:], "\n")
	return decode(row), true
}

// Names returns every machine type's name, sorted.
func Names() []string {
	var names []string
	for row := range strings.Lines(machines) {
		names = append(names, decode(row).Type)
	}
	slices.Sort(names)
	return names
}

// Accelerators returns the GKE accelerator types that some machine type has,
// sorted.
func Accelerators() []string {
	var types []string
	for row := range strings.Lines(machines) {
		if a := decode(row).Accelerator; a != "" {
			types = append(types, a)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// decode reads a row of the embedded file. The file is part of the program: a
// row that does not decode is a bug, which the package's test would show.
func decode(row string) Machine {
	var m Machine
	if err := json.Unmarshal([]byte(row), &m); err != nil {
		panic("catalog: " + err.Error() + ": " + row)
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
