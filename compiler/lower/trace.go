package lower

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/trace"
	"github.com/batchwright/batchwright/schema"
)

// jobName returns the name of the jobs that only an arrival has. No workload of the
// blueprint has it.
func jobName(kind string, arrival int, b *schema.Blueprint) string {
	name := kind + "-" + strconv.Itoa(arrival+1)
	for _, taken := b.Workloads[name]; taken; _, taken = b.Workloads[name] {
		name = kind + "-" + name
	}
	return name
}

// lowerJob adds a job that only a rehearsal has to its workloads, for each team with quota
// in the job's tier. It returns these teams, sorted.
func lowerJob(b *schema.Blueprint, p *ir.Platform, r *ir.Rehearsal, arrival int, in schema.RehearsalJob) []string {
	shape := jobShape{
		pods: in.Pods, accelerators: in.PerPod.Accelerators,
	}
	if in.PerPod.CPU != nil {
		cpu := vcpuAmount(*in.PerPod.CPU)
		shape.milliCPU = cpu.MilliValue()
	}
	if in.PerPod.Memory != nil {
		memory := resource.MustParse(*in.PerPod.Memory)
		shape.memory = memory.Value()
	}
	var teams []string
	for i := range p.Teams {
		shape.team, shape.tier = p.Teams[i].Name, in.Tier
		if w, ok := shapedWorkload(p, jobName("job", arrival, b), shape, in.Capacity); ok {
			r.Workloads = append(r.Workloads, w)
			teams = append(teams, shape.team)
		}
	}
	slices.Sort(teams)
	return teams
}

// idleImage stands for the image of jobs that no cluster runs.
const idleImage = "none"

// jobShape holds the properties in which jobs of a rehearsal can differ. Each pod requests
// the amounts.
type jobShape struct {
	team, tier       string
	pods             int
	accelerators     int
	milliCPU, memory int64
}

// shapedWorkload returns the workload of a shape. It reports false if the team does not
// exist or has no quota in the tier. named are the capacities that the blueprint names.
func shapedWorkload(p *ir.Platform, name string, s jobShape, named []string) (ir.Workload, bool) {
	team, queue := queueOf(p, s.team, s.tier)
	if queue == nil {
		return ir.Workload{}, false
	}
	in := schema.Workload{
		Tier: s.tier, Capacity: named, Kind: kinds.Job, Copies: 1, Pods: &s.pods, Slices: 1, Image: idleImage,
		PerPod: schema.PerPod{
			Accelerators: s.accelerators, CPU: float64(s.milliCPU) / 1000,
			Memory: resource.NewQuantity(s.memory, resource.BinarySI).String(),
		},
	}
	all := queueCapacities(queue, p.NamedCapacities())
	on := usableCapacities(p, in, all)
	for _, c := range on {
		if c.Sliced() {
			in.Kind, in.Slices = kinds.Composite().Name, max(1, s.pods/c.Machine.Slice.Hosts)
		}
	}
	w := lowerWorkload(p, in, name, team, queue, on)
	w.Name, w.NodeSelector = name, nodeSelector(p, on, all)
	w.Requests = slices.DeleteFunc(w.Requests, func(a ir.Amount) bool { return a.Quantity.IsZero() })
	return w, true
}

// queueOf returns a team and its queue in a tier. The queue is nil if there is none.
func queueOf(p *ir.Platform, team, tier string) (*ir.Team, *ir.Queue) {
	for i := range p.Teams {
		if p.Teams[i].Name != team {
			continue
		}
		for q := range p.Teams[i].Queues {
			if p.Teams[i].Queues[q].Tier == tier {
				return &p.Teams[i], &p.Teams[i].Queues[q]
			}
		}
	}
	return nil, nil
}

// lowerTrace resolves an arrival of the jobs of a trace, and adds the kinds of these jobs
// to the workloads of the rehearsal. Jobs before the start of the trace, jobs of teams that
// the arrival does not name, and jobs after the end of the rehearsal are omitted.
func lowerTrace(b *schema.Blueprint, p *ir.Platform, r *ir.Rehearsal, index int, in schema.Arrival) ir.Arrival {
	out := ir.Arrival{Index: index, Teams: sortedUnique(in.Teams), Checkpoint: optionalSeconds(in.CheckpointEvery)}
	text := trace.Read(*in.Trace)
	t := tracer{
		platform: p, rehearsal: r, name: jobName("trace", index, b), tier: traceTier(b, *in.Trace),
		shapes: map[jobShape]int{}, most: map[[2]string]int{},
	}
	teams := out.Teams
	if teams == nil && !text.Has[trace.Team] {
		teams = slices.Sorted(maps.Keys(b.Teams))
	}
	start := traceStart(*in.Trace, text)
	for _, row := range text.Jobs {
		at := schema.Seconds(in.At) + row.Submitted - start
		if row.Submitted < start || at >= r.Until {
			continue
		}
		owners := teams
		if text.Has[trace.Team] {
			owner := rename(in.Trace.Teams, row.Team)
			if teams != nil && !slices.Contains(teams, owner) {
				continue
			}
			owners = []string{owner}
		}
		tier := t.tier
		if row.Tier != "" {
			tier = rename(in.Trace.Tiers, row.Tier)
		}
		for _, team := range owners {
			out.Trace = append(out.Trace, ir.TracedJob{
				Line: row.Span.Line, Team: team, Tier: tier, Workload: t.workloadOf(team, tier, row),
				At: at, Runs: row.Seconds,
			})
		}
	}
	return out
}

// traceStart returns the time of submission at which a trace starts, in the unit of the
// text.
func traceStart(in schema.Trace, text trace.Text) int64 {
	if from := valueOr(in.From, ""); from != "" {
		if at, err := time.Parse(time.RFC3339, from); err == nil {
			return at.Unix()
		}
		return schema.Seconds(from)
	}
	if text.Dated && len(text.Jobs) > 0 {
		return text.Jobs[0].Submitted
	}
	return 0
}

// traceTier returns the tier of the jobs whose tier the text does not say.
func traceTier(b *schema.Blueprint, in schema.Trace) string {
	if in.Tier != nil {
		return *in.Tier
	}
	for name, tier := range byName(b.Tiers) {
		if tier.Default || len(b.Tiers) == 1 {
			return name
		}
	}
	return ""
}

// rename returns the platform's name for a name of a text.
func rename(names map[string]string, name string) string {
	if renamed, ok := names[name]; ok {
		return renamed
	}
	return name
}

// tracer finds the workloads of the jobs of one trace.
type tracer struct {
	platform  *ir.Platform
	rehearsal *ir.Rehearsal
	name      string // of the workloads
	tier      string // of jobs whose tier the text does not say
	shapes    map[jobShape]int
	most      map[[2]string]int // accelerators of the largest node, by team and tier
}

// workloadOf returns the index of a job's workload in the rehearsal, as ir.TracedJob
// defines it. It adds workloads that are new.
func (t *tracer) workloadOf(team, tier string, row trace.Job) int {
	pods := row.Pods
	if pods == 0 {
		pods = t.fewestPods(team, tier, row.Accelerators)
	}
	s := jobShape{
		team: team, tier: tier, pods: pods, accelerators: row.Accelerators / pods,
		milliCPU: row.MilliCPU / int64(pods), memory: row.Memory / int64(pods),
	}
	if row.Accelerators%pods != 0 {
		return -1
	}
	i, known := t.shapes[s]
	if !known {
		i = -1
		if w, ok := shapedWorkload(t.platform, t.name, s, nil); ok {
			i = len(t.rehearsal.Workloads)
			t.rehearsal.Workloads = append(t.rehearsal.Workloads, w)
		}
		t.shapes[s] = i
	}
	return i
}

// fewestPods returns the smallest number of pods among which accelerators can be divided
// evenly, so that each pod fits on a node of the queue.
func (t *tracer) fewestPods(team, tier string, accelerators int) int {
	key := [2]string{team, tier}
	most, known := t.most[key]
	if !known {
		most = 1
		if _, queue := queueOf(t.platform, team, tier); queue != nil {
			for _, c := range t.platform.AllCapacities() {
				if slices.ContainsFunc(queue.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == c.Name }) {
					most = max(most, c.Machine.AcceleratorCount)
				}
			}
		}
		t.most[key] = most
	}
	pods := max(1, (accelerators+most-1)/most)
	for accelerators%pods != 0 {
		pods++
	}
	return pods
}
