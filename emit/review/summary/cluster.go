package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// Facts from which others follow.
var (
	platformName    = factPath(kindPlatform, "", "name")
	platformProject = factPath(kindPlatform, "", "project")
	platformRegion  = factPath(kindPlatform, "", "region")
	clusterOwner    = factPath(kindCluster, "", "owner")
)

// addPlatform adds the facts about the parts that exist only once.
func (s *sheet) addPlatform() {
	p := s.plan
	top := s.newSubject(TopicCluster, kindPlatform, "")
	top.is("name", p.Name, "another name makes another platform")
	top.is("project", p.Project, "another project makes another platform")
	top.is("region", p.Region, choose(p.OwnsCluster(), "another region makes another cluster",
		"the cluster must be in the region"))
	top.is("zones of the nodes", strings.Join(p.Zones, ", "))
	top.all("labels", labelTexts(p.Labels))
	top.is("scheduler", string(p.Scheduler), "the platform has to be destroyed before, and built anew")
	top.all("notes for the administrator", excerptAll(p.Notes))
	top.has("order and text of the notes",
		fact{
			form: opaque, value: strings.Join(p.Notes, "\n"),
			follows: []string{factPath(kindPlatform, "", "notes for the administrator")},
		})

	top.addManifests(p)
	s.addScenarios(top)

	v := p.Versions
	if e := p.Cluster.Existing; e != nil && e.Kueue != nil { // the platform's own version has no effect
		v.Kueue, v.SHA256.Kueue, v.SHA256.KueueChart = e.Kueue.Version, "", ""
	}
	pins := v.SHA256
	type row struct{ name, version, sha256, chart string }
	rows := []row{{"Kueue", v.Kueue, pins.Kueue, pins.KueueChart}}
	for _, c := range p.Controllers() {
		rows = append(rows, row{c.Name, c.Version, c.SHA256, c.ChartSHA256})
	}
	for _, r := range append(rows, []row{
		{"KAI Scheduler", v.KAI, "", ""}, {"Helm", v.Helm, pins.Helm, ""}, {"NCCL plugin gIB", v.GIB, "", ""},
		{"Terraform", v.Terraform, pins.Terraform, ""}, {"Google Cloud CLI", v.Gcloud, pins.Gcloud, ""},
		{"Terraform provider hashicorp/google", v.GoogleProvider, strings.Join(pins.GoogleProvider, ", "), ""},
	}...) {
		release := s.newSubject(TopicCluster, kindRelease, r.name)
		release.is("version", r.version)
		if r.version != "" && !slices.Contains(unverified, r.name) {
			s.addChecksum(release, r.sha256)
		}
		if r.sha256 != "" {
			release.follows("pinned SHA-256", r.sha256, factPath(kindRelease, r.name, "version"), runBy(r.name))
		}
		if r.chart != "" {
			release.follows("pinned SHA-256 of the chart", r.chart, factPath(kindRelease, r.name, "version"),
				runBy(r.name))
		}
	}
	defects := s.newSubject(TopicSecurity, kindPlatform, "")
	defects.has("known defects that the admission policies check for", fact{
		form: set, list: p.Defects, notes: remarks("a release without the defect needs no check"),
	})
	s.addCluster()
	s.systemPool()
	s.addNodeAccount()
	jobs := s.newSubject(TopicAccess, kindCluster, "")
	jobs.all("roles of every job", p.JobRoles, tagRoles)
	jobs.all("roles of the members of the teams' groups", p.Monitoring.MemberRoles, tagRoles)
}

// addManifests adds the facts about the administrator's own manifests.
func (s subject) addManifests(p *ir.Platform) {
	var own, objects []string
	for _, f := range p.OwnFiles() {
		own = append(own, f.Name)
		for _, o := range f.Objects {
			objects = append(objects, strings.TrimSuffix(o.Kind+"."+o.Group, ".")+" "+o.FullName())
		}
		s.has("own manifest "+f.Name, fact{
			form: opaque, value: f.Content, follows: []string{factPath(kindPlatform, "", "own manifests")},
		})
	}
	s.all("own manifests", own)
	s.all("objects of own manifests", objects, factPath(kindPlatform, "", "own manifests"))
	s.is("build steps for own manifests", onOff(p.Own != nil))
}

// unverified lists the releases of which nothing is downloaded that has a checksum.
var unverified = []string{"KAI Scheduler", "NCCL plugin gIB"}

// addChecksum adds whether the build compares what it downloads of a release with a checksum.
func (s *sheet) addChecksum(release subject, sha256 string) {
	release.topic = TopicSecurity
	note := "the build verifies what it downloads"
	if sha256 == "" {
		note = dangerous + "the build does not verify what it downloads"
	}
	release.has("SHA-256", fact{
		value: choose(sha256 == "", "not known", "known"), notes: remarks(note), follows: []string{runBy(release.name)},
	})
}

// addCluster adds the facts about the cluster, whoever owns it.
func (s *sheet) addCluster() {
	c := s.plan.Cluster
	cluster := s.newSubject(TopicCluster, kindCluster, "")
	cluster.is("image streaming", onOff(c.ImageStreaming))
	if s.plan.OwnsCluster() {
		s.addOwnCluster(cluster)
	} else {
		s.addExistingCluster(cluster)
	}

	addTakeOver(cluster, c.TakeOver)

	security := s.newSubject(TopicSecurity, kindCluster, "")
	security.is("key of boot disks and etcd", cmp.Or(s.plan.Security.KMSKey, "managed by Google"),
		"another key replaces every node pool"+
			choose(s.plan.OwnsCluster(), ", and with auto-provisioning the cluster", ""))
	security.is("logs of firewall rules", onOff(s.plan.Security.FirewallLogs))
	security.is("logs of serial ports", onOff(!s.plan.Security.NoSerialPortLogs), "Terraform replaces every node pool")
	security.is("Data Access audit logs of the project", onOff(s.plan.Security.DataAccessLogs))

	access := s.newSubject(TopicAccess, kindCluster, "")
	access.is("control plane's DNS endpoint", choose(c.DNSEndpoint,
		"reachable from outside the VPC, for identities that IAM admits", "reachable only from inside the VPC"))
	var notes []string
	if c.SecurityGroup == "" {
		notes = []string{"RBAC knows no Google groups"}
	}
	access.is("group of the groups that RBAC knows", cmp.Or(c.SecurityGroup, none), notes...)
}

// setting adds a value that a cluster has only if the platform, or only if others own it.
// If the owner changes, the line about the owner says it.
func (s subject) setting(what, value string, notes ...string) {
	s.has(what, fact{form: ratio, value: value, notes: remarks(notes...)})
}

// addOwnCluster adds the facts about a cluster that the platform creates.
func (s *sheet) addOwnCluster(cluster subject) {
	c := s.plan.Cluster
	cluster.is("owner", "the platform",
		"Terraform creates a cluster, and the node pools leave the cluster of others")
	cluster.follows("name", c.Name, platformName, clusterOwner)
	cluster.follows("location", c.Location, platformRegion, clusterOwner)
	s.addControllers(cluster, nil)
	cluster.setting("description", cmp.Or(c.Description, none),
		choose(c.DeletionProtection, "", dangerous)+"Terraform replaces the cluster")
	cluster.setting("release channel", c.ReleaseChannel)
	const start = "GKE version of a new cluster"
	cluster.setting(start, cmp.Or(c.MinVersion, "the release channel's default"),
		"a higher one upgrades a standing control plane at once")
	cluster.all("components whose metrics are collected", c.Metrics, factPath(kindCluster, "", start), clusterOwner)
	cluster.setting("multi-networking", onOff(c.MultiNetworking), "it is decided when a cluster is made")
	cluster.setting("Filestore CSI driver", onOff(c.Filestore))
	cluster.setting("Cloud Storage FUSE CSI driver", onOff(c.GCSFuse))
	m := c.Maintenance
	cluster.setting("maintenance window",
		fmt.Sprintf("%s from %s UTC for %s", strings.Join(m.Days, ", "), m.Start, words.Count(m.Hours, "hour")))
	for _, e := range m.Exclusions {
		cluster.has("maintenance exclusion "+quoteName(e.Name), fact{
			value: e.Scope + " from " + e.Start + " to " + e.End, follows: []string{clusterOwner},
		})
	}
	cluster.setting("autoscaling profile", s.plan.AutoProvisioning.Profile)

	security := s.newSubject(TopicSecurity, kindCluster, "")
	security.setting("deletion protection", onOff(c.DeletionProtection),
		choose(c.DeletionProtection, "Terraform refuses to destroy the cluster",
			dangerous+"Terraform no longer refuses to destroy the cluster, with all that runs there"))
	security.setting("Binary Authorization", onOff(s.plan.Security.BinaryAuthorization))
	security.setting("VPC flow logs", onOff(s.plan.Security.FlowLogs))
	security.setting("intranode visibility", onOff(s.plan.Security.IntraNodeVisibility),
		"GKE may restart the nodes of a standing cluster")
	security.setting("topic of GKE's notifications", cmp.Or(s.plan.Security.BulletinTopic, none))
	security.setting("security posture", onOff(s.plan.Security.Posture))

	access := s.newSubject(TopicAccess, kindCluster, "")
	for _, n := range c.AuthorizedNetworks {
		f := fact{value: n.CIDR, follows: []string{clusterOwner}}
		if strings.HasSuffix(n.CIDR, "/0") {
			f.notes = remarks(dangerous + "any address may reach the control plane's IP endpoint")
		}
		access.has("authorised network "+quoteName(n.Name), f)
	}
	access.setting("control plane's IP endpoint", choose(len(c.AuthorizedNetworks) > 0,
		"a public address, for the authorised networks", "no public address"))
}

// addExistingCluster adds the facts about a cluster that others own, as the blueprint
// describes it.
func (s *sheet) addExistingCluster(cluster subject) {
	c := s.plan.Cluster
	cluster.is("owner", "others",
		dangerous+"the cluster of the platform leaves the configuration, with all that runs there")
	const moved = "the node pools leave the former cluster, and Terraform makes others in this one"
	at := func(what, value string) {
		cluster.has(what, fact{value: value, follows: []string{clusterOwner}, notes: remarks(moved)})
	}
	at("name", c.Name)
	at("location", c.Location)
	s.addControllers(cluster, c.Existing.Kueue)
	cluster.setting("GKE version of the existing cluster", c.Existing.Version)
	cluster.setting("Dataplane V2", onOff(c.Existing.DataplaneV2))
	cluster.setting("Workload Identity Federation", onOff(c.Existing.WorkloadIdentity))
	cluster.setting("multi-networking of the existing cluster", onOff(c.MultiNetworking))
	cluster.setting("managed collection of metrics", onOff(c.Existing.ManagedPrometheus))
}

// addControllers adds who runs Kueue and the controllers of jobs. nil stands for the platform.
func (s *sheet) addControllers(cluster subject, kueue *ir.ExistingKueue) {
	owner := func(name string, others bool) {
		cluster.setting(name+" is run by", choose(others, "others", "the platform"), choose(others,
			"the platform no longer installs it", "the platform installs it, and configures it anew"))
	}
	for _, c := range s.plan.Controllers() {
		owner(c.Name, !c.Installed)
	}
	if s.plan.Absent() || !ir.Choose(s.plan.Scheduler, true, false) {
		return
	}
	owner("Kueue", kueue != nil)
	if kueue == nil {
		kueue = &ir.ExistingKueue{}
	}
	cluster.all("kinds of jobs that Kueue of others manages", kueue.Frameworks, runBy("Kueue"))
	cluster.all("labels of the namespaces that Kueue of others manages", labelTexts(kueue.NamespaceLabels),
		runBy("Kueue"))
	shares := func(what string, on bool) {
		cluster.has(what, fact{value: onOff(on), follows: []string{runBy("Kueue")}})
	}
	shares("fair sharing of Kueue of others", kueue.FairSharing)
	shares("admission fair sharing of Kueue of others", kueue.AdmissionFairSharing)
}

// runBy returns the fact that says who runs a controller.
func runBy(name string) string { return factPath(kindCluster, "", name+" is run by") }

func (s *sheet) systemPool() {
	if !s.plan.OwnsCluster() {
		return // GKE's own pods run on the nodes of others
	}
	p := s.plan.SystemPool
	pool := s.newSubject(TopicCluster, kindSystemPool, "")
	pool.setting("name", p.Name)
	pool.setting("machine", p.Machine, anew)
	pool.setting("boot disk", diskText(p.DiskType, p.DiskSizeGiB), anew)
	size := words.Count(p.NodesPerZone, "node")
	if p.Scales() {
		size = fmt.Sprintf("%d-%s", p.NodesPerZone, words.Count(p.MaxNodesPerZone, "node"))
	}
	pool.setting("size", size+" in each zone")
}

func diskText(kind string, gib int) string { return fmt.Sprintf("%s of %d GiB", kind, gib) }

// inUse is a note on secondary ranges, whose use Terraform does not know.
//
// Source: GKE documentation, "VPC-native clusters": the ranges are fixed when a
// cluster is created; more ranges can be added for pods.
const inUse = "Google Cloud refuses to change a range that a cluster uses: keep the range, or destroy the " +
	"platform first"

// What the lines about secondary ranges are about.
const (
	rangeOfPods     = "range of the pods"
	rangeOfServices = "range of the Services"
)

// RefusedRange returns the line about a secondary range that a cluster uses, by its name in
// the subnet, if only the roots are known.
func RefusedRange(name, from, to string) Line {
	return Line{
		Topic: TopicCluster, Subject: kindNetwork, Op: delta.Changed, From: from, To: to, Note: inUse,
		What: choose(name == "pods", rangeOfPods, rangeOfServices),
	}
}

// anew is a note on how a node pool gets other machines or disks, if Terraform need
// not replace the pool.
//
// Source: GKE documentation, "Vertically scale by changing the node machine
// attributes".
const anew = "the nodes are replaced"

// replacedWithTopology is a note on how pools of linked machines get another
// topology.
const replacedWithTopology = "with another topology Terraform replaces the pools"

// addNetwork adds the facts about address ranges and the networks between GPUs. The
// blueprint need not describe the network of a cluster that others own.
func (s *sheet) addNetwork() {
	n := s.plan.Network
	vpc := s.newSubject(TopicCluster, kindNetwork, "")
	if s.plan.OwnsCluster() || n.Existing != nil {
		s.addVPC(vpc)
	}
	for _, r := range n.GPURanges {
		vpc.is("range "+quoteName(r.Name)+" between GPUs", r.CIDR)
	}
	var shorts []string
	for _, g := range n.GPUs {
		shorts = append(shorts, g.Short)
		gpu := s.newSubject(TopicCluster, kindGPUNetwork, g.Short)
		gpu.exists(words.Count(len(g.Subnets), "subnet"))
		gpu.is("MTU", words.Count(g.MTU, "byte"))
		gpu.follows("subnets", subnetsText(g.Subnets), platformName, kindNetwork)
	}
	vpc.has("order of the GPU networks", fact{form: order, list: shorts})
}

// addVPC adds the facts about the VPC network of the cluster.
func (s *sheet) addVPC(vpc subject) {
	n := s.plan.Network
	replaced := "Terraform replaces the cluster"
	used := inUse
	if !s.plan.OwnsCluster() {
		replaced, used = "the build compares it with the cluster", "it must be the range of the cluster"
	}
	name := func(what, value string) {
		vpc.has(what, fact{
			form: ratio, value: cmp.Or(value, none), follows: []string{platformName}, notes: remarks(replaced),
		})
	}
	name("name of the VPC network", n.Name)
	name("name of the subnet", n.Subnet)
	vpc.setting("range of the nodes", n.Nodes)
	vpc.setting(rangeOfPods, n.Pods, used)
	vpc.setting(rangeOfServices, n.Services, used)
	vpc.setting("range of the control plane", cmp.Or(n.ControlPlane, "none: its address is in a subnet"), replaced)
	s.addExistingNetwork(vpc, n.Existing, replaced)
	vpc.setting("MTU", choose(n.MTU == 0, "Google Cloud's default", words.Count(n.MTU, "byte")),
		"Terraform leaves the MTU of an existing network unchanged")
}

// addExistingNetwork adds the facts about a network that others own. replaced is the note
// on a change.
func (s *sheet) addExistingNetwork(vpc subject, e *ir.ExistingNetwork, replaced string) {
	risk := choose(s.plan.OwnsCluster(), dangerous, "") + replaced
	if e == nil {
		vpc.setting("owner", "the platform", risk)
		return
	}
	vpc.setting("owner", "project "+quoteName(e.Project), risk)
	vpc.is("secondary range of the pods", quoteName(e.PodRange), replaced)
	vpc.is("secondary range of the Services", quoteName(e.ServiceRange), replaced)
	vpc.is("subnet of the control plane", cmp.Or(e.ControlPlaneSubnet, "that of the nodes"), replaced)
	vpc.is("way to the internet", onOff(e.NAT))
	needed := "the owners of the network provide the ranges"
	vpc.is("smallest range of the nodes", fmt.Sprintf("a /%d", e.NodePrefix), needed)
	vpc.is("smallest range of the pods", fmt.Sprintf("a /%d", e.PodPrefix), needed)
	vpc.is("smallest range of the Services", fmt.Sprintf("a /%d", e.ServicePrefix), needed)
	vpc.is("smallest range of a subnet of GPUs", fmt.Sprintf("a /%d", e.GPUPrefix), needed)
}

func subnetsText(all []ir.GPUSubnet) string {
	var words []string
	for _, n := range all {
		words = append(words,
			fmt.Sprintf("%s %s (part %d of %d of %s) as %s%s", n.Name, n.Range, n.Cut.Index, 1<<min(n.Cut.Bits, 62),
				n.Cut.Of, n.Network, choose(n.RDMA, " with RDMA", "")))
	}
	return strings.Join(words, ", ")
}

// addDelivery adds the facts about how the platform is built, and the permissions of
// the build.
func (s *sheet) addDelivery() {
	d := s.plan.Delivery
	built := s.newSubject(TopicCluster, kindDelivery, "")
	built.follows("region", d.Region, platformRegion)
	built.follows("bucket of the Terraform state", d.StateBucket, platformName, platformProject)
	built.follows("folder of the Terraform state", d.StatePrefix, platformName)
	built.is("machine of the builds", cmp.Or(d.Machine, "Cloud Build's default"))
	built.is(
		"longest time of a build",
		choose(d.Seconds == 0, "the sum of its steps' limits", words.Duration(d.Seconds)),
	)
	built.is("Terraform run by", choose(d.InfrastructureManager, "Infrastructure Manager", "the build"))
	built.is("Kubernetes objects applied by", cmp.Or(d.GitOps.Tool.Facts().Name, string(d.GitOps.Tool), "the build"))
	built.is("source of the Kubernetes objects", cmp.Or(gitSource(d.GitOps), "the build"))
	built.follows("repository of the images", d.Repository, platformName)
	built.all("APIs", d.APIs)
	built.is("registry of the installed images", cmp.Or(s.plan.Images.Mirror, "the public registries"))
	built.is("source of the installed manifests", cmp.Or(s.plan.Images.Manifests, "the releases on GitHub"))
	s.addAccount(TopicAccess, "the build", d.Account)
	build := s.newSubject(TopicAccess, kindAccount, "the build")
	build.all("permissions", d.Permissions)
	build.all("roles that it may grant", d.GrantableRoles, tagRoles)
	var narrow []string
	for _, r := range d.NarrowRoles {
		narrow = append(narrow, r.Role)
	}
	build.all("roles with a condition", slices.Compact(narrow)) // named buckets can need several conditions
	for _, r := range d.CustomRoles {
		role := s.newSubject(TopicAccess, kindCustomRole, r.ID)
		role.exists("")
		role.all("permissions", r.Permissions)
	}
}

// gitSource describes from where a GitOps tool applies the objects, "" without a tool.
func gitSource(g ir.GitOps) string {
	var words []string
	for _, part := range [][2]string{
		{"repository", g.Repository}, {"branch", g.Branch}, {"folder", g.Path}, {"Secret", g.Secret},
		{"cluster", g.Destination},
	} {
		if part[1] != "" {
			words = append(words, part[0]+" "+part[1])
		}
	}
	return strings.Join(words, ", ")
}

// tagRoles is the tag of the facts about the roles of the platform's accounts.
const tagRoles = "roles"

func (s *sheet) addAccount(topic Topic, of string, a ir.ServiceAccount, notes ...string) {
	account := s.newSubject(topic, kindAccount, of)
	account.has("ID", fact{value: a.ID, follows: []string{platformName}, notes: remarks(notes...)})
	account.follows("display name", a.Display, platformName)
	account.has("roles", fact{form: set, list: a.Roles, tag: tagRoles})
}

// addNodeAccount adds the facts about the nodes' service account.
func (s *sheet) addNodeAccount() {
	var notes []string
	if s.plan.AnyCapacity(func(c ir.Capacity) bool { return !c.OwnsPools() }) {
		notes = append(notes, dangerous+"nodes that GKE has created keep the former account, which loses its roles: "+
			"they cannot pull private images until GKE replaces them")
	}
	notes = append(notes, "create-platform.sh creates the account, and the former one stays until you delete it")
	if s.plan.Network.Existing != nil {
		notes = append(notes, "the owners of the network must apply its firewall rules again")
	}
	s.addAccount(TopicAccess, "the nodes", s.plan.NodeAccount, notes...)
}

// addMonitoring adds the facts about dashboards and alerts. What an alert says follows from
// the rest of the plan.
func (s *sheet) addMonitoring() {
	m := s.plan.Monitoring
	watch := s.newSubject(TopicCluster, kindMonitoring, "")
	watch.all("notification channels", m.NotificationChannels)
	watch.is("Grafana dashboards", onOff(m.Grafana))
	watch.is("namespace of the Grafana dashboards", m.GrafanaNamespace)
	for _, b := range m.Boards {
		board := s.newSubject(TopicCluster, kindBoard, b.Name)
		board.exists(b.Title)
		board.follows("title", b.Title, platformName)
		board.all("sections", b.Sections)
		board.has("order of the sections", fact{form: order, list: b.Sections})
	}
	watch.is("Vertex AI TensorBoard", cmp.Or(withPrefix("in ", m.TensorBoard), none))
	if s.plan.Absent() {
		return
	}
	for _, a := range monitoring.Alerts(s.plan) {
		alert := s.newSubject(TopicAlerts, kindAlert, a.Name)
		alert.exists("")
	}
}

// labelTexts returns each label as KEY=VALUE.
func labelTexts(labels []ir.KeyValue) []string {
	var out []string
	for _, l := range labels {
		out = append(out, l.Key+"="+l.Value)
	}
	return out
}

func taintTexts(taints []ir.Taint) []string {
	var out []string
	for _, t := range taints {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	return out
}

func excerptAll(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, quoteName(excerptLine(s)))
	}
	return out
}
