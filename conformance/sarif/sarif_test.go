// Package sarif_test checks the logs of vet and diff with "--format sarif" against
// SARIF's own schema and against the types of a module that reads SARIF.
package sarif_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"
)

const root = "../.."

// TestLogs checks the logs of cases of golden/findings that contain a whole blueprint, in a
// directory whose name needs escapes in a URI: in each family, the first case of every list
// of codes. The others differ from these in names and values.
func TestLogs(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "batchwright")
	build := exec.Command("go", "build", "-C", root, "-o", bin, "./cmd/batchwright")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	schema := compile(t)
	cases, err := filepath.Glob(root + "/golden/findings/*/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	rules, logged := map[string]bool{}, map[string]bool{}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		codes, _, _ := strings.Cut(string(archive.Comment), "\n")
		same := filepath.Dir(file) + " " + codes
		if archive.Files[0].Name == "old" || logged[same] { // old: an edit of another blueprint
			continue
		}
		logged[same] = true
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			for _, id := range check(t, schema, vet(t, bin, archive)) {
				rules[id] = true
			}
		})
	}
	t.Run("change", func(t *testing.T) {
		if got := check(t, schema, change(t, bin)); !slices.Equal(got, []string{"W0203", "W0614"}) {
			t.Errorf("the results are of %v", got)
		}
	})
	if len(rules) < 140 {
		t.Errorf("only %d rules found anything: %v", len(rules), rules)
	}
}

// change returns the log of a change to a blueprint. It adds a capacity that no tier
// uses, and changes the number of idle nodes.
func change(t *testing.T, bin string) []byte {
	t.Helper()
	const blueprint = `{"name": "small", "project": "my-project", "region": "us-central1", "zones": ["us-central1-a"],
		"hardware": {"l4": {"machine": "g2-standard-24"}},
		"capacity": {"some": {"hardware": "l4", "consumption": {"onDemand": {}}, "minNodes": 4, "maxNodes": 4}},
		"tiers": {"batch": {"priority": 10, "default": true, "capacity": ["some"]}},
		"teams": {"vision": {"quota": {"batch": {"some": {"accelerators": 2}}}}}}`
	changed := strings.NewReplacer(`: 4`, `: 8`, `"capacity": {"some"`, `"capacity":
		{"more": {"hardware": "l4", "consumption": {"onDemand": {}}, "maxNodes": 4}, "some"`).Replace(blueprint)
	repository := t.TempDir()
	dir := filepath.Join(repository, "a:b c%20#?ä")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) []byte {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil && name != bin {
			t.Fatal(err)
		}
		return out
	}
	file := filepath.Join(dir, "platform.json")
	for _, content := range []string{blueprint, changed} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if content == blueprint {
			run("git", "init", "-q", repository)
			run("git", "add", ".")
			run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "base")
		}
	}
	return run(bin, "diff", "--format", "sarif", "--base", "HEAD", "platform.json")
}

// vet returns the log of a case.
func vet(t *testing.T, bin string, archive *txtar.Archive) []byte {
	t.Helper()
	repository := t.TempDir()
	dir := filepath.Join(repository, "a:b c%20#?ä")
	for _, f := range append(archive.Files, txtar.File{Name: "../.git", Data: []byte("gitdir: elsewhere\n")}) {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		unmarked := strings.NewReplacer("«", "", "»", "").Replace(string(f.Data))
		if err := os.WriteFile(name, []byte(unmarked), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, args, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
	cmd := exec.Command(bin, append([]string{"vet", "--format", "sarif"}, strings.Fields(args)...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	log, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) || stderr.Len() > 0 {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return log
}

// check fails the test if a log has problems. It returns the rules of the log's
// results.
func check(t *testing.T, schema *jsonschema.Schema, log []byte) []string {
	t.Helper()
	for _, err := range problems(schema, log) {
		t.Error(err)
	}
	var report sarif.Report
	if err := json.Unmarshal(log, &report); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range report.Runs[0].Results {
		rule := report.Runs[0].Tool.Driver.Rules[r.RuleIndex]
		if *rule.ID != *r.RuleID {
			t.Errorf("a result of %s refers to the rule %s", *r.RuleID, *rule.ID)
		}
		ids = append(ids, *r.RuleID)
		if len(r.Locations) != 1 {
			t.Errorf("%s: %d locations, of which GitHub shows one and needs one", *r.RuleID, len(r.Locations))
			continue
		}
		uri := *r.Locations[0].PhysicalLocation.ArtifactLocation.URI
		if uri != "." && !strings.HasPrefix(uri+"/", "./a:b%20c%2520%23%3F%C3%A4/") {
			t.Errorf("%s: %s does not name a file from the root of the repository", *r.RuleID, uri)
		}
	}
	return ids
}

// problems returns the mistakes in a log.
func problems(schema *jsonschema.Schema, log []byte) []error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
	if err != nil {
		return []error{err}
	}
	var out []error
	if err := schema.Validate(value); err != nil {
		out = append(out, err)
	}
	reader := json.NewDecoder(bytes.NewReader(log))
	reader.DisallowUnknownFields()
	if err := reader.Decode(new(sarif.Report)); err != nil {
		out = append(out, err)
	}
	return out
}

// compile returns the schema of SARIF 2.1.0, with checks of formats such as URIs.
// Source: OASIS, as github.com/owenrumney/go-sarif carries it.
func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", value); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// schemaText reads the schema from the source of a module that embeds it as a
// constant.
func schemaText(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil,
		parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err = strconv.Unquote(lit.Value) // there is no other
		}
		return true
	})
	if err != nil || text == "" {
		t.Fatalf("no schema: %v", err)
	}
	return text
}

// TestProblems checks that problems finds mistakes.
func TestProblems(t *testing.T) {
	const good = `{
  "$schema": "https://example.com/sarif.json", "version": "2.1.0",
  "runs": [{
    "tool": {"driver": {"name": "tool", "rules": [{"id": "E1", "defaultConfiguration": {"level": "error"}}]}},
    "columnKind": "unicodeCodePoints",
    "results": [{
      "ruleId": "E1", "ruleIndex": 0, "level": "error", "message": {"text": "m"},
      "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a%20b"},
        "region": {"startLine": 1, "startColumn": 2}}}],
      "suppressions": [{"kind": "inSource"}]
    }]
  }]
}`
	schema := compile(t)
	if err := problems(schema, []byte(good)); err != nil {
		t.Fatal(err)
	}
	for old, broken := range map[string]string{
		`"version": "2.1.0"`:     `"version": "2.2.0"`,
		`"name": "tool", `:       ``,
		`"id": "E1", `:           ``,
		`unicodeCodePoints`:      `bytes`,
		`"ruleIndex": 0`:         `"ruleIdx": 0`,
		`"message": {"text"`:     `"message": {"words"`,
		`"uri": "a%20b"`:         `"uri": "a b%zz"`,
		`"startLine": 1`:         `"startLine": 0`,
		`"startColumn": 2`:       `"startColumn": "2"`,
		`{"kind": "inSource"}`:   `{}`,
		`"error", "message"`:     `"worse", "message"`,
		`"results": [`:           `"results": [null, `,
		`"locations": [{"phys`:   `"locations": {"phys`,
		`"physicalLocation": {"`: `"physicalLocation": {"x": 1, "`,
	} {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s to break", old)
		}
		if problems(schema, []byte(strings.Replace(good, old, broken, 1))) == nil {
			t.Errorf("%s passes", broken)
		}
	}
}
