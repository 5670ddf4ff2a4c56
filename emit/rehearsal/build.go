package rehearsal

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Unplayable is the reason why a platform, or its demonstration, cannot be rehearsed: a
// text for the user. It is neither a mistake in the blueprint nor a bug.
type Unplayable string

// Error returns the reason.
func (u Unplayable) Error() string { return string(u) }

// OfDemonstration returns the scenario that performs the phases of the platform's
// demonstration, in their order. tree is the platform's deploy folder, as package folder
// builds it. Look i of the scenario is at the last second of phase i, and the rehearsal
// ends with the last phase.
//
// The error is an Unplayable if the platform has no demonstration, if a phase cordons
// nodes, or if the platform uses something that the engine does not know. Every other
// error is a bug: the tree is not that of the plan.
func OfDemonstration(p *ir.Platform, tree emit.Tree) (*Scenario, error) {
	if err := checkPlatform(p); err != nil {
		return nil, err
	}
	if err := checkPhases(p); err != nil {
		return nil, err
	}
	s, err := ofPlatform(p, tree)
	if err != nil {
		return nil, err
	}
	s.Name = ir.DemonstrationRehearsal
	performPhases(p, s)
	return s, nil
}

// ofPlatform returns a scenario of the platform in which nobody submits a job. It has
// neither a name nor an end.
func ofPlatform(p *ir.Platform, tree emit.Tree) (*Scenario, error) {
	objects, err := Objects(p, tree)
	if err != nil {
		return nil, err
	}
	templates, err := templatesOf(p, tree)
	if err != nil {
		return nil, err
	}
	version := ir.Choose(p.Scheduler, p.KueueVersion(), p.Versions.KAI)
	s := &Scenario{
		Scheduler: Scheduler{p.Scheduler, version}, Objects: objects, Templates: templates, Jobs: []Job{},
		Pools: poolsOf(p),
	}
	limitNodes(p, s)
	return s, nil
}

// checkPlatform returns an Unplayable if the engine cannot play the platform, whatever
// happens on it.
func checkPlatform(p *ir.Platform) error {
	for _, c := range p.AllCapacities() {
		if c.Existing() && (!c.KnowsNodes() || c.MaxNodes == 0) {
			return Unplayable("capacity " + c.Name + " has nodes of others: write their hardware, and their number " +
				"in nodes or maxNodes, so that a rehearsal can count what they hold")
		}
		if len(c.PerNode) == 0 {
			return Unplayable("capacity " + c.Name + ": batchwright does not know the machine type " + c.Machine.Type +
				", so a rehearsal cannot count the pods that a node holds")
		}
	}
	return ir.Choose(p.Scheduler, checkKueue, checkKAI)(p)
}

// checkKueue returns an Unplayable if Kueue chooses the nodes of pods itself, which the engine does
// not play.
func checkKueue(p *ir.Platform) error {
	for _, c := range p.AllCapacities() {
		if c.Flavor.Topology != "" {
			return Unplayable("capacity " + c.Name + " has topology " + c.Flavor.Topology +
				": a rehearsal does not play on which nodes Kueue places pods")
		}
	}
	return nil
}

// checkKAI returns an Unplayable if a workload is not a Job. The release of KAI Scheduler that
// the engine contains groups the pods of other kinds in another way than the release that the
// platform installs.
func checkKAI(p *ir.Platform) error {
	for _, w := range p.Workloads {
		if !w.Kind.Facts().RehearsedByKAI {
			return Unplayable("workload " + w.Template + " is a " + string(w.Kind) + "; with " +
				p.Scheduler.Facts().Name + " only Jobs can be rehearsed")
		}
	}
	return nil
}

// templatesOf returns the templates of the platform: one for each workload of each team,
// in the order of the plan. The object of a template is that of the team's first copy.
func templatesOf(p *ir.Platform, tree emit.Tree) ([]Template, error) {
	files := make(map[string][]byte, len(tree))
	for _, f := range tree {
		files[f.Path] = f.Content
	}
	out := []Template{}
	for _, w := range p.Workloads {
		if templateOf(out, w) >= 0 {
			continue
		}
		object, err := manifestOf(files, w)
		if err != nil {
			return nil, err
		}
		template, err := templateFrom(p, w, object)
		if err != nil {
			return nil, err
		}
		out = append(out, template)
	}
	return out, nil
}

// templateFrom returns the template of a workload with its job.
func templateFrom(p *ir.Platform, w ir.Workload, object json.RawMessage) (Template, error) {
	tier, err := tierOf(p, w)
	return Template{
		Name: w.Template, Team: w.Team, Tier: tier, Namespace: w.Namespace, Pods: w.Pods,
		Accelerators: totalOf(w, requestedAccelerators), MilliCPU: totalOf(w, requestedMilliCPU),
		PodAccelerators: byPodSet(w, requestedAccelerators), PodMilliCPU: byPodSet(w, requestedMilliCPU),
		Capacities: w.Capacities, Object: object,
	}, err
}

// byPodSet returns an amount of the requests of a pod of a workload, by pod set. A pod set
// that requests nothing is omitted. Kueue names the only pod set of a Job "main", and those
// of a composite job as its replicated jobs. The engine of KAI Scheduler uses the same names.
func byPodSet(w ir.Workload, requested func([]ir.Amount) int) map[string]int {
	out := map[string]int{"main": requested(w.Requests)}
	if w.Kind.Facts().Composite {
		out = map[string]int{w.ReplicatedJob(): requested(w.Requests)}
	}
	for _, a := range w.Auxiliaries {
		out[a.Name] = requested(a.Requests)
	}
	maps.DeleteFunc(out, func(_ string, amount int) bool { return amount == 0 })
	return out
}

// templateOf returns the index of the template of a workload, or -1.
func templateOf(templates []Template, w ir.Workload) int {
	return slices.IndexFunc(templates, func(t Template) bool { return t.Name == w.Template && t.Team == w.Team })
}

// totalOf returns an amount of the requests of all pods of a workload together.
func totalOf(w ir.Workload, requested func([]ir.Amount) int) int {
	total := w.Pods * requested(w.Requests)
	for _, a := range w.Auxiliaries {
		total += requested(a.Requests)
	}
	return total
}

// requestedAccelerators returns the number of GPUs or TPU chips that a pod requests.
func requestedAccelerators(requests []ir.Amount) int {
	gpus, chips := ir.AmountOf(requests, ir.GPU), ir.AmountOf(requests, ir.TPU)
	return int(gpus.Value() + chips.Value())
}

// requestedMilliCPU returns the thousandths of vCPUs that a pod requests.
func requestedMilliCPU(requests []ir.Amount) int {
	cpu := ir.AmountOf(requests, ir.CPU)
	return int(cpu.MilliValue())
}

// manifestOf returns the job of a workload. Its file can also have a Service or
// a claim, which the engine does not need.
func manifestOf(files map[string][]byte, w ir.Workload) (json.RawMessage, error) {
	name := path.Join("workloads", w.Team, w.Name+".yaml")
	objects, err := decodeDocuments(name, files[name])
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.Kind == string(w.Kind) && o.Metadata.Name == w.Name {
			return o.text, nil
		}
	}
	return nil, fmt.Errorf("rehearsal: %s has no %s %s", name, w.Kind, w.Name)
}

// tierOf returns the tier of the queue of a workload. The error is an Unplayable: the
// workload belongs to another platform.
func tierOf(p *ir.Platform, w ir.Workload) (string, error) {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			if t.Name == w.Team && q.LocalQueue == w.Queue {
				return q.Tier, nil
			}
		}
	}
	return "", Unplayable(fmt.Sprintf("team %s has no queue %s", w.Team, w.Queue))
}
