package guide

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
)

func parseQuantity(s string) resource.Quantity { return resource.MustParse(s) }

// gpuAmounts returns the accelerators, the cpu and the memory of a node or of a quota.
func gpuAmounts(gpu, cpu, memory string) []ir.Amount {
	return []ir.Amount{
		{Resource: "cpu", Quantity: parseQuantity(cpu)},
		{Resource: "memory", Quantity: parseQuantity(memory)},
		{Resource: ir.GPU, Quantity: parseQuantity(gpu)},
	}
}

// capacityShare returns a team's quota on a capacity: accelerators, with one cpu for
// each.
func capacityShare(flavor string, nominal, borrow int64) ir.FlavorQuota {
	f := ir.FlavorQuota{Flavor: flavor}
	for _, r := range []string{"cpu", ir.GPU} {
		f.Quotas = append(f.Quotas, ir.ResourceQuota{
			Resource: r, Nominal: *resource.NewQuantity(nominal, resource.DecimalSI),
			Borrowing: resource.NewQuantity(borrow, resource.DecimalSI),
		})
	}
	return f
}

func newTeam(name, cohort string) ir.Team {
	queue := func(tier string, flavors ...ir.FlavorQuota) ir.Queue {
		return ir.Queue{Tier: tier, Classes: []string{tier}, ClusterQueue: "cq-" + name + "-" + tier,
			LocalQueue: "lq-" + name + "-" + tier, Cohort: cohort, Flavors: flavors}
	}
	return ir.Team{
		Name: name, Namespace: name, Cohort: cohort, Group: name + "@example.com", KubeAccount: name + "-ksa",
		Account: &ir.TeamAccount{ID: "wi-" + name},
		Queues: []ir.Queue{
			queue("hp", capacityShare("l4-reserved", 4, 0)),
			queue("lp", capacityShare("l4-reserved", 0, 4), capacityShare("l4-spot", 12, 4)),
		},
	}
}

// newPlatform returns a platform of n teams, with two teams in each cohort.
func newPlatform(n int) *ir.Platform {
	l4 := ir.Machine{Type: "g2-standard-24", Accelerator: "nvidia-l4", AcceleratorCount: 2, Resource: ir.GPU}
	p := &ir.Platform{
		Scheduler: ir.Kueue,
		Name:      "gke-batch", Project: "my-project", Region: "us-central1", Zones: []string{"us-central1-a",
			"us-central1-c"},
		Versions:   ir.Versions{Kueue: "0.19.2", JobSet: "0.12.0"},
		Monitoring: ir.Monitoring{Boards: ir.DefaultBoards("gke-batch", ir.Kueue)},
		Cluster: ir.Cluster{
			Name: "gke-batch", Location: "us-central1", DNSEndpoint: true,
			SecurityGroup: "gke-security-groups@example.com",
		},
		SystemPool: ir.SystemPool{Name: "system", Machine: "e2-standard-4", NodesPerZone: 2},
		Capacities: []ir.Capacity{
			{Name: "l4-reserved", Hardware: "l4", Machine: l4, Option: ir.Reservation,
				Zones: []string{"us-central1-c"}, Static: true, MaxNodes: 4,
				Reservation: &ir.ReservationUse{Name: "machine-reservation", Create: true},
				PerNode:     gpuAmounts("2", "22", "80Gi"), Guaranteed: gpuAmounts("16", "16", "80Gi"),
				Overcommit: "some wait"},
			{Name: "l4-spot", Hardware: "l4", Machine: l4, Option: ir.Spot, Zones: []string{"us-central1-a",
				"us-central1-c"}, MaxNodes: 36,
				PerNode: gpuAmounts("2", "22", "80Gi"), Guaranteed: gpuAmounts("48", "48", "240Gi")},
		},
		PriorityClasses: []ir.PriorityClass{
			{Name: "lp", Tier: "lp", Value: 10, Default: true}, {Name: "hp", Tier: "hp", Value: 20, Preempts: true},
		},
		Delivery: ir.Delivery{StateBucket: "my-project-gke-batch-tfstate",
			Account:    ir.ServiceAccount{ID: "gke-batch-build"},
			Repository: "gke-batch", APIs: []string{"compute.googleapis.com", "container.googleapis.com"}},
		Demand: ir.Demand{Rows: []ir.DemandRow{
			{Metric: "NVIDIA_L4_GPUS", What: "nvidia-l4", Standing: 8, Admitted: 8, Ceiling: 8, Unit: "GPUs"},
			{What: "machines of family g2", Standing: 96, Admitted: 672, Ceiling: 960, Unit: "vCPUs",
				Note: "the metric's name is not verified"},
		}},
	}
	for i := range n {
		cohort := fmt.Sprintf("cohort-%03d", i/2)
		if i%2 == 0 {
			p.Cohorts = append(p.Cohorts, ir.Cohort{Name: cohort})
		}
		t := newTeam(fmt.Sprintf("team-%03d", i), cohort)
		p.Teams = append(p.Teams, t)
		for _, name := range []string{"low-priority-1", "low-priority-2"} {
			p.Workloads = append(p.Workloads, ir.Workload{
				Template: "low-priority", Name: name, Kind: ir.Job, Team: t.Name, Namespace: t.Namespace,
				PriorityClass: "lp", Capacities: []string{"l4-reserved", "l4-spot"}, Pods: 2,
				Requests: gpuAmounts("2", "2", "10Gi"), Image: "pytorch/pytorch:2.8.0",
			})
		}
	}
	return p
}

// renderPages returns the pages of a platform by name.
func renderPages(t *testing.T, p *ir.Platform) map[string]string {
	t.Helper()
	files, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		pages[f.Path] = string(f.Content)
	}
	for _, name := range []string{readmePage, usingPage, referencePage} {
		if pages[name] == "" {
			t.Fatalf("no %s", name)
		}
	}
	return pages
}

// renderReadme, renderUsing and renderReference return one page of a platform.
func renderReadme(t *testing.T, p *ir.Platform) string {
	t.Helper()
	return renderPages(t, p)[readmePage]
}
func renderUsing(t *testing.T, p *ir.Platform) string {
	t.Helper()
	return renderPages(t, p)[usingPage]
}
func renderReference(t *testing.T, p *ir.Platform) string {
	t.Helper()
	return renderPages(t, p)[referencePage]
}

// wantTexts checks that the pages have texts, by the name of the page.
func wantTexts(t *testing.T, pages map[string]string, wants map[string][]string) {
	t.Helper()
	for name, texts := range wants {
		for _, text := range texts {
			if !strings.Contains(pages[name], text) {
				t.Errorf("%s lacks %q", name, text)
			}
		}
	}
}

func TestFewTeamsEachByItself(t *testing.T) {
	got := renderPages(t, newPlatform(4))
	wantTexts(t, got, map[string][]string{
		readmePage: {
			"| `team-003` | `cohort-001` | `team-003@example.com` |\n",
			"| `l4-reserved` | `nvidia.com/gpu` | 16 | 8 | jobs for 8 can get quota without nodes | some wait |\n",
			"| `l4-spot` | `nvidia.com/gpu` | 48 | 72 | 24 that no quota covers |  |\n",
			"| `l4-spot` | `l4` | `g2-standard-24` | Spot | all | 0 to 36 | 72 `nvidia-l4` | `lp` of every team |\n",
			"| machines of family g2 (metric name not verified) | 672 | vCPUs |\n",
			"  subgraph cohort_cohort_001[\"cohort cohort-001\"]\n    queue_cq_team_002_hp[\"tier hp of 2 teams<br>" +
				"team-002, team-003<br>l4-reserved: 4 GPUs each, 8 in all\"]\n",
			"  queue_cq_team_000_lp & queue_cq_team_002_lp --> flavor_l4_spot\n",
		},
		usingPage: {
			"| `team-003` | `team-003` | `lq-team-003-hp`, `lq-team-003-lp` | `team-003-ksa` | " +
				"`wi-team-003@my-project.iam.gserviceaccount.com` |\n",
			"| `low-priority`: `low-priority-1`, `low-priority-2` | every team | Job | `lp` | `l4-reserved`, " +
				"`l4-spot` | 2, each with `2 cpu`, `10Gi memory`, `2 nvidia.com/gpu` |\n",
			"TEAM=team-000\nNAMESPACE=team-000\n",
			"kubectl apply --server-side -f \"workloads/$TEAM/low-priority-1.yaml\"\n",
		},
		referencePage: {
			"| `team-003` | `lq-team-003-lp` | `lp` | `l4-spot` | 12 + 4 | 12 + 4 |\n",
			"| not verified | machines of family g2 | 96 | 672 | 960 | vCPUs | the metric's name is not verified |\n",
		},
	})
	if n := strings.Count(got[referencePage], "| `lq-team-"); n != 12 {
		t.Errorf("quota rows = %d, want one for each team, tier and capacity: 12", n)
	}
}

// TestBucketsAndSpot holds that the pages speak of buckets, of Spot nodes and of nodes
// that a job waits for only if the platform has them.
func TestBucketsAndSpot(t *testing.T) {
	const (
		spot   = "Google Cloud can take back the nodes of `l4-spot` at any time"
		waits  = "waits until all of its nodes are available at the same time"
		bucket = "use your team's bucket or `emptyDir`"
		mount  = "      bucketName: BUCKET\n      mountOptions: only-dir=training,"
	)
	p := newPlatform(2)
	got := renderUsing(t, p)
	for _, text := range []string{bucket, "Bucket", waits} {
		if strings.Contains(got, text) {
			t.Errorf("USING.md says %q", text)
		}
	}
	if !strings.Contains(got, spot) {
		t.Errorf("USING.md lacks %q", spot)
	}
	p.Capacities[1].Option, p.Teams[0].Bucket = ir.QueuedFlexStart, "data"
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage: {"\nterraform -chdir=terraform state rm "},
		usingPage: {waits, bucket, mount, "\nBUCKET=data\nDATA=my-data\ngcloud storage cp --recursive ",
			"Google Cloud keeps the node request until all nodes are available",
			"| `lq-team-001-hp`, `lq-team-001-lp` | none |"},
		referencePage: {"--role=roles/storage.objectUser", "--role=roles/artifactregistry.writer"},
	})
}

// sectionsOf returns the headings of level 2 of a page.
func sectionsOf(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			out = append(out, strings.TrimSpace(heading))
		}
	}
	return out
}

func TestSectionsInOrder(t *testing.T) {
	got := renderPages(t, newPlatform(4))
	for name, want := range map[string][]string{
		readmePage: {
			"Before you build", "Build it", "See that it works", "Build images", "Change it", "Watch it",
			"Remove a team, a tier or a capacity", "Destroy the platform", "What is in it",
		},
		usingPage: {
			"Get access", "Your team", "Submit a job", "Choose settings for a job",
			"Submit to several nodes or another tier",
			"Submit a prepared workload", "An image of your own",
			"See what it did", "Why a job waits", "What each tier promises", "Read logs afterwards", "What is refused",
		},
		referencePage: {
			"Google Cloud quota", "Limits of IAM", "Quota of the queues", "Identities and rights",
			"Steps of the build", "Rights of the build", "Alerts", "Build it step by step",
			"With Cluster Toolkit", "Substitutions of the build", "Files",
		},
	} {
		if diff := cmp.Diff(want, sectionsOf(got[name])); diff != "" {
			t.Errorf("%s: sections (-want +got):\n%s", name, diff)
		}
	}
}

func TestManyTeamsFold(t *testing.T) {
	p := newPlatform(400)
	for _, i := range []int{7, 9} { // a group of two that stand apart
		p.Teams[i].Queues[0].Flavors = []ir.FlavorQuota{capacityShare("l4-reserved", 6, 0)}
	}
	p.Teams[11].Bucket = "data" // follows no pattern
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage: {"[\"200 cohorts: cohort-000, cohort-001 … cohort-199\"]",
			"[\"tier hp of 400 teams<br>team-000, team-001 … team-399<br>" +
				"l4-reserved: 4 to 6 GPUs each, 1604 in all\"]",
			"400 teams share the platform."},
		usingPage: {
			"| 399 | `team-000`, `team-001`, `team-002`, `team-003` and 395 more | `TEAM` | `lq-TEAM-hp`, " +
				"`lq-TEAM-lp` | " +
				"none | `TEAM-ksa` | `wi-TEAM@my-project.iam.gserviceaccount.com` |\n| 1 | `team-011` | `TEAM` |",
		},
		referencePage: {
			"| 1 | 398 | `team-000`, `team-001`, `team-002`, `team-003` and 394 more |\n| 2 | 2 | `team-007`, " +
				"`team-009` |\n",
			"| 2 | `hp` | `l4-reserved` | 6 | 6 |\n",
		},
	})
	small, large := renderPages(t, newPlatform(40)), renderPages(t, newPlatform(400))
	for name := range small {
		if a, b := strings.Count(small[name], "\n"), strings.Count(large[name], "\n"); a != b {
			t.Errorf("%s of 40 equal teams has %d lines, of 400 equal teams %d: want as many", name, a, b)
		}
	}
}

// TestReplaceName holds that only a name between dashes is replaced.
func TestReplaceName(t *testing.T) {
	for _, tt := range []struct{ in, name, want string }{
		{"a", "a", "TEAM"}, {"lq-a-batch", "a", "lq-TEAM-batch"}, {"batch", "a", "batch"}, {"a-ksa", "a", "TEAM-ksa"},
		{"wi-a", "a", "wi-TEAM"}, {"lq-ml-a-lp", "ml-a", "lq-TEAM-lp"}, {"", "a", ""},
	} {
		if got := replaceName(tt.in, tt.name, "TEAM"); got != tt.want {
			t.Errorf("replaceName(%q, %q) = %q, want %q", tt.in, tt.name, got, tt.want)
		}
	}
}

// withShared returns a platform in which two teams share the queue of a tier. The
// tier has two PriorityClasses and machines of two types.
func withShared(n int) *ir.Platform {
	p := newPlatform(n)
	big := p.Capacities[1]
	big.Name, big.Machine.Type = "h100", "a3-highgpu-8g"
	p.Capacities = append(p.Capacities, big)
	p.PriorityClasses = append(p.PriorityClasses, ir.PriorityClass{Name: "low", Tier: "dws", Value: 30},
		ir.PriorityClass{Name: "high", Tier: "dws", Value: 40})
	all := capacityShare("l4-spot", 16, 0)
	for i := range all.Quotas {
		all.Quotas[i].Borrowing, all.Quotas[i].BorrowsAll = nil, true
	}
	q := ir.Queue{
		Tier: "dws", Classes: []string{"low", "high"}, ClusterQueue: "cq-dws", Shared: true, Cohort: "cohort-000",
		Flavors: []ir.FlavorQuota{capacityShare("h100", 8, 0), all},
	}
	shared := ir.SharedQueue{Queue: q}
	for i := range 2 {
		t := &p.Teams[i]
		shared.Teams = append(shared.Teams, ir.SharingTeam{Name: t.Name, Namespace: t.Namespace})
		q.LocalQueue = "lq-" + t.Name + "-dws"
		t.Queues = slices.Insert(slices.Clone(t.Queues), 0, q)
		p.Workloads = append(p.Workloads, ir.Workload{
			Template: "tune", Name: "tune", Kind: ir.Job, Team: t.Name, Namespace: t.Namespace, PriorityClass: "high",
			Capacities: []string{"h100"}, Pods: 1, Image: "pytorch/pytorch:2.8.0",
			SecretEnv: []ir.SecretEnv{{Name: "TOKEN", Secret: "hub", Key: "read"}},
		})
	}
	p.SharedQueues = []ir.SharedQueue{shared}
	return p
}

// TestSharedTier holds that the README shows a shared queue and its quota once, and
// not again for each team.
func TestSharedTier(t *testing.T) {
	got := renderPages(t, withShared(4))
	wantTexts(t, got, map[string][]string{
		readmePage: {
			"It has one PriorityClass with the same name, or several PriorityClasses, and each job specifies one.",
			"| `dws` | `low` | 30 | no |\n| `dws` | `high` | 40 | no |\n",
			"`dws` of `team-000`, `team-001` |\n",
			"    queue_cq_dws[\"tier dws<br>cq-dws<br>h100: 8 GPUs<br>l4-spot: 16 GPUs, may borrow all\"]\n",
			"  queue_cq_dws --> flavor_h100\n", "  queue_cq_dws & queue_cq_team_000",
			"Of the objects that you removed, the build deletes only a tier's PriorityClasses.",
		},
		usingPage: {
			"| `tune` | `team-000`, `team-001` | Job | `dws` | `high` | `h100` | 1 |\n",
			"| `dws` | `l4-spot` | `g2-standard-24`, 2 `nvidia-l4` | Spot |\n",
			"`tune`: before you submit it, an administrator creates the Secret `hub` in your namespace",
			"all of your team's workloads. First an administrator creates `hub` ([Create the " +
				"Secrets](README.md#create-the-secrets)), if one of these workloads needs it:\n",
			"This command submits `tune` of `team-000`, `team-001`:\n\n" +
				"```sh\nkubectl apply --server-side -f \"workloads/$TEAM/tune.yaml\"\n```\n",
			"# tune of team-000, team-001\nkubectl logs -n \"$NAMESPACE\" ",
			" If a job requires one specific capacity, set a node selector",
		},
		referencePage: {
			"In each tier that is not shared, a team has one ClusterQueue",
			"| `cq-dws` | `team-000`, `team-001` | `cohort-000` | `dws` | `h100` | 8 | 8 |\n| `cq-dws` | `team-000`, " +
				"`team-001` | `cohort-000` | `dws` | `l4-spot` | 16 + all | 16 + all |\n",
			"For example, `12 + 4` means that 12 are guaranteed (nominalQuota), and the queue can borrow at most 4",
			"`16 + all` means that 16 are guaranteed, and the queue can borrow without a limit.",
		},
	})
	if n := strings.Count(got[readmePage], "queue_cq_dws["); n != 1 {
		t.Errorf("the picture has the queue %d times", n)
	}
	many := renderReadme(t, withShared(20))
	if want := "queue_cq_dws[\"tier dws<br>cq-dws<br>"; !strings.Contains(many, want) || strings.Count(many,
		"queue_cq_dws[") != 1 {
		t.Errorf("README lacks %q, or has it twice", want)
	}
}

// TestPriorities holds that the settings of a job name all PriorityClasses that its
// queue accepts.
func TestPriorities(t *testing.T) {
	p := withShared(2)
	p.Teams[0].Queues = p.Teams[0].Queues[:1]
	const want = "- in its pods, `priorityClassName` with one of these values: `low`, `high` (the last has the " +
		"highest priority)\n"
	if got := renderUsing(t, p); !strings.Contains(got, want) {
		t.Errorf("USING.md lacks %q", want)
	}
}

// TestSecrets holds that the README has a command for each namespace, without the
// value. For many teams it has one command with a placeholder for the namespace.
func TestSecrets(t *testing.T) {
	p := withShared(4)
	p.Workloads[len(p.Workloads)-1].SecretEnv = []ir.SecretEnv{{Name: "A", Secret: "hub", Key: "read",
		Notes: []string{"Take it from *here*."}}, {Name: "B", Secret: "hub", Key: "it's"}}
	got := renderReadme(t, p)
	for _, want := range []string{
		"| `hub` | `read` | `team-000` | `tune` |\n| `hub` | `it's`, `read` | `team-001` | `tune` |\n",
		`echo read:; IFS= read -rs VALUE; printf %s "$VALUE" | ` +
			"kubectl create secret generic hub -n team-000 --from-file=read=/dev/stdin; unset VALUE\n",
		`for KEY in 'it'\''s' read; do echo "$KEY:" >&2; IFS= read -rs VALUE; ` +
			`printf '%s=%s\n' "$KEY" "$VALUE"; done | ` +
			"kubectl create secret generic hub -n team-001 --from-env-file=/dev/stdin\n",
		"\nkubectl get secrets hub -n team-001\n",
		"\n`hub`: Take it from \\*here\\*.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("README lacks %q", want)
		}
	}
	p = newPlatform(20)
	if strings.Contains(renderReadme(t, p), "create secret") {
		t.Error("README of a platform without Secrets makes some")
	}
	for i := range p.Workloads {
		p.Workloads[i].SecretEnv = []ir.SecretEnv{{Name: "A", Secret: "hub", Key: "it's"}}
	}
	got = renderReadme(t, p)
	const want = ` | kubectl create secret generic hub -n "$NAMESPACE" '--from-file=it'\''s=/dev/stdin'; unset VALUE` +
		"\n"
	// The second command reads a file.
	if strings.Count(got, "create secret") != 2 || !strings.Contains(got, want) {
		t.Errorf("README lacks %q, or has more of them", want)
	}
}

func TestManyGroupsAreCut(t *testing.T) {
	p := newPlatform(maxGroups + 5)
	for i := range p.Teams {
		p.Teams[i].Queues[0].Flavors = []ir.FlavorQuota{capacityShare("l4-reserved", int64(i), 0)}
	}
	if got := renderReference(t, p); !strings.Contains(got, "The tables omit 5 smaller groups.") {
		t.Error("REFERENCE.md does not say that groups were left out")
	}
}

func TestBarePlatform(t *testing.T) {
	p := newPlatform(0)
	p.Capacities, p.PriorityClasses, p.Monitoring, p.Demand = nil, nil, ir.Monitoring{}, ir.Demand{}
	for name, got := range renderPages(t, p) {
		for _, unwanted := range []string{"workloads/", "kubernetes/teams/", "Remove a team", "Google group",
			"get localqueues", "| Metric |", "#your-team", "#quota-of-the-queues", "NAMESPACE"} {
			if strings.Contains(got, unwanted) {
				t.Errorf("%s of a platform without teams has %q", name, unwanted)
			}
		}
	}
}

// TestNoGroups holds that a platform without groups says who can submit jobs.
func TestNoGroups(t *testing.T) {
	p := newPlatform(2)
	p.Teams[0].Group = ""
	wantTexts(t, renderPages(t, p), map[string][]string{readmePage: {
		"\nFor some teams, only cluster administrators submit jobs. To add people",
	}})
	p.Cluster.SecurityGroup, p.Workloads = "", nil
	for i := range p.Teams {
		p.Teams[i].Group = ""
	}
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage: {"| `team-000` | `cohort-000` | cluster administrators only |\n",
			"\nOnly cluster administrators submit jobs. To add people"},
		usingPage: {"No team has members, so only cluster administrators can submit jobs.",
			"kubectl describe workloads --show-events=true -n \"$NAMESPACE\" job-my-job\n"},
	})
}

func TestOptions(t *testing.T) {
	tests := []struct {
		c    ir.Capacity
		want markdown.Markup
	}{
		{ir.Capacity{Option: ir.OnDemand}, "on demand"},
		{ir.Capacity{Option: ir.Spot, Compact: true}, "Spot, compact placement"},
		{ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{Name: "r", Create: true}},
			"reservation `r`, created by the build"},
		{ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{Name: "r"}},
			"reservation `r`, created before the build"},
		{ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{Name: "r", Owner: "other"}},
			"reservation `r` of project `other`"},
		{ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{Name: "r", Owner: "other", Block: "b",
			SubBlock: "s"}}, "reservation `r` of project `other`, block `b`, sub-block `s`"},
		{ir.Capacity{Option: ir.Reservation, Reservation: &ir.ReservationUse{Name: "r", Kind: "future"}, Waiting: true},
			"reservation `r`, not yet begun"},
		{ir.Capacity{Option: ir.Calendar, Reservation: &ir.ReservationUse{Name: "r", Kind: "calendar", Days: 30},
			Waiting: true}, "calendar reservation `r`, for 30 days, not yet begun"},
		{ir.Capacity{Option: ir.AnyReservationOnly}, "any reservation that matches"},
		{ir.Capacity{Option: ir.AnyReservation},
			"any reservation that matches, else on demand"},
		{ir.Capacity{Option: ir.QueuedFlexStart, MaxRunSeconds: 600},
			"flex-start, all nodes of a job at once, for 10 minutes at most"},
	}
	for _, tt := range tests {
		p := newPlatform(2)
		p.Capacities = []ir.Capacity{tt.c}
		if want := " | " + string(tt.want) + " |  | "; !strings.Contains(renderReadme(t, p), want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
}

func TestMachinesAndNodes(t *testing.T) {
	host := ir.Machine{Type: "ct6e-standard-8t", Resource: ir.TPU,
		Slice: &ir.Slice{Topology: "2x4", Chips: 8, Hosts: 1}}
	slice := ir.Machine{Type: "ct6e-standard-4t", Resource: ir.TPU,
		Slice: &ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}}
	tests := []struct {
		c              ir.Capacity
		machine, nodes markdown.Markup
	}{
		{ir.Capacity{Option: ir.OnDemand, Machine: host, MaxNodes: 4}, "`ct6e-standard-8t`, TPU topology `2x4`",
			"0 to 4"},
		{ir.Capacity{Option: ir.OnDemand, Machine: slice, Slices: 3, Static: true, MaxNodes: 12},
			"`ct6e-standard-4t`, TPU topology `4x4`", "12, in slices of 4"},
		{ir.Capacity{Option: ir.OnDemand, Machine: slice, Slices: 3, MaxNodes: 12},
			"`ct6e-standard-4t`, TPU topology `4x4`", "0 to 12, in slices of 4"},
		{ir.Capacity{Option: ir.OnDemand, Machine: ir.Machine{Type: "a", BundledSSDs: 1, SSDSizeGB: 375},
			MaxNodes: 2, ComputeClass: true},
			"`a`, 1 local SSD of 375 GB", "0 to 2, by a ComputeClass"},
		{ir.Capacity{Option: ir.OnDemand, Machine: ir.Machine{Type: "a", SSDSizeGB: 375}, LocalSSDs: 4,
			Static: true, MaxNodes: 2, Waiting: true},
			"`a`, 4 local SSDs of 375 GB", "2, none yet"},
		{ir.Capacity{Option: ir.OnDemand, Machine: ir.Machine{Type: "a"}, MaxNodes: 2, AutoProvisioned: true}, "`a`",
			"0 to 2, auto-provisioned"},
	}
	for _, tt := range tests {
		p := newPlatform(2)
		p.Capacities = []ir.Capacity{tt.c}
		want := "| " + string(tt.machine) + " | on demand |  | " + string(tt.nodes) + " | "
		if !strings.Contains(renderReadme(t, p), want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
}

// TestRemarks holds that the README has the remark on a kind of capacity only if the
// platform has such a capacity, and that the remark names no other capacity.
func TestRemarks(t *testing.T) {
	all := []string{"each TPU slice is a node pool", "must exist before the build", "must share it with",
		"has not begun", "everything on its machines stops",
		"open to all instances", "GKE creates and names node pools", "which require images for arm64",
		"local SSDs hold"}
	reservation := func(r ir.ReservationUse) ir.Capacity { return ir.Capacity{Option: ir.Reservation, Reservation: &r} }
	for _, tt := range []struct {
		name string
		c    ir.Capacity
		want []string
	}{
		{"slices", ir.Capacity{Option: ir.OnDemand, Slices: 2,
			Machine: ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Topology: "4x4", Hosts: 4}}}, all[:1]},
		{"one host", ir.Capacity{Option: ir.OnDemand,
			Machine: ir.Machine{Resource: ir.TPU, Slice: &ir.Slice{Topology: "2x4", Hosts: 1}}}, nil},
		{"created reservation", reservation(ir.ReservationUse{Name: "r", Create: true}), nil},
		{"reservation", reservation(ir.ReservationUse{Name: "r"}), all[1:2]},
		{"shared reservation", reservation(ir.ReservationUse{Name: "r", Owner: "other"}), all[1:3]},
		{"reservation that has not begun", ir.Capacity{Option: ir.Reservation,
			Reservation: &ir.ReservationUse{Name: "r"}, Waiting: true}, all[3:4]},
		{"calendar reservation that has not begun", ir.Capacity{
			Option:      ir.Calendar,
			Reservation: &ir.ReservationUse{Name: "r", Kind: "calendar"}, Waiting: true}, all[3:5]},
		{"any reservation", ir.Capacity{Option: ir.AnyReservationOnly}, all[5:6]},
		{"ComputeClass", ir.Capacity{Option: ir.OnDemand, ComputeClass: true}, all[6:7]},
		{"Arm", ir.Capacity{Option: ir.OnDemand, Machine: ir.Machine{Arm: true}}, all[7:8]},
		{"local SSDs", ir.Capacity{Option: ir.OnDemand, LocalSSDs: 1}, all[8:]},
	} {
		p := newPlatform(1)
		tt.c.Name = "the-one"
		p.Capacities = []ir.Capacity{tt.c, {Option: ir.OnDemand, Name: "another"}}
		got := renderReadme(t, p)
		for _, remark := range all {
			lines := 0
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "- For `the-one`: ") && strings.Contains(line, remark) {
					lines++
				}
			}
			want := 0
			if slices.Contains(tt.want, remark) {
				want = 1
			}
			if lines != want || strings.Count(got, remark) != want {
				t.Errorf("%s: %q stands in %d remarks on it, and %d times in all; want %d", tt.name, remark, lines,
					strings.Count(got, remark), want)
			}
		}
	}
}

func TestSlicesByHand(t *testing.T) {
	const annotation = "`alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool`"
	p := newPlatform(1)
	if strings.Contains(renderUsing(t, p), annotation) {
		t.Errorf("USING.md names %s without TPU slices", annotation)
	}
	p.Capacities[1].Slices = 2
	p.Capacities[1].Machine = ir.Machine{AcceleratorCount: 4, Resource: ir.TPU,
		Slice: &ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}}
	wantTexts(t, renderPages(t, p), map[string][]string{
		usingPage: {annotation, "(`l4-spot`: 4 pods of 4 chips)."},
		readmePage: {"up to 2 slices of 4 nodes",
			"the node pools of TPU slices also have a number in their names"},
	})
}

func TestQuotaLimits(t *testing.T) {
	f := capacityShare("l4-spot", 12, 4)
	f.Quotas[1].Lending = new(parseQuantity("2"))
	if got, want := quotaCell(f, ir.GPU), markdown.Markup("12 + 4, lends 2"); got != want {
		t.Errorf("quotaCell = %q, want %q", got, want)
	}
	if got := quotaCell(f, "memory"); got != "" {
		t.Errorf("quotaCell of a resource that is not covered = %q, want nothing", got)
	}
}

// TestAutoProvisioningLimits holds that the README warns of a limit only if
// auto-provisioning is on and the quotas admit more than the limit.
func TestAutoProvisioningLimits(t *testing.T) {
	for _, tt := range []struct {
		name             string
		create           bool
		vcpus, memoryGiB int
		want             []string
	}{
		{"both too low", true, 1001, 4001, []string{"maxCPU", "maxMemoryGiB"}},
		{"just enough", true, 1000, 4000, nil},
		{"off", false, 1001, 4001, nil},
	} {
		p := newPlatform(2)
		p.AutoProvisioning = ir.AutoProvisioning{Create: tt.create, Limits: []ir.ResourceLimit{
			{Type: ir.CPU, Max: 1000}, {Type: ir.Memory, Max: 4000}, {Type: "nvidia-l4"},
		}}
		p.Demand.VCPUs, p.Demand.MemoryGiB = tt.vcpus, tt.memoryGiB
		got := renderReadme(t, p)
		for _, field := range []string{"maxCPU", "maxMemoryGiB"} {
			warns := strings.Contains(got, "cluster.autoProvisioning."+field)
			if warns != slices.Contains(tt.want, field) {
				t.Errorf("%s: warns of %s: %v", tt.name, field, warns)
			}
		}
	}
}

// TestJobByHand holds that the example is of the default tier, unless its jobs need
// a placement group and the jobs of another tier do not.
func TestJobByHand(t *testing.T) {
	p := newPlatform(2)
	if got, want := renderUsing(t, p), "`priorityClassName: lp`"; !strings.Contains(got, want) {
		t.Errorf("USING.md lacks %q", want)
	}
	p.Capacities[1].AutoProvisioned, p.Capacities[1].Compact = true, true // l4-spot, of tier lp
	p.Workloads[1].PlacementGroup = "group"
	got := renderUsing(t, p)
	for _, want := range []string{
		"`kueue.x-k8s.io/queue-name: lq-team-000-hp`", "`priorityClassName: hp`",
		"in `resources.requests`; for `nvidia.com/gpu`, set the same value in `resources.limits`\n",
		"`serviceAccountName: team-000-ksa`",
		"A job on `l4-spot` requires its own placement group", "see [`workloads/team-000/low-priority-2.yaml`]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("USING.md lacks %q", want)
		}
	}
}

// TestSubmitOneWithItsFiles checks that a block submits only workloads of the same teams,
// with their files, and that no block both submits and deletes.
func TestSubmitOneWithItsFiles(t *testing.T) {
	p := newPlatform(3)
	p.Workloads[0].ConfigMap = "low-priority-files"
	for i, name := range []string{"hello", "it's"} {
		w := p.Workloads[0]
		w.Template, w.Name, w.ConfigMap, w.Team = name, name, "", p.Teams[i].Name
		p.Workloads = append(p.Workloads, w)
	}
	last := p.Workloads[len(p.Workloads)-1]
	last.Template, last.Name = "last", "last"
	p.Workloads = append(p.Workloads, last)
	wantTexts(t, renderPages(t, p), map[string][]string{usingPage: {
		"This command submits `low-priority`, with the files that it mounts. For another copy of a workload, such as " +
			"`low-priority-2`, change the name:\n\n```sh\n" +
			"kubectl apply --server-side -f \"workloads/$TEAM/low-priority-files.yaml\" -f " +
			"\"workloads/$TEAM/low-priority-1.yaml\"\n```\n\n" +
			"This command submits `hello` of `team-000`:\n\n```sh\n" +
			"kubectl apply --server-side -f workloads/team-000/hello.yaml\n```\n\n" +
			"Each of these commands submits one workload of `team-001`:\n\n```sh\n" +
			"kubectl apply --server-side -f 'workloads/team-001/it'\\''s.yaml'\n" +
			"kubectl apply --server-side -f workloads/team-001/last.yaml\n```\n",
		"\nkubectl delete -f \"workloads/$TEAM/low-priority-1.yaml\"\n",
		"This command submits all of your team's workloads:\n\n" +
			"```sh\nkubectl apply --server-side -k \"workloads/$TEAM\"\n```\n\n" +
			"This command deletes them:\n\n```sh\nkubectl delete -k \"workloads/$TEAM\" --ignore-not-found\n```\n",
	}})
}

// TestQuotaOfSharedTiers holds that REFERENCE.md explains only the queues and the numbers
// that its tables have.
func TestQuotaOfSharedTiers(t *testing.T) {
	p := withShared(2)
	p.Demand.Rows = p.Demand.Rows[:1] // the quotas admit all of its ceiling
	for i := range p.Teams {
		p.Teams[i].Queues = p.Teams[i].Queues[:1]
	}
	got := renderReference(t, p)
	for _, unwanted := range []string{
		"that is not shared", "at most 4 more", "lends only part", "To let teams use more than Admitted",
	} {
		if strings.Contains(got, unwanted) {
			t.Errorf("REFERENCE.md has %q", unwanted)
		}
	}
	if want := "`16 + all` means"; !strings.Contains(got, want) {
		t.Errorf("REFERENCE.md lacks %q", want)
	}
	p.SharedQueues[0].Flavors[1].Quotas[0].Lending = new(parseQuantity("2"))
	if want := "lends only part"; !strings.Contains(renderReference(t, p), want) {
		t.Errorf("REFERENCE.md lacks %q", want)
	}
}

// TestAccountsOfTeams holds that each team that asks for one has a Google service account
// of its own, and that a build with a bucket of the caller says what it leaves out.
func TestAccountsOfTeams(t *testing.T) {
	const after = "`gcloud builds submit` does not grant the teams' jobs their Google service accounts."
	p := newPlatform(2)
	wantTexts(t, renderPages(t, p), map[string][]string{referencePage: {
		"The blueprint gives teams `team-000`, `team-001` a separate Google service account each.", after,
	}})
	p.Teams[0].Account = nil
	wantTexts(t, renderPages(t, p), map[string][]string{
		referencePage: {"The blueprint gives team `team-001` a separate Google service account.",
			"terraform init\nterraform "},
		usingPage: {"| `team-000-ksa` | the Kubernetes service account itself |"},
	})
	p.Teams[1].Account = nil
	if strings.Contains(renderReference(t, p), after) {
		t.Errorf("REFERENCE.md has %q without such accounts", after)
	}
}

// TestConfigurationFollowsRelease holds that the platform's configuration is applied
// after the release, so that a repeated installation ends with it.
func TestConfigurationFollowsRelease(t *testing.T) {
	p := newPlatform(1)
	p.Monitoring.Grafana, p.Monitoring.GrafanaNamespace = true, "monitoring"
	rest := renderReference(t, p)
	for _, want := range []string{
		p.Versions.KueueManifest(), "-f kubernetes/system/kueue-configuration.yaml", "rollout restart",
		"-k kubernetes\n",
		"kubectl create namespace monitoring", "-k dashboards\n",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("REFERENCE.md lacks %q after the commands before it", want)
		}
		rest = after
	}
}

// TestDecimalsStandRight holds that columns of numbers are aligned to the right, even
// if one number is a decimal.
func TestDecimalsStandRight(t *testing.T) {
	p := newPlatform(1)
	p.Capacities = []ir.Capacity{
		{Option: ir.OnDemand, Name: "cpu", PerNode: []ir.Amount{{Resource: ir.CPU, Quantity: parseQuantity("7910m")}},
			MaxNodes: 20, Guaranteed: []ir.Amount{{Resource: ir.CPU, Quantity: parseQuantity("100")}}},
	}
	want := "| --- | --- | ---: | ---: | --- | --- |\n| `cpu` | `cpu` | 100 | 158.2 | 58.2 that no quota covers |  |\n"
	if got := renderReadme(t, p); !strings.Contains(got, want) {
		t.Errorf("README lacks %q", want)
	}
}

// TestUsedBy holds that the users of a capacity are the teams that have quota on it.
func TestUsedBy(t *testing.T) {
	p := newPlatform(6)
	p.Teams[1].Queues = p.Teams[1].Queues[:1] // without lp
	p.Capacities = append(p.Capacities, ir.Capacity{Name: "idle", Option: ir.Spot},
		ir.Capacity{Name: "split", Option: ir.Spot})
	for i, tier := range []int{1, 0} { // of one team each
		q := &p.Teams[i*2].Queues[tier]
		q.Flavors = append(q.Flavors, capacityShare("split", 1, 0))
	}
	wantTexts(t, renderPages(t, p), map[string][]string{readmePage: {
		" | `lp` of `team-000`, `team-002`, `team-003`, `team-004` and 1 more; `hp` of every team |\n",
		" | nobody |\n", " | `lp` of `team-000`; `hp` of `team-002` |\n",
	}})
	wantTexts(t, renderPages(t, newPlatform(2)), map[string][]string{readmePage: {" | `lp`, `hp` of every team |\n"}})
}

// TestQueuedCapacity holds that the README names the annotation only if jobs need it.
func TestQueuedCapacity(t *testing.T) {
	const annotation = "`provreq.kueue.x-k8s.io/maxRunDurationSeconds`"
	p := newPlatform(2)
	if strings.Contains(renderUsing(t, p), annotation) {
		t.Errorf("USING.md names %s without a queued capacity", annotation)
	}
	p.Capacities[1].Option = ir.QueuedFlexStart
	p.Capacities[1].MaxRunSeconds = 600
	if want := "for `l4-spot`, the Job or JobSet also requires the annotation " +
		annotation; !strings.Contains(renderUsing(t, p), want) {
		t.Errorf("USING.md lacks %q", want)
	}
}

func TestGroupsMustExist(t *testing.T) {
	p := newPlatform(3)
	p.Teams[1].Group, p.Teams[2].Group = p.Teams[0].Group, ""
	for _, tt := range []struct {
		p    *ir.Platform
		want string
	}{
		{p, "which contains the teams' groups\n- the group `team-000@example.com`\n\nA domain administrator"},
		{newPlatform(400), "`team-003@example.com` and 396 more\n"},
	} {
		_, got, found := strings.Cut(renderReadme(t, tt.p), "These Google groups must exist first")
		const group = "- the group `gke-security-groups@example.com`"
		if !found || !strings.Contains(got, group) || !strings.Contains(got, tt.want) {
			t.Errorf("README lacks %q or %q among the groups", group, tt.want)
		}
	}
}

// TestMembersWithoutGroups holds that the pages of a platform without Google groups
// name the members of each team and what they need, and mention no group.
func TestMembersWithoutGroups(t *testing.T) {
	p := newPlatform(3)
	p.Cluster.SecurityGroup = ""
	p.Monitoring.MemberRoles = []string{"roles/monitoring.viewer"}
	const ana, ci = "user:analyst@example.com", "serviceAccount:ci@my-project.iam.gserviceaccount.com"
	for i, members := range [][]string{{ci, ana}, {ana}, nil} {
		p.Teams[i].Group, p.Teams[i].Members = "", members
	}
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage: {
			"missing accounts:\n\n- `" + ci + "`\n- `" + ana + "`\n\nThese addresses are case-sensitive in GKE",
			"| `team-000` | `cohort-000` | `" + ci + "`, `" + ana + "` |\n",
			"| `team-001` | `cohort-000` | `" + ana + "` |\n",
			"| `team-002` | `cohort-001` | cluster administrators only |\n",
		},
		usingPage: {
			"who can submit a team's jobs: people and service accounts, with their own addresses.",
			"`kubectl auth whoami`",
			"https://www.googleapis.com/auth/userinfo.email",
		},
		referencePage: {
			"A team's jobs are submitted by the people and service accounts in its list. " +
				"The role `roles/container.clusterViewer` lets `" + ci + "`, `" + ana + "` connect",
			"`roles/monitoring.viewer` to `" + ci + "`, `" + ana + "`. They can read",
		},
	})
	for page, text := range renderPages(t, p) {
		if strings.Contains(text, "Google group") || strings.Contains(text, " `` ") {
			t.Errorf("%s mentions Google groups, or has an empty name", page)
		}
	}
	p.Teams[0].Members = []string{ana}
	if strings.Contains(renderUsing(t, p), "userinfo") {
		t.Error("USING.md explains service accounts, and none is a member")
	}
	for i := range p.Teams {
		p.Teams[i].Members = []string{fmt.Sprintf("user:%d@example.com", i), ana}
	}
	p.Cluster.SecurityGroup, p.Teams[0].Group = "gke-security-groups@example.com", "one@example.com"
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage: {
			"These Google groups must exist first", "To build the platform without them, remove",
			"These accounts must exist first",
			"| `one@example.com`, `user:0@example.com`, `user:analyst@example.com` |\n",
		},
		usingPage: {
			"the members of its Google group, or people and service accounts with their own addresses. A team's " +
				"group must itself be a member of `gke-security-groups@example.com`.",
			"If it prints `no`, the blueprint does not list you, or you are not in the team's group, or",
		},
		referencePage: {" lets `gke-security-groups@example.com`, `user:0@example.com`, `user:1@example.com`, "},
	})
}

// TestRemoveInOrder holds that an object is deleted before the objects that it uses.
func TestRemoveInOrder(t *testing.T) {
	p := newPlatform(1)
	p.Teams[0].Bucket = "bucket"
	_, rest, _ := strings.Cut(renderReadme(t, p), "## Remove a team, a tier or a capacity\n")
	for _, want := range []string{
		"gcloud storage rm --recursive --all-versions \"gs://BUCKET/**\"\n",
		"delete namespaces", "delete localqueues", "delete clusterqueues", "delete cohorts",
		"delete resourceflavors",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("README lacks %q after what comes before it", want)
		}
		rest = after
	}
}

func TestNestedCohorts(t *testing.T) {
	flat := renderPages(t, newPlatform(4))
	if strings.Contains(flat[referencePage], "Cohorts in it") || strings.Contains(flat[readmePage], "cohorts under") {
		t.Error("the pages show a tree where no cohort is in another")
	}
	p := newPlatform(2)
	p.Cohorts = []ir.Cohort{{Name: "all"}, {Name: "cohort-000", Parent: "all"}}
	if got, want := renderReadme(t, p),
		"  subgraph cohort_cohort_000[\"cohort cohort-000 in all\"]\n    queue_cq_team_000"; !strings.Contains(got,
		want) {
		t.Errorf("README lacks %q", want)
	}
	p = newPlatform(4)
	p.Cohorts = []ir.Cohort{{Name: "all"}, {Name: "cohort-000", Parent: "all"}, {Name: "cohort-001", Parent: "all"}}
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage:    {"4 teams, in 2 cohorts under `all`, share"},
		referencePage: {"| `all` | `cohort-000`, `cohort-001` | none |\n"},
	})
	p.Teams[0].Cohort = "all"
	wantTexts(t, renderPages(t, p), map[string][]string{
		readmePage:    {"4 teams, in 3 cohorts, share"},
		referencePage: {"| `all` | `cohort-000`, `cohort-001` | `team-000` |\n"},
	})
}

// TestValuesStayValues holds that the guide escapes values. The schema allows no such
// names, but the guide does not rely on the schema.
func TestValuesStayValues(t *testing.T) {
	const evil = "x`|<img src=x>](http://e.com) $(id) ; \"] --> n1\n# h\n```\n![a](b)"
	p := newPlatform(2)
	p.Name, p.Project, p.Cluster.Name = evil, evil, evil
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			for i := range q.Flavors {
				if q.Flavors[i].Flavor == p.Capacities[0].Name {
					q.Flavors[i].Flavor = evil
				}
			}
		}
	}
	p.Capacities[0].Name, p.Capacities[0].Overcommit = evil, evil
	p.Teams[0].Name, p.Teams[0].Namespace, p.Teams[0].Queues[0].ClusterQueue = evil, evil, evil
	p.Workloads[0].Team, p.Workloads[0].Image = evil, evil
	pages, plain := renderPages(t, p), renderPages(t, newPlatform(2))
	for _, name := range []string{readmePage, usingPage, referencePage} {
		got := pages[name]
		for _, block := range []string{"\n# ", "\n## ", "\n```", "\n\n"} {
			if name == usingPage && block == "\n# " {
				continue // a comment before each command that prints a log
			}
			if strings.Count(got, block) != strings.Count(plain[name], block) {
				t.Errorf("%s: a value made or broke a block: %d of %q, want %d", name, strings.Count(got, block), block,
					strings.Count(plain[name], block))
			}
		}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "| x") {
				t.Errorf("%s: a value stands outside its cell: %s", name, line)
			}
		}
	}
	wantTexts(t, pages, map[string][]string{
		readmePage: {
			"x\\`&#124;&lt;img src=x&gt;\\](http\\://e.com) \\$(id) ; \"\\] --&gt; n1 # h \\`\\`\\` !\\[a\\](b) |\n",
			"x#96;#124;#60;img src#61;x#62;#93;#40;http:#47;" +
				"#47;e#46;com#41; #36;#40;id#41; #59; #34;#93; --#62; n1 #35; h " +
				"#96;#96;#96; #33;#91;a#93;#40;b#41;",
			"'--project=x`|<img src=x>](http://e.com) $(id) ; \"] --> n1 # h ``` ![a](b)'",
		},
		usingPage: {"TEAM='x`|<img src=x>](http://e.com) $(id) ; \"] --> n1 # h ``` ![a](b)'\n"},
	})
}

func TestExpandedBlueprint(t *testing.T) {
	files, err := Files(newPlatform(1))
	if err != nil {
		t.Fatal(err)
	}
	want := `blueprint_name: gke-batch
deployment_groups:
- group: terraform
  modules:
  - id: network
    kind: terraform
    source: ./terraform/modules/network
  - id: platform
    kind: terraform
    source: ./terraform
- group: kubectl-apply
  modules:
  - id: release
    kind: terraform
    source: ./kubectl-apply/modules/release
  - id: manifests
    kind: terraform
    source: ./kubectl-apply
vars:
  deployment_name: gke-batch
  project_id: my-project
  region: us-central1
`
	if diff := cmp.Diff(want, string(files[0].Content)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", files[0].Path, diff)
	}
}

// TestGcluster holds that instructions.txt names sections that the pages have, and
// that the commands switch off the deletion protection if it is on. With
// Infrastructure Manager no page has a command of gcluster.
func TestGcluster(t *testing.T) {
	const (
		deploy    = "```sh\n./create-platform.sh --prepare\ngcluster deploy .\n```"
		unprotect = "-target=google_container_cluster.main -var=deletion_protection=false\n"
		destroy   = "gcluster destroy .\n```"
	)
	for _, test := range []struct {
		name               string
		protected, managed bool
		wants, lacks       []string
	}{
		{"protected", true, false,
			[]string{deploy, unprotect + destroy, "`TF_VAR_deletion_protection` has no effect"}, nil},
		{"unprotected", false, false, []string{deploy, "```sh\n" + destroy}, []string{unprotect, "TF_VAR"}},
		{"managed", true, true, nil, []string{"gcluster deploy", "gcluster destroy"}},
	} {
		p := newPlatform(2)
		p.Cluster.DeletionProtection, p.Delivery.InfrastructureManager = test.protected, test.managed
		pages := renderPages(t, p)
		_, section, _ := strings.Cut(pages[referencePage], "## With Cluster Toolkit\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, want := range test.wants {
			if !strings.Contains(section, want) {
				t.Errorf("%s: the section lacks %q", test.name, want)
			}
		}
		for _, lacks := range test.lacks {
			if strings.Contains(pages[referencePage]+pages[readmePage], lacks) {
				t.Errorf("%s: the pages have %q", test.name, lacks)
			}
		}
		text := pages["instructions.txt"]
		found := regexp.MustCompile(`"(.+?)"`).FindAllStringSubmatch(text, -1)
		if !strings.Contains(text, readmePage) || !strings.Contains(text, usingPage) || len(found) < 2 {
			t.Errorf("%s: instructions.txt does not name the pages:\n%s", test.name, text)
		}
		for _, m := range found {
			if !slices.Contains(append(sectionsOf(pages[readmePage]), sectionsOf(pages[referencePage])...), m[1]) {
				t.Errorf("%s: no page has a section %s", test.name, m[1])
			}
		}
	}
}

// kaiPlatform returns a platform of n teams with KAI Scheduler.
func kaiPlatform(n int) *ir.Platform {
	p := newPlatform(n)
	p.Scheduler = ir.KAI
	p.Versions.KAI = "0.17.0"
	p.PriorityClasses = []ir.PriorityClass{
		{Name: "train", Value: 50, Tier: "gpu", BuiltIn: true}, {Name: "build", Value: 100, Tier: "gpu", BuiltIn: true},
	}
	for i := range p.Teams {
		t := &p.Teams[i]
		t.Priority = 100
		t.Queues = []ir.Queue{{
			Tier: "gpu", Classes: []string{"train", "build"},
			ClusterQueue: t.Name, LocalQueue: t.Name, Cohort: t.Cohort,
			Flavors: []ir.FlavorQuota{capacityShare("l4-reserved", 4, 2)},
		}}
	}
	p.Workloads = nil
	return p
}

// TestKAI holds that the pages for KAI Scheduler have the same sections in the same
// order, and never name Kueue.
func TestKAI(t *testing.T) {
	headings := func(page string) []string {
		return slices.DeleteFunc(sectionsOf(page), func(h string) bool {
			return strings.HasPrefix(h, "Remove") || h == "Submit to several nodes or another tier" ||
				h == "Submit a prepared workload"
		})
	}
	for _, n := range []int{2, fewTeams + 1} {
		kueue := renderPages(t, newPlatform(n))
		for name, got := range renderPages(t, kaiPlatform(n)) {
			if diff := cmp.Diff(headings(kueue[name]), headings(got)); diff != "" {
				t.Errorf("%d teams: %s: sections (-kueue +kai):\n%s", n, name, diff)
			}
			if i := strings.Index(strings.ToLower(got), "kueue"); i >= 0 {
				t.Errorf("%d teams: %s speaks of Kueue: %s", n, name, got[max(0, i-100):i+100])
			}
		}
	}
	wantTexts(t, renderPages(t, kaiPlatform(2)), map[string][]string{
		readmePage: {"KAI Scheduler 0.17.0 starts them"},
		usingPage: {
			"| `gpu` | `build` | 100 | never, so these jobs cannot exceed the team's guarantee |",
			"`kai.scheduler/queue: team-000`", "`schedulerName: kai-scheduler`",
			"      schedulerName: kai-scheduler\n",
		},
		referencePage: {
			"| `team-000` | `team-000` | `cohort-000` | 100 | 4 | 5% | 6 | `l4-reserved` |", "--version=v0.17.0",
		},
	})
	p := kaiPlatform(2)
	p.Teams[0].Queues[0].Flavors[0].Quotas[1].BorrowsAll = true
	if want := "| 4 | 5% | no limit |"; !strings.Contains(renderReference(t, p), want) {
		t.Errorf("REFERENCE.md lacks %q", want)
	}
}

func TestNotes(t *testing.T) {
	p := newPlatform(2)
	if strings.Contains(renderReadme(t, p), "## Notes") {
		t.Error("notes without any")
	}
	p.Notes = []string{"1. First.", "# Second *one*"}
	if want := "\n## Notes\n\n1\\. First.\n\n\\# Second \\*one\\*\n"; !strings.Contains(renderReadme(t, p), want) {
		t.Errorf("README lacks %q:\n%s", want, renderReadme(t, p))
	}
}

// TestOwnJob holds that the example of a job has what its queue and its capacity need.
func TestOwnJob(t *testing.T) {
	tests := []struct {
		name string
		edit func(*ir.Platform)
		want []string
		not  []string
	}{
		{"plain", func(*ir.Platform) {}, []string{"kind: Job\n", "    kueue.x-k8s.io/queue-name: lq-team-000-lp\n",
			"            nvidia.com/gpu: 1\n"}, []string{"annotations:", "nodeSelector:"}},
		{"queued", func(p *ir.Platform) { p.Capacities[0].Option = ir.QueuedFlexStart },
			[]string{"    provreq.kueue.x-k8s.io/maxRunDurationSeconds: \"600\"\n"}, nil},
		{"placement groups alone", func(p *ir.Platform) {
			for i := range p.Capacities {
				p.Capacities[i].AutoProvisioned, p.Capacities[i].Compact = true, true
			}
		}, []string{"        cloud.google.com/gke-placement-group: my-job\n",
			"        key: cloud.google.com/gke-placement-group\n"}, nil},
		{"slices", func(p *ir.Platform) {
			p.Capacities[0].Machine = ir.Machine{AcceleratorCount: 4, Resource: ir.TPU,
				Slice: &ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}}
			for _, q := range p.Teams[0].Queues {
				for _, f := range q.Flavors {
					f.Quotas[1].Resource = ir.TPU
				}
			}
		}, []string{"kind: JobSet\n", "        completions: 4\n", "                  google.com/tpu: 4\n",
			"job-name=my-job-slice-0,"}, nil},
		{"a reservation that has not begun", func(p *ir.Platform) {
			p.Teams[0].Queues[1].Flavors[0].Waiting = true
			p.Capacities[1].NodeLabels = []ir.KeyValue{{Key: "kind", Value: "spot"}}
			p.Scheduler = ir.KAI
		}, []string{"        kind: spot\n", "      schedulerName: kai-scheduler\n"}, nil},
		{"no quota", func(p *ir.Platform) {
			for i := range p.Teams[0].Queues {
				p.Teams[0].Queues[i].Flavors = nil
			}
		}, nil, []string{"## Submit a job", "```yaml"}},
	}
	for _, test := range tests {
		p := newPlatform(1)
		test.edit(p)
		got := renderUsing(t, p)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q", test.name, want)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: there is %q", test.name, not)
			}
		}
	}
}

// BenchmarkFiles measures the pages of a platform: most of the time, they are parsed.
func BenchmarkFiles(b *testing.B) {
	p := newPlatform(4)
	for b.Loop() {
		if _, err := Files(p); err != nil {
			b.Fatal(err)
		}
	}
}
