package golden_test

import (
	"encoding/json"
	"errors"
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
	"compiler/lower":   {"schema", "compiler/catalog", "compiler/ir"},

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

// schedulerFiles are the files that may name a scheduler, each with its reason. All
// other code asks for the facts of the plan's scheduler, or calls ir.Choose.
var schedulerFiles = map[string]string{
	"compiler/ir/scheduler.go":      "defines the schedulers, their facts and ir.Choose",
	"compiler/rules/kai.go":         "rules only for KAI Scheduler, and the one on its priorities of queues",
	"compiler/rules/consumption.go": "a rule's row names the schedulers that the rule does not hold for",
	"compiler/rules/quota.go":       "a rule's row names the schedulers that the rule does not hold for",
	"compiler/rules/tiers.go":       "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/workloads.go":   "a rule's row names the schedulers that the rule does not hold for",
}

// TestSchedulersAreChosenOnce checks that only schedulerFiles name a scheduler, and
// that only ir.Choose compares schedulers. A new scheduler then cannot be taken for
// an old one.
func TestSchedulersAreChosenOnce(t *testing.T) {
	named := map[string]bool{}
	for _, name := range sourceFiles(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		naming, comparing := schedulerMentions(string(text))
		if named[name] = len(naming)+len(comparing) > 0; named[name] && schedulerFiles[name] == "" {
			t.Errorf("%s names a scheduler: %q; ask for its facts, or call ir.Choose", name, append(naming, comparing...))
		}
		if len(comparing) > 0 && name != "compiler/ir/scheduler.go" {
			t.Errorf("%s compares schedulers: %q; ask for a fact, or call ir.Choose", name, comparing)
		}
	}
	for name, reason := range schedulerFiles {
		if !named[name] {
			t.Errorf("%s no longer names a scheduler; remove it from the list: %s", name, reason)
		}
	}
}

// TestSchedulerMentions checks which code counts as naming and as comparing.
func TestSchedulerMentions(t *testing.T) {
	for code, want := range map[string][2]int{
		`only: ir.KAI, basic: true`:                    {1, 0},
		`p := ir.Platform{Scheduler: "kai"}`:           {1, 0},
		`p.Scheduler = "kueue"`:                        {1, 0},
		`s := ir.Scheduler("kai")`:                     {1, 0},
		`if p.Scheduler == ir.KAI {`:                   {1, 1},
		`if s != ir.Kueue {`:                           {1, 1},
		`if b.Scheduler == string(ir.KAI) {`:           {1, 1},
		`if string(p.Scheduler) == "kai" {`:            {1, 1},
		`if s == KAI {`:                                {0, 1},
		`if before.Scheduler != after.Scheduler {`:     {0, 1},
		`switch p.Scheduler {`:                         {0, 1},
		"switch b.Scheduler {\ncase \"kai\":":          {1, 2},
		`{"kai", "KAI Scheduler", v.KAI, "0.16.0"}`:    {0, 0},
		`manager("kueue", ir.KueueNamespace)`:          {0, 0},
		`ir.Choose(p.Scheduler, kueueParts, kaiParts)`: {0, 0},
		`if v.KAI == "0.20.0" {`:                       {0, 0},
		`err := p.Scheduler.Check()`:                   {0, 0},
	} {
		naming, comparing := schedulerMentions(code)
		if got := [2]int{len(naming), len(comparing)}; got != want {
			t.Errorf("%s: named and compared %v times, want %v", code, got, want)
		}
	}
}

// schedulerMentions returns the parts of a source file that name a scheduler, and the
// parts that compare one.
func schedulerMentions(text string) (naming, comparing []string) {
	var schedulers []string
	for _, s := range ir.Schedulers() {
		schedulers = append(schedulers, string(s))
	}
	either := strings.Join(schedulers, "|")
	constant, value := "(?i:"+either+`)\b`, `"(?:`+either+`)"` // a constant is spelt as its value, except for capitals
	names := regexp.MustCompile(`\bir\.` + constant + `|(?:\bScheduler\)?(?: *[:=]+|\() *|\bcase )` + value)
	compares := regexp.MustCompile(strings.Join([]string{
		`[=!]= *(?:string\()?(?:ir\.)?` + constant, `\bcase (?:ir\.)?` + constant, `\bcase ` + value,
		`\.Scheduler\)? *[=!]=`, `[=!]= *\w+\.Scheduler\b`, `\bswitch [^{]*\.Scheduler\)? *\{`,
	}, "|"))
	return names.FindAllString(text, -1), compares.FindAllString(text, -1)
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
