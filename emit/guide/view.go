package guide

import (
	"embed"
	"strings"
	texttemplate "text/template"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/page"
)

// sources holds the pages. Package page describes their notation.
//
//go:embed pages
var sources embed.FS

// view is what the pages print: the plan, and what follows from it for a reader. Its
// methods return values, which package page escapes, or Markdown that is escaped already.
type view struct{ *ir.Platform }

// fewTeams is the largest number of teams that the pages show one by one. They show
// more teams in groups of equal teams. So the length of a page depends on the variety
// of the platform, not on its size.
const fewTeams = 12

// maxGroups is the largest number of groups of equal teams that a table shows. It
// also limits the tables of cohorts.
const maxGroups = 40

// constant returns a function of the pages that returns a constant.
func constant[T any](c T) func() T { return func() T { return c } }

// functions are the functions of the pages, beside those of package page.
var functions = texttemplate.FuncMap{
	"amounts":         printAmounts,
	"flavors":         quotaFlavors,
	"ifIntact":        ifIntact,
	"labelsByGKE":     labelsByGKE,
	"orElse":          orElse,
	"paragraphStart":  paragraphStart,
	"linkedParagraph": linkedParagraph,
	"quotaRows":       quotaRows,
	"requested":       requested,

	"defaultServiceAccounts":         constant(ir.DefaultServiceAccounts),
	"workloadPriorityLabel":          constant(ir.LabelWorkloadPriority),
	"existingNamespaceLabel":         constant(ir.LabelExisting),
	"fewTeams":                       constant(fewTeams),
	"imageSubstitution":              constant(ir.ImageSubstitution),
	"infrastructureManagerTerraform": constant(ir.InfrastructureManagerTerraform),
	"kaiChart":                       constant(ir.KAIChart),
	"kueueFrameworks":                ir.KueueFrameworks,
	"limitsUncounted":                constant(ir.LimitsUncounted),
	"managedByLabel":                 constant(ir.LabelManagedBy),
	"maxCustomRoles":                 constant(ir.MaxCustomRoles),
	"maxGroups":                      constant(maxGroups),
	"maxGroupsInIAM":                 constant(ir.MaxGroups),
	"maxPrincipals":                  constant(ir.MaxPrincipals),
	"memberRole":                     constant(ir.MemberRole),
	"nodePoolLabel":                  constant(ir.LabelNodePool),
	"partOfLabel":                    constant(ir.LabelPartOf),
	"reclaimedTooMuch":               constant(ir.ReclaimedTooMuch),
	"requiredNodeRoles":              ir.RequiredNodeRoles,
}

// printAmounts returns each amount with its resource.
func printAmounts(amounts []ir.Amount) (out []string) {
	for _, a := range amounts {
		out = append(out, ir.PrintQuantity(a.Resource, a.Quantity)+" "+a.Resource)
	}
	return out
}

// orElse returns a name, or without if it is "".
func orElse(name string, without markdown.Markup) markdown.Markup {
	if name == "" {
		return without
	}
	return markdown.Code(name)
}

// paragraphStart returns a text that can begin a paragraph: it escapes a first word
// that would start another kind of block.
func paragraphStart(s string) markdown.Markup { return startParagraph(markdown.Text(s)) }

// linkedParagraph does the same as paragraphStart, and the plain addresses become links.
func linkedParagraph(s string) markdown.Markup { return startParagraph(markdown.LinkedText(s)) }

// startParagraph escapes what begins a list or a heading.
func startParagraph(text markdown.Markup) markdown.Markup {
	m := strings.Trim(string(text), " ")
	rest := strings.TrimLeft(m, "0123456789")
	switch {
	case rest != m && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")): // a numbered item
		return markdown.Markup(m[:len(m)-len(rest)] + `\` + rest)
	case strings.IndexAny(m, "#+-=") == 0:
		return markdown.Markup(`\` + m)
	}
	return markdown.Markup(m)
}

// renderPage returns a page of the platform. The name is that of its source. What differs
// between schedulers and GitOps tools is defined in a folder for each, in a file of the
// same name, or in shared.md if several pages use it.
func renderPage(p *ir.Platform, name string) ([]byte, error) {
	scheduler := ir.Choose(p.Scheduler, "kueue", "kai")
	set, err := page.Parse(sources, functions, "pages/shared.md", "pages/"+scheduler+"/shared.md",
		"pages/"+scheduler+"/"+name, "pages/"+string(p.Delivery.GitOps.Tool)+"/"+name, "pages/"+name)
	if err != nil {
		return nil, err
	}
	return set.Render("pages/"+name, view{p})
}

// SchedulerName returns the name of the platform's scheduler.
func (v view) SchedulerName() string { return v.Scheduler.Facts().Name }

// GitOpsTool returns the name of the platform's GitOps tool.
func (v view) GitOpsTool() string { return v.Delivery.GitOps.Tool.Facts().Name }

// Software returns the names of what the platform installs beside its own objects.
func (v view) Software() (names []markdown.Markup) {
	if v.InstallsKueue() {
		names = append(names, "Kueue")
	}
	if v.InstallsJobSet() {
		names = append(names, "JobSet")
	}
	return names
}
