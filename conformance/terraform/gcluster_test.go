package terraform

import (
	"encoding/json"
	"errors"
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
	for _, line := range guideCommands(t, r, "With Cluster Toolkit", "terraform -chdir=terraform ") {
		r.must(t, append(strings.Fields(line), autoApprove(line)...)...)
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
			for _, line := range guideCommands(t, r, "With Cluster Toolkit", "terraform -chdir=terraform ") {
				r.must(t, append(strings.Fields(line), autoApprove(line)...)...)
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
// destroy --auto-approve`. It returns the output of the last command, and whether
// all succeeded.
//
// Source: Cluster Toolkit, pkg/shell/terraform.go: needsInit, initModule,
// planModule, applyOrDestroy, outputModule; the arguments: terraform-exec, tfexec.
func (r root) play(t *testing.T, verb string) (string, bool) {
	t.Helper()
	initialize := func(all string) (string, bool) {
		out, ok := r.run(t, "init", "-no-color", "-input=false", "-backend="+all, "-get="+all, "-upgrade=false")
		return string(out), ok
	}
	if _, ok := initialize("false"); !ok {
		if out, ok := initialize("true"); !ok {
			return out, false
		}
	}
	plan := filepath.Join(t.TempDir(), "plan")
	args := []string{
		"plan", "-no-color", "-input=false", "-detailed-exitcode", "-lock-timeout=0s", "-out=" + plan, "-lock=true",
		"-refresh=true", "-json",
	}
	if verb == "destroy" {
		args = append(args, "-destroy")
	}
	c := exec.CommandContext(t.Context(), r.program, args...)
	c.Dir, c.Env = r.dir, r.env
	out, err := c.CombinedOutput()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil: // nothing to do
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		if out, ok := r.run(t, "apply", "-no-color", "-auto-approve", "-input=false", "-lock=true", plan); !ok {
			return string(out), false
		}
	default:
		return string(out), false
	}
	if verb == "destroy" {
		return "", true
	}
	outputs, ok := r.run(t, "output", "-no-color", "-json")
	if ok && !json.Valid(outputs) {
		t.Fatalf("no outputs:\n%s", outputs)
	}
	return string(outputs), ok
}

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

// guideCommands returns the commands in a section of the folder's REFERENCE.md that begin
// with a prefix, without the prefix.
func guideCommands(t *testing.T, r root, heading, prefix string) (out []string) {
	t.Helper()
	_, section, _ := strings.Cut(read(t, filepath.Join(r.dir, "../REFERENCE.md")), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, prefix); ok {
			out = append(out, strings.TrimSpace(command))
		}
	}
	if len(out) == 0 {
		t.Fatalf("section %s has no command that begins with %q", heading, prefix)
	}
	return out
}

// autoApprove returns the arguments that let a command run without a question.
func autoApprove(command string) []string {
	if strings.HasPrefix(command, "apply ") {
		return []string{"-auto-approve", "-input=false"}
	}
	return nil
}
