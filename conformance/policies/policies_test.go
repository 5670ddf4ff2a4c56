package policies_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/conformance/policies"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           string // part of an error; "" for none at all
	}{
		{name: "nothing"},
		{"not CEL", "variables.queue != ''", "variables.queue != '", "Syntax error"},
		{"unknown variable", "variables.queue != ''", "variables.name != ''", "undefined field 'name'"},
		{"message not CEL", "request.namespace", "request.team", "does not name"},
		{"empty queue not looked at", "variables.queue != '' && ", "", "job with an empty queue"},
		{"any queue admitted", "variables.allowed != []", "true", "job with half a queue: refused with"},
		{
			"half a queue admitted", "q[0] == variables.queue", "q[0].startsWith(variables.queue)",
			"job with half a queue: admitted",
		},
		{
			"queue may be lost", "&& variables.queue == oldObject", "|| variables.queue == oldObject",
			"job that loses its queue: admitted",
		},
		{
			"clean-up refused", "'UPDATE'\n      && variables.queue", "'DELETE'\n      && variables.queue",
			"job that is cleaned up: refused",
		},
		{"no controller may be kept", "'UPDATE' &&", "'DELETE' &&", "job that keeps its controller: refused"},
		{
			"endpoint groups admitted", "contains(''exposed_ports'')", "contains(''exposedPorts'')",
			"headless service with endpoints outside: admitted",
		},
		{"any priority admitted", "in a))", "!= 'x'))", "job with another priority: admitted"},
		{
			"one priority is enough", "variables.classes.all(", "variables.classes.exists(",
			"jobset with another priority besides: admitted",
		},
		{"another default priority", "'lp'", "'hp'", "job without a priority: admitted"},
		{"default priority unknown", "globalDefault: true\n", "", "no default"},
		{"default priority refused", "(c == '' ? 'lp' : c)", "c", "job without a priority: refused"},
		{"class of another queue", "lq-team-a-lp=lp", "lq-team-a-lp=hp", "job with a queue: refused"},
		{"one class of several", "=low|high", "=low", "job with a queue: refused"},
		{"classes of another queue besides", "=low|high", "=low|high|hp", "job with another tier's priority: admitted"},
		{"classes as a text", "q[1].split('|')", "[q[1]]", "job with a queue: refused"},
		{
			"list of classes admitted", "in a))", "in a || variables.queues.exists(q, c.startsWith(q[1]))))",
			"job with several priorities: admitted",
		},
		{"class of no tier", "Tier hp", "Tier other", "no PriorityClass is of tier"},
		{
			"no message", "    message: set the priorityClassName of the pods to one that their queue allows\n", "",
			"needs a message",
		},
		{"message of two lines", "message: set the", "message: |\n      set\n      the", "needs a message"},
		{"message names one priority", "a.join(' or ')", "a[0]", "does not name"},
		{"message names no priority", " + variables.allowed.map(a, a.join(' or ')).join('')", "", "does not name"},
		{
			"controllers admitted", "orValue(false)).all(o,", "orValue(false)).all(o, true ||",
			"job with a controller: admitted",
		},
		{"owners refused", "orValue(false)).all(o,", "orValue(true)).all(o,", "job with an owner: refused"},
		{"controllers may be exchanged", "old.uid == o.uid && ", "", "job that gets another controller: refused with"},
		{
			"owners may become controllers", " && old.?controller.orValue(false)", "",
			"job whose owner becomes its controller: admitted",
		},
		{"jobsets forgotten", "      - jobsets\n", "      - jobs\n", "jobset without a queue: admitted"},
		{"a jobset's jobs refused", "jobset-controller-manager", "controller-manager", "job of a jobset: refused"},
		{"message names no queue", " + variables.queues.map(q, q[0]).join(', ')", "", "does not name"},
		{"other services admitted", "== 'None'", "!= 'x'", "load balancer: admitted"},
		{"other namespaces", "key: team", "key: tenant", "does not apply"},
		{"only warns", "- Deny", "- Warn", "does not enforce"},
		{
			"slices without their queue", "lq-team-a-lp\n  name: slices", "lq\n  name: slices",
			"slices.yaml: JobSet: refused",
		},
		{
			"slices of another priority", "priorityClassName: lp", "priorityClassName: hp",
			"slices.yaml: JobSet: refused",
		},
		{"job's service with an address", "clusterIP: None", "type: ClusterIP", "job.yaml: Service: refused"},
		{
			"processes of the node", "!object.spec.?hostPID.orValue(false) && ", "",
			"pod with the processes of its node: admitted",
		},
		{
			"only what runs later is looked at", " + object.spec.?initContainers.orValue([])", "",
			"privileged before it starts: admitted",
		},
		{
			"privileged containers", "!c.?securityContext.?privileged.orValue(false)\n", "true\n",
			"privileged pod: admitted",
		},
		{
			"capabilities of anybody", " && c.image in ['us-docker", " || c.image in ['us-docker",
			"pod with capability NET_ADMIN: admitted",
		},
		{
			"folders by their beginning",
			"v.hostPath.path in\n      ['/home/kubernetes/bin/nvidia', '/sys', '/proc/sys']",
			"v.hostPath.path.startsWith('/home/kubernetes/bin')", "pod with its node's /home/kubernetes/bin: admitted",
		},
		{
			"libraries that can be written", "m.?readOnly.orValue(false)", "true",
			"pod that writes to its node's /home/kubernetes/bin/nvidia: admitted",
		},
		{
			"kernel of the node", "v.hostPath.path in ['/sys', '/proc/sys'])", "v.hostPath.path in ['/sys'])",
			"pod with its node's /proc/sys: admitted",
		},
		{"requests of cpu alone", "['cpu', 'memory']", "['cpu']", "job with no memory: admitted"},
		{
			"requests of nothing", "isGreaterThan(quantity('0'))", "isGreaterThan(quantity('-1'))",
			"job with requests of nothing: admitted",
		},
		{
			"limits are requests", "c.?resources.requests[?r].hasValue())", "true)",
			"job with GPUs in limits only: admitted",
		},
		{
			"limits of what runs before", "p.containers + p.?initContainers.orValue([])).map(c, c.?resources.limits",
			"p.containers).map(c, c.?resources.limits", "job with GPUs in limits only at the start: admitted",
		},
		{"any runtime class", "['nodeName', 'runtimeClassName']", "['nodeName']", "job with a runtime class: admitted"},
		{
			"any scheduler", "'default-scheduler'] ||", "'default-scheduler', 'other'] ||",
			"job of another scheduler: admitted",
		},
		{
			"any grace period of probes", "orValue(0) <= variables.grace", "orValue(0) >= 0",
			"job with a year to end after a probe: admitted",
		},
		{
			"tolerations by half a key", "x.startsWith(t.?key.orValue('') + '=')", "x.startsWith(t.?key.orValue(''))",
			"job with tolerations of half a key: admitted",
		},
		{
			"selectors alone", "filter(e, e.operator == 'In')", "filter(e, false)",
			"job with an affinity to others' nodes: admitted",
		},
		{"a volume more", "'emptyDir', 'image'", "'emptyDir', 'nfs'", "job with a file server: admitted"},
		{"buckets of no name", "orValue('-')", "orValue('')", "job with a bucket of no name: admitted"},
		{
			"affinity to all namespaces", "has(t.namespaceSelector)", "false",
			"podAntiAffinity to all namespaces: admitted",
		},
		{
			"any topology key", "k != '' && !(k in ['kubernetes", "k == '' && !(k in ['kubernetes",
			"over regions: admitted",
		},
		{"annotations of pods alone", "([dyn(object)] +", "([] +", "jobset of an exclusive topology: admitted"},
		{
			"volumes of a jobset", "dyn(object).spec.?volumeClaimPolicies.orValue([]) == []", "true",
			"jobset with claims: admitted",
		},
		{
			"templates must change", "&& variables.pods == (", "&& [] == (",
			"job that was there with no resources: refused",
		},
		{
			"templates of another job", "variables.pods.map(p, (p.containers",
			"variables.pods.filter(p, p == variables.pods[0]).map(p, (p.containers",
			"jobset whose last job has no resources: admitted",
		},
		{
			"flavors refused", "'system:serviceaccount:kueue-system:kueue-controller-manager''])", "'nobody''])",
			"job that Kueue gives its nodes: refused",
		},
		{
			"jobs started by hand", "|| oldObject.spec.?suspend.orValue(false) ==", "|| true ||",
			"job that is started by hand: admitted",
		},
		{
			"jobs not started by Kueue", "kueue-controller-manager'\n", "kueue-controller'\n",
			"job that is started by Kueue: refused",
		},
		{
			"more pods of a jobset", "object.spec == oldObject.spec && ", "",
			"job of a jobset with more pods: refused with",
		},
		{
			"jobs leave their jobset", "object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences",
			"true", "job of a jobset that leaves it: admitted",
		},
		{"priority by label", ", 'kueue.x-k8s.io/priority-class']", "]", "job of another priority by label: admitted"},
		{
			"priority by label may not stay", "&& object.metadata.?labels[?n] == oldObject.metadata.?labels[?n]",
			"&& false", "job of another priority by label that was there: refused",
		},
		{"binds another policy", "policyName: jobs-are-queued", "policyName: jobs", "does not enforce"},
		{"pods of any size", "a.on != []", "true", "job with more cpu than a node: admitted"},
		{
			"memory of any size", " && amounts[1] <= n.sizes[1] * 1.000001", "",
			"job with more memory than a node: admitted",
		},
		{
			"what prepares a pod is not looked at", "\n      + s.spec.template.spec.?initContainers.orValue([]).map(c,",
			"\n      + [].map(c,", "job with more cpu than a node before it starts: admitted",
		},
		{
			"what runs beside a pod is not looked at", "== 'Always'))", "== 'Never'))",
			"job with more cpu than a node beside it: admitted",
		},
		{"what prepares a pod is added up", ").sum()]\n      + s.spec", ").sum()] + [1e9]\n      + s.spec", "refused"},
		{
			"only one container is looked at", ".asApproximateFloat()).sum()]", ".asApproximateFloat()).max()]",
			"job with more cpu than a node in all containers: admitted",
		},
		{
			"a pod's own request is not looked at", "s.spec.template.spec.?resources.requests[?r].hasValue()", "false",
			"job with more cpu than a node for the pod: admitted",
		},
		{
			"small pods on a node each", ".map(t, t.topologyKey)\n      + s.spec", ".map(t, '')\n      + s.spec",
			"job with anti-affinity on a node: admitted",
		},
		{
			"spreads that pods demand", "!= 'ScheduleAnyway'", "== 'x'",
			"job with a spread over nodes that it demands: admitted",
		},
		{
			"spreads that pods prefer", "orValue('') != 'ScheduleAnyway'", "orValue('') != 'x'",
			"job with a spread over nodes that it prefers: refused",
		},
		{
			"names of nodes", "?nodeSelector.orValue({}).exists(k", "?nodeSelectors.orValue({}).exists(k",
			"job with the name of a node: admitted",
		},
		{
			"all nodes except those in use", "e.key in ['kubernetes", "e.key == '' && e.key in ['kubernetes",
			"job with all nodes except one: admitted",
		},
		{
			"fields of nodes", "t.?matchFields.orValue([]) != []", "false",
			"job with all nodes except one by field: admitted",
		},
		{
			"networks of nodes", "?hostNetwork.orValue(", "?hostNetworks.orValue(",
			"job with the network of its node: admitted",
		},
		{
			"ports of nodes", "o.?hostPort.orValue(0)", "o.?hostPorts.orValue(0)",
			"job with a port of its node: admitted",
		},
		{
			"disks of nodes", "|| a.amounts[3] * 110.0", "|| true || a.amounts[3] * 110.0",
			"job with most of the disk of its node: admitted",
		},
		{"resources of no node", "variables.unknown == []", "true", "job with a resource of no node: admitted"},
		{"a disk is unknown", "['ephemeral-storage', 'cpu',", "['cpu',", "job with a request of its disk: refused"},
		{
			"small jobs on nodes of their own", "n.least > 0.0", "false",
			"job that leaves its own node empty: admitted",
		},
		{
			"a resource that quota does not count", "b.amounts[n.counted]", "b.amounts[0]",
			"job with a queue: refused",
		},
		{
			"disks of any size", "&& amounts[3] <= n.sizes[3]", "",
			"job with more disk than a node: refused with",
		},
		{
			"jobs of any size", "variables.keptSets || variables.most == []", "true",
			"job of more pods than its queue can get: admitted",
		},
		{
			"each kind of pods alone", "double(a.amounts[2]) * double(a.pods)", "0.0",
			"jobset of two kinds of pods, each for the whole queue: admitted",
		},
		{
			"large jobs that were there", "variables.kept && variables.sets.map(", "false && variables.sets.map(",
			"job that was there with more pods than its queue can get: refused",
		},
		{
			"larger jobs that wait", "variables.kept && variables.sets.map(", "true || variables.sets.map(",
			"suspended job that gets more pods than its queue can get: admitted",
		},
		{
			"completions counted as pods that start together", "double(s.spec.?parallelism.orValue(1))",
			"double(s.spec.?completions.orValue(1))",
			"job of more pods than its queue can get, one by one: refused",
		},
		{
			"all pods of a job that can start with fewer", "'^[0-9]{1,9}$'", "'x'",
			"job that can start with one pod: refused",
		},
		{
			"guide's job without its queue", "queue-name: lq-team-a-lp\n  name: my-job", "queue-name: lq\n  name: " +
				"my-job",
			"USING.md: Job: refused",
		},
		{"guide's job without cpu", "            cpu: \"1\"\n            memory: 1Gi", "            memory: 1Gi",
			"USING.md: Job: refused"},
		{"guide without a job", "```yaml", "```text", "USING.md shows no job"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := fstest.MapFS{}
			for _, name := range []string{
				"kubernetes/priority-classes.yaml", "kubernetes/system/admission-policies.yaml",
				"kubernetes/teams/team-a.yaml", "kubernetes/teams/team-b.yaml",
				"workloads/team-a/job.yaml", "workloads/team-a/slices.yaml", "USING.md",
			} {
				folder[name] = &fstest.MapFile{Data: []byte(strings.Replace(sample(t, name), test.old, test.new, 1))}
			}
			err := errors.Join(policies.Check(folder)...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// sample returns a file of a small deploy folder. The folder has the policies of the batch
// platform under other names. In addition, one tier has TPU slices, and one policy is for
// namespaces without a Pod Security Standard.
func sample(t *testing.T, name string) string {
	t.Helper()
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if name != "kubernetes/system/admission-policies.yaml" {
		return read("testdata/" + name)
	}
	names := strings.NewReplacer("gke-batch", "demo", "'compact'", "'shared'", "'lp': false", "'lp': true")
	return names.Replace(read("../../golden/batch-platform/"+name)) + "---\n" +
		read("testdata/pods-keep-off-the-node.yaml")
}

// TestCheckKAI breaks the policies on KAI Scheduler's queues.
func TestCheckKAI(t *testing.T) {
	const folder, file = "../../golden/kai-departments", "kubernetes/system/admission-policies.yaml"
	for _, test := range []struct {
		name, old, new string
		want           string // part of an error; "" for none at all
	}{
		{name: "nothing"},
		{"any queue admitted", "variables.allowed != []", "true", "job with half a queue: refused with"},
		{"any scheduler admitted", "== 'kai-scheduler'", "!= 'x'", "job without a scheduler: admitted"},
		{"another scheduler demanded", "== 'kai-scheduler'", "== 'volcano'", "job with a queue: refused"},
		{
			"one pod is enough", "variables.pods.all(p,", "variables.pods.exists(p,",
			"jobset with a job of the cluster's scheduler: admitted",
		},
		{
			"clean-up refused", "variables.kept || variables.pods", "variables.pods",
			"job without a scheduler that was there: refused",
		},
		{
			"queue demanded of pods", ".orValue(variables.queue) == variables.queue", ".orValue('') == variables.queue",
			"job with a queue: refused",
		},
		{
			"pods in another queue", ".orValue(variables.queue) == variables.queue", ".orValue(variables.queue) != ''",
			"job whose pods name another queue: admitted",
		},
		{
			"pods with a priority by label", "&& p.?metadata.labels[?'priorityClassName'].orValue('') == ''", "",
			"job whose pods name a priority by label: admitted",
		},
		{
			"jobs with a priority by label", "? oldObject.metadata.?labels[?'priorityClassName'].orValue('') : '')",
			"? '' : object.metadata.?labels[?'priorityClassName'].orValue(''))",
			"job that names a priority by label: admitted",
		},
		{
			"labels may be added", "? oldObject.metadata.?labels[?'priorityClassName'].orValue('') : '')",
			"? object.metadata.?labels[?'priorityClassName'].orValue('') : '')",
			"job that gets a priority by label: admitted",
		},
		{
			"labels may not stay", "? oldObject.metadata.?labels[?'priorityClassName'].orValue('') : '')", "? '' : '')",
			"job with a priority by label that was there: refused",
		},
		{
			"another default", "(c == '' ? 'train' : c)", "(c == '' ? 'inference' : c)",
			"job without a priority: refused",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for _, name := range []string{
				file, "kubernetes/teams/project-a.yaml", "workloads/project-a/training-job-1.yaml",
			} {
				text, err := os.ReadFile(folder + "/" + name)
				if err != nil {
					t.Fatal(err)
				}
				if name == file && !strings.Contains(string(text), test.old) {
					t.Fatalf("%s has no %q", file, test.old)
				}
				files[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(text), test.old, test.new, 1))}
			}
			err := errors.Join(policies.Check(files)...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
