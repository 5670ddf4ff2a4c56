package blueprint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// reportIndefinite reports a field that is written and has no definite value. If the
// field depends on another field, the finding is at that field, once for all
// dependent fields. err is CUE's error, or nil.
func (g *grammar) reportIndefinite(err error, schema cue.Value, path []string) {
	errs := cueerrors.Errors(err)
	if slices.ContainsFunc(errs, g.followsCutOut) || g.partial {
		g.mistakes++
		return
	}
	for _, e := range errs {
		if format, _ := e.Msg(); strings.HasPrefix(format, undefinedField) {
			g.reportEvaluation(e, schema, path)
			return
		}
	}
	f := diag.Finding{
		Code: "E0106", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.fieldSpan(false, path...),
		Message: diag.Path(path) + " has no concrete value", Help: "write one value",
	}
	if schema.Exists() {
		f.Label = "want " + describeWanted(schema)
	}
	g.addUnsettled(f, f.Path, errs)
}

// reportUndecided reports a condition that is neither true nor false.
func (g *grammar) reportUndecided(err error, condition diag.Span) {
	errs := cueerrors.Errors(err)
	if slices.ContainsFunc(errs, g.followsCutOut) || g.partial {
		g.mistakes++
		return
	}
	g.addUnsettled(diag.Finding{
		Code: "E0106", Severity: diag.Error, Span: condition,
		Message: "this condition is neither true nor false",
		Help:    "give a value to the fields in the condition: write one, add a default with *, or set a tag with -t",
	}, "this condition", errs)
}

// addUnsettled adds a finding about something without a definite value. The finding is
// at the value that it depends on, if CUE's errors point there.
func (g *grammar) addUnsettled(f diag.Finding, what string, errs []cueerrors.Error) {
	here := g.locate.fieldAt(f.Span)
	var cause, clause *field
	for _, span := range g.errorSpans(errs...) {
		switch at := g.locate.fieldAt(span); {
		case at == nil || here != nil && at.value == here.value:
		case at.clause:
			clause = cmp.Or(clause, at)
		case at.name == what:
			f.Span, here = at.value, at
		default:
			cause = cmp.Or(cause, at)
		}
	}
	if g.reportReferences(f.Span) || g.alreadyFound(f.Span.Spot("")) {
		return
	}
	if cause = cmp.Or(cause, clause); cause != nil {
		if clause != nil && clause != cause {
			f.Related = []diag.Related{{Span: clause.value, Message: clause.name + " depends on this value"}}
		} else if what != "" && cause != clause {
			f.Related = []diag.Related{{Span: f.Span, Message: what + " depends on this value"}}
		}
		f.Message, f.Span, f.Label = cause.name+" has no concrete value", cause.value, ""
		f.Help = "write a value, or a default with *"
		if cause.tag != "" {
			f.Help = fmt.Sprintf("set a value with -t %s=VALUE", cause.tag)
		}
		if g.alreadyFound(f.Span.Spot("")) {
			return
		}
		if len(g.misspelt) > 0 {
			g.postpone(f, strings.Split(cause.name, "."))
			return
		}
	}
	g.addFinding(f)
}

// reportReferences reports the mistakes of the hidden fields that the expressions at a
// span refer to, directly or through other hidden fields, and returns whether there are
// any: they are the reason why the expression has no value.
func (g *grammar) reportReferences(at diag.Span) bool {
	before := g.mistakes
	for _, name := range g.locate.hiddenNames(at) {
		value := g.locate.value().LookupPath(cue.MakePath(cue.Hid(name, g.locate.inst.ID())))
		err := value.Validate()
		if err == nil || cue.IsIncomplete(err) || isStruct(value) {
			continue
		}
		if !strings.HasPrefix(load.Message(cueerrors.Errors(err)[0]), interpolation) { // a consequence, too
			g.reportEvaluation(err, cue.Value{}, []string{name})
		}
	}
	return g.mistakes > before
}
