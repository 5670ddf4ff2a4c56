package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// hardware is a class of machine.
type hardware struct {
	name      string
	machine   catalog.Machine
	gpuType   string // of attached GPUs
	gpus      int
	topology  string
	milliCPU  int64 // per accelerator, 0 for the machine's share
	memoryMi  int64
	diskGiB   int
	diskType  string
	localSSDs int
	gpuDirect bool
	driver    string // "" for the default
	guessed   bool   // the machine type is a guess
	shaped    bool   // the topology is a guess
	hint      string // the text that the guess follows, "" if nothing says anything
}

// count returns the number of accelerators of a node.
func (h *hardware) count() int {
	if h.gpus > 0 {
		return h.gpus
	}
	return h.machine.Count
}

// resource returns the accelerators that the hardware has, "" for none.
func (h *hardware) resource() string {
	switch {
	case h.machine.HasTPUs():
		return tpuResource
	case h.count() > 0:
		return gpuResource
	}
	return ""
}

// key returns everything that distinguishes the hardware except its name.
func (h *hardware) key() string {
	return fmt.Sprint(h.machine.Type, h.gpuType, h.gpus, h.topology, h.milliCPU, h.memoryMi, h.diskGiB, h.diskType,
		h.localSSDs, h.gpuDirect, h.driver)
}

// hardwareOf returns the class of machine like h whose share of vCPUs and memory is that
// of the ratios, and adds it if it is new.
func (d *design) hardwareOf(h hardware, ratios ...ratio) *hardware {
	h.setShare(ratios)
	taken := map[string]bool{}
	for _, other := range d.hardware {
		taken[other.name] = true
		if other.key() == h.key() {
			other.guessed, other.shaped = other.guessed && h.guessed, other.shaped && h.shaped
			return other
		}
	}
	name := cmp.Or(h.gpuType, h.machine.Accelerator, h.machine.Type)
	for _, prefix := range []string{"nvidia-", "tesla-", "tpu-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if h.topology != "" {
		name += "-" + h.topology
	}
	if name = fitName(name, 40); taken[name] {
		name = fitName(h.machine.Type, 40)
	}
	h.name = uniqueName(name, 40, taken)
	d.hardware = append(d.hardware, &h)
	return &h
}

// setShare sets the vCPUs and memory of each accelerator to the first ratio that a node
// holds.
func (h *hardware) setShare(ratios []ratio) {
	if h.count() == 0 {
		return
	}
	for _, r := range ratios {
		if r.accelerators == 0 || r.milliCPU == 0 || r.bytes == 0 || !holdsRatios(h.machine, h.count(), []ratio{r}) {
			continue
		}
		h.milliCPU = r.milliCPU / r.accelerators
		h.memoryMi = r.bytes / r.accelerators >> 20
		break
	}
	if h.milliCPU < 1 || h.milliCPU > 10_000_000 || h.memoryMi < 1 || h.memoryMi > 9_999_999 {
		h.milliCPU, h.memoryMi = 0, 0
	}
}

// share returns the vCPUs, in thousandths, and the memory in bytes that come with one
// unit of quota: an accelerator or, without accelerators, a vCPU.
func (h *hardware) share() (milliCPU, bytes int64) {
	milli, mib := h.machine.Allocatable()
	count := int64(h.count())
	switch {
	case h.machine.VCPUs == 0:
		return 0, 0
	case count == 0:
		return 1000, mib / int64(h.machine.VCPUs) << 20
	case h.milliCPU > 0:
		return h.milliCPU, h.memoryMi << 20
	}
	return roundDown(milli/count, 1000), roundDown(mib/count, 1024) << 20
}

func roundDown(n, unit int64) int64 {
	if n < unit {
		return n
	}
	return n / unit * unit
}

// poolHardware returns the hardware of a pool whose nodes come through an option.
func (d *design) poolHardware(p *pool, option string) hardware {
	h := hardware{topology: p.topology, diskGiB: p.diskGiB, driver: p.driver}
	m, ok := p.machineOf()
	if !ok {
		texts := []string{p.machine, p.accelerator, p.Name}
		kind := gpuResource
		if strings.HasPrefix(p.accelerator, "tpu") || p.topology != "" {
			kind = tpuResource
		}
		guessed := d.guessHardware(texts, kind, p.topology, option, nil)
		if !strings.Contains(p.machine, "$(") && p.machine != "" {
			p.approximate("machine type", "hardware", "batchwright does not know machine type %q: %s stands in its "+
				"place", p.machine, guessed.machine.Type)
		}
		guessed.diskGiB = p.diskGiB
		return guessed
	}
	h.machine = m
	if slices.Contains(m.Disks, p.diskType) && p.diskType != m.BootDisk() {
		h.diskType = p.diskType
	}
	if slices.Contains(m.SSDs.Allowed, p.localSSDs) {
		h.localSSDs = p.localSSDs
	}
	if m.HasTPUs() || m.Count == 0 && p.gpus == 0 {
		h.driver = ""
	}
	h.gpuDirect = p.networks && m.Networks.Direct != "" && !catalog.FamilyOf(m.Family).ClaimsNetworks
	if m.Count == 0 && p.gpus > 0 {
		if _, fits := catalog.Find(m.Type, p.accelerator, p.gpus); fits {
			h.gpuType, h.gpus = p.accelerator, p.gpus
		}
	}
	h = withTopology(h)
	if p.exists() && p.topology == "" {
		h.shaped = false // each node is a slice
	}
	return h
}

// withTopology gives TPUs the topology of one host, unless they have one.
func withTopology(h hardware) hardware {
	if !h.machine.HasTPUs() {
		h.topology = ""
		return h
	}
	if _, ok := h.machine.Slice(h.topology); ok {
		return h
	}
	h.shaped = true
	for _, s := range h.machine.Slices() {
		h.topology = s.Topology
		if s.Hosts == 1 && s.Chips == h.machine.Count {
			break
		}
	}
	return h
}

// flavorHardware returns the hardware that a flavor's labels name. If they name none, it
// returns the smallest machine that has the accelerators in the flavor's labels or name,
// or that has what the queues count.
func (d *design) flavorHardware(name string, labels map[string]string, u *usage) hardware {
	h := hardware{topology: labels[labelTopology]}
	if m, ok := catalog.Usable(labels[labelMachine]); ok {
		h.machine = m
		return withTopology(h)
	}
	option := columnOf(consumptionOf(labels, u.queued))
	for _, label := range []string{labelAccelerator, labelTPU} {
		accelerators := catalog.AcceleratorsNamed(labels[label])
		if h, ok := d.machineWith(accelerators, h.topology, option, u.ratios); ok {
			h.hint = labels[label]
			return h
		}
	}
	texts := []string{labels[labelNodePool]}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		texts = append(texts, labels[key])
	}
	kind := u.accelerator()
	if kind == "" {
		return d.plainHardware(append(texts, name), u)
	}
	return d.guessHardware(append(texts, name), kind, h.topology, option, u.ratios)
}

// machineWith returns the smallest machine with one of the accelerators, and reports
// whether there is one.
func (d *design) machineWith(accelerators []string, topology, option string, ratios []ratio) (hardware, bool) {
	h := hardware{topology: topology, guessed: true}
	if len(accelerators) == 0 {
		return h, false
	}
	if machines := catalog.MachinesWith(accelerators); len(machines) > 0 {
		h.machine = chooseMachine(machines, topology, option, ratios)
		return withTopology(h), true
	}
	for _, a := range catalog.AllAttachments() { // GPUs that are attached to N1 machines
		if m, ok := catalog.Usable("n1-standard-8"); ok && slices.Contains(accelerators, a.Accelerator) {
			h.machine, h.gpuType, h.gpus, h.topology = m, a.Accelerator, 1, ""
			return h, true
		}
	}
	return h, false
}

// guessHardware returns the smallest machine with accelerators of a kind that the texts
// name, such as "h100-flavor" or "a3-mega", or with the kind's usual accelerator.
func (d *design) guessHardware(texts []string, kind, topology, option string, ratios []ratio) hardware {
	for _, text := range texts {
		runs := wordRuns(text)
		for _, run := range runs {
			if m, ok := catalog.Usable(run); ok && kindOf(m) == kind {
				return withTopology(hardware{machine: m, topology: topology, guessed: true, hint: text})
			}
		}
		for _, run := range runs {
			accelerators := slices.DeleteFunc(catalog.AcceleratorsNamed(run), func(a string) bool {
				return strings.HasPrefix(a, "tpu") != (kind == tpuResource)
			})
			if h, ok := d.machineWith(accelerators, topology, option, ratios); ok {
				h.hint = text
				return h
			}
		}
		for _, run := range runs {
			if machines := d.machinesNamed(run, kind); len(machines) > 0 {
				m := chooseMachine(machines, topology, option, ratios)
				return withTopology(hardware{machine: m, topology: topology, guessed: true, hint: text})
			}
		}
	}
	usual := map[string]string{gpuResource: "nvidia-l4", tpuResource: "tpu-v6e-slice"}[kind]
	h, _ := d.machineWith([]string{usual}, topology, option, ratios)
	return h
}

// machinesNamed returns the machines with accelerators of a kind whose types begin with
// a name, such as "a3-mega".
func (d *design) machinesNamed(name, kind string) []catalog.Machine {
	if !strings.Contains(name, "-") {
		name += "-"
	}
	if d.machines == nil {
		d.machines = slices.DeleteFunc(catalog.All(), func(m catalog.Machine) bool { return m.Withheld != "" })
	}
	var out []catalog.Machine
	for _, m := range d.machines {
		if strings.HasPrefix(m.Type, name) && kindOf(m) == kind {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b catalog.Machine) int { return cmp.Compare(a.Count, b.Count) })
	return out
}

// kindOf returns the resource of a machine's own accelerators, "" for none.
func kindOf(m catalog.Machine) string {
	h := hardware{machine: m}
	return h.resource()
}

// wordRuns returns the words of a text, and the sequences of words, longest first: of
// "NVIDIA-H100-80GB", "nvidia-h100-80gb", "nvidia-h100", "h100-80gb", "nvidia-80gb",
// "nvidia", "h100" and "80gb". A sequence of two words can omit words between them.
func wordRuns(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if len(words) > 12 {
		words = words[:12]
	}
	var out []string
	for length := len(words); length > 2; length-- {
		for i := 0; i+length <= len(words); i++ {
			out = append(out, strings.Join(words[i:i+length], "-"))
		}
	}
	for gap := 1; gap < len(words); gap++ {
		for i := 0; i+gap < len(words); i++ {
			out = append(out, words[i]+"-"+words[i+gap])
		}
	}
	return append(out, words...)
}

// chooseMachine returns the first machine that forms the topology, holds the ratios and
// is offered with the option. If there is none, the option counts least, and the topology
// most.
func chooseMachine(machines []catalog.Machine, topology, option string, ratios []ratio) catalog.Machine {
	best, bestScore := machines[0], -1
	for _, m := range machines {
		score := 0
		if _, fits := m.Slice(topology); fits || topology == "" || !m.HasTPUs() {
			score += 8
		}
		if holdsRatios(m, m.Count, ratios) {
			score += 4
		}
		if offered := m.Options.Offered(option); offered == nil {
			score++ // unverified
		} else if *offered {
			score += 2
		}
		if score > bestScore {
			best, bestScore = m, score
		}
	}
	return best
}

// holdsRatios reports whether a node with some accelerators has the vCPUs and memory that
// the queues count for them.
func holdsRatios(m catalog.Machine, count int, ratios []ratio) bool {
	milli, mib := m.Allocatable()
	for _, r := range ratios {
		if n := int64(count); n > 0 && r.accelerators > 0 &&
			(r.milliCPU/r.accelerators > milli/n || r.bytes/r.accelerators>>20 > mib/n) {
			return false
		}
	}
	return true
}

// plainHardware returns a machine without accelerators: one that the texts name, or one
// whose memory per vCPU is nearest to the memory per vCPU of the quotas.
func (d *design) plainHardware(texts []string, u *usage) hardware {
	for _, text := range texts {
		for _, run := range wordRuns(text) {
			if m, ok := catalog.Usable(run); ok && m.Count == 0 && strings.Contains(run, "-") {
				return hardware{machine: m, guessed: true, hint: text}
			}
		}
	}
	name := "e2-standard-16"
	if u.milliCPU > 0 && u.bytes > 0 {
		switch gib := float64(u.bytes) / (1 << 30) / (float64(u.milliCPU) / 1000); {
		case gib < 2:
			name = "e2-highcpu-16"
		case gib > 6:
			name = "e2-highmem-16"
		}
	}
	m, _ := catalog.Usable(name)
	return hardware{machine: m, guessed: true}
}

// usage collects the quotas that the ClusterQueues have of a flavor.
type usage struct {
	accelerators map[string]int64 // by resource; a resource without quota is 0
	vcpus        bool             // a queue counts vCPUs
	queued       bool             // a check of queued provisioning holds up its jobs
	retries      int              // of that check
	ratios       []ratio
	milliCPU     int64
	bytes        int64
}

// ratio is the vCPUs and memory beside some accelerators.
type ratio struct{ accelerators, milliCPU, bytes int64 }

func newUsage() *usage { return &usage{accelerators: map[string]int64{}} }

// counts reports whether the quotas count anything that a blueprint counts.
func (u *usage) counts() bool { return u.vcpus || len(u.accelerators) > 0 }

// accelerator returns the accelerators that the quotas count, "" for none. A flavor whose
// quota of accelerators is 0 in every queue has none, unless it has no quota at all.
func (u *usage) accelerator() string {
	for _, kind := range []string{gpuResource, tpuResource} {
		if u.accelerators[kind] > 0 {
			return kind
		}
	}
	for _, kind := range []string{gpuResource, tpuResource} {
		if _, counted := u.accelerators[kind]; counted && u.milliCPU == 0 {
			return kind
		}
	}
	return ""
}

func (u *usage) add(f v1beta2.FlavorQuotas) {
	var r ratio
	for _, quota := range f.Resources {
		name := string(quota.Name)
		switch quota.Name {
		case gpuResource, tpuResource:
			r.accelerators = amountOf(quota.NominalQuota, 0)
			u.accelerators[name] = min(u.accelerators[name]+r.accelerators, maxAmount)
		case corev1.ResourceCPU:
			r.milliCPU, u.vcpus = amountOf(quota.NominalQuota, resource.Milli), true
			u.milliCPU = min(u.milliCPU+r.milliCPU, maxAmount)
		case corev1.ResourceMemory:
			r.bytes = amountOf(quota.NominalQuota, 0)
			u.bytes = min(u.bytes+r.bytes, maxAmount)
		}
	}
	if max(r.accelerators, r.milliCPU/1000, r.bytes>>30) < noLimit {
		u.ratios = append(u.ratios, r)
	}
}

// noLimit is an amount of accelerators, vCPUs or GiB that no cluster has: whoever writes
// it means "no limit".
const noLimit = 10_000_000

// maxAmount is the largest amount that the importer computes with. Some quotas are even
// larger, because they stand for "no limit". The sum of several fits int64.
const maxAmount = 1 << 60

// amountOf returns a quantity in the given unit, rounded up and at most maxAmount.
func amountOf(q resource.Quantity, unit resource.Scale) int64 {
	if most := resource.NewScaledQuantity(maxAmount, unit); q.Cmp(*most) >= 0 {
		return maxAmount
	}
	return max(0, q.ScaledValue(unit))
}
