// Package review compares two states of a platform and prints the changes.
//
// Two states go in, each a plan with the folder that was rendered from it.
// Package summary compares the plans and describes the changes in the platform's
// own words, and package jobs decides what they do to jobs. Package objects
// compares the folders, object by object, and lists the resources that Terraform
// must replace. Compare joins the results in one Review, and a printer for each
// format writes it: text, JSON, Markdown and annotations for GitHub. A Review
// reports which resources left the configuration and which must be replaced when
// the change is applied. It cannot report what only Google Cloud knows, because it
// compares plans and folders. CompareLive makes a Review of a comparison with
// exports by package live.
//
// Package graph, beside it, draws one plan. No package below emit/review adds a file to
// the deploy folder.
package review

import (
	"slices"
	"strings"
	"sync"

	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/losses"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/jobs"
	"github.com/batchwright/batchwright/emit/review/live"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// State is one side of a comparison.
type State struct {
	// Label names the side: a revision, a folder, "the blueprint".
	Label string
	// Plan is nil if only the folder is known, for example a folder on disk. A
	// comparison with such an earlier side has no summary, only the effects on jobs whose
	// nodes go away, and its replacements do not list the affected nodes and workloads.
	Plan *ir.Platform
	// Tree is the folder, sorted by path.
	Tree emit.Tree
	// Base describes the earlier state of a comparison of revisions; nil in others. Compare
	// counts in it.
	Base *Base
	// Compiled is what this batchwright compiles the plan to, if Tree is a folder that was
	// committed beside the blueprint; nil otherwise. Trees that differ tell the changes of the
	// blueprint from the others.
	Compiled emit.Tree
}

// Review holds the changes from one state to another. Its slices are nil if they
// would be empty.
type Review struct {
	// Platform is the name of the later state's plan or, without one, of the earlier
	// state's; "" if neither plan is known.
	Platform string `json:"platform"`
	Before   string `json:"before"` // label of the state
	After    string `json:"after"`
	// Base says what the earlier state is in a comparison of revisions; nil in others.
	Base *Base `json:"base,omitzero"`
	// Findings say what the change does to the findings of the blueprint; nil if those of a
	// state are not known. Compare leaves them nil.
	Findings *Findings `json:"findings,omitzero"`
	// Cost is the difference in cost, nil if no prices are known. Compare leaves it nil.
	// CostUnknown says why prices that were given cannot tell it; "" otherwise.
	Cost        *cost.Change `json:"cost,omitzero"`
	CostUnknown string       `json:"costUnknown,omitempty"`
	// Played says what the scheduler's own code does to sample jobs; nil if its engine is not
	// installed or no queue changes. Compare leaves it nil.
	Played *Played `json:"played,omitzero"`
	// Rehearsals say what the change does to the jobs of the later state's rehearsals, by
	// name. Compare leaves them nil.
	Rehearsals []Rehearsal `json:"rehearsals,omitzero"`
	// StateFrom and StateTo are the locations of Terraform's state; "" if the
	// location is unchanged or a plan is unknown. At another location Terraform
	// finds no state, and creates everything a second time.
	StateFrom string `json:"stateFrom"`
	StateTo   string `json:"stateTo"`
	// Replacements are the Terraform resources that must be replaced when the change is
	// applied: clusters first, then node pools, reservations and buckets, then the others.
	// Resources of one kind are sorted by address.
	Replacements []objects.Replacement `json:"replacements"`
	// Removals are the clusters, node pools, reservations and buckets that left
	// the configuration, in the same order.
	Removals []objects.Replacement `json:"removals"`
	// Jobs are what the change does to jobs that run, that wait and that come, the worst
	// effects first.
	Jobs []jobs.Effect `json:"jobs"`
	// Shrunk are the node pools that stay and lose nodes. Recreated are those of which GKE
	// recreates all nodes, although Terraform changes them in place.
	Shrunk    []objects.Replacement `json:"shrunk"`
	Recreated []objects.Replacement `json:"recreated"`
	// Unknown reports whether Terraform's files cannot be read or evaluated on one side, so that
	// the review can miss what happens to nodes and data.
	Unknown bool `json:"unknown"`
	// Summary describes the changes in the platform's own words, sorted by topic.
	Summary []summary.Line `json:"summary"`
	// Objects are the changed objects, sorted by file, then by kind and name.
	Objects []objects.Object `json:"objects"`
	// Formatting is the number of files that differ only in comments, order or
	// layout, while their objects are equal.
	Formatting int `json:"formatting"`
	// Live holds what a comparison with exports knows besides the changes. Compare
	// leaves it nil.
	Live *live.Facts `json:"live,omitzero"`
}

// Played is what becomes of sample jobs that run on their quota, borrow or wait when the change
// comes, or are submitted afterwards.
type Played struct {
	Decider string `json:"decider"` // the release that decided, such as "Kueue 0.19.2"; "" if none did
	// Lines describe the jobs that fare otherwise because of the change, the worst first.
	Lines []string `json:"lines"`
	// Unaffected is the number of the other jobs.
	Unaffected int `json:"unaffected"`
	// Unplayed is the reason why the jobs were not played, "" if they were.
	Unplayed string `json:"unplayed"`
}

// title returns what the lines are about.
func (p *Played) title() string {
	if p.Decider == "" {
		return "Sample jobs"
	}
	return "Sample jobs, simulated with " + p.Decider + " without nodes"
}

// all returns the lines, and one for the jobs that nothing happens to or for the reason why the
// jobs were not played.
func (p *Played) all() []string {
	switch {
	case p == nil:
		return nil
	case p.Unplayed != "":
		return []string{"not simulated: " + p.Unplayed}
	}
	others := words.Plural(p.Unaffected, "job is not affected", "jobs are not affected")
	if len(p.Lines) > 0 {
		others = words.Plural(p.Unaffected, "other job is not affected", "other jobs are not affected")
	}
	return append(slices.Clone(p.Lines), others)
}

// Rehearsal is the difference between two states in a rehearsal.
type Rehearsal struct {
	Name string `json:"name"`
	// Unplayed is the reason why the rehearsal was not played on both states, "" if it was.
	Unplayed string `json:"unplayed"`
	// Change is what differs. It is nil if the rehearsal was not played.
	Change *report.Change `json:"change"`
}

// rehearsalLines is the number of lines on a rehearsal that annotations and Markdown show,
// which folds the rest.
const rehearsalLines = 3

// lines says what the change means for the jobs in at most n lines, the most important
// first.
func (r Rehearsal) lines(n int) []string {
	if r.Change == nil {
		return []string{"not compared: " + r.Unplayed}
	}
	if lines := r.Change.Lines(n); len(lines) > 0 {
		return lines
	}
	return []string{"p95 waits, longest waits, evictions, hours and utilization stay the same"}
}

// Same reports whether nothing except formatting changed, also in the findings.
func (r *Review) Same() bool {
	resources := len(r.Replacements) + len(r.Removals) + len(r.Shrunk) + len(r.Recreated)
	return resources+len(r.Jobs)+len(r.Summary)+len(r.Objects) == 0 && r.Findings.same() &&
		(r.Live == nil || len(r.Live.Adopted) == 0)
}

// Compare returns the changes between two states. A file that cannot be parsed as
// its name says, for example after an edit by hand, becomes an object that reports
// this.
func Compare(before, after State) *Review {
	r := &Review{Before: before.Label, After: after.Label, Base: before.Base}
	for _, plan := range []*ir.Platform{before.Plan, after.Plan} {
		if plan != nil {
			r.Platform = plan.Name
		}
	}
	// For large platforms this takes half as long as the rest.
	var beside sync.WaitGroup
	beside.Go(func() { r.Objects, r.Formatting = objects.Compare(before.Tree, after.Tree) })
	effects := objects.EffectsOf(before.Tree, after.Tree, before.Plan)
	if r.Unknown = effects.Unknown; r.Unknown && before.Compiled != nil {
		effects = objects.EffectsOf(before.Compiled, after.Tree, before.Plan)
	}
	r.Replacements, r.Removals = effects.Replaced, effects.Removed
	r.Shrunk, r.Recreated = effects.Shrunk, effects.Recreated
	gone := slices.ContainsFunc(slices.Concat(r.Replacements, r.Removals), objects.Replacement.IsCluster)
	beside.Wait()
	switch {
	case after.Plan == nil:
	case before.Plan == nil:
		r.Jobs = jobs.OfLosses(after.Plan, slices.Concat(effects.Lost, lostFlavors(r.Objects)))
		for _, f := range effects.Refused {
			r.Summary = append(r.Summary, summary.RefusedRange(f.Path, f.From, f.To))
		}
	default:
		lost := effects.Lost
		if before.Compiled != nil { // labels of nodes can follow from the version of batchwright
			lost = slices.Concat(lost, lostFlavors(r.Objects))
		}
		r.Jobs = jobs.Of(before.Plan, after.Plan, lost)
		r.Summary = summary.Of(before.Plan, after.Plan)
		from, to := terraformState(before.Plan), terraformState(after.Plan)
		if from != to && !before.Plan.Absent() && !after.Plan.Absent() {
			r.StateFrom, r.StateTo = from, to
		}
	}
	if gone && after.Plan != nil && r.StateTo == "" {
		// The jobs do not wait in their queues, which are gone too. With another state, the cluster
		// stays beside the new one.
		r.Jobs = []jobs.Effect{jobs.OfCluster(after.Plan.Absent())}
	}
	if before.Base != nil {
		r.Base.Objects = len(r.Objects)
		if before.Compiled != nil {
			r.tellOrigins(before, after)
		}
	}
	r.maskSecrets()
	return r
}

// lostFlavors returns the capacities whose ResourceFlavor is removed, or gets other node
// labels: the build stops their jobs, also if GKE creates the nodes.
func lostFlavors(changed []objects.Object) (lost []losses.Loss) {
	for _, o := range changed {
		if o.Kind != "ResourceFlavor" {
			continue
		}
		labels := func(f objects.Field) bool { return strings.HasPrefix(f.Path, "spec.nodeLabels") }
		switch {
		case o.Op == delta.Removed:
			lost = append(lost, losses.Loss{Capacity: o.Name, Why: losses.Removed})
		case o.Op == delta.Changed && slices.ContainsFunc(o.Fields, labels):
			lost = append(lost, losses.Loss{Capacity: o.Name, Why: losses.Replaced})
		}
	}
	return lost
}

// CompareLive returns what applying a state changes, which was compared with exports.
func CompareLive(before string, after State, changes *live.Result) *Review {
	r := &Review{
		Platform: after.Plan.Name, Before: before, After: after.Label,
		Objects: changes.Objects, Replacements: changes.Replacements, Live: &changes.Facts,
	}
	r.maskSecrets()
	return r
}

// maskSecrets masks the secrets in the values: a blueprint can accept a secret, and a
// review is printed where more people can read it.
func (r *Review) maskSecrets() {
	for i := range r.Summary {
		line := &r.Summary[i]
		name := line.What[strings.LastIndexByte(line.What, ' ')+1:] // as in "environment variable NAME"
		line.From, line.To = secret.MaskValue(name, line.From), secret.MaskValue(name, line.To)
	}
	for _, o := range r.Objects {
		for i := range o.Fields {
			f := &o.Fields[i]
			name := f.Path[strings.LastIndexAny(f.Path, "[.")+1:]
			if env, ok := strings.CutSuffix(f.Path, "].value"); ok {
				name = env[strings.LastIndexByte(env, '[')+1:]
			}
			f.From, f.To = secret.MaskValue(name, f.From), secret.MaskValue(name, f.To)
		}
	}
}

// terraformState returns the location of the platform's Terraform state, unless the
// build is given another one.
func terraformState(p *ir.Platform) string {
	d := p.Delivery
	if d.InfrastructureManager {
		return "Infrastructure Manager, " + p.Deployment()
	}
	return "gs://" + d.StateBucket + "/" + d.StatePrefix
}
