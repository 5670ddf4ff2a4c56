package main

import (
	"slices"
	"strings"
)

// topic is something that people look for in a blueprint by a word that no field has, or by a word
// that says less than they want to know.
type topic struct {
	words  []string // in lower case, without spaces and dashes
	note   string   // a sentence
	absent bool     // a blueprint cannot describe it
	fields []string // that describe it, or that come nearest
}

const limitsPage = "See docs/limits.md."

func topics() []topic {
	const quota = "teams.NAME.quota.TIER.CAPACITY."
	return []topic{
		{
			words: []string{"mig", "gpupartition", "gpupartitions", "gpupartitionsize"}, absent: true,
			note: "Node pools that the platform creates have no MIG partitions. Nodes that exist can have " +
				"them: a quota then counts their resources. " + limitsPage,
			fields: []string{"capacity.NAME.consumption.existing", quota + "resources"},
		},
		{
			words: []string{
				"gpusharing", "sharinggpus", "gpusharingstrategy", "timesharing", "timeslicing", "mps", "fractionalgpu",
				"fractionalgpus", "sharedgpu", "sharedgpus", "vgpu",
			}, absent: true,
			note: "Each pod gets whole GPUs. " + limitsPage,
		},
		{
			words: []string{
				"ray", "raycluster", "rayjob", "kuberay", "kubeflow", "mpi", "mpijob", "pytorchjob", "trainjob",
				"trainer", "spark", "sparkapplication", "leaderworkerset", "lws", "appwrapper", "dask",
				"airflow", "pathways",
			}, absent: true,
			note:   "Workloads are batch jobs. An existing Kueue can manage other kinds. " + limitsPage,
			fields: []string{"cluster.existing.kueue.frameworks"},
		},
		{
			words: []string{"slurm", "slurmctld", "sbatch", "slinky"}, absent: true,
			note: "The scheduler is Kueue or KAI Scheduler. \"batchwright trace\" reads Slurm accounting data. " +
				limitsPage,
			fields: []string{"scheduler"},
		},
		{
			words: []string{
				"notebook", "notebooks", "jupyter", "jupyterhub", "workbench", "interactive", "shell", "ssh", "exec",
			}, absent: true,
			note: "Team members submit jobs, and cannot open a shell in a pod. " + limitsPage,
		},
		{
			words: []string{
				"inference", "serving", "vllm", "cronjob", "cronjobs", "service", "services", "gateway", "ingress",
			}, absent: true,
			note: "Workloads are batch jobs, which end. " + limitsPage, fields: []string{"workloads"},
		},
		{
			words: []string{"autopilot", "zonal"}, absent: true,
			note: "The platform creates a regional Standard cluster. " + limitsPage, fields: []string{"cluster"},
		},
		{
			words: []string{"multikueue", "multicluster", "federation", "clusters"}, absent: true,
			note: "One blueprint describes one cluster. " + limitsPage, fields: []string{"cluster"},
		},
		{
			words: []string{"cost", "costs", "price", "prices", "pricing", "budget", "budgets"}, absent: true,
			note: "Prices are in a file of their own: \"batchwright cost --prices\" computes the costs. " +
				"See docs/cost.md.",
			fields: []string{"labels"},
		},
		{
			words: []string{"tpu", "tpus"}, note: "\"batchwright catalog tpu\" lists the machine types.",
			fields: []string{
				"hardware.NAME.machine", "hardware.NAME.topology", "capacity.NAME.slices", quota + "accelerators",
				"workloads.NAME.perPod.accelerators",
			},
		},
		{
			words: []string{"gpu"}, note: "\"batchwright catalog gpu\" lists the machine types.",
			fields: []string{
				"hardware.NAME.machine", "hardware.NAME.gpus", quota + "accelerators",
				"workloads.NAME.perPod.accelerators",
			},
		},
		{
			words:  []string{"gang", "gangscheduling", "coscheduling", "allornothing"},
			note:   "A job starts with all of its pods.",
			fields: []string{"workloads.NAME.pods", "kueue.waitForPodsReady"},
		},
		{
			words: []string{"autoscaling", "autoscaler", "scaling", "scale"},
			fields: []string{
				"capacity.NAME.minNodes", "capacity.NAME.maxNodes", "cluster.autoProvisioning",
				"cluster.systemPool.maxNodesPerZone",
			},
		},
		{
			words:  []string{"user", "person", "access", "rbac", "iam", "member"},
			fields: []string{"teams.NAME.members", "teams.NAME.group", "teams.NAME.roles", "cluster.securityGroup"},
		},
		{
			words:  []string{"volume", "volumes", "pvc", "persistentvolume", "lustre", "hyperdisk", "parallelstore"},
			fields: []string{"teams.NAME.bucket", "teams.NAME.allow", "cluster.csiDrivers"},
		},
	}
}

// topicOf returns the topic that a word means.
func topicOf(word string) (topic, bool) {
	folded := foldWord(word)
	all := topics()
	i := slices.IndexFunc(all, func(t topic) bool { return slices.Contains(t.words, folded) })
	if i < 0 {
		return topic{}, false
	}
	return all[i], true
}

// foldWord returns a word in lower case, without spaces and dashes.
func foldWord(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(word))
}
