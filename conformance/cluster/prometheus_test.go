package cluster_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// query is the query of a panel or an alert of the folder. The conformance module,
// which knows the formats of dashboards and alerts, lists the queries.
type query struct {
	File, Name string
	Alert      bool
	Expr       string
	Selectors  []string
}

// monitor checks a folder's dashboards and alerts against the metrics that a
// Prometheus scrapes from Kueue and JobSet.
type monitor struct {
	*folder
	*plane.Prometheus
	queries []query
	// at is the time of the queries. A busy machine is late with single scrapes, and then the
	// series have gaps: so the queries of a comparison are about one time.
	at time.Time
}

// absence is a metric, or the series of it that a matcher selects, that a scenario
// does not produce.
type absence struct {
	metric  string // its beginning
	matcher string // "" for all
	reason  string
}

func (a absence) covers(selector string) bool {
	return strings.HasPrefix(selector, a.metric) && strings.Contains(selector, a.matcher)
}

// figure is a value that a panel shows, in Grafana and in Cloud Monitoring.
type figure struct {
	board, panel string
	n            int      // of the panel's queries, from 0
	expr         string   // instead of a panel's query
	by           []string // labels whose values are the keys of want; others are summed over
	want         map[string]float64
}

// monitored starts a Prometheus that scrapes the targets of the folder and loads
// its alerts. It also checks that an account without a right from the folder cannot
// read the metrics.
func (f *folder) monitored() *monitor {
	f.Helper()
	member := strings.TrimSpace(f.kubectl("create", "token", "default", "--namespace="+f.teams()[0]))
	for _, namespace := range []string{"kueue-system", "jobset-system"} {
		for token, want := range map[string]string{"": "401 Unauthorized", member: "403 Forbidden"} {
			got, err := f.plane.MetricsStatus(f.ctx, namespace, token)
			if err != nil {
				f.Fatal(err)
			}
			if got != want {
				f.Errorf("who may not read the metrics of %s is told %q, want %q", namespace, got, want)
			}
		}
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		f.Fatal(err)
	}
	// The dashboards and alerts name the cluster that Terraform creates.
	context := &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(f.variables())}}
	var cluster block
	for _, resource := range f.terraform("cluster.tf").Blocks {
		if resource.Type == "resource" && resource.Labels[0] == "google_container_cluster" {
			cluster = block{f, resource.Body, context}
		}
	}
	prometheus, err := f.plane.StartPrometheus(f.ctx, cluster.string("name"), cluster.string("location"),
		filepath.Join(dir, "dashboards/alert-rules.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	m := &monitor{folder: f, Prometheus: prometheus}
	list := exec.CommandContext(f.ctx, "go", "-C", "..", "run", "./cmd/queries", dir)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err == nil {
		err = json.Unmarshal(out, &m.queries)
	}
	if err != nil {
		f.Fatalf("the queries of %s: %v", f.dir, err)
	}
	return m
}

// ask evaluates an expression at the time of the comparison.
func (m *monitor) ask(expr string) []plane.Sample {
	m.Helper()
	samples, err := m.Query(m.ctx, expr, m.at)
	if err != nil {
		m.Fatalf("%s: %v", expr, err)
	}
	return samples
}

// answered waits until the folder's queries select all series, every panel's query
// has a result, and no alert fires. absent and firing list the exceptions, each
// with its reason. An exception that does not occur is also a mistake.
func (m *monitor) answered(absent []absence, firing map[string]string) {
	m.Helper()
	m.eventually(func() string {
		m.at = time.Now()
		var wrong []string
		report := func(format string, args ...any) {
			if text := fmt.Sprintf(format, args...); !slices.Contains(wrong, text) {
				wrong = append(wrong, text)
			}
		}
		covered := map[absence]bool{}
		known := map[string]bool{}
		for _, q := range m.queries {
			where := q.File + ": " + q.Name
			partial := false // some series are absent
			for _, selector := range q.Selectors {
				none := len(m.ask(selector)) == 0
				partial = partial || none
				i := slices.IndexFunc(absent, func(a absence) bool { return a.covers(selector) })
				switch {
				case none && i < 0:
					report("%s: there are no series %s", where, selector)
				case !none && i >= 0:
					report("%s: there are series %s, listed as absent: %s", where, selector, absent[i].reason)
				}
				if i >= 0 {
					covered[absent[i]] = true
				}
			}
			result := m.ask(q.Expr)
			reason, due := firing[q.Name]
			switch {
			case q.Alert && due != (len(result) > 0):
				report("%s: the alert is due for %v, want %t: %s", where, result, due, reason)
			case !q.Alert && len(result) == 0 && !partial:
				report("%s: the series are there, and the query has no result: %s", where, q.Expr)
			}
			known[q.Name] = true
		}
		for _, a := range absent {
			if !covered[a] {
				report("no query asks for %s %s, listed as absent: %s", a.metric, a.matcher, a.reason)
			}
		}
		for name := range firing {
			if !known[name] {
				report("there is no alert %s", name)
			}
		}
		slices.Sort(wrong)
		return strings.Join(wrong, "\n")
	})
	m.Logf("%d queries of dashboards and alerts", len(m.queries))
}

// shows waits until the panels show the figures.
func (m *monitor) shows(figures []figure) {
	m.Helper()
	m.eventually(func() string {
		m.at = time.Now()
		var wrong strings.Builder
		for _, fig := range figures {
			for where, expr := range m.sources(fig) {
				got := map[string]float64{}
				for _, sample := range m.ask(expr) {
					var key []string
					for _, label := range fig.by {
						key = append(key, sample.Labels[label])
					}
					got[strings.Join(key, " ")] += sample.Value
				}
				// increase() extrapolates, by less than this.
				if diff := cmp.Diff(fig.want, got, cmpopts.EquateApprox(0, 0.2)); diff != "" {
					fmt.Fprintf(&wrong, "%s: %s (-want +got):\n%s", where, expr, diff)
				}
			}
		}
		return wrong.String()
	})
}

// sources returns the queries that show a figure, by their places.
func (m *monitor) sources(fig figure) map[string]string {
	m.Helper()
	if fig.expr != "" {
		return map[string]string{"Prometheus": fig.expr}
	}
	found := map[string]string{}
	for _, kind := range []string{"grafana", "cloud-monitoring"} {
		file := "dashboards/" + kind + "/" + fig.board + ".json"
		n := 0
		for _, q := range m.queries {
			if q.File != file || q.Name != fig.panel {
				continue
			}
			if n == fig.n {
				found[file+": "+q.Name] = q.Expr
			}
			n++
		}
	}
	if len(found) != 2 {
		m.Fatalf("dashboard %s has no query %d of %q in both forms", fig.board, fig.n, fig.panel)
	}
	return found
}

// batchPlatformAbsent lists the metrics for which the batch platform's scenario has
// no series.
var batchPlatformAbsent = []absence{
	{"kubernetes_io:", "", "GKE measures nodes and containers"},
	{"compute_googleapis_com:", "", "Compute Engine measures reservations"},
	{"DCGM_FI_", "", "there is no GPU that could be measured"},
	{"kube_jobset_", "", "GKE runs kube-state-metrics"},
	{"kueue_evicted_workloads_total", `reason="Deactivated"`, "no job runs out of Kueue's time"},
	{"kueue_evicted_workloads_total", `reason=~"PodsReadyTimeout|`, "KWOK's pods start at once and never fail"},
	{"kueue_evicted_workloads_total", `underlying_cause="WaitForRecovery"`, "KWOK's pods are never lost"},
	{"kueue_unadmitted_workloads", `underlying_cause=~"ExceedsMaxQuota|`, "every job fits its queue"},
}

// batchPlatformFiring lists the alerts that fire in the scenario.
var batchPlatformFiring = map[string]string{
	"JobSetFailures": "a JobSet of team-a has failed",
}

// perTeam returns the figures for each team of the batch platform and its cohort.
func perTeam(one map[string]float64) map[string]float64 {
	all := map[string]float64{}
	for team, cohort := range map[string]string{
		"team-a": "team-a-b", "team-b": "team-a-b", "team-c": "team-c-d", "team-d": "team-c-d",
	} {
		names := strings.NewReplacer("TEAM", team, "COHORT", cohort)
		for key, value := range one {
			all[names.Replace(key)] = value
		}
	}
	return all
}

// batchPlatformLow are the figures after the low-priority jobs: each team requests
// 16 GPUs, holds its guarantee of 12 Spot GPUs, and borrows 4 GPUs from the
// high-priority queues of its cohort.
var batchPlatformLow = []figure{
	{board: "kueue", panel: "Pending workloads", want: map[string]float64{"": 0}},
	{board: "kueue", panel: "Borrowed quota by ClusterQueue", by: []string{"cluster_queue"},
		want: perTeam(map[string]float64{"cq-TEAM-hp": 0, "cq-TEAM-lp": 4, "cq-TEAM-compact": 0})},
	{board: "kueue", panel: "Unused nominal quota by flavor", by: []string{"flavor"},
		want: map[string]float64{"l4-reserved": 16, "l4-ondemand": 16, "l4-spot": 0, "a100-compact": 8}},
	{
		board: "gpus", panel: "Unused quota of flavors with reservations", by: []string{"flavor"},
		want: map[string]float64{"l4-reserved": 0},
	},
	{board: "team", panel: "Used quota by LocalQueue", by: []string{"name", "flavor"}, want: map[string]float64{
		"lq-team-a-lp l4-spot": 12, "lq-team-a-lp l4-reserved": 4,
		"lq-team-a-hp l4-reserved": 0, "lq-team-a-hp l4-ondemand": 0, "lq-team-a-compact a100-compact": 0,
	}},
}

// batchPlatformFull are the figures at the end: all guaranteed GPUs are in use, and
// no queue borrows.
var batchPlatformFull = []figure{
	{
		expr: `up{namespace=~"(kueue|jobset)-system"}`, by: []string{"job"},
		want: map[string]float64{"kueue": 1, "jobset": 1},
	},
	{board: "kueue", panel: "Nominal quota", want: map[string]float64{"": 88}},
	{board: "kueue", panel: "Reserved quota", want: map[string]float64{"": 88}},
	{board: "kueue", panel: "Quota in use", want: map[string]float64{"": 1}},
	{board: "kueue", panel: "Requested quota", want: map[string]float64{"": 72}},
	{board: "kueue", panel: "Pending workloads", want: map[string]float64{"": 24}},
	{board: "kueue", panel: "Inactive ClusterQueues", want: map[string]float64{"": 0}},
	{board: "kueue", panel: "Quota by ClusterQueue and flavor", n: 0,
		by: []string{"cohort", "cluster_queue", "flavor", "resource"},
		want: perTeam(map[string]float64{
			"COHORT cq-TEAM-hp l4-reserved nvidia.com/gpu":       4,
			"COHORT cq-TEAM-hp l4-ondemand nvidia.com/gpu":       4,
			"COHORT cq-TEAM-lp l4-reserved nvidia.com/gpu":       0,
			"COHORT cq-TEAM-lp l4-spot nvidia.com/gpu":           12,
			"COHORT cq-TEAM-compact a100-compact nvidia.com/gpu": 2,
		})},
	{
		board: "kueue", panel: "Quota by ClusterQueue and flavor", n: 1, by: []string{"cluster_queue", "flavor"},
		want: perTeam(fullGPUs),
	},
	{
		board: "kueue", panel: "Quota by ClusterQueue and flavor", n: 2, by: []string{"cluster_queue", "flavor"},
		want: perTeam(fullGPUs),
	},
	{board: "kueue", panel: "Borrowed quota by ClusterQueue", by: []string{"cluster_queue"},
		want: perTeam(map[string]float64{"cq-TEAM-hp": 0, "cq-TEAM-lp": 0, "cq-TEAM-compact": 0})},
	{board: "kueue", panel: "Pending workloads by ClusterQueue", by: []string{"cluster_queue"},
		want: perTeam(map[string]float64{"cq-TEAM-hp": 2, "cq-TEAM-lp": 1, "cq-TEAM-compact": 3})},
	{
		board: "kueue", panel: "Why workloads wait", by: []string{"reason"},
		want: map[string]float64{"NoReservation": 24},
	},
	{board: "kueue", panel: "Cohort quota in use, by flavor", by: []string{"cohort", "flavor"},
		want: perTeam(map[string]float64{
			"COHORT l4-reserved": 1, "COHORT l4-ondemand": 1, "COHORT l4-spot": 1, "COHORT a100-compact": 1,
		})},
	{board: "kueue", panel: "Active workloads", want: map[string]float64{"": 24}},
	{board: "kueue", panel: "Active workloads by ClusterQueue", by: []string{"cluster_queue"},
		want: perTeam(map[string]float64{"cq-TEAM-hp": 2, "cq-TEAM-lp": 3, "cq-TEAM-compact": 1})},
	{expr: `kueue_cluster_queue_status{status="active"}`, by: []string{"cluster_queue"},
		want: perTeam(map[string]float64{"cq-TEAM-hp": 1, "cq-TEAM-lp": 1, "cq-TEAM-compact": 1})},
	{
		board: "kueue", panel: "Preemptions per hour", by: []string{"reason"},
		want: map[string]float64{"InCohortReclamation": 4},
	},
	{board: "kueue", panel: "Evictions per hour", by: []string{"reason"}, want: map[string]float64{"Preempted": 4}},
	{
		board: "team", panel: "Evictions of my workloads per hour", by: []string{"reason"},
		want: map[string]float64{"Preempted": 1},
	},
	{
		expr: `kueue_evicted_workloads_total`, by: []string{"cluster_queue", "reason"},
		want: perTeam(map[string]float64{"cq-TEAM-lp Preempted": 1}),
	},
	{board: "team", panel: "Nominal, reserved and borrowed", n: 1, by: []string{"cluster_queue", "flavor"},
		want: map[string]float64{
			"cq-team-a-hp l4-reserved": 4, "cq-team-a-hp l4-ondemand": 4,
			"cq-team-a-lp l4-reserved": 0, "cq-team-a-lp l4-spot": 12, "cq-team-a-compact a100-compact": 2,
		}},
	{board: "team", panel: "Running workloads", by: []string{"name"},
		want: map[string]float64{"lq-team-a-hp": 2, "lq-team-a-lp": 3, "lq-team-a-compact": 1}},
	{board: "team", panel: "Pending workloads", by: []string{"name"},
		want: map[string]float64{"lq-team-a-hp": 2, "lq-team-a-lp": 1, "lq-team-a-compact": 3}},
	{
		expr: `ALERTS`, by: []string{"alertname", "exported_namespace", "alertstate"},
		want: map[string]float64{"JobSetFailures team-a firing": 1},
	},
}

// fullGPUs are the GPUs that the queues of one team then hold.
var fullGPUs = map[string]float64{
	"cq-TEAM-hp l4-reserved":       4,
	"cq-TEAM-hp l4-ondemand":       4,
	"cq-TEAM-lp l4-reserved":       0,
	"cq-TEAM-lp l4-spot":           12,
	"cq-TEAM-compact a100-compact": 2,
}

// failed submits a JobSet of a team that may run for one second, and deletes it
// when it has failed.
func (f *folder) failed(team, name string) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "workloads", team, name+".yaml"))
	if err != nil {
		f.Fatal(err)
	}
	short := strings.NewReplacer("maxRestarts: 15", "maxRestarts: 0", "backoffLimit: 0",
		"backoffLimit: 0\n        activeDeadlineSeconds: 1").Replace(string(text))
	if _, err := f.plane.Kubectl(f.ctx, []byte(short),
		append([]string{"apply", "--server-side", "-f", "-"}, f.member(team)...)...); err != nil {
		f.Fatal(err)
	}
	f.eventually(func() string {
		why := name + " of " + team + " has not failed"
		for _, o := range f.get("jobsets,workloads", "--namespace="+team) {
			if o.is("Failed") {
				return ""
			}
			why += fmt.Sprintf("\n%s: %v", o, o.Status.Conditions)
		}
		return why
	})
	f.kubectl(append([]string{"delete", "jobsets", name, "--namespace=" + team}, f.member(team)...)...)
	f.emptied()
}
