package cloudbuild

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// The steps of builds in a cluster that others own.

//go:embed scripts/cluster.sh
var clusterScript string

//go:embed scripts/managed.sh
var managedScript string

//go:embed scripts/kueue-settings.bash
var kueueSettings string

//go:embed scripts/leave.sh
var leaveScript string

//go:embed scripts/uninstall.sh
var uninstallScript string

// settingsMark is the line of a script that is replaced by the function that reads Kueue's
// configuration.
const settingsMark = "# SETTINGS\n"

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
	var kueue, jobset string
	var frameworks []string
	if e.Kueue != nil {
		kueue, frameworks = e.Kueue.Version, ir.KueueFrameworks()
	}
	if e.JobSet != nil {
		jobset = e.JobSet.Version
	}
	return scriptStep(p, 600, "cluster", strings.Replace(clusterScript, settingsMark, kueueSettings, 1),
		variable{"PROJECT", p.Project}, variable{"NAME", p.Name}, variable{"CLUSTER", p.Cluster.Name},
		variable{"LOCATION", p.Cluster.Location}, variable{"ENDPOINT", endpointFlag(p)},
		variable{"EMAIL", p.Delivery.Account.Email(p.Project)}, variable{"VERSION", e.Version},
		variable{"DATAPLANE_V2", strconv.FormatBool(e.DataplaneV2)},
		variable{"MULTI_NETWORKING", strconv.FormatBool(p.Cluster.MultiNetworking)},
		variable{"SECURITY_GROUP", p.Cluster.SecurityGroup},
		variable{"PROMETHEUS", strconv.FormatBool(e.ManagedPrometheus)},
		variable{"NETWORK", p.Network.Name}, variable{"SUBNET", p.Network.Subnet},
		variable{"LIMITS", strings.Join(limits, " ")}, variable{"POOLS", strings.Join(pools, " ")},
		variable{"OBJECTS", strconv.FormatBool(!p.Delivery.GitOps.On())},
		variable{"KUEUE", ir.KueueNamespace}, variable{"KUEUE_VERSION", kueue},
		variable{"FRAMEWORKS", strings.Join(frameworks, " ")},
		variable{"JOBSET", ir.JobSetNamespace}, variable{"JOBSET_VERSION", jobset},
		variable{"EXISTING", ir.ExistingNamespace})
}

// checkManaged returns the step that checks whether Kueue, which others run, manages the
// jobs of the teams. It tries one queue of each team.
func checkManaged(p *ir.Platform) task {
	var queues []string
	for _, t := range p.Teams {
		if len(t.Queues) == 0 {
			continue
		}
		q := t.Queues[0]
		class := slices.IndexFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Tier == q.Tier })
		if class >= 0 {
			queues = append(queues, t.Namespace+":"+q.LocalQueue+":"+p.PriorityClasses[class].Name)
		}
	}
	return scriptStep(p, 1200, "managed", strings.Replace(managedScript, settingsMark, kueueSettings, 1),
		variable{"KUEUE", ir.KueueNamespace}, variable{"QUEUES", strings.Join(queues, " ")})
}

// leaveCluster returns the steps that remove the platform from the cluster.
func leaveCluster(p *ir.Platform, s scheduler) []task {
	script := strings.Replace(leaveScript, stopMark, s.stop, 1)
	tasks := []task{clusterStep(p, 7200, "leave", script,
		append([]variable{
			{"TEAMS", teamSelector(p)}, {"EXISTING", ir.ExistingNamespace}, {"JOBSET", ir.JobSetNamespace},
		}, s.variables...)...)}
	if p.Delivery.GitOps.On() { // whoever has installed the controllers with the tool uninstalls them
		return tasks
	}
	for _, c := range []struct {
		installed              bool
		id                     string
		release                ir.Release
		namespace, mark, users string
	}{
		{
			p.InstallsKueue(), "uninstall-kueue", p.Versions.KueueRelease(), ir.KueueNamespace, "kueue-release",
			"clusterqueues.kueue.x-k8s.io localqueues.kueue.x-k8s.io workloads.kueue.x-k8s.io",
		},
		{
			p.InstallsJobSet(), "uninstall-jobset", p.Versions.JobSetRelease(), ir.JobSetNamespace, "jobset-release",
			"jobsets.jobset.x-k8s.io",
		},
	} {
		if !c.installed {
			continue
		}
		body := strings.Replace(uninstallScript, clusterMark, runningCluster, 1)
		t := installRelease(p, c.id, body, c.release, append([]variable{
			{"NAMESPACE", c.namespace}, {"MANAGER", c.mark}, {"USERS", c.users},
		}, clusterVariables(p)...)...)
		tasks = append(tasks, t)
	}
	return tasks
}
