package review_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit/review"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// edit is a change of one line of a blueprint.
type edit struct {
	name      string
	blueprint string
	tags      []string
	file      string // below blueprints, "" for the blueprint's platform.cue
	without   string // a file that the edit removes, or ""
	old, new  string // old occurs once and is replaced by new
	// summary holds the expected effects on jobs, after "jobs", and the expected lines of the
	// summary, each after its topic.
	summary []string
	// replaced holds the addresses of the resources that Terraform must replace.
	// removed holds those of clusters, reservations, buckets and node pools that
	// left the configuration.
	replaced, removed []string
	// state reports whether the location of Terraform's state changes.
	state bool
}

// TestReviewOfEdits compares the reviews of edits with their known meaning.
func TestReviewOfEdits(t *testing.T) {
	states := map[string]review.State{}
	for _, e := range slices.Concat(noEdits, edits) {
		t.Run(e.name, func(t *testing.T) {
			key := e.blueprint + " " + strings.Join(e.tags, " ")
			before, known := states[key]
			if !known {
				before = compileState(t, fixture.Path("blueprints"), e)
				states[key] = before
			}
			dir := copyBlueprint(t, e.blueprint)
			e.applyEdit(t, dir)
			r := review.Compare(before, compileState(t, dir, e))
			var summary, replaced, removed []string
			for _, e := range r.Jobs {
				summary = append(summary, "jobs | "+e.String())
			}
			for _, l := range r.Summary {
				summary = append(summary, string(l.Topic)+" | "+l.String())
			}
			for _, x := range r.Replacements {
				replaced = append(replaced, x.Address)
			}
			if diff := cmp.Diff(e.summary, summary); diff != "" {
				t.Errorf("the summary (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(e.replaced, replaced); diff != "" {
				t.Errorf("what is replaced (-want +got):\n%s", diff)
			}
			for _, x := range r.Removals {
				removed = append(removed, x.Address)
			}
			if diff := cmp.Diff(e.removed, removed); diff != "" {
				t.Errorf("what is removed (-want +got):\n%s", diff)
			}
			if (r.StateFrom != r.StateTo) != e.state {
				t.Errorf("the state is at %s, and was at %s", r.StateTo, r.StateFrom)
			}
			if (len(e.summary) == 0) != r.Same() {
				t.Errorf("Same is %v, with %d lines of summary", r.Same(), len(e.summary))
			}
		})
	}
}

// TestReviewOfOneNumber changes one number of the quota of 512 GPUs, and counts the
// lines that a reviewer must read: the number itself and everything that follows
// from it.
func TestReviewOfOneNumber(t *testing.T) {
	const blueprint = "a3-ultra-flex"
	for _, test := range []struct {
		name     string
		given    edit // writes the blueprint's values with the number
		old, new string
		lines    []string // changed lines of the folder's YAML, with their files
		others   []string // other changed files
		summary  []string
	}{
		{
			name:  "of accelerators",
			given: edit{blueprint: blueprint, old: "shared: {}", new: `shared: quota: "a3-ultra": accelerators: 512`},
			old:   "accelerators: 512", new: "accelerators: 256",
			// cpu and memory follow from the amounts that a pod needs for each GPU,
			// and the number of pods follows from the GPUs.
			lines: []string{
				`kubernetes/shared-queues.yaml: nominalQuota: "6912"`,
				"kubernetes/shared-queues.yaml: nominalQuota: 90Ti",
				`kubernetes/shared-queues.yaml: nominalQuota: "256"`,
				`kubernetes/shared-queues.yaml: nominalQuota: "28160"`,
				"kubernetes/teams/products.yaml: lq-products-dws " +
					"a3-ultra cpu=6912 memory=90Ti nvidia.com/gpu=256 pods=28160",
				`kubernetes/teams/products.yaml: requests.nvidia.com/gpu: "256"`,
				"kubernetes/teams/research.yaml: lq-research-dws " +
					"a3-ultra cpu=6912 memory=90Ti nvidia.com/gpu=256 pods=28160",
				`kubernetes/teams/research.yaml: requests.nvidia.com/gpu: "256"`,
			},
			others: []string{".batchwright/manifest.json", "README.md", "REFERENCE.md"},
			summary: []string{
				"jobs | largest job of tier dws: 512 -> 256 GPUs: jobs of products, research in tier dws: running " +
					"jobs with more than 256 GPUs continue. If they are evicted, they never start again; waiting " +
					"jobs with more than 256 GPUs never start: delete them, and submit smaller jobs; new jobs with " +
					"more than 256 GPUs are rejected",
				"jobs | quota of a3-ultra in tier dws: 512 -> 256 GPUs: jobs of products, research in tier dws: " +
					"running jobs beyond 256 GPUs continue. If Kueue evicts them, they wait for quota; waiting and " +
					"new jobs wait until the queue uses less than 256 GPUs",
				`quota | tier "dws": nominal quota of a3-ultra: 512 -> 256 GPUs (all queues ` +
					`guarantee 256 of the 512 GPUs)`,
				"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_H200_GPUS: 512 -> 256 GPUs admitted",
			},
		},
		{
			name: "of CPUs with each",
			given: edit{
				blueprint: blueprint, old: `gpuDirect: true,`,
				new: `gpuDirect: true, perAccelerator: {cpu: 27, memory: "360Gi"},`,
			},
			old: "cpu: 27", new: "cpu: 26",
			lines: []string{
				`kubernetes/shared-queues.yaml: nominalQuota: "13312"`,
				"kubernetes/teams/products.yaml: lq-products-dws " +
					"a3-ultra cpu=13312 memory=180Ti nvidia.com/gpu=512 pods=56320",
				"kubernetes/teams/research.yaml: lq-research-dws " +
					"a3-ultra cpu=13312 memory=180Ti nvidia.com/gpu=512 pods=56320",
			},
			others: []string{".batchwright/manifest.json", "REFERENCE.md"},
			summary: []string{
				"jobs | quota of a3-ultra in tier dws: 13824 -> 13312 CPUs: jobs of products, research in tier " +
					"dws: running jobs beyond 13312 CPUs continue. If Kueue evicts them, they wait for quota; " +
					"waiting and new jobs wait until the queue uses less than 13312 CPUs",
				`quota | capacity "a3-ultra": cpu with each GPU of quota: 27 -> 26 CPUs`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copyBlueprint(t, blueprint)
			test.given.applyEdit(t, dir)
			before := compileState(t, dir, test.given)
			if same := compile.Reference(t, blueprint); !cmp.Equal(same, before.Tree) {
				t.Fatal("the number itself makes a difference")
			}
			edit{blueprint: blueprint, old: test.old, new: test.new}.applyEdit(t, dir)
			after := compileState(t, dir, test.given)

			var lines, others []string
			if len(before.Tree) != len(after.Tree) {
				t.Fatalf("%d files, and then %d", len(before.Tree), len(after.Tree))
			}
			for i, f := range after.Tree {
				was := before.Tree[i]
				switch {
				case f.Path != was.Path:
					t.Fatalf("%s stands for %s", f.Path, was.Path)
				case bytes.Equal(f.Content, was.Content):
				case path.Ext(f.Path) != ".yaml":
					others = append(others, f.Path)
				default:
					a, b := strings.Split(string(was.Content), "\n"), strings.Split(string(f.Content), "\n")
					if len(a) != len(b) {
						t.Fatalf("%s has %d lines, and then %d", f.Path, len(a), len(b))
					}
					for n := range b {
						if a[n] != b[n] {
							lines = append(lines, f.Path+": "+strings.TrimSpace(b[n]))
						}
					}
				}
			}
			var summary []string
			r := review.Compare(before, after)
			for _, e := range r.Jobs {
				summary = append(summary, "jobs | "+e.String())
			}
			for _, l := range r.Summary {
				if l.Topic == "cloud quota" {
					l.Note = "" // other metrics, see TestReviewOfEdits
				}
				summary = append(summary, string(l.Topic)+" | "+l.String())
			}
			for _, part := range []struct {
				name      string
				want, got []string
			}{
				{"lines of YAML", test.lines, lines}, {"other files", test.others, others},
				{"summary", test.summary, summary},
			} {
				if diff := cmp.Diff(part.want, part.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", part.name, diff)
				}
			}
			if len(r.Replacements) > 0 {
				t.Errorf("replaced: %v", r.Replacements)
			}
		})
	}
}

// copyBlueprint copies a blueprint, and the blueprints that it is laid over, to a
// new folder.
func copyBlueprint(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	here := fixture.BlueprintDirs(fixture.Path("blueprints"), name)
	for i, there := range fixture.BlueprintDirs(dir, name) {
		if err := os.CopyFS(there, os.DirFS(here[i])); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// applyEdit changes the blueprint's file in a copy of the blueprints.
func (e edit) applyEdit(t *testing.T, dir string) {
	t.Helper()
	file := e.file
	if file == "" {
		file = e.blueprint + "/platform.cue"
	}
	if e.without != "" {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(e.without))); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, filepath.FromSlash(file))
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), e.old); n != 1 {
		t.Fatalf("%q stands %d times in %s, want once", e.old, n, file)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(content), e.old, e.new, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// compileState compiles a blueprint in a folder.
func compileState(t *testing.T, dir string, e edit) review.State {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	paths := fixture.BlueprintDirs(abs, e.blueprint)
	tree, res := compile.Input(t, compiler.Input{Dir: abs, Paths: paths, Tags: e.tags})
	return review.State{Label: e.name, Plan: res.Plan, Tree: tree}
}

// noEdits are edits that change only the spelling of the blueprint.
var noEdits = []edit{
	{
		name: "a comment", blueprint: "batch-platform",
		old: "	// Room for the teams' own GPU pools besides the capacities below.\n", new: "",
	},
	{
		name: "order of fields", blueprint: "batch-platform",
		old: `{priority: 10, default: true, capacity: ["l4-reserved", "l4-spot"], `,
		new: `{capacity: ["l4-reserved", "l4-spot"], default: true, priority: 10, `,
	},
	{
		name: "order of teams", blueprint: "batch-platform",
		old: "	\"team-c\": cohort: \"team-c-d\"\n	\"team-d\": cohort: \"team-c-d\"\n",
		new: "	\"team-d\": cohort: \"team-c-d\"\n	\"team-c\": cohort: \"team-c-d\"\n",
	},
	{name: "formatting", blueprint: "a3-ultra-flex", old: "cluster: {\n", new: "cluster:    {\n\n\n"},
	{
		name: "quoting", blueprint: "kai-departments", old: "	interactive: {", new: "	\"interactive\": {",
		file: "kai-departments/workloads.cue",
	},
	{
		name: "a number in other words", blueprint: "batch-platform-dws", old: "14_400", new: "60 * 240",
		file: "batch-platform-dws/dws.cue",
	},
	{
		name: "a default given", blueprint: "tpu-training", old: "	capacity: [\"slices\", \"cpu\"]\n",
		new: "	capacity: [\"slices\", \"cpu\"]\n	queueing: \"StrictFIFO\"\n",
	},
}

var edits = []edit{
	// Manifests of the administrator.
	{
		name: "own manifest", blueprint: "batch-platform", old: `name:    "gke-batch"`,
		new: "name:    \"gke-batch\"\ndelivery: manifests: \"own/class.yaml\": \"\"\"\n\tapiVersion: " +
			"storage.k8s.io/v1\n\tkind: StorageClass\n\tmetadata: {name: fast}\n\tprovisioner: a\n\t\"\"\"\n",
		summary: []string{
			"cluster | platform: own manifests added: own/class.yaml",
			"cluster | platform: build steps for own manifests: off -> on",
		},
	},

	// Quota.
	{
		name: "quota of every team", blueprint: "batch-platform", old: `"l4-spot": {accelerators: 12, borrow: 4}`,
		new: `"l4-spot": {accelerators: 16, borrow: 4}`,
		summary: []string{
			"jobs | quota of l4-spot in tier lp: 12 -> 16 GPUs: jobs of team-a, team-b, team-c, team-d in " +
				"tier lp: waiting and new jobs may start earlier",
			"quota | all 4 teams: nominal quota of l4-spot in lp: 12 -> 16 GPUs (all queues guarantee 64 of the 72 " +
				"GPUs)",
			"limits | node auto-provisioning: most vCPUs in the cluster: 1000 -> 1176 vCPUs",
			"limits | node auto-provisioning: most memory in the cluster: 4232 -> 5000 GiB",
			"cloud quota | Google Cloud quota A2_CPUS: 1000 -> 1176 vCPUs at most",
			"cloud quota | Google Cloud quota of machines of family g2: 864 vCPUs admitted, 1000 at most -> 1056 " +
				"vCPUs admitted, 1176 at most",
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_L4_GPUS: 48 -> 64 GPUs admitted (and with it " +
				"SSD_TOTAL_GB: 5000 -> 5800 GB admitted; GPUS_ALL_REGIONS: 80 -> 96 GPUs admitted)",
		},
	},
	{
		name: "quota of one team", blueprint: "batch-platform", old: `"team-a": cohort: "team-a-b"`,
		new: `"team-a": {cohort: "team-a-b", quota: compact: "a100-compact": lend: 1}`,
		summary: []string{
			`quota | team "team-a": lending limit of a100-compact in compact: all -> 1 GPU`,
		},
	},
	{
		name: "borrowing limit", blueprint: "batch-platform", old: `"l4-ondemand": {accelerators: 4, borrow: 4}`,
		new: `"l4-ondemand": {accelerators: 4, borrow: 1}`,
		summary: []string{
			"jobs | largest job of tier hp: 8 -> 5 GPUs: jobs of team-a, team-b, team-c, team-d in tier " +
				"hp: running jobs with more than 5 GPUs continue. If they are evicted, they never start " +
				"again; waiting jobs with more than 5 GPUs never start: delete them, and submit smaller " +
				"jobs; new jobs with more than 5 GPUs are rejected",
			"jobs | borrowing limit of l4-ondemand in tier hp: 4 -> 1 GPU: jobs of team-a, team-b, team-c, " +
				"team-d in tier hp: running jobs that borrow continue. If Kueue evicts them, they wait for " +
				"quota; waiting and new jobs can borrow at most 1 GPU",
			"quota | all 4 teams: borrowing limit of l4-ondemand in hp: 4 -> 1 GPU",
		},
	},
	{
		name: "borrow all no more", blueprint: "kai-departments", old: `borrow: "all"`, new: "borrow: 8",
		summary: []string{
			"jobs | limit of the team: all idle GPUs -> 16 GPUs: jobs of project-a, project-b, project-c, " +
				"project-d: running jobs beyond 16 GPUs continue. If they are evicted, they wait; waiting " +
				"and new jobs wait while the team uses 16 GPUs",
			"quota | all 4 teams: borrowing limit of h100-reserved in gpu: all that is idle -> 8 GPUs",
		},
	},
	{
		name: "a capacity less", blueprint: "batch-platform", old: `lp: {"l4-reserved": borrow: 4, `, new: `lp: {`,
		summary: []string{
			"jobs | no quota of l4-reserved in tier lp: jobs of team-a, team-b, team-c, team-d in tier lp: " +
				"running jobs on l4-reserved continue until another queue of the cohort needs its " +
				"guaranteed quota; waiting jobs start only on the other capacities of the queue. Those " +
				"that select nodes of l4-reserved never start: delete them; new jobs are rejected if they " +
				"select nodes of l4-reserved",
			"quota | all 4 teams: quota of l4-reserved in lp removed from configuration: 0 GPUs + 4 to borrow (all " +
				"queues guarantee 16 of the 8 GPUs, more than there are)",
		},
	},
	{
		name: "cpu and memory of an accelerator", blueprint: "batch-platform",
		old: `perAccelerator: {cpu: 10, memory: "60Gi"}`, new: `perAccelerator: {cpu: 11, memory: "60Gi"}`,
		summary: []string{
			"jobs | quota of a100-compact in tier compact: 20 -> 22 CPUs: jobs of team-a, team-b, team-c, " +
				"team-d in tier compact: waiting and new jobs may start earlier",
			`quota | capacity "a100-compact": cpu with each GPU of quota: 10 -> 11 CPUs`,
		},
	},
	{
		name: "shared quota", blueprint: "a3-ultra-flex", old: "shared: {}",
		new: `shared: quota: "a3-ultra": accelerators: 256`,
		summary: []string{
			"jobs | largest job of tier dws: 512 -> 256 GPUs: jobs of products, research in tier dws: " +
				"running jobs with more than 256 GPUs continue. If they are evicted, they never start " +
				"again; waiting jobs with more than 256 GPUs never start: delete them, and submit smaller " +
				"jobs; new jobs with more than 256 GPUs are rejected",
			"jobs | quota of a3-ultra in tier dws: 512 -> 256 GPUs: jobs of products, research in tier " +
				"dws: running jobs beyond 256 GPUs continue. If Kueue evicts them, they wait for quota; " +
				"waiting and new jobs wait until the queue uses less than 256 GPUs",
			`quota | tier "dws": nominal quota of a3-ultra: 512 -> 256 GPUs (all queues guarantee 256 of the ` +
				`512 GPUs)`,
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_H200_GPUS: 512 -> 256 GPUs admitted (and with it " +
				"machines of family a3: 14336 -> 7168 vCPUs admitted; HYPERDISK_BALANCED_TOTAL_GB: 6400 -> 3200 GB " +
				"admitted; LOCAL_SSD_TOTAL_GB: 768000 -> 384000 GB admitted; GPUS_ALL_REGIONS: 512 -> 256 GPUs " +
				"admitted; active_resize_requests: 512 -> 256 requests at most)",
		},
	},
	{
		name: "one number of a shared queue", blueprint: "a3-ultra-flex",
		old: `gpuDirect: true,`,
		new: `gpuDirect: true, perAccelerator: {cpu: 26, memory: "360Gi"},`,
		summary: []string{
			"jobs | quota of a3-ultra in tier dws: 13824 -> 13312 CPUs: jobs of products, research in tier " +
				"dws: running jobs beyond 13312 CPUs continue. If Kueue evicts them, they wait for quota; " +
				"waiting and new jobs wait until the queue uses less than 13312 CPUs",
			`quota | capacity "a3-ultra": cpu with each GPU of quota: 27 -> 26 CPUs`,
		},
	},
	{
		name: "borrowing limit of TPUs", blueprint: "tpu-training", tags: []string{"perTeam"},
		file: "tpu-training/per-team.cue", old: `{borrow: "all"}`, new: `{borrow: 16}`,
		summary: []string{
			"quota | both teams: borrowing limit of slices in train: all that is idle -> 16 TPU chips",
		},
	},
	{
		name: "quota of cpu", blueprint: "tpu-training", tags: []string{"perTeam"}, file: "tpu-training/per-team.cue",
		old: "cpus: 3", new: "cpus: 2",
		summary: []string{
			"jobs | largest job of tier train: 6 -> 4 CPUs: jobs of tpu-research, tpu-training in tier " +
				"train: running jobs with more than 4 CPUs continue. If they are evicted, they never start " +
				"again; waiting jobs with more than 4 CPUs never start: delete them, and submit smaller " +
				"jobs; new jobs with more than 4 CPUs are rejected",
			"jobs | quota of cpu in tier train: 3 -> 2 CPUs: jobs of tpu-research, tpu-training in tier " +
				"train: running jobs beyond 2 CPUs continue until another queue of the cohort needs its " +
				"guaranteed quota; waiting and new jobs beyond 2 CPUs start only on quota that other " +
				"queues do not use",
			"quota | both teams: nominal quota of cpu in train: 3 -> 2 CPUs (cohort tpu guarantees 4 of the " +
				"7.84 CPUs)",
		},
	},

	// Teams.
	{
		name: "a team added", blueprint: "batch-platform", old: `"team-d": cohort: "team-c-d"`,
		new: `"team-d": cohort: "team-c-d", "team-e": cohort: "team-c-d"`,
		summary: []string{
			`jobs | capacity "l4-reserved": quota without nodes: 8 -> 12 GPUs: jobs of team-a, team-b, ` +
				"team-c, team-d: waiting and new jobs can get quota for which there is no node: they then " +
				"wait for nodes, and after 30 minutes in their queue again",
			`teams | team "team-e" added: cohort team-c-d, tiers compact, hp, lp, 22 GPUs guaranteed, ` +
				`a bucket, 16 workloads`,
			`access | team "team-e": group that may submit added: team-e@example.com`,
			`guarantees | capacity "a100-compact": guaranteed by all queues: 8 -> 10 GPUs (of the 100 there are)`,
			`guarantees | capacity "l4-ondemand": guaranteed by all queues: 16 -> 20 GPUs (of the 48 there are)`,
			`guarantees | capacity "l4-reserved": guaranteed by all queues: 16 -> 20 GPUs (more than the 8 ` +
				`there are)`,
			`guarantees | capacity "l4-spot": guaranteed by all queues: 48 -> 60 GPUs (of the 72 there are)`,
			"limits | node auto-provisioning: most vCPUs in the cluster: 1000 -> 1200 vCPUs",
			"limits | node auto-provisioning: most memory in the cluster: 4232 -> 5170 GiB",
			"cloud quota | Google Cloud quota A2_CPUS: 96 vCPUs admitted, 1000 at most -> 120 vCPUs admitted, 1200 " +
				"at most",
			"cloud quota | Google Cloud quota of machines of family g2: 864 vCPUs admitted, 1000 at most -> 1056 " +
				"vCPUs admitted, 1200 at most",
			"cloud quota | Google Cloud quota NVIDIA_L4_GPUS: 24 -> 28 GPUs admitted (and with it " +
				"PREEMPTIBLE_NVIDIA_A100_GPUS: 8 -> 10 GPUs admitted; PREEMPTIBLE_NVIDIA_L4_GPUS: 48 -> 60 GPUs " +
				"admitted; SSD_TOTAL_GB: 5000 -> 6000 GB admitted; GPUS_ALL_REGIONS: 80 -> 98 GPUs admitted)",
		},
	},
	{
		name: "a team removed", blueprint: "batch-platform", without: "batch-platform/demonstration.cue",
		old: "	\"team-d\": cohort: \"team-c-d\"\n", new: "",
		summary: []string{
			"jobs | the team leaves the platform: jobs of team-d: running jobs stop, and do not start " +
				"again: delete them; waiting jobs never start: delete them; new jobs can still be submitted, " +
				"because the namespace stays, but never start",
			"jobs | largest job of tier hp: 8 -> 4 GPUs: jobs of team-c in tier hp: running jobs with more " +
				"than 4 GPUs continue. If they are evicted, they never start again; waiting jobs with more " +
				"than 4 GPUs never start: delete them, and submit smaller jobs; new jobs with more than 4 " +
				"GPUs are rejected",
			"jobs | largest job of tier lp: 16 -> 12 GPUs: jobs of team-c in tier lp: running jobs with " +
				"more than 12 GPUs continue. If they are evicted, they never start again; waiting jobs " +
				"with more than 12 GPUs never start: delete them, and submit smaller jobs; new jobs with " +
				"more than 12 GPUs are rejected",
			"jobs | what other queues lend tier lp of l4-reserved: 8 -> 4 GPUs: jobs of team-c in tier lp: " +
				"running jobs " +
				"that borrow continue until another queue of the cohort needs its guaranteed quota; waiting and " +
				"new jobs that must borrow may wait longer",
			"jobs | what tier hp can borrow of l4-ondemand: 4 -> 0 GPUs: jobs of team-c in tier hp: " +
				"running jobs that borrow continue. If Kueue evicts them, they wait for quota; waiting and " +
				"new jobs wait for the queue's own quota, because they cannot borrow any more",
			"jobs | what tier lp can borrow of l4-spot: 4 -> 0 GPUs: jobs of team-c in tier lp: running " +
				"jobs that borrow continue. If Kueue evicts them, they wait for quota; waiting and new " +
				"jobs wait for the queue's own quota, because they cannot borrow any more",
			`jobs | capacity "l4-reserved": quota without nodes: 8 -> 4 GPUs: jobs of team-a, team-b, ` +
				"team-c: waiting and new jobs may start earlier, because fewer of them wait for nodes",
			"cluster | platform: demonstration changed",
			`teams | team "team-d" removed from configuration: cohort team-c-d, tiers compact, hp, lp, 22 GPUs ` +
				`guaranteed, a bucket, 16 workloads`,
			`access | team "team-d": group that may submit removed from configuration: team-d@example.com`,
			`guarantees | capacity "a100-compact": guaranteed by all queues: 8 -> 6 GPUs (of the 100 there are)`,
			`guarantees | capacity "l4-ondemand": guaranteed by all queues: 16 -> 12 GPUs (of the 48 there are)`,
			`guarantees | capacity "l4-reserved": guaranteed by all queues: 16 -> 12 GPUs (more than the 8 ` +
				`there are)`,
			`guarantees | capacity "l4-spot": guaranteed by all queues: 48 -> 36 GPUs (of the 72 there are)`,
			"limits | node auto-provisioning: most memory in the cluster: 4232 -> 4000 GiB",
			"cloud quota | Google Cloud quota NVIDIA_L4_GPUS: 24 -> 20 GPUs admitted (and with it " +
				"PREEMPTIBLE_NVIDIA_A100_GPUS: 8 -> 6 GPUs admitted; PREEMPTIBLE_NVIDIA_L4_GPUS: 48 -> 36 GPUs " +
				"admitted; A2_CPUS: 96 -> 72 vCPUs admitted; machines of family g2: 864 -> 672 vCPUs admitted; " +
				"SSD_TOTAL_GB: 5000 -> 4000 GB admitted; GPUS_ALL_REGIONS: 80 -> 62 GPUs admitted)",
		},
		removed: []string{`google_storage_bucket.team["team-d"]`},
	},
	{
		name: "a team added to a shared queue", blueprint: "a3-ultra-flex",
		old: `products: {members: ["user:analyst@example.com"], bucket: true}`,
		new: `products: {members: ["user:analyst@example.com"], bucket: true}
	analytics: group: "analytics@example.com"`,
		summary: []string{
			"jobs | more teams share the queue of tier dws: analytics: jobs of products, research in tier " +
				"dws: waiting and new jobs can wait longer",
			`teams | team "analytics" added: tier dws, 2 workloads`,
			`access | team "analytics": group that may submit added: analytics@example.com`,
		},
	},
	{
		name: "a team with members added to a shared queue", blueprint: "a3-ultra-flex",
		old: `products: {members: ["user:analyst@example.com"], bucket: true}`,
		new: `products: {members: ["user:analyst@example.com"], bucket: true}
	analytics: members: ["user:builder@example.com"]`,
		summary: []string{
			"jobs | more teams share the queue of tier dws: analytics: jobs of products, research in tier " +
				"dws: waiting and new jobs can wait longer",
			`teams | team "analytics" added: tier dws, 2 workloads`,
			`access | team "analytics": people and service accounts that may submit added: user:builder@example.com`,
		},
	},
	{
		name: "a member exchanged", blueprint: "a3-ultra-flex",
		old: `products: {members: ["user:analyst@example.com"], bucket: true}`,
		new: `products: {members: ["serviceAccount:ci@my-project.iam.gserviceaccount.com"], bucket: true}`,
		summary: []string{
			"jobs | people lose access to the team: jobs of products: running jobs continue, also those of " +
				"people who lose access; new jobs are rejected if one of these people submits them",
			`access | team "products": people and service accounts that may submit removed from configuration: ` +
				`user:analyst@example.com`,
			`access | team "products": people and service accounts that may submit added: ` +
				`serviceAccount:ci@my-project.iam.gserviceaccount.com`,
		},
	},
	{
		name: "a team moved", blueprint: "batch-platform", old: `"team-b": cohort: "team-a-b"`,
		new: `"team-b": cohort: "team-c-d"`,
		summary: []string{
			"jobs | largest job of tier hp: 8 -> 4 GPUs: jobs of team-a in tier hp: running jobs with more " +
				"than 4 GPUs continue. If they are evicted, they never start again; waiting jobs with more " +
				"than 4 GPUs never start: delete them, and submit smaller jobs; new jobs with more than 4 " +
				"GPUs are rejected",
			"jobs | largest job of tier lp: 16 -> 12 GPUs: jobs of team-a in tier lp: running jobs with " +
				"more than 12 GPUs continue. If they are evicted, they never start again; waiting jobs " +
				"with more than 12 GPUs never start: delete them, and submit smaller jobs; new jobs with " +
				"more than 12 GPUs are rejected",
			"jobs | cohort: team-a-b -> team-c-d: jobs of team-b: running jobs that borrow continue until " +
				"another queue of the cohort needs its guaranteed quota; waiting and new jobs can borrow " +
				"only what queues of the new cohort do not use",
			"jobs | what other queues lend tier lp of l4-reserved: 8 -> 4 GPUs: jobs of team-a in tier lp: " +
				"running jobs " +
				"that borrow continue until another queue of the cohort needs its guaranteed quota; waiting and " +
				"new jobs that must borrow may wait longer",
			"jobs | what tier hp can borrow of l4-ondemand: 4 -> 0 GPUs: jobs of team-a in tier hp: " +
				"running jobs that borrow continue. If Kueue evicts them, they wait for quota; waiting and " +
				"new jobs wait for the queue's own quota, because they cannot borrow any more",
			"jobs | what tier lp can borrow of l4-spot: 4 -> 0 GPUs: jobs of team-a in tier lp: running " +
				"jobs that borrow continue. If Kueue evicts them, they wait for quota; waiting and new " +
				"jobs wait for the queue's own quota, because they cannot borrow any more",
			`teams | team "team-b": cohort: team-a-b -> team-c-d (it lends to, and borrows from, team-c, team-d)`,
		},
	},
	{
		name: "no buckets", blueprint: "batch-platform", old: "	bucket: true\n", new: "",
		summary: []string{
			"jobs | the team loses its bucket: jobs of team-a, team-b, team-c, team-d: running jobs may " +
				"fail if they use the bucket, because they lose access; waiting jobs may fail if they use " +
				"the bucket, because they lose access; new jobs are rejected if they mount the bucket",
			"teams | all 4 teams: bucket removed from configuration",
			"access | service account of the build: permissions removed from configuration: storage.buckets.create",
			"access | service account of the build: roles with a condition removed from configuration: " +
				"roles/storage.admin",
		},
		removed: []string{
			`google_storage_bucket.team["team-a"]`,
			`google_storage_bucket.team["team-b"]`,
			`google_storage_bucket.team["team-c"]`,
			`google_storage_bucket.team["team-d"]`,
		},
	},
	{
		name: "a namespace", blueprint: "tpu-training", old: `"tpu-research": {}`,
		new: `"tpu-research": namespace: "research"`,
		summary: []string{
			"jobs | the team's namespace changes: jobs of tpu-research: running jobs continue in the " +
				"old namespace. If Kueue evicts them, they do not start again; waiting jobs never start: " +
				"delete them in the old namespace, and submit them to the new one; new jobs submitted to " +
				"the old namespace never start: submit them to the new one",
			`teams | team "tpu-research": namespace: tpu-research -> research (objects that the team created in ` +
				`the old namespace are not moved)`,
		},
	},
	{
		name: "sharing by few", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue",
		old: `teams: ["team-a", "team-b"], quota`, new: `teams: ["team-a", "team-b", "team-c"], quota`,
		summary: []string{
			"jobs | more teams share the queue of tier dws: team-c: jobs of team-a, team-b in tier dws: " +
				"waiting and new jobs can wait longer",
			`queues | team "team-c": share of the queue of tier dws added`,
		},
	},
	{
		name: "a cohort in another", blueprint: "batch-platform", old: `"team-c-d": {}`,
		new: `"team-c-d": parent: "team-a-b"`,
		summary: []string{
			"jobs | cohort team-c-d: another parent: jobs of team-c, team-d: running jobs that borrow " +
				"continue until another queue of the cohort needs its guaranteed quota; waiting and new " +
				"jobs can borrow only what queues of the new cohort do not use",
			`teams | cohort "team-c-d": parent cohort: none -> team-a-b`,
		},
	},

	// Capacity.
	{
		name: "nodes", blueprint: "batch-platform", old: "maxNodes: 36", new: "maxNodes: 48",
		summary: []string{
			`capacity | capacity "l4-spot": size: 0-36 nodes (72 GPUs) -> 0-48 nodes (96 GPUs) (all queues ` +
				`guarantee 48 of the 96 GPUs)`,
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_L4_GPUS: 72 -> 96 GPUs at most",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 17000 -> 18200 GB at most",
			"cloud quota | Google Cloud quota GPUS_ALL_REGIONS: 228 -> 252 GPUs at most",
		},
	},
	{
		name: "all that quota is of", blueprint: "a3-ultra-flex", old: "maxNodes: 64", new: "maxNodes: 96",
		summary: []string{
			"jobs | quota of a3-ultra in tier dws: 512 -> 768 GPUs: jobs of products, research in tier " +
				"dws: waiting and new jobs may start earlier",
			`capacity | capacity "a3-ultra": size: 0-64 nodes (512 GPUs) -> 0-96 nodes (768 GPUs) (all queues ` +
				`guarantee 768 of the 768 GPUs)`,
			`quota | tier "dws": nominal quota of a3-ultra: 512 -> 768 GPUs (all queues guarantee 768 of the ` +
				`768 GPUs)`,
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_H200_GPUS: 512 -> 768 GPUs at most (and with it " +
				"machines of family a3: 14336 -> 21504 vCPUs at most; HYPERDISK_BALANCED_TOTAL_GB: 6400 -> 9600 GB " +
				"at most; LOCAL_SSD_TOTAL_GB: 768000 -> 1152000 GB at most; GPUS_ALL_REGIONS: 512 -> 768 GPUs at " +
				"most; active_resize_requests: 512 -> 768 requests at most)",
		},
	},
	{
		name: "nodes of a reservation", blueprint: "kai-departments", old: "	nodes: 4\n", new: "	nodes: 5\n",
		summary: []string{
			`jobs | capacity "h100-reserved": most nodes: 4 -> 5: jobs of project-a, project-b, project-c, ` +
				"project-d: waiting and new jobs may start earlier, because fewer of them wait for nodes",
			`capacity | capacity "h100-reserved": size: 4 nodes (32 GPUs) -> 5 nodes (40 GPUs) (all queues ` +
				`guarantee 32 of the 40 GPUs; before the build, reservation "h100-reservation" must have ` +
				`5 a3-highgpu-8g machines in us-central1-a)`,
			"cloud quota | Google Cloud quota gpus_per_gpu_family (gpu_family=NVIDIA_H100): 32 -> 40 GPUs",
			"cloud quota | Google Cloud quota of machines of family a3: 832 -> 1040 vCPUs",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 600 -> 700 GB",
			"cloud quota | Google Cloud quota LOCAL_SSD_TOTAL_GB: 24000 -> 30000 GB",
			"cloud quota | Google Cloud quota GPUS_ALL_REGIONS: 32 -> 40 GPUs",
		},
	},
	{
		name: "fewer nodes than guaranteed", blueprint: "batch-platform", old: "		nodes: 4\n",
		new: "		nodes: 2\n",
		summary: []string{
			`jobs | capacity "l4-reserved": 2 of 4 nodes are deleted: jobs of team-a, team-b, team-c, ` +
				"team-d: running jobs on this capacity stop before the nodes are deleted, and " +
				"wait in their queues again; waiting and new jobs cannot start on this capacity until the build ends",
			`jobs | capacity "l4-reserved": quota without nodes: 8 -> 12 GPUs: jobs of team-a, team-b, ` +
				"team-c, team-d: waiting and new jobs can get quota for which there is no node: they then " +
				"wait for nodes, and after 30 minutes in their queue again",
			`capacity | capacity "l4-reserved": size: 4 nodes (8 GPUs) -> 2 nodes (4 GPUs) (all queues ` +
				`guarantee 16 ` +
				`of the 4 GPUs, more than there are)`,
			"limits | node auto-provisioning: most memory in the cluster: 4232 -> 4040 GiB",
			"cloud quota | Google Cloud quota NVIDIA_L4_GPUS: 8 GPUs always, 24 admitted, 56 at most -> 4 GPUs " +
				"always, 20 admitted, 52 at most",
			"cloud quota | Google Cloud quota of machines of family g2: 96 vCPUs always, 864 admitted -> 48 vCPUs " +
				"always, 816 admitted",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 1000 GB always, 5000 admitted, 17000 at most -> 800 GB " +
				"always, 4800 admitted, 16800 at most",
			"cloud quota | Google Cloud quota GPUS_ALL_REGIONS: 8 GPUs always, 80 admitted, 228 at most -> 4 GPUs " +
				"always, 76 admitted, 224 at most",
		},
	},
	{
		name: "auto-provisioned nodes", blueprint: "batch-platform", old: "		maxNodes:        100\n",
		new: "		maxNodes:        120\n",
		summary: []string{
			`capacity | capacity "a100-compact": size: 0-100 nodes (100 GPUs) -> 0-120 nodes (120 GPUs) (all ` +
				`queues ` +
				`guarantee 8 of the 120 GPUs)`,
			"limits | node auto-provisioning: most nvidia-tesla-a100 in the cluster: 100 -> 120 nvidia-tesla-a100",
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_A100_GPUS: 100 -> 120 GPUs at most",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 17000 -> 19000 GB at most",
			"cloud quota | Google Cloud quota GPUS_ALL_REGIONS: 228 -> 248 GPUs at most",
		},
	},
	{
		name: "machine type", blueprint: "batch-platform", old: `l4: {machine: "g2-standard-24"`,
		new: `l4: {machine: "g2-standard-48"`,
		summary: []string{
			`jobs | capacity "l4-ondemand": its nodes are replaced: jobs of team-a, team-b, team-c, ` +
				"team-d: running jobs stop before the nodes are replaced, and wait in their queues again; " +
				"waiting and new jobs cannot start on this capacity until the build ends",
			`jobs | capacity "l4-reserved": its nodes are replaced: jobs of team-a, team-b, team-c, ` +
				"team-d: running jobs stop before the nodes are replaced, and wait in their queues again; " +
				"waiting and new jobs cannot start on this capacity until the build ends",
			`jobs | capacity "l4-spot": its nodes are replaced: jobs of team-a, team-b, team-c, team-d: ` +
				"running jobs stop before the nodes are replaced, and wait in their queues again; waiting " +
				"and new jobs cannot start on this capacity until the build ends",
			`jobs | capacity "l4-reserved": quota without nodes: 8 -> 0 GPUs: jobs of team-a, team-b, ` +
				"team-c, team-d: waiting and new jobs may start earlier, because fewer of them wait for nodes",
			"capacity | 3 capacities: l4-ondemand, l4-reserved, l4-spot: machine: g2-standard-24 with 2 " +
				"nvidia-l4 -> " +
				"g2-standard-48 with 4 nvidia-l4 (48 vCPUs and 192 GiB of memory a node; the nodes are replaced)",
			`capacity | capacity "l4-ondemand": size: 0-24 nodes (48 GPUs) -> 0-24 nodes (96 GPUs) (all queues ` +
				`guarantee 16 of the 96 GPUs)`,
			`capacity | capacity "l4-reserved": size: 4 nodes (8 GPUs) -> 4 nodes (16 GPUs) (all queues ` +
				`guarantee 16 of the 16 GPUs)`,
			`capacity | capacity "l4-spot": size: 0-36 nodes (72 GPUs) -> 0-36 nodes (144 GPUs) (all queues ` +
				`guarantee 48 of the 144 GPUs)`,
			"limits | node auto-provisioning: most vCPUs in the cluster: 1000 -> 1080 vCPUs",
			"limits | node auto-provisioning: most memory in the cluster: 4232 -> 4616 GiB",
			"cloud quota | Google Cloud quota NVIDIA_L4_GPUS: 8 GPUs always, 24 admitted, 56 at most -> 16 GPUs " +
				"always, 32 admitted, 112 at most",
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_L4_GPUS: 72 -> 144 GPUs at most",
			"cloud quota | Google Cloud quota A2_CPUS: 1000 -> 1080 vCPUs at most",
			"cloud quota | Google Cloud quota of machines of family g2: 96 vCPUs always, 864 admitted, 1000 at " +
				"most " +
				"-> 192 vCPUs always, 960 admitted, 1080 at most",
			"cloud quota | Google Cloud quota GPUS_ALL_REGIONS: 8 GPUs always, 80 admitted, 228 at most -> 16 GPUs " +
				"always, 88 admitted, 356 at most",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 5000 -> 3400 GB admitted",
		},
		replaced: []string{
			"google_container_node_pool.l4_ondemand",
			"google_container_node_pool.l4_reserved",
			"google_container_node_pool.l4_spot",
			"google_compute_reservation.l4_reserved",
		},
	},
	{
		name: "Spot to on demand", blueprint: "batch-platform", old: `consumption: spot: {}, maxNodes: 36`,
		new: `consumption: onDemand: {}, maxNodes: 36`,
		summary: []string{
			`jobs | capacity "l4-spot": its nodes are replaced: jobs of team-a, team-b, team-c, team-d: ` +
				"running jobs stop before the nodes are replaced, and wait in their queues again; waiting " +
				"jobs cannot start on this capacity until the build ends. Those that select " +
				"resource-type=spot never start: delete them, and submit them again with the new labels; " +
				"new jobs are rejected if they select resource-type=spot",
			`capacity | capacity "l4-spot": consumption: Spot -> on demand`,
			"cloud quota | Google Cloud quota NVIDIA_L4_GPUS: 24 GPUs admitted, 56 at most -> 72 GPUs admitted, " +
				"128 " +
				"at most",
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_L4_GPUS removed from configuration: 0 GPUs " +
				"always, " +
				"48 admitted, 72 at most",
		},
		replaced: []string{
			"google_container_node_pool.l4_spot",
		},
	},
	{
		name: "region", blueprint: "kai-departments", old: "\"us-central1\"\nzones: [\"us-central1-a\"]",
		new: "\"us-east4\"\nzones: [\"us-east4-a\"]",
		summary: []string{
			"jobs | the cluster is replaced: jobs of all teams: running jobs are deleted with the cluster: " +
				"submit them again; waiting jobs are deleted with the cluster: submit them again",
			"cluster | platform: region: us-central1 -> us-east4 (another region makes another cluster)",
			"cluster | platform: zones of the nodes: us-central1-a -> us-east4-a",
		},
		replaced: []string{
			"google_container_cluster.main",
			"google_container_node_pool.h100_reserved",
			"google_container_node_pool.system",
			`google_project_iam_member.jobs["roles/logging.logWriter"]`,
			`google_project_iam_member.jobs["roles/monitoring.metricWriter"]`,
			"module.network.google_compute_router.main",
			"module.network.google_compute_router_nat.main",
			"module.network.google_compute_subnetwork.main",
		},
	},
	{
		name: "account of the nodes", blueprint: "batch-platform", old: "cluster: {\n",
		new: "cluster: {\n\tnodes: serviceAccount: \"gke-sa\"\n",
		summary: []string{
			`jobs | capacity "l4-ondemand": its nodes are replaced: jobs of team-a, team-b, team-c, team-d: ` +
				"running jobs stop before the nodes are replaced, and wait in their queues again; waiting and " +
				"new jobs cannot start on this capacity until the build ends",
			`jobs | capacity "l4-reserved": its nodes are replaced: jobs of team-a, team-b, team-c, team-d: ` +
				"running jobs stop before the nodes are replaced, and wait in their queues again; waiting and " +
				"new jobs cannot start on this capacity until the build ends",
			`jobs | capacity "l4-spot": its nodes are replaced: jobs of team-a, team-b, team-c, team-d: ` +
				"running jobs stop before the nodes are replaced, and wait in their queues again; waiting and " +
				"new jobs cannot start on this capacity until the build ends",
			"jobs | the system node pool loses nodes: jobs of team-a, team-b, team-c, team-d: running jobs " +
				"continue while Kueue moves to other nodes; waiting jobs wait until Kueue runs again; new jobs " +
				"may be rejected until Kueue runs again: submit them again then",
			"access | service account of the nodes: ID: gke-batch-nodes -> gke-sa (dangerous: nodes that GKE " +
				"has created keep the former account, which loses its roles: they cannot pull private images " +
				"until GKE replaces them; create-platform.sh creates the account, and the former one stays " +
				"until you delete it)",
		},
		replaced: []string{
			"google_container_node_pool.l4_ondemand",
			"google_container_node_pool.l4_reserved", "google_container_node_pool.l4_spot",
			"google_container_node_pool.system",
			`google_project_iam_member.nodes["roles/artifactregistry.reader"]`,
			`google_project_iam_member.nodes["roles/container.defaultNodeServiceAccount"]`,
			`google_project_iam_member.nodes["roles/serviceusage.serviceUsageConsumer"]`,
		},
	},
	{
		name: "roles of the nodes", blueprint: "batch-platform", old: "cluster: {\n",
		new:     "cluster: {\n\tnodes: roles: [\"roles/storage.objectViewer\"]\n",
		summary: []string{"access | service account of the nodes: roles added: roles/storage.objectViewer"},
	},
	{
		name: "zone", blueprint: "a3-ultra-flex", old: `*"us-central1-b" | string  @tag(zone)`,
		new: `*"us-central1-c" | string  @tag(zone)`,
		summary: []string{
			`jobs | capacity "a3-ultra": its nodes are replaced: jobs of products, research: running jobs ` +
				"stop before the nodes are replaced, and wait in their queues again; waiting and new jobs " +
				"cannot start on this capacity until the build ends",
			"jobs | the system node pool loses nodes: jobs of products, research: running jobs continue " +
				"while Kueue moves to other nodes; waiting jobs wait until Kueue runs again; new jobs may " +
				"be rejected until Kueue runs again: submit them again then",
			"cluster | platform: zones of the nodes: us-central1-b -> us-central1-c",
		},
		replaced: []string{
			"google_container_node_pool.a3_ultra",
			`google_compute_network.gpu["rdma"]`,
			`google_compute_subnetwork.gpu["rdma-0"]`,
			`google_compute_subnetwork.gpu["rdma-1"]`,
			`google_compute_subnetwork.gpu["rdma-2"]`,
			`google_compute_subnetwork.gpu["rdma-3"]`,
			`google_compute_subnetwork.gpu["rdma-4"]`,
			`google_compute_subnetwork.gpu["rdma-5"]`,
			`google_compute_subnetwork.gpu["rdma-6"]`,
			`google_compute_subnetwork.gpu["rdma-7"]`,
		},
	},
	{
		name: "zones", blueprint: "batch-platform", old: `zones: ["us-central1-a", "us-central1-b", "us-central1-c"]`,
		new: `zones: ["us-central1-a", "us-central1-c"]`,
		summary: []string{
			`jobs | capacity "l4-ondemand": its nodes in us-central1-b are deleted: jobs of team-a, ` +
				"team-b, team-c, team-d: running jobs on this capacity stop before the nodes are deleted, and " +
				"wait in their queues again; waiting and new jobs cannot start on this capacity " +
				"until the build ends",
			`jobs | capacity "l4-spot": its nodes in us-central1-b are deleted: jobs of team-a, team-b, ` +
				"team-c, team-d: running jobs on this capacity stop before the nodes are deleted, " +
				"and wait in their queues again; waiting and new jobs cannot start on this capacity until the " +
				"build ends",
			"jobs | the system node pool loses nodes: jobs of team-a, team-b, team-c, team-d: running jobs " +
				"continue while Kueue moves to other nodes; waiting jobs wait until Kueue runs again; new " +
				"jobs may be rejected until Kueue runs again: submit them again then",
			"cluster | platform: zones of the nodes: us-central1-a, us-central1-b, us-central1-c -> us-central1-a, " +
				"us-central1-c",
			"limits | node auto-provisioning: most memory in the cluster: 4232 -> 4200 GiB",
			"cloud quota | Google Cloud quota CPUS: 24 -> 16 vCPUs",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 1000 GB always, 5000 admitted, 17000 at most -> 800 GB " +
				"always, 4800 admitted, 16800 at most",
		},
	},
	{
		name: "slices up", blueprint: "tpu-training", tags: []string{"slices=0"}, old: "{slices: _slices}",
		new: "{slices: 2}",
		summary: []string{
			"jobs | quota of slices in tier train: 0 -> 32 TPU chips: jobs of tpu-research, tpu-training " +
				"in tier train: waiting and new jobs may start earlier",
			`capacity | capacity "slices": size: 0 TPU slices, 0 nodes (0 TPU chips) -> 2 TPU slices, 8 nodes (32 ` +
				`TPU chips) (all queues guarantee 32 of the 32 TPU chips)`,
			`quota | tier "train": nominal quota of slices: 0 -> 32 TPU chips (all queues guarantee ` +
				`32 of the 32 TPU chips)`,
			"cloud quota | Google Cloud quota TPU_LITE_PODSLICE_V5: 0 -> 32 chips",
			"cloud quota | Google Cloud quota of machines of family ct5lp added: 896 vCPUs",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 0 GB always, 200 at most -> 800 GB always, 1000 at most",
		},
	},
	{
		name: "slices down", blueprint: "tpu-training", old: "{slices: _slices}", new: "{slices: 0}",
		summary: []string{
			`jobs | capacity "slices": 8 of 8 nodes are deleted: jobs of tpu-research, tpu-training: ` +
				"running jobs on this capacity stop before the nodes are deleted, and wait in " +
				"their queues again; waiting and new jobs wait until this capacity has nodes again",
			`capacity | capacity "slices": size: 2 TPU slices, 8 nodes (32 TPU chips) -> 0 TPU slices, 0 nodes (0 ` +
				`TPU chips) (all queues guarantee 0 of the 0 TPU chips)`,
			`quota | tier "train": nominal quota of slices: 32 -> 0 TPU chips (all queues guarantee ` +
				`0 of the 0 TPU chips)`,
			"cloud quota | Google Cloud quota TPU_LITE_PODSLICE_V5: 32 -> 0 chips",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 800 GB always, 1000 at most -> 0 GB always, 200 at most",
			"cloud quota | Google Cloud quota of machines of family ct5lp removed from configuration: 896 vCPUs",
		},
		removed: []string{
			`google_container_node_pool.slices["slices-0"]`,
			`google_container_node_pool.slices["slices-1"]`,
		},
	},
	{
		name: "slices as jobs need them", blueprint: "tpu-training", old: "{slices: _slices}",
		new: "{maxSlices: _slices}",
		summary: []string{
			`capacity | capacity "slices": size: 2 TPU slices, 8 nodes (32 TPU chips) -> 0-2 TPU slices, 0-8 nodes ` +
				`(32 TPU chips) (all queues guarantee 32 of the 32 TPU chips)`,
			`alerts | alert "TPUNodePoolUnavailable" removed from configuration`,
			"cloud quota | Google Cloud quota TPU_LITE_PODSLICE_V5: 32 -> 0 chips always",
			"cloud quota | Google Cloud quota of machines of family ct5lp: 896 -> 0 vCPUs always",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 800 -> 0 GB always",
		},
	},
	{
		name: "TPU type", blueprint: "tpu-training", old: `*"v5e" | "v4"  `, new: `*"v4" | "v5e"  `,
		summary: []string{
			"jobs | the cluster is replaced: jobs of all teams: running jobs are deleted with the cluster: " +
				"submit them again; waiting jobs are deleted with the cluster: submit them again",
			"cluster | platform: region: us-west4 -> us-central2 (another region makes another cluster)",
			"cluster | platform: zones of the nodes: us-west4-a -> us-central2-b",
			`capacity | capacity "slices": machine: ct5lp-hightpu-4t with 4 tpu-v5-lite-podslice in slices of ` +
				`4x4 -> ` +
				`ct4p-hightpu-4t with 4 tpu-v4-podslice in slices of 2x2x4 (240 vCPUs and 407 GiB of memory a ` +
				`node; ` +
				`with another topology Terraform replaces the pools)`,
			`workloads | workload "maxtext" of team "tpu-training": image: ` +
				`us-west4-docker.pkg.dev/my-project/tpu-training/maxtext:0.2.2 -> ` +
				`us-central1-docker.pkg.dev/my-project/tpu-training/maxtext:0.2.2`,
			"cloud quota | Google Cloud quota of tpu-v4-podslice, on demand and reserved added: 32 chips",
			"cloud quota | Google Cloud quota of machines of family ct4p added: 1920 vCPUs",
			"cloud quota | Google Cloud quota TPU_LITE_PODSLICE_V5 removed from configuration: 32 chips",
			"cloud quota | Google Cloud quota of machines of family ct5lp removed from configuration: 896 vCPUs",
		},
		replaced: []string{
			"google_container_cluster.main",
			"google_container_node_pool.cpu",
			`google_container_node_pool.slices["slices-0"]`,
			`google_container_node_pool.slices["slices-1"]`,
			"google_container_node_pool.system",
			`google_storage_bucket.team["tpu-training"]`,
			`google_project_iam_member.jobs["projects/my-project/roles/tpu_training_tensorboard_writer"]`,
			`google_project_iam_member.jobs["roles/logging.logWriter"]`,
			`google_project_iam_member.jobs["roles/monitoring.metricWriter"]`,
			"module.network.google_compute_router.main",
			"module.network.google_compute_router_nat.main",
			"module.network.google_compute_subnetwork.main",
		},
	},
	{
		name: "longest run of a node", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue",
		old: `"a100-dws": {hardware: "a100-pair", consumption: flexStart: queued: true, maxNodes: 2}`,
		new: `"a100-dws": {hardware: "a100-pair", consumption: flexStart: {queued: true, ` +
			`maxRunSeconds: 86400}, maxNodes: 2}`,
		summary: []string{
			`jobs | capacity "a100-dws": its nodes are replaced: jobs of team-a, team-b: running jobs stop ` +
				"before the nodes are replaced, and wait in their queues again; waiting and new jobs cannot " +
				"start on this capacity until the build ends",
			`jobs | capacity "a100-dws": longest run of a node: 7 days -> 1 day: jobs of team-a, team-b: ` +
				"waiting and new jobs stop when their nodes are 1 day old",
			`capacity | capacity "a100-dws": longest run of a node: 7 -> 1 day`,
		},
		replaced: []string{
			"google_container_node_pool.a100_dws",
		},
	},
	{
		name: "reservation made elsewhere", blueprint: "batch-platform",
		old: `{name: "machine-reservation", create: true}`, new: `{name: "machine-reservation"}`,
		summary: []string{
			`capacity | capacity "l4-reserved": consumption: reservation "machine-reservation", made by the ` +
				`platform ` +
				`-> reservation "machine-reservation" (before the build, reservation "machine-reservation" must ` +
				`have ` +
				`4 g2-standard-24 machines in us-central1-c)`,
			"access | service account of the build: permissions removed from configuration: " +
				"compute.reservationBlocks.get, compute.reservationBlocks.list, compute.reservations.create, " +
				"compute.reservations.delete, compute.reservations.get, compute.reservations.list, " +
				"compute.reservations.resize, compute.reservations.update",
		},
		removed: []string{"google_compute_reservation.l4_reserved"},
	},
	{
		name: "boot disk", blueprint: "kai-departments", old: `h100: machine: "a3-highgpu-8g"`,
		new: `h100: {machine: "a3-highgpu-8g", disk: sizeGiB: 200}`,
		summary: []string{
			`jobs | capacity "h100-reserved": GKE recreates its nodes, one after the other: jobs of ` +
				"project-a, project-b, project-c, project-d: running jobs stop when their node is " +
				"recreated, and start again on another node or wait",
			`capacity | capacity "h100-reserved": boot disk: pd-balanced of 100 GiB -> pd-balanced of 200 GiB ` +
				`(the nodes are replaced)`,
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 600 -> 1000 GB",
		},
	},
	{
		name: "GPUDirect off", blueprint: "a3-ultra-flex", old: "gpuDirect: true", new: "gpuDirect: false",
		summary: []string{
			`jobs | capacity "a3-ultra": its nodes are replaced: jobs of products, research: running jobs ` +
				"stop before the nodes are replaced, and wait in their queues again; waiting and new jobs " +
				"cannot start on this capacity until the build ends",
			`jobs | capacity "a3-ultra": GPUDirect: RDMA -> none: jobs of products, research: waiting and ` +
				"new jobs never start here if their pods use GPUDirect-RDMA: delete them, and submit them " +
				"again without it",
			"cluster | cluster: multi-networking: on -> off (it is decided when a cluster is made)",
			"cluster | network: MTU: 8896 bytes -> Google Cloud's default (Terraform leaves the MTU of an existing " +
				"network unchanged)",
			`cluster | network: range "gvnic" between GPUs removed from configuration: 192.168.64.0/18`,
			`cluster | network: range "rdma" between GPUs removed from configuration: 192.168.128.0/18`,
			`cluster | GPU network "gvnic-1" removed from configuration: 1 subnet`,
			`cluster | GPU network "rdma" removed from configuration: 8 subnets`,
			`capacity | capacity "a3-ultra": GPUDirect: RDMA -> none`,
			"cloud quota | Google Cloud quota NETWORKS removed from configuration: 3 networks",
		},
		replaced: []string{
			"google_container_node_pool.a3_ultra",
		},
	},

	// Priority.
	{
		name: "priority of a department", blueprint: "kai-departments", old: `"department-2": priority: 100`,
		new: `"department-2": priority: 300`,
		summary: []string{
			"jobs | priority of cohort department-2: 100 -> 300: jobs of project-c, project-d: waiting and " +
				"new jobs may start earlier: idle GPUs go to a higher priority first",
			`priority | cohort "department-2": priority of its queue: 100 -> 300`,
		},
	},
	{
		name: "priorities swapped", blueprint: "kai-departments", old: `{cohort: "department-1", priority: 150}`,
		new: `{cohort: "department-1", priority: 50}`,
		summary: []string{
			"jobs | priority of the team's queue: 150 -> 50: jobs of project-a: running jobs beyond the " +
				"guarantee may stop for jobs of a higher priority; waiting and new jobs wait longer: idle " +
				"GPUs go to a higher priority first",
			`priority | team "project-a": priority of its queue: 150 -> 50`,
		},
	},
	{
		name: "priority", blueprint: "batch-platform", old: "compact: {priority: 15", new: "compact: {priority: 25",
		summary: []string{
			`jobs | value of PriorityClass "compact": 15 -> 25: jobs of team-a, team-b, team-c, team-d in ` +
				"tier compact: running jobs keep priority 15, so new jobs of the class may evict them; " +
				"waiting jobs keep priority 15, and start after new jobs of the class; new jobs have " +
				"priority 25, and start before the existing jobs of the class",
			`priority | PriorityClass "compact": value: 15 -> 25 (the highest)`,
		},
	},
	{
		name: "preemption off", blueprint: "batch-platform", old: "hp: {priority: 20, preempts: compact.preempts",
		new: "hp: {priority: 20, preempts: toReclaim: \"Never\"",
		summary: []string{
			"jobs | preemption of tier hp: inQueue LowerPriority -> Never, toReclaim LowerPriority -> " +
				"Never: jobs of team-a, team-b, team-c, team-d in tier hp: waiting and new jobs wait " +
				"longer, because they may evict fewer jobs of other queues that borrow",
			"priority | all 4 teams: preemption in hp: inQueue LowerPriority, toReclaim LowerPriority -> evicts " +
				"nobody",
		},
	},
	{
		name: "preemption in one tier", blueprint: "batch-platform", old: `"l4-spot"], preempts: toReclaim: "Never"}`,
		new: `"l4-spot"]}`,
		summary: []string{
			"jobs | preemption of tier lp: toReclaim Never -> Any: jobs of team-a, team-b, team-c, team-d " +
				"in tier lp: running jobs that borrow may stop immediately, if a job of tier lp waits for " +
				"the quota; waiting and new jobs may start by evicting jobs of other queues that borrow",
			"priority | all 4 teams: preemption in lp: evicts nobody -> toReclaim Any",
		},
	},
	{
		name: "order of capacities", blueprint: "batch-platform", old: `capacity: ["l4-reserved", "l4-spot"]`,
		new: `capacity: ["l4-spot", "l4-reserved"]`,
		summary: []string{
			"jobs | order of capacities in tier lp: jobs of team-a, team-b, team-c, team-d in tier lp: " +
				"waiting and new jobs start on l4-spot first, then on l4-reserved",
			"queues | all 4 teams: order of capacities in lp: l4-reserved, l4-spot -> l4-spot, l4-reserved",
		},
	},
	{
		name: "queueing", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue",
		old: `queueing: "BestEffortFIFO"`, new: `queueing: "StrictFIFO"`,
		summary: []string{
			"jobs | queueing of tier dws: BestEffortFIFO -> StrictFIFO: jobs of team-a, team-b in tier " +
				"dws: waiting and new jobs stay behind the first job of their queue, even if there is " +
				"quota for them",
			`queues | tier "dws": queueing: BestEffortFIFO -> StrictFIFO`,
		},
	},
	{
		name: "a priority of its own", blueprint: "a3-ultra-flex", old: `medium: 500, `, new: ``,
		summary: []string{
			`jobs | PriorityClass "medium" leaves the platform: jobs of products, research in tier dws: ` +
				"running jobs of the class continue, but get no new pod for one that fails; waiting jobs " +
				"of the class never start: delete them, and submit them with another priorityClassName; " +
				"new jobs are rejected if they name the class: name another priorityClassName",
			`priority | PriorityClass "medium" removed from configuration: value 500 of tier dws`,
		},
	},

	// Access.
	{
		name: "group", blueprint: "a3-ultra-flex", old: "research@example.com", new: "science@example.com",
		summary: []string{
			"jobs | people lose access to the team: jobs of research: running jobs continue, also those of " +
				"people who lose access; new jobs are rejected if one of these people submits them",
			`access | team "research": group that may submit: research@example.com -> science@example.com`,
		},
	},
	{
		name: "authorised network", blueprint: "batch-platform", old: `	releaseChannel: "RAPID"`,
		new: `	releaseChannel: "RAPID", authorizedNetworks: office: "203.0.113.0/24"`,
		summary: []string{
			`access | cluster: authorised network "office" added: 203.0.113.0/24`,
			"access | cluster: control plane's IP endpoint: no public address -> a public address, for the " +
				"authorised networks",
		},
	},
	{
		name: "authorised network removed", blueprint: "a3-ultra-flex",
		old: `	authorizedNetworks: office: _office`, new: "",
		summary: []string{
			"access | cluster: control plane's IP endpoint: a public address, for the authorised networks -> no " +
				"public address",
			`access | cluster: authorised network "office" removed from configuration: 203.0.113.0/24`,
		},
	},
	{
		name: "everybody authorised", blueprint: "a3-ultra-flex", old: `*"203.0.113.0/24"`,
		new: `*"0.0.0.0/0"`,
		summary: []string{
			`access | cluster: authorised network "office": 203.0.113.0/24 -> 0.0.0.0/0 (dangerous: any address ` +
				`may ` +
				`reach the control plane's IP endpoint)`,
		},
	},
	{
		name: "no groups", blueprint: "batch-platform", old: "	group:  \"\\(Team)@example.com\"\n", new: "",
		summary: []string{
			"jobs | people lose access to the team: jobs of team-a, team-b, team-c, team-d: running jobs " +
				"continue, also those of people who lose access; new jobs are rejected if one of these " +
				"people submits them",
			"access | cluster: roles of the members of the teams' groups removed from configuration: " +
				"roles/monitoring.viewer",
			`access | team "team-a": group that may submit removed from configuration: team-a@example.com`,
			`access | team "team-b": group that may submit removed from configuration: team-b@example.com`,
			`access | team "team-c": group that may submit removed from configuration: team-c@example.com`,
			`access | team "team-d": group that may submit removed from configuration: team-d@example.com`,
			"access | service account of the build: roles that it may grant removed from configuration: " +
				"roles/container.clusterViewer, roles/monitoring.viewer",
		},
	},
	{
		name: "a ComputeClass", blueprint: "batch-platform", old: "consumption: onDemand: {}, maxNodes: 24}",
		new: "consumption: onDemand: {}, maxNodes: 24, computeClass: true}",
		summary: []string{
			`jobs | capacity "l4-ondemand": its nodes are replaced: jobs of team-a, team-b, team-c, ` +
				"team-d: running jobs stop before the nodes are replaced, and wait in their queues again; " +
				"waiting jobs cannot start on this capacity until the build ends. Those that select " +
				"capacity=l4-ondemand, cloud.google.com/gke-accelerator=nvidia-l4 and " +
				"resource-type=ondemand never start: delete them, and submit them again with the new " +
				"labels; new jobs are rejected if they select capacity=l4-ondemand, " +
				"cloud.google.com/gke-accelerator=nvidia-l4 and resource-type=ondemand",
			`capacity | capacity "l4-ondemand": node pools: made by the platform -> made by its ComputeClass`,
		},
		removed: []string{"google_container_node_pool.l4_ondemand"},
	},
	{
		name: "roles of a team", blueprint: "tpu-training", old: `"tpu-research": {}`,
		new: `"tpu-research": roles: ["roles/bigquery.user"]`,
		summary: []string{
			`access | team "tpu-research": roles of its jobs added: roles/bigquery.user`,
		},
	},

	// Permissions of jobs.
	{
		name: "grace period", blueprint: "batch-platform", old: `lp: {priority: 10,`,
		new: `lp: {priority: 10, maxGraceSeconds: 600,`,
		summary: []string{
			"queues | all 4 teams: longest time that pods may take to end in lp: 120 -> 600 seconds",
		},
	},
	{
		name: "most Jobs", blueprint: "batch-platform", old: `"team-a": cohort: "team-a-b"`,
		new: `"team-a": {cohort: "team-a-b", maxJobs: 100}`,
		summary: []string{
			"jobs | most Jobs of the team: 5000 -> 100: jobs of team-a: new jobs are rejected while the " +
				"namespace has 100 Jobs or more. A JobSet that starts then gets no Jobs",
			`teams | team "team-a": most Jobs at once: 5000 -> 100`,
		},
	},
	{
		name: "what is allowed", blueprint: "batch-platform", old: `"team-a": cohort: "team-a-b"`,
		new: `"team-a": {cohort: "team-a-b", allow: ["nfs", "csi"]}`,
		summary: []string{
			`teams | team "team-a": what its jobs may use besides added: csi, nfs`,
		},
	},

	// The cluster.
	{
		name: "release channel", blueprint: "batch-platform", old: `"RAPID"`, new: `"STABLE"`,
		summary: []string{
			"jobs | release channel: RAPID -> STABLE: jobs of team-a, team-b, team-c, team-d: running jobs " +
				"may stop when GKE upgrades their nodes: SA, SU from 03:00 UTC for 6 hours",
			"cluster | cluster: release channel: RAPID -> STABLE",
		},
	},
	{
		name: "Kueue", blueprint: "batch-platform", old: `region:  "us-central1"`,
		new: `region:  "us-central1", versions: kueue: "0.19.3"`,
		summary: []string{
			"jobs | Kueue: 0.19.2 -> 0.19.3: jobs of team-a, team-b, team-c, team-d: running jobs continue " +
				"while Kueue restarts; waiting jobs wait until Kueue runs again; new jobs may be rejected " +
				"until Kueue runs again: submit them again then",
			"cluster | Kueue: version: 0.19.2 -> 0.19.3",
			"security | Kueue: SHA-256: known -> not known (dangerous: the build does not verify what it downloads)",
		},
	},
	{
		name: "maintenance", blueprint: "batch-platform", old: `csiDrivers: filestore:    true`,
		new: `csiDrivers: filestore: true, maintenance: start: "22:00"`,
		summary: []string{
			"jobs | maintenance window: SA, SU from 03:00 UTC for 6 hours -> SA, SU from 22:00 UTC for 6 " +
				"hours: jobs of team-a, team-b, team-c, team-d: running jobs may stop when GKE upgrades " +
				"their nodes: SA, SU from 22:00 UTC for 6 hours",
			"cluster | cluster: maintenance window: SA, SU from 03:00 UTC for 6 hours -> SA, SU from 22:00 UTC " +
				"for 6 " +
				"hours",
		},
	},
	{
		name: "deletion protection off", blueprint: "batch-platform", old: `csiDrivers: filestore:    true`,
		new: `csiDrivers: filestore: true, deletionProtection: false`,
		summary: []string{
			"security | cluster: deletion protection: on -> off (dangerous: Terraform no longer refuses to destroy " +
				"the cluster, with all that runs there)",
		},
	},
	{
		name: "Grafana", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue",
		old: "notes: [_,", new: "monitoring: grafana: false\nnotes: [_,",
		summary: []string{
			"cluster | monitoring: Grafana dashboards: on -> off",
		},
	},
	{
		name: "title of a dashboard", blueprint: "batch-platform", file: "batch-platform/dashboards.cue",
		old: `"Kueue Dashboard"`, new: `"Queues"`,
		summary: []string{`cluster | dashboard "kueue": title: Kueue Dashboard -> Queues`},
	},
	{
		name: "sections of a dashboard", blueprint: "batch-platform", file: "batch-platform/dashboards.cue",
		old: `"evictions", "nodes"`, new: `"nodes", "evictions"`,
		summary: []string{
			`cluster | dashboard "kueue": order of the sections: overview, quota, queues, evictions, ` +
				`nodes, controller ` +
				`-> overview, quota, queues, nodes, evictions, controller`,
		},
	},
	{
		name: "one dashboard", blueprint: "batch-platform", file: "batch-platform/dashboards.cue",
		old: "monitoring: boards: {", new: "monitoring: boards: {}\n_boards: {",
		summary: []string{
			`cluster | dashboard "admin" added: gke-batch: platform`,
			`cluster | dashboard "gpus" removed from configuration: NVIDIA GPU Monitoring Overview (GCE & GKE)`,
			`cluster | dashboard "kueue" removed from configuration: Kueue Dashboard`,
		},
	},
	{
		name: "TensorBoard", blueprint: "batch-platform", old: "cohorts: {\n",
		new: "monitoring: tensorBoard: {}\ncohorts: {\n",
		summary: []string{
			"cluster | monitoring: Vertex AI TensorBoard: none -> in us-central1",
			"cluster | delivery: APIs added: aiplatform.googleapis.com",
			"access | all 4 teams: roles of its jobs added: projects/my-project/roles/gke_batch_tensorboard_writer",
			"access | service account of the build: permissions added: aiplatform.locations.get, " +
				"aiplatform.tensorboards.create, aiplatform.tensorboards.delete, aiplatform.tensorboards.get, " +
				"aiplatform.tensorboards.list, aiplatform.tensorboards.update",
			`access | custom role "gke_batch_tensorboard_reader" added`,
			`access | custom role "gke_batch_tensorboard_writer" added`,
		},
	},
	{
		name: "name", blueprint: "kai-departments", old: `"kai-departments"`, new: `"kai"`,
		summary: []string{
			"cluster | platform: name: kai-departments -> kai (another name makes another platform)",
		},
		replaced: []string{
			"google_container_cluster.main",
			"google_container_node_pool.h100_reserved",
			"google_container_node_pool.system",
			`google_project_iam_member.jobs["roles/logging.logWriter"]`,
			`google_project_iam_member.jobs["roles/monitoring.metricWriter"]`,
			`google_project_iam_member.nodes["roles/artifactregistry.reader"]`,
			`google_project_iam_member.nodes["roles/container.defaultNodeServiceAccount"]`,
			`google_project_iam_member.nodes["roles/serviceusage.serviceUsageConsumer"]`,
			"module.network.google_compute_firewall.webhooks",
			"module.network.google_compute_network.main",
			"module.network.google_compute_router.main",
			"module.network.google_compute_router_nat.main",
			"module.network.google_compute_subnetwork.main",
		},
		state: true,
	},
	{
		name: "Infrastructure Manager", blueprint: "tpu-training", old: "infrastructureManager: _managed",
		new: "infrastructureManager: true",
		summary: []string{
			"cluster | delivery: Terraform run by: the build -> Infrastructure Manager",
			"cluster | delivery: APIs added: config.googleapis.com",
			"access | service account of the build: roles added: roles/config.admin, roles/config.agent",
		},
		state: true,
	},

	// Renames: the lines at the top report the objects that disappear with the old
	// name.
	{
		name: "a team's name", blueprint: "batch-platform", without: "batch-platform/demonstration.cue",
		old: `"team-b": cohort`, new: `"team-x": cohort`,
		summary: []string{
			"jobs | the team leaves the platform: jobs of team-b: running jobs stop, and do not start " +
				"again: delete them; waiting jobs never start: delete them; new jobs can still be submitted, " +
				"because the namespace stays, but never start",
			"cluster | platform: demonstration changed",
			`teams | team "team-b" removed from configuration: cohort team-a-b, tiers compact, hp, lp, 22 GPUs ` +
				`guaranteed, a bucket, 16 workloads ("team-x" is added with the same: another name makes another ` +
				`team)`,
			`teams | team "team-x" added: cohort team-a-b, tiers compact, hp, lp, 22 GPUs guaranteed, a bucket, 16 ` +
				`workloads (the same as "team-b", which is removed)`,
			`access | team "team-b": group that may submit removed from configuration: team-b@example.com`,
			`access | team "team-x": group that may submit added: team-x@example.com`,
		},
		removed: []string{`google_storage_bucket.team["team-b"]`},
	},
	{
		name: "a priority's name", blueprint: "a3-ultra-flex", old: `"very-low": 100`, new: `lowest: 100`,
		summary: []string{
			`jobs | PriorityClass "very-low" leaves the platform: jobs of products, research in tier dws: ` +
				"running jobs of the class continue, but get no new pod for one that fails; waiting jobs " +
				"of the class never start: delete them, and submit them with another priorityClassName; " +
				"new jobs are rejected if they name the class: name another priorityClassName",
			`priority | PriorityClass "lowest" added: value 100 of tier dws (the same as "very-low", which is ` +
				`removed)`,
			`priority | PriorityClass "very-low" removed from configuration: value 100 of tier dws ("lowest" is ` +
				`added with the same: another name makes another PriorityClass)`,
			`workloads | workload "sample" of both teams: PriorityClass: very-low -> lowest`,
		},
	},
	{
		name: "project", blueprint: "kai-departments", old: `"my-project"`, new: `"other-project"`,
		summary: []string{
			"cluster | platform: project: my-project -> other-project (another project makes another platform)",
		},
		replaced: []string{
			"google_container_node_pool.h100_reserved",
			"google_container_node_pool.system",
			`google_project_iam_member.jobs["roles/logging.logWriter"]`,
			`google_project_iam_member.jobs["roles/monitoring.metricWriter"]`,
			`google_project_iam_member.nodes["roles/artifactregistry.reader"]`,
			`google_project_iam_member.nodes["roles/container.defaultNodeServiceAccount"]`,
			`google_project_iam_member.nodes["roles/serviceusage.serviceUsageConsumer"]`,
		},
		state: true,
	},
	{
		name: "range of the pods", blueprint: "a3-ultra-flex", old: "10.4.0.0/14", new: "10.8.0.0/14",
		summary: []string{
			"cluster | network: range of the pods: 10.4.0.0/14 -> 10.8.0.0/14 (Google Cloud refuses to change a " +
				"range that a cluster uses: keep the range, or destroy the platform first)",
		},
	},
	{
		name: "machine of the system pool", blueprint: "a3-ultra-flex", old: "e2-standard-16", new: "e2-standard-8",
		summary: []string{
			"jobs | GKE recreates the nodes of the system node pool, one after the other: jobs of " +
				"products, research: running jobs continue while Kueue moves to other nodes; waiting jobs " +
				"wait until Kueue runs again; new jobs may be rejected until Kueue runs again: submit them " +
				"again then",
			"cluster | system node pool: machine: e2-standard-16 -> e2-standard-8 (the nodes are replaced)",
			"cloud quota | Google Cloud quota CPUS: 32 -> 16 vCPUs",
		},
	},
	{
		name: "Spot instead of a reservation", blueprint: "kai-departments",
		without: "kai-departments/demonstration.cue",
		old:     "consumption: reservation: name: \"h100-reservation\"\n\tnodes: 4",
		new:     "consumption: spot: {}\n\tmaxNodes: 4",
		summary: []string{
			`jobs | capacity "h100-reserved": its nodes are replaced: jobs of project-a, project-b, ` +
				"project-c, project-d: running jobs stop when the nodes are replaced, and do not start " +
				"again; waiting jobs never start, because they select resource-type=reservation: delete " +
				"them, and submit them again with the new labels; new jobs are rejected if they select " +
				"resource-type=reservation",
			"jobs | jobs select nodes or request resources that their queue no longer has: jobs of " +
				"project-a, project-b, project-c, project-d in tier gpu: waiting jobs like interactive, " +
				"training-job-1, training-job-2, training-job-3, training-job-a, training-job-b never " +
				"start: delete them, and submit the new jobs; new jobs with the earlier labels or " +
				"resources are rejected",
			`jobs | capacity "h100-reserved": a reservation -> Spot: jobs of project-a, project-b, ` +
				"project-c, project-d: waiting and new jobs may stop at any time, because Compute Engine " +
				"can take Spot nodes back, and wait in their queues again",
			"cluster | platform: demonstration changed",
			`capacity | capacity "h100-reserved": size: 4 -> 0-4 nodes (32 GPUs) (all queues ` +
				`guarantee 32 of the 32 GPUs)`,
			`capacity | capacity "h100-reserved": consumption: reservation "h100-reservation" -> Spot`,
			`alerts | alert "ReservationIdle" removed from configuration`,
			`alerts | alert "SpotPreemptionBurst" added`,
			"cloud quota | Google Cloud quota PREEMPTIBLE_NVIDIA_H100_GPUS added: 0 GPUs always, 32 admitted, " +
				"32 at " +
				"most",
			"cloud quota | Google Cloud quota of machines of family a3: 832 -> 0 vCPUs always",
			"cloud quota | Google Cloud quota SSD_TOTAL_GB: 600 -> 200 GB always",
			"cloud quota | Google Cloud quota LOCAL_SSD_TOTAL_GB: 24000 -> 0 GB always",
			"cloud quota | Google Cloud quota GPUS_ALL_REGIONS: 32 -> 0 GPUs always",
			"cloud quota | Google Cloud quota gpus_per_gpu_family (gpu_family=NVIDIA_H100) removed from " +
				"configuration: 32 GPUs",
		},
		replaced: []string{"google_container_node_pool.h100_reserved"},
	},

	// Workloads.
	{
		name: "image", blueprint: "batch-platform", file: "batch-platform/workloads.cue", old: "pytorch:2.8.0-cuda12.8",
		new: "pytorch:2.9.0-cuda12.8",
		summary: []string{
			`workloads | 4 workloads: "compact", "high-priority", "jobset", "low-priority" of all 4 teams: image: ` +
				`pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime -> pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime`,
		},
	},
	{
		name: "copies", blueprint: "batch-platform", file: "batch-platform/workloads.cue", old: "copies: 4",
		new: "copies: 3",
		summary: []string{
			`workloads | 4 workloads: "compact", "high-priority", "jobset", "low-priority" of all 4 ` +
				`teams: copies: 4 -> 3`,
		},
	},
	{
		name: "requests", blueprint: "kai-departments", file: "kai-departments/workloads.cue",
		old: `{teams: ["project-b"], perPod: accelerators: 6}`, new: `{teams: ["project-b"], perPod: ` +
			`accelerators: 7}`,
		summary: []string{
			`workloads | workload "training-job-3" of team "project-b": requests of a pod: 6 GPUs, 384Gi of ` +
				`memory, ` +
				`48 CPUs -> 7 GPUs, 448Gi of memory, 56 CPUs`,
		},
	},
	{
		name: "priority of a workload", blueprint: "tpu-training", file: "tpu-training/workloads.cue",
		old: `priority: "medium"`, new: `priority: "low"`,
		summary: []string{
			`workloads | workload "single-slice" of both teams: PriorityClass: medium -> low`,
		},
	},
	{
		name: "a script", blueprint: "batch-platform", file: "batch-platform/train.py", old: "import os\n",
		new: "import os\n\n",
		summary: []string{
			`workloads | 4 workloads: "compact", "high-priority", "jobset", "low-priority" of all 4 teams: ` +
				`file train.py changed`,
		},
	},
	{
		name: "a workload removed", blueprint: "kai-departments", file: "kai-departments/workloads.cue",
		without: "kai-departments/demonstration.cue",
		old:     "	\"training-job-b\": {teams: [\"project-a\"], perPod: accelerators: 3}\n", new: "",
		summary: []string{
			"cluster | platform: demonstration changed",
			`workloads | workload "training-job-b" of team "project-a" removed from configuration: 1 Job, tier ` +
				`gpu, ` +
				`nvcr.io/nvidia/pytorch:24.07-py3`,
		},
	},
}
