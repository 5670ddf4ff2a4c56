package folders_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// offer is a machine of the catalogue with an option in which it is offered.
type offer struct {
	zone        string
	machine     catalog.Machine
	hardware    string
	consumption string
}

// TestEveryMachine compiles every machine that a blueprint can use, of machines that
// differ only in their size the smallest and the largest, with every option in which
// the catalogue offers it: TPUs as a single host and as a slice of
// several hosts, other machines in a node pool and through a ComputeClass. It runs
// the same checks on the folders as on the goldens.
func TestEveryMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles several hundred machines")
	}
	byZone := map[string][]offer{}
	for _, o := range machineOffers(t) {
		byZone[o.zone] = append(byZone[o.zone], o)
	}
	const atOnce = 100 // more in one platform save little time
	for zone, all := range byZone {
		for chunk := range slices.Chunk(all, atOnce) {
			t.Run(zone, func(t *testing.T) {
				t.Parallel()
				checkFolder(t, fixture.FS(compile.Text(t, platformOf(zone, chunk))))
			})
		}
	}
}

// consumptionTexts holds the consumption of a capacity for each option. The option
// any-reservation-only needs a newer version than the platforms have; TestEveryOption
// compiles it.
var consumptionTexts = map[ir.Option][]string{
	ir.OnDemand:           {`onDemand: {}`},
	ir.Spot:               {`spot: {}`},
	ir.Reservation:        {`reservation: name: "RESERVED"`, `reservation: {name: "RESERVED", create: true}`},
	ir.Calendar:           {`reservation: {name: "RESERVED", kind: "calendar"}`},
	ir.AnyReservation:     {`anyReservation: {}`},
	ir.AnyReservationOnly: nil,
	ir.FlexStart:          {`flexStart: {}`},
	ir.QueuedFlexStart:    {`flexStart: queued: true`},
}

// isReservable reports whether anybody can reserve the machine, not only Google on
// request.
func isReservable(m catalog.Machine) bool {
	return !m.HasTPUs() && m.Options.OnDemand != nil && *m.Options.OnDemand
}

// machineOffers returns every machine with each of its options.
func machineOffers(t *testing.T) []offer {
	var out []offer
	add := func(m catalog.Machine, hardware string) {
		for _, o := range ir.Options() {
			texts, known := consumptionTexts[o.Option]
			if !known {
				t.Errorf("no text for consumption option %q", o.Option)
			}
			offered := m.Options.Offered(o.Column)
			if offered == nil || !*offered {
				continue
			}
			zones := m.Zones()
			if o.Zones != "" && m.OptionZones(o.Zones) != nil {
				zones = m.OptionZones(o.Zones)
			}
			for _, text := range texts {
				if (strings.Contains(text, "create") || o.AnyReservation) && !isReservable(m) {
					continue
				}
				out = append(out, offer{nearZone(zones), m, hardware, text})
				if !m.HasTPUs() && !isLinked(m) && !strings.Contains(text, "create") && !o.Queued {
					out = append(out, offer{nearZone(zones), m, hardware, text + ", computeClass: true"})
				}
			}
		}
	}
	machines := catalog.All()
	for _, m := range append(differentMachines(machines), customMachines(t)...) {
		if !m.HasTPUs() {
			add(m, "")
			continue
		}
		for _, several := range []bool{false, true} {
			for _, s := range m.Slices() {
				if s.Hosts > 1 == several {
					add(m, fmt.Sprintf(", topology: %q", s.Topology))
					break
				}
			}
		}
	}
	for _, a := range catalog.AllAttachments() {
		if a.Withheld != "" {
			continue
		}
		i := slices.IndexFunc(machines, func(m catalog.Machine) bool {
			_, ok := catalog.Find(m.Type, a.Accelerator, a.Count)
			return ok
		})
		if i < 0 {
			t.Errorf("no machine takes %d %s", a.Count, a.Accelerator)
			continue
		}
		m, _ := catalog.Find(machines[i].Type, a.Accelerator, a.Count)
		add(m, fmt.Sprintf(", gpus: {type: %q, count: %d}", a.Accelerator, a.Count))
	}
	return out
}

// differentMachines returns the machines that a blueprint can use, except those that
// are neither the smallest nor the largest of the machines whose names differ only in
// their last number and that have no accelerators.
func differentMachines(all []catalog.Machine) []catalog.Machine {
	size := regexp.MustCompile(`-\d+`)
	bounds := map[string][2]int{}
	alike := func(m catalog.Machine) string { return size.ReplaceAllString(m.Type, "-N") }
	for _, m := range all {
		b, ok := bounds[alike(m)]
		if !ok {
			b = [2]int{m.VCPUs, m.VCPUs}
		}
		bounds[alike(m)] = [2]int{min(b[0], m.VCPUs), max(b[1], m.VCPUs)}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m catalog.Machine) bool {
		b := bounds[alike(m)]
		return m.Withheld != "" || m.Accelerator == "" && m.VCPUs != b[0] && m.VCPUs != b[1]
	})
}

// customMachines returns a custom machine of each family that has them.
func customMachines(t *testing.T) []catalog.Machine {
	var out []catalog.Machine
	for _, name := range []string{
		"custom-8-30720", "e2-custom-8-16384", "n2-custom-8-98304-ext", "n2d-custom-8-32768", "n4-custom-10-40960",
		"n4a-custom-3-12288", "n4d-custom-6-24576",
	} {
		m, ok := catalog.Usable(name)
		if !ok {
			t.Errorf("there is no %s", name)
		}
		out = append(out, m)
	}
	return out
}

// isLinked reports whether nodes of the machine are linked with each other.
func isLinked(m catalog.Machine) bool { return strings.HasPrefix(m.Type, "a4x-") }

// nearZone returns a zone of us-central1 if there is one among zones, otherwise
// another of them. If zones is empty, it returns any zone of us-central1.
func nearZone(zones []string) string {
	if zones == nil {
		return "us-central1-a"
	}
	i := slices.IndexFunc(zones, func(z string) bool { return strings.HasPrefix(z, "us-central1-") })
	return zones[max(i, 0)]
}

// platformOf returns the blueprint of a platform in one zone with a capacity, a
// tier and some quota for each offer.
func platformOf(zone string, offers []offer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package platform\n\nname: \"machines\"\nproject: \"my-project\"\nregion: %q\nzones: [%q]\n",
		zone[:strings.LastIndexByte(zone, '-')], zone)
	for i, o := range offers {
		name := fmt.Sprintf("c%02d-%s", i, o.machine.Type)
		size, unit := "maxNodes", "cpus: 1"
		if strings.Contains(o.consumption, "create") || isLinked(o.machine) {
			size = "nodes" // cannot scale
		}
		if isLinked(o.machine) {
			fmt.Fprintf(&b, "capacity: %q: accept: E1016: \"the driver is installed\"\n", name)
		}
		if o.machine.Count > 0 {
			unit = fmt.Sprintf("accelerators: %d", o.machine.Count)
		}
		if o.machine.HasTPUs() {
			size = "maxSlices"
			for _, s := range o.machine.Slices() {
				if strings.Contains(o.hardware, fmt.Sprintf("%q", s.Topology)) {
					unit = fmt.Sprintf("accelerators: %d", s.Chips)
				}
			}
		}
		fmt.Fprintf(&b, "hardware: %q: {machine: %q%s}\n", name, o.machine.Type, o.hardware)
		fmt.Fprintf(&b, "capacity: %q: {hardware: %q, consumption: %s, %s: 2}\n", name, name,
			strings.ReplaceAll(o.consumption, "RESERVED", name), size)
		fmt.Fprintf(&b, "tiers: %q: {priority: %d, default: %v, capacity: [%q]}\n", name, i, i == 0, name)
		fmt.Fprintf(&b, "teams: vision: quota: %q: %q: {%s}\n", name, name, unit)
	}
	return b.String()
}
