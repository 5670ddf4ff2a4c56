package golden_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit"
)

// TestRemoveTeam removes a team from the batch platform. Exactly the team's files
// must disappear, and in other files only lines that name or count the team may
// change.
func TestRemoveTeam(t *testing.T) {
	before := compileFolder(t, root+"/blueprints/batch-platform")
	dir := t.TempDir()
	for name, content := range editBatchPlatform(t, "\t\"team-d\": cohort: \"team-c-d\"\n", "") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	after := map[string]emit.File{}
	tree, _ := compileBlueprint(t, dir) // the last team of its cohort has nobody from whom to borrow
	for _, f := range tree {
		after[f.Path] = f
	}

	// The numbers that count all teams: the totals in the guide.
	counted := regexp.MustCompile(`^\| .*(nvidia\.com/gpu|GPUs|vCPUs|GB|16 \||members in the project|service ` +
		`accounts \|).*\|$|^The platform is in |^The nodes that|4 teams|GiB|^The jobs of .* act as`)
	for _, old := range before {
		own := strings.Contains(old.Path, "team-d")
		f, still := after[old.Path]
		delete(after, old.Path)
		if own == still {
			t.Errorf("%s: is team-d's: %v, is still there: %v", old.Path, own, still)
		}
		if own || old.Path == emit.ManifestPath {
			continue
		}
		kept := strings.Split(string(f.Content), "\n")
		now := lineSet(kept)
		was := lineSet(strings.Split(string(old.Content), "\n"))
		for _, line := range strings.Split(string(old.Content), "\n") {
			if !now[line] && !strings.Contains(strings.ReplaceAll(line, "_", "-"), "team-d") &&
				!(strings.HasSuffix(old.Path, ".md") && counted.MatchString(line)) {
				t.Errorf("%s lost the line %q", old.Path, line)
			}
		}
		for _, line := range kept {
			if !was[line] && !(strings.HasSuffix(old.Path, ".md") && counted.MatchString(line)) {
				t.Errorf("%s has the new line %q", old.Path, line)
			}
		}
	}
	for path := range after {
		t.Errorf("%s is new", path)
	}
}

func lineSet(lines []string) map[string]bool {
	out := map[string]bool{}
	for _, l := range slices.Compact(lines) {
		out[l] = true
	}
	return out
}
