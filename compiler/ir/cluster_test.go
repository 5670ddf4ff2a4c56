package ir_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// existing returns a platform in a cluster of others, with the given controllers of
// others.
func existing(kueue *ir.ExistingKueue, jobSet *ir.ExistingJobSet) *ir.Platform {
	return &ir.Platform{
		Name: "research", Project: "my-project", Region: "us-central1", Zones: []string{"us-central1-a"},
		Scheduler: ir.Kueue,
		Versions:  ir.Versions{Kueue: "0.19.2", JobSet: "0.12.0", Terraform: "1.13.5", Gcloud: "573.0.0"},
		Cluster: ir.Cluster{
			Name: "prod", Location: "us-central1", Existing: &ir.ExistingCluster{Kueue: kueue, JobSet: jobSet},
		},
	}
}

// TestExistingControllers checks that the platform installs the controllers that others do
// not run, and knows the others' versions and accounts.
func TestExistingControllers(t *testing.T) {
	const (
		ofRelease = "system:serviceaccount:jobset-system:jobset-controller-manager"
		ofChart   = "system:serviceaccount:jobset-system:jobset-controller"
	)
	kueue, jobSet := &ir.ExistingKueue{Version: "0.18.0"}, &ir.ExistingJobSet{Version: "0.11.0"}
	for _, test := range []struct {
		name           string
		plan           *ir.Platform
		kueue, jobSet  bool
		images         []string
		version        string
		accounts       []string
		scheduler, own bool
	}{
		{
			"a new cluster", &ir.Platform{Scheduler: ir.Kueue, Versions: existing(nil, nil).Versions}, true, true,
			[]string{"registry.k8s.io/kueue/kueue", "registry.k8s.io/jobset/jobset"}, "0.19.2",
			[]string{ofRelease}, true, true,
		},
		{
			"none", existing(nil, nil), true, true,
			[]string{"registry.k8s.io/kueue/kueue", "registry.k8s.io/jobset/jobset"}, "0.19.2",
			[]string{ofRelease}, true, false,
		},
		{
			"Kueue", existing(kueue, nil), false, true, []string{"registry.k8s.io/jobset/jobset"}, "0.18.0",
			[]string{ofRelease}, false, false,
		},
		{
			"JobSet", existing(nil, jobSet), true, false, []string{"registry.k8s.io/kueue/kueue"}, "0.19.2",
			[]string{ofRelease, ofChart}, true, false,
		},
		{
			"both", existing(kueue, jobSet), false, false, nil, "0.18.0",
			[]string{ofRelease, ofChart}, false, false,
		},
	} {
		p := test.plan
		if p.InstallsKueue() != test.kueue || p.InstallsJobSet() != test.jobSet ||
			p.InstallsScheduler() != test.scheduler || p.OwnsCluster() != test.own {
			t.Errorf("%s: Kueue %v, JobSet %v, scheduler %v, cluster %v", test.name, p.InstallsKueue(),
				p.InstallsJobSet(), p.InstallsScheduler(), p.OwnsCluster())
		}
		var images []string
		for _, r := range p.Releases() {
			images = append(images, r.Image)
		}
		if diff := cmp.Diff(test.images, images); diff != "" {
			t.Errorf("%s: releases (-want +got):\n%s", test.name, diff)
		}
		if got := slices.Contains(p.PublicImages(), "registry.k8s.io/kueue/kueue:v0.19.2"); got != test.kueue {
			t.Errorf("%s: pulls Kueue: %v", test.name, got)
		}
		if got := p.KueueVersion(); got != test.version {
			t.Errorf("%s: Kueue %s, want %s", test.name, got, test.version)
		}
		if diff := cmp.Diff(test.accounts, p.ControllerOf(ir.JobSet).Accounts()); diff != "" {
			t.Errorf("%s: accounts of JobSet (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestExistingNames checks the names of objects that others could have too, and the
// network that the platform owns.
func TestExistingNames(t *testing.T) {
	own, others := &ir.Platform{Name: "research"}, existing(nil, nil)
	if got := own.ClusterScopedName("jobs-are-queued"); got != "jobs-are-queued" {
		t.Errorf("in a new cluster: %s", got)
	}
	if got := others.ClusterScopedName("jobs-are-queued"); got != "research-jobs-are-queued" {
		t.Errorf("in a cluster of others: %s", got)
	}
	if !own.OwnsNetwork() || others.OwnsNetwork() {
		t.Errorf("owns its network: %v, and in a cluster of others: %v", own.OwnsNetwork(), others.OwnsNetwork())
	}
	own.Network.Existing = &ir.ExistingNetwork{}
	if own.OwnsNetwork() {
		t.Error("owns an existing network")
	}
	if got := others.UsedSubnets(); len(got) > 0 {
		t.Errorf("subnets of a network that the blueprint does not describe: %q", got)
	}
	if got := others.MaxNodes(); got != 0 {
		t.Errorf("%d nodes without capacities", got)
	}
}

// TestExistingSettings checks that a build compares the name of the cluster, and only the
// versions that it installs.
func TestExistingSettings(t *testing.T) {
	names := func(p *ir.Platform) (out []string) {
		for _, s := range p.BuildSettings() {
			out = append(out, s.Substitution)
		}
		return out
	}
	p := existing(&ir.ExistingKueue{}, &ir.ExistingJobSet{})
	if diff := cmp.Diff([]string{"_CLUSTER_NAME", "_REGION", "_ZONE"}, names(p)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	cluster := p.BuildSettings()[0]
	if cluster.Field != "cluster.existing.name" || !slices.Equal(cluster.Values, []string{"prod"}) {
		t.Errorf("setting of the cluster: %+v", cluster)
	}
	want := []string{"_CLUSTER_NAME", "_JOBSET_API_VERSION", "_KUEUE_API_VERSION", "_REGION", "_ZONE"}
	if diff := cmp.Diff(want, names(existing(nil, nil))); diff != "" {
		t.Errorf("settings of a platform that installs the controllers (-want +got):\n%s", diff)
	}
	p.Capacities = []ir.Capacity{{Machine: ir.Machine{Resource: ir.TPU}}}
	if slices.Contains(names(p), "_NETWORK_NAME") {
		t.Error("a setting of a network that the blueprint does not describe")
	}
}
