package terraform

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

// TestBuilds runs the Terraform commands of the builds. They must create a
// platform, and destroy it although it is protected and its creation may have
// failed.
func TestBuilds(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	r.prepare(t)
	script := step(t, "batch-platform", "destroy", "unprotect").Script
	if script == "" {
		t.Fatal("the build switches no protection off")
	}
	unprotect := func(t *testing.T) string {
		c := exec.CommandContext(t.Context(), "sh", "-c", script)
		c.Dir, c.Env = r.dir, append(r.env, "TF_IN_AUTOMATION=true")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if said := unprotect(t); said != "Nothing has been built.\n" {
		t.Errorf("before anything is built: %s", said)
	}
	r.must(t, step(t, "batch-platform", "provision", "terraform-plan").Args...)
	r.must(t, step(t, "batch-platform", "provision", "terraform-apply").Args...)
	file := filepath.Join(r.dir, "terraform.tfstate")
	built, restore := read(t, file), r.cloud.snapshot()
	destroy := step(t, "batch-platform", "destroy", "terraform-destroy").Args
	for name, before := range map[string][]string{
		"platform":              {"state", "list"},
		"failed cluster":        {"taint", "google_container_cluster.main"},
		"half of it is deleted": {"state", "rm", "google_project_iam_binding.team"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, built)
			restore()
			r.must(t, before...)
			were := strings.Count(string(r.must(t, "state", "list")), "\n")
			unprotect(t)
			if are := strings.Count(string(r.must(t, "state", "list")), "\n"); are != were {
				t.Errorf("%d resources became %d before they are destroyed", were, are)
			}
			if out, ok := r.run(t, destroy...); !ok {
				t.Errorf("terraform destroy:\n%s", out)
			}
			if left := r.must(t, "state", "list"); len(left) > 0 {
				t.Errorf("left:\n%s", left)
			}
		})
	}
	t.Run("protected", func(t *testing.T) {
		write(t, file, built)
		restore()
		if out, ok := r.run(t, destroy...); ok || !bytes.Contains(out, []byte("Protected from deletion")) {
			t.Errorf("the cluster is not protected:\n%s", out)
		}
	})
}

// TestHalves applies folders, and destroys them, while every nth request fails. The next build
// must do the rest, and destroying must also work after half an apply.
func TestHalves(t *testing.T) {
	t.Parallel()
	for form, failing := range map[string][]int{
		"batch-platform": {2, 7}, "a3-ultra-flex": {3}, "existing": {3}, "shared-vpc": {2}, "tpu-training": {3},
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := open(t, form)
			r.prepare(t)
			for _, nth := range failing {
				t.Run(strconv.Itoa(nth), func(t *testing.T) { r.halve(t, form, nth) })
			}
		})
	}
}

// TestCutOff applies a root by builds that are cut off after a single request each, and then
// destroys it by such builds: each build continues where the one before it ended.
func TestCutOff(t *testing.T) {
	t.Parallel()
	r := open(t, "kai-departments")
	r.prepare(t)
	defer r.cloud.cutOff(0)
	// repeat runs a command until no request is left to fail, and returns how often.
	repeat := func(command string) (builds int) {
		for {
			r.cloud.cutOff(1)
			out, ok := r.run(t, command, "-no-color", "-auto-approve", "-input=false")
			builds++
			switch {
			case ok:
				return builds
			case !strings.Contains(string(out), "Error 503") || builds > 200:
				t.Fatalf("build %d:\n%s", builds, out)
			}
		}
	}
	resources := len(r.declared(t))
	if builds := repeat("apply"); builds < resources/2 {
		t.Errorf("%d builds for %d resources: they are not cut off", builds, resources)
	}
	if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
		t.Errorf("another apply would do %v, and terraform says %q", again.actions, again.said)
	}
	r.forgetProtection(t)
	repeat("destroy")
	r.empty(t)
}

// halve applies a root while every nth request fails, and destroys what there is. From the
// same half, it then applies the rest, and destroys it in two builds, of which the first fails.
func (r root) halve(t *testing.T, form string, nth int) {
	t.Helper()
	file := filepath.Join(r.dir, "terraform.tfstate")
	args := slices.Insert(slices.Clone(step(t, form, "destroy", "terraform-destroy").Args), 1, "-no-color")
	destroy := func(nth int) (string, bool) {
		if form != ofOthers { // the build does not delete an existing cluster
			c := exec.CommandContext(t.Context(), "sh", "-c", step(t, form, "destroy", "unprotect").Script)
			c.Dir, c.Env = r.dir, append(r.env, "TF_IN_AUTOMATION=true")
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		r.cloud.fail(nth)
		defer r.cloud.fail(0)
		out, ok := r.run(t, args...)
		return string(out), ok
	}
	destroyAll := func() {
		t.Helper()
		if out, ok := destroy(0); !ok {
			t.Fatalf("terraform destroy:\n%s", out)
		}
		r.empty(t)
	}

	r.cloud.fail(nth)
	if said := r.plan(t, "apply", "-auto-approve").said; len(said) == 0 {
		t.Error("no request of the apply fails")
	}
	r.cloud.fail(0)
	half, restore := read(t, file), r.cloud.snapshot()
	destroyAll()

	write(t, file, half)
	restore()
	if said := r.plan(t, "apply", "-auto-approve").said; len(said) > 0 {
		t.Errorf("the second apply says %q", said)
	}
	if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
		t.Errorf("a third apply would do %v, and terraform says %q", again.actions, again.said)
	}
	if out, ok := destroy(nth); ok || !strings.Contains(out, "Error 503") {
		t.Errorf("no request of the destroy fails:\n%s", out)
	}
	destroyAll()
}

// empty checks that nothing is left in the state and in the cloud.
func (r root) empty(t *testing.T) {
	t.Helper()
	if left := r.must(t, "state", "list"); len(left) > 0 {
		t.Errorf("left in the state:\n%s", left)
	}
	if left := r.cloud.left(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// buildStep is a step of a build.
type buildStep struct {
	ID, Script string
	Args       []string
}

// step reads a step of a folder's build.
func step(t *testing.T, folder, build, id string) buildStep {
	t.Helper()
	var doc struct{ Steps []buildStep }
	name := filepath.Join(repository, "golden", folder, "cloudbuild", build+".yaml")
	if err := yaml.Unmarshal([]byte(read(t, name)), &doc); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(doc.Steps, func(s buildStep) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("the build of %s has no step %s", folder, id)
	}
	return doc.Steps[i]
}
