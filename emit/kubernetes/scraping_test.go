package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScraping holds what is scraped, and that every collector may read the token
// that a target asks for.
func TestScraping(t *testing.T) {
	files := renderFiles(t, testPlan())
	collectors := `subjects:
- kind: ServiceAccount
  name: collector
  namespace: gke-gmp-system
- kind: ServiceAccount
  name: collector
  namespace: gmp-system
`
	for _, target := range []string{"kueue", "jobset"} {
		file := files["kubernetes/monitoring/"+target+".yaml"]
		if !strings.Contains(file, collectors) {
			t.Errorf("%s: not every collector may read the token:\n%s", target, file)
		}
		want := `spec:
  endpoints:
  - authorization:
      credentials:
        secret:
          key: token
          name: ` + target + `-metrics-collector-token
      type: Bearer
    interval: 30s
    path: /metrics
    port: 8443
    scheme: https
    tls:
      insecureSkipVerify: true
  selector:
    matchLabels:
      app.kubernetes.io/name: ` + target + `
      control-plane: controller-manager
`
		if diff := cmp.Diff(want, lastSpec(file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
	kai := renderFiles(t, kaiPlan())
	for _, target := range []string{"kai-scheduler-default", "queue-controller"} {
		file := kai["kubernetes/monitoring/"+target+".yaml"]
		want := `spec:
  endpoints:
  - interval: 30s
    path: /metrics
    port: 8080
    scheme: http
  selector:
    matchLabels:
      app: ` + target + `
`
		if diff := cmp.Diff(want, lastSpec(file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}

// lastSpec returns the spec of a file's last document.
func lastSpec(file string) string {
	return file[max(0, strings.LastIndex(file, "\nspec:\n")+1):]
}
