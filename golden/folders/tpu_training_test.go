package folders_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// tpuForms lists the combinations of tags with which the blueprint can be compiled.
var tpuForms = [][]string{
	nil, {"type=v4"}, {"slices=0"}, {"autoscaled=true"}, {"managed=true"}, {"perTeam"}, {"type=v4", "managed=true"},
	{"type=v4", "autoscaled=true", "managed=true", "perTeam"}, {"slices=0", "perTeam"},
	{"slices=0", "autoscaled=true"}, {"slices=1"}, {"slices=1", "perTeam"}, {"slices=3"}, {"slices=8"},
	{"slices=2", "pods=192.168.64.0/20"},
}

// TestTPUForms runs the checks of the goldens on every form. If goldens are updated,
// it also runs the checks of the conformance module.
func TestTPUForms(t *testing.T) {
	for _, tags := range tpuForms {
		t.Run(strings.Join(tags, ","), func(t *testing.T) {
			tree := compile.Reference(t, "tpu-training", tags...)
			checkFolder(t, fixture.FS(tree))
			if fixture.Updating() && !t.Failed() {
				runConformance(t, tree)
			}
			if slices.Equal(tags, []string{"type=v4", "managed=true"}) && !t.Failed() {
				other := otherFiles(tree, compile.Reference(t, "tpu-training"))
				fixture.CompareTree(t, fixture.Path("golden/testdata/tpu-training-v4-managed"), other)
			}
		})
	}
}

// otherFiles returns the files of a folder that the other folder lacks or has with
// another content, without the manifest, which lists all files. They are the golden of
// a form: what a reader of the other folder has not seen yet.
func otherFiles(tree, other emit.Tree) (out emit.Tree) {
	same := map[string]string{}
	for _, f := range other {
		same[f.Path] = string(f.Content)
	}
	for _, f := range tree {
		if content, found := same[f.Path]; f.Path != emit.ManifestPath && (!found || content != string(f.Content)) {
			out = append(out, f)
		}
	}
	return out
}

// TestTPUPools compares the node pools with handwritten ones. Every slice is a pool
// of its own, with as many nodes as the slice has hosts, whatever the number of
// chips in a host.
//
// The reference labels its pools MultisliceGroup and MultisliceGroupSize if there
// are several. Neither GKE's documentation nor xpk, JobSet or Kueue reads the
// labels, and with the size in the nodes' labels an additional slice would change
// all other slices. Here the label capacity distinguishes the capacities, and no
// label contains a count.
func TestTPUPools(t *testing.T) {
	const system, cpu = "system: n1-standard-4, 3 nodes", "cpu: n1-standard-4, scales"
	for _, test := range []struct {
		tags []string
		want string // the expected slices
	}{
		{nil, "slices-0 slices-1: ct5lp-hightpu-4t, 4 nodes, compact 4x4, capacity=slices resource-type=ondemand"},
		{[]string{"slices=0"}, ": ct5lp-hightpu-4t, 4 nodes, compact 4x4, capacity=slices resource-type=ondemand"},
		{
			[]string{"type=v4"},
			"slices-0 slices-1: ct4p-hightpu-4t, 4 nodes, compact 2x2x4, capacity=slices resource-type=ondemand",
		},
		{
			[]string{"autoscaled=true"},
			"slices-0 slices-1: ct5lp-hightpu-4t, 0 or 4 nodes, compact 4x4, capacity=slices resource-type=ondemand",
		},
	} {
		pools, err := check.NodePools(fixture.FS(compile.Reference(t, "tpu-training", test.tags...)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range pools {
			got = append(got, describePool(p))
		}
		if d := cmp.Diff([]string{system, cpu + ", capacity=cpu resource-type=ondemand", test.want}, got); d != "" {
			t.Errorf("%q (-reference +compiled):\n%s", test.tags, d)
		}
	}
}

func describePool(p check.NodePool) string {
	out := strings.Join(p.Names, " ") + ": " + p.Machine.Type
	switch {
	case p.Nodes >= 0:
		out += fmt.Sprintf(", %d nodes", p.Nodes)
	case p.PerZone[1] > 0:
		out += fmt.Sprintf(", %d or %d nodes", p.PerZone[0], p.PerZone[1])
	default:
		out += ", scales"
	}
	if p.Compact {
		out += ", compact " + p.Topology
	}
	var labels []string
	for _, key := range []string{"capacity", "resource-type", "MultisliceGroup", "MultisliceGroupSize"} {
		if value, ok := p.Labels[key]; ok {
			labels = append(labels, key+"="+value)
		}
	}
	if labels != nil {
		out += ", " + strings.Join(labels, " ")
	}
	return out
}

// tpuTypes are the slices of the reference: v4-16 to v4-4096 and v5litepod-16 to
// v5litepod-256, and one of each newer kind. Each VM has 4 chips; the hosts are
// counted by hand.
var tpuTypes = []struct {
	name, machine, topology string
	hosts                   int
}{
	{"v4-16", "ct4p-hightpu-4t", "2x2x2", 2},
	{"v4-32", "ct4p-hightpu-4t", "2x2x4", 4},
	{"v4-64", "ct4p-hightpu-4t", "2x4x4", 8},
	{"v4-128", "ct4p-hightpu-4t", "4x4x4", 16},
	{"v4-256", "ct4p-hightpu-4t", "4x4x8", 32},
	{"v4-512", "ct4p-hightpu-4t", "4x8x8", 64},
	{"v4-1024", "ct4p-hightpu-4t", "8x8x8", 128},
	{"v4-1536", "ct4p-hightpu-4t", "8x8x12", 192},
	{"v4-2048", "ct4p-hightpu-4t", "8x8x16", 256},
	{"v4-4096", "ct4p-hightpu-4t", "8x16x16", 512},
	{"v5litepod-16", "ct5lp-hightpu-4t", "4x4", 4},
	{"v5litepod-32", "ct5lp-hightpu-4t", "4x8", 8},
	{"v5litepod-64", "ct5lp-hightpu-4t", "8x8", 16},
	{"v5litepod-128", "ct5lp-hightpu-4t", "8x16", 32},
	{"v5litepod-256", "ct5lp-hightpu-4t", "16x16", 64},
	{"v5p-32", "ct5p-hightpu-4t", "2x2x4", 4},
	{"v6e-32", "ct6e-standard-4t", "4x8", 8},
	{"tpu7x-32", "tpu7x-standard-4t", "2x2x4", 4},
}

// TestTPUTypes checks that max_node_count and node_count are the hosts of a slice,
// never the chips of a VM.
func TestTPUTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a platform for each TPU type")
	}
	zones := map[string]string{ // zones that have the type
		"ct4p-hightpu-4t": "us-central2-b", "ct5lp-hightpu-4t": "us-west4-a", "ct5p-hightpu-4t": "us-east5-a",
		"ct6e-standard-4t": "us-east5-a", "tpu7x-standard-4t": "us-central1-c",
	}
	for _, test := range tpuTypes {
		zone := zones[test.machine]
		for _, count := range []string{"slices: 2", "maxSlices: 2"} {
			t.Run(test.name+", "+count, func(t *testing.T) {
				t.Parallel()
				files := fixture.FS(compile.Text(t, `package platform

name:    "tpus"
project: "my-project"
region:  "`+strings.TrimRight(zone, "-abc")+`"
zones: ["`+zone+`"]
network: {nodes: "10.16.0.0/19", pods: "10.32.0.0/11"}
hardware: slice: {machine: "`+test.machine+`", topology: "`+test.topology+`"}
capacity: slices: {hardware: "slice", consumption: onDemand: {}, `+count+`}
tiers: batch: {priority: 10, default: true, capacity: ["slices"], shared: {}}
teams: vision: {}
workloads: train: {
	tier: "batch", kind: "JobSet", image: "python:3.13.1"
	perPod: {accelerators: 4, cpu: 2, memory: "10Gi"}
}
`))
				checkFolder(t, files)
				pools, err := check.NodePools(files)
				if err != nil {
					t.Fatal(err)
				}
				p := pools[1]
				size := p.Nodes
				if strings.HasPrefix(count, "max") {
					size = p.PerZone[1]
				}
				if size != test.hosts || !p.Compact || p.Topology+p.Policy != test.topology || len(p.Names) != 2 {
					t.Errorf("%s, want %d nodes in topology %s", describePool(p), test.hosts, test.topology)
				}
				if got := tpuBuild(t, files).Substitutions["_TPU_TYPE"]; got != test.name {
					t.Errorf("_TPU_TYPE %s, want %s", got, test.name)
				}
				set := check.ObjectsIn[v1alpha2.JobSet](t, files, "workloads/vision/train.yaml", "JobSet")[0]
				if spec := set.Spec.ReplicatedJobs[0].Template.Spec; int(*spec.Completions) != test.hosts ||
					int(*spec.Parallelism) != test.hosts {
					t.Errorf("%d of %d pods at once, want %d", *spec.Parallelism, *spec.Completions, test.hosts)
				}
			})
		}
	}
}

// TestTPUQueues checks that there is one ClusterQueue for all chips and a LocalQueue
// for each team, or one of each, with the reference's priorities.
func TestTPUQueues(t *testing.T) {
	shared := fixture.FS(compile.Reference(t, "tpu-training"))
	perTeam := fixture.FS(compile.Reference(t, "tpu-training", "perTeam"))
	local := func(files fs.FS, team string) string {
		return string(check.ObjectsIn[kueue.LocalQueue](t, files, "kubernetes/teams/"+team+".yaml",
			"LocalQueue")[0].Spec.ClusterQueue)
	}
	chips := func(q kueue.ClusterQueue) (rows []string) {
		for _, f := range q.Spec.ResourceGroups[0].Flavors {
			r := f.Resources[2]
			rows = append(rows, fmt.Sprintf("%s %s %s", f.Name, r.Name, r.NominalQuota.String()))
		}
		return rows
	}
	all := check.ObjectsIn[kueue.ClusterQueue](t, shared, "kubernetes/shared-queues.yaml", "ClusterQueue")
	if d := cmp.Diff([]string{"slices google.com/tpu 32", "cpu google.com/tpu 0"}, chips(all[0])); len(all) != 1 ||
		d != "" {
		t.Errorf("%d shared ClusterQueues, chips (-reference +compiled):\n%s", len(all), d)
	}
	for _, team := range []string{"tpu-training", "tpu-research"} {
		if got := local(shared, team); got != "cq-train" {
			t.Errorf("%s submits to %s", team, got)
		}
		own := check.ObjectsIn[kueue.ClusterQueue](t, perTeam, "kubernetes/teams/"+team+".yaml", "ClusterQueue")[0]
		if d := cmp.Diff([]string{"slices google.com/tpu 16", "cpu google.com/tpu 0"}, chips(own)); d != "" ||
			own.Spec.CohortName != "tpu" || local(perTeam, team) != own.Name {
			t.Errorf("%s in cohort %q, chips of %s (-want +got):\n%s", own.Name, own.Spec.CohortName, team, d)
		}
	}
	var got []string
	for _, pc := range check.ObjectsIn[schedulingv1.PriorityClass](t, shared, "kubernetes/priority-classes.yaml",
		"PriorityClass") {
		got = append(got, fmt.Sprintf("%s %d %v", pc.Name, pc.Value, pc.GlobalDefault))
	}
	want := []string{"very-low 100 true", "low 250 false", "medium 500 false", "high 750 false", "very-high 1000 false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("priorities (-reference +compiled):\n%s", d)
	}
	flavors := map[string]map[string]string{}
	const file = "kubernetes/resource-flavors.yaml"
	for _, f := range check.ObjectsIn[kueue.ResourceFlavor](t, shared, file, "ResourceFlavor") {
		flavors[f.Name] = f.Spec.NodeLabels
	}
	if got := flavors["slices"]; got["cloud.google.com/gke-tpu-accelerator"] != "tpu-v5-lite-podslice" ||
		got[check.TopologyLabel] != "4x4" {
		t.Errorf("slices are known by %v", got)
	}
}

// TestTPUWorkloads checks the shape of the JobSets against the reference. Only one
// thing differs: slices that use the network of their nodes are not the slices that
// write to the bucket. In the reference they act with the nodes' identity.
func TestTPUWorkloads(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "tpu-training"))
	for name, want := range map[string][]string{
		"single-slice": {
			"slice x1 4/4 backoff 0, 4 chips, ports [8471 8080], exclusive cloud.google.com/gke-nodepool, on slices",
			"restarts 1, priority medium",
		},
		"multislice": {
			"slice x2 4/4 backoff 0, 4 chips, ports [8471 8080], exclusive cloud.google.com/gke-nodepool, on slices, " +
				"network of the node ClusterFirstWithHostNet",
			"restarts 1, priority high",
		},
		"tensorboard": {
			"slice x2 4/4 backoff 0, 4 chips, ports [8471 8080], exclusive cloud.google.com/gke-nodepool, on slices, " +
				"BUCKET my-project-tpu-training-tpu-training, TENSORBOARD tensorboard/name",
			"upload x1 1/1 backoff 1, 0 chips, ports [], on cpu, BUCKET my-project-tpu-training-tpu-training, " +
				"TENSORBOARD tensorboard/name",
			"success by All of [slice]",
			"restarts 1, priority high",
		},
	} {
		set := check.ObjectsIn[v1alpha2.JobSet](t, files, "workloads/tpu-training/"+name+".yaml", "JobSet")[0]
		got := describeJobSet(set)
		if name != "tensorboard" { // the other JobSets do not use them
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], ", BUCKET")
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-reference +compiled):\n%s", name, d)
		}
	}
}

func describeJobSet(set v1alpha2.JobSet) []string {
	var out []string
	priority := ""
	for _, r := range set.Spec.ReplicatedJobs {
		pod := r.Template.Spec.Template.Spec
		container := pod.Containers[0]
		chips := container.Resources.Limits["google.com/tpu"]
		ports := []int32{}
		for _, p := range container.Ports {
			ports = append(ports, p.ContainerPort)
		}
		line := fmt.Sprintf("%s x%d %d/%d backoff %d, %d chips, ports %v", r.Name, r.Replicas,
			*r.Template.Spec.Parallelism, *r.Template.Spec.Completions,
			*r.Template.Spec.BackoffLimit, chips.Value(), ports)
		if exclusive := r.Template.Annotations[v1alpha2.ExclusiveKey]; exclusive != "" {
			line += ", exclusive " + exclusive
		}
		if pool := pod.NodeSelector[check.CapacityLabel]; pool != "" {
			line += ", on " + pool
		}
		if pod.HostNetwork {
			line += ", network of the node " + string(pod.DNSPolicy)
		}
		for _, e := range container.Env {
			switch {
			case e.Name == "BUCKET":
				line += ", BUCKET " + e.Value
			case e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil:
				line += ", " + e.Name + " " + e.ValueFrom.ConfigMapKeyRef.Name + "/" + e.ValueFrom.ConfigMapKeyRef.Key
			}
		}
		out = append(out, line)
		priority = pod.PriorityClassName
	}
	if p := set.Spec.SuccessPolicy; p != nil {
		out = append(out, fmt.Sprintf("success by %s of %v", p.Operator, p.TargetReplicatedJobs))
	}
	return append(out, fmt.Sprintf("restarts %d, priority %s", set.Spec.FailurePolicy.MaxRestarts, priority))
}

// TestTPUIdentities checks who has which permissions on the bucket, and with which
// identities jobs act. The reference's storage.objectAdmin could also set the
// permissions of every object. Owners of the project have what Cloud Storage gives them.
func TestTPUIdentities(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "tpu-training"))
	text, err := fs.ReadFile(files, "terraform/storage.tf")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	grant := regexp.MustCompile(`(?s)\brole += "(.*?)"\n +members = (.*?)\n {6}\}`)
	for _, m := range grant.FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1]+" "+strings.Join(strings.Fields(m[2]), " "))
	}
	want := []string{
		"roles/storage.objectUser [local.team_members[each.key]]",
		"roles/storage.legacyBucketReader concat( [local.team_members[each.key]], " +
			`var.teams[each.key].nodes_list_bucket ? ["serviceAccount:${var.node_account}"] : [], )`,
		`roles/storage.legacyBucketOwner ["projectOwner:${var.project_id}"]`,
		`roles/storage.legacyObjectOwner ["projectOwner:${var.project_id}"]`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rights on the bucket (-reference +compiled):\n%s", d)
	}
	values, err := fs.ReadFile(files, "terraform/terraform.tfvars")
	if err != nil {
		t.Fatal(err)
	}
	_, training, _ := strings.Cut(string(values), "tpu-training = {")
	for _, want := range []string{`"roles/logging.logWriter"`,
		`"projects/my-project/roles/tpu_training_tensorboard_writer"`, `nodes_list_bucket = true`,
		`"wi-tpu-training@my-project.iam.gserviceaccount.com"`} {
		if !strings.Contains(training, want) {
			t.Errorf("team tpu-training lacks %s:\n%s", want, training)
		}
	}
	// The reference's range of pods, 192.168.64.0/20, has room for two slices.
	if ranges := []string{
		`"10.129.0.0/20"`, `"192.168.128.0/17"`, `"192.168.80.0/20"`,
	}; slices.ContainsFunc(ranges, func(r string) bool { return !strings.Contains(string(values), r) }) {
		t.Errorf("not all of the ranges %v:\n%s", ranges, values)
	}
	const team = "kubernetes/teams/tpu-training.yaml"
	account := check.ObjectsIn[corev1.ServiceAccount](t, files, team, "ServiceAccount")[0]
	if as := account.Annotations["iam.gke.io/gcp-service-account"]; account.Namespace != "tpu-training" ||
		as != "wi-tpu-training@my-project.iam.gserviceaccount.com" {
		t.Errorf("jobs of namespace %s act as %s", account.Namespace, as)
	}
}

type cloudBuild struct {
	Steps         []struct{ ID string }
	Substitutions map[string]string
}

func tpuBuild(t *testing.T, files fs.FS) cloudBuild {
	t.Helper()
	var b cloudBuild
	text, err := fs.ReadFile(files, "cloudbuild/provision.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTPUSubstitutions checks the substitutions that a user of the reference sets,
// with this folder's values.
func TestTPUSubstitutions(t *testing.T) {
	want := map[string]string{
		"_TF_STATE_BUCKET": "my-project-tpu-training-tfstate", "_TF_STATE_PREFIX": "tpu-training/terraform",
		"_REGION": "us-west4", "_ZONE": "us-west4-a", "_CLUSTER_NAME": "tpu-training",
		"_TPU_TYPE": "v5litepod-16", "_NUM_TPU_POOLS": "2", "_NUM_OF_CHIPS": "32",
		"_JOBSET_API_VERSION": "0.12.0", "_KUEUE_API_VERSION": "0.19.2", "_NAMESPACE": "tpu-research",
		"_NETWORK_NAME": "tpu-training", "_SUBNET_NAME": "tpu-training", "_TENSORBOARD_REGION": "us-central1",
		"_ARTIFACT_REPOSITORY_BUCKET_NAME": "my-project-tpu-training-tpu-training",
	}
	if d := cmp.Diff(want, tpuBuild(t, fixture.FS(compile.Reference(t, "tpu-training"))).Substitutions); d != "" {
		t.Errorf("(-reference +compiled):\n%s", d)
	}
}

// TestTPUInfrastructureManager checks that Terraform has no state and uses nothing
// outside its folder, and that the build does not run Terraform.
func TestTPUInfrastructureManager(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "tpu-training", "managed=true"))
	for _, s := range tpuBuild(t, files).Steps {
		if strings.HasPrefix(s.ID, "terraform") || s.ID == "state-bucket" {
			t.Errorf("step %s", s.ID)
		}
	}
	err := fs.WalkDir(files, "terraform", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if strings.Contains(string(text), `backend "`) || strings.Contains(string(text), "path.module}/..") {
			t.Errorf("%s looks outside", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(files, "terraform/dashboards/admin.json"); err != nil {
		t.Error(err)
	}
}

// TestSlicesOffAndOn removes the slices and brings them back. Without the slices
// only their counts differ, listed here file by file, and there is no demonstration. After
// that everything is as before, byte for byte.
func TestSlicesOffAndOn(t *testing.T) {
	counts := regexp.MustCompile(`^    requests\.google\.com/tpu: |most-per-job|^      lq-`)
	counted := map[string]*regexp.Regexp{
		"terraform/node_pools.tf":       regexp.MustCompile(`^  for_each       = toset\(\[.*\]\)$`),
		"kubernetes/shared-queues.yaml": regexp.MustCompile(`^        nominalQuota: `),
		"cloudbuild/provision.yaml":     regexp.MustCompile(`_NUM_`),
		"cloudbuild/destroy.yaml":       regexp.MustCompile(`_NUM_`),
		"README.md": regexp.MustCompile(
			"slices|google.com/tpu|chips|cost money even if no job runs|" +
				"vCPUs|GB|quota|queue_cq_train|not verified|Without jobs there are|" +
				"(?i)demonstrat|linkStyle"),
		"REFERENCE.md":                       regexp.MustCompile("(?i)demonstrat|_NUM_|slices|tpu-v5|vCPUs|GB|quota"),
		"kubernetes/teams/tpu-research.yaml": counts,
		"kubernetes/teams/tpu-training.yaml": counts,
		"USING.md": regexp.MustCompile(
			"DEMONSTRATION|TPU slices( now|, and there are none now)|maximum capacity|^$|" +
				"^\\| `train` \\| `slices` \\|"),
	}
	on, off := compile.Reference(t, "tpu-training", "slices=2"), compile.Reference(t, "tpu-training", "slices=0")
	again, _ := compile.Input(t, compiler.Input{
		Dir: fixture.Root(), Paths: []string{"blueprints/tpu-training"}, Tags: []string{"slices=2"},
	})
	compareFolders(t, on, again)
	demonstrates := func(f emit.File) bool { return f.Path == "DEMONSTRATION.md" || f.Path == "demonstrate.sh" }
	if slices.ContainsFunc(off, demonstrates) {
		t.Error("a demonstration without slices")
	}
	if on = slices.DeleteFunc(on, demonstrates); len(on) != len(off) {
		t.Fatalf("%d files with slices, %d without", len(on), len(off))
	}
	changed := map[string]bool{}
	for i := range on {
		path := on[i].Path
		if path != off[i].Path {
			t.Fatalf("%s with slices, %s without", path, off[i].Path)
		}
		if path == emit.ManifestPath || string(on[i].Content) == string(off[i].Content) {
			continue
		}
		changed[path] = true
		lines := func(f emit.File) []string { return strings.Split(string(f.Content), "\n") }
		with, without := lineSet(lines(on[i])), lineSet(lines(off[i]))
		for _, line := range slices.Concat(lines(on[i]), lines(off[i])) {
			if with[line] != without[line] && (counted[path] == nil || !counted[path].MatchString(line)) {
				t.Errorf("%s differs in %q", path, line)
			}
		}
	}
	for path := range counted {
		if !changed[path] {
			t.Errorf("%s does not count the slices", path)
		}
	}
	// A number of 0 says nothing to a reader: the pages say that there are none now.
	zero := regexp.MustCompile("\\b0 (slices|chips|`tpu)|at least 0|\\b0, in slices|\\| 0 \\| (chips|vCPUs|GB) \\|\n")
	for _, page := range []string{"README.md", "USING.md"} {
		text, err := fs.ReadFile(fixture.FS(off), page)
		if err != nil {
			t.Fatal(err)
		}
		if found := zero.FindString(string(text)); found != "" {
			t.Errorf("%s without slices says %q", page, found)
		}
		if !strings.Contains(string(text), "no slices now") && !strings.Contains(string(text), "no TPU slices now") {
			t.Errorf("%s does not say that there are no slices", page)
		}
	}
	if pools, err := check.NodePools(fixture.FS(off)); err != nil || len(pools) != 3 || len(pools[2].Names) != 0 {
		t.Errorf("pools without slices: %v, %v", pools, err)
	}
}
