package demonstration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/hostile"
)

// examplePlatform returns a platform of two teams with a text wherever the script takes
// one. Each team has two copies of "train" and "tune" if the text is harmless.
func examplePlatform(s string) *ir.Platform {
	waiting := 1
	p := &ir.Platform{
		Name: s,
		Teams: []ir.Team{
			{Name: "vision", Namespace: "vision", Queues: []ir.Queue{{Tier: "lp", ClusterQueue: "cq-vision"}}},
			{Name: "speech" + s, Namespace: "speech", Queues: []ir.Queue{{Tier: "lp", ClusterQueue: "cq-speech"}}},
		},
		Capacities: []ir.Capacity{
			{Name: "l4", Static: true, MaxNodes: 2, NodeLabels: []ir.KeyValue{{Key: "pool", Value: s}}},
		},
		Demonstration: []ir.Phase{
			{Name: "first", Shows: s, Teams: []string{"vision"}, Submit: []string{"train"},
				Cordon:  []ir.CapacityCount{{Capacity: "l4", Count: 1}},
				Queues:  []ir.QueueCount{{Tier: "lp", Pending: 1, Admitted: 1}},
				Pending: &waiting, WaitSeconds: 600},
			{Name: "second", Teams: []string{"speech" + s, "vision"}, Delete: []string{"train"},
				Submit: []string{"tune"}, OneByOne: true, Uncordon: []string{"l4"},
				Pods:      []ir.CapacityCount{{Capacity: "l4", Count: 2}},
				Evicted:   []ir.JobCount{{Template: "tune", Count: 1}},
				Completed: []string{"tune"},
				Moved:     []ir.MovedCount{{Template: "tune", Capacity: "spot", Count: 1}},
				Nodes:     [][]string{{"tune", "tune"}}, WaitSeconds: 600},
		},
	}
	for _, t := range p.Teams {
		for _, name := range []string{"train", "tune"} {
			for _, copy := range []string{"-1", "-2"} {
				p.Workloads = append(p.Workloads, ir.Workload{Template: name, Name: name + copy, Kind: ir.Job,
					Team: t.Name, Namespace: t.Namespace, Pods: 1, ConfigMap: name + "-files"})
			}
		}
	}
	return p
}

func renderScript(t testing.TB, p *ir.Platform) string {
	t.Helper()
	files, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Path != "demonstrate.sh" || files[0].Mode != 0o755 {
		t.Fatalf("the files are %v", files)
	}
	return string(files[0].Content)
}

func TestNoDemonstration(t *testing.T) {
	p := examplePlatform(hostile.Mark)
	p.Demonstration = nil
	if files, err := Files(p); len(files) > 0 || err != nil {
		t.Errorf("without phases there are %v, %v", files, err)
	}
}

// FuzzScript: a value of a plan is one word of the script, and nothing else changes. The
// script prints what a phase shows on a terminal, so that text has no control characters.
func FuzzScript(f *testing.F) {
	hostile.Seed(f)
	harmless := renderScript(f, examplePlatform(hostile.Mark))
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s, "\x00") // which no program can be given
		quote := func(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }
		shown := describe(examplePlatform(s).Demonstration[0])
		for line := range strings.Lines(shown) {
			if line = strings.TrimSuffix(line, "\n"); words.OneLine(line) != line || strings.TrimSpace(line) != line {
				t.Errorf("%q is shown as %q", s, shown)
			}
		}
		marked := describe(examplePlatform(hostile.Mark).Demonstration[0])
		want := strings.Replace(harmless, quote(marked), quote(shown), 1)
		want = strings.ReplaceAll(want, hostile.Mark, quote(s))
		if d := cmp.Diff(want, renderScript(t, examplePlatform(s))); d != "" {
			t.Errorf("%q is more than a word:\n%s", s, d)
		}
	})
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed") // .ci/run installs it
	}
	file := filepath.Join(t.TempDir(), "demonstrate.sh")
	if err := os.WriteFile(file, []byte(renderScript(t, examplePlatform(hostile.Mark))), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("shellcheck", "--norc", file).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// stub stands in for kubectl. It records its arguments, and answers as the test says.
const stub = `#!/usr/bin/env bash
printf '%s\n' "$*" >>"$CALLS"
call="$*"
source "$ANSWERS"
`

// answers of a cluster on which nobody has performed a phase. Its two nodes are n1 and n2.
const fresh = `case $call in
"get namespace vision"*) printf '%s' harmless ;;
"get nodes -l pool=harmless -o name") printf 'node/n2\nnode/n1\n' ;;
esac
`

// runScript runs the script of the example with the answers of kubectl. It returns its
// exit code, its output and the calls of kubectl.
func runScript(t *testing.T, answers string, args ...string) (code int, output string, calls []string) {
	t.Helper()
	root := t.TempDir()
	write := func(name, content string) string {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	p := examplePlatform(hostile.Mark)
	script := write("deploy folder/demonstrate.sh", renderScript(t, p))
	for _, w := range p.Workloads {
		write("deploy folder/workloads/"+w.Team+"/"+w.Name+".yaml", "")
	}
	write("bin/kubectl", stub)
	write("bin/sleep", "#!/bin/sh\n")
	calling, answering := filepath.Join(root, "calls"), write("answers", answers)
	cmd := exec.Command("bash", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "CALLS="+calling,
		"ANSWERS="+answering)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(calling); err == nil {
		calls = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	return code, string(out), calls
}

// changes returns the calls of kubectl that change something.
func changes(calls []string) []string {
	var out []string
	for _, c := range calls {
		if !strings.HasPrefix(c, "get ") {
			out = append(out, c)
		}
	}
	return out
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 0, "second\n    Waits for at most 10 minutes for each job, and as long for the expected\n    numbers.\n"},
		{[]string{"--help"}, 0, "Usage: demonstrate.sh"},
		{[]string{"third"}, 2, "there is no phase third"},
		{[]string{"--fast", "first"}, 2, "Usage: demonstrate.sh"},
		{[]string{"--wait=1x", "first"}, 2, "Usage: demonstrate.sh"},
		{[]string{"first", "--wait", "60"}, 2, "such as --wait=600"},
		{[]string{"first", "second"}, 2, "Usage: demonstrate.sh"},
		{[]string{""}, 2, "Usage: demonstrate.sh"},
	} {
		code, out, calls := runScript(t, fresh, test.args...)
		if code != test.code || !strings.Contains(out, test.want) || calls != nil {
			t.Errorf("%q ends with %d after the calls %q, and prints\n%s", test.args, code, calls, out)
		}
	}
}

// TestOtherCluster: the script changes nothing in a cluster of another platform.
func TestOtherCluster(t *testing.T) {
	for _, phase := range []string{"first", "clean-up"} {
		code, out, calls := runScript(t, "", phase)
		if code != 1 || !strings.Contains(out, "without the team vision of the platform harmless") ||
			changes(calls) != nil {
			t.Errorf("%s ends with %d after the calls %q, and prints\n%s", phase, code, calls, out)
		}
	}
}

// TestFirstPhase: only the teams of the phase submit, and the last node is cordoned.
func TestFirstPhase(t *testing.T) {
	code, out, calls := runScript(t, fresh+`case $call in
"get clusterqueues"*) printf 'cq-other,7,7\ncq-vision,1,1\n' ;;
"get pods"*) printf 'vision,train-1,,Pending,,\nvision,other,,Pending,,\nvision,train-2,,Pending,now,\n' ;;
esac`, "first")
	if code != 0 || !strings.Contains(out, "Phase first is as expected.") {
		t.Errorf("ends with %d, and prints\n%s", code, out)
	}
	want := []string{
		"label --overwrite node/n2 demonstration=cordoned",
		"cordon node/n2",
		"apply --server-side -f workloads/vision/train-files.yaml -f workloads/vision/train-1.yaml",
		"apply --server-side -f workloads/vision/train-files.yaml -f workloads/vision/train-2.yaml",
	}
	if d := cmp.Diff(want, changes(calls)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

// TestDifferent: numbers that differ are shown, and the script fails.
func TestDifferent(t *testing.T) {
	code, out, _ := runScript(t, fresh+`case $call in
"get clusterqueues"*) printf 'cq-vision,,2\n' ;;
esac`, "--wait=0", "first")
	for _, want := range []string{
		"cq-vision: pending/admitted jobs                               1/1           0/2   differs\n",
		"pods that wait for nodes                                         1             0   differs\n",
		"numbers that differ after 0 seconds: 2",
	} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("ends with %d, and does not print %q:\n%s", code, want, out)
		}
	}
}

// performed are the answers of a cluster after the first phase. The teams' other jobs are
// not in the cluster.
const performed = fresh + `case $call in
"get jobs,jobsets"*) printf 'vision train-1 True\nvision train-2 \nvision mine \n' ;;
esac
`

// TestEnded: a phase whose jobs must not have ended yet says how many have.
func TestEnded(t *testing.T) {
	_, out, _ := runScript(t, performed, "--wait=0", "first")
	if !strings.Contains(out, "Jobs of the demonstration that have ended: 1.") {
		t.Errorf("prints\n%s", out)
	}
}

// TestSecondPhase: the jobs of the earlier phase are deleted, and each job is submitted
// when the one before it runs.
func TestSecondPhase(t *testing.T) {
	code, out, calls := runScript(t, performed+`case $call in
"get nodes -l demonstration=cordoned"*) printf 'node/n2\n' ;;
"get nodes -l pool=harmless -o jsonpath"*) printf 'n1\nn2\n' ;;
"get jobs,jobsets"*Failed*) ;;
"get jobs,jobsets"*) printf '%s\n' 'vision tune-1 True' 'vision tune-2 Completed' 'speech tune-1 True' \
	'speech tune-2 True' 'vision mine True' ;;
"get pods -n"*) printf 'pod/p\n' ;;
"get pods"*) printf 'vision,tune-1,,Running,,n1\nvision,tune-2,,Running,,n1\n' ;;
"get workloads"*) printf '%s\n' 'vision,tune-1,x,spot spot' 'vision,tune-2,,spot' 'vision,train-1,x,' \
	'speech,tune-1,x,l4 spot' 'vision,mine,x,spot' ;;
esac`, "second")
	if code != 0 || !strings.Contains(out, "Phase second is as expected.") ||
		strings.Contains(out, "have ended") { // the phase expects it
		t.Errorf("ends with %d, and prints\n%s", code, out)
	}
	want := []string{
		"uncordon node/n2",
		"label node/n2 demonstration-",
		"delete --ignore-not-found --timeout=600s -f workloads/vision/train-1.yaml -f " +
			"workloads/speechharmless/train-1.yaml -f workloads/vision/train-2.yaml -f " +
			"workloads/speechharmless/train-2.yaml",
	}
	for _, copy := range []string{"1", "2"} {
		for _, team := range []string{"vision", "speechharmless"} {
			want = append(want, "apply --server-side -f workloads/"+team+"/tune-files.yaml -f workloads/"+team+"/tune-"+
				copy+".yaml")
		}
	}
	if d := cmp.Diff(want, changes(calls)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

// TestLastJob: no job waits for the pods of the last one, which may have to wait in its
// queue.
func TestLastJob(t *testing.T) {
	_, out, calls := runScript(t, performed+`[[ $call != "get pods -n"* || $call == *tune-2* ]] || echo pod/p`,
		"--wait=0", "second")
	if n := len(changes(calls)); n != 4 || !strings.Contains(out, "only 0 of the 1 pods of tune-2 in namespace vi") {
		t.Errorf("after %d changes the output is\n%s", n, out)
	}
	_, out, calls = runScript(t, performed+`if [[ $call == "get pods -n speech"*tune-2* ]]; then :
elif [[ $call == "get pods -n"* ]]; then echo pod/p; fi`, "--wait=0", "second")
	if n := len(changes(calls)); n != 5 || strings.Contains(out, "was not submitted") {
		t.Errorf("after %d changes the output is\n%s", n, out)
	}
}

// TestInterrupted: a phase goes on that was interrupted while it deleted jobs.
func TestInterrupted(t *testing.T) {
	_, out, calls := runScript(t, fresh+`case $call in
"get jobs,jobsets"*) printf 'vision train-2 \n' ;;
"get pods -n"*) echo pod/p ;;
esac`, "--wait=0", "second")
	if strings.Contains(out, "cannot follow") || len(changes(calls)) != 5 {
		t.Errorf("after the changes %q the output is\n%s", changes(calls), out)
	}
}

// TestSubmitters: a job is a job of its workload and team, whatever the names of files.
func TestSubmitters(t *testing.T) {
	p := examplePlatform("")
	p.Workloads = append(p.Workloads[:2], ir.Workload{Template: "train-1", Name: "train-1", Kind: ir.Job,
		Team: "speech", Namespace: "speech", Pods: 1})
	if script := renderScript(t, p); !strings.Contains(script, "SUBMITTERS=(\n  'train' 'vision' 'vision'\n)\n") {
		t.Error(script)
	}
}

// TestOrder: a phase that cannot follow changes nothing.
func TestOrder(t *testing.T) {
	for _, test := range []struct{ answers, phase, want string }{
		{fresh, "second", "the job train-1 in namespace vision of an earlier phase does not exist"},
		{fresh + `[[ $call != "get jobs,jobsets"* ]] || echo 'vision tune-1 '`, "first",
			"the job tune-1 in namespace vision exists already"},
		{performed, "first", "leaves exist already"},
		{performed, "first", "Jobs of the demonstration that have ended: 1."},
	} {
		_, out, calls := runScript(t, test.answers, "--wait=0", test.phase)
		if !strings.Contains(out, test.want) || changes(calls) != nil {
			t.Errorf("%s after the calls %q prints\n%s", test.phase, calls, out)
		}
	}
}

// TestCleanUp: all jobs and files of the demonstration are deleted, and the nodes that it
// has cordoned are uncordoned.
func TestCleanUp(t *testing.T) {
	const cordoned = `[[ $call != "get nodes -l demonstration=cordoned -o name" ]] || echo node/n2`
	code, out, calls := runScript(t, fresh+cordoned, "clean-up")
	if code != 0 {
		t.Errorf("ends with %d, and prints\n%s", code, out)
	}
	got := changes(calls)
	if len(got) != 4 || strings.Count(got[0], " -f ") != 8 || strings.Count(got[1], "-files.yaml") != 4 ||
		got[2] != "uncordon node/n2" || got[3] != "label node/n2 demonstration-" {
		t.Errorf("the changes are %q", got)
	}
}
