package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// others are namespaces that belong to no team: of Google's agents, of the cluster,
// of an administrator, and of JobSet.
var others = []string{"gmp-system", "kube-system", "default", "jobset-system"}

// ordinary are objects of a user who has nothing to do with Kueue.
var ordinary = map[string]string{
	"pod": `{apiVersion: v1, kind: Pod, metadata: {name: ordinary}, spec: {containers: [{name: c, image: pause}]}}`,
	"job": `{apiVersion: batch/v1, kind: Job, metadata: {name: ordinary},
  spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: pause}]}}}}`,
	"deployment": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: ordinary},
  spec: {selector: {matchLabels: {app: ordinary}}, template: {metadata: {labels: {app: ordinary}},
    spec: {containers: [{name: c, image: pause}]}}}}`,
}

// outage stops Kueue, which must affect only the teams. Then it leaves Kueue half
// installed: the webhooks of its release exist, and its program does not. The steps
// of the next build must repair the installation.
func (f *folder) outage() {
	f.Helper()
	submit := f.withoutKueue()
	if out, err := f.step("jobset"); err != nil {
		f.Fatalf("the step of JobSet with Kueue down: %v\n%s", err, out)
	}

	// Server-side apply keeps fields that another manager owns.
	f.kubectl("delete", "validatingwebhookconfigurations/kueue-validating-webhook-configuration",
		"mutatingwebhookconfigurations/kueue-mutating-webhook-configuration")
	f.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=kueue-release", "-f",
		f.plane.Release("kueue"))
	if err := f.create("pod", "gmp-system"); err == nil {
		f.Fatal("the webhooks of the release do not see the pods of gmp-system: what is held here has no object")
	}
	if out, err := f.step("jobset"); err == nil {
		f.Fatalf("the webhooks of the release do not see JobSet's Deployment: what is held here has no object\n%s", out)
	}
	f.broad()
	repaired := make(chan error, 1)
	go func() {
		out, err := f.step("kueue")
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		repaired <- err
	}()
	// The program starts when the step has applied the release with its own webhooks.
	f.eventually(func() string {
		select {
		case err := <-repaired:
			f.Fatalf("the step of Kueue ends before Kueue runs: %v", err)
		default:
		}
		if err := f.create("pod", "gmp-system"); err != nil {
			return err.Error()
		}
		return ""
	})
	if err := f.plane.StartKueue(f.ctx); err != nil {
		f.Fatal(err)
	}
	if err := <-repaired; err != nil {
		f.Fatalf("the step of Kueue does not repair it: %v", err)
	}
	for _, id := range []string{"jobset", "priorities", "local-queues", "manifests", "queues"} {
		if out, err := f.step(id); err != nil {
			f.Fatalf("step %s after the repair: %v\n%s", id, err, out)
		}
	}
	f.kubectl(submit...)
	f.plane.StopKueue()
	if err := f.create("pod", "gmp-system"); err != nil {
		f.Fatalf("a pod in gmp-system after the repair: %v", err)
	}
	if err := f.plane.StartKueue(f.ctx); err != nil {
		f.Fatal(err)
	}
}

// withoutKueue stops Kueue, which must affect only the teams. It returns the arguments of
// the command that submits a job of a team in a dry run, which is refused now.
func (f *folder) withoutKueue() []string {
	f.Helper()
	if _, err := f.plane.Kubectl(f.ctx, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: gmp-system}}"),
		"apply", "--server-side", "--field-manager=plane", "-f", "-"); err != nil {
		f.Fatal(err)
	}
	f.eventually(func() string {
		if len(f.get("serviceaccounts", "--namespace=gmp-system")) == 0 {
			return "gmp-system has no service account"
		}
		return ""
	})

	f.plane.StopKueue()
	for _, namespace := range others {
		for kind := range ordinary {
			if err := f.create(kind, namespace); err != nil {
				f.Fatalf("a %s in %s with Kueue down: %v", kind, namespace, err)
			}
		}
	}
	job := filepath.Join(f.dir, "workloads/team-a/low-priority-1.yaml")
	args := append([]string{"apply", "--server-side", "--dry-run=server", "-f", job}, f.member("team-a")...)
	if _, err := f.plane.Kubectl(f.ctx, nil, args...); err == nil ||
		!strings.Contains(err.Error(), `failed calling webhook "mjob.kb.io"`) {
		f.Fatalf("a job of a team with Kueue down: %v, want a refusal", err)
	}
	return args
}

// broad checks that the build refuses a release with a webhook for jobs that sees
// every namespace.
func (f *folder) broad() {
	f.Helper()
	release, err := os.ReadFile(f.plane.Release("kueue"))
	if err != nil {
		f.Fatal(err)
	}
	first := regexp.MustCompile(`"namespaceSelector":\{[^}]*\}\]\},`).FindIndex(release)
	if first == nil {
		f.Fatal("no webhook of the release has a namespaceSelector")
	}
	file := filepath.Join(f.TempDir(), "broad.yaml")
	if err := os.WriteFile(file, slices.Delete(release, first[0], first[1]), 0o600); err != nil {
		f.Fatal(err)
	}
	out, err := f.step("kueue", "MANIFEST=file://"+file)
	if err == nil || !strings.Contains(out, "see every namespace:\nmappwrapper.kb.io\n") {
		f.Fatalf("a release with a webhook that sees every namespace: %v\n%s", err, out)
	}
}

// create creates an ordinary object in a dry run.
func (f *folder) create(kind, namespace string) error {
	_, err := f.plane.Kubectl(f.ctx, []byte(ordinary[kind]), "create", "--dry-run=server", "--namespace="+namespace,
		"-f", "-")
	return err
}

// substitution matches a reference in the steps of a build. Source: Cloud Build
// documentation, "Substitute variable values".
var substitution = regexp.MustCompile(`\$\$|\$[A-Z_][A-Z0-9_]*`)

// step runs a step of the folder's build on the plane, with additional variables in
// its environment, and returns its output. Releases come from the plane instead of
// the network.
func (f *folder) step(id string, variables ...string) (string, error) {
	return f.stepOf("provision", id, variables...)
}

// stepOf is step for a build of the given name: provision or destroy.
func (f *folder) stepOf(name, id string, variables ...string) (string, error) {
	if _, err := os.Stat(filepath.Join(f.dir, planFile)); id == "retire" && err != nil {
		f.plan()
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "cloudbuild", name+".yaml"))
	if err != nil {
		return "", err
	}
	var build struct {
		Steps []struct {
			ID, Entrypoint, Script string
			Args, Env              []string
		}
		Substitutions map[string]string
	}
	if err := yaml.Unmarshal(text, &build); err != nil {
		return "", err
	}
	substitute := func(s string) string {
		return substitution.ReplaceAllStringFunc(s, func(ref string) string {
			if ref == "$$" {
				return "$"
			}
			return build.Substitutions[ref[1:]]
		})
	}
	for _, s := range build.Steps {
		if s.ID != id {
			continue
		}
		ctx, cancel := context.WithTimeout(f.ctx, 20*time.Minute)
		defer cancel()
		var args []string
		for _, arg := range s.Args {
			args = append(args, substitute(arg))
		}
		program := s.Entrypoint
		if s.Script != "" {
			file := filepath.Join(f.TempDir(), id)
			if err := os.WriteFile(file, []byte(s.Script), 0o600); err != nil {
				return "", err
			}
			program, args = "bash", []string{file}
		}
		cmd := exec.CommandContext(ctx, program, args...)
		if s.Entrypoint == "kubectl" {
			cmd.Path = filepath.Join(f.plane.Bin(), "kubectl")
		}
		cmd.Dir = f.dir
		cmd.Env = f.plane.Environ()
		for _, variable := range s.Env {
			cmd.Env = append(cmd.Env, substitute(variable))
		}
		if id == "kueue" || id == "jobset" {
			// The plane changes the release so that it runs without containers, so no
			// SHA-256 fits it.
			cmd.Env = append(cmd.Env, "MANIFEST=file://"+f.plane.Release(id), "MANIFEST_SHA256=")
		}
		cmd.Env = append(cmd.Env, variables...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	return "", fmt.Errorf("the build has no step %q", id)
}
