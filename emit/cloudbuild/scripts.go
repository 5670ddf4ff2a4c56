package cloudbuild

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

//go:embed scripts/create-platform.sh
var createBody string

//go:embed scripts/destroy-platform.sh
var destroyBody string

//go:embed scripts/common.bash
var commonBody string

// The lines of a script that give way to the values of a plan, and to what both
// scripts have in common.
const (
	valuesMark = "# VALUES\n"
	commonMark = "# COMMON\n"
)

// createScript returns create-platform.sh: what a person does before the build
// that provisions the platform, and its submission.
func createScript(p *ir.Platform) []byte {
	d := p.Delivery
	return fill(createBody, append(common(p),
		text("ACCOUNT", d.Account.ID),
		text("DISPLAY_NAME", d.Account.Display),
		text("NODE_ACCOUNT", p.NodeAccount.ID),
		text("NODE_EMAIL", p.NodeAccount.Email(p.Project)),
		text("NODE_DISPLAY_NAME", p.NodeAccount.Display),
		text("CONDITION", grantCondition(d.GrantableRoles)),
		text("INFRASTRUCTURE_MANAGER", strconv.FormatBool(d.InfrastructureManager)),
	))
}

// destroyScript returns destroy-platform.sh: the submission of the build that
// destroys the platform, and what is left to do by hand.
func destroyScript(p *ir.Platform) []byte { return fill(destroyBody, common(p)) }

// common are the values that both scripts need.
func common(p *ir.Platform) []string {
	d := p.Delivery
	return []string{
		text("NAME", p.Name),
		text("PROJECT", p.Project),
		text("REGION", p.Region),
		text("BUILD_REGION", d.Region),
		text("EMAIL", d.Account.Email(p.Project)),
		text("BUCKET", d.StateBucket),
		text("HOLDS", holds(d)),
		text("SOURCE_PREFIX", p.SourcePrefix()),
		text("REPOSITORY", d.Repository),
		text("NEEDS_WORKER_POOL", strconv.FormatBool(!p.Cluster.DNSEndpoint)),
		list("APIS", d.APIs),
		list("ROLES", d.Account.Roles),
		list("PERMISSIONS", d.Permissions),
		// The ID of a custom role has no dashes (IAM documentation: "Create and
		// manage custom roles").
		text("CUSTOM_ROLE", strings.ReplaceAll(d.Account.ID, "-", "_")),
	}
}

// holds says what is in the bucket. The sources of builds are in it always.
func holds(d ir.Delivery) string {
	if d.InfrastructureManager {
		return "sources of the builds"
	}
	return "Terraform state"
}

// fill puts assignments and common functions into a script, in place of its
// marks.
func fill(body string, assignments []string) []byte {
	marks := strings.NewReplacer(valuesMark, strings.Join(assignments, ""), commonMark, commonBody)
	return []byte(marks.Replace(body))
}

// text returns the assignment of one string.
func text(name, value string) string { return name + "=" + quote(value) + "\n" }

// list returns the assignment of an array, a line an element.
func list(name string, values []string) string {
	var b strings.Builder
	b.WriteString(name + "=(\n")
	for _, v := range values {
		b.WriteString("  " + quote(v) + "\n")
	}
	b.WriteString(")\n")
	return b.String()
}

// quote returns a word of shell that stands for s, whatever s holds.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// rolesPerCall is the most roles that one call of hasOnly may name (IAM
// documentation: "Set limits on granting roles").
const rolesPerCall = 10

// grantCondition returns the IAM condition under which the build may change
// the project's policy: it grants and revokes these roles only.
func grantCondition(roles []string) string {
	var calls []string
	for {
		n := min(len(roles), rolesPerCall)
		quoted := make([]string, n)
		for i, role := range roles[:n] {
			quoted[i] = celString(role)
		}
		calls = append(calls, `api.getAttribute("iam.googleapis.com/modifiedGrantsByRole", []).hasOnly([`+strings.Join(quoted, ", ")+"])")
		if roles = roles[n:]; len(roles) == 0 {
			return strings.Join(calls, " || ")
		}
	}
}

// celString returns a CEL string literal. It has no semicolon in it, at which
// gcloud splits the flag that carries the condition.
func celString(s string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(s), ";", `\x3b`)
}
