package folders_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// The table of the batch reference platform: the quota of each team's ClusterQueues
// as nominal + borrowing limit, and their preemption. It is written by hand from the
// reference, so that a change of the compiler cannot change it.
var batchPlatformQueues = []string{
	// queue, flavor, cpu, memory, nvidia.com/gpu, preemption
	"cq-TEAM-hp l4-reserved 4+0 20Gi+0 4+0 LowerPriority",
	"cq-TEAM-hp l4-ondemand 4+4 20Gi+20Gi 4+4 LowerPriority",
	"cq-TEAM-lp l4-reserved 0+4 0+20Gi 0+4 Never",
	"cq-TEAM-lp l4-spot 12+4 60Gi+20Gi 12+4 Never",
	"cq-TEAM-compact a100-compact 20+0 120Gi+0 2+0 LowerPriority",
}

var batchPlatformTeams = []string{"team-a", "team-b", "team-c", "team-d"}

func TestBatchPlatformQuota(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "batch-platform"))
	for _, team := range batchPlatformTeams {
		var got []string
		name := "kubernetes/teams/" + team + ".yaml"
		for _, cq := range check.ObjectsIn[kueue.ClusterQueue](t, files, name, "ClusterQueue") {
			got = append(got, queueRows(t, cq, team)...)
		}
		want := slices.Clone(batchPlatformQueues)
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "TEAM", team)
		}
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-reference +compiled):\n%s", team, d)
		}
	}
}

// queueRows returns a ClusterQueue as rows of the table.
func queueRows(t *testing.T, cq kueue.ClusterQueue, team string) []string {
	t.Helper()
	if cq.Spec.QueueingStrategy != kueue.StrictFIFO {
		t.Errorf("%s: %s, want StrictFIFO", cq.Name, cq.Spec.QueueingStrategy)
	}
	if got := cq.Spec.NamespaceSelector.MatchLabels; !cmp.Equal(got,
		map[string]string{corev1.LabelMetadataName: team}) {
		t.Errorf("%s: namespaces %v may submit, want %s", cq.Name, got, team)
	}
	want := map[string]string{
		"team-a": "team-a-b", "team-b": "team-a-b", "team-c": "team-c-d", "team-d": "team-c-d",
	}[team]
	if string(cq.Spec.CohortName) != want {
		t.Errorf("%s: cohort %q, want %q", cq.Name, cq.Spec.CohortName, want)
	}
	preemption := "Never"
	if p := cq.Spec.Preemption; p != nil {
		if string(p.WithinClusterQueue) != string(p.ReclaimWithinCohort) {
			t.Errorf("%s: preemption %v", cq.Name, p)
		}
		if p.WithinClusterQueue != "" {
			preemption = string(p.WithinClusterQueue)
		}
	}
	var rows []string
	for _, g := range cq.Spec.ResourceGroups {
		if want := []corev1.ResourceName{
			"cpu", "memory", "nvidia.com/gpu", "pods",
		}; !cmp.Equal(g.CoveredResources, want) {
			t.Fatalf("%s covers %v", cq.Name, g.CoveredResources)
		}
		for _, f := range g.Flavors {
			// The reference does not count pods. Here each GPU comes with the number
			// of pods that a node holds.
			counted, pods := f.Resources[2], f.Resources[3]
			if pods.NominalQuota.Value() != 110*counted.NominalQuota.Value() ||
				pods.BorrowingLimit.Value() != 110*counted.BorrowingLimit.Value() {
				t.Errorf("%s: %s has %v for %v", cq.Name, f.Name, pods, counted)
			}
			row := []string{cq.Name, string(f.Name)}
			for _, r := range f.Resources[:3] {
				borrowing := "none"
				if r.BorrowingLimit != nil {
					borrowing = r.BorrowingLimit.String()
				}
				row = append(row, r.NominalQuota.String()+"+"+borrowing)
			}
			rows = append(rows, strings.Join(append(row, preemption), " "))
		}
	}
	return rows
}

func TestBatchPlatformQueuesAndPriorities(t *testing.T) {
	files := fixture.FS(compile.Reference(t, "batch-platform"))
	for _, team := range batchPlatformTeams {
		var got []string
		for _, lq := range check.ObjectsIn[kueue.LocalQueue](t, files, "kubernetes/teams/"+team+".yaml", "LocalQueue") {
			got = append(got, fmt.Sprintf("%s/%s -> %s", lq.Namespace, lq.Name, lq.Spec.ClusterQueue))
		}
		var want []string
		for _, tier := range []string{"compact", "hp", "lp"} {
			want = append(want, fmt.Sprintf("%[1]s/lq-%[1]s-%[2]s -> cq-%[1]s-%[2]s", team, tier))
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-reference +compiled):\n%s", team, d)
		}
		for _, sa := range check.ObjectsIn[corev1.ServiceAccount](t, files, "kubernetes/teams/"+team+".yaml",
			"ServiceAccount") {
			want := "wi-" + team + "@my-project.iam.gserviceaccount.com"
			if got := sa.Annotations["iam.gke.io/gcp-service-account"]; sa.Name != team+"-ksa" || got != want {
				t.Errorf("service account %s acts as %q, want %q", sa.Name, got, want)
			}
		}
	}
	var got []string
	for _, pc := range check.ObjectsIn[schedulingv1.PriorityClass](t, files, "kubernetes/priority-classes.yaml",
		"PriorityClass") {
		got = append(got, fmt.Sprintf("%s %d default=%v %s", pc.Name, pc.Value, pc.GlobalDefault, *pc.PreemptionPolicy))
	}
	want := []string{
		"lp 10 default=true Never", "compact 15 default=false PreemptLowerPriority",
		"hp 20 default=false PreemptLowerPriority",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("priorities (-reference +compiled):\n%s", d)
	}
}

// The node pools of the batch reference platform: their machines, and the label and
// taint that identify their nodes.
var batchPlatformPools = []string{
	"l4-ondemand nvidia-l4 resource-type=ondemand ondemand=true:NoSchedule",
	"l4-reserved nvidia-l4 resource-type=reservation reserved=true:NoSchedule",
	"l4-spot nvidia-l4 resource-type=spot spot=true:NoSchedule",
}

func TestBatchPlatformPools(t *testing.T) {
	pools, err := check.NodePools(fixture.FS(compile.Reference(t, "batch-platform")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pools {
		if name := p.Names[0]; name != "system" {
			own := slices.DeleteFunc(slices.Clone(p.Taints), func(t string) bool {
				return t == "nvidia.com/gpu=present:NoSchedule"
			})
			if len(own) == len(p.Taints) {
				t.Errorf("%s lacks GKE's own taint: %q", name, p.Taints)
			}
			got = append(got,
				fmt.Sprintf("%s %s resource-type=%s %s", name, p.Machine.Accelerator, p.Labels["resource-type"],
					strings.Join(own, " ")))
		}
	}
	if d := cmp.Diff(batchPlatformPools, got); d != "" {
		t.Errorf("(-reference +compiled):\n%s", d)
	}
}
