package catalog

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// synonyms.jsonl holds the names that people give to accelerators, if they are not
// the GKE accelerator type without its maker's name. Sources: Compute Engine
// documentation, "GPU machine types"; Cloud TPU documentation, "TPU versions".
//
//go:embed synonyms.jsonl
var synonyms string

type synonymRow struct {
	Name         string   `json:"name"`
	Accelerators []string `json:"accelerators"`
}

// AcceleratorsNamed returns the GKE accelerator types that a word such as "H100",
// "a100-80gb" or "v5litepod-16" means, sorted, including withheld ones. A GKE
// accelerator type means itself. The result is nil if the word means none.
func AcceleratorsNamed(word string) []string {
	types := allAccelerators()
	if slices.Contains(types, word) {
		return []string{word}
	}
	name := shortName(word)
	if version, _, ok := cutNumber(name); ok && len(tpusNamed(version, types)) > 0 {
		return tpusNamed(version, types)
	}
	if found := shortNamed(name, types); len(found) > 0 {
		return found
	}
	return nil
}

// AcceleratorsOfKind returns all GKE accelerator types of the kind that a word means:
// GPUs or TPUs. It includes withheld ones. The result is nil if the word means none.
func AcceleratorsOfKind(word string) []string {
	tpus := false
	switch strings.ToLower(word) {
	case "gpu", "gpus", "nvidia":
	case "tpu", "tpus":
		tpus = true
	default:
		return nil
	}
	return slices.DeleteFunc(allAccelerators(), func(a string) bool { return isTPU(a) != tpus })
}

// shortNamed returns the accelerator types with the given short name.
func shortNamed(name string, types []string) []string {
	if row := findRows(synonyms, "name", name); row != "" {
		return decodeRow[synonymRow](row).Accelerators
	}
	return slices.DeleteFunc(slices.Clone(types), func(t string) bool { return shortName(t) != name })
}

// tpusNamed returns the TPUs of the version that begins Cloud TPU's name of a slice,
// such as "v6e".
func tpusNamed(version string, types []string) []string {
	return slices.DeleteFunc(slices.Clone(shortNamed(version, types)), func(t string) bool { return !isTPU(t) })
}

// shortName returns an accelerator's name in lower case, with hyphens and without
// its maker.
func shortName(word string) string {
	name := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(word))
	for _, maker := range []string{"google-", "cloud-", "nvidia-", "tpu-", "tesla-"} {
		name = strings.TrimPrefix(name, maker)
	}
	return name
}

// cutNumber divides a name such as "v6e-16" into "v6e" and 16.
func cutNumber(name string) (before string, number int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", 0, false
	}
	number, err := strconv.Atoi(name[i+1:])
	return name[:i], number, err == nil
}

// MachinesWith returns the machine types that come with one of the accelerators and
// that a blueprint can use, ordered by the numbers of accelerators and of vCPUs. It reads all
// rows.
func MachinesWith(accelerators []string) []Machine {
	all := slices.DeleteFunc(All(), func(m Machine) bool {
		return m.Withheld != "" || !slices.Contains(accelerators, m.Accelerator)
	})
	slices.SortStableFunc(all, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.VCPUs, b.VCPUs))
	})
	return all
}

// SliceChips returns the number of chips of a slice that Cloud TPU names, such as 8
// for "v5p-16", whose number counts TensorCores. It returns 0 if the word is not the
// name of a slice on the machine's TPUs.
func (m Machine) SliceChips(word string) int {
	_, number, ok := cutNumber(shortName(word))
	cores := FamilyOf(m.Family).TensorCores
	if !ok || cores == 0 || number%cores != 0 || !slices.Contains(AcceleratorsNamed(word), m.Accelerator) {
		return 0
	}
	return number / cores
}
