package cloudbuild

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/losses"
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
	stopped := platform // what the platform stops and deletes: no queue that ran before it
	if !p.OwnsCluster() {
		stopped.value += ",!" + ir.LabelExisting
	}
	retire := retireTasks(p, "retire", "retire.sh", variable{"KUEUE", ir.KueueNamespace}, stopped)
	if g := p.Delivery.GitOps; g.On() {
		retire = retireTasks(p, "retire", "retire-synced.sh", variable{"KUEUE", ir.KueueNamespace}, stopped,
			variable{"TEAMS", teamSelector(p)}, variable{"TOOL", g.Tool.Facts().Name})
	}
	var install []task
	if p.InstallsKueue() {
		install = []task{installRelease(p, "kueue", "kueue.sh", p.Versions.KueueRelease(),
			variable{"NAMESPACE", ir.KueueNamespace}, variable{"WEBHOOKS", ir.KueueWebhooks})}
	}
	return scheduler{
		retire:    retire,
		install:   install,
		prepare:   []task{scriptStep(p, 600, "local-queues", readScript("local-queues.sh"), platform)},
		queues:    scriptStep(p, 1800, "queues", readScript("queues.sh", "HELD", holdAgain(p)), stopped),
		stop:      readScript("stop-kueue.bash"),
		variables: []variable{{"KUEUE", ir.KueueNamespace}, stopped},
	}
}

func kaiScheduler(p *ir.Platform) scheduler {
	// Helm is a single program without libraries. The CLI's image has the
	// credentials for the cluster but no Helm; Helm's image has no credentials.
	helm := task{300, step{
		ID: "helm", Name: escapeDollars(p.Versions.HelmImage()), Entrypoint: "cp", Args: []string{"/usr/bin/helm",
			"/workspace/helm"},
	}}
	install := scriptStep(p, 2400, "kai", readScript("kai.sh"),
		variable{"CHART", ir.KAIChart}, variable{"VERSION", p.Versions.KAI}, variable{"NAMESPACE", ir.KAINamespace})
	return scheduler{
		retire:  retireTasks(p, "shrink", "shrink.sh"),
		install: []task{helm, install},
		queues:  scriptStep(p, 600, "queues", readScript("kai-queues.sh"), variable{"PLATFORM", platformSelector(p)}),
	}
}

// retireTasks returns the step of a script that acts on the node pools that lose nodes by
// Terraform's plan. Without Infrastructure Manager, a step before it prints the plan.
func retireTasks(p *ir.Platform, id, script string, variables ...variable) []task {
	read := func(plan string) string {
		return readScript(script, "PLAN", plan, "TEMPLATE", "lost='"+losses.Template+"'\n",
			"NAMES", flavorNames(p))
	}
	if p.Delivery.InfrastructureManager {
		return []task{infrastructureManager(p, 7200, id, read(readScript("preview.bash")),
			append(clusterVariables(p)[1:], variables...)...)}
	}
	show := terraformStep(p, 120, "terraform-show", "-c", "terraform show -json platform.tfplan >plan.json")
	show.Entrypoint = "sh"
	return []task{show, clusterStep(p, 5400, id, read("plan=$(<terraform/plan.json)\n"), variables...)}
}

// flavorNames returns the part of a script that replaces the capacities of losses whose
// ResourceFlavors have other names by these names, "" if there is none.
func flavorNames(p *ir.Platform) string {
	var names strings.Builder
	for _, c := range p.Capacities {
		if name := c.Flavor.Name; name != "" && name != c.Name {
			fmt.Fprintf(&names, "  name[%q] = %q\n", c.Name, name)
		}
	}
	if names.Len() == 0 {
		return ""
	}
	return "# Jobs have quota of a flavor, whose name can differ from that of its capacity.\n" +
		"losses=$(awk 'BEGIN {\n" + names.String() + "}\n$1 in name { $1 = name[$1] } { print }' <<<\"$losses\")\n"
}

// holdAgain returns the part of the step "queues" that stops the queues again that the blueprint
// stops and the step has started, "" if the blueprint stops none.
func holdAgain(p *ir.Platform) string {
	if !p.HasStop() {
		return ""
	}
	return `for manifests in kubernetes/shared-queues.yaml kubernetes/teams; do
  if [[ $live == *' true'* && -e $manifests ]]; then
    kubectl apply --server-side --force-conflicts --field-manager=batchwright -f "$manifests"
  fi
done
`
}
