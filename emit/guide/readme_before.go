package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// explainBefore explains what must exist before the first build.
func explainBefore(d *document, p *ir.Platform) {
	d.Heading(2, beforeHeading)
	if p.OwnsCluster() {
		d.Para("Project ", codeSpan(p.Project), " must exist, and must be linked to a billing account. Use a project ",
			"for this platform alone: then one command removes everything (", linkHere(undoHeading), ").")
	} else {
		describeExistingCluster(d, p)
	}
	d.Para("You need `bash` and the [Google Cloud CLI](https://cloud.google.com/sdk/docs/install), signed in with ",
		"`gcloud auth login`. To look at the cluster you also need `kubectl` with `gke-gcloud-auth-plugin`: run ",
		"`", installKubectl, "`. ", packagesInstead, " In [Cloud Shell](https://shell.cloud.google.com) you are ",
		"signed in, and `bash`, the Google Cloud CLI and `kubectl` are installed. Cloud Build runs everything else.")
	listCallerRoles(d, p)
	askClusterOwner(d, p)
	listMembers(d, p)
	explainExistingNetwork(d, p)
	explainTakeOver(d, p)
	explainMirror(d, p)
	quotaInShort(d, p)
	pointToReservations(d, p)
	explainDemanded(d, p)
}

// installKubectl is the command that installs kubectl and its plugin. packagesInstead
// says what to do where a package manager has installed the Google Cloud CLI. Source:
// Google Cloud documentation, "Install kubectl and configure cluster access".
const (
	installKubectl  = "gcloud components install kubectl gke-gcloud-auth-plugin"
	packagesInstead = "If a package manager has installed the Google Cloud CLI, the command that installs " +
		"components fails and prints the command to run instead."
)

// listCallerRoles lists the roles of whoever runs create-platform.sh. The commands of
// the script need them (IAM documentation: "IAM roles and permissions index"):
//
//	gcloud services enable                           serviceusage.services.enable
//	gcloud iam service-accounts create               iam.serviceAccounts.create
//	gcloud iam service-accounts add-iam-policy-...   iam.serviceAccounts.setIamPolicy
//	gcloud iam roles create, update, undelete        iam.roles.create, update, undelete
//	gcloud projects add-iam-policy-binding           resourcemanager.projects.setIamPolicy
//	gcloud artifacts repositories create, update     artifactregistry.repositories.create,
//	                                                 update
//	gcloud storage buckets create, update            storage.buckets.create, update
//	gcloud storage buckets add-iam-policy-binding    storage.buckets.setIamPolicy
//	gcloud builds submit                             cloudbuild.builds.create,
//	                                                 storage.objects.create, and
//	                                                 iam.serviceAccounts.actAs of the build
//
// A test compares the commands of the script with the table.
func listCallerRoles(d *document, p *ir.Platform) {
	policy := markup("give the build its roles")
	if p.Security.DataAccessLogs {
		policy += ", and turn on the audit logs"
	}
	rows := [][]markup{
		{"`roles/serviceusage.serviceUsageAdmin`", "enable the services"},
		{"`roles/iam.serviceAccountAdmin`", "create the service accounts, and set who may act as them"},
		{"`roles/iam.serviceAccountUser`", "submit builds that run as " +
			codeSpan(p.Delivery.Account.Email(p.Project))},
	}
	if len(p.Delivery.CustomRoles) > 0 || len(p.Delivery.Permissions) > 0 {
		rows = append(rows, []markup{"`roles/iam.roleAdmin`", "create the custom roles"})
	}
	rows = append(rows,
		[]markup{"`roles/resourcemanager.projectIamAdmin`", policy},
		[]markup{"`roles/artifactregistry.admin`", "create the repository of the teams' images"},
		[]markup{"`roles/storage.admin`", "create " + bucketPurpose(p) + ", and upload this folder to it"},
		[]markup{"`roles/cloudbuild.builds.editor`", "submit the builds"},
		[]markup{"`roles/logging.viewer`", "read the logs of the builds"})
	if !p.Cluster.DNSEndpoint {
		rows = append(rows,
			[]markup{"`roles/cloudbuild.workerPoolUser`", "run the builds in a private worker pool"})
	}
	d.Para("The scripts act as you. An owner of project ", codeSpan(p.Project),
		" (`roles/owner`) may run them. Other users require these roles in the project:")
	d.Table([]markup{"Role", "To"}, rows)
	administer := markup("`roles/container.admin`")
	if !p.OwnsCluster() {
		administer = "`roles/container.admin`, or rights in the cluster from its owner,"
	}
	d.Para("Without `roles/owner`, you also need ", administer, " to use `kubectl` as an administrator of the ",
		"cluster, and `roles/monitoring.viewer` to open the dashboards.")
}

// listMembers lists the Google groups and the accounts that must exist before the
// build. Sources: GKE documentation, "Configure Google Groups for RBAC"; IAM
// documentation, "Principal types".
func listMembers(d *document, p *ir.Platform) {
	if p.HasGroups() {
		listGroups(d, p)
	}
	accounts := p.MemberAccounts()
	if len(accounts) == 0 {
		return
	}
	d.Para("These accounts must exist first. Google Cloud does not grant a role to an account that does not exist:")
	if len(accounts) > fewTeams {
		d.List("the accounts in `member_accounts` of " + fileLink("terraform/terraform.tfvars") + ": " +
			firstNames(accounts))
	} else {
		items := make([]markup, len(accounts))
		for i, account := range accounts {
			items[i] = codeSpan(account)
		}
		d.List(items...)
	}
	when := markup(" when the cluster exists")
	if !p.OwnsCluster() {
		when = ""
	}
	d.Para("GKE tells upper and lower case apart in these addresses. Write each as Google Cloud spells it: ",
		codeSpan(shellCommand("gcloud", "projects", "get-iam-policy", p.Project)), " shows the addresses that have a ",
		"role already, and `kubectl auth whoami` prints your own", when, ". If a policy of your ",
		"organisation restricts the domains of members (`constraints/iam.allowedPolicyMemberDomains`), accounts of ",
		"other domains need an exception.")
}

// listGroups lists the Google groups that must exist before the build.
func listGroups(d *document, p *ir.Platform) {
	var names []string
	seen := map[string]bool{"": true} // several teams may share one
	for _, t := range p.Teams {
		if !seen[t.Group] {
			seen[t.Group] = true
			names = append(names, t.Group)
		}
	}
	items := []markup{"the group " + codeSpan(p.Cluster.SecurityGroup) + ", of which the teams' groups are members"}
	if len(names) > fewTeams {
		items = append(items,
			"the teams' groups, which "+fileLink("kubernetes/teams/")+" names: "+firstNames(names))
	} else {
		for _, name := range names {
			items = append(items, "the group "+codeSpan(name))
		}
	}
	d.Para("These Google groups must exist first. Google Cloud does not grant a role to a group that does not exist, ",
		"and GKE ignores a RoleBinding of such a group:")
	d.List(items...)
	d.Para("An administrator of the domain makes the teams' groups members of ", codeSpan(p.Cluster.SecurityGroup),
		", because GKE ignores other groups. In each of these groups, the permission View Members must include ",
		"Group Members. Otherwise GKE does not see who is in the group.")
	remove := markup("`cluster.securityGroup` and ")
	if !p.OwnsCluster() {
		remove = "" // the cluster has the group anyway
	}
	d.Para("Such groups need Google Workspace or Cloud Identity. To build the platform without them, remove ",
		remove, "each team's `group` from the blueprint, and list people and service accounts in ",
		"the teams' `members` instead, such as ", codeSpan(`members: ["user:ADDRESS"]`), " with your own address.")
}

// quotaInShort lists the Google Cloud quota to request, in short.
func quotaInShort(d *document, p *ir.Platform) {
	if len(p.Demand.Rows) == 0 {
		return
	}
	d.Para("Request at least this Google Cloud quota for region ", codeSpan(p.Region), " on the ",
		consoleLink("Quotas page", "iam-admin/quotas", p.Project), ". It is enough for all jobs that the teams' "+
			"quotas ",
		"can start", besidesOthers(p), ". A new project shows these quotas only after its services are enabled: first ",
		"run `./create-platform.sh --prepare`, which does everything except the build. ",
		linkTo(referencePage, quotaHeading), " says what each row counts, what is in use before the first job, and ",
		"how to see the present limits.")
	var rows [][]markup
	unverified := false
	for _, r := range p.Demand.Rows {
		if r.Admitted == 0 {
			continue
		}
		unverified = unverified || r.Metric == ""
		metric := codeSpan(r.Metric)
		if r.Metric == "" {
			metric = escapeText(r.What) + " (name of the metric not verified)"
		}
		rows = append(rows, []markup{metric, formatNumber(r.Admitted), escapeText(r.Unit)})
	}
	d.Table([]markup{"Metric", "Request at least", "Unit"}, rows)
	if unverified {
		d.Para("If a name is not verified, search the page for the machine family. If the page has no metric of the ",
			"family, there is nothing to request for it.")
	}
	warnLimits(d, p)
}

// pointToReservations refers to the reservations that must exist before the build.
func pointToReservations(d *document, p *ir.Platform) {
	var names []string
	for _, c := range p.Capacities {
		if c.Reservation != nil && !c.Reservation.Create && !c.Waiting {
			names = append(names, c.Reservation.Name)
		}
	}
	if names == nil {
		return
	}
	d.Para("These reservations must exist: ", firstNames(names), ". ", linkHere(capacitiesHeading),
		" says in which zones, and with which machines.")
	if commands := reservationCommands(p); commands != nil {
		d.Para("If you have none yet, create them with these commands, which need `roles/compute.admin`. First run ",
			"`./create-platform.sh --prepare`, which enables the Compute Engine API. Google Cloud bills a reservation ",
			"from its creation on, even if no node uses it. A command fails, and creates nothing, if Google Cloud has ",
			"no such machines free, or reserves the machine type only in advance.")
		d.Code("sh", commands...)
	}
}

// reservationCommands returns the commands that create the reservations which must
// exist before the build, for exactly the machines of a capacity. A reservation of
// another project, of a calendar, of TPUs, in several zones, or of several capacities
// has no command, because its owner, its days or its number of machines are not in the
// blueprint. Source of the flags: Google Cloud CLI reference, "gcloud compute
// reservations create". Local SSDs that come with a machine type need no flag (Cluster
// Toolkit, guide of A3 High, "Manual creation of reservation").
func reservationCommands(p *ir.Platform) []string {
	users := map[string]int{}
	for _, c := range p.Capacities {
		if c.Reservation != nil {
			users[c.Reservation.Name]++
		}
	}
	var commands []string
	for _, c := range p.Capacities {
		r := c.Reservation
		if r == nil || r.Create || c.Waiting || !c.OwnsReservation() || c.ByCalendar() || c.HasTPUs() ||
			len(c.Zones) != 1 || users[r.Name] > 1 || r.Block != "" {
			continue
		}
		arguments := []string{"gcloud", "compute", "reservations", "create", r.Name, "--project=" + p.Project,
			"--zone=" + c.Zones[0], "--vm-count=" + strconv.Itoa(c.MaxNodes), "--machine-type=" + c.Machine.Type,
			"--require-specific-reservation"}
		if c.HasGPUs() {
			arguments = append(arguments,
				"--accelerator=count="+strconv.Itoa(c.Machine.AcceleratorCount)+",type="+c.Machine.Accelerator)
		}
		for range c.LocalSSDs {
			arguments = append(arguments, "--local-ssd=interface=nvme,size="+strconv.Itoa(c.Machine.SSDSizeGB))
		}
		commands = append(commands, shellCommand(arguments...))
	}
	return commands
}

// warnLimits warns if the quotas admit more than the limits of node auto-provisioning
// allow.
func warnLimits(d *document, p *ir.Platform) {
	if !p.AutoProvisioning.Create {
		return
	}
	for _, l := range p.AutoProvisioning.Limits {
		var need int
		var unit, field markup
		switch l.Type {
		case ir.CPU:
			need, unit, field = p.Demand.VCPUs, "vCPUs", "maxCPU"
		case ir.Memory:
			need, unit, field = p.Demand.MemoryGiB, "GiB of memory", "maxMemoryGiB"
		}
		if need > l.Max {
			nodes, raise := markup("the system pool and of "), markup("Raise ")
			if !p.OwnsCluster() {
				nodes, raise = "", "Nodes of others count, too. Ask the owner of the cluster to raise the limit, and "+
					"write the new one as "
			}
			d.Para("Node auto-provisioning limits the whole cluster to ", formatNumber(l.Max), " ", unit,
				". The nodes of ", nodes, "all jobs that the quotas admit need ", formatNumber(need), " ", unit,
				". Jobs beyond the limit wait for nodes. ", raise, limitField(p, field), " in the blueprint, or lower ",
				"the quotas.")
		}
	}
}
