package progress_test

import (
	"sync"
	"testing"

	"github.com/batchwright/batchwright/compiler/progress"
)

func TestProgress(t *testing.T) {
	p := &progress.Progress{}
	check := func(want progress.State) {
		t.Helper()
		if got := p.Now(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	check(progress.State{})

	p.Start(progress.Checking, "teams")
	p.Expect(2)
	p.Step()
	p.Find()
	check(progress.State{Stage: progress.Checking, Subject: "teams", Done: 1, Total: 2, Findings: 1})
	p.Step()
	p.Step()
	check(progress.State{Stage: progress.Checking, Subject: "teams", Done: 2, Total: 2, Findings: 1})

	p.Start(progress.Judging, "")
	check(progress.State{Stage: progress.Judging, Findings: 1})
}

// TestNil: work that nobody watches reports as any other work does.
func TestNil(t *testing.T) {
	var p *progress.Progress
	p.Start(progress.Checking, "teams")
	p.Expect(2)
	p.Step()
	p.Find()
	if got := p.Now(); got != (progress.State{}) {
		t.Errorf("got %+v", got)
	}
}

// TestManyGoroutines is for the race detector.
func TestManyGoroutines(t *testing.T) {
	p := &progress.Progress{}
	p.Start(progress.Checking, "teams")
	p.Expect(400)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				p.Step()
				p.Find()
				p.Now()
			}
		})
	}
	group.Wait()
	if got := p.Now(); got.Done != 400 || got.Findings != 400 {
		t.Errorf("got %+v", got)
	}
}
