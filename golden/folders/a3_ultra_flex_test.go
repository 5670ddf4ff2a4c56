package folders_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkv1 "github.com/GoogleCloudPlatform/gke-networking-api/apis/network/v1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// The tables of the A3 Ultra reference system, written by hand from Google's Cluster
// Toolkit (examples/gke-consumption-options, dws-flex-start-queued-provisioning), so
// that a change of the compiler cannot change them.
var (
	// subnet, range, and the profile of the network if it has one
	a3UltraSubnets = []string{
		"gvnic-1 192.168.64.0/18 ",
		"rdma-0 192.168.128.0/21 us-central1-b-vpc-roce",
		"rdma-1 192.168.136.0/21 us-central1-b-vpc-roce",
		"rdma-2 192.168.144.0/21 us-central1-b-vpc-roce",
		"rdma-3 192.168.152.0/21 us-central1-b-vpc-roce",
		"rdma-4 192.168.160.0/21 us-central1-b-vpc-roce",
		"rdma-5 192.168.168.0/21 us-central1-b-vpc-roce",
		"rdma-6 192.168.176.0/21 us-central1-b-vpc-roce",
		"rdma-7 192.168.184.0/21 us-central1-b-vpc-roce",
	}
	// network, mode of its devices, in the order of devices and interfaces
	a3UltraNetworks = []string{
		"gvnic-1 NetDevice", "rdma-0 RDMA", "rdma-1 RDMA", "rdma-2 RDMA", "rdma-3 RDMA", "rdma-4 RDMA", "rdma-5 RDMA",
		"rdma-6 RDMA", "rdma-7 RDMA",
	}
	a3UltraPriorities = []string{"very-low 100", "low 250", "medium 500", "high 750", "very-high 1000"}
)

func a3UltraFlex(t *testing.T) fs.FS {
	return fixture.FS(compile.Reference(t, "a3-ultra-flex"))
}

func TestA3UltraFlexNetworks(t *testing.T) {
	files := a3UltraFlex(t)
	vars, err := check.TerraformVariables(files)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"node_range": "192.168.0.0/18", "pod_range": "10.4.0.0/14", "service_range": "10.0.32.0/20",
	} {
		if got := vars[name].AsString(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	made, err := check.GPUSubnets(files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range slices.Sorted(maps.Keys(made)) {
		s := made[name]
		got = append(got, name+" "+s.CIDR+" "+s.Profile)
	}
	if d := cmp.Diff(a3UltraSubnets, got); d != "" {
		t.Errorf("subnets (-reference +compiled):\n%s", d)
	}
	// The default of the Toolkit's modules/network/vpc. An existing network keeps its MTU.
	if call, err := fs.ReadFile(files, "terraform/network.tf"); err != nil ||
		!regexp.MustCompile(`(?m)^  mtu +=\s8896$`).Match(call) {
		t.Errorf("the network's module gets no MTU of 8896 (%v):\n%s", err, call)
	}
	main, err := check.TerraformResources(files, "terraform/modules/network/main.tf", "google_compute_network")
	if err != nil || len(main) != 1 || main[0].SourceOf("mtu") != "var.mtu" ||
		main[0].FirstBlock("lifecycle").SourceOf("ignore_changes") != "[mtu]" {
		t.Errorf("the network must take the MTU of the module, only at its creation (%v)", err)
	}
	got = nil
	for _, p := range check.ObjectsIn[networkv1.GKENetworkParamSet](t, files, "kubernetes/networks.yaml",
		"GKENetworkParamSet") {
		got = append(got, p.Name+" "+string(p.Spec.DeviceMode))
	}
	if d := cmp.Diff(a3UltraNetworks, got); d != "" {
		t.Errorf("networks in the cluster (-reference +compiled):\n%s", d)
	}
}

// TestA3UltraFlexPool checks the pool of 64 nodes, which the reference limits only
// by quota. The pool differs from the reference in one setting: automatic upgrades
// stay on, because the cluster's release channel, which the reference also has,
// requires them.
func TestA3UltraFlexPool(t *testing.T) {
	files := a3UltraFlex(t)
	resources, err := check.TerraformResources(files, "terraform/node_pools.tf", "google_container_node_pool")
	if err != nil || len(resources) != 2 {
		t.Fatalf("%d node pools: %v", len(resources), err)
	}
	system, pool := resources[0], resources[1]
	if got := system.FirstBlock("node_config").TextOf("machine_type"); got != "e2-standard-16" {
		t.Errorf("system pool of %s", got)
	}
	config, scaling, management := pool.FirstBlock("node_config"), pool.FirstBlock("autoscaling"),
		pool.FirstBlock("management")
	got := map[string]string{
		"machine": config.TextOf("machine_type"), "accelerator": config.FirstBlock("guest_accelerator").TextOf("type"),
		"count":      fmt.Sprint(config.FirstBlock("guest_accelerator").NumberOf("count")),
		"flex start": config.SourceOf("flex_start"),
		"queued":     pool.FirstBlock("queued_provisioning").SourceOf("enabled"),
		"repair":     management.SourceOf("auto_repair"), "upgrade": management.SourceOf("auto_upgrade"),
		"least": scaling.SourceOf("total_min_node_count"), "most": scaling.SourceOf("total_max_node_count"),
		"reservations": config.FirstBlock("reservation_affinity").TextOf("consume_reservation_type"),
		"zones":        pool.SourceOf("node_locations"),
	}
	want := map[string]string{
		"machine": "a3-ultragpu-8g", "accelerator": "nvidia-h200-141gb", "count": "8", "flex start": "true",
		"queued": "true",
		"repair": "false", "upgrade": "true", "least": "0", "most": "64", "reservations": "NO_RESERVATION",
		"zones": "var.zones",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("pool (-reference +compiled):\n%s", d)
	}
	pools, err := check.NodePools(files)
	if err != nil {
		t.Fatal(err)
	}
	var networks []string
	for _, n := range a3UltraNetworks {
		networks = append(networks, strings.Fields(n)[0])
	}
	if d := cmp.Diff(networks, pools[1].Networks); d != "" {
		t.Errorf("networks of the nodes (-reference +compiled):\n%s", d)
	}
	clusters, err := check.TerraformResources(files, "terraform/cluster.tf", "google_container_cluster")
	if err != nil {
		t.Fatal(err)
	}
	c := clusters[0]
	// The reference names GKE 1.32. GKE creates no cluster with a version that has
	// left its release channel, so the channel decides here.
	if c.TextOf("min_master_version") != "" || c.FirstBlock("release_channel").TextOf("channel") != "REGULAR" ||
		!c.IsTrue("enable_multi_networking") || c.TextOf("datapath_provider") != "ADVANCED_DATAPATH" ||
		!c.FirstBlock("addons_config").FirstBlock("gcs_fuse_csi_driver_config").IsTrue("enabled") ||
		!strings.Contains(c.FirstBlock("monitoring_config").SourceOf("enable_components"), `"DCGM"`) {
		t.Error("the cluster has a version of its own, or lacks its release channel, multi-networking, Dataplane V2, " +
			"the Cloud Storage driver or DCGM metrics")
	}
}

func TestA3UltraFlexQueue(t *testing.T) {
	files := a3UltraFlex(t)
	flavors := check.ObjectsIn[kueue.ResourceFlavor](t, files, "kubernetes/resource-flavors.yaml", "ResourceFlavor")
	queues := check.ObjectsIn[kueue.ClusterQueue](t, files, "kubernetes/shared-queues.yaml", "ClusterQueue")
	checks := check.ObjectsIn[kueue.ProvisioningRequestConfig](t, files, "kubernetes/admission-checks.yaml",
		"ProvisioningRequestConfig")
	if len(flavors) != 1 || len(queues) != 1 || len(checks) != 1 {
		t.Fatalf("%d flavors, %d queues, %d checks, want one of each", len(flavors), len(queues), len(checks))
	}
	if check := checks[0].Spec; check.ProvisioningClassName != "queued-provisioning.gke.io" ||
		!slices.Equal(check.ManagedResources, []corev1.ResourceName{"nvidia.com/gpu"}) {
		t.Errorf("nodes are requested by %+v", check)
	}
	var gpus []string
	for _, g := range queues[0].Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				if r.Name == "nvidia.com/gpu" {
					gpus = append(gpus, string(f.Name)+" "+r.NominalQuota.String())
				}
			}
		}
	}
	if want := []string{flavors[0].Name + " 512"}; !slices.Equal(gpus, want) {
		t.Errorf("GPUs %q, want %q", gpus, want)
	}
	if s := queues[0].Spec.AdmissionChecksStrategy; s == nil || len(s.AdmissionChecks) != 1 ||
		string(s.AdmissionChecks[0].Name) != checks[0].Name {
		t.Errorf("admission checks %+v, want %s", s, checks[0].Name)
	}
	var priorities []string
	for _, c := range check.ObjectsIn[schedulingv1.PriorityClass](t, files, "kubernetes/priority-classes.yaml",
		"PriorityClass") {
		priorities = append(priorities, fmt.Sprintf("%s %d", c.Name, c.Value))
	}
	if d := cmp.Diff(a3UltraPriorities, priorities); d != "" {
		t.Errorf("priorities (-reference +compiled):\n%s", d)
	}
	installers := check.ObjectsIn[appsv1.DaemonSet](t, files, "kubernetes/system/gpu-installers.yaml", "DaemonSet")
	if len(installers) != 1 || installers[0].Name != "nccl-rdma-installer" {
		t.Errorf("%d installers, want that of GPUDirect RDMA", len(installers))
	}
}

func TestA3UltraFlexWorkloads(t *testing.T) {
	files := a3UltraFlex(t)
	for _, team := range []string{"products", "research"} {
		sample := check.ObjectsIn[batchv1.Job](t, files, "workloads/"+team+"/sample.yaml", "Job")[0]
		pod := sample.Spec.Template.Spec
		gpus := pod.Containers[0].Resources.Limits["nvidia.com/gpu"]
		got := []string{
			fmt.Sprint(*sample.Spec.Parallelism), fmt.Sprint(*sample.Spec.Completions), gpus.String(),
			strings.Join(pod.Containers[0].Command, " "),
			sample.Annotations["provreq.kueue.x-k8s.io/maxRunDurationSeconds"],
			sample.Spec.Template.Annotations[networkv1.InterfaceAnnotationKey],
		}
		if want := []string{"1", "1", "1", "sleep 120", "600", ""}; !slices.Equal(got, want) {
			t.Errorf("sample of %s: %q, want %q", team, got, want)
		}

		gather := check.ObjectsIn[v1alpha2.JobSet](t, files, "workloads/"+team+"/all-gather.yaml", "JobSet")[0]
		job := gather.Spec.ReplicatedJobs[0].Template.Spec
		pod = job.Template.Spec
		gpus = pod.Containers[0].Resources.Limits["nvidia.com/gpu"]
		if got := gather.Annotations["provreq.kueue.x-k8s.io/maxRunDurationSeconds"]; got != "1200" {
			t.Errorf("all-gather of %s runs for %q seconds", team, got)
		}
		if *job.Parallelism != 2 || *job.Completions != 2 || gpus.String() != "8" {
			t.Errorf("all-gather of %s: %d of %d pods with %s GPUs each", team, *job.Parallelism, *job.Completions,
				gpus.String())
		}
		interfaces, err := networkv1.ParseInterfaceAnnotation(
			job.Template.Annotations[networkv1.InterfaceAnnotationKey])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"eth0 default"}
		for i, n := range a3UltraNetworks {
			want = append(want, fmt.Sprintf("eth%d %s", i+1, strings.Fields(n)[0]))
		}
		got = nil
		for _, i := range interfaces {
			got = append(got, i.InterfaceName+" "+check.ValueOr(i.Network, ""))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("interfaces of %s (-reference +compiled):\n%s", team, d)
		}
		for _, taint := range []corev1.Taint{
			{Key: "cloud.google.com/gke-queued", Value: "true", Effect: "NoSchedule"},
			{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"},
		} {
			if !check.ToleratesTaint(pod.Tolerations, taint) {
				t.Errorf("all-gather of %s does not tolerate %s", team, taint.ToString())
			}
		}
		var mounts []string
		for _, m := range pod.Containers[0].VolumeMounts {
			mounts = append(mounts, m.MountPath)
		}
		for _, path := range []string{"/usr/local/gib", "/usr/local/nvidia", "/dev/shm"} {
			if !slices.Contains(mounts, path) {
				t.Errorf("all-gather of %s mounts %q, without %s", team, mounts, path)
			}
		}
	}
}

// TestA3UltraFlexScript runs the script of the all-gather workload with stand-ins for
// the programs of its image: it must check the GPUs before it measures, and end with
// the result. Its whole output must be the example of its log, whose table Google's Cluster
// Toolkit shows in README.md of dws-flex-start-queued-provisioning.
func TestA3UltraFlexScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(fixture.Path("blueprints/a3-ultra-flex/all-gather.sh"))
	if err != nil {
		t.Fatal(err)
	}
	const gpu = "echo \"$i, 0\"; "
	example := fixture.ReadText(t, fixture.Path("blueprints/a3-ultra-flex/all-gather.txt"))
	lines := strings.SplitAfter(example, "\n")
	if len(lines) != 31 || lines[30] != "" {
		t.Fatalf("the example has %d lines", len(lines))
	}
	table := "cat <<END\n" + strings.Join(lines[1:29], "") + "END\n"
	for name, c := range map[string]struct {
		gpus, result string // bodies of nvidia-smi and mpirun
		ok           bool
		want         []string
	}{
		"it measures":      {"for i in {0..7}; do " + gpu + "done", table, true, []string{example}},
		"a GPU is missing": {"for i in {0..6}; do " + gpu + "done", table, false, []string{"7 GPUs are there, not 8"}},
		"no driver":        {"exit 9", table, false, []string{"0 GPUs are there, not 8"}},
		"memory errors": {"for i in {0..6}; do " + gpu + "done; echo '7, 2'", table, false,
			[]string{"GPU 7 has uncorrected memory errors: 2"}},
		"a GPU that does not answer": {"for i in {0..6}; do " + gpu + "done; echo '7, [N/A]'", table, false,
			[]string{"GPU 7 has uncorrected memory errors: [N/A]"}},
		"no result": {"for i in {0..7}; do " + gpu + "done", "echo started", false,
			[]string{"no line for 8 GiB"}},
		"the measuring fails": {"for i in {0..7}; do " + gpu + "done", table + "exit 3", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, body := range map[string]string{
				"nvidia/bin/nvidia-smi": c.gpus, "scripts/container_entry.sh": "", "sbin/ldconfig": "",
				"gib/scripts/set_nccl_env.sh": "export NCCL_CROSS_NIC=0\nfalse", "bin/ssh": "", "bin/mpirun": c.result,
			} {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("#!"+bash+"\n"+body+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			text := strings.NewReplacer("/usr/local/", dir+"/", "/scripts/container", dir+"/scripts/container",
				"/sbin/", dir+"/sbin/", "/tmp/", dir+"/").Replace(string(script))
			command := exec.Command(bash, "-c", text)
			command.Env = append(os.Environ(), "PATH="+dir+"/bin:"+os.Getenv("PATH"), "JOB_COMPLETION_INDEX=0",
				"NNODES=2", "MASTER_ADDR=all-gather-worker-0-0.all-gather.research.svc.cluster.local",
				"LD_LIBRARY_PATH=/usr/local/nvidia/lib64")
			out, err := command.CombinedOutput()
			if (err == nil) != c.ok {
				t.Errorf("the script ends with %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("want %q in\n%s", want, out)
				}
			}
			hosts, err := os.ReadFile(filepath.Join(dir, "hosts"))
			if passed := strings.Contains(string(out), "GPU check passed"); passed != (err == nil) ||
				passed && strings.Count(string(hosts), "slots=8\n") != 2 {
				t.Errorf("the check passed: %v; hosts of the measurement: %q", passed, hosts)
			}
		})
	}
}
