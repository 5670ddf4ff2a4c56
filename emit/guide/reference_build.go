package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// buildSteps holds the steps of a build that differ between schedulers. A row has the
// step's name, as the log of the build shows it, and what the step does.
type buildSteps struct {
	retire  [][]markup // before Terraform changes nodes
	install [][]markup // of the scheduler
	prepare [][]markup // before the objects are applied
	queues  markup     // what the step queues does
}

// kueueSteps returns the steps of a build that belong to Kueue.
func kueueSteps(p *ir.Platform) buildSteps {
	var install [][]markup
	if p.InstallsKueue() {
		install = [][]markup{{"`kueue`", "installs Kueue with the platform's configuration, and waits until it runs"}}
	}
	return buildSteps{
		retire: [][]markup{{"`retire`", "stops the queues that are gone, and the jobs on capacities that are gone, " +
			"lose nodes or get other machines; waits until their pods have ended; shrinks the node pools that get " +
			"fewer nodes"}},
		install: install,
		prepare: [][]markup{{"`local-queues`", "deletes the LocalQueues that move to another ClusterQueue"}},
		queues:  "waits until all queues admit jobs, except the queues that an administrator has stopped",
	}
}

// kaiSteps returns the steps of a build that belong to KAI Scheduler.
func kaiSteps() buildSteps {
	return buildSteps{
		retire: [][]markup{{"`shrink`", "shrinks the node pools that get fewer nodes"}},
		install: [][]markup{
			{"`helm`", "copies the program Helm for the next step"},
			{"`kai`", "installs KAI Scheduler, and waits until it runs"},
		},
		queues: "stops the queues that the platform no longer has",
	}
}

// listBuildSteps lists the steps of the build in their order. A test compares the list
// with the build.
func listBuildSteps(d *document, p *ir.Platform) {
	d.Heading(2, buildStepsHeading)
	d.Para(buildsLink(p), " shows these steps of ",
		fileLink("cloudbuild/provision.yaml"), ". They run one after the other, and the build stops at the first ",
		"step that fails:")
	own := schedulerOf(p).steps
	if p.Delivery.GitOps.On() {
		own.retire = [][]markup{{"`retire`", "stops the jobs on capacities that are gone or lose nodes; it stops the " +
			"build if queues still give quota of a capacity that is gone; shrinks the node pools that get fewer " +
			"nodes"}}
	}
	rows := [][]markup{
		{"`settings`", "stops a build with other values than the values for which this folder was compiled"},
		{"`access`", "waits until the rights of the build have taken effect"},
	}
	if p.Network.Existing != nil {
		rows = append(rows, []markup{"`network`", "compares the existing network with what the platform needs"})
	}
	if !p.OwnsCluster() {
		rows = append(rows, []markup{"`cluster`", "compares the cluster with the blueprint's description of it, " +
			"and looks for " + comparedObjects(p) + " of others with the same names"})
	}
	rows = append(rows, []markup{"`turn`", "waits until all older builds of the platform have ended"})
	if p.Delivery.InfrastructureManager {
		rows = slices.Concat(rows, own.retire, [][]markup{
			{"`infrastructure`", "lets Infrastructure Manager apply " + fileLink("terraform/") + ": " + builtBy(p)},
		})
	} else {
		rows = slices.Concat(rows, [][]markup{
			{"`state-bucket`", "makes the bucket of the Terraform state versioned and private"},
			{"`unlock`", "removes the lock that a cancelled build has left"},
			{"`terraform-init`", "prepares Terraform"},
			{"`terraform-plan`", "plans the changes of " + fileLink("terraform/") + ", and prints them"},
			{"`terraform-show`", "writes the plan as JSON for the next step"},
		}, own.retire, [][]markup{
			{"`terraform-apply`", "applies the plan: " + builtBy(p)},
		})
	}
	if p.OwnsCluster() {
		rows = append(rows, []markup{
			"`metrics`", "sets the metrics that GKE collects, if the cluster has another list: Terraform sets them " +
				"only for a new cluster",
		})
	}
	d.Table([]markup{"Step", "What it does"}, append(rows, stepsInCluster(p)...))
}

// stepsInCluster lists the steps that follow Terraform.
func stepsInCluster(p *ir.Platform) [][]markup {
	rows := [][]markup{{"`credentials`", "connects the later steps to the cluster"}}
	tensorBoard := []markup{"`tensorboard`", "tells the teams' jobs the name of the TensorBoard"}
	if p.Delivery.GitOps.On() {
		if p.Monitoring.TensorBoard == "" {
			return nil
		}
		return append(rows, append(tensorBoard[:1:1], tensorBoard[1]+", in the namespaces that "+toolName(p)+
			" has created"))
	}
	own := schedulerOf(p).steps
	rows = append(rows, own.install...)
	if p.InstallsJobSet() {
		rows = append(rows, []markup{"`jobset`", "installs JobSet, and waits until it runs"})
	}
	rows = slices.Concat(rows, [][]markup{
		{"`priorities`", "deletes PriorityClasses that have changed or are gone"},
	}, own.prepare, [][]markup{
		{"`manifests`", "applies " + fileLink("kubernetes/") + ": " + schedulerOf(p).applied(p, "")},
		{"`queues`", own.queues},
	})
	if !p.InstallsScheduler() {
		rows = append(rows, []markup{"`managed`", "checks that Kueue, which others run, manages a job of each team; " +
			"it creates no job"})
	}
	if p.Monitoring.TensorBoard != "" {
		rows = append(rows, tensorBoard)
	}
	if p.Monitoring.Grafana {
		rows = append(rows, []markup{"`dashboards`", "puts the dashboards for Grafana into the cluster"})
	}
	return rows
}

// comparedObjects names what the step cluster looks for in the cluster of others.
func comparedObjects(p *ir.Platform) markup {
	if p.Delivery.GitOps.On() {
		return "node pools"
	}
	return "node pools and objects"
}

// listRemovalSteps lists the steps of the build that removes the platform from the cluster
// of others, in their order. A test compares the list with the build.
func listRemovalSteps(d *document, p *ir.Platform) {
	if p.OwnsCluster() {
		return
	}
	d.Heading(2, removalStepsHeading)
	d.Para(fileLink("cloudbuild/destroy.yaml"), " has these steps. The build stops at the first step that fails; you ",
		"can run it again:")
	rows := [][]markup{
		{"`settings`", "stops a build with other values than the values for which this folder was compiled"},
	}
	if p.TakesOver() {
		rows = append(rows, []markup{"`taken-over`", "stops the build, because the platform has taken over node pools"})
	}
	rows = append(rows,
		[]markup{"`access`", "waits until the rights of the build have taken effect"},
		[]markup{"`turn`", "waits until all older builds of the platform have ended"})
	if !p.Delivery.InfrastructureManager {
		rows = append(rows,
			[]markup{"`unlock`", "removes the lock that a cancelled build has left"},
			[]markup{"`terraform-init`", "prepares Terraform"})
	}
	rows = append(rows, []markup{"`leave`", "stops the queues; deletes the teams' namespaces, and waits until their " +
		"load balancers and disks are gone; deletes all other objects with the label " +
		codeSpan(ir.LabelPartOf+": "+p.Name) + "; gives back the namespaces that were handed over"})
	if !p.Delivery.GitOps.On() {
		for _, c := range []struct {
			installed bool
			id, name  markup
		}{
			{p.InstallsKueue(), "`uninstall-kueue`", "Kueue"}, {p.InstallsJobSet(), "`uninstall-jobset`", "JobSet"},
		} {
			if c.installed {
				rows = append(rows, []markup{c.id, "uninstalls " + c.name + " and its kinds, unless the cluster has " +
					"objects of these kinds, or others have installed it"})
			}
		}
	}
	if p.Delivery.InfrastructureManager {
		rows = append(rows,
			[]markup{"`infrastructure`", "lets Infrastructure Manager delete the resources of Terraform"})
	} else {
		rows = append(rows, []markup{"`terraform-destroy`", "deletes the resources of Terraform"})
	}
	d.Table([]markup{"Step", "What it does"}, rows)
}

// createdByTerraform lists what Terraform creates.
func createdByTerraform(p *ir.Platform) markup {
	return createdPools(p) + ", the identities, the dashboards and the alerts"
}

// createdPools names the node pools, and what Terraform creates before them.
func createdPools(p *ir.Platform) markup {
	switch {
	case !p.OwnsCluster():
		return "the node pools"
	case p.Network.Existing != nil:
		return "the cluster, its node pools"
	}
	return "the network, the cluster, its node pools"
}

// builtBy says what Terraform creates. The GPU drivers need no step of their own: GKE
// installs them on the nodes of pools that ask for it (GKE documentation, "Run GPUs in
// GKE Standard node pools").
func builtBy(p *ir.Platform) markup {
	built := createdPools(p) + ", the roles, the dashboards and the alerts"
	if p.AnyCapacity(ir.Capacity.HasGPUs) {
		built += "; GKE installs the GPU drivers on the nodes"
	}
	return built
}
