package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// guideRows returns the words in the first column of the table in a section of USING.md.
func (f *folder) guideRows(heading string) []string {
	f.Helper()
	page, err := os.ReadFile(filepath.Join(f.dir, "USING.md"))
	if err != nil {
		f.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var out []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(section, -1) {
		for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			out = append(out, span[1])
		}
	}
	if !found || len(out) == 0 {
		f.Fatalf("USING.md has no table in %q", heading)
	}
	return out
}

// refusedRows checks that each row of "What is refused" has words of a message that a member
// has met.
func (f *folder) refusedRows(messages []string) {
	f.Helper()
	all := strings.Join(messages, "\n")
	for _, words := range f.guideRows("What is refused") {
		if !strings.Contains(all, words) {
			f.Errorf("USING.md: no attempt is refused with %q", words)
		}
	}
}

// queued returns a Job of a number of pods in a queue of team-a or another team.
func queued(name, namespace, tier string, pods int) fields {
	return escapeJob(name, pods, func(job, pod fields) {
		metadata := job["metadata"].(fields)
		metadata["namespace"] = namespace
		metadata["labels"] = fields{"kueue.x-k8s.io/queue-name": "lq-" + namespace + "-" + tier}
		pod["priorityClassName"] = tier
	})
}

// waits brings about each row of "Why a job waits", and finds its words in what a member of
// the team reads.
func (f *folder) waits() {
	f.Helper()
	met := map[string]bool{}
	says := func(job string, words ...string) {
		f.Helper()
		f.eventually(func() string {
			out, err := f.plane.Kubectl(f.ctx, nil, append([]string{
				"describe", "workloads", "--show-events=true", "--namespace=team-a", "job-" + job,
			}, f.member("team-a")...)...)
			if err == nil && !strings.Contains(out, "\nEvents:") {
				return "the description of " + job + " has no events:\n" + out
			}
			for _, w := range words {
				met[w] = true
				if err != nil || !strings.Contains(out, w) {
					return "the description of " + job + " lacks " + w + ":\n" + out
				}
			}
			return ""
		})
	}
	f.make(queued("fills", "team-a", "lp", 4)) // l4-reserved
	f.runs("fills", 4)
	f.make(queued("takes", "team-a", "lp", 16)) // l4-spot
	f.runs("takes", 16)
	f.make(queued("first", "team-a", "lp", 16))
	says("first", "insufficient unused quota")
	f.anotherSecond("first") // Kueue knows the order of jobs by the second
	f.make(queued("behind", "team-a", "lp", 1))
	says("behind", "Not all pods are ready or succeeded")
	if message := f.workload("team-a", "behind").condition("QuotaReserved").Message; message != "" {
		f.Errorf("a job behind another one has a message about quota: %s", message)
	}
	f.ahead("lq-team-a-lp", map[string]int{"first": 0, "behind": 1})

	f.kubectl("delete", "jobs", "--namespace=team-a", "first", "behind")
	f.make(escapeJob("selects", 16, func(_, pod fields) { pod["nodeSelector"] = fields{"capacity": "l4-spot"} }))
	says("selects", "doesn't match node affinity", "insufficient unused quota")

	for _, team := range []string{"team-a", "team-b"} { // all that is guaranteed, also what job fills borrows
		f.makeAs(team, queued("guaranteed-1", team, "hp", 4))
		f.makeAs(team, queued("guaranteed-2", team, "hp", 4))
	}
	says("fills", "Preempted to accommodate a workload")
	f.clear()

	large := queued("large", "team-a", "lp", 2000)
	f.without("jobs-fit-nodes", large, func() {
		f.make(large)
		says("large", "maximum capacity")
	})

	stop := func(policy string) {
		f.kubectl("patch", "clusterqueue", "cq-team-a-lp", "--type=merge",
			`--patch={"spec": {"stopPolicy": "`+policy+`"}}`)
	}
	stop("Hold")
	f.make(queued("held", "team-a", "lp", 1))
	says("held", "is inactive")
	stop("None")
	f.runs("held", 1)
	stop("HoldAndDrain")
	says("held", "is stopped")
	stop("None")
	f.clear()
	f.kubectl("delete", "localqueue", "lq-team-a-lp", "--namespace=team-a")
	f.make(queued("lost", "team-a", "lp", 1))
	says("lost", "doesn't exist")
	f.clear()
	f.kubectl(applyArgs(f.manifests())...)

	f.unready(func() {
		f.make(queued("unready", "team-a", "lp", 1))
		says("unready", "Admitted")
		f.eventually(func() string {
			if out := f.kubectl("get", "pods", "--namespace=team-a"); !strings.Contains(out, "Pending") {
				return "no pod waits for a node:\n" + out
			}
			return ""
		})
		says("unready", "Exceeded the PodsReady timeout")
		f.clear()
	})
	for _, words := range f.guideRows("Why a job waits") {
		if !met[words] {
			f.Errorf("USING.md: nothing brings about %q", words)
		}
	}
}

// anotherSecond waits until the second has passed in which Kueue noticed a job of team-a.
func (f *folder) anotherSecond(job string) {
	f.Helper()
	text := f.workload("team-a", job).Metadata.Created
	created, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.Fatal(err)
	}
	f.eventually(func() string {
		if time.Since(created) < time.Second {
			return "the second " + text
		}
		return ""
	})
}

// ahead checks what Kueue's visibility API answers to the command of the page: the position
// of each job that waits in a queue of team-a.
func (f *folder) ahead(queue string, want map[string]int) {
	f.Helper()
	f.eventually(func() string {
		out, err := f.plane.Kubectl(f.ctx, nil, append([]string{
			"get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team-a/localqueues/" + queue +
				"/pendingworkloads",
		}, f.member("team-a")...)...)
		if err != nil {
			return err.Error()
		}
		var summary struct {
			Items []struct {
				Metadata             struct{ Name string }
				PositionInLocalQueue int
			}
		}
		if err := json.Unmarshal([]byte(out), &summary); err != nil {
			return err.Error()
		}
		got := map[string]int{}
		for _, item := range summary.Items {
			name := strings.TrimPrefix(item.Metadata.Name, "job-")
			got[name[:strings.LastIndex(name, "-")]] = item.PositionInLocalQueue
		}
		return cmp.Diff(want, got)
	})
}

// unready calls a function while no node takes pods, and Kueue waits only a few seconds for
// the pods of a job.
func (f *folder) unready(call func()) {
	f.Helper()
	file := filepath.Join(f.dir, "kubernetes/system/kueue-configuration.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	configure := func(text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			f.Fatal(err)
		}
		if err := f.plane.Prepare(f.ctx, f.dir); err != nil {
			f.Fatal(err)
		}
	}
	const nodes = "--selector=cloud.google.com/gke-nodepool"
	short := regexp.MustCompile(`(?m)^( +timeout:) \w+$`).ReplaceAll(text, []byte("$1 5s"))
	if string(short) == string(text) {
		f.Fatalf("%s has no timeout", file)
	}
	f.kubectl("cordon", nodes)
	configure(short)
	call()
	configure(text)
	f.kubectl("uncordon", nodes)
}
