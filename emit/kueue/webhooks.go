package kueue

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// validatingWebhooks is the name of the release's ValidatingWebhookConfiguration.
// podWebhook is the webhook in it whose namespaceSelector the release copies to the
// webhooks of all kinds of jobs and pods (Kueue 0.19:
// config/components/webhook/kustomization.yaml).
const (
	validatingWebhooks = "kueue-validating-webhook-configuration"
	podWebhook         = "vpod.kb.io"
)

// webhookSelector is the part of a ValidatingWebhookConfiguration that selects
// namespaces. The API's own type would also print fields that are not set, and the
// patch would then delete those fields.
type webhookSelector struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        objectName        `json:"metadata"`
	Webhooks        []selectedWebhook `json:"webhooks"`
}

type objectName struct {
	Name string `json:"name"`
}

type selectedWebhook struct {
	Name              string                `json:"name"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
}

// Release returns the changes to Kueue's release. With them, its webhooks for jobs
// and pods see only the teams' namespaces.
//
// In the release they see every namespace except kube-system and kueue-system, and
// an API server refuses a request if a webhook with failurePolicy Fail does not
// answer. While Kueue is down, nobody could create a pod or change a Deployment. The
// webhooks of Kueue's own objects have no namespaceSelector and stay unchanged.
//
// The patch finds its webhook by name. If the release lacks that webhook, the result
// has a webhook without an address, and the API server refuses it. If the release
// has no namespaceSelector at all, kustomize fails.
//
// Kueue's chart needs no such change: it copies the selector of the managed jobs to the
// same webhooks (Kueue 0.19: charts/kueue/templates/webhook/manifests.yaml).
func Release(p *ir.Platform) ([]kubeyaml.Manifest, error) {
	if p.FromCharts() || !p.InstallsKueue() {
		return nil, nil
	}
	group := admissionv1.SchemeGroupVersion
	patch, err := kubeyaml.Marshal(&webhookSelector{
		TypeMeta: kubeyaml.Kind(group, "ValidatingWebhookConfiguration"),
		Metadata: objectName{validatingWebhooks},
		Webhooks: []selectedWebhook{{podWebhook, kubeyaml.TeamNamespaces(p.Name)}},
	})
	if err != nil {
		return nil, err
	}
	everySelector := func(kind string) kubeyaml.ReplacementTarget {
		return kubeyaml.ReplacementTarget{
			Select: kubeyaml.ObjectSelector{Kind: kind}, FieldPaths: []string{"webhooks.*.namespaceSelector"},
		}
	}
	component := kubeyaml.NewComponent()
	component.Patches = []kubeyaml.Patch{{Patch: string(patch)}}
	component.Replacements = []kubeyaml.Replacement{{
		Source: kubeyaml.ReplacementSource{
			Kind: "ValidatingWebhookConfiguration", Name: validatingWebhooks,
			FieldPath: "webhooks.[name=" + podWebhook + "].namespaceSelector",
		},
		Targets: []kubeyaml.ReplacementTarget{
			everySelector("ValidatingWebhookConfiguration"), everySelector("MutatingWebhookConfiguration"),
		},
	}}
	return []kubeyaml.Manifest{{Name: ir.KueueWebhooks + "/kustomization.yaml", Objects: []any{component}}}, nil
}
