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
	script := step(t, "destroy", "unprotect").Script
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
	r.must(t, step(t, "provision", "terraform-plan").Args...)
	r.must(t, step(t, "provision", "terraform-apply").Args...)
	file := filepath.Join(r.dir, "terraform.tfstate")
	built, restore := read(t, file), r.cloud.snapshot()
	destroy := step(t, "destroy", "terraform-destroy").Args
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

// TestHalves applies a folder, and destroys it, while some requests fail. The next build
// must do the rest, and destroying must also work after half an apply.
func TestHalves(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	r.prepare(t)
	file := filepath.Join(r.dir, "terraform.tfstate")
	destroy := slices.Insert(slices.Clone(step(t, "destroy", "terraform-destroy").Args), 1, "-no-color")
	unprotect := func(t *testing.T) {
		c := exec.CommandContext(t.Context(), "sh", "-c", step(t, "destroy", "unprotect").Script)
		c.Dir, c.Env = r.dir, append(r.env, "TF_IN_AUTOMATION=true")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	empty := func(t *testing.T) {
		t.Helper()
		if left := r.must(t, "state", "list"); len(left) > 0 {
			t.Errorf("left in the state:\n%s", left)
		}
		for key := range r.cloud.stored {
			t.Errorf("left: %s %s", key[0], key[1])
		}
	}
	for _, each := range []int{2, 3, 7} {
		t.Run(strconv.Itoa(each), func(t *testing.T) {
			r.cloud.failing = each
			if said := r.plan(t, "apply", "-auto-approve").said; len(said) == 0 {
				t.Error("no request of the apply fails")
			}
			r.cloud.failing = 0
			half, restore := read(t, file), r.cloud.snapshot()
			unprotect(t)
			r.must(t, destroy...)
			empty(t)

			write(t, file, half)
			restore()
			if said := r.plan(t, "apply", "-auto-approve").said; len(said) > 0 {
				t.Errorf("the second apply says %q", said)
			}
			if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
				t.Errorf("a third apply would do %v, and terraform says %q", again.actions, again.said)
			}
			unprotect(t)
			r.cloud.failing = each
			if out, ok := r.run(t, destroy...); ok || !bytes.Contains(out, []byte("Error 503")) {
				t.Errorf("no request of the destroy fails:\n%s", out)
			}
			r.cloud.failing = 0
			unprotect(t)
			r.must(t, destroy...)
			empty(t)
		})
	}
}

// buildStep is a step of a build.
type buildStep struct {
	ID, Script string
	Args       []string
}

// step reads a step of a build of the batch platform.
func step(t *testing.T, build, id string) buildStep {
	t.Helper()
	var doc struct{ Steps []buildStep }
	if err := yaml.Unmarshal([]byte(read(t, repository+"/golden/batch-platform/cloudbuild/"+build+".yaml")),
		&doc); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(doc.Steps, func(s buildStep) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("the build has no step %s", id)
	}
	return doc.Steps[i]
}
