package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
)

// Rules on machines and where they stand.

func hardwareRules() []Rule {
	return []Rule{
		{Code: "E0301", Severity: diag.Error, Title: "the machine type does not exist, or cannot be used", check: machineTypes, basic: true},
		{Code: "E0302", Severity: diag.Error, Title: "a zone is not in the platform's region", check: zonesInRegion},
		{Code: "E0303", Severity: diag.Error, Title: "a zone is not one of the platform's", check: capacityZones},
		{Code: "E0304", Severity: diag.Error, Title: "the machine does not boot from that disk type", check: bootDisks},
		{Code: "E0305", Severity: diag.Error, Title: "more per accelerator than the machine has", check: perAccelerator},
		{Code: "E0306", Severity: diag.Error, Title: "per-accelerator figures for a machine without accelerators", check: perAcceleratorWithout},
	}
}

func (r *report) machine(path []string, name string) {
	if m, ok := catalog.Lookup(name); ok {
		if why := unusable(m); why != "" {
			r.add(path, fmt.Sprintf("machine type %q cannot be used: %s", name, why), help("choose another machine type"))
		}
		return
	}
	all := catalog.Names()
	family, _, _ := strings.Cut(name, "-")
	kin := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !strings.HasPrefix(n, family+"-") })
	options := []option{help("name a machine type that GKE offers")}
	if len(kin) > 0 {
		options = append(options, label("want one of %s", quoted(kin)))
	}
	if near := diag.Nearest(name, kin); near != "" {
		options[0] = help("did you mean %q?", near)
	}
	r.add(path, fmt.Sprintf("machine type %q is not in the catalogue", name), options...)
}

// unusable says why a blueprint cannot have the machine, "" if it can.
func unusable(m catalog.Machine) string {
	switch {
	case m.Withheld != "":
		return m.Withheld
	case m.HasTPUs():
		return "TPUs are not compiled yet"
	case m.Arch != "amd64":
		return "the taint of its Arm nodes is not handled yet"
	}
	return ""
}

func machineTypes(r *report) {
	for _, name := range names(r.Blueprint.Hardware) {
		r.machine(at("hardware", name, "machine"), r.Blueprint.Hardware[name].Machine)
	}
	r.machine(at("cluster", "systemPool", "machine"), r.Blueprint.Cluster.SystemPool.Machine)
}

func zonesInRegion(r *report) {
	for i, z := range r.Blueprint.Zones {
		if slices.Contains(r.Blueprint.Zones[:i], z) {
			r.add(at("zones", diag.Index(i)), fmt.Sprintf("zone %q stands here twice", z), help("keep one"))
			continue
		}
		if !strings.HasPrefix(z, r.Blueprint.Region+"-") {
			r.add(at("zones", diag.Index(i)), fmt.Sprintf("zone %q is not in region %q", z, r.Blueprint.Region),
				label("want %q and a letter", r.Blueprint.Region+"-"), related(at("region"), "the region"), help("name zones of the region"))
		}
	}
}

func capacityZones(r *report) {
	for _, name := range names(r.Blueprint.Capacity) {
		zones := r.Blueprint.Capacity[name].Zones
		for i, z := range zones {
			if slices.Contains(zones[:i], z) {
				r.add(at("capacity", name, "zones", diag.Index(i)), fmt.Sprintf("zone %q stands here twice", z), help("keep one"))
			} else if !slices.Contains(r.Blueprint.Zones, z) {
				r.add(at("capacity", name, "zones", diag.Index(i)), fmt.Sprintf("zone %q is not one of the platform's", z),
					label("want one of %s", quoted(r.Blueprint.Zones)), help("add it to zones, or choose another"))
			}
		}
	}
}

func bootDisks(r *report) {
	for _, name := range names(r.Blueprint.Hardware) {
		h := r.Blueprint.Hardware[name]
		m, ok := catalog.Usable(h.Machine)
		if ok && h.Disk.Type != nil && len(m.Disks) > 0 && !slices.Contains(m.Disks, *h.Disk.Type) {
			r.add(at("hardware", name, "disk", "type"), fmt.Sprintf("%s does not boot from %s", m.Type, *h.Disk.Type),
				label("want one of %s", quoted(m.Disks)))
		}
	}
}

func perAccelerator(r *report) {
	for _, name := range names(r.Blueprint.Hardware) {
		h := r.Blueprint.Hardware[name]
		m, ok := catalog.Usable(h.Machine)
		if !ok || h.PerAccelerator == nil || m.Count == 0 {
			continue
		}
		milli, mib := m.Allocatable()
		memory, err := resource.ParseQuantity(h.PerAccelerator.Memory)
		if err != nil {
			continue // the grammar reports it
		}
		if most := float64(milli) / 1000 / float64(m.Count); h.PerAccelerator.CPU > most {
			r.add(at("hardware", name, "perAccelerator", "cpu"), fmt.Sprintf("%g vCPUs with each of %s's %s, but a node has only %.3g for each", h.PerAccelerator.CPU, m.Type, plural(m.Count, "accelerator"), most),
				label("want at most %.3g", most))
		}
		if most := mib / int64(m.Count); memory.Value()>>20 > most {
			r.add(at("hardware", name, "perAccelerator", "memory"), fmt.Sprintf("%s with each of %s's %s, but a node has only %dMi for each", h.PerAccelerator.Memory, m.Type, plural(m.Count, "accelerator"), most),
				label("want at most %dGi", most/1024))
		}
	}
}

func perAcceleratorWithout(r *report) {
	for _, name := range names(r.Blueprint.Hardware) {
		h := r.Blueprint.Hardware[name]
		if m, ok := catalog.Usable(h.Machine); ok && m.Count == 0 && h.PerAccelerator != nil {
			r.addKey(at("hardware", name, "perAccelerator"), fmt.Sprintf("%s has no accelerators", m.Type),
				help("remove it: quota on this hardware is counted in vCPUs, with the machine's memory for each"))
		}
	}
}
