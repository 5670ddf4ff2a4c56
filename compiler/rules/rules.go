// Package rules holds what must be true of a blueprint beyond its grammar:
// that names resolve, machines can be had the way they are asked for, and
// guarantees can be kept.
//
// A rule is one function. It reads the blueprint as it was written and the
// plan it was lowered to, and reports each mistake at the field that has to
// change, once for each spot. Rules know nothing of each other; the few on what
// names mean come first, and where they find a mistake those that build on
// them are left out.
package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rule is one thing that must be true.
type Rule struct {
	Code     string // stable
	Severity diag.Severity
	Title    string
	// Acceptable tells that a blueprint can accept the rule's findings though
	// they are errors. Warnings and notes can be accepted, save those on
	// acceptances.
	Acceptable bool
	check      func(*report)
	whole      bool         // needs every entity of the blueprint
	basic      bool         // on what names mean
	resolved   bool         // needs all that basic rules hold
	last       bool         // on what the others found
	only       ir.Scheduler // about this scheduler alone; "" for any
	except     schedulers   // does not hold for these
}

// schedulers are some of the schedulers of jobs. A rule lists the schedulers that it
// does not hold for, so that it holds for a further one until somebody decides.
type schedulers []ir.Scheduler

// holdsFor reports whether the rule is applied to platforms with the scheduler.
func (r Rule) holdsFor(s ir.Scheduler) bool {
	return (r.only == "" || r.only == s) && !slices.Contains(r.except, s)
}

// CanAccept tells whether a blueprint can accept the rule's findings.
func (r Rule) CanAccept() bool { return !r.last && (r.Acceptable || r.Severity != diag.Error) }

// All returns every rule, by code.
func All() []Rule {
	all := slices.Concat(
		nameRules(), identityRules(), hardwareRules(), consumptionRules(), countRules(), tierRules(), quotaRules(),
		networkRules(), gpuNetworkRules(), versionRules(), gkeVersionRules(), maintenanceRules(), securityRules(),
		workloadRules(), auxiliaryRules(), secretRules(), kaiRules(), acceptRules(),
	)
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.Code, b.Code) })
	return all
}

// Pass is what rules look at.
type Pass struct {
	Blueprint *schema.Blueprint
	// Plan is lowered from Blueprint as far as its mistakes allow.
	Plan *ir.Platform
	// Place returns where a field is written; with key its label, else its
	// value.
	Place func(key bool, path ...string) diag.Span
	// Written tells whether a field stands in the files at all.
	Written  func(path ...string) bool
	Findings *diag.List
	// Broken names the entities, by field and name, whose grammar is wrong:
	// they are empty in Blueprint. Nothing is reported of them, and nothing
	// that only the whole blueprint can tell.
	Broken map[[2]string]bool
	// NamesOnly tells that more than entities is broken, such as the region or
	// the cluster. Only rules on what names mean are applied then.
	NamesOnly bool

	reasons  map[acceptance]string // of what the blueprint accepts
	accepted map[acceptance]bool   // what of it was found
}

// Run applies every rule: those on what names mean first, because what depends
// on a misspelt name is not worth reporting.
func Run(p *Pass) {
	p.reasons, p.accepted = acceptances(p.Blueprint), map[acceptance]bool{}
	var basic, others, last []Rule
	for _, r := range All() {
		switch {
		case r.basic:
			basic = append(basic, r)
		case r.last:
			last = append(last, r)
		default:
			others = append(others, r)
		}
	}
	before := p.Findings.Count(diag.Error)
	p.run(basic, true)
	if p.NamesOnly {
		return
	}
	resolved := p.Findings.Count(diag.Error) == before
	p.run(others, resolved)
	p.run(last, resolved)
}

// run applies rules, those that need all names resolved only if they are.
func (p *Pass) run(rules []Rule, resolved bool) {
	for _, r := range rules {
		if r.holdsFor(p.Plan.Scheduler) && (resolved || !r.resolved) && (len(p.Broken) == 0 || !r.whole) {
			r.check(&report{Pass: p, rule: r, said: map[remark]bool{}})
		}
	}
}

// report is a Pass in the hands of one rule.
type report struct {
	*Pass
	rule    Rule
	said    map[remark]bool // what the rule has reported
	guesses int             // how often it asked for the nearest name
}

// remark is what one rule says of a field where it is written. Of the entities
// that a pattern writes there, some may accept it and others not.
type remark struct {
	at       diag.Spot
	accepted bool
}

// maxGuesses is how many misspelt names a rule looks for the right one of: ten
// thousand names, each compared with ten thousand others, would take minutes,
// and nobody reads so many.
const maxGuesses = 100

// nearest returns the name that is probably meant, "" for none or after
// maxGuesses.
func (r *report) nearest(name string, known []string) string {
	if r.guesses++; r.guesses > maxGuesses {
		return ""
	}
	return diag.Nearest(name, known)
}

// at names a field by its path. Elements of lists are named by their index.
func at(path ...string) []string { return path }

// add reports a finding at the value of a field. The options fill in the rest.
func (r *report) add(path []string, message string, options ...option) {
	r.finding(r.Place(false, path...), path, message, options)
}

// addKey reports a finding at the name of a field.
func (r *report) addKey(path []string, message string, options ...option) {
	r.finding(r.Place(true, path...), path, message, options)
}

func (r *report) finding(span diag.Span, path []string, message string, options []option) {
	if len(path) > 1 && r.Broken[[2]string{path[0], path[1]}] {
		return
	}
	reason := r.accepts(path)
	here := remark{span.Spot(path[len(path)-1]), reason != ""}
	if span.Valid() && r.said[here] {
		return
	}
	r.said[here] = true
	f := diag.Finding{Code: r.rule.Code, Severity: r.rule.Severity, Path: diag.Path(path), Message: message, Span: span}
	for _, o := range options {
		o(r, &f)
	}
	if reason != "" {
		f.Severity, f.Accepted, f.Help, f.Edit, f.Related = diag.Note, reason, "", nil, nil
	}
	r.Findings.Add(f)
}

// option fills in part of a finding.
type option func(*report, *diag.Finding)

// label is the text beside the caret: the valid values.
func label(format string, args ...any) option {
	return func(_ *report, f *diag.Finding) { f.Label = fmt.Sprintf(format, args...) }
}

// help says what to do.
func help(format string, args ...any) option {
	return func(_ *report, f *diag.Finding) { f.Help = fmt.Sprintf(format, args...) }
}

// related points at the name of another field.
func related(path []string, format string, args ...any) option {
	return func(r *report, f *diag.Finding) {
		add := diag.Related{Span: r.Place(true, path...), Message: fmt.Sprintf(format, args...)}
		if !slices.Contains(f.Related, add) { // a pattern writes many fields at one place
			f.Related = append(f.Related, add)
		}
	}
}

// names returns the keys of a map in order.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// quoted lists names for a message.
func quoted(names []string) string {
	const most = 12
	return words.Quoted(names, most)
}
