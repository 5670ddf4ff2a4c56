package rules_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
)

// request is a workload that asks for too much of a machine or of a quota.
type request struct {
	machine      string
	nodes, quota int // of the capacity and of the team, in accelerators or vCPUs
	pods, gpus   int
	cpu, memory  string
	share        string // perAccelerator of the hardware, "" for the default
	code         string // the finding
}

// blueprint returns a platform with the workload.
func (q request) blueprint() string {
	unit := "accelerators"
	if q.gpus == 0 {
		unit = "cpus"
	}
	share := ""
	if q.share != "" {
		share = ", perAccelerator: " + q.share
	}
	return fmt.Sprintf(`package platform

name: "small"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]
hardware: some: {machine: %q%s}
capacity: some: {hardware: "some", consumption: spot: {}, maxNodes: %d}
tiers: batch: {priority: 10, default: true, capacity: ["some"]}
teams: vision: quota: batch: some: %s: %d
workloads: train: {
	tier: "batch", pods: %d
	perPod: {accelerators: %d, cpu: %s, memory: %q}
	image: "pytorch/pytorch:2.8.0"
}
`, q.machine, share, q.nodes, unit, q.quota, q.pods, q.gpus, q.cpu, q.memory)
}

// The parts of a help that say what to type.
var (
	helpPerPod = regexp.MustCompile(`request at most ([0-9.]+) CPUs? and (\S+) of memory for each pod`)
	helpPerGPU = regexp.MustCompile(`request at most ([0-9.]+) CPUs? and (\S+) of memory for each GPU`)
	helpAndGPU = regexp.MustCompile(`and at most ([0-9.]+) CPUs? and (\S+) of memory for each GPU`)
	helpGPUs   = regexp.MustCompile(`request (.+?) GPUs? for each pod`)
	helpShare  = regexp.MustCompile(`write hardware: "some": perAccelerator: (\{.+?\})(?: and (request at most .+))?`)
)

// followed returns the workloads that a help proposes, each by a name.
func (q request) followed(t *testing.T, help string) map[string]request {
	t.Helper()
	out := map[string]request{}
	if m := helpPerPod.FindStringSubmatch(strings.Split(help, "; or write")[0]); m != nil {
		next := q
		next.cpu, next.memory = m[1], m[2]
		out["pod"] = next
	}
	if m := helpPerGPU.FindStringSubmatch(help); m != nil {
		out["GPU"] = q.perGPU(t, m[1], m[2])
	}
	if m := helpGPUs.FindStringSubmatch(help); m != nil {
		for n := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return r < '0' || r > '9' }) {
			next := q
			next.gpus, _ = strconv.Atoi(n)
			if per := helpAndGPU.FindStringSubmatch(help); per != nil {
				next = next.perGPU(t, per[1], per[2])
			}
			out[n+" GPUs"] = next
		}
	}
	if m := helpShare.FindStringSubmatch(help); m != nil {
		next := q
		next.share = m[1]
		if per := helpPerPod.FindStringSubmatch(m[2]); per != nil {
			next.cpu, next.memory = per[1], per[2]
		}
		out["share"] = next
	}
	return out
}

// perGPU returns the workload with cpu and memory for each of its GPUs.
func (q request) perGPU(t *testing.T, cpu, memory string) request {
	t.Helper()
	c, err := strconv.ParseFloat(cpu, 64)
	if err != nil {
		t.Fatal(err)
	}
	gib, err := strconv.Atoi(strings.TrimSuffix(memory, "Gi"))
	if err != nil {
		t.Fatal(err)
	}
	q.cpu = strconv.FormatFloat(c*float64(q.gpus), 'f', -1, 64)
	q.memory = strconv.Itoa(gib*q.gpus) + "Gi"
	return q
}

// TestHelpsEndInACleanVet follows the helps of findings on cpu and memory to the
// letter. Each must lead to a blueprint without findings, and never to another
// finding: a pod must fit its node, beside GKE's own pods, and its quota.
func TestHelpsEndInACleanVet(t *testing.T) {
	for _, q := range []request{
		// The part of a pod in the node is larger than its part in the quota.
		{machine: "g2-standard-24", nodes: 4, quota: 2, pods: 1, gpus: 2, cpu: "23.5", memory: "64Gi", code: "E0802"},
		{machine: "g2-standard-24", nodes: 4, quota: 4, pods: 1, gpus: 2, cpu: "23.5", memory: "64Gi", code: "W0825"},
		{machine: "g2-standard-24", nodes: 4, quota: 2, pods: 1, gpus: 2, cpu: "23", memory: "87Gi", code: "E0802"},
		{machine: "g2-standard-24", nodes: 1, quota: 2, pods: 1, gpus: 2, cpu: "21", memory: "90300Mi", code: "E0802"},
		{machine: "g2-standard-24", nodes: 4, quota: 8, pods: 1, gpus: 1, cpu: "13", memory: "10Gi", code: "W0823"},
		{machine: "g2-standard-24", nodes: 4, quota: 8, pods: 8, gpus: 1, cpu: "11.5", memory: "10Gi", code: "E0802"},
		{machine: "g2-standard-96", nodes: 2, quota: 16, pods: 1, gpus: 8, cpu: "95.2", memory: "300Gi", code: "W0825"},
		{machine: "g2-standard-96", nodes: 2, quota: 16, pods: 2, gpus: 8, cpu: "95", memory: "300Gi", code: "E0802"},
		{machine: "a2-highgpu-1g", nodes: 4, quota: 1, pods: 1, gpus: 1, cpu: "11.5", memory: "60Gi", code: "E0802"},
		{machine: "a2-highgpu-1g", nodes: 4, quota: 4, pods: 4, gpus: 1, cpu: "11.2", memory: "60Gi", code: "E0802"},
		{machine: "a2-highgpu-1g", nodes: 4, quota: 4, pods: 3, gpus: 1, cpu: "11.9", memory: "60Gi", code: "W0825"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 8, pods: 1, gpus: 8, cpu: "207", memory: "1000Gi", code: "E0802"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 32, pods: 4, gpus: 8, cpu: "206", memory: "1700Gi", code: "E0802"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 16, pods: 1, gpus: 8, cpu: "207", memory: "900Gi", code: "W0825"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 32, pods: 1, gpus: 3, cpu: "24", memory: "200Gi", code: "W0823"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 32, pods: 1, gpus: 3, cpu: "90", memory: "200Gi", code: "W0823"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 16, pods: 5, gpus: 3, cpu: "10", memory: "20Gi", code: "W0823"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 32, pods: 1, gpus: 1, cpu: "27", memory: "64Gi", code: "W0823"},
		{machine: "a3-highgpu-8g", nodes: 4, quota: 32, pods: 1, gpus: 4, cpu: "104", memory: "64Gi", code: "W0823"},
		{
			machine: "a3-highgpu-8g", nodes: 4, quota: 32, pods: 1, gpus: 4, cpu: "104", memory: "64Gi",
			share: `{cpu: 14, memory: "100Gi"}`, code: "W0823",
		},
		{
			machine: "a3-highgpu-8g", nodes: 4, quota: 8, pods: 1, gpus: 8, cpu: "160", memory: "900Gi",
			share: `{cpu: 8, memory: "100Gi"}`, code: "E0802",
		},
		// The cpu or memory of the quota runs out before its GPUs.
		{machine: "g2-standard-24", nodes: 4, quota: 2, pods: 2, gpus: 1, cpu: "11.9", memory: "40Gi", code: "E0802"},
		{machine: "g2-standard-24", nodes: 4, quota: 8, pods: 1, gpus: 2, cpu: "23", memory: "87Gi", code: "W0615"},
		{machine: "g2-standard-24", nodes: 4, quota: 8, pods: 1, gpus: 1, cpu: "11.5", memory: "40Gi", code: "W0615"},
		{machine: "a2-highgpu-8g", nodes: 2, quota: 16, pods: 1, gpus: 8, cpu: "94", memory: "600Gi", code: "W0615"},
		{machine: "n2-standard-8", nodes: 4, quota: 16, pods: 1, cpu: "7.9", memory: "10Gi", code: "W0825"},
		{machine: "n2-standard-8", nodes: 4, quota: 14, pods: 2, cpu: "7", memory: "26Gi", code: "E0802"},
		{machine: "n2-standard-8", nodes: 4, quota: 2, pods: 4, cpu: "0.25", memory: "2Gi", code: "E0802"},
	} {
		t.Run(fmt.Sprintf("%s/%dx%d/%s/%s", q.machine, q.pods, q.gpus, q.cpu, q.memory), func(t *testing.T) {
			findings := vetBlueprint(t, q.blueprint())
			i := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Code == q.code })
			if len(findings) != 1 || i < 0 {
				t.Fatalf("want only %s, got %v", q.code, describeFindings(findings))
			}
			next := q.followed(t, findings[0].Help)
			if len(next) == 0 {
				t.Fatalf("the help says nothing to type: %s", findings[0].Help)
			}
			for name, q := range next {
				if again := vetBlueprint(t, q.blueprint()); len(again) > 0 {
					t.Errorf("help %q, followed for %s, leads to %v\n%s", findings[0].Help, name,
						describeFindings(again), q.blueprint())
				}
			}
		})
	}
}

// vetBlueprint returns the findings on a blueprint.
func vetBlueprint(t *testing.T, source string) []diag.Finding {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings.Sorted()
}

// describeFindings returns findings with their helps, for a test's message.
func describeFindings(findings []diag.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s: %s: %s (%s)", f.Code, f.Message, f.Label, f.Help))
	}
	return out
}
