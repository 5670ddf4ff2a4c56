package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// scrapeSeconds is the time between two samples of a series.
const scrapeSeconds = 30

// series is a series with its samples: pairs of seconds since the start, and value.
type series struct {
	Labels map[string]string `json:"labels"`
	Points [][2]float64      `json:"points"`
}

// recorder adds up the samples of one moment, and appends them to the series.
type recorder struct {
	plan    *ir.Platform
	all     []*series
	byKey   map[string]*series
	at      int64
	moments map[string]float64
}

// seriesOf returns the series of a demonstration that was played.
func seriesOf(p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History) []*series {
	r := &recorder{plan: p, byKey: map[string]*series{}}
	for r.at = 0; r.at < s.Until; r.at += scrapeSeconds {
		r.moments = map[string]float64{}
		r.queues()
		busy := map[string]int{} // accelerators of running pods, by capacity
		for i, job := range s.Jobs {
			r.job(&s.Templates[job.Template], job, h.Jobs[i], busy)
		}
		for i, pool := range h.Pools {
			r.nodes(s.Pools[i].Name, nodesAt(pool.Nodes, r.at), busy)
		}
		for key, value := range r.moments {
			of := r.byKey[key]
			of.Points = append(of.Points, [2]float64{float64(r.at), value})
		}
	}
	return r.all
}

// nodesAt returns the number of nodes at a time.
func nodesAt(counts []rehearsal.Count, at int64) (n int) {
	for _, c := range counts {
		if c.At <= at {
			n = c.N
		}
	}
	return n
}

// add adds to the sample of a series. The labels are pairs of name and value.
func (r *recorder) add(value float64, name string, pairs ...string) {
	key := name + "\x00" + strings.Join(pairs, "\x00")
	if r.byKey[key] == nil {
		of := &series{Labels: map[string]string{"__name__": name}}
		for i := 0; i < len(pairs); i += 2 {
			of.Labels[pairs[i]] = pairs[i+1]
		}
		r.byKey[key] = of
		r.all = append(r.all, of)
	}
	r.moments[key] += value
}

// kueue adds to a metric of Kueue.
func (r *recorder) kueue(value float64, name string, pairs ...string) {
	r.add(value, "kueue_"+name, append([]string{"cluster", r.plan.Cluster.Name, "replica_role", "leader"}, pairs...)...)
}

// gke adds to a metric of GKE.
func (r *recorder) gke(value float64, name, resource string, pairs ...string) {
	r.add(value, "kubernetes_io:"+name,
		append([]string{"cluster_name", r.plan.Cluster.Name, "monitored_resource", resource}, pairs...)...)
}

// queues adds the quotas of all queues, and zeros for what jobs add to.
func (r *recorder) queues() {
	for q := range r.plan.ClusterQueues() {
		of := []string{"cluster_queue", q.ClusterQueue}
		r.kueue(1, "cluster_queue_status", append(of, "status", "active")...)
		r.kueue(0, "admitted_active_workloads", of...)
		r.kueue(0, "pending_workloads", append(of, "status", "active")...)
		for _, f := range q.Flavors {
			for _, quota := range f.Quotas {
				if quota.Resource != ir.GPU && quota.Resource != ir.TPU {
					continue
				}
				in := quotaLabels(q, f.Flavor, quota.Resource)
				nominal := quota.Nominal.AsApproximateFloat64()
				r.kueue(nominal, "cluster_queue_nominal_quota", in...)
				r.reserve(q, f.Flavor, quota.Resource, 0)
				if q.Cohort != "" {
					r.kueue(nominal, "cohort_subtree_quota", in[2:]...)
				}
			}
		}
	}
}

// quotaLabels returns the labels of a queue's quota: the queue first, then those that a
// cohort's quota has too.
func quotaLabels(q *ir.Queue, flavor, resource string) []string {
	return []string{"cluster_queue", q.ClusterQueue, "cohort", q.Cohort, "flavor", flavor, "resource", resource}
}

// reserve adds to the quota that the jobs of a queue hold.
func (r *recorder) reserve(q *ir.Queue, flavor, resource string, amount float64) {
	in := quotaLabels(q, flavor, resource)
	r.kueue(amount, "cluster_queue_resource_reservation", in...)
	r.kueue(amount, "cluster_queue_resource_usage", in...)
	if q.Cohort != "" {
		r.kueue(amount, "cohort_subtree_resource_reservations", in[2:]...)
	}
}

// job adds what a job holds, and what happened to it so far.
func (r *recorder) job(t *rehearsal.Template, job rehearsal.Job, h rehearsal.JobHistory, busy map[string]int) {
	q := r.queue(h.ClusterQueue)
	if q == nil || job.At > r.at {
		return
	}
	of := []string{"cluster_queue", q.ClusterQueue}
	waits := h.End == 0 || h.End > r.at
	for _, run := range h.Runs {
		if run.Reserved > r.at {
			break
		}
		r.kueue(1, "admitted_workloads_total", of...)
		if run.Ended == 0 || run.Ended > r.at {
			waits = false
			r.kueue(1, "admitted_active_workloads", of...)
			r.hold(t, job, q, run, busy)
		} else if run.Evicted != "" {
			r.evict(q, run)
		}
	}
	if waits {
		r.kueue(1, "pending_workloads", append(of, "status", "active")...)
		r.kueue(1, "unadmitted_workloads",
			append(of, "reason", "NoReservation", "underlying_cause", "WaitingForQuota")...)
		r.kueue(float64(t.Accelerators), "cluster_queue_resource_pending", append(of, "resource", r.resource(t))...)
	}
}

// queue returns a ClusterQueue, nil if there is none of the name.
func (r *recorder) queue(name string) *ir.Queue {
	for q := range r.plan.ClusterQueues() {
		if q.ClusterQueue == name {
			return q
		}
	}
	return nil
}

// resource returns the accelerators' resource of the capacities of a template.
func (r *recorder) resource(t *rehearsal.Template) string {
	for _, c := range r.plan.Capacities {
		if slices.Contains(t.Capacities, c.Name) && c.HasAccelerators() {
			return c.Machine.Resource
		}
	}
	return ir.CPU
}

// hold adds the quota of a job that has some, and its pods if they run.
func (r *recorder) hold(t *rehearsal.Template, job rehearsal.Job, q *ir.Queue, run rehearsal.Run, busy map[string]int) {
	for _, set := range run.Flavors {
		chips := t.PodAccelerators[set.PodSet]
		if chips == 0 {
			continue
		}
		r.reserve(q, set.Flavor, r.resource(t), float64(set.Pods*chips))
		if !run.Ran || run.Started > r.at || run.Stopped > 0 && run.Stopped <= r.at {
			continue
		}
		busy[set.Flavor] += set.Pods * chips
		for i := range set.Pods {
			r.gke(float64(chips), "container_accelerator_request", "k8s_container",
				"namespace_name", t.Namespace, "pod_name", fmt.Sprintf("%s-%s-%d", job.Name, set.PodSet, i))
		}
	}
}

// evict adds the eviction of a job.
func (r *recorder) evict(q *ir.Queue, run rehearsal.Run) {
	r.kueue(1, "evicted_workloads_total",
		"cluster_queue", q.ClusterQueue, "reason", string(run.Evicted), "underlying_cause", "")
	if run.By == "" {
		return
	}
	reason := "InClusterQueue"
	if strings.Contains(run.Message, "reclamation") {
		reason = "InCohortReclamation"
	}
	r.kueue(1, "preempted_workloads_total", "preempting_cluster_queue", q.ClusterQueue, "reason", reason)
}

// nodes adds the nodes of a capacity. A chip of a running pod is busy, any other idle.
func (r *recorder) nodes(capacity string, n int, busy map[string]int) {
	i := slices.IndexFunc(r.plan.Capacities, func(c ir.Capacity) bool { return c.Name == capacity })
	c := r.plan.Capacities[i]
	for node := range n {
		of := []string{
			"node_name", fmt.Sprintf("%s-%d", capacity, node+1), "metadata_user_" + ir.LabelCapacity, capacity,
			"metadata_user_" + ir.LabelNodePool, capacity,
			"metadata_user_cloud.google.com/gke-provisioning", string(c.Option),
		}
		r.gke(1, "node_cpu_total_cores", "k8s_node", of...)
		r.gke(1, "node_status_condition", "k8s_node", append(of, "condition", "Ready", "status", "True")...)
		r.gke(0, "node_status_condition", "k8s_node", append(of, "condition", "Ready", "status", "False")...)
		for chip := range c.Machine.AcceleratorCount {
			duty := 0.0
			if busy[capacity] > 0 {
				busy[capacity]--
				duty = 100
			}
			r.gke(duty, "node_accelerator_duty_cycle", "k8s_node",
				append(of, "accelerator_id", fmt.Sprint(chip), "model", c.Machine.Accelerator)...)
		}
	}
}
