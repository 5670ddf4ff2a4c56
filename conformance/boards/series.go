package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"os"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

// platform invents the series of a platform with any number of teams, for Kueue and for
// KAI Scheduler. The queues have the names of the reference systems. Few teams are
// busy and most are almost idle, as on a real platform.
type platform struct {
	app  storage.Appender
	name string  // of the cluster
	time int64   // milliseconds
	hour float64 // since the first sample
	err  error
}

// inventSeries returns the series of a cluster with a number of teams, and a function
// that removes them.
func inventSeries(cluster string, teams int) (storage.Queryable, func() error, error) {
	dir, err := os.MkdirTemp("", "boards")
	if err != nil {
		return nil, nil, err
	}
	options := tsdb.DefaultOptions()
	options.RetentionDuration = 0
	db, err := tsdb.Open(dir, nil, nil, options, nil)
	if err != nil {
		return nil, nil, err
	}
	for at := seriesBegin; !at.After(seriesEnd); at = at.Add(scrapeInterval) {
		p := &platform{
			app: db.Appender(context.Background()), name: cluster,
			time: at.UnixMilli(), hour: at.Sub(seriesBegin).Hours(),
		}
		p.controllers()
		p.nodes(teams)
		for i := range teams {
			p.team(i)
			p.kaiTeam(i)
		}
		p.kaiScheduler()
		if p.err == nil {
			p.err = p.app.Commit()
		}
		if p.err != nil {
			return nil, nil, p.err
		}
	}
	return db, func() error {
		if err := db.Close(); err != nil {
			return err
		}
		return os.RemoveAll(dir)
	}, nil
}

// set adds a sample. The labels are pairs of name and value.
func (p *platform) set(value float64, name string, pairs ...string) {
	if p.err == nil {
		_, p.err = p.app.Append(0, labels.FromStrings(append([]string{"__name__", name}, pairs...)...), p.time, value)
	}
}

// kueue adds a sample of a metric of Kueue.
func (p *platform) kueue(value float64, name string, pairs ...string) {
	p.set(value, "kueue_"+name, append([]string{"cluster", p.name, "replica_role", "leader"}, pairs...)...)
}

// gke adds a sample of a system metric of GKE.
func (p *platform) gke(value float64, name, resource string, pairs ...string) {
	p.set(value, "kubernetes_io:"+name,
		append([]string{"cluster_name", p.name, "monitored_resource", resource}, pairs...)...)
}

// chance returns a number between 0 and 1 that depends on the texts alone.
func chance(texts ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, texts...)
	return float64(h.Sum64()%10007) / 10007
}

// wave returns a number between 0 and 1 that changes slowly with the time.
func (p *platform) wave(texts ...any) float64 {
	phase, period := chance("phase", texts), 2+6*chance("period", texts)
	return 0.5 + 0.5*math.Sin(2*math.Pi*(p.hour/period+phase))
}

// histogram adds the buckets of a histogram: count observations, of which half are
// shorter than the median.
func (p *platform) histogram(count, median float64, name string, pairs ...string) {
	for k := range 16 {
		bound := 1.0
		if k > 0 {
			bound = 2.5 * math.Pow(2, float64(k-1))
		}
		share := 1 - math.Pow(0.5, bound/median)
		p.kueue(count*share, name+"_bucket", append([]string{"le", fmt.Sprint(bound)}, pairs...)...)
	}
	p.kueue(count, name+"_bucket", append([]string{"le", "+Inf"}, pairs...)...)
}

// queueKind is a tier of the batch platform.
type queueKind struct {
	suffix  string
	flavors []string
	nominal []float64 // GPUs of each flavor
	limit   float64   // GPUs that the queue can have
}

var queueKinds = []queueKind{
	{"hp", []string{"l4-ondemand", "l4-reserved"}, []float64{4, 4}, 12},
	{"lp", []string{"l4-spot", "l4-reserved"}, []float64{12, 0}, 20},
	{"compact", []string{"a100-compact"}, []float64{2}, 2},
}

// letters returns a text that numbers a team: a to z, and then 026, 027.
func letters(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return fmt.Sprintf("%03d", i)
}

// team adds the series of a team's queues and pods.
func (p *platform) team(i int) {
	team := "team-" + letters(i)
	cohort := fmt.Sprintf("cohort-%03d", i/2)
	busy := 1.2 / math.Pow(float64(i%97)+1, 0.45)
	for _, kind := range queueKinds {
		queue, local := "cq-"+team+"-"+kind.suffix, "lq-"+team+"-"+kind.suffix
		demand := math.Round(busy * 32 * p.wave(queue))
		inQueue, inLocal := []string{"cluster_queue", queue}, []string{"name", local, "exported_namespace", team}
		held, left := 0.0, math.Min(demand, kind.limit)
		for f, flavor := range kind.flavors {
			gpus := left
			if f < len(kind.flavors)-1 {
				gpus = math.Min(left, math.Max(kind.nominal[f], 4))
			}
			left -= gpus
			held += gpus
			for resource, scale := range map[string]float64{"nvidia.com/gpu": 1, "cpu": 2, "memory": 5 << 30} {
				of := append([]string{"cohort", cohort, "flavor", flavor, "resource", resource}, inQueue...)
				p.kueue(scale*kind.nominal[f], "cluster_queue_nominal_quota", of...)
				p.kueue(scale*gpus, "cluster_queue_resource_reservation", of...)
				p.kueue(scale*gpus, "cluster_queue_resource_usage", of...)
				p.kueue(scale*gpus, "local_queue_resource_usage",
					append([]string{"flavor", flavor, "resource", resource}, inLocal...)...)
				inCohort := []string{"cohort", cohort, "flavor", flavor, "resource", resource}
				if kind.suffix != "lp" || flavor == "l4-spot" {
					p.kueue(2*scale*math.Max(kind.nominal[f], 4), "cohort_subtree_quota", inCohort...)
					p.kueue(scale*gpus, "cohort_subtree_resource_reservations", inCohort...)
				}
			}
		}
		waiting := demand - held
		for resource, scale := range map[string]float64{"nvidia.com/gpu": 1, "cpu": 2, "memory": 5 << 30} {
			p.kueue(scale*waiting, "cluster_queue_resource_pending",
				append([]string{"resource", resource}, inQueue...)...)
		}
		active, pending := math.Ceil(held/4), math.Ceil(waiting/4)
		p.kueue(active, "admitted_active_workloads", inQueue...)
		p.kueue(active, "local_queue_admitted_active_workloads", inLocal...)
		stuck := math.Floor(pending / 3)
		for status, n := range map[string]float64{"active": pending - stuck, "inadmissible": stuck} {
			p.kueue(n, "pending_workloads", append([]string{"status", status}, inQueue...)...)
			p.kueue(n, "local_queue_pending_workloads", append([]string{"status", status}, inLocal...)...)
		}
		for cause, n := range map[string]float64{
			"WaitingForQuota": pending - stuck, "WaitingForPreemptedWorkloads": stuck,
		} {
			why := []string{"reason", "NoReservation", "underlying_cause", cause}
			p.kueue(n, "unadmitted_workloads", append(why, inQueue...)...)
			p.kueue(n, "local_queue_unadmitted_workloads", append(why, append(inQueue, inLocal...)...)...)
		}
		inactive := 0.0
		if i%150 == 1 && kind.suffix == "lp" && p.hour > 6 {
			inactive = 1
		}
		p.kueue(1-inactive, "cluster_queue_status", append([]string{"status", "active"}, inQueue...)...)
		p.kueue(inactive, "cluster_queue_status", append([]string{"status", "pending"}, inQueue...)...)
		p.kueue(1, "local_queue_status", append([]string{"active", "True"}, inLocal...)...)
		done := math.Floor(busy * (10*p.hour + p.wave("done", queue)))
		median := 40 + 3000*busy*p.wave("wait", queue)
		p.kueue(done, "admitted_workloads_total", append([]string{"priority_class", kind.suffix}, inQueue...)...)
		p.kueue(math.Floor(done*0.95), "finished_workloads_total",
			append([]string{"priority_class", kind.suffix}, inQueue...)...)
		for _, wait := range []string{"admission_wait_time_seconds", "admission_checks_wait_time_seconds"} {
			p.histogram(5*done, median, wait, append([]string{"priority_class", kind.suffix}, inQueue...)...)
			p.histogram(5*done, median, "local_queue_"+wait,
				append([]string{"priority_class", kind.suffix}, inLocal...)...)
		}
		if kind.suffix == "lp" {
			evicted := math.Floor(busy * p.hour)
			cause := []string{"reason", "Preempted", "underlying_cause", "", "priority_class", "lp"}
			p.kueue(evicted, "evicted_workloads_total", append(cause, inQueue...)...)
			p.kueue(evicted, "local_queue_evicted_workloads_total", append(cause, inLocal...)...)
		} else {
			p.kueue(math.Floor(busy*p.hour/2), "preempted_workloads_total", "preempting_cluster_queue", queue,
				"reason", "InCohortReclamation")
		}
		for pod := range int(active) {
			name := fmt.Sprintf("mnist-%s-%d-0-x%03d", kind.suffix, pod, int(1000*chance(queue, pod)))
			in := []string{"namespace_name", team, "pod_name", name, "accelerator_id", "0", "model", "nvidia-l4"}
			p.gke(100*p.wave("duty", name), "container_accelerator_duty_cycle", "k8s_container", in...)
			p.gke(float64(8<<30)+float64(16<<30)*p.wave("memory", name), "container_accelerator_memory_used",
				"k8s_container", in...)
			p.gke(24<<30, "container_accelerator_memory_total", "k8s_container", in...)
			p.gke(1, "container_accelerator_request", "k8s_container", in...)
			p.gke(2, "container_cpu_request_cores", "k8s_container", in[:4]...)
			p.gke(10<<30, "container_memory_request_bytes", "k8s_container", in[:4]...)
		}
	}
	p.set(math.Floor(2*p.wave("restarts", team)), "kube_jobset_restarts", "cluster", p.name, "namespace", team,
		"jobset_name", "mnist-jobset")
	for _, kind := range []string{"scheduling", "proxy_runtime"} {
		p.gke(0.6+0.4*p.wave(kind, team), "jobset_"+kind+"_goodput", "k8s_entity", "entity_type", "jobset",
			"entity_namespace", team, "entity_name", "mnist-jobset")
	}
}

// kaiQueue adds the series of a queue of KAI Scheduler.
func (p *platform) kaiQueue(queue string, allocated, guaranteed float64) {
	for metric, value := range map[string]float64{
		"info": 1, "allocated_gpus": allocated, "deserved_gpus": guaranteed,
		"fair_share_gpu": guaranteed + 4*p.wave("share", queue), "allocated_cpu_cores": 8 * allocated,
	} {
		p.set(value, "kai_queue_"+metric, "cluster", p.name, "queue_name", queue)
	}
}

// kaiTeam adds the series of a team's queue with KAI Scheduler, and with the first two
// teams also the series of the two departments.
func (p *platform) kaiTeam(i int) {
	team := "project-" + letters(i)
	p.kaiQueue(team, math.Round(14*p.wave("gpus", team)), 8)
	if i < 2 { // the blueprint names the departments
		p.kaiQueue(fmt.Sprintf("department-%d", i+1), math.Round(28*p.wave("gpus", i)), 16)
	}
	for _, action := range []string{"reclaim", "preempt"} {
		p.set(math.Floor(2*p.hour*chance(action, team)), "kai_pod_group_evicted_pods_total", "cluster", p.name,
			"podgroup", "training-job-"+letters(i), "exported_namespace", team, "action", action)
	}
}

// kaiScheduler adds the series of KAI Scheduler itself.
func (p *platform) kaiScheduler() {
	p.set(math.Floor(9*p.hour), "kai_total_preemption_attempts", "cluster", p.name)
	p.set(20+30*p.wave("cycle"), "kai_e2e_scheduling_latency_milliseconds", "cluster", p.name)
	for _, action := range []string{"allocate", "reclaim", "preempt", "consolidation"} {
		p.set(10*p.wave(action), "kai_action_scheduling_latency_milliseconds", "cluster", p.name, "action", action)
		p.set(math.Floor(20*p.hour*chance(action)), "kai_podgroups_scheduled_by_action", "cluster", p.name,
			"action", action)
	}
	for _, bound := range []float64{5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560} {
		p.set(50*p.hour*(1-math.Pow(0.5, bound/60)), "kai_task_scheduling_latency_milliseconds_bucket",
			"cluster", p.name, "le", fmt.Sprint(bound))
	}
	p.set(50*p.hour, "kai_task_scheduling_latency_milliseconds_bucket", "cluster", p.name, "le", "+Inf")
}

// nodes adds the series of nodes, chips and reservations. There are two nodes a team.
func (p *platform) nodes(teams int) {
	for i := range 2 * teams {
		pool := []string{"l4-ondemand", "l4-reserved", "l4-spot", "a100-compact"}[i%4]
		model := "nvidia-l4"
		if pool == "a100-compact" {
			pool, model = fmt.Sprintf("nap-a2-highgpu-1g-%02d", i%40), "nvidia-tesla-a100"
		}
		if i%4 == 2 && p.wave("exists", i) < 0.3 {
			continue // taken back
		}
		node := fmt.Sprintf("gke-gke-batch-%s-%04x", pool, int(65535*chance(i)))
		of := []string{"node_name", node, "metadata_user_cloud.google.com/gke-nodepool", pool,
			"metadata_user_cloud.google.com/gke-provisioning", []string{"standard", "reservation", "spot"}[i%3],
			"metadata_user_capacity", []string{"l4-ondemand", "l4-reserved", "l4-spot", "a100-compact"}[i%4]}
		p.machine(of, chance("sick", i, int(p.hour)) > 0.01)
		for chip := range 2 {
			in := append([]string{"accelerator_id", fmt.Sprint(chip), "model", model, "make", "nvidia"}, of...)
			p.gke(100*math.Pow(p.wave("chip", i, chip), 0.4), "node_accelerator_duty_cycle", "k8s_node", in...)
			p.gke(float64(24<<30)*p.wave("used", i, chip), "node_accelerator_memory_used", "k8s_node", in...)
			p.gke(24<<30, "node_accelerator_memory_total", "k8s_node", in...)
		}
		for _, metric := range []string{"PIPE_TENSOR_ACTIVE", "SM_ACTIVE"} {
			p.set(p.wave(metric, i), "DCGM_FI_PROF_"+metric,
				"cluster", p.name, "modelName", model, "Hostname", node)
		}
	}
	for i := range 6 { // the system pool
		p.machine([]string{"node_name", fmt.Sprintf("gke-gke-batch-system-%d", i),
			"metadata_user_cloud.google.com/gke-nodepool", "system"}, true)
	}
	p.gke(math.Floor(3*p.wave("interruptions")), "node_interruption_count", "k8s_node", "node_name", "gone",
		"interruption_type", "PreemptionEvent", "interruption_reason", "Unknown")
	for metric, value := range map[string]float64{"used": math.Round(4 * p.wave("reservation")), "reserved": 4} {
		p.set(value, "compute_googleapis_com:reservation_"+metric, "monitored_resource",
			"compute.googleapis.com/Reservation", "reservation_id", "7391", "reserved_resource_type", "g2-standard-24")
	}
}

// machine adds the series of a node.
func (p *platform) machine(of []string, isReady bool) {
	p.gke(24, "node_cpu_total_cores", "k8s_node", of...)
	p.gke(23, "node_cpu_allocatable_cores", "k8s_node", of...)
	p.gke(90<<30, "node_memory_allocatable_bytes", "k8s_node", of...)
	state := map[bool]float64{true: 1}
	for status, value := range map[string]float64{"True": state[isReady], "False": state[!isReady], "Unknown": 0} {
		p.gke(value, "node_status_condition", "k8s_node",
			append([]string{"condition", "Ready", "status", status}, of...)...)
	}
	for _, kind := range []string{"DiskPressure", "MemoryPressure", "PIDPressure"} {
		p.gke(0, "node_status_condition", "k8s_node", append([]string{"condition", kind, "status", "True"}, of...)...)
	}
}

// controllers adds the series of the controllers themselves.
func (p *platform) controllers() {
	for result, rate := range map[string]float64{"success": 300, "inadmissible": 900} {
		p.kueue(rate*p.hour, "admission_attempts_total", "result", result)
		p.histogram(rate*p.hour, 0.4, "admission_attempt_duration_seconds", "result", result)
	}
	p.histogram(100*p.hour, 3, "workload_eviction_latency_seconds",
		"reason", "Preempted", "cluster_queue", "cq-team-a-lp")
	for _, name := range []string{"workload", "clusterqueue"} {
		p.set(math.Floor(p.hour), "controller_runtime_reconcile_errors_total", "cluster", p.name, "job", "kueue",
			"controller", name)
	}
}
