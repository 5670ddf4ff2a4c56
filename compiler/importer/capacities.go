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
	"github.com/batchwright/batchwright/compiler/words"
)

// Resources that a blueprint counts.
const (
	gpuResource = "nvidia.com/gpu"
	tpuResource = "google.com/tpu"
)

// Labels of nodes by which the importer recognizes hardware and consumption options.
// Source: GKE documentation, "Node labels".
const (
	labelAccelerator = "cloud.google.com/gke-accelerator"
	labelTPU         = "cloud.google.com/gke-tpu-accelerator"
	labelTopology    = "cloud.google.com/gke-tpu-topology"
	labelNodePool    = "cloud.google.com/gke-nodepool"
	labelSpot        = "cloud.google.com/gke-spot"
	labelProvision   = "cloud.google.com/gke-provisioning"
	labelFlexStart   = "cloud.google.com/gke-flex-start"
	labelQueued      = "cloud.google.com/gke-queued"
	labelReservation = "cloud.google.com/reservation-name"
	labelClass       = "cloud.google.com/compute-class"
	labelMachine     = "node.kubernetes.io/instance-type"
	labelCapacity    = "capacity"
	labelResource    = "resource-type"
)

// provisioningController and queuedClass make an AdmissionCheck one of queued
// provisioning. Source: GKE documentation, "Run a large-scale workload with flex-start
// with queued provisioning".
const (
	provisioningController = v1beta2.ProvisioningRequestControllerName
	queuedClass            = "queued-provisioning.gke.io"
)

// usage collects the quotas that the ClusterQueues have of a flavor.
type usage struct {
	resources map[string]bool
	queued    bool // a check of queued provisioning holds up its jobs
	ratios    []ratio
	cpu       resource.Quantity
	memory    resource.Quantity
}

// ratio is the vCPUs and memory beside some accelerators.
type ratio struct{ accelerators, milliCPU, bytes int64 }

// planCapacities makes a capacity of each flavor that a queue uses, and of each node
// pool for jobs that no flavor selects.
func (d *design) planCapacities() {
	uses := d.inv.flavorUses()
	names := map[string]bool{"default": true}
	known := map[string]bool{}
	for _, f := range d.inv.flavors {
		known[f.name] = true
		if uses[f.name] == nil && len(d.inv.clusterQueues) > 0 {
			f.none("object", "", "no ClusterQueue uses the flavor: it is not imported")
			continue
		}
		d.planFlavor(f, uses[f.name], names)
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if !known[name] {
			d.assume("capacity."+name, "the exports contain queues of this flavor, but not the flavor: fill in its "+
				"hardware")
			flavor := typed[v1beta2.ResourceFlavor]{object: &object{kind: "ResourceFlavor", name: name}}
			d.planFlavor(flavor, uses[name], names)
		}
	}
	for _, p := range d.inv.pools {
		switch {
		case p.taken:
		case !p.isCompute():
			p.none("object", "", "the pool has no accelerators and no flavor selects it: the platform has a system "+
				"pool "+
				"of its own")
		default:
			c := &capacity{name: capacityName(p.name, names), source: p.title()}
			d.planPool(c, p)
			c.hardware = d.hardwareOf(d.poolHardware(p))
			d.capacities = append(d.capacities, c)
			p.approximate("object", "capacity."+c.name, "compile describes a new pool of the name "+c.name)
		}
	}
}

// capacityName returns the name of a capacity. GKE reserves some names of pools.
func capacityName(name string, taken map[string]bool) string {
	name = fitName(name, 40)
	for _, reserved := range []string{"gke", "autopilot"} {
		if strings.HasPrefix(name, reserved) {
			name = fitName("pool-"+name, 40)
		}
	}
	return uniqueName(name, 40, taken)
}

// flavorUses returns what the queues say about each flavor.
func (inv *inventory) flavorUses() map[string]*usage {
	out := map[string]*usage{}
	queued := inv.queuedChecks()
	for _, q := range inv.clusterQueues {
		for _, g := range q.value.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				u := out[string(f.Name)]
				if u == nil {
					u = &usage{resources: map[string]bool{}}
					out[string(f.Name)] = u
				}
				u.add(f)
			}
		}
		for name, onFlavors := range queueChecks(q.value) {
			if !queued[name] {
				continue
			}
			for _, f := range q.flavorNames() {
				if u := out[f]; onFlavors == nil || slices.Contains(onFlavors, f) {
					u.queued = true
				}
			}
		}
	}
	return out
}

func (u *usage) add(f v1beta2.FlavorQuotas) {
	var r ratio
	for _, quota := range f.Resources {
		u.resources[string(quota.Name)] = true
		switch quota.Name {
		case gpuResource, tpuResource:
			r.accelerators = quota.NominalQuota.Value()
		case corev1.ResourceCPU:
			r.milliCPU = quota.NominalQuota.MilliValue()
			u.cpu.Add(quota.NominalQuota)
		case corev1.ResourceMemory:
			r.bytes = quota.NominalQuota.Value()
			u.memory.Add(quota.NominalQuota)
		}
	}
	u.ratios = append(u.ratios, r)
}

// queueChecks returns the flavors of each check of a queue, nil for all flavors.
func queueChecks(q v1beta2.ClusterQueue) map[string][]string {
	out := map[string][]string{}
	if q.Spec.AdmissionChecksStrategy == nil {
		return out
	}
	for _, rule := range q.Spec.AdmissionChecksStrategy.AdmissionChecks {
		var flavors []string
		for _, f := range rule.OnFlavors {
			flavors = append(flavors, string(f))
		}
		out[string(rule.Name)] = flavors
	}
	return out
}

// queuedChecks returns the names of the checks of queued provisioning.
func (inv *inventory) queuedChecks() map[string]bool {
	queued := map[string]bool{}
	for _, c := range inv.requestConfigs {
		queued[c.name] = c.value.Spec.ProvisioningClassName == queuedClass
	}
	out := map[string]bool{}
	for _, c := range inv.checks {
		out[c.name] = c.value.Spec.ControllerName == provisioningController && c.value.Spec.Parameters != nil &&
			queued[c.value.Spec.Parameters.Name]
	}
	return out
}

// planFlavor makes the capacity of a flavor.
func (d *design) planFlavor(f typed[v1beta2.ResourceFlavor], u *usage, names map[string]bool) {
	c := &capacity{name: capacityName(f.name, names), source: f.title(), flavor: f.name}
	f.exactIf(c.name == f.name, "metadata.name", "capacity."+c.name,
		fmt.Sprintf("the compiled flavor is called %q", c.name))
	if u == nil {
		u = &usage{resources: map[string]bool{}}
	}
	labels := f.value.Spec.NodeLabels
	if p := d.findPool(labels); p != nil {
		p.taken = true
		p.approximate("object", "capacity."+c.name, "compile describes a new pool of the name "+c.name)
		d.planPool(c, p)
		c.hardware = d.hardwareOf(d.poolHardware(p), u.ratios...)
	} else {
		c.consumption = consumptionOf(labels, u.queued)
		c.hardware = d.hardwareOf(labelHardware(labels, u), u.ratios...)
		c.class = labels[labelClass] != "" && !u.queued
		c.fillCount = true
	}
	if u.queued {
		c.consumption = setting{"flexStart", []setting{{"queued", true}}}
	}
	d.capacities = append(d.capacities, c)
	if c.hardware.guessed {
		f.approximate("hardware", "hardware."+c.hardware.name, fmt.Sprintf("the flavor does not say the machine "+
			"type: %s "+
			"is the smallest machine that fits; fill in the right one", c.hardware.machine.Type))
	}
	d.reportLabels(f, c)
	for _, field := range []string{"nodeTaints", "tolerations"} {
		if at(f.raw, "spec", field) == nil { // otherwise the table has it
			f.approximate(field, "capacity."+c.name,
				"unset, and in the compiled flavor those of the nodes that batchwright makes")
		}
	}
}

// findPool returns the pool that the labels of a flavor select, nil if there is none.
func (d *design) findPool(labels map[string]string) *pool {
	name := labels[labelNodePool]
	var found []*pool
	for _, p := range d.inv.pools {
		if name != "" && p.name == name {
			return p
		}
		m, ok := p.machineOf()
		if name != "" || !ok || p.taken || len(labels) == 0 {
			continue
		}
		accelerator := cmp.Or(labels[labelAccelerator], labels[labelTPU])
		if accelerator == "" || accelerator != cmp.Or(m.Accelerator, p.accelerator) ||
			(labels[labelSpot] == "true") != p.spot && labels[labelSpot] != "" ||
			labels[labelTopology] != "" && p.topology != "" && labels[labelTopology] != p.topology ||
			labels[labelMachine] != "" && labels[labelMachine] != p.machine {
			continue
		}
		found = append(found, p)
	}
	if len(found) == 1 {
		return found[0]
	}
	return nil // none, or several: the labels do not choose
}

// reportLabels reports each label of a flavor.
func (d *design) reportLabels(f typed[v1beta2.ResourceFlavor], c *capacity) {
	made := map[string]string{labelCapacity: c.name}
	if m := c.hardware; m.machine.HasTPUs() {
		made[labelTPU], made[labelTopology] = m.machine.Accelerator, m.topology
	} else if m.count() > 0 {
		made[labelAccelerator] = cmp.Or(m.gpuType, m.machine.Accelerator)
	}
	if c.class {
		made = map[string]string{labelClass: c.name}
	}
	if c.consumption.name == "flexStart" && c.consumption.value.([]setting) != nil {
		made[labelQueued] = "true"
	}
	labels := f.value.Spec.NodeLabels
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		field := "nodeLabels." + key
		switch {
		case made[key] == labels[key]:
			f.exact(field, "capacity."+c.name)
		case key == labelResource:
			f.approximate(field, "capacity."+c.name+".consumption", "the value follows from the consumption option")
		case slices.Contains([]string{
			labelSpot, labelProvision, labelFlexStart, labelReservation, labelNodePool, labelMachine, labelAccelerator,
			labelTPU, labelTopology, labelClass, labelQueued,
		}, key):
			f.approximate(field, "capacity."+c.name,
				"the label chose the hardware or the consumption option; the compiled flavor selects nodes by other "+
					"labels")
		default:
			f.none(field, "", "the compiled flavor selects nodes by the label capacity="+c.name+" instead")
		}
	}
	if len(labels) == 0 {
		f.approximate("nodeLabels", "capacity."+c.name,
			"the flavor selects any node, but the compiled flavor selects the nodes of a pool of its own")
	} else if _, kept := labels[labelCapacity]; !kept && !c.class {
		f.approximate("nodeLabels", "capacity."+c.name,
			"the compiled flavor also has the labels that distinguish the capacity's own nodes")
	}
}

// consumptionOf returns the consumption option that labels of nodes name.
func consumptionOf(labels map[string]string, queued bool) setting {
	switch {
	case queued || labels[labelQueued] == "true":
		return setting{"flexStart", []setting{{"queued", true}}}
	case labels[labelFlexStart] == "true" || labels[labelResource] == "flex-start" ||
		labels[labelProvision] == "flex-start":
		return setting{"flexStart", []setting(nil)}
	case labels[labelSpot] == "true" || labels[labelProvision] == "spot" || labels[labelResource] == "spot":
		return setting{"spot", []setting(nil)}
	case resourceName(labels[labelReservation]) != "":
		return setting{"reservation", []setting{{"name", resourceName(labels[labelReservation])}}}
	}
	return setting{"onDemand", []setting(nil)}
}

// resourceName returns a name of Compute Engine that is the last part of a path, or ""
// if it is no valid name.
func resourceName(s string) string {
	s = s[strings.LastIndexByte(s, '/')+1:]
	if s == "" || fitName(s, 63) != s {
		return ""
	}
	return s
}

// planPool takes over the counts and the consumption option of a pool.
func (d *design) planPool(c *capacity, p *pool) {
	c.pool, c.zones, c.compact = p, slices.Clone(p.zones), p.compact
	c.nodes, c.min, c.max = p.nodes, p.min, p.max
	switch {
	case p.queued:
		c.consumption = setting{"flexStart", []setting{{"queued", true}}}
	case p.flex:
		c.consumption = setting{"flexStart", []setting(nil)}
	case p.spot:
		c.consumption = setting{"spot", []setting(nil)}
	case p.reservation != "":
		c.consumption = d.poolReservation(c, p)
	case p.anyReservation:
		c.consumption = setting{"anyReservation", []setting(nil)}
	default:
		c.consumption = setting{"onDemand", []setting(nil)}
	}
	if c.max == 0 && c.nodes == 0 || strings.Contains(p.reservation, "$(") {
		c.fillCount = true
	}
}

// poolReservation returns the reservation of a pool. Its name is a name or the path
// projects/PROJECT/reservations/NAME/reservationBlocks/BLOCK.
func (d *design) poolReservation(c *capacity, p *pool) setting {
	parts := strings.Split(p.reservation, "/")
	out := []setting{}
	values := map[string]string{}
	for i := 0; i+1 < len(parts); i += 2 {
		values[parts[i]] = parts[i+1]
	}
	name := cmp.Or(values["reservations"], parts[0])
	if fitted := fitName(name, 63); fitted != name {
		p.approximate("reservation", "capacity."+c.name+".consumption", "the name of the reservation is an "+
			"expression: fill "+
			"it in")
		name = "reservation-name"
	}
	out = append(out, setting{"name", name})
	if project := values["projects"]; projectID.MatchString(project) && project != d.project {
		out = append(out, setting{"project", project})
	}
	if block := resourceName(values["reservationBlocks"]); block != "" {
		out = append(out, setting{"block", block})
	}
	return setting{"reservation", out}
}

// poolHardware returns the hardware of a pool.
func (d *design) poolHardware(p *pool) hardware {
	h := hardware{topology: p.topology, diskGiB: p.diskGiB}
	m, ok := p.machineOf()
	if !ok {
		guessed := labelHardware(map[string]string{labelAccelerator: p.accelerator},
			&usage{resources: map[string]bool{}})
		p.approximate("machine type", "hardware", fmt.Sprintf("batchwright does not know machine type %q: %s stands "+
			"in its "+
			"place", p.machine, guessed.machine.Type))
		return guessed
	}
	h.machine = m
	if m.Count == 0 && p.gpus > 0 {
		if _, fits := catalog.Find(m.Type, p.accelerator, p.gpus); fits {
			h.gpuType, h.gpus = p.accelerator, p.gpus
		}
	}
	return withTopology(h)
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
	h.guessed = true
	for _, s := range h.machine.Slices() {
		h.topology = s.Topology
		if s.Hosts == 1 && s.Chips == h.machine.Count {
			break
		}
	}
	return h
}

// labelHardware returns the hardware that labels of nodes name, or the smallest machine
// with what the queues count.
func labelHardware(labels map[string]string, u *usage) hardware {
	h := hardware{topology: labels[labelTopology]}
	if m, ok := catalog.Usable(labels[labelMachine]); ok {
		h.machine = m
		return withTopology(h)
	}
	h.guessed = true
	accelerators := acceleratorsOf(labels, u)
	machines := catalog.MachinesWith(accelerators)
	if len(accelerators) == 1 && len(machines) == 0 { // GPUs that are attached to N1 machines
		for _, a := range catalog.AllAttachments() {
			if a.Accelerator == accelerators[0] {
				if m, ok := catalog.Usable("n1-standard-8"); ok {
					h.machine, h.gpuType, h.gpus = m, a.Accelerator, 1
					return h
				}
			}
		}
	}
	if len(machines) > 0 {
		h.machine = chooseMachine(machines, h.topology, columnOf(consumptionOf(labels, u.queued)), u.ratios)
		return withTopology(h)
	}
	h.machine = cpuMachine(u)
	h.topology = ""
	return h
}

// acceleratorsOf returns the accelerators that labels of nodes name, or an accelerator of
// the kind that the queues count.
func acceleratorsOf(labels map[string]string, u *usage) []string {
	var accelerators []string
	for _, label := range []string{labelAccelerator, labelTPU} {
		if value := labels[label]; value != "" {
			accelerators = catalog.AcceleratorsNamed(value)
		}
	}
	switch {
	case len(accelerators) > 0:
		return accelerators
	case u.resources[gpuResource]:
		return []string{"nvidia-l4"}
	case u.resources[tpuResource]:
		return []string{"tpu-v6e-slice"}
	}
	return nil
}

// chooseMachine returns the first machine that forms the topology, holds the ratios and
// is offered with the option. If there is none, the option counts least.
func chooseMachine(machines []catalog.Machine, topology, option string, ratios []ratio) catalog.Machine {
	for _, anyOption := range []bool{false, true} {
		for _, m := range machines {
			offered := m.Options.Offered(option)
			if !holdsRatios(m, ratios) || !anyOption && offered != nil && !*offered {
				continue
			}
			if _, fits := m.Slice(topology); fits || topology == "" || !m.HasTPUs() {
				return m
			}
		}
	}
	return machines[0]
}

// holdsRatios reports whether a node has the vCPUs and memory that the queues count for
// its accelerators.
func holdsRatios(m catalog.Machine, ratios []ratio) bool {
	milli, mib := m.Allocatable()
	for _, r := range ratios {
		if n := int64(m.Count); r.accelerators > 0 && (r.milliCPU/r.accelerators*n > milli ||
			r.bytes/r.accelerators>>20*n > mib) {
			return false
		}
	}
	return true
}

// cpuMachine returns the machine without accelerators whose memory per vCPU is nearest to
// the memory per vCPU of the quotas.
func cpuMachine(u *usage) catalog.Machine {
	name := "e2-standard-16"
	if cpu := u.cpu.MilliValue(); cpu > 0 && !u.memory.IsZero() {
		switch gib := float64(u.memory.Value()) / (1 << 30) / (float64(cpu) / 1000); {
		case gib < 2:
			name = "e2-highcpu-16"
		case gib > 6:
			name = "e2-highmem-16"
		}
	}
	m, _ := catalog.Usable(name)
	return m
}

// hardwareOf returns the class of machine like h whose share of vCPUs and memory is that
// of the ratios, and adds it if it is new.
func (d *design) hardwareOf(h hardware, ratios ...ratio) *hardware {
	h.setShare(ratios)
	taken := map[string]bool{}
	for _, other := range d.hardware {
		taken[other.name] = true
		same := *other
		same.name, same.guessed = h.name, h.guessed
		if same.machine.Type == h.machine.Type && same.gpuType == h.gpuType && same.gpus == h.gpus &&
			same.topology == h.topology && same.milliCPU == h.milliCPU && same.memoryMi == h.memoryMi &&
			same.diskGiB == h.diskGiB {
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
	h.name = uniqueName(fitName(name, 40), 40, taken)
	d.hardware = append(d.hardware, &h)
	return &h
}

// setShare sets the vCPUs and memory of each accelerator to the first ratio that a node
// holds.
func (h *hardware) setShare(ratios []ratio) {
	for _, r := range ratios {
		if h.count() == 0 || r.accelerators == 0 || r.milliCPU == 0 || r.bytes == 0 ||
			!holdsRatios(h.machine, []ratio{r}) && h.gpus == 0 {
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

// columnOf returns the catalogue's column of a consumption option.
func columnOf(consumption setting) string {
	if list, _ := consumption.value.([]setting); consumption.name == "flexStart" && list != nil {
		return "queued"
	}
	return consumption.name
}

// checkOption replaces a consumption option that Google Cloud does not offer for the
// machine. Most machines that are not offered on demand come from reservations.
func (d *design) checkOption(c *capacity) {
	column := columnOf(c.consumption)
	offered := c.hardware.machine.Options.Offered(column)
	if offered == nil || *offered {
		return
	}
	d.assume("capacity."+c.name+".consumption", fmt.Sprintf("Google Cloud does not offer %s for %s: fill in how the "+
		"nodes "+
		"are obtained", column, c.hardware.machine.Type))
	c.fillOption = true
	for _, other := range []setting{
		{"reservation", []setting{{"name", "reservation-name"}}}, {"spot", []setting(nil)}, {"flexStart",
			[]setting(nil)},
	} {
		if offered := c.hardware.machine.Options.Offered(other.name); offered == nil || *offered {
			c.consumption = other
			return
		}
	}
}

// planSizes sets the number of nodes of each capacity: the number in the node pool if it
// is known, otherwise enough nodes for all guarantees.
func (d *design) planSizes() {
	for _, c := range d.capacities {
		c.slices = c.hardware.topology != ""
		per := int64(max(1, c.hardware.count()))
		if c.hardware.count() == 0 {
			per = int64(max(1, c.hardware.machine.VCPUs-2))
		}
		if s, ok := c.hardware.machine.Slice(c.hardware.topology); ok {
			per = int64(s.Chips)
			c.nodes, c.max, c.min = c.nodes/max(1, s.Hosts), c.max/max(1, s.Hosts), 0
		}
		needed := int(min((c.units+per-1)/per, 1000))
		if !c.slices {
			needed = int(min((c.units+per-1)/per, 15000))
		}
		if c.fillCount || c.max == 0 && c.nodes == 0 {
			c.fillCount = true
			c.nodes, c.min, c.max = 0, 0, max(1, needed)
		}
		if c.consumption.name == "flexStart" && c.max == 0 {
			c.nodes, c.max = 0, c.nodes
		}
		if c.consumption.name == "flexStart" || c.min >= c.max {
			c.min = 0
		}
		c.overbooked = needed > max(c.nodes, c.max)
		d.checkOption(c)
		if c.compact && (c.slices || len(c.zones) > 1) {
			c.compact = false
		}
		if c.fillCount {
			noun := "node"
			if c.slices {
				noun = "slice"
			}
			d.assume("capacity."+c.name, fmt.Sprintf("the exports do not say how many %ss there are: the guarantees "+
				"of the queues "+
				"need %s; fill in the right number", noun, words.Count(c.max, noun)))
		}
	}
}
