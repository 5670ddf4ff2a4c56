package blueprint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// grammar explains why a blueprint does not fit the schema. CUE itself reports a
// wrong enum value once for every member, hides an unknown field behind any other
// mistake, and points into the schema. grammar therefore walks the user's value and
// the schema together, and describes each mistake once, with information from both.
type grammar struct {
	cue      *cue.Context
	sources  *load.Sources
	locate   *locator
	findings *diag.List
	mistakes int // number of mistakes so far, including those without a finding of their own
	// explained and unexplained are the numbers of entities and fields that do not
	// fit.
	explained, unexplained int
	omitted                diag.Span              // place of the first one that is not explained
	reported               map[diag.Spot]bool     // fields whose value has a finding
	partial                bool                   // some of the files could not be read
	bare                   func() cue.Value       // value of the files without the schema, if they refer to it
	definition             func() cue.Value       // the schema's definition of a blueprint
	vocabulary             func() *vocabulary     // of the definition
	misnamed               func() map[string]bool // names of entities that are invalid
	// followups are findings of the current entity that are probably consequences of
	// its other mistakes.
	followups []followup
	// misspelt are the fields of the current entity that are meant by misspelt names;
	// nil outside an entity.
	misspelt  map[string]bool
	undefined []undefinedReference
	renamed   map[string]string // the fields that are meant by misspelt names
	twins     int               // searches for twins so far, at most mostTwins
}

// mostTwins bounds the searches for twins, each of which reads the names of all
// entities of a kind.
const mostTwins = 100

// followup is a finding that is reported only if the entity has no other mistake that
// explains it.
type followup struct {
	diag.Finding
	fields []string // the fields that the finding is about; nil if any mistake explains it
}

// postpone keeps a finding until all mistakes of the current entity are known. fields
// is as in followup. Outside an entity nothing could explain the finding.
func (g *grammar) postpone(f diag.Finding, fields []string) {
	if g.misspelt == nil {
		g.addFinding(f)
		return
	}
	g.mistakes++
	g.followups = append(g.followups, followup{f, fields})
}

// reportFollowups reports the followups that no other mistake explains. before is the
// number of mistakes before the entity.
func (g *grammar) reportFollowups(before int) {
	others := g.mistakes > before+len(g.followups)
	for _, f := range g.followups {
		explained := others && f.fields == nil
		for _, name := range f.fields {
			explained = explained || g.misspelt[name]
		}
		if !explained {
			g.addFinding(f.Finding)
		}
	}
	g.followups, g.misspelt = nil, nil
}

// addFinding reports a mistake.
func (g *grammar) addFinding(f diag.Finding) {
	g.mistakes++
	g.findings.Add(f)
}

// alreadyFound reports whether the spot already has a finding. If so, it also counts
// the mistake.
func (g *grammar) alreadyFound(here diag.Spot) bool {
	if g.reported[here] {
		g.mistakes++
		return true
	}
	g.reported[here] = true
	return false
}

// notAStruct reports a blueprint that is not a struct.
func (g *grammar) notAStruct(value cue.Value) {
	g.addFinding(diag.Finding{
		Code: "E0003", Severity: diag.Error, Span: g.locate.fieldSpan(false),
		Message: "is not a blueprint, but " + describeValue(value),
		Help:    "write a struct with fields such as name and teams",
	})
}

// walkValue reports every mistake of a value at a path and below. schema is the
// constraint. value is the value of the user's files without the schema.
func (g *grammar) walkValue(schema, value cue.Value, path []string) {
	// A one-of is bottom by itself, because it has no field yet.
	structural := schema.IncompleteKind()&^cue.StructKind == 0
	switch {
	case !structural && isStruct(value) && armOf(schema, cue.StructKind).Exists():
		g.walkObject(armOf(schema, cue.StructKind), value, path)
	case structural && isStruct(value):
		g.walkObject(schema, value, path)
	case schema.IncompleteKind() == cue.ListKind && isList(value):
		g.walkList(schema, value, path)
	case isList(value) && armOf(schema, cue.ListKind).Exists():
		g.walkList(armOf(schema, cue.ListKind), value, path)
	default:
		g.checkScalar(schema, value, path)
	}
}

// armOf returns the arm of a constraint that accepts values of a kind, if the constraint also
// accepts values of other kinds. The result does not exist if there is no such arm.
func armOf(constraint cue.Value, kind cue.Kind) cue.Value {
	if op, args := constraint.Expr(); op == cue.OrOp {
		for _, arm := range args {
			if arm.IncompleteKind() == kind {
				return arm
			}
		}
	}
	return cue.Value{}
}

// asWritten returns the value of the user's files at a path. If the files refer to
// the schema, the value is evaluated without the schema.
func (g *grammar) asWritten(value cue.Value, path []string) cue.Value {
	if bare := g.bare(); bare.Exists() {
		if bare = g.locate.lookupMeant(bare, path); bare.Exists() {
			return bare
		}
	}
	return value
}

// lookupPath returns the value at a path in the form that findings use.
func lookupPath(v cue.Value, path []string) cue.Value {
	var sel []cue.Selector
	for _, name := range path {
		if i, err := strconv.Atoi(strings.Trim(name, "[]")); err == nil && name == diag.Index(i) {
			sel = append(sel, cue.Index(i))
		} else {
			sel = append(sel, cue.Str(name))
		}
	}
	return v.LookupPath(cue.MakePath(sel...))
}

// isStruct reports whether a value is a struct, even if it contains a mistake.
func isStruct(v cue.Value) bool {
	if kind := v.IncompleteKind(); kind != cue.BottomKind {
		return kind == cue.StructKind && v.IsConcrete()
	}
	for sel := range allFields(v) {
		return sel.LabelType() != cue.IndexLabel
	}
	return false
}

// isList reports whether a value is a list, even if it contains a mistake.
func isList(v cue.Value) bool {
	if kind := v.IncompleteKind(); kind != cue.BottomKind {
		return kind == cue.ListKind
	}
	for sel := range allFields(v) {
		return sel.LabelType() == cue.IndexLabel
	}
	return false
}

func (g *grammar) walkObject(schema, value cue.Value, path []string) {
	names := fieldNames(schema)
	known, required := map[string]cue.Value{}, requiredOf(schema)
	for sel, field := range schemaFields(schema) {
		known[sel.Unquoted()] = field
	}
	pattern, label := patternOf(schema)
	matches := labelMatcher(label)

	before := g.mistakes
	given, meant := map[string]bool{}, g.reportUnknowns(value, known, pattern.Exists(), names, path)
	for sel, field := range writtenFields(value) {
		if !sel.IsString() {
			g.reportHidden(field, append(slices.Clip(path), sel.String()))
			continue
		}
		name := sel.Unquoted()
		given[name] = true
		at := append(slices.Clip(path), name)
		constraint := pattern
		if known[name].Exists() {
			constraint = known[name]
		}
		switch {
		case !constraint.Exists(), g.reportDisallowed(field, at):
		case !known[name].Exists() && !matches(name):
			g.badKey(label, name, at)
		default:
			g.walkValue(constraint, field, at)
		}
	}
	if g.reportStruct(schema, value, path) || g.partial {
		return // the part that cannot be evaluated may contain the missing field
	}
	lacking := slices.DeleteFunc(required, func(name string) bool { return given[name] || meant[name] })
	twin := ""
	if len(lacking) > 0 && g.twins < mostTwins {
		twin = g.twinEntity(path)
	}
	if twin != "" {
		g.reportTwin(twin, lacking, path)
	} else {
		for _, name := range lacking {
			g.reportMissing(known[name], name, path)
		}
	}
	g.reportRequired(value, given, required, path)
	oneOf := schema.IncompleteKind() == cue.BottomKind
	chosen := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !given[n] })
	if oneOf && (len(chosen) > 1 || len(chosen) == 0 && g.mistakes == before) {
		g.checkOneOf(names, chosen, path)
	}
}

// reportUnknowns reports the fields of a struct that the schema does not have, and
// returns the fields that are probably meant.
func (g *grammar) reportUnknowns(value cue.Value, known map[string]cue.Value, isMap bool,
	names, path []string) map[string]bool {
	meant := map[string]bool{}
	if isMap {
		return meant
	}
	for sel := range writtenFields(value) {
		if !sel.IsString() || known[sel.Unquoted()].Exists() {
			continue
		}
		if above(path, "secretEnv") && slices.Contains(secretValues, sel.Unquoted()) {
			meant["secret"], meant["key"] = true, true // the help names both
		}
		if near := g.reportUnknown(sel.Unquoted(), names, append(slices.Clip(path), sel.Unquoted())); near != "" {
			meant[near], g.misspelt[near] = true, true
			g.misspelt[diag.Path(append(slices.Clip(path), near))] = true
		}
	}
	return meant
}

// reportDisallowed reports a field that a closed definition of the user does not
// allow, and returns whether there is one.
func (g *grammar) reportDisallowed(value cue.Value, path []string) bool {
	for _, e := range cueerrors.Errors(value.Err()) {
		if format, _ := e.Msg(); strings.HasPrefix(format, notAllowed) && slices.Equal(pathOf(e, path), path) {
			g.reportEvaluation(e, cue.Value{}, path)
			return true
		}
	}
	return false
}

// reportStruct reports mistakes of a struct itself, not of its fields, and returns
// whether there are any.
func (g *grammar) reportStruct(schema, value cue.Value, path []string) bool {
	var definite, incomplete cueerrors.Error
	inner := false
	for _, e := range cueerrors.Errors(value.Err()) {
		format, _ := e.Msg()
		if !inner && g.inside(e, path) {
			continue
		}
		inner = inner || strings.Contains(format, noArmFits)
		switch {
		case strings.Contains(format, requiredField):
		case cue.IsIncomplete(e):
			incomplete = cueerrors.Append(incomplete, e)
		default:
			definite = cueerrors.Append(definite, e)
		}
	}
	if definite != nil {
		g.reportEvaluation(definite, schema, path)
	}
	if incomplete != nil {
		g.reportIndefinite(incomplete, schema, path)
	}
	return definite != nil || incomplete != nil
}

// reportHidden reports mistakes in a hidden field or a definition, such as a check
// of the blueprint itself.
func (g *grammar) reportHidden(value cue.Value, path []string) {
	if err := value.Validate(); err != nil {
		g.reportEvaluation(err, cue.Value{}, path)
	}
}

// reportRequired reports fields that the blueprint itself requires and does not
// give, and returns whether there are any.
func (g *grammar) reportRequired(value cue.Value, given map[string]bool, required []string, path []string) bool {
	before := g.mistakes
	for _, name := range requiredOf(value) {
		if given[name] || slices.Contains(required, name) {
			continue
		}
		f := missingField(name, path)
		f.Span = g.locate.fieldSpan(true, path...)
		f.Help = "add the field, or remove the constraint"
		if span := g.locate.fieldSpan(true, append(slices.Clip(path), name)...); len(path) < 2 {
			f.Span = span
		} else {
			f.Related = []diag.Related{{Span: span, Message: "required here"}}
		}
		if !g.alreadyFound(f.Span.Spot(name)) {
			g.addFinding(f)
		}
	}
	return g.mistakes > before
}

func (g *grammar) walkList(schema, value cue.Value, path []string) {
	if g.reportStruct(schema, value, path) {
		return // its elements come from several lists
	}
	before := g.mistakes
	element := elementOf(schema)
	if g.reportUndefinedElements(element, value, path) || g.reportOverlaid(value, path) {
		return
	}
	for i, item := range elements(value) {
		if !element.Exists() {
			break
		}
		g.walkValue(element, item, append(slices.Clip(path), diag.Index(i)))
		if isConflict(item) {
			break // a mistake merged two lists into one
		}
	}
	if g.mistakes == before {
		g.checkScalar(schema, value, path)
	}
}

// checkScalar reports a value that does not satisfy its constraint.
func (g *grammar) checkScalar(schema, value cue.Value, path []string) {
	if !value.IsConcrete() && g.bare().Exists() { // the value can refer to a default of the schema
		evaluated, _ := g.locate.lookupMeant(g.locate.value(), path).Default()
		err := evaluated.Validate()
		switch {
		case err == nil && evaluated.IsConcrete():
			value = evaluated
		case err != nil && !cue.IsIncomplete(err) && hasDefault(value):
			value, _ = value.Default() // it does not fit, so that CUE does not choose it
		case err != nil && !cue.IsIncomplete(err):
			g.addFinding(diag.Finding{
				Code: "E0103", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.fieldSpan(false, path...),
				Message: diag.Path(path) + " refers to an invalid value", Label: "want " + describeWanted(schema),
			})
			return
		}
	}
	if err := value.Validate(); err != nil {
		g.reportEvaluation(err, schema, path)
		return
	}
	err := schema.Unify(value).Validate(cue.Concrete(true), cue.Final())
	if err == nil {
		return
	}
	if !value.IsConcrete() &&
		(value.IncompleteKind() == cue.BottomKind || value.IncompleteKind()&schema.IncompleteKind() != 0) {
		g.reportIndefinite(value.Validate(cue.Concrete(true)), schema, path)
		return
	}
	if name, err := value.String(); err == nil && g.misnamed()[name] { // the entity's name has a finding
		g.mistakes++
		return
	}
	if g.followsSibling(value, path) {
		g.mistakes++
		return
	}
	shown := describeValue(value)
	f := diag.Finding{
		Code: "E0103", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.literalSpan(shown, path),
		Message: fmt.Sprintf("%s cannot be %s", diag.Path(path), shown), Label: "want " + describeWanted(schema),
	}
	if g.alreadyFound(f.Span.Spot(path[len(path)-1])) {
		return
	}
	g.suggestValue(&f, schema, value, path)
	hideValue(&f, diag.Path(path), shown)
	g.locate.nameTag(&f, path)
	g.addFinding(f)
}

// followsSibling reports whether the value at a path is computed from another field of
// the same struct whose value does not fit either.
func (g *grammar) followsSibling(value cue.Value, path []string) bool {
	if len(path) == 0 {
		return false
	}
	span, parent := g.locate.fieldSpan(false, path...), path[:len(path)-1]
	if isLiteral(span, value) {
		return false
	}
	for _, name := range g.locate.namesIn(span) {
		at := append(slices.Clip(parent), name)
		constraint, _, err := constraintAt(g.definition(), at)
		sibling := g.locate.lookupMeant(g.locate.value(), at)
		if err == nil && name != path[len(path)-1] && sibling.Exists() && sibling.IsConcrete() &&
			constraint.Unify(sibling).Validate(cue.Concrete(true), cue.Final()) != nil {
			return true
		}
	}
	return false
}

// hasDefault reports whether a value that is not concrete has a concrete default.
func hasDefault(v cue.Value) bool {
	standard, ok := v.Default()
	return ok && standard.IsConcrete()
}

// badKey reports a name that is not a valid label.
func (g *grammar) badKey(label cue.Value, name string, path []string) {
	if len(path) > 2 && g.misnamed()[name] { // it refers to an entity whose name has a finding
		g.mistakes++
		return
	}
	f := diag.Finding{
		Code: "E0105", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.fieldSpan(true, path...),
		Message: fmt.Sprintf("%q is not a valid name", name), Label: "want " + wantLabel(label),
	}
	g.suggestName(&f, label, name)
	g.addFinding(f)
}

// reportUnknown reports a field that the schema does not have. It returns the name
// of the field that is probably meant, or "".
func (g *grammar) reportUnknown(name string, names []string, path []string) string {
	parent := diag.Path(path[:len(path)-1])
	if parent == "" {
		parent = "a blueprint"
	}
	f := diag.Finding{
		Code: "E0101", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.fieldSpan(true, path...),
		Message: fmt.Sprintf("unknown field %q", name),
		Label:   "want " + words.OneOf(len(names), strings.Join(names, ", ")),
		Help:    fmt.Sprintf("remove the field or correct its name: %s does not have it", parent),
	}
	if len(names) == 0 {
		f.Label = "no fields are allowed here"
	}
	near := g.suggestField(&f, name, names, path[:len(path)-1])
	g.convertStruct(&f, near, path)
	g.renamed[name] = near
	g.addFinding(f)
	return near
}

// twinEntity returns the entity of another file whose name the entity at a path
// probably means, or "".
func (g *grammar) twinEntity(path []string) string {
	if len(path) != 2 {
		return ""
	}
	g.twins++
	here := g.locate.fieldSpan(true, path...)
	for _, name := range entityNames(g.locate.lookupMeant(g.locate.value(), path[:1])) {
		if diag.Twins(path[1], name) && g.locate.fieldSpan(true, path[0], name).Source != here.Source {
			return name
		}
	}
	return ""
}

// reportTwin reports an entity that lacks required fields, probably because its name
// is misspelt: the fields are in the entity that is meant.
func (g *grammar) reportTwin(twin string, lacking, path []string) {
	f := missingField(lacking[0], path)
	if len(lacking) > 1 {
		f.Message = fmt.Sprintf("missing required fields %s in %s", words.Quoted(lacking, len(lacking)),
			diag.Path(path))
	}
	f.Span = g.locate.fieldSpan(true, path...)
	f.Help = fmt.Sprintf("did you mean %q? otherwise add the fields", twin)
	g.editName(&f, twin)
	f.Related = []diag.Related{{Span: g.locate.fieldSpan(true, path[0], twin), Message: "the other name"}}
	g.addFinding(f)
}

func (g *grammar) reportMissing(schema cue.Value, name string, path []string) {
	at := append(slices.Clip(path), name)
	if g.misspelt[diag.Path(path)] { // the field may be in the struct with the misspelt name
		g.mistakes++
		return
	}
	f := missingField(name, path)
	if label := g.locate.fieldSpan(true, at...); g.locate.isWritten(at...) && isConstraintLabel(label) {
		f.Span, f.Help = label, "write "+name+": without the mark \"?\" or \"!\", because a field with a "+
			"mark sets no value"
		if !g.alreadyFound(label.Spot(name)) { // a template can write it for many entities
			g.addFinding(f)
		}
		return
	}
	if g.locate.isWritten(at...) {
		g.reportIndefinite(nil, schema, at)
		return
	}
	f.Span = g.locate.fieldSpan(true, at...)
	if f.Help = g.addReference(schema, at); f.Help == "" {
		f.Help = "add " + name + ", " + describeWanted(schema)
	}
	if f.Span.Valid() && g.alreadyFound(f.Span.Spot(name)) {
		return // a template lacks the field, and many entities are made from the template
	}
	g.addFinding(f)
}

// isConstraintLabel reports whether a label ends with the mark of an optional or a
// required field.
func isConstraintLabel(label diag.Span) bool {
	text := label.Text()
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!")
}

// missingField returns the finding that the struct at a path does not have the named
// field.
func missingField(name string, path []string) diag.Finding {
	where := "the blueprint"
	if len(path) > 0 {
		where = diag.Path(path)
	}
	return diag.Finding{
		Code: "E0102", Severity: diag.Error, Path: diag.Path(append(slices.Clip(path), name)),
		Message: fmt.Sprintf("missing required field %q in %s", name, where),
	}
}

// checkOneOf reports a one-of in which none or several of the fields are set.
func (g *grammar) checkOneOf(names, chosen, path []string) {
	message := fmt.Sprintf("%s sets no option", diag.Path(path))
	if len(chosen) > 1 {
		message = fmt.Sprintf("%s sets more than one option: %s", diag.Path(path), strings.Join(chosen, " and "))
	}
	f := diag.Finding{
		Code: "E0104", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.fieldSpan(true, path...),
		Message: message, Label: "want exactly one of " + strings.Join(names, ", "), Help: "keep one option",
	}
	if len(chosen) == 0 {
		f.Help = "set one option"
	}
	for _, n := range chosen {
		f.Related = append(f.Related,
			diag.Related{Span: g.locate.fieldSpan(true, append(slices.Clip(path), n)...), Message: n + " is set here"})
	}
	g.addFinding(f)
}
