package main

import (
	"testing"

	"github.com/batchwright/batchwright/rehearse/program/programtest"
	"github.com/batchwright/batchwright/rehearse/runner"
)

// TestProgram checks the program from the outside: what it reads, writes and returns.
func TestProgram(t *testing.T) {
	const namespace = `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}`
	const queues = `
		{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
		{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {
			"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
				{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}]}},
		{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "l", "namespace": "a"},
			"spec": {"clusterQueue": "q"}}`
	const template = `{"name": "w", "team": "a", "tier": "t", "object": {"apiVersion": "batch/v1", "kind": "Job",
		"metadata": {"name": "w", "namespace": "a", "labels": {"kueue.x-k8s.io/queue-name": "l"}},
		"spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [
			{"name": "c", "image": "c:1", "resources": {"requests": {"cpu": "1"}}}]}}}}}`
	const kueue = `"scheduler": {"name": "kueue", "version": "0.19.2"}`
	const good = `{"name": "n", ` + kueue + `, "until": 100, "objects": [` + namespace + `, ` + queues +
		`], "templates": [` + template + `],
		"jobs": [{"name": "w-1", "template": 0, "at": 5, "runs": 10}], "pools": []}`
	programtest.Run(t, []programtest.Case{
		{Name: "version", Args: []string{"version"}, Check: programtest.Contains("Kueue " + runner.Kueue)},
		{Name: "a job", In: good, Check: programtest.Finishes(15)},
		{Name: "an argument", Args: []string{"play"}, Code: 2, Says: `"play" is no command`},
		{Name: "nothing", Code: 2, Says: "EOF"},
		{Name: "an unknown field", In: `{"nam": 1}`, Code: 2, Says: `unknown field "nam"`},
		{
			Name: "another kind", In: `{` + kueue + `, "objects": [{"kind": "Pod"}]}`, Code: 2,
			Says: `objects of kind "Pod"`,
		},
		{
			Name: "another Kueue", In: `{"scheduler": {"name": "kueue", "version": "0.20.0"}}`, Code: 2,
			Says: "the platform installs Kueue 0.20.0",
		},
		{
			Name: "another scheduler", In: `{"scheduler": {"name": "kai", "version": "0.19.2"}}`, Code: 2,
			Says: "the platform installs KAI Scheduler 0.19.2, and this program contains Kueue 0.19.2",
		},
	})
}
