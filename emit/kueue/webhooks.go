package kueue

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// validatingWebhooks is the name of the release's ValidatingWebhookConfiguration,
// and podWebhook the webhook in it whose namespaceSelector the release copies to
// the webhooks of all kinds of jobs and pods (Kueue 0.19:
// config/components/webhook/kustomization.yaml).
const (
	validatingWebhooks = "kueue-validating-webhook-configuration"
	podWebhook         = "vpod.kb.io"
)

// webhookSelector is the part of a ValidatingWebhookConfiguration that selects
// namespaces. The API's own type would print the fields that are not set, and
// the patch would delete them.
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

// Release returns the changes to Kueue's release: its webhooks for jobs and pods
// see the teams' namespaces alone.
//
// In the release they see every namespace except kube-system and kueue-system,
// and an API server refuses what a webhook with failurePolicy Fail does not
// answer. While Kueue is down, nobody could create a pod or change a Deployment.
// The webhooks of Kueue's own objects have no namespaceSelector and stay as they
// are.
//
// The patch finds its webhook by name. Without that webhook the API server
// refuses the result, which has a webhook without an address; without any
// namespaceSelector in the release kustomize fails.
func Release(p *ir.Platform) ([]kubeyaml.Manifest, error) {
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
