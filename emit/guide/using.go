package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// usingFile returns USING.md. Its commands run as they stand: where a value differs
// between teams, the page sets a shell variable once.
func usingFile(p *ir.Platform) ([]byte, error) {
	if len(p.Teams) == 0 {
		return newPage(p, describeUsing).Bytes(), nil
	}
	example, err := newExample(p)
	if err != nil {
		return nil, err
	}
	return newPage(p, describeUsing,
		explainAccess, showYourTeam, explainSubmit,
		func(d *document, p *ir.Platform) { explainOwnJob(d, p, example) }, explainOwnImage,
		showResults, explainWaiting, explainPromises, explainLogs, listRefused,
	).Bytes(), nil
}

// describeUsing says who reads the page.
func describeUsing(d *document, p *ir.Platform) {
	d.Heading(1, "Using "+codeSpan(p.Name))
	if len(p.Teams) == 0 {
		d.Para("The platform has no teams yet, so nobody can submit jobs. ", fileLink(readmePage),
			" explains how to change the platform.")
		return
	}
	d.Para("Read this page if you submit jobs to ", codeSpan(p.Name), ". A job is a Job or a JobSet of Kubernetes. ",
		"You put it into a queue of your team, and ", schedulerName(p), " starts it when your team's share of the ",
		"platform has room. ", fileLink(readmePage), " is for the administrators of the platform.")
	d.Para("You need a copy of the folder that has this page: clone its git repository, or ask an administrator. ",
		"Run all commands in this folder, in one shell such as `bash`.")
}

// explainAccess explains how to connect to the cluster.
func explainAccess(d *document, p *ir.Platform) {
	d.Heading(2, accessHeading)
	explainWho(d, p)
	d.Para("In [Cloud Shell](https://shell.cloud.google.com) the programs that you need are installed, and you are ",
		"signed in. Anywhere else, install the [Google Cloud CLI](https://cloud.google.com/sdk/docs/install) and ",
		"`kubectl` with `gke-gcloud-auth-plugin`, and sign in:")
	d.Code("sh", installKubectl, "gcloud auth login")
	d.Para(packagesInstead)
	if slices.ContainsFunc(p.MemberAccounts(), func(m string) bool { return strings.HasPrefix(m, "serviceAccount:") }) {
		explainProgram(d)
	}
	if p.HasWorkforce() {
		d.Para("If you sign in through the identity provider of your organisation, with Workforce Identity ",
			"Federation, sign in with the login configuration that your administrators give you:")
		d.Code("sh", "gcloud auth login --login-config=FILE")
	}
	d.Para("Get credentials once:")
	d.Code("sh", credentialsCommand(p))
	if !p.Cluster.DNSEndpoint {
		d.Para("The cluster is reachable only from inside its network. Run `kubectl` on a machine in this network.")
	}
}

// explainWho explains who may submit jobs.
func explainWho(d *document, p *ir.Platform) {
	table := "The table " + linkTo(readmePage, teamsHeading) + " says who may submit the jobs of a team: "
	listed := len(p.MemberAccounts()) > 0
	switch {
	case p.HasGroups():
		who := markup("the members of its Google group")
		if listed {
			who = "the members of its Google group, or people and service accounts by their own addresses"
		}
		d.Para(table, who, ". The group of a team must itself be a member of ", codeSpan(p.Cluster.SecurityGroup),
			". If you are missing, or the group is new, ask an administrator.")
	case listed:
		d.Para(table, "people and service accounts, by their own addresses. If yours is missing, ask an administrator.")
	default:
		d.Para("No team has members, so only administrators of the cluster can submit jobs.")
	}
}

// explainProgram explains how a program that is a member signs in. Source: GKE
// documentation, "Authorize actions in clusters using role-based access control",
// about service accounts on Compute Engine VM instances.
func explainProgram(d *document) {
	d.Para("A program that submits jobs as a service account does not run `gcloud auth login`: it uses the ",
		"credentials of the place where it runs. On a Compute Engine VM the account also needs the access scope ",
		"`https://www.googleapis.com/auth/userinfo.email`. Without it GKE does not know the address of the account, ",
		"and the account has no rights in the cluster.")
}

// homeTeam returns the team of the examples: the team of the first workload, or else
// the first team that has queues. The platform must have a team.
func homeTeam(p *ir.Platform) ir.Team {
	named := func(t ir.Team) bool { return len(p.Workloads) > 0 && t.Name == p.Workloads[0].Team }
	for _, is := range []func(ir.Team) bool{named, func(t ir.Team) bool { return len(t.Queues) > 0 }} {
		if i := slices.IndexFunc(p.Teams, is); i >= 0 {
			return p.Teams[i]
		}
	}
	return p.Teams[0]
}

// showYourTeam lists what belongs to each team, and sets the variables of the page.
func showYourTeam(d *document, p *ir.Platform) {
	d.Heading(2, yourTeamHeading)
	bucket := markup("")
	if p.HasBuckets() {
		bucket = " The bucket is a Cloud Storage bucket that the team's jobs can read and write. If people also need " +
			"it, ask an administrator (" + linkTo(referencePage, rightsHeading) + ")."
	}
	d.Para("Your jobs run in the namespace of your team. Each job names one of the queues, and its pods name the ",
		"service account.", bucket)
	columns := newTeamColumns(p)
	if len(p.Teams) > fewTeams {
		listTeamShapes(d, p, columns)
	} else {
		var rows [][]markup
		for i := range p.Teams {
			rows = append(rows, append([]markup{codeSpan(p.Teams[i].Name)}, columns.cells(&p.Teams[i], "")...))
		}
		d.Table(append([]markup{"Team"}, columns.head()...), rows)
	}
	t := homeTeam(p)
	d.Para("Set these variables in your shell, with the values of your team. ",
		"The commands of this page use the variables:")
	d.Code("sh", "TEAM="+words.ShellArgument(t.Name), "NAMESPACE="+words.ShellArgument(t.Namespace))
	no := markup("you are not an administrator of the cluster.")
	switch {
	case p.HasGroups() && len(p.MemberAccounts()) > 0:
		no = "the blueprint does not list you, or you are not in the team's group, or the group does not work yet: " +
			"ask an administrator."
	case p.HasGroups():
		no = "you are not in the team's group, or the group does not work yet: ask an administrator."
	case p.HasMembers():
		no = "the team does not name you, or spells your address in another way than `kubectl auth whoami` prints " +
			"it: ask an administrator."
	}
	d.Para("Check that you have access. The command prints `yes`. If it prints `no`, ", no)
	d.Code("sh", `kubectl auth can-i create jobs.batch -n "$NAMESPACE"`)
}

// teamColumns are the columns of a table with what belongs to each team.
type teamColumns struct {
	project           string
	buckets, accounts bool // whether some team has one
}

func newTeamColumns(p *ir.Platform) teamColumns {
	return teamColumns{p.Project, p.HasBuckets(), p.HasTeamAccounts()}
}

// head returns the heads of the columns.
func (c teamColumns) head() []markup {
	head := []markup{"Namespace", "Queues"}
	if c.buckets {
		head = append(head, "Bucket")
	}
	head = append(head, "Service account")
	if c.accounts {
		head = append(head, "Acts in Google Cloud as")
	}
	return head
}

// cells returns the cells of a team's row. If placeholder is not "", it replaces the
// name of the team in the cells.
func (c teamColumns) cells(t *ir.Team, placeholder string) []markup {
	fold := func(name string) string {
		if placeholder == "" {
			return name
		}
		return replaceName(name, t.Name, placeholder)
	}
	var queues []string
	for _, q := range t.Queues {
		queues = append(queues, fold(q.LocalQueue))
	}
	row := []markup{codeSpan(fold(t.Namespace)), codeList(queues)}
	if c.buckets {
		row = append(row, orNone(fold(t.Bucket)))
	}
	row = append(row, codeSpan(fold(t.KubeAccount)))
	if c.accounts {
		account := markup("the Kubernetes service account itself")
		if t.Account != nil {
			named := *t.Account
			named.ID = fold(named.ID)
			account = codeSpan(named.Email(c.project))
		}
		row = append(row, account)
	}
	return row
}

// replaceName replaces the name of a team in another name, of which it must be a part
// between dashes.
func replaceName(in, name, placeholder string) string {
	padded := strings.Replace("-"+in+"-", "-"+name+"-", "-"+placeholder+"-", 1)
	return padded[1 : len(padded)-1]
}

// listTeamShapes lists groups of teams whose names follow the same pattern.
func listTeamShapes(d *document, p *ir.Platform, columns teamColumns) {
	type group struct {
		cells []markup
		names []string
	}
	var groups []*group
	known := map[string]*group{} // by their cells
	for i := range p.Teams {
		cells := columns.cells(&p.Teams[i], "TEAM")
		key := fmt.Sprintf("%q", cells)
		if known[key] == nil {
			known[key] = &group{cells: cells}
			groups = append(groups, known[key])
		}
		known[key].names = append(known[key].names, p.Teams[i].Name)
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return len(b.names) - len(a.names) })
	var rows [][]markup
	for _, g := range groups[:min(len(groups), maxGroups)] {
		rows = append(rows, append([]markup{formatNumber(len(g.names)), firstNames(g.names)}, g.cells...))
	}
	d.Para("In the table, `TEAM` stands for the name of your team. ", fileLink("kubernetes/teams/"),
		" has one file per team with all of its names.")
	d.Table(append([]markup{"Teams", "Which"}, columns.head()...), rows)
	if more := len(groups) - maxGroups; more > 0 {
		d.Para("The table omits ", countNoun(more, "smaller group"), ".")
	}
}
