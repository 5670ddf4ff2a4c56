package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// googleQuota lists the quota that the platform uses in Google Cloud.
func googleQuota(d *document, p *ir.Platform) {
	d.Heading(2, quotaHeading)
	d.Para("This quota counts in region ", codeSpan(p.Region), ". ",
		"Standing is in use as soon as the platform is built. Admitted is the most that the teams' quotas can start, ",
		"in whole nodes: request at least this amount. ",
		schedulerOf(p).ceiling, nodesOfOthers(p))
	var rows [][]markup
	for _, r := range p.Demand.Rows {
		rows = append(rows, []markup{
			orElse(r.Metric, "not verified"), escapeText(r.What), formatNumber(r.Standing), formatNumber(r.Admitted),
			formatNumber(r.Ceiling), escapeText(r.Unit), escapeText(r.Note),
		})
	}
	d.Table([]markup{"Metric", "Counts", "Standing", "Admitted", "Ceiling", "Unit", "Note"}, rows)
	d.Para("These commands show the present limits and the use of most metrics, first of the region and then of the ",
		"project. The ", consoleLink("Quotas page", "iam-admin/quotas", p.Project), " has all metrics:")
	const flatten, format = "--flatten=quotas[]", "--format=table(quotas.metric,quotas.limit,quotas.usage)"
	d.Code("sh",
		shellCommand("gcloud", "compute", "regions", "describe", p.Region, "--project="+p.Project, flatten, format),
		shellCommand("gcloud", "compute", "project-info", "describe", "--project="+p.Project, flatten, format))
}

// nodesOfOthers says that the table does not count nodes of others.
func nodesOfOthers(p *ir.Platform) markup {
	if p.OwnsCluster() {
		return ""
	}
	return " The other nodes of the cluster need quota in addition."
}

// kueueCeiling explains the column Ceiling.
func kueueCeiling(p *ir.Platform) markup {
	const maximum markup = "Ceiling is the use of all pools at their maximum."
	if !slices.ContainsFunc(p.Demand.Rows, func(r ir.DemandRow) bool { return r.Ceiling > r.Admitted }) {
		return maximum
	}
	return maximum + " To let teams use more than Admitted, change their quotas."
}

// iamQuota compares the platform with the limits of IAM in a project.
func iamQuota(d *document, p *ir.Platform) {
	i := p.Demand.IAM
	d.Heading(2, "Limits of IAM")
	d.Para("IAM limits the whole project, and everything in the project counts. A principal, such as an account, ",
		"a group or the pods of a team, counts once for each of its roles. You can request a higher limit only for ",
		"service accounts: ", codeSpan("Service Account Count"), " on the ",
		consoleLink("Quotas page", "iam-admin/quotas", p.Project), ".")
	rows := [][]markup{{"principals in the project's allow policy", formatNumber(i.Principals),
		formatNumber(ir.MaxPrincipals)}}
	if i.Groups > 0 {
		rows = append(rows, []markup{"Google groups among them", formatNumber(i.Groups), formatNumber(ir.MaxGroups)})
	}
	rows = append(rows, []markup{"service accounts", formatNumber(i.ServiceAccounts),
		formatNumber(ir.DefaultServiceAccounts)})
	if i.CustomRoles > 0 {
		rows = append(rows, []markup{"custom roles", formatNumber(i.CustomRoles), formatNumber(ir.MaxCustomRoles)})
	}
	d.Table([]markup{"Counts", "This platform", "Limit of the project"}, rows)
}
