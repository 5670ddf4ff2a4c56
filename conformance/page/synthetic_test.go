package page

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// The platform of the invented histories.
const (
	teams      = 10
	jobWidth   = 4  // accelerators of a job
	queueQuota = 36 // accelerators of a queue on each capacity
	day        = 24 * 3600
)

var (
	capacities = []string{"reserved", "spot"}
	tiers      = []string{"hp", "lp"}
)

// inventPlatform returns a platform with two capacities, and ten teams of two tiers. The
// name of a team would be HTML if the page did not escape it.
func inventPlatform() *ir.Platform {
	p := &ir.Platform{Name: "invented", Rehearsals: []ir.Rehearsal{{
		Name: "invented", Shows: "Ten teams train and try.", Expect: []ir.RehearsalExpectation{
			{Tier: "hp", StartsWithin: 3 * 3600, Percentile: 90}, {Index: 1, Evictions: new(int)},
		},
	}}}
	for _, c := range capacities {
		p.Capacities = append(p.Capacities, ir.Capacity{Name: c, Machine: ir.Machine{Resource: ir.GPU}})
	}
	for i := range teams {
		team := ir.Team{Name: fmt.Sprintf("team-%d", i), Namespace: fmt.Sprintf("team-%d", i)}
		if i == 0 {
			team.Name = `<img src="http://example.invalid/x" onerror="console.error(1)">`
		}
		for _, tier := range tiers {
			queue := ir.Queue{Tier: tier, ClusterQueue: fmt.Sprintf("cq-%d-%s", i, tier)}
			for _, c := range capacities {
				queue.Flavors = append(queue.Flavors, ir.FlavorQuota{Flavor: c, Quotas: []ir.ResourceQuota{
					{Resource: ir.GPU, Nominal: *resource.NewQuantity(queueQuota, resource.DecimalSI)},
				}})
			}
			team.Queues = append(team.Queues, queue)
		}
		p.Teams = append(p.Teams, team)
	}
	return p
}

// invent returns a rehearsal with a number of jobs of which one in ten is evicted once.
func invent(p *ir.Platform, jobs int, until int64) (*rehearsal.Scenario, *rehearsal.History) {
	kueue := rehearsal.Scheduler{Name: ir.Kueue, Version: "0.19.2"}
	s := &rehearsal.Scenario{Name: "invented", Scheduler: kueue, Until: until}
	h := &rehearsal.History{Scheduler: kueue, End: until}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			s.Templates = append(s.Templates, rehearsal.Template{
				Name: "train", Team: t.Name, Tier: q.Tier, Accelerators: jobWidth,
				PodAccelerators: map[string]int{"main": jobWidth},
			})
		}
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range jobs {
		template := chance.IntN(len(s.Templates))
		at := int64(i) * until / int64(jobs)
		wait, length := chance.Int64N(2*3600), 600+int64(chance.ExpFloat64()*8*3600)
		s.Jobs = append(s.Jobs, rehearsal.Job{
			Name: fmt.Sprintf("train-%d", i+1), Template: template, At: at, Runs: length,
		})
		h.Jobs = append(h.Jobs, play(s, template, at+wait, length, chance))
	}
	for _, c := range capacities {
		s.Pools = append(s.Pools, rehearsal.Pool{Name: c, Max: 500, PerNode: map[string]string{ir.GPU: "8"}})
		use := rehearsal.PoolUse{Name: c}
		for at := int64(0); at < until; at += until / 500 {
			use.Nodes = append(use.Nodes, rehearsal.Count{At: at, N: chance.IntN(500)})
		}
		h.Pools = append(h.Pools, use)
	}
	return s, h
}

// play returns the history of a job that gets quota at some time.
func play(s *rehearsal.Scenario, template int, at, length int64, chance *rand.Rand) rehearsal.JobHistory {
	t := s.Templates[template]
	j := rehearsal.JobHistory{
		ClusterQueue: fmt.Sprintf("cq-%d-%s", template/len(tiers), t.Tier), Outcome: rehearsal.Waiting,
	}
	flavors := []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: capacities[chance.IntN(2)], Pods: 1}}
	run := func(to int64) *rehearsal.Run {
		j.Runs = append(j.Runs, rehearsal.Run{Reserved: at, Ran: true, Started: at + 180, Ended: to, Flavors: flavors})
		return &j.Runs[len(j.Runs)-1]
	}
	if chance.IntN(10) == 0 && at+length/2 < s.Until && length > 600 {
		r := run(at + length/2)
		r.Evicted, r.By = "Preempted", fmt.Sprintf("team-%d/%s", template/len(tiers), s.Jobs[len(s.Jobs)-1].Name)
		r.Message = "Preempted to accommodate a workload (UID: 1) due to reclamation within the cohort; x"
		at = r.Ended + 3600
	}
	switch {
	case at >= s.Until:
		return j
	case at+length >= s.Until:
		j.Outcome = rehearsal.Running
		run(0)
	default:
		j.Outcome, j.End = rehearsal.Finished, at+length
		run(j.End)
	}
	return j
}
