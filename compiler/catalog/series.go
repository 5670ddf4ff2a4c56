package catalog

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The vCPUs and the memory of most general-purpose machines follow from their names.
// Sources: Compute Engine documentation, "General-purpose machine family",
// "Storage-optimized machine family", "Create a VM with a custom machine type", and its
// sample "Create VMs with custom machine types" for shared vCPUs; GKE documentation,
// "Arm workloads on GKE"; the GKE cluster autoscaler. Reservations can hold custom
// machine types: gcloud reference, "compute reservations create".
//
//go:embed series.jsonl
var series string

// seriesRow describes machine types of a family that differ in their size.
type seriesRow struct {
	Family string `json:"family"`

	// Classes are the predefined machine types, Custom the custom ones.
	Classes []seriesClass `json:"classes,omitzero"`
	Custom  customLimits  `json:"custom,omitzero"`

	// The other fields have the same meaning as in Machine, for all machine types.
	Arch         string   `json:"arch,omitzero"`
	Disks        []string `json:"disks,omitzero"`
	Disk         string   `json:"disk,omitzero"`
	CompactNodes *int     `json:"compactNodes,omitzero"`
	NoSSDs       bool     `json:"noSSDs,omitzero"` // no local SSDs can be attached
	Options      Options  `json:"options"`
	MinVersion   string   `json:"minVersion,omitzero"`
	AutoFrom     []string `json:"autoFrom,omitzero"`
}

// seriesClass describes the machine types FAMILY-CLASS-VCPUS, or
// FAMILY-CLASS-VCPUS-SUFFIX. Their memory is GiBPerVCPU for each vCPU, rounded down to
// GiB.
type seriesClass struct {
	Class      string  `json:"class"`
	Suffix     string  `json:"suffix,omitzero"`
	GiBPerVCPU float64 `json:"gibPerVCPU"`
	VCPUs      []int   `json:"vcpus"`

	// LocalSSDs are the numbers of local SSDs that come with the machine types, in the
	// order of VCPUs; nil means none. SSDGB is their size, 375 GB if it is 0.
	LocalSSDs []int `json:"localSSDs,omitzero"`
	SSDGB     int   `json:"ssdGB,omitzero"`

	// MinVersion replaces the MinVersion of the series.
	MinVersion string `json:"minVersion,omitzero"`
}

// customLimits are the limits of a family's custom machine types, which are named
// FAMILY-custom-VCPUS-MIB, or FAMILY-custom-VCPUS-MIB-ext with extended memory. N1's
// names can omit the family. A limit of 0 is unverified.
type customLimits struct {
	// Steps are the allowed numbers of vCPUs beyond 1: up to Most, multiples of By.
	// There are none if the family has no custom machine types.
	Steps []vcpuStep `json:"steps,omitzero"`

	// One reports whether a machine can have one vCPU.
	One bool `json:"one,omitzero"`

	// LeastMiB and MostMiB bound the memory for each vCPU. MaxGiB bounds the memory of
	// a machine with extended memory; 0 means that the family has none.
	LeastMiB int `json:"leastMiB,omitzero"`
	MostMiB  int `json:"mostMiB,omitzero"`
	MaxGiB   int `json:"maxGiB,omitzero"`

	// Shared are the kinds of machine types with two shared vCPUs, which are named
	// FAMILY-custom-NAME-MIB. The memory is of the whole machine.
	Shared []sharedCore `json:"shared,omitzero"`
}

type sharedCore struct {
	Name     string `json:"name"`
	LeastMiB int    `json:"leastMiB"`
	MostMiB  int    `json:"mostMiB"`
}

// sharedVCPUs is the number of vCPUs of a machine type with shared vCPUs.
const sharedVCPUs = 2

type vcpuStep struct {
	Most int `json:"most"`
	By   int `json:"by"`
}

// machine returns the facts that all machine types of the series have in common.
func (s seriesRow) machine(name string, vcpus int, memoryGiB float64) Machine {
	m := Machine{
		Type: name, Family: s.Family, Arch: cmp.Or(s.Arch, "amd64"), VCPUs: vcpus, MemoryGiB: memoryGiB,
		Disks: s.Disks, Disk: s.Disk, CompactNodes: s.CompactNodes, Options: s.Options,
		MinVersion: s.MinVersion, AutoFrom: s.AutoFrom, SSDs: requestableSSDs(s.Family, vcpus),
	}
	if s.NoSSDs {
		m.SSDs = SSDs{Allowed: []int{}}
	}
	return m
}

// machines returns the predefined machine types of the series.
func (s seriesRow) machines() []Machine {
	var out []Machine
	for _, c := range s.Classes {
		for i := range c.VCPUs {
			out = append(out, s.machineOf(c, i))
		}
	}
	return out
}

// machineOf returns the machine type with the i-th number of vCPUs of a class.
func (s seriesRow) machineOf(c seriesClass, i int) Machine {
	name := fmt.Sprintf("%s-%s-%d", s.Family, c.Class, c.VCPUs[i])
	if c.Suffix != "" {
		name += "-" + c.Suffix
	}
	m := s.machine(name, c.VCPUs[i], math.Floor(c.GiBPerVCPU*float64(c.VCPUs[i])))
	if c.LocalSSDs != nil {
		m.SSDs = SSDs{Bundled: c.LocalSSDs[i], SizeGB: cmp.Or(c.SSDGB, localSSDGB)}
	}
	m.MinVersion = cmp.Or(c.MinVersion, s.MinVersion)
	return m
}

// inSeries returns the predefined machine type of the given name if its facts follow
// from its name, FAMILY-CLASS-VCPUS or FAMILY-CLASS-VCPUS-SUFFIX.
func inSeries(name string) (Machine, bool) {
	family, rest, _ := strings.Cut(name, "-")
	class, rest, _ := strings.Cut(rest, "-")
	number, suffix, _ := strings.Cut(rest, "-")
	row := findRows(series, "family", family)
	vcpus, err := strconv.Atoi(number)
	if row == "" || err != nil {
		return Machine{}, false
	}
	s := decodeRow[seriesRow](row)
	for _, c := range s.Classes {
		if i := slices.Index(c.VCPUs, vcpus); i >= 0 && c.Class == class && c.Suffix == suffix {
			m := s.machineOf(c, i)
			return m, m.Type == name
		}
	}
	return Machine{}, false
}

// customName is a custom machine type's name, with the series that has it.
type customName struct {
	series   seriesRow
	vcpus    int
	mib      int
	extended bool
	shared   *sharedCore // nil if the vCPUs are not shared
}

// parseCustom reads the name of a custom machine type, and reports whether the name
// has that form and the family has custom machine types.
func parseCustom(name string) (customName, bool) {
	before, after, found := strings.Cut(name, "custom-")
	if !found {
		return customName{}, false
	}
	family, hyphen := strings.CutSuffix(cmp.Or(before, "n1-"), "-")
	row := findRows(series, "family", family)
	after, extended := strings.CutSuffix(after, "-ext")
	vcpus, mib, _ := strings.Cut(after, "-")
	m, err := strconv.Atoi(mib)
	if row == "" || !hyphen || err != nil || strconv.Itoa(m) != mib {
		return customName{}, false
	}
	c := customName{series: decodeRow[seriesRow](row), mib: m, extended: extended}
	shared := c.series.Custom.Shared
	if i := slices.IndexFunc(shared, func(s sharedCore) bool { return s.Name == vcpus }); i >= 0 {
		c.shared, c.vcpus = &shared[i], sharedVCPUs
		return c, true
	}
	c.vcpus, err = strconv.Atoi(vcpus)
	return c, err == nil && strconv.Itoa(c.vcpus) == vcpus && len(c.series.Custom.Steps) > 0
}

// CustomMistake returns the reason why a custom machine type of the given name cannot
// exist, "" if it can or if the name is not the name of a custom machine type.
func CustomMistake(name string) string {
	c, ok := parseCustom(name)
	if !ok {
		return ""
	}
	return cmp.Or(c.cpuMistake(), c.memoryMistake())
}

func (c customName) cpuMistake() string {
	limits := c.series.Custom
	allowed := slices.ContainsFunc(limits.Steps, func(s vcpuStep) bool {
		return c.vcpus > 0 && c.vcpus <= s.Most && c.vcpus%s.By == 0
	})
	if allowed || c.vcpus == 1 && limits.One {
		return ""
	}
	return fmt.Sprintf("%d vCPUs are not %s", c.vcpus, limits.describeVCPUs())
}

func (c customName) memoryMistake() string {
	limits := c.series.Custom
	least, most := limits.LeastMiB*c.vcpus, limits.MostMiB*c.vcpus
	subject, need, have := fmt.Sprintf("%d vCPUs", c.vcpus), "need", "have"
	if c.shared != nil {
		least, most = c.shared.LeastMiB, c.shared.MostMiB
		subject, need, have = fmt.Sprintf("%s-custom-%s", c.series.Family, c.shared.Name), "needs", "has"
	}
	switch {
	case c.mib <= 0 || c.mib%256 != 0:
		return fmt.Sprintf("%d MiB of memory are not a multiple of 256", c.mib)
	case c.mib < least:
		return fmt.Sprintf("%s %s at least %d MiB of memory", subject, need, roundUp(least, 256))
	case c.extended && limits.MaxGiB == 0:
		return fmt.Sprintf("%s has no extended memory", c.series.Family)
	case c.extended && c.mib > limits.MaxGiB<<10:
		return fmt.Sprintf("a machine has at most %d MiB of memory", limits.MaxGiB<<10)
	case c.extended || most == 0 || c.mib <= most:
		return ""
	case limits.MaxGiB > 0:
		return fmt.Sprintf("%s %s at most %d MiB of memory, and more only with the suffix -ext", subject, have, most)
	default:
		return fmt.Sprintf("%s %s at most %d MiB of memory", subject, have, most)
	}
}

// describeVCPUs describes the allowed numbers of vCPUs.
func (l customLimits) describeVCPUs() string {
	var parts []string
	if l.One {
		parts = append(parts, "1")
	}
	for _, s := range l.Steps {
		parts = append(parts, fmt.Sprintf("a multiple of %d up to %d", s.By, s.Most))
	}
	return strings.Join(parts, " or ")
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// customClassFrom is the lowest GKE version whose ComputeClasses take custom machine
// types. Source: GKE documentation, "ComputeClass CustomResourceDefinition".
const customClassFrom = "1.33.2-gke.1111000"

// customMachine returns the custom machine type of the given name if it can exist.
func customMachine(name string) (Machine, bool) {
	c, ok := parseCustom(name)
	if !ok || CustomMistake(name) != "" {
		return Machine{}, false
	}
	m := c.series.machine(name, c.vcpus, float64(c.mib)/1024)
	m.SharedCore = c.shared != nil
	m.ClassFrom = customClassFrom
	m.Note = "custom machine type: its vCPUs and memory follow from its name"
	return m, true
}

// seriesMachines returns the predefined machine types of all series. It reads all
// rows.
func seriesMachines() []Machine {
	var out []Machine
	for row := range strings.Lines(series) {
		out = append(out, decodeRow[seriesRow](row).machines()...)
	}
	return out
}
