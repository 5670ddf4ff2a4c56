package terraform

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// batchPlan is a plan like the batch reference platform: a reserved, an on-demand
// and a spot pool of L4, auto-provisioned A100, four teams.
func batchPlan() *ir.Platform {
	l4 := ir.Machine{
		Type: "g2-standard-24", Family: "g2", VCPUs: 24, MemoryGiB: 96, Accelerator: "nvidia-l4", AcceleratorCount: 2,
		Resource: "nvidia.com/gpu",
	}
	a100 := ir.Machine{
		Type: "a2-highgpu-1g", Family: "a2", VCPUs: 12, MemoryGiB: 85, Accelerator: "nvidia-tesla-a100",
		AcceleratorCount: 1, Resource: "nvidia.com/gpu",
	}
	zones := []string{"us-central1-a", "us-central1-b", "us-central1-c"}
	gpu := ir.Taint{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}
	spot := ir.Taint{Key: "cloud.google.com/gke-spot", Value: "true", Effect: "NoSchedule"}
	labels := func(o ir.Option) []ir.KeyValue {
		return []ir.KeyValue{{Key: "resource-type", Value: o.Facts().ResourceType}}
	}
	p := &ir.Platform{
		Scheduler: ir.Kueue,
		Name:      "gke-batch", Project: "my-project", Region: "us-central1", Zones: zones,
		Versions: ir.Versions{Kueue: "0.19.2", JobSet: "0.12.0", Terraform: "1.13.5", GoogleProvider: "7.45.0"},
		Network: ir.Network{
			Name: "gke-batch", Subnet: "gke-batch-us-central1", Nodes: "10.0.0.0/20",
			Pods: "10.4.0.0/14", Services: "10.0.32.0/20", ControlPlane: "172.16.0.32/28",
		},
		Cluster: ir.Cluster{
			Name: "gke-batch", ReleaseChannel: "RAPID", DNSEndpoint: true, DeletionProtection: true,
			ImageStreaming: true, Filestore: true, GCSFuse: true,
			Maintenance: ir.Maintenance{Days: []string{"SA", "SU"}, Start: "03:00", Hours: 6},
		},
		Monitoring: ir.Monitoring{Boards: ir.DefaultBoards("gke-batch", ir.Kueue)},
		SystemPool: ir.SystemPool{
			Name: "system", Machine: "e2-standard-4", DiskType: "pd-balanced", DiskSizeGiB: 100, NodesPerZone: 2,
		},
		NodeAccount: ir.ServiceAccount{
			ID: "gke-batch-nodes", Display: "Nodes of gke-batch",
			Roles: []string{"roles/artifactregistry.reader", "roles/container.defaultNodeServiceAccount"},
		},
		Capacities: []ir.Capacity{
			{
				Name: "a100-compact", Hardware: "a100", Machine: a100, Option: ir.Spot, Zones: zones, MaxNodes: 100,
				AutoProvisioned: true, Compact: true, DiskType: "pd-balanced", DiskSizeGiB: 200, GPUDriver: "LATEST",
			},
			{
				Name: "l4-ondemand", Hardware: "l4", Machine: l4, Option: ir.OnDemand, Zones: zones, MaxNodes: 24,
				DiskType: "pd-balanced", DiskSizeGiB: 100, GPUDriver: "LATEST",
				PoolLabels: labels(ir.OnDemand), NodeTaints: []ir.Taint{gpu},
			},
			{
				Name: "l4-reserved", Hardware: "l4", Machine: l4, Option: ir.Reservation, Zones: zones[2:],
				Static: true, MinNodes: 4, MaxNodes: 4,
				Reservation: &ir.ReservationUse{Name: "machine-reservation", Create: true},
				DiskType:    "pd-balanced", DiskSizeGiB: 100, GPUDriver: "LATEST",
				PoolLabels: labels(ir.Reservation), NodeTaints: []ir.Taint{gpu},
			},
			{
				Name: "l4-spot", Hardware: "l4", Machine: l4, Option: ir.Spot, Zones: zones, MaxNodes: 36,
				DiskType: "pd-balanced", DiskSizeGiB: 100, GPUDriver: "LATEST",
				PoolLabels: labels(ir.Spot), PoolTaints: []ir.Taint{spot}, NodeTaints: []ir.Taint{spot, gpu},
			},
		},
		AutoProvisioning: ir.AutoProvisioning{
			Profile: "OPTIMIZE_UTILIZATION", Create: true,
			Limits: []ir.ResourceLimit{
				{Type: "cpu", Min: 4, Max: 1000}, {Type: "memory", Min: 16, Max: 4000},
				{Type: "nvidia-tesla-a100", Max: 100},
			},
		},
		Delivery: ir.Delivery{StateBucket: "my-project-gke-batch-tfstate", StatePrefix: "gke-batch"},
	}
	for _, name := range []string{"team-a", "team-b", "team-c", "team-d"} {
		p.Teams = append(p.Teams, ir.Team{
			Name: name, Namespace: name, KubeAccount: name + "-ksa", Bucket: "my-project-" + name,
			Account: &ir.TeamAccount{ID: "wi-" + name, Display: "Jobs of " + name},
			Roles:   []string{"roles/logging.logWriter", "roles/monitoring.metricWriter"},
		})
	}
	return p
}
