package ir_test

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestInstalls checks that a platform installs its own scheduler, and JobSet.
func TestInstalls(t *testing.T) {
	for _, s := range ir.Schedulers() {
		p := &ir.Platform{Scheduler: s}
		if got, want := p.InstallsKueue(), s == ir.Kueue; got != want {
			t.Errorf("%s: InstallsKueue is %t", s, got)
		}
		if !p.InstallsScheduler() || !p.InstallsJobSet() {
			t.Errorf("%s: the platform does not install its scheduler and JobSet", s)
		}
	}
}
