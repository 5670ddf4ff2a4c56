package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestRows(t *testing.T) {
	var names []string
	for row := range strings.Lines(machines) {
		d := json.NewDecoder(strings.NewReader(row))
		d.DisallowUnknownFields()
		var m Machine
		if err := d.Decode(&m); err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		names = append(names, m.Type)
		got, ok := Lookup(m.Type)
		if !ok || got.Type != m.Type {
			t.Errorf("Lookup(%q) = %q, %v", m.Type, got.Type, ok)
		}
		if m.VCPUs <= 0 || m.MemoryGiB <= 0 || (m.Accelerator != "") != (m.Count > 0) {
			t.Errorf("implausible row: %s", row)
		}
		if m.Disk != "" && !slices.Contains(m.Disks, m.Disk) {
			t.Errorf("%s: default disk %q is not among %q", m.Type, m.Disk, m.Disks)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("machines.jsonl is not sorted, or names a type twice")
	}
}

func TestLookupMisses(t *testing.T) {
	for _, name := range []string{"", "g2-standard", "g2-standard-240", `g2-standard-24","x`, "type"} {
		if m, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %+v", name, m)
		}
	}
}

func TestAllocatable(t *testing.T) {
	m, _ := Lookup("e2-standard-4")
	cpu, mem := m.Allocatable()
	// 4 vCPUs less 60+10+10 m; 16 GiB less 1024+819.2+819.2+100 MiB.
	if cpu != 3920 || mem != 13621 {
		t.Errorf("e2-standard-4: %d m, %d MiB", cpu, mem)
	}
}
