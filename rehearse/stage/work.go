package stage

import "github.com/batchwright/batchwright/emit/rehearsal"

// Work is the work of a job over its runs, and their entries in the history.
type Work struct {
	Left int64 // seconds of work that remain; only if the job ends by itself
	Runs []rehearsal.Run

	pods       []podWork // independent pods; nil if all pods work together
	checkpoint int64
	working    bool
	at         int64 // time of the last start
	stopped    int64 // time of the last loss of a node
}

// NewWork returns the work of a job that has not begun.
func NewWork(j rehearsal.Job) Work {
	w := Work{Left: j.Runs, checkpoint: j.Checkpoint}
	for _, left := range j.PodRuns {
		w.pods = append(w.pods, podWork{left: left})
	}
	return w
}

// Begin begins a run: the job has got quota.
func (w *Work) Begin(now int64, sets []rehearsal.PodSetFlavor) {
	run := rehearsal.Run{Reserved: now, Flavors: sets}
	if w.pods != nil {
		run.Pods = &rehearsal.PodRuns{}
	}
	w.Runs = append(w.Runs, run)
	w.working = false
}

// Run returns the entry of the latest run.
func (w *Work) Run() *rehearsal.Run { return &w.Runs[len(w.Runs)-1] }

// Working reports whether all pods of the job run.
func (w *Work) Working() bool { return w.working }

// StoppedAt returns the time of the latest loss of a node.
func (w *Work) StoppedAt() int64 { return w.stopped }

// Start starts the work: all pods run.
func (w *Work) Start(now int64) {
	w.working, w.at = true, now
	if run := w.Run(); run.Ran {
		w.countStop(now)
	} else {
		run.Ran, run.Started = true, now
	}
}

// Done reports whether the job has done its work.
func (w *Work) Done(now int64) bool { return w.working && now-w.at >= w.Left }

// Pause stops the work within a run: pods have lost their node.
func (w *Work) Pause(now int64) {
	w.save(now, true)
	w.working, w.stopped = false, now
}

// End ends a run. With again the job has to do the work again that it has done since its
// last checkpoint.
func (w *Work) End(now int64, again bool) {
	run := w.Run()
	if w.working {
		w.save(now, again)
	} else if run.Ran {
		w.countStop(now)
	}
	for i := range w.pods {
		w.StopPod(i, now, again)
	}
	w.working, run.Ended = false, now
}

// Close counts the time up to the end of the rehearsal, if the latest run has not ended: the
// time without all pods, and the time that independent pods run.
func (w *Work) Close(end int64) {
	if len(w.Runs) == 0 || w.Run().Ended > 0 {
		return
	}
	if w.Run().Ran && !w.working {
		w.countStop(end)
	}
	for i := range w.pods {
		w.StopPod(i, end, false)
	}
}

// countStop counts the time since the last loss of a node, in which the job did not work.
// Independent pods go on without those that are lost.
func (w *Work) countStop(now int64) {
	if w.pods == nil {
		w.Run().Stopped += now - w.stopped
	}
}

// save counts the work since the last start as done, up to the last checkpoint. With again
// the rest has to be done again.
func (w *Work) save(now int64, again bool) {
	if w.pods != nil {
		return
	}
	ran, kept := now-w.at, int64(0)
	if w.checkpoint > 0 {
		kept = ran - ran%w.checkpoint
	}
	w.Left -= kept
	if again {
		w.Run().Redone += ran - kept
	}
}
