package monitoring

import "github.com/batchwright/batchwright/compiler/ir"

// Variable is a choice that the reader of a board makes. It restricts queries to the
// series in which a label has the chosen value.
type Variable struct {
	Name  string // in queries
	Label string // label of the series
	Title string // as the reader sees it
	// Chosen are the values that are selected when the board opens. It has more than
	// one value only if Many is set.
	Chosen []string
	Many   bool // the reader can select several values
	// Without is a value that the reader cannot select, or "". It has no special
	// characters.
	Without string
	// OfTarget reports whether the label belongs to the scrape target, and not to
	// the metric.
	OfTarget bool
	// Follows is the name of the variable whose value this variable always has, or
	// "". A format in which one variable can match several labels needs only the
	// variable that is followed.
	Follows string

	series string // selector of the series whose label has the values, with placeholders
}

// Values returns a selector of the series whose label has the values to choose from.
// It returns "" if no metric has them, and the reader must type the value.
func (v Variable) Values(n Notation) string { return n.fill(v.series) }

// The variables of all boards.
var (
	clusterVariable = Variable{Name: "cluster", Label: "cluster", Title: "Cluster", OfTarget: true}
	// Cloud Monitoring's own metrics spell the label differently.
	systemClusterVariable = Variable{
		Name: "cluster_name", Label: "cluster_name", OfTarget: true, Follows: clusterVariable.Name,
	}
	// Memory has another unit, and panels of its own.
	resourceVariable = Variable{Name: "resource", Label: "resource", Title: "Resource", Many: true, Without: "memory"}
	// The queue of KAI Scheduler. No metric of KAI Scheduler has both the queue and
	// the namespace of a team.
	queueVariable = Variable{Name: "queue", Label: "queue_name", Title: "Queue"}
	// The label is the metric's own namespace. The namespace of the scrape target is
	// the scheduler's.
	teamVariable = Variable{Name: "team", Label: "exported_namespace", Title: "Team"}
	// The team's ClusterQueues, on a platform whose queries cannot find them.
	clusterQueueVariable = Variable{
		Name: "cluster_queue", Label: "cluster_queue", Title: "ClusterQueue", Many: true,
	}
)

// choosing returns the variable with the series that have its values, and with the
// values that are selected when the board opens.
func (v Variable) choosing(series string, chosen ...string) Variable {
	v.series, v.Chosen = series, chosen
	return v
}

// clusterVariables returns the two variables of the cluster. The label of the given
// series has its values.
func clusterVariables(p *ir.Platform, series string) []Variable {
	return []Variable{
		clusterVariable.choosing(series, p.Cluster.Name), systemClusterVariable.choosing("", p.Cluster.Name),
	}
}

// kueueAdminVariables returns the variables of every board for Kueue.
func kueueAdminVariables(p *ir.Platform) []Variable {
	return append(clusterVariables(p, `kueue_cluster_queue_status`),
		resourceVariable.choosing(`kueue_cluster_queue_nominal_quota{@scraped}`, p.CountedResources()...))
}

// kueueTeamVariables returns the further variables of a team's board for Kueue: the
// team's namespace, from which its queues are found, and its ClusterQueues if they are not.
func kueueTeamVariables(p *ir.Platform) []Variable {
	out := []Variable{teamVariable.choosing(`kueue_local_queue_status{@scraped}`, firstTeam(p))}
	if len(namedQueues(p)) > mostNamed {
		out = append(out,
			clusterQueueVariable.choosing(`kueue_cluster_queue_status{@scraped}`, firstClusterQueues(p)...))
	}
	return out
}

// kaiAdminVariables returns the variables of every board for KAI Scheduler.
func kaiAdminVariables(p *ir.Platform) []Variable { return clusterVariables(p, `kai_queue_info`) }

// kaiTeamVariables returns the further variables of a team's board for KAI Scheduler:
// the team's queue and its namespace.
func kaiTeamVariables(p *ir.Platform) []Variable {
	namespace := teamVariable.choosing("", firstTeam(p))
	namespace.Title = "Namespace"
	return []Variable{queueVariable.choosing(`kai_queue_info{@scraped}`, firstQueue(p)), namespace}
}

// firstTeam returns the namespace that a team's board shows when it is opened, or ""
// for a platform without teams.
func firstTeam(p *ir.Platform) string {
	if len(p.Teams) == 0 {
		return ""
	}
	return p.Teams[0].Namespace
}

// firstQueue returns the queue of KAI Scheduler that a team's board shows when it is
// opened, or "" for a platform without queues.
func firstQueue(p *ir.Platform) string {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			return q.LocalQueue
		}
	}
	return ""
}

// firstClusterQueues returns the ClusterQueues of the first team that has some.
func firstClusterQueues(p *ir.Platform) []string {
	var names []string
	for i := 0; i < len(p.Teams) && names == nil; i++ {
		for _, q := range p.Teams[i].Queues {
			names = append(names, q.ClusterQueue)
		}
	}
	return names
}
