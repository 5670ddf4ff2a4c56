package guide

import (
	"net/url"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
)

// explainBuild explains how to build the platform.
func explainBuild(d *document, p *ir.Platform) {
	d.Heading(2, buildHeading)
	pools, nodes := idlePools(p)
	if nodes > 0 {
		d.Warning("The build creates nodes that cost money even if no job runs: ", formatNumber(nodes), " (",
			markdown.Join(pools, ", "), "). To see the costs before, run `batchwright cost` with a file of your ",
			"prices.")
	}
	d.Para("Run this command in the folder. You can run it again at any time, also to apply a change:")
	d.Code("sh", "./create-platform.sh")
	d.Para("The command enables the services that the platform needs. It creates the service accounts of ",
		accountOwners(p), ". It also creates ", bucketPurpose(p), " (", codeSpan(p.Delivery.StateBucket),
		") and the repository of the teams' images (", codeSpan(p.Delivery.Repository), "). Then it submits ",
		fileLink("cloudbuild/provision.yaml"), ", which builds the rest", exceptObjects(p),
		". It prints the address of the build's log, ",
		"waits for the build, and stops at the first error. ",
		buildsLink(p),
		" lists all builds. ", linkTo(referencePage, buildStepsHeading), " says what each step does, and ",
		linkTo(referencePage, buildRightsHeading), " what the build may do.")
	if nodes == 0 {
		d.Para("Without jobs, the platform has no nodes. `batchwright cost` computes the costs from a file with your ",
			"prices.")
	}
	explainTime(d, p)
	explainInterrupted(d, p)
	if v := p.Cluster.MinVersion; v != "" {
		d.Para("A new cluster starts with GKE ", escapeText(v), ", and release channel ",
			escapeText(p.Cluster.ReleaseChannel),
			" upgrades it from this version. If you raise `minVersion`, the next build upgrades the control plane of "+
				"an ", "existing cluster. If you lower it, nothing changes.")
	}
	explainLogging(d, p)
	listUpgrades(d, p)
	if !p.Cluster.DNSEndpoint {
		d.Para(
			"The control plane is reachable only from inside its network. Give both scripts a private worker pool in ",
			"this network, `--worker-pool=POOL`, and run `kubectl` in this network too.")
	}
	ways := markup("")
	if !p.Delivery.InfrastructureManager {
		ways = " To deploy this folder with Cluster Toolkit's `gcluster`, see " +
			linkTo(referencePage, toolkitHeading) + "."
	}
	d.Para("To build by hand, without Cloud Build, see ", linkTo(referencePage, stepsHeading), ".", ways)
	askOwners(d, p)
}

// exceptObjects says what a GitOps tool adds to what the build makes, if there is one.
func exceptObjects(p *ir.Platform) markup {
	if !p.Delivery.GitOps.On() {
		return ""
	}
	return " with Terraform; " + toolName(p) + " adds the objects in the cluster (" + linkHere(syncHeading) + ")"
}

// buildsLink returns a link to the builds of the platform in the console.
func buildsLink(p *ir.Platform) markup {
	return consoleLink("Cloud Build", "cloud-build/builds;region="+url.QueryEscape(p.Delivery.Region), p.Project)
}

// explainTime explains how long a build takes. Google documents no time for creating a
// cluster. Source for the limit of 40 minutes: documentation of the Terraform provider
// hashicorp/google, google_container_cluster, "Timeouts". A test compares the hours with
// the builds.
func explainTime(d *document, p *ir.Platform) {
	hours := markup("11")
	if p.Delivery.GitOps.On() {
		hours = "7" // without the steps that apply manifests
	}
	first := markup("because it creates the cluster. Google documents no time for this, only the limits are known: " +
		"Terraform gives up if the cluster is not ready after 40 minutes, and Cloud Build stops")
	if !p.OwnsCluster() {
		first = "because it creates the node pools. Cloud Build stops"
	}
	d.Para("The first build takes longest, ", first, " the build after about "+hours+" hours (`timeout` at the end of ",
		fileLink("cloudbuild/provision.yaml"), "). A later build changes only what differs.")
}

// explainInterrupted explains what happens after a cancelled build.
func explainInterrupted(d *document, p *ir.Platform) {
	m := markup("A build waits until all older builds of the platform have ended, and repairs what a cancelled build " +
		"has left behind. ")
	if p.Delivery.InfrastructureManager {
		m += "Infrastructure Manager goes on when its build is cancelled, and the next build waits for it."
	} else {
		m += "If the build's log says that the Terraform state is locked, make sure that no other process " +
			"uses the state. Then run the command that the log prints: it removes the lock."
	}
	d.Para(m)
}

// listUpgrades lists the upgrades that GKE holds back.
func listUpgrades(d *document, p *ir.Platform) {
	var held []markup
	for _, e := range p.Cluster.Maintenance.Exclusions {
		held = append(held,
			"exclusion "+codeSpan(e.Name)+": "+escapeText(e.Scope)+" from "+escapeText(e.Start)+" to "+
				escapeText(e.End))
	}
	for _, c := range p.Capacities {
		if c.KeepsVersion {
			held = append(held, "nodes of "+codeSpan(c.Name)+": their version stays until its support ends")
		}
	}
	if held == nil {
		return
	}
	m := p.Cluster.Maintenance
	if p.OwnsCluster() {
		d.Para("GKE upgrades the cluster and its nodes in the window on ", escapeText(strings.Join(m.Days, ", ")),
			" from ", escapeText(m.Start), " UTC, except:")
	} else {
		d.Para("GKE upgrades the nodes in the maintenance window of the cluster, except:")
	}
	d.List(held...)
}
