package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on the identities of the teams' jobs and of the nodes in Google Cloud, and on
// their rights.

func identityRules() []Rule {
	return []Rule{
		rule("E0210", "role of a team or of the nodes reaches beyond the teams", wideRoles, fieldwise),
		rule("W0214", "role of the nodes is available to pods of every team", nodeRoles),
		rule("E0254", "roles for a service account that belongs to somebody else", foreignRoles),
		rule("E0220", "service account is used twice", sharedAccounts),
		rule("E0221", "more principals than the project's allow policy can hold", checkPrincipals, whole),
		rule("W0222", "more service accounts than a project's default quota", serviceAccounts, whole),
		rule("E0223", "more roles than the condition on the build's account can list", grantableRoles, whole),
	}
}

// wideRole is a family of predefined roles that neither a team's jobs nor the nodes may
// have, because a job can run any code that a member submits.
type wideRole struct {
	pattern *regexp.Regexp
	gives   string // the right that the role gives to its holder
}

// wideRoleFamilies returns the families. The first one that matches a role applies.
//
// Source: IAM documentation, "IAM roles and permissions index".
func wideRoleFamilies() []wideRole {
	return []wideRole{
		{regexp.MustCompile(`^roles/(owner|editor|viewer|admin|writer|reader)$`), "permissions on the whole project"},
		{regexp.MustCompile(`^roles/resourcemanager\.`),
			"permission to grant any role, or to move and delete projects"},
		{
			regexp.MustCompile(`^roles/iam\..*(Admin|Creator|Deleter|User)$`),
			"permission to act as other accounts, or to grant roles",
		},
		{
			regexp.MustCompile(`(^roles/|\.)[A-Za-z]*[sS]erviceAgent$`),
			"the permissions of a Google service in the whole project",
		},
		{
			regexp.MustCompile(`^roles/container\.(admin|clusterAdmin|developer)$`),
			"access to every namespace of every cluster, regardless of Kubernetes RBAC",
		},
		{
			regexp.MustCompile(`^roles/gkehub\.(admin|editor|gatewayAdmin|gatewayEditor)$`),
			"access to every cluster of the fleet, regardless of Kubernetes RBAC",
		},
		{
			regexp.MustCompile(`^roles/storage\.(admin|objectAdmin|objectUser|folderAdmin|hmacKeyAdmin)$`),
			"access to the buckets of all teams and to the Terraform state",
		},
		{
			regexp.MustCompile(`^roles/compute\.(admin|instanceAdmin|instanceAdmin\.v1|osAdminLogin|osLogin)$`),
			"permission to create machines without a queue, or to log in to nodes",
		},
		{
			regexp.MustCompile(
				`^roles/compute\.(networkAdmin|securityAdmin|loadBalancerAdmin|storageAdmin|orgSecurity[A-Za-z]*)$`),
			"control of the networks, firewalls or disks of the whole project",
		},
		{regexp.MustCompile(`^roles/cloudbuild\.`), "permission to run builds as the account that builds the platform"},
		{
			regexp.MustCompile(`^roles/(config|deploymentmanager|clouddeploy)\.` +
				`[A-Za-z]*([aA]dmin|[eE]ditor|agent|[rR]unner|[dD]eveloper|[oO]perator)$`),
			"permission to run deployments as other accounts",
		},
		{
			regexp.MustCompile(`^roles/(cloudfunctions|run|composer|appengine)\.` +
				`[A-Za-z]*([aA]dmin|[dD]eveloper|[eE]ditor|[dD]eployer)$`),
			"permission to run programs as other accounts",
		},
		{
			regexp.MustCompile(`^roles/serviceusage\.(serviceUsageAdmin|apiKeysAdmin)$`),
			"permission to disable the services that the platform needs",
		},
		{
			regexp.MustCompile(`^roles/(secretmanager|cloudkms|artifactregistry|logging|monitoring|orgpolicy|` +
				`accesscontextmanager|privilegedaccessmanager)\.([a-zA-Z]*[aA]dmin)$`),
			"full control of one service in the whole project",
		},
	}
}

// handsOver returns the rights beyond a team's own that a role gives, or "" for a
// role that a team or the nodes may have. It does not know custom roles.
func handsOver(families []wideRole, role string) string {
	for _, w := range families {
		if w.pattern.MatchString(role) {
			return w.gives
		}
	}
	return ""
}

func wideRoles(r *report) {
	families := wideRoleFamilies()
	for path, role := range every[string](r, "cluster.nodes.roles.[]") {
		if gives := handsOver(families, role); gives != "" {
			r.add(path, say("%s gives the nodes, and pods on their network, %s", role, gives),
				help("choose a role with only the permissions that the nodes need, or grant this role on the resource "+
					"itself"))
		}
	}
	for path, role := range every[string](r, "teams.*.roles.[]") {
		if gives := handsOver(families, role); gives != "" {
			r.add(path, say("%s gives the jobs of team %q %s", role, path.name(), gives),
				help("choose a role with only the permissions that the jobs need, such as roles/bigquery.jobUser, or "+
					"grant this role on the resource itself"))
		}
	}
}

// nodeRoles reports the roles of the nodes that pods of any team can use. A pod that uses
// the network of its node has the node's identity (GKE documentation: "About Workload
// Identity Federation for GKE"). A role that every job has anyway gives it nothing.
func nodeRoles(r *report) {
	known := slices.Concat(ir.RequiredNodeRoles(), r.Plan.JobRoles)
	families := wideRoleFamilies()
	for path, role := range every[string](r, "cluster.nodes.roles.[]") {
		if slices.Contains(known, role) || handsOver(families, role) != "" { // wideRoles reports these
			continue
		}
		r.add(path, say("pods of every team that use the network of their node have %s", role),
			helpOrAccept("if all teams may have the role", `give the role to the teams whose jobs need it: teams: `+
				`TEAM: roles: [%q]`, role))
	}
}

// accountOwner is the user of a service account, and the field that gives it the account.
type accountOwner struct {
	name  string
	field option
}

// sharedAccounts checks that only the team's jobs act as the team's Google service
// account, and only the nodes as theirs: any other user of the account would have the
// rights of both.
func sharedAccounts(r *report) {
	project := r.Plan.Project
	nodes, name := at("cluster", "nodes", "serviceAccount"), see(at("name"), "the name of the platform")
	owners := map[string]accountOwner{
		r.Plan.Delivery.Account.Email(project): {"the account of the build", name},
		r.Plan.ImageAccount().Email(project):   {"the account that builds images", name},
	}
	address, of := r.Plan.NodeAccount.Email(project), name
	if r.Blueprint.Cluster.Nodes.ServiceAccount != nil {
		of = see(nodes, "the account of the nodes")
		if owner, taken := owners[address]; taken {
			r.add(nodes, say("service account %q already is %s", r.Plan.NodeAccount.ID, owner.name), owner.field,
				help("remove serviceAccount: the nodes then have the account %q", r.Plan.Name+"-nodes"))
			return
		}
	}
	owners[address] = accountOwner{"the account of the nodes", of}
	for _, t := range r.Plan.TeamsWithAccount() {
		account := at("teams", t.Name, "serviceAccount")
		address := t.Account.Email(project)
		if owner, taken := owners[address]; taken {
			r.add(account, say("service account %q already is %s", cmp.Or(t.Account.ID, address), owner.name),
				owner.field, help("write serviceAccount: %q", "wi-"+t.Name))
			continue
		}
		owners[address] = accountOwner{fmt.Sprintf("the account of team %q", t.Name), see(account, "the other team")}
	}
}

// foreignRoles reports roles of a team whose service account belongs to somebody else:
// the platform grants such an account nothing on the project.
func foreignRoles(r *report) {
	for _, t := range r.Plan.ForeignAccounts() {
		if roles := r.Blueprint.Teams[t.Name].Roles; len(roles) > 0 {
			r.add(at("teams", t.Name, "roles"),
				say("the roles of team %q are for a service account that belongs to somebody else", t.Name),
				see(at("teams", t.Name, "serviceAccount"), "the service account"),
				help("remove roles, and let the project's administrators grant them to %s", t.Account.Address))
		}
	}
}

// checkPrincipals checks the project's allow policy against the limits of IAM, which
// cannot be raised.
func checkPrincipals(r *report) {
	d := r.Plan.Demand.IAM
	if d.Principals <= ir.MaxPrincipals {
		return
	}
	teams, accounts := 0, 0
	for _, t := range r.Plan.Teams {
		teams += len(t.Roles)
	}
	accounts = len(r.Plan.OwnAccounts()) * len(r.Plan.JobRoles)
	advice := fmt.Sprintf("%d of them are for the teams' roles: grant these roles on the resources themselves, or "+
		"move some teams to a platform in a second project", teams)
	if !r.Plan.OwnsCluster() {
		advice += "; in a cluster that others own, the jobs of every team also need " +
			words.Count(len(r.Plan.JobRoles), "role")
	}
	if accounts > 0 && r.Plan.OwnsCluster() {
		advice += fmt.Sprintf("; a team without serviceAccount needs %d fewer", len(r.Plan.JobRoles))
	}
	if people := len(r.Plan.MemberAccounts()) * (1 + len(r.Plan.Monitoring.MemberRoles)); people > 0 {
		advice += fmt.Sprintf("; %d are for the accounts in members of the teams: with Google groups instead, all "+
			"people together need at most %d", people, 1+len(r.Plan.Monitoring.MemberRoles))
	}
	r.addKey(at("teams"),
		say("the project's allow policy would hold %d principals, each counted once for every role, but IAM allows %d",
			d.Principals, ir.MaxPrincipals), advise(advice))
}

func serviceAccounts(r *report) {
	if n := r.Plan.Demand.IAM.ServiceAccounts; n > ir.DefaultServiceAccounts {
		r.addKey(at("teams"), say("the platform has %d service accounts, but the default quota of a project is %d", n,
			ir.DefaultServiceAccounts), help(`raise the quota "Service Account Count" `+
			`(iam.googleapis.com/quota/service-account-count) to at least %d, `+"or remove serviceAccount from "+
			"some teams: jobs have the same permissions without it", n))
	}
}

func grantableRoles(r *report) {
	if n := len(r.Plan.Delivery.GrantableRoles); n > ir.MaxGrantableRoles {
		own := 0
		for _, role := range r.Plan.Delivery.GrantableRoles {
			if slices.ContainsFunc(r.Plan.Teams, func(t ir.Team) bool { return slices.Contains(t.Roles, role) }) {
				own++
			}
		}
		r.addKey(at("teams"), say("the build would grant %d different roles, but its IAM condition can list at most %d",
			n, ir.MaxGrantableRoles), help("%d of them are roles of teams: replace them in teams.TEAM.roles with "+
			"a custom role, "+`"projects/PROJECT/roles/ID"`, own))
	}
}
