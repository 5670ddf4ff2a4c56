package summary

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// summaryPlans are those of the repository's blueprints, and one that has all which
// those leave out.
func summaryPlans(t testing.TB) map[string]*ir.Platform {
	t.Helper()
	dir, err := filepath.Abs("../../../blueprints")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*ir.Platform{}
	for name, paths := range map[string][]string{
		"batch":      {"batch-platform"},
		"batch, dws": {"batch-platform", "batch-platform-dws"},
		"a3":         {"a3-ultra-flex"},
		"kai":        {"kai-departments"},
		"tpu":        {"tpu-training"},
		"existing":   {"existing"},
		"full":       {"a3-ultra-flex"},

		"existing, full": {"existing"},
	} {
		res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		if res.Plan == nil {
			t.Fatalf("%s does not compile", name)
		}
		out[name] = res.Plan
	}
	// No reference blueprint has quota of a cohort.
	for i := range out["batch"].Cohorts {
		flavors := copyOf(out["batch"]).Teams[0].Queues[0].Flavors
		for j := range flavors[0].Quotas {
			flavors[0].Quotas[j].Lending = new(resource.MustParse("1"))
		}
		out["batch"].Cohorts[i].Flavors = flavors
	}
	// None is shared by usage.
	byUsage := func(q *ir.Queue) {
		if q.Shared {
			q.ByUsage, q.TeamShare = true, new(resource.MustParse("2"))
		}
	}
	dws := out["batch, dws"]
	byUsage(&dws.SharedQueues[0].Queue)
	dws.SharedQueues[0].TeamShare = nil
	for i := range dws.Teams {
		for j := range dws.Teams[i].Queues {
			byUsage(&dws.Teams[i].Queues[j])
		}
	}
	completePlan(reflect.ValueOf(out["full"]).Elem())
	out["full"].Cluster.Existing = nil
	completePlan(reflect.ValueOf(out["existing, full"]).Elem())
	return out
}

var quantity = reflect.TypeFor[resource.Quantity]()

// completePlan gives a plan one of everything that it has none of.
func completePlan(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		completePlan(v.Elem())
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			completePlan(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == quantity {
			return
		}
		for i := range v.NumField() {
			completePlan(v.Field(i))
		}
	}
}

// TestDangerous checks that a note calls an opened control plane dangerous, and a closed
// one not.
func TestDangerous(t *testing.T) {
	closed := summaryPlans(t)["batch"]
	opened := *closed
	open := &opened
	open.Cluster.AuthorizedNetworks = []ir.NamedRange{{Name: "all", CIDR: "0.0.0.0/0"}}
	of := func(before, after *ir.Platform) Line {
		lines := Of(before, after)
		i := slices.IndexFunc(lines, func(l Line) bool { return l.What == `authorised network "all"` })
		if i < 0 {
			t.Fatalf("no line about the network: %v", lines)
		}
		return lines[i]
	}
	const note = "dangerous: any address may reach the control plane's IP endpoint"
	if l := of(closed, open); !l.Dangerous() || l.Note != note {
		t.Errorf("got the note %q, want %q", l.Note, note)
	}
	if l := of(open, closed); l.Dangerous() || l.Note != "" {
		t.Errorf("got the note %q, want none", l.Note)
	}
}

// leaf is a value of a plan that holds no others.
type leaf struct {
	path  string // without indices
	value reflect.Value
}

func planLeaves(path string, v reflect.Value) []leaf {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return planLeaves(path, v.Elem())
	case reflect.Slice:
		var out []leaf
		for i := range v.Len() {
			out = append(out, planLeaves(path, v.Index(i))...)
		}
		return out
	case reflect.Struct:
		if v.Type() == quantity {
			return []leaf{{path, v}}
		}
		var out []leaf
		for i := range v.NumField() {
			out = append(out, planLeaves(strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), v.Field(i))...)
		}
		return out
	}
	return []leaf{{path, v}}
}

// mutateLeaf changes a leaf.
func mutateLeaf(t *testing.T, l leaf) {
	t.Helper()
	switch v := l.value; {
	case v.Type() == quantity:
		q := v.Addr().Interface().(*resource.Quantity)
		changed := q.DeepCopy()
		changed.Add(resource.MustParse("7"))
		v.Set(reflect.ValueOf(changed))
	case v.Type() == reflect.TypeFor[ir.Option]():
		v.SetString(string(anotherOption(ir.Option(v.String()))))
	case v.Type() == reflect.TypeFor[ir.Scheduler]():
		v.SetString(string(ir.Choose(ir.Scheduler(v.String()), ir.KAI, ir.Kueue)))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	default:
		t.Fatalf("%s is a %s: tell how to change it", l.path, v.Kind())
	}
}

// anotherOption is an option other than the given one.
func anotherOption(o ir.Option) ir.Option {
	if o == ir.Spot {
		return ir.OnDemand
	}
	return ir.Spot
}

// derivedFields are the fields that need no fact of the summary, by the reason. If only they
// differ, the line about a derived value tells it.
var derivedFields = map[string][]string{
	"it follows from the machine and its options, whose changes are told": {
		"Capacities.Flavor.Tolerations.Effect", "Capacities.Flavor.Tolerations.Key",
		"Capacities.Flavor.Tolerations.Operator", "Capacities.Flavor.Tolerations.Seconds",
		"Capacities.Flavor.Tolerations.Value", "Capacities.GKELabels.Key", "Capacities.GKELabels.Value",
		"Capacities.Machine.AcceleratorCount", "Capacities.Machine.AcceleratorNetworks",
		"Capacities.Machine.Arm", "Capacities.Machine.BundledSSDs", "Capacities.Machine.CountsNoSSDs",
		"Capacities.Machine.Family", "Capacities.Machine.LinkedNodes", "Capacities.Machine.MemoryGiB",
		"Capacities.Machine.PlacementTopology", "Capacities.Machine.SSDSizeGB", "Capacities.Machine.Slice.Chips",
		"Capacities.Machine.Slice.Hosts", "Capacities.Machine.SteadyGPUs", "Capacities.Machine.TPUType",
		"Capacities.Machine.VCPUs", "Capacities.Networks", "Capacities.NodeLabels.Key",
		"Capacities.NodeLabels.Value", "Capacities.NodeTaints.Effect", "Capacities.NodeTaints.Key",
		"Capacities.NodeTaints.Value", "Capacities.PerNode.Quantity", "Capacities.PerNode.Resource",
		"Capacities.PoolLabels.Key", "Capacities.PoolLabels.Value",
		"Capacities.PoolTaints.Effect", "Capacities.PoolTaints.Key", "Capacities.PoolTaints.Value",
		"Capacities.SystemPods.Quantity", "Capacities.SystemPods.Resource", "Network.GPUs.Profile",
		"SystemPool.CountsNoSSDs", "SystemPool.Family", "SystemPool.MemoryGiB", "SystemPool.VCPUs",
	},
	"it follows from the capacity, whose changes are told": {
		"AdmissionChecks.Class", "AdmissionChecks.Name", "AdmissionChecks.Resources", "AdmissionChecks.Retries",
		"AdmissionChecks.Retry.First", "AdmissionChecks.Retry.Longest",
		"AdmissionChecks.Topology", "SharedQueues.Queue.Flavors.AdmissionCheck",
		"SharedQueues.Queue.Flavors.ResourceFlavor", "SharedQueues.Queue.Flavors.Waiting",
		"Teams.Queues.Flavors.AdmissionCheck", "Teams.Queues.Flavors.ResourceFlavor", "Teams.Queues.Flavors.Waiting",
		"Cohorts.Flavors.AdmissionCheck", "Cohorts.Flavors.ResourceFlavor", "Cohorts.Flavors.Waiting",
	},
	"only the queue of a team has it": {"SharedQueues.Queue.TeamShare"},
	"it follows from the quota of the counted resource, whose changes are told": {
		"SharedQueues.Queue.Flavors.Quotas.Follows", "Teams.Queues.Flavors.Quotas.Follows",
		"Cohorts.Flavors.Quotas.Follows",
	},
	"the queue that the team shares has it, and the plans have it in no other queue": {
		"Teams.Queues.Preemption.ToBorrowUpTo", "Teams.Queues.WorkloadPriorities.Name",
		"Teams.Queues.WorkloadPriorities.Value", "Teams.Queues.Checks.Name", "Teams.Queues.Checks.Flavors",
		"Teams.Queues.Namespaces.Conditions.Label", "Teams.Queues.Namespaces.Conditions.Operator",
		"Teams.Queues.Namespaces.Conditions.Values",
	},
	"it follows from the names of the platform and its project, whose changes are told": {
		"Delivery.CustomRoles.Title", "Delivery.NarrowRoles.Buckets", "Delivery.NarrowRoles.Condition",
		"Delivery.NarrowRoles.Scope",
		"Delivery.NarrowRoles.Title", "Network.GPUs.Name", "Teams.Account.Display", "Workloads.Bucket",
	},
	"it follows from the whole plan": {
		"Demand.IAM.CustomRoles", "Demand.IAM.Groups", "Demand.IAM.Principals",
		"Demand.IAM.ServiceAccounts", "Demand.MemoryGiB", "Demand.Rows.Note", "Demand.Rows.Unit", "Demand.Rows.What",
		"Demand.VCPUs", "Demonstration.Pods.Capacity", "Demonstration.Teams", "Rehearsals.Arrivals.Teams",
	},
	"it follows from the cohort, the tier and its PriorityClasses, whose changes are told": {
		"PriorityClasses.BuiltIn", "PriorityClasses.Note", "SharedQueues.Queue.Classes", "Teams.Queues.Classes",
		"Teams.Queues.Cohort",
	},
	"it follows from the team, whose changes are told": {
		"SharedQueues.Teams.InExisting", "SharedQueues.Teams.Namespace", "Workloads.KubeAccount", "Workloads.Name",
		"Workloads.Namespace", "Workloads.Queue",
	},
	"it follows from the workload and the nodes of its capacities, whose changes are told": {
		"Workloads.Auxiliaries.GraceSeconds", "Workloads.Auxiliaries.NodeSelector.Key",
		"Workloads.Auxiliaries.NodeSelector.Value", "Workloads.Auxiliaries.Tolerations.Effect",
		"Workloads.Auxiliaries.Tolerations.Key", "Workloads.Auxiliaries.Tolerations.Value", "Workloads.ConfigMap",
		"Workloads.DaemonImage", "Workloads.GPUDirect", "Workloads.GraceSeconds", "Workloads.Interfaces.Name",
		"Workloads.Interfaces.Network", "Workloads.Networks", "Workloads.NodeSelector.Key",
		"Workloads.NodeSelector.Value", "Workloads.PlacementGroup", "Workloads.Queueing.Annotations.Key",
		"Workloads.Queueing.Annotations.Value", "Workloads.Queueing.Labels.Key", "Workloads.Queueing.Labels.Value",
		"Workloads.Queueing.PodLabels.Key", "Workloads.Queueing.PodLabels.Value", "Workloads.Queueing.SchedulerName",
		"Workloads.TensorBoard", "Workloads.Tolerations.Effect", "Workloads.Tolerations.Key",
		"Workloads.Tolerations.Value",
	},
}

// partlyDerived are the fields that facts tell, except in some places, by the reason.
var partlyDerived = map[string][]string{
	"without auto-provisioning the limits have no effect": {
		"AutoProvisioning.Limits.Max", "AutoProvisioning.Limits.Min", "AutoProvisioning.Limits.Type",
	},
	"the amounts of other resources follow from those of the counted one": {
		"Capacities.Guaranteed.Quantity", "Capacities.Guaranteed.Resource",
		"SharedQueues.Queue.Flavors.Quotas.Borrowing", "SharedQueues.Queue.Flavors.Quotas.BorrowsAll",
		"SharedQueues.Queue.Flavors.Quotas.Lending", "SharedQueues.Queue.Flavors.Quotas.Nominal",
		"Cohorts.Flavors.Quotas.Borrowing", "Cohorts.Flavors.Quotas.BorrowsAll", "Cohorts.Flavors.Quotas.Lending",
		"Cohorts.Flavors.Quotas.Nominal",
		"Teams.Queues.Flavors.Quotas.Borrowing",
		"Teams.Queues.Flavors.Quotas.BorrowsAll", "Teams.Queues.Flavors.Quotas.Lending",
		"Teams.Queues.Flavors.Quotas.Nominal",
	},
	"only a team that shares a queue by usage has it": {"Teams.Queues.TeamShare"},
	"the queue that the team shares has it, and its changes are told": {
		"Teams.Queues.ClusterQueue", "Teams.Queues.MaxGraceSeconds", "Teams.Queues.Namespaces.All",
		"Teams.Queues.Namespaces.None",
		"Teams.Queues.Namespaces.Labels.Key",
		"Teams.Queues.Namespaces.Labels.Value", "Teams.Queues.NextCapacity.AfterEvicting",
		"Teams.Queues.NextCapacity.BeforeBorrowing", "Teams.Queues.NextCapacity.PrefersEvicting",
		"Teams.Queues.Preemption.InQueue", "Teams.Queues.Preemption.LimitsToBorrow", "Teams.Queues.Preemption.ToBorrow",
		"Teams.Queues.Preemption.ToReclaim", "Teams.Queues.Stop", "Teams.Queues.Strategy",
		"Teams.Queues.Share",
	},
}

// TestExistingCluster compares clusters that the platform creates and clusters of others.
func TestExistingCluster(t *testing.T) {
	plans := summaryPlans(t)
	clusterLines := func(before, after *ir.Platform) []string {
		var out []string
		for _, l := range Of(before, after) {
			if l.Topic == TopicCluster || l.Topic == TopicSecurity {
				out = append(out, l.String())
			}
		}
		return out
	}
	existing := plans["existing"]
	own := copyOf(existing)
	batch := plans["batch"]
	own.Cluster, own.SystemPool, own.Network = batch.Cluster, batch.SystemPool, batch.Network
	own.AutoProvisioning.Profile = batch.AutoProvisioning.Profile
	for _, test := range []struct {
		name          string
		before, after *ir.Platform
		want          []string
	}{
		{
			"from a new cluster", own, existing,
			[]string{
				"cluster: owner: the platform -> others (dangerous: the cluster of the platform leaves the " +
					"configuration, with all that runs there)",
				"cluster: JobSet is run by: the platform -> others (the platform no longer installs it)",
				"cluster: Kueue is run by: the platform -> others (the platform no longer installs it)",
			},
		},
		{
			"to a new cluster", existing, own,
			[]string{
				"cluster: owner: others -> the platform (Terraform creates a cluster, and the node pools leave the " +
					"cluster of others)",
				"cluster: JobSet is run by: others -> the platform (the platform installs it, and configures it anew)",
				"cluster: Kueue is run by: others -> the platform (the platform installs it, and configures it anew)",
			},
		},
		{
			"without others' controllers", existing, changed(existing, func(p *ir.Platform) {
				p.Cluster.Existing.Kueue, p.Cluster.Existing.JobSet = nil, nil
			}),
			[]string{
				"cluster: JobSet is run by: others -> the platform (the platform installs it, and configures it anew)",
				"cluster: Kueue is run by: others -> the platform (the platform installs it, and configures it anew)",
			},
		},
		{
			"every field", existing, changed(existing, func(p *ir.Platform) {
				c, e := &p.Cluster, p.Cluster.Existing
				c.Name, c.Location, c.MultiNetworking = "shared", "us-central1-c", true
				e.Version, e.DataplaneV2, e.WorkloadIdentity, e.ManagedPrometheus = "1.35", false, false, false
				e.Kueue.Version, e.JobSet.Version = "0.18.0", "0.11.0"
				e.Kueue.Frameworks = append(e.Kueue.Frameworks[:2:2], "pod")
				e.Kueue.NamespaceLabels = nil
			}),
			[]string{
				"cluster: name: prod -> shared (the node pools leave the former cluster, and Terraform makes others " +
					"in this one)",
				"cluster: location: us-central1 -> us-central1-c (the node pools leave the former cluster, and " +
					"Terraform makes others in this one)",
				"cluster: kinds of jobs that Kueue of others manages removed from configuration: ray.io/rayjob",
				"cluster: kinds of jobs that Kueue of others manages added: pod",
				"cluster: labels of the namespaces that Kueue of others manages removed from configuration: " +
					"kueue-managed=true",
				"cluster: GKE version of the existing cluster: 1.34 -> 1.35",
				"cluster: Dataplane V2: on -> off",
				"cluster: Workload Identity Federation: on -> off",
				"cluster: multi-networking of the existing cluster: off -> on",
				"cluster: managed collection of metrics: on -> off",
				"JobSet: version: 0.12.0 -> 0.11.0",
				"Kueue: version: 0.19.2 -> 0.18.0",
			},
		},
	} {
		if diff := gocmp.Diff(test.want, clusterLines(test.before, test.after)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// changed returns a copy of a plan with a change.
func changed(p *ir.Platform, change func(*ir.Platform)) *ir.Platform {
	out := copyOf(p)
	change(out)
	return out
}

// unowned are fields that a plan in a cluster of others does not have: the zero values in
// ir.Cluster, and versions of controllers that others run.
var unowned = []string{
	"AutoProvisioning.Profile",
	"Cluster.AuthorizedNetworks", "Cluster.DeletionProtection", "Cluster.Description",
	"Cluster.Filestore", "Cluster.GCSFuse",
	"Cluster.Maintenance", "Cluster.Metrics", "Cluster.MinVersion", "Cluster.ReleaseChannel",
	"Security.BinaryAuthorization", "Security.BulletinTopic", "Security.FlowLogs", "Security.IntraNodeVisibility",
	"Security.Posture", "SystemPool", "Versions.JobSet", "Versions.Kueue", "Versions.SHA256.JobSet",
	"Versions.SHA256.Kueue", "Versions.SHA256.JobSetChart", "Versions.SHA256.KueueChart",
}

// ofExistingNodes are the fields of nodes that others own; the machine follows from the hardware.
var ofExistingNodes = []string{"Name", "Hardware", "Zones", "Static", "MaxNodes", "NodeLabels", "Flavor.Name",
	"Flavor.Taints", "Flavor.Tolerations", "Flavor.Topology"}

// isUnowned reports whether a plan does not have a field, because its cluster belongs to
// others.
func isUnowned(p *ir.Platform, path string) bool {
	if !p.OwnsCluster() && p.Network.Existing == nil && strings.HasPrefix(path, "Network.") {
		return true // the blueprint does not describe the network
	}
	if field, existing := strings.CutPrefix(path, "ExistingCapacities."); existing {
		return !slices.ContainsFunc(ofExistingNodes, func(known string) bool {
			return field == known || strings.HasPrefix(field, known+".")
		})
	}
	return !p.OwnsCluster() && slices.ContainsFunc(unowned, func(field string) bool {
		return path == field || strings.HasPrefix(path, field+".")
	})
}

// TestSummaryIsComplete changes every field of every plan, one at a time, in some
// of the places that it is in, and demands that a fact tells it, except for the derived
// fields, which another line must tell.
func TestSummaryIsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("changes every value of a plan")
	}
	silent, told := map[string]string{}, map[string]bool{}
	for name, plan := range summaryPlans(t) {
		before := copyOf(plan)
		times := map[string]int{}
		for _, l := range planLeaves("", reflect.ValueOf(plan).Elem()) {
			if times[l.path]++; times[l.path] > 4 || isUnowned(plan, l.path) {
				continue
			}
			old := reflect.New(l.value.Type()).Elem()
			old.Set(l.value)
			mutateLeaf(t, l)
			switch lines := Of(before, plan); {
			case isUntold(l.path) && len(lines) == 0:
			case len(lines) == 0:
				t.Errorf("%s: nothing is said of a change of %s", name, l.path)
			case lines[0].What == derivedValue(l.path) && len(lines) == 1:
				silent[l.path] = name
			default:
				told[l.path] = true
				for _, line := range lines {
					checkLine(t, line)
				}
			}
			l.value.Set(old)
		}
	}
	checkSilent := func(listed map[string][]string, partly bool) {
		for _, path := range slices.Concat(slices.Collect(maps.Values(listed))...) {
			if silent[path] == "" || partly && !told[path] {
				t.Errorf("%s is in the wrong list: silent in %q, told elsewhere: %v", path, silent[path], told[path])
			}
			delete(silent, path)
		}
	}
	checkSilent(derivedFields, false)
	checkSilent(partlyDerived, true)
	for path, plan := range silent {
		t.Errorf("%s: no fact of this package tells a change of %s", plan, path)
	}
}

// copyOf is a plan that shares nothing with another.
func copyOf(p *ir.Platform) *ir.Platform {
	return deepCopy(reflect.ValueOf(p)).Interface().(*ir.Platform)
}

func deepCopy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch {
	case v.Type() == quantity:
		q := v.Interface().(resource.Quantity)
		out.Set(reflect.ValueOf(q.DeepCopy()))
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(deepCopy(v.Elem()))
	case v.Kind() == reflect.Slice && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(deepCopy(v.Index(i)))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(deepCopy(v.Field(i)))
		}
	default:
		out.Set(v)
	}
	return out
}

// checkLine holds a line against what all printers rely on.
func checkLine(t *testing.T, l Line) {
	t.Helper()
	switch {
	case l.Subject == "", !slices.Contains(topics, l.Topic):
		t.Errorf("incomplete: %+v", l)
	case l.Op == delta.Added && l.From != "", l.Op == delta.Removed && l.To != "",
		l.Op == delta.Changed && l.From == l.To && l.From != "":
		t.Errorf("has the wrong sides: %+v", l)
	case strings.Contains(l.String(), "\n"), strings.ContainsRune(l.String(), 0):
		t.Errorf("is not one line: %q", l)
	}
}

// TestSummaryMirrors compares every plan with every other, both ways.
func TestSummaryMirrors(t *testing.T) {
	type side struct{ topic, subject, what, from, to string }
	sides := func(lines []Line, mirrored bool) []side {
		var out []side
		for _, l := range lines {
			s := side{string(l.Topic), l.Subject, l.What, l.From, l.To}
			if mirrored {
				s.from, s.to = s.to, s.from
			}
			out = append(out, s)
		}
		slices.SortFunc(out, func(a, b side) int {
			return cmp.Or(strings.Compare(a.topic, b.topic), strings.Compare(a.subject, b.subject),
				strings.Compare(a.what, b.what), strings.Compare(a.from, b.from), strings.Compare(a.to, b.to))
		})
		return out
	}
	all := summaryPlans(t)
	for a, before := range all {
		for b, after := range all {
			there, back := Of(before, after), Of(after, before)
			if a == b && len(there) > 0 {
				t.Errorf("%s against itself: %v", a, there)
			}
			if diff := gocmp.Diff(sides(there, false), sides(back, true), gocmp.AllowUnexported(side{})); diff != "" {
				t.Errorf("%s against %s and back (-there +back):\n%s", a, b, diff)
			}
			for _, l := range there {
				checkLine(t, l)
			}
			if again := Of(copyOf(before), copyOf(after)); !gocmp.Equal(there, again) {
				t.Errorf("%s against %s differs from one time to the next", a, b)
			}
		}
	}
}

// TestSummaryLeavesPlans makes sure that plans are not changed by comparing them.
func TestSummaryLeavesPlans(t *testing.T) {
	all := summaryPlans(t)
	before := copyOf(all["batch"])
	for name, plan := range all {
		is := copyOf(plan)
		Of(all["batch"], plan)
		if !reflect.DeepEqual(is, plan) || !reflect.DeepEqual(before, all["batch"]) {
			t.Errorf("%s, or what it was compared with, has changed", name)
		}
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct {
		line Line
		want string
	}{
		{Line{Op: delta.Added, Subject: `team "a"`}, `team "a" added`},
		{Line{Op: delta.Added, Subject: `team "a"`, To: "cohort b"}, `team "a" added: cohort b`},
		{
			Line{Op: delta.Removed, Subject: `team "a"`, From: "cohort b", Note: "n"},
			`team "a" removed from configuration: cohort b (n)`,
		},
		{
			Line{Op: delta.Removed, Subject: `team "a"`, What: "group", From: "g"},
			`team "a": group removed from configuration: g`,
		},
		{Line{Op: delta.Changed, Subject: "s", What: "quota", From: "1 GPU", To: "2 GPUs"}, "s: quota: 1 -> 2 GPUs"},
		{Line{Op: delta.Changed, Subject: "s", What: "quota", From: "2 GPUs", To: "1 GPU"}, "s: quota: 2 -> 1 GPU"},
		{
			Line{Op: delta.Changed, Subject: "s", What: "quota", From: "2 GPUs", To: "all that is idle"},
			"s: quota: 2 GPUs -> all that is idle",
		},
		{
			Line{Op: delta.Changed, Subject: "s", What: "size", From: "1 node, 8 GPUs", To: "2 nodes, 16 GPUs"},
			"s: size: 1 node, 8 GPUs -> 2 nodes, 16 GPUs",
		},
		{Line{Op: delta.Changed, Subject: "s", From: "1", To: "2"}, "s: 1 -> 2"},
		{Line{Op: delta.Changed, Subject: "s", What: `file "f"`}, `s: file "f" changed`},
	} {
		if got := test.line.String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
