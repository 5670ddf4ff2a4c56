package kueue

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

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
	// The API's own type would also print fields that are not set, and the patch would then
	// delete those fields.
	patch, err := kubeyaml.Marshal(kubeyaml.Fields{
		"apiVersion": admissionv1.SchemeGroupVersion.String(), "kind": "ValidatingWebhookConfiguration",
		"metadata": kubeyaml.Fields{"name": validatingWebhooks},
		"webhooks": []kubeyaml.Fields{{"name": podWebhook, "namespaceSelector": kubeyaml.TeamNamespaces(p.Name)}},
	})
	if err != nil {
		return nil, err
	}
	everySelector := func(kind string) kubeyaml.Fields {
		return kubeyaml.Fields{
			"select": kubeyaml.Fields{"kind": kind}, "fieldPaths": []string{"webhooks.*.namespaceSelector"},
		}
	}
	component := kubeyaml.Fields{
		"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component",
		"patches": []kubeyaml.Fields{{"patch": string(patch)}},
		"replacements": []kubeyaml.Fields{{
			"source": kubeyaml.Fields{
				"kind": "ValidatingWebhookConfiguration", "name": validatingWebhooks,
				"fieldPath": "webhooks.[name=" + podWebhook + "].namespaceSelector",
			},
			"targets": []kubeyaml.Fields{
				everySelector("ValidatingWebhookConfiguration"), everySelector("MutatingWebhookConfiguration"),
			},
		}},
	}
	return []kubeyaml.Manifest{
		{Name: ir.KueueWebhooks + "/" + kubeyaml.KustomizationFile, Objects: []any{component}},
	}, nil
}
