package dashboards

import (
	_ "embed"
	"strings"
)

// kueueMetrics lists every metric that Kueue exports: name, type, labels. A
// test holds it against the registry of the Kueue release itself.
//
//go:embed kueue-metrics.tsv
var kueueMetrics string

// kaiMetrics lists the metrics of KAI Scheduler's controller of queues and of its
// scheduler in the same way. Source: KAI Scheduler 0.17,
// pkg/queuecontroller/metrics and pkg/scheduler/metrics, both of which put kai_
// before the names.
//
//go:embed kai-metrics.tsv
var kaiMetrics string

// A metric is one that a scheduler exports.
type metric struct {
	kind   string   // counter, gauge or histogram
	labels []string // that the scheduler itself sets
}

// inventory reads a list of metrics.
func inventory(list string) map[string]metric {
	metrics := map[string]metric{}
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		m := metric{kind: fields[1]}
		if fields[2] != "" {
			m.labels = strings.Split(fields[2], ",")
		}
		metrics[fields[0]] = m
	}
	return metrics
}

// targetLabels are the labels that Managed Prometheus adds to every scraped
// series. A metric's own label of such a name becomes exported_NAME.
// Source: Managed Service for Prometheus documentation, reserved labels.
var targetLabels = []string{"project_id", "location", "cluster", "namespace", "job", "instance"}

// scraped returns the labels of the metric's series once they are scraped, or
// of its buckets.
func (m metric) scraped(bucket bool) map[string]bool {
	labels := map[string]bool{}
	for _, label := range targetLabels {
		labels[label] = true
	}
	for _, label := range m.labels {
		if labels[label] {
			label = "exported_" + label
		}
		labels[label] = true
	}
	if bucket {
		labels["le"] = true
	}
	return labels
}
