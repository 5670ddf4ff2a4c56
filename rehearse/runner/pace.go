package runner

import (
	"context"
	"sync"
)

// pace keeps the parts of a rehearsal together in virtual time, so that an interrupt ends
// all of them at about the same time: no part goes beyond a window of time before all the
// others have come to the end of the window.
//
// A part waits on a channel that was made outside the bubbles of all parts: such a wait does
// not let the clock of its bubble run.
type pace struct {
	ctx      context.Context
	window   int64 // length in seconds; with 0 each moment is a window
	progress func(now int64, ended int)

	mu          sync.Mutex
	end         int64 // of the window
	playing     int   // parts that have not ended
	interrupted bool
	runners     []*pacer
	now         int64
	ended       int
}

// pacer is a part as the pace sees it.
type pacer struct {
	pace    *pace
	waiting bool
	at      int64 // time of the next event, of a part that waits
	ended   int   // number of jobs
	proceed chan struct{}
}

func newPace(ctx context.Context, parts int, window int64, progress func(now int64, ended int)) *pace {
	p := &pace{ctx: ctx, window: window, progress: progress, end: -1, playing: parts}
	for range parts {
		p.runners = append(p.runners, &pacer{pace: p, proceed: make(chan struct{}, 1)})
	}
	return p
}

// stops waits until a part may play what happens at a time. It reports whether the part must
// stop instead.
func (r *pacer) stops(at int64) bool {
	p := r.pace
	p.mu.Lock()
	if at <= p.end {
		p.mu.Unlock()
		return false
	}
	r.waiting, r.at = true, at
	p.open()
	p.mu.Unlock()
	<-r.proceed
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.interrupted
}

// leave notes that a part has ended. The others do not wait for it any more; if the part has
// failed, they stop soon.
func (r *pacer) leave(failed bool) {
	p := r.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	p.playing--
	p.interrupted = p.interrupted || failed
	p.open()
}

// open opens the next window if all parts wait for it. The lock is held.
func (p *pace) open() {
	waiting, first := 0, int64(0)
	for _, r := range p.runners {
		if r.waiting {
			if waiting == 0 || r.at < first {
				first = r.at
			}
			waiting++
		}
	}
	if waiting == 0 || waiting < p.playing {
		return
	}
	p.end = first + p.window
	p.interrupted = p.interrupted || p.ctx.Err() != nil
	for _, r := range p.runners {
		if r.waiting && (r.at <= p.end || p.interrupted) {
			r.waiting = false
			r.proceed <- struct{}{}
		}
	}
}

// note notes the time of a part and the number of its jobs that have ended.
func (r *pacer) note(now int64, ended int) {
	p := r.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = max(p.now, now)
	p.ended += ended - r.ended
	r.ended = ended
	p.progress(p.now, p.ended)
}
