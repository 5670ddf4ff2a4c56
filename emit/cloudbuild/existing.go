package cloudbuild

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// The steps of builds in a cluster that others own.

// checkCluster returns the step that compares the cluster with the blueprint's description
// of it, and with the objects of the folder.
func checkCluster(p *ir.Platform) task {
	e := p.Cluster.Existing
	var pools, limits []string
	for _, c := range p.Capacities {
		if c.TakeOver == nil { // others have made a pool that is taken over
			pools = append(pools, c.Pools()...)
		}
	}
	for _, l := range p.AutoProvisioning.Limits {
		limits = append(limits, l.Type+":"+strconv.Itoa(l.Max))
	}
	var kueue string
	var frameworks []string
	if e.Kueue != nil {
		kueue, frameworks = e.Kueue.Version, ir.KueueFrameworks()
	}
	var controllers []variable
	for _, c := range p.Controllers() {
		name, version := strings.ToUpper(c.Field), c.Version
		if c.Installed || c.Unused {
			version = ""
		}
		namespace := c.Namespace
		if c.Unused { // whatever others run there is right
			namespace = ""
		}
		controllers = append(controllers, variable{name, namespace}, variable{name + "_VERSION", version})
	}
	variables := []variable{
		{"PROJECT", p.Project}, {"NAME", p.Name}, {"CLUSTER", p.Cluster.Name},
		{"LOCATION", p.Cluster.Location}, {"ENDPOINT", endpointFlag(p)},
		{"EMAIL", p.Delivery.Account.Email(p.Project)}, {"VERSION", e.Version},
		{"DATAPLANE_V2", strconv.FormatBool(e.DataplaneV2)},
		{"MULTI_NETWORKING", strconv.FormatBool(p.Cluster.MultiNetworking)},
		{"SECURITY_GROUP", p.Cluster.SecurityGroup},
		{"PROMETHEUS", strconv.FormatBool(e.ManagedPrometheus)},
		{"NETWORK", p.Network.Name}, {"SUBNET", p.Network.Subnet},
		{"LIMITS", strings.Join(limits, " ")}, {"POOLS", strings.Join(pools, " ")},
		{"OBJECTS", strconv.FormatBool(!p.Delivery.GitOps.On())},
		{"KUEUE", ir.KueueNamespace}, {"KUEUE_VERSION", kueue},
		{"FRAMEWORKS", strings.Join(frameworks, " ")},
	}
	variables = append(append(variables, controllers...), variable{"EXISTING", ir.LabelExisting})
	return scriptStep(p, 600, "cluster", readScript("cluster.sh"), variables...)
}

// checkManaged returns the step that checks whether Kueue, which others run, manages the
// jobs of the teams. It tries one queue of each team.
func checkManaged(p *ir.Platform) task {
	var queues []string
	for _, t := range p.OwnTeams() {
		if len(t.Queues) == 0 {
			continue
		}
		q := t.Queues[0]
		class := slices.IndexFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Tier == q.Tier })
		if class >= 0 {
			queues = append(queues, t.Namespace+":"+q.LocalQueue+":"+p.PriorityClasses[class].Name)
		}
	}
	return scriptStep(p, 1200, "managed", readScript("managed.sh"),
		variable{"KUEUE", ir.KueueNamespace}, variable{"QUEUES", strings.Join(queues, " ")})
}

// leaveCluster returns the steps that remove the platform from the cluster.
func leaveCluster(p *ir.Platform, s scheduler) []task {
	variables := []variable{{"TEAMS", teamSelector(p)}, {"EXISTING", ir.LabelExisting}}
	for _, c := range p.Controllers() {
		variables = append(variables, variable{strings.ToUpper(c.Field), c.Namespace})
	}
	script := readScript("leave.sh", "STOP", s.stop)
	tasks := []task{clusterStep(p, 7200, "leave", script, append(variables, s.variables...)...)}
	if p.Delivery.GitOps.On() { // whoever has installed the controllers with the tool uninstalls them
		return tasks
	}
	uninstall := func(name string, release ir.Release, namespace, users string) {
		tasks = append(tasks, installRelease(p, "uninstall-"+name, "uninstall.sh", release, append([]variable{
			{"NAMESPACE", namespace}, {"MANAGER", name + "-release"}, {"USERS", users},
		}, clusterVariables(p)...)...))
	}
	if p.InstallsKueue() {
		uninstall("kueue", p.Versions.KueueRelease(), ir.KueueNamespace,
			"clusterqueues.kueue.x-k8s.io localqueues.kueue.x-k8s.io workloads.kueue.x-k8s.io")
	}
	for _, c := range p.InstalledControllers() {
		of := kinds.Of(c.Kind)
		uninstall(c.Field, c.Release(), c.Namespace, of.Resource+"."+of.Group)
	}
	return tasks
}
