package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// clusterRow says what becomes of a field of a cluster as gcloud prints it.
type clusterRow struct {
	path   string // in gcloud's JSON, with dots
	field  string // in the blueprint
	status Status
	// consequence belongs to a field that is not exact.
	consequence string
	// value returns the blueprint's value, and false for a value that needs no field.
	value func(v any) (any, bool)
}

// newCluster is the consequence of fields that describe the cluster's network.
const newCluster = "compile describes a new VPC network, not this one"

// clusterRows returns the table of the fields of a cluster. A new word of the grammar is
// a new row.
func clusterRows() []clusterRow {
	return []clusterRow{
		{path: "releaseChannel.channel", field: "cluster.releaseChannel", status: Exact, value: oneOfTexts(
			"RAPID", "STABLE", "EXTENDED", "REGULAR")},
		{
			path: "currentMasterVersion", field: "cluster.minVersion", status: Approximated, value: minorVersion,
			consequence: "a new cluster starts with the newest patch of this minor version",
		},
		{path: "authenticatorGroupsConfig.securityGroup", field: "cluster.securityGroup", status: Exact,
			value: plainText(
				`^gke-security-groups@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$`)},
		{
			path:  "controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic",
			field: "cluster.dnsEndpoint", status: Exact, value: anyBool,
		},
		{
			path: "privateClusterConfig.enablePrivateNodes", status: Approximated,
			consequence: "nodes always have private addresses",
		},
		{
			path: "masterAuthorizedNetworksConfig.cidrBlocks", field: "cluster.authorizedNetworks", status: Exact,
			value: namedRanges,
		},
		{path: "addonsConfig.gcsFuseCsiDriverConfig.enabled", field: "cluster.csiDrivers.gcsFuse", status: Exact,
			value: anyBool},
		{
			path: "addonsConfig.gcpFilestoreCsiDriverConfig.enabled", field: "cluster.csiDrivers.filestore",
			status: Exact,
			value:  anyBool,
		},
		{path: "networkConfig.enableMultiNetworking", field: "cluster.multiNetworking", status: Exact, value: onlyTrue},
		{
			path: "databaseEncryption.keyName", field: "security.kmsKey", status: Approximated,
			value: plainText("^projects/[a-z][-a-z0-9]{4,28}[a-z0-9]/locations/[a-z0-9-]+/" +
				"keyRings/[A-Za-z0-9_-]{1,63}/cryptoKeys/[A-Za-z0-9_-]{1,63}$"),
			consequence: "the key also encrypts the boot disks of nodes, and must be in the platform's region",
		},
		{path: "network", status: NoPart, consequence: newCluster},
		{path: "subnetwork", status: NoPart, consequence: newCluster},
		{path: "ipAllocationPolicy.clusterSecondaryRangeName", status: NoPart, consequence: newCluster},
		{path: "ipAllocationPolicy.servicesSecondaryRangeName", status: NoPart, consequence: newCluster},
		{
			path: "autoscaling.enableNodeAutoprovisioning", status: Approximated,
			consequence: "node auto-provisioning is on only if a capacity asks for it",
		},
		{
			path: "maintenancePolicy", status: Approximated, field: "cluster.maintenance",
			consequence: "the cluster has the default window: fill in the right one",
		},
		{
			path: "resourceLabels", status: NoPart, consequence: "the cluster has only the labels of the platform",
		},
	}
}

func oneOfTexts(texts ...string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		s, _ := v.(string)
		return s, slices.Contains(texts, s)
	}
}

func plainText(pattern string) func(any) (any, bool) {
	valid := regexp.MustCompile(pattern)
	return func(v any) (any, bool) {
		s, _ := v.(string)
		return s, valid.MatchString(s)
	}
}

func anyBool(v any) (any, bool) {
	b, ok := v.(bool)
	return b, ok
}

func onlyTrue(v any) (any, bool) { return true, v == true }

// minorVersion returns the minor version of a version that a blueprint can name.
func minorVersion(v any) (any, bool) {
	s, _ := v.(string)
	m := regexp.MustCompile(`^1\.(3[1-9]|[4-9][0-9])\b`).FindString(s)
	return m, m != ""
}

var ipv4Range = regexp.MustCompile(`^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$`)

// namedRanges returns the ranges of a list with the names that they show.
func namedRanges(v any) (any, bool) {
	list, _ := v.([]any)
	var out []setting
	taken := map[string]bool{}
	for i, item := range list {
		block, name := textAt(item, "cidrBlock"), textAt(item, "displayName")
		if !ipv4Range.MatchString(block) {
			return nil, false
		}
		if name == "" {
			name = fmt.Sprintf("range-%d", i+1)
		}
		out = append(out, setting{uniqueName(fitName(name, 40), 40, taken), block})
	}
	return out, len(out) > 0
}

// planCluster takes over the fields of the cluster.
func (d *design) planCluster() {
	for _, o := range d.inv.clusters {
		o.exactIf(o.name == d.name, "name", "name", "the platform has another name")
		o.approximate("object", "cluster", "compile describes a new cluster: it neither changes nor deletes this one")
		if d.project != "my-project" {
			o.exact("selfLink", "project")
		}
		o.exactIf(knownRegion(textAt(o.raw, "location")), "location", "region",
			"the compiled cluster has a regional control plane")
		for _, row := range clusterRows() {
			d.takeRow(o, row)
		}
	}
	for _, o := range d.inv.toolkits {
		o.approximate("object", "", "the compiled folder replaces the deployment: it does not change or delete it")
	}
	for _, o := range d.inv.objects {
		if o.kind != kindModule || strings.HasSuffix(textAt(o.raw, "source"), "/gke-node-pool") {
			continue
		}
		source := textAt(o.raw, "source")
		name := source[strings.LastIndexByte(source, '/')+1:]
		if known, consequence := moduleConsequence(name); known {
			o.approximate("source", "", consequence)
		} else {
			o.none("source", "", "the platform has nothing like this module")
		}
	}
}

// moduleConsequence says what the platform has instead of a module of Cluster Toolkit,
// and reports whether it has anything.
func moduleConsequence(module string) (bool, string) {
	switch module {
	case "gke-cluster":
		return true, "the platform makes a cluster of its own, with batchwright's settings"
	case "vpc", "multivpc", "gpu-rdma-vpc", "rdma-vpc":
		return true, "the platform makes its own networks; set gpuDirect on the hardware that needs more of them"
	case "kubectl-apply":
		return true, "the platform installs Kueue and JobSet itself; import the queues from the cluster"
	case "service-account":
		return true, "the platform makes its own service accounts"
	}
	return false, ""
}

// takeRow takes over a field of a cluster.
func (d *design) takeRow(o *object, row clusterRow) {
	v := at(o.raw, strings.Split(row.path, ".")...)
	if v == nil || v == "" || v == false && row.value == nil {
		return
	}
	if row.value == nil {
		o.fields = append(o.fields,
			FieldReport{Field: row.path, Status: row.status, Becomes: row.field, Consequence: row.consequence})
		return
	}
	value, ok := row.value(v)
	if !ok {
		if v != false {
			o.none(row.path, row.field, "the blueprint cannot have this value: it has the default")
		}
		return
	}
	o.fields = append(o.fields,
		FieldReport{Field: row.path, Status: row.status, Becomes: row.field, Consequence: row.consequence})
	top, rest, _ := strings.Cut(row.field, ".")
	target := map[string]*[]setting{"cluster": &d.cluster, "network": &d.network, "security": &d.security}[top]
	*target = addSetting(*target, strings.Split(rest, "."), value)
}

// addSetting sets the value at a path.
func addSetting(list []setting, path []string, value any) []setting {
	if len(path) == 1 {
		return append(list, setting{path[0], value})
	}
	for i := range list {
		if below, ok := list[i].value.([]setting); ok && list[i].name == path[0] {
			list[i].value = addSetting(below, path[1:], value)
			return list
		}
	}
	return append(list, setting{path[0], addSetting(nil, path[1:], value)})
}

// kindsOf counts the objects of each kind, for the comment at the top.
func (inv *inventory) kindsOf() map[string]int {
	out := map[string]int{}
	for _, o := range inv.objects {
		if !o.ignored {
			out[o.kind]++
		}
	}
	return maps.Clone(out)
}
