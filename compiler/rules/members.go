package rules

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on the people, groups and service accounts that submit the teams' jobs.

func memberRules() []Rule {
	return []Rule{
		rule("E0209", "team group without cluster.securityGroup", securityGroup),
		rule("E0226", "group of a team is not a Google group", on("teams.*.group", teamGroups), fieldwise),
		rule("E0227", "member of a team is an account of another kind",
			on("teams.*.members.[]", memberKinds), fieldwise),
		rule("E0228", "service account of the platform is a member of a team", platformMembers),
		rule("E0229", "member is listed twice, or in two spellings", repeatedMembers),
	}
}

func securityGroup(r *report) {
	if r.Plan.Cluster.SecurityGroup != "" ||
		!r.Plan.OwnsCluster() && r.Written("cluster", "securityGroup") { // fieldsOfNewCluster reports it
		return
	}
	field, cure := "cluster.securityGroup", `set cluster: securityGroup: "gke-security-groups@DOMAIN", a group that `+
		`holds the teams' groups`
	if !r.Plan.OwnsCluster() {
		field, cure = "cluster.existing.has.securityGroup", `if the cluster has a group, write cluster: existing: `+
			`has: securityGroup: "gke-security-groups@DOMAIN"`
	}
	for name, team := range sorted(r.Blueprint.Teams) {
		if team.Group != nil {
			r.add(at("teams", name, "group"), say("GKE ignores the teams' Google groups, because %s is not set", field),
				help(`%s; or, without Google groups, list people in members: ["user:ADDRESS"]`, cure))
			return // one mistake, however many teams have a group
		}
	}
}

// kindOf returns the kind of account that an address certainly has, as IAM names it,
// or "" if the address does not show its kind.
func kindOf(address string) string {
	_, domain, _ := strings.Cut(strings.ToLower(address), "@")
	switch {
	case domain == "gserviceaccount.com" || strings.HasSuffix(domain, ".gserviceaccount.com"):
		return "serviceAccount"
	case domain == "gmail.com" || domain == "googlemail.com":
		return "user"
	case domain == "googlegroups.com":
		return "group"
	}
	return ""
}

// describeKind describes a kind of account.
func describeKind(kind string) string {
	switch kind {
	case "serviceAccount":
		return "a service account"
	case "user":
		return "a person"
	}
	return "a Google group"
}

// teamGroups reports addresses of service accounts and of consumer accounts, which
// cannot be Google groups. IAM refuses to bind them as groups, and in Kubernetes RBAC
// no user is a member of them.
func teamGroups(r *report, path fieldPath, group string) {
	if kind := kindOf(group); kind != "" && kind != "group" {
		r.add(path,
			say("group of team %q is the address of %s, not of a Google group", path.name(), describeKind(kind)),
			help("write members: [%q] instead of group", kind+":"+group))
	}
}

// memberKinds reports members whose address has another kind than they say. IAM
// refuses them, and knows the kind of every address; these are the kinds that the
// address shows.
func memberKinds(r *report, path fieldPath, member string) {
	says, address, _ := strings.Cut(member, ":")
	kind := kindOf(address)
	if ir.IsWorkforce(member) || kind == says || kind == "" && says == "user" {
		return
	}
	cure := help("write %q", kind+":"+address)
	switch kind {
	case "":
		cure = help("the address of a service account ends with .gserviceaccount.com; for a person write %q",
			"user:"+address)
	case "group":
		cure = help("write group: %q in the team, or list the people themselves", address)
	}
	r.add(path, say("%s is not the address of %s", address, describeKind(says)), cure)
}

// platformMembers reports service accounts of the platform itself among the members.
// The nodes' account is available to whatever runs on a node, the account of the build
// may change the whole platform anyway, any Dockerfile runs as the account that builds
// images, and the account of a team is available to all
// jobs of the team: each would submit jobs that nobody submitted as a member.
func platformMembers(r *report) {
	owners := map[string]string{
		r.Plan.NodeAccount.Email(r.Plan.Project):      "the nodes",
		r.Plan.Delivery.Account.Email(r.Plan.Project): "the build",
		r.Plan.ImageAccount().Email(r.Plan.Project):   "the builds of images",
	}
	for _, t := range r.Plan.Teams {
		if t.Account != nil {
			owners[t.Account.Email(r.Plan.Project)] = fmt.Sprintf("the jobs of team %q", t.Name)
		}
	}
	for path, member := range every[string](r, "teams.*.members.[]") {
		if owner, ok := owners[strings.ToLower(ir.MemberAddress(member))]; ok {
			r.add(path, say("%s is the account of %s", member, owner),
				help("create another service account for the program that submits jobs"))
		}
	}
}

// repeatedMembers reports a member that a team lists twice, and an address that two
// teams spell differently. To IAM both spellings are one principal, so two bindings of
// Terraform would be one; to Kubernetes RBAC they are two users, of which one exists.
func repeatedMembers(r *report) {
	type place struct {
		member string
		path   fieldPath
	}
	known, listed := map[string]place{}, map[[2]string]bool{}
	for path, member := range every[string](r, "teams.*.members.[]") {
		key := member
		if !ir.IsWorkforce(member) { // an identity provider can distinguish upper and lower case
			key = strings.ToLower(member)
		}
		first, seen := known[key]
		here := [2]string{path.name(), key}
		switch {
		case listed[here]:
			r.add(path, say("team %q lists %s twice", path.name(), member), help("remove one of them"))
		case seen && first.member != member:
			r.add(path, say("%s is also spelt %s", member, first.member), see(first.path, "the other spelling"),
				help("write the address as Google Cloud stores it: kubectl auth whoami prints it"))
		case !seen:
			known[key] = place{member, path}
		}
		listed[here] = true
	}
}
