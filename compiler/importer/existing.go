package importer

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// A cluster in the exports exists, and others own it. The platform starts beside what
// runs there.

// controllers are the objects of the controllers that others run in the cluster, nil if
// the exports do not contain them.
type controllers struct {
	kueue         *object            // Deployment
	ofKinds       map[string]*object // Deployments of the controllers of jobs, by field
	configuration *object            // ConfigMap of Kueue
}

// Names of the controllers' objects in their releases and charts.
const (
	kueueDeployment = "kueue-controller-manager"
	kueueConfigMap  = "kueue-manager-config"
	kueueConfigKey  = "controller_manager_config.yaml"
	exportKueue     = `"kubectl -n kueue-system get deployments,configmaps -o yaml"`
)

// Placeholders of what the exports do not contain.
const (
	unknownVersion = "1.34"
	unknownKueue   = "0.16.0"
)

// controllerNamed returns the controller of jobs with a Deployment, nil if there is none.
func controllerNamed(deployment string) *kinds.Controller {
	for _, c := range kinds.Controllers() {
		if c.Deployment == deployment {
			return &c
		}
	}
	return nil
}

// isController reports whether the importer reads a Deployment or ConfigMap.
func (o *object) isController() bool {
	switch o.kind {
	case "Deployment":
		return o.name == kueueDeployment || controllerNamed(o.name) != nil
	case "ConfigMap":
		return o.name == kueueConfigMap
	}
	return true
}

// addController adds a Deployment or ConfigMap.
func (c *controllers) add(o *object) {
	of := controllerNamed(o.name)
	switch {
	case o.name == kueueDeployment:
		c.kueue = o
	case of != nil && c.ofKinds == nil:
		c.ofKinds = map[string]*object{of.Field: o}
	case of != nil:
		c.ofKinds[of.Field] = o
	default:
		c.configuration = o
	}
}

// inCluster reports whether the exports show that the cluster exists.
func (inv *inventory) inCluster() bool {
	return len(inv.clusters) > 0 || inv.kueue != nil || inv.ofKinds != nil || inv.configuration != nil ||
		inv.ownedCluster() != nil || slices.ContainsFunc(inv.pools, (*pool).exists)
}

// clusterOfPools returns the project, the location and the name of the cluster in the links
// of node pools, "" if they have none.
func (inv *inventory) clusterOfPools() (project, location, name string) {
	for _, p := range inv.pools {
		parts := strings.Split(clusterPath(p.node), "/")
		if p.exists() && len(parts) == 6 {
			return parts[1], parts[3], parts[5]
		}
	}
	return "", "", ""
}

// ownedCluster returns the module of Cluster Toolkit that names a cluster of others, nil if
// there is none.
func (inv *inventory) ownedCluster() *module {
	for _, m := range inv.modules {
		if m.source == moduleOwned {
			return m
		}
	}
	return nil
}

// feature is a feature of a cluster that exists.
type feature struct {
	path, field string // in gcloud's JSON, and below cluster.existing.has
	standard    bool   // the value that needs no field
	is          func(v any) bool
	lacking     string // the consequence if the cluster lacks it, "" if there is none
}

func features() []feature {
	return []feature{
		{
			path: "networkConfig.datapathProvider", field: "dataplaneV2", standard: true,
			is: func(v any) bool { return v == "ADVANCED_DATAPATH" },
		},
		{
			path: "workloadIdentityConfig.workloadPool", field: "workloadIdentity", standard: true,
			is: func(v any) bool { return v != nil && v != "" },
			lacking: "vet refuses the platform: without it, the teams' jobs have no identities. Ask the owners of " +
				"the cluster",
		},
		{path: "networkConfig.enableMultiNetworking", field: "multiNetworking", is: isOn},
		{
			path: "controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic", field: "dnsEndpoint",
			standard: true, is: isOn,
		},
		{
			path: "monitoringConfig.managedPrometheusConfig.enabled", field: "managedPrometheus", standard: true,
			is: isOn,
		},
	}
}

func isOn(v any) bool { return v == true }

// planExisting describes the cluster of the exports.
func (d *design) planExisting() {
	list := d.existingPlace()
	if len(d.inv.clusters) > 0 {
		if has := d.featuresOf(d.inv.clusters[0]); len(has) > 0 {
			list = append(list, setting{"has", has})
		}
	} else {
		d.assume("cluster.existing.has", "the exports do not contain the cluster: the blueprint says that it has the "+
			"features that most shared clusters have; add the output of gcloud container clusters describe")
	}
	if kueue := d.existingKueue(); len(kueue) > 0 {
		list = append(list, setting{"kueue", kueue})
	}
	for _, c := range kinds.Controllers() {
		if version := d.existingController(c); version != "" {
			list = append(list, setting{c.Field, []setting{{"version", version}}})
		}
	}
	d.cluster = []setting{{"existing", list}}
	if len(d.inv.clusterQueues)+len(d.inv.priorityClasses) > 0 {
		d.assume("cluster.existing", "the queues of the exports run in the cluster: the build names each object that "+
			"is not the platform's, with the command by which its owner hands it over")
	}
}

// existingPlace returns the name, location and version of the cluster.
func (d *design) existingPlace() []setting {
	if m := d.inv.ownedCluster(); m != nil && len(d.inv.clusters) == 0 {
		d.assume("cluster.existing.version", "the exports do not contain the version of the cluster: fill it in")
		out := []setting{{"name", fitName(textAt(m.settings, "cluster_name"), 40)}}
		if zone := textAt(m.settings, "region"); zoneName.MatchString(zone) {
			out = append(out, setting{"location", zone})
		}
		return append(out, setting{"version", remarked{unknownVersion, fillIn + "the version of the cluster."}})
	}
	if _, location, name := d.inv.clusterOfPools(); name != "" && len(d.inv.clusters) == 0 {
		return d.placeOfPools(location, name)
	}
	if len(d.inv.clusters) == 0 {
		d.assume("cluster.existing.name", "the exports contain controllers, but not their cluster: fill in its name")
		d.assume("cluster.existing.version", "the exports do not contain the version of the cluster: fill it in")
		return []setting{
			{"name", remarked{"my-cluster", fillIn + "the name of the cluster."}},
			{"version", remarked{unknownVersion, fillIn + "the version of the cluster."}},
		}
	}
	o := d.inv.clusters[0]
	name := fitName(o.name, 40)
	out := []setting{{"name", name}}
	o.exactIf(name == o.name, "name", "cluster.existing.name", "GKE has no cluster of this name: fill in the right one")
	switch location := textAt(o.raw, "location"); {
	case knownRegion(location):
		o.exact("location", "region")
	case zoneName.MatchString(location):
		o.exact("location", "cluster.existing.location")
		out = append(out, setting{"location", location})
	default:
		o.none("location", "region", "batchwright does not know the region: fill it in")
	}
	version := textAt(o.raw, "currentMasterVersion")
	if gkeVersion().MatchString(version) {
		o.exact("currentMasterVersion", "cluster.existing.version")
		return append(out, setting{"version", version})
	}
	o.approximate("currentMasterVersion", "cluster.existing.version", fmt.Sprintf("batchwright needs 1.31 or later: "+
		"fill in the version after an upgrade; %s stands in its place", unknownVersion))
	return append(out, setting{"version", remarked{unknownVersion, fillIn + "the version of the cluster."}})
}

// placeOfPools returns the name, location and version of the cluster of node pools. Its
// control plane is at least as new as the newest pool.
func (d *design) placeOfPools(location, name string) []setting {
	out := []setting{{"name", fitName(name, 40)}}
	if zoneName.MatchString(location) {
		out = append(out, setting{"location", location})
	}
	newest := ""
	for _, p := range d.inv.pools {
		if v := textAt(p.raw, "version"); gkeVersion().MatchString(v) && (newest == "" || catalog.OlderGKE(newest, v)) {
			newest = v
		}
	}
	if newest == "" {
		d.assume("cluster.existing.version", "the exports do not contain the version of the cluster: fill it in")
		return append(out, setting{"version", remarked{unknownVersion, fillIn + "the version of the cluster."}})
	}
	d.assume("cluster.existing.version", "the version of the newest node pool: the control plane is as new, or newer")
	return append(out, setting{"version", newest})
}

// gkeVersion matches the versions that a blueprint can name.
var gkeVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^1\.(3[1-9]|[4-9][0-9])(\.[0-9]+(-gke\.[0-9]+)?)?$`)
})

// featuresOf returns the features of a cluster that differ from the defaults.
func (d *design) featuresOf(o *object) []setting {
	var out []setting
	for _, f := range features() {
		value := f.is(at(o.raw, strings.Split(f.path, ".")...))
		if value != f.standard {
			out = append(out, setting{f.field, value})
		}
		if path := "cluster.existing.has." + f.field; !value && f.lacking != "" {
			o.none(f.path, path, f.lacking)
		} else {
			o.exact(f.path, path)
		}
	}
	if group := textAt(o.raw, "authenticatorGroupsConfig", "securityGroup"); securityGroup().MatchString(group) {
		o.exact("authenticatorGroupsConfig.securityGroup", "cluster.existing.has.securityGroup")
		out = append(out, setting{"securityGroup", group})
	}
	if isTrue(o.raw, "autoscaling", "enableNodeAutoprovisioning") {
		if limits := limitsOf(o); limits != nil {
			out = append(out, setting{"autoProvisioning", limits})
		}
	}
	o.exact("all other fields", "cluster.existing")
	return out
}

var securityGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^gke-security-groups@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$`)
})

// limitsOf returns the limits of node auto-provisioning, nil if they are incomplete.
func limitsOf(o *object) []setting {
	list, _ := at(o.raw, "autoscaling", "resourceLimits").([]any)
	most := map[string]int{}
	for _, item := range list {
		most[textAt(item, "resourceType")] = numberAt(item, "maximum")
	}
	cpu, memory := most["cpu"], most["memory"]
	if cpu < 4 || memory < 16 {
		o.none("autoscaling.resourceLimits", "cluster.existing.has.autoProvisioning", "the limits of vCPUs and memory "+
			"are missing: the blueprint has no capacity with autoProvisioned or computeClass")
		return nil
	}
	delete(most, "cpu")
	delete(most, "memory")
	out := []setting{{"maxCPU", cpu}, {"maxMemoryGiB", memory}}
	var accelerators []setting
	for _, name := range slices.Sorted(maps.Keys(most)) {
		if most[name] > 0 {
			accelerators = append(accelerators, setting{name, most[name]})
		}
	}
	if len(accelerators) > 0 {
		out = append(out, setting{"accelerators", accelerators})
	}
	o.exact("autoscaling.resourceLimits", "cluster.existing.has.autoProvisioning")
	return out
}

// release matches the version in the tag of an image, or in a label.
var release = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+)([-+.].*)?$`)

// releaseOf returns the release of a controller: the tag of the image of its container
// "manager", or the version in its labels. The result is "" if neither names a release.
func releaseOf(o *object) string {
	containers, _ := at(o.raw, "spec", "template", "spec", "containers").([]any)
	var tags []string
	for _, c := range containers {
		image, _, _ := strings.Cut(textAt(c, "image"), "@")
		if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') &&
			(textAt(c, "name") == "manager" || len(containers) == 1) {
			tags = append(tags, image[i+1:])
		}
	}
	for _, text := range append(tags, textAt(o.raw, "metadata", "labels", "app.kubernetes.io/version")) {
		if m := release.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// existingKueue describes Kueue that runs in the cluster. The result is empty if nothing
// shows that it does.
func (d *design) existingKueue() []setting {
	const path = "cluster.existing.kueue"
	if d.inv.kueue == nil && d.inv.configuration == nil && len(d.inv.clusterQueues) == 0 {
		d.assume(path, "the exports show no Kueue, so the platform installs it: if it runs in the cluster, add the "+
			"output "+
			"of "+exportKueue)
		return nil
	}
	var out []setting
	if o := d.inv.kueue; o == nil {
		d.assume(path+".version", "the exports contain queues, but not the Deployment "+kueueDeployment+": fill in "+
			"the "+
			"version, or add the output of "+exportKueue)
		out = []setting{{"version", remarked{unknownKueue, fillIn + "the version of Kueue."}}}
	} else {
		out = []setting{d.releaseSetting(o, path, "Kueue", catalog.OldestExistingKueue, unknownKueue)}
		d.reportDeployment(o, "kueue-system")
	}
	if o := d.inv.configuration; o != nil {
		return append(out, d.kueueConfiguration(o)...)
	}
	d.assume(path+".frameworks", "the exports do not contain the ConfigMap "+kueueConfigMap+": the blueprint says "+
		"that "+
		"Kueue manages "+words.And(kinds.Plurals())+" in all namespaces; correct it, or add the output of "+exportKueue)
	return out
}

// releaseSetting returns the version of a controller, and reports it. vet refuses versions
// older than oldest; unknown stands for a version that the exports do not name.
func (d *design) releaseSetting(o *object, path, name, oldest, unknown string) setting {
	version := releaseOf(o)
	switch {
	case version == "":
		o.none("spec.template.spec.containers.image", path+".version", "the tag of the image names no release: fill "+
			"in the version")
		return setting{"version", remarked{unknown, fillIn + "the version of " + name + "."}}
	case catalog.OlderRelease(version, oldest):
		o.approximate("spec.template.spec.containers.image", path+".version", fmt.Sprintf("vet refuses %s below %s: "+
			"ask its owners to upgrade it", name, oldest))
	default:
		o.exact("spec.template.spec.containers.image", path+".version")
	}
	return setting{"version", version}
}

// reportDeployment reports the settings of a controller that a blueprint does not say.
func (d *design) reportDeployment(o *object, namespace string) {
	if o.namespace != "" && o.namespace != namespace {
		o.none("metadata.namespace", "", "the build looks for the controller in namespace "+namespace)
	}
	containers, _ := at(o.raw, "spec", "template", "spec", "containers").([]any)
	for _, c := range containers {
		for _, arg := range textsAt(c, "args") {
			if strings.HasPrefix(arg, "--feature-gates") {
				o.none("feature gates", "", "the gates of the owners apply: "+arg)
			}
		}
	}
	o.exact("all other fields", "cluster.existing")
}

// existingController returns the version of a controller of jobs that runs in the cluster,
// "" if nothing shows that it does.
func (d *design) existingController(c kinds.Controller) any {
	o, path := d.inv.ofKinds[c.Field], "cluster.existing."+c.Field
	if o == nil {
		d.assume(path, fmt.Sprintf("the exports show no %s, so the platform installs it: if it runs in the cluster, "+
			`add the output of "kubectl -n %s get deployments -o yaml"`, c.Name, c.Namespace))
		return ""
	}
	version := d.releaseSetting(o, path, c.Name, c.OldestExisting, c.Tested)
	d.reportDeployment(o, c.Namespace)
	return version.value
}

// configurationRow says what follows from a field of Kueue's configuration for the
// platform's jobs.
type configurationRow struct {
	field       string
	consequence string
}

// configurationRows returns the fields of Kueue's configuration that the owners decide
// and that change what happens to jobs. Source: Kueue 0.19, apis/config/v1beta2.
func configurationRows() []configurationRow {
	return []configurationRow{
		{"waitForPodsReady", "it decides how long a job may wait for its pods: a platform's own Kueue waits 30 " +
			"minutes"},
		{"fairSharing", "Kueue shares what is idle by weights, instead of by borrowing limits and age alone"},
		{"admissionFairSharing", "the past use of LocalQueues changes the order of jobs"},
		{"resources", "Kueue transforms or ignores some resources before it compares them with quota"},
		{"objectRetentionPolicies", "Kueue deletes finished Workloads, so exports of traces lack them"},
		{"multiKueue", "Kueue can send jobs to other clusters"},
		{"featureGates", "the gates of the owners apply"},
		{"queueVisibility", "the owners decide what is visible"},
		{"integrations.externalFrameworks", "controllers of others manage these jobs"},
		{"integrations.labelKeysToCopy", "Workloads have these labels of the jobs"},
		{"integrations.podOptions", "Kueue manages plain pods only where this selector says so"},
	}
}

// kueueConfiguration returns the fields of the blueprint that Kueue's configuration sets,
// and reports the others.
func (d *design) kueueConfiguration(o *object) []setting {
	const path = "cluster.existing.kueue"
	text := textAt(o.raw, "data", kueueConfigKey)
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil || len(node.Content) != 1 {
		o.none("data."+kueueConfigKey, path, "the configuration cannot be read: fill in the frameworks and the labels "+
			"of namespaces")
		return nil
	}
	left := maxNodes
	value, err := plainValue(node.Content[0], &left, 0)
	config, ok := value.(map[string]any)
	if err != nil || !ok {
		o.none("data."+kueueConfigKey, path, "the configuration cannot be read: fill in the frameworks and the labels "+
			"of namespaces")
		return nil
	}
	var out []setting
	if frameworks := textsAt(config, "integrations", "frameworks"); len(frameworks) > 0 {
		o.exact("integrations.frameworks", path+".frameworks")
		if !slices.Equal(frameworks, kinds.Frameworks()) {
			out = append(out, setting{"frameworks", frameworks})
		}
		for _, needed := range kinds.Frameworks() {
			if !slices.Contains(frameworks, needed) {
				o.none("integrations.frameworks", path+".frameworks", fmt.Sprintf("vet refuses the platform: Kueue "+
					"does not manage %s, so such jobs would start without quota. Ask its owners to add it", needed))
			}
		}
	}
	out = append(out, namespaceLabels(o, config)...)
	if at(config, "manageJobsWithoutQueueName") == true {
		o.exact("manageJobsWithoutQueueName", path)
	} else {
		o.approximate("manageJobsWithoutQueueName", path, "it is off: a job without the label "+
			"kueue.x-k8s.io/queue-name "+
			"starts without quota, unless the platform's policies refuse it")
	}
	for _, row := range configurationRows() {
		if v := at(config, strings.Split(row.field, ".")...); v != nil && !isEmpty(v) {
			o.none(row.field, path, row.consequence)
		}
	}
	o.exact("all other fields", path)
	return out
}

// isEmpty reports whether a value is an empty list or has no fields.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// namespaceLabels returns the labels that a namespace must have so that Kueue manages its
// jobs. The release's own expression excludes only namespaces of the system.
func namespaceLabels(o *object, config map[string]any) []setting {
	const field, path = "managedJobsNamespaceSelector", "cluster.existing.kueue.namespaceLabels"
	labels, _ := at(config, field, "matchLabels").(map[string]any)
	var out []setting
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, ok := labels[key].(string); ok {
			out = append(out, setting{key, value})
		}
	}
	expressions, _ := at(config, field, "matchExpressions").([]any)
	for _, e := range expressions {
		if textAt(e, "key") == "kubernetes.io/metadata.name" && textAt(e, "operator") == "NotIn" {
			continue
		}
		o.none(field+".matchExpressions", path, fmt.Sprintf("Kueue manages only namespaces that match %s %s: label "+
			"the teams' namespaces accordingly", textAt(e, "key"), textAt(e, "operator")))
	}
	if len(out) == 0 {
		return nil
	}
	o.exact(field+".matchLabels", path)
	return []setting{{"namespaceLabels", out}}
}

// checkLimits reports that the nodes exceed the limits of node auto-provisioning, which
// also hold for node pools of others.
func (d *design) checkLimits() {
	if !d.exists || len(d.inv.clusters) == 0 ||
		!isTrue(d.inv.clusters[0].raw, "autoscaling", "enableNodeAutoprovisioning") {
		return
	}
	limits := map[string]int{}
	list, _ := at(d.inv.clusters[0].raw, "autoscaling", "resourceLimits").([]any)
	for _, item := range list {
		limits[textAt(item, "resourceType")] = numberAt(item, "maximum")
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
		d.assume("cluster.existing.has.autoProvisioning", "vet refuses the platform: its nodes exceed the cluster's "+
			"limit of memory. Ask the owners of the cluster to raise it, or remove capacities")
	}
}

// planNetwork names the network of the cluster, if nodes have more networks than the
// cluster's own: the platform cannot create these beside a network of others.
func (d *design) planNetwork() {
	if !d.exists || len(d.inv.clusters) == 0 {
		return
	}
	var gpus []setting
	have := map[string]bool{}
	for _, c := range d.capacities {
		if c.pool == nil || !c.hardware.gpuDirect {
			continue
		}
		for _, s := range c.pool.gpuNetworks(c.hardware.machine) {
			if !have[s.name] {
				have[s.name] = true
				gpus = append(gpus, s)
			}
		}
	}
	if len(gpus) == 0 {
		return
	}
	o := d.inv.clusters[0]
	list := networkPlace(cmp.Or(textAt(o.raw, "networkConfig", "network"), textAt(o.raw, "network")), d.project)
	_, subnet := lastOf(cmp.Or(textAt(o.raw, "networkConfig", "subnetwork"), textAt(o.raw, "subnetwork")))
	list = append(list, setting{"subnet", subnet},
		setting{"pods", textAt(o.raw, "ipAllocationPolicy", "clusterSecondaryRangeName")},
		setting{"services", textAt(o.raw, "ipAllocationPolicy", "servicesSecondaryRangeName")})
	for i, s := range list {
		if text, ok := s.value.(string); ok && resourceName(text) != text {
			list[i].value = remarked{"fill-in", fillIn + "the name of it."}
			o.none("network", "network.existing."+s.name, "the export does not name it: fill it in")
		}
	}
	o.exact("networkConfig", "network.existing")
	d.network = []setting{{"existing", append(list, gpus...)}}
}

// networkPlace returns the project and the name of a network, whose link may be only a
// name.
func networkPlace(link, project string) []setting {
	owner, name := lastOf(link)
	if owner != "" && owner != project {
		return []setting{{"project", owner}, {"network", name}}
	}
	return []setting{{"network", name}}
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
func (p *pool) gpuNetworks(m catalog.Machine) []setting {
	subnet := func(i int) setting {
		return setting{"", []setting{{"network", p.additional[i][0]}, {"subnet", p.additional[i][1]}}}
	}
	n := m.Networks
	switch {
	case len(p.additional) != n.GVNIC+n.RDMA:
		p.none("networkConfig.additionalNodeNetworkConfigs", "network.existing", fmt.Sprintf("%s needs %d networks, "+
			"and the pool has %d: fill them in", m.Type, n.GVNIC+n.RDMA, len(p.additional)))
		return nil
	case n.RDMA == 0:
		var list []setting
		for i := range p.additional {
			list = append(list, subnet(i))
		}
		p.exact("networkConfig.additionalNodeNetworkConfigs", "network.existing.tcpx")
		return []setting{{"tcpx", items(list)}}
	}
	var subnets []string
	for _, a := range p.additional[n.GVNIC:] {
		subnets = append(subnets, a[1])
	}
	p.exact("networkConfig.additionalNodeNetworkConfigs", "network.existing.rdma")
	return []setting{
		{"gvnic", subnet(0).value},
		{"rdma", []setting{{"network", p.additional[n.GVNIC][0]}, {"subnets", subnets}}},
	}
}
