package blueprint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/blueprint/literal"
)

// TestLiteralNames holds what package literal reads from the schema against CUE.
func TestLiteralNames(t *testing.T) {
	definition := blueprintDefinition(newContext())
	literals := literalSchema()
	names := fieldNames(definition)
	if d := gocmp.Diff(names, literals.Names()); d != "" {
		t.Errorf("names of fields (-CUE +literal):\n%s", d)
	}
	for _, name := range names {
		constraint, presence := fieldOf(definition, name)
		if required := presence == cue.RequiredConstraint; literals.Required(name) != required {
			t.Errorf("%s: Required is %t", name, !required)
		}
		entity, _ := literals.Field(name).Entity()
		if pattern, _ := patternOf(constraint); pattern.Exists() != (entity != nil) {
			t.Errorf("%s: CUE and literal disagree about a map", name)
		}
		got, known := literals.Field(name).Default()
		want, err := constraint.MarshalJSON()
		if known != (err == nil) || known && !sameJSON(t, got, want) {
			t.Errorf("default of %s: %s (known: %t), want %s (%v)", name, got, known, want, err)
		}
	}
}

// FuzzLiteral holds package literal against CUE: it accepts and refuses only what CUE
// accepts and refuses, with the same defaults.
func FuzzLiteral(f *testing.F) {
	for _, seed := range [][2]string{
		{"teams", `{cohort: "a", quota: lp: l4: {accelerators: 3, borrow: "all"}, roles: []}`},
		{"teams", `{quota: lp: l4: {accelerators: -1}}`}, {"teams", `{quota: lp: l4: {accelerators: 1.0}}`},
		{"teams", `{quota: lp: l4: {accelerators: 1_000}}`}, {"teams", `{bukket: true}`}, {"teams", `{bucket: "yes"}`},
		{"teams", `{bucket: true, bucket: true}`}, {"teams", `{bucket?: true}`}, {"teams", `{"bucket": true}`},
		{"teams", `{#bucket: true, _x: 1}`}, {"teams", `{cohort: "a" & "b"}`}, {"teams", `{...}`}, {"teams", `{}`},
		{"teams", `{cohort: """` + "\n\ta\n\t" + `"""}`}, {"teams", `{group: "\u0061@b.c"}`}, {"teams", `null`},
		{"teams", `{members: ["user:a@b.c", "x"]}`}, {"teams", `{labels: {"a\"b": "c\u0000"}}`},
		{"capacity", `{hardware: "l4", consumption: {}}`},
		{"capacity", `{hardware: "l4", consumption: {spot: {}, onDemand: {}}}`},
		{"capacity", `{hardware: "l4", consumption: spot: {}, maxNodes: 9999999999999999999}`},
		{"workloads", `{tier: "a", image: "b", perPod: {cpu: 0.5, memory: "1Gi"}}`},
		{"workloads", `{tier: "a", image: "b", perPod: {cpu: 0.50, memory: "1Gi"}}`},
		{"workloads", `{tier: "a", image: "b", perPod: {cpu: 0.0005, memory: "1Gi"}}`},
		{"cluster", `{maintenance: {days: ["MO", "SU"]}}`}, {"cluster", `{maintenance: {}}`}, {"zones", `[]`},
		{"zones", `["us-central1-a", ...]`}, {"tiers", `{priority: -0, default: true, capacity: []}`}, {"name", `"a"`},
		{"rehearsals", `{runs: {}, seed: 00}`}, {"zones", `[...]`}, {"zones", `[...string]`}, {"notes", `[...]`},
		{"notes", `["a note", ...]`}, {"cluster", `{maintenance: days: ["SA", ...]}`},
		{"cluster", `{maintenance: days: [...]}`},
		{"workloads", `{tier: "a", image: "b", teams: ["a", ...], perPod: {cpu: 1, memory: "1Gi"}}`},
		{"teams", `{cohort: "a"} & {bucket: true}`}, {"teams", `{cohort: string, cohort: "a"}`},
		{"teams", `{cohort: *"a" | "b"}`},
		{"teams", `{bucket?: true} & {cohort: "a"}`}, {"teams", `{[string]: true} & {bucket: true}`},
		{"teams", `close({cohort: "a"})`}, {"teams", `{cohort: "a", _h: 1} & {}`},
		{"teams", `{roles: ["roles/viewer", ...]} & {}`},
		{"teams", `{bucket: true} | {bucket: false}`}, {"teams", `{for k in ["a", "b"] {labels: "\(k)": "c"}}`},
		{"teams", `{cohort: 'a'}`}, {"teams", `{labels: {"e\u0301": "a", "\u00e9": "b"}}`},
		{"teams", `{cohort: "a"} & matchN(0, [{bucket!: _}])`}, {"teams", `X={labels: a: *"\(X.bucket)" | "b"}`},
		{"teams", `X={cohort: "a", if X.bucket == _|_ {labels: a: "b"}} & {}`},
		{"teams", `{quota: lp: l4: {}, labels: {for k, _ in quota.lp.l4 {(k): "b"}}}`},
		{"workloads", `{tier: "a", image: "b", perPod: {cpu: 1 / 2, memory: "1Gi"}}`},
		{"zones", `["us-central1-" + "a"]`},
		{"workloads", `{tier: "a", image: "b", perPod: {cpu: 0.5 + 0.25, memory: "1Gi"}, copies: 1 + 1}`},
	} {
		f.Add(seed[0], seed[1])
	}
	files, err := filepath.Glob("../../blueprints/*/*.cue")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		addFields(f, name)
	}
	f.Fuzz(func(t *testing.T, field, source string) {
		if len(source) > 4<<10 {
			t.Skip("an input of more than 4 KiB only takes CUE longer")
		}
		shape := literalSchema().Field(field)
		if shape == nil {
			return
		}
		cc := newContext()
		constraint, _ := fieldOf(blueprintDefinition(cc), field)
		if entity, _ := shape.Entity(); entity != nil {
			shape = entity
			constraint, _ = patternOf(constraint)
		}
		// In a definition, structs are closed.
		closed := len(source)%2 == 1
		root := cc.CompileString("x: " + source)
		if closed {
			root = cc.CompileString("#r: {x: " + source + "}").LookupPath(cue.ParsePath("#r"))
		}
		value := root.LookupPath(cue.ParsePath("x"))
		if !value.Exists() {
			return
		}
		found := checkLiteral(shape, value, isClosed(root))
		text, verdict := found.text, found.verdict
		merged := constraint.Unify(value)
		refusal := merged.Validate(cue.Concrete(true), cue.Final())
		var want []byte
		if refusal == nil {
			want, refusal = merged.MarshalJSON()
		}
		switch {
		case verdict == literal.Fits && refusal != nil:
			t.Errorf("%s: %s\npackage literal accepts it, CUE refuses it: %v", field, source, refusal)
		case verdict == literal.Fits && !sameJSON(t, text, want):
			t.Errorf("%s: %s\npackage literal returns %s\nCUE returns %s", field, source, text, want)
		case verdict == literal.Unfit && refusal == nil:
			t.Errorf("%s: %s\npackage literal refuses it, CUE accepts it", field, source)
		}
	})
}

// TestLiteralPattern holds what package literal makes of a pattern for all teams against
// CUE: the verdicts and values must agree, or be CUE's alone.
func TestLiteralPattern(t *testing.T) {
	for _, tt := range []struct {
		source  string
		literal bool // whether package literal lists the teams
		unknown bool // whether only CUE can judge the team a
	}{
		{`{[string]: accept: W0439: "b", a: cohort: "c"}`, true, false},
		{`{a: cohort: "c", [string]: {accept: W0439: "b", bucket: true}}`, true, false},
		{`{[string]: bukket: true, a: {}}`, true, false},
		{`{[string]: accept: W0439: "b", a: accept: W0440: "b"}`, true, true},
		{`{[string]: cohort: "c", a: cohort: "d"}`, true, true},
		{`{[string]: accept: W0439: x, a: {}, x: "b"}`, false, false}, // x is no struct
		{`{[string]: {cohort: *"c" | string}, a: {}}`, true, true},
		{`{[string]: bucket: true, [string]: cohort: "c", a: {}}`, false, false},
		{`{[=~"^b"]: bucket: true, a: {}}`, false, false},
		{`{[string]: bucket: true, string: {}, a: {}}`, false, false},
		{`{[string]: bucket: true, a: {} & {}}`, false, false},
		{`{[T=string]: labels: x: T, a: {}}`, false, false},
	} {
		cc := newContext()
		value := cc.CompileString("x: " + tt.source).LookupPath(cue.ParsePath("x"))
		fields, ok := literal.Fields(value.Source())
		if ok != tt.literal {
			t.Errorf("%s: literal is %t", tt.source, ok)
		}
		constraint, _ := fieldOf(blueprintDefinition(cc), "teams")
		pattern, _ := patternOf(constraint)
		shape, _ := literalSchema().Field("teams").Entity()
		for _, f := range fields {
			text, verdict := shape.Check(f.Value)
			if f.Name == "a" && (verdict == literal.Unknown) != tt.unknown {
				t.Errorf("%s: the verdict on team a is %d", tt.source, verdict)
			}
			merged := pattern.Unify(value.LookupPath(cue.MakePath(cue.Str(f.Name))))
			err := merged.Validate(cue.Concrete(true), cue.Final())
			if verdict != literal.Unknown && (verdict == literal.Fits) != (err == nil) {
				t.Errorf("%s: the verdict on team %s is %d, and CUE says: %v", tt.source, f.Name, verdict, err)
			} else if verdict == literal.Fits {
				if want, err := merged.MarshalJSON(); err != nil || !sameJSON(t, text, want) {
					t.Errorf("%s: team %s is %s, want %s (%v)", tt.source, f.Name, text, want, err)
				}
			}
		}
	}
}

// addFields adds the fields and entities of a blueprint to a corpus.
func addFields(f *testing.F, name string) {
	content, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	parsed, err := parser.ParseFile(name, content)
	if err != nil {
		f.Fatal(err)
	}
	add := func(field string, x ast.Expr) {
		if source, err := format.Node(x); err == nil {
			f.Add(field, string(source))
		}
	}
	for _, d := range parsed.Decls {
		outer, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		field, _, err := ast.LabelName(outer.Label)
		if err != nil {
			continue
		}
		add(field, outer.Value)
		if entities, ok := outer.Value.(*ast.StructLit); ok {
			for _, d := range entities.Elts {
				if entity, ok := d.(*ast.Field); ok {
					add(field, entity.Value)
				}
			}
		}
	}
}

// sameJSON reports whether two texts hold the same JSON, number by number.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	read := func(text []byte) any {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		var out any
		if err := decoder.Decode(&out); err != nil {
			t.Errorf("%v: %s", err, text)
		}
		return out
	}
	return gocmp.Equal(read(a), read(b))
}
