package kubernetes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// kaiPlan is plan with KAI Scheduler, a class of its own and one of the
// platform's.
func kaiPlan() *ir.Platform {
	p := testPlan()
	p.Scheduler = ir.KAI
	p.PriorityClasses = []ir.PriorityClass{
		{Name: "low", Value: 10, Preempts: true, Note: "tier gpu"},
		{Name: "train", Value: 50, Preempts: true, Note: "tier gpu", BuiltIn: true},
	}
	for i := range p.Teams {
		t := &p.Teams[i]
		t.Queues = []ir.Queue{
			{Tier: "gpu", Classes: []string{"low", "train"}, ClusterQueue: t.Name, LocalQueue: t.Name},
		}
	}
	return p
}

// TestNothingOfKueueWithKAI: what is of one scheduler means nothing to the other.
func TestNothingOfKueueWithKAI(t *testing.T) {
	files := renderFiles(t, kaiPlan())
	want := []string{
		"kubernetes/cohorts.yaml", "kubernetes/kustomization.yaml",
		"kubernetes/monitoring/jobset.yaml", "kubernetes/monitoring/kai-scheduler-default.yaml",
		"kubernetes/monitoring/kustomization.yaml", "kubernetes/monitoring/queue-controller.yaml",
		"kubernetes/priority-classes.yaml",
		"kubernetes/system/admission-policies.yaml",
		"kubernetes/system/job-submitter.yaml", "kubernetes/teams/team-a.yaml", "kubernetes/teams/team-b.yaml",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for path, content := range files {
		if strings.Contains(strings.ToLower(content), "kueue") {
			t.Errorf("%s speaks of Kueue:\n%s", path, content)
		}
	}
	if got := files["kubernetes/priority-classes.yaml"]; strings.Contains(got, "train") ||
		!strings.Contains(got, "name: low") {
		t.Errorf("not the platform's own PriorityClasses alone:\n%s", got)
	}
	if got := files["kubernetes/teams/team-a.yaml"]; !strings.Contains(got, "queues: team-a=low|train\n") {
		t.Errorf("the namespace does not list its queue:\n%s", got)
	}
}

// TestDefaultClassWithKAI: pods that name none have the cluster's default, else
// KAI Scheduler's.
func TestDefaultClassWithKAI(t *testing.T) {
	for _, test := range []struct {
		name    string
		classes []ir.PriorityClass
		want    string
	}{
		{"none is the default", []ir.PriorityClass{{Name: "low"}}, "train"},
		{"one of the platform's", []ir.PriorityClass{{Name: "low", Default: true}}, "low"},
		{"the scheduler's own", []ir.PriorityClass{{Name: "train", Default: true, BuiltIn: true}}, "train"},
	} {
		p := kaiPlan()
		p.PriorityClasses = test.classes
		if got := renderFiles(t, p)["kubernetes/system/admission-policies.yaml"]; !strings.Contains(got,
			"(c == '' ? '"+test.want+"' : c)") {
			t.Errorf("%s: not %q in\n%s", test.name, test.want, got)
		}
	}
}

// TestNodesWithKAI: pods must select a capacity, because no flavor does it for them.
func TestNodesWithKAI(t *testing.T) {
	const want = "[{'cloud.google.com/gke-queued': 'true'},\n      {'resource-type': 'spot'}].exists(c,\n"
	if got := renderFiles(t, kaiPlan())["kubernetes/system/admission-policies.yaml"]; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}
