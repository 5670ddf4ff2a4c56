package rooms_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

const module = "github.com/batchwright/batchwright/"

// rooms maps each package of the project to the packages that it may import. Data
// flows from the schema through the compiler and the plan to the emitters, and
// nothing flows back.
var rooms = map[string][]string{
	"blueprints":        {},
	"schema":            {},
	"compiler/console":  {},
	"compiler/progress": {},
	"compiler/secret":   {},
	"compiler/words":    {},
	"compiler/diag":     {"compiler/console", "compiler/secret", "compiler/words"},
	"compiler/kinds":    {},
	"compiler/manifest": {},
	"compiler/catalog":  {"compiler/kinds"},
	"compiler/ir":       {"compiler/kinds", "compiler/words"},
	"compiler/fit":      {"compiler/catalog", "compiler/ir"},
	"compiler/rules": {
		"schema", "compiler/catalog", "compiler/diag", "compiler/explain", "compiler/fit", "compiler/ir",
		"compiler/kinds", "compiler/manifest", "compiler/progress", "compiler/secret", "compiler/trace",
		"compiler/words",
	},
	"compiler/cost":    {"compiler/catalog", "compiler/console", "compiler/diag", "compiler/ir", "compiler/words"},
	"compiler/explain": {},
	"compiler/gke":     {},
	"compiler/exports": {"compiler/diag", "compiler/kinds", "compiler/words"},
	"compiler/importer": {
		"compiler/catalog", "compiler/console", "compiler/diag", "compiler/exports", "compiler/gke", "compiler/kinds",
		"compiler/words",
	},
	"compiler/lower": {
		"schema", "compiler/catalog", "compiler/ir", "compiler/kinds", "compiler/manifest", "compiler/trace",
		"compiler/words",
	},
	"compiler/trace":        {"schema"},
	"compiler/trace/export": {"compiler/ir", "compiler/trace"},

	"compiler/blueprint/load":    {"schema", "compiler/diag", "compiler/words"},
	"compiler/blueprint/literal": {},
	"compiler/blueprint": {
		"schema", "compiler/blueprint/literal", "compiler/blueprint/load", "compiler/diag", "compiler/progress",
		"compiler/secret", "compiler/words",
	},
	"compiler": {
		"compiler/blueprint", "compiler/blueprint/load", "compiler/diag", "compiler/ir", "compiler/lower",
		"compiler/progress", "compiler/rules",
	},

	"emit":      {},
	"emit/disk": {"emit"},
	"emit/handover": {
		"compiler/exports", "compiler/ir", "compiler/words", "emit", "emit/kubeyaml", "emit/markdown",
	},
	"emit/hostile":       {},
	"emit/losses":        {},
	"emit/markdown":      {"compiler/words"},
	"emit/page":          {"compiler/words", "emit/markdown"},
	"emit/mermaid":       {"compiler/words"},
	"emit/kubeyaml":      {"compiler/ir", "emit"},
	"emit/cloudbuild":    {"compiler/ir", "compiler/kinds", "compiler/words", "emit", "emit/losses"},
	"emit/monitoring":    {"compiler/ir", "compiler/kinds", "compiler/words"},
	"emit/dashboard":     {"compiler/ir", "compiler/words", "emit", "emit/kubeyaml", "emit/monitoring"},
	"emit/demonstration": {"compiler/ir", "compiler/words", "emit"},
	"emit/graph":         {"compiler/console", "compiler/ir", "compiler/words", "emit/mermaid"},
	"emit/gitops":        {"compiler/ir", "emit", "emit/kubeyaml", "emit/kueue", "emit/monitoring"},
	"emit/guide": {
		"compiler/ir", "compiler/words", "emit", "emit/graph", "emit/markdown", "emit/monitoring", "emit/page",
	},
	"emit/kai":   {"compiler/ir", "compiler/kinds", "emit/kubeyaml"},
	"emit/kueue": {"compiler/ir", "compiler/kinds", "emit/kubeyaml"},
	"emit/kubernetes": {
		"compiler/ir", "compiler/kinds", "emit", "emit/kai", "emit/kubeyaml", "emit/kueue", "emit/monitoring",
	},
	"emit/rehearsal":      {"compiler/ir", "emit", "emit/workload"},
	"emit/rehearsal/page": {"compiler/ir", "compiler/words", "emit/rehearsal", "emit/rehearsal/report"},
	"emit/rehearsal/report": {
		"compiler/console", "compiler/cost", "compiler/ir", "compiler/words", "emit/markdown", "emit/rehearsal",
	},
	"emit/rehearsal/standing": {
		"compiler/ir", "compiler/kinds", "compiler/words", "emit", "emit/rehearsal", "emit/rehearsal/report",
		"emit/workload",
	},
	"emit/terraform": {"compiler/ir", "compiler/kinds", "compiler/words", "emit", "emit/monitoring"},
	"emit/workload":  {"compiler/ir", "compiler/kinds", "emit", "emit/kubeyaml"},
	"emit/folder": {"compiler/ir", "emit", "emit/cloudbuild", "emit/dashboard", "emit/demonstration", "emit/disk",
		"emit/gitops", "emit/guide", "emit/kubernetes", "emit/terraform", "emit/workload"},

	"emit/review": {
		"compiler/console", "compiler/cost", "compiler/ir", "compiler/secret", "compiler/words", "emit",
		"emit/losses", "emit/markdown", "emit/rehearsal/report", "emit/review/delta", "emit/review/jobs",
		"emit/review/live", "emit/review/objects",
		"emit/review/summary",
	},
	"emit/review/delta": {},
	"emit/review/jobs":  {"compiler/ir", "compiler/kinds", "compiler/words", "emit/losses"},
	"emit/review/live": {
		"compiler/diag", "compiler/exports", "compiler/gke", "compiler/ir", "compiler/words", "emit",
		"emit/review/delta", "emit/review/objects",
	},
	"emit/review/objects": {
		"compiler/console", "compiler/gke", "compiler/ir", "compiler/words", "emit", "emit/losses",
		"emit/review/delta",
	},
	"emit/review/summary": {"compiler/ir", "compiler/words", "emit/monitoring", "emit/review/delta"},

	"compiler/editor": {
		"schema", "compiler/blueprint", "compiler/blueprint/load", "compiler/catalog", "compiler/diag",
		"compiler/explain", "compiler/rules",
	},
	"cmd/batchwright/lsp": {"compiler/blueprint/load", "compiler/diag", "compiler/editor"},

	"cmd/batchwright": {
		"blueprints", "cmd/batchwright/lsp", "compiler", "compiler/blueprint", "compiler/blueprint/load",
		"compiler/catalog", "compiler/console", "compiler/cost", "compiler/diag", "compiler/explain",
		"compiler/exports", "compiler/fit", "compiler/importer", "compiler/ir", "compiler/kinds", "compiler/progress",
		"compiler/trace/export", "compiler/words",
		"emit", "emit/disk", "emit/folder", "emit/graph", "emit/handover", "emit/mermaid", "emit/rehearsal",
		"emit/rehearsal/page", "emit/rehearsal/report", "emit/rehearsal/standing", "emit/review",
		"emit/review/delta", "emit/review/live", "emit/review/summary",
	},

	"docs/site": {}, // runs the program

	// The packages of golden that others import. The others hold only tests.
	"golden/check": {
		"compiler/catalog", "compiler/ir", "emit/kubeyaml", "emit/review/objects", "golden/fixture",
	},
	"golden/compile":  {"compiler", "compiler/diag", "emit", "emit/folder", "golden/fixture"},
	"golden/findings": {"compiler", "compiler/diag", "golden/fixture"},
	"golden/fixture":  {"emit"},
	"golden/generate": {"compiler/catalog", "emit/hostile"},
	"golden/options":  {},
	"golden/worlds": {
		"compiler", "compiler/diag", "compiler/exports", "compiler/importer", "emit/kubernetes",
	},
	"golden/scale":      {},
	"golden/cli":        {},
	"golden/documents":  {},
	"golden/exports":    {},
	"golden/folders":    {},
	"golden/guide":      {},
	"golden/jsonschema": {},
	"golden/lsp":        {},
	"golden/pulls":      {},
	"golden/references": {},
	"golden/review":     {},
	"golden/rooms":      {},
	"golden/workflows":  {},
}

// blind lists imports with which the output of an emitter, or the plan, could depend
// on something other than the blueprint.
var blind = []string{
	"os", "time", "math/rand", "math/rand/v2", "net", "net/http", "os/exec", "os/user", "runtime/debug",
}

// seeded are the emitters that draw random numbers. Their numbers follow from a seed of the
// blueprint.
var seeded = map[string]string{"emit/rehearsal": "math/rand/v2"}

// formats maps libraries of one format to the packages that may import them.
var formats = map[string][]string{
	"cuelang.org/go": {
		"compiler/blueprint", "compiler/blueprint/literal", "compiler/blueprint/load", "compiler/editor",
		"compiler/importer",
	},
	"github.com/hashicorp/hcl":  {"emit/review/objects", "emit/terraform", "golden/check"},
	"github.com/zclconf/go-cty": {"emit/review/objects", "emit/terraform", "golden/check"},
	"sigs.k8s.io/kueue": {
		"compiler/exports", "compiler/importer", "compiler/trace/export", "emit/kueue", "golden/check",
		"golden/worlds",
	},
	"sigs.k8s.io/json":   {"compiler/exports"},
	"sigs.k8s.io/jobset": {"golden/check"},
	"sigs.k8s.io/yaml":   {"emit/hostile", "golden/check", "golden/worlds"},
	"go.yaml.in/yaml": {
		"compiler/exports", "compiler/importer", "compiler/manifest", "emit/cloudbuild", "emit/guide", "emit/kubeyaml",
		"emit/review/objects",
	},
	"github.com/spf13/cobra":          {"cmd/batchwright"},
	"github.com/sourcegraph/jsonrpc2": {"cmd/batchwright/lsp"},
	"github.com/GoogleCloudPlatform/": {"emit/kubernetes", "emit/workload", "golden/check"},
	"k8s.io/api/": {
		"compiler/importer", "compiler/trace/export",
		"emit/dashboard", "emit/gitops", "emit/kai", "emit/kubernetes", "emit/kubeyaml", "emit/kueue", "emit/workload",
		"golden/check", "golden/worlds",
	},
	"k8s.io/apimachinery/pkg/apis/": {
		"compiler/importer", "compiler/trace/export",
		"emit/dashboard", "emit/gitops", "emit/kai", "emit/kubernetes", "emit/kubeyaml", "emit/kueue", "emit/workload",
		"golden/check", "golden/worlds",
	},
	"k8s.io/apimachinery/pkg/runtime": {
		"emit/kai", "emit/kubernetes", "emit/kubeyaml", "emit/kueue", "emit/workload", "golden/check",
	},
	"github.com/rogpeppe/go-internal/": {
		"cmd/batchwright", "compiler/explain", "emit/disk", "emit/review/objects", "golden/findings", "golden/fixture",
	},
}

func TestRooms(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = fixture.Root()
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
		emitter := name == "compiler/ir" || name == "emit" || strings.HasPrefix(name, "emit/") && name != "emit/disk"
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", name, own)
			}
			for format, allowed := range formats {
				if strings.HasPrefix(imported, format) && !slices.Contains(allowed, name) {
					t.Errorf("%s must not know %s", name, imported)
				}
			}
			if emitter && slices.Contains(blind, imported) && seeded[name] != imported {
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
