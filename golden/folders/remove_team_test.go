package folders_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestRemoveTeam removes a team from the batch platform. Exactly the team's files
// must disappear, and in other files only lines that name or count the team may
// change.
func TestRemoveTeam(t *testing.T) {
	// Without the demonstration: its numbers count the jobs of all teams.
	compileEdited := func(old, edited string) emit.Tree {
		dir := t.TempDir()
		for name, content := range fixture.EditBatchPlatform(t, old, edited) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree, _ := compile.Blueprint(t, dir) // the last team of its cohort has nobody from whom to borrow
		return tree
	}
	before := compileEdited("", "")
	after := map[string]emit.File{}
	for _, f := range compileEdited("\t\"team-d\": cohort: \"team-c-d\"\n", "") {
		after[f.Path] = f
	}

	// The numbers that count all teams: the totals in the guide.
	counted := regexp.MustCompile(`^\| .*(nvidia\.com/gpu|GPUs|vCPUs|GB|16 \||principals in the project|service ` +
		`accounts \|).*\|$|^ *queue_cq_team_c_.*of team-c<br>|^The platform is in |` +
		`^The nodes that|^The blueprint gives teams |4 teams|GiB|^The jobs of .* act as`)
	lends := regexp.MustCompile(`^ +(lq-team-c-|requests\.nvidia\.com/gpu: )`)
	isCounted := func(path, line string) bool {
		// The limit of memory is the sum of all guarantees.
		return strings.HasSuffix(path, ".md") && counted.MatchString(line) ||
			path == "terraform/cluster.tf" && strings.Contains(line, " maximum ") ||
			// What a team can get includes what the other teams of its cohort lend.
			path == "kubernetes/teams/team-c.yaml" && lends.MatchString(line)
	}
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
				!isCounted(old.Path, line) {
				t.Errorf("%s lost the line %q", old.Path, line)
			}
		}
		for _, line := range kept {
			if !was[line] && !isCounted(old.Path, line) {
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
