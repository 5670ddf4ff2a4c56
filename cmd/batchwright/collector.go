package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// spendable is the memory, in bytes, that the heap of one blueprint may have before the
// garbage collector has to work as often as Go's default makes it.
const spendable = 300 << 20

// collectLess trades memory for time, which suits a short-lived process: a small heap
// grows to several times its live objects before they are collected, up to spendable
// for each blueprint. It is called before a command compiles, or reads exports, which are
// as large as a blueprint. It does nothing if the user has set GOGC or GOMEMLIMIT.
func collectLess(blueprints uint64) {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		collectOnce.Do(func() {
			limit := blueprints * spendable
			debug.SetGCPercent(firstGrowth(liveHeap(), limit))
			afterCollections(func() { debug.SetGCPercent(growthOf(liveHeap(), limit)) })
		})
	}
}

var collectOnce sync.Once

// firstGrowth returns by how many percent a heap may grow before the first collection of
// a compilation: by so many that an empty heap, of 4 MiB to the runtime, gets 64 MiB.
// A command that has read large exports has a larger heap, which grows as later.
func firstGrowth(live, limit uint64) int {
	const percent = 1600
	if live+live*percent/100 > limit {
		return growthOf(live, limit)
	}
	return percent
}

// growthOf returns by how many percent a heap may grow before the next collection, if
// its objects have the given number of bytes: by 300, but at most to limit, and at
// least by 100.
func growthOf(live, limit uint64) int {
	live = max(live, 1<<20)
	goal := max(2*live, min(4*live, limit))
	return int((goal - live) * 100 / live)
}

// liveHeap returns the bytes that the last collection left.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollections calls f after each collection until the process ends.
func afterCollections(f func()) {
	// Nothing refers to the object, so the next collection cleans it up.
	runtime.AddCleanup(new([64]byte), func(struct{}) { f(); afterCollections(f) }, struct{}{})
}
