package mutants_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are mistakes that somebody could make in the compiler. The expected
// output of each tool is written by hand.
var mutants = []mutant{
	// Dashboards, alerts and builds, checked against the libraries of their readers.
	{
		name: "metric's name", file: "emit/monitoring/panels.go",
		old: "expr: `sum(kueue_cluster_queue_nominal_quota", new: "expr: `sum(kueue_clusterqueue_nominal_quota",
		blueprint: "batch-platform", by: "check", says: "dashboards/cloud-monitoring/admin.json",
	},
	{
		name: "PromQL", file: "emit/monitoring/panels.go",
		old: "`sum(kueue_pending_workloads{@kueue}) or", new: "`sum(kueue_pending_workloads{@kueue} or",
		blueprint: "batch-platform", by: "check", says: "dashboards/grafana/admin.json",
	},
	{
		name: "field of an alert rule", file: "emit/dashboard/rules.go",
		old: `json:"for,omitempty"`, new: `json:"duration,omitempty"`,
		blueprint: "batch-platform", by: "check", says: "dashboards/alert-rules.yaml",
	},
	{
		name: "variable of an alert", file: "emit/dashboard/rules.go",
		old: "{{ $$labels.$1 }}", new: "{{ $$label.$1 }}",
		blueprint: "batch-platform", by: "check", says: "dashboards/alert-rules.yaml",
	},
	{
		name: "field of what is scraped", file: "emit/kubernetes/scraping.go",
		old: `json:"insecureSkipVerify"`, new: `json:"insecure"`,
		blueprint: "batch-platform", by: "check", says: "kubernetes/monitoring/kueue.yaml",
	},
	{
		name: "field of a build", file: "emit/cloudbuild/build.go",
		old: `yaml:"entrypoint,omitempty"`, new: `yaml:"entryPoint,omitempty"`,
		blueprint: "batch-platform", by: "check", says: "cloudbuild/provision.yaml",
	},
	{
		name: "undeclared substitution", file: "emit/cloudbuild/build.go",
		old: "Substitutions: buildSubstitutions(p),", new: "Substitutions: map[string]string{},",
		blueprint: "batch-platform", by: "check", says: "cloudbuild/provision.yaml",
	},
	{
		name: "field of Kueue's configuration", file: "emit/kueue/configuration.go",
		old: `json:"manageJobsWithoutQueueName"`, new: `json:"manageJobWithoutQueueName"`,
		blueprint: "batch-platform", by: "check", says: "kueue-configuration.yaml",
	},

	// KAI Scheduler's own code.
	{
		name: "field of a KAI queue", file: "emit/kai/queues.go",
		old: `json:"overQuotaWeight"`, new: `json:"weight"`,
		blueprint: "kai-departments", by: "kai",
		says: `Queue department-1: error unmarshaling JSON: while decoding JSON: json: unknown field "weight"`,
	},
	{
		name: "parent of a KAI queue", file: "emit/kai/queues.go",
		old: "ParentQueue: parent", new: `ParentQueue: ""`,
		blueprint: "kai-departments", by: "kai", says: "after phase start (-told +placed)",
	},
	{
		name: "weight of a KAI queue", file: "emit/kai/queues.go",
		old: "Weight: 1", new: "Weight: 0",
		blueprint: "kai-departments", by: "kai", says: "project-b asks (-told +placed)",
	},
	{
		name: "priority of a KAI queue", file: "emit/kai/queues.go",
		old: "t.Cohort, t.Priority,", new: "t.Cohort, 100,",
		blueprint: "kai-departments", by: "kai", says: "project-a before project-b (-told +placed)",
	},
	{
		name: "guarantee of a KAI queue", file: "emit/kai/queues.go",
		old: "newShare(g.Guaranteed, g.Most)", new: "newShare(0, g.Most)",
		blueprint: "kai-departments", by: "kai", says: "that are not to be evicted",
	},
	{
		name: "tolerations", file: "emit/workload/pod.go",
		old: "kubeyaml.Tolerations(w.Tolerations)", new: "nil",
		blueprint: "kai-departments", by: "kai", says: `"h100-reserved-1"`,
	},
	{
		name: "label of a KAI job", file: "compiler/lower/queueing.go",
		old: "{Key: ir.LabelKAIQueue, Value: w.Queue}", new: "{Key: ir.LabelKAIQueue, Value: w.Name}",
		blueprint: "kai-departments", by: "kai", says: `"h100-reserved-1"`,
	},

	// Terraform.
	{
		name: "attribute of a resource", file: "emit/terraform/storage.go",
		old:       `policy.setExpr("bucket", "google_storage_bucket.team[each.key].name")`,
		new:       `policy.setExpr("bucket", "google_storage_bucket.team[each.key].title")`,
		blueprint: "batch-platform", by: "plan", says: `\"title\". (storage.tf:`,
	},
	{
		name: "argument", file: "emit/terraform/reservations.go",
		old: "specific_reservation_required", new: "specific_reservation_only",
		blueprint: "batch-platform", by: "plan", says: `"filename": "reservations.tf"`,
	},
	{
		name: "reference", file: "emit/terraform/node_pools.go",
		old: `"var.node_account"`, new: `"google_service_account.node.email"`,
		blueprint: "batch-platform", by: "plan", says: `"filename": "cluster.tf"`,
	},
	{
		name: "a key for many", file: "emit/terraform/identities.go",
		old: "grant.role => local", new: "grant.team => local",
		blueprint: "batch-platform", by: "plan", says: "resources (-by hand +planned)",
	},
	{
		name: "no role for groups", file: "emit/terraform/identities.go",
		old: "if p.HasGroups() {\n\t\tb.note(\"The group", new: "if !p.HasGroups() {\n\t\tb.note(\"The group",
		blueprint: "batch-platform", by: "plan", says: "resources (-by hand +planned)",
	},
	{
		name: "type of an argument", file: "emit/terraform/storage.go",
		old: `bucket.setExpr("for_each", "local.team_buckets")`, new: `bucket.setExpr("for_each", "var.teams")`,
		blueprint: "batch-platform", by: "plan", says: "string required. (storage.tf:",
	},
	{
		name: "what replaces a pool", file: "emit/terraform/lifecycle.go",
		old: `{"initial_node_count", "`, new: `{"node_count", "`,
		blueprint: "batch-platform", by: "changes", says: "replace google_container_node_pool.l4_ondemand",
	},

	// The API server, its webhooks, Kueue, JobSet and the scheduler.
	{
		name: "kind", file: "emit/kueue/queues.go",
		old: `"LocalQueue"`, new: `"Localqueue"`,
		blueprint: "tpu-training", by: "cluster", says: `"Localqueue"`,
	},
	{
		name: "field of a policy", file: "emit/kubernetes/policies.go",
		old: ".split('%s').map(q, q.split('%s'))", new: ".split('%s').map(q, q.part('%s'))",
		blueprint: "tpu-training", by: "cluster", says: "jobs-are-queued",
	},
	{
		name: "expression of a policy", file: "emit/kubernetes/policies.go",
		old: ".orValue('') == 'None'", new: ".orValue('') != 'None'",
		blueprint: "batch-platform", by: "cluster", says: "services-are-headless",
	},
	{
		name: "two default priorities", file: "emit/kubernetes/priorities.go",
		old: "GlobalDefault:    c.Default", new: "GlobalDefault:    c.Preempts",
		blueprint: "batch-platform", by: "cluster", says: `"hp"`,
	},
	{
		name: "queue of a LocalQueue", file: "emit/kueue/queues.go",
		old: "v1beta2.ClusterQueueReference(q.ClusterQueue)", new: "v1beta2.ClusterQueueReference(q.LocalQueue)",
		blueprint: "tpu-training", by: "cluster", says: "localqueue tpu-training/lq-tpu-training-train",
	},
	{
		name: "controller of an admission check", file: "emit/kueue/checks.go",
		old: "v1beta2.ProvisioningRequestControllerName", new: `"kueue.x-k8s.io/provisioning"`,
		blueprint: "a3-ultra-flex", by: "cluster", says: "admissioncheck /dws-a3-ultra",
	},
	{
		name: "no admission check", file: "emit/kueue/queues.go",
		old: "AdmissionChecksStrategy: checksOf(q)", new: "AdmissionChecksStrategy: nil",
		blueprint: "a3-ultra-flex", by: "cluster", says: "sample of research has no ProvisioningRequest 1",
	},
	{
		name: "class of a ProvisioningRequest", file: "compiler/lower/capacity.go",
		old: `"queued-provisioning.gke.io"`, new: `"check-capacity.autoscaling.x-k8s.io"`,
		blueprint: "a3-ultra-flex", by: "cluster", says: `the class of job-sample-`,
	},
	{
		name: "time of a ProvisioningRequest", file: "compiler/lower/queueing.go",
		old: "Value: strconv.Itoa(w.MaxRunSeconds)", new: "Value: strconv.Itoa(w.MaxRunSeconds / 60)",
		blueprint: "a3-ultra-flex", by: "cluster", says: "is for 10 seconds, want 600",
	},
	{
		name: "nodes of a ProvisioningRequest", file: "emit/kueue/checks.go",
		old: `requestDetail = "ResizeRequestName"`, new: `requestDetail = "ResizeRequest"`,
		blueprint: "a3-ultra-flex", by: "cluster", says: `selects the nodes of "", want "resize-research-sample"`,
	},
	{
		name: "service account of pods", file: "emit/workload/pod.go",
		old: "ServiceAccountName: w.KubeAccount", new: "ServiceAccountName: w.Team",
		blueprint: "batch-platform-dws", by: "cluster", says: `"l4-reserved":`,
	},
	{
		name: "label of the queue", file: "compiler/lower/queueing.go",
		old: "Value: w.Queue}}}", new: "Value: w.Name}}}",
		blueprint: "batch-platform", by: "cluster", says: "must name a queue of namespace team-a",
	},
	{
		name: "subject of a right", file: "emit/kubernetes/teams.go",
		old: "Kind: rbacv1.GroupKind, Name: t.Group", new: "Kind: rbacv1.GroupKind, Name: t.Name",
		blueprint: "batch-platform", by: "cluster", says: `GKE knows no group "team-a"`,
	},
	{
		name: "a right more", file: "emit/kubernetes/roles.go",
		old: `[]string{"events", "pods"}, Verbs: follow`, new: `[]string{"events", "pods"}, Verbs: write`,
		blueprint: "batch-platform", by: "cluster", says: "may a member of team-a create pods",
	},
	{
		name: "level of pod security", file: "emit/kubernetes/teams.go",
		old: `baseline   = "baseline"`, new: `baseline   = "restricted"`,
		blueprint: "batch-platform", by: "cluster", says: "24             0   differs",
	},
	{
		name: "who may use a queue", file: "emit/kueue/queues.go",
		old: "map[string]string{corev1.LabelMetadataName: names[0]}", new: `map[string]string{"name": names[0]}`,
		blueprint: "batch-platform", by: "rehearsal", says: "namespace doesn't match ClusterQueue selector",
	},
	{
		name: "label of a flavor", file: "emit/kueue/flavors.go",
		old: "= l.Value", new: "= p.Name",
		blueprint: "batch-platform", by: "cluster", says: "4            32   differs",
	},
	{
		name: "cohort of a queue", file: "emit/kueue/queues.go",
		old: "v1beta2.CohortReference(q.Cohort)", new: "v1beta2.CohortReference(q.Tier)",
		blueprint: "batch-platform", by: "rehearsal", says: "queue cq-team-a-lp: pending: 1, want 0",
	},
	{
		name: "preemption in a cohort", file: "emit/kueue/queues.go",
		old:       "ReclaimWithinCohort: v1beta2.PreemptionPolicy(p.ToReclaim)",
		new:       "ReclaimWithinCohort: v1beta2.PreemptionPolicyNever",
		blueprint: "batch-platform", by: "rehearsal", says: "queue cq-team-a-hp: pending: 3, want 2",
	},
	{
		name: "priority", file: "emit/kubernetes/priorities.go",
		old: "c.Value,", new: "-c.Value,",
		blueprint: "batch-platform", by: "rehearsal", says: "queue cq-team-a-hp: pending: 3, want 2",
	},
	{
		name: "quota", file: "emit/kueue/queues.go",
		old: "kubeyaml.Canonical(q.Nominal),",
		new: "func() resource.Quantity { n := q.Nominal.DeepCopy(); n.Add(q.Nominal); " +
			"return kubeyaml.Canonical(n) }(),",
		blueprint: "batch-platform", by: "rehearsal", says: "queue cq-team-a-hp: pending: 0, want 2",
	},
	{
		name: "borrowing", file: "emit/kueue/queues.go",
		old: "canonicalLimit(q.Borrowing)", new: "canonicalLimit(q.Lending)",
		blueprint: "batch-platform", by: "patient cluster", says: "cq-team-a-hp: 0 pending, 4 admitted, want 1, 3",
	},
	{
		name: "pods of a job", file: "emit/workload/job.go",
		old: "Parallelism:    new(int32(pods))", new: "Parallelism:    new(int32(1))",
		blueprint: "batch-platform", by: "rehearsal", says: "capacity l4-spot: running pods: 8, want 24",
	},
	{
		name: "effect of a taint", file: "emit/terraform/node_pools.go",
		old: `"NO_SCHEDULE"`, new: `"NoSchedule"`,
		blueprint: "tpu-training", by: "cluster", says: "slices-0",
	},
	{
		name: "label of a pool", file: "emit/terraform/variables.go",
		old: "entry{l.Key, stringTokens(l.Value)}", new: "entry{l.Value, stringTokens(l.Key)}",
		blueprint: "tpu-training", by: "cluster", says: "8             0   differs",
	},
	{
		name: "topology of a slice", file: "emit/workload/jobset.go",
		old: "ExclusiveKey, ir.LabelNodePool", new: `ExclusiveKey, "cloud.google.com/gke-tpu-topology"`,
		blueprint: "tpu-training", by: "cluster", says: "8             4   differs",
	},
	{
		name: "slices of a JobSet", file: "emit/workload/jobset.go",
		old: "Replicas: int32(replicas)", new: "Replicas: 1",
		blueprint: "tpu-training", by: "rehearsal", says: "queue cq-train: pending: 2, want 3",
	},
	{
		name: "nodes of an installer", file: "emit/kubernetes/installers.go",
		old: "Key: ir.LabelNodePool, Operator", new: `Key: "nodepool", Operator`,
		blueprint: "a3-ultra-flex", by: "cluster", says: "daemonset kube-system/nccl-rdma-installer",
	},
	{
		name: "folders of a node", file: "emit/kubernetes/nodes_policy.go",
		old: "r.libraries = append(r.libraries, ir.HostGIB)", new: "r.libraries = nil",
		blueprint: "a3-ultra-flex", by: "cluster", says: "no quota counts volume gib (hostPath)",
	},
	{
		name: "Kueue's webhooks in every namespace", file: "emit/kueue/webhooks.go",
		old: `everySelector("MutatingWebhookConfiguration"),`, new: "",
		blueprint: "batch-platform", by: "attempts", says: "in gmp-system with Kueue down",
	},

	// Requests that Google's APIs refuse although Terraform accepts the folder.
	{
		name: "public nodes in a private cluster", file: "emit/terraform/node_pools.go",
		old: `	networks.setBool("enable_private_nodes", true)
`, new: "",
		blueprint: "a3-ultra-flex", by: "plan", says: "EnablePrivateNodes must be enabled for private clusters",
	},
	{
		name: "read of a reservation", file: "compiler/lower/delivery.go",
		old: `			"compute.reservationBlocks.list", // the provider's read of every reservation
`, new: "",
		blueprint: "batch-platform", by: "plan", says: "Required 'compute.reservationBlocks.list' permission",
	},
	{
		name: "topology of a standing pool", file: "emit/terraform/lifecycle.go",
		old: `		block.setExpr("replace_triggered_by", "["+trigger+"]")
`, new: "",
		blueprint: "tpu-training", by: "plan",
		says: "after another topology is applied, terraform says [] and a second apply would do",
	},
	{
		name: "threads of a TPU machine's cores", file: "emit/terraform/lifecycle.go",
		old: `"node_config[0].advanced_machine_features"`, new: `"node_config[0].min_cpu_platform"`,
		blueprint: "tpu-training", by: "plan", says: "a second apply would do map[google_container_node_pool.slices",
	},
	{
		name: "default of a dashboard's field", file: "emit/dashboard/cloud.go",
		old: `json:"collapsed,omitempty"`, new: `json:"collapsed"`,
		blueprint: "batch-platform", by: "plan", says: "a second apply would do map[google_monitoring_dashboard.main",
	},
	{
		name: "settings of pools that GKE does not create", file: "emit/terraform/cluster.go",
		old: `	if p.AutoProvisioning.Create {
		c.block("node_pool_auto_config")`, new: `	if p.Name != "" {
		c.block("node_pool_auto_config")`,
		blueprint: "tpu-training", by: "plan", says: "a second apply would do map[google_container_cluster.main:update",
	},
	{
		name: "a build that administers service accounts", file: "compiler/lower/delivery.go",
		old:       `"roles/compute.securityAdmin") // firewall`,
		new:       `"roles/compute.securityAdmin", "roles/iam.serviceAccountAdmin")`,
		blueprint: "batch-platform", by: "check",
		says: "roles/iam.serviceAccountAdmin is the way to every service account",
	},
	{
		name: "a build that administers every cluster", file: "compiler/lower/delivery.go",
		old: `Condition: ir.ClusterCondition(p.Project, p.Cluster.Location, p.Cluster.Name),`, new: `Condition: "",`,
		blueprint: "batch-platform", by: "check", says: "the build has roles/container.admin on the whole project",
	},

	// A cluster that others own.
	{
		name: "a default for the pods of others", file: "compiler/lower/lower.go",
		old: "Default: t.Default && i == 0 && b.Cluster.Existing == nil,", new: "Default: i == 0,",
		blueprint: "existing", by: "check", says: "a default for the pods of others",
	},
	{
		name: "a namespace that was handed over is deleted", file: "emit/cloudbuild/scripts/leave.sh",
		old: `kubectl delete namespaces -l "$TEAMS,!$EXISTING"`, new: `kubectl delete namespaces -l "$TEAMS"`,
		blueprint: "existing", by: "others", says: "the namespace that was handed over comes back as",
	},
	{
		name: "no quota of pods", file: "emit/kueue/queues.go",
		old: "pods.NominalQuota = *podsOf(&q.NominalQuota)", new: "pods.NominalQuota = q.NominalQuota",
		blueprint: "batch-platform", by: "attempts", says: "uncounted: 0 pods run, want 30",
	},
	{
		name: "pods not covered", file: "emit/kueue/queues.go",
		old: `group.CoveredResources = append(group.CoveredResources, corev1.ResourcePods)
		for _, f := range q.Flavors {
			quotas := flavorQuotas(f)
			quotas.Resources = append(quotas.Resources, podsQuota(quotas.Resources, p.CountedIn(f.Flavor)))`,
		new: `for _, f := range q.Flavors {
			_ = podsQuota(nil, p.CountedIn(f.Flavor))
			quotas := flavorQuotas(f)`,
		blueprint: "batch-platform", by: "attempts", says: "pods without requests run on nodes of",
	},
	{
		name: "ephemeral storage counted", file: "emit/kueue/configuration.go",
		old: "[]string{string(corev1.ResourceEphemeralStorage)}", new: "[]string{}",
		blueprint: "batch-platform", by: "check", says: "need one that is not counted",
	},
	{
		name: "containers without requests", file: "emit/kubernetes/bounds_policy.go",
		old: "['cpu', 'memory'].exists(r,", new: "['cpu', 'memory'].filter(r, false).exists(r,",
		blueprint: "batch-platform", by: "check", says: "job with no resources: admitted",
	},
	{
		name: "any grace period", file: "emit/kubernetes/bounds_policy.go",
		old: ".orValue(30) <= variables.grace)", new: ".orValue(30) >= 0)",
		blueprint: "batch-platform", by: "check", says: "job with a year to end: admitted",
	},
	{
		name: "names of nodes", file: "emit/kubernetes/bounds_policy.go",
		old: "['nodeName', 'runtimeClassName']", new: "['runtimeClassName']",
		blueprint: "batch-platform", by: "check", says: "job with a node: admitted",
	},
	{
		name: "a tier without its taints", file: "emit/kubernetes/bounds_policy.go",
		old: `t.Key+"="+t.Value`, new: `t.Key`,
		blueprint: "batch-platform", by: "check", says: "must not tolerate",
	},
	{
		name: "jobs started by hand", file: "emit/kueue/guard.go",
		old: `"|| !oldObject.spec.?suspend.orValue(false) || `, new: `"|| true || `,
		blueprint: "batch-platform", by: "check", says: "job that is started by hand: admitted",
	},
	{
		name: "any node with KAI", file: "emit/kai/guard.go",
		old:       "variables.kept || variables.pods.all(p, [%s].exists(c,",
		new:       "true || variables.pods.all(p, [%s].exists(c,",
		blueprint: "kai-departments", by: "check", says: "job on any node: admitted",
	},
	{
		name: "teams on one network", file: "emit/kubernetes/teams.go",
		old: "networkPolicy(p, t), serviceAccount(p, t)", new: "serviceAccount(p, t)",
		blueprint: "batch-platform", by: "check", says: "a pod of team-a reaches a pod of team-b",
	},

	// What Argo CD applies.
	{
		name: "queues before their webhooks", file: "emit/kubernetes/gitops.go",
		old: `annotations := map[string]string{argoWave: "1"}`, new: `annotations := map[string]string{argoWave: "0"}`,
		blueprint: "batch-platform-argocd", by: "gitops cluster", says: "a sync with Deployments that are not healthy",
	},
	{
		name: "certificates of JobSet", file: "emit/gitops/argocd.go",
		old: `"RespectIgnoreDifferences=true"`, new: `"Validate=true"`,
		blueprint: "batch-platform-argocd", by: "gitops cluster", says: "a sync sets the certificate of JobSet to",
	},
	{
		name: "account of JobSet", file: "compiler/ir/gitops.go",
		old: `jobSetOfChart   = "jobset-controller"`, new: `jobSetOfChart   = "jobset-manager"`,
		blueprint: "batch-platform-argocd", by: "check", says: "job of a jobset: refused",
	},
	{
		name: "account of a team that leaves", file: "emit/kubernetes/gitops.go",
		old: "namespaces[o.Namespace]", new: "namespaces[o.Name]",
		blueprint: "batch-platform-argocd", by: "gitops cluster", says: `still has ["NetworkPolicy"]`,
	},
}

// TestPlaces checks in a second what TestMutants finds out in minutes: that the source
// of every mutant is still there, once. make test runs it, so that a change of the
// source keeps its mutants.
func TestPlaces(t *testing.T) {
	for _, m := range mutants {
		content, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(content), m.old); n != 1 {
			t.Errorf("%s: %s has %d times %q", m.name, m.file, n, m.old)
		}
	}
}
