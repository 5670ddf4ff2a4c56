package cloudbuild

import (
	_ "embed"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/losses"
)

//go:embed scripts/kueue.sh
var kueueScript string

//go:embed scripts/local-queues.sh
var localQueuesScript string

//go:embed scripts/retire.sh
var retireScript string

//go:embed scripts/retire-synced.sh
var retireSyncedScript string

//go:embed scripts/shrink.sh
var shrinkScript string

//go:embed scripts/losses.bash
var lossesScript string

//go:embed scripts/preview.bash
var previewScript string

//go:embed scripts/await-pods.bash
var awaitPods string

//go:embed scripts/evict.bash
var evictFunctions string

//go:embed scripts/evict-loop.bash
var evictLoop string

//go:embed scripts/queues.sh
var queuesScript string

//go:embed scripts/stop-kueue.bash
var stopKueue string

//go:embed scripts/kai.sh
var kaiScript string

//go:embed scripts/kai-queues.sh
var kaiQueuesScript string

// Lines of the scripts that stop jobs. They are replaced: by the functions that change
// workloads, by the commands that evict the workloads that the function running prints, by
// the commands that find the pools that lose nodes, and by those that wait for pods there.
const (
	evictionMark = "# EVICTION\n"
	evictMark    = "# EVICT\n"
	lossesMark   = "# LOSSES\n"
	planMark     = "# PLAN\n"
	awaitMark    = "# AWAIT PODS\n"
)

// scheduler holds the differences between the builds for one scheduler and another.
type scheduler struct {
	// retire holds the tasks that stop what the platform no longer has, before
	// Terraform deletes its nodes.
	retire []task
	// install holds the tasks that install the scheduler.
	install []task
	// prepare holds the tasks that delete objects that cannot be changed in place,
	// before the queues are applied.
	prepare []task
	// queues is the task for the scheduler's queues that runs after they are
	// applied.
	queues task
	// stop is the part of drain.sh that stops the queues, and variables are the
	// additional variables that it reads. stop is "" if jobs end with their
	// namespace.
	stop      string
	variables []variable
}

func schedulerOf(p *ir.Platform) scheduler {
	return ir.Choose(p.Scheduler, kueueScheduler, kaiScheduler)(p)
}

func kueueScheduler(p *ir.Platform) scheduler {
	platform := variable{"PLATFORM", platformSelector(p)}
	retire := retireTasks(p, "retire", retireScript, variable{"KUEUE", ir.KueueNamespace}, platform)
	if g := p.Delivery.GitOps; g.On() {
		retire = retireTasks(p, "retire", retireSyncedScript, variable{"KUEUE", ir.KueueNamespace}, platform,
			variable{"TEAMS", teamSelector(p)}, variable{"TOOL", g.Tool.Facts().Name})
	}
	var install []task
	if p.InstallsKueue() {
		install = []task{installRelease(p, "kueue", kueueScript, p.Versions.KueueRelease(),
			variable{"NAMESPACE", ir.KueueNamespace}, variable{"WEBHOOKS", ir.KueueWebhooks})}
	}
	return scheduler{
		retire:    retire,
		install:   install,
		prepare:   []task{scriptStep(p, 600, "local-queues", localQueuesScript, platform)},
		queues:    scriptStep(p, 1800, "queues", queuesScript, platform),
		stop:      stopKueue,
		variables: []variable{{"KUEUE", ir.KueueNamespace}, platform},
	}
}

func kaiScheduler(p *ir.Platform) scheduler {
	// Helm is a single program without libraries. The CLI's image has the
	// credentials for the cluster but no Helm; Helm's image has no credentials.
	helm := task{300, step{
		ID: "helm", Name: escapeDollars(p.Versions.HelmImage()), Entrypoint: "cp", Args: []string{"/usr/bin/helm",
			"/workspace/helm"},
	}}
	install := scriptStep(p, 2400, "kai", kaiScript,
		variable{"CHART", ir.KAIChart}, variable{"VERSION", p.Versions.KAI}, variable{"NAMESPACE", ir.KAINamespace})
	return scheduler{
		retire:  retireTasks(p, "shrink", shrinkScript),
		install: []task{helm, install},
		queues:  scriptStep(p, 600, "queues", kaiQueuesScript, variable{"PLATFORM", platformSelector(p)}),
	}
}

// retireTasks returns the step of a script that acts on the node pools that lose nodes by
// Terraform's plan. Without Infrastructure Manager, a step before it prints the plan.
func retireTasks(p *ir.Platform, id, script string, variables ...variable) []task {
	script = strings.NewReplacer(evictionMark, evictFunctions, evictMark, evictLoop, awaitMark, awaitPods,
		lossesMark, strings.Replace(lossesScript, "LOSSES", losses.Template, 1)).Replace(script)
	if p.Delivery.InfrastructureManager {
		script = strings.Replace(script, clusterMark, runningCluster, 1)
		script = strings.Replace(script, planMark, previewScript, 1)
		return []task{infrastructureManager(p, 7200, id, script, append(clusterVariables(p)[1:], variables...)...)}
	}
	show := terraformStep(p, 120, "terraform-show", "-c", "terraform show -json platform.tfplan >plan.json")
	show.Entrypoint = "sh"
	script = strings.Replace(script, planMark, "plan=$(<terraform/plan.json)\n", 1)
	return []task{show, clusterStep(p, 5400, id, script, variables...)}
}
