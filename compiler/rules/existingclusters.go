package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on clusters that others own. The blueprint describes such a cluster, and the
// rules compare the description with what the platform needs.

func existingClusterRules() []Rule {
	return []Rule{
		{
			Code: "E1070", Severity: diag.Error, Title: "field of a new cluster with an existing cluster",
			check: fieldsOfNewCluster,
		},
		{
			Code: "E1071", Severity: diag.Error, Title: "existing cluster lacks a feature that the platform needs",
			check: missingFeatures, resolved: true,
		},
		{
			Code: "W1072", Severity: diag.Warning, Title: "existing cluster does not enforce network policies",
			check: unenforcedPolicies,
		},
		{
			Code: "E1073", Severity: diag.Error, Title: "existing cluster is older than a capacity needs",
			check: existingTooOld, resolved: true, Acceptable: true,
		},
		{
			Code: "E1074", Severity: diag.Error, Title: "existing cluster is not in the region of the platform",
			check: existingLocation,
		},
		{
			Code: "E1075", Severity: diag.Error, Title: "controller of the existing cluster does not fit the platform",
			check: func(r *report) { existingKueue(r); existingJobSet(r) },
		},
		{
			Code: "E1076", Severity: diag.Error, Title: "scheduler is unavailable in an existing cluster",
			check: existingScheduler, only: ir.KAI,
		},
		{
			Code: "E1077", Severity: diag.Error, Title: "accelerator limit of the existing cluster is too low",
			check: existingAcceleratorLimits, whole: true, resolved: true,
		},
		{
			Code: "E1078", Severity: diag.Error, Title: "Kueue of the existing cluster demands a label that is reserved",
			check: existingNamespaceLabels,
		},
		{
			Code: "N1079", Severity: diag.Note, Title: "dashboards have no metrics of the existing cluster",
			check: unscrapedCluster,
		},
	}
}

// existingField is a field that is only for a new cluster, with the advice for an
// existing one.
type existingField struct {
	path []string
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
		of("cluster", "remove NAME: the owners of the cluster decide it", "releaseChannel", "authorizedNetworks",
			"deletionProtection", "csiDrivers", "maintenance", "systemPool"),
		of("cluster", "remove NAME, because others keep the cluster; or remove existing", "takeOver"),
		of("network", "remove NAME: the cluster has its network already", "nodes", "pods", "services", "controlPlane",
			"gvnic", "rdma", "tcpx"),
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
		if !r.Written(f.path...) || f.path[0] == "network" && r.Plan.Network.Existing != nil {
			continue
		}
		r.addKey(f.path,
			fmt.Sprintf("%s is for a new cluster, but the cluster exists", strings.Join(f.path, ".")),
			withRelated(at("cluster", "existing"), "the existing cluster"), withHelp("%s", f.cure))
	}
	for _, name := range sortedKeys(r.Blueprint.Tiers) {
		if r.Blueprint.Tiers[name].Default {
			r.add(at("tiers", name, "default"),
				fmt.Sprintf("the priority of tier %q would become the default of all pods of the cluster", name),
				withRelated(at("cluster", "existing"), "the existing cluster"),
				withHelp("remove default: jobs of the teams then name a priorityClassName"))
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
	has := at("cluster", "existing", "has")
	if !e.WorkloadIdentity {
		r.add(pathBelow(has, "workloadIdentity"),
			"without Workload Identity Federation, the teams' jobs have no identities of their own",
			withHelp("ask the owners of the cluster to turn it on, and remove workloadIdentity"))
	}
	for _, c := range r.Plan.Capacities {
		if len(c.Networks) == 0 {
			continue
		}
		need := withRelated(at("hardware", c.Hardware, "gpuDirect"), "gpuDirect needs these networks")
		switch {
		case r.Plan.Network.Existing == nil:
			r.add(at("cluster", "existing"),
				fmt.Sprintf("nodes of capacity %q have additional networks, but the blueprint does not name them", c.Name),
				need, withHelp("describe the network of the cluster in network: existing, with the networks of the GPUs"))
		case !e.DataplaneV2:
			r.add(pathBelow(has, "dataplaneV2"), "nodes can have additional networks only with Dataplane V2", need,
				withHelp("use a cluster with Dataplane V2: no cluster can change it"))
		case !r.Plan.Cluster.MultiNetworking:
			path := pathBelow(has, "multiNetworking")
			if !r.Written(path...) {
				path = at("cluster", "existing")
			}
			r.add(path, fmt.Sprintf("multi-networking is off, but nodes of capacity %q have additional networks", c.Name),
				need, withHelp("if the cluster has it, write has: multiNetworking: true; otherwise use hardware without "+
					"gpuDirect"))
		}
		break
	}
	if r.Plan.AutoProvisioning.Create {
		return
	}
	for _, c := range r.Plan.Capacities {
		if c.OwnsPools() {
			continue
		}
		field := "autoProvisioned"
		if c.ComputeClass {
			field = "computeClass"
		}
		r.add(at("capacity", c.Name, field), "GKE creates no node pools: node auto-provisioning is off",
			withRelated(at("cluster", "existing"), "the existing cluster"),
			withHelp("if it is on, write its limits in cluster: existing: has: autoProvisioning; otherwise remove %s",
				field))
	}
}

// unenforcedPolicies reports a cluster without Dataplane V2. Source: GKE documentation,
// "Control cluster traffic using network policies".
func unenforcedPolicies(r *report) {
	if e := r.Plan.Cluster.Existing; e != nil && !e.DataplaneV2 {
		r.add(at("cluster", "existing", "has", "dataplaneV2"),
			"pods of a team can reach pods of other teams: without Dataplane V2, nothing enforces network policies",
			withHelp("if the cluster enforces network policies in another way, add %s",
				acceptSource(r.rule.Code, at("cluster"))))
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
		fmt.Sprintf("capacity %q needs GKE %s: %s", need.capacity, need.version, need.reason),
		withLabel("want %s or later", need.version), withRelated(at("capacity", need.capacity), "the capacity"),
		withHelp("ask the owners of the cluster to upgrade it; if it is newer by now, raise version"))
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
	r.add(at("cluster", "existing", "location"),
		fmt.Sprintf("the cluster is in %s, but the platform is in region %s", location, r.Plan.Region),
		withRelated(at("region"), "the region of the platform"),
		withHelp("write region: %q, and zones of that region", region))
}

// oldestExistingKueue is the oldest Kueue that stores the API of the manifests, v1beta2.
// Source: Kueue, CHANGELOG-0.16.
const oldestExistingKueue = "0.16.0"

// existingKueue reports a Kueue of others that would not manage the teams' jobs. Jobs
// of a kind that it does not manage would start without quota.
func existingKueue(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil || e.Kueue == nil {
		return
	}
	path := at("cluster", "existing", "kueue")
	if isOlder(e.Kueue.Version, oldestExistingKueue) {
		r.add(pathBelow(path, "version"),
			fmt.Sprintf("Kueue %s does not store the API of the platform's queues, v1beta2", e.Kueue.Version),
			withLabel("want %s or later", oldestExistingKueue),
			withHelp("ask the owners of Kueue to upgrade it"))
	}
	var missing []string
	for _, framework := range ir.KueueFrameworks() {
		if !slices.Contains(e.Kueue.Frameworks, framework) {
			missing = append(missing, framework)
		}
	}
	if len(missing) > 0 {
		r.add(pathBelow(path, "frameworks"),
			fmt.Sprintf("Kueue does not manage %s, so such jobs of the teams would start without quota",
				words.And(missing)),
			withHelp("ask the owners of Kueue to add %s to integrations.frameworks, and list it here",
				words.And(missing)))
	}
	for _, c := range r.Plan.Capacities {
		if c.HasAcceleratorNetworks() {
			r.add(path, fmt.Sprintf("capacity %q needs feature gates of Kueue that only the platform's own Kueue has",
				c.Name),
				withRelated(at("capacity", c.Name), "its pods claim networks by dynamic resource allocation"),
				withHelp("use other hardware, or a cluster in which the platform installs Kueue"))
			break
		}
	}
}

// existingJobSet reports a JobSet of others that is older than the API of the manifests.
func existingJobSet(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil || e.JobSet == nil || !isOlder(e.JobSet.Version, oldestJobSet) {
		return
	}
	r.add(at("cluster", "existing", "jobset", "version"),
		fmt.Sprintf("the folder does not work with JobSet %s", e.JobSet.Version),
		withLabel("want %s or later", oldestJobSet), withHelp("ask the owners of JobSet to upgrade it"))
}

// existingScheduler reports a scheduler that the platform cannot bring into a cluster of
// others: KAI Scheduler changes how all pods of a queue start.
func existingScheduler(r *report) {
	if !r.Plan.OwnsCluster() {
		r.add(at("scheduler"), fmt.Sprintf("%s is available only in a cluster that the platform creates",
			r.Plan.Scheduler.Facts().Name),
			withRelated(at("cluster", "existing"), "the existing cluster"),
			withHelp("remove scheduler, or remove cluster.existing"))
	}
}

// existingAcceleratorLimits reports limits of node auto-provisioning with which the
// capacities can never have all their nodes. Source: GKE documentation, "About node pool
// auto-creation", resource limits.
func existingAcceleratorLimits(r *report) {
	if r.Plan.OwnsCluster() || !r.Plan.AutoProvisioning.Create {
		return
	}
	need, created := map[string]int{}, map[string]string{}
	for _, c := range r.Plan.Capacities {
		need[c.Machine.Accelerator] += c.MaxNodes * c.Machine.AcceleratorCount
		if !c.OwnsPools() {
			created[c.Machine.Accelerator] = c.Name
		}
	}
	limits := r.Blueprint.Cluster.Existing.Has.AutoProvisioning.Accelerators
	path := at("cluster", "existing", "has", "autoProvisioning")
	for _, accelerator := range sortedKeys(created) {
		most, given := limits[accelerator]
		if accelerator == "" || most >= need[accelerator] {
			continue
		}
		here := path
		if given {
			here = pathBelow(pathBelow(path, "accelerators"), accelerator)
		}
		r.add(here, fmt.Sprintf("the capacities can have %d %s, but the cluster at most %d", need[accelerator],
			accelerator, most),
			withLabel("want accelerators: %q: %d or more", accelerator, need[accelerator]),
			withRelated(at("capacity", created[accelerator]), "GKE creates its node pools"),
			withHelp("lower maxNodes of the capacities, or ask the owners of the cluster to raise the limit"))
	}
}

// existingNamespaceLabels reports labels that the platform gives another value, or that
// nobody may set.
func existingNamespaceLabels(r *report) {
	e := r.Plan.Cluster.Existing
	if e == nil || e.Kueue == nil {
		return
	}
	for _, l := range e.Kueue.NamespaceLabels {
		if isReservedLabel(l.Key) {
			r.addKey(at("cluster", "existing", "kueue", "namespaceLabels", l.Key),
				fmt.Sprintf("label %q is reserved, so the platform cannot set it on the teams' namespaces", l.Key),
				withHelp("ask the owners of Kueue to select namespaces by another label"))
		}
	}
}

// unscrapedCluster reports a cluster without Managed Service for Prometheus.
func unscrapedCluster(r *report) {
	if e := r.Plan.Cluster.Existing; e != nil && !e.ManagedPrometheus {
		r.add(at("cluster", "existing", "has", "managedPrometheus"),
			"nothing scrapes Kueue, so the panels about queues stay empty",
			withHelp("ask the owners of the cluster to turn on managed collection, and remove managedPrometheus"))
	}
}

// limitPath returns the path of a limit of node auto-provisioning in the blueprint.
func (r *report) limitPath(field string) []string {
	if r.Plan.OwnsCluster() {
		return at("cluster", "autoProvisioning", field)
	}
	return at("cluster", "existing", "has", "autoProvisioning", field)
}

// writtenLimits returns the limits of node auto-provisioning on vCPUs and on GiB of
// memory, as the blueprint gives them.
func (r *report) writtenLimits() (maxCPU, maxMemoryGiB *int) {
	c := r.Blueprint.Cluster
	if c.Existing == nil {
		return c.AutoProvisioning.MaxCPU, c.AutoProvisioning.MaxMemoryGiB
	}
	if limits := c.Existing.Has.AutoProvisioning; limits != nil {
		return &limits.MaxCPU, &limits.MaxMemoryGiB
	}
	return nil, nil
}

// raiseLimit returns the advice for a limit of node auto-provisioning that is too low.
func (r *report) raiseLimit() string {
	if r.Plan.OwnsCluster() {
		return "raise the limit; or remove it: batchwright then computes it from the guarantees"
	}
	return "ask the owners of the cluster to raise the limit, and write the new one"
}
