package golden_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/blueprint"

	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/encoding/yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/golden/fixture"
)

const jsonSchemaFile = "testdata/blueprint.schema.json"

func TestJSONSchema(t *testing.T) {
	got, err := blueprint.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	fixture.CompareFile(t, jsonSchemaFile, got)
}

// TestSchemaKnowsTheSchedulers checks that the schema offers all schedulers of the
// plan and no others.
func TestSchemaKnowsTheSchedulers(t *testing.T) {
	text, err := blueprint.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Scheduler struct{ Enum []ir.Scheduler }
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ir.Schedulers(), schema.Properties.Scheduler.Enum); diff != "" {
		t.Errorf("schedulers of the schema (-plan +schema):\n%s", diff)
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

// TestJSONSchemaAgreesWithFindings compares the JSON Schema with those cases of
// golden/diag that can be written as JSON. The schema must refuse blueprints that
// violate the grammar, and no others.
func TestJSONSchemaAgreesWithFindings(t *testing.T) {
	files, err := filepath.Glob("diag/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	schema := blueprintSchema(t)
	refused, accepted := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, in, _ := layCase(t, archive)
		res, err := compiler.Compile(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		begins := func(codes ...string) bool {
			return slices.ContainsFunc(res.Findings.Sorted(), func(f diag.Finding) bool {
				return slices.ContainsFunc(codes, func(c string) bool { return strings.HasPrefix(f.Code, c) })
			})
		}
		if begins("E00", "E0106", "E0107") || name == "shared-references" {
			continue // its values cannot be exported, or are far too many
		}
		text, err := exportJSON(in)
		if err != nil {
			continue
		}
		wrong := begins("E0101", "E0102", "E0103", "E0104", "E0105")
		err = validateJSON(t, schema, text)
		switch {
		case err != nil && !wrong:
			t.Errorf("%s fits the grammar, and the JSON Schema refuses it: %v", name, err)
		case err == nil && wrong:
			t.Errorf("%s does not fit the grammar, and the JSON Schema accepts it", name)
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
		source := generateBlueprint(t, 2000+seed)
		if compileSource(t, "-", source).Plan == nil {
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
