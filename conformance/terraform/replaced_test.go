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
	for blueprint, all := range allEdits {
		for edits := range slices.Chunk(shareOf(t, blueprint, all), 25) { // side by side, each with a root of its own
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
					t.Run(e.name, func(t *testing.T) { r.holdEdit(t, e, program, before, sources) })
				}
			})
		}
	}
}

// shareOf returns the edits that this run applies. With SHARE=2/4, these are the second of four
// shares, and it says how many edits are not run.
func shareOf(t *testing.T, blueprint string, edits []blueprintEdit) (own []blueprintEdit) {
	t.Helper()
	share := os.Getenv("SHARE")
	if share == "" {
		return edits
	}
	var number, of int
	if _, err := fmt.Sscanf(share, "%d/%d", &number, &of); err != nil || number < 1 || number > of {
		t.Fatalf("SHARE is %q, want a share such as 2/4", share)
	}
	for i, e := range edits {
		if i%of == number-1 {
			own = append(own, e)
		}
	}
	if rest := len(edits) - len(own); rest > 0 {
		fmt.Printf("not run: %s/%s, in other shares than %s: %d of %d edits\n", t.Name(), blueprint, share,
			rest, len(edits))
	}
	return own
}

// holdEdit applies an edit to a root in which a platform exists, and compares the review
// with what Terraform does. It leaves the root as it was.
func (r root) holdEdit(t *testing.T, e blueprintEdit, program, before string, sources []string) {
	t.Helper()
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
	review := readReview(t, program, before, args...)
	if want := e.order || e.rejected == protectedCluster || e.unprotected; review.order != want {
		t.Errorf("the review says how several builds make the change: %t, want %t", review.order, want)
	}
	refuses := strings.Contains(review.summary, "Google Cloud refuses to change a range")
	if want := e.rejected == errRange.Error(); refuses != want {
		t.Errorf("the review says that Google Cloud refuses a range: %t, want %t", refuses, want)
	}
	if d := cmp.Diff(want, review.replaced); d != "" {
		t.Errorf("replaced (-terraform +review):\n%s", d)
	}
	if d := cmp.Diff(gone, review.removed); d != "" {
		t.Errorf("removed (-terraform +review):\n%s", d)
	}
	if len(want) != e.replaced {
		t.Errorf("terraform replaces %d, want %d", len(want), e.replaced)
	}
	changes := len(got.actions) > 0 || e.rejected != ""
	var losses []loss
	if changes {
		losses = r.losses(t, after)
	}
	protected := slices.ContainsFunc(losses, func(l loss) bool { return l.why == "protected" })
	if want := e.rejected == protectedCluster; protected != want {
		t.Errorf("the build refuses to delete a protected cluster: %t, want %t", protected, want)
	}
	if e.rejected != protectedCluster && !e.unprotected { // otherwise no jobs and queues are left
		if d := cmp.Diff(retired(t, before, after, losses), review.losers); d != "" {
			t.Errorf("capacities that lose nodes (-build +review):\n%s", d)
		}
	}
	if changes {
		r.applyOnce(t, got.actions, losses, e.rejected)
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

// review is the output of batchwright diff between a folder and a blueprint. The lists are
// sorted.
type review struct {
	replaced, removed []string // addresses of resources
	losers            []string // capacities whose jobs stop because of their nodes
	order             bool     // it says how several builds make the change
	summary           string   // its notes, a line each
}

// readReview runs batchwright diff with arguments.
func readReview(t *testing.T, program, folder string, args ...string) review {
	t.Helper()
	c := exec.CommandContext(t.Context(), program,
		append([]string{"diff", "--format", "json", "-o", folder}, args...)...)
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v\n%s", err, out)
	}
	r := review{replaced: []string{}, removed: []string{}}
	reviews := 0
	for line := range bytes.Lines(out) {
		var said struct {
			Type                   string
			Replacements, Removals []struct{ Address, Order string }
			Summary                []struct{ Topic, Subject, Note string }
			Jobs                   []struct {
				Cause, Capacity string
				Running         struct{ Kind, Text string }
			}
		}
		if err := json.Unmarshal(line, &said); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if said.Type == "review" {
			reviews++
		}
		for _, x := range slices.Concat(said.Replacements, said.Removals) {
			r.order = r.order || x.Order != ""
		}
		for _, x := range said.Replacements {
			r.replaced = append(r.replaced, x.Address)
		}
		for _, x := range said.Removals {
			r.removed = append(r.removed, x.Address)
		}
		for _, l := range said.Summary {
			r.summary += l.Note + "\n"
		}
		for _, e := range said.Jobs {
			// KAI Scheduler stops the jobs of deleted nodes only. Nodes that GKE recreates are no
			// change of Terraform's resources.
			stop := e.Running.Kind == "stop" || strings.HasPrefix(e.Running.Text, "stop if their node is deleted")
			if e.Capacity != "" && stop && !strings.Contains(e.Cause, "GKE recreates") {
				r.losers = append(r.losers, e.Capacity)
			}
		}
	}
	if reviews != 1 {
		t.Fatalf("%d reviews:\n%s", reviews, out)
	}
	slices.Sort(r.replaced)
	slices.Sort(r.removed)
	slices.Sort(r.losers)
	return r
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
