package importer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// A cluster in the exports exists, and others own it. The platform starts beside what
// runs there.

const (
	kueueConfigKey = "controller_manager_config.yaml"
	exportKueue    = `"kubectl -n kueue-system get deployments,configmaps -o yaml"`
)

// Placeholders of what the exports do not contain.
const (
	unknownVersion = "1.34"
	unknownKueue   = "0.16.0"
)

// fill returns a placeholder for a value that the exports do not contain.
func fill(placeholder, what string) remarked { return remarked{placeholder, fillIn + what + "."} }

// inCluster reports whether the exports show that the cluster exists.
func (inv *inventory) inCluster() bool {
	return inv.cluster != nil || len(inv.controllers) > 0 || inv.configuration != nil || inv.ownedCluster() != nil ||
		slices.ContainsFunc(inv.pools, (*pool).exists)
}

// clusterOfPools returns the project, the location and the name of the cluster in the links
// of node pools, "" if they have none.
func (inv *inventory) clusterOfPools() (project, location, name string) {
	for _, p := range inv.pools {
		if parts := strings.Split(p.Cluster, "/"); p.exists() && len(parts) == 6 {
			return parts[1], parts[3], parts[5]
		}
	}
	return "", "", ""
}

// ownedCluster returns the module of Cluster Toolkit that names a cluster of others, nil if
// there is none.
func (inv *inventory) ownedCluster() *module {
	for _, m := range inv.modules {
		if m.module.Source == exports.ModuleOwned {
			return m
		}
	}
	return nil
}

// feature is a feature of a cluster that exists.
type feature struct {
	path, field string // in gcloud's JSON, and below cluster.existing.has
	standard    bool   // the value that needs no field
	on          any    // the value with which a cluster has it, nil for any
}

func features() []feature {
	return []feature{
		{"networkConfig.datapathProvider", "dataplaneV2", true, "ADVANCED_DATAPATH"},
		{"workloadIdentityConfig.workloadPool", "workloadIdentity", true, nil},
		{"networkConfig.enableMultiNetworking", "multiNetworking", false, true},
		{"controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic", "dnsEndpoint", true, true},
		{"monitoringConfig.managedPrometheusConfig.enabled", "managedPrometheus", true, true},
	}
}

// planExisting describes the cluster of the exports.
func (d *design) planExisting() {
	list := d.existingPlace()
	if d.inv.cluster != nil {
		list = list.add("has", d.featuresOf(d.inv.cluster))
	} else {
		d.assume("cluster.existing.has", "the exports do not contain the cluster: the blueprint says that it has the "+
			"features that most shared clusters have; add the output of gcloud container clusters describe")
	}
	list = list.add("kueue", d.existingKueue())
	for _, c := range kinds.Controllers() {
		list = list.add(c.Field, d.existingController(c))
	}
	d.cluster = settings{{"existing", list}}
	if len(d.inv.clusterQueues)+len(d.inv.priorityClasses) > 0 {
		d.assume("cluster.existing", "the queues of the exports run in the cluster: the build lists each object that "+
			"is not the platform's, with the command by which its owner hands it over")
	}
}

// existingPlace returns the name, location and version of the cluster.
func (d *design) existingPlace() settings {
	o := d.inv.cluster
	if o == nil {
		return d.assumedPlace()
	}
	name := fitName(o.Name, 40)
	out := settings{{"name", name}}
	o.exactIf(name == o.Name, "name", "cluster.existing.name", "GKE has no cluster of this name: fill in the right one")
	switch location := exports.Text(o.Fields, "location"); {
	case knownRegion(location):
		o.exact("location", "region")
	case zoneName.MatchString(location):
		o.exact("location", "cluster.existing.location")
		out = out.add("location", location)
	default:
		o.none("location", "region", "batchwright does not know the region: fill it in")
	}
	version := exports.Text(o.Fields, "currentMasterVersion")
	known := gkeVersion().MatchString(version)
	o.exactIf(known, "currentMasterVersion", "cluster.existing.version", "batchwright needs 1.31 or later: fill in "+
		"the version after an upgrade; %s stands in its place", unknownVersion)
	if known {
		return out.add("version", version)
	}
	return out.add("version", fill(unknownVersion, "the version of the cluster"))
}

// assumedPlace returns the name, location and version of a cluster that the exports do not
// contain. The control plane is at least as new as the newest pool.
func (d *design) assumedPlace() settings {
	m := d.inv.ownedCluster()
	_, location, name := d.inv.clusterOfPools()
	newest := ""
	if m != nil {
		location, name = exports.Text(m.settings, "region"), exports.Text(m.settings, "cluster_name")
	} else if name != "" {
		for _, p := range d.inv.pools {
			v := exports.Text(p.Fields, "version")
			if gkeVersion().MatchString(v) && (newest == "" || catalog.OlderGKE(newest, v)) {
				newest = v
			}
		}
	}
	var out settings
	if m == nil && name == "" {
		d.assume("cluster.existing.name", "the exports do not contain the cluster: fill in its name")
		out = out.add("name", fill("my-cluster", "the name of the cluster"))
	} else {
		out = out.add("name", fitName(name, 40))
	}
	if zoneName.MatchString(location) {
		out = out.add("location", location)
	}
	if newest == "" {
		d.assume("cluster.existing.version", "the exports do not contain the version of the cluster: fill it in")
		return out.add("version", fill(unknownVersion, "the version of the cluster"))
	}
	d.assume("cluster.existing.version", "the version of the newest node pool: the control plane is as new, or newer")
	return out.add("version", newest)
}

// gkeVersion matches the versions that a blueprint can name.
var gkeVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^1\.(3[1-9]|[4-9][0-9])(\.[0-9]+(-gke\.[0-9]+)?)?$`)
})

// featuresOf returns the features of a cluster that differ from the defaults.
func (d *design) featuresOf(o *object) settings {
	var out settings
	for _, f := range features() {
		v := exports.At(o.Fields, strings.Split(f.path, ".")...)
		has := v == f.on
		if f.on == nil {
			has = v != nil && v != ""
		}
		if has != f.standard {
			out = append(out, setting{f.field, has})
		}
		if path := "cluster.existing.has." + f.field; !has && f.field == "workloadIdentity" {
			o.none(f.path, path, "vet rejects the platform: without it, the teams' jobs have no identities. Ask the "+
				"owners of the cluster")
		} else {
			o.exact(f.path, path)
		}
	}
	group := exports.Text(o.Fields, "authenticatorGroupsConfig", "securityGroup")
	if securityGroup().MatchString(group) {
		o.exact("authenticatorGroupsConfig.securityGroup", "cluster.existing.has.securityGroup")
		out = out.add("securityGroup", group)
	}
	out = out.add("autoProvisioning", limitsOf(o))
	o.exact("all other fields", "cluster.existing")
	return out
}

var securityGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^gke-security-groups@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$`)
})

// resourceLimits returns the limits of a cluster's node auto-provisioning, nil if it is off.
func resourceLimits(o *object) map[string]int {
	if o == nil || !exports.IsTrue(o.Fields, "autoscaling", "enableNodeAutoprovisioning") {
		return nil
	}
	out := map[string]int{}
	for _, item := range exports.List(o.Fields, "autoscaling", "resourceLimits") {
		out[exports.Text(item, "resourceType")] = exports.Number(item, "maximum")
	}
	return out
}

// limitsOf returns the limits of node auto-provisioning, nil if it is off or they are
// incomplete.
func limitsOf(o *object) settings {
	const field, path = "autoscaling.resourceLimits", "cluster.existing.has.autoProvisioning"
	most := resourceLimits(o)
	cpu, memory := most["cpu"], most["memory"]
	switch {
	case most == nil:
		return nil
	case cpu < 4 || memory < 16:
		o.none(field, path, "the limits of vCPUs and memory are missing: the blueprint has no capacity with "+
			"autoProvisioned or computeClass")
		return nil
	}
	delete(most, "cpu")
	delete(most, "memory")
	var accelerators settings
	for _, name := range slices.Sorted(maps.Keys(most)) {
		accelerators = accelerators.add(name, most[name])
	}
	o.exact(field, path)
	return settings{{"maxCPU", cpu}, {"maxMemoryGiB", memory}}.add("accelerators", accelerators)
}

// release matches the version in the tag of an image, or in a label.
var release = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+)([-+].*)?$`)

// releaseOf returns the release of a controller: the tag of the image of its container
// "manager", or the version in its labels. The result is "" if neither names a release.
func releaseOf(o *object) string {
	containers := exports.List(o.Fields, "spec", "template", "spec", "containers")
	var tags []string
	for _, c := range containers {
		image, _, _ := strings.Cut(exports.Text(c, "image"), "@")
		if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') &&
			(exports.Text(c, "name") == "manager" || len(containers) == 1) {
			tags = append(tags, image[i+1:])
		}
	}
	for _, text := range append(tags, exports.Text(o.Fields, "metadata", "labels", "app.kubernetes.io/version")) {
		if m := release.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// existingKueue describes Kueue that runs in the cluster. The result is empty if nothing
// shows that it does.
func (d *design) existingKueue() settings {
	const path = "cluster.existing.kueue"
	o := d.inv.controllers[exports.KueueDeployment]
	if o == nil && d.inv.configuration == nil && len(d.inv.clusterQueues) == 0 {
		d.assume(path, "the exports show no Kueue, so the platform installs it: if it runs in the cluster, add the "+
			"output of "+exportKueue)
		return nil
	}
	var out settings
	if o == nil {
		d.assume(path+".version", "the exports contain queues, but not the Deployment "+exports.KueueDeployment+
			": fill in the version, or add the output of "+exportKueue)
		out = settings{{"version", fill(unknownKueue, "the version of Kueue")}}
	} else {
		out = o.reportController(path, "Kueue", "kueue-system", catalog.OldestExistingKueue, unknownKueue)
	}
	if o := d.inv.configuration; o != nil {
		return append(out, o.kueueConfiguration()...)
	}
	byUsage := func(q typed[v1beta2.ClusterQueue]) bool { return isByUsage(q.value.Spec) }
	if slices.ContainsFunc(d.inv.clusterQueues, byUsage) {
		d.assume(path+".admissionFairSharing", "queues share by usage, so Kueue's configuration has "+
			"admissionFairSharing")
		out = append(out, setting{"admissionFairSharing", true})
	}
	d.assume(path+".frameworks", "the exports do not contain the ConfigMap "+exports.KueueConfigMap+": the blueprint "+
		"says that Kueue manages %s in all namespaces; correct it, or add the output of "+exportKueue,
		words.And(kinds.Plurals()))
	return out
}

// existingController describes a controller of jobs that runs in the cluster. The result is
// empty if nothing shows that it does.
func (d *design) existingController(c kinds.Controller) settings {
	o, path := d.inv.controllers[c.Deployment], "cluster.existing."+c.Field
	if o == nil {
		d.assume(path, "the exports show no %s, so the platform installs it: if it runs in the cluster, "+
			`add the output of "kubectl -n %s get deployments -o yaml"`, c.Name, c.Namespace)
		return nil
	}
	return o.reportController(path, c.Name, c.Namespace, c.OldestExisting, c.Tested)
}

// reportController returns the version of a controller, and reports what a blueprint does
// not say. vet rejects versions older than oldest; unknown stands for a version that the
// exports do not name.
func (o *object) reportController(path, name, namespace, oldest, unknown string) settings {
	const image = "spec.template.spec.containers.image"
	version := releaseOf(o)
	out := settings{{"version", version}}
	if version == "" {
		o.none(image, path+".version", "the tag of the image names no release: fill in the version")
		out = settings{{"version", fill(unknown, "the version of "+name)}}
	} else {
		o.exactIf(!catalog.OlderRelease(version, oldest), image, path+".version", "vet rejects %s below %s: ask its "+
			"owners to upgrade it", name, oldest)
	}
	if o.Namespace != "" && o.Namespace != namespace {
		o.none("metadata.namespace", "", "the build looks for the controller in namespace %s", namespace)
	}
	for _, c := range exports.List(o.Fields, "spec", "template", "spec", "containers") {
		for _, arg := range exports.Texts(c, "args") {
			if strings.HasPrefix(arg, "--feature-gates") {
				o.none("feature gates", "", "the gates of the owners apply: %s", arg)
			}
		}
	}
	o.exact("all other fields", "cluster.existing")
	return out
}

// configurationFates returns the fields of Kueue's configuration that the owners decide
// and that change what happens to jobs. Source: Kueue 0.19, apis/config/v1beta2.
func configurationFates() []fate {
	return []fate{
		missing("waitForPodsReady", "it decides how long a job may wait for its pods: a platform's own Kueue waits 30 "+
			"minutes"),
		missing("fairSharing", "Kueue shares what is idle by weights, instead of by borrowing limits and age alone"),
		missing("admissionFairSharing", "the past use of LocalQueues changes the order of jobs"),
		missing("resources", "Kueue transforms or ignores some resources before it compares them with quota"),
		missing("objectRetentionPolicies", "Kueue deletes finished Workloads, so exports of traces lack them"),
		missing("multiKueue", "Kueue can send jobs to other clusters"),
		missing("featureGates", "the gates of the owners apply"),
		missing("queueVisibility", "the owners decide what is visible"),
		missing("integrations.externalFrameworks", "controllers of others manage these jobs"),
		missing("integrations.labelKeysToCopy", "Workloads have these labels of the jobs"),
		missing("integrations.podOptions", "Kueue manages plain pods only where this selector says so"),
	}
}

// kueueConfiguration returns the fields of the blueprint that Kueue's configuration sets,
// and reports the others.
func (o *object) kueueConfiguration() settings {
	const path = "cluster.existing.kueue"
	var config map[string]any
	text := exports.Text(o.Fields, "data", kueueConfigKey)
	if err := yaml.Unmarshal([]byte(text), &config); err != nil || config == nil {
		o.none("data."+kueueConfigKey, path, "the configuration cannot be read: fill in the frameworks and the labels "+
			"of namespaces")
		return nil
	}
	var out settings
	if frameworks := exports.Texts(config, "integrations", "frameworks"); len(frameworks) > 0 {
		o.exact("integrations.frameworks", path+".frameworks")
		if !slices.Equal(frameworks, kinds.Frameworks()) {
			out = out.add("frameworks", frameworks)
		}
		for _, needed := range kinds.Frameworks() {
			if !slices.Contains(frameworks, needed) {
				o.none("integrations.frameworks", path+".frameworks", "vet rejects the platform: Kueue does not "+
					"manage %s, so such jobs would start without quota. Ask its owners to add it", needed)
			}
		}
	}
	fair := exports.At(config, "fairSharing") != nil && exports.At(config, "fairSharing", "enable") != false
	out = out.add("namespaceLabels", o.namespaceLabels(config)).add("fairSharing", fair).
		add("admissionFairSharing", exports.At(config, "admissionFairSharing") != nil)
	o.exactIf(config["manageJobsWithoutQueueName"] == true, "manageJobsWithoutQueueName", path, "it is off: a job "+
		"without the label kueue.x-k8s.io/queue-name starts without quota, unless the platform's policies refuse it")
	for _, f := range configurationFates() {
		if v := exports.At(config, strings.Split(f.field, ".")...); v != nil && !exports.IsEmpty(v) {
			o.report(f.field, f.status, path, f.consequence)
		}
	}
	o.exact("all other fields", path)
	return out
}

// namespaceLabels returns the labels that a namespace must have so that Kueue manages its
// jobs. The release's own expression excludes only namespaces of the system.
func (o *object) namespaceLabels(config map[string]any) settings {
	const field, path = "managedJobsNamespaceSelector", "cluster.existing.kueue.namespaceLabels"
	labels, _ := exports.At(config, field, "matchLabels").(map[string]any)
	var out settings
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, ok := labels[key].(string); ok {
			out = append(out, setting{key, value})
		}
	}
	for _, e := range exports.List(config, field, "matchExpressions") {
		key, operator := exports.Text(e, "key"), exports.Text(e, "operator")
		if key != "kubernetes.io/metadata.name" || operator != "NotIn" {
			o.none(field+".matchExpressions", path, "Kueue manages only namespaces that match %s %s: label the teams' "+
				"namespaces accordingly", key, operator)
		}
	}
	if len(out) > 0 {
		o.exact(field+".matchLabels", path)
	}
	return out
}

// checkLimits reports that the nodes exceed the limits of node auto-provisioning, which
// also hold for node pools of others.
func (d *design) checkLimits() {
	limits := resourceLimits(d.inv.cluster)
	if limits == nil {
		return
	}
	standing, scaling := 0, 0
	for _, c := range d.capacities {
		m, hosts := c.hardware.machine, 1
		if s, ok := m.Slice(c.hardware.topology); ok {
			hosts = s.Hosts
		}
		if c.max > 0 {
			scaling = max(scaling, int(m.MemoryGiB)*hosts)
		}
		standing += max(c.nodes, c.min) * hosts * int(m.MemoryGiB)
	}
	if scaling > 0 && standing+scaling > limits["memory"] {
		d.assume("cluster.existing.has.autoProvisioning", "vet rejects the platform: its nodes exceed the cluster's "+
			"limit of memory. Ask the owners of the cluster to raise it, or remove capacities")
	}
}

// planNetwork names the network of the cluster, if nodes have more networks than the
// cluster's own: the platform cannot create these beside a network of others.
func (d *design) planNetwork() {
	o := d.inv.cluster
	if o == nil {
		return
	}
	var gpus settings
	for _, c := range d.capacities {
		if c.pool == nil || !c.hardware.gpuDirect {
			continue
		}
		for _, s := range c.pool.gpuNetworks(c.hardware.machine) {
			gpus = addSetting(gpus, []string{s.name}, s.value)
		}
	}
	if len(gpus) == 0 {
		return
	}
	link := func(kind string) string {
		return cmp.Or(exports.Text(o.Fields, "networkConfig", kind), exports.Text(o.Fields, kind))
	}
	owner, name := lastOf(link("network"))
	_, subnet := lastOf(link("subnetwork"))
	list, filled := d.existingNetwork(owner, name, subnet,
		exports.Text(o.Fields, "ipAllocationPolicy", "clusterSecondaryRangeName"),
		exports.Text(o.Fields, "ipAllocationPolicy", "servicesSecondaryRangeName"))
	for _, name := range filled {
		o.none("network", "network.existing."+name, "the export does not name it: fill it in")
	}
	o.exact("networkConfig", "network.existing")
	d.network = settings{{"existing", append(list, gpus...)}}
}

// existingNetwork describes a network that others own, and returns the fields that must be
// filled in, because their texts are no names.
func (d *design) existingNetwork(owner, network, subnet, pods, services string) (list settings, filled []string) {
	if owner != d.project {
		list = list.add("project", owner)
	}
	list = append(list, setting{"network", network}, setting{"subnet", subnet}, setting{"pods", pods},
		setting{"services", services})
	for i, s := range list {
		if text, ok := s.value.(string); ok && resourceName(text) != text {
			list[i].value = fill("fill-in", "the name of it")
			filled = append(filled, s.name)
		}
	}
	return list, filled
}

// lastOf returns the project and the last part of a link, such as
// "projects/net-host/global/networks/shared".
func lastOf(link string) (project, name string) {
	parts := strings.Split(link, "/")
	for i := 0; i+1 < len(parts); i++ {
		if parts[i] == "projects" {
			project = parts[i+1]
		}
	}
	return project, parts[len(parts)-1]
}

// gpuNetworks returns the networks of a pool's nodes in addition to the cluster's, as the
// fields gvnic, rdma and tcpx of an existing network. The result is nil if the machine
// needs other networks.
func (p *pool) gpuNetworks(m catalog.Machine) settings {
	const field = "networkConfig.additionalNodeNetworkConfigs"
	var list items
	for _, a := range p.additional {
		list = append(list, setting{"", settings{{"network", a[0]}, {"subnet", a[1]}}})
	}
	n := m.Networks
	switch {
	case len(list) != n.GVNIC+n.RDMA:
		p.none(field, "network.existing", "%s needs %d networks, and the pool has %d: fill them in", m.Type,
			n.GVNIC+n.RDMA, len(list))
		return nil
	case n.RDMA == 0:
		p.exact(field, "network.existing.tcpx")
		return settings{{"tcpx", list}}
	}
	var subnets []string
	for _, a := range p.additional[n.GVNIC:] {
		subnets = append(subnets, a[1])
	}
	p.exact(field, "network.existing.rdma")
	return settings{
		{"gvnic", list[0].value},
		{"rdma", settings{{"network", p.additional[n.GVNIC][0]}, {"subnets", subnets}}},
	}
}
