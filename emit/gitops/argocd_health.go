package gitops

import (
	_ "embed"

	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// healthFile is the file of the patch that adds the health checks. It is no part of the
// kustomization: only the administrator of Argo CD may change its configuration.
const healthFile = "health-checks.yaml"

//go:embed health.lua
var healthScript string

// argoHealth returns a patch of the ConfigMap argocd-cm with the health checks of Kueue's
// objects. Argo CD takes a kind without a health check for healthy as soon as it exists.
// Source: Argo CD 3.5, docs/operator-manual/health.md.
func argoHealth() kubeyaml.Fields {
	checks := map[string]string{}
	for _, kind := range checkedKinds {
		checks["resource.customizations.health.kueue.x-k8s.io_"+kind] = healthScript
	}
	return kubeyaml.Fields{"data": checks}
}
