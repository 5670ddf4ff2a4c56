package schema_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/schema"
)

// schemaFiles returns the embedded files by name.
func schemaFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := load.SchemaFiles()
	return files
}

// blueprintDefinition compiles the embedded schema and returns #Blueprint.
func blueprintDefinition(t *testing.T) cue.Value {
	t.Helper()
	inst := build.NewContext().NewInstance("", nil)
	for name, content := range schemaFiles(t) {
		file, err := parser.ParseFile(name, content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if err := inst.AddSyntax(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := inst.Complete(); err != nil {
		t.Fatal(err)
	}
	v := cuecontext.New().BuildInstance(inst).LookupPath(cue.ParsePath("#Blueprint"))
	if err := v.Err(); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestGoTypesMirrorSchema holds the hand-written types against the schema:
// the same fields everywhere, pointers exactly where a field is optional and
// has no default, and kinds that fit.
func TestGoTypesMirrorSchema(t *testing.T) {
	checkMirror(t, "blueprint", blueprintDefinition(t), reflect.TypeFor[schema.Blueprint](), false)
}

func checkMirror(t *testing.T, path string, v cue.Value, typ reflect.Type, optional bool) {
	t.Helper()
	nillable := typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map
	if optional && !nillable {
		t.Errorf("%s is optional, and %v cannot tell it from its zero value", path, typ)
	}
	if typ.Kind() == reflect.Pointer {
		if !optional {
			t.Errorf("%s always has a value, and is a pointer in Go", path)
		}
		typ = typ.Elem()
	}
	kind := v.IncompleteKind()
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		kinds := map[reflect.Type]cue.Kind{
			reflect.TypeFor[schema.Borrow]():            cue.IntKind | cue.StringKind,
			reflect.TypeFor[schema.Bucket]():            cue.BoolKind | cue.StringKind,
			reflect.TypeFor[schema.CohortQuota]():       cue.IntKind | cue.StructKind,
			reflect.TypeFor[schema.Namespace]():         cue.StructKind | cue.StringKind,
			reflect.TypeFor[schema.Namespaces]():        cue.StructKind | cue.StringKind | cue.ListKind,
			reflect.TypeFor[schema.TierPriority]():      cue.IntKind | cue.StructKind,
			reflect.TypeFor[schema.ResourceQuota]():     cue.NumberKind | cue.StringKind | cue.StructKind,
			reflect.TypeFor[schema.CheckedCapacities](): cue.ListKind | cue.StringKind,
		}
		if kinds[typ] == 0 || kind != kinds[typ] {
			t.Errorf("%s is a %v in CUE and reads itself as %v in Go", path, kind, typ)
		}
		return
	}
	if kind == cue.BottomKind {
		kind = cue.StructKind // a one-of is bottom until a field is set
	}
	switch typ.Kind() {
	case reflect.Struct:
		if kind != cue.StructKind {
			t.Errorf("%s is a %v in CUE and %v in Go", path, kind, typ)
			return
		}
		mirrorFields(t, path, v, typ)
	case reflect.Map:
		element := entityConstraint(v)
		if kind != cue.StructKind || !element.Exists() {
			t.Errorf("%s is a map in Go and not in CUE", path)
			return
		}
		checkMirror(t, path+"[]", element, typ.Elem(), false)
	case reflect.Slice:
		if kind != cue.ListKind {
			t.Errorf("%s is a list in Go and a %v in CUE", path, kind)
		}
	default:
		want := map[reflect.Kind]cue.Kind{
			reflect.String: cue.StringKind, reflect.Bool: cue.BoolKind, reflect.Int: cue.IntKind,
			reflect.Float64: cue.NumberKind,
		}[typ.Kind()]
		if kind != want {
			t.Errorf("%s is a %v in CUE and %v in Go", path, kind, typ)
		}
	}
}

// entityConstraint returns the constraint on every entry of a map, such as hardware's.
func entityConstraint(v cue.Value) cue.Value {
	it, err := v.Fields(cue.Patterns(true))
	if err != nil {
		return cue.Value{}
	}
	for it.Next() {
		if it.Selector().ConstraintType() == cue.PatternConstraint {
			return it.Value()
		}
	}
	return cue.Value{}
}

func mirrorFields(t *testing.T, path string, v cue.Value, typ reflect.Type) {
	t.Helper()
	goFields := map[string]reflect.StructField{}
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		goFields[name] = f
	}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		f, ok := goFields[name]
		if !ok {
			t.Errorf("%s.%s is missing in %v", path, name, typ)
			continue
		}
		delete(goFields, name)
		checkMirror(t, path+"."+name, it.Value(), f.Type, it.Selector().ConstraintType() == cue.OptionalConstraint)
	}
	for name := range goFields {
		t.Errorf("%v has field %q, and %s has not", typ, name, path)
	}
}

// TestEveryFieldIsDocumented: the documentation is what explain and editors
// show.
func TestEveryFieldIsDocumented(t *testing.T) {
	var visit func(path string, v cue.Value, depth int)
	visit = func(path string, v cue.Value, depth int) {
		if depth > 12 {
			return
		}
		if element := entityConstraint(v); element.Exists() {
			visit(path+"[]", element, depth+1)
		}
		it, err := v.Fields(cue.Optional(true))
		if err != nil {
			return
		}
		for it.Next() {
			at := path + "." + it.Selector().Unquoted()
			docs := slices.DeleteFunc(it.Value().Doc(), func(c *ast.CommentGroup) bool {
				return strings.TrimSpace(c.Text()) == ""
			})
			if len(docs) == 0 {
				t.Errorf("%s has no documentation", at)
			}
			visit(at, it.Value(), depth+1)
		}
	}
	visit("blueprint", blueprintDefinition(t), 0)
}

func TestSchemaIsFormatted(t *testing.T) {
	for name, content := range schemaFiles(t) {
		formatted, err := format.Source(content)
		if err != nil {
			t.Fatal(err)
		}
		if string(formatted) != string(content) {
			t.Errorf("%s is not formatted as cue fmt does", name)
		}
	}
}
