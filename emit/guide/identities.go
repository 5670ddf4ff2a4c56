package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// runsAs says what the jobs of a team are to Google Cloud.
func runsAs(p *ir.Platform, t ir.Team) markup {
	if t.Account != nil {
		return code(t.Account.Email(p.Project))
	}
	return code(t.KubeAccount)
}

// actsAs says what a pod needs to have the rights of its team.
func actsAs(t ir.Team) markup {
	rights := markup(" to have the team's rights in Google Cloud")
	if t.Account != nil {
		rights = " to act as the team's Google service account"
	}
	return "in its pods, " + code("serviceAccountName: "+t.KubeAccount) + rights
}

// identities says what the teams' jobs and members may do in Google Cloud, and how
// to give them more.
func identities(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Heading(2, "Identities and rights")
	var accounts []string
	for _, t := range p.TeamsWithAccount() {
		accounts = append(accounts, t.Name)
	}
	pool := "iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/" + p.Project + ".svc.id.goog"
	d.Para("Jobs need no keys. By Workload Identity Federation for GKE, Google Cloud identifies a pod by its "+
		"Kubernetes service account. Every pod of the cluster has these roles, ",
		"to write what it logs and measures: ", codes(p.JobRoles), ".")
	if i := slices.IndexFunc(p.Teams, func(t ir.Team) bool { return t.Account == nil }); i >= 0 {
		t := p.Teams[i]
		d.Para("To let the jobs of ", code(t.Name), " reach something else, such as a bucket of another project, "+
			"grant a role on it to this member; NUMBER is the project's number: ",
			code("principal://"+pool+"/subject/ns/"+t.Namespace+"/sa/"+t.KubeAccount), ".")
		if !p.Delivery.InfrastructureManager {
			d.Para("A command shows the members of all teams:")
			d.Code("sh", "terraform -chdir=terraform output team_principals")
		}
	}
	if accounts != nil {
		d.Para("The jobs of ", some(accounts),
			" act as a Google service account instead, which the blueprint asks for. ", file("create-platform.sh"), " "+
				"makes it. ",
			"Only the team's Kubernetes service account may act as it. An account that a team no longer asks for "+
				"stays until somebody deletes it.")
	} else {
		d.Para("A few services, and the rules of VPC Service Controls perimeters, do not accept such members. For "+
			"these, give the team a Google service account in the blueprint: ",
			"`teams.TEAM.serviceAccount`.")
	}
	d.Para("All clusters of a project share these identities. In another cluster of ", code(p.Project),
		" the same namespace and Kubernetes service account are the same identity, ",
		"with the same rights. Give a namespace there another name, or build each platform in a project of its own.")
	if p.HasGroups() && len(p.Monitoring.MemberRoles) > 0 {
		d.Para("The members of the teams' groups may open the dashboards",
			inTensorBoard(p), ": Terraform grants ", code(p.Cluster.SecurityGroup), " ", codes(p.Monitoring.MemberRoles),
			". They can read the metrics of the whole project. To revoke this, set `monitoring.openToMembers: false` "+
				"in the blueprint.")
	}
}

func inTensorBoard(p *ir.Platform) markup {
	if p.Monitoring.TensorBoard == "" {
		return ""
	}
	return " and the TensorBoard"
}

// accountOwners says whose service accounts the platform has.
func accountOwners(p *ir.Platform) markup {
	build := "the build (" + code(p.Delivery.Account.Email(p.Project)) + ")"
	if len(p.TeamsWithAccount()) == 0 {
		return build + " and of the nodes"
	}
	return build + ", of the nodes and of teams that ask for one"
}

// actAs says how jobs come to act as a Google service account.
func actAs(d *document, p *ir.Platform) {
	teams := p.TeamsWithAccount()
	if len(teams) == 0 {
		return
	}
	d.Para("Now that the project has identities, let the teams' Kubernetes service accounts act as the Google ones; "+
		"`./create-platform.sh --prepare` prints ",
		"these commands for every team:")
	var lines []string
	for _, t := range teams[:min(len(teams), fewTeams)] {
		lines = append(lines, command("gcloud", "iam", "service-accounts", "add-iam-policy-binding", t.Account.Email(p.Project), "--project="+
			p.Project,
			"--member=serviceAccount:"+p.Project+".svc.id.goog["+t.Namespace+"/"+t.KubeAccount+"]",
			"--role=roles/iam.workloadIdentityUser"))
	}
	d.Code("sh", lines...)
}

// buildRights says what the build may do, and where IAM lets it do more than it
// needs.
func buildRights(d *document, p *ir.Platform) {
	a := p.Delivery
	d.Para("The build has these rights. It administers no service accounts:")
	runs := "it may run nodes as " + code(p.NodeAccount.Email(p.Project)) + ", and as no other account"
	if a.InfrastructureManager {
		runs = "it may run nodes as " + code(p.NodeAccount.Email(p.Project)) +
			" and Infrastructure Manager as itself, and nothing as any other account"
	}
	items := []markup{
		runs,
		code("roles/storage.admin") + " on the bucket " + code(a.StateBucket),
	}
	for _, r := range a.NarrowRoles {
		switch r.Scope {
		case ir.ClusterScope:
			items = append(items, code(r.Role)+" on the cluster "+code(p.Cluster.Name)+"; GKE checks some "+
				"permissions on the project instead, so the build can also create and list other clusters and read "+
				"operations")
		case ir.BucketScope:
			items = append(items, code(r.Role)+" on buckets whose names begin with "+code(p.Project+"-"+p.Name+"-"))
		}
	}
	items = append(items, codes(a.Account.Roles)+" on the whole project, so also on networks, firewall rules, "+
		"dashboards and alert policies that are not the platform's")
	if len(a.Permissions) > 0 {
		items = append(items, "by a custom role, on the whole project: "+codes(a.Permissions))
	}
	items = append(items, code("roles/resourcemanager.projectIamAdmin")+", with which it may grant and revoke "+
		"these roles and no others: "+codes(a.GrantableRoles))
	d.List(items...)
}

// iamQuota shows what the platform takes of the limits that IAM has in a project.
func iamQuota(d *document, p *ir.Platform) {
	i := p.Demand.IAM
	d.Para("IAM has limits for the whole project, with all else that is in it. A member counts once for each role "+
		"that it has. The limit on service accounts can be raised, ",
		"on the same page, as ", code("Service Account Count"), "; the others cannot.")
	rows := [][]markup{{"members in the project's allow policy", digits(i.Principals), digits(ir.MaxPrincipals)}}
	if i.Groups > 0 {
		rows = append(rows, []markup{"Google groups among them", digits(i.Groups), digits(ir.MaxGroups)})
	}
	rows = append(rows, []markup{"service accounts", digits(i.ServiceAccounts), digits(ir.DefaultServiceAccounts)})
	if i.CustomRoles > 0 {
		rows = append(rows, []markup{"custom roles", digits(i.CustomRoles), digits(ir.MaxCustomRoles)})
	}
	d.Table([]markup{"Counts", "This platform", "Limit of the project"}, rows)
}
