package terraform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
)

const (
	repository = "../.."
	// facts is where what is known of the provider is expected.
	facts = repository + "/../shared/terraform"
)

// root is a Terraform root in a directory of its own.
type root struct {
	dir     string
	program string
	env     []string
}

// open copies the deploy folder at path, starts the double and lets Terraform
// initialize the folder's root. It skips the test where Terraform or the
// provider's schema is absent.
func open(t *testing.T, path string) root {
	t.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed: nothing was planned")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	// Whatever wants the network finds an empty directory instead.
	config := filepath.Join(dir, "terraform.rc")
	write(t, config, "disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = \""+t.TempDir()+"\"\n  }\n}\n")
	return root{
		dir: filepath.Join(dir, "terraform"), program: program,
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1", "TF_REATTACH_PROVIDERS=" + attach(t)},
	}
}

// attach starts the double, and skips the test where the schema is absent.
func attach(t *testing.T) string {
	t.Helper()
	d := &double{replacing: map[string][]string{}}
	content, err := os.ReadFile(facts + "/google-schema.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the provider's schema is not at %s: nothing was planned", facts)
	}
	replacing, err2 := os.ReadFile(facts + "/force-new.json")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	d.schemas, err = parseSchemas(content)
	if err := errors.Join(err, json.Unmarshal(replacing, &d.replacing)); err != nil {
		t.Fatal(err)
	}
	reattach, err := d.serve(t.Context(), tf5server.WithLoggingSink(t))
	if err != nil {
		t.Fatal(err)
	}
	return reattach
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// run runs a command of Terraform and returns its standard output, and whether
// it went well.
func (r root) run(t *testing.T, args ...string) ([]byte, bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), r.program, args...)
	c.Dir, c.Env = r.dir, r.env
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err != nil && len(out) == 0 {
		out = stderr.Bytes()
	}
	return out, err == nil
}

// must runs a command of Terraform that has to go well.
func (r root) must(t *testing.T, args ...string) []byte {
	t.Helper()
	out, ok := r.run(t, args...)
	if !ok {
		t.Fatalf("terraform %s:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// local makes Terraform keep the state in the root's directory.
func (r root) local(t *testing.T) {
	t.Helper()
	write(t, filepath.Join(r.dir, "local_override.tf"), "terraform {\n  backend \"local\" {\n  }\n}\n")
	r.must(t, "init", "-input=false", "-reconfigure")
}

// outcome is what Terraform says of a plan.
type outcome struct {
	actions map[string]string // by address: "create", "update", "replace", "delete"
	said    []string          // errors and warnings
}

// plan lets Terraform plan, or apply, the root.
func (r root) plan(t *testing.T, command string, args ...string) outcome {
	t.Helper()
	out, ok := r.run(t, append([]string{command, "-json", "-input=false"}, args...)...)
	o := outcome{actions: map[string]string{}}
	for line := range bytes.Lines(out) {
		var message struct {
			Type   string
			Change struct {
				Resource struct{ Addr string }
				Action   string
			}
			Diagnostic struct{ Severity, Summary, Detail string }
		}
		if err := json.Unmarshal(line, &message); err != nil {
			t.Fatalf("%v in what terraform %s says:\n%s", err, command, out)
		}
		switch message.Type {
		case "planned_change":
			o.actions[message.Change.Resource.Addr] = message.Change.Action
		case "diagnostic":
			d := message.Diagnostic
			o.said = append(o.said, d.Severity+": "+cmp.Or(d.Summary+": "+d.Detail))
		}
	}
	if ok == (len(o.said) > 0 && strings.HasPrefix(strings.Join(o.said, "\n"), "error")) {
		t.Fatalf("terraform %s: success %t\n%s", command, ok, out)
	}
	return o
}

func TestX(t *testing.T) {
	r := open(t, repository+"/golden/batch-platform-dws")
	t.Logf("%s", r.must(t, "init", "-backend=false", "-input=false"))
	t.Logf("%s", r.must(t, "validate", "-json"))
	r.local(t)
	t.Log(r.plan(t, "plan"))
	t.Log(r.plan(t, "apply", "-auto-approve"))
	t.Log(r.plan(t, "plan"))
	t.Log(r.plan(t, "plan", "-var", "cluster_name=other"))
}
