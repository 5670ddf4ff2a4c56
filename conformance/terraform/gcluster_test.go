package terraform

import (
	"errors"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGcluster runs on a fresh folder the Terraform commands of `gcluster deploy`
// and `gcluster destroy`, to the end. Only the provider and Cloud Storage, which
// keeps the state, are replaced by doubles.
func TestGcluster(t *testing.T) {
	t.Parallel()
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			r := open(t, name)
			state, env := serveBucket(t, "my-project-"+platformName(t, r)+"-tfstate")
			r.env = append(r.env, env...)

			r.gcluster(t, "deploy")
			if state.count(".tfstate") != 1 || state.count(".tflock") != 0 {
				t.Errorf("%d states and %d locks are in the bucket", state.count(".tfstate"), state.count(".tflock"))
			}
			r.gcluster(t, "deploy") // again

			if name != ofOthers { // the platform has no cluster to protect
				r.unprotect(t)
			}
			r.gcluster(t, "destroy")
			if left := r.must(t, "state", "list"); len(left) > 0 {
				t.Errorf("left:\n%s", left)
			}
		})
	}
}

// ofOthers is the folder of a platform in a cluster that others own.
const ofOthers = "existing"

// unprotect removes the deletion protection of the cluster, as the guide says.
func (r root) unprotect(t *testing.T) {
	t.Helper()
	out, ok := r.play(t, "destroy")
	if ok || !strings.Contains(out, "Protected from deletion") {
		t.Fatalf("the cluster is not protected:\n%s", out)
	}
	// The variable of the environment has no effect.
	env := r.env
	r.env = append(slices.Clone(env), "TF_VAR_deletion_protection=false")
	if got := r.plan(t, "plan").actions["google_container_cluster.main"]; got == "update" {
		t.Error("TF_VAR_deletion_protection goes before terraform.tfvars")
	}
	r.env = env
	for _, command := range guideCommands(t, r) {
		r.must(t, command...)
	}
}

// TestGclusterInitializes checks that the root calls a module. Otherwise gcluster
// treats a root as initialized that is not, and its plan fails.
func TestGclusterInitializes(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	_, env := serveBucket(t, "my-project-gke-batch-tfstate")
	r.env = append(r.env, env...)
	files, err := filepath.Glob(filepath.Join(r.dir, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "backend.tf" && name != "versions.tf" {
			write(t, file, "")
		}
	}
	if out, ok := r.play(t, "deploy"); ok || !strings.Contains(out, "Backend initialization required") {
		t.Errorf("a root without modules: success is %t\n%s", ok, out)
	}
}

// TestRealGcluster runs gcluster itself if it is installed.
func TestRealGcluster(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("gcluster")
	if err != nil {
		t.Skip("gcluster is not installed: what it runs of Terraform was played, and gcluster itself was not run")
	}
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			r := open(t, name)
			_, env := serveBucket(t, "my-project-"+platformName(t, r)+"-tfstate")
			r.env = append(r.env, env...)
			run := func(verb string) {
				c := exec.CommandContext(t.Context(), program, verb, ".", "--auto-approve")
				c.Dir, c.Env = filepath.Dir(r.dir), r.env
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("gcluster %s: %v\n%s", verb, err, out)
				}
			}
			run("deploy")
			for _, command := range guideCommands(t, r) {
				r.must(t, command...)
			}
			run("destroy")
			if left := r.must(t, "state", "list"); len(left) > 0 {
				t.Errorf("left:\n%s", left)
			}
		})
	}
}

// goldens are the folders under golden/.
var goldens = slices.DeleteFunc(slices.Clone(forms), func(form string) bool { return form == managed })

// gcluster runs the commands of a gcluster command, which must succeed.
func (r root) gcluster(t *testing.T, verb string) {
	t.Helper()
	if out, ok := r.play(t, verb); !ok {
		t.Fatalf("gcluster %s:\n%s", verb, out)
	}
}

// play runs the Terraform commands of `gcluster deploy --auto-approve` or `gcluster
// destroy --auto-approve` on the root. It returns the output of the last command, and whether
// all succeeded.
func (r root) play(t *testing.T, verb string) (string, bool) {
	t.Helper()
	_, out, err := r.toolkit().play(t.Context(), filepath.Base(r.dir), verb)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, err == nil
}

// toolkit returns the player of gcluster for the folder of the root.
func (r root) toolkit() toolkit { return toolkit{filepath.Dir(r.dir), r.program, r.env} }

// platformName returns the name of the platform from gcluster's artifact.
func platformName(t *testing.T, r root) string {
	t.Helper()
	for line := range strings.Lines(read(t, filepath.Join(r.dir, "../.ghpc/artifacts/expanded_blueprint.yaml"))) {
		if name, ok := strings.CutPrefix(line, "blueprint_name: "); ok {
			return strings.TrimSpace(name)
		}
	}
	t.Fatal("the artefact has no name")
	return ""
}

// guideCommands returns the commands with which the folder's REFERENCE.md unprotects the cluster.
func guideCommands(t *testing.T, r root) [][]string {
	t.Helper()
	commands, err := r.toolkit().commands()
	if err != nil {
		t.Fatal(err)
	}
	return commands
}

// serveBucket starts an empty bucket on the loopback interface. It returns the
// bucket, and the environment variables with which the backend finds it.
func serveBucket(t *testing.T, name string) (*bucket, []string) {
	t.Helper()
	b := newBucket(name)
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, bucketVariables(server.URL)
}
