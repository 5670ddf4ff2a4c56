package cloudbuild

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestScriptsOfExistingCluster holds what the scripts say in a cluster of others: who gives
// the build its rights there and revokes them, and what goes and stays at the end.
func TestScriptsOfExistingCluster(t *testing.T) {
	p := existingPlatform()
	p.Teams = []ir.Team{{
		Name: "a", Namespace: "team-a", KubeAccount: "a-ksa", Account: &ir.TeamAccount{ID: "research-a", Display: "a"},
	}}
	s := newSandbox(t, p)
	s.answer(`if [[ $call == *"describe research-a@"* ]]; then echo a; fi` + prepared)
	r := s.runScript("create-platform.sh", "", "--prepare")
	for _, want := range []string{
		"  kubectl create clusterrolebinding research-build --clusterrole=cluster-admin --user=gke-batch-build@my-project.",
		"\nRun these commands to let the teams' jobs act as their service accounts:\n",
	} {
		if r.code != 0 || !strings.Contains(r.output, want) {
			t.Errorf("--prepare: exit code %d, want %q\n%s", r.code, want, r.output)
		}
	}
	if len(r.callsWith("kubectl")) > 0 {
		t.Errorf("--prepare calls %q: the owner of the cluster runs kubectl", r.calls)
	}

	r = s.runScript("destroy-platform.sh", "research\n")
	for _, want := range []string{
		"This removes the platform research from cluster prod of project my-project: ",
		"\n  kubectl delete clusterrolebindings research-build\n", "\nThese APIs stay enabled, ",
	} {
		if r.code != 0 || !strings.Contains(r.output, want) {
			t.Errorf("destroy-platform.sh: exit code %d, want %q\n%s", r.code, want, r.output)
		}
	}
	if strings.Contains(r.output, "services disable") {
		t.Errorf("destroy-platform.sh offers to disable what the cluster needs\n%s", r.output)
	}

	help := s.runScript("destroy-platform.sh", "", "--help").output
	if strings.Contains(help, "uninstalls") || strings.Contains(help, "# ") {
		t.Errorf("--help with Kueue and JobSet of others:\n%s", help)
	}
	own := existingPlatform()
	own.Cluster.Existing.Kueue = nil
	help = newSandbox(t, own).runScript("destroy-platform.sh", "", "--help").output
	if !strings.Contains(help, "Then it uninstalls Kueue, unless others use it.\n") {
		t.Errorf("--help with Kueue of the platform:\n%s", help)
	}

	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed") // .ci/run installs it
	}
	paths := []string{filepath.Join(s.folder, "create-platform.sh"), filepath.Join(s.folder, "destroy-platform.sh")}
	if out, err := exec.Command("shellcheck", slices.Insert(paths, 0, "--norc")...).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
