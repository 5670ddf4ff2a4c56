package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// testPlan is a small platform that has something of everything.
func testPlan() *ir.Platform {
	return &ir.Platform{
		Name:       "gke-batch",
		Cluster:    ir.Cluster{Name: "gke-batch"},
		Scheduler:  ir.Kueue,
		Monitoring: ir.Monitoring{Boards: ir.DefaultBoards("gke-batch", ir.Kueue)},
		Capacities: []ir.Capacity{
			{
				Name: "l4-reserved", Option: ir.Reservation, Machine: ir.Machine{Family: "g2", Resource: ir.GPU},
				Reservation: &ir.ReservationUse{Name: "r"},
			},
			{Name: "h100-spot", Option: ir.Spot, Machine: ir.Machine{Family: "a3", Resource: ir.GPU, SteadyGPUs: true}},
			{
				Name: "v5e-flex", Option: ir.QueuedFlexStart, Machine: ir.Machine{Resource: ir.TPU},
			},
		},
		AdmissionChecks: []ir.AdmissionCheck{{Name: "dws"}},
		Cohorts:         []ir.Cohort{{Name: "team-a-b"}},
		Teams: []ir.Team{
			{Name: "team-a", Namespace: "team-a", Queues: []ir.Queue{{Flavors: []ir.FlavorQuota{{
				Quotas: []ir.ResourceQuota{{Resource: ir.GPU}, {Resource: ir.Memory}},
			}}}}},
			{Name: "team-b", Namespace: "b-space"},
		},
	}
}

// barePlan is a platform of cpu machines alone: no checks, cohorts or teams.
func barePlan() *ir.Platform {
	return &ir.Platform{
		Name: "plain", Cluster: ir.Cluster{Name: "plain"}, Scheduler: ir.Kueue,
		Capacities: []ir.Capacity{{Name: "c3", Option: ir.OnDemand}},
		Monitoring: ir.Monitoring{Boards: ir.DefaultBoards("plain", ir.Kueue)},
	}
}

// kaiPlan is testPlan with KAI Scheduler.
func kaiPlan() *ir.Platform {
	p := testPlan()
	p.Scheduler = ir.KAI
	p.Monitoring.Boards = ir.DefaultBoards(p.Name, ir.KAI)
	p.Teams[0].Queues, p.Teams[1].Queues = nil, []ir.Queue{{LocalQueue: "team-b"}}
	return p
}

// TestKAIQueues checks that a sum over queues counts either the queue of a cohort or the
// queues of its teams, not both.
func TestKAIQueues(t *testing.T) {
	p := kaiPlan()
	p.Cohorts = []ir.Cohort{{Name: "a"}, {Name: "b"}}
	for _, s := range adminSections(p) {
		for _, panel := range s.Panels {
			for _, q := range panel.Queries {
				switch {
				case !strings.Contains(q.expr, "kai_queue_"):
				case s.Title == "Cohorts" && !strings.Contains(q.expr, `,queue_name=~"a|b"}`):
					t.Errorf("%s: not of cohorts alone: %s", panel.Title, q.expr)
				case s.Title != "Cohorts" && !strings.Contains(q.expr, `,queue_name!~"a|b"}`):
					t.Errorf("%s: not of teams alone: %s", panel.Title, q.expr)
				}
			}
		}
	}
	p.Cohorts = nil
	if slices.ContainsFunc(adminSections(p), func(s Section) bool { return s.Title == "Cohorts" }) {
		t.Error("cohorts are shown where there are none")
	}
}

// TestSections checks that a platform has the sections that the plan promises: those of its
// scheduler, in their order, and only those that have something to show.
func TestSections(t *testing.T) {
	for name, p := range map[string]*ir.Platform{
		"everything": testPlan(), "no accelerators": barePlan(), "KAI Scheduler": kaiPlan(),
	} {
		var got, want []string
		for _, s := range adminSections(p) {
			got = append(got, s.Name)
		}
		for _, section := range p.Scheduler.Facts().Sections {
			if p.HasSection(section) {
				want = append(want, section)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: sections (-want +got):\n%s", name, diff)
		}
	}
}

// TestOwnBoards checks the boards that a blueprint lists: their order of sections, and that
// their first section is open.
func TestOwnBoards(t *testing.T) {
	p := testPlan()
	p.Monitoring.Boards = []ir.Board{
		{Name: "chips", Title: "Chips", Sections: []string{"accelerators", "capacity"}},
		{Name: "jobs", Title: "Jobs", Sections: []string{"queues", "overview"}},
	}
	var got []string
	for _, b := range Boards(p) {
		for _, s := range b.Sections {
			line := b.File + ", " + b.Title + ": " + s.Title
			if s.Folded {
				line += ", folded"
			}
			got = append(got, line)
		}
	}
	want := []string{
		"chips, Chips: Accelerators", "chips, Chips: Capacity, folded",
		"jobs, Jobs: Queues", "jobs, Jobs: Overview",
		"team, gke-batch: team: My quota", "team, gke-batch: team: My queue", "team, gke-batch: team: My jobs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// panelTitles returns the panels of a board.
func panelTitles(sections []Section) []string {
	var out []string
	for _, s := range sections {
		for _, p := range s.Panels {
			out = append(out, s.Title+"/"+p.Title)
		}
	}
	return out
}

func TestPanelsFollowThePlatform(t *testing.T) {
	all := append(panelTitles(adminSections(testPlan())), panelTitles(teamSections(testPlan()))...)
	few := append(panelTitles(adminSections(barePlan())), panelTitles(teamSections(barePlan()))...)
	var missing []string
	for _, title := range all {
		if !slices.Contains(few, title) {
			missing = append(missing, title)
		}
	}
	want := []string{
		"Quota/Borrowed quota by ClusterQueue",
		"Quota/Cohort quota in use, by flavor",
		"Quota/Memory quota",
		"Queues/Waiting time for admission checks (p95)",
		"Capacity/Reservations: used and reserved",
		"Capacity/Idle share of reservations",
		"Capacity/Unused quota of flavors with reservations",
		"Capacity/Accelerators by model",
		"Capacity/Accelerators by provisioning model",
		"Capacity/Accelerators requested and busy",
		"Accelerators/Duty cycle by model",
		"Accelerators/Duty cycle of all chips",
		"Accelerators/Memory in use by model",
		"Accelerators/Memory in use on all chips",
		"Accelerators/Memory of all chips",
		"Accelerators/The 20 chips with the lowest duty cycle of 24 hours",
		"Accelerators/TensorCore utilisation",
		"Accelerators/Tensor pipe and SM activity",
		"Accelerators/Busy GPUs below 1 GHz",
		"Costs by team/Accelerators requested by namespace",
		"Costs by team/Accelerator hours by namespace",
		"My quota/Memory quota of my queues",
		"My jobs/Accelerator duty cycle by pod",
		"My jobs/Accelerator memory in use by pod",
		"My jobs/Accelerator hours within 30 days",
		"My jobs/JobSet goodput",
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("panels of the full platform only (-want +got):\n%s", diff)
	}
	for _, s := range adminSections(barePlan()) {
		if s.Title == "Capacity" || s.Title == "Accelerators" {
			t.Errorf("section %s has no panel to show", s.Title)
		}
	}
}

// TestTeamQueues applies the replacements of the query to the names of LocalQueues.
func TestTeamQueues(t *testing.T) {
	p := &ir.Platform{SharedQueues: []ir.SharedQueue{{Queue: ir.Queue{Tier: "dws"}}, {Queue: ir.Queue{Tier: "us-dws"}}}}
	for _, tier := range []string{"big-us-dws", "us-dws", "dws", "lp"} {
		p.PriorityClasses = append(p.PriorityClasses, ir.PriorityClass{Tier: tier})
	}
	replacement := regexp.MustCompile(`"cluster_queue", "([^"]*)", "name", "([^"]*)"`)
	for local, want := range map[string]string{
		"lq-a-lp": "cq-a-lp", "lq-a-dws": "cq-dws", "lq-a-b-dws": "cq-dws", "lq-a-us-dws": "cq-us-dws",
		"lq-a-big-us-dws": "cq-a-big-us-dws", "lq-a-lpdws": "cq-a-lpdws",
	} {
		got := ""
		for _, m := range replacement.FindAllStringSubmatch(teamQueues(p, "cluster_queue"), -1) {
			if re := regexp.MustCompile("^(?:" + m[2] + ")$"); re.MatchString(local) {
				got = re.ReplaceAllString(local, m[1])
			}
		}
		if got != want {
			t.Errorf("%s leads into %q, want %q", local, got, want)
		}
	}
}

// TestTeamQueuesWithNames checks that the query finds queues that the blueprint names, and
// that equal names of two namespaces lead to different queues.
func TestTeamQueuesWithNames(t *testing.T) {
	p := &ir.Platform{Teams: []ir.Team{
		{Name: "a", Namespace: "a", Queues: []ir.Queue{{Tier: "lp", ClusterQueue: "low.a", LocalQueue: "default"}}},
		{Name: "b", Namespace: "b", Queues: []ir.Queue{{Tier: "lp", ClusterQueue: "cq-b-lp", LocalQueue: "default"}}},
		{Name: "c", Namespace: "c", Queues: []ir.Queue{{Tier: "lp", ClusterQueue: "cq-c-lp", LocalQueue: "lq-c-lp"}}},
	}}
	got := teamQueues(p, "cluster_queue")
	for _, want := range []string{
		`label_join(`, `"local_queue", "/", "exported_namespace", "name")`,
		`"cluster_queue", "low.a", "local_queue", "a/default")`,
		`"cluster_queue", "cq-b-lp", "local_queue", "b/default")`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the query has no %s: %s", want, got)
		}
	}
	if strings.Contains(got, "cq-c-lp") {
		t.Errorf("the query replaces a name that follows from team and tier: %s", got)
	}
}

// TestTeamQueuesWithManyNames checks that a team's board does not grow with the queues that
// the blueprint names, that the reader then selects the ClusterQueues, and that each panel
// which depends on the selection explains it.
func TestTeamQueuesWithManyNames(t *testing.T) {
	board := func(teams int) Board {
		p := barePlan()
		for i := range teams {
			name := fmt.Sprintf("n%05d", i)
			p.Teams = append(p.Teams, ir.Team{Name: name, Namespace: name, Queues: []ir.Queue{
				{Tier: "lp", ClusterQueue: "low-" + name, LocalQueue: "q"},
				{Tier: "hp", ClusterQueue: "high-" + name, LocalQueue: "p"},
			}})
		}
		return Boards(p)[1]
	}
	named, many := board(mostNamed/2), board(mostNamed/2+1)
	if diff := cmp.Diff(many, board(1000), cmp.AllowUnexported(Panel{}, Query{}, Variable{})); diff != "" {
		t.Errorf("the board of 1,000 teams differs (-%d teams +1,000 teams):\n%s", mostNamed/2+1, diff)
	}
	last := many.Variables[len(many.Variables)-1]
	want := []string{"low-n00000", "high-n00000"}
	if last.Label != "cluster_queue" || !slices.Equal(last.Chosen, want) {
		t.Errorf("the last variable is %s with %q, want cluster_queue with %q", last.Label, last.Chosen, want)
	}
	if n := len(named.Variables); n != len(many.Variables)-1 {
		t.Errorf("the board of %d names has %d variables, want one less than %d", mostNamed, n, len(many.Variables))
	}
	selected := 0
	for _, s := range many.Sections {
		for _, p := range s.Panels {
			chosen := strings.Contains(p.Queries[0].expr, "@chosen")
			if chosen {
				selected++
			}
			if chosen != strings.HasPrefix(p.Note, "Select the ClusterQueues of the team above the dashboard.") {
				t.Errorf("%s: the note is %q", p.Title, p.Note)
			}
		}
	}
	if selected == 0 {
		t.Error("no panel shows the selected ClusterQueues")
	}
}

func TestThrottlingOfSteadyGPUsOnly(t *testing.T) {
	const title = "Accelerators/Busy GPUs below 1 GHz"
	p := testPlan()
	if !slices.Contains(panelTitles(adminSections(p)), title) {
		t.Error("no panel of throttled H100")
	}
	p.Capacities = p.Capacities[:1]
	if slices.Contains(panelTitles(adminSections(p)), title) {
		t.Error("an L4 below 1 GHz is not throttled")
	}
}

func TestReservationOfAnotherProject(t *testing.T) {
	p := testPlan()
	p.Capacities[0].Reservation.Owner = "other-project"
	got := panelTitles(adminSections(p))
	if slices.Contains(got, "Capacity/Idle share of reservations") {
		t.Error("the metrics of another project's reservation are not there to be shown")
	}
	if !slices.Contains(got, "Capacity/Unused quota of flavors with reservations") {
		t.Error("Kueue's own view of the reserved flavor is missing")
	}
}

// TestAnyReservation checks that the boards show the reservations of the project, and
// that a flavor counts as reserved only if no nodes come on demand.
func TestAnyReservation(t *testing.T) {
	for _, onDemand := range []bool{false, true} {
		p := barePlan()
		p.Capacities[0] = ir.Capacity{
			Name: "any", Option: ir.AnyReservationOnly,
		}
		if onDemand {
			p.Capacities[0].Option = ir.AnyReservation
		}
		got := panelTitles(adminSections(p))
		if !slices.Contains(got, "Capacity/Idle share of reservations") {
			t.Errorf("on demand %v: the project's reservations are not watched", onDemand)
		}
		if slices.Contains(got, "Capacity/Unused quota of flavors with reservations") == onDemand {
			t.Errorf("on demand %v: the flavor counts as reserved: %v", onDemand, onDemand)
		}
	}
}

// TestVariables holds the variables that the reader of a team's board sees, and the
// values that are selected at first.
func TestVariables(t *testing.T) {
	for name, test := range map[string]struct {
		plan *ir.Platform
		want []string
	}{
		"Kueue": {testPlan(), []string{
			"cluster: gke-batch", "cluster_name: gke-batch", "resource: google.com/tpu nvidia.com/gpu",
			"exported_namespace: team-a",
		}},
		"KAI Scheduler": {kaiPlan(), []string{
			"cluster: gke-batch", "cluster_name: gke-batch", "queue_name: team-b", "exported_namespace: team-a",
		}},
		"no teams": {barePlan(), []string{
			"cluster: plain", "cluster_name: plain", "resource: cpu", "exported_namespace: ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range Boards(test.plan)[1].Variables {
				got = append(got, v.Label+": "+strings.Join(v.Chosen, " "))
				if !v.Many && len(v.Chosen) != 1 {
					t.Errorf("%s has %d values", v.Name, len(v.Chosen))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlaceholders holds every placeholder, and that a notation without a variable leaves
// the variable's placeholder alone.
func TestPlaceholders(t *testing.T) {
	const expr = `a{@kueue,@resource,@team}[@window] + ` +
		`b{@scraped,@queue,@job,@steady,namespace="@namespace"} + c{@system} + d{@chosen}`
	whole := Notation{
		Matcher: func(v Variable) string { return v.Label + "=$" + v.Name },
		Value:   func(v Variable) string { return "$" + v.Name },
		Window:  "5m",
	}
	for name, test := range map[string]struct {
		notation Notation
		want     string
	}{
		"whole": {
			whole,
			`a{replica_role!="follower",cluster=$cluster,resource=$resource,exported_namespace=$team}[5m] + ` +
				`b{cluster=$cluster,queue_name=$queue,job=~"kueue|kueue-controller-manager-metrics-service",` +
				`modelName=~"NVIDIA (A100|H100|H200).*",namespace="$team"} + c{cluster_name=$cluster_name} + ` +
				`d{cluster_queue=$cluster_queue}`,
		},
		"of an alert": {
			Notation{Matcher: func(v Variable) string { return fixedMatcher(testPlan(), v) }},
			`a{replica_role!="follower",cluster=~"gke-batch|",resource=~"google.com/tpu|nvidia.com/gpu",@team}` +
				`[@window] + b{cluster=~"gke-batch|",@queue,job=~"kueue|kueue-controller-manager-metrics-service",` +
				`modelName=~"NVIDIA (A100|H100|H200).*",namespace="@namespace"} + c{cluster_name="gke-batch"} + ` +
				`d{@chosen}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.notation.fill(expr)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBands holds the queries that stand for a heatmap.
func TestBands(t *testing.T) {
	var got []string
	for _, q := range (Panel{Queries: []Query{{expr: "m"}}}).Bands().Queries {
		got = append(got, q.Name+": "+q.expr)
	}
	want := []string{
		`below 20%: count((m) < 20) or vector(0)`,
		`20% to 40%: count(((m) >= 20) < 40) or vector(0)`,
		`40% to 60%: count(((m) >= 40) < 60) or vector(0)`,
		`60% to 80%: count(((m) >= 60) < 80) or vector(0)`,
		`80% to 100%: count((m) >= 80) or vector(0)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

// TestFewSeries checks that no chart of the platform has a series for each queue or
// node: a platform can have hundreds. Tables and heatmaps can show that many.
func TestFewSeries(t *testing.T) {
	many := []string{
		"cohort", "cluster_queue", "preempting_cluster_queue", "queue_name", "node_name", "node_pool", "pod_name",
	}
	checked := 0
	for _, p := range []*ir.Platform{testPlan(), kaiPlan()} {
		for _, s := range adminSections(p) {
			for _, panel := range s.Panels {
				if panel.Shape == Table || panel.Shape == Heatmap || s.Title == "Cohorts" {
					continue
				}
				for _, q := range panel.Queries {
					if slices.ContainsFunc(q.By, func(label string) bool { return slices.Contains(many, label) }) {
						checked++
						if !strings.HasPrefix(q.expr, "topk(12, ") {
							t.Errorf("%s: a series for each of %v: %s", panel.Title, q.By, q.expr)
						}
						if !strings.HasPrefix(panel.Note, "Shows at most the 12 largest at each time.") {
							t.Errorf("%s: the note hides that series are omitted: %s", panel.Title, panel.Note)
						}
					}
				}
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d queries are by queue or node", checked)
	}
}

// TestOneUnit checks that a panel whose series can be of any resource does not show
// memory, whose unit is another, and that a panel on memory shows bytes.
func TestOneUnit(t *testing.T) {
	memory := 0
	for _, s := range append(adminSections(testPlan()), teamSections(testPlan())...) {
		for _, p := range s.Panels {
			for _, q := range p.Queries {
				if strings.Contains(q.expr, `resource="memory"`) {
					memory++
					if p.Unit != bytes {
						t.Errorf("%s: unit %v, want bytes", p.Title, p.Unit)
					}
				}
			}
		}
	}
	if memory != 4 || resourceVariable.Without != "memory" {
		t.Errorf("%d queries on memory, want 4; the reader cannot select %q, want memory", memory,
			resourceVariable.Without)
	}
}
