package stage

import (
	"container/heap"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Agenda holds what will happen, by time; at the same time in the order in which it was
// planned.
type Agenda struct {
	// Now is the time of what happens at the moment.
	Now int64

	items   items
	planned int64
}

// item is one thing that happens. A stale item does nothing: do checks whether the state
// is still what it was when the item was planned.
type item struct {
	at, order int64
	do        func() error
}

// Plan adds what happens at a time.
func (a *Agenda) Plan(at int64, do func() error) {
	a.planned++
	heap.Push(&a.items, item{at, a.planned, do})
}

// Empty reports whether nothing more is planned.
func (a *Agenda) Empty() bool { return len(a.items) == 0 }

// Run goes through the agenda until the end of the scenario. Everything of one second
// happens before settle, which lets the scheduler decide and plays all that follows in the
// same second. look records the State at a time, and progress gets the time of each event.
// stops is asked before each event, and reports whether somebody stops the rehearsal there;
// Run then reports that it was interrupted.
//
// The clock must be that of a bubble of testing/synctest that has just begun: Run sleeps
// until the time of each event.
func (a *Agenda) Run(
	s *rehearsal.Scenario, stops func(at int64) bool, progress, look func(at int64), settle func() error,
) (interrupted bool, err error) {
	start, looks := time.Now(), s.Looks
	if err := settle(); err != nil {
		return false, err
	}
	for {
		more := len(a.items) > 0
		for len(looks) > 0 && (!more || looks[0] < a.items[0].at) {
			look(looks[0])
			looks = looks[1:]
		}
		if !more || a.items[0].at > s.Until {
			return false, nil
		}
		if stops(a.items[0].at) {
			return true, nil
		}
		a.Now = a.items[0].at
		time.Sleep(time.Until(start.Add(time.Duration(a.Now) * time.Second)))
		progress(a.Now)
		for len(a.items) > 0 && a.items[0].at == a.Now {
			if err := heap.Pop(&a.items).(item).do(); err != nil {
				return false, err
			}
		}
		if err := settle(); err != nil {
			return false, err
		}
	}
}

// items implements heap.Interface.
type items []item

func (h items) Len() int { return len(h) }

func (h items) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].order < h[j].order
}

func (h items) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *items) Push(x any) { *h = append(*h, x.(item)) }

func (h *items) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
