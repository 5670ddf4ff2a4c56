// Package review compares two states of a platform and prints the changes.
//
// Two states go in, each a plan with the folder that was rendered from it.
// Package summary compares the plans and describes the changes in the platform's
// own words. Package objects compares the folders, object by object, and lists
// the resources that Terraform must replace. Compare joins the results in one
// Review, and a printer for each format writes it: text, JSON, Markdown and
// annotations for GitHub. A Review reports which resources left the configuration
// and which must be replaced when the change is applied. It reports nothing that
// only Google Cloud knows.
//
// Nothing in this room adds a file to the deploy folder. Package graph draws one
// plan for readers.
package review

import (
	"sync"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// State is one side of a comparison.
type State struct {
	// Label is how the side is called: a revision, a folder, "the blueprint".
	Label string
	// Plan is nil where only a folder is known, as of one on disk: a comparison
	// with it has no summary, and replacements do not say what hangs on them.
	Plan *ir.Platform
	// Tree is the folder, sorted by path.
	Tree emit.Tree
}

// Review is what changed from one state to another. Its slices are nil where
// there is nothing to say.
type Review struct {
	// Platform is the name of the later state's plan, or of the earlier's; ""
	// where neither is known.
	Platform      string
	Before, After string // the states' labels

	// StateFrom and StateTo are where Terraform's state is; "" where it stays
	// there, or a plan is not known. At another place Terraform finds no state,
	// and makes everything a second time.
	StateFrom, StateTo string
	// Replacements are the Terraform resources that must be replaced when the
	// change is applied: clusters first, then reservations, buckets and node
	// pools, then the others; each by address.
	Replacements []objects.Replacement
	// Removals are the clusters, reservations, buckets and node pools that left
	// the configuration, in the same order.
	Removals []objects.Replacement
	// Summary is in the platform's own words, by topic.
	Summary []summary.Line
	// Objects are by file, then by kind and name.
	Objects []objects.Object
	// Formatting counts the files that differ, and whose objects do not: in
	// comments, order or layout.
	Formatting int
}

// Same tells whether nothing but formatting changed.
func (r *Review) Same() bool {
	return len(r.Replacements)+len(r.Removals)+len(r.Summary)+len(r.Objects) == 0
}

// Compare compares two states. A file that cannot be read as what its name says,
// as after an edit by hand, is an object that says so.
func Compare(before, after State) *Review {
	r := &Review{Before: before.Label, After: after.Label}
	for _, plan := range []*ir.Platform{before.Plan, after.Plan} {
		if plan != nil {
			r.Platform = plan.Name
		}
	}
	// Of large platforms it takes half as long as the rest. Nothing else may ask
	// the plans for quantities meanwhile: these cache their text.
	var beside sync.WaitGroup
	if before.Plan != nil && after.Plan != nil {
		beside.Go(func() { r.Summary = summary.Of(before.Plan, after.Plan) })
		if from, to := terraformState(before.Plan), terraformState(after.Plan); from != to {
			r.StateFrom, r.StateTo = from, to
		}
	}
	r.Objects, r.Formatting = objects.Compare(before.Tree, after.Tree)
	r.Replacements, r.Removals = objects.Replacements(before.Tree, after.Tree, before.Plan)
	beside.Wait()
	return r
}

// terraformState is where Terraform's state of a platform is, unless the build is
// told otherwise.
func terraformState(p *ir.Platform) string {
	d := p.Delivery
	if d.InfrastructureManager {
		return "Infrastructure Manager, " + p.Deployment()
	}
	return "gs://" + d.StateBucket + "/" + d.StatePrefix
}
