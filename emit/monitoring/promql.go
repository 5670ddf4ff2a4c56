package monitoring

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Notation is the way in which a format writes the variables of a board in PromQL.
type Notation struct {
	// Matcher returns the matcher of a variable's label, or "" for a variable that
	// the format does not have.
	Matcher func(Variable) string
	// Value returns the value of a variable.
	Value func(Variable) string
	// Window is the time between two points of a chart.
	Window string
}

// Matchers of series, for alerts and panels.
const (
	// matchLeader excludes the replicas of Kueue that wait for leadership: they
	// export the gauges too, and every figure would double.
	matchLeader = `replica_role!="follower"`
	// matchKueueJob matches Kueue's controller. The label job has the
	// PodMonitoring's name on Managed Prometheus, and the Service's name if a
	// ServiceMonitor scrapes.
	matchKueueJob = `job=~"kueue|kueue-controller-manager-metrics-service"`
	// matchSteadyGPU matches the GPUs for which HasSteadyGPUs is true, by the name
	// that the driver gives them.
	matchSteadyGPU = `modelName=~"NVIDIA (A100|H100|H200).*"`
)

// Expressions that an alert and a panel share.
const (
	// throttledGPUs selects the busy GPUs below 1 GHz.
	throttledGPUs = `(DCGM_FI_PROF_GR_ENGINE_ACTIVE{@steady,@scraped} > 0.5) and ` +
		`(DCGM_FI_DEV_SM_CLOCK{@steady,@scraped} < 1000)`
	// reservationUsed and reservationSize are averages over an hour.
	reservationUsed = `sum by (reservation_id, reserved_resource_type) ` +
		`(avg_over_time(compute_googleapis_com:reservation_used` + reservationHour + `))`
	reservationSize = `sum by (reservation_id, reserved_resource_type) ` +
		`(avg_over_time(compute_googleapis_com:reservation_reserved` + reservationHour + `))`
	reservationHour = `{monitored_resource="compute.googleapis.com/Reservation"}[1h]`
)

// fill returns an expression without the placeholders that stand for a text:
//
//	@kueue      matchers of Kueue's own metrics
//	@scraped    matchers of every other metric that Prometheus scrapes
//	@system     matchers of Cloud Monitoring's own metrics
//	@job        matcher of Kueue's controller, beside @scraped
//	@steady     matcher of the GPUs that stay above 1 GHz, beside @scraped
//	@resource   matcher of the resource that the reader has selected
//	@queue      matcher of the team's queue, for KAI Scheduler
//	@team       matcher of the team's namespace, for a scraped metric
//	@chosen     matcher of the ClusterQueues that the reader has selected
//	@namespace  the team's namespace itself
//	@window     time between two points of the chart
//
// A placeholder that the notation does not have stays.
func (n Notation) fill(expr string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(expr, '@')
		if at < 0 {
			out.WriteString(expr)
			return out.String()
		}
		end := at + 1
		for end < len(expr) && 'a' <= expr[end] && expr[end] <= 'z' {
			end++
		}
		placeholder, text := expr[at:end], ""
		switch placeholder {
		case "@kueue":
			text = matchLeader + "," + n.Matcher(clusterVariable)
		case "@scraped":
			text = n.Matcher(clusterVariable)
		case "@system":
			text = n.Matcher(systemClusterVariable)
		case "@job":
			text = matchKueueJob
		case "@steady":
			text = matchSteadyGPU
		case "@resource":
			text = n.Matcher(resourceVariable)
		case "@queue":
			text = n.Matcher(queueVariable)
		case "@team":
			text = n.Matcher(teamVariable)
		case "@chosen":
			text = n.Matcher(clusterQueueVariable)
		case "@namespace":
			if n.Value != nil {
				text = n.Value(teamVariable)
			}
		case "@window":
			text = n.Window
		}
		out.WriteString(expr[:at])
		out.WriteString(cmp.Or(text, placeholder))
		expr = expr[end:]
	}
}

// eventsWithin returns the PromQL expression for the number of events that a counter
// counted within a window. Kueue and KAI Scheduler create a series with its first
// event, which increase() does not count; so the expression adds one for each series
// that did not exist before the window.
func eventsWithin(selector, window string) string {
	increase := `increase(` + selector + `[` + window + `])`
	return increase + ` + (` + selector + ` unless ` + selector + ` offset ` + window + `) ^ 0 or ` + increase
}

// bornOrRisen returns an expression for the series of a counter that counted an
// event within the last hour, including the first event of a series.
func bornOrRisen(selector string) string {
	return `(` + selector + ` unless ` + selector + ` offset 1h) or (increase(` + selector + `[1h]) > 0)`
}

// longWait is the waiting time until admission, in seconds, from which an alert warns.
const longWait = 7200

// largest is the number of series that a panel shows of a set that grows with the
// platform. The sum of all series is a panel of its own: beside the largest series, the
// sum of several hundred others would hide them.
const largest = 12

// single returns a query for one series.
func single(expr string) Query { return Query{expr: expr} }

// grouped returns a query that aggregates series by labels.
func grouped(aggregation, series string, labels ...string) Query {
	return Query{By: labels, expr: aggregation + ` by (` + strings.Join(labels, ", ") + `) (` + series + `)`}
}

// named returns the query with a name.
func (q Query) named(name string) Query {
	q.Name = name
	return q
}

// dashed returns the query with dashed lines.
func (q Query) dashed() Query {
	q.Dashed = true
	return q
}

// largest returns a query for the largest series of a query.
func (q Query) largest() Query {
	q.expr = `topk(` + strconv.Itoa(largest) + `, ` + q.expr + `)`
	return q
}

// quantileQueries returns queries for the median and the 95th percentile of a
// histogram. buckets is a range selector of its buckets.
func quantileQueries(buckets string, by ...string) []Query {
	return []Query{
		quantile("0.50", buckets, by...).named("median").dashed(), quantile("0.95", buckets, by...).named("95%"),
	}
}

// quantile returns a query for a quantile of a histogram. It sums the buckets before it
// interpolates, because quantiles cannot be summed.
func quantile(q, buckets string, by ...string) Query {
	return Query{By: by, expr: `histogram_quantile(` + q + `, sum by (` +
		strings.Join(append([]string{"le"}, by...), ", ") + `) (rate(` + buckets + `)))`}
}

// teamQueues returns an expression with one series for each ClusterQueue of the
// selected team. The given label holds the queue's name. The expression derives the
// name from the team's LocalQueue: the two names differ only in the prefix, except
// that the ClusterQueue of a shared tier does not contain the team's name, and that the
// blueprint can name queues. A match of ClusterQueues by the team's name would also find
// the queues of a team whose name begins with it.
//
// If the blueprint names many queues, the reader selects the ClusterQueues: Kueue has no
// metric with both names that also exists while no workload waits.
func teamQueues(p *ir.Platform, label string) string {
	named := namedQueues(p)
	if len(named) > mostNamed {
		return `label_replace(kueue_cluster_queue_status{@kueue,@chosen}, "` + label + `", "$1", "` +
			clusterQueueVariable.Label + `", "(.*)")`
	}
	replace := func(expr, queue, local string) string {
		return `label_replace(` + expr + `, "` + label + `", "` + ir.ClusterQueuePrefix + queue + `", "name", "` +
			ir.LocalQueuePrefix + local + `")`
	}
	expr := replace(`kueue_local_queue_status{@kueue,@team}`, "$1", "(.*)")
	shared := map[string]bool{}
	for _, q := range p.SharedQueues {
		shared[q.Tier] = true
	}
	if len(shared) == 0 {
		return replaceNamed(named, label, expr)
	}
	var tiers []string
	for _, c := range p.PriorityClasses {
		if !slices.Contains(tiers, c.Tier) {
			tiers = append(tiers, c.Tier)
		}
	}
	// A name can end in another name. Sort by length, so that the last match, which
	// decides, is the longest.
	slices.SortFunc(tiers, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, tier := range tiers {
		switch {
		case shared[tier]:
			expr = replace(expr, tier, ".*-"+tier)
		case slices.ContainsFunc(tiers, func(other string) bool {
			return shared[other] && strings.HasSuffix(tier, "-"+other)
		}):
			expr = replace(expr, "$1", "(.*-"+tier+")")
		}
	}
	return replaceNamed(named, label, expr)
}

// mostNamed is the largest number of LocalQueues that a query lists by name. Grafana can
// send a query in a URL, which many servers limit to 8 KiB, and each name takes about 100
// bytes.
const mostNamed = 50

// selectNote is the note on panels that show the ClusterQueues which the reader selects,
// "" if the query finds them.
func selectNote(p *ir.Platform) string {
	if len(namedQueues(p)) <= mostNamed {
		return ""
	}
	return "Select the ClusterQueues of the team above the dashboard. The query does not find them, because the " +
		"blueprint names more than " + strconv.Itoa(mostNamed) + " queues."
}

// namedQueue is a LocalQueue with a ClusterQueue whose name does not follow from team and tier.
type namedQueue struct{ local, cluster string }

// namedQueues returns the queues that the blueprint names. A LocalQueue has its namespace
// before its name, because two namespaces can have a LocalQueue of the same name.
func namedQueues(p *ir.Platform) []namedQueue {
	var named []namedQueue
	for i := range p.Teams {
		t := &p.Teams[i]
		for _, q := range t.Queues {
			if !t.NamesLocalQueue(q) && !t.NamesClusterQueue(q) {
				continue
			}
			for _, name := range q.LocalQueueNames() {
				named = append(named, namedQueue{t.Namespace + "/" + name, q.ClusterQueue})
			}
		}
	}
	return named
}

// replaceNamed returns expr, which derives the name of a ClusterQueue from the name of a
// LocalQueue, with the queues that the blueprint names.
func replaceNamed(named []namedQueue, label, expr string) string {
	const joined = "local_queue"
	if named == nil {
		return expr
	}
	expr = `label_join(` + expr + `, "` + joined + `", "/", "` + teamVariable.Label + `", "name")`
	for _, q := range named {
		expr = `label_replace(` + expr + `, "` + label + `", "` + q.cluster + `", "` + joined + `", "` +
			strings.ReplaceAll(q.local, ".", `[.]`) + `")`
	}
	return expr
}
