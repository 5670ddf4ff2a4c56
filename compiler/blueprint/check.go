// Package blueprint compares the files of a blueprint with the schema.
//
// A load.Loader comes in. A schema.Blueprint goes out, with every default filled in,
// the positions of its fields, and a finding for each value that does not fit. Check
// evaluates and compares, the locator finds the place of a field in the user's
// files, and FindField describes a field for people. Format and JSONSchema serve
// editors.
package blueprint

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/blueprint/literal"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// maxBroken is the number of broken entities (teams, capacities, ...) that are
// explained in one run. CUE's own error lists grow with the square of their length,
// so entities are validated one by one, and only as many as a person would read.
const maxBroken = 50

// Checked is the result of Check.
type Checked struct {
	// Blueprint has every default filled in. A broken entity is empty in it, so that
	// references to its name still resolve. Blueprint is nil if its set of entities
	// is unknown.
	Blueprint *schema.Blueprint
	Broken    map[[2]string]bool // broken entities, by field and name, such as teams and team-a
	Whole     bool               // nothing except these entities is broken
	// Misnamed contains the names of entities that are no valid names. A reference to
	// an almost equal name is a consequence.
	Misnamed map[string]bool
	// Rest is the blueprint with the valid fields of the broken entities; their other
	// fields are empty. Valid holds the names of these fields. Rest is nil if no broken
	// entity has a valid field.
	Rest  *schema.Blueprint
	Valid map[[2]string]map[string]bool
	// Misfiled reports whether entities may be in a field whose name is unknown, so
	// that the blueprint seems to lack them or some of their fields.
	Misfiled bool
	// Sources are the files of the user, sorted by name.
	Sources []*diag.Source
	locate  *locator
}

// Place returns the span of a field or, if the field is not written, of its nearest
// parent that is. If key is true, it is the span of the label, otherwise of the
// value.
func (c *Checked) Place(key bool, path ...string) diag.Span { return c.locate.fieldSpan(key, path...) }

// Written reports whether the blueprint itself contains the field.
func (c *Checked) Written(path ...string) bool { return c.locate.isWritten(path...) }

// Tag returns the tag that sets the value of a field or of a field that it refers to,
// "" for none, and whether the command line gives the tag a value.
func (c *Checked) Tag(path ...string) (tag string, given bool) { return c.locate.tagOf(path) }

// Embedded returns the file that a field, or a field that it refers to, embeds as text. It
// returns nil if there is none, or if its content is not the given text.
func (c *Checked) Embedded(text string, path ...string) *diag.Source {
	for _, p := range c.locate.reachPlaces(c.locate.fieldPlaces(path)) {
		if p.embedded == "" {
			continue
		}
		if source := c.locate.sources.Get(p.embedded); string(source.Content) == text {
			return source
		}
	}
	return nil
}

// Check compares an instance with the schema, and adds a finding for each mistake.
// The error is a failure of the compiler. at is told how far the check is; it can be
// nil.
//
// Check compares an entity that is written out as a literal without CUE. It unifies
// every other entity with its own part of the schema, decodes it, and releases it, so
// that a large blueprint never exists twice in memory. It unifies and does not embed,
// because a value that embeds a definition is open, and CUE would accept its misspelt
// fields.
func Check(ctx context.Context, files *load.Loader, findings *diag.List, at *progress.Progress) (*Checked, error) {
	at.Start(progress.Evaluating, "")
	cc := newContext()
	literals := literalSchema()
	value, conditions, ok := files.Build(cc)
	locate := newLocator(files, value)
	out := &Checked{Broken: map[[2]string]bool{}, Misnamed: map[string]bool{}, locate: locate}
	if !ok {
		return out, nil
	}
	g := &grammar{
		cue: cc, sources: files.Sources, locate: out.locate, findings: findings, partial: files.Partial,
		reported: map[diag.Spot]bool{}, renamed: map[string]string{},
		bare:       sync.OnceValue(func() cue.Value { return files.BuildBare(cc) }),
		definition: sync.OnceValue(func() cue.Value { return blueprintDefinition(cc) }),
	}
	g.vocabulary = sync.OnceValue(func() *vocabulary { return newVocabulary(g.definition()) })
	g.misnamed = sync.OnceValue(func() map[string]bool { return findMisnamed(literals, value) })
	if kind := value.IncompleteKind(); kind != cue.StructKind && kind != cue.BottomKind {
		g.notAStruct(value)
		return out, nil
	}
	blueprint := &schema.Blueprint{}
	c := &checker{
		grammar: g, literals: literals, closed: isClosed(value), ctx: ctx, at: at, out: out,
		decoders: fieldDecoders(blueprint), Whole: true, known: !files.Partial,
		valid: map[[2]string]map[string]json.RawMessage{},
	}
	if err := c.checkFields(value, conditions); err != nil {
		return nil, err
	}
	g.reportUndefined()
	if g.unexplained > 0 {
		findings.Add(diag.Finding{
			Code: "N0109", Severity: diag.Note, Span: g.omitted,
			Message: fmt.Sprintf("%d more entities do not match the schema, and their findings are omitted",
				g.unexplained),
			Help: "correct the entities in the other findings, then run batchwright again",
		})
	}
	var err error
	if c.known {
		out.Blueprint, out.Whole, out.Sources = blueprint, c.Whole, files.Sources.Users()
		err = c.decodeRest(blueprint)
	}
	if g.mistakes == 0 {
		locate.forgetValue()
	}
	return out, err
}

// checker reads a blueprint field by field.
type checker struct {
	*grammar
	literals *literal.Schema
	closed   bool // the blueprint is a struct of a definition
	ctx      context.Context
	at       *progress.Progress
	out      *Checked
	decoders map[string]decoder
	Whole    bool // nothing except entities is broken
	known    bool // the set of entities is known
	// valid holds the JSON of the valid fields of broken entities, by field and name.
	valid map[[2]string]map[string]json.RawMessage
}

// checkFields reads every field of the blueprint, and reports unknown and missing
// ones.
func (c *checker) checkFields(value cue.Value, conditions []ast.Expr) error {
	known := c.literals.Names()
	meant, hidden, written := c.readGiven(value, known)
	var lacking []string
	for _, name := range known {
		field := c.meantField(value, name)
		if !field.Exists() && c.literals.Required(name) {
			lacking = append(lacking, name)
			c.Whole = false
			continue
		}
		if err := c.checkField(name, field); err != nil {
			return err
		}
	}
	c.checkHidden(hidden)
	c.checkConditions(value, conditions)
	c.checkForms(value)
	if c.reportStruct(cue.Value{}, value, nil) {
		c.known = false
	}
	c.reportLacking(value, lacking, meant, written)
	return nil
}

// readGiven reports the unknown fields of the blueprint, and returns the fields that
// they mean, the hidden fields, and the names of the known fields that are written.
func (c *checker) readGiven(value cue.Value, known []string) (meant map[string]bool,
	hidden map[string]cue.Value, written map[string]bool) {
	meant, hidden, written = map[string]bool{}, map[string]cue.Value{}, map[string]bool{}
	for sel, field := range doubtfulFields(value) {
		name := sel.String()
		if sel.IsString() {
			name = sel.Unquoted()
		}
		switch {
		case !sel.IsString():
			if !strings.HasPrefix(name, load.ConditionPrefix) {
				hidden[name] = field
			}
		case slices.Contains(known, name):
			written[name] = true
		default:
			near := c.reportUnknown(name, known, []string{name})
			entity, _ := c.literals.Field(near).Entity()
			if isStruct(field) && (near == "" || entity != nil) {
				c.out.Misfiled = true
			}
			meant[near] = true
			if near != "" && c.locate.spelt[near] == "" {
				c.locate.spelt[near] = name
			}
		}
	}
	return meant, hidden, written
}

// reportLacking reports the required fields that the blueprint lacks, unless they may
// be in a part that cannot be evaluated. lacking are their names, meant the fields that
// are written under other names, and written all other fields.
func (c *checker) reportLacking(value cue.Value, lacking []string, meant, written map[string]bool) {
	if !c.known {
		return
	}
	slices.Sort(lacking)
	if len(lacking) > 0 && len(meant) == 0 && c.isEmpty(written) {
		c.reportEmpty(lacking)
	} else {
		for _, name := range lacking {
			if !meant[name] {
				c.reportMissing(c.constraint(name), name, nil)
			}
		}
	}
	c.reportRequired(value, written, lacking, nil)
}

// constraint returns the schema's constraint on a field of the blueprint.
func (c *checker) constraint(field string) cue.Value {
	constraint, _ := fieldOf(c.definition(), field)
	return constraint
}

// isEmpty reports whether the files write no field. written are the fields of their
// value, which an embedded schema adds to.
func (c *checker) isEmpty(written map[string]bool) bool {
	bare := c.bare()
	if !bare.Exists() {
		return len(written) == 0
	}
	it, err := bare.Fields()
	return bare.Err() == nil && (err != nil || !it.Next()) // without the schema, no struct is left
}

// reportEmpty reports a blueprint without a field.
func (c *checker) reportEmpty(lacking []string) {
	f := missingField(lacking[0], nil)
	f.Message = fmt.Sprintf("the blueprint is empty: it lacks the required fields %s",
		words.Quoted(lacking, len(lacking)))
	f.Span = c.locate.fieldSpan(true)
	f.Help = "write the fields, or start with an example: batchwright init --from batch-platform"
	c.addFinding(f)
}

// meantField returns the value of a field of the blueprint, including the value that
// is written under a misspelt name, so that the misspelt name has no consequences.
// It leaves out a value that does not fit: a finding about the value of a field that
// is perhaps not meant would confuse.
func (c *checker) meantField(blueprint cue.Value, name string) cue.Value {
	field := blueprint.LookupPath(cue.MakePath(cue.Str(name)))
	misspelt := c.locate.spelt[name]
	if misspelt == "" {
		return field
	}
	both := blueprint.LookupPath(cue.MakePath(cue.Str(misspelt)))
	if field.Exists() {
		both = field.Unify(both)
	}
	entity, _ := c.literals.Field(name).Entity()
	switch {
	case entity != nil && isStruct(both):
		return both
	case entity != nil && !field.Exists():
		c.known = false
	case entity == nil && c.constraint(name).Unify(both).Validate(cue.Concrete(true), cue.Final()) == nil:
		return both
	}
	return field
}

// findMisnamed returns the names of entities that are invalid.
func findMisnamed(literals *literal.Schema, value cue.Value) map[string]bool {
	out := map[string]bool{}
	for _, field := range literals.Names() {
		entity, matches := literals.Field(field).Entity()
		if entity == nil {
			continue
		}
		for _, name := range entityNames(value.LookupPath(cue.MakePath(cue.Str(field)))) {
			if !matches(name) {
				out[name] = true
			}
		}
	}
	return out
}

// checkField reads one field of the blueprint. A missing field gets its default.
func (c *checker) checkField(name string, value cue.Value) error {
	shape := c.literals.Field(name)
	entity, _ := shape.Entity()
	if entity != nil && (!value.Exists() || isStruct(value)) {
		return c.checkEntities(name, value)
	}
	constraint := func() cue.Value { return c.constraint(name) }
	if c.decodeChecked(constraint, checkLiteral(shape, value, c.closed), c.decoders[name], name) {
		return nil
	}
	c.Whole = false
	if entity != nil {
		c.known = false
	} else if text, err := constraint().MarshalJSON(); err == nil { // every part has a default
		return c.decoders[name]("", text)
	}
	return nil
}

// checkEntities reads the entities in a field of the blueprint, which is a map or does
// not exist. If the files write the map once, as a literal, their syntax has the
// entities, and CUE is asked only for the wrong ones: CUE looks up each field of a
// struct from the first one on.
func (c *checker) checkEntities(name string, value cue.Value) error {
	if !value.Exists() {
		return nil
	}
	shape, _ := c.literals.Field(name).Entity()
	var names []string
	var entities []func() given
	fields, literals := literal.Fields(value.Source())
	if literals = literals && value.Err() == nil && !c.closed && !isClosed(value); literals {
		for _, f := range fields {
			names = append(names, f.Name)
			entities = append(entities, func() given {
				text, verdict := shape.Check(f.Value)
				return given{text, verdict, func() cue.Value { return value.LookupPath(cue.MakePath(cue.Str(f.Name))) }}
			})
		}
	} else {
		for sel, entity := range writtenFields(value) {
			if !sel.IsString() {
				c.reportHidden(entity, []string{name, sel.String()})
				continue
			}
			names = append(names, sel.Unquoted())
			entities = append(entities, func() given { return checkLiteral(shape, entity, c.closed) })
		}
	}
	c.at.Start(progress.Checking, name)
	c.at.Expect(len(names))
	for i, key := range names {
		if err := c.checkEntity(name, key, entities[i]()); err != nil {
			return err
		}
	}
	if literals {
		return nil
	}
	written := map[string]bool{}
	for _, key := range names {
		written[key] = true
	}
	// A struct without an error has nothing to report, and needs no constraint for it.
	if value.Err() != nil && c.reportStruct(c.constraint(name), value, []string{name}) ||
		c.reportRequired(value, written, nil, []string{name}) {
		c.known = false
	}
	return nil
}

// checkEntity reads an entity in a field of the blueprint.
func (c *checker) checkEntity(field, name string, entity given) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	defer c.at.Step()
	path := []string{field, name}
	constraint := func() cue.Value { pattern, _ := patternOf(c.constraint(field)); return pattern }
	if _, matches := c.literals.Field(field).Entity(); !matches(name) {
		c.out.Misnamed[name] = true
		_, label := patternOf(c.constraint(field))
		c.badKey(label, name, path)
	} else if c.decodeChecked(constraint, entity, c.decoders[field], path...) {
		return nil
	} else if c.unexplained == 0 {
		c.keepValid(constraint(), entity.value(), path)
	}
	c.out.Broken[[2]string{field, name}] = true
	return c.decoders[field](name, []byte("null"))
}

// schemaFields returns the fields of a struct of the schema. Another value has none.
func schemaFields(v cue.Value) iter.Seq2[cue.Selector, cue.Value] { return iterateFields(v) }

// allFields returns the fields of a struct or the elements of a list, including hidden
// fields, definitions and constraints, even if the value contains a mistake.
func allFields(v cue.Value) iter.Seq2[cue.Selector, cue.Value] {
	return iterateFields(v, cue.Hidden(true), cue.Definitions(true))
}

// elements yields the elements of a list. The struct of a list can also have hidden fields and
// definitions.
func elements(list cue.Value) iter.Seq2[int, cue.Value] {
	return func(yield func(int, cue.Value) bool) {
		for sel, item := range allFields(list) {
			if sel.LabelType() == cue.IndexLabel && !yield(sel.Index(), item) {
				return
			}
		}
	}
}

func iterateFields(v cue.Value, also ...cue.Option) iter.Seq2[cue.Selector, cue.Value] {
	return func(yield func(cue.Selector, cue.Value) bool) {
		it, err := v.Fields(append(also, cue.Optional(true))...)
		for err == nil && it.Next() && yield(it.Selector(), it.Value()) {
		}
	}
}

// writtenFields returns allFields without constraints, which only constrain a field and
// do not define one.
func writtenFields(v cue.Value) iter.Seq2[cue.Selector, cue.Value] {
	return dropConstraints(allFields(v))
}

func dropConstraints(fields iter.Seq2[cue.Selector, cue.Value]) iter.Seq2[cue.Selector, cue.Value] {
	return func(yield func(cue.Selector, cue.Value) bool) {
		for sel, field := range fields {
			kind := sel.ConstraintType()
			if kind != cue.OptionalConstraint && kind != cue.RequiredConstraint && !yield(sel, field) {
				return
			}
		}
	}
}

// fieldNames returns the names of a struct's fields, in the order of the schema.
func fieldNames(v cue.Value) []string {
	var names []string
	for sel := range schemaFields(v) {
		names = append(names, sel.Unquoted())
	}
	return names
}

// decodeChecked decodes a value that satisfies its constraint, and reports one that
// does not. For a missing value it decodes the constraint's default. It returns
// whether the value fits.
func (g *grammar) decodeChecked(define func() cue.Value, given given, decode decoder, path ...string) bool {
	if given.verdict == literal.Fits && decode(strings.Join(path[1:], ""), given.text) == nil {
		return true
	}
	if given.verdict == literal.Unfit && g.explained >= maxBroken {
		g.omit(path)
		return false
	}
	constraint, value := define(), given.value()
	merged := constraint
	if value.Exists() {
		merged = constraint.Unify(value)
	}
	err := merged.Validate(cue.Concrete(true), cue.Final())
	if err == nil {
		var text []byte
		if text, err = merged.MarshalJSON(); err == nil {
			err = decode(strings.Join(path[1:], ""), text)
		}
	}
	if err == nil {
		return true
	}
	if g.explained >= maxBroken {
		g.omit(path)
		return false
	}
	before, said := g.mistakes, g.findings.Len()+len(g.undefined)
	defer func() {
		// Otherwise the mistake is in a pattern, and is already reported for another entity.
		if g.findings.Len()+len(g.undefined) > said {
			g.explained++
		}
	}()
	g.followups, g.misspelt = nil, map[string]bool{}
	g.walkValue(constraint, g.asWritten(value, path), path)
	g.reportFollowups(before)
	if g.mistakes == before { // CUE found a mistake that the walk did not
		g.reportEvaluation(err, constraint, path)
	}
	if g.mistakes == before {
		g.addFinding(diag.Finding{
			Code: "E0107", Severity: diag.Error, Path: diag.Path(path), Span: g.locate.fieldSpan(true, path...),
			Message: diag.Path(path) + " does not match the schema: " + load.Message(cueerrors.Errors(err)[0]),
			Help:    "compare the value with the schema: batchwright explain " + diag.Path(path),
		})
	}
	return false
}

// omit counts an entity or field that is wrong and not explained.
func (g *grammar) omit(path []string) {
	if g.unexplained++; g.unexplained == 1 {
		g.omitted = g.locate.fieldSpan(true, path...)
	}
}

// decoder stores the JSON of a field in a blueprint. key is the name of an entity,
// or "" for a field that is not a map of entities.
type decoder func(key string, text []byte) error

// fieldDecoders returns the decoder of every field of a blueprint. It copies the maps of
// the blueprint, so that the decoders of a copy leave the original as it is.
func fieldDecoders(b *schema.Blueprint) map[string]decoder {
	out := map[string]decoder{}
	for i, v := 0, reflect.ValueOf(b).Elem(); i < v.NumField(); i++ {
		field := v.Field(i)
		decode := func(_ string, text []byte) error { return json.Unmarshal(text, field.Addr().Interface()) }
		if field.Kind() == reflect.Map {
			entries := reflect.MakeMap(field.Type())
			for it := field.MapRange(); it.Next(); {
				entries.SetMapIndex(it.Key(), it.Value())
			}
			field.Set(entries)
			decode = func(key string, text []byte) error {
				entity := reflect.New(field.Type().Elem())
				err := json.Unmarshal(text, entity.Interface())
				entries.SetMapIndex(reflect.ValueOf(key), entity.Elem())
				return err
			}
		}
		out[v.Type().Field(i).Tag.Get("json")] = decode
	}
	return out
}

// blueprintDefinition compiles #Blueprint from the embedded schema. It panics if there is a
// mistake in the schema, which the tests find.
func blueprintDefinition(cc *cue.Context) cue.Value {
	files, inst := load.SchemaFiles(), build.NewContext().NewInstance("", nil)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := parser.ParseFile("/"+load.SchemaMarker+name, files[name], parser.ParseComments)
		if err == nil {
			err = inst.AddSyntax(file)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := inst.Complete(); err != nil {
		panic(err)
	}
	definition := cc.BuildInstance(inst).LookupPath(cue.ParsePath("#Blueprint"))
	if err := definition.Err(); err != nil {
		panic(err)
	}
	return definition
}

// literalSchema returns #Blueprint for literals.
var literalSchema = sync.OnceValue(func() *literal.Schema {
	s, err := literal.Read(load.SchemaFiles(), "#Blueprint")
	if err != nil {
		panic(err)
	}
	return s
})

// patternOf returns the pattern constraint of a struct, and the constraint on the
// struct's labels. They do not exist if the struct has no pattern, or if v is a
// list, which CUE treats as a struct whose labels are indices.
func patternOf(v cue.Value) (constraint, label cue.Value) {
	if v.IncompleteKind() == cue.ListKind {
		return cue.Value{}, cue.Value{}
	}
	it, err := v.Fields(cue.Patterns(true))
	if err != nil {
		return cue.Value{}, cue.Value{}
	}
	for it.Next() {
		if it.Selector().ConstraintType() == cue.PatternConstraint {
			return it.Value(), it.Selector().Pattern()
		}
	}
	return cue.Value{}, cue.Value{}
}

// labelMatcher returns a function that reports whether a name satisfies the
// constraint on the labels of a map. In the schema, the constraint is a regular
// expression.
func labelMatcher(label cue.Value) func(string) bool {
	if op, args := label.Expr(); op == cue.RegexMatchOp {
		if text, err := args[len(args)-1].String(); err == nil {
			if re, err := regexp.Compile(text); err == nil {
				return re.MatchString
			}
		}
	}
	return func(string) bool { return true }
}

// doubtfulFields returns the fields of the blueprint that must be checked. It includes
// hidden fields and definitions only if CUE has found an error in the blueprint: CUE
// looks up each field from the first one on, so iterating over tens of thousands of
// hidden fields takes longer than evaluating them.
func doubtfulFields(value cue.Value) iter.Seq2[cue.Selector, cue.Value] {
	if value.Err() != nil {
		return writtenFields(value)
	}
	return dropConstraints(schemaFields(value))
}

// checkHidden reports mistakes in hidden fields and definitions.
func (c *checker) checkHidden(fields map[string]cue.Value) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if c.mistakes > 0 && c.bare().Exists() {
			continue // every use of it was compared with the schema
		}
		c.reportHidden(fields[name], []string{name})
	}
}

// checkConditions reports conditions that are neither true nor false.
func (c *checker) checkConditions(blueprint cue.Value, conditions []ast.Expr) {
	for i, condition := range conditions {
		name := cue.Hid(load.ConditionPrefix+strconv.Itoa(i), c.locate.inst.ID())
		value := blueprint.LookupPath(cue.MakePath(name))
		truth, _ := value.Default()
		if _, undecided := truth.Bool(); undecided != nil && !truth.IsConcrete() && value.Validate() == nil {
			c.reportUndecided(value.Validate(cue.Concrete(true)), c.locate.nodeSpan(condition))
		}
	}
}

// newContext returns a CUE context for one run. A context keeps every value that it
// evaluated, so each run needs its own.
func newContext() *cue.Context {
	return cuecontext.New(cuecontext.WithInjection(embed.New()))
}
