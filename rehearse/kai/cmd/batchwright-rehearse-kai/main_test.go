package main

import (
	"testing"

	"github.com/batchwright/batchwright/rehearse/kai/runner"
	"github.com/batchwright/batchwright/rehearse/program/programtest"
)

// TestProgram checks the program from the outside: what it reads, writes and returns.
func TestProgram(t *testing.T) {
	const objects = `
		{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "train"}, "value": 50},
		{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "department"}, "spec": {
			"resources": {"gpu": {"quota": 2, "limit": -1, "overQuotaWeight": 1},
				"cpu": {"quota": -1, "limit": -1}, "memory": {"quota": -1, "limit": -1}}}},
		{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "a"}, "spec": {
			"parentQueue": "department", "resources": {"gpu": {"quota": 2, "limit": -1, "overQuotaWeight": 1},
				"cpu": {"quota": -1, "limit": -1}, "memory": {"quota": -1, "limit": -1}}}}`
	const template = `{"name": "w", "team": "a", "tier": "t", "namespace": "a", "pods": 1, "object": {
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": {"name": "w", "namespace": "a", "labels": {"kai.scheduler/queue": "a"}},
		"spec": {"template": {"metadata": {"labels": {"kai.scheduler/queue": "a"}}, "spec": {
			"restartPolicy": "Never", "priorityClassName": "train", "schedulerName": "kai-scheduler",
			"containers": [{"name": "c", "image": "c:1", "resources": {
				"requests": {"cpu": "1", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}}]}}}}}`
	const kai = `"scheduler": {"name": "kai", "version": "` + runner.Plays + `"}`
	const good = `{"name": "n", ` + kai + `, "until": 100, "objects": [` + objects + `],
		"templates": [` + template + `],
		"jobs": [{"name": "w-1", "template": 0, "at": 5, "runs": 10}],
		"pools": [{"name": "h100", "perNode": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "2"}, "min": 1, "max": 1,
			"together": 1}]}`
	programtest.Run(t, []programtest.Case{
		{Name: "version", Args: []string{"version"}, Check: programtest.Contains("KAI Scheduler " + runner.KAI)},
		{Name: "a job", In: good, Check: programtest.Finishes(15)},
		{Name: "an argument", Args: []string{"play"}, Code: 2, Says: `"play" is no command`},
		{Name: "an unknown field", In: `{"nam": 1}`, Code: 2, Says: `unknown field "nam"`},
		{
			Name: "another kind", In: `{` + kai + `, "objects": [{"kind": "Pod"}]}`, Code: 2,
			Says: `"Pod"`,
		},
		{
			Name: "another KAI Scheduler", In: `{"scheduler": {"name": "kai", "version": "0.18.0"}}`, Code: 2,
			Says: "which stands in for " + runner.Plays + " only",
		},
		{
			Name: "another scheduler", In: `{"scheduler": {"name": "kueue", "version": "0.19.2"}}`, Code: 2,
			Says: "the platform installs Kueue 0.19.2, and this program contains KAI Scheduler " + runner.KAI,
		},
	})
}
