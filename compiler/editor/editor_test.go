package editor

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/diag"
)

// base is the rest of the blueprint, in another file.
const base = `package platform

name: "small"
project: "my-project"
region: "us-central1"
zones: ["us-central1-a", "us-central1-b"]
hardware: {
	l4: machine: "g2-standard-24"
	slice: machine: "ct6e-standard-4t"
}
capacity: "l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 4}
capacity: "l4-held": {hardware: "l4", consumption: onDemand: {}, maxNodes: 4}
tiers: lp: {priority: 10, default: true, capacity: ["l4-spot"]}
tiers: hp: {priorities: {normal: 20, urgent: 30}, capacity: ["l4-spot", "l4-held"]}
cohorts: research: {}
teams: vision: {cohort: "research", quota: lp: "l4-spot": accelerators: 8}
`

func newEditor(t *testing.T) *Editor {
	t.Helper()
	e, err := New([]diag.Code{
		{ID: "E0101", Title: "unknown field"}, {ID: "W0203", Title: "unused definition", Acceptable: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// cut returns a source without the mark ◆ of the cursor, and the cursor's offset.
func cut(t *testing.T, source string) (string, int) {
	t.Helper()
	before, after, ok := strings.Cut(source, "◆")
	if !ok {
		t.Fatalf("no cursor in %s", source)
	}
	return before + after, len(before)
}

func (c Completion) labels() []string {
	var out []string
	for _, o := range c.Offers {
		out = append(out, o.Label)
	}
	return out
}

// TestComplete completes at a cursor. want are the first offers; with a "!" the offer
// must be absent.
func TestComplete(t *testing.T) {
	e := newEditor(t)
	for _, c := range []struct{ name, file, source, want string }{
		{"top level", "a.cue", "package platform\n\n◆", "name project region zones cluster"},
		{"top level, begun", "a.cue", "package platform\n\nclu◆\n\nteams: x: {}\n", "name cluster"},
		{"the cluster", "a.cue", "cluster: {\n\t◆\n}\n", "releaseChannel minVersion"},
		{"a cluster of others", "a.cue", "cluster: existing: {\n\t◆\n}\n", "name version location has kueue jobset"},
		{"features of a cluster of others", "a.cue", "cluster: existing: {name: \"x\", has: {◆}}\n",
			"dataplaneV2 workloadIdentity multiNetworking"},
		{"a location of a cluster of others", "b.cue", "cluster: existing: location: ◆\n",
			"us-central1 us-central1-a us-central1-b !us-east1-b"},
		{"one line", "a.cue", "cluster: maintenance: ◆\n", "days start hours"},
		{"an entity", "a.cue", "capacity: x: {\n\t◆\n}\n", "consumption hardware nodes"},
		{"an entity with some fields", "a.cue", "capacity: x: {\n\thardware: \"l4\"\n\t◆\n}\n",
			"consumption !hardware"},
		{"an entity in the middle", "a.cue", "capacity: {\n\tx: {\n\t\thardware: \"l4\"\n\t\tmax◆\n\t}\n\ty: {}\n}\n",
			"maxNodes"},
		{"an option", "a.cue", "capacity: x: {consumption: {◆}}\n", "onDemand spot reservation"},
		{"an option, chained", "a.cue", "capacity: x: consumption: fl◆\n", "flexStart"},
		{"fields of an option", "a.cue", "capacity: x: consumption: reservation: {name: \"x\", ◆}\n", "create project"},
		{"a name of hardware", "a.cue", "capacity: x: hardware: ◆\n", "l4 slice"},
		{"a name of hardware in quotes", "a.cue", "capacity: x: {\n\thardware: \"◆\"\n}\n", "l4 slice"},
		{"a name with an open quote", "a.cue", "capacity: x: {\n\thardware: \"l◆\n}\n", "l4 slice"},
		{"a member", "a.cue", "capacity: x: placement: ◆\n", "any compact"},
		{"a member behind a mark of a default", "a.cue", "capacity: x: placement: *\"c◆\" | string\n", "any compact"},
		{"a boolean", "a.cue", "teams: x: nodesListBucket: ◆\n", "true false"},
		{"a number or a word", "a.cue", "teams: x: quota: lp: \"l4-spot\": borrow: ◆\n", "all"},
		{"a list", "a.cue", "tiers: x: capacity: [\"l4-spot\", ◆]\n", "l4-spot l4-held"},
		{"a list of words", "a.cue", "teams: x: allow: [\"◆\"]\n", "csi ephemeral"},
		{"zones of the region", "b.cue", "zones: [◆]\n", "us-central1-a us-central1-b !us-east1-b"},
		{"zones of the platform", "a.cue", "capacity: x: zones: [\"◆\"]\n",
			"us-central1-a us-central1-b !us-central1-c"},
		{"a region", "a.cue", "delivery: region: \"◆\"\n", "us-central1"},
		{"a machine", "a.cue", "hardware: x: {machine: \"a3-◆\"}\n", "a3-highgpu-8g"},
		{"a machine for the system", "a.cue", "cluster: systemPool: machine: ◆\n", "e2-standard-4 !a3-highgpu-8g"},
		{"a topology", "a.cue", "hardware: slice: topology: ◆\n", "2x2 4x4"},
		{"names of teams", "a.cue", "teams: {\n\t◆\n}\n", "vision"},
		{"quota by tier", "a.cue", "teams: x: quota: {\n\t◆\n}\n", "lp hp"},
		{"quota by capacity", "a.cue", "teams: x: quota: hp: ◆\n", "l4-spot l4-held"},
		{"only the capacities of the tier", "a.cue", "teams: x: quota: lp: {\n\t\"◆\"\n}\n", "l4-spot !l4-held"},
		{"a quota", "a.cue", "teams: x: quota: lp: \"l4-spot\": {◆}\n", "accelerators cpus borrow"},
		{"a template of teams", "a.cue", "teams: [Team=string]: {\n\tgroup: \"\\(Team)@example.com\"\n\t◆\n}\n",
			"namespace cohort !group"},
		{"a shared queue", "a.cue", "tiers: hp: shared: quota: ◆\n", "l4-spot l4-held"},
		{"a workload", "a.cue", "workloads: x: {\n\ttier: \"hp\"\n\t◆\n", "perPod image !tier"},
		{"a tier of a workload", "a.cue", "workloads: x: {tier: \"◆\"}", "lp hp"},
		{"a priority", "a.cue", "workloads: x: {tier: \"hp\", priority: \"◆\"}", "normal urgent"},
		{"a capacity of a workload", "a.cue", "workloads: x: {tier: \"lp\", capacity: [\"◆\"]}", "l4-spot !l4-held"},
		{"resources of a pod", "a.cue", "workloads: x: {\n\ttier: \"lp\"\n\tperPod: {\n\t\t◆\n\t}\n}\n",
			"cpu memory accelerators"},
		{"a template", "a.cue", "_base: {\n\tperPod: {◆}\n}\nworkloads: x: _base & {tier: \"lp\"}\n",
			"cpu memory accelerators"},
		{"behind a template", "a.cue", "workloads: x: _base & {tier: \"lp\", ◆}\n", "perPod image"},
		{"an accepted code", "a.cue", "teams: x: accept: ◆\n", "W0203 !E0101"},
		{"an auxiliary", "a.cue", "workloads: x: auxiliary: logs: {◆}\n", "capacity cpu memory image"},
		{"in a comprehension", "a.cue", "teams: {for n in [\"a\", \"b\"] {(n): {◆}}}\n", "namespace cohort"},
		{"behind a field without a value", "a.cue", "capacity: x: {\n\thardware:\n\t◆\n}\n", "consumption nodes"},
		{"behind an open brace", "a.cue", "capacity: {\n\tx: {\n\t\thardware: \"l4\"\n\nteams: y: {\n\t◆\n}\n",
			"namespace cohort"},
		{"behind garbage", "a.cue", "tiers: = ]]\n}\nteams: y: {\n\t◆\n}\n", "namespace cohort"},
		{"in a comment", "a.cue", "cluster: {\n\t// the ◆\n}\n", ""},
		{"behind a value", "a.cue", "cluster: imageStreaming: true ◆\n", ""},
		{"behind a text", "a.cue", "capacity: x: hardware: \"l4\"◆\n", ""},
		{"behind an empty text", "a.cue", "capacity: x: hardware: \"\"◆\n", ""},
		{"behind a dot", "a.cue", "capacity: x: hardware: hardware.◆\n", ""},
		{"in an unknown field", "a.cue", "nonsense: {◆}\n", ""},
		{"in an expression of a text", "a.cue", "name: \"\\(◆)\"\n", ""},
		{"a JSON file", "a.json", "{\"capacity\": {\"x\": {\"hardware\": \"l4\", \"◆\"}}}", "consumption nodes"},

		{"YAML", "a.yaml", "name: x\n◆\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, at := cut(t, c.source)
			files := []File{{"base.cue", []byte(base)}, {c.file, []byte(source)}}
			if c.file == "b.cue" { // without the zones of the base
				files[0].Content = []byte(strings.Replace(base, "zones:", "// zones:", 1))
			}
			got := e.Complete(files, c.file, at)
			labels := got.labels()
			if c.want == "" && len(labels) > 0 {
				t.Fatalf("offers %q", labels)
			}
			if got.Start > at || got.End < at || got.End > len(source) {
				t.Errorf("the range %d to %d does not contain the cursor %d", got.Start, got.End, at)
			}
			last := -1
			for _, want := range strings.Fields(c.want) {
				absent := strings.HasPrefix(want, "!")
				i := slices.Index(labels, strings.TrimPrefix(want, "!"))
				if absent != (i < 0) || !absent && i <= last {
					t.Fatalf("offers %q, want %s", labels, c.want)
				}
				last = max(last, i)
			}
		})
	}
}

// TestCompleteSource applies the first offer with a prefix to the source.
func TestCompleteSource(t *testing.T) {
	e := newEditor(t)
	for _, c := range []struct{ file, source, label, want string }{
		{"a.cue", "capacity: x: {\n\thard◆\n}\n", "hardware", "capacity: x: {\n\thardware: \n}\n"},
		{"a.cue", "capacity: x: {\n\thard◆: \"l4\"\n}\n", "hardware", "capacity: x: {\n\thardware: \"l4\"\n}\n"},
		{"a.cue", "capacity: x: hardware: l◆\n", "l4", "capacity: x: hardware: \"l4\"\n"},
		{"a.cue", "capacity: x: hardware: \"l◆\"\n", "l4", "capacity: x: hardware: \"l4\"\n"},
		{"a.cue", "teams: x: quota: hp: l4◆\n", "l4-held", "teams: x: quota: hp: \"l4-held\": \n"},
		{"a.cue", "teams: x: quota: hp: {\n\tl4-h◆\n}\n", "l4-held", "teams: x: quota: hp: {\n\t\"l4-held\": \n}\n"},
		{"a.cue", "capacity: x: {hardware: l4-◆}\n", "l4", "capacity: x: {hardware: \"l4\"}\n"},
		{"a.cue", "teams: x: nodesListBucket: t◆\n", "true", "teams: x: nodesListBucket: true\n"},
		{"a.json", "{\"capacity\": {\"x\": {\"hard◆\": \"l4\"}}}", "hardware",
			"{\"capacity\": {\"x\": {\"hardware\": \"l4\"}}}"},
	} {
		source, at := cut(t, c.source)
		got := e.Complete([]File{{"base.cue", []byte(base)}, {c.file, []byte(source)}}, c.file, at)
		i := slices.Index(got.labels(), c.label)
		if i < 0 {
			t.Errorf("%s: offers %q, want %s", c.source, got.labels(), c.label)
			continue
		}
		if out := source[:got.Start] + got.Offers[i].Insert + source[got.End:]; out != c.want {
			t.Errorf("%s becomes %q, want %q", c.source, out, c.want)
		}
	}
}

// TestNamings checks that the tables name fields of the schema.
func TestNamings(t *testing.T) {
	e := newEditor(t)
	for _, n := range slices.Concat(namedValues(), namedKeys()) {
		path := strings.Split(strings.NewReplacer("[]", ".[0]", "*", "x").Replace(n.field), ".")
		if _, err := e.schema.Describe(path); err != nil {
			t.Error(err)
		}
		if !slices.Contains(entityFields(), n.kind) {
			t.Errorf("%s names entities of %s", n.field, n.kind)
		}
	}
	for _, name := range entityFields() {
		if _, err := e.schema.Describe([]string{name}); err != nil {
			t.Error(err)
		}
	}
}

// TestDefinition goes to the definition of the name at a cursor.
func TestDefinition(t *testing.T) {
	e := newEditor(t)
	for _, c := range []struct{ file, source, want string }{
		{"a.cue", "capacity: x: hardware: \"l◆4\"\n", "base.cue:l4: machine"},
		{"a.cue", "workloads: x: tier: \"h◆p\"\n", "base.cue:hp: {priorities"},
		{"a.cue", "workloads: x: {tier: \"hp\", priority: \"urgent◆\"}\n", "base.cue:urgent: 30"},
		{"a.cue", "tiers: x: capacity: [\"l4-◆held\"]\n", "base.cue:\"l4-held\": {"},
		{"a.cue", "teams: x: cohort: \"◆research\"\n", "base.cue:research: {}"},
		{"a.cue", "teams: x: quota: l◆p: \"l4-spot\": accelerators: 1\n", "base.cue:lp: {priority"},
		{"a.cue", "teams: x: quota: lp: \"l4-◆spot\": accelerators: 1\n", "base.cue:\"l4-spot\": {"},
		{"a.cue", "_small: cpu: 1\nworkloads: x: perPod: _sm◆all\n", "a.cue:_small: cpu"},
		{"a.cue", "workloads: x: teams: [\"vis◆ion\"]\n", "base.cue:vision: {"},
		{"a.cue", "demonstration: [{teams: [\"vis◆ion\"]}]\n", "base.cue:vision: {"},
		{"a.cue", "demonstration: [{expect: queues: l◆p: {}}]\n", "base.cue:lp: {priority"},
		{"a.cue", "rehearsals: x: arrivals: [{teams: [\"vis◆ion\"]}]\n", "base.cue:vision: {"},
		{"a.cue", "rehearsals: x: expect: [{tier: \"l◆p\"}]\n", "base.cue:lp: {priority"},
		{"a.cue", "rehearsals: x: nodes: \"l4-◆spot\": []\n", "base.cue:\"l4-spot\": {"},
		{"a.cue", "capacity: x: placement: \"com◆pact\"\n", ""},
		{"a.cue", "◆\n", ""},
	} {
		source, at := cut(t, c.source)
		files := []File{{"base.cue", []byte(base)}, {c.file, []byte(source)}}
		got := e.Definition(files, c.file, at)
		if c.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", c.source, got)
			}
			continue
		}
		if len(got) == 0 {
			t.Errorf("%s: no definition", c.source)
			continue
		}
		content := base
		if got[0].File == c.file {
			content = source
		}
		if at := got[0].File + ":" + content[got[0].Start:]; !strings.HasPrefix(at, c.want) {
			t.Errorf("%s: the definition is %.40q, want %q", c.source, at, c.want)
		}
	}
}

// TestHover shows what a field, a machine and a code mean.
func TestHover(t *testing.T) {
	e := newEditor(t)
	for _, c := range []struct{ source, want string }{
		{"capacity: x: { place◆ment: \"any\" }\n", "**capacity.x.placement**: one of \"any\", \"compact\""},
		{"capacity: x: { place◆ment: \"any\" }\n", "The default is \"any\"."},
		{"capacity: x: { placement: \"◆any\" }\n", "Placement of nodes"},
		{"hardware: x: machine: \"g2-◆standard-24\"\n", "**g2-standard-24**: 24 vCPUs, 96 GiB, 2 nvidia-l4"},
		{"teams: x: accept: W02◆03: \"later\"\n", "**W0203**: unused definition"},
		{"workloads: x: perPod: c◆pu: 1\n", "It is required."},
		{"teams: ◆\"*_*\": {}\n", `**teams.\*\_\***`},
		{"nonsense: ◆1\n", ""},
	} {
		source, at := cut(t, c.source)
		got, ok := e.Hover([]File{{"a.cue", []byte(source)}}, "a.cue", at)
		if ok != (c.want != "") || !strings.Contains(got.Markdown, c.want) {
			t.Errorf("%s: %q, want %q", c.source, got.Markdown, c.want)
		}
	}
}

// TestSymbols prints the outline of a file.
func TestSymbols(t *testing.T) {
	var print func(symbols []*Symbol, indent string) string
	print = func(symbols []*Symbol, indent string) string {
		out := ""
		for _, s := range symbols {
			if s.Start > s.NameStart || s.End < s.NameEnd {
				t.Errorf("%s: the field %d to %d is not around its name", s.Name, s.Start, s.End)
			}
			for _, f := range s.Fields {
				if f.Start < s.Start || f.End > s.End {
					t.Errorf("%s.%s is not in its field", s.Name, f.Name)
				}
			}
			out += fmt.Sprintf("%s%s %v\n", indent, s.Name, s.Entity) + print(s.Fields, indent+" ")
		}
		return out
	}
	want := "name false\ntiers false\n lp true\n  priority false\n  capacity false\n hp true\n  priority false\n"
	for name, source := range map[string]string{
		"a.cue":  "package p\n\nname: \"x\"\ntiers: {\n\tlp: {priority: 1, capacity: [\"x\"]}\n\thp: priority: 2\n}\n",
		"a.json": `{"name": "x", "tiers": {"lp": {"priority": 1, "capacity": ["x"]}, "hp": {"priority": 2}}}`,
	} {
		if got := print(Symbols(File{name, []byte(source)}), ""); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestIsBlueprint distinguishes blueprints from files of other tools.
func TestIsBlueprint(t *testing.T) {
	for _, c := range []struct {
		file, source string
		want         bool
	}{
		{"a.cue", base, true},
		{"a.cue", "package a\n\nimport \"github.com/batchwright/batchwright/schema\"\n", true},
		{"a.yaml", "region: x\nhardware:\n", true},
		{"a.json", `{"region": "x", "teams": {}}`, true},
		{"a.yaml", "region: x\nzones: [y]\ncluster: z\n", false},
		{"a.yaml", "kind: Team\nspec: {teams: 1, region: 2}\n", false},
		{"a.json", `{"name": "x", "workloads": []}`, false},
		{"a.cue", "package a\n\nteams: 1\n", false},
		{"a.cue", "", false},
	} {
		if got := IsBlueprint([]File{{c.file, []byte(c.source)}}); got != c.want {
			t.Errorf("%s %q: %v", c.file, c.source, got)
		}
	}
}

// TestAccept accepts a finding in a file.
func TestAccept(t *testing.T) {
	e := newEditor(t)
	for _, c := range []struct{ file, source, path, want string }{
		{"a.cue", "teams: x: {\n\t// who\n\tgroup: 1\n}\n", "teams.x.quota.lp",
			"teams: x: {\n\t// who\n\taccept: W0203: \"\"\n\tgroup: 1\n}\n"},
		{"a.cue", "teams: \"x-y\": {group: 1}", "teams.x-y",
			"teams: \"x-y\": {group: 1}\nteams: \"x-y\": accept: W0203: \"\"\n"},
		{"a.cue", "zones: []\n", "zones[0]", "zones: []\naccept: W0203: \"\"\n"},
		{"a.cue", "cluster: {\n\tminVersion: 1\n}\n", "cluster.minVersion",
			"cluster: {\n\taccept: W0203: \"\"\n\tminVersion: 1\n}\n"},
		{"a.yaml", "teams:\n  x:\n    group: 1\n", "teams.x", ""},
		{"a.json", "{\n  \"teams\": {}\n}\n", "teams.x", ""},
	} {
		got, ok := e.Accept(File{c.file, []byte(c.source)}, "W0203", c.path)
		if ok != (c.want != "") || ok && c.source[:got.At]+got.Text+c.source[got.At:] != c.want {
			t.Errorf("%s: %+v, want %q", c.source, got, c.want)
		}
	}
	if _, ok := e.Accept(File{"a.cue", nil}, "E0101", "teams.x"); ok {
		t.Error("a finding that cannot be accepted is accepted")
	}
}

// TestDeepNesting asks about files that nest without end. Answers need little memory,
// because every place below mostDepth is silent.
func TestDeepNesting(t *testing.T) {
	if testing.Short() {
		t.Skip("completes in very deep blueprints")
	}
	e := newEditor(t)
	const depth = 10_000
	const most = 1000 // MiB; paths of full length would need several times as much
	for _, c := range []struct{ file, before, open, middle, shut string }{
		{"a.cue", "x: ", "[", "1", "]"},
		{"a.cue", "x: ", "{a: ", "1", "}"},
		{"a.cue", "", "a: ", "1", ""},
		{"a.cue", "", "a: {\n", "b: c: 1", "\n}"},
		{"a.cue", "x: ", "(", "1", ")"},
		{"a.cue", "x: ", "{[string]: ", "1", "}"},
		{"a.cue", "x: ", `"\(`, "1", `)"`},
		{"a.cue", "x: ", "[", "", ""},
		{"a.cue", "x: ", "]", "", ""},
		{"a.cue", "x: ", "[for y in ", "[]", "{y}]"},
		{"a.cue", "x: {", "if true {", "", "}"},
		{"a.cue", "x: 1 ", "@a(", "", ")"},
		{"a.json", "{\"x\": ", `{"a":`, "1", "}"},
	} {
		source := c.before + strings.Repeat(c.open, depth) + c.middle + strings.Repeat(c.shut, depth) +
			"\nteams: t: quota: {}\n"
		files := []File{{c.file, []byte(source)}}
		at := len(c.before) + depth*len(c.open)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e.Complete(files, c.file, at)
		e.Hover(files, c.file, at)
		e.Definition(files, c.file, at)
		Symbols(files[0])
		IsBlueprint(files)
		e.Accept(files[0], "W0203", "teams.t")
		runtime.ReadMemStats(&after)
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		if used > most {
			t.Errorf("%s: %q and so on takes %d MiB, want at most %d", c.file, c.open, used, most)
		}
		for _, m := range readMarks(files[0]) {
			if len(m.path) > mostDepth+1 {
				t.Errorf("%s: %q and so on has a path of %d names", c.file, c.open, len(m.path))
				break
			}
		}
	}
}

// FuzzAnswers asks at every kind of place in files that need not be valid.
func FuzzAnswers(f *testing.F) {
	f.Add("a.cue", base, 30)
	f.Add("a.cue", "a: \"\\(b\\(\"", 5)
	f.Add("a.cue", "x: [{a: (b}])\n}}}", 9)
	f.Add("a.yaml", "a:\n- b: {c: [\"d\n- - e: |\n x\n'", 12)
	f.Add("a.json", `{"capacity": {"x": {"hardware": "`, 32)
	e, err := New(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, source string, at int) {
		if len(source) > 4<<10 {
			t.Skip("a file of more than 4 KiB only takes CUE longer")
		}
		file := File{name, []byte(source)}
		at = max(0, min(at, len(source)))
		if c := e.Complete([]File{file}, name, at); c.Start < 0 || c.End > len(source) || c.Start > c.End {
			t.Errorf("the range is %d to %d", c.Start, c.End)
		}
		e.Hover([]File{file}, name, at)
		e.Definition([]File{file}, name, at)
		Symbols(file)
		IsBlueprint([]File{file})
	})
}
