package runner

import "container/heap"

// agenda holds what will happen, by time; at the same time in the order in which it was
// planned.
type agenda struct {
	items   items
	planned int64
}

// item is one thing that happens. A stale item does nothing: do checks whether the state
// is still what it was when the item was planned.
type item struct {
	at, order int64
	do        func() error
}

// plan adds what happens at a time.
func (a *agenda) plan(at int64, do func() error) {
	a.planned++
	heap.Push(&a.items, item{at, a.planned, do})
}

// next removes and returns the first item. It reports whether there was one.
func (a *agenda) next() (item, bool) {
	if len(a.items) == 0 {
		return item{}, false
	}
	return heap.Pop(&a.items).(item), true
}

// at returns the time of the first item. It reports whether there is one.
func (a *agenda) at() (int64, bool) {
	if len(a.items) == 0 {
		return 0, false
	}
	return a.items[0].at, true
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
