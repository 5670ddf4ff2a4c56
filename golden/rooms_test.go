package golden_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
)

const module = "github.com/batchwright/batchwright/"

// rooms maps each package of the project to the packages that it may import. Data
// flows from the schema through the compiler and the plan to the emitters, and
// nothing flows back.
var rooms = map[string][]string{
	"blueprints":       {},
	"schema":           {},
	"compiler/console": {},
	"compiler/secret":  {},
	"compiler/words":   {},
	"compiler/diag":    {"compiler/console", "compiler/secret", "compiler/words"},
	"compiler/catalog": {},
	"compiler/ir":      {"compiler/words"},
	"compiler/rules": {
		"schema", "compiler/catalog", "compiler/diag", "compiler/ir", "compiler/secret", "compiler/words",
	},
	"compiler/explain": {},
	"compiler/lower":   {"schema", "compiler/catalog", "compiler/ir", "compiler/words"},

	"compiler/blueprint/load": {"schema", "compiler/diag"},
	"compiler/blueprint":      {"schema", "compiler/blueprint/load", "compiler/diag", "compiler/words"},
	"compiler": {
		"compiler/blueprint", "compiler/blueprint/load", "compiler/diag", "compiler/ir", "compiler/lower",
		"compiler/rules",
	},

	"emit":            {},
	"emit/hostile":    {},
	"emit/markdown":   {"compiler/words"},
	"emit/mermaid":    {"compiler/words"},
	"emit/kubeyaml":   {"compiler/ir"},
	"emit/cloudbuild": {"compiler/ir", "compiler/words", "emit"},
	"emit/dashboard":  {"compiler/ir", "emit", "emit/kubeyaml"},
	"emit/guide":      {"compiler/ir", "compiler/words", "emit", "emit/markdown", "emit/mermaid"},
	"emit/kai":        {"compiler/ir", "emit/kubeyaml"},
	"emit/kueue":      {"compiler/ir", "emit/kubeyaml"},
	"emit/kubernetes": {"compiler/ir", "emit", "emit/kai", "emit/kubeyaml", "emit/kueue"},
	"emit/terraform":  {"compiler/ir", "emit"},
	"emit/workload":   {"compiler/ir", "emit", "emit/kubeyaml"},
	"emit/folder": {"compiler/ir", "emit", "emit/cloudbuild", "emit/dashboard", "emit/guide", "emit/kubernetes",
		"emit/terraform",
		"emit/workload"},

	"emit/review": {
		"compiler/console", "compiler/ir", "compiler/words", "emit", "emit/markdown", "emit/review/delta",
		"emit/review/objects",
		"emit/review/summary",
	},
	"emit/review/delta": {},
	"emit/review/graph": {"compiler/console", "compiler/ir", "compiler/words", "emit/mermaid"},
	// emit/terraform holds the table of the arguments that replace a resource, next
	// to the code that sets them.
	"emit/review/objects": {
		"compiler/console", "compiler/ir", "compiler/words", "emit", "emit/review/delta", "emit/terraform",
	},
	"emit/review/summary": {"compiler/ir", "compiler/words", "emit/review/delta"},

	"cmd/batchwright": {"blueprints", "compiler", "compiler/blueprint", "compiler/blueprint/load", "compiler/catalog",
		"compiler/console", "compiler/diag", "compiler/explain", "compiler/ir", "compiler/words", "emit", "emit/folder",
		"emit/review", "emit/review/delta", "emit/review/graph", "emit/review/summary"},
	"golden":       {},
	"golden/scale": {},
}

// blind lists imports with which the output of an emitter, or the plan, could depend
// on something other than the blueprint.
var blind = []string{
	"os", "time", "math/rand", "math/rand/v2", "net", "net/http", "os/exec", "os/user", "runtime/debug",
}

// formats maps libraries of one format to the packages that may import them.
var formats = map[string][]string{
	"cuelang.org/go":            {"compiler/blueprint", "compiler/blueprint/load"},
	"github.com/hashicorp/hcl":  {"emit/review/objects", "emit/terraform"},
	"github.com/zclconf/go-cty": {"emit/review/objects", "emit/terraform"},
	"sigs.k8s.io/kueue":         {"emit/kueue"},
	"sigs.k8s.io/jobset":        {"emit/workload"},
	"github.com/grafana":        {"emit/dashboard"},
	"sigs.k8s.io/yaml": {
		"emit/cloudbuild", "emit/dashboard", "emit/guide", "emit/hostile", "emit/kueue",
	},
	"go.yaml.in/yaml":                 {"emit/kubeyaml", "emit/review/objects"},
	"github.com/spf13/cobra":          {"cmd/batchwright"},
	"github.com/GoogleCloudPlatform/": {"emit/kubernetes", "emit/workload"},
	"k8s.io/api/": {
		"emit/dashboard", "emit/kai", "emit/kubernetes", "emit/kubeyaml", "emit/kueue", "emit/workload",
	},
	"k8s.io/apimachinery/pkg/apis/": {
		"emit/dashboard", "emit/kai", "emit/kubernetes", "emit/kubeyaml", "emit/kueue", "emit/workload",
	},
	"k8s.io/apimachinery/pkg/runtime":  {"emit/kai", "emit/kubernetes", "emit/kubeyaml", "emit/kueue", "emit/workload"},
	"github.com/rogpeppe/go-internal/": {"cmd/batchwright", "compiler/explain", "emit/review/objects"},
}

func TestRooms(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		allowed, known := rooms[name]
		if !known {
			t.Errorf("package %s has no place in the rooms", name)
		}
		emitter := strings.HasPrefix(name, "emit/") || name == "compiler/ir"
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", name, own)
			}
			for format, allowed := range formats {
				if strings.HasPrefix(imported, format) && !slices.Contains(allowed, name) {
					t.Errorf("%s must not know %s", name, imported)
				}
			}
			if emitter && slices.Contains(blind, imported) {
				t.Errorf("%s must not import %s: its output depends on the plan alone", name, imported)
			}
		}
	}
	for name := range rooms {
		if !seen[name] {
			t.Errorf("the rooms name %s, which does not exist", name)
		}
	}
}

// TestFamiliesAreData checks that no code outside the catalogue contains the name of
// a machine family. A new family is a row of data.
func TestFamiliesAreData(t *testing.T) {
	quoted := regexp.MustCompile("\"(" + strings.Join(slices.Collect(maps.Keys(machineFamilies())), "|") + ")\"")
	for _, name := range sourceFiles(t) {
		if strings.HasPrefix(name, "compiler/catalog/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range quoted.FindAllString(string(text), -1) {
			t.Errorf("%s knows the machine family %s", name, found)
		}
	}
}

// optionFiles maps each file that may name a consumption option to the reason. Other
// files ask the table of options.
var optionFiles = map[string]string{
	"schema/blueprint.go":           "the fields of the blueprint",
	"compiler/lower/consumption.go": "reads these fields and chooses the row",
	"compiler/ir/options.go":        "the table",
	"compiler/catalog/options.go":   "the columns of the catalogue",

	"compiler/rules/consumption.go":     "rules on the parameters of one option, and on its machines",
	"compiler/lower/demand.go":          "the system pool is on demand, and a note on what is not verified",
	"emit/kubernetes/computeclasses.go": "the type of a ComputeClass's priority has fields for some options",
	"emit/dashboard/panels.go":          "explains the values of a label and a metric of GKE",
	"emit/guide/obtain.go":              "what to do before a calendar reservation ends",

	"cmd/batchwright/catalog.go":       "an example in the help",
	"cmd/batchwright/catalog_print.go": "the names of fields in JSON",
	"cmd/batchwright/init.go":          "describes the reference systems",
}

// TestOptionsAreRows checks that only optionFiles name a consumption option: by its
// constant, by the name of a schema's field, or by its words in a text. Everything
// else about an option is a column of its row.
func TestOptionsAreRows(t *testing.T) {
	for _, name := range sourceFiles(t) {
		named := namedOptions(t, name)
		reason := optionFiles[name]
		switch {
		case len(named) > 0 && reason == "":
			t.Errorf("%s names the consumption options %v", name, named)
		case len(named) == 0 && reason != "":
			t.Errorf("%s names no consumption option: take it from the list", name)
		}
	}
}

// namedOptions returns what a file names consumption options by, sorted.
func namedOptions(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	identifiers, texts := optionIdentifiers(t), optionWords()
	found := map[string]bool{}
	compared := func(operands ...ast.Expr) { // in compiler/ir itself
		for _, operand := range operands {
			if name, ok := operand.(*ast.Ident); ok && identifiers[name.Name] {
				found[name.Name] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			compared(n.X, n.Y)
		case *ast.CaseClause:
			compared(n.List...)
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && of.Name == "ir" && identifiers[n.Sel.Name] {
				found["ir."+n.Sel.Name] = true
			}
			if of, ok := n.X.(*ast.SelectorExpr); ok && (of.Sel.Name == "Consumption" || of.Sel.Name == "Options") {
				found[of.Sel.Name+"."+n.Sel.Name] = true
			}
		case *ast.BasicLit:
			for _, words := range texts.FindAllString(n.Value, -1) {
				found[words] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// optionWords returns a pattern for the words of options in a text. Words of Kueue and
// of plain English count only if they are the whole text.
func optionWords() *regexp.Regexp {
	plain := []string{"on demand", "onDemand", "ondemand", "reservation", "reserved"}
	special := []string{}
	for _, o := range ir.Options() {
		for _, words := range []string{string(o.Option), o.Field, o.NodeConfig, o.ResourceType, o.Nodes} {
			if words != "" && !slices.Contains(plain, words) {
				special = append(special, strings.ReplaceAll(words, "-", "[- ]"))
			}
		}
	}
	const quote = "[\"`]"
	return regexp.MustCompile(`(?i)\b(` + strings.Join(special, "|") + `)\b|` +
		quote + "(" + strings.Join(plain, "|") + ")" + quote)
}

// optionIdentifiers returns the names of the constants of type ir.Option.
func optionIdentifiers(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "compiler/ir/options.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Option" {
				out[v.Names[0].Name] = true
			}
		}
		return true
	})
	return out
}

// machineFamilies returns the names of all machine families.
func machineFamilies() map[string]bool {
	out := map[string]bool{}
	for _, m := range catalog.All() {
		out[m.Family] = true
	}
	return out
}

// sourceFiles returns the Go files of the program, without tests, by their paths in
// the repository.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, room := range []string{"cmd", "compiler", "emit", "schema"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(name string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				name, err = filepath.Rel(root, name)
				out = append(out, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
