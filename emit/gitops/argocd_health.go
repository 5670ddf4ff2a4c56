package gitops

import (
	_ "embed"
)

// healthFile is the file of the patch that adds the health checks. It is no part of the
// kustomization: only the administrator of Argo CD may change its configuration.
const healthFile = "health-checks.yaml"

//go:embed health.lua
var healthScript string

// healthPatch is a patch of the ConfigMap argocd-cm. Argo CD takes a kind without a
// health check for healthy as soon as it exists. Source: Argo CD 3.5,
// docs/operator-manual/health.md.
type healthPatch struct {
	Data map[string]string `json:"data"`
}

// argoHealth returns the patch with the health checks of Kueue's objects.
func argoHealth() *healthPatch {
	patch := &healthPatch{Data: map[string]string{}}
	for _, kind := range []string{"AdmissionCheck", "ClusterQueue", "LocalQueue"} {
		patch.Data["resource.customizations.health.kueue.x-k8s.io_"+kind] = healthScript
	}
	return patch
}
