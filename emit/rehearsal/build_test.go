package rehearsal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// compileBlueprints compiles reference blueprints, laid over each other.
func compileBlueprints(t *testing.T, names ...string) (*ir.Platform, emit.Tree) {
	t.Helper()
	in := compiler.Input{Files: os.DirFS("../..")}
	for _, name := range names {
		in.Paths = append(in.Paths, path.Join("blueprints", name))
	}
	res, err := compiler.Compile(t.Context(), in)
	if err != nil || res.Plan == nil {
		t.Fatal(err, res.Findings.Sorted())
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return res.Plan, tree
}

// build returns the scenario of the demonstration of reference blueprints.
func build(t *testing.T, names ...string) (*ir.Platform, *rehearsal.Scenario) {
	t.Helper()
	p, tree := compileBlueprints(t, names...)
	s, err := rehearsal.OfDemonstration(p, tree)
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// decodeStrictly decodes an object as its API's Go type, which must have all its fields.
func decodeStrictly(t *testing.T, object json.RawMessage) {
	t.Helper()
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(object, &head); err != nil {
		t.Fatal(err)
	}
	types := map[string]any{
		"v1 Namespace":                                     &corev1.Namespace{},
		"scheduling.k8s.io/v1 PriorityClass":               &schedulingv1.PriorityClass{},
		"kueue.x-k8s.io/v1beta2 ResourceFlavor":            &v1beta2.ResourceFlavor{},
		"kueue.x-k8s.io/v1beta2 Cohort":                    &v1beta2.Cohort{},
		"kueue.x-k8s.io/v1beta2 ClusterQueue":              &v1beta2.ClusterQueue{},
		"kueue.x-k8s.io/v1beta2 LocalQueue":                &v1beta2.LocalQueue{},
		"kueue.x-k8s.io/v1beta2 AdmissionCheck":            &v1beta2.AdmissionCheck{},
		"kueue.x-k8s.io/v1beta2 ProvisioningRequestConfig": &v1beta2.ProvisioningRequestConfig{},
		"batch/v1 Job":                                     &batchv1.Job{},
		"jobset.x-k8s.io/v1alpha2 JobSet":                  &v1alpha2.JobSet{},
		"config.kueue.x-k8s.io/v1beta2 Configuration":      &map[string]any{}, // conformance/kueueconfig decodes it
		"kueue.x-k8s.io/v1beta2 WorkloadPriorityClass":     &v1beta2.WorkloadPriorityClass{},
	}
	target := types[head.APIVersion+" "+head.Kind]
	if target == nil {
		t.Fatalf("an object is a %s %s", head.APIVersion, head.Kind)
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	if err := d.Decode(target); err != nil {
		t.Errorf("%s: %v", head.Kind, err)
	}
}

// countKinds returns the kinds of the objects with their numbers, in their order.
func countKinds(t *testing.T, objects []json.RawMessage) (kinds []string, counts map[string]int) {
	t.Helper()
	counts = map[string]int{}
	for _, o := range objects {
		var head struct{ Kind string }
		if err := json.Unmarshal(o, &head); err != nil {
			t.Fatal(err)
		}
		if counts[head.Kind]++; !slices.Contains(kinds, head.Kind) {
			kinds = append(kinds, head.Kind)
		}
	}
	return kinds, counts
}

// TestObjects checks the kinds and numbers of the objects, and that each is an object of
// its API.
func TestObjects(t *testing.T) {
	_, s := build(t, "batch-platform", "batch-platform-dws")
	kinds, counts := countKinds(t, s.Objects)
	if d := cmp.Diff([]string{
		"Configuration", "Namespace", "PriorityClass", "ProvisioningRequestConfig", "AdmissionCheck", "ResourceFlavor",
		"Cohort", "ClusterQueue", "LocalQueue",
	}, kinds); d != "" {
		t.Errorf("the kinds: -want +got:\n%s", d)
	}
	// Four teams with three queues of their own; two of the teams share a queue.
	for kind, want := range map[string]int{
		"Configuration": 1, "Namespace": 4, "ProvisioningRequestConfig": 2, "AdmissionCheck": 2, "ResourceFlavor": 6,
		"ClusterQueue": 13, "LocalQueue": 14,
	} {
		if counts[kind] != want {
			t.Errorf("%d objects of kind %s, want %d", counts[kind], kind, want)
		}
	}
	for _, o := range s.Objects {
		decodeStrictly(t, o)
	}
}

// TestConfiguration checks that Kueue's configuration is the text of its ConfigMap.
func TestConfiguration(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	s, err := rehearsal.OfDemonstration(p, tree)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tree, func(f emit.File) bool { return strings.HasSuffix(f.Path, "kueue-configuration.yaml") })
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict(tree[i].Content, &configMap); err != nil {
		t.Fatal(err)
	}
	var want, got any
	for _, text := range configMap.Data {
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(s.Objects[0], &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestGitOpsConfiguration checks that a rehearsal finds Kueue's configuration wherever a
// GitOps tool has it, and the same objects except for annotations.
func TestGitOpsConfiguration(t *testing.T) {
	plan, tree := compileBlueprints(t, "batch-platform")
	want, err := rehearsal.OfDemonstration(plan, tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"argocd", "configsync", "flux"} {
		overlay := "../golden/testdata/gitops/" + tool + ".cue"
		if tool == "argocd" {
			overlay = "batch-platform-argocd"
		}
		plan, tree := compileBlueprints(t, "batch-platform", overlay)
		got, err := rehearsal.OfDemonstration(plan, tree)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		var a, b any
		if json.Unmarshal(want.Objects[0], &a) != nil || json.Unmarshal(got.Objects[0], &b) != nil || !cmp.Equal(a, b) {
			t.Errorf("%s: configuration (-want +got):\n%s", tool, cmp.Diff(a, b))
		}
		// Argo CD also has the namespaces of the charts.
		if n := len(got.Objects) - len(want.Objects); n != 0 && (tool != "argocd" || n != 2) {
			t.Errorf("%s: %d objects more", tool, n)
		}
	}
}

// TestTemplates checks that each workload of each team has a template: the object of its
// first copy, with the tier of its queue and the accelerators of its pods.
func TestTemplates(t *testing.T) {
	_, s := build(t, "batch-platform")
	tiers := map[string]string{"low-priority": "lp", "high-priority": "hp", "compact": "compact", "jobset": "lp"}
	accelerators := map[string]int{"low-priority": 4, "high-priority": 4, "compact": 2, "jobset": 4}
	if len(s.Templates) != 4*len(tiers) {
		t.Errorf("%d templates, want 4 of each of 4 teams", len(s.Templates))
	}
	for _, template := range s.Templates {
		if want := tiers[template.Name]; template.Tier != want {
			t.Errorf("%s of %s has tier %q, want %q", template.Name, template.Team, template.Tier, want)
		}
		if want := accelerators[template.Name]; template.Accelerators != want {
			t.Errorf("%s has %d accelerators, want %d", template.Name, template.Accelerators, want)
		}
		var head struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := json.Unmarshal(template.Object, &head); err != nil {
			t.Fatal(err)
		}
		if (head.Kind == "JobSet") != (template.Name == "jobset") || head.Metadata.Name != template.Name+"-1" ||
			head.Metadata.Namespace != template.Team {
			t.Errorf("%s of %s is %+v", template.Name, template.Team, head)
		}
		decodeStrictly(t, template.Object)
	}
}

// TestBatchPlatform checks the jobs, the looks and the pools of the batch platform.
func TestBatchPlatform(t *testing.T) {
	p, s := build(t, "batch-platform")
	// Seven phases of 10 minutes and a minute for 16 submissions; three delete first. The last
	// phase takes 4 hours.
	const last = 4680 + 60 + 14400 + 120
	if d := cmp.Diff([]int64{659, 1319, 1979, 2639, 3299, 3959, 4679, last - 1}, s.Looks); d != "" {
		t.Errorf("the looks: -want +got:\n%s", d)
	}
	kueue := rehearsal.Scheduler{Name: ir.Kueue, Version: p.Versions.Kueue}
	if s.Name != ir.DemonstrationRehearsal || s.Scheduler != kueue || s.Until != last {
		t.Errorf("%s with %s until %d", s.Name, s.Scheduler, s.Until)
	}
	if len(s.Jobs) != 16*5+64 {
		t.Fatalf("%d jobs, want 16 in each of five phases, and 64 in the last", len(s.Jobs))
	}
	teams := []string{"team-a", "team-b", "team-c", "team-d"}
	copies := []string{"-1", "-2", "-3", "-4"}
	for i, job := range s.Jobs[:16] {
		team, deleted := s.Templates[job.Template].Team, int64(3960)
		if i%2 == 1 { // an idle team
			deleted = 2640
		}
		if job.Name != "low-priority"+copies[i/4] || team != teams[i%4] || job.At != int64(i) ||
			job.Deleted != deleted {
			t.Errorf("job %d is %+v of %s", i, job, team)
		}
	}
	if high := s.Jobs[16]; high.Name != "high-priority-1" || high.At != 660 || high.Deleted != 1980 {
		t.Errorf("the first job of the second phase is %+v", high)
	}
	if again := s.Jobs[48]; again.Name != "high-priority-1-again-2" || again.At != 3300 || again.Deleted != 3960 {
		t.Errorf("the first job of the sixth phase is %+v", again)
	}
	if jobset := s.Jobs[64]; jobset.Name != "jobset-1" || jobset.At != 4020 || jobset.Deleted != 4680 {
		t.Errorf("the first job of the last phase is %+v", jobset)
	}
	if jobset := s.Jobs[len(s.Jobs)-1]; jobset.Runs != 25*60 || s.Jobs[64].Runs != 0 {
		t.Errorf("the last job is %+v, want only jobs of the last phase to end by themselves", jobset)
	}
	if !slices.IsSortedFunc(s.Jobs, func(a, b rehearsal.Job) int { return int(a.At - b.At) }) {
		t.Error("the jobs are not by time")
	}
	withoutLabels(s.Pools)
	// A g2-standard-24 offers 23870m and 90626Mi; GKE's own pods request 662m and 541Mi, with
	// both CSI drivers.
	node := map[string]string{"cpu": "23208m", "memory": "90085Mi", "nvidia.com/gpu": "2"}
	machine := map[string]float64{"cpu": 24, "memory": 96}
	if d := cmp.Diff([]rehearsal.Pool{
		{Name: "l4-reserved", PerNode: node, Machine: machine, Min: 4, Max: 4, Together: 1, Idle: 600},
		{Name: "l4-spot", PerNode: node, Machine: machine, Max: 36, Together: 1, Startup: 180, Idle: 600},
	}, s.Pools[2:]); d != "" {
		t.Errorf("the pools: -want +got:\n%s", d)
	}
}

// TestStuckJobsStay checks that a job without nodes lives through two phases before Kueue
// evicts it: the phases of the batch platform leave such jobs to the next phase.
func TestStuckJobsStay(t *testing.T) {
	p, s := build(t, "batch-platform")
	for i := 2; i < len(s.Looks); i++ {
		if p.Demonstration[i].Completed != nil { // it submits all of its jobs
			continue
		}
		if lives := s.Looks[i] - s.Looks[i-2]; lives >= int64(ir.DefaultPodsReady().Timeout) {
			t.Errorf("phases %d and %d take %d seconds", i-1, i, lives)
		}
	}
}

// TestDeterministic checks that two builds give the same scenario.
func TestDeterministic(t *testing.T) {
	var texts [2][]byte
	for i := range texts {
		_, s := build(t, "batch-platform")
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = text
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two builds differ")
	}
}

// TestQueuedPlatform checks the phases and the pools with which nodes are requested for a
// job.
func TestQueuedPlatform(t *testing.T) {
	_, s := build(t, "batch-platform", "batch-platform-dws")
	if len(s.Looks) != 10 || s.Looks[8]-s.Looks[7] != 60+14400+60 {
		t.Errorf("the looks are %v: phase 9 deletes, submits two jobs, and takes 4 hours", s.Looks)
	}
	for _, pool := range s.Pools {
		if strings.HasSuffix(pool.Name, "-dws") && (pool.Startup != 600 || pool.Min != 0 || pool.Max != 2) {
			t.Errorf("pool %+v", pool)
		}
	}
}

// TestSlices checks that the nodes of a TPU slice come and go together.
func TestSlices(t *testing.T) {
	_, s := build(t, "tpu-training")
	i := slices.IndexFunc(s.Pools, func(p rehearsal.Pool) bool { return p.Name == "slices" })
	if pool := s.Pools[i]; pool.Together != 4 || pool.Max != 8 || pool.PerNode["google.com/tpu"] != "4" {
		t.Errorf("the pool of the slices is %+v", pool)
	}
	if len(s.Jobs) != 5 {
		t.Errorf("%d jobs, want two of one slice, two of two slices, and one with a TensorBoard", len(s.Jobs))
	}
}

// withoutLabels removes labels and taints from pools. TestKAI checks them.
func withoutLabels(pools []rehearsal.Pool) {
	for i := range pools {
		pools[i].Labels, pools[i].Taints = nil, nil
	}
}

// TestKAI checks the scenario of a platform with KAI Scheduler: its queues and the classes of
// its chart, its nodes, and the cordon.
func TestKAI(t *testing.T) {
	p, s := build(t, "kai-departments")
	if want := (rehearsal.Scheduler{Name: ir.KAI, Version: p.Versions.KAI}); s.Scheduler != want {
		t.Errorf("the scheduler is %v, want %v", s.Scheduler, want)
	}
	_, counts := countKinds(t, s.Objects)
	if d := cmp.Diff(map[string]int{"Namespace": 4, "PriorityClass": 4, "Queue": 6}, counts); d != "" {
		t.Errorf("objects: -want +got:\n%s", d)
	}
	want := []rehearsal.Pool{{
		Name: "h100-reserved", PerNode: s.Pools[0].PerNode, Min: 4, Max: 4, Together: 1, Idle: 600,
		Labels: map[string]string{
			"capacity": "h100-reserved", "cloud.google.com/gke-accelerator": "nvidia-h100-80gb",
			"resource-type": "reservation",
		},
		Taints: []rehearsal.Taint{
			{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"},
			{Key: "reserved", Value: "true", Effect: "NoSchedule"},
		},
		Cordoned: []rehearsal.Count{{At: 0, N: 1}, {At: s.Looks[2] + 1, N: 0}},
	}}
	if d := cmp.Diff(want, s.Pools); d != "" {
		t.Errorf("pools: -want +got:\n%s", d)
	}
	if s.Pools[0].PerNode["nvidia.com/gpu"] != "8" || len(s.Jobs) != 6 || s.Jobs[1].At-s.Jobs[0].At != 60 {
		t.Errorf("nodes of %v, jobs %+v", s.Pools[0].PerNode, s.Jobs)
	}
}

// TestUnplayable checks the reasons why a platform cannot be rehearsed.
func TestUnplayable(t *testing.T) {
	kai, kaiTree := compileBlueprints(t, "kai-departments")
	withJobSet := *kai
	withJobSet.Workloads = slices.Clone(kai.Workloads)
	withJobSet.Workloads[0].Kind = ir.JobSet
	batch, tree := compileBlueprints(t, "batch-platform")
	changed := func(change func(*ir.Platform)) *ir.Platform {
		p := *batch
		change(&p)
		return &p
	}
	for _, test := range []struct {
		platform *ir.Platform
		tree     emit.Tree
		want     string
	}{
		{&withJobSet, kaiTree, "workload training-job-1 is a JobSet; with KAI Scheduler only Jobs can be rehearsed"},
		{
			changed(func(p *ir.Platform) { p.Demonstration = nil }), tree,
			"the platform has no demonstration to rehearse",
		},
		{changed(func(p *ir.Platform) {
			p.Demonstration = slices.Clone(p.Demonstration)
			p.Demonstration[1].Cordon = []ir.CapacityCount{{Capacity: "l4-reserved", Count: 1}}
		}), tree, "phase high-priority cordons nodes of l4-reserved; with Kueue a rehearsal cannot play " +
			"cordon"},
		{changed(func(p *ir.Platform) {
			p.Capacities = slices.Clone(p.Capacities)
			p.Capacities[0].PerNode = nil
		}), tree, "capacity a100-compact: batchwright does not know the machine type a2-highgpu-1g, so a rehearsal " +
			"cannot count the pods that a node holds"},
	} {
		s, err := rehearsal.OfDemonstration(test.platform, test.tree)
		if reason := rehearsal.Unplayable(""); s != nil || !errors.As(err, &reason) || reason.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// TestOtherTree checks that the tree of another platform gives an error, and not an
// Unplayable.
func TestOtherTree(t *testing.T) {
	p, tree := compileBlueprints(t, "batch-platform")
	without := func(part string) emit.Tree {
		return tree.Select(func(path string) bool { return !strings.Contains(path, part) })
	}
	broken := slices.Clone(tree)
	for i := range broken {
		if strings.HasPrefix(broken[i].Path, "kubernetes/teams/") {
			broken[i].Content = []byte("a: b: c")
		}
	}
	for name, tree := range map[string]emit.Tree{
		"no configuration": without("kueue-configuration"), "no jobs": without("low-priority-1"), "broken": broken,
	} {
		s, err := rehearsal.OfDemonstration(p, tree)
		if reason := rehearsal.Unplayable(""); s != nil || err == nil || errors.As(err, &reason) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
