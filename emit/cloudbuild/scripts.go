package cloudbuild

import (
	"embed"
	"regexp"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

//go:embed scripts
var scripts embed.FS

// isMark matches a line of a script that a text replaces.
var isMark = regexp.MustCompile(`^# [A-Z]{2,}( [A-Z]+)*$`)

// readScript returns a script. A line "# INCLUDE FILE" is replaced by another script, and a
// line "# MARK" by the text that follows MARK in marks. The text is "" for a part that the
// platform does not need. It panics if the script has a mark without text, because a script
// that misses a part must not run.
func readScript(name string, marks ...string) string {
	source, err := scripts.ReadFile("scripts/" + name)
	if err != nil {
		panic(err) // a name in this package or in compiler/kinds without its script
	}
	texts := map[string]string{}
	for i := 0; i < len(marks); i += 2 {
		texts["# "+marks[i]+"\n"] = marks[i+1]
	}
	var out strings.Builder
	for line := range strings.Lines(string(source)) {
		file, includes := strings.CutPrefix(line, "# INCLUDE ")
		text, isText := texts[line]
		switch {
		case includes:
			line = readScript(strings.TrimSuffix(file, "\n"), marks...)
		case isText:
			line = text
		case isMark.MatchString(strings.TrimSuffix(line, "\n")):
			panic(name + " has no text for " + line)
		}
		out.WriteString(line)
	}
	return out.String()
}

// The parts of the help text about the rights of a build in the platform's own cluster, and
// in a cluster of others. Only a build of the platform's own network has networksUsage.
const (
	ownUsage = `     and gives it the rights to build the platform. They apply to the platform's
     own cluster and its teams' buckets, and to the ` + networksUsage +
		`reservations, TensorBoards, dashboards and alert policies of the whole
     project; REFERENCE.md lists them
`
	networksUsage = `networks, firewall rules,
     `
	existingUsage = `     and gives it the rights to build the platform. They apply to the node
     pools of cluster $CLUSTER, to the teams' buckets, and to the reservations,
     TensorBoards, dashboards and alert policies of the whole project; REFERENCE.md
     lists them. Before step 4, the owner of the cluster must give the account its
     rights in the cluster: --prepare prints the command
`
)

// logsUsage is the help text for the Data Access audit logs.
const logsUsage = `     and turns on the Data Access audit logs of GKE and Cloud Storage
`

// createScript returns create-platform.sh, which prepares the project and submits
// the build that provisions the platform.
func createScript(p *ir.Platform) []byte {
	d, accounts, roles, rights := p.Delivery, p.OwnAccounts(), p.Delivery.AllCustomRoles(), buildRights(p)
	assignments := commonAssignments(p)
	var logs, usage, labels string
	if p.Security.DataAccessLogs {
		logs, usage = readScript("data-access-logs.bash"), logsUsage
	}
	if len(p.Labels) > 0 {
		labels = readScript("labels.bash")
		pairs := mapElements(p.CloudLabels(), func(l ir.KeyValue) string { return l.Key + "=" + l.Value })
		assignments = append(assignments, words.ShellAssignment("LABELS", strings.Join(pairs, ",")))
	}
	var owners, ask, askPrepared string
	if foreign := p.ForeignAccounts(); len(foreign) > 0 {
		owners, ask, askPrepared = readScript("owners.bash"), "ask_owners\n", "  ask_owners\n"
		assignments = append(assignments,
			assignArray("FOREIGN_ACCOUNTS", mapElements(foreign, func(t ir.Team) string { return t.Account.Address })),
			assignArray("FOREIGN_SUBJECTS", mapElements(foreign, kubeSubject)))
	}
	usageOfRights, clusterOwner := ownUsage, ""
	if !p.OwnsCluster() {
		usageOfRights, clusterOwner = existingUsage, readScript("cluster-owner.bash")
		assignments = append(assignments, words.ShellAssignment("CLUSTER", p.Cluster.Name))
	}
	if p.Network.Existing != nil {
		usageOfRights = strings.Replace(usageOfRights, networksUsage, "", 1)
	}
	assignments = append(assignments,
		words.ShellAssignment("ACCOUNT", d.Account.ID),
		words.ShellAssignment("DISPLAY_NAME", d.Account.Display),
		words.ShellAssignment("NODE_ACCOUNT", p.NodeAccount.ID),
		words.ShellAssignment("NODE_DISPLAY_NAME", p.NodeAccount.Display),
		assignArray("TEAM_DISPLAY_NAMES", mapElements(accounts, func(t ir.Team) string { return t.Account.Display })),
		assignArray("TEAM_SUBJECTS", mapElements(accounts, kubeSubject)),
		assignArray("CUSTOM_TITLES", mapElements(roles, func(r ir.CustomRole) string { return r.Title })),
		assignArray("CUSTOM_PERMISSIONS", mapElements(roles, func(r ir.CustomRole) string {
			return strings.Join(r.Permissions, ",")
		})),
		assignArray("BUILD_CONDITIONS", mapElements(rights, func(r ir.NarrowRole) string { return r.Condition })),
		assignArray("BUILD_TITLES", mapElements(rights, func(r ir.NarrowRole) string { return r.Title })),
		words.ShellAssignment("INFRASTRUCTURE_MANAGER", strconv.FormatBool(d.InfrastructureManager)),
	)
	script := readScript("create-platform.sh", "VALUES", strings.Join(assignments, ""),
		"DATA ACCESS LOGS", logs, "DATA ACCESS USAGE", usage, "RIGHTS USAGE", usageOfRights, "LABELS", labels,
		"OWNERS", owners, "ASK OWNERS", ask, "ASK OWNERS BEFORE THE BUILD", askPrepared,
		"ASK CLUSTER OWNER", clusterOwner)
	if !p.OwnsCluster() { // there is nothing to wait for
		script = strings.NewReplacer("Once the cluster exists, run these", "Run these", "Once the cluster exists, ask",
			"Ask").Replace(script)
	}
	return []byte(script)
}

// kubeSubject returns the Kubernetes service account of a team's jobs, as the legacy
// members of Workload Identity spell it.
func kubeSubject(t ir.Team) string { return t.Namespace + "/" + t.KubeAccount }

// destroyScript returns destroy-platform.sh, which submits the build that destroys
// the platform and lists the remaining steps to do by hand.
func destroyScript(p *ir.Platform) []byte {
	image := "" // without teams nobody builds images
	if len(p.OwnTeams()) > 0 {
		image = p.ImageAccount().Email(p.Project)
	}
	assignments := append(commonAssignments(p), words.ShellAssignment("IMAGE_EMAIL", image))
	full := ""
	if p.HasBuckets() {
		full = readScript("full-buckets.bash")
		assignments = append(assignments, assignArray("TEAM_BUCKETS", p.BucketsWithData(false)))
		if deleted := p.BucketsWithData(true); len(deleted) > 0 {
			full += readScript("deleted-buckets.bash")
			assignments = append(assignments, assignArray("DELETED_BUCKETS", deleted))
		}
	}
	usage, rights, services := readScript("destroy-usage.txt"), "", readScript("destroy-services.bash")
	confirm := confirmDestroy
	if !p.OwnsCluster() {
		assignments = append(assignments, words.ShellAssignment("CLUSTER", p.Cluster.Name))
		usage = readScript("leave-usage.txt", "UNINSTALL USAGE", uninstallUsage(p))
		rights, services, confirm = readScript("leave-rights.txt"), readScript("leave-services.bash"), confirmLeave
	}
	refusal := ""
	if p.TakesOver() {
		refusal = readScript("taken-over.bash")
		assignments = append(assignments, words.ShellAssignment("TAKEN_OVER", takenOver(p)))
	}
	return []byte(readScript("destroy-platform.sh", "VALUES", strings.Join(assignments, ""), "DESTROY USAGE", usage,
		"TAKEN OVER", refusal, "FULL BUCKETS", full, "CONFIRM", confirm, "CLUSTER RIGHTS", rights,
		"SERVICES", services))
}

// takenOver names what the platform has taken over.
func takenOver(p *ir.Platform) string {
	var out []string
	if p.Cluster.TakeOver != nil {
		out = append(out, "cluster "+p.Cluster.Name)
	}
	const most = 4
	for _, pool := range p.TakenOverPools() {
		out = append(out, "node pool "+pool)
	}
	return words.First(out, most)
}

// confirmDestroy and confirmLeave are the commands that say what the script is about to
// destroy.
const (
	confirmDestroy = `  echo "This destroys the platform $NAME in project $PROJECT: the cluster, every job in it, ` +
		`and its network."` + "\n"
	confirmLeave = `  echo "This removes the platform $NAME from cluster $CLUSTER of project $PROJECT: its node ` +
		`pools, its queues, and its teams' namespaces with every job in them. ` +
		`Everything else in the cluster stays."` + "\n"
)

// uninstallUsage is the help text about the controllers that the destroying build
// uninstalls from a cluster of others.
func uninstallUsage(p *ir.Platform) string {
	var names []string
	if p.InstallsKueue() {
		names = append(names, "Kueue")
	}
	for _, c := range p.InstalledControllers() {
		names = append(names, c.Name)
	}
	if len(names) == 0 || p.Delivery.GitOps.On() {
		return ""
	}
	them := "them"
	if len(names) == 1 {
		them = "it"
	}
	return "     Then it uninstalls " + words.And(names) + ", unless others use " + them + ".\n"
}

// commonAssignments returns the assignments of values that both scripts need.
func commonAssignments(p *ir.Platform) []string {
	d := p.Delivery
	return []string{
		words.ShellAssignment("NAME", p.Name),
		words.ShellAssignment("PROJECT", p.Project),
		words.ShellAssignment("REGION", p.Region),
		words.ShellAssignment("BUILD_REGION", d.Region),
		words.ShellAssignment("EMAIL", d.Account.Email(p.Project)),
		words.ShellAssignment("NODE_EMAIL", p.NodeAccount.Email(p.Project)),
		words.ShellAssignment("BUCKET", d.StateBucket),
		words.ShellAssignment("HOLDS", bucketContents(d)),
		words.ShellAssignment("SOURCE_PREFIX", p.SourcePrefix()),
		words.ShellAssignment("REPOSITORY", d.Repository),
		words.ShellAssignment("NEEDS_WORKER_POOL", strconv.FormatBool(!p.Cluster.DNSEndpoint)),
		assignArray("APIS", d.APIs),
		assignArray("TEAM_ACCOUNTS", mapElements(p.OwnAccounts(), func(t ir.Team) string { return t.Account.ID })),
		assignArray("CUSTOM_ROLES", mapElements(p.Delivery.AllCustomRoles(),
			func(r ir.CustomRole) string { return r.ID })),
		assignArray("BUILD_ROLES", mapElements(buildRights(p), func(r ir.NarrowRole) string { return r.Role })),
	}
}

// mapElements returns the result of value for each element, in order.
func mapElements[E, V any](elements []E, value func(E) V) []V {
	out := make([]V, len(elements))
	for i, e := range elements {
		out[i] = value(e)
	}
	return out
}

// buildRights returns the roles of the build on the project in the order in which
// they are granted. A role without a condition has an empty Condition. The role that
// grants roles is the last.
func buildRights(p *ir.Platform) []ir.NarrowRole {
	d := p.Delivery
	var out []ir.NarrowRole
	if len(d.Permissions) > 0 {
		out = append(out, ir.NarrowRole{Role: d.BuildRole().Name(p.Project)})
	}
	for _, role := range d.Account.Roles {
		out = append(out, ir.NarrowRole{Role: role})
	}
	out = append(out, d.NarrowRoles...)
	return append(out, ir.NarrowRole{
		Role: "roles/resourcemanager.projectIamAdmin", Title: "Roles of nodes, jobs and members",
		Condition: grantCondition(d.GrantableRoles),
	})
}

// bucketContents describes the contents of the bucket, which always holds the
// sources of builds.
func bucketContents(d ir.Delivery) string {
	if d.InfrastructureManager {
		return "sources of the builds"
	}
	return "Terraform state"
}

// assignArray returns the assignment of an array, one element a line.
func assignArray(name string, values []string) string {
	return words.ShellArray(name, mapElements(values, func(v string) []string { return []string{v} })...)
}

// grantCondition returns the IAM condition under which the build may change the
// project's policy: it may grant and revoke only these roles.
func grantCondition(roles []string) string {
	var calls []string
	for {
		n := min(len(roles), ir.MaxRolesPerCall)
		quoted := make([]string, n)
		for i, role := range roles[:n] {
			quoted[i] = celString(role)
		}
		calls = append(calls,
			`api.getAttribute("iam.googleapis.com/modifiedGrantsByRole", []).hasOnly([`+strings.Join(quoted, ", ")+"])")
		if roles = roles[n:]; len(roles) == 0 {
			return strings.Join(calls, " || ")
		}
	}
}

// celString returns a CEL string literal. The literal contains no semicolon, because
// gcloud splits the flag with the condition at semicolons.
func celString(s string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(s), ";", `\x3b`)
}
