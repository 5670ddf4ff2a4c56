package dashboards

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	kueuemetrics "sigs.k8s.io/kueue/pkg/metrics"
)

// TestInventory compares the inventory with the metrics that the pinned release of
// Kueue registers.
func TestInventory(t *testing.T) {
	kueuemetrics.InitMetricVectors(nil)
	kueuemetrics.Register()

	descriptions := make(chan *prometheus.Desc)
	go func() {
		ctrlmetrics.Registry.(prometheus.Collector).Describe(descriptions)
		close(descriptions)
	}()
	registered := map[string][]string{}
	// A prometheus.Desc shows its name and labels only in its text.
	form := regexp.MustCompile(`fqName: "((?:multi)?kueue_\w+)".*variableLabels: \{([^}]*)\}`)
	for d := range descriptions {
		if m := form.FindStringSubmatch(strings.ReplaceAll(d.String(), "\n", " ")); m != nil {
			registered[m[1]] = sorted(strings.Split(m[2], ","))
		}
	}
	listed := map[string][]string{}
	for name, m := range inventory(kueueMetrics) {
		listed[name] = sorted(m.labels)
	}
	if diff := cmp.Diff(registered, listed); diff != "" {
		t.Errorf("inventory (-Kueue +kueue-metrics.tsv):\n%s", diff)
	}
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}
