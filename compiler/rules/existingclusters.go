package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on clusters that others own. The blueprint describes such a cluster, and the
// rules compare the description with what the platform needs.

func existingClusterRules() []Rule {
	return []Rule{
		rule("E1070", "field of a new cluster with an existing cluster", fieldsOfNewCluster),
		rule("E1071", "existing cluster lacks a feature that the platform needs", missingFeatures, resolved),
		rule("W1072", "existing cluster does not enforce network policies", unenforcedPolicies),
		rule("E1073", "existing cluster is older than a capacity needs", existingTooOld, resolved, acceptable),
		rule("E1074", "existing cluster is not in the region of the platform", existingLocation),
		rule("E1075", "controller of the existing cluster does not fit the platform",
			func(r *report) { existingKueue(r); existingControllers(r) }, except(ir.KAI)),
		rule("E1076", "scheduler is unavailable in an existing cluster", existingScheduler, only(ir.KAI)),
		rule("E1077", "accelerator limit of the existing cluster is too low",
			existingAcceleratorLimits, whole, resolved),
		rule("E1078", "Kueue of the existing cluster demands an impossible label",
			existingNamespaceLabels, except(ir.KAI)),
		rule("N1079", "dashboards have no metrics of the existing cluster", unscrapedCluster),
		rule("W1080", "auto-provisioned nodes of an existing cluster are for all its pods", sharedNodes, resolved),
	}
}

// existingField is a field that is only for a new cluster, with the advice for an
// existing one.
type existingField struct {
	path fieldPath
	cure string
}

// newClusterFields returns the fields that have no effect on an existing cluster.
func newClusterFields() []existingField {
	of := func(parent, cure string, names ...string) []existingField {
		var out []existingField
		for _, name := range names {
			out = append(out, existingField{at(parent, name), strings.ReplaceAll(cure, "NAME", name)})
		}
		return out
	}
	return slices.Concat(
		of("cluster", "write it as cluster.existing.has.NAME", "securityGroup", "dnsEndpoint", "multiNetworking",
			"autoProvisioning"),
		of("cluster", "write the version as cluster.existing.version", "minVersion"),
		of("cluster", "remove NAME: the owners of the cluster decide it", "description", "releaseChannel",
			"authorizedNetworks", "deletionProtection", "csiDrivers", "maintenance", "systemPool"),
		of("cluster", "remove NAME, because others keep the cluster; or remove existing", "takeOver"),
		of("network", "remove NAME: the cluster has its network already", "name", "subnet", "nodes", "pods", "services",
			"controlPlane", "gvnic", "rdma", "tcpx"),
		of("security", "remove NAME: the owners of the cluster decide it", "binaryAuthorization", "flowLogs",
			"firewallLogs", "intraNodeVisibility", "bulletinTopic", "posture"),
	)
}

// fieldsOfNewCluster reports fields that have no effect, because the cluster exists, and
// default tiers: the default PriorityClass of a cluster also holds for the pods of others.
// A network that is described as existing has a rule of its own.
func fieldsOfNewCluster(r *report) {
	if r.Plan.OwnsCluster() {
		return
	}
	for _, f := range newClusterFields() {
		// rangesOfNewNetworks reports the fields of a new network. The firewall rules in
		// network-team/ can have logs.
		ofNetwork := f.path[0] == "network" || f.path[1] == "firewallLogs"
		if !r.Written(f.path...) || ofNetwork && r.Plan.Network.Existing != nil {
			continue
		}
		r.addKey(f.path, say("%s is for a new cluster, but the cluster exists", strings.Join(f.path, ".")),
			see(at("cluster", "existing"), "the existing cluster"), advise(f.cure))
	}
	for name, t := range sorted(r.Blueprint.Tiers) {
		if t.Default {
			r.add(at("tiers", name, "default"),
				say("the priority of tier %q would become the default of all pods of the cluster", name),
				see(at("cluster", "existing"), "the existing cluster"),
				help("remove default: jobs of the teams then name a priorityClassName"))
		}
	}
}

// missingFeatures reports features without which the platform cannot work in the
// cluster.
func missingFeatures(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil {
		return
	}
	if !e.WorkloadIdentity {
		r.add(at("cluster", "existing", "has", "workloadIdentity"),
			"without Workload Identity Federation, the teams' jobs have no identities of their own",
			help("ask the owners of the cluster to turn it on, and remove workloadIdentity"))
	}
	r.missingNetworks(e)
	r.missingAutoProvisioning(e)
}

// missingNetworks reports the first capacity whose nodes have networks for GPUs that the
// cluster cannot give them. createdWithoutNetworks reports the capacities whose pools GKE
// creates. Source: GKE documentation, "Set up multi-network support for Pods",
// requirements and limitations.
func (r *report) missingNetworks(e *ir.ExistingCluster) {
	i := slices.IndexFunc(r.Plan.Capacities, func(c ir.Capacity) bool { return len(c.Networks) > 0 && c.OwnsPools() })
	if i < 0 {
		return
	}
	c := r.Plan.Capacities[i]
	need := see(at("hardware", c.Hardware, "gpuDirect"), "gpuDirect needs these networks")
	has := at("cluster", "existing", "has")
	networks := has.at("multiNetworking")
	unnamed := r.Plan.Network.Existing == nil
	// fieldsOfNewCluster reports a field of a new cluster that turns it on
	off := !r.Plan.Cluster.MultiNetworking && e.DataplaneV2 && !r.Written("cluster", "multiNetworking")
	name := "describe the network of the cluster in network: existing, with the networks of the GPUs"
	turnOn := "if the cluster has multi-networking, write cluster: existing: has: multiNetworking: true; otherwise " +
		"use hardware without gpuDirect"
	message := say("nodes of capacity %q have additional networks", c.Name)
	switch {
	case unnamed && off && !r.Written(networks...):
		r.addKey(at("cluster", "existing"),
			message+", but multi-networking is off, and the blueprint does not name the networks", need,
			help("%s; and %s", turnOn, name))
	case off && !r.Written(networks...):
		r.addKey(at("cluster", "existing"), message+", but multi-networking is off", need, advise(turnOn))
	default:
		if off {
			r.add(networks, message+", but multi-networking is off", need, advise(turnOn))
		}
		if unnamed {
			r.addKey(at("cluster", "existing"), message+", but the blueprint does not name them", need, advise(name))
		}
	}
	if !e.DataplaneV2 {
		r.add(has.at("dataplaneV2"), "nodes can have additional networks only with Dataplane V2", need,
			help("use hardware without gpuDirect, or a cluster with Dataplane V2: no cluster can change it"))
	}
}

// classesCreateFrom is the lowest GKE version that creates node pools for a ComputeClass
// in a cluster without node auto-provisioning. Source: GKE documentation, "About custom
// ComputeClasses", node pool auto-creation.
const classesCreateFrom = "1.33.3-gke.1136000"

// missingAutoProvisioning reports capacities for which GKE cannot create node pools.
func (r *report) missingAutoProvisioning(e *ir.ExistingCluster) {
	if r.Plan.AutoProvisioning.Create || r.Written("cluster", "autoProvisioning") { // fieldsOfNewCluster reports it
		return
	}
	for _, c := range r.Plan.Capacities {
		field, why := "autoProvisioned", "GKE creates no node pools: node auto-provisioning is off"
		if c.ComputeClass {
			field, why = "computeClass", fmt.Sprintf("before GKE %s, GKE creates no node pools for a ComputeClass if "+
				"node auto-provisioning is off", classesCreateFrom)
		}
		if c.OwnsPools() || c.ComputeClass && !catalog.OlderGKE(e.Version, classesCreateFrom) {
			continue
		}
		r.add(at("capacity", c.Name, field), why, see(at("cluster", "existing"), "the existing cluster"),
			help("if node auto-provisioning is on, write its limits in cluster: existing: has: autoProvisioning; "+
				"otherwise remove %s: the capacity then gets its own node pool", field))
	}
}

// unenforcedPolicies reports a cluster without Dataplane V2. Source: GKE documentation,
// "Control cluster traffic using network policies".
func unenforcedPolicies(r *report) {
	if e := r.Plan.Cluster.Existing; e != nil && !e.DataplaneV2 {
		r.add(at("cluster", "existing", "has", "dataplaneV2"),
			"pods of a team can reach pods of other teams: without Dataplane V2, nothing enforces network policies",
			help("if the cluster enforces network policies in another way, add %s", r.accepting(at("cluster"))))
	}
}

// existingTooOld reports only the highest version that the capacities need.
func existingTooOld(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil {
		return
	}
	need, found := r.newerNeed(e.Version)
	if !found {
		return
	}
	r.add(at("cluster", "existing", "version"),
		say("capacity %q needs GKE %s: %s", need.capacity, need.version, need.reason),
		label("want %s or later", need.version), see(at("capacity", need.capacity), "the capacity"),
		help("ask the owners of the cluster to upgrade it; if it is newer by now, raise version"))
}

// existingLocation reports a control plane outside the region: a node pool is where its
// cluster is.
func existingLocation(r *report) {
	location := r.Plan.Cluster.Location
	if r.Plan.OwnsCluster() || location == r.Plan.Region || strings.HasPrefix(location, r.Plan.Region+"-") {
		return
	}
	region := location
	if parts := strings.Split(location, "-"); len(parts) > 2 {
		region = strings.Join(parts[:2], "-")
	}
	cure := help("write region: %q, and zones of that region", region)
	if _, known := catalog.LookupRegion(region); !known {
		cure = help("write location: %q, or a zone of this region; or correct the region of the platform",
			r.Plan.Region)
	}
	r.add(at("cluster", "existing", "location"),
		say("the cluster is in %s, but the platform is in region %s", location, r.Plan.Region),
		see(at("region"), "the region of the platform"), cure)
}

// existingKueue reports a Kueue of others that would not manage the teams' jobs. Jobs
// of a kind that it does not manage would start without quota.
func existingKueue(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil || e.Kueue == nil {
		return
	}
	path := at("cluster", "existing", "kueue")
	if catalog.OlderRelease(e.Kueue.Version, catalog.OldestExistingKueue) {
		r.add(path.at("version"),
			say("Kueue %s does not have the API of the platform's queues, v1beta2", e.Kueue.Version),
			label("want %s or later", catalog.OldestExistingKueue), help("ask the owners of Kueue to upgrade it"))
	}
	var missing []string
	for _, framework := range ir.KueueFrameworks() {
		if !slices.Contains(e.Kueue.Frameworks, framework) {
			missing = append(missing, framework)
		}
	}
	if len(missing) > 0 {
		r.add(path.at("frameworks"),
			say("Kueue does not manage %s, so such jobs of the teams would start without quota", words.And(missing)),
			help("ask the owners of Kueue to add %s to integrations.frameworks, and then write the same here",
				words.And(missing)))
	}
	for _, c := range r.Plan.Capacities {
		if c.HasAcceleratorNetworks() {
			r.addKey(path, say("capacity %q needs feature gates of Kueue that only the platform's own Kueue "+
				"has", c.Name),
				see(at("capacity", c.Name), "its pods claim networks by dynamic resource allocation"),
				help("use other hardware, or a cluster in which the platform installs Kueue"))
			break
		}
	}
}

// existingControllers reports controllers of others that are too old for the workloads.
func existingControllers(r *report) {
	for _, c := range r.Plan.Controllers() {
		if c.Installed || c.Unused {
			continue
		}
		path, cure := at("cluster", "existing", c.Field, "version"),
			help("ask the owners of %s to upgrade it", c.Name)
		if catalog.OlderRelease(c.Version, c.OldestExisting) {
			r.add(path, say("%s %s does not have all fields of the platform's workloads", c.Name, c.Version),
				label("want %s or later", c.OldestExisting), cure)
			continue
		}
		i := slices.IndexFunc(r.Plan.Capacities, ir.Capacity.Sliced)
		if i >= 0 && catalog.OlderRelease(c.Version, c.OldestSliced) {
			r.add(path, say("%s %s can divide the pods of a job among several TPU slices, after an eviction "+
				"or a lost node", c.Name, c.Version),
				label("want %s or later", c.OldestSliced),
				see(at("capacity", r.Plan.Capacities[i].Name), "the capacity of TPU slices"), cure)
		}
	}
}

// existingScheduler reports a scheduler that the platform cannot bring into a cluster of
// others: KAI Scheduler changes how all pods of a queue start.
func existingScheduler(r *report) {
	if !r.Plan.OwnsCluster() {
		r.add(at("scheduler"), say("%s is available only in a cluster that the platform creates",
			r.Plan.Scheduler.Facts().Name),
			see(at("cluster", "existing"), "the existing cluster"),
			help("remove scheduler, or remove cluster.existing"))
	}
}

// existingAcceleratorLimits reports limits of node auto-provisioning with which the
// capacities can never have all their nodes. A limit holds for the node pools of the
// platform too. GKE creates no pools with accelerators that have no limit, but adds nodes
// to other pools with them. Sources: GKE documentation, "About node pool auto-creation",
// resource limits; Kubernetes cluster autoscaler, cloudprovider.ResourceLimiter.
func existingAcceleratorLimits(r *report) {
	if r.Plan.OwnsCluster() || !r.Plan.AutoProvisioning.Create {
		return
	}
	need, first, created := map[string]int{}, map[string]string{}, map[string]bool{}
	for _, c := range r.Plan.Capacities {
		accelerator := c.Machine.Accelerator
		if accelerator == "" {
			continue
		}
		need[accelerator] += c.MaxNodes * c.Machine.AcceleratorCount
		if !c.OwnsPools() && !created[accelerator] || first[accelerator] == "" {
			first[accelerator] = c.Name
		}
		created[accelerator] = created[accelerator] || !c.OwnsPools()
	}
	limits := r.Blueprint.Cluster.Existing.Has.AutoProvisioning.Accelerators
	path := at("cluster", "existing", "has", "autoProvisioning")
	for _, accelerator := range sortedKeys(need) {
		most, given := limits[accelerator]
		if most >= need[accelerator] || !given && (!created[accelerator] || r.misspeltLimit(accelerator)) {
			continue
		}
		add, here := r.addKey, path
		if given {
			add, here = r.add, append(path, "accelerators", accelerator)
		}
		add(here, say("the capacities can have %d %s, but the cluster at most %d", need[accelerator],
			accelerator, most),
			label("want accelerators: %q: %d or more", accelerator, need[accelerator]),
			see(at("capacity", first[accelerator]), "the limit holds for its nodes"),
			help("lower maxNodes of the capacities, or ask the owners of the cluster to raise the limit"))
	}
}

// misspeltLimit reports whether a limit of the existing cluster has a name that is not the
// name of an accelerator, but probably means it. autoProvisioningLimits reports the name.
func (r *report) misspeltLimit(accelerator string) bool {
	known := catalog.Accelerators()
	for name := range r.Blueprint.Cluster.Existing.Has.AutoProvisioning.Accelerators {
		if !hasName(known, name) && meantAccelerator(name, known) == accelerator {
			return true
		}
	}
	return false
}

// existingNamespaceLabels reports labels that no namespace can have, that the platform
// gives another value, or that nobody may set.
func existingNamespaceLabels(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil || e.Kueue == nil {
		return
	}
	path := at("cluster", "existing", "kueue", "namespaceLabels")
	for _, l := range e.Kueue.NamespaceLabels {
		if r.checkLabel(path.at(l.Key), l.Key, l.Value) && isReservedLabel(l.Key) {
			r.addKey(path.at(l.Key),
				say("label %q is reserved, so the platform cannot set it on the teams' namespaces", l.Key),
				help("ask the owners of Kueue to select namespaces by another label"))
		}
	}
	for name, t := range sorted(r.Blueprint.Tiers) {
		for _, key := range sortedKeys(t.Namespaces.Labels) {
			i := slices.IndexFunc(e.Kueue.NamespaceLabels, func(l ir.KeyValue) bool { return l.Key == key })
			value := t.Namespaces.Labels[key]
			if i < 0 || value == e.Kueue.NamespaceLabels[i].Value {
				continue
			}
			r.add(at("tiers", name, "namespaces", key),
				say("namespaces of the teams would have label %q with two values", key),
				see(path.at(key), "Kueue manages only namespaces with this value"),
				help("write %q here too, or choose another label", e.Kueue.NamespaceLabels[i].Value))
		}
	}
}

// unscrapedCluster reports a cluster without Managed Service for Prometheus, and
// controllers that others run: the platform does not scrape them.
func unscrapedCluster(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil {
		return
	}
	path := at("cluster", "existing", "has", "managedPrometheus")
	if !e.ManagedPrometheus {
		r.add(path, say("nothing scrapes %s, so the panels about queues stay empty", r.Plan.Scheduler.Facts().Name),
			help("ask the owners of the cluster to turn on managed collection, and remove managedPrometheus"))
		return
	}
	if !r.Plan.InstallsScheduler() {
		path = at("cluster", "existing", "kueue")
		r.addKey(path, "the platform does not scrape Kueue of others, so the panels about queues can stay empty",
			helpOrAccept("if it does", "ask the owners of Kueue whether Managed Service for Prometheus scrapes it"))
	}
}

// sharedNodes reports capacities whose nodes the pods of others can use, and whose pods can
// use nodes of others: GKE gives auto-provisioned nodes only labels and taints that the
// nodes of others can have as well. A ComputeClass has a label of its own. Source: GKE
// documentation, "About node pool auto-creation", node metadata.
func sharedNodes(r *report) {
	if r.Plan.OwnsCluster() {
		return
	}
	for _, c := range r.Plan.Capacities {
		if c.AutoProvisioned && !c.ComputeClass && c.Option.Facts().HasAutoProvisioning() {
			path := at("capacity", c.Name, "autoProvisioned")
			r.add(path, say("pods of others can use the nodes of %q, and its jobs can use nodes of others", c.Name),
				see(at("cluster", "existing"), "the existing cluster"),
				help("write computeClass: true instead, or remove autoProvisioned: the capacity then has nodes of "+
					"its own; if nobody else has such nodes, add %s", r.accepting(path)))
		}
	}
}
