package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// ours are the labels of the platform's own objects.
const ours = `labels: {app.kubernetes.io/managed-by: batchwright, app.kubernetes.io/part-of: p, team: a}`

// compareYAML compares a manifest with an export.
func compareYAML(t testing.TB, tool ir.GitOpsTool, manifest, export string) *Result {
	t.Helper()
	files := []exports.File{{Name: "export.yaml", Content: []byte(export)}}
	read, findings, err := exports.Read(files, exports.Comparison)
	if err != nil || findings.HasErrors() {
		t.Fatalf("%v, %+v", err, findings.Sorted())
	}
	plan := &ir.Platform{Name: "p", Project: "p", Region: "r", Cluster: ir.Cluster{Name: "p", Location: "r"}}
	plan.Delivery.GitOps.Tool = tool
	res, err := Compare(Folder{
		Tree:  emit.Tree{{Path: "kubernetes/a.yaml", Content: []byte(manifest)}},
		Plan:  plan,
		Place: func(bool, ...string) diag.Span { return diag.Span{} },
	}, read)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// changeLines returns the changes of a result as lines.
func changeLines(r *Result) []string {
	var out []string
	for _, o := range r.Objects {
		line := map[delta.Op]string{delta.Added: "+", delta.Changed: "~", delta.Removed: "-"}[o.Op] +
			" " + o.Kind + " " + o.Name
		for _, f := range o.Fields {
			line += fmt.Sprintf(" | %s: %s -> %s", f.Path, f.From, f.To)
		}
		if o.Note != "" {
			line += " | " + o.Note
		}
		out = append(out, line)
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return out
}

// queue returns a ClusterQueue with the fields of metadata and of spec.
func queue(metadata, spec string) string {
	return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q, " + metadata +
		"}\nspec: {" + spec + "}\n"
}

// managed returns managed fields in which each manager owns the given fields of spec.
func managed(managers ...string) string {
	var entries []string
	for _, m := range managers {
		name, fields, _ := strings.Cut(m, ": ")
		manager, operation, _ := strings.Cut(name, "/")
		entries = append(entries, fmt.Sprintf(`{manager: %s, operation: %s, fieldsV1: {%s}}`, manager,
			operation, fields))
	}
	return ours + ", managedFields: [" + strings.Join(entries, ", ") + "]"
}

// TestApply: an object changes as in a server-side apply.
func TestApply(t *testing.T) {
	const cohort = `"f:spec": {"f:cohortName": {}}`
	const applied = `annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec": {"cohortName": "c"}}'}`
	for _, c := range []struct{ name, manifest, export, want string }{
		{
			"defaults, status and noise", queue(ours, "queueingStrategy: BestEffortFIFO"),
			queue(ours+`, uid: x, resourceVersion: "1", generation: 2, finalizers: [kueue.x-k8s.io/resource-in-use],
 creationTimestamp: "2026-01-01T00:00:00Z", `+applied,
				`stopPolicy: None, preemption: {withinClusterQueue: Never, reclaimWithinCohort: Never,
 borrowWithinCohort: {policy: Never}}, flavorFungibility: {whenCanBorrow: MayStopSearch,
 whenCanPreempt: TryNextFlavor}`) +
				"status: {pendingWorkloads: 3}\n",
			"",
		},
		{"the default against another value", queue(ours, "queueingStrategy: BestEffortFIFO"),
			queue(ours, "queueingStrategy: StrictFIFO"), "spec.queueingStrategy: StrictFIFO -> BestEffortFIFO"},
		{
			"quantities in another form",
			queue(ours, `resourceGroups: [{flavors: [{name: a, resources: [{name: cpu, nominalQuota: "1"}]}]}]`),
			queue(ours, `resourceGroups: [{flavors: [{name: a, resources: [{name: cpu, nominalQuota: 1000m}]}]}]`), "",
		},
		{
			"the order of flavors",
			queue(ours, `resourceGroups: [{flavors: [{name: a}, {name: b}]}]`),
			queue(ours, `resourceGroups: [{flavors: [{name: b}, {name: a}]}]`),
			"spec.resourceGroups[0].flavors: order: b, a -> order: a, b",
		},
		{
			"a limit in an atomic list",
			queue(ours, `resourceGroups: [{flavors: [{name: a, resources: [{name: cpu, nominalQuota: 1}]}]}]`),
			queue(ours, `resourceGroups: [{flavors: [{name: a, resources: [{name: cpu, nominalQuota: 1,
 lendingLimit: 2}]}]}]`),
			"spec.resourceGroups[0].flavors[a].resources[cpu].lendingLimit: 2 -> ",
		},
		{"labels and annotations of others", queue(ours, ""),
			queue(strings.Replace(ours, "{", "{mine: x, ", 1)+", annotations: {mine: y}", ""), ""},
		{"an annotation of the folder", queue(ours+", annotations: {queues: b}", ""),
			queue(ours+", annotations: {queues: a}", ""), "metadata.annotations.queues: a -> b"},
		{"an atomic selector", queue(ours, "namespaceSelector: {matchLabels: {a: b}}"),
			queue(ours, "namespaceSelector: {matchLabels: {a: b, c: d}}"),
			"spec.namespaceSelector.matchLabels.c: d -> "},
		{"everything against nothing", queue(ours, "namespaceSelector: {}"), queue(ours, ""),
			"spec.namespaceSelector:  -> {}"},
		{"a stopped queue", queue(ours, ""), queue(ours, "stopPolicy: Hold"), ""},
		{"a field of an earlier folder", queue(ours, ""), queue(ours, "cohortName: c"), "spec.cohortName: c -> "},
		{"a field of others", queue(ours, ""), queue("labels: {team: x}", "cohortName: c"), "metadata.labels.team: x " +
			"-> a"},
		{"a field that kubectl applied", queue("", ""), queue(applied, "cohortName: c"), "spec.cohortName: c -> "},
		{"a stopped queue that kubectl applied", queue("", ""),
			queue(strings.Replace(applied, "cohortName", "stopPolicy", 1), "stopPolicy: Hold"),
			"spec.stopPolicy: Hold " +
				"-> None"},
		{"a field that the build owns", queue(ours, ""), queue(managed("batchwright/Apply: "+cohort), "cohortName: c"),
			"spec.cohortName: c -> "},
		{"a field that somebody else owns", queue(ours, ""),
			queue(managed("kubectl-edit/Update: "+cohort), "cohortName: c"), ""},
		{"a field with two owners", queue(ours, ""),
			queue(managed("batchwright/Apply: "+cohort, "kubectl-edit/Update: "+cohort), "cohortName: c"), ""},
		{"a part of a field", queue(ours, ""),
			queue(managed(`batchwright/Apply: "f:spec": {"f:preemption": {"f:withinClusterQueue": {}}}`,
				`x/Update: "f:spec": {"f:preemption": {"f:reclaimWithinCohort": {}}}`),
				"preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}"),
			"spec.preemption.withinClusterQueue: LowerPriority -> Never"},
		{"an admission check of others", queue(ours, "admissionChecksStrategy: {admissionChecks: [{name: a}]}"),
			queue(managed(`x/Update: "f:spec": {"f:admissionChecksStrategy": {}}`),
				"admissionChecksStrategy: {admissionChecks: [{name: b}]}"),
			"spec.admissionChecksStrategy.admissionChecks[a]:  -> {name: a} | jobs also need the admission checks " +
				"that others have set: b"},
		{"an admission check of the build", queue(ours, "admissionChecksStrategy: {admissionChecks: [{name: a}]}"),
			queue(managed(`batchwright/Apply: "f:spec": {"f:admissionChecksStrategy": {"f:admissionChecks":
 {'k:{"name":"b"}': {}}}}`), "admissionChecksStrategy: {admissionChecks: [{name: b}]}"),
			"spec.admissionChecksStrategy.admissionChecks[a]:  -> {name: a} | " +
				"spec.admissionChecksStrategy.admissionChecks[b]: {name: b} -> "},
		{"v1beta1", queue(ours, "cohortName: c"),
			strings.Replace(queue(ours, "cohort: c"), "v1beta2", "v1beta1", 1), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := []string{"~ ClusterQueue q | " + c.want}
			if c.want == "" {
				want = nil
			}
			res := compareYAML(t, "", c.manifest, c.export)
			if got := changeLines(res); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if (res.Facts.Unchanged == 1) != (c.want == "") {
				t.Errorf("%d unchanged", res.Facts.Unchanged)
			}
		})
	}
}

// TestOtherKinds: fields that the API fills in are no changes in kinds without tables.
func TestOtherKinds(t *testing.T) {
	for _, c := range []struct{ name, manifest, export, want string }{
		{
			"a NetworkPolicy",
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: n},
 spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]}}`,
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: n},
 spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}], ports: [{port: 80,
 protocol: TCP}]}]}}`,
			"",
		},
		{
			"a wider NetworkPolicy",
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: n},
 spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}}`,
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: n},
 spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}, {from: [{namespaceSelector: {}}]}]}}`,
			"~ NetworkPolicy n/a | spec.ingress[1]: {from: [{namespaceSelector: {}}]} -> ",
		},
		{
			"a narrower selector",
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a},
 spec: {podSelector: {matchLabels: {a: b}}}}`,
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a},
 spec: {podSelector: {matchLabels: {a: b, c: d}}}}`,
			"~ NetworkPolicy a | spec.podSelector.matchLabels.c: d -> ",
		},
		{
			"subjects of a RoleBinding",
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a},
 roleRef: {kind: Role, name: r}, subjects: [{kind: Group, name: g}]}`,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a},
 roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}, {kind: Group, name: g,
 apiGroup: rbac.authorization.k8s.io}]}`,
			"~ RoleBinding a | subjects[User/u]: {kind: User, name: u} -> ",
		},
		{
			"the role of a RoleBinding",
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a,
 namespace: n}, roleRef: {kind: Role, name: r}}`,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a,
 namespace: n}, roleRef: {kind: Role, name: s}}`,
			"~ RoleBinding n/a | roleRef.name: s -> r | is refused by the API: roleRef cannot change; delete the " +
				"object before the folder is applied: kubectl delete rolebindings.rbac.authorization.k8s.io a -n n",
		},
		{
			"a DaemonSet",
			`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a},
 spec: {template: {spec: {containers: [{name: c, image: i:2}]}}}}`,
			`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {revisionHistoryLimit: 10,
 template: {spec:
 {dnsPolicy: ClusterFirst, containers: [{name: sidecar, image: x}, {name: c, image: i:1,
 imagePullPolicy: IfNotPresent}]}}}}`,
			"~ DaemonSet a | spec.template.spec.containers[c].image: i:1 -> i:2",
		},
		{
			"a policy",
			`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a},
 spec: {matchConstraints: {resourceRules: [{resources: [jobs]}]}, validations: [{expression: a}]}}`,
			`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a},
 spec: {failurePolicy: Fail, matchConstraints: {matchPolicy: Equivalent, objectSelector: {}, namespaceSelector: {},
 resourceRules: [{resources: [jobs], scope: "*"}]}, validations: [{expression: b}]}}`,
			"~ ValidatingAdmissionPolicy a | spec.validations[0].expression: b -> a",
		},
		{
			"a ConfigMap",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {f: \"a: 1\\nb: 2\\n\"}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {g: x, f: \"b: 3\\na: 1\\n\"}}",
			"~ ConfigMap a | data.f.b: 3 -> 2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(changeLines(compareYAML(t, "", c.manifest, c.export)), "\n")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestImmutable: a change that the API refuses is replaced by what replaces such objects,
// or refused.
func TestImmutable(t *testing.T) {
	local := func(labels, queue string) string {
		return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: l, namespace: n, " + labels +
			"}, spec: {clusterQueue: " + queue + "}}"
	}
	class := func(labels, name, fields string) string {
		return "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + name + ", " +
			labels + "}, " + fields + "}"
	}
	flavor := func(spec string) string {
		return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f, " + ours +
			"}, spec: {" + spec + "}}"
	}
	const changed = "~ LocalQueue n/l | spec.clusterQueue: a -> b | "
	const refused = changed + "is refused by the API: spec.clusterQueue cannot change; delete the object before the " +
		"folder is applied: kubectl delete localqueues.kueue.x-k8s.io l -n n"
	for _, c := range []struct {
		name             string
		tool             ir.GitOpsTool
		manifest, export string
		want             []string
	}{
		{"a LocalQueue of the platform", "", local(ours, "b"), local(ours, "a"),
			[]string{changed + "is replaced: the step local-queues of the build deletes and creates it"}},
		{"a LocalQueue of others", "", local(ours, "b"), local("", "a"), []string{refused}},
		{"Argo CD", ir.ArgoCD, local(ours, "b"), local("", "a"), []string{changed +
			"is replaced: Argo CD deletes and " +
			"creates it"}},
		{"Config Sync", ir.ConfigSync, local(ours, "b"), local(ours, "a"), []string{refused}},
		{"a PriorityClass", "", class(ours, "c", "value: 2"), class(ours, "c", "value: 1"),
			[]string{"~ PriorityClass c | value: 1 -> 2 | is replaced: the step priorities of the build deletes and " +
				"creates it"}},
		{"another default class", "", class(ours, "c", "value: 2, globalDefault: true"), class("", "d", "value: 2, "+
			"globalDefault: true"),
			[]string{"+ PriorityClass c | is refused by the API while PriorityClass \"d\" is the default: change " +
				"that class first"}},
		{"the platform's other default class", "", class(ours, "c", "value: 2, globalDefault: true"),
			class(ours, "d", "value: 2, globalDefault: true"),
			[]string{"+ PriorityClass c", "- PriorityClass d | the step priorities of the build deletes it"}},
		{"the default class itself", "", class(ours, "c", "value: 2, globalDefault: true"),
			class(ours, "c", "value: 2, globalDefault: true"), nil},
		{"a flavor", "", flavor("nodeLabels: {a: b}"), flavor("nodeLabels: {a: c}"),
			[]string{"~ ResourceFlavor f | spec.nodeLabels.a: c -> b | the step retire of the build first stops the " +
				"jobs that run in this flavor"}},
		{"a flavor with a topology", "", flavor("nodeLabels: {a: b}"), flavor("nodeLabels: {a: c}, topologyName: t"),
			[]string{"~ ResourceFlavor f | spec.nodeLabels.a: c -> b | is refused by the API: spec.nodeLabels cannot " +
				"change; delete the object before the folder is applied: kubectl delete " +
				"resourceflavors.kueue.x-k8s.io f; the step retire of the build first stops the jobs that run in " +
				"this flavor"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := changeLines(compareYAML(t, c.tool, c.manifest, c.export)); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestOwners: what happens to objects depends on the platform to which they belong.
func TestOwners(t *testing.T) {
	export := queue("labels: {app.kubernetes.io/part-of: other}", "") + `---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: mine,
 labels: {app.kubernetes.io/part-of: p}}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: theirs}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: group}, spec: {}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: n}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: gone, labels: {app.kubernetes.io/part-of: p}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: pod, deletionTimestamp: "2026-01-01T00:00:00Z"}}
`
	manifest := queue(ours, "") + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: n, " + ours + "}}\n---\n" +
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: n}}\n---\n" +
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: n}}\n"
	for tool, want := range map[ir.GitOpsTool][]string{
		"": {"- ClusterQueue mine | the build stops it: it starts no job any more, and its quota goes to the " +
			"others"},
		ir.ArgoCD: {"- ClusterQueue mine | Argo CD deletes it"},
	} {
		res := compareYAML(t, tool, manifest, export)
		all := append(slices.Clone(want), []string{
			"~ ClusterQueue q | metadata.labels.team:  -> a | metadata.labels[app.kubernetes.io/managed-by]:  -> " +
				"batchwright | " +
				"metadata.labels[app.kubernetes.io/part-of]: other -> p | the object belongs to the platform \"other\"",
			"~ Namespace n | metadata.labels.team:  -> a | metadata.labels[app.kubernetes.io/managed-by]:  -> " +
				"batchwright | metadata.labels[app.kubernetes.io/part-of]:  -> p",
		}...)
		if got := changeLines(res); !slices.Equal(got, all) {
			t.Errorf("%s: got  %q\nwant %q", tool, got, all)
		}
		if want := []string{"ClusterQueue theirs", "Cohort group",
			"Namespace gone"}; !slices.Equal(res.Facts.Staying, want) {
			t.Errorf("%s: %q stay, want %q", tool, res.Facts.Staying, want)
		}
		var skipped []string
		for _, s := range res.Facts.Skipped {
			skipped = append(skipped, s.What+" | "+s.Export)
		}
		if want := []string{
			"ServiceAccount (1) | kubectl get serviceaccounts --all-namespaces --show-managed-fields -o yaml", "Pod | ",
			"the rest of the folder | ", "Secret (1) | ",
			"the cluster and its node pools | gcloud container clusters describe p --project=p " +
				"--location=r --format=json",
		}; !slices.Equal(skipped, want) {
			t.Errorf("%s: skipped %q, want %q", tool, skipped, want)
		}
	}
	// A queue that an earlier build has stopped admits jobs again, or stays stopped.
	const drained = ", annotations: {batchwright/drained: \"true\"}"
	res := compareYAML(t, "", queue(ours, ""), queue(ours+drained, "stopPolicy: HoldAndDrain")+"---\n"+
		strings.Replace(queue(ours+drained, "stopPolicy: HoldAndDrain"), "name: q", "name: gone", 1))
	if got, want := changeLines(res), []string{
		"~ ClusterQueue q | metadata.annotations[batchwright/drained]: true ->  | " +
			"spec.stopPolicy: HoldAndDrain -> None",
	}; !slices.Equal(got, want) || !slices.Equal(res.Facts.Staying, []string{"ClusterQueue gone"}) {
		t.Errorf("stopped queues: %q, %q stay", got, res.Facts.Staying)
	}

	res = compareYAML(t, "", queue(ours, ""), queue("", ""))
	if len(res.Objects) > 0 || !slices.Equal(res.Facts.Adopted, []string{"ClusterQueue q"}) {
		t.Errorf("an object of others: %q, adopted %q", changeLines(res), res.Facts.Adopted)
	}
	res = compareYAML(t, "", queue(ours, "cohortName: c"), queue(`deletionTimestamp: "2026-01-01T00:00:00Z"`, ""))
	if got := changeLines(res); len(got) != 1 || !strings.HasSuffix(got[0], "| the object is being deleted") {
		t.Errorf("an object that is being deleted: %q", got)
	}
}

// manyQueues returns the manifests of n ClusterQueues with a quota, and their LocalQueues.
func manyQueues(n, quota int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q%d, %s}
spec:
  cohortName: all
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: a, resources: [{name: cpu, nominalQuota: %d}, {name: memory, nominalQuota: 8Gi}]}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: l, namespace: n%d, %s},
 spec: {clusterQueue: q%d}}
---
`, i, ours, quota, i, ours, i)
	}
	return b.String()
}

// TestManyQueues: an export of 10,000 queues is compared; BenchmarkCompare shows the time.
func TestManyQueues(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of queues")
	}
	const n = 10_000
	res := compareYAML(t, "", manyQueues(10, 2), manyQueues(n, 1))
	if len(res.Objects) != n || res.Facts.Unchanged != 10 || len(res.Facts.Staying) != n-10 {
		t.Errorf("%d changed, %d unchanged, %d stay", len(res.Objects), res.Facts.Unchanged, len(res.Facts.Staying))
	}
}

// BenchmarkCompare shows that the time is in proportion to the number of queues.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		manifest, export := manyQueues(n, 1), manyQueues(n, 2)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compareYAML(b, "", manifest, export)
			}
		})
	}
}
