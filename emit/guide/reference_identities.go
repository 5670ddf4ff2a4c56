package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// explainIdentities explains which rights the teams' jobs and members have in Google
// Cloud, and how to extend them.
func explainIdentities(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Heading(2, rightsHeading)
	explainMembers(d, p)
	var accounts []string
	for _, t := range p.OwnAccounts() {
		accounts = append(accounts, t.Name)
	}
	pool := "iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/" + p.Project + ".svc.id.goog"
	writes := markup("logs and metrics")
	if p.Monitoring.TensorBoard != "" {
		writes = "logs and metrics, and data to the TensorBoard"
	}
	who := markup("Every pod of the cluster has")
	if !p.OwnsCluster() {
		who = "The jobs of the teams have"
	}
	d.Para("Jobs need no keys: with Workload Identity Federation for GKE, Google Cloud identifies a pod by its ",
		"Kubernetes service account. ", who, " these roles, to write ", writes, ": ",
		codeList(p.JobRoles), ".")
	if i := slices.IndexFunc(p.Teams, func(t ir.Team) bool { return t.Account == nil }); i >= 0 {
		t := p.Teams[i]
		d.Para("To give the jobs of ", codeSpan(t.Name),
			" access to another resource, such as a bucket of another project, ",
			"grant a role on the resource to this member, with the project's number for NUMBER: ",
			codeSpan("principal://"+pool+"/subject/ns/"+t.Namespace+"/sa/"+t.KubeAccount), ".")
		if !p.Delivery.InfrastructureManager {
			d.Para("These commands show the members of all teams. They need Terraform and its credentials, as in ",
				linkHere(stepsHeading), ":")
			d.Code("sh",
				initCommand(p),
				"terraform -chdir=terraform output team_principals")
		}
	}
	if accounts != nil {
		has := "Team " + firstNames(accounts) + " has"
		if len(accounts) > 1 {
			has = "Each of the teams " + firstNames(accounts) + " has"
		}
		d.Para(has, " a Google service account of its own, because the blueprint asks for it. Jobs act as the account ",
			"of their team. ", fileLink("create-platform.sh"), " creates the account, and only the Kubernetes service ",
			"account of the team may act as it. If the blueprint no longer asks for the account, it stays until ",
			"somebody deletes it.")
	}
	if len(p.ForeignAccounts()) > 0 {
		d.Para("Some service accounts belong to somebody else: ", linkTo(readmePage, foreignHeading),
			" says what their owners must do.")
	}
	if !p.HasTeamAccounts() {
		d.Para(
			"A few services, and the rules of VPC Service Controls perimeters, do not accept such members. If a team ",
			"needs them, give the team a Google service account with `teams.TEAM.serviceAccount` in the blueprint.")
	}
	ownProject := markup(", or build each platform in its own project")
	if !p.OwnsCluster() {
		ownProject = ""
	}
	d.Warning("All clusters of a project share these identities. If another cluster of ", codeSpan(p.Project),
		" has the same namespace and Kubernetes service account, its pods have the rights of this team. Give the ",
		"namespace in the other cluster another name", ownProject, ".")
	if p.HasMembers() && len(p.Monitoring.MemberRoles) > 0 {
		d.Para("The members of the teams may open the dashboards", inTensorBoard(p),
			", because Terraform grants ",
			codeList(p.Monitoring.MemberRoles), " to ", membersInIAM(p),
			". They can read the metrics of the whole project. To revoke this, set `monitoring.openToMembers: false` ",
			"in the blueprint.")
	}
	explainGrants(d, p)
	explainSeparation(d, p)
	podSecurity(d, p)
}

// explainGrants explains how an administrator lets people push images and use the
// teams' buckets, which the platform does not allow by itself. Sources for the condition:
// IAM documentation, "Resource attributes for IAM Conditions" (the names of buckets and
// objects); gcloud reference, "gcloud projects add-iam-policy-binding".
func explainGrants(d *document, p *ir.Platform) {
	d.Para("Nodes may pull all images of the project. The platform gives nobody the right to push images. This ",
		"command lets others push images to the platform's repository. MEMBER is a person or a group, such as ",
		"`user:analyst@example.com` or `group:lab@example.com`:")
	d.Code("sh", shellCommand("gcloud", "artifacts", "repositories", "add-iam-policy-binding", p.Delivery.Repository,
		"--project="+p.Project, "--location="+p.Delivery.Region, "--member=MEMBER",
		"--role=roles/artifactregistry.writer", unconditional))
	if p.HasBuckets() {
		d.Para("The jobs of a team and the owners of the project may use the team's bucket. Terraform sets the ",
			"policy of the bucket, so the next build revokes every other role on it. The plan that first sets the ",
			"policy of an existing bucket does not show these roles; ",
			"`gcloud storage buckets get-iam-policy gs://BUCKET` lists them. This command lets others read and ",
			"write the bucket by a role on the project, which the builds keep:")
		d.Code("sh", shellCommand("gcloud", "projects", "add-iam-policy-binding", p.Project,
			"--member=MEMBER", "--role=roles/storage.objectUser",
			`--condition=title=Bucket BUCKET,expression=resource.name == "projects/_/buckets/BUCKET" || `+
				`resource.name.startsWith("projects/_/buckets/BUCKET/")`))
	}
}

// explainMembers explains how the members of a team get access.
func explainMembers(d *document, p *ir.Platform) {
	if !p.HasMembers() {
		return
	}
	who := markup("The members of a team's Google group submit its jobs. ")
	switch accounts := len(p.MemberAccounts()) > 0; {
	case accounts && p.HasGroups():
		who = "The members of a team's Google group, and the people and service accounts in its list, submit its jobs. "
	case accounts:
		who = "The people and service accounts that a team lists submit its jobs. "
	}
	d.Para(who, "The role ", codeSpan(ir.MemberRole), " of ", membersInIAM(p),
		" lets them connect to the cluster. The RoleBinding ",
		"in the team's namespace lets them submit jobs.")
}

// membersInIAM names the principals to which Terraform grants the roles of members.
func membersInIAM(p *ir.Platform) markup {
	names := p.MemberAccounts()
	if p.HasGroups() {
		names = slices.Insert(names, 0, p.Cluster.SecurityGroup)
	}
	return firstNames(names)
}

// explainSeparation explains how the network separates the teams. Source for the
// exceptions: Kubernetes documentation, "Network Policies" (pods with hostNetwork),
// and GKE documentation, "About multi-network network policies".
func explainSeparation(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Para("The network separates the teams: in each team's namespace the NetworkPolicy `team-only` lets pods accept ",
		"connections only from the same namespace. Egress stays open, also to DNS, the metadata server and the API ",
		"server.")
	if !p.OwnsCluster() && !p.Cluster.Existing.DataplaneV2 {
		d.Para("The cluster has no Dataplane V2. The policy has an effect only if something else in the cluster ",
			"enforces network policies.")
	}
	if slices.ContainsFunc(p.Workloads, func(w ir.Workload) bool { return w.HostNetwork }) {
		d.Para("The policy does not cover pods that use the network of their nodes: every pod can reach them. ",
			"They can reach the teams' pods on their own node, and all other pods that use the network of a node.")
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect != "" }) {
		d.Para("The policy does not cover the networks of GPUDirect, only the cluster's own network.")
	}
}

// inTensorBoard continues the list of what members may open.
func inTensorBoard(p *ir.Platform) markup {
	if p.Monitoring.TensorBoard == "" {
		return ""
	}
	return " and the TensorBoard"
}

// accountOwners names the owners of the service accounts of the platform.
func accountOwners(p *ir.Platform) markup {
	build := "the build (" + codeSpan(p.Delivery.Account.Email(p.Project)) + ")"
	if len(p.OwnAccounts()) == 0 {
		return build + " and of the nodes"
	}
	return build + ", of the nodes, and of the teams that have one"
}

// actAs shows the commands that let jobs act as a Google service account.
func actAs(d *document, p *ir.Platform) {
	teams := p.OwnAccounts()
	if len(teams) == 0 {
		return
	}
	d.Para(
		"The cluster has given the project its pool of identities. Now let the teams' Kubernetes service accounts act ",
		"as the teams' Google service accounts. `./create-platform.sh --prepare` prints these commands for every team:")
	var lines []string
	for _, t := range teams[:min(len(teams), fewTeams)] {
		lines = append(lines, shellCommand("gcloud", "iam", "service-accounts", "add-iam-policy-binding",
			t.Account.Email(p.Project), "--project="+p.Project,
			"--member=serviceAccount:"+p.Project+".svc.id.goog["+t.Namespace+"/"+t.KubeAccount+"]",
			"--role=roles/iam.workloadIdentityUser", unconditional))
	}
	d.Code("sh", lines...)
}

// buildRights lists the rights of the build, and names the cases in which IAM
// grants more than the build needs.
func buildRights(d *document, p *ir.Platform) {
	a := p.Delivery
	d.Heading(2, buildRightsHeading)
	d.Para("The build has these rights. It cannot administer service accounts:")
	runs := "it may run nodes as " + codeSpan(p.NodeAccount.Email(p.Project)) + " and as no other account"
	if a.InfrastructureManager {
		runs = "it may run nodes as " + codeSpan(p.NodeAccount.Email(p.Project)) +
			" and Infrastructure Manager as its own account; it may use no other account"
	}
	items := []markup{
		runs,
		codeSpan("roles/storage.admin") + " on the bucket " + codeSpan(a.StateBucket),
	}
	for _, r := range a.NarrowRoles {
		switch r.Scope {
		case ir.ClusterScope:
			items = append(items, codeSpan(r.Role)+" on the cluster "+codeSpan(p.Cluster.Name)+clusterRight(p))
		case ir.BucketScope:
			items = append(items,
				codeSpan(r.Role)+" on buckets whose names begin with "+codeSpan(p.Project+"-"+p.Name+"-"))
		}
	}
	includes := markup("")
	if p.OwnsNetwork() {
		includes = "networks, firewall rules, "
	}
	items = append(items, codeList(a.Account.Roles)+" on the whole project, which includes "+includes+
		"dashboards and alert policies that do not belong to the platform")
	if p.SharesVPC() {
		items = append(items, codeSpan("roles/compute.networkUser")+" on the subnets that "+
			fileLink(networkTeamPage)+" lists")
	}
	if !p.OwnsCluster() {
		items = append(items, "`cluster-admin` in the cluster, by the ClusterRoleBinding "+codeSpan(buildBinding(p))+
			" ("+linkTo(readmePage, beforeHeading)+")")
	}
	if len(a.Permissions) > 0 {
		items = append(items, "by a custom role, on the whole project: "+codeList(a.Permissions))
	}
	items = append(items, codeSpan("roles/resourcemanager.projectIamAdmin")+", limited to granting and revoking these "+
		"roles: "+codeList(a.GrantableRoles))
	d.List(items...)
}

// clusterRight says what the role of the build on its cluster permits besides, and which
// rights the build has in a cluster of others. Source: GKE documentation, "IAM permissions
// for the GKE API", about node pools.
func clusterRight(p *ir.Platform) markup {
	if p.OwnsCluster() {
		return "; GKE checks some permissions on the project instead, so the build can also create and list other " +
			"clusters and read operations"
	}
	return ", to create, change and delete node pools. GKE has no narrower right for them: the build could also " +
		"change settings of the cluster, and list other clusters and read operations. It cannot delete the cluster"
}
