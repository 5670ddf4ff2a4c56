package pictures

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// references are the reference systems: the directories of their blueprints, by name.
var references = map[string][]string{
	"a3-ultra-flex":      {"a3-ultra-flex"},
	"batch-platform":     {"batch-platform"},
	"batch-platform-dws": {"batch-platform", "batch-platform-dws"},
	"kai-departments":    {"kai-departments"},
	"tpu-training":       {"tpu-training"},
}

// sizes are the numbers of teams of the other platforms. The last has only the plain variant:
// a picture of 400 teams takes as long as all smaller ones.
var sizes = []int{4, 12, 13, 40, 400}

// The variants of these platforms: cohorts inside a cohort, a queue that all teams
// share, names as long as the schema allows, and teams that differ.
var variants = []string{"plain", "nested", "shared", "long", "mixed"}

// The names of teams and cohorts in a variant.
func teamName(i int, variant string) string {
	if variant == "long" {
		return fmt.Sprintf("a-team-of-a-long-name-%03d", i)
	}
	return fmt.Sprintf("team-%03d", i)
}

func cohortName(i int, variant string) string {
	if variant == "long" {
		return fmt.Sprintf("a-cohort-whose-name-is-as-long-as-the-schema-allows-it-%08d", i)
	}
	return fmt.Sprintf("cohort-%03d", i)
}

// platform returns a blueprint of a number of teams.
func platform(teams int, variant string) string {
	var b strings.Builder
	b.WriteString(`package platform

name:    "many"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]
hardware: l4: machine: "g2-standard-24"
capacity: {
	"l4-reserved": {hardware: "l4", consumption: reservation: name: "ours", nodes: 40}
	"l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 80}
	[_]: accept: E0602: "a picture shows quotas, whether there are nodes or not"
}
tiers: {
	train: {priority: 20, capacity: ["l4-reserved", "l4-spot"]}
	batch: {priority: 10, default: true, capacity: ["l4-spot"]}
`)
	if variant == "shared" {
		var sharing []string
		for i := range teams {
			sharing = append(sharing, fmt.Sprintf("%q", teamName(i, variant)))
		}
		fmt.Fprintf(&b, "\tcommon: {priority: 15, capacity: [\"l4-spot\"], shared: {teams: [%s], quota: \"l4-spot\": "+
			"accelerators: 8}}\n", strings.Join(sharing, ", "))
	}
	b.WriteString("}\n")
	if variant == "nested" {
		b.WriteString("cohorts: research: {}\n")
	}
	for i := range (teams + 1) / 2 {
		parent := ""
		if variant == "nested" {
			parent = `parent: "research"`
		}
		fmt.Fprintf(&b, "cohorts: %q: {%s}\n", cohortName(i, variant), parent)
	}
	for i := range teams {
		quota := 4
		tiers := `batch: "l4-spot": {accelerators: %[3]d, borrow: 2}, train: "l4-reserved": accelerators: 4`
		if variant == "mixed" {
			quota = 2 * (1 + i%7)
			if i%3 == 0 {
				tiers = `batch: "l4-spot": accelerators: %[3]d`
			}
		}
		fmt.Fprintf(&b, "teams: %q: {cohort: %q, quota: {"+tiers+"}}\n", teamName(i, variant),
			cohortName(i/2, variant), quota)
	}
	return b.String()
}

// picture is a picture that batchwright draws.
type picture struct {
	name, source string
	many         bool // it shows a platform of many teams
}

// allPictures returns every picture that batchwright draws of the references and of
// the other platforms: in README.md, and with "graph" and "graph --full".
func allPictures(t *testing.T) []picture {
	t.Helper()
	dir := t.TempDir()
	batchwright := filepath.Join(dir, "batchwright")
	build := exec.Command("go", "build", "-o", batchwright, "./cmd/batchwright")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var all []picture
	many := false
	draw := func(name string, paths ...string) {
		for _, command := range [][]string{{"graph"}, {"graph", "--full"}} {
			cmd := exec.Command(batchwright, append(slices.Clone(command), paths...)...)
			var findings strings.Builder
			cmd.Stderr = &findings
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s of %s: %v\n%s", strings.Join(command, " "), name, err, &findings)
			}
			all = append(all, picture{name + ", " + strings.Join(command, " "), string(out), many})
		}
	}
	read := func(name, folder string) {
		readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(readme), "```mermaid\n")
		source, _, closed := strings.Cut(rest, "```\n")
		if !found || !closed {
			t.Fatalf("README.md of %s has no picture", name)
		}
		all = append(all, picture{name + ", README.md", source, many})
	}
	for _, name := range slices.Sorted(maps.Keys(references)) {
		var paths []string
		for _, p := range references[name] {
			paths = append(paths, filepath.Join(root, "blueprints", p))
		}
		if len(paths) > 1 { // a blueprint and an overlay on it are one package
			paths = append(globFiles(t, paths[:len(paths)-1]), paths[len(paths)-1])
		}
		draw(name, paths...)
		read(name, filepath.Join(root, "golden", name))
	}
	for _, variant := range variants {
		for _, teams := range sizes {
			if teams == 400 && variant != "plain" {
				continue
			}
			many = teams > 13
			name := fmt.Sprintf("%d teams, %s", teams, variant)
			blueprint := filepath.Join(dir, fmt.Sprintf("%s-%d", variant, teams))
			if err := os.Mkdir(blueprint, 0o755); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(blueprint, "platform.cue")
			if err := os.WriteFile(file, []byte(platform(teams, variant)), 0o644); err != nil {
				t.Fatal(err)
			}
			draw(name, file)
			folder := filepath.Join(blueprint, "folder")
			if out, err := exec.Command(batchwright, "compile", "-o", folder, file).CombinedOutput(); err != nil {
				t.Fatalf("compile %s: %v\n%s", name, err, out)
			}
			read(name, folder)
		}
	}
	return all
}

// globFiles returns the CUE files of directories.
func globFiles(t *testing.T, dirs []string) []string {
	t.Helper()
	var files []string
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, "*.cue"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no CUE files: %v", dir, err)
		}
		files = append(files, found...)
	}
	return files
}

// smallest is the least height of a line of text in a picture that batchwright folds,
// in pixels on a page of GitHub, which shrinks a picture to the width of the page.
const smallest = 12

// highest is the greatest height of such a picture, in pixels.
const highest = 3000

// TestPictures checks that each release of Mermaid draws every picture, and that the
// drawing shows all that the picture declares. It draws platforms with many teams, which
// take most of the time, only in the light theme: a theme changes colors, not places, and
// large and small platforms have the same colors.
func TestPictures(t *testing.T) {
	browser := findBrowser(t)
	every := allPictures(t)
	for _, r := range releases {
		for _, theme := range []string{"light", "dark"} {
			t.Run(r.version+" "+theme, func(t *testing.T) {
				var all []picture
				var sources []string
				for _, p := range every {
					if theme == "light" || !p.many {
						all, sources = append(all, p), append(sources, p.source)
					}
				}
				for i, m := range drawAll(t, browser, r, theme, sources) {
					for _, problem := range check(sources[i], m, theme == "dark") {
						t.Errorf("%s: %s", all[i].name, problem)
					}
					if strings.HasSuffix(all[i].name, "--full") {
						continue // it is as large as the reader asked for
					}
					if height := m.Size.Bottom - m.Size.Top; height > highest {
						t.Errorf("%s: it is %.0f pixels high", all[i].name, height)
					}
					for _, n := range m.Nodes {
						if h := n.Label.Box.Bottom - n.Label.Box.Top; h < smallest {
							t.Errorf("%s: a label of %s is %.0f pixels high", all[i].name, n.ID, h)
						}
					}
				}
			})
		}
	}
}

// TestMistakes checks that the measurements of a browser show the mistakes that a
// picture can have.
func TestMistakes(t *testing.T) {
	browser := findBrowser(t)
	const node = "[\"a box of some width\"]\n"
	for _, test := range []struct {
		name, source, want string
	}{
		{"no Mermaid", "flowchart LR\n  a --> \n", "Mermaid refuses it"},
		{"too many arrows", "flowchart LR\n  a[\"a\"]\n" + strings.Repeat("  a --> a\n", 501), "Mermaid refuses it"},
		{"too much text", "flowchart LR\n  a[\"" + strings.Repeat("text ", 10_001) + "\"]\n", ""},
		{"frame in a frame", "flowchart LR\n  subgraph o[\"the outer frame<br>of two lines\"]\n" +
			"    subgraph i[\"inner\"]\n      a" + node + "    end\n  end\n", "frame"},
		{"title of two lines", "flowchart LR\n  subgraph o[\"a frame<br>with a title<br>of three lines\"]\n" +
			"    a" + node + "  end\n", "hides the title of o"},
		{"colors of the theme", "flowchart LR\n  a" + node, "the text in box a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := drawAll(t, browser, releases[1], "light", []string{test.source})[0]
			problems := strings.Join(check(test.source, m, false), "\n")
			if problems == "" || !strings.Contains(problems, test.want) {
				t.Errorf("the problems are %q, want %q", problems, test.want)
			}
		})
	}
}

// TestDocuments checks that each release of Mermaid draws the pictures in the documentation,
// and that their texts fit into the boxes.
func TestDocuments(t *testing.T) {
	browser := findBrowser(t)
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names, sources []string
	for _, document := range append(documents, filepath.Join(root, "README.md")) {
		content, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(content), "```mermaid\n")[1:] {
			source, _, _ := strings.Cut(block, "```")
			names, sources = append(names, document), append(sources, source)
		}
	}
	for _, r := range releases {
		for i, m := range drawAll(t, browser, r, "light", sources) {
			wide := func(n shape) bool { return !n.Box.contains(n.Label.Box) }
			if m.Error != "" || len(m.Nodes) == 0 || slices.ContainsFunc(m.Nodes, wide) {
				t.Errorf("%s: Mermaid %s draws %d boxes: %s", names[i], r.version, len(m.Nodes), m.Error)
			}
		}
	}
}
