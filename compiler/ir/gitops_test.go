package ir

import (
	"strings"
	"testing"
)

// TestChooseGitOps checks that each GitOps tool gets its own argument, and that no tool
// and an unknown tool get none.
func TestChooseGitOps(t *testing.T) {
	for _, tool := range GitOpsTools() {
		if err := tool.Check(); err != nil {
			t.Error(err)
		}
		if got := ChooseGitOps(tool, ArgoCD, Flux, ConfigSync); got != tool {
			t.Errorf("%s gets the argument of %s", tool, got)
		}
		if f := tool.Facts(); f.Name == "" || f.Namespace == "" {
			t.Errorf("the facts of %s lack a name or a namespace", tool)
		}
	}
	for tool, problem := range map[GitOpsTool]string{"": "", "spinnaker": "unknown GitOps tool"} {
		if got := ChooseGitOps(tool, ArgoCD, Flux, ConfigSync); got != "" {
			t.Errorf("%q gets the argument of %s", tool, got)
		}
		err := tool.Check()
		if (err != nil) != (problem != "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("Check of %q returns %v", tool, err)
		}
	}
}

// TestJobSetController checks the name of JobSet's controller for each way to install it.
func TestJobSetController(t *testing.T) {
	for tool, want := range map[GitOpsTool]string{
		"": "jobset-controller-manager", ArgoCD: "jobset-controller", Flux: "jobset-controller",
		ConfigSync: "jobset-controller-manager",
	} {
		p := &Platform{Delivery: Delivery{GitOps: GitOps{Tool: tool}}}
		if got := p.JobSetController(); got != want {
			t.Errorf("%q: %s, want %s", tool, got, want)
		}
	}
}
