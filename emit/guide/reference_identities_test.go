package guide

import (
	"strings"
	"testing"
)

// TestBindingsWithCondition checks that every command that adds a binding says which
// condition the binding has. Otherwise gcloud asks for it if the policy has conditions.
func TestBindingsWithCondition(t *testing.T) {
	p := newPlatform(2)
	p.Teams[0].Bucket = "data"
	found := 0
	for name, page := range renderPages(t, p) {
		for line := range strings.Lines(page) {
			if !strings.HasPrefix(line, "gcloud ") || !strings.Contains(line, " add-iam-policy-binding ") {
				continue
			}
			found++
			if !strings.Contains(line, "--condition=") {
				t.Errorf("%s: no condition: %s", name, line)
			}
		}
	}
	if found < 8 {
		t.Errorf("the pages have %d commands that add a binding, want 8 or more", found)
	}
}

// TestJobRoles checks that REFERENCE.md says what the roles of all pods are for.
func TestJobRoles(t *testing.T) {
	p := newPlatform(2)
	p.JobRoles = []string{"roles/logging.logWriter"}
	wantTexts(t, renderPages(t, p), map[string][]string{referencePage: {
		"these roles to write logs and metrics: `roles/logging.logWriter`.",
	}})
	p.Monitoring.TensorBoard = "us-central1"
	wantTexts(t, renderPages(t, p), map[string][]string{referencePage: {
		"these roles to write logs and metrics, and data to the TensorBoard: `roles/logging.logWriter`.",
	}})
}
