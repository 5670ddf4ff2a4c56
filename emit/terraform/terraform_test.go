package terraform

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// emitFiles returns the files of a plan by name. All of them parse, and terraform fmt
// would not change them.
func emitFiles(t testing.TB, p *ir.Platform) map[string][]byte {
	t.Helper()
	files, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Path, "terraform/")
		if strings.HasPrefix(f.Path, kubectlApply+"/") {
			name, ok = f.Path, true
		}
		if !ok || out[name] != nil {
			t.Errorf("path %q is not under terraform/ or not unique", f.Path)
		}
		out[name] = f.Content
		parseFile(t, out, name)
		if !bytes.Equal(f.Content, hclwrite.Format(f.Content)) {
			t.Errorf("terraform fmt would change %s", name)
		}
	}
	return out
}

// alertFile returns the policies of an alert.
func alertFile(alert monitoring.Alert) []byte {
	file := hclwrite.NewEmptyFile()
	alertPolicies(&body{Body: file.Body()}, "var.cluster_name", []monitoring.Alert{alert})
	return file.Bytes()
}

// parseFile returns the body of a file.
func parseFile(t testing.TB, files map[string][]byte, name string) *hclsyntax.Body {
	t.Helper()
	f, diags := hclsyntax.ParseConfig(files[name], name, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return f.Body.(*hclsyntax.Body)
}

// flatBlock returns the source of every attribute of the first block with these
// labels, by path: "node_config.taint[1].key".
func flatBlock(t *testing.T, files map[string][]byte, name string, labels ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var walk func(prefix string, b *hclsyntax.Body)
	walk = func(prefix string, b *hclsyntax.Body) {
		for key, a := range b.Attributes {
			r := a.Expr.Range()
			out[prefix+key] = string(files[name][r.Start.Byte:r.End.Byte])
		}
		seen := map[string]int{}
		for _, child := range b.Blocks {
			path := prefix + child.Type
			if n := seen[child.Type]; n > 0 {
				path += fmt.Sprintf("[%d]", n)
			}
			seen[child.Type]++
			walk(path+".", child.Body)
		}
	}
	for _, b := range parseFile(t, files, name).Blocks {
		if cmp.Equal(b.Labels, labels) {
			walk("", b.Body)
			return out
		}
	}
	t.Fatalf("%s has no block %q", name, labels)
	return nil
}

// keepWanted keeps the wanted paths of got, so that a test compares what it is about.
// A path that is wanted as "" must be absent.
func keepWanted(got, want map[string]string) map[string]string {
	out := map[string]string{}
	for path := range want {
		out[path] = got[path]
	}
	return out
}

func editedPlan(change func(p *ir.Platform)) *ir.Platform {
	p := batchPlan()
	change(p)
	return p
}

// planShapes are the shapes a platform can take.
func planShapes() map[string]*ir.Platform {
	return map[string]*ir.Platform{
		"batch": batchPlan(),
		"bare": editedPlan(func(p *ir.Platform) {
			p.Capacities, p.Teams = nil, nil
			p.AutoProvisioning = ir.AutoProvisioning{Profile: "BALANCED"}
		}),
		"open": editedPlan(func(p *ir.Platform) {
			p.Cluster.AuthorizedNetworks = []ir.NamedRange{
				{Name: "office", CIDR: "203.0.113.0/24"}, {Name: "vpn-2", CIDR: "198.51.100.7/32"},
			}
			p.Cluster.DNSEndpoint = false
			p.Cluster.SecurityGroup = "gke-security-groups@example.com"
			p.Cluster.MinVersion = "1.33"
			p.Monitoring.NotificationChannels = []string{
				"projects/p/notificationChannels/1", "projects/p/notificationChannels/2",
			}
			p.Teams[0].Bucket = ""
			p.Teams[1].Account, p.Teams[1].Roles = nil, nil
		}),
		"secured": editedPlan(func(p *ir.Platform) {
			p.Security = ir.Security{
				KMSKey: kmsKey, BinaryAuthorization: true, FlowLogs: true, Posture: true, FirewallLogs: true,
				IntraNodeVisibility: true, NoSerialPortLogs: true, BulletinTopic: "projects/my-project/topics/gke",
			}
		}),
		"maintenance": editedPlan(func(p *ir.Platform) {
			p.Cluster.Maintenance.Exclusions = []ir.Exclusion{
				{Name: "freeze", Start: "2026-12-18", End: "2027-01-06", Scope: "NO_UPGRADES"},
				{Name: "paper", Start: "2027-01-06", End: "2027-05-01", Scope: "NO_MINOR_OR_NODE_UPGRADES"},
			}
			p.Capacities[slices.IndexFunc(p.Capacities, ir.Capacity.OwnsPools)].KeepsVersion = true
		}),
		"flex": editedPlan(func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{flexCapacity("flex", false), flexCapacity("queued", true)}
		}),
		"reservations": editedPlan(func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{
				reservedCapacity("existing", 2, ir.ReservationUse{Name: "old"}),
				reservedCapacity("created", 1, ir.ReservationUse{Name: "new", Create: true}),
				reservedCapacity("shared", 1, ir.ReservationUse{Name: "theirs", Owner: "other-project"}),
				reservedCapacity("block", 1, ir.ReservationUse{Name: "old", Block: "b"}),
				reservedCapacity("sub-block", 1,
					ir.ReservationUse{Name: "theirs", Owner: "other-project", Block: "b", SubBlock: "s"}),
				waitingCapacity(reservedCapacity("waiting", 2,
					ir.ReservationUse{Name: "later", Kind: ir.CalendarReservation})),
				waitingCapacity(scalingCapacity(reservedCapacity("waiting-scaling", 2,
					ir.ReservationUse{Name: "later"}))),
				withSSDs(reservedCapacity("ssds", 1, ir.ReservationUse{Name: "fast", Create: true}), 2),
			}
		}),
		"any": editedPlan(func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{anyReservation("any", true), anyReservation("any-only", false)}
		}),
		"connected": connectedPlan(),
		"machines": editedPlan(func(p *ir.Platform) {
			bundled := withSSDs(batchPlan().Capacities[1], 0)
			bundled.Name, bundled.Machine.BundledSSDs = "linked", 4
			bundled.Machine.AcceleratorNetworks, bundled.Machine.PlacementTopology = true, "1x72"
			p.Capacities = []ir.Capacity{bundled}
		}),
		"tpus": editedPlan(func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{
				tpuCapacity("hosts", 4, 1), scalingCapacity(tpuCapacity("hosts-scaling", 4, 1)),
				twoZones(scalingCapacity(tpuCapacity("hosts-in-zones", 5, 1))),
				tpuCapacity("slices", 3, 4), scalingCapacity(tpuCapacity("slices-scaling", 3, 4)),
				waitingCapacity(tpuCapacity("slices-waiting", 3, 4)),
				tpuCapacity("slices-none", 0, 4),
				placedCapacity(tpuCapacity("slices-linked", 1, 4)),
				placedCapacity(tpuCapacity("slices-linked-too", 2, 4)),
			}
		}),
		"classes": editedPlan(func(p *ir.Platform) {
			class := batchPlan().Capacities[1]
			class.ComputeClass = true
			p.Capacities = []ir.Capacity{class}
		}),
	}
}

func twoZones(c ir.Capacity) ir.Capacity {
	c.Zones = batchPlan().Zones[:2]
	return c
}

func waitingCapacity(c ir.Capacity) ir.Capacity {
	c.Waiting = true
	return c
}

func scalingCapacity(c ir.Capacity) ir.Capacity {
	c.Static, c.MinNodes = false, 0
	return c
}

// withSSDs is a capacity with so many local SSDs asked for.
func withSSDs(c ir.Capacity, n int) ir.Capacity {
	c.LocalSSDs, c.Machine.SSDSizeGB = n, 375
	return c
}

func anyReservation(name string, onDemand bool) ir.Capacity {
	c := batchPlan().Capacities[1]
	c.Name, c.Option = name, ir.AnyReservationOnly
	if onDemand {
		c.Option = ir.AnyReservation
	}
	return c
}

// tpuCapacity is a fixed number of TPU slices of so many hosts.
func tpuCapacity(name string, n, hosts int) ir.Capacity {
	c := ir.Capacity{
		Name: name, Option: ir.OnDemand, Zones: batchPlan().Zones[:1], Static: true, MinNodes: n * hosts,
		MaxNodes: n * hosts, DiskType: "hyperdisk-balanced",
		Machine: ir.Machine{
			Type: "ct6e-standard-4t", Accelerator: "tpu-v6e-slice", AcceleratorCount: 4, Resource: ir.TPU,
			Slice: &ir.Slice{Topology: "4x4", Chips: 4 * hosts, Hosts: hosts},
		},
		NodeTaints: []ir.Taint{{Key: ir.TPU, Value: "present", Effect: "NoSchedule"}},
	}
	if hosts > 1 {
		c.Slices = n
	}
	return c
}

func placedCapacity(c ir.Capacity) ir.Capacity {
	c.Machine.PlacementTopology = c.Machine.Slice.Topology
	return c
}

func flexCapacity(name string, queued bool) ir.Capacity {
	c := batchPlan().Capacities[1]
	c.Name, c.Option, c.Compact = name, ir.FlexStart, !queued
	c.MaxRunSeconds = 604800
	if queued {
		c.Option = ir.QueuedFlexStart
		c.PoolLabels = append(c.PoolLabels, ir.KeyValue{Key: "cloud.google.com/gke-queued", Value: "true"})
	}
	return c
}

// reservedCapacity is six static nodes from a reservation in some zones.
func reservedCapacity(name string, zones int, use ir.ReservationUse) ir.Capacity {
	c := batchPlan().Capacities[2]
	c.Name, c.Zones, c.MinNodes, c.MaxNodes, c.Reservation = name, batchPlan().Zones[:zones], 6, 6, &use
	return c
}

func TestFormat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long; make test runs it")
	}
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Log("terraform is not installed: only parsing")
	}
	for name, p := range planShapes() {
		t.Run(name, func(t *testing.T) {
			files := emitFiles(t, p)
			for name, content := range files {
				parseFile(t, files, name)
				if bytes.Contains(content, []byte("\n\n\n")) {
					t.Errorf("%s has two blank lines on end", name)
				}
			}
			if terraform != "" {
				checkFormat(t, terraform, files)
			}
			if !maps.EqualFunc(files, emitFiles(t, p), bytes.Equal) {
				t.Error("a second run differs")
			}
		})
	}
}

// checkFormat fails if terraform fmt would change one of the files.
func checkFormat(t *testing.T, terraform string, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if diff, err := exec.Command(terraform, "fmt", "-check", "-diff", "-recursive", dir).CombinedOutput(); err != nil {
		t.Errorf("terraform fmt: %v\n%s", err, diff)
	}
}

func TestNodePools(t *testing.T) {
	scarce := map[string]string{"upgrade_settings.max_surge": "0", "upgrade_settings.max_unavailable": "1"}
	for _, tt := range []struct {
		plan, pool string
		want       map[string]string
	}{
		{"batch", "system", map[string]string{
			"node_count": "2", "node_locations": "var.zones", "depends_on": "", "lifecycle.ignore_changes": "",
			"upgrade_settings.max_surge": "1", "upgrade_settings.max_unavailable": "0",
			"network_config.enable_private_nodes": "true",
			"node_config.guest_accelerator.type":  "", "node_config.reservation_affinity.consume_reservation_type": "",
		}},
		{"batch", "l4_ondemand", mergeMaps(scarce, map[string]string{
			"name": `"l4-ondemand"`, "node_count": "", "initial_node_count": "0",
			"network_config.enable_private_nodes": "true",
			"autoscaling.total_min_node_count":    "0", "autoscaling.total_max_node_count": "24",
			"autoscaling.location_policy": `"ANY"`,
			"node_config.spot":            "", "node_config.flex_start": "",
			"node_config.labels": "{\n      resource-type = \"ondemand\"\n    }",
			"node_config.reservation_affinity.consume_reservation_type":                       `"NO_RESERVATION"`,
			"node_config.reservation_affinity.key":                                            "",
			"node_config.guest_accelerator.type":                                              `"nvidia-l4"`,
			"node_config.guest_accelerator.count":                                             "2",
			"node_config.guest_accelerator.gpu_driver_installation_config.gpu_driver_version": `"LATEST"`,
			"node_config.taint.key":                                                           `"nvidia.com/gpu"`,
			"node_config.taint.value":                                                         `"present"`,
			"node_config.taint.effect":                                                        `"NO_SCHEDULE"`,

			"lifecycle.ignore_changes": "[initial_node_count]",
			"depends_on":               "[google_container_node_pool.system]",
		})},
		{"batch", "l4_reserved", mergeMaps(scarce, map[string]string{
			"node_count": "4", "initial_node_count": "", "autoscaling.total_max_node_count": "",
			"lifecycle.ignore_changes": "",
			"node_locations":           `["us-central1-c"]`,
			"node_config.reservation_affinity.consume_reservation_type": `"SPECIFIC_RESERVATION"`,
			"node_config.reservation_affinity.key":                      `"compute.googleapis.com/reservation-name"`,

			"node_config.reservation_affinity.values": "[google_compute_reservation.l4_reserved.name]",
		})},
		{"batch", "l4_spot", mergeMaps(scarce, map[string]string{
			"node_config.spot": "true", "node_config.taint.key": `"cloud.google.com/gke-spot"`,
			"node_config.taint[1].key":                                  `"nvidia.com/gpu"`,
			"node_config.reservation_affinity.consume_reservation_type": `"NO_RESERVATION"`,
		})},
		{"flex", "flex", map[string]string{
			"initial_node_count": "0", "management.auto_repair": "false", "management.auto_upgrade": "true",
			"upgrade_settings.max_surge": "", "placement_policy.type": `"COMPACT"`, "queued_provisioning.enabled": "",
			"node_config.flex_start": "true", "node_config.max_run_duration": `"604800s"`, "node_config.spot": "",
			"node_config.reservation_affinity.consume_reservation_type": `"NO_RESERVATION"`,
		}},
		{"flex", "queued", map[string]string{
			"queued_provisioning.enabled": "true", "node_config.flex_start": "true",
			"autoscaling.total_min_node_count": "0",
			"placement_policy.type":            "", "management.auto_repair": "false",
		}},
		{"reservations", "existing", map[string]string{
			"node_count": "3", "node_locations": `["us-central1-a", "us-central1-b"]`,
			"node_config.reservation_affinity.values": `["old"]`,
		}},
		{"reservations", "created", map[string]string{
			"node_count": "6", "node_locations": `["us-central1-a"]`,
			"node_config.reservation_affinity.values": "[google_compute_reservation.created.name]",
			"lifecycle.replace_triggered_by":          "[google_compute_reservation.created.id]",
		}},
		{"reservations", "shared", map[string]string{
			"node_count": "6",
			"node_config.reservation_affinity.values": `["projects/other-project/reservations/theirs"]`,
		}},
		{"reservations", "block", map[string]string{
			"node_config.reservation_affinity.values": `["old/reservationBlocks/b"]`,
		}},
		{"reservations", "sub_block", map[string]string{
			"node_config.reservation_affinity.values": `["projects/other-project/reservations/theirs/` +
				`reservationBlocks/b/reservationSubBlocks/s"]`,
		}},
		{"reservations", "waiting", map[string]string{
			"node_count": "0", "initial_node_count": "", "node_config.reservation_affinity.values": `["later"]`,
			"lifecycle.ignore_changes": "",
		}},
		{"reservations", "waiting_scaling", map[string]string{
			"node_count": "0", "initial_node_count": "", "autoscaling.total_max_node_count": "",
			"lifecycle.ignore_changes": "",
		}},
		{"reservations", "ssds", map[string]string{
			"node_config.ephemeral_storage_local_ssd_config.local_ssd_count": "2",
		}},
		{"any", "any", map[string]string{
			"node_config.reservation_affinity.consume_reservation_type": `"ANY_RESERVATION"`,
			"node_config.reservation_affinity.key":                      "",
			"node_config.reservation_affinity.values":                   "",
		}},
		{"any", "any_only", map[string]string{
			"node_config.reservation_affinity.consume_reservation_type": `"ANY_RESERVATION_THEN_FAIL"`,
			"node_config.reservation_affinity.key":                      "",
			"node_config.reservation_affinity.values":                   "",
		}},
		{"machines", "linked", map[string]string{
			"node_config.ephemeral_storage_local_ssd_config.local_ssd_count": "4",
			"network_config.accelerator_network_profile":                     `"auto"`,
			"network_config.enable_private_nodes":                            "true",
			"placement_policy.type":                                          `"COMPACT"`,

			"placement_policy.policy_name": "google_compute_resource_policy.topology_1x72.name",
			"lifecycle.ignore_changes": "[initial_node_count, " +
				"placement_policy[0].type]",
			"lifecycle.replace_triggered_by": "",
		}},
		{"tpus", "hosts", map[string]string{
			"for_each": "", "name": `"hosts"`, "node_count": "4", "placement_policy.type": "",
			"node_config.guest_accelerator.type": "",
			"node_config.taint.key":              `"google.com/tpu"`,
		}},
		{"tpus", "hosts_scaling", map[string]string{
			"initial_node_count": "0", "autoscaling.min_node_count": "0", "autoscaling.max_node_count": "4",
			"autoscaling.location_policy":      `"ANY"`,
			"autoscaling.total_min_node_count": "", "autoscaling.total_max_node_count": "",
		}},
		{"tpus", "hosts_in_zones", map[string]string{
			"autoscaling.min_node_count": "", "autoscaling.max_node_count": "", "autoscaling.total_min_node_count": "0",
			"autoscaling.total_max_node_count": "5",
		}},
		{"tpus", "slices", map[string]string{
			"for_each": `toset(["slices-0", "slices-1", "slices-2"])`, "name": "each.key", "node_count": "4",
			"placement_policy.type": `"COMPACT"`, "placement_policy.tpu_topology": `"4x4"`,
			"placement_policy.policy_name":   "",
			"lifecycle.ignore_changes":       "[node_config[0].advanced_machine_features, placement_policy[0].type]",
			"lifecycle.replace_triggered_by": "[terraform_data.slices_topology.input]",
			"depends_on":                     "[google_container_node_pool.system]",
		}},
		{"tpus", "slices_scaling", map[string]string{
			"node_count": "", "initial_node_count": "0", "autoscaling.min_node_count": "0",
			"autoscaling.max_node_count":       "4",
			"autoscaling.total_max_node_count": "",
			"lifecycle.ignore_changes": "[initial_node_count, node_config[0].advanced_machine_features, " +
				"placement_policy[0].type]",
		}},
		{"tpus", "slices_waiting", map[string]string{
			"for_each": `toset(["slices-waiting-0", "slices-waiting-1", "slices-waiting-2"])`, "node_count": "0",
		}},
		{"tpus", "slices_none", map[string]string{"for_each": "toset([])", "node_count": "4"}},
		{"tpus", "slices_linked", map[string]string{
			"placement_policy.policy_name":  "google_compute_resource_policy.topology_4x4.name",
			"placement_policy.tpu_topology": "",
			"lifecycle.ignore_changes": "[node_config[0].advanced_machine_features, placement_policy[0].type, " +
				"placement_policy[0].tpu_topology]",
			"lifecycle.replace_triggered_by": "",
		}},
	} {
		t.Run(tt.pool, func(t *testing.T) {
			files := emitFiles(t, planShapes()[tt.plan])
			got := flatBlock(t, files, "node_pools.tf", "google_container_node_pool", tt.pool)
			if diff := cmp.Diff(tt.want, keepWanted(got, tt.want)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func mergeMaps(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

func TestAutoProvisionedHasNoPool(t *testing.T) {
	for plan, name := range map[string]string{"batch": "a100", "classes": "l4"} {
		if got := string(emitFiles(t, planShapes()[plan])["node_pools.tf"]); strings.Contains(got, name) {
			t.Errorf("%s: capacity %s, whose pools GKE creates, has one of its own", plan, name)
		}
	}
}

// TestPoolsFollowTheirCluster holds that a cluster without deletion protection takes its pools
// along, and that Terraform deletes no pool of a protected cluster before it fails there.
func TestPoolsFollowTheirCluster(t *testing.T) {
	for _, protection := range []bool{false, true} {
		p := editedPlan(func(p *ir.Platform) { p.Cluster.DeletionProtection = protection })
		text := string(emitFiles(t, p)["node_pools.tf"])
		pools := strings.Count(text, "resource \"google_container_node_pool\"")
		want := 0
		if !protection {
			want = pools
		}
		if got := strings.Count(text, "google_container_cluster.main.id"); got != want {
			t.Errorf("with deletion protection %t: %d of %d pools follow their cluster", protection, got, pools)
		}
	}
}

// TestSlicesChangeOneLine holds that another number of slices is a change of one
// line, which a reviewer sees at once.
func TestSlicesChangeOneLine(t *testing.T) {
	pools := func(n int) []string {
		p := editedPlan(func(p *ir.Platform) { p.Capacities = []ir.Capacity{tpuCapacity("v6e", n, 4)} })
		return strings.Split(string(emitFiles(t, p)["node_pools.tf"]), "\n")
	}
	for _, n := range []int{0, 1, 11} {
		before, after := pools(2), pools(n)
		changed := 0
		for i := range before {
			if i >= len(after) || before[i] != after[i] {
				changed++
			}
		}
		if changed != 1 || len(before) != len(after) {
			t.Errorf("from 2 slices to %d: %d lines change, and %d lines become %d", n, changed, len(before),
				len(after))
		}
	}
}

// TestLocalSSDCounts holds that pools without local SSDs ignore the count that GKE
// fills in for their machines, and that no other pools do.
func TestLocalSSDCounts(t *testing.T) {
	const ignored = "node_config[0].ephemeral_storage_local_ssd_config"
	for _, tt := range []struct {
		counts    bool // GKE fills in a count
		localSSDs int
		want      bool
	}{
		{true, 0, true}, {true, 2, false}, {false, 0, false},
	} {
		files := emitFiles(t, editedPlan(func(p *ir.Platform) {
			p.SystemPool.CountsNoSSDs = tt.counts
			p.Capacities[1].Machine.CountsNoSSDs, p.Capacities[1].LocalSSDs = tt.counts, tt.localSSDs
		}))
		pool := flatBlock(t, files, "node_pools.tf", "google_container_node_pool",
			"l4_ondemand")["lifecycle.ignore_changes"]
		if got := strings.Contains(pool, ignored); got != tt.want {
			t.Errorf("with %d local SSDs, counted %t, ignores %s", tt.localSSDs, tt.counts, pool)
		}
		system := flatBlock(t, files, "node_pools.tf", "google_container_node_pool",
			"system")["lifecycle.ignore_changes"]
		if got := system == "["+ignored+"]"; got != (tt.want || tt.localSSDs > 0) {
			t.Errorf("the system pool, counted %t, ignores %q", tt.counts, system)
		}
	}
}

func TestPlacement(t *testing.T) {
	for _, tt := range []struct {
		plan, label string
		want        map[string]string
	}{
		{
			"machines", "topology_1x72",
			map[string]string{"name": `"gke-batch-1x72"`, "workload_policy.accelerator_topology": `"1x72"`},
		},
		{
			"tpus", "topology_4x4",
			map[string]string{"name": `"gke-batch-4x4"`, "workload_policy.accelerator_topology": `"4x4"`},
		},
	} {
		files := emitFiles(t, planShapes()[tt.plan])
		tt.want["region"], tt.want["workload_policy.type"] = "var.region", `"HIGH_THROUGHPUT"`
		tt.want["lifecycle.replace_triggered_by"] = "[google_container_cluster.main.name]"
		got := flatBlock(t, files, "placement.tf", "google_compute_resource_policy", tt.label)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if n := len(parseFile(t, files, "placement.tf").Blocks); n != 1 {
			t.Errorf("%d policies, want one for the topology", n)
		}
	}
}

func TestReservations(t *testing.T) {
	files := emitFiles(t, planShapes()["reservations"])
	got := flatBlock(t, files, "reservations.tf", "google_compute_reservation", "created")
	want := map[string]string{
		"zone":                          `"us-central1-a"`,
		"name":                          `"new"`,
		"specific_reservation_required": "true",
		"specific_reservation.count":    "6",
		"specific_reservation.instance_properties.machine_type":                         `"g2-standard-24"`,
		"specific_reservation.instance_properties.guest_accelerators.accelerator_type":  `"nvidia-l4"`,
		"specific_reservation.instance_properties.guest_accelerators.accelerator_count": "2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got = flatBlock(t, files, "reservations.tf", "google_compute_reservation", "ssds")
	want = map[string]string{
		"specific_reservation.instance_properties.dynamic.for_each":             "range(2)",
		"specific_reservation.instance_properties.dynamic.content.interface":    `"NVME"`,
		"specific_reservation.instance_properties.dynamic.content.disk_size_gb": "375",
	}
	if diff := cmp.Diff(want, keepWanted(got, want)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if n := len(parseFile(t, files, "reservations.tf").Blocks); n != 2 {
		t.Errorf("%d reservations are created, want only the two that are asked for", n)
	}
}

func TestCluster(t *testing.T) {
	for _, tt := range []struct {
		plan string
		want map[string]string
	}{
		{"batch", map[string]string{
			"min_master_version": "", "authenticator_groups_config.security_group": "",
			"control_plane_endpoints_config.dns_endpoint_config.allow_external_traffic": "true",
			"cluster_autoscaling.enabled":                                    "true",
			"cluster_autoscaling.resource_limits[2].resource_type":           `"nvidia-tesla-a100"`,
			"cluster_autoscaling.resource_limits[2].maximum":                 "100",
			"cluster_autoscaling.auto_provisioning_defaults.disk_size":       "200",
			"cluster_autoscaling.auto_provisioning_defaults.service_account": "var.node_account",
			"node_config.service_account":                                    "var.node_account",
			"lifecycle.ignore_changes": "[\n      node_config,\n      initial_node_count,\n" +
				"      remove_default_node_pool,\n      monitoring_config[0].enable_components,\n    ]",
		}},
		{"open", map[string]string{
			"min_master_version": `"1.33"`, "authenticator_groups_config.security_group": "var.security_group",
			"control_plane_endpoints_config.dns_endpoint_config.allow_external_traffic": "false",
		}},
		{"secured", map[string]string{
			"database_encryption.state": `"ENCRYPTED"`, "database_encryption.key_name": `"` + kmsKey + `"`,
			"binary_authorization.evaluation_mode":                             `"PROJECT_SINGLETON_POLICY_ENFORCE"`,
			"security_posture_config.mode":                                     `"BASIC"`,
			"enable_intranode_visibility":                                      "true",
			"notification_config.pubsub.enabled":                               "true",
			"notification_config.pubsub.topic":                                 `"projects/my-project/topics/gke"`,
			"node_config.boot_disk_kms_key":                                    `"` + kmsKey + `"`,
			"cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key": `"` + kmsKey + `"`,
		}},
		{"batch", map[string]string{
			"database_encryption.state": "", "binary_authorization.evaluation_mode": "",
			"security_posture_config.mode": "", "node_config.boot_disk_kms_key": "",
			"enable_intranode_visibility": "", "notification_config.pubsub.topic": "",
		}},
		{"maintenance", map[string]string{
			"maintenance_policy.maintenance_exclusion.exclusion_name":          `"freeze"`,
			"maintenance_policy.maintenance_exclusion.start_time":              `"2026-12-18T00:00:00Z"`,
			"maintenance_policy.maintenance_exclusion.end_time":                `"2027-01-06T00:00:00Z"`,
			"maintenance_policy.maintenance_exclusion.exclusion_options.scope": `"NO_UPGRADES"`,
			"maintenance_policy.maintenance_exclusion[1].exclusion_name":       `"paper"`,
		}},
		{"classes", map[string]string{
			"cluster_autoscaling.enabled": "true", "cluster_autoscaling.auto_provisioning_defaults.disk_size": "",
			"cluster_autoscaling.auto_provisioning_defaults.service_account": "var.node_account",
		}},
		{"bare", map[string]string{
			"cluster_autoscaling.enabled": "false", "cluster_autoscaling.autoscaling_profile": `"BALANCED"`,
			"cluster_autoscaling.auto_provisioning_defaults.image_type": "",
		}},
	} {
		t.Run(tt.plan, func(t *testing.T) {
			got := flatBlock(t, emitFiles(t, planShapes()[tt.plan]), "cluster.tf", "google_container_cluster", "main")
			if diff := cmp.Diff(tt.want, keepWanted(got, tt.want)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// kmsKey is a key of the plan's region.
const kmsKey = "projects/keys-project/locations/us-central1/keyRings/gke/cryptoKeys/nodes"

// TestKeyOfEveryPool holds that no pool's boot disks are left to another key, and
// that flow logs are the subnet's.
func TestKeyOfEveryPool(t *testing.T) {
	files := emitFiles(t, planShapes()["secured"])
	pools := string(files["node_pools.tf"])
	want := strings.Count(pools, `resource "google_container_node_pool"`)
	if n := strings.Count(pools, "boot_disk_kms_key"); n != want || n < 2 {
		t.Errorf("%d of %d pools have the key", n, want)
	}
	subnet := flatBlock(t, files, networkModule+"/main.tf", "google_compute_subnetwork", "main")
	if got := subnet["log_config.flow_sampling"]; got != "0.5" {
		t.Errorf("flow_sampling = %q", got)
	}
	for plan, want := range map[string]string{"secured": `"INCLUDE_ALL_METADATA"`, "batch": ""} {
		rule := flatBlock(t, emitFiles(t, planShapes()[plan]), networkModule+"/main.tf", "google_compute_firewall",
			"webhooks")
		if rule["log_config.metadata"] != want || rule["description"] == "" {
			t.Errorf("%s: firewall rule %v", plan, rule)
		}
	}
}

// TestUpgradesOneByOne holds that a pool says why its upgrades add no node, and speaks
// of accelerators only if its nodes have some.
func TestUpgradesOneByOne(t *testing.T) {
	for accelerator, want := range map[string]string{
		"nvidia-l4": "# Accelerators are scarce,",
		"":          "# The quota may leave no room for more nodes,",
	} {
		pools := string(emitFiles(t, editedPlan(func(p *ir.Platform) {
			p.Capacities = p.Capacities[1:2] // on demand
			p.Capacities[0].Machine.Accelerator = accelerator
		}))["node_pools.tf"])
		want += " so upgrades replace one node at a time and add none.\n"
		if !strings.Contains(pools, want) || strings.Count(pools, "so upgrades") != 1 {
			t.Errorf("accelerator %q: node_pools.tf lacks %q", accelerator, want)
		}
	}
}

// TestKeepsVersion holds that a pool whose nodes keep their version says so, and
// no other does.
func TestKeepsVersion(t *testing.T) {
	pools := string(emitFiles(t, planShapes()["maintenance"])["node_pools.tf"])
	if n := strings.Count(pools, "exclusion_until_end_of_support"); n != 1 {
		t.Errorf("%d pools keep their version, want 1", n)
	}
}

// TestNothingOfTheKind holds that a platform without reservations, buckets and teams
// has no resource, variable or value of them.
func TestNothingOfTheKind(t *testing.T) {
	teams := regexp.MustCompile(`(var|local)\.teams?\b|"teams"|(?m)^\s*teams\s*=`)
	if !teams.Match(emitFiles(t, batchPlan())["terraform.tfvars"]) {
		t.Error("the expression finds no teams in a platform that has some")
	}
	files := emitFiles(t, planShapes()["bare"])
	for _, name := range []string{"reservations.tf", "storage.tf"} {
		if files[name] != nil {
			t.Errorf("%s is emitted for a platform that has none", name)
		}
	}
	for name, content := range files {
		if found := teams.Find(content); found != nil {
			t.Errorf("%s has %q, and the platform has no teams", name, found)
		}
	}
}

// literalAttributes evaluates a body's attributes without any variable, which fails
// if something in them is not a literal.
func literalAttributes(t *testing.T, b *hclsyntax.Body) map[string]cty.Value {
	t.Helper()
	out := map[string]cty.Value{}
	for name, a := range b.Attributes {
		v, diags := a.Expr.Value(nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		out[name] = v
	}
	return out
}

func TestKeys(t *testing.T) {
	names := []string{"for", "if", "in", "null", "true", "007-x", "a.b c"}
	files := emitFiles(t, editedPlan(func(p *ir.Platform) {
		p.Teams = nil
		for _, name := range names {
			p.Teams = append(p.Teams, ir.Team{Name: name})
		}
	}))
	teams := literalAttributes(t, parseFile(t, files, "terraform.tfvars"))["teams"]
	for _, name := range names {
		if !teams.Type().HasAttribute(name) {
			t.Errorf("team %s is lost", name)
		}
	}
}

func TestTextStaysText(t *testing.T) {
	for _, hostile := range []string{
		"${var.project_id}", "%{ if true }x%{ endif }", "$${x}", `" }` + "\n" + `resource "x" "y" {`,
		"\\", "a\nb\tc", "# not a comment", "<<EOT\nEOT\n", "\u0000\u2028é", "$(id)`id`",
	} {
		t.Run(hostile, func(t *testing.T) {
			p := editedPlan(func(p *ir.Platform) {
				p.Teams[0].Roles = []string{hostile}
				p.NodeAccount.Display = hostile
				p.Delivery.StatePrefix = hostile
				p.Capacities[1].PoolLabels = []ir.KeyValue{{Key: "note", Value: hostile}}
				p.Cluster.AuthorizedNetworks = []ir.NamedRange{{Name: hostile, CIDR: "203.0.113.0/24"}}
			})
			files := emitFiles(t, p)
			files["alerts.tf"] = alertFile(monitoring.Alert{Name: "Stuck", Expr: hostile})
			want := cty.StringVal(hostile)

			vars := literalAttributes(t, parseFile(t, files, "terraform.tfvars"))
			if got := vars["teams"].GetAttr("team-a").GetAttr("roles").AsValueSlice(); len(got) != 1 ||
				!got[0].RawEquals(want) {
				t.Errorf("roles of a team are %#v", got)
			}
			if !vars["authorized_networks"].Type().HasAttribute(want.AsString()) {
				t.Errorf("authorized networks are %#v", vars["authorized_networks"])
			}
			for _, tt := range []struct {
				file, attribute string
				blocks          []int
				at              func(cty.Value) cty.Value
			}{
				{"backend.tf", "prefix", []int{0, 0}, nil},
				{"node_pools.tf", "labels", []int{1, 4}, func(v cty.Value) cty.Value { return v.GetAttr("note") }},
				{
					"alerts.tf", "alerts", []int{0},
					func(v cty.Value) cty.Value { return v.GetAttr("Stuck").GetAttr("query") },
				},
			} {
				b := parseFile(t, files, tt.file)
				for _, i := range tt.blocks {
					b = b.Blocks[i].Body
				}
				got, diags := b.Attributes[tt.attribute].Expr.Value(nil)
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				if tt.at != nil {
					got = tt.at(got)
				}
				if !got.RawEquals(want) {
					t.Errorf("%s of %s is %#v", tt.attribute, tt.file, got)
				}
			}
		})
	}
}

func TestLabelVariables(t *testing.T) {
	for in, want := range map[string]string{
		"queue {{cluster_queue}} of {{ namespace }}": "queue ${metric_or_resource.label.cluster_queue} of " +
			"${metric_or_resource.label.namespace}",
		"{{1x}} {{a b}} $1 {x}": "{{1x}} {{a b}} $1 {x}",
	} {
		if got := labelVariables(in); got != want {
			t.Errorf("labelVariables(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		m          ir.Maintenance
		start, end string
	}{
		{
			ir.Maintenance{Days: []string{"SA", "SU"}, Start: "03:00", Hours: 6}, "2024-01-06T03:00:00Z",
			"2024-01-06T09:00:00Z",
		},
		{
			ir.Maintenance{Days: []string{"SU", "MO"}, Start: "22:30", Hours: 4}, "2024-01-01T22:30:00Z",
			"2024-01-02T02:30:00Z",
		},
		{
			ir.Maintenance{Days: []string{"SU"}, Start: "00:05", Hours: 24}, "2024-01-07T00:05:00Z",
			"2024-01-08T00:05:00Z",
		},
	} {
		if start, end := firstWindow(tt.m); start != tt.start || end != tt.end {
			t.Errorf("window(%v) = %s, %s, want %s, %s", tt.m, start, end, tt.start, tt.end)
		}
	}
}

func TestInitialNodes(t *testing.T) {
	for _, tt := range []struct{ lowest, highest, zones, want int }{
		{0, 24, 3, 0}, {3, 24, 3, 1}, {4, 24, 3, 2}, {1, 2, 3, 0}, {5, 5, 1, 5},
	} {
		p := editedPlan(func(p *ir.Platform) {
			c := p.Capacities[1]
			c.MinNodes, c.MaxNodes, c.Zones = tt.lowest, tt.highest, p.Zones[:tt.zones]
			p.Capacities = []ir.Capacity{c}
		})
		got := flatBlock(t, emitFiles(t, p), "node_pools.tf", "google_container_node_pool",
			"l4_ondemand")["initial_node_count"]
		if got != fmt.Sprint(tt.want) {
			t.Errorf("%d to %d nodes in %d zones start with %s a zone, want %d", tt.lowest, tt.highest, tt.zones, got,
				tt.want)
		}
	}
}

func TestIndivisibleNodes(t *testing.T) {
	p := editedPlan(func(p *ir.Platform) {
		p.Capacities = []ir.Capacity{reservedCapacity("old", 2, ir.ReservationUse{Name: "old"})}
	})
	p.Capacities[0].MaxNodes = 5
	if _, err := Files(p); err == nil || !strings.Contains(err.Error(), "5 nodes cannot be divided over 2 zones") {
		t.Errorf("error is %v", err)
	}
}

// TestMembers holds that the members of the teams' groups reach this cluster
// through the one group that holds them, by bindings that no other platform of the
// project shares, and that there are none if no team has a group.
func TestMembers(t *testing.T) {
	if files := emitFiles(t, batchPlan()); bytes.Contains(files["identities.tf"], []byte(ir.MemberRole)) {
		t.Error("a role for members, and no team has a group")
	}
	files := emitFiles(t, editedPlan(func(p *ir.Platform) {
		p.Cluster.SecurityGroup = "gke-security-groups@example.com"
		p.Teams[0].Group, p.Teams[1].Group = "team-a@example.com", "team-b@example.com"
		p.Monitoring.MemberRoles = []string{"roles/monitoring.viewer"}
	}))
	const cluster = `"projects/${var.project_id}/locations/${var.region}/clusters/${var.cluster_name}`
	for name, want := range map[string]map[string]string{
		"members": {
			"project":         "var.project_id",
			"role":            `"roles/container.clusterViewer"`,
			"member":          `"group:${var.security_group}"`,
			"condition.title": `"Cluster ${var.cluster_name}"`,
			"condition.expression": strconv.Quote(`resource.type != "container.googleapis.com/Cluster"` +
				` || resource.name == ` + cluster + `" || resource.name.startsWith(` + cluster + `/")`),
		},
		"viewers": {
			"for_each":             "toset([\n\"roles/monitoring.viewer\",\n])",
			"project":              "var.project_id",
			"role":                 "each.key",
			"member":               `"group:${var.security_group}"`,
			"condition.title":      `"Members of ${var.cluster_name}"`,
			"condition.expression": strconv.Quote(`request.time > timestamp("2000-01-01T00:00:00Z")`),
		},
	} {
		got := flatBlock(t, files, "identities.tf", "google_project_iam_member", name)
		got["for_each"] = strings.ReplaceAll(got["for_each"], " ", "")
		if got["for_each"] == "" {
			delete(got, "for_each")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestMemberAccounts holds that members without a Google group get the roles that a
// group of members gets, by bindings of their own, and that the bindings of the group are
// the same with and without them.
func TestMemberAccounts(t *testing.T) {
	plan := func(accounts ...string) map[string][]byte {
		return emitFiles(t, editedPlan(func(p *ir.Platform) {
			p.Cluster.SecurityGroup, p.Teams[0].Group = "gke-security-groups@example.com", "team-a@example.com"
			p.Teams[0].Members, p.Teams[1].Members = accounts, accounts
			p.Monitoring.MemberRoles = []string{"roles/monitoring.viewer"}
		}))
	}
	const ana, ci = "user:analyst@example.com", "serviceAccount:ci@my-project.iam.gserviceaccount.com"
	files, without := plan(ci, ana), plan()
	for _, group := range []string{"members", "viewers"} {
		with := flatBlock(t, files, "identities.tf", "google_project_iam_member", group)
		alone := flatBlock(t, without, "identities.tf", "google_project_iam_member", group)
		if diff := cmp.Diff(alone, with); diff != "" {
			t.Errorf("members without a group change %s:\n%s", group, diff)
		}
		account := map[string]string{"members": "member_accounts", "viewers": "viewer_accounts"}[group]
		got := flatBlock(t, files, "identities.tf", "google_project_iam_binding", account)
		if got["condition.title"] == with["condition.title"] {
			t.Errorf("%s: the binding is the one of the group", account)
		}
		// The same roles under the same condition, for the accounts.
		delete(with, "member")
		with["members"], with["condition.title"] = "var.member_accounts", got["condition.title"]
		if diff := cmp.Diff(with, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", account, diff)
		}
	}
	values := string(files["terraform.tfvars"])
	if !strings.Contains(values, "[\n  \""+ci+"\",\n  \""+ana+"\",\n]") {
		t.Errorf("not each account once, sorted:\n%s", values)
	}
	if strings.Contains(string(without["variables.tf"]), "member_accounts") {
		t.Error("a variable for accounts, and no team lists one")
	}
}

// TestTeamsCostNothing holds that a team without a bucket and without roles adds
// no resource: a thousand of them stay within IAM's limits.
func TestTeamsCostNothing(t *testing.T) {
	files := emitFiles(t, editedPlan(func(p *ir.Platform) {
		p.JobRoles = []string{"roles/logging.logWriter"}
		for i := range p.Teams {
			p.Teams[i].Account, p.Teams[i].Roles, p.Teams[i].Bucket = nil, nil, ""
		}
	}))
	for name, content := range files {
		for _, line := range strings.Split(string(content), "\n") {
			perTeam := strings.Contains(line, "var.teams") || strings.Contains(line, "local.team")
			if perTeam && strings.Contains(line, "for_each") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	want := `"principalSet://${local.workload_pool}/kubernetes.cluster/` +
		`https://container.googleapis.com/v1/projects/${var.project_id}/locations/${var.region}` +
		`/clusters/${var.cluster_name}"`
	if got := flatBlock(t, files, "identities.tf", "google_project_iam_member", "jobs")["member"]; got != want {
		t.Errorf("every job's roles are given to %s", got)
	}
}

func BenchmarkFiles(b *testing.B) {
	for _, teams := range []int{4, 1000, 10000} {
		p := batchPlan()
		for i := len(p.Teams); i < teams; i++ {
			t := p.Teams[0]
			t.Name = fmt.Sprintf("team-%05d", i)
			p.Teams = append(p.Teams, t)
		}
		b.Run(fmt.Sprint(teams), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Files(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
