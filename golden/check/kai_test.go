package check

import (
	"testing"
)

// TestCheckKAI checks that broken platforms with KAI Scheduler are reported.
func TestCheckKAI(t *testing.T) {
	const (
		cohorts       = "kubernetes/cohorts.yaml"
		team          = "kubernetes/teams/project-d.yaml"
		job           = "workloads/project-d/interactive.yaml"
		vision, train = "kubernetes/teams/vision.yaml", "workloads/vision/train.yaml"
	)
	breaks{
		{
			"no limit", "kai", team, "      limit: -1\n      overQuotaWeight: 1\n      quota: 8\n",
			"      overQuotaWeight: 1\n      quota: 8\n",
		},
		{"no weight", "kai", team, "      overQuotaWeight: 1\n      quota: 8\n", "      quota: 8\n"},
		{"no quota of cpu", "kai", team, "      overQuotaWeight: 1\n      quota: -1\n", "      overQuotaWeight: 1\n"},
		{
			"quota of cpu", "kai", team, "      overQuotaWeight: 1\n      quota: -1\n",
			"      overQuotaWeight: 1\n      quota: 8\n",
		},
		{"limit below the guarantee", "KAI", vision, "limit: 4", "limit: 3"},
		{
			"nothing may run", "KAI", vision, "limit: 4\n      overQuotaWeight: 1\n      quota: 4",
			"limit: 0\n      overQuotaWeight: 1\n      quota: 4",
		},
		{"a parent that is not there", "kai", team, "parentQueue: department-2", "parentQueue: department-3"},
		{"a parent that is a team", "kai", team, "parentQueue: department-2", "parentQueue: project-a"},
		{"a third level", "kai", cohorts, "  priority: 100\n", "  parentQueue: department-1\n  priority: 100\n"},
		{"a parent that guarantees less", "kai", cohorts, "quota: 16", "quota: 15"},
		{
			"a parent with a limit", "kai", cohorts, "limit: -1\n      overQuotaWeight: 1\n      quota: 16",
			"limit: 16\n      overQuotaWeight: 1\n      quota: 16",
		},
		{
			"a queue that is not there", "kai", job, "kai.scheduler/queue: project-d",
			"kai.scheduler/queue: default-queue",
		},
		{"a cohort's queue", "kai", job, "kai.scheduler/queue: project-d", "kai.scheduler/queue: department-2"},
		{
			"pods in another queue", "kai", job, "        kai.scheduler/queue: project-d",
			"        kai.scheduler/queue: project-c",
		},
		{"another scheduler", "kai", job, "schedulerName: kai-scheduler", "schedulerName: default-scheduler"},
		{"another priority", "kai", job, "priorityClassName: build", "priorityClassName: inference"},
		{"a priority that is nowhere", "KAI", train, "priorityClassName: batch", "priorityClassName: other"},
		{"preemptible all the same", "kai", job, "preemptibility: non-preemptible", "preemptibility: preemptible"},
		{
			"pods of a Job by themselves", "KAI", train, "    kai.scheduler/batch-min-member: \"2\"\n",
			"    other: \"2\"\n",
		},
		{"more than is guaranteed", "kai", job, "nvidia.com/gpu: \"5\"", "nvidia.com/gpu: \"9\""},
		{"more than the limit", "KAI, JobSet", train, "parallelism: 2", "parallelism: 3"},
	}.checkEdits(t, Kubernetes)
}
