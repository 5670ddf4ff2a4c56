package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestRemoveQueues checks that the commands name the ClusterQueues that the platform
// can have: of teams, of tiers that teams share, or of both.
func TestRemoveQueues(t *testing.T) {
	onlyShared := withShared(2)
	for i := range onlyShared.Teams {
		queues := onlyShared.Teams[i].Queues
		onlyShared.Teams[i].Queues = nil
		for _, q := range queues {
			if q.Shared {
				onlyShared.Teams[i].Queues = append(onlyShared.Teams[i].Queues, q)
			}
		}
	}
	const (
		own    = "| a team or a tier | `kubectl delete clusterqueues cq-TEAM-TIER` | "
		shared = "| a tier that teams share | `kubectl delete clusterqueues cq-TIER` | "
	)
	for _, test := range []struct {
		name       string
		platform   *ir.Platform
		has, lacks []string
	}{
		{"own", newPlatform(2), []string{own}, []string{shared}},
		{"shared", onlyShared, []string{shared}, []string{own}},
		{"both", withShared(2), []string{own, shared}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := renderReadme(t, test.platform)
			for _, want := range test.has {
				if !strings.Contains(got, want) {
					t.Errorf("README.md lacks %q", want)
				}
			}
			for _, no := range test.lacks {
				if strings.Contains(got, no) {
					t.Errorf("README.md has %q", no)
				}
			}
		})
	}
}

// TestRemains checks that README.md tells what a destroyed platform leaves, and what it
// takes along.
func TestRemains(t *testing.T) {
	p := newPlatform(2)
	p.Delivery.Account.ID = "gke-batch-build"
	p.Delivery.Permissions, p.Delivery.CustomRoles = nil, nil
	p.Monitoring.TensorBoard = ""
	got := renderReadme(t, p)
	for _, no := range []string{"custom role `", "custom roles `", "deletes the TensorBoard", "deletes its bucket"} {
		if strings.Contains(got, no) {
			t.Errorf("README.md has %q", no)
		}
	}
	p.Delivery.Permissions = []string{"a.b.get"}
	p.Monitoring.TensorBoard = "us-central1"
	p.Teams[0].Bucket = "bucket"
	wantTexts(t, renderPages(t, p), map[string][]string{readmePage: {
		"- the custom role `gke_batch_build`, which grants nothing without a binding\n",
		"This also deletes the TensorBoard with all experiment data.",
		"revokes the roles that the blueprint granted to its jobs, and deletes its bucket.",
	}})
	wantTexts(t, renderPages(t, p), map[string][]string{readmePage: {"shows how to empty or keep them."}})
	p.Delivery.InfrastructureManager = true
	wantTexts(t, renderPages(t, p), map[string][]string{readmePage: {"shows how to empty them."}})
	p.Delivery.CustomRoles = []ir.CustomRole{{ID: "gke_batch_writer"}}
	wantTexts(t, renderPages(t, p), map[string][]string{readmePage: {
		"- the custom roles `gke_batch_build`, `gke_batch_writer`, which grant nothing without a binding\n",
	}})
}
