package report_test

import (
	"strconv"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// BenchmarkOf computes the report of 70,000 jobs, each of which was evicted twice.
func BenchmarkOf(b *testing.B) {
	const jobs = 70000
	p, s, h := platform(), scenario(), history()
	flavors := h.Jobs[1].Runs[0].Flavors
	s.Until, s.Jobs, h.Jobs = jobs, nil, nil
	for i := range int64(jobs) {
		name := "sweep-" + strconv.Itoa(int(i))
		s.Jobs = append(s.Jobs, rehearsal.Job{Name: name, Template: int(i % 2), At: i, Runs: 100})
		job := rehearsal.JobHistory{ClusterQueue: "cq-speech-batch", Outcome: rehearsal.Finished, End: i + 300}
		for n := range int64(3) {
			at := i + n*100
			run := rehearsal.Run{Reserved: at, Ran: true, Started: at + i%100, Ended: at + 100, Flavors: flavors}
			if n < 2 {
				run.Evicted, run.By = "Preempted", "speech/"+name
			}
			job.Runs = append(job.Runs, run)
		}
		h.Jobs = append(h.Jobs, job)
	}
	expect := []ir.RehearsalExpectation{
		{StartsWithin: 60, Percentile: 95}, {Index: 1, Utilization: 50, Capacity: "l4"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := report.Of(p, s, h, expect); r.Total.Evictions != 2*jobs {
			b.Fatal(r.Total)
		}
	}
}
