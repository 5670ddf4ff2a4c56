package runner

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/batchwright/batchwright/rehearse/world"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
)

// part is a part of a scenario that shares neither quota nor nodes nor limits of the cluster
// with the others, so that each part can be played by itself.
type part struct {
	*rehearsal.Scenario                  // of the part: its own templates, jobs, pools and holds
	clusters            []*world.Cluster // one for each root of cohorts
	changes             []*world.Cluster // what each of the scenario's Changes makes of the only cluster
	queues              []string         // ClusterQueues of the templates
	numbers             []int            // of the jobs in the whole scenario, which has total jobs
	total               int
}

// readChanges returns what each change of a scenario makes of the cluster. The error is for
// the user.
func readChanges(s *rehearsal.Scenario, cluster *world.Cluster) ([]*world.Cluster, error) {
	if len(s.Changes) > 0 && len(s.Holds) > 0 {
		return nil, errors.New("a rehearsal with changes cannot stop ClusterQueues")
	}
	var out []*world.Cluster
	for _, change := range s.Changes {
		to, err := world.ReadCluster(change.Objects)
		if err != nil {
			return nil, fmt.Errorf("change after %d seconds: %w", change.At, err)
		}
		if !reflect.DeepEqual(cluster.Configuration, to.Configuration) {
			return nil, fmt.Errorf("change after %d seconds: a rehearsal cannot play another configuration of Kueue",
				change.At)
		}
		out = append(out, to)
	}
	return out, nil
}

// split splits a scenario into parts, in the order of their first ClusterQueue. A scenario
// with changes is one part, because a change can join what was apart. The error is for the
// user.
func split(s *rehearsal.Scenario, cluster *world.Cluster, changes []*world.Cluster) ([]*part, error) {
	if len(changes) > 0 {
		p := &part{
			Scenario: s, clusters: []*world.Cluster{cluster}, changes: changes,
			queues: make([]string, len(s.Templates)), total: len(s.Jobs),
		}
		for i := range s.Jobs {
			p.numbers = append(p.numbers, i)
		}
		return []*part{p}, checkJobs(s)
	}
	roots, err := cluster.Split()
	if err != nil {
		return nil, err
	}
	parts := joinByPools(s, roots)
	byQueue := map[string]*part{} // by ClusterQueue
	for _, p := range parts {
		for _, c := range p.clusters {
			for _, q := range c.ClusterQueues {
				byQueue[q.Name] = p
			}
		}
	}
	if err := splitJobs(s, cluster, byQueue); err != nil {
		return nil, err
	}
	for _, hold := range s.Holds {
		queues := map[*part][]string{}
		for _, queue := range hold.ClusterQueues {
			p := byQueue[queue]
			if p == nil {
				return nil, fmt.Errorf("there is no ClusterQueue %q to hold", queue)
			}
			queues[p] = append(queues[p], queue)
		}
		for p, names := range queues {
			hold.ClusterQueues = names
			p.Holds = append(p.Holds, hold)
		}
	}
	return parts, nil
}

// joinByPools returns a part for the clusters that share pools of nodes: with limits on the
// nodes of all pools together, all clusters. Pools that no flavor names belong to the first
// part.
func joinByPools(s *rehearsal.Scenario, roots []*world.Cluster) []*part {
	var parts []*part
	byPool := map[string]*part{}
	for _, root := range roots {
		p := &part{Scenario: &rehearsal.Scenario{
			Name: s.Name, Scheduler: s.Scheduler, Until: s.Until, Limits: s.Limits, Looks: s.Looks,
			ReversedTies: s.ReversedTies,
		}, clusters: []*world.Cluster{root}, total: len(s.Jobs)}
		names := poolNames(s, root)
		parts = slices.DeleteFunc(parts, func(other *part) bool {
			has := func(pool string) bool { return byPool[pool] == other }
			if len(s.Limits) == 0 && !slices.ContainsFunc(names, has) {
				return false
			}
			p.clusters = slices.Concat(other.clusters, p.clusters)
			return true
		})
		parts = append(parts, p)
		for _, c := range p.clusters {
			for _, name := range poolNames(s, c) {
				byPool[name] = p
			}
		}
	}
	for _, pool := range s.Pools {
		p := byPool[pool.Name]
		if p == nil {
			p = parts[0]
		}
		p.Pools = append(p.Pools, pool)
	}
	return parts
}

// poolNames returns the names of the pools that are flavors of a cluster's queues.
func poolNames(s *rehearsal.Scenario, c *world.Cluster) []string {
	names := map[string]bool{}
	for _, q := range c.ClusterQueues {
		for _, group := range q.Spec.ResourceGroups {
			for _, f := range group.Flavors {
				names[string(f.Name)] = true
			}
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool {
		return !slices.ContainsFunc(s.Pools, func(p rehearsal.Pool) bool { return p.Name == name })
	})
	return slices.Collect(maps.Keys(names))
}

// splitJobs gives each part its templates and jobs.
func splitJobs(s *rehearsal.Scenario, cluster *world.Cluster, byQueue map[string]*part) error {
	localQueues := map[types.NamespacedName]string{}
	for _, q := range cluster.LocalQueues {
		localQueues[client.ObjectKeyFromObject(q)] = string(q.Spec.ClusterQueue)
	}
	type place struct {
		part   *part
		number int
	}
	places := make([]place, len(s.Templates))
	for i, t := range s.Templates {
		queue, err := queueOf(t, localQueues)
		if err != nil {
			return fmt.Errorf("workload %s of team %s: %w", t.Name, t.Team, err)
		}
		p := byQueue[queue]
		if p == nil {
			return fmt.Errorf("workload %s of team %s: there is no ClusterQueue %q", t.Name, t.Team, queue)
		}
		places[i] = place{p, len(p.Templates)}
		p.Templates, p.queues = append(p.Templates, t), append(p.queues, queue)
	}
	if err := checkJobs(s); err != nil {
		return err
	}
	for i, j := range s.Jobs {
		to := places[j.Template]
		j.Template = to.number
		to.part.Jobs, to.part.numbers = append(to.part.Jobs, j), append(to.part.numbers, i)
	}
	return nil
}

// checkJobs returns an error if a job does not fit its template.
func checkJobs(s *rehearsal.Scenario) error {
	for _, j := range s.Jobs {
		if j.Template < 0 || j.Template >= len(s.Templates) {
			return fmt.Errorf("job %s: there is no template %d", j.Name, j.Template)
		}
		if n := s.Templates[j.Template].Pods; len(j.PodRuns) > 0 && len(j.PodRuns) != n {
			return fmt.Errorf("job %s: it has %d pods, and run times for %d of them", j.Name, n, len(j.PodRuns))
		}
	}
	return nil
}

// queueOf returns the ClusterQueue of a template: that of the LocalQueue in its label.
func queueOf(t rehearsal.Template, localQueues map[types.NamespacedName]string) (string, error) {
	generic, err := world.ReadJob(t.Object)
	if err != nil {
		return "", err
	}
	key := types.NamespacedName{
		Namespace: generic.Object().GetNamespace(), Name: string(jobframework.QueueName(generic)),
	}
	queue, ok := localQueues[key]
	if !ok {
		return "", fmt.Errorf("namespace %s has no LocalQueue %q", key.Namespace, key.Name)
	}
	return queue, nil
}

// merge returns the history of the whole scenario. Each part must have been played.
func merge(s *rehearsal.Scenario, cluster *world.Cluster, plays []*play) *rehearsal.History {
	h := &rehearsal.History{
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: Kueue},
		Jobs:      make([]rehearsal.JobHistory, len(s.Jobs)), Pools: []rehearsal.PoolUse{},
	}
	for _, p := range plays {
		h.End = max(h.End, min(p.agenda.Now, s.Until))
		h.Interrupted = h.Interrupted || p.interrupted
	}
	end := stage.ClosedAt(s, h)
	uses := map[string]rehearsal.PoolUse{}
	for _, p := range plays {
		for _, j := range p.jobs {
			h.Jobs[j.Number] = p.jobHistory(j, end)
		}
		for _, pool := range p.order {
			uses[pool.Name] = pool.Use()
		}
	}
	for _, pool := range s.Pools {
		h.Pools = append(h.Pools, uses[pool.Name])
	}
	for i := range looks(plays) {
		h.States = append(h.States, mergeStates(cluster, plays, i))
	}
	return h
}

// looks returns how often all parts have looked at their state.
func looks(plays []*play) int {
	n := len(plays[0].states)
	for _, p := range plays {
		n = min(n, len(p.states))
	}
	return n
}

// mergeStates returns what all parts saw at one look.
func mergeStates(cluster *world.Cluster, plays []*play, look int) rehearsal.State {
	if len(plays[0].part.changes) > 0 { // the only part, with the queues of the moment
		return plays[0].states[look]
	}
	state := rehearsal.State{At: plays[0].states[look].At, Pods: map[string]int{}}
	queues := map[string]rehearsal.QueueState{}
	for _, p := range plays {
		for _, q := range p.states[look].Queues {
			queues[q.ClusterQueue] = q
		}
		maps.Copy(state.Pods, p.states[look].Pods)
		state.Pending += p.states[look].Pending
	}
	for _, q := range cluster.ClusterQueues {
		state.Queues = append(state.Queues, queues[q.Name])
	}
	return state
}
