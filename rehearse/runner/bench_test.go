package runner_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/program"
)

// BenchmarkStages plays the demonstration of the batch platform: five phases.
func BenchmarkStages(b *testing.B) { benchmark(b, demonstration(b, compilePlan(b, "batch-platform"))) }

// BenchmarkBusyDays plays the rehearsal of the batch platform: some 300 jobs in two days.
func BenchmarkBusyDays(b *testing.B) {
	p := compilePlan(b, "batch-platform")
	tree, err := folder.Build(p)
	if err != nil {
		b.Fatal(err)
	}
	s, err := rehearsal.OfRehearsal(p, tree, p.Rehearsals[0])
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, s)
}

// BenchmarkTrace plays three of the clusters of Microsoft's ITP trace as three teams of one
// cohort: 7,002 jobs in 60 days. Quotas are a multiple of the mean use of the teams.
func BenchmarkTrace(b *testing.B) {
	for _, quota := range []float64{1.2, 3, 10} {
		b.Run(fmt.Sprintf("quota=%gxmean", quota), func(b *testing.B) { benchmark(b, traced(b, quota, 1)) })
	}
}

// BenchmarkRepeatedTrace plays ten copies of the trace, each in a cohort of its own: 70,020
// jobs in 60 days. With ten times the mean use as quota almost no job waits.
func BenchmarkRepeatedTrace(b *testing.B) {
	for _, quota := range []float64{1.2, 10} {
		b.Run(fmt.Sprintf("quota=%gxmean", quota), func(b *testing.B) { benchmark(b, traced(b, quota, 10)) })
	}
}

// benchmark plays a scenario, and reports the jobs that it plays in a second of CPU time. The
// garbage collector works as in the program.
func benchmark(b *testing.B, s *rehearsal.Scenario) {
	b.ReportAllocs()
	program.CollectSeldom()
	before := cpuTime(b)
	rounds := 0
	for b.Loop() {
		play(b, s)
		rounds++
	}
	seconds := (cpuTime(b) - before).Seconds() / float64(rounds)
	b.ReportMetric(seconds, "cpu-s/op")
	b.ReportMetric(float64(len(s.Jobs))/seconds, "jobs/cpu-s")
}

// cpuTime returns the CPU time of the process so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// traced returns a scenario with copies of the trace. The files have a row for each job:
// seconds from the beginning to its submission, seconds that it runs, and GPUs.
func traced(b *testing.B, quota float64, copies int) *rehearsal.Scenario {
	b.Helper()
	files, err := filepath.Glob("../../../shared/traces/itp-*.csv")
	if err != nil {
		b.Fatal(err)
	}
	if len(files) == 0 {
		b.Skip("the traces are not here")
	}
	s := scenario(b)
	s.Until = 1 << 40
	for _, flavor := range []string{"reserved", "spot"} {
		s.Objects = append(s.Objects, encode(b, fields{
			"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": fields{"name": flavor},
		}))
	}
	for i := range copies {
		for _, file := range files {
			addTrace(b, s, fmt.Sprintf("%s-%d", filepath.Base(file)[:6], i), fmt.Sprintf("cohort-%d", i), file, quota)
		}
	}
	slices.SortStableFunc(s.Jobs, func(x, y rehearsal.Job) int { return int(x.At - y.At) })
	return s
}

// addTrace adds a team with its queue, and the jobs of a file.
func addTrace(b *testing.B, s *rehearsal.Scenario, team, cohort, file string, quota float64) {
	b.Helper()
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		b.Skip(err)
	} else if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	templates, work, end := map[int]int{}, 0, 0
	for i, row := range rows[1:] {
		var numbers [3]int
		for j, cell := range row {
			if numbers[j], err = strconv.Atoi(cell); err != nil {
				b.Fatal(err)
			}
		}
		at, runs, gpus := numbers[0], max(numbers[1], 1), numbers[2]
		if _, known := templates[gpus]; !known {
			templates[gpus] = len(s.Templates)
			s.Templates = append(s.Templates, gpuTemplate(b, team, gpus))
		}
		work, end = work+gpus*runs, max(end, at+runs)
		s.Jobs = append(s.Jobs, rehearsal.Job{
			Name: fmt.Sprintf("job-%d", i), Template: templates[gpus], At: int64(at), Runs: int64(runs),
		})
	}
	addGPUQueue(b, s, team, cohort, int(quota*float64(work)/float64(end)))
}

// gpuTemplate returns a job with a number of GPUs, at most eight in a pod. One job of five
// has the high priority.
func gpuTemplate(b *testing.B, team string, gpus int) rehearsal.Template {
	b.Helper()
	each, priority := min(gpus, 8), "low"
	if gpus%5 == 0 {
		priority = "high"
	}
	pods := (gpus + each - 1) / each
	return rehearsal.Template{Name: fmt.Sprintf("gpus-%d", gpus), Team: team, Object: encode(b, fields{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": fields{"name": "x", "namespace": team, "labels": fields{"kueue.x-k8s.io/queue-name": "jobs"}},
		"spec": fields{"parallelism": pods, "completions": pods, "suspend": true, "template": fields{"spec": fields{
			"restartPolicy": "Never", "priorityClassName": priority,
			"containers": []fields{{"name": "c", "image": "c:1", "resources": fields{"requests": fields{
				"cpu": each, "memory": fmt.Sprintf("%dGi", 4*each), "nvidia.com/gpu": each,
			}}}},
		}}},
	})}
}

// addGPUQueue adds a queue with a quota of GPUs, half of it on each of two flavors, and room
// for one large job. It may borrow half of its quota.
func addGPUQueue(b *testing.B, s *rehearsal.Scenario, team, cohort string, gpus int) {
	b.Helper()
	flavor := func(name string, n int) fields {
		quota := func(resource, unit string, each int) fields {
			return fields{
				"name": resource, "nominalQuota": fmt.Sprint(n*each) + unit,
				"borrowingLimit": fmt.Sprint(n*each/2) + unit,
			}
		}
		return fields{"name": name, "resources": []fields{
			quota("cpu", "", 1), quota("memory", "Gi", 4), quota("nvidia.com/gpu", "", 1),
		}}
	}
	for _, object := range []fields{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": team}},
		{
			"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": fields{"name": team},
			"spec": fields{
				"cohortName": cohort, "namespaceSelector": fields{},
				"preemption": fields{"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
				"resourceGroups": []fields{{
					"coveredResources": []string{"cpu", "memory", "nvidia.com/gpu"},
					"flavors":          []fields{flavor("reserved", gpus/2+8), flavor("spot", gpus-gpus/2+8)},
				}},
			},
		},
		{
			"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
			"metadata": fields{"name": "jobs", "namespace": team}, "spec": fields{"clusterQueue": team},
		},
	} {
		s.Objects = append(s.Objects, encode(b, object))
	}
}
