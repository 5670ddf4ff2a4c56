package stage

import "github.com/batchwright/batchwright/emit/rehearsal"

// podWork is the work of an independent pod.
type podWork struct {
	left     int64 // seconds
	running  bool
	at       int64 // time of the last start
	finished bool
}

// Independent reports whether the pods of the job run independently of each other.
func (w *Work) Independent() bool { return w.pods != nil }

// UnfinishedPods returns the numbers of the independent pods that have not done their work.
func (w *Work) UnfinishedPods() []int {
	var out []int
	for i, pod := range w.pods {
		if !pod.finished {
			out = append(out, i)
		}
	}
	return out
}

// StartPod starts an independent pod, and returns the time at which it will have done its
// work.
func (w *Work) StartPod(i int, now int64) int64 {
	w.pods[i].running, w.pods[i].at = true, now
	return now + w.pods[i].left
}

// PodDone reports whether an independent pod has done its work.
func (w *Work) PodDone(i int, now int64) bool {
	pod := w.pods[i]
	return pod.running && now-pod.at >= pod.left
}

// FinishPod ends an independent pod that has done its work.
func (w *Work) FinishPod(i int, now int64) {
	w.StopPod(i, now, false)
	w.pods[i].finished = true
	run := w.Run().Pods
	last := len(run.Finished) - 1
	switch {
	case last < 0:
		run.Finished = []rehearsal.Count{{At: now, N: 1}}
	case run.Finished[last].At == now:
		run.Finished[last].N++
	default:
		run.Finished = append(run.Finished, rehearsal.Count{At: now, N: run.Finished[last].N + 1})
	}
}

// StopPod stops an independent pod, if it runs. With again the pod has to do the work again
// that it has done since its last checkpoint.
func (w *Work) StopPod(i int, now int64, again bool) {
	pod := &w.pods[i]
	if !pod.running {
		return
	}
	pod.running = false
	ran, kept := now-pod.at, int64(0)
	if w.checkpoint > 0 {
		kept = ran - ran%w.checkpoint
	}
	pod.left -= kept
	w.Run().Pods.Ran += ran
	if again {
		w.Run().Pods.Redone += ran - kept
	}
}
