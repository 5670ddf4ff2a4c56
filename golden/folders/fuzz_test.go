package folders_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/golden/findings"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/golden/generate"
)

// FuzzCompile checks that every input in CUE, JSON or YAML leads to printable
// findings or to a plan, within the time limit.
func FuzzCompile(f *testing.F) {
	if testing.Short() {
		f.Skip("compiles the corpus")
	}
	addSources(f)
	f.Fuzz(func(t *testing.T, source []byte, isYAML bool) {
		path := "-"
		if isYAML {
			path = "yaml:-"
		}
		compileSource(t, path, source)
	})
}

// FuzzMutated moves, removes, doubles, renames and changes fields of a blueprint.
// The result must have errors, or become a folder that passes all checks.
func FuzzMutated(f *testing.F) {
	if testing.Short() {
		f.Skip("compiles the corpus")
	}
	for op := range byte(operations) {
		f.Add(uint64(op), []byte{op, 3, 7})
		f.Add(uint64(op), []byte{op, 20, 30, op, 40, 5, op, 80, 100})
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		if len(steps) > 30 {
			t.Skip("nothing of the blueprint would be left")
		}
		checkSource(t, mutateBlueprint(t, generate.Blueprint(t, seed), steps))
	})
}

// FuzzGenerated checks that a random blueprint without errors becomes a folder that
// passes all checks, for any machines and texts.
func FuzzGenerated(f *testing.F) {
	if testing.Short() {
		f.Skip("compiles the corpus")
	}
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkSource(t, generate.Blueprint(t, seed)) })
}

// TestGenerated checks that most random blueprints have no errors. Otherwise
// FuzzGenerated would show little.
func TestGenerated(t *testing.T) {
	const all = 30
	good := 0
	for seed := range uint64(all) {
		if compileSource(t, "-", generate.Blueprint(t, 1000+seed)).Plan != nil {
			good++
		}
	}
	if good < all*2/3 {
		t.Errorf("%d of %d blueprints have no errors, want most", good, all)
	}
}

// checkSource compiles a blueprint in CUE or JSON, and runs all checks of this
// module on its folder.
func checkSource(t *testing.T, source []byte) {
	t.Helper()
	res := compileSource(t, "-", source)
	if res.Plan == nil {
		return
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	checkFolder(t, fixture.FS(tree))
	if t.Failed() {
		t.Logf("%s", source)
	}
}

// isFuzzing reports whether the fuzzer looks for more inputs. Only then, an input may take too
// long: the tests use the corpus, on computers that may be busy.
func isFuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// compileSource compiles a blueprint and checks the properties that all findings
// must have.
func compileSource(t *testing.T, path string, source []byte) *compiler.Result {
	t.Helper()
	if len(source) > 16<<10 {
		t.Skip("limits are tested elsewhere")
	}
	in := compiler.Input{Dir: os.TempDir(), Paths: []string{path}, Stdin: bytes.NewReader(source), MaxTime: time.Hour}
	if isFuzzing() {
		in.MaxTime = 20 * time.Second
	}
	res, err := compiler.Compile(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings.Sorted() {
		if f.Code == "E0007" {
			t.Errorf("%s: %s", f.Code, f.Message)
		}
	}
	if !bytes.Contains(source, []byte(os.TempDir())) {
		findings.CheckProperties(t, res, os.TempDir())
	}
	if t.Failed() {
		var text bytes.Buffer
		if err := diag.WriteText(&text, &res.Findings, diag.TextOptions{}); err != nil {
			t.Error(err)
		}
		t.Logf("findings:\n%s\nof:\n%s", text.Bytes(), source)
	}
	return res
}

// operations is the number of ways to change a field.
const operations = 8

// mutateBlueprint changes a blueprint. Of every three bytes in steps, the first
// selects the operation, the second the field, and the third the other field or the
// new value.
func mutateBlueprint(t *testing.T, source []byte, steps []byte) []byte {
	t.Helper()
	file, err := parser.ParseFile("generated.json", source)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(steps) >= 3; steps = steps[3:] {
		var fields []*ast.Field
		ast.Walk(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok {
				fields = append(fields, f)
			}
			return true
		}, nil)
		if len(fields) == 0 {
			break
		}
		chosen, other := fields[int(steps[1])%len(fields)], fields[int(steps[2])%len(fields)]
		odd := oddValues()[int(steps[2])%len(oddValues())]
		astutil.Apply(file, func(c astutil.Cursor) bool {
			if c.Node() != ast.Node(chosen) {
				return true
			}
			switch steps[0] % operations {
			case 0:
				c.Delete()
			case 1:
				chosen.Value = parseExpr(t, odd)
			case 2:
				chosen.Value = copyExpr(t, other.Value)
			case 3:
				chosen.Label = parseExpr(t, formatNode(t, other.Label)).(ast.Label)
			case 4:
				chosen.Label = ast.NewString(odd)
			case 5:
				c.InsertAfter(&ast.Field{Label: chosen.Label, Value: copyExpr(t, other.Value)})
			case 6:
				chosen.Value = ast.NewList(copyExpr(t, chosen.Value), copyExpr(t, other.Value))
			case 7:
				chosen.Value = &ast.BinaryExpr{X: copyExpr(t, chosen.Value), Op: token.AND, Y: copyExpr(t, other.Value)}
			}
			return false
		}, nil)
	}
	return []byte(formatNode(t, file))
}

// oddValues are values of every kind, some of which fit somewhere.
func oddValues() []string {
	return []string{
		"0", "1", "2", "3", "4", "5", "8", "12", "-1", "0.5", "1e100", "2147483648", "9223372036854775808", "true",
		"false", "null", "_|_", "_", "string", "int",
		`""`, `"x"`, `"l4"`, `"l4-spot"`, `"lp"`, `"team-a"`, `"a2-highgpu-1g"`, `"n1-standard-8"`,
		`"ct6e-standard-4t"`, `"e2-standard-8"`, `"us-central1-b"`, `"us-east4"`,
		`"${x}"`, `"a\nb"`, `"\u0000"`, `"é"`, `'bytes'`, "[]", "{}", "[1]", `["us-central1-a", "us-central1-c"]`,
		`["l4-spot", "l4-spot"]`, "{a: 1}", "{spot: {}}", "{onDemand: {}}",
		`{reservation: name: "r"}`, `{flexStart: queued: true}`, `{flexStart: {}}`, "{accelerators: 2}", "{cpus: 2}",
		"{borrow: 2}", ">0", "*1 | int", "[...]", "{...}", `{[string]: 1}`,
	}
}

func parseExpr(t *testing.T, source string) ast.Expr {
	t.Helper()
	e, err := parser.ParseExpr("odd", source)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func formatNode(t *testing.T, n ast.Node) string {
	t.Helper()
	source, err := format.Node(n)
	if err != nil {
		t.Skip(err) // two changes that exclude each other
	}
	return string(source)
}

// copyExpr returns a copy of an expression. An expression that is in two places could
// later be inserted into itself.
func copyExpr(t *testing.T, e ast.Expr) ast.Expr { return parseExpr(t, formatNode(t, e)) }

// addSources adds the repository's blueprints, some unusual texts, and, for the fuzzer, the
// cases of findings to the corpus. The tests of findings check the same of the cases.
func addSources(f *testing.F) {
	files, err := filepath.Glob(fixture.Path("blueprints/*/*.cue"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, fixture.Path("golden/testdata/small.cue")) {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source, false)
	}
	if isFuzzing() {
		addCases(f)
	}
	for _, odd := range []string{
		"", "\xef\xbb\xbfname: \"x\"", "\xff\xfen\x00", "name: \"x\"\rregion: 1", "x: 1e999999999",
		"{\"name\": 1e999999999}", "{\"name\": \"\\ud800\ufeff\"}", "{\"a\": {\"a\": 1, \"a\": 2}}",
		"@extern(embed)\npackage p\nname: _ @embed(file=\"/etc/passwd\",type=text)",
		"@extern(embed)\npackage p\nname: _ @embed(glob=\"*.none\")",
		"import \"tool/exec\"\nx: exec.Run & {cmd: \"true\"}", "import \"strings\"\nname: strings.Repeat(\"x\", 9)",
		"name: string @tag(a,type=int)", "a: a", "a: b\nb: a",
		"x: \"\\(x)\"", "if name {}", "if true {name: \"x\"}", "{}", "[]", "_|_", "name: *\"a\" | string",
		"for k, v in teams {x: k}", "#Blueprint", "name!: string",
		"teams: [string]: {bucket: true}", "teams: \"\\(name)\": {}", "let x = 1\nname: x",
		"name: #\"\\#(region)\"#\nregion: name", "zones: [for z in [\"a\"] {z}]", "teams: ...", "name: >0 & <\"x\"",
	} {
		f.Add([]byte(odd), false)
	}
	for _, odd := range []string{
		"a: &a [*a]", "a: &a {b: 1}\nc: {<<: *a}", "? [a]\n: b", "!!binary YQ==", "a: !!int \"1\"",
		"a: .inf\nb: .nan\nc: 0o17\nd: 2001-01-01", "--- a\n--- b", "a: |+\n  x\n\n", "name: null",
		"%YAML 1.1\n---\nname: x", "a: 'x\n\n y'", "name: *x", "a:\r\n  b: 1\rc: 2", "- a", "a: {", "\ta: 1",
	} {
		f.Add([]byte(odd), true)
	}
}

// addCases adds the files of the cases of findings to the corpus.
func addCases(f *testing.F) {
	seen := map[string]bool{}
	for _, c := range findings.Cases(f, findings.Families(f)...) {
		for name, source := range c.Files() {
			if !seen[source] {
				seen[source] = true
				f.Add([]byte(source), filepath.Ext(name) == ".yaml")
			}
		}
	}
}
