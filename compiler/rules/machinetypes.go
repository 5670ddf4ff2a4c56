package rules

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// The rule on the names of machine types.

func machineTypes(r *report) {
	all := sync.OnceValue(catalog.Names)
	for name, h := range sorted(r.Blueprint.Hardware) {
		if path := at("hardware", name, "machine"); r.concerns(path) {
			r.checkMachine(path, h.Machine, all)
		}
	}
	if r.Plan.OwnsCluster() {
		r.checkMachine(at("cluster", "systemPool", "machine"), r.Blueprint.Cluster.SystemPool.Machine, all)
	}
}

// checkMachine reports a machine type that is not in the catalogue. It calls all,
// which returns the known names, only in that case.
func (r *report) checkMachine(path fieldPath, name string, all func() []string) {
	if m, ok := catalog.Lookup(name); ok {
		if m.Withheld != "" {
			r.add(path, say("machine type %q is not supported: %s", name, m.Withheld),
				help("choose another machine type"))
		}
		return
	}
	if mistake := catalog.CustomMistake(name); mistake != "" {
		r.add(path, say("there is no machine type %q: %s", name, mistake),
			help("change the numbers in the name: FAMILY-custom-VCPUS-MIB"))
		return
	}
	if accelerators := catalog.AcceleratorsNamed(name); accelerators != nil {
		r.wantMachineWith(path, name, accelerators)
		return
	}
	kin := machineKin(name, all())
	r.add(path, say("machine type %q is not in the catalogue", name), choices(kin),
		didYouMean(r.nearestBy(diag.NearestSize, name, all()),
			help("run batchwright catalog for a list of the machine types")))
}

// machineKin returns the machine types that differ from the name only in their size,
// or else the machine types of its family.
func machineKin(name string, all []string) []string {
	family, _, _ := strings.Cut(name, "-")
	var kin []string
	for _, beginning := range []string{name[:strings.LastIndexByte(name, '-')+1], family + "-"} {
		kin = slices.DeleteFunc(slices.Clone(all), func(n string) bool {
			return beginning == "" || !strings.HasPrefix(n, beginning)
		})
		if len(kin) > 0 {
			break
		}
	}
	slices.SortFunc(kin, words.CompareNatural)
	return kin
}

// wantMachineWith reports the name of an accelerator in place of a machine type.
func (r *report) wantMachineWith(path fieldPath, name string, accelerators []string) {
	var types, shapes []string
	attach := ""
	for _, m := range catalog.MachinesWith(accelerators) {
		types = append(types, m.Type)
		chips := m.SliceChips(name)
		for _, s := range m.Slices() {
			if s.Chips == chips {
				shapes = append(shapes, fmt.Sprintf("machine: %q, topology: %q", m.Type, s.Topology))
			}
		}
	}
	for _, a := range catalog.AllAttachments() {
		if attach == "" && a.Withheld == "" && a.Accelerator == accelerators[0] {
			attach = fmt.Sprintf("choose a machine type of family %s, and attach GPUs: gpus: {type: %q, count: %d}",
				a.Family, a.Accelerator, a.Count)
		}
	}
	what, cure := "an accelerator", "run batchwright catalog "+name+" to compare them"
	switch {
	case path[0] == "cluster":
		types, cure = nil, "choose a machine type without accelerators, such as e2-standard-4"
	case len(shapes) > 0:
		what, cure = "a TPU slice", "write "+words.Or(shapes)
	case attach != "":
		cure = attach
	case len(types) == 0:
		cure = fmt.Sprintf("choose another accelerator: batchwright catalog %s says why no blueprint can use it",
			accelerators[0])
	}
	r.add(path, say("%q is %s, not a machine type", name, what), choices(types), advise(cure))
}
