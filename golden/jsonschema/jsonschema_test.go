package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/blueprint"

	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/encoding/yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/golden/findings"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/golden/generate"
)

func TestJSONSchema(t *testing.T) {
	got, err := blueprint.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	fixture.CompareFile(t, "blueprint.schema.json", got)
}

// TestSchemaKnowsTheTables checks that the schema offers all schedulers of the plan and all
// kinds of jobs, and no others.
func TestSchemaKnowsTheTables(t *testing.T) {
	text, err := blueprint.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Scheduler struct{ Enum []ir.Scheduler }
			Workloads struct {
				PatternProperties map[string]struct {
					Properties struct{ Kind struct{ Enum []string } }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ir.Schedulers(), schema.Properties.Scheduler.Enum); diff != "" {
		t.Errorf("schedulers of the schema (-plan +schema):\n%s", diff)
	}
	var known []string
	for _, k := range kinds.All() {
		known = append(known, k.Name)
	}
	for _, workload := range schema.Properties.Workloads.PatternProperties {
		if diff := cmp.Diff(known, workload.Properties.Kind.Enum); diff != "" {
			t.Errorf("kinds of the schema (-table +schema):\n%s", diff)
		}
	}
}

// TestJSONSchemaAcceptsBlueprints checks that the schema accepts every example as it
// is written, before the compiler fills in defaults.
func TestJSONSchemaAcceptsBlueprints(t *testing.T) {
	schema := blueprintSchema(t)
	tags := map[string][][]string{"tpu-training": {{"type=v4", "perTeam"}, {"autoscaled=true", "managed=true"}}}
	for _, name := range fixture.Blueprints(t) {
		dir := t.TempDir()
		for _, from := range fixture.BlueprintDirs(fixture.Path("blueprints"), name) {
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
		}
		for _, tags := range append(tags[name], nil) {
			text, err := exportJSON(compiler.Input{Dir: dir, Tags: tags})
			if err != nil {
				t.Fatal(err)
			}
			if err := validateJSON(t, schema, text); err != nil {
				t.Errorf("%s %v: %v", name, tags, err)
			}
		}
	}
}

// findingCode is the code of a finding in the output of a case.
var findingCode = regexp.MustCompile(`(?m)^[^ ].*(?:error|warning|note)\[(\w+)\]: `)

// TestJSONSchemaAgreesWithFindings compares the JSON Schema with those cases of
// golden/findings that can be written as JSON. The schema must refuse blueprints that
// violate the grammar, and no others. What the compiler finds in a case is its output, which
// the tests of findings compare.
func TestJSONSchemaAgreesWithFindings(t *testing.T) {
	schema := blueprintSchema(t)
	refused, accepted := 0, 0
	for _, c := range findings.Cases(t, findings.Families(t)...) {
		codes := findingCode.FindAllStringSubmatch(c.Output(), -1)
		begins := func(beginnings ...string) bool {
			return slices.ContainsFunc(codes, func(found []string) bool {
				return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(found[1], b) })
			})
		}
		if begins("E00", "E0106", "E0107") || c.Name == "shared-references" {
			continue // its values cannot be exported, or are far too many
		}
		text, err := exportJSON(c.Lay(t))
		if err != nil {
			continue
		}
		wrong := begins("E0101", "E0102", "E0103", "E0104", "E0105")
		err = validateJSON(t, schema, text)
		switch {
		case err != nil && !wrong:
			t.Errorf("%s fits the grammar, and the JSON Schema refuses it: %v", c.Name, err)
		case err == nil && wrong:
			t.Errorf("%s does not fit the grammar, and the JSON Schema accepts it", c.Name)
		case err != nil:
			refused++
		default:
			accepted++
		}
	}
	if t.Logf("%d refused, %d accepted", refused, accepted); refused < 30 || accepted < 300 {
		t.Errorf("only %d cases are refused and %d accepted", refused, accepted)
	}
}

func blueprintSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := blueprint.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("blueprint.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("blueprint.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validateJSON(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// exportJSON returns a blueprint as JSON, as its user wrote it. It returns an error
// for a blueprint without such a form: one that is not concrete, or that contains
// the schema's defaults.
func exportJSON(in compiler.Input) ([]byte, error) {
	cue, data := []string{}, []string{}
	for _, p := range in.Paths {
		if ext := filepath.Ext(p); ext == ".yaml" || ext == ".json" {
			data = append(data, p)
		} else {
			cue = append(cue, "./"+p)
		}
	}
	cc := cuecontext.New(cuecontext.WithInjection(embed.New()))
	value := cc.CompileString("{}")
	if len(cue) > 0 || len(data) == 0 {
		if err := os.MkdirAll(filepath.Join(in.Dir, "cue.mod"), 0o755); err != nil {
			return nil, err
		}
		module := []byte("module: \"example.com/case\"\nlanguage: version: \"v0.17.0\"\n")
		if err := os.WriteFile(filepath.Join(in.Dir, "cue.mod/module.cue"), module, 0o644); err != nil {
			return nil, err
		}
		inst := load.Instances(cue, &load.Config{Dir: in.Dir, Tags: in.Tags, Env: []string{"CUE_REGISTRY=none"}})[0]
		if inst.Err != nil {
			return nil, inst.Err
		}
		value = cc.BuildInstance(inst)
	}
	for _, p := range data {
		content, err := os.ReadFile(filepath.Join(in.Dir, p))
		if err != nil {
			return nil, err
		}
		file, err := yaml.Extract(p, content) // JSON is YAML
		if err != nil {
			return nil, err
		}
		value = value.Unify(cc.BuildFile(file))
	}
	return value.MarshalJSON()
}

// TestJSONSchemaAcceptsGenerated checks that the schema accepts every generated
// blueprint that compiles.
func TestJSONSchemaAcceptsGenerated(t *testing.T) {
	schema := blueprintSchema(t)
	held := 0
	for seed := range uint64(40) {
		source := generate.Blueprint(t, 2000+seed)
		res, err := compiler.Compile(t.Context(), compiler.Input{
			Dir: fixture.Root(), Paths: []string{"-"}, Stdin: bytes.NewReader(source),
		})
		if err != nil {
			t.Fatal(err)
		}
		if res.Plan == nil {
			continue
		}
		held++
		if err := validateJSON(t, schema, source); err != nil {
			t.Errorf("%v\n%s", err, source)
		}
	}
	if held < 20 {
		t.Errorf("%d blueprints compile, want most", held)
	}
}
