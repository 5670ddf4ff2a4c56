package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
)

// toolkit plays gcluster of Cluster Toolkit on a deploy folder.
type toolkit struct {
	folder  string
	program string // Terraform
	env     []string
}

// groups returns the deployment groups of the folder, in the order in which `gcluster deploy`
// applies them.
//
// Source: Cluster Toolkit, cmd/deploy.go: doDeploy.
func (k toolkit) groups() (names []string, err error) {
	text, err := os.ReadFile(filepath.Join(k.folder, ".ghpc/artifacts/expanded_blueprint.yaml"))
	if err != nil {
		return nil, err
	}
	var blueprint struct {
		Groups []struct{ Group string } `yaml:"deployment_groups"`
	}
	err = yaml.Unmarshal(text, &blueprint)
	for _, g := range blueprint.Groups {
		names = append(names, g.Group)
	}
	return names, err
}

// run plays `gcluster deploy --auto-approve` or `gcluster destroy --auto-approve`. It returns
// the groups in which Terraform had something to do, in their order, and the output of the last
// command.
//
// Source: Cluster Toolkit, cmd/deploy.go: doDeploy, which ends at the first error;
// cmd/destroy.go: destroyGroups, which goes through the groups in the opposite order, and after
// an error goes on with the next one.
func (k toolkit) run(ctx context.Context, verb string) (changed []string, out string, err error) {
	groups, err := k.groups()
	if verb == "destroy" {
		slices.Reverse(groups)
	}
	for _, group := range groups {
		if err != nil && verb == "deploy" {
			break
		}
		did, text, failure := k.play(ctx, group, verb)
		if did {
			changed = append(changed, group)
		}
		out, err = text, errors.Join(err, failure)
	}
	return changed, out, err
}

// play runs the Terraform commands of gcluster's deploy or destroy on the root of a group. It
// returns whether Terraform has changed something, and the output of the last command. If a
// command fails, the error is the one of package exec.
//
// Source: Cluster Toolkit, pkg/shell/terraform.go: needsInit, initModule,
// planModule, applyOrDestroy, outputModule; the arguments: terraform-exec, tfexec.
func (k toolkit) play(ctx context.Context, group, verb string) (changed bool, out string, err error) {
	initialize := func(all string) (string, error) {
		return k.terraform(ctx, group, "init", "-no-color", "-input=false", "-backend="+all, "-get="+all,
			"-upgrade=false")
	}
	if _, err := initialize("false"); err != nil {
		if out, err := initialize("true"); err != nil {
			return false, out, err
		}
	}
	temporary, err := os.MkdirTemp("", "plan-")
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(temporary)
	plan := filepath.Join(temporary, "plan")
	args := []string{
		"plan", "-no-color", "-input=false", "-detailed-exitcode", "-lock-timeout=0s", "-out=" + plan, "-lock=true",
		"-refresh=true", "-json",
	}
	if verb == "destroy" {
		args = append(args, "-destroy")
	}
	out, err = k.terraform(ctx, group, args...)
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil: // nothing to do
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		changed = true
		out, err = k.terraform(ctx, group, "apply", "-no-color", "-auto-approve", "-input=false", "-lock=true", plan)
		if err != nil {
			return changed, out, err
		}
	default:
		return false, out, err
	}
	if verb == "destroy" {
		return changed, "", nil
	}
	out, err = k.terraform(ctx, group, "output", "-no-color", "-json")
	if err == nil && !json.Valid([]byte(out)) {
		err = fmt.Errorf("no outputs:\n%s", out)
	}
	return changed, out, err
}

// terraform runs a command of Terraform on the root of a group. It returns the output of both
// kinds.
func (k toolkit) terraform(ctx context.Context, group string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, k.program, args...)
	c.Dir, c.Env = filepath.Join(k.folder, group), k.env
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

// commands returns the arguments of the Terraform commands with which the folder's REFERENCE.md
// unprotects the cluster before `gcluster destroy`, so that they run without a question.
func (k toolkit) commands() (out [][]string, err error) {
	const heading, prefix = "With Cluster Toolkit", "terraform -chdir=terraform "
	text, err := os.ReadFile(filepath.Join(k.folder, "REFERENCE.md"))
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, prefix); ok {
			args := strings.Fields(command)
			if args[0] == "apply" {
				args = append(args, "-auto-approve", "-input=false")
			}
			out = append(out, args)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("section %s has no command that begins with %q", heading, prefix)
	}
	return out, nil
}
