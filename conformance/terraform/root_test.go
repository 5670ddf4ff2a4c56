package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
)

const (
	repository = "../.."
	// facts is the folder with the schema of the provider.
	facts = repository + "/golden/testdata/provider"
)

var folders = flag.String("folders", "", "the `directory` of the deploy folders that are planned; without it, the\n"+
	"blueprints are compiled")

var compiler = flag.String("compiler", "", "the `path` of batchwright; without it, it is built")

// edit is a change of a file under terraform/ of a folder.
type edit struct{ file, old, new string }

// root is a Terraform root in a directory of its own.
type root struct {
	dir     string
	program string
	env     []string
	cloud   *cloud // what the double has been asked for
}

// open takes a deploy folder by its name, or makes one with the arguments of
// batchwright compile, and starts the double with the rights of the folder's build.
// It skips the test if Terraform is absent.
func open(t *testing.T, form string) root {
	t.Helper()
	program, double, dir := program(t, form), newDouble(t), layFolder(t, form)
	double.rights = readRights(read(t, filepath.Join(dir, "create-platform.sh")))
	reattach, err := double.serve(t.Context(), tf5server.WithLoggingSink(t))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(form, managedTag) {
		// Infrastructure Manager gets only this folder.
		alone := t.TempDir()
		if err := os.Rename(filepath.Join(dir, "terraform"), filepath.Join(alone, "terraform")); err != nil {
			t.Fatal(err)
		}
		dir = alone
	}
	// A program that wants the network finds an empty directory instead.
	config := filepath.Join(dir, "terraform.rc")
	write(t, config,
		fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  "+
			"}\n}\n", t.TempDir()))
	return root{
		dir: filepath.Join(dir, "terraform"), program: program,
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1",
			"TF_REATTACH_PROVIDERS=" + reattach,
			"GOGC=400", // each command takes seconds
		},
		cloud: &double.cloud,
	}
}

// layFolder lays the deploy folder of a form into a directory of its own.
func layFolder(t *testing.T, form string) string {
	t.Helper()
	above := t.TempDir()
	dir := filepath.Join(above, strings.ReplaceAll(filepath.Base(form), " ", "-"))
	var lay *exec.Cmd
	switch {
	case strings.Contains(form, "/"):
		args := append([]string{"run", "./cmd/batchwright", "compile", "-o", dir}, strings.Fields(form)...)
		lay = exec.CommandContext(t.Context(), "go", args...)
		lay.Dir = repository
	case *folders == "":
		lay = exec.CommandContext(t.Context(), repository+"/conformance/folders", above, form)
	default:
		lay = exec.CommandContext(t.Context(), "cp", "-R", filepath.Join(*folders, form), above)
	}
	if out, err := lay.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// program returns the Terraform for a form: Infrastructure Manager's version if it
// was built, and the installed one for all other forms.
func program(t *testing.T, form string) string {
	t.Helper()
	if strings.Contains(form, managedTag) {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(cache, "batchwright/terraform-1.5.7")
		if _, err := os.Stat(name); err != nil {
			t.Skip("Infrastructure Manager's Terraform is not built, see make conformance: nothing was planned")
		}
		return name
	}
	name, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed: nothing was planned")
	}
	return name
}

// newDouble returns a double of the provider.
func newDouble(t *testing.T) *double {
	t.Helper()
	d, err := readDouble(facts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// prepare lets Terraform initialize and validate the root unchanged, and then keeps
// the state beside the root.
func (r root) prepare(t *testing.T) {
	t.Helper()
	r.must(t, "init", "-input=false", "-backend=false")
	var valid struct {
		Diagnostics []struct{ Severity, Summary, Detail string }
	}
	if err := json.Unmarshal(r.must(t, "validate", "-json"), &valid); err != nil {
		t.Fatal(err)
	}
	for _, d := range valid.Diagnostics {
		t.Fatalf("terraform validate: %s: %s: %s", d.Severity, d.Summary, d.Detail)
	}
	write(t, filepath.Join(r.dir, "local_override.tf"), "terraform {\n  backend \"local\" {\n  }\n}\n")
	r.must(t, "init", "-input=false", "-reconfigure")
}

// create plans and applies the root without complaints from Terraform, and then
// checks that nothing is left to do. It returns the first plan.
func (r root) create(t *testing.T) outcome {
	t.Helper()
	first := r.plan(t, "plan")
	if len(first.said) > 0 || len(first.actions) == 0 {
		t.Fatalf("terraform says %q and plans %d changes", first.said, len(first.actions))
	}
	if applied := r.plan(t, "apply", "-auto-approve"); len(applied.said) > 0 {
		t.Fatal(applied.said)
	}
	if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
		t.Errorf("a second apply would do %v, and terraform says %q", again.actions, again.said)
	}
	r.ordered(t)
	// gcluster and others read the exit code.
	if out, ok := r.run(t, "plan", "-detailed-exitcode", "-input=false"); !ok {
		t.Errorf("a second plan does not count as empty:\n%s", out)
	}
	return first
}

// ordered checks that Terraform knows which resources use another one, so that it creates
// the used one first and deletes it last: an API refuses to delete what is used.
func (r root) ordered(t *testing.T) {
	t.Helper()
	type resource struct {
		Module, Mode, Type, Name string
		Instances                []struct {
			Attributes   map[string]any
			Dependencies []string
		}
	}
	var state struct{ Resources []resource }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(r.dir, "terraform.tfstate"))), &state); err != nil {
		t.Fatal(err)
	}
	address := func(r resource) string { return strings.TrimPrefix(r.Module+"."+r.Type+"."+r.Name, ".") }
	names := map[[2]string]string{} // address by type and name
	state.Resources = slices.DeleteFunc(state.Resources, func(r resource) bool { return r.Mode != "managed" })
	for _, used := range state.Resources {
		for _, i := range used.Instances {
			name, _ := i.Attributes["name"].(string)
			names[[2]string{used.Type, name}] = address(used)
		}
	}
	found := false
	for kind, all := range users {
		for _, user := range state.Resources {
			for _, by := range all {
				if by[0] != user.Type {
					continue
				}
				for _, i := range user.Instances {
					for _, name := range values(i.Attributes, strings.Split(by[1], ".")) {
						used, made := names[[2]string{kind, lastElement(name)}]
						found = found || made
						if made && !slices.Contains(i.Dependencies, used) {
							t.Errorf("%s uses %s, and does not depend on it", address(user), used)
						}
					}
				}
			}
		}
	}
	ofNetwork := func(r resource) bool { return r.Type == "google_compute_network" }
	if !found && slices.ContainsFunc(state.Resources, ofNetwork) {
		t.Error("nothing uses the network")
	}
}

// edit changes the first match in a file until the test is done. In the new text $0
// stands for the match.
func (r root) edit(t *testing.T, e edit) {
	t.Helper()
	name := filepath.Join(r.dir, e.file)
	was := read(t, name)
	if !strings.Contains(was, e.old) {
		t.Fatalf("%s has no %q", e.file, e.old)
	}
	write(t, name, strings.Replace(was, e.old, strings.ReplaceAll(e.new, "$0", e.old), 1))
	t.Cleanup(func() { write(t, name, was) })
}

// declared returns the resources of the root and of its modules, as in
// "google_x.name" and "module.network.google_x.name", sorted. It omits resources
// that never have an instance. A module's folder has the name of its call.
func (r root) declared(t *testing.T) (out []string) {
	t.Helper()
	for _, pattern := range []string{"/*.tf", "/modules/*/*.tf"} {
		files, err := filepath.Glob(r.dir + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			module := ""
			if dir := filepath.Dir(file); dir != r.dir {
				module = "module." + filepath.Base(dir) + "."
			}
			for _, m := range regexp.MustCompile(`(?m)^resource "(.+)" "(.+)" \{\n(.*)`).FindAllStringSubmatch(
				read(t, file), -1) {
				if m[3] != "  for_each = {}" {
					out = append(out, module+m[1]+"."+m[2])
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// run runs a Terraform command. It returns the output, and whether the command
// succeeded.
func (r root) run(t *testing.T, args ...string) ([]byte, bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), r.program, args...)
	c.Dir, c.Env = r.dir, r.env
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, err == nil
}

// must runs a Terraform command that must succeed.
func (r root) must(t *testing.T, args ...string) []byte {
	t.Helper()
	out, ok := r.run(t, args...)
	if !ok {
		t.Fatalf("terraform %s:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// outcome is the result of a plan, as Terraform reports it.
type outcome struct {
	// actions are "create", "update", "replace" and "delete", and "remove" for a resource that
	// Terraform forgets, by address.
	actions map[string]string
	said    []string // errors and warnings
}

// plan lets Terraform plan, or apply, the root.
func (r root) plan(t *testing.T, args ...string) outcome {
	t.Helper()
	out, ok := r.run(t, slices.Concat(args[:1], []string{"-json", "-input=false"}, args[1:])...)
	o, failed := outcome{actions: map[string]string{}}, false
	for line := range bytes.Lines(out) {
		var message struct {
			Type   string
			Change struct {
				Resource struct{ Addr string }
				Action   string
			}
			Diagnostic struct {
				Severity, Summary, Detail string
				Range                     struct {
					Filename string
					Start    struct{ Line int }
				}
			}
		}
		if err := json.Unmarshal(line, &message); err != nil {
			t.Fatalf("%v in what terraform says:\n%s", err, out)
		}
		switch message.Type {
		case "planned_change":
			// Terraform reads the data source of a check in every plan.
			if message.Change.Action != "read" {
				o.actions[message.Change.Resource.Addr] = message.Change.Action
			}
		case "diagnostic":
			d := message.Diagnostic
			o.said = append(o.said,
				fmt.Sprintf("%s: %s: %s (%s:%d)", d.Severity, d.Summary, d.Detail, d.Range.Filename,
					d.Range.Start.Line))
			failed = failed || d.Severity == "error"
		}
	}
	if ok == failed {
		t.Fatalf("terraform %s: success is %t\n%s", strings.Join(args, " "), ok, out)
	}
	return o
}

// declared returns the resources without their keys, sorted.
func (o outcome) declared() []string {
	out := map[string]bool{}
	for addr := range o.actions {
		name, _, _ := strings.Cut(addr, "[")
		out[name] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// kinds counts the resources by type.
func (o outcome) kinds() map[string]int {
	out := map[string]int{}
	for addr := range o.actions {
		out[kindOf(addr)]++
	}
	return out
}

// kindOf returns the type of a resource, of the root or of a module.
func kindOf(addr string) string {
	if inModule, ok := strings.CutPrefix(addr, "module."); ok {
		_, addr, _ = strings.Cut(inModule, ".")
	}
	kind, _, _ := strings.Cut(addr, ".")
	return kind
}

// summary returns how often each action is done to each resource, as in "update
// google_x.name 2", sorted.
func (o outcome) summary() (out []string) {
	n := map[string]int{}
	for addr, action := range o.actions {
		name, _, _ := strings.Cut(addr, "[")
		n[action+" "+name]++
	}
	for what, n := range n {
		out = append(out, fmt.Sprintf("%s %d", what, n))
	}
	slices.Sort(out)
	return out
}
