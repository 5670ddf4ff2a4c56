package guide

import (
	"embed"
	texttemplate "text/template"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/emit/page"
)

// sources holds the pages. Package page describes their notation.
//
//go:embed pages
var sources embed.FS

// view is what the pages print: the plan, and what follows from it for a reader. Its
// methods return values, which package page escapes, or Markdown that is escaped already.
type view struct{ *ir.Platform }

// functions are the functions of the pages, beside those of package page.
var functions = texttemplate.FuncMap{
	"orElse":                         orElse,
	"paragraphStart":                 paragraphStart,
	"strings":                        keptNames,
	"infrastructureManagerTerraform": constant(ir.InfrastructureManagerTerraform),
	"imageSubstitution":              constant(ir.ImageSubstitution),
	"kueueFrameworks":                ir.KueueFrameworks,
	"memberRole":                     constant(ir.MemberRole),
	"podsReadyMinutes":               constant(ir.PodsReadyMinutes),
	"recoveryMinutes":                constant(ir.RecoveryMinutes),
	"existingNamespaceLabel":         constant(ir.ExistingNamespace),
	"managedByLabel":                 constant(ir.LabelManagedBy),
	"nodePoolLabel":                  constant(ir.LabelNodePool),
	"partOfLabel":                    constant(ir.LabelPartOf),

	"classPlaceholder": classPlaceholder,
	"flavors":          quotaFlavors,
	"labelsByGKE":      labelsByGKE,
	"quotaRows":        quotaRows,
	"ifIntact":         ifIntact,
	"fewTeams":         constant(fewTeams),
	"maxGroups":        constant(maxGroups),

	"maxPrincipals":          constant(ir.MaxPrincipals),
	"maxGroupsInIAM":         constant(ir.MaxGroups),
	"defaultServiceAccounts": constant(ir.DefaultServiceAccounts),
	"maxCustomRoles":         constant(ir.MaxCustomRoles),
	"kaiChart":               constant(ir.KAIChart),
	"retryMaxMinutes":        func() int { return ir.RetryMaxSeconds / 60 },
	"limitsUncounted":        constant(ir.LimitsUncounted),
	"reclaimedTooMuch":       constant(ir.ReclaimedTooMuch),
	"amounts":                printAmounts,
	"boards":                 monitoring.EmptyBoards,
	"consolePage":            consolePage,
	"ownQueues":              func(p *ir.Platform) page.Command { return page.Command(ownQueues(p)) },
}

// printAmounts returns each amount with its resource.
func printAmounts(amounts []ir.Amount) (out []string) {
	for _, a := range amounts {
		out = append(out, ir.PrintQuantity(a.Resource, a.Quantity)+" "+a.Resource)
	}
	return out
}

// consolePage returns the address of a page of the Google Cloud console.
func consolePage(page, project string) markup { return markup(words.ConsolePage(page, project)) }

// renderPage returns a page of the platform. The name is that of its source. What differs
// between schedulers and GitOps tools is defined in a folder for each, in a file of the
// same name.
func renderPage(p *ir.Platform, name string) ([]byte, error) {
	scheduler := ir.Choose(p.Scheduler, "kueue", "kai")
	set, err := page.Parse(sources, functions, "pages/shared.md", "pages/"+scheduler+"/"+name,
		"pages/"+string(p.Delivery.GitOps.Tool)+"/"+name, "pages/"+name)
	if err != nil {
		return nil, err
	}
	return set.Render("pages/"+name, view{p})
}

// SchedulerName returns the name of the platform's scheduler.
func (v view) SchedulerName() string { return v.Scheduler.Facts().Name }
