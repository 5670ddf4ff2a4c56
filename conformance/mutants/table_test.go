package mutants_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are changes of compiled folders. The expected output of each tool is written
// by hand.
var mutants = []mutant{
	// Dashboards, alerts and builds, checked against the libraries of their readers.
	{
		name: "PromQL", folder: "batch-platform", by: "dashboards",
		says: "dashboards/grafana/kueue.json",
		edits: []edit{
			{
				"dashboards/grafana/kueue.json",
				`sum\(kueue_pending_workloads\{([^}]*)\}\) or`,
				"sum(kueue_pending_workloads{$1} or",
			},
		},
	},
	{
		name: "field of an alert rule", folder: "batch-platform", by: "dashboards",
		says:  "dashboards/alert-rules.yaml",
		edits: []edit{{"dashboards/alert-rules.yaml", "^( +)for: ", "${1}duration: "}},
	},
	{
		name: "variable of an alert", folder: "batch-platform", by: "dashboards",
		says:  "dashboards/alert-rules.yaml",
		edits: []edit{{"dashboards/alert-rules.yaml", `\$labels\.`, "$$label."}},
	},
	{
		name: "field of what is scraped", folder: "batch-platform", by: "dashboards",
		says:  "kubernetes/monitoring/kueue.yaml",
		edits: []edit{{"kubernetes/monitoring/kueue.yaml", "insecureSkipVerify: ", "insecure: "}},
	},
	{
		name: "field of a build", folder: "batch-platform", by: "cloudbuild",
		says:  "cloudbuild/provision.yaml",
		edits: []edit{{"cloudbuild/provision.yaml", "^  entrypoint: ", "  entryPoint: "}},
	},
	{
		name: "undeclared substitution", folder: "batch-platform", by: "cloudbuild",
		says:  "cloudbuild/provision.yaml",
		edits: []edit{{"cloudbuild/provision.yaml", `^substitutions:\n(  _.*\n)+`, ""}},
	},
	{
		name: "field of Kueue's configuration", folder: "batch-platform", by: "kueueconfig",
		says: "kueue-configuration.yaml",
		edits: []edit{
			{"kubernetes/system/kueue-configuration.yaml", "manageJobsWithoutQueueName", "manageJobWithoutQueueName"},
		},
	},

	// KAI Scheduler's own code.
	{
		name: "parent of a KAI queue", folder: "kai-departments", by: "kai",
		says:  "after phase start (-told +placed)",
		edits: []edit{{"kubernetes/teams/*.yaml", `^  parentQueue: .*\n`, ""}},
	},
	{
		name: "weight of a KAI queue", folder: "kai-departments", by: "kai",
		says: "project-b asks (-told +placed)",
		edits: []edit{
			{"kubernetes/cohorts.yaml", "overQuotaWeight: 1", "overQuotaWeight: 0"},
			{"kubernetes/teams/*.yaml", "overQuotaWeight: 1", "overQuotaWeight: 0"},
		},
	},
	{
		name: "priority of a KAI queue", folder: "kai-departments", by: "kai",
		says:  "project-a before project-b (-told +placed)",
		edits: []edit{{"kubernetes/teams/*.yaml", "^  priority: 150", "  priority: 100"}},
	},
	{
		name: "guarantee of a KAI queue", folder: "kai-departments", by: "kai",
		says: "that are not to be evicted",
		edits: []edit{
			{"kubernetes/cohorts.yaml", "quota: 16", "quota: 0"},
			{"kubernetes/teams/*.yaml", "quota: 8", "quota: 0"},
		},
	},
	{
		name: "tolerations", folder: "kai-departments", by: "kai",
		says: `"h100-reserved-1"`,
		edits: []edit{
			{"workloads/*/*.yaml", `^ +tolerations:\n( +- effect: .*\n +key: .*\n +operator: .*\n +value: .*\n)+`, ""},
		},
	},
	{
		name: "label of a KAI job", folder: "kai-departments", by: "kai",
		says:  `"h100-reserved-1"`,
		edits: []edit{{"workloads/*/*.yaml", "kai.scheduler/queue: .*", `kai.scheduler/queue: ""`}},
	},

	// Terraform.
	{
		name: "argument", folder: "batch-platform", by: "plan",
		says:  `"filename": "reservations.tf"`,
		edits: []edit{{"terraform/reservations.tf", "specific_reservation_required", "specific_reservation_only"}},
	},
	{
		name: "reference", folder: "batch-platform", by: "plan",
		says:  `"filename": "cluster.tf"`,
		edits: []edit{{"terraform/cluster.tf", `var\.node_account`, "google_service_account.node.email"}},
	},
	{
		name: "a key for many", folder: "batch-platform", by: "plan",
		says:  "resources (-by hand +planned)",
		edits: []edit{{"terraform/identities.tf", `grant\.role => local`, "grant.team => local"}},
	},
	{
		name: "no role for groups", folder: "batch-platform", by: "plan",
		says: "resources (-by hand +planned)",
		edits: []edit{
			{"terraform/identities.tf", `^resource "google_project_iam_member" "members" \{\n(  .*\n|\n)+\}\n`, ""},
		},
	},
	{
		name: "type of an argument", folder: "batch-platform", by: "plan",
		says:  "string required. (storage.tf:",
		edits: []edit{{"terraform/storage.tf", `^(  for_each +=) local\.team_buckets`, "$1 var.teams"}},
	},
	{
		name: "what replaces a pool", folder: "batch-platform", by: "changes",
		says: "replace google_container_node_pool.l4_ondemand",
		edits: []edit{
			{"terraform/node_pools.tf", `ignore_changes = \[initial_node_count\]`, "ignore_changes = [node_count]"},
		},
	},

	// The API server, its webhooks, Kueue, JobSet and the scheduler.
	{
		name: "kind", folder: "tpu-training", by: "cluster",
		says:  `"Localqueue"`,
		edits: []edit{{"kubernetes/teams/*.yaml", "^kind: LocalQueue", "kind: Localqueue"}},
	},
	{
		name: "field of a policy", folder: "tpu-training", by: "check",
		says: "fails to compile",
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `\.map\(q, q\.split\('='\)\)`, ".map(q, q.part('='))"},
		},
	},
	{
		name: "expression of a policy", folder: "batch-platform", by: "check",
		says: "load balancer: admitted",
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `\.orValue\(''\) == 'None'`, ".orValue('') != 'None'"},
		},
	},
	{
		name: "two default priorities", folder: "batch-platform", by: "check",
		says: "must be hp",
		edits: []edit{
			{"kubernetes/priority-classes.yaml", `^globalDefault: true\n`, ""},
			{"kubernetes/priority-classes.yaml", `^kind: PriorityClass\n`, "${0}globalDefault: true\n"},
		},
	},
	{
		name: "no admission check", folder: "a3-ultra-flex", by: "scenario",
		says:  "sample of research has no ProvisioningRequest 1",
		edits: []edit{{"kubernetes/shared-queues.yaml", `^  admissionChecksStrategy:\n(    .*\n)+`, ""}},
	},
	{
		name: "fields of a ProvisioningRequest and nodes of an installer", folder: "a3-ultra-flex", by: "scenario",
		says: "the class of job-sample-",
		also: []string{
			"is for 10 seconds, want 600", `selects the nodes of "", want "resize-research-sample"`,
			"daemonset kube-system/nccl-rdma-installer",
		},
		edits: []edit{
			{"kubernetes/system/gpu-installers.yaml", "key: cloud.google.com/gke-nodepool", "key: nodepool"},
			{
				"kubernetes/admission-checks.yaml",
				"provisioningClassName: .*",
				"provisioningClassName: check-capacity.autoscaling.x-k8s.io",
			},
			{"workloads/*/*.yaml", `maxRunDurationSeconds: "600"`, `maxRunDurationSeconds: "10"`},
			{"kubernetes/admission-checks.yaml", "ResizeRequestName", "ResizeRequest"},
		},
	},
	{
		name: "service account of pods", folder: "batch-platform-dws", by: "scenario",
		says:  `"l4-reserved":`,
		edits: []edit{{"workloads/*/*.yaml", "^( +serviceAccountName: .*)-ksa$", "$1"}},
	},
	{
		name: "label of the queue", folder: "batch-platform", by: "check",
		says:  "must name a queue of namespace team-a",
		edits: []edit{{"workloads/*/*.yaml", "kueue.x-k8s.io/queue-name: .*", `kueue.x-k8s.io/queue-name: ""`}},
	},
	{
		name: "subject of a right and an extra right", folder: "batch-platform", by: "cluster",
		says: `GKE knows no group "team-a"`,
		also: []string{"may a member of team-a create pods"},
		edits: []edit{
			{"kubernetes/teams/*.yaml", "^  name: (.*)@example.com$", "  name: $1"},
			{"kubernetes/system/job-submitter.yaml", `^  - pods\n  verbs:\n`, "${0}  - create\n"},
		},
	},
	{
		name: "level of pod security", folder: "batch-platform", by: "scenario",
		says:  "24             0   differs",
		edits: []edit{{"kubernetes/teams/*.yaml", "enforce: baseline", "enforce: restricted"}},
	},
	{
		name: "label of a flavor", folder: "batch-platform", by: "scenario",
		says: "4            32   differs",
		edits: []edit{
			{
				"kubernetes/resource-flavors.yaml",
				`^  nodeLabels:\n(    .*\n)+`,
				"  nodeLabels:\n    capacity: gke-batch\n",
			},
		},
	},
	{
		name: "effect of a taint", folder: "tpu-training", by: "scenario",
		says:  "slices-0",
		edits: []edit{{"terraform/node_pools.tf", `"NO_SCHEDULE"`, `"NoSchedule"`}},
	},
	{
		name: "label of a pool", folder: "tpu-training", by: "scenario",
		says:  "8             0   differs",
		edits: []edit{{"terraform/node_pools.tf", `^( +)(capacity|resource-type)( +)= "(.*)"$`, `$1$4$3= "$2"`}},
	},
	{
		name: "topology of a slice", folder: "tpu-training", by: "check",
		says: "set the annotation alpha.jobset.sigs.k8s.io/exclusive-topology to cloud.google.com/gke-nodepool",
		edits: []edit{
			{
				"workloads/*/*.yaml",
				"exclusive-topology: cloud.google.com/gke-nodepool",
				"exclusive-topology: cloud.google.com/gke-tpu-topology",
			},
		},
	},
	{
		name: "controller of an admission check", folder: "a3-ultra-flex", by: "cluster",
		says:  "admissioncheck /dws-a3-ultra",
		edits: []edit{{"kubernetes/admission-checks.yaml", "/provisioning-request", "/provisioning"}},
	},
	{
		name: "folders of a node", folder: "a3-ultra-flex", by: "check",
		says:  "no quota counts volume gib (hostPath)",
		edits: []edit{{"kubernetes/system/admission-policies.yaml", "'/home/kubernetes/bin/gib', ", ""}},
	},
	{
		name: "no quota of pods and Kueue's webhooks in every namespace", folder: "batch-platform",
		by: "behind the policies", says: "uncounted: 0 pods run, want 30",
		also: []string{"in gmp-system with Kueue down"},
		edits: []edit{
			{"kubernetes/teams/*.yaml", `^( +name: pods\n +nominalQuota: "[1-9][0-9]*)[0-9]{2}"`, `$1"`},
			{
				"kubernetes/system/kueue-webhooks/kustomization.yaml",
				`^  - fieldPaths:\n    - webhooks\.\*\.namespaceSelector\n` +
					`    select:\n      kind: MutatingWebhookConfiguration\n`,
				"",
			},
		},
	},
	{
		name: "pods not covered and affinity to every namespace and borrowing", folder: "batch-platform",
		by: "behind the policies", says: "pods without requests run on nodes of",
		also: []string{
			"no quota refuses pods with affinity to another namespace",
			"cq-team-a-hp: 0 pending, 4 admitted, want 1, 3",
		},
		edits: []edit{
			{"kubernetes/teams/*.yaml", `^    pods: "0"$`, `    pods: "1000"`},
			{"kubernetes/teams/*.yaml", `^    - pods\n`, ""},
			{"kubernetes/teams/*.yaml", `^      - .*\n        name: pods\n(        .*\n)+`, ""},
			{"kubernetes/teams/*.yaml", `^      - borrowingLimit: .*\n        name`, "      - name"},
		},
	},

	// Requests that Google's APIs refuse although Terraform accepts the folder.
	{
		name: "public nodes in a private cluster", folder: "a3-ultra-flex", by: "plan",
		says:  "EnablePrivateNodes must be enabled for private clusters",
		edits: []edit{{"terraform/node_pools.tf", `^ +enable_private_nodes = true\n`, ""}},
	},
	{
		name: "names of the GPUs' subnets", folder: "a3-ultra-flex", by: "plan",
		says: "uses google_compute_subnetwork.gpu, and does not depend on it",
		edits: []edit{
			{
				"terraform/node_pools.tf",
				`google_compute_subnetwork\.gpu\[(.*?)\]\.name`, `"$${module.network.name}-$${$1}"`,
			},
			{"terraform/node_pools.tf", `^ +google_compute_subnetwork\.gpu\[.*\]\.id,\n`, ""},
		},
	},
	{
		name: "read of a reservation", folder: "batch-platform", by: "plan",
		says:  "Required 'compute.reservationBlocks.list' permission",
		edits: []edit{{"create-platform.sh", `compute\.reservationBlocks\.list,`, ""}},
	},
	{
		name: "topology of a standing pool", folder: "tpu-training", by: "plan",
		says:  "after another topology is applied, terraform says [] and a second apply would do",
		edits: []edit{{"terraform/node_pools.tf", `^ +replace_triggered_by = .*\n`, ""}},
	},
	{
		name: "threads of a TPU machine's cores", folder: "tpu-training", by: "plan",
		says: "a second apply would do map[google_container_node_pool.slices",
		edits: []edit{
			{
				"terraform/node_pools.tf",
				`node_config\[0\]\.advanced_machine_features`,
				"node_config[0].min_cpu_platform",
			},
		},
	},
	{
		name: "default of a dashboard's field", folder: "batch-platform", by: "plan",
		says: "a second apply would do map[google_monitoring_dashboard.main",
		edits: []edit{
			{
				"dashboards/cloud-monitoring/kueue.json",
				`"collapsibleGroup": \{\}`,
				`"collapsibleGroup": {"collapsed": false}`,
			},
		},
	},
	{
		name: "URL of a reservation's zone", folder: "batch-platform", by: "plan",
		says: "Provider produced inconsistent final plan",
		edits: []edit{
			{
				"terraform/node_pools.tf", `^  node_locations = \["us-central1-c"\]`,
				"  node_locations = [google_compute_reservation.l4_reserved.zone]",
			},
		},
	},
	{
		name: "order of the metrics", folder: "a3-ultra-flex", by: "plan",
		says:  "a second apply would do map[google_container_cluster.main:update]",
		edits: []edit{{"terraform/cluster.tf", `^ +monitoring_config\[0\]\.enable_components,\n`, ""}},
	},
	{
		name: "data source in a check", folder: "existing", by: "plan",
		says: "a second plan does not count as empty",
		edits: []edit{
			{
				"terraform/modules/cluster/main.tf", `^check "cluster" \{\n`,
				"$0  data \"google_container_cluster\" \"again\" {\n    name     = var.name\n" +
					"    location = var.location\n  }\n\n",
			},
		},
	},
	{
		name: "type of a placement", folder: "tpu-training", by: "plan",
		says:  "a second apply would do map[google_container_node_pool.slices",
		edits: []edit{{"terraform/node_pools.tf", `, placement_policy\[0\]\.type\]`, "]"}},
	},
	{
		name: "a build that administers service accounts", folder: "batch-platform", by: "cloudbuild",
		says: "roles/iam.serviceAccountAdmin is the way to every service account",
		edits: []edit{
			{"create-platform.sh", `^  'roles/compute\.securityAdmin'\n`, "${0}  'roles/iam.serviceAccountAdmin'\n"},
		},
	},
	{
		name: "a build that administers every cluster", folder: "batch-platform", by: "cloudbuild",
		says:  "the build has roles/container.admin on the whole project",
		edits: []edit{{"create-platform.sh", `^  'resource\.type != \"container.googleapis.com/Cluster\".*'$`, "  ''"}},
	},

	// Who may do what on the platform.
	{
		name: "ephemeral storage counted", folder: "batch-platform", by: "kueueconfig",
		says: "need one that is not counted",
		edits: []edit{
			{
				"kubernetes/system/kueue-configuration.yaml",
				`^( +excludeResourcePrefixes:)\n +- ephemeral-storage$`,
				"$1 []",
			},
		},
	},
	{
		name: "containers without requests", folder: "batch-platform", by: "check",
		says: "job with no resources: admitted",
		edits: []edit{
			{
				"kubernetes/system/admission-policies.yaml",
				`\['cpu', 'memory'\]\.exists\(r,`,
				"['cpu', 'memory'].filter(r, false).exists(r,",
			},
		},
	},
	{
		name: "any grace period", folder: "batch-platform", by: "check",
		says:  "job with a year to end after a probe: admitted",
		edits: []edit{{"kubernetes/system/admission-policies.yaml", `<= variables\.grace`, ">= 0"}},
	},
	{
		name: "anti-affinity to others and domains for itself", folder: "batch-platform", by: "check",
		says: "requiredDuringSchedulingIgnoredDuringExecution podAntiAffinity to all namespaces: admitted",
		also: []string{
			"preferredDuringSchedulingIgnoredDuringExecution podAffinity to another namespace: admitted",
			"requiredDuringSchedulingIgnoredDuringExecution podAntiAffinity in a region: admitted",
			"job with spread over regions: admitted", "job with an exclusive topology in its pods: admitted",
			"jobset of an exclusive topology: admitted", "job with a label of JobSet: admitted",
		},
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `t, has\(t\.namespaceSelector\)`, "t, false"},
			{"kubernetes/system/admission-policies.yaml", `\|\| t\.\?namespaces\.orValue`, "|| t.?names.orValue"},
			{
				"kubernetes/system/admission-policies.yaml", `k != '' && !\(k in \['kubernetes`,
				"false && !(k in ['kubernetes",
			},
			{"kubernetes/system/admission-policies.yaml", `variables\.exclusive\.all\(k, `, "${0}true || "},
			{"kubernetes/system/admission-policies.yaml", `startsWith\('jobset\.sigs`, "startsWith('jobsets.sigs"},
		},
	},
	{
		name: "pods that outlive their job", folder: "batch-platform", by: "check",
		says: "job that is deleted without its pods: admitted",
		also: []string{
			"job that is deleted without its pods, by the deprecated field: admitted", "job with a finalizer: admitted",
			"job of another controller: admitted", "job with a scheduling gate: admitted",
			"job with pods that are replaced while they end: admitted",
		},
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `!= 'Orphan'`, "!= 'None'"},
			{"kubernetes/system/admission-policies.yaml", `\?metadata\.finalizers\.`, "?metadata.names."},
			{"kubernetes/system/admission-policies.yaml", `s\.\?managedBy\.`, "s.?manager."},
			{"kubernetes/system/admission-policies.yaml", `\?schedulingGates\.`, "?gates."},
			{"kubernetes/system/admission-policies.yaml", `orValue\(''\) != 'Failed'`, "orValue('Failed') != 'Failed'"},
		},
	},
	{
		name: "names of nodes", folder: "batch-platform", by: "check",
		says: "job with a node: admitted",
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `\['nodeName', 'runtimeClassName'\]`, "['runtimeClassName']"},
		},
	},
	{
		name: "a tier without its taints", folder: "batch-platform", by: "check",
		says: "must not tolerate",
		edits: []edit{
			{
				"kubernetes/system/admission-policies.yaml",
				`'(nvidia\.com/gpu|reserved|ondemand|spot|cloud\.google\.com/gke-spot)=(true|present)'`,
				"'$1'",
			},
		},
	},
	{
		name: "pods and jobs of any size", folder: "batch-platform", by: "check",
		says: "job with more cpu than a node: admitted",
		also: []string{
			"job with a resource of no node: admitted", "job of more pods than its queue can get: admitted",
		},
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `a\.on != \[\]`, "true"},
			{"kubernetes/system/admission-policies.yaml", `variables\.unknown == \[\]`, "true"},
			{"kubernetes/system/admission-policies.yaml", `variables\.most == \[\]`, "true"},
		},
	},
	{
		name: "small pods on nodes of their own", folder: "batch-platform", by: "check",
		says: "job with anti-affinity on a node: admitted",
		also: []string{
			"job with most of the disk of its node: admitted", "job that leaves its own node empty: admitted",
		},
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `!n\.scales`, "true || ${0}"},
			{"kubernetes/system/admission-policies.yaml", `n\.least > 0\.0`, "false"},
		},
	},
	{
		name: "slices without chips", folder: "tpu-training", by: "check",
		says: "jobset that takes slices without chips: admitted",
		also: []string{
			"jobset that takes a slice with few pods: admitted", "job without accelerators: admitted",
		},
		edits: []edit{
			{"kubernetes/system/admission-policies.yaml", `a\.on\.all\(n, n\.counted == 0\)`, "true"},
			{"kubernetes/system/admission-policies.yaml", `variables\.keptSlices \|\|`, "true ||"},
		},
	},
	{
		name: "the most per job", folder: "batch-platform", by: "check",
		says:  "job of the guarantee: refused",
		edits: []edit{{"kubernetes/teams/*.yaml", `(lq-team-a-lp .* nvidia\.com/gpu=)[0-9]+`, "${1}1"}},
	},
	{
		name: "jobs started by hand", folder: "batch-platform", by: "check",
		says: "job that is started by hand: admitted",
		edits: []edit{
			{
				"kubernetes/system/admission-policies.yaml",
				`\|\| oldObject\.spec\.\?suspend`,
				"|| true $0",
			},
		},
	},
	{
		name: "any node with KAI", folder: "kai-departments", by: "check",
		says: "job on any node: admitted",
		edits: []edit{
			{
				"kubernetes/system/admission-policies.yaml",
				`variables\.kept \|\| variables\.pods\.all\(p, \[\{`,
				"true || variables.pods.all(p, [{",
			},
		},
	},
	{
		name: "teams on one network", folder: "batch-platform", by: "networkpolicies",
		says: "a pod of team-a reaches a pod of team-b",
		edits: []edit{
			{"kubernetes/teams/team-a.yaml", `^apiVersion: networking\.k8s\.io/v1\n(.+\n)+?---\n`, ""},
			{"kubernetes/teams/team-b.yaml", `^apiVersion: networking\.k8s\.io/v1\n(.+\n)+?---\n`, ""},
		},
	},

	// An existing cluster.
	{
		name: "a default for the pods of others", folder: "existing", by: "check",
		says:  "a default for the pods of others",
		edits: []edit{{"kubernetes/priority-classes.yaml", `^kind: PriorityClass\n`, "${0}globalDefault: true\n"}},
	},
	{
		name: "a namespace that was handed over is deleted", folder: "existing", by: "others",
		says: "the namespace that was handed over comes back as",
		edits: []edit{
			{
				"cloudbuild/destroy.yaml",
				`kubectl delete namespaces -l "\$TEAMS,!\$EXISTING"`,
				`kubectl delete namespaces -l "$$TEAMS"`,
			},
		},
	},

	// What Argo CD applies.
	{
		name: "queues before their webhooks", folder: "batch-platform-argocd", by: "gitops cluster",
		says: "a sync with Deployments that are not healthy",
		edits: []edit{
			{"kubernetes/*.yaml", `sync-wave: "1"`, `sync-wave: "0"`},
			{"kubernetes/*/*.yaml", `sync-wave: "1"`, `sync-wave: "0"`},
		},
	},
	{
		name: "account of JobSet", folder: "batch-platform-argocd", by: "check",
		says: "job of a jobset: refused",
		edits: []edit{
			{
				"kubernetes/system/admission-policies.yaml",
				"jobset-system:jobset-controller",
				"jobset-system:jobset-manager",
			},
		},
	},
	{
		name: "certificates of JobSet and account of a team that leaves", folder: "batch-platform-argocd",
		by: "gitops cluster", says: `still has ["NetworkPolicy"]`,
		also: []string{"a sync sets the certificate of JobSet to"},
		edits: []edit{
			{"gitops/platform.yaml", "RespectIgnoreDifferences=true", "Validate=true"},
			{
				"kubernetes/teams/*.yaml",
				`^(kind: ServiceAccount\nmetadata:\n  annotations:\n)` +
					`    .*: IgnoreExtraneous\n    .*: Prune=false,Delete=false\n`,
				"$1",
			},
		},
	},
}

// mistakes are mistakes that somebody could make in the compiler: one that the checks, KAI
// Scheduler or Terraform notices, those that a rehearsal notices, because a rehearsal
// starts from a blueprint, and those in import that random objects of Kueue notice.
var mistakes = []mutant{
	{
		name: "metric's name", folder: "batch-platform", by: "dashboards",
		says: "dashboards/cloud-monitoring/kueue.json",
		edits: []edit{
			{
				"emit/monitoring/panels.go",
				"\\Qsingle(`sum(kueue_cluster_queue_nominal_quota\\E",
				"single(`sum(kueue_clusterqueue_nominal_quota",
			},
		},
	},
	{
		name: "field of a KAI queue", folder: "kai-departments", by: "kai",
		says:  `Queue department-1: error unmarshaling JSON: while decoding JSON: json: unknown field "weight"`,
		edits: []edit{{"emit/kai/queues.go", `"overQuotaWeight": int64\(weight\)`, `"weight": int64(weight)`}},
	},
	{
		name: "attribute of a resource", folder: "batch-platform", by: "plan",
		says: `\"title\". (storage.tf:`,
		edits: []edit{
			{
				"emit/terraform/storage.go",
				`(policy\.setExpr\("bucket", "google_storage_bucket\.team\[each\.key\])\.name`,
				"$1.title",
			},
		},
	},
	{
		name: "pools that leave a zone", folder: "existing", by: "edits",
		says:  "pools that lose nodes (-cloud +build)",
		edits: []edit{{"emit/losses/losses.tmpl", `if not \$stays\}\}`, "if and (not $$stays) false}}"}},
	},
	{
		name: "pools with fewer nodes and pools of another cluster", folder: "kai-departments", by: "edits",
		says: "pools that lose nodes (-cloud +build)",
		also: []string{"a second apply would do"},
		edits: []edit{
			{
				"emit/terraform/node_pools.go",
				`"google_container_cluster\.main\.id",`, `"google_container_cluster.main.name",`,
			},
			{"emit/losses/losses.tmpl", `lt (\$is\.node_count) (\$was\.node_count)`, "lt $2 $1"},
		},
	},
	{
		name: "who may use a queue", folder: "batch-platform", by: "rehearsal",
		says: "namespace doesn't match ClusterQueue selector",
		edits: []edit{
			{
				"emit/kueue/queues.go",
				`\Qmap[string]string{corev1.LabelMetadataName: names[0]}\E`,
				`map[string]string{"name": names[0]}`,
			},
		},
	},
	{
		name: "queue of a LocalQueue", folder: "tpu-training", by: "rehearsal",
		says: `there is no ClusterQueue "lq-train"`,
		edits: []edit{
			{
				"emit/kueue/queues.go", `ClusterQueueReference\(q\.ClusterQueue\)`,
				`ClusterQueueReference("l" + q.ClusterQueue[1:])`,
			},
		},
	},
	{
		name: "cohort of a queue", folder: "batch-platform", by: "rehearsal",
		says:  "queue cq-team-a-lp: pending: 1, want 0",
		edits: []edit{{"emit/kueue/queues.go", `CohortReference\(q\.Cohort\)`, "CohortReference(q.Tier)"}},
	},
	{
		name: "preemption in a cohort", folder: "batch-platform", by: "rehearsal",
		says: "queue cq-team-a-hp: pending: 3, want 2",
		edits: []edit{
			{
				"emit/kueue/queues.go",
				`(ReclaimWithinCohort: v1beta2)\.PreemptionPolicy\(p\.ToReclaim\)`,
				"$1.PreemptionPolicyNever",
			},
		},
	},
	{
		name: "priority", folder: "batch-platform", by: "rehearsal",
		says:  "queue cq-team-a-hp: pending: 3, want 2",
		edits: []edit{{"emit/kubernetes/priorities.go", `\bc\.Value,`, "-c.Value,"}},
	},
	{
		name: "quota", folder: "batch-platform", by: "rehearsal",
		says: "queue cq-team-a-hp: pending: 0, want 2",
		edits: []edit{
			{
				"emit/kueue/queues.go",
				`kubeyaml\.Canonical\(q\.Nominal\),`,
				"func() resource.Quantity { n := q.Nominal.DeepCopy(); n.Add(q.Nominal); " +
					"return kubeyaml.Canonical(n) }(),",
			},
		},
	},
	{
		name: "pods of a job", folder: "batch-platform", by: "rehearsal",
		says:  "capacity l4-spot: running pods: 8, want 24",
		edits: []edit{{"emit/workload/job.go", `(Parallelism: +)new\(int32\(pods\)\)`, "${1}new(int32(1))"}},
	},
	{
		name: "slices of a JobSet", folder: "tpu-training", by: "rehearsal",
		says:  "queue cq-train: pending: 2, want 3",
		edits: []edit{{"emit/workload/jobset.go", `Replicas: int32\(replicas\)`, "Replicas: 1"}},
	},

	// The round trip of running queues. No mistake of a run changes a field by which another one is
	// recognized.
	{
		name: "imported stop, threshold, check, toleration and weight, and order of groups", folder: "worlds",
		by: "worlds", says: `.Spec.StopPolicy: "HoldAndDrain" -> "Hold"`,
		also: []string{
			".MaxPriorityThreshold: 100 -> null", ".OnFlavors: [", ".TolerationSeconds: 30 -> null",
			`.FairSharing: {"weight":"12"} -> null`, ".Spec.ResourceGroups[0]: absent -> {",
		},
		edits: []edit{
			{"compiler/importer/exact.go", `return string\(\*p\)`, "return string(v1beta2.Hold)"},
			{"compiler/importer/exact.go", `upTo != nil`, "false"},
			{"compiler/importer/exact.go", `on == nil`, "on == nil || true"},
			{"compiler/importer/exact.go", `t\.TolerationSeconds != nil`, "false"},
			{"compiler/importer/exact.go", `f == nil \|\| f\.Weight == nil`, "true || $0"},
			{"emit/kueue/queues.go", `_, g := range groups`, "_, g := range slices.Backward(groups)"},
		},
	},
	{
		name: "limits, flavors of checks and topologies", folder: "worlds", by: "worlds",
		says: ".BorrowingLimit: ",
		also: []string{".LendingLimit: ", ".OnFlavors", ".TopologyName: "},
		edits: []edit{
			{"compiler/lower/quotas.go", `quantityOf\(exact\.Borrow\)`, "quantityOf(exact.Guaranteed)"},
			{"compiler/importer/exact.go", `\*r\.LendingLimit\)`, "r.NominalQuota)"},
			{"emit/kueue/queues.go", `slices\.Contains\(c\.Flavors`, "!slices.Contains(c.Flavors"},
			{"compiler/lower/flavors.go", `, valueOr\(in\.Topology, ""\)`, `, ""`},
		},
	},
	{
		name: "fungibility, stop, weight and conditions of a queue, and order of flavors", folder: "worlds",
		by: "worlds", says: `.FlavorFungibility.WhenCanBorrow: "TryNextFlavor" -> "MayStopSearch"`,
		also: []string{
			`.Preference: "PreemptionOverBorrowing" -> null`, `.StopPolicy: "HoldAndDrain" -> null`,
			`.FairSharing.Weight: "500m" -> "0"`, ".NamespaceSelector.MatchExpressions[0].Values: ",
			".Flavors[0].Name: ",
		},
		edits: []edit{
			{"emit/kueue/queues.go", `if n\.BeforeBorrowing`, "if !n.BeforeBorrowing"},
			{"emit/kueue/queues.go", `if n\.PrefersEvicting`, "if false"},
			{"emit/kueue/queues.go", `if q\.Stop != ""`, `if q.Stop == "Hold"`},
			{"compiler/lower/sharing.go", `FormatFloat\(\*w, `, "FormatFloat(float64(int(*w)), "},
			{"emit/kueue/queues.go", `, Values: c\.Values`, ""},
			{
				"compiler/lower/quotas.go", `range names (\{\n\t\tin, given)`,
				"range slices.Sorted(slices.Values(names)) $1",
			},
		},
	},
}

// TestPlaces checks in seconds what the other tests find out in minutes: that what every
// mutant changes is still there. make test runs it, so that a change of the compiler keeps
// its mutants.
func TestPlaces(t *testing.T) {
	for _, m := range mutants {
		if _, err := shared.change(t.Context(), m, filepath.Join(t.TempDir(), m.folder)); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	for _, m := range mistakes {
		for _, e := range m.edits {
			if _, err := e.apply(shared.root, t.TempDir()); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
	}
	for _, m := range harmless {
		for _, e := range m.edits {
			from, err := shared.root, error(nil)
			if !strings.HasSuffix(e.files, ".go") {
				from, err = shared.folders[m.folder]()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.apply(from, t.TempDir()); (err == nil) == errors.Is(m.want, errPlace) {
				t.Errorf("%s: %v", m.name, err)
			}
		}
	}
	if _, err := (edit{"go.mod", "the moon", ""}).apply(shared.root, t.TempDir()); !errors.Is(err, errPlace) {
		t.Errorf("what is not there: %v", err)
	}
}
