package fit

import (
	"math"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Jobs are the jobs that exist at a time of the demonstration. At first there are none.
type Jobs struct {
	platform *Platform
	exist    map[[2]string][]ir.Workload // all copies of a template for a team, by template and team
	copies   map[[2]string][]ir.Workload // the same of the plan
	// Submitters holds the teams that submit each template, sorted.
	Submitters map[string][]string
}

// NewJobs returns no jobs.
func (p *Platform) NewJobs() *Jobs {
	j := &Jobs{p, map[[2]string][]ir.Workload{}, map[[2]string][]ir.Workload{}, p.Submitters()}
	for _, w := range p.Workloads {
		key := [2]string{w.Template, w.Team}
		j.copies[key] = append(j.copies[key], w)
	}
	return j
}

// Submitters returns the teams that submit each template, sorted, by template.
func (p *Platform) Submitters() map[string][]string {
	out := map[string][]string{}
	for _, w := range p.Workloads { // by team
		if !slices.Contains(out[w.Template], w.Team) {
			out[w.Template] = append(out[w.Template], w.Team)
		}
	}
	return out
}

// Submit adds the jobs of a template for a team, and reports whether they already exist.
func (j *Jobs) Submit(template, team string) (exist bool) {
	key := [2]string{template, team}
	exist = j.exist[key] != nil
	j.exist[key] = j.copies[key]
	return exist
}

// Delete removes the jobs of a template for a team, and returns their number.
func (j *Jobs) Delete(template, team string) int {
	key := [2]string{template, team}
	deleted := len(j.exist[key])
	delete(j.exist, key)
	return deleted
}

// Count returns the number of jobs of a template for a team.
func (j *Jobs) Count(template, team string) int { return len(j.exist[[2]string{template, team}]) }

// InQueues returns the number of jobs by ClusterQueue.
func (j *Jobs) InQueues() map[string]int {
	out, queues := map[string]int{}, j.platform.LocalQueues()
	for _, copies := range j.exist {
		for _, w := range copies {
			out[queues[[2]string{w.Team, w.Queue}].ClusterQueue]++
		}
	}
	return out
}

// PodsOf returns the number of pods of a template's jobs, with their auxiliary pods.
func (j *Jobs) PodsOf(template string) int {
	pods := 0
	for key, copies := range j.exist {
		for _, w := range copies {
			if key[0] == template {
				pods += w.Pods + len(w.Auxiliaries)
			}
		}
	}
	return pods
}

// PodsOn returns the number of pods of the jobs that can run on a capacity, "" for any
// capacity.
func (j *Jobs) PodsOn(capacity string) int {
	pods := 0
	for _, copies := range j.exist {
		for _, w := range copies {
			if capacity == "" || slices.Contains(w.Capacities, capacity) {
				pods += w.Pods
			}
			for _, a := range w.Auxiliaries {
				if capacity == "" || a.Capacity == capacity {
					pods++
				}
			}
		}
	}
	return pods
}

// ShareNode reports whether a node of some capacity has room for a pod of each template
// at the same time. Templates whose jobs do not exist, or have auxiliary pods, count as
// nothing: it is not known which pod is meant.
func (j *Jobs) ShareNode(templates []string) bool {
	return slices.ContainsFunc(j.platform.Capacities, func(c ir.Capacity) bool {
		var taken []ir.Amount
		for _, name := range templates {
			known, runs := false, false
			for _, team := range j.Submitters[name] {
				copies := j.exist[[2]string{name, team}]
				if len(copies) == 0 || len(copies[0].Auxiliaries) > 0 {
					continue
				}
				known = true
				if w := copies[0]; slices.Contains(w.Capacities, c.Name) {
					if len(c.PerNode) > 0 && c.PodsPerNode(w.Requests, taken...) == 0 {
						return false
					}
					taken, runs = ir.SumAmounts(taken, w.Requests), true
					break
				}
			}
			if known && !runs {
				return false
			}
		}
		return true
	})
}

// RoomOn returns the number of pods of the jobs that the nodes of a capacity hold at most,
// if it has as many nodes as it and the limits of the cluster allow. It is an upper bound,
// and math.MaxInt if the capacity waits for its reservation or its machine is unknown.
func (j *Jobs) RoomOn(capacity string) int {
	c := j.platform.Named[capacity]
	if c.Waiting || len(c.PerNode) == 0 {
		return math.MaxInt
	}
	perNode := 0
	for _, copies := range j.exist {
		for _, w := range copies {
			if slices.Contains(w.Capacities, c.Name) {
				perNode = max(perNode, c.PodsPerNode(w.Requests))
			}
			for _, a := range w.Auxiliaries {
				if a.Capacity == c.Name {
					perNode = max(perNode, c.PodsPerNode(a.Requests))
				}
			}
		}
	}
	return perNode * j.platform.Limited([]Nodes{{Capacity: c, Most: c.MaxNodes}})[0].Most
}
