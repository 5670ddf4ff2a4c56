package cloudbuild

import (
	_ "embed"

	"github.com/batchwright/batchwright/compiler/ir"
)

//go:embed scripts/kueue.sh
var kueueScript string

//go:embed scripts/local-queues.sh
var localQueuesScript string

//go:embed scripts/retire.sh
var retireScript string

//go:embed scripts/queues.sh
var queuesScript string

//go:embed scripts/stop-kueue.bash
var stopKueue string

//go:embed scripts/kai.sh
var kaiScript string

//go:embed scripts/kai-queues.sh
var kaiQueuesScript string

// scheduler holds the differences between the builds for one scheduler and another.
type scheduler struct {
	// retire holds the task that stops what the platform no longer has, before
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
	namespace, platform := variable{"NAMESPACE", ir.KueueNamespace}, variable{"PLATFORM", platformSelector(p)}
	return scheduler{
		retire: []task{clusterStep(p, 3600, "retire", retireScript, variable{"KUEUE", ir.KueueNamespace},
			platform)},
		install: []task{installRelease(p, "kueue", kueueScript, p.Versions.KueueManifest(), p.Versions.SHA256.Kueue,
			namespace, variable{"WEBHOOKS", ir.KueueWebhooks})},
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
		install: []task{helm, install},
		queues:  scriptStep(p, 600, "queues", kaiQueuesScript, variable{"PLATFORM", platformSelector(p)}),
	}
}
