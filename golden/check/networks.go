package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"

	networkv1 "github.com/GoogleCloudPlatform/gke-networking-api/apis/network/v1"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// checkNetworks checks that the networks between GPUs are consistent: those that
// Terraform creates, those that the cluster knows, those of node pools, and those
// that pods name.
func checkNetworks(folder fs.FS) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	made, err := GPUSubnets(folder)
	if err != nil {
		return []error{err}
	}
	pools, err := NodePools(folder)
	if err != nil {
		return []error{err}
	}
	c, err := readKubernetes(folder)
	if err != nil {
		return []error{err}
	}
	checkRanges(made, fail)

	for _, name := range slices.Sorted(maps.Keys(made)) {
		if _, ok := c.objects[objectKey{"Network", "", name}]; !ok {
			fail("there is no Network for subnet %s", name)
		}
	}
	for _, key := range c.order {
		n, ok := c.objects[key].(*networkv1.Network)
		if !ok {
			continue
		}
		subnet, ok := made[n.Name]
		if !ok {
			fail("%s: Terraform makes no subnet for it", key)
			continue
		}
		ref := n.Spec.ParametersRef
		if n.Spec.Type != networkv1.DeviceNetworkType || ref == nil || ref.Group != networkv1.GroupName ||
			ref.Kind != "GKENetworkParamSet" {
			fail("%s: of type %s with parameters %v", key, n.Spec.Type, ref)
			continue
		}
		mode := networkv1.NetDevice
		if subnet.rdma {
			mode = networkv1.RDMA
		}
		want := networkv1.GKENetworkParamSetSpec{VPC: subnet.vpc, VPCSubnet: subnet.name, DeviceMode: mode}
		if params, ok := findObject[*networkv1.GKENetworkParamSet](c, key, "GKENetworkParamSet", "", ref.Name); ok &&
			params.Spec != want {
			fail("%s: %+v, and Terraform makes %+v", key, params.Spec, want)
		}
	}

	installed := map[string]bool{} // pools on which a plugin for NCCL is installed
	for _, key := range c.order {
		if d, ok := c.objects[key].(*appsv1.DaemonSet); ok && strings.HasPrefix(d.Name, "nccl-") {
			affinity := d.Spec.Template.Spec.Affinity.NodeAffinity
			for _, term := range affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
				for _, e := range term.MatchExpressions {
					for _, pool := range e.Values {
						installed[pool] = true
					}
				}
			}
		}
	}
	vars, err := TerraformVariables(folder)
	if err != nil {
		return []error{err}
	}
	var zones []string
	for it := vars["zones"].ElementIterator(); it.Next(); {
		_, zone := it.Element()
		zones = append(zones, zone.AsString())
	}
	everywhere := `["` + strings.Join(zones, `", "`) + `"]`
	multi := false
	for _, p := range pools {
		multi = multi || len(p.Networks) > 0
		m, _ := catalog.Lookup(p.Machine.Type)
		if n := m.Networks.GVNIC + m.Networks.RDMA; len(p.Networks) > 0 && len(p.Networks) != n {
			fail("node pool %s: %d networks for %d devices", p.Label, len(p.Networks), n)
		}
		for _, name := range p.Networks {
			subnet, ok := made[name]
			if !ok {
				fail("node pool %s: there is no network %s", p.Label, name)
			} else if zone := strings.TrimSuffix(subnet.Profile, "-vpc-roce"); zone != "" &&
				strings.Replace(p.zones, "var.zones", everywhere, 1) != `["`+zone+`"]` {
				fail("node pool %s stands in %s, and network %s in %s", p.Label, p.zones, name, zone)
			}
		}
		for _, name := range p.Names {
			if direct := len(p.Networks) > 0 ||
				m.Networks.Direct != "" && m.Arch == "arm64"; direct != installed[name] {
				fail("node pool %s: GPUs reach those of other nodes: %v, and a plugin for NCCL is installed: %v", name,
					direct, installed[name])
			}
		}
	}
	clusters, err := TerraformResources(folder, "terraform/cluster.tf", "google_container_cluster")
	check, existing := fs.ReadFile(folder, "terraform/modules/cluster/main.tf")
	switch {
	case existing == nil && err == nil && len(clusters) == 0: // others own the cluster
		if multi && !strings.Contains(string(check), "enable_multi_networking") {
			fail("nodes have several networks, and nothing checks whether the cluster takes them")
		}
	case err != nil || len(clusters) != 1:
		return append(errs, cmp.Or(err, fmt.Errorf("%d clusters", len(clusters))))
	case multi && !clusters[0].IsTrue("enable_multi_networking"):
		fail("nodes have several networks, and the cluster takes one")
	}

	for _, key := range c.order {
		switch o := c.objects[key].(type) {
		case *batchv1.Job:
			c.checkInterfaces(key, o.Labels, o.Spec.Template, pools, fail)
		case *v1alpha2.JobSet:
			for _, r := range o.Spec.ReplicatedJobs {
				c.checkInterfaces(key, o.Labels, r.Template.Spec.Template, pools, fail)
			}
		}
	}
	return append(errs, c.errs...)
}

// checkInterfaces checks that a pod with interfaces has those of its possible nodes,
// in the order of their devices, and that its namespace permits what it takes from
// its node. labels are the job's.
func (c *kubernetesCheck) checkInterfaces(from objectKey, labels map[string]string, pod corev1.PodTemplateSpec,
	pools []NodePool, fail func(string, ...any)) {
	if namespace, ok := c.objects[objectKey{"Namespace", "", from.namespace}].(*corev1.Namespace); ok {
		level := namespace.Labels["pod-security.kubernetes.io/enforce"]
		if beyond := beyondBaseline(pod.Spec); beyond != "" && level != "privileged" {
			fail("%s: %s, and its namespace enforces %s", from, beyond, level)
		}
	}
	text, ok := pod.Annotations[networkv1.InterfaceAnnotationKey]
	if !ok {
		return
	}
	all, err := networkv1.ParseInterfaceAnnotation(text)
	if err != nil {
		fail("%s: %w", from, err)
		return
	}
	var networks []string
	for i, in := range all {
		networks = append(networks, ValueOr(in.Network, ""))
		if want := fmt.Sprintf("eth%d", i); in.InterfaceName != want {
			fail("%s: interface %s, want %s", from, in.InterfaceName, want)
		}
	}
	if len(all) < 2 || networks[0] != networkv1.DefaultPodNetworkName ||
		pod.Annotations[networkv1.DefaultInterfaceAnnotationKey] != all[0].InterfaceName {
		fail("%s: the first of its interfaces %v is not in the cluster's network", from, all)
	}
	check := func(what string, pool NodePool) {
		if len(networks) == 0 || !slices.Equal(pool.Networks, networks[1:]) {
			fail("%s has interfaces in %q, and nodes of %s are not in these networks, in this order", from, networks,
				what)
		}
	}
	if _, kai := labels[kaiQueueLabel]; kai {
		for _, pool := range selectedPools(pod.Spec, pools) { // if there are none, checkKAINodes reports it
			check(pool.Label, pool)
		}
		return
	}
	local, ok := c.objects[objectKey{"LocalQueue", from.namespace, labels[constants.QueueLabel]}].(*kueue.LocalQueue)
	if !ok {
		return // reported elsewhere
	}
	cluster, ok := c.objects[objectKey{"ClusterQueue", "", string(local.Spec.ClusterQueue)}].(*kueue.ClusterQueue)
	if !ok {
		return
	}
	cluster, _ = c.reachedFlavors(pod.Spec, cluster)
	for _, group := range cluster.Spec.ResourceGroups {
		for _, q := range group.Flavors {
			f := c.flavorNamed(q.Name)
			if f == nil {
				continue // reported elsewhere
			}
			var pool NodePool // has no networks, unless it is found
			if i := slices.IndexFunc(pools, func(p NodePool) bool {
				return p.Labels[CapacityLabel] != "" && p.Labels[CapacityLabel] == f.Spec.NodeLabels[CapacityLabel]
			}); i >= 0 {
				pool = pools[i]
			}
			check(f.Name, pool)
		}
	}
}

// beyondBaseline returns the parts of a pod that the baseline Pod Security Standard
// refuses, among the parts that pods here may have; "" if there are none.
func beyondBaseline(pod corev1.PodSpec) string {
	if pod.HostNetwork {
		return "it has its node's network"
	}
	for _, v := range pod.Volumes {
		if v.HostPath != nil {
			return "it mounts " + v.HostPath.Path + " of its node"
		}
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		if s := container.SecurityContext; s != nil && s.Capabilities != nil && len(s.Capabilities.Add) > 0 {
			return fmt.Sprintf("it has capabilities %v", s.Capabilities.Add)
		}
	}
	return ""
}

// GPUSubnet is a subnet between GPUs, as Terraform creates it, or one that exists.
type GPUSubnet struct {
	name, vpc, Profile string
	CIDR               string // "" for a subnet that exists
	rdma               bool
}

// checkRanges checks that no two subnets overlap.
func checkRanges(made map[string]GPUSubnet, fail func(string, ...any)) {
	names := slices.Sorted(maps.Keys(made))
	for i, a := range names {
		if made[a].CIDR == "" {
			continue
		}
		p, err := netip.ParsePrefix(made[a].CIDR)
		if err != nil || p != p.Masked() {
			fail("subnet %s: range %q", a, made[a].CIDR)
			continue
		}
		for _, b := range names[:i] {
			if q, err := netip.ParsePrefix(made[b].CIDR); err == nil && p.Overlaps(q) {
				fail("subnets %s and %s overlap: %s, %s", a, b, p, q)
			}
		}
	}
}

// GPUSubnets returns the subnets between GPUs by their keys, with the names of their
// resources.
func GPUSubnets(folder fs.FS) (map[string]GPUSubnet, error) {
	const file = "terraform/gpu_networks.tf"
	blocks, err := readBlocks(folder, file, "locals")
	if err != nil || len(blocks) == 0 {
		return nil, ignoreMissing(err)
	}
	vars, err := TerraformVariables(folder)
	if err != nil {
		return nil, err
	}
	if vars["network"] != cty.NilVal || vars["cluster_location"] != cty.NilVal { // of others
		return existingSubnets(blocks)
	}
	calls, err := readBlocks(folder, "terraform/network.tf", "module")
	if err != nil || len(calls) != 1 {
		return nil, cmp.Or(err, fmt.Errorf("%d modules of the network", len(calls)))
	}
	resources, err := readBlocks(folder, file, "resource")
	if err != nil {
		return nil, err
	}
	ctx := &hcl.EvalContext{Functions: tfFunctions(folder), Variables: map[string]cty.Value{
		"var": cty.ObjectVal(vars),
		"module": cty.ObjectVal(map[string]cty.Value{
			"network": cty.ObjectVal(map[string]cty.Value{"name": calls[0].valueOf("name")}),
		}),
	}}
	locals := map[string]cty.Value{}
	for _, b := range blocks {
		b.ctx = ctx
		for name := range b.Attributes {
			locals[name] = b.valueOf(name)
		}
	}
	named := func(kind, key string) string {
		for _, r := range resources {
			if strings.HasPrefix(r.label, kind+".") {
				r.ctx = ctx.NewChild()
				r.ctx.Variables = map[string]cty.Value{
					"each": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(key)}),
				}
				return r.TextOf("name")
			}
		}
		return ""
	}
	out := map[string]GPUSubnet{}
	for key, subnet := range locals["gpu_subnets"].AsValueMap() {
		short := subnet.GetAttr("network").AsString()
		s := GPUSubnet{
			name: named("google_compute_subnetwork", key), vpc: named("google_compute_network", short),
			CIDR: subnet.GetAttr("range").AsString(),
		}
		if profile := locals["gpu_networks"].GetAttr(short).GetAttr("profile"); !profile.IsNull() {
			s.Profile, s.rdma = profile.AsString(), true
		}
		out[key] = s
	}
	return out, nil
}

// ignoreMissing returns nil if a file does not exist, and otherwise the error.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// existingSubnets returns the subnets between GPUs of a network that others own.
func existingSubnets(locals []Block) (map[string]GPUSubnet, error) {
	out := map[string]GPUSubnet{}
	for _, b := range locals {
		v := b.valueOf("gpu_subnets")
		if v == cty.NilVal || len(b.Attributes) != 1 {
			return nil, fmt.Errorf("%s: want only the names of subnets", b.Range())
		}
		for key, s := range v.AsValueMap() {
			out[key] = GPUSubnet{
				name: s.GetAttr("subnet").AsString(), vpc: s.GetAttr("network").AsString(),
				rdma: strings.HasPrefix(key, "rdma-"),
			}
		}
	}
	return out, nil
}

// TerraformVariables returns the values of the root's variables.
func TerraformVariables(folder fs.FS) (map[string]cty.Value, error) {
	file, err := readFile(folder, "terraform/terraform.tfvars")
	vars := map[string]cty.Value{}
	for name := range file.Attributes {
		if v := file.valueOf(name); v != cty.NilVal { // Terraform reports the others
			vars[name] = v
		}
	}
	return vars, err
}
