package rooms_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/golden/fixture"
)

// The tests of this file keep each kind of growth in one place: a machine family, a
// consumption option, a scheduler, a kind of jobs and a metric are rows of one table each,
// and no other code names them.

// TestFamiliesAreData checks that no code outside the catalogue contains the name of
// a machine family. A new family is a row of data.
func TestFamiliesAreData(t *testing.T) {
	quoted := regexp.MustCompile("\"(" + strings.Join(slices.Collect(maps.Keys(machineFamilies())), "|") + ")\"")
	for _, name := range sourceFiles(t) {
		if strings.HasPrefix(name, "compiler/catalog/") {
			continue
		}
		text, err := os.ReadFile(fixture.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range quoted.FindAllString(string(text), -1) {
			t.Errorf("%s knows the machine family %s", name, found)
		}
	}
}

// machineFamilies returns the names of all machine families.
func machineFamilies() map[string]bool {
	out := map[string]bool{}
	for _, m := range catalog.All() {
		out[m.Family] = true
	}
	return out
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
	"emit/monitoring/panels.go":         "explains the values of a label and a metric of GKE",
	"compiler/gke/node_pool.go":         "the arguments of node pools, of which some ask for an option",
	"compiler/importer/capacities.go":   "recognizes options in labels of nodes, and writes their fields",
	"compiler/importer/pools.go":        "recognizes options in the settings of node pools",
	"compiler/importer/queues.go":       "a queued option has an admission check",
	"compiler/importer/toolkit.go":      "recognizes options in the settings of Cluster Toolkit",

	"cmd/batchwright/catalog.go":       "an example in the help",
	"cmd/batchwright/catalog_print.go": "the names of fields in JSON",
	"cmd/batchwright/init.go":          "describes the reference systems",
}

// TestOptionsAreRows checks that only optionFiles name a consumption option: by its
// constant, by the name of a schema's field, or by its words in a text. Everything
// else about an option is a column of its row.
func TestOptionsAreRows(t *testing.T) {
	listed := maps.Clone(optionFiles)
	for _, name := range sourceFiles(t) {
		text, err := os.ReadFile(fixture.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		switch named := namedOptions(t, string(text)); {
		case len(named) > 0 && listed[name] == "":
			t.Errorf("%s names the consumption options %v", name, named)
		case len(named) > 0:
			delete(listed, name)
		}
	}
	for name := range listed {
		t.Errorf("%s names no consumption option: take it from the list", name)
	}
}

// optionFields are the fields of Go structs that stand for one consumption option, and
// that are no column of the table.
var optionFields = map[string]bool{
	"OnDemand": true, "Spot": true, "FlexStart": true, "Calendar": true,
}

// TestNamedOptions checks which code counts as naming a consumption option.
func TestNamedOptions(t *testing.T) {
	for code, want := range map[string]bool{
		`if c.Option == ir.Spot {}`:                 true,
		`if c.Option == facts.Spot {}`:              true,
		`if in := c.Consumption; in.Spot != nil {}`: true,
		`if m.Options.FlexStart != nil {}`:          true,
		`f := "flexStart"`:                          true,
		`f := "with flex start"`:                    true,
		`if c.Option.Facts().Preempted {}`:          false,
		`if c.Option.Facts().Queued {}`:             false,
		`s := diag.Spot{}`:                          false,
		`s := span.Spot("name")`:                    false,
		`s := "the name of a reservation"`:          false,
	} {
		imports := `import "` + module + `compiler/ir"`
		if strings.Contains(code, "facts.") {
			imports = `import facts "` + module + `compiler/ir"`
		}
		got := namedOptions(t, "package p\n"+imports+"\nfunc f() {\n"+code+"\n}")
		if (len(got) > 0) != want {
			t.Errorf("%s names %v, want some: %v", code, got, want)
		}
	}
}

// namedOptions returns what a Go source names consumption options by, sorted.
func namedOptions(t *testing.T, source string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	identifiers, texts := optionIdentifiers(t), optionWords()
	imported := "ir"
	for _, i := range file.Imports {
		if i.Path.Value == strconv.Quote(module+"compiler/ir") && i.Name != nil {
			imported = i.Name.Name
		}
	}
	found := map[string]bool{}
	compared := func(operands ...ast.Expr) { // in compiler/ir itself
		for _, operand := range operands {
			if name, ok := operand.(*ast.Ident); ok && identifiers[name.Name] {
				found[name.Name] = true
			}
		}
	}
	called := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[n.Fun] = true // such as the method Spot of a span
		case *ast.BinaryExpr:
			compared(n.X, n.Y)
		case *ast.CaseClause:
			compared(n.List...)
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			switch {
			case of != nil && of.Name == imported && identifiers[n.Sel.Name]:
				found["ir."+n.Sel.Name] = true
			case optionFields[n.Sel.Name] && (of == nil || of.Name != "diag") && !called[n]:
				found["."+n.Sel.Name] = true
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
	file, err := parser.ParseFile(token.NewFileSet(), fixture.Path("compiler/ir/options.go"), nil, 0)
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

// schedulerFiles are the files that may name a scheduler, each with its reason. All
// other code asks for the facts of the plan's scheduler, or calls ir.Choose.
var schedulerFiles = map[string]string{
	"compiler/ir/scheduler.go":           "defines the schedulers, their facts and ir.Choose",
	"compiler/rules/kai.go":              "rules only for KAI Scheduler, and the one on its priorities of queues",
	"compiler/rules/consumption.go":      "a rule's row names the schedulers that the rule does not hold for",
	"compiler/rules/existingclusters.go": "rows of rules name the schedulers that the rules hold for",
	"compiler/rules/idle.go":             "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/packing.go":          "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/quota.go":            "a rule's row names the schedulers that the rule does not hold for",
	"compiler/rules/existingnodes.go":    "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/cohorts.go":          "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/resources.go":        "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/sharing.go":          "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/nodelabels.go":       "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/tiers.go":            "rows of rules name the schedulers that the rules do not hold for",
	"compiler/rules/workloads.go":        "a rule's row names the schedulers that the rule does not hold for",
}

// TestSchedulersAreChosenOnce checks that only schedulerFiles name a scheduler, and
// that only ir.Choose compares schedulers in one of the usual ways; see
// TestSchedulerMentions.
func TestSchedulersAreChosenOnce(t *testing.T) {
	named := map[string]bool{}
	for _, name := range sourceFiles(t) {
		text, err := os.ReadFile(fixture.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		naming, comparing := schedulerMentions(string(text))
		if named[name] = len(naming)+len(comparing) > 0; named[name] && schedulerFiles[name] == "" {
			t.Errorf("%s names a scheduler: %q; ask for its facts, or call ir.Choose", name,
				append(naming, comparing...))
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

// TestGitOpsToolsAreChosenOnce checks that only compiler/ir/gitops.go names or compares a
// GitOps tool.
func TestGitOpsToolsAreChosenOnce(t *testing.T) {
	mentions := regexp.MustCompile(`\bir\.(ArgoCD|Flux|ConfigSync)\b|"(argocd|flux|configsync)"|` +
		`\.Tool *[=!]=|[=!]= *\w+\.Tool\b|\bswitch [^{]*\.Tool *\{`)
	for _, name := range sourceFiles(t) {
		text, err := os.ReadFile(fixture.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		// Argo CD's usual namespace has the name of the tool.
		found := mentions.FindAllString(strings.ReplaceAll(string(text), `Namespace: "argocd"`, ""), -1)
		if found != nil && name != "compiler/ir/gitops.go" {
			t.Errorf("%s names or compares a GitOps tool: %q; ask for its facts, or call ir.ChooseGitOps", name, found)
		}
	}
}

// kindRooms are the packages that may name a kind of jobs other than Job, each with its
// reason. Other packages read the rows of compiler/kinds.
var kindRooms = map[string]string{
	"compiler/kinds": "the table",
	"compiler/ir":    "the plan's fields on the versions of a kind's controller, and what pages ask",
	"schema":         "the fields of the blueprint on these versions",
	"emit/guide":     "pages for people",
	"emit/workload":  "builds the objects, from the types of their APIs",
	"rehearse/world": "reads the objects with Kueue's own types",
}

// TestKindsAreRows checks that only kindRooms name a kind of jobs, its API or its
// controller: in code, in texts and in comments.
func TestKindsAreRows(t *testing.T) {
	var words []string
	for _, k := range kinds.All() {
		if k.Name != kinds.Job {
			words = append(words, k.Name, k.Resource, regexp.QuoteMeta(k.Group))
		}
	}
	names, named := regexp.MustCompile("(?i)"+strings.Join(words, "|")), map[string]bool{}
	for _, name := range sourceFiles(t, "cmd", "compiler", "emit", "rehearse", "schema") {
		text, err := os.ReadFile(fixture.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		if found := names.FindString(string(text)); found != "" {
			room := path.Dir(name)
			if named[room] = true; kindRooms[room] == "" {
				t.Errorf("%s names %s: read a column of compiler/kinds", name, found)
			}
		}
	}
	for room := range kindRooms {
		if !named[room] {
			t.Errorf("%s names no kind of jobs: take it from the list", room)
		}
	}
}

// metricWords matches the name of a metric, and what only PromQL contains.
var metricWords = regexp.MustCompile(`\b(kueue|kai|kube|jobset|controller_runtime)_[a-z_]+|\bDCGM_\w+|` +
	`\b(kubernetes_io|\w+_googleapis_com):\w*|` +
	`\b(rate|increase|histogram_quantile|\w+_over_time|label_replace|absent|clamp_min|topk|bottomk)\(|` +
	`\b(sum|count|avg|min|max) ?(by \(|\([a-z_]+\{)|\bunless on\b|\boffset \d|` +
	`\b(replica_role|exported_namespace|cluster_name|modelName|monitored_resource)(=|!)`)

// notMetrics maps words that look like the name of a metric to what they are.
var notMetrics = map[string]string{
	"kube_account":        "the Terraform variable of a team's Kubernetes service account",
	"kueue_configuration": "the Terraform local of Kueue's ConfigMap",
}

// TestMetricsHaveOneRoom checks that no string outside emit/monitoring contains the
// name of a metric or PromQL. A new alert or panel is a row in that package.
func TestMetricsHaveOneRoom(t *testing.T) {
	inRoom, used := 0, map[string]bool{}
	for _, name := range sourceFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), fixture.Path(name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			for _, found := range metricWords.FindAllString(literal.Value, -1) {
				switch {
				case strings.HasPrefix(name, "emit/monitoring/"):
					inRoom++
				case notMetrics[found] != "":
					used[found] = true
				default:
					t.Errorf("%s knows of metrics: %s", name, found)
				}
			}
			return true
		})
	}
	if inRoom < 100 {
		t.Errorf("the expression finds only %d words in emit/monitoring", inRoom)
	}
	for word := range notMetrics {
		if !used[word] {
			t.Errorf("no file contains %s: take it from the list", word)
		}
	}
}

// sourceFiles returns the Go files of some folders, or of the program, without tests, by
// their paths in the repository.
func sourceFiles(t *testing.T, folders ...string) []string {
	t.Helper()
	if folders == nil {
		folders = []string{"cmd", "compiler", "emit", "schema"}
	}
	var out []string
	for _, room := range folders {
		err := filepath.WalkDir(fixture.Path(room), func(name string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				name, err = filepath.Rel(fixture.Root(), name)
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
