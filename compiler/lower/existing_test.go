package lower

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// existingBlueprint returns a blueprint of a platform in a cluster that others own.
func existingBlueprint() *schema.Blueprint {
	maxNodes, priority := 4, 10
	return &schema.Blueprint{
		Name: "research", Project: "my-project", Region: "us-central1", Zones: []string{"us-central1-a"},
		Scheduler: "kueue",
		Cluster: schema.Cluster{
			ImageStreaming: true, DNSEndpoint: true, ReleaseChannel: "REGULAR", DeletionProtection: true,
			SystemPool: schema.SystemPool{Machine: "e2-standard-4", NodesPerZone: 1},
			Existing: &schema.ExistingCluster{
				Name: "prod", Version: "1.34",
				Has: schema.ClusterHas{DataplaneV2: true, WorkloadIdentity: true, ManagedPrometheus: true},
			},
		},
		Hardware: map[string]schema.Hardware{"l4": {Machine: "g2-standard-24", GPUDriver: "DEFAULT"}},
		Capacity: map[string]schema.Capacity{
			"some": {Hardware: new("l4"), MaxNodes: &maxNodes, Consumption: schema.Consumption{Spot: &struct{}{}}},
		},
		Tiers: map[string]schema.Tier{
			"batch": {Priority: &priority, Default: true, Capacity: []string{"some"}},
		},
		Teams: map[string]schema.Team{
			"vision": {Quota: map[string]map[string]schema.Quota{"batch": {"some": {Accelerators: new(8)}}}},
		},
	}
}

// lowerExisting lowers the blueprint with a change.
func lowerExisting(t *testing.T, change func(*schema.Blueprint)) *ir.Platform {
	t.Helper()
	b := existingBlueprint()
	change(b)
	p, err := Blueprint(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestExistingCluster holds that the plan describes the cluster as the blueprint does, and
// has none of the settings of a new cluster.
func TestExistingCluster(t *testing.T) {
	p := lowerExisting(t, func(*schema.Blueprint) {})
	want := ir.Cluster{
		Name: "prod", Location: "us-central1", ImageStreaming: true,
		Existing: &ir.ExistingCluster{
			Version: "1.34", DataplaneV2: true, WorkloadIdentity: true, ManagedPrometheus: true,
		},
	}
	if diff := cmp.Diff(want, p.Cluster); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
	if p.Name != "research" || !p.InstallsKueue() || !p.InstallsJobSet() {
		t.Errorf("platform %s installs Kueue: %v, JobSet: %v", p.Name, p.InstallsKueue(), p.InstallsJobSet())
	}
	if p.SystemPool != (ir.SystemPool{}) || !reflect.DeepEqual(p.Network, ir.Network{}) ||
		!reflect.DeepEqual(p.AutoProvisioning, ir.AutoProvisioning{}) {
		t.Errorf("system pool %+v, network %+v, limits %+v", p.SystemPool, p.Network, p.AutoProvisioning)
	}
	for _, c := range p.PriorityClasses {
		if c.Default {
			t.Errorf("PriorityClass %s would be the default of all pods of the cluster", c.Name)
		}
	}
	if slices.ContainsFunc(p.Demand.Rows, func(r ir.DemandRow) bool { return r.Metric == "CPUS" }) {
		t.Errorf("quota for a system pool: %+v", p.Demand.Rows)
	}

	p = lowerExisting(t, func(b *schema.Blueprint) {
		e := b.Cluster.Existing
		e.Location, e.Has.SecurityGroup = new("us-central1-c"), new("gke-security-groups@example.com")
		e.Has.DNSEndpoint, e.Has.MultiNetworking, e.Has.DataplaneV2 = true, true, false
		e.Kueue = &schema.ExistingKueue{
			Version: "0.18.0", Frameworks: []string{"pod", "batch/job"},
			NamespaceLabels: map[string]string{"z": "1", "a": "2"},
		}
		e.JobSet = &schema.ExistingJobSet{Version: "0.11.0"}
	})
	want = ir.Cluster{
		Name: "prod", Location: "us-central1-c", ImageStreaming: true, DNSEndpoint: true, MultiNetworking: true,
		SecurityGroup: "gke-security-groups@example.com",
		Existing: &ir.ExistingCluster{
			Version: "1.34", WorkloadIdentity: true, ManagedPrometheus: true,
			Kueue: &ir.ExistingKueue{
				Version: "0.18.0", Frameworks: []string{"pod", "batch/job"},
				NamespaceLabels: []ir.KeyValue{{Key: "a", Value: "2"}, {Key: "z", Value: "1"}},
			},
			JobSet: &ir.ExistingJobSet{Version: "0.11.0"},
		},
	}
	if diff := cmp.Diff(want, p.Cluster); diff != "" {
		t.Errorf("cluster with everything (-want +got):\n%s", diff)
	}
}

// TestExistingLimits holds that the limits of node auto-provisioning are the limits
// of the cluster, and that they bound what the platform can ask of Google Cloud.
func TestExistingLimits(t *testing.T) {
	p := lowerExisting(t, func(b *schema.Blueprint) {
		b.Cluster.Existing.Has.AutoProvisioning = &schema.ExistingLimits{
			MaxCPU: 48, MaxMemoryGiB: 4000, Accelerators: map[string]int{"nvidia-tesla-t4": 2, "nvidia-l4": 6},
		}
	})
	want := ir.AutoProvisioning{Create: true, Limits: []ir.ResourceLimit{
		{Type: ir.CPU, Max: 48}, {Type: ir.Memory, Max: 4000}, {Type: "nvidia-l4", Max: 6},
		{Type: "nvidia-tesla-t4", Max: 2},
	}}
	if diff := cmp.Diff(want, p.AutoProvisioning); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	i := slices.IndexFunc(p.Demand.Rows, func(r ir.DemandRow) bool { return r.Metric == "PREEMPTIBLE_NVIDIA_L4_GPUS" })
	if i < 0 || p.Demand.Rows[i].Ceiling != 6 {
		t.Errorf("quota of GPUs: %+v", p.Demand.Rows)
	}
}

// TestExistingNamespaceLabels holds that the teams' namespaces have the labels by which
// Kueue of others selects them, each once, beside the labels of their queues.
func TestExistingNamespaceLabels(t *testing.T) {
	for _, test := range []struct {
		name         string
		kueue, queue map[string]string
		want         []ir.KeyValue
	}{
		{"none", nil, nil, nil},
		{"of Kueue", map[string]string{"managed": "yes"}, nil, []ir.KeyValue{{Key: "managed", Value: "yes"}}},
		{
			"of both", map[string]string{"managed": "yes"}, map[string]string{"batch": "yes", "managed": "yes"},
			[]ir.KeyValue{{Key: "batch", Value: "yes"}, {Key: "managed", Value: "yes"}},
		},
	} {
		p := lowerExisting(t, func(b *schema.Blueprint) {
			b.Cluster.Existing.Kueue = &schema.ExistingKueue{Version: "0.19.2", NamespaceLabels: test.kueue}
			tier := b.Tiers["batch"]
			tier.Namespaces.Labels = test.queue
			b.Tiers["batch"] = tier
		})
		if diff := cmp.Diff(test.want, p.Teams[0].NamespaceLabels); diff != "" {
			t.Errorf("labels %s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestExistingRights holds that the build of a platform in a cluster of others cannot
// delete the cluster, read its objects by IAM, or change a network.
func TestExistingRights(t *testing.T) {
	p := lowerExisting(t, func(b *schema.Blueprint) { b.Cluster.Existing.Location = new("us-central1-c") })
	d := p.Delivery
	role := "projects/my-project/roles/research_node_pool_admin"
	if len(d.NarrowRoles) != 1 || d.NarrowRoles[0].Role != role || d.NarrowRoles[0].Scope != ir.ClusterScope ||
		!strings.Contains(d.NarrowRoles[0].Condition, "projects/my-project/locations/us-central1-c/clusters/prod") {
		t.Errorf("roles with a condition: %+v", d.NarrowRoles)
	}
	if len(d.CustomRoles) != 1 || d.CustomRoles[0].Name("my-project") != role ||
		!slices.IsSorted(d.CustomRoles[0].Permissions) {
		t.Fatalf("custom roles: %+v", d.CustomRoles)
	}
	for _, permission := range d.CustomRoles[0].Permissions {
		object := !strings.HasPrefix(permission, "container.clusters.") &&
			!strings.HasPrefix(permission, "container.operations.")
		if object || strings.HasSuffix(permission, ".delete") || strings.HasSuffix(permission, ".create") {
			t.Errorf("the build has %s", permission)
		}
	}
	for _, right := range buildRights(d) {
		if strings.HasPrefix(right, "roles/container.") || strings.HasPrefix(right, "roles/compute.") {
			t.Errorf("the build has %s", right)
		}
	}
	if !slices.Contains(d.Permissions, "compute.instanceGroupManagers.list") {
		t.Errorf("permissions %q: the provider reads the instance groups of a node pool", d.Permissions)
	}

	network := &schema.ExistingNetwork{
		Network: "shared", Subnet: "batch", Pods: "pods", Services: "services", NAT: true,
	}
	p = lowerExisting(t, func(b *schema.Blueprint) { b.Network.Existing = network })
	if !slices.Contains(p.Delivery.Account.Roles, "roles/compute.networkUser") {
		t.Errorf("in a network of the project: %q", p.Delivery.Account.Roles)
	}
	network.Project = new("net-host")
	p = lowerExisting(t, func(b *schema.Blueprint) { b.Network.Existing = network })
	if slices.Contains(p.Delivery.Account.Roles, "roles/compute.networkUser") {
		t.Errorf("in a Shared VPC: %q", p.Delivery.Account.Roles)
	}
}

// TestExistingGPUNetworks holds that the plan has the networks between GPUs that the
// blueprint names, and none if it names none: a rule reports the lack.
func TestExistingGPUNetworks(t *testing.T) {
	direct := func(b *schema.Blueprint) {
		b.Hardware["l4"] = schema.Hardware{Machine: "a3-ultragpu-8g", GPUDirect: true, GPUDriver: "DEFAULT"}
	}
	p := lowerExisting(t, direct)
	if len(p.Network.GPUs) > 0 || len(p.Capacities[0].Networks) == 0 {
		t.Errorf("networks %+v for nodes with %q", p.Network.GPUs, p.Capacities[0].Networks)
	}
	p = lowerExisting(t, func(b *schema.Blueprint) {
		direct(b)
		b.Network.Existing = &schema.ExistingNetwork{
			Network: "shared", Subnet: "batch", Pods: "pods", Services: "services", NAT: true,
			GVNIC: &schema.ExistingSubnet{Network: "gvnic", Subnet: "gvnic-0"},
			RDMA: &schema.ExistingRDMA{
				Network: "rdma", Subnets: []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"},
			},
		}
	})
	var names []string
	for _, n := range p.Network.GPUs {
		names = append(names, n.Name)
	}
	if !slices.Equal(names, []string{"gvnic", "rdma"}) || p.Network.Name != "shared" {
		t.Errorf("networks %q of %s", names, p.Network.Name)
	}
}
