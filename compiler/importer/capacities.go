package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/exports"
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

// usualRetries is the default of the field retries in a blueprint.
const usualRetries = 340

// planCapacities makes a capacity of each flavor that a queue uses, and of each node
// pool for jobs that no flavor selects.
func (d *design) planCapacities() {
	uses := d.inv.flavorUses()
	names := map[string]bool{"default": true}
	for _, p := range d.inv.pools {
		if p.exists() { // GKE refuses a second pool of a name
			names[p.Name] = true
		}
	}
	known := map[string]bool{}
	for _, f := range d.inv.flavors {
		known[f.Name] = true
		switch u := uses[f.Name]; {
		case u == nil && len(d.inv.clusterQueues) > 0:
			f.none("object", "", "no ClusterQueue uses the flavor: it is not imported")
			continue
		case u != nil && !u.counts():
			f.none("object", "", "the queues count neither vCPUs nor GPUs or TPUs of the flavor: it is not imported")
			continue
		}
		d.planFlavor(f, uses[f.Name], names)
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if !known[name] && uses[name].counts() {
			d.assume("capacity."+name, "the exports contain queues of this flavor, but not the flavor: fill in its "+
				"hardware")
			flavor := &object{Object: &exports.Object{Kind: "ResourceFlavor", Name: name}}
			d.planFlavor(typed[v1beta2.ResourceFlavor]{flavor, &v1beta2.ResourceFlavor{}}, uses[name], names)
			if c := d.capacities[len(d.capacities)-1]; c.name != name {
				d.assume("capacity."+c.name, "the flavor %q is called %q", name, c.name)
			}
		}
	}
	for _, p := range d.inv.pools {
		switch {
		case p.taken:
		case !p.isCompute():
			p.none("object", "", "the pool has no accelerators and no flavor selects it: it stays as it is")
		case len(d.inv.clusterQueues) > 0:
			p.none("object", "", "no flavor selects the pool, so no queue has quota on it: it is not imported")
		default:
			c := &capacity{name: capacityName(p.Name, names), source: p.Title()}
			d.planPool(c, p)
			c.hardware = d.hardwareOf(d.poolHardware(p, columnOf(c.consumption)))
			d.capacities = append(d.capacities, c)
		}
	}
}

// capacityName returns the name of a capacity. GKE reserves some names of pools.
func capacityName(name string, taken map[string]bool) string {
	name = fitName(name, 40)
	for _, reserved := range []string{"gke", "autopilot"} {
		if short, ok := strings.CutPrefix(name, reserved+"-"); ok && fitName(short, 40) == short {
			name = short
		}
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
		for _, f := range flavorsOf(q.value) {
			u := out[string(f.Name)]
			if u == nil {
				u = newUsage()
				out[string(f.Name)] = u
			}
			u.add(f)
		}
		for name, onFlavors := range queueChecks(q.value) {
			if config := queued[name]; config != nil {
				markQueued(out, q.value, config.Spec, onFlavors)
			}
		}
	}
	return out
}

// markQueued marks the flavors of a queue that a check of queued provisioning holds up.
// The check manages some resources, or all if config names none. It is on some flavors, or
// on all if onFlavors is nil.
func markQueued(
	uses map[string]*usage, q *v1beta2.ClusterQueue, config v1beta2.ProvisioningRequestConfigSpec, onFlavors []string,
) {
	managed, retries := config.ManagedResources, int32(3) // Kueue's default
	if s := config.RetryStrategy; s != nil && s.BackoffLimitCount != nil {
		retries = *s.BackoffLimitCount
	}
	for _, f := range flavorsOf(q) {
		manages := len(managed) == 0 || slices.ContainsFunc(f.Resources, func(r v1beta2.ResourceQuota) bool {
			return slices.Contains(managed, r.Name) && (!r.NominalQuota.IsZero() || len(f.Resources) == 1)
		})
		if manages && (onFlavors == nil || slices.Contains(onFlavors, string(f.Name))) {
			u := uses[string(f.Name)]
			u.queued, u.retries = true, int(retries)
		}
	}
}

// queueChecks returns the flavors of each check of a queue, nil for all flavors.
func queueChecks(q *v1beta2.ClusterQueue) map[string][]string {
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

// queuedChecks returns the configurations of the checks of queued provisioning by the
// names of the checks.
func (inv *inventory) queuedChecks() map[string]*v1beta2.ProvisioningRequestConfig {
	out := map[string]*v1beta2.ProvisioningRequestConfig{}
	for _, check := range inv.checks {
		p := check.value.Spec.Parameters
		for _, c := range inv.requestConfigs {
			if check.value.Spec.ControllerName == provisioningController && p != nil && p.Name == c.Name &&
				c.value.Spec.ProvisioningClassName == queuedClass {
				out[check.Name] = c.value
			}
		}
	}
	return out
}

// planFlavor makes the capacity of a flavor.
func (d *design) planFlavor(f typed[v1beta2.ResourceFlavor], u *usage, names map[string]bool) {
	c := &capacity{name: capacityName(f.Name, names), source: f.Title(), flavor: f.Name}
	consequence := fmt.Sprintf("the compiled flavor is called %q", c.name)
	if slices.ContainsFunc(d.inv.pools, func(p *pool) bool { return p.exists() && p.Name == f.Name }) {
		consequence += ", because the cluster has a node pool of the other name"
	}
	f.exactIf(c.name == f.Name, "metadata.name", "capacity."+c.name, "%s", consequence)
	if u == nil {
		u = newUsage()
	}
	labels := f.value.Spec.NodeLabels
	if p := d.findPool(labels, u.accelerator()); p != nil {
		p.taken = true
		d.planPool(c, p)
		c.hardware = d.hardwareOf(d.poolHardware(p, columnOf(c.consumption)), u.ratios...)
	} else {
		c.consumption = consumptionOf(labels, u.queued)
		c.hardware = d.hardwareOf(d.flavorHardware(f.Name, labels, u), u.ratios...)
		c.class = labels[labelClass] != "" && !u.queued
		c.fillCount = true
	}
	if u.queued {
		c.consumption = queuedOption(c.pool)
		if u.retries != usualRetries {
			c.consumption.value = append(c.consumption.value.(settings), setting{"retries", u.retries})
		}
	}
	d.capacities = append(d.capacities, c)
	switch h := c.hardware; {
	case h.guessed && h.hint != "":
		f.approximate("hardware", "hardware."+h.name, "the flavor does not say the machine type: %s is the smallest "+
			"machine that fits %q; fill in the right one", h.machine.Type, h.hint)
	case h.guessed:
		f.approximate("hardware", "hardware."+h.name, "the flavor does not say the machine type: %s is the smallest "+
			"machine that fits; fill in the right one", h.machine.Type)
	case h.shaped:
		f.approximate("hardware", "hardware."+h.name, "the flavor does not say the topology: %s is the topology of "+
			"one node; fill in the right one", h.topology)
	}
	d.reportLabels(f, c)
	for _, field := range []string{"nodeTaints", "tolerations"} {
		if exports.At(f.Fields, "spec", field) == nil { // otherwise the table has it
			f.approximate(field, "capacity."+c.name,
				"unset; the compiled flavor has one for each taint of the nodes that batchwright makes")
		}
	}
}

// findPool returns the pool that the labels of a flavor select, nil if there is none, or
// if there are several. A flavor without labels selects the only pool with its accelerators.
func (d *design) findPool(labels map[string]string, kind string) *pool {
	selects := func(p *pool) bool { return !p.taken && p.hasLabels(labels) }
	if name := labels[labelNodePool]; name != "" {
		selects = func(p *pool) bool { return p.Name == name || slices.Contains(p.aliases, name) }
	} else if len(labels) == 0 {
		selects = func(p *pool) bool { return p.hasAccelerators(kind) }
	}
	found := slices.DeleteFunc(slices.Clone(d.inv.pools), func(p *pool) bool { return !selects(p) })
	if len(found) == 1 && (!found[0].taken || labels[labelNodePool] != "") {
		return found[0]
	}
	return nil
}

// hasAccelerators reports whether the nodes of a pool have accelerators of a kind.
func (p *pool) hasAccelerators(kind string) bool {
	m, _ := p.machineOf()
	return kind != "" && (kindOf(m) == kind || kind == gpuResource && p.gpus > 0)
}

// hasLabels reports whether the nodes of a pool have the accelerator, the topology, the
// machine type and the consumption option that labels name.
func (p *pool) hasLabels(labels map[string]string) bool {
	m, ok := p.machineOf()
	accelerator := cmp.Or(labels[labelAccelerator], labels[labelTPU])
	same := func(label, value string) bool { return labels[label] == "" || value == "" || labels[label] == value }
	return ok && accelerator != "" && accelerator == cmp.Or(m.Accelerator, p.accelerator) &&
		same(labelSpot, strconv.FormatBool(p.spot)) && same(labelTopology, p.topology) && same(labelMachine, p.machine)
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
	if columnOf(c.consumption) == "queued" {
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
			f.none(field, "", "the compiled flavor selects nodes by the label capacity=%s instead", c.name)
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
		return setting{"flexStart", settings{{"queued", true}}}
	case labels[labelFlexStart] == "true" || labels[labelResource] == "flex-start" ||
		labels[labelProvision] == "flex-start":
		return setting{"flexStart", settings(nil)}
	case labels[labelSpot] == "true" || labels[labelProvision] == "spot" || labels[labelResource] == "spot":
		return setting{"spot", settings(nil)}
	}
	if name := resourceName(labels[labelReservation]); name != "" {
		return setting{"reservation", settings{{"name", name}}}
	}
	return setting{"onDemand", settings(nil)}
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
		c.consumption = queuedOption(p)
	case p.flex:
		c.consumption = setting{"flexStart", flexSettings(p, nil)}
	case p.spot:
		c.consumption = setting{"spot", settings(nil)}
	case p.reservation != "":
		c.consumption = d.poolReservation(c, p)
	case p.anyReservation:
		c.consumption = setting{"anyReservation", settings(nil)}
	default:
		c.consumption = setting{"onDemand", settings(nil)}
	}
	if c.max == 0 && c.nodes == 0 {
		c.fillCount = true
	}
}

// queuedOption returns queued provisioning, with the longest time of the pool if there is
// one.
func queuedOption(p *pool) setting {
	return setting{"flexStart", flexSettings(p, settings{{"queued", true}})}
}

// flexSettings adds the longest time that a node runs to the fields of flex-start, unless
// it is the default.
func flexSettings(p *pool, list settings) settings {
	if p != nil && p.runSeconds >= 600 && p.runSeconds < 604800 {
		list = append(list, setting{"maxRunSeconds", p.runSeconds})
	}
	return list
}

// poolReservation returns the reservation of a pool. Its name is a name, PROJECT/NAME or
// the path projects/PROJECT/reservations/NAME, each with or without the path
// reservationBlocks/BLOCK/reservationSubBlocks/SUBBLOCK.
func (d *design) poolReservation(c *capacity, p *pool) setting {
	parts := strings.Split(p.reservation, "/")
	values := map[string]string{}
	for i := 0; i+1 < len(parts); i++ {
		values[parts[i]] = parts[i+1]
	}
	place := parts
	if i := slices.Index(parts, "reservationBlocks"); i >= 0 {
		place = parts[:i]
	}
	name := cmp.Or(values["reservations"], place[len(place)-1])
	if len(place) == 2 { // PROJECT/NAME
		values["projects"] = place[0]
	}
	if fitName(name, 63) != name {
		c.fillOption = true
		name = "reservation-name"
	}
	out := settings{{"name", name}}
	project := cmp.Or(p.reservationProject, values["projects"])
	if projectID().MatchString(project) && project != d.project {
		out = out.add("project", project)
	}
	if block := resourceName(values["reservationBlocks"]); block != "" {
		out = out.add("block", block).add("subBlock", resourceName(values["reservationSubBlocks"]))
	}
	if p.inactive {
		out = append(out, setting{"active", false})
	}
	return setting{"reservation", out}
}

// columnOf returns the catalogue's column of a consumption option.
func columnOf(consumption setting) string {
	list, _ := consumption.value.(settings)
	if slices.ContainsFunc(list, func(s setting) bool { return s.name == "queued" }) {
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
	d.assume("capacity."+c.name+".consumption", "Google Cloud does not offer %s for %s: fill in how the nodes are "+
		"obtained", column, c.hardware.machine.Type)
	c.fillOption = true
	for _, other := range (settings{
		{"reservation", settings{{"name", "reservation-name"}}}, {"spot", settings(nil)}, {"flexStart", settings(nil)},
	}) {
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
		per, most := int64(max(1, c.hardware.count())), int64(15000)
		if c.hardware.count() == 0 {
			per = int64(max(1, c.hardware.machine.VCPUs-2))
		}
		if s, ok := c.hardware.machine.Slice(c.hardware.topology); ok {
			per, most = int64(s.Chips), 1000
			c.nodes, c.max, c.min = c.nodes/max(1, s.Hosts), c.max/max(1, s.Hosts), 0
		}
		needed := (c.units + per - 1) / per
		c.unlimited = needed > most
		if c.fillCount || c.max == 0 && c.nodes == 0 {
			c.fillCount = true
			c.nodes, c.min, c.max = 0, 0, int(max(1, needed))
			if c.unlimited {
				c.max = 1
			}
		}
		if c.consumption.name == "flexStart" && c.max == 0 {
			c.nodes, c.max = 0, c.nodes
		}
		if c.consumption.name == "flexStart" || c.min >= c.max {
			c.min = 0
		}
		d.checkOption(c)
		d.fixLinked(c)
		c.overbooked = needed > int64(max(c.nodes, c.max))
		if c.compact && (c.slices || len(c.zones) > 1) {
			c.compact = false
		}
		d.assumeCount(c)
	}
}

// needsDriver says what nodes that are linked with each other need.
const needsDriver = "between nodes, NVLink needs NVIDIA's DRA driver, which the platform does not install"

// linked reports whether the capacity has several nodes that are linked with each other.
func (c *capacity) linked() bool {
	return catalog.FamilyOf(c.hardware.machine.Family).LinkedNodes > 0 && max(c.nodes, c.max) > 1
}

// fixLinked gives machines that are linked with each other a fixed number, as they need.
func (d *design) fixLinked(c *capacity) {
	most := catalog.FamilyOf(c.hardware.machine.Family).LinkedNodes
	if most > 0 && c.max > 0 && !c.class && c.consumption.name != "flexStart" {
		c.nodes, c.min, c.max = min(c.max, most), 0, 0
	}
	if c.linked() {
		d.assume("capacity."+c.name, needsDriver)
	}
}

// assumeCount reports a number of nodes that the exports do not contain.
func (d *design) assumeCount(c *capacity) {
	noun := "node"
	if c.slices {
		noun = "slice"
	}
	switch count := words.Count(max(c.nodes, c.max), noun); {
	case !c.fillCount:
	case c.unlimited:
		d.assume("capacity."+c.name, "the guarantees of the queues are so large that they limit nothing: fill in how "+
			"many %ss there are", noun)
	case c.units == 0:
		d.assume("capacity."+c.name, "the exports do not say how many %ss there are: fill in the right number", noun)
	default:
		d.assume("capacity."+c.name, "the exports do not say how many %ss there are: the guarantees of the queues "+
			"need %s; fill in the right number", noun, count)
	}
}
