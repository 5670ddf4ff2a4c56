package main

import "testing"

func TestGrowthOf(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		live, limit uint64
		want        int
	}{
		{0, 400 * mib, 300},
		{50 * mib, 400 * mib, 300},
		{100 * mib, 400 * mib, 300},
		{160 * mib, 400 * mib, 150},
		{200 * mib, 400 * mib, 100},
		{1000 * mib, 400 * mib, 100}, // a heap above the limit is no reason to collect all the time
		{200 * mib, 800 * mib, 300},
	} {
		if got := growthOf(tt.live, tt.limit); got != tt.want {
			t.Errorf("growthOf(%d MiB, %d MiB) = %d, want %d", tt.live/mib, tt.limit/mib, got, tt.want)
		}
	}
}

// TestFirstGrowth: what a command read before it compiles does not multiply the heap.
func TestFirstGrowth(t *testing.T) {
	const mib = 1 << 20
	for live, want := range map[uint64]int{0: 1600, 17 * mib: 1600, 18 * mib: 300, 152 * mib: 100} {
		if got := firstGrowth(live, 300*mib); got != want {
			t.Errorf("firstGrowth(%d MiB) = %d, want %d", live/mib, got, want)
		}
	}
}
