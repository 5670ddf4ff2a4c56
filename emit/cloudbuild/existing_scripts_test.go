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
		"  kubectl create clusterrolebinding research-build --clusterrole=cluster-admin " +
			"--user=gke-batch-build@my-project.",
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

// TestLeaveKeepsWhatOthersUse holds that the step leave deletes nothing in the namespaces
// of the controllers, and no namespace of which it does not know that nobody uses it.
func TestLeaveKeepsWhatOthersUse(t *testing.T) {
	p := existingPlatform()
	s := newSandbox(t, p)
	const answers = `case $call in
*'clusters list '*) echo RUNNING ;;
*'get customresourcedefinitions '*) echo found ;;
*'-l team'*) ;;
*'get namespaces '*) echo dashboards ;;
*' dashboards get pods'*) ANSWER ;;
esac`
	for answer, deleted := range map[string]int{"true": 1, "echo pod/a": 0, "exit 1": 0} {
		s.answer(strings.Replace(answers, "ANSWER", answer, 1))
		r := s.runStep(findStep(t, destroyBuild(p), "leave"))
		n := len(r.callsWith("kubectl delete namespaces dashboards "))
		if n != deleted || (r.code != 0) != (answer == "exit 1") {
			t.Errorf("%s: exit code %d, the namespace is deleted %d times, want %d\n%s", answer, r.code, n, deleted,
				r.output)
		}
		for _, call := range r.callsWith("kubectl delete ") {
			if strings.Contains(call, "configmaps") && !strings.Contains(call, "metadata.namespace") {
				t.Errorf("this also deletes the configuration of a controller: %s", call)
			}
		}
	}
}

// TestLeaveSaysWhatStays holds that the step leave ends with the objects that do not go.
func TestLeaveSaysWhatStays(t *testing.T) {
	p := existingPlatform()
	s := newSandbox(t, p)
	s.answer(`case $call in
*'clusters list '*) echo RUNNING ;;
*'get customresourcedefinitions '*) echo found ;;
*'get clusterqueues.kueue.x-k8s.io '*go-template*) echo 'ClusterQueue cq-a is there again: somebody creates it' ;;
*'get validatingwebhookconfigurations,'*)
  printf 'ValidatingWebhookConfiguration %s webhook\n' 'gone kueue-system' 'gone kueue-system' 'runs cert-manager'
  ;;
*'-n cert-manager get endpointslices '*) echo '["10.0.0.1"]' ;;
esac`)
	r := s.runStep(findStep(t, destroyBuild(p), "leave"))
	if r.code != 1 || strings.Count(r.output, "cq-a") != 2 || !strings.Contains(r.output,
		"These objects stay. Stop who creates them, or delete what uses them, then run destroy-platform.sh again:\n"+
			"ClusterQueue cq-a is there again: somebody creates it\n"+
			"ValidatingWebhookConfiguration gone refuses changes, because no pod of Service "+
			"kueue-system/webhook runs: start its controller, or delete the webhooks\n") ||
		strings.Count(r.output, "refuses changes") != 1 {
		t.Errorf("exit code %d\n%s", r.code, r.output)
	}
}
