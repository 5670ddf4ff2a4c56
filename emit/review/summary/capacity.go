package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// addCapacities adds the facts about the hardware and how it is obtained.
func (s *sheet) addCapacities() {
	for i := range s.plan.Capacities {
		s.addCapacity(&s.plan.Capacities[i])
	}
	for i := range s.plan.ExistingCapacities {
		s.addExistingCapacity(&s.plan.ExistingCapacities[i])
	}
	for _, t := range s.plan.Topologies {
		this := s.newSubject(TopicCapacity, kindTopology, t.Name)
		this.exists(strings.Join(t.Levels, ", "))
		this.is("levels of nodes", strings.Join(t.Levels, ", "), dangerous+"Kueue refuses the change: the topology "+
			"with other levels needs another name")
	}
	s.autoProvisioning()
}

// addExistingCapacity adds the facts about nodes that others own.
func (s *sheet) addExistingCapacity(c *ir.Capacity) {
	this := s.newSubject(TopicCapacity, kindCapacity, c.Name)
	this.exists("nodes of others")
	this.is("hardware class", cmp.Or(c.Hardware, "unknown"))
	this.is("node pools", "others own them")
	this.is("size", choose(c.MaxNodes > 0 || c.Static, capacitySize(c), "unknown"))
	this.is("machine", choose(c.KnowsNodes(), machineText(c.Machine), "unknown"))
	this.is("zones", cmp.Or(strings.Join(c.Zones, ", "), "unknown"))
	addFlavor(this, c, true)
}

// addFlavor adds the facts about the ResourceFlavor of a capacity. others reports whether others own
// its nodes.
func addFlavor(this subject, c *ir.Capacity, others bool) {
	this.is("name of the ResourceFlavor", c.Flavor.Name,
		"running jobs stay in the old flavor, which their queue no longer counts")
	this.is("topology of the nodes", cmp.Or(c.Flavor.Topology, none))
	if others || c.Flavor.Differs {
		addFlavorMarks(this, c)
	}
}

// addFlavorMarks adds the facts about the labels, taints and tolerations of a ResourceFlavor, where
// they do not follow from the nodes.
func addFlavorMarks(this subject, c *ir.Capacity) {
	this.all("label by which Kueue selects the nodes", labelTexts(c.NodeLabels))
	this.all("taint of the ResourceFlavor", taintTexts(c.Flavor.Taints))
	var tolerations []string
	for _, t := range c.Flavor.Tolerations {
		text := cmp.Or(t.Key, "every key") + " " + t.Operator
		for _, part := range []string{t.Value, t.Effect} {
			if part != "" {
				text += " " + part
			}
		}
		if t.Seconds != nil {
			text += " for " + words.Duration(int(*t.Seconds))
		}
		tolerations = append(tolerations, text)
	}
	this.all("toleration that Kueue adds to jobs", tolerations)
}

func (s *sheet) addCapacity(c *ir.Capacity) {
	this := s.newSubject(TopicCapacity, kindCapacity, c.Name)
	this.exists(fmt.Sprintf("%s, %s, %s", capacitySize(c), machineText(c.Machine), optionText(c)))
	this.is("hardware class", c.Hardware)
	var change []string // what a change does to nodes, if the platform creates the pool
	switch {
	case !c.OwnsPools():
	case c.Sliced() || c.Machine.PlacementTopology != "":
		change = []string{replacedWithTopology}
	default:
		change = []string{anew}
	}
	perNode := fmt.Sprintf("%d vCPUs and %g GiB of memory a node", c.Machine.VCPUs, c.Machine.MemoryGiB)
	this.is("machine", machineText(c.Machine), append([]string{perNode}, change...)...)
	this.has("size", fact{value: capacitySize(c), notes: func() []string {
		return append(s.queues.totalNote(c), reservationNotes(c)...)
	}})
	this.is("consumption", optionText(c), reservationNotes(c)...)
	if c.MaxRunSeconds > 0 {
		this.is("longest run of a node", words.Duration(c.MaxRunSeconds))
	}
	this.is("zones", choose(slices.Equal(c.Zones, s.plan.Zones), "all of the platform", strings.Join(c.Zones, ", ")),
		reservationNotes(c)...)
	pools := "made by the platform"
	switch {
	case c.AutoProvisioned && c.ComputeClass:
		pools = "made by node auto-provisioning and a ComputeClass"
	case c.AutoProvisioned:
		pools = "made by node auto-provisioning"
	case c.ComputeClass:
		pools = "made by its ComputeClass"
	}
	this.is("node pools", pools)
	addTakeOver(this, c.TakeOver)
	kept := keptSettings(c.Kept)
	this.is("settings that the takeover keeps", kept, choose(kept != none, "Terraform ignores that they differ",
		dangerous+"if they differ, the next build replaces the node pool"))
	this.is("placement", choose(c.Compact, "compact", "any"))
	upgrades := "in the maintenance window"
	switch {
	case c.KeepsVersion:
		upgrades = "when the support of its version ends"
	case c.Option.Facts().ShortLived:
		upgrades = "never while it runs"
	}
	this.is("GKE upgrades a node", upgrades)
	this.is("GKE repairs a node", choose(c.Unrepaired, "never", "when it is not healthy"))
	this.all("own label of the nodes", labelTexts(c.OwnLabels))
	this.all("own taint of the nodes", taintTexts(c.OwnTaints))
	this.is("boot disk", diskText(c.DiskType, c.DiskSizeGiB), change...)
	this.is("local SSDs asked for", words.Count(c.LocalSSDs, "disk"))
	this.is("GPU driver", cmp.Or(c.GPUDriver, none))
	this.is("GPUDirect", cmp.Or(string(c.GPUDirect), none))
	addFlavor(this, c, false)
	if c.Retries > 0 {
		this.is("retries of a request for nodes", strconv.Itoa(c.Retries))
	}
	if pauses := c.Retry.Resolve(); c.Retry != (ir.RetryPauses{}) {
		this.is("pause before the first retry", words.Duration(pauses.First))
		this.is("longest pause before a retry", words.Duration(pauses.Longest))
	}
	if c.AdmissionCheck != "" && c.AdmissionCheck != ir.CheckPrefix+c.Name {
		this.is("admission check", c.AdmissionCheck)
	}

	quota := this
	quota.topic = TopicQuota
	quota.is("reason to guarantee more than there is", cmp.Or(excerptLine(c.Overcommit), none))
	total := this
	total.topic = TopicGuarantees
	for _, a := range c.Guaranteed {
		if a.Resource != c.CountedIn() {
			continue
		}
		total.has("guaranteed by all queues", fact{
			value: ir.PrintAmount(a.Resource, a.Quantity), alone: true, follows: []string{tagNominal(c.Name)},
			notes: func() []string { return []string{compareExisting(a.Quantity, s.queues.largestAmount(c))} },
		})
	}
	for _, r := range []string{ir.CPU, ir.Memory} {
		if q, ok := s.queues.ratios[[2]string{c.Name, r}]; ok {
			quota.has(r+" with each "+ir.Unit(c.CountedIn())+" of quota", fact{
				form: ratio, value: ir.PrintAmount(r, q),
				follows: []string{factPath(kindCapacity, c.Name, "machine")},
			})
		}
	}
}

// reservationNotes returns what an existing reservation must have before a capacity can use it.
func reservationNotes(c *ir.Capacity) []string {
	if c.Reservation == nil || c.Reservation.Create || c.Reservation.Name == "" {
		return nil
	}
	return []string{fmt.Sprintf(BeforeBuild+"reservation %q must have %s in %s", c.Reservation.Name,
		words.Count(c.MaxNodes, c.Machine.Type+" machine"), words.And(c.Zones))}
}

// capacitySize returns the number of nodes of a capacity, and of their accelerators,
// in words.
func capacitySize(c *ir.Capacity) string {
	upTo := func(least, most int, noun string) string {
		switch {
		case !c.Static:
			return fmt.Sprintf("%d-%s", least, words.Count(most, noun))
		case least != most:
			return fmt.Sprintf("%s, not %d", words.Count(most, noun), least)
		}
		return words.Count(most, noun)
	}
	nodes := upTo(c.MinNodes, c.MaxNodes, "node")
	if c.Slices > 0 || c.Sliced() {
		least := 0
		if c.Static {
			least = c.Slices
		}
		nodes = upTo(least, c.Slices, "TPU slice") + ", " + nodes
	}
	if c.HasAccelerators() {
		nodes += " (" + words.Count(c.MaxNodes*c.Machine.AcceleratorCount, ir.Unit(c.Machine.Resource)) + ")"
	}
	return nodes
}

// machineText returns a machine type with its accelerators.
func machineText(m ir.Machine) string {
	words := m.Type
	if m.Accelerator != "" {
		words += fmt.Sprintf(" with %d %s", m.AcceleratorCount, m.Accelerator)
	}
	if m.Slice != nil {
		words += " in slices of " + m.Slice.Topology
	}
	return words
}

// optionText returns a description of how a capacity's machines are obtained.
func optionText(c *ir.Capacity) string {
	parts := []string{c.Option.Facts().Summary}
	if r := c.Reservation; r != nil {
		parts[0] += " " + quoteName(r.Name)
		if r.Owner != "" {
			parts[0] += " of project " + r.Owner
		}
		if r.Block != "" {
			parts = append(parts, "block "+r.Block)
		}
		if r.SubBlock != "" {
			parts = append(parts, "sub-block "+r.SubBlock)
		}
		if r.Kind != "" && r.Kind != "standard" {
			parts = append(parts, r.Kind)
		}
		if r.Days != 0 {
			parts = append(parts, words.Count(r.Days, "day"))
		}
		if r.Create {
			parts = append(parts, "made by the platform")
		}
	}
	if c.Waiting {
		parts = append(parts, "not begun yet")
	}
	return strings.Join(parts, ", ")
}

func labelsText(all []ir.KeyValue) string { return strings.Join(labelTexts(all), ", ") }

// autoProvisioning adds the limits of node auto-provisioning.
func (s *sheet) autoProvisioning() {
	a := s.plan.AutoProvisioning
	if !a.Create {
		return
	}
	var words []string
	for _, l := range a.Limits {
		words = append(words, limitText(l.Type, l.Max))
	}
	this := s.newSubject(TopicLimits, kindAutoscaling, "")
	this.exists("at most " + strings.Join(words, ", "))
	for _, l := range a.Limits {
		this.is("most "+limitType(l.Type)+" in the cluster", limitText(l.Type, l.Max))
		this.is("fewest "+limitType(l.Type)+" in the cluster", limitText(l.Type, l.Min))
	}
}

func limitType(t string) string {
	if t == ir.CPU {
		return "vCPUs"
	}
	return t
}

func limitText(t string, n int) string {
	switch t {
	case ir.CPU:
		return words.Count(n, "vCPU")
	case ir.Memory:
		return fmt.Sprintf("%d GiB", n)
	}
	return fmt.Sprintf("%d %s", n, t)
}

// tally holds the amounts of each capacity that the queues of a plan are guaranteed.
type tally struct {
	capacities map[string]*ir.Capacity
	cohorts    map[[2]string]*resource.Quantity // by cohort and capacity, in the capacity's counted resource
	ratios     map[[2]string]resource.Quantity  // by capacity and resource: amount for each counted unit
}

// countedIn returns the resource in which a capacity is counted.
func (t tally) countedIn(capacity string) string {
	if c := t.capacities[capacity]; c != nil {
		return c.CountedIn()
	}
	return ir.CPU
}

func newTally(p *ir.Platform) tally {
	t := tally{p.NamedCapacities(), map[[2]string]*resource.Quantity{}, map[[2]string]resource.Quantity{}}
	for q := range p.ClusterQueues() {
		t.add(q)
	}
	for _, c := range p.Cohorts {
		t.add(&ir.Queue{Cohort: c.Name, Flavors: c.Flavors})
	}
	return t
}

func (t tally) add(q *ir.Queue) {
	for i := range q.Flavors {
		f := &q.Flavors[i]
		c := t.capacities[f.Flavor]
		if c == nil {
			continue
		}
		most := quotaOf(f, c.CountedIn())
		if most == nil {
			continue
		}
		k := [2]string{q.Cohort, f.Flavor}
		if t.cohorts[k] == nil {
			t.cohorts[k] = &resource.Quantity{}
		}
		t.cohorts[k].Add(most.Nominal)
		t.learnRatio(c, f, most)
	}
}

// learnRatio records how much of the other resources goes with each unit of the
// counted resource. The first queue that has some of them decides.
func (t tally) learnRatio(c *ir.Capacity, f *ir.FlavorQuota, most *ir.ResourceQuota) {
	for _, r := range []string{ir.CPU, ir.Memory} {
		k := [2]string{c.Name, r}
		other := quotaOf(f, r)
		if _, known := t.ratios[k]; known || other == nil || r == most.Resource {
			continue
		}
		switch {
		case !most.Nominal.IsZero():
			t.ratios[k] = divideQuantity(other.Nominal, most.Nominal.Value())
		case most.Borrowing != nil && other.Borrowing != nil && !most.Borrowing.IsZero():
			t.ratios[k] = divideQuantity(*other.Borrowing, most.Borrowing.Value())
		}
	}
}

func divideQuantity(q resource.Quantity, by int64) resource.Quantity {
	if q.Format == resource.BinarySI {
		return *resource.NewQuantity(q.Value()/max(by, 1), q.Format)
	}
	return *resource.NewMilliQuantity(q.MilliValue()/max(by, 1), q.Format)
}

// totalNote returns the note that compares the guarantees of all queues with the
// size of a capacity.
func (t tally) totalNote(c *ir.Capacity) []string {
	r := c.CountedIn()
	return []string{"all queues guarantee " + compareHeld(ir.AmountOf(c.Guaranteed, r), t.largestAmount(c), r)}
}

// largestAmount returns the largest amount that a capacity can have, in the resource
// in which it is counted.
func (t tally) largestAmount(c *ir.Capacity) resource.Quantity {
	q := ir.AmountOf(c.PerNode, c.CountedIn())
	q.Mul(int64(c.MaxNodes))
	return q
}

// cohortNotes returns the notes that compare the guarantees of a cohort's queues, and
// then of all queues, with the size of a capacity.
func (t tally) cohortNotes(cohort string, c *ir.Capacity) []string {
	total := t.totalNote(c)
	q := t.cohorts[[2]string{cohort, c.Name}]
	if cohort == "" || q == nil {
		return total
	}
	r := c.CountedIn()
	if all := ir.AmountOf(c.Guaranteed, r); q.Cmp(all) == 0 {
		return []string{"cohort " + cohort + " guarantees " + compareHeld(*q, t.largestAmount(c), r)}
	}
	return append([]string{"cohort " + cohort + " guarantees " + ir.PrintAmount(r, *q)}, total...)
}

// compareHeld returns text that compares a guaranteed amount with the existing amount.
func compareHeld(all, there resource.Quantity, r string) string {
	share := words.Decimal(all) + " of the " + ir.PrintAmount(r, there)
	if all.Cmp(there) > 0 {
		share += ", more than there are"
	}
	return share
}

// compareExisting returns text that compares an amount, which is printed before it,
// with the existing amount.
func compareExisting(all, there resource.Quantity) string {
	if all.Cmp(there) > 0 {
		return "more than the " + words.Decimal(there) + " there are"
	}
	return "of the " + words.Decimal(there) + " there are"
}

func quotaOf(f *ir.FlavorQuota, r string) *ir.ResourceQuota {
	for i := range f.Quotas {
		if f.Quotas[i].Resource == r {
			return &f.Quotas[i]
		}
	}
	return nil
}
