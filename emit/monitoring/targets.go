package monitoring

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Target is a controller that Managed Prometheus scrapes. The releases of Kueue and of the
// controllers of jobs serve metrics over HTTPS on port 8443, to callers with permission to get
// /metrics. They include a ClusterRole with this permission, but bind it to nobody.
// KAI Scheduler serves metrics over HTTP on port 8080 to everybody.
type Target struct {
	Name      string // also the value of the metrics' label job
	Namespace string
	Reader    string            // the ClusterRole, "" for none
	Pods      map[string]string // labels of the controller's pods
}

// Targets returns the controllers whose metrics the boards and alerts read, and that the
// platform must ask Managed Prometheus to scrape. Others decide about the controllers that
// they run.
func Targets(p *ir.Platform) []Target {
	if !p.OwnsCluster() && !p.Cluster.Existing.ManagedPrometheus {
		return nil
	}
	return slices.DeleteFunc(schedulerOf(p).targets(p), func(t Target) bool {
		return t.Namespace == ir.KueueNamespace && !p.InstallsKueue()
	})
}

// kueueTargets returns the scrape targets with Kueue. Source: config/default and
// config/components/rbac of the Kueue 0.19 release.
func kueueTargets(p *ir.Platform) []Target {
	return append([]Target{managerTarget("kueue", ir.KueueNamespace)}, kindTargets(p)...)
}

// kindTargets returns the targets for the controllers of jobs, which follow the conventions
// of Kueue. Their charts give the pods other labels than the releases.
func kindTargets(p *ir.Platform) []Target {
	var out []Target
	for _, c := range p.InstalledControllers() {
		t := managerTarget(c.Field, c.Namespace)
		if p.FromCharts() {
			t.Pods = map[string]string{"app.kubernetes.io/name": c.Field, "app.kubernetes.io/component": "controller"}
		}
		out = append(out, t)
	}
	return out
}

// managerTarget returns the target for the controller of Kueue or of a kind of jobs.
func managerTarget(name, namespace string) Target {
	return Target{
		Name: name, Namespace: namespace, Reader: name + "-metrics-reader",
		Pods: map[string]string{"app.kubernetes.io/name": name, "control-plane": "controller-manager"},
	}
}

// Services of KAI Scheduler that export metrics. The names are also the values of
// the label app of their pods. Source: KAI Scheduler 0.17,
// pkg/operator/operands/scheduler and queue_controller.
const (
	kaiSchedulerService = "kai-scheduler-default"
	kaiQueueService     = "queue-controller"
)

// kaiTargets returns the scrape targets with KAI Scheduler. Source: KAI Scheduler
// 0.17, pkg/operator/operands.
func kaiTargets(p *ir.Platform) []Target {
	service := func(app string) Target {
		return Target{Name: app, Namespace: ir.KAINamespace, Pods: map[string]string{"app": app}}
	}
	return append(kindTargets(p), service(kaiSchedulerService), service(kaiQueueService))
}
