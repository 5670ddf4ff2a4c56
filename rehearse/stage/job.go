package stage

import "github.com/batchwright/batchwright/emit/rehearsal"

// Job is a job of the scenario as every engine keeps it.
type Job struct {
	rehearsal.Job
	Number           int // in the scenario
	Submitted, Ended bool
	Work             Work
	Waits            string // the scheduler's message about the latest wait, "" without one

	outcome rehearsal.Outcome
	endedAt int64
}

// NewJob returns a job that is not submitted yet.
func NewJob(number int, in rehearsal.Job) Job {
	return Job{Job: in, Number: number, Work: NewWork(in)}
}

// End ends the job for good.
func (j *Job) End(now int64, outcome rehearsal.Outcome) {
	j.Ended, j.endedAt, j.outcome = true, now, outcome
}

// History returns what has happened to the job in its queue. open reports whether a run is
// under way, and end is the time that ClosedAt returns.
func (j *Job) History(queue string, open bool, end int64) rehearsal.JobHistory {
	j.Work.Close(end)
	outcome := j.outcome
	switch {
	case j.Ended:
	case open:
		outcome = rehearsal.Running
	default:
		outcome = rehearsal.Waiting
	}
	return rehearsal.JobHistory{
		ClusterQueue: queue, Runs: j.Work.Runs, Outcome: outcome, End: j.endedAt, Waits: j.Waits,
	}
}

// ClosedAt returns the time until which the runs at the end of a history last: the end of
// the scenario, or the time of an interrupt.
func ClosedAt(s *rehearsal.Scenario, h *rehearsal.History) int64 {
	if h.Interrupted {
		return h.End
	}
	return s.Until
}
