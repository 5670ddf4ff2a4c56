package monitoring

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

func alertNames(p *ir.Platform) []string {
	var names []string
	for _, a := range Alerts(p) {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

func TestAlertsFollowThePlatform(t *testing.T) {
	always := alertNames(&ir.Platform{
		Name: "plain", Scheduler: ir.Kueue, Capacities: []ir.Capacity{{Option: ir.OnDemand}},
	})
	want := []string{
		"HostErrors", "JobSetFailures", "KueueAdmissionWaitHigh", "KueueClusterQueueInactive", "KueueControllerDown",
		"KueueEvictionsByFailure", "KueueIdleQuotaWhileWaiting", "KueueLocalQueueInactive", "KueueNoLeader",
		"KueuePreemptionChurn", "KueueQueueStuck", "KueueReconcileErrors", "KueueWorkloadDeactivated",
		"KueueWorkloadNeverFits",
	}
	if diff := gocmp.Diff(want, always); diff != "" {
		t.Errorf("alerts of every platform (-want +got):\n%s", diff)
	}

	a100, l4 := ir.Machine{Family: "a2", Resource: ir.GPU, SteadyGPUs: true}, ir.Machine{Family: "g2", Resource: ir.GPU}
	tpu := ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Hosts: 4}}
	for name, test := range map[string]struct {
		plan  ir.Platform
		added []string
	}{
		"GPUs": {
			ir.Platform{Capacities: []ir.Capacity{{Option: ir.OnDemand, Machine: a100}}},
			[]string{"AcceleratorAllocatedIdle", "GPUSilentThrottle"},
		},
		"L4 GPUs": {
			ir.Platform{Capacities: []ir.Capacity{{Option: ir.OnDemand, Machine: l4}}},
			[]string{"AcceleratorAllocatedIdle"},
		},
		"single TPU hosts": {
			ir.Platform{
				Capacities: []ir.Capacity{
					{
						Option: ir.OnDemand, Machine: ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Hosts: 1}},
						Static: true, MaxNodes: 2,
					},
				},
			},
			[]string{"AcceleratorAllocatedIdle"},
		},
		"TPU slices that scale": {
			ir.Platform{Capacities: []ir.Capacity{{Option: ir.OnDemand, Machine: tpu, Slices: 2}}},
			[]string{"AcceleratorAllocatedIdle"},
		},
		"TPU slices that stand": {
			ir.Platform{Capacities: []ir.Capacity{{Option: ir.OnDemand, Machine: tpu, Slices: 2, Static: true}}},
			[]string{"AcceleratorAllocatedIdle", "TPUNodePoolUnavailable"},
		},
		"TPU slices to come": {
			ir.Platform{Capacities: []ir.Capacity{{
				Option: ir.OnDemand, Machine: tpu, Slices: 2, Static: true, Waiting: true,
			}}},
			[]string{"AcceleratorAllocatedIdle"},
		},
		"Spot nodes": {ir.Platform{Capacities: []ir.Capacity{{Option: ir.Spot}}}, []string{"SpotPreemptionBurst"}},
		"a check": {
			ir.Platform{AdmissionChecks: []ir.AdmissionCheck{{Name: "dws"}}},
			[]string{"KueueAdmissionCheckStuck", "KueueProvisioningFails"},
		},
		"a reservation": {
			ir.Platform{Capacities: []ir.Capacity{{Option: ir.Reservation, Reservation: &ir.ReservationUse{}}}},
			[]string{"ReservationIdle"},
		},
		"any reservation": {
			ir.Platform{
				Capacities: []ir.Capacity{{Option: ir.AnyReservationOnly}},
			},
			[]string{"ReservationIdle"},
		},
		"another project's reservation": {
			ir.Platform{
				Capacities: []ir.Capacity{{Option: ir.Reservation, Reservation: &ir.ReservationUse{Owner: "q"}}},
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.plan.Scheduler = ir.Kueue
			var added []string
			for _, alert := range alertNames(&test.plan) {
				if !slices.Contains(always, alert) {
					added = append(added, alert)
				}
			}
			if diff := gocmp.Diff(test.added, added); diff != "" {
				t.Errorf("added alerts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAlertsFollowTheScheduler: nothing watches a scheduler that is not there.
func TestAlertsFollowTheScheduler(t *testing.T) {
	kai := alertNames(&ir.Platform{Name: "plain", Scheduler: ir.KAI})
	want := []string{
		"HostErrors", "JobSetFailures", "KAIEvictionChurn", "KAINothingStarts", "KAIQueueControllerDown",
		"KAISchedulerDown", "KAISchedulingSlow",
	}
	if diff := gocmp.Diff(want, kai); diff != "" {
		t.Errorf("alerts with KAI Scheduler (-want +got):\n%s", diff)
	}
}

// TestAlertsInAClusterOfOthers checks that the alerts watch the cluster that others own,
// and that no alert watches the controllers of others.
func TestAlertsInAClusterOfOthers(t *testing.T) {
	p := fullPlatform()
	p.Name = "research"
	p.Cluster.Name = "prod"
	p.Cluster.Existing = &ir.ExistingCluster{ManagedPrometheus: true}
	alerts := Alerts(p)
	for _, a := range alerts {
		inCluster := strings.Contains(a.Expr, `"prod|"`) || strings.Contains(a.Expr, `"prod"`)
		if !inCluster && a.Name != "ReservationIdle" || strings.Contains(a.Expr, "research") {
			t.Errorf("%s does not watch cluster prod: %s", a.Name, a.Expr)
		}
	}
	own := len(alerts)
	p.Cluster.Existing.Kueue = &ir.ExistingKueue{}
	const ofController = 3
	alerts = Alerts(p)
	absent := func(a Alert) bool { return strings.Contains(a.Expr, "absent(") }
	if len(alerts) != own-ofController || slices.ContainsFunc(alerts, absent) {
		t.Errorf("%d alerts with Kueue of others, %d with the platform's own", len(alerts), own)
	}
}

// fullPlatform has every kind of alert.
func fullPlatform() *ir.Platform {
	return &ir.Platform{
		Name: "gke-batch", Cluster: ir.Cluster{Name: "gke-batch"}, Scheduler: ir.Kueue,
		Capacities: []ir.Capacity{
			{Machine: ir.Machine{Family: "a3", Resource: ir.GPU, SteadyGPUs: true}, Option: ir.Spot},
			{
				Name: "v5p", Machine: ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Hosts: 4}}, Static: true, Slices: 2,
				Option: ir.Reservation, Reservation: &ir.ReservationUse{},
			},
			{
				Name: "v6e", Machine: ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Hosts: 2}}, Static: true, Slices: 1,
				Option: ir.OnDemand,
			},
		},
		AdmissionChecks: []ir.AdmissionCheck{{Name: "dws"}},
	}
}

func TestAlertsAreComplete(t *testing.T) {
	t.Run("kueue", func(t *testing.T) { completeAlerts(t, Alerts(fullPlatform())) })
	t.Run("kai", func(t *testing.T) {
		p := fullPlatform()
		p.Scheduler = ir.KAI
		completeAlerts(t, Alerts(p))
	})
}

func completeAlerts(t *testing.T, list []Alert) {
	t.Helper()
	label := regexp.MustCompile(`\{\{(\w+)\}\}`)
	if !slices.IsSortedFunc(list, func(a, b Alert) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
	}) {
		t.Error("alerts are not sorted by group, then name")
	}
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.Name] {
			t.Errorf("two alerts are called %s", a.Name)
		}
		seen[a.Name] = true
		if a.Summary == "" || a.Action == "" || a.Group == "" {
			t.Errorf("%s lacks a summary, an action or a group", a.Name)
		}
		if a.Severity != "warning" && a.Severity != "critical" {
			t.Errorf("%s has severity %q", a.Name, a.Severity)
		}
		if strings.Contains(a.Expr, "@") {
			t.Errorf("%s has a placeholder nobody filled: %s", a.Name, a.Expr)
		}
		// Reservations belong to the project, not to a cluster.
		if !strings.Contains(a.Expr, "gke-batch") && a.Name != "ReservationIdle" {
			t.Errorf("%s watches other clusters, too: %s", a.Name, a.Expr)
		}
		system := strings.Contains(a.Expr, "kubernetes_io:") || strings.Contains(a.Expr, "googleapis_com:")
		if system != a.CloudOnly {
			t.Errorf("%s: CloudOnly is %v", a.Name, a.CloudOnly)
		}
		if strings.Contains(a.Expr, " by (") {
			for _, name := range label.FindAllStringSubmatch(a.Action, -1) {
				if !regexp.MustCompile(`by \([^)]*\b` + name[1] + `\b`).MatchString(a.Expr) {
					t.Errorf("%s speaks of label %s, which its expression drops", a.Name, name[1])
				}
			}
		}
	}
}

// TestSlicesAreWatchedByTheirPools: each slice is a node pool of its own.
func TestSlicesAreWatchedByTheirPools(t *testing.T) {
	p := fullPlatform()
	matcher := regexp.MustCompile(`node_pool_name=~"([^"]*)"`)
	for _, a := range Alerts(p) {
		if a.Name != "TPUNodePoolUnavailable" {
			continue
		}
		pools := regexp.MustCompile("^(" + matcher.FindStringSubmatch(a.Expr)[1] + ")$")
		for _, c := range p.Capacities {
			for _, pool := range c.Pools() {
				if want := c.Sliced(); pools.MatchString(pool) != want {
					t.Errorf("node pool %q is watched: %v", pool, !want)
				}
			}
		}
	}
}

func TestAlertsCountTheResourcesOfThePlatform(t *testing.T) {
	for want, p := range map[string]*ir.Platform{
		`resource=~"google.com/tpu|nvidia.com/gpu"`: fullPlatform(),
		`resource=~"cpu"`: {Name: "plain", Scheduler: ir.Kueue},
	} {
		for _, a := range Alerts(p) {
			if a.Name == "KueueIdleQuotaWhileWaiting" && !strings.Contains(a.Expr, want) {
				t.Errorf("want %s in %s", want, a.Expr)
			}
		}
	}
}

// TestAlertsOfOthers checks that there is no alert on missing metrics of Kueue if the
// platform does not scrape Kueue: it would never end.
func TestAlertsOfOthers(t *testing.T) {
	for name, test := range map[string]struct {
		existing *ir.ExistingCluster
		want     bool
	}{
		"a new cluster":              {nil, true},
		"a cluster of others":        {&ir.ExistingCluster{ManagedPrometheus: true}, true},
		"without managed collection": {&ir.ExistingCluster{}, false},
		"Kueue of others": {
			&ir.ExistingCluster{ManagedPrometheus: true, Kueue: &ir.ExistingKueue{}}, false,
		},
		"JobSet of others": {
			&ir.ExistingCluster{ManagedPrometheus: true, JobSet: &ir.ExistingJobSet{}}, true,
		},
		"Kueue of others that is unknown": {&ir.ExistingCluster{Kueue: &ir.ExistingKueue{}}, false},
	} {
		p := &ir.Platform{
			Name: "plain", Scheduler: ir.Kueue, Capacities: []ir.Capacity{{Option: ir.OnDemand}},
			Cluster: ir.Cluster{Existing: test.existing},
		}
		for _, alert := range []string{"KueueControllerDown", "KueueNoLeader", "KueueReconcileErrors"} {
			if got := slices.Contains(alertNames(p), alert); got != test.want {
				t.Errorf("%s: %s is an alert: %v, want %v", name, alert, got, test.want)
			}
		}
		if !slices.Contains(alertNames(p), "KueueQueueStuck") {
			t.Errorf("%s: no alert on queues", name)
		}
	}
}
