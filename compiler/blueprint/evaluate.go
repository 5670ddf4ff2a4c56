package blueprint

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/compiler/words"
)

// Parts of the messages of CUE's errors, which distinguish the errors: CUE gives
// them no codes.
const (
	requiredField  = "field is required but not present"
	noArmFits      = "errors in empty disjunction"
	conflicting    = "conflicting values %s and %s"
	outOfBound     = "invalid value %v (out of bound %s)"
	notSatisfied   = "invalid value %s (does not satisfy %s)"
	undefinedField = "undefined field: %s"
	notAllowed     = "field not allowed"
	listLengths    = "incompatible list lengths (%d and %d)"
	bottomLiteral  = "literal) in source"
	interpolation  = "invalid interpolation: "
	failedPart     = interpolation + "conflicting values" // the part has an error of its own
)

// reportEvaluation reports mistakes of the blueprint's own CUE at a path: one
// finding for each field, however many errors CUE has for it. schema is the field's
// constraint, and may not exist.
func (g *grammar) reportEvaluation(err error, schema cue.Value, path []string) {
	var order []string
	byPath := map[string][]cueerrors.Error{}
	arms, inDisjunction := 0, ""
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		if strings.Contains(format, requiredField) {
			continue // walkObject reports it
		}
		at := diag.Path(pathOf(e, path))
		switch {
		case arms > 0: // the reasons why no arm fits are one mistake
			arms--
			at = inDisjunction
		case strings.Contains(format, noArmFits) && len(args) > 0:
			arms, _ = args[0].(int)
			inDisjunction = at
		}
		if g.followsCutOut(e) {
			g.mistakes++
			continue
		}
		if byPath[at] == nil {
			order = append(order, at)
		}
		byPath[at] = append(byPath[at], e)
	}
	for _, at := range order {
		errs := byPath[at]
		where := g.insideEntity(pathOf(errs[0], path), path)
		if !slices.Equal(where, path) {
			schema = cue.Value{}
		}
		format, _ := errs[0].Msg()
		f := g.fieldFinding(errs, schema, where)
		if format == "" || ownCheck(f.Span) {
			format = f.Message
		}
		if g.alreadyFound(f.Span.Spot(format)) {
			continue
		}
		if strings.Contains(f.Message, failedPart) {
			g.postpone(f, nil)
			continue
		}
		if strings.HasPrefix(f.Message, interpolation) && g.reportReferences(f.Span) {
			continue
		}
		if format, args := errs[0].Msg(); strings.HasPrefix(format, undefinedField) {
			name := pathElement(fmt.Sprint(args[0]))
			g.mistakes++
			g.undefined = append(g.undefined, undefinedReference{f, name, g.locate.nearField(errs[0].Position(), name)})
			continue
		}
		g.addFinding(f)
	}
}

// insideEntity returns the path of an error about an entity unified with its schema,
// which CUE counts from the entity. path is the path of the entity or below.
func (g *grammar) insideEntity(where, path []string) []string {
	if len(path) < 2 || len(where) == 0 || where[0] == path[0] || g.locate.isWritten(where...) {
		return where
	}
	full := append(slices.Clone(path[:2]), where...)
	if _, _, err := constraintAt(g.definition(), full); err != nil {
		return where
	}
	return full
}

// undefinedReference is the finding on a reference to a field that is written under
// another name, or nowhere. near is a written field with almost the same name, or "".
type undefinedReference struct {
	diag.Finding
	name, near string
}

// reportUndefined reports the references to undefined fields. It leaves out a field that
// a finding tells the user to rename.
func (g *grammar) reportUndefined() {
	for _, u := range g.undefined {
		if u.near == "" || g.renamed[u.near] != u.name {
			g.findings.Add(u.Finding)
		}
	}
}

// followsCutOut reports whether an error is a consequence of a part that was
// reported and cut out.
func (g *grammar) followsCutOut(e cueerrors.Error) bool {
	return slices.ContainsFunc(append(e.InputPositions(), e.Position()), func(pos token.Pos) bool {
		if !pos.IsValid() {
			return false
		}
		_, cut := g.sources.Cuts[pos.Filename()][pos.Offset()]
		return cut
	})
}

// inside reports whether an error that CUE attributes to a struct arose in one of
// the struct's fields, judged by the positions of the error.
func (g *grammar) inside(e cueerrors.Error, path []string) bool {
	at := pathOf(e, path)
	if len(at) > len(path) {
		return true
	}
	if format, _ := e.Msg(); !strings.Contains(format, bottomLiteral) && !g.followsCutOut(e) {
		return false
	}
	// CUE keeps no path for these errors.
	return slices.ContainsFunc(g.errorSpans(e), func(s diag.Span) bool {
		at := g.locate.fieldAt(s)
		return at != nil && at.depth > len(path)
	})
}

// fieldFinding returns the finding for CUE's errors about one field.
func (g *grammar) fieldFinding(errs []cueerrors.Error, schema cue.Value, path []string) diag.Finding {
	format, args := errs[0].Msg()
	if strings.Count(format, "%") > len(args) {
		format = "" // the message is a text of the blueprint itself
	}
	name := cmp.Or(diag.Path(path), "the blueprint")
	m := &mistake{
		Finding: diag.Finding{Code: "E0107", Severity: diag.Error, Path: diag.Path(path),
			Message: withoutStructs(load.Message(errs[0]))},
		spans: g.errorSpans(errs...), others: "see also here",
	}
	switch {
	case len(m.spans) > 0 && ownCheck(m.spans[0]):
		m.Help = "change the blueprint so that this check succeeds"
	case strings.Contains(format, noArmFits):
		m.describeAlternatives(name, errs[1:])
	case strings.HasPrefix(format, conflicting):
		if !g.describeMisfit(m, name, errs, schema, path) {
			m.describeConflict(path, errs, g.locate.compareOrder)
		}
	case strings.HasPrefix(format, outOfBound), strings.HasPrefix(format, notSatisfied):
		m.describeBound(name, withoutStructs(fmt.Sprint(args[0])), fmt.Sprint(args[1]), func(key bool) diag.Span {
			return g.locate.fieldSpan(key, path...)
		})
	case strings.HasPrefix(format, notAllowed):
		g.describeClosed(m, path)
	case strings.HasPrefix(format, undefinedField):
		field := pathElement(fmt.Sprint(args[0]))
		m.Message = fmt.Sprintf("reference to undefined field %q", field)
		m.Help = "correct the reference, or write the field: a reference cannot use a default of the schema"
		if near := g.locate.nearField(errs[0].Position(), field); near != "" {
			m.Help = fmt.Sprintf("did you mean %q?", near)
		}
	case strings.HasPrefix(format, listLengths):
		m.Message = fmt.Sprintf("%s is both a list of %v and a list of %v elements", name, args[0], args[1])
		m.Help, m.others = "keep one of the lists", "another list"
		m.spans = g.locate.valueSpans(path)
		slices.SortStableFunc(m.spans, func(a, b diag.Span) int { return g.locate.compareOrder(b, a) })
	case strings.Contains(format, "cycle"), strings.Contains(format, "cyclic"):
		m.Help = "give one of the fields a value that does not refer to the others"
	case strings.Contains(format, bottomLiteral):
		m.Message, m.Help = name+" is explicitly set to an error", "replace the error with a value"
	default:
		m.Message, m.Help = describeExpression(m.Message, format, args)
	}
	if len(m.spans) == 0 || !m.spans[0].Valid() {
		m.spans = []diag.Span{g.locate.fieldSpan(false, path...)}
	}
	m.Help += g.adviseTag(m.spans[0])
	m.Span = m.spans[0]
	for _, span := range m.spans[1:min(len(m.spans), 4)] {
		m.Related = append(m.Related, diag.Related{Span: span, Message: m.others})
	}
	return m.Finding
}

// adviseTag returns the end of the help of a finding on a field that a tag can set, ""
// for any other field.
func (g *grammar) adviseTag(span diag.Span) string {
	switch at := g.locate.fieldAt(span); {
	case at == nil || at.tag == "":
		return ""
	case g.locate.given(at.tag):
		return "; -t " + at.tag + " sets a value here"
	default:
		return "; or set it with -t " + at.tag + "=VALUE"
	}
}

// mistake is an unfinished finding.
type mistake struct {
	diag.Finding
	spans  []diag.Span // the place of the mistake, and further places
	others string      // description of the further places
}

// describeConflict describes that a field has several values. The wrong value is the
// one that was written last.
func (m *mistake) describeConflict(path []string, errs []cueerrors.Error, later func(a, b diag.Span) int) {
	name := cmp.Or(diag.Path(path), "the blueprint")
	var values, printed []string
	for _, v := range conflictingValues(errs) {
		if v = shortenValue(withoutStructs(v)); !slices.Contains(values, v) {
			values = append(values, v)
			printed = append(printed, maskValue(name, v))
		}
	}
	if len(values) == 2 && slices.Contains(values, "true") && slices.Contains(values, "false") &&
		strings.HasPrefix(lastElement(strings.Split(name, ".")), "_") {
		m.Message, m.Help = "the check "+name+" of the blueprint fails", "correct the value that it checks, or the "+
			"check"
		m.others = "the check"
		return
	}
	m.Message = fmt.Sprintf("%s has conflicting values %s", name, words.And(printed))
	m.others = "another value"
	isValue := func(s diag.Span) bool { return slices.Contains(values, s.Text()) }
	if slices.ContainsFunc(m.spans, isValue) {
		m.spans = slices.DeleteFunc(m.spans, func(s diag.Span) bool { return !isValue(s) })
	}
	slices.SortStableFunc(m.spans, func(a, b diag.Span) int { return later(b, a) })
	m.Help = "keep one value"
	if first := m.spans[max(0, len(m.spans)-1):]; len(first) == 1 && isValue(first[0]) {
		m.Help += adviseDefault(path, first[0])
	}
}

// adviseDefault returns the end of a help that shows how the value at a span becomes a default, ""
// if it cannot: only a scalar of a field can, in CUE. Secrets are not repeated.
func adviseDefault(path []string, value diag.Span) string {
	const most = 60 // characters of a value that a help repeats
	text := value.Text()
	field := diag.Path(path[max(0, len(path)-1):])
	kind := kindOfLiteral(text)
	if kind == "" || len(text) > most || maskValue(lastElement(path), text) != text ||
		strings.HasPrefix(field, "[") || filepath.Ext(value.Source.Name) != ".cue" {
		return ""
	}
	return fmt.Sprintf(", or make one a default: %s: *%s | %s", field, text, kind)
}

// kindOfLiteral returns the CUE type of a scalar literal, "" for any other text.
func kindOfLiteral(text string) string {
	switch {
	case text == "true", text == "false":
		return "bool"
	case strings.HasPrefix(text, `"`):
		return "string"
	case wholeNumber.MatchString(text):
		return "int"
	}
	return ""
}

// wholeNumber matches a literal of CUE.
var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// maskValue returns the printed value of a field with its secrets masked. The end of the
// field's path can announce a secret.
func maskValue(path, printed string) string {
	return secret.MaskValue(lastElement(strings.Split(path, ".")), printed)
}

// hideValue hides a refused value in a finding if the name of its field makes it a
// secret. Other secrets hide themselves.
func hideValue(f *diag.Finding, path, printed string) {
	elements := strings.Split(path, ".")
	isSecret := above(elements, "secretEnv") // instead of the names of the Secret
	if !isSecret && maskValue(path, printed) == secret.Mask(printed) {
		return
	}
	bare := strings.Trim(printed, `"'`)
	f.Secret, f.Edits = true, nil
	f.Message = strings.ReplaceAll(f.Message, bare, strings.Repeat("*", len(bare)))
	f.Help = strings.ReplaceAll(f.Help, bare, strings.Repeat("*", len(bare)))
}

// describeMisfit describes that one of several conflicting values is a value that the
// schema does not accept. It returns whether there is one.
func (g *grammar) describeMisfit(m *mistake, name string, errs []cueerrors.Error, schema cue.Value,
	path []string) bool {
	_, args := errs[0].Msg()
	values := conflictingValues(errs)
	wrong := misfitValue(schema, args)
	if i := slices.IndexFunc(values, func(v string) bool { return g.refusesValue(schema, v) }); wrong == "" && i >= 0 {
		wrong = values[i]
	}
	if wrong == "" {
		return false
	}
	at := moveToFront(m.spans, wrong)
	if len(at) == 0 || at[0].Text() != wrong {
		return false
	}
	m.Code, m.Message, m.Label = "E0103", name+" cannot be "+wrong, "want "+describeWanted(schema)
	m.others, m.spans, m.Span = "another value", at, at[0]
	g.suggestValue(&m.Finding, schema, g.cue.CompileString(wrong), path)
	defer hideValue(&m.Finding, name, wrong)
	switch keep := "the values conflict: keep one of them"; {
	case len(m.Edits) == 1 && slices.Contains(values, m.Edits[0].Text), strings.HasPrefix(m.Help, "remove "):
		return true // one value remains
	case m.Help == "", strings.HasSuffix(m.Help, "?"):
		m.Help = strings.TrimSpace(m.Help + " " + keep)
	default:
		m.Help += "; " + keep
	}
	m.Edits = nil
	return true
}

// refusesValue reports whether the schema refuses a scalar that CUE printed.
func (g *grammar) refusesValue(schema cue.Value, text string) bool {
	if !schema.Exists() || strings.ContainsAny(text[:min(1, len(text))], "{[_") {
		return false
	}
	v := g.cue.CompileString(text)
	return v.Err() == nil && v.IsConcrete() && schema.Unify(v).Validate(cue.Concrete(true), cue.Final()) != nil
}

// conflictingValues returns the values that CUE's errors about a conflict contain, each
// once.
func conflictingValues(errs []cueerrors.Error) []string {
	var values []string
	for _, e := range errs {
		format, args := e.Msg()
		if strings.Contains(format, noArmFits) { // the argument is a number of errors
			continue
		}
		for _, a := range args[:min(2, len(args))] {
			if v := fmt.Sprint(a); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// describeClosed describes that a closed definition of the blueprint does not allow a
// field that the blueprint writes, or one that the schema adds.
func (g *grammar) describeClosed(m *mistake, path []string) {
	m.Message = fmt.Sprintf("a definition in the blueprint does not allow the field %q", lastElement(path))
	m.Help = "correct the field's name, add it to the definition, or open the definition with ..."
	if !g.locate.isWritten(path...) { // the schema adds the field
		top := path[:min(2, len(path))]
		if len(path) > 0 && !g.isMap(path[:1]) {
			top = path[:1]
		}
		m.Message = fmt.Sprintf("a definition that %s uses does not allow fields that the schema adds, such as %q",
			diag.Path(top), lastElement(path))
		m.Help = "write ... at the end of the definition and of each struct in it, or make it a hidden field"
		m.spans = []diag.Span{g.locate.fieldSpan(true, top...)}
	}
}

// describeAlternatives describes that no arm of a disjunction fits, with the reasons
// that CUE gives.
func (m *mistake) describeAlternatives(name string, reasons []cueerrors.Error) {
	value, arms, ok := disjunctionConflict(reasons)
	if !ok {
		m.Message = name + " matches none of its alternatives"
		m.Help, m.others = "choose one of the alternatives", "an alternative"
		return
	}
	if path := pathOf(reasons[0], nil); path != nil {
		name = diag.Path(path)
		m.Path = name
	}
	m.Message, m.Label = fmt.Sprintf("%s cannot be %s", name, value), "want one of "+strings.Join(arms, ", ")
	m.Help, m.others = "choose one of the alternatives", "the alternatives"
	hideValue(&m.Finding, name, value)
	m.spans = moveToFront(m.spans, value)
	m.spans = m.spans[:min(len(m.spans), 2)]
}

// describeBound describes that a value does not satisfy a constraint of the blueprint
// itself. The first position of CUE's error is the constraint.
func (m *mistake) describeBound(name, value, constraint string, place func(key bool) diag.Span) {
	m.Help, m.others = "correct the value, or the constraint on it", "the constraint"
	m.Message, m.Label = fmt.Sprintf("%s cannot be %s", name, shortenValue(value)), "want "+constraint
	hideValue(&m.Finding, name, shortenValue(value))
	if strings.HasPrefix(value, "{") {
		m.Message, m.Label = fmt.Sprintf("%s does not satisfy %s", name, constraint), ""
		m.spans = append([]diag.Span{place(true)}, m.spans...)
	} else if m.spans = moveToFront(m.spans, value); len(m.spans) > 0 && m.spans[0].Text() != value {
		m.spans = append([]diag.Span{place(false)}, m.spans...)
	}
	m.spans = m.spans[:min(len(m.spans), 2)]
}

// describeExpression returns a description of the mistake in an expression, and the
// correction.
func describeExpression(message, format string, args []any) (string, string) {
	is := func(part string) bool { return strings.Contains(format, part) }
	switch {
	case is("bounds %v and %v"):
		return fmt.Sprintf("no value is both %v and %v", args[0], args[1]), "relax one of the constraints"
	case is("division by zero"), strings.Contains(message, "division by zero"):
		return "division by zero", "correct the divisor"
	case is("invalid operands %s and %s to '%s'"):
		return fmt.Sprintf("%v and %v cannot be combined with %v", args[0], args[1], args[2]),
			`use two values of the same type; "\(x)" converts a number to text`
	case is("invalid interpolation"):
		return message, "put a text, a number or a boolean between the parentheses"
	case is("cannot range over"):
		return message, "write a list or a struct after in"
	case is("index out of range"):
		return fmt.Sprintf("the list has %v elements, counted from 0, so element %v does not exist", args[1], args[0]),
			"correct the index"
	case is("as type %s") && fmt.Sprint(args[len(args)-1]) == "bool":
		return fmt.Sprintf("%v is neither true nor false", args[0]), `write a comparison, such as x == "prod"`
	case is("cannot call non-function"):
		return fmt.Sprintf("there is no function %v", args[0]),
			"correct its name; CUE's own functions are listed at pkg.go.dev/cuelang.org/go/pkg"
	case is("in call to"), is("in argument"):
		return message, "correct the arguments"
	}
	return message, "correct the CUE expression here"
}

// ownCheck reports whether the blueprint itself raises the error at a span, with
// error().
func ownCheck(at diag.Span) bool { return at.Valid() && at.Text() == "error" }

// errorSpans returns the spans of errors in the user's files, without duplicates.
func (g *grammar) errorSpans(errs ...cueerrors.Error) []diag.Span {
	var spans []diag.Span
	for _, e := range errs {
		for _, pos := range append([]token.Pos{e.Position()}, e.InputPositions()...) {
			if span := g.sources.Span(pos); span.Valid() && !slices.Contains(spans, span) {
				spans = append(spans, span)
			}
		}
	}
	return spans
}

// moveToFront moves the span with the given text to the front.
func moveToFront(spans []diag.Span, what string) []diag.Span {
	if i := slices.IndexFunc(spans, func(s diag.Span) bool { return s.Text() == what }); i > 0 {
		spans = slices.Concat(spans[i:i+1], spans[:i], spans[i+1:])
	}
	return spans
}

// misfitValue returns the one of two conflicting values whose type the schema does not
// accept, or "" if that is unclear.
func misfitValue(schema cue.Value, args []any) string {
	if !schema.Exists() || len(args) < 4 {
		return ""
	}
	fits := func(kind any) bool { return strings.Contains(schema.IncompleteKind().String(), fmt.Sprint(kind)) }
	switch first, second := fits(args[2]), fits(args[3]); {
	case first && !second:
		return fmt.Sprint(args[1])
	case second && !first:
		return fmt.Sprint(args[0])
	}
	return ""
}

// disjunctionConflict returns the value that conflicts with every arm of a
// disjunction, and the arms.
func disjunctionConflict(errs []cueerrors.Error) (value string, arms []string, ok bool) {
	var pairs [][2]string
	for _, e := range errs {
		format, args := e.Msg()
		if !strings.HasPrefix(format, conflicting) || len(args) < 2 {
			return "", nil, false
		}
		pairs = append(pairs, [2]string{fmt.Sprint(args[0]), fmt.Sprint(args[1])})
	}
	for i := range 2 {
		if len(pairs) == 0 || slices.ContainsFunc(pairs, func(p [2]string) bool { return p[i] != pairs[0][i] }) {
			continue
		}
		for _, p := range pairs {
			if arm := p[1-i]; strings.ContainsAny(arm, "{[") {
				return "", nil, false
			} else if !slices.Contains(arms, arm) {
				arms = append(arms, arm)
			}
		}
		return pairs[0][i], arms, true
	}
	return "", nil, false
}

// isConflict reports whether a value consists of two conflicting values.
func isConflict(v cue.Value) bool {
	errs := cueerrors.Errors(v.Err())
	if len(errs) == 0 {
		return false
	}
	format, _ := errs[0].Msg()
	return strings.HasPrefix(format, conflicting)
}

// pathOf returns the path in the blueprint of an error, or otherwise if the error
// has none.
func pathOf(e cueerrors.Error, otherwise []string) []string {
	at := slices.Clone(e.Path())
	if len(at) == 0 || strings.HasPrefix(at[0], "#Blueprint") { // the path of an error in the schema
		return otherwise
	}
	for i := range at {
		at[i] = pathElement(at[i])
	}
	return at
}

// withoutStructs returns a message without the text in braces.
func withoutStructs(text string) string {
	open, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if open < 0 || end < open {
		return text
	}
	return text[:open] + "{...}" + text[end+1:]
}

// pathElement converts an element of a CUE error's path into an element of a finding's
// path.
func pathElement(e string) string {
	if i, err := strconv.Atoi(e); err == nil {
		return diag.Index(i)
	}
	if s, err := strconv.Unquote(e); err == nil {
		return s
	}
	return e
}

func lastElement(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}
