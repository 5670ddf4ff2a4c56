package kueue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// TestRelease holds the patch against the API's own type: it selects the
// namespaces in which Kueue manages jobs, and sets nothing else.
func TestRelease(t *testing.T) {
	manifests, err := kueue.Release(testPlan())
	if err != nil || len(manifests) != 1 || len(manifests[0].Objects) != 1 {
		t.Fatalf("manifests %v, %v", manifests, err)
	}
	patches := manifests[0].Objects[0].(kubeyaml.Fields)["patches"].([]kubeyaml.Fields)
	var got admissionv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict([]byte(patches[0]["patch"].(string)), &got); err != nil {
		t.Fatal(err)
	}
	var want admissionv1.ValidatingWebhookConfiguration
	want.APIVersion, want.Kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
	want.Name = "kueue-validating-webhook-configuration"
	want.Webhooks = []admissionv1.ValidatingWebhook{
		{Name: "vpod.kb.io", NamespaceSelector: kubeyaml.TeamNamespaces("demo")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}
