package plane

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTermination deletes pods that end at SIGTERM and pods that do not, with different
// grace periods. A finalizer keeps the pods when the node has removed them: they tell when
// their processes ended. So the test does not depend on the speed of the machine, unless the
// machine needs an hour.
func TestTermination(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := StartEmpty(t.Context(), root, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	kubectl := func(args ...string) string {
		t.Helper()
		out, err := p.Kubectl(t.Context(), nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wait := func(state string, pods ...string) {
		t.Helper()
		kubectl(append([]string{"wait", "--for=" + state, "--timeout=5m"}, pods...)...)
	}
	const running, failed = "jsonpath={.status.phase}=Running", "jsonpath={.status.phase}=Failed"
	const removed = "jsonpath={.metadata.deletionGracePeriodSeconds}=0"

	const grace, hour = 5, 3600
	template := func(grace int, ignores string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"plane/ignores-sigterm": ignores}},
			"spec": map[string]any{
				"restartPolicy": "Never", "terminationGracePeriodSeconds": grace,
				"containers": []any{map[string]any{"name": "c", "image": "pause"}},
			},
		}
	}
	pod := func(name string, grace int, ignores string, finalizers ...string) map[string]any {
		object := template(grace, ignores)
		object["apiVersion"], object["kind"] = "v1", "Pod"
		metadata := object["metadata"].(map[string]any)
		metadata["name"], metadata["finalizers"] = name, finalizers
		return object
	}
	const kept = "batchwright.test/kept"
	wait("create", "serviceaccounts/default")
	if err := p.Create(t.Context(), []map[string]any{
		{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "node"},
			"status": map[string]any{"allocatable": map[string]any{"cpu": "1", "memory": "1Gi", "pods": "110"}},
		},
		pod("obeys", hour, "false", kept), pod("ignores", grace, "true", kept),
		pod("ignores-for-an-hour", hour, "true", kept), pod("no-grace", 0, "true"),
		{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "job"},
			"spec": map[string]any{"template": template(hour, "true")},
		},
	}); err != nil {
		t.Fatal(err)
	}
	const ofJob = "--selector=job-name=job"
	wait("create", "pods", ofJob)
	wait(running, "pods", "--all")

	deleted := time.Now()
	kubectl("delete", "pods", "obeys", "ignores", "ignores-for-an-hour", "no-grace", "--wait=false")
	kubectl("patch", "jobs", "job", `--patch={"spec":{"suspend":true}}`)
	wait("jsonpath={.metadata.deletionTimestamp}", "pods", ofJob)
	wait("delete", "pods/no-grace")
	wait(failed, "pods/obeys", "pods/ignores")
	wait(removed, "pods/obeys", "pods/ignores")
	wait(running, "pods/ignores-for-an-hour")
	wait(running, "pods", ofJob)

	// A shorter grace period counts from the first deletion.
	kubectl("delete", "pods", "ignores-for-an-hour", "--wait=false", "--grace-period=5")
	kubectl("delete", "pods", ofJob, "--wait=false", "--grace-period=5")
	wait(removed, "pods/ignores-for-an-hour")
	wait("delete", "pods", ofJob)

	for name, least := range map[string]time.Duration{
		"obeys": 0, "ignores": grace * time.Second, "ignores-for-an-hour": grace * time.Second,
	} {
		var found struct {
			Status struct {
				Conditions []struct {
					Type               string
					LastTransitionTime time.Time
				}
			}
		}
		if err := json.Unmarshal([]byte(kubectl("get", "pods", name, "--output=json")), &found); err != nil {
			t.Fatal(err)
		}
		for _, c := range found.Status.Conditions {
			// The API server cuts times to seconds.
			lasted := c.LastTransitionTime.Sub(deleted.Truncate(time.Second))
			if c.Type == "Ready" && (lasted < least || lasted >= hour*time.Second) {
				t.Errorf("pod %s ends %s after its deletion, want at least %s, less than an hour", name, lasted, least)
			}
		}
		kubectl("patch", "pods", name, "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
	}
	wait("delete", "pods", "--all")
}
