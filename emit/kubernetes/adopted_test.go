package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestAdoptedStays: in a namespace of others there is nothing but queues, and no GitOps tool deletes
// what it has adopted.
func TestAdoptedStays(t *testing.T) {
	for tool, mark := range map[ir.GitOpsTool]string{
		"": `batchwright-existing: "true"`, ir.ArgoCD: "Prune=false",
		ir.Flux:       "kustomize.toolkit.fluxcd.io/prune: disabled",
		ir.ConfigSync: "client.lifecycle.config.k8s.io/deletion: detach",
	} {
		plan := testPlan()
		plan.Cluster.Existing = &ir.ExistingCluster{Kueue: &ir.ExistingKueue{Version: "0.19.2"}}
		plan.Delivery.GitOps.Tool = tool
		plan.Teams[1].InExisting = true
		files := renderFiles(t, plan)
		team := files["kubernetes/teams/team-b.yaml"]
		for kind, want := range map[string]int{"ClusterQueue": 1, "LocalQueue": 1, "Namespace": 0, "RoleBinding": 0} {
			if got := strings.Count("\n"+team, "\nkind: "+kind+"\n"); got != want {
				t.Errorf("%q: %d of kind %s, want %d\n%s", tool, got, kind, want, team)
			}
		}
		if strings.Count(team, mark) != 2 {
			t.Errorf("%q: the queues are not marked with %s:\n%s", tool, mark, team)
		}
		if own := files["kubernetes/teams/team-a.yaml"]; strings.Contains(own, "batchwright-existing") {
			t.Errorf("%q: queues of the platform's own namespace are marked:\n%s", tool, own)
		}
	}
}

// TestOnlyExisting: without a namespace of its own, the platform has neither policies nor roles.
func TestOnlyExisting(t *testing.T) {
	plan := testPlan()
	plan.Cluster.Existing = &ir.ExistingCluster{Kueue: &ir.ExistingKueue{Version: "0.19.2"}}
	for i := range plan.Teams {
		plan.Teams[i].InExisting = true
	}
	for name := range renderFiles(t, plan) {
		if strings.Contains(name, "admission-policies") || strings.Contains(name, "job-submitter") {
			t.Errorf("the folder has %s", name)
		}
	}
}
