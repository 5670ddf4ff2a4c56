package terraform

import (
	"path/filepath"
	"strings"
	"testing"
)

// protectedCluster is Terraform's error for a cluster with deletion protection. The review
// reports the protection before the apply.
const protectedCluster = "Protected from deletion: google_container_cluster"

// blueprintEdit is a change of a blueprint: an edit of its CUE files, or a tag.
type blueprintEdit struct {
	name     string
	replaced int // so many, counted by hand
	old, new string
	tag      string
	rejected string // part of what Terraform says if the edit cannot be applied
	order    bool   // the review says how several builds make the change
	// unprotected edits find a cluster whose deletion protection was off already.
	unprotected bool
	// scaled is a pool to which the autoscaler has given so many nodes in each zone.
	scaled string
	each   float64
}

// apply makes the edit in every CUE file of directories. At least one of them must have the
// old text.
func (e blueprintEdit) apply(t *testing.T, dirs []string) {
	t.Helper()
	if e.old == "" {
		return
	}
	var files []string
	for _, dir := range dirs {
		in, err := filepath.Glob(filepath.Join(dir, "*.cue"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, in...)
	}
	found := false
	for _, file := range files {
		if was := read(t, file); strings.Contains(was, e.old) {
			found = true
			write(t, file, strings.ReplaceAll(was, e.old, e.new))
		}
	}
	if !found {
		t.Fatalf("the blueprint has no %q", e.old)
	}
}

// allEdits are the edits that TestReplaced applies, by blueprint. Most change one field, and
// the others what belongs to it, or several settings that the provider changes in place.
var allEdits = map[string][]blueprintEdit{
	"batch-platform": {
		{name: "quota", old: "accelerators: 12", new: "accelerators: 8"},
		{
			name: "quota by resource", old: "accelerators: 12, borrow: 4",
			new: `accelerators: 12, borrow: 4, resources: memory: {guaranteed: "80Gi", borrow: "8Gi", lend: "70Gi"}`,
		},
		{name: "region", replaced: 16, old: "us-central1", new: "europe-west4", rejected: protectedCluster},
		{
			name: "a zone less", old: `zones: ["us-central1-a", "us-central1-b", "us-central1-c"]`,
			new: `zones: ["us-central1-a", "us-central1-c"]`,
		},
		{
			name: "zone of a reservation", replaced: 2, old: `zones: ["us-central1-c"]`,
			new: `zones: ["us-central1-a"]`,
		},
		{
			name: "machine type and GPUs", replaced: 4, old: `machine: "g2-standard-24"`,
			new: `machine: "g2-standard-48"`,
		},
		{
			name: "no Spot", replaced: 1, old: "consumption: spot: {}, maxNodes: 36",
			new: "consumption: onDemand: {}, maxNodes: 36",
		},
		{name: "fixed nodes", old: "maxNodes: 24", new: "nodes: 24"},
		{
			name: "fixed, and fewer than at most", old: "maxNodes: 24", new: "nodes: 6, accept: E0602: \"for now\"",
			scaled: "l4-ondemand", each: 8,
		},
		{
			name: "disk", old: `l4: {machine: "g2-standard-24",`,
			new: `l4: {machine: "g2-standard-24", disk: sizeGiB: 200,`,
		},
		{
			name: "local SSDs", replaced: 4, old: `l4: {machine: "g2-standard-24",`,
			new: `l4: {machine: "g2-standard-24", localSSDs: 2,`,
		},
		{
			name: "driver", replaced: 3, old: `l4: {machine: "g2-standard-24",`,
			new: `l4: {machine: "g2-standard-24", gpuDriver: "LATEST",`,
		},
		{
			name: "platform's name", replaced: 27, old: `name:    "gke-batch"`, new: `name:    "gke-other"`,
			rejected: protectedCluster,
		},
		{
			name: "nodes' range", replaced: 2, old: "cluster: {",
			new: "network: nodes: \"10.64.0.0/20\"\ncluster: {", rejected: protectedCluster,
		},
		{name: "a wider range of nodes", old: "cluster: {", new: "network: nodes: \"10.0.0.0/19\"\ncluster: {"},
		{
			name: "control plane's range", replaced: 1, old: "cluster: {",
			new: "network: controlPlane: \"172.16.1.32/28\"\ncluster: {", rejected: protectedCluster,
		},
		{
			name: "another cluster", replaced: 5, old: "cluster: {",
			new:         "network: controlPlane: \"172.16.1.32/28\"\ncluster: {\n\tdeletionProtection: false",
			unprotected: true,
		},
		{name: "a team's name", old: `"team-d"`, new: `"team-e"`},
		{name: "no buckets", old: "bucket: true", new: "bucket: false"},
		{name: "data of buckets", old: "	bucket: true", new: "	bucket: true\n\tdeleteBucketData: true"},
		{name: "names of buckets", replaced: 8, old: "	bucket: true", new: "	bucket: \"data-of-\\(Team)\""},
		{name: "groups", old: `"\(Team)@example.com"`, new: `"\(Team)-group@example.com"`},
		{name: "reserved machines", old: "nodes: 4", new: "nodes: 6"},
		{name: "fewer reserved machines", old: "nodes: 4", new: "nodes: 2"},
		{
			name: "reservation's name", replaced: 2, old: `name: "machine-reservation"`,
			new: `name: "other-reservation"`,
		},
		{
			name: "reservation of somebody else", old: "create: true", new: "create: false",
			rejected: errConsumed.Error(), order: true,
		},
		{name: "a capacity's name", old: "l4-spot", new: "l4-cheap"},
		{
			name: "a reserved capacity's name", old: "l4-reserved", new: "l4-owned",
			rejected: errExists.Error(), order: true,
		},
		{
			name: "a capacity less",
			old:  `"l4-ondemand": {hardware: "l4", consumption: onDemand: {}, maxNodes: 24}`,
			new:  `"l4-ondemand": {hardware: "l4", consumption: onDemand: {}, maxNodes: 24, computeClass: true}`,
		},
		{name: "versions", old: "cluster: {", new: "versions: kueue: \"0.19.3\"\ncluster: {"},
		{
			name: "pool of the system", old: "systemPool: nodesPerZone: 2",
			new: `systemPool: {machine: "e2-standard-8", nodesPerZone: 3}`,
		},
		{
			name: "pool of the system that scales", old: "systemPool: nodesPerZone: 2",
			new: "systemPool: {nodesPerZone: 2, maxNodesPerZone: 4}",
		},
		{name: "smaller pool of the system", old: "nodesPerZone: 2", new: "nodesPerZone: 1"},
		{name: "release channel", old: `releaseChannel: "RAPID"`, new: `releaseChannel: "REGULAR"`},
		{name: "CSI driver", old: "filestore:    true", new: "filestore:    false"},
		{name: "limits of auto-provisioning", old: `accelerators: "nvidia-l4": 300`,
			new: `accelerators: "nvidia-l4": 200`},
		{
			name: "security group", replaced: 2, old: `securityGroup:  "gke-security-groups@example.com"`,
			new: `securityGroup: "gke-security-groups@other.example.com"`,
		},
		{name: "deletion protection", old: "cluster: {", new: "cluster: {\n\tdeletionProtection: false"},
		{name: "image streaming", old: "cluster: {", new: "cluster: {\n\timageStreaming: false"},
		{
			name: "authorized networks", old: "cluster: {",
			new: "cluster: {\n\tauthorizedNetworks: office: \"203.0.113.0/24\"",
		},
		{
			name: "name of the network", replaced: 6, old: "cluster: {",
			new: "network: name: \"shared-batch\"\ncluster: {", rejected: protectedCluster,
		},
		{
			name: "name of the subnet", replaced: 2, old: "cluster: {",
			new: "network: subnet: \"shared-batch\"\ncluster: {", rejected: protectedCluster,
		},
		{
			name: "description of the cluster", replaced: 1, old: "cluster: {",
			new: "cluster: {\n\tdescription: \"batch platform of research\"", rejected: protectedCluster,
		},
		{name: "flow logs", old: "cluster: {", new: "security: flowLogs: true\ncluster: {"},
		{name: "Binary Authorization", old: "cluster: {", new: "security: binaryAuthorization: true\ncluster: {"},
		{name: "labels", old: "cluster: {", new: "labels: cost: \"4711\"\ncluster: {"},
		{name: "labels of teams", old: "	bucket: true", new: "	bucket: true\n\tlabels: cost: \"4711\""},
		{name: "a team more", old: `	"team-d": `, new: "	\"team-e\": cohort: \"team-c-d\"\n\t\"team-d\": "},
		{name: "accounts of the teams", old: `serviceAccount: "wi-\(Team)"`, new: `serviceAccount: "sa-\(Team)"`},
		{name: "most nodes", old: "maxNodes: 36", new: "maxNodes: 40"},
		{name: "fewer nodes at most", old: "maxNodes: 36", new: "maxNodes: 26"},
		{name: "nodes that always run", old: "maxNodes: 24", new: "minNodes: 3, maxNodes: 24"},
		{name: "no repair", old: "maxNodes: 24", new: "maxNodes: 24, autoRepair: false"},
		{
			name: "labels and taints of nodes", old: "maxNodes: 24",
			new: `maxNodes: 24, nodeLabels: "example.com/pool": "research", ` +
				`nodeTaints: [{key: "example.com/team", value: "research", effect: "NoExecute"}]`,
		},
		{name: "end of support", old: "maxNodes: 24", new: `maxNodes: 24, upgrades: "endOfSupport"`},
		{
			name: "type of disk", old: `l4: {machine: "g2-standard-24",`,
			new: `l4: {machine: "g2-standard-24", disk: type: "pd-ssd",`,
		},
		{
			name: "range of pods", old: "cluster: {", new: "network: pods: \"10.32.0.0/14\"\ncluster: {",
			rejected: errRange.Error(),
		},
		{
			name: "range of Services", old: "cluster: {", new: "network: services: \"10.0.64.0/20\"\ncluster: {",
			rejected: errRange.Error(),
		},
		{
			name: "GPUs beside a machine", replaced: 4, old: `l4: {machine: "g2-standard-24",`,
			new: `l4: {machine: "n1-standard-32", gpus: {type: "nvidia-tesla-t4", count: 2},`,
		},
		{
			name: "any reservation", replaced: 1, old: "consumption: onDemand: {}, maxNodes: 24",
			new: "consumption: anyReservation: {}, maxNodes: 24",
		},
		{
			name: "nothing but reservations", replaced: 1, old: "consumption: spot: {}, maxNodes: 36",
			new: "consumption: anyReservation: otherwise: \"none\", maxNodes: 36",
		},
		{
			name: "compact placement", replaced: 1, old: "onDemand: {}, maxNodes: 24",
			new: "onDemand: {}, maxNodes: 24, zones: [\"us-central1-a\"], placement: \"compact\"",
		},
		{
			name: "not auto-provisioned", old: "autoProvisioned: true\n\t\tmaxNodes:        100",
			new: "zones: [\"us-central1-a\"], maxNodes: 100",
		},
		{
			name: "key", replaced: 5, old: "cluster: {",
			new: "security: kmsKey: \"projects/my-project/locations/us-central1/keyRings/gke/cryptoKeys/nodes\"\n" +
				"cluster: {",
			rejected: protectedCluster,
		},
		{name: "serial ports", replaced: 4, old: "cluster: {", new: "security: noSerialPortLogs: true\ncluster: {"},
		{name: "multi-networking", old: "cluster: {", new: "cluster: {\n\tmultiNetworking: true"},
		// Settings that the provider changes in place.
		{
			name: "settings of the cluster", old: "cluster: {", new: `cluster: {
maintenance: {days: ["SU"], start: "22:00", hours: 12}
maintenance: exclusions: "end-of-year": {start: "2026-12-18", end: "2027-01-06", scope: "NO_UPGRADES"}
minVersion:  "1.35"
dnsEndpoint: false
csiDrivers: gcsFuse: false
autoProvisioning: {profile: "BALANCED", maxCPU: 5000, maxMemoryGiB: 50000}
systemPool: disk: {type: "pd-ssd", sizeGiB: 200}`,
		},
		{
			name: "security", old: "cluster: {", new: `security: {
bulletinTopic:       "projects/my-project/topics/gke"
dataAccessLogs:      true
firewallLogs:        true
intraNodeVisibility: true
posture:             true
}
cluster: {`,
		},
		{
			name: "monitoring and delivery", old: "cluster: {", new: `monitoring: {
notificationChannels: ["projects/my-project/notificationChannels/4711"]
grafana:       false
openToMembers: false
}
delivery: region: "us-east1"
images: {mirror: "us-docker.pkg.dev/my-project/mirror", manifests: "gs://my-mirror/manifests"}
cluster: {`,
		},
		{name: "a dashboard's name and title", old: `kueue: {
		title: "Kueue Dashboard"`, new: `jobs: {
		title: "Jobs"`},
		{name: "a dashboard's sections", old: `sections: ["accelerators", "capacity", "costs"]`,
			new: `sections: ["accelerators"]`},
		{
			name: "settings of the teams", old: "	bucket: true",
			new: "	bucket: true\n\tnodesListBucket: true\n\troles: [\"roles/bigquery.jobUser\"]",
		},
		{name: "a namespace", old: `	"team-d": `, new: "	\"team-d\": namespace: \"fourth\"\n\t\"team-d\": "},
		{
			name: "account of the nodes", replaced: 7, old: "cluster: {",
			new: "cluster: {\n\tnodes: serviceAccount: \"gke-sa\"",
		},
		{
			name: "roles of the nodes", old: "cluster: {",
			new: "cluster: {\n\tnodes: roles: [\"roles/storage.objectViewer\"]",
		},
		{name: "members", old: `group:  "\(Team)@example.com"`, new: `members: ["user:a@example.com"]`},
	},
	"kai-departments": {
		{name: "fewer nodes", old: "nodes: 4", new: "nodes: 3\n\taccept: E0602: \"fewer for now\""},
		{name: "reservation's name", replaced: 1, old: `"h100-reservation"`, new: `"other"`},
		{
			name: "another cluster", replaced: 3, old: "cluster: ",
			new:         "network: controlPlane: \"172.16.1.32/28\"\ncluster: deletionProtection: false\ncluster: ",
			unprotected: true,
		},
		{
			name: "a capacity's name", old: `"h100-reserved"`, new: `"owned"`,
			order: true,
		},
		{name: "on demand", replaced: 1, old: `reservation: name: "h100-reservation"`, new: "onDemand: {}"},
		{
			name: "driver", replaced: 1, old: `h100: machine: "a3-highgpu-8g"`,
			new: `h100: {machine: "a3-highgpu-8g", gpuDriver: "LATEST"}`,
		},
		{
			name: "reservation of another project", replaced: 1, old: `reservation: name: "h100-reservation"`,
			new: `reservation: {name: "h100-reservation", project: "other-project"}`,
		},
		{
			name: "block", replaced: 1, old: `reservation: name: "h100-reservation"`,
			new: `reservation: {name: "h100-reservation", block: "block-1"}`,
		},
		{
			name: "sub-block", replaced: 1, old: `reservation: name: "h100-reservation"`,
			new: `reservation: {name: "h100-reservation", block: "block-1", subBlock: "sub-block-1"}`,
		},
		{
			name: "in calendar mode", old: `reservation: name: "h100-reservation"`,
			new: `reservation: {name: "h100-reservation", kind: "calendar", days: 30}`,
		},
		{
			name: "not active", old: `reservation: name: "h100-reservation"`,
			new: `reservation: {name: "h100-reservation", kind: "future", active: false}`,
		},
		{
			name: "GPUDirect", replaced: 1, old: `h100: machine: "a3-highgpu-8g"`,
			new: `h100: {machine: "a3-highgpu-8g", gpuDirect: true}`,
		},
	},
	"shared-vpc": {
		{name: "fewer nodes", old: "nodes: 4", new: `nodes: 3, accept: E0602: "fewer for now"`},
		{name: "subnet of the GPUs", replaced: 1, old: `subnet: "gpu-gvnic-b"`, new: `subnet: "gpu-gvnic-c"`},
		{name: "networks of the GPUs", replaced: 1, old: `network: "gpu-rdma-b"`, new: `network: "gpu-rdma-c"`},
		{name: "NAT", old: "nat:      false", new: "nat:      true"},
		{
			name: "subnet of the control plane", replaced: 1, old: "nat:      false",
			new: "nat: false, controlPlaneSubnet: \"control-plane\"", rejected: protectedCluster,
		},
		{
			name: "range of the control plane", replaced: 1, old: "nat:      false",
			new: "nat: false, controlPlane: \"172.16.9.0/28\"", rejected: protectedCluster,
		},
		{name: "no Spot", replaced: 1, old: "spot: {}", new: "onDemand: {}"},
		{name: "a team less", old: `	speech: members: ["user:speech@example.com"]`, new: ""},
	},
	"existing": {
		{name: "a zone less", old: `zones: ["us-central1-a", "us-central1-c"]`, new: `zones: ["us-central1-a"]`},
		{name: "machine", replaced: 2, old: `"g2-standard-24"`, new: `"g2-standard-48"`},
		{name: "most nodes", old: "maxNodes: 8", new: "maxNodes: 12"},
		{
			name: "flavor", old: "maxNodes: 8", new: "maxNodes: 8, flavor: {name: \"research.spot\", " +
				`nodeLabels: "example.com/pool": "spot", ` +
				`nodeTaints: [{key: "example.com/a", value: "b", effect: "NoSchedule"}], ` +
				`tolerations: [{key: "example.com/a", operator: "Equal", value: "b", effect: "NoExecute", ` +
				`seconds: 60}]}`,
		},
		{
			name: "topology", old: "cohorts: research: {}",
			new: "topologies: racks: levels: [\"example.com/rack\"]\n" +
				"capacity: \"research-l4\": {accept: W0445: \"raised\", flavor: topology: \"racks\"}\n" +
				"cohorts: research: {}",
		},
		{
			name: "nodes and a namespace of others",
			old:  `speech: members: ["user:ana@example.com", "serviceAccount:ci@my-project.iam.gserviceaccount.com"]`,
			new: "speech: namespace: existing: \"speech-jobs\"\n}\n" +
				"capacity: \"any-node\": consumption: existing: {}\n" +
				"tiers: old: {priority: 500, capacity: [\"any-node\"], shared: {teams: [\"speech\"], " +
				"quota: \"any-node\": resources: {cpu: 100, memory: \"400Gi\", pods: 500}}",
		},
		{name: "another cluster", replaced: 4, old: `name:    "prod"`, new: `name:    "other"`},
		{
			name: "a cluster in one zone", replaced: 4, old: `name:    "prod"`,
			new: "name: \"prod\"\n\tlocation: \"us-central1-a\"",
		},
		{
			name: "account of the nodes", replaced: 5, old: "cluster: existing: {",
			new: "cluster: nodes: serviceAccount: \"gke-sa\"\ncluster: existing: {",
		},
		{
			name: "what the cluster has", old: "has: ",
			new: "has: {dnsEndpoint: false, managedPrometheus: false}\n\thas: ",
		},
	},
	"batch-platform-argocd": {
		{name: "fewer reserved machines", old: "nodes: 4", new: "nodes: 2"},
		{
			name: "a zone less", old: `zones: ["us-central1-a", "us-central1-b", "us-central1-c"]`,
			new: `zones: ["us-central1-a", "us-central1-c"]`,
		},
	},
	"batch-platform-dws": {
		{
			name: "most nodes", old: `"h100-eight", consumption: flexStart: queued: true, maxNodes: 2`,
			new: `"h100-eight", consumption: flexStart: queued: true, maxNodes: 3`,
		},
		{name: "machine", replaced: 1, old: `"a2-highgpu-2g"`, new: `"a2-highgpu-4g"`},
		{name: "hardware", replaced: 1, old: `hardware: "a100-pair"`, new: `hardware: "h100-eight"`},
	},
	"tpu-training": {
		{name: "slices", tag: "slices=3"},
		{name: "another range of pods", tag: "pods=192.168.64.0/20", rejected: errRange.Error()},
		{name: "no slices", tag: "slices=0"},
		{name: "autoscaled", tag: "autoscaled=true"},
		{
			name: "another type in another region", replaced: 12, tag: "type=v4", rejected: protectedCluster,
		},
		{name: "topology", replaced: 2, old: `topology: "4x4"`, new: `topology: "2x4"`},
		{
			name: "account of the nodes", replaced: 7, old: "cluster: systemPool: {",
			new: "cluster: nodes: serviceAccount: \"gke-sa\"\ncluster: systemPool: {",
		},
		{
			name: "region of the TensorBoard", replaced: 1, old: `tensorBoard: region: "us-central1"`,
			new: `tensorBoard: region: "europe-west4"`,
		},
		{name: "slices on Spot", replaced: 2, old: "consumption: onDemand: {}\n", new: "consumption: spot: {}\n"},
	},
	"a3-ultra-flex": {
		{name: "zone", replaced: 10, tag: "zone=us-central1-c"},
		{name: "not queued", replaced: 1, old: "flexStart: queued: true", new: "flexStart: queued: false"},
		{name: "Spot", replaced: 1, old: "flexStart: queued: true", new: "spot: {}"},
		{name: "networks of GPUs", replaced: 1, old: `, gpuDirect: true`, new: ""},
		{
			name: "range of RDMA", replaced: 9, old: "network: {",
			new: "network: rdma: \"192.168.192.0/18\"\nnetwork: {",
		},
		{name: "two networks", replaced: 1, old: `machine: "a3-ultragpu-8g"`, new: `machine: "a4-highgpu-8g"`},
		{
			name: "longest run", replaced: 1, old: "flexStart: queued: true",
			new: "flexStart: {queued: true, maxRunSeconds: 86400}",
		},
		{
			name: "range of gVNIC", replaced: 2, old: "network: {",
			new: "network: gvnic: \"192.168.64.0/19\"\nnetwork: {",
		},
		{name: "disks of the system's nodes", tag: "systemDiskGiB=200"},
		{name: "disks of the nodes", tag: "nodeDiskGiB=200"},
	},
}
