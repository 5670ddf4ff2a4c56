package kubernetes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// connectedPlan is a plan whose team-a has quota on nodes with GPUDirect.
func connectedPlan(way ir.GPUDirect, arm bool) *ir.Platform {
	p := testPlan()
	p.Versions.GIB = "1.1.0"
	p.Capacities[0].GPUDirect, p.Capacities[0].Machine.Arm = way, arm
	p.Teams[0].Queues[0].Flavors = gpuQuotas("h100-queued")
	return p
}

func TestNetworks(t *testing.T) {
	p := connectedPlan(ir.RDMA, false)
	p.Network.GPUs = []ir.GPUNetwork{
		{Name: "demo-rdma", Subnets: []ir.GPUSubnet{{Name: "demo-rdma-0", Network: "rdma-0", RDMA: true}}},
	}
	const want = `apiVersion: networking.gke.io/v1
kind: GKENetworkParamSet
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: rdma-0
spec:
  deviceMode: RDMA
  vpc: demo-rdma
  vpcSubnet: demo-rdma-0
---
apiVersion: networking.gke.io/v1
kind: Network
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: rdma-0
spec:
  parametersRef:
    group: networking.gke.io
    kind: GKENetworkParamSet
    name: rdma-0
  type: Device
`
	files := renderFiles(t, p)
	if diff := cmp.Diff(want, files["kubernetes/networks.yaml"]); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	p.Network.GPUs[0].Subnets[0].RDMA = false
	if got := renderFiles(t, p)["kubernetes/networks.yaml"]; !strings.Contains(got, "deviceMode: NetDevice\n") {
		t.Errorf("no network device in\n%s", got)
	}
	kustomization := files["kubernetes/kustomization.yaml"]
	if i, j := strings.Index(kustomization, "- networks.yaml"), strings.Index(kustomization, "- teams/"); i < 0 ||
		j < i {
		t.Errorf("networks do not come before the teams:\n%s", kustomization)
	}
}

func TestInstallers(t *testing.T) {
	for _, test := range []struct {
		way  ir.GPUDirect
		arm  bool
		want []string // DaemonSets, in order
		has  []string
	}{
		{
			ir.RDMA, false, []string{"nccl-rdma-installer"},
			[]string{"gpudirect-gib/nccl-plugin-gib:v1.1.0", "mv /host/gib.new /host/gib"},
		},
		{ir.RDMA, true, []string{"nccl-rdma-installer-arm64"}, []string{"gpudirect-gib/nccl-plugin-gib-arm64:v1.1.0"}},
		{
			ir.TCPX, false, []string{"nccl-tcpx-installer", "device-injector"},
			[]string{ir.TCPXPlugin, "/var/lib/tcpx/lib64/."},
		},
		{
			ir.TCPXO, false, []string{"nccl-tcpxo-installer", "device-injector"},
			[]string{ir.TCPXOPlugin, "/var/lib/tcpxo/lib64/.", "nsenter", "hostPID: true"},
		},
		{"", false, nil, nil},
	} {
		t.Run(string(test.way), func(t *testing.T) {
			got, there := renderFiles(t, connectedPlan(test.way, test.arm))["kubernetes/system/gpu-installers.yaml"]
			if there != (test.want != nil) {
				t.Fatalf("installers:\n%s", got)
			}
			var names []string
			for line := range strings.Lines(got) {
				if name, ok := strings.CutPrefix(line, "  name: "); ok {
					names = append(names, strings.TrimSpace(name))
				}
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("%q, want %q", names, test.want)
			}
			for _, want := range append(test.has, "- h100-queued\n", "operator: Exists\n", "namespace: kube-system\n") {
				if there && !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// TestOnTheNode: only where pods need something of their node does a namespace
// stop enforcing the baseline, and then a policy takes its place.
func TestOnTheNode(t *testing.T) {
	const policy = "name: pods-keep-off-the-node\n"
	host := testPlan()
	host.Workloads = []ir.Workload{{Team: "team-a", HostNetwork: true}}
	for _, test := range []struct {
		name  string
		plan  *ir.Platform
		open  bool
		has   []string // of the policy
		never []string
	}{
		{"nothing", testPlan(), false, nil, nil},
		{
			"RDMA", connectedPlan(ir.RDMA, false), true,
			[]string{
				"hostNetwork.orValue(false)", "'IPC_LOCK'",
				"['/home/kubernetes/bin/gib', '/home/kubernetes/bin/nvidia']",
			}, []string{"NET_ADMIN", "/proc/sys"},
		},
		{
			"TCPX", connectedPlan(ir.TCPX, false), true,
			[]string{"k in ['NET_ADMIN'] && c.image in ['" + ir.TCPXDaemon + "']", "'/sys', '/proc/sys'", "'IPC_LOCK'"},
			[]string{"bin/gib", "aperture"},
		},
		{
			"TCPXO", connectedPlan(ir.TCPXO, false), true,
			[]string{"'/dev/aperture_devices'", "c.image in ['" + ir.TCPXODaemon + "']"}, []string{"'IPC_LOCK'"},
		},
		{"network of the node", host, true, []string{"variables.folders == []"}, []string{"hostNetwork", "readOnly"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := renderFiles(t, test.plan)
			_, got, there := strings.Cut(files["kubernetes/system/admission-policies.yaml"], policy)
			if there != test.open {
				t.Fatalf("policy: %v, want %v", there, test.open)
			}
			for team, open := range map[string]bool{"team-a": test.open, "team-b": false} {
				namespace := files["kubernetes/teams/"+team+".yaml"]
				const enforce = "    pod-security.kubernetes.io/audit: restricted\n" +
					"    pod-security.kubernetes.io/enforce: "
				if strings.Contains(namespace, enforce+"privileged\n") != open ||
					strings.Contains(namespace, enforce+"baseline\n") == open {
					t.Errorf("%s is open: want %v\n%s", team, open, namespace)
				}
			}
			for _, want := range test.has {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, never := range test.never {
				if strings.Contains(got, never) {
					t.Errorf("%q in\n%s", never, got)
				}
			}
		})
	}
}
