package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v2"
)

// protectedCluster is Terraform's error for a cluster with deletion protection. The review
// reports the protection before the apply.
const protectedCluster = "Protected from deletion: google_container_cluster"

// blueprintEdit is a change of a blueprint: an edit of its CUE files, or a tag.
type blueprintEdit struct {
	name     string
	replaced int // so many, counted by hand
	old, new string
	tag      string
	rejected string // part of what Terraform says if the edit cannot be applied
	order    bool   // the review says how several builds make the change
	// unprotected edits find a cluster whose deletion protection was off already.
	unprotected bool
	// scaled is a pool to which the autoscaler has given so many nodes in each zone.
	scaled string
	each   float64
}

// apply makes the edit in every CUE file of directories. At least one of them must have the
// old text.
func (e blueprintEdit) apply(t *testing.T, dirs []string) {
	t.Helper()
	if e.old == "" {
		return
	}
	var files []string
	for _, dir := range dirs {
		in, err := filepath.Glob(filepath.Join(dir, "*.cue"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, in...)
	}
	found := false
	for _, file := range files {
		if was := read(t, file); strings.Contains(was, e.old) {
			found = true
			write(t, file, strings.ReplaceAll(was, e.old, e.new))
		}
	}
	if !found {
		t.Fatalf("the blueprint has no %q", e.old)
	}
}

// begin brings about what the edit finds, and returns a function that brings back what was.
func (e blueprintEdit) begin(t *testing.T, r root) func() {
	t.Helper()
	file := filepath.Join(r.dir, "terraform.tfstate")
	state, restore := read(t, file), r.cloud.snapshot()
	if e.unprotected {
		r.forgetProtection(t)
	}
	r.cloud.scale(e.scaled, e.each)
	return func() {
		r.cloud.scale(e.scaled, 0)
		write(t, file, state)
		restore()
	}
}

// forgetProtection switches the deletion protection in Terraform's state off. TestBuilds does
// it as the build does.
func (r root) forgetProtection(t *testing.T) {
	t.Helper()
	const protected = `"deletion_protection": `
	file := filepath.Join(r.dir, "terraform.tfstate")
	write(t, file, strings.ReplaceAll(read(t, file), protected+"true", protected+"false"))
}

// TestReplaced applies a folder, and compares batchwright diff between the folder
// and an edited blueprint with Terraform's plan for the change. Diff must report
// exactly the resources that Terraform replaces as replaced, exactly the resources with
// nodes or data that Terraform destroys as removed, and the capacities of which the build
// stops the jobs. The test then applies the change. Unless the edit is rejected, the pools
// whose jobs the build stops must be those that have lost nodes, and the next plan must be
// empty. At last, destroying must leave nothing: applyOnce says when.
func TestReplaced(t *testing.T) {
	t.Parallel()
	program := batchwright(t)
	for blueprint, edits := range map[string][]blueprintEdit{
		"batch-platform": {
			{name: "quota", old: "accelerators: 12", new: "accelerators: 8"},
			{name: "region", replaced: 16, old: "us-central1", new: "europe-west4", rejected: protectedCluster},
			{
				name: "a zone less", old: `zones: ["us-central1-a", "us-central1-b", "us-central1-c"]`,
				new: `zones: ["us-central1-a", "us-central1-c"]`,
			},
			{
				name: "zone of a reservation", replaced: 2, old: `zones: ["us-central1-c"]`,
				new: `zones: ["us-central1-a"]`,
			},
			{
				name: "machine type and GPUs", replaced: 4, old: `machine: "g2-standard-24"`,
				new: `machine: "g2-standard-48"`,
			},
			{
				name: "no Spot", replaced: 1, old: "consumption: spot: {}, maxNodes: 36",
				new: "consumption: onDemand: {}, maxNodes: 36",
			},
			{name: "fixed nodes", old: "maxNodes: 24", new: "nodes: 24"},
			{
				name: "fixed, and fewer than at most", old: "maxNodes: 24", new: "nodes: 6, accept: E0602: \"for now\"",
				scaled: "l4-ondemand", each: 8,
			},
			{
				name: "disk", old: `l4: {machine: "g2-standard-24",`,
				new: `l4: {machine: "g2-standard-24", disk: sizeGiB: 200,`,
			},
			{
				name: "local SSDs", replaced: 4, old: `l4: {machine: "g2-standard-24",`,
				new: `l4: {machine: "g2-standard-24", localSSDs: 2,`,
			},
			{
				name: "driver", replaced: 3, old: `l4: {machine: "g2-standard-24",`,
				new: `l4: {machine: "g2-standard-24", gpuDriver: "LATEST",`,
			},
			{
				name: "platform's name", replaced: 27, old: `name:    "gke-batch"`, new: `name:    "gke-other"`,
				rejected: protectedCluster,
			},
			{
				name: "nodes' range", replaced: 2, old: "cluster: {",
				new: "network: nodes: \"10.64.0.0/20\"\ncluster: {", rejected: protectedCluster,
			},
			{name: "a wider range of nodes", old: "cluster: {", new: "network: nodes: \"10.0.0.0/19\"\ncluster: {"},
			{
				name: "control plane's range", replaced: 1, old: "cluster: {",
				new: "network: controlPlane: \"172.16.1.32/28\"\ncluster: {", rejected: protectedCluster,
			},
			{
				name: "another cluster", replaced: 5, old: "cluster: {",
				new:         "network: controlPlane: \"172.16.1.32/28\"\ncluster: {\n\tdeletionProtection: false",
				unprotected: true,
			},
			{name: "a team's name", old: `	"team-d": `, new: `	"team-e": `},
			{name: "no buckets", old: "bucket: true", new: "bucket: false"},
			{name: "groups", old: `"\(Team)@example.com"`, new: `"\(Team)-group@example.com"`},
			{name: "reserved machines", old: "nodes: 4", new: "nodes: 6"},
			{name: "fewer reserved machines", old: "nodes: 4", new: "nodes: 2"},
			{
				name: "reservation's name", replaced: 2, old: `name: "machine-reservation"`,
				new: `name: "other-reservation"`,
			},
			{
				name: "reservation of somebody else", old: "create: true", new: "create: false",
				rejected: errConsumed.Error(), order: true,
			},
			{name: "a capacity's name", old: "l4-spot", new: "l4-cheap"},
			{
				name: "a reserved capacity's name", old: "l4-reserved", new: "l4-owned",
				rejected: errExists.Error(), order: true,
			},
			{
				name: "a capacity less",
				old:  `"l4-ondemand": {hardware: "l4", consumption: onDemand: {}, maxNodes: 24}`,
				new:  `"l4-ondemand": {hardware: "l4", consumption: onDemand: {}, maxNodes: 24, computeClass: true}`,
			},
			{name: "versions", old: "cluster: {", new: "versions: kueue: \"0.19.3\"\ncluster: {"},
			{
				name: "pool of the system", old: "systemPool: nodesPerZone: 2",
				new: `systemPool: {machine: "e2-standard-8", nodesPerZone: 3}`,
			},
			{name: "smaller pool of the system", old: "nodesPerZone: 2", new: "nodesPerZone: 1"},
			{name: "release channel", old: `"RAPID"`, new: `"REGULAR"`},
			{name: "CSI driver", old: "filestore:    true", new: "filestore:    false"},
			{name: "limits of auto-provisioning", old: `"nvidia-l4": 300`, new: `"nvidia-l4": 200`},
			{
				name: "security group", replaced: 2, old: "gke-security-groups@example.com",
				new: "gke-security-groups@other.example.com",
			},
			{name: "deletion protection", old: "cluster: {", new: "cluster: {\n\tdeletionProtection: false"},
			{name: "image streaming", old: "cluster: {", new: "cluster: {\n\timageStreaming: false"},
			{
				name: "authorized networks", old: "cluster: {",
				new: "cluster: {\n\tauthorizedNetworks: office: \"203.0.113.0/24\"",
			},
			{name: "flow logs", old: "cluster: {", new: "security: flowLogs: true\ncluster: {"},
			{name: "Binary Authorization", old: "cluster: {", new: "security: binaryAuthorization: true\ncluster: {"},
			{name: "labels", old: "cluster: {", new: "labels: cost: \"4711\"\ncluster: {"},
			{name: "labels of teams", old: "	bucket: true", new: "	bucket: true\n\tlabels: cost: \"4711\""},
			{name: "a team more", old: `	"team-d": `, new: "	\"team-e\": cohort: \"team-c-d\"\n\t\"team-d\": "},
			{name: "accounts of the teams", old: `"wi-\(Team)"`, new: `"sa-\(Team)"`},
			{name: "most nodes", old: "maxNodes: 36", new: "maxNodes: 40"},
			{name: "fewer nodes at most", old: "maxNodes: 36", new: "maxNodes: 26"},
			{name: "nodes that always run", old: "maxNodes: 24", new: "minNodes: 3, maxNodes: 24"},
			{name: "end of support", old: "maxNodes: 24", new: `maxNodes: 24, upgrades: "endOfSupport"`},
			{
				name: "type of disk", old: `l4: {machine: "g2-standard-24",`,
				new: `l4: {machine: "g2-standard-24", disk: type: "pd-ssd",`,
			},
		},
		"kai-departments": {
			{name: "fewer nodes", old: "nodes: 4", new: "nodes: 3\n\taccept: E0602: \"fewer for now\""},
			{name: "reservation's name", replaced: 1, old: `"h100-reservation"`, new: `"other"`},
			{
				name: "another cluster", replaced: 3, old: "cluster: ",
				new:         "network: controlPlane: \"172.16.1.32/28\"\ncluster: deletionProtection: false\ncluster: ",
				unprotected: true,
			},
			{
				name: "a capacity's name", old: `"h100-reserved"`, new: `"owned"`,
				order: true,
			},
			{name: "on demand", replaced: 1, old: `reservation: name: "h100-reservation"`, new: "onDemand: {}"},
			{
				name: "driver", replaced: 1, old: `h100: machine: "a3-highgpu-8g"`,
				new: `h100: {machine: "a3-highgpu-8g", gpuDriver: "LATEST"}`,
			},
		},
		"shared-vpc": {
			{name: "fewer nodes", old: "nodes: 4", new: `nodes: 3, accept: E0602: "fewer for now"`},
			{name: "subnet of the GPUs", replaced: 1, old: `"gpu-gvnic-b"`, new: `"gpu-gvnic-c"`},
			{name: "no Spot", replaced: 1, old: "spot: {}", new: "onDemand: {}"},
			{name: "a team less", old: `	speech: members: ["user:speech@example.com"]`, new: ""},
		},
		"existing": {
			{name: "a zone less", old: `zones: ["us-central1-a", "us-central1-c"]`, new: `zones: ["us-central1-a"]`},
			{name: "machine", replaced: 2, old: `"g2-standard-24"`, new: `"g2-standard-48"`},
			{name: "most nodes", old: "maxNodes: 8", new: "maxNodes: 12"},
		},
		"batch-platform-argocd": {
			{name: "fewer reserved machines", old: "nodes: 4", new: "nodes: 2"},
			{
				name: "a zone less", old: `zones: ["us-central1-a", "us-central1-b", "us-central1-c"]`,
				new: `zones: ["us-central1-a", "us-central1-c"]`,
			},
		},
		"batch-platform-dws": {
			{
				name: "most nodes", old: `"h100-eight", consumption: flexStart: queued: true, maxNodes: 2`,
				new: `"h100-eight", consumption: flexStart: queued: true, maxNodes: 3`,
			},
			{name: "machine", replaced: 1, old: `"a2-highgpu-2g"`, new: `"a2-highgpu-4g"`},
		},
		"tpu-training": {
			{name: "slices", old: `"192.168.64.0/20"`, new: `"10.32.0.0/16"`, tag: "slices=3"},
			{name: "no slices", tag: "slices=0"},
			{name: "autoscaled", tag: "autoscaled=true"},
			{
				name: "another type in another region", replaced: 12, tag: "type=v4", rejected: protectedCluster,
			},
			{name: "topology", replaced: 2, old: `topology: "4x4"`, new: `topology: "2x4"`},
			{name: "slices on Spot", replaced: 2, old: "consumption: onDemand: {}\n", new: "consumption: spot: {}\n"},
		},
		"a3-ultra-flex": {
			{name: "zone", replaced: 10, tag: "zone=us-central1-c"},
			{name: "not queued", replaced: 1, old: "flexStart: queued: true", new: "flexStart: queued: false"},
			{name: "Spot", replaced: 1, old: "flexStart: queued: true", new: "spot: {}"},
			{name: "networks of GPUs", replaced: 1, old: `, gpuDirect: true`, new: ""},
			{
				name: "range of RDMA", replaced: 9, old: "network: {",
				new: "network: rdma: \"192.168.192.0/18\"\nnetwork: {",
			},
			{name: "two networks", replaced: 1, old: `machine: "a3-ultragpu-8g"`, new: `machine: "a4-highgpu-8g"`},
		},
	} {
		t.Run(blueprint, func(t *testing.T) {
			t.Parallel()
			sources := []string{repository + "/blueprints/" + blueprint}
			if strings.HasPrefix(blueprint, "batch-platform-") { // an overlay
				sources = append([]string{repository + "/blueprints/batch-platform"}, sources...)
			}
			before := t.TempDir()
			compile(t, program, before, sources...)
			r := open(t, blueprint)
			r.prepare(t)
			r.create(t)
			for _, e := range edits {
				t.Run(e.name, func(t *testing.T) {
					after := t.TempDir()
					var args []string
					for _, source := range sources {
						dir := t.TempDir()
						if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
							t.Fatal(err)
						}
						args = append(args, dir)
					}
					e.apply(t, args)
					if e.tag != "" {
						args = append(args, "-t", e.tag)
					}
					compile(t, program, after, args...)
					defer e.begin(t, r)()
					r.become(t, after)
					got := r.plan(t, "plan", "-out=platform.tfplan")
					if len(got.said) > 0 {
						t.Fatal(got.said)
					}
					want, gone := []string{}, []string{}
					for address, action := range got.actions {
						switch {
						case action == "replace":
							want = append(want, address)
						case action == "delete" && slices.Contains(grave, kindOf(address)):
							gone = append(gone, address)
						}
					}
					slices.Sort(want)
					slices.Sort(gone)
					replaced, removed, losers, order := said(t, program, before, args...)
					if want := e.order || e.rejected == protectedCluster || e.unprotected; order != want {
						t.Errorf("the review says how several builds make the change: %t, want %t", order, want)
					}
					if d := cmp.Diff(want, replaced); d != "" {
						t.Errorf("replaced (-terraform +review):\n%s", d)
					}
					if d := cmp.Diff(gone, removed); d != "" {
						t.Errorf("removed (-terraform +review):\n%s", d)
					}
					if len(want) != e.replaced {
						t.Errorf("terraform replaces %d, want %d", len(want), e.replaced)
					}
					losses := r.losses(t, after)
					protected := slices.ContainsFunc(losses, func(l loss) bool { return l.why == "protected" })
					if want := e.rejected == protectedCluster; protected != want {
						t.Errorf("the build refuses to delete a protected cluster: %t, want %t", protected, want)
					}
					if e.rejected != protectedCluster && !e.unprotected { // otherwise no jobs and queues are left
						if d := cmp.Diff(retired(t, before, after, losses), losers); d != "" {
							t.Errorf("capacities that lose nodes (-build +review):\n%s", d)
						}
					}
					r.applyOnce(t, got.actions, losses, e.rejected)
				})
			}
		})
	}
}

// loss is a line that the build derives from a plan: a node pool that loses nodes.
type loss struct {
	capacity, pool, why string
	nodes               float64 // that stay in each zone, if there are only fewer
}

// losses returns what the build of a folder derives from the saved plan.
func (r root) losses(t *testing.T, folder string) (out []loss) {
	t.Helper()
	build := read(t, filepath.Join(folder, "cloudbuild/provision.yaml"))
	var steps struct{ Steps []struct{ Script string } }
	if err := yaml.Unmarshal([]byte(build), &steps); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps.Steps {
		_, text, found := strings.Cut(s.Script, "\nlost='")
		if !found {
			continue
		}
		text, _, _ = strings.Cut(text, "'")
		var plan any
		if err := json.Unmarshal(r.must(t, "show", "-json", "platform.tfplan"), &plan); err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		if err := template.Must(template.New("").Parse(text)).Execute(&lines, plan); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(lines.String(), "_", "-")) {
			var l loss
			if n, _ := fmt.Sscan(line, &l.capacity, &l.pool, &l.why, &l.nodes); n < 3 {
				t.Fatalf("the build derives %q", line)
			}
			out = append(out, l)
		}
		return out
	}
	t.Fatal("no step of the build reads the plan")
	return nil
}

// retired returns the capacities whose jobs the build stops, sorted. Their pools lose nodes,
// or their flavor is gone or has other labels. KAI Scheduler has no
// flavors, and its jobs stop with their nodes.
func retired(t *testing.T, before, after string, losses []loss) []string {
	t.Helper()
	flavors := func(folder string) map[string]string {
		out := map[string]string{}
		name := filepath.Join(folder, "kubernetes/resource-flavors.yaml")
		if _, err := os.Stat(name); err != nil {
			return nil
		}
		all := read(t, name)
		for text := range strings.SplitSeq(all, "\n---\n") {
			var flavor struct {
				Metadata struct{ Name string }
				Spec     struct {
					NodeLabels map[string]string `yaml:"nodeLabels"`
				}
			}
			if err := yaml.Unmarshal([]byte(text), &flavor); err != nil {
				t.Fatal(err)
			}
			out[flavor.Metadata.Name] = fmt.Sprint(flavor.Spec.NodeLabels)
		}
		return out
	}
	was, is := flavors(before), flavors(after)
	stopped := map[string]bool{}
	for _, l := range losses {
		if l.capacity != "system" {
			stopped[l.capacity] = true
		}
	}
	for name, labels := range was {
		if now, stays := is[name]; !stays || now != labels {
			stopped[name] = true
		}
	}
	return slices.Sorted(maps.Keys(stopped))
}

// applyOnce applies the saved plan as the build does: it first gives fewer nodes to the
// pools that get fewer. The plan must do everything in one run, or be rejected with a text.
// applyOnce then destroys the platform, unless the plan only updates resources: the order of
// deletion stays the same.
func (r root) applyOnce(t *testing.T, actions map[string]string, losses []loss, rejected string) {
	t.Helper()
	before := r.cloud.nodes()
	lose := map[string]bool{}
	for _, l := range losses {
		lose[l.pool] = true
		if l.why == "fewer" {
			r.cloud.set("google_container_node_pool", l.pool, "node_count", l.nodes)
		}
	}
	switch said := strings.Join(r.plan(t, "apply", "platform.tfplan").said, "\n"); {
	case rejected != "":
		if !strings.Contains(said, rejected) {
			t.Errorf("terraform apply says %q, want %q", said, rejected)
		}
	case said != "":
		t.Errorf("terraform apply says %q", said)
	default:
		if d := cmp.Diff(lost(before, r.cloud.nodes()), lose); d != "" {
			t.Errorf("pools that lose nodes (-cloud +build):\n%s", d)
		}
		if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
			t.Errorf("a second apply would do %v, and terraform says %q", again.actions, again.said)
		}
	}
	for _, action := range actions {
		if action != "update" {
			r.forgetProtection(t)
			args := []string{"destroy", "-no-color", "-auto-approve", "-input=false"}
			out, ok := r.run(t, args...)
			if !ok && rejected == errConsumed.Error() {
				// Terraform has forgotten that a pool uses the reservation that the folder no
				// longer has, and may delete that first. Then the pool is gone, and the next
				// build deletes the reservation.
				out, ok = r.run(t, args...)
			}
			if !ok {
				t.Errorf("terraform destroy:\n%s", out)
			}
			r.empty(t)
			return
		}
	}
}

// lost returns the pools that have fewer nodes now, or other ones, as keys.
func lost(before, now map[string]poolNodes) map[string]bool {
	out := map[string]bool{}
	for name, was := range before {
		is, stays := now[name]
		another := is.id != was.id || is.made != was.made
		left := slices.ContainsFunc(was.zones, func(zone string) bool { return !slices.Contains(is.zones, zone) })
		fewer := is.fixed && is.each < was.each
		if !stays || another || left || fewer {
			out[name] = true
		}
	}
	return out
}

// grave are the types of resources that hold nodes or data. A review does not
// mention the destruction of other types at its top.
var grave = []string{
	"google_container_cluster", "google_compute_reservation", "google_storage_bucket", "google_container_node_pool",
}

// said returns what batchwright diff reports between a folder and a blueprint, sorted: the
// addresses of the resources that are replaced, and that are removed, the capacities whose
// jobs stop because of their nodes, and whether it says how several builds make the change.
func said(t *testing.T, program, folder string, args ...string) (replaced, removed, losers []string, order bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program,
		append([]string{"diff", "--format", "json", "-o", folder}, args...)...)
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v\n%s", err, out)
	}
	replaced, removed = []string{}, []string{}
	reviews := 0
	for line := range bytes.Lines(out) {
		var review struct {
			Type                   string
			Replacements, Removals []struct{ Address, Order string }
			Summary                []struct{ Topic, Subject string }
		}
		if err := json.Unmarshal(line, &review); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if review.Type == "review" {
			reviews++
		}
		for _, r := range slices.Concat(review.Replacements, review.Removals) {
			order = order || r.Order != ""
		}
		for _, r := range review.Replacements {
			replaced = append(replaced, r.Address)
		}
		for _, r := range review.Removals {
			removed = append(removed, r.Address)
		}
		for _, l := range review.Summary {
			if name, ok := strings.CutPrefix(l.Subject, `jobs on capacity "`); ok {
				losers = append(losers, strings.TrimSuffix(name, `"`))
			}
		}
	}
	if reviews != 1 {
		t.Fatalf("%d reviews:\n%s", reviews, out)
	}
	slices.Sort(replaced)
	slices.Sort(removed)
	slices.Sort(losers)
	return replaced, removed, losers, order
}

// batchwright returns the program that -compiler names, or builds it.
func batchwright(t *testing.T) string {
	t.Helper()
	if *compiler != "" {
		return *compiler
	}
	program := filepath.Join(t.TempDir(), "batchwright")
	c := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/batchwright")
	c.Dir = repository
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func compile(t *testing.T, program, folder string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, append([]string{"compile", "-o", folder}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// become replaces the files of the root with the files of another folder, and keeps
// the files that Terraform and the tests have created.
func (r root) become(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(r.dir + "/*.tf*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, filepath.Join(r.dir, ".terraform.lock.hcl")) {
		if filepath.Base(file) != "local_override.tf" &&
			slices.Contains([]string{".tf", ".tfvars", ".hcl"}, filepath.Ext(file)) {
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, part := range []string{"modules", "dashboards"} { // for Infrastructure Manager, the root has the dashboards
		if err := os.RemoveAll(filepath.Join(r.dir, part)); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"terraform", "dashboards"} {
		to := filepath.Join(filepath.Dir(r.dir), part)
		if part == "dashboards" {
			if err := os.RemoveAll(to); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join(folder, part))); err != nil {
			t.Fatal(err)
		}
	}
}
