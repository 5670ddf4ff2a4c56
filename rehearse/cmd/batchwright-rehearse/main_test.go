package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
)

// build returns the program, built as for a user: outside a test, where Go promises
// testing/synctest to nobody. The tests that run it fail when a release of Go breaks that.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "batchwright-rehearse")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestProgram checks the program from the outside: what it reads, writes and returns.
func TestProgram(t *testing.T) {
	program := build(t)
	const namespace = `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}`
	const queues = `
		{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
		{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {
			"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
				{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}]}},
		{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "l", "namespace": "a"},
			"spec": {"clusterQueue": "q"}}`
	const template = `{"name": "w", "team": "a", "tier": "t", "object": {"apiVersion": "batch/v1", "kind": "Job",
		"metadata": {"name": "w", "namespace": "a", "labels": {"kueue.x-k8s.io/queue-name": "l"}},
		"spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [
			{"name": "c", "image": "c:1", "resources": {"requests": {"cpu": "1"}}}]}}}}}`
	const kueue = `"scheduler": {"name": "kueue", "version": "0.19.2"}`
	const good = `{"name": "n", ` + kueue + `, "until": 100, "objects": [` + namespace + `, ` + queues +
		`], "templates": [` + template + `],
		"jobs": [{"name": "w-1", "template": 0, "at": 5, "runs": 10}], "pools": []}`
	for _, test := range []struct {
		name, in string
		args     []string
		code     int
		says     string // on standard error
		check    func(t *testing.T, out []byte)
	}{
		{name: "version", args: []string{"version"}, check: func(t *testing.T, out []byte) {
			var contained rehearsal.Scheduler
			if err := json.Unmarshal(out, &contained); err != nil || contained.Title() != "Kueue "+runner.Kueue {
				t.Errorf("%v: %s", err, out)
			}
		}},
		{name: "a job", in: good, check: func(t *testing.T, out []byte) {
			var h rehearsal.History
			if err := json.Unmarshal(out, &h); err != nil {
				t.Fatal(err)
			}
			if len(h.Jobs) != 1 || h.Jobs[0].Outcome != rehearsal.Finished || h.Jobs[0].End != 15 {
				t.Errorf("history: %s", out)
			}
		}},
		{name: "an argument", args: []string{"play"}, code: 2, says: `"play" is no command`},
		{name: "nothing", code: 2, says: "EOF"},
		{name: "an unknown field", in: `{"nam": 1}`, code: 2, says: `unknown field "nam"`},
		{
			name: "another kind", in: `{` + kueue + `, "objects": [{"kind": "Pod"}]}`, code: 2,
			says: `objects of kind "Pod"`,
		},
		{
			name: "another Kueue", in: `{"scheduler": {"name": "kueue", "version": "0.20.0"}}`, code: 2,
			says: "the platform installs Kueue 0.20.0",
		},
		{
			name: "another scheduler", in: `{"scheduler": {"name": "kai", "version": "0.19.2"}}`, code: 2,
			says: "the platform installs KAI Scheduler 0.19.2, and this program contains Kueue 0.19.2",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(program, test.args...)
			var out, problems bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(test.in), &out, &problems
			_ = cmd.Run() // the exit code is compared below
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if said := problems.String(); test.says == "" && said != "" || !strings.Contains(said, test.says) {
				t.Errorf("standard error: %q, want: %q", said, test.says)
			}
			if test.check != nil {
				test.check(t, out.Bytes())
			} else if out.Len() > 0 {
				t.Errorf("standard output: %q", out.String())
			}
		})
	}
}
