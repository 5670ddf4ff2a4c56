package rules

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/compiler/trace"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rule is one requirement on a blueprint.
type Rule struct {
	Code     string        // stable, such as "E0401"
	Severity diag.Severity // which the first letter of Code gives
	Title    string
	// Acceptable reports whether a blueprint can accept the rule's findings although
	// they are errors. Warnings and notes can always be accepted, except those about
	// acceptances.
	Acceptable bool
	check      func(*report)
	whole      bool // needs every entity of the blueprint
	basic      bool // checks the meaning of names
	resolved   bool // runs only if no basic rule found a mistake
	last       bool // checks the findings of the other rules
	// fieldwise reports whether the rule reads only the blueprint, and judges the fields
	// of an entity one by one. It then also checks the valid fields of broken entities.
	fieldwise bool
	// newCluster reports whether the rule is about a cluster that the platform creates. It
	// does not hold for a cluster that others own.
	newCluster bool
	only       ir.Scheduler // runs only for this scheduler; "" means any
	// except are the schedulers that the rule does not hold for, so that it holds for a new
	// scheduler until somebody decides otherwise.
	except []ir.Scheduler
}

// trait sets what a rule differs in from others.
type trait func(*Rule)

func acceptable(r *Rule) { r.Acceptable = true }
func whole(r *Rule)      { r.whole = true }
func basic(r *Rule)      { r.basic = true }
func resolved(r *Rule)   { r.resolved = true }
func last(r *Rule)       { r.last = true }
func fieldwise(r *Rule)  { r.fieldwise = true }
func newCluster(r *Rule) { r.newCluster = true }

func only(s ir.Scheduler) trait   { return func(r *Rule) { r.only = s } }
func except(s ir.Scheduler) trait { return func(r *Rule) { r.except = append(r.except, s) } }

// rule returns a rule. The first letter of its code gives the severity: E, W or N.
func rule(code, title string, check func(*report), traits ...trait) Rule {
	severity, ok := map[byte]diag.Severity{'E': diag.Error, 'W': diag.Warning, 'N': diag.Note}[code[0]]
	if !ok {
		panic("no severity begins like " + code)
	}
	r := Rule{Code: code, Severity: severity, Title: title, check: check}
	for _, set := range traits {
		set(&r)
	}
	return r
}

// holdsFor reports whether the rule is applied to a platform: to its scheduler, and to
// its cluster.
func (r Rule) holdsFor(p *ir.Platform) bool {
	s := p.Scheduler
	return (r.only == "" || r.only == s) && !slices.Contains(r.except, s) && (!r.newCluster || p.OwnsCluster())
}

// CanAccept reports whether a blueprint can accept the rule's findings.
func (r Rule) CanAccept() bool { return !r.last && (r.Acceptable || r.Severity != diag.Error) }

// acceptableCodes returns the codes of rules whose findings can be accepted, and
// the codes of all of them, in their order.
func acceptableCodes(rules []Rule) (can, all []string) {
	for _, r := range rules {
		all = append(all, r.Code)
		if r.CanAccept() {
			can = append(can, r.Code)
		}
	}
	return can, all
}

// Pass is the input of the rules.
type Pass struct {
	Blueprint *schema.Blueprint
	// Plan is lowered from Blueprint as far as its mistakes allow.
	Plan *ir.Platform
	// Place returns the span of a field's label if key is true, otherwise of its
	// value.
	Place func(key bool, path ...string) diag.Span
	// Written reports whether the files contain the field.
	Written func(path ...string) bool
	// Tag returns the tag that sets the value of a field, "" for none, and whether the
	// command line gives the tag a value.
	Tag func(path ...string) (tag string, given bool)
	// Embedded returns the file whose text is the value of a field, and nil if the
	// blueprint itself contains the text.
	Embedded func(text string, path ...string) *diag.Source
	// Sources are the files of the user, sorted by name.
	Sources  []*diag.Source
	Findings *diag.List
	// Progress is told how far the rules are; it can be nil.
	Progress *progress.Progress
	// Broken contains the entities, by field and name, that do not fit the grammar:
	// they are empty in Blueprint. Rules report nothing about them, and nothing that
	// requires the whole blueprint.
	Broken map[[2]string]bool
	// Misnamed contains the names of entities that are no valid names. A reference to
	// an almost equal name is a consequence.
	Misnamed map[string]bool
	// Rest is Blueprint with the valid fields of the broken entities, and Valid holds the
	// names of these fields. Rest is nil if there are none.
	Rest  *schema.Blueprint
	Valid map[[2]string]map[string]bool
	// NamesOnly reports whether a part other than an entity is broken, such as the
	// region or the cluster. Only the rules on the meaning of names then run.
	NamesOnly bool
	// Misfiled reports whether entities may be in a field whose name is unknown. The
	// warnings that require the whole blueprint are then skipped.
	Misfiled bool

	rules  []Rule                     // all rules, sorted by code
	inRest bool                       // Blueprint is Rest
	said   map[string]map[remark]bool // the remarks of each rule, by code
	// entities holds what patterns have matched in Blueprint.
	entities entitySets
	acceptances
	// fit answers what fits, from Plan.
	fit *fit.Platform
	// grants returns listGrants of Blueprint, which takes a walk over all teams.
	grants func() []grant
	// existingTiers returns listExistingTiers, which takes a walk over all teams.
	existingTiers func() map[string]bool
	// traces holds the texts of the traces that were read, by path.
	traces map[string]trace.Text
	// secrets holds the secrets of the texts that were searched.
	secrets map[string][]secret.Match
}

// newReport returns the report of a rule. If a rule runs twice, it makes each remark
// once.
func (p *Pass) newReport(r Rule) *report {
	if p.said == nil {
		p.said = map[string]map[remark]bool{}
	}
	if p.said[r.Code] == nil {
		p.said[r.Code] = map[remark]bool{}
	}
	return &report{Pass: p, rule: r, said: p.said[r.Code]}
}

// concerns reports whether the rules report findings on a field in this pass.
func (p *Pass) concerns(path fieldPath) bool {
	if len(path) < 2 {
		return !p.inRest
	}
	entity := [2]string{path[0], path[1]}
	if p.inRest {
		return len(path) > 2 && p.Valid[entity][path[2]]
	}
	return !p.Broken[entity]
}

// report is a Pass for one rule.
type report struct {
	*Pass
	rule    Rule
	said    map[remark]bool // the remarks that the rule has made
	guesses int             // number of searches for the nearest name
	// proposed are the address ranges that the rule's findings propose.
	proposed []netip.Prefix
}

// remark identifies a finding of one rule on a field, at the place where the field
// is written. If a pattern writes the field for several entities, some of them may
// accept the finding and others not.
type remark struct {
	at       diag.Spot
	accepted bool
}

// maxGuesses is the number of misspelt names for which a rule searches the right
// name. Comparing ten thousand names with ten thousand others would take minutes,
// and nobody reads so many findings.
const maxGuesses = 100

// nearestName returns the name that is probably meant, "" if there is none or after
// maxGuesses searches.
func (r *report) nearestName(name string, known []string) string {
	return r.nearestBy(diag.Nearest, name, known)
}

// nearestBy returns the same as nearestName, for another meaning of near.
func (r *report) nearestBy(nearest func(string, []string) string, name string, known []string) string {
	if r.guesses++; r.guesses > maxGuesses {
		return ""
	}
	return nearest(name, known)
}

// add reports a finding at the value of a field. The options add further parts to
// the finding.
func (r *report) add(path fieldPath, message string, options ...option) {
	if tag, given := r.Tag(path...); given {
		options = append(slices.Clip(options), note("-t %s sets this value", tag))
	}
	r.newFinding(r.Place(false, path...), path, message, options)
}

// addKey reports a finding at the name of a field.
func (r *report) addKey(path fieldPath, message string, options ...option) {
	r.newFinding(r.Place(true, path...), path, message, options)
}

func (r *report) newFinding(span diag.Span, path fieldPath, message string, options []option) {
	if !r.concerns(path) {
		return
	}
	reason := r.acceptedReason(path)
	field := "" // a finding on the text of a file has no field
	if len(path) > 0 {
		field = path[len(path)-1]
	}
	here := remark{span.Spot(field), reason != ""}
	if span.Valid() && r.said[here] {
		return
	}
	r.said[here] = true
	f := diag.Finding{Code: r.rule.Code, Severity: r.rule.Severity, Path: diag.Path(path), Message: message, Span: span}
	for _, o := range options {
		o(r, path, &f)
	}
	if reason != "" {
		f.Severity, f.Accepted, f.Help, f.Edits, f.Related = diag.Note, reason, "", nil, nil
	} else if r.rule.CanAccept() {
		r.nameMissed(path, &f)
	}
	r.Findings.Add(f)
}

// acceptedReason returns the blueprint's reason for accepting the rule's finding on a
// field, "" if the blueprint does not accept it.
func (r *report) acceptedReason(path fieldPath) string {
	if !r.rule.CanAccept() {
		return ""
	}
	return r.reason(r.rule.Code, path)
}

// nameMissed adds the acceptances of the finding's code in other kinds of struct to a
// finding that is not accepted: whoever wrote them may believe that they hold. The
// finding is on the field with the given path.
func (r *report) nameMissed(path fieldPath, f *diag.Finding) {
	here := accepterOf(path)
	for _, a := range r.samples[r.rule.Code] {
		if a.by.field != here.field {
			see(a.path(), "this acceptance has no effect on the finding; write %s",
				acceptSource(a.code, path))(r, path, f)
			r.missed[a] = true
		}
	}
}

// accepting returns the CUE source that accepts the rule's finding on a field, without a
// reason.
func (r *report) accepting(path fieldPath) string { return acceptSource(r.rule.Code, path) }

// say returns the message of a finding.
func say(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// option sets a part of a finding on a field.
type option func(r *report, path fieldPath, f *diag.Finding)

// together sets all the parts that some options set.
func together(options ...option) option {
	return func(r *report, path fieldPath, f *diag.Finding) {
		for _, o := range options {
			o(r, path, f)
		}
	}
}

// when sets what an option sets if a condition holds.
func when(holds bool, o option) option {
	if !holds {
		return together()
	}
	return o
}

// label sets the text beside the caret, which names the valid values.
func label(format string, args ...any) option {
	return func(_ *report, _ fieldPath, f *diag.Finding) { f.Label = fmt.Sprintf(format, args...) }
}

// choices sets the label that names the valid values. If there is none, the finding has no
// label.
func choices(names []string) option { return choicesIn(len(names), quoteNames(names)) }

// choicesIn does the same as choices for n values in a list.
func choicesIn(n int, list string) option {
	if n == 0 {
		return label("")
	}
	return label("want %s", words.OneOf(n, list))
}

// help sets the text that says what to do.
func help(format string, args ...any) option { return advise(fmt.Sprintf(format, args...)) }

// advise does the same as help for a text that is complete.
func advise(text string) option {
	return func(_ *report, _ fieldPath, f *diag.Finding) { f.Help = text }
}

// helpOrAccept does the same as help, and says when to accept the finding instead, such as
// "if this is intended".
func helpOrAccept(when, format string, args ...any) option {
	return func(r *report, path fieldPath, f *diag.Finding) {
		f.Help = fmt.Sprintf(format, args...) + "; " + when + ", add " + r.accepting(path)
	}
}

// didYouMean asks whether a name is meant. For the name "" it is the other help.
func didYouMean(name string, otherwise option) option {
	if name == "" {
		return otherwise
	}
	return help("did you mean %q?", name)
}

// see adds a reference to the name of another field.
func see(path fieldPath, format string, args ...any) option {
	return func(r *report, _ fieldPath, f *diag.Finding) {
		add := diag.Related{Span: r.Place(true, path...), Message: fmt.Sprintf(format, args...)}
		if tag, given := r.Tag(path...); given {
			add.Message += ", which -t " + tag + " sets"
		}
		if !slices.Contains(f.Related, add) { // a pattern writes many fields at one place
			f.Related = append(f.Related, add)
		}
	}
}

// note adds a note that has no place.
func note(format string, args ...any) option {
	return func(_ *report, _ fieldPath, f *diag.Finding) {
		f.Related = append(f.Related, diag.Related{Message: fmt.Sprintf(format, args...)})
	}
}
