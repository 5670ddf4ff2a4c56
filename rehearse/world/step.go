package world

import (
	"context"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Kueue's scheduler runs its cycles in a loop of its own, and the function that runs one
// cycle is private. The types here stop the loop before each cycle: the loop waits for
// heads of queues, and the gate hides the heads until a step opens it.

// gate hides the heads of all queues while it is shut. It is the StatusChecker that
// Kueue's queue manager asks whether a ClusterQueue is active.
type gate struct {
	open  atomic.Bool
	cache interface {
		ClusterQueueActive(kueue.ClusterQueueReference) bool
	}
}

// ClusterQueueActive implements queue.StatusChecker.
func (g *gate) ClusterQueueActive(name kueue.ClusterQueueReference) bool {
	return g.open.Load() && g.cache.ClusterQueueActive(name)
}

// loopContext ends Kueue's loop after one cycle. The loop asks for the channel once, when
// it starts; everybody who asks later gets nil, because a closed channel would also
// stop what runs within the cycle.
type loopContext struct {
	context.Context
	asked bool
	quit  atomic.Bool // a loop that Broadcast has woken reads it without a lock
	done  chan struct{}
}

// Done implements context.Context.
func (c *loopContext) Done() <-chan struct{} {
	if !c.asked {
		c.asked = true
		return c.done
	}
	if c.quit.Load() {
		return c.done
	}
	return nil
}

// cycleClock counts the cycles: the scheduler measures the time of each.
type cycleClock struct {
	clock.RealClock
	measured atomic.Int64
}

// Since implements clock.PassiveClock.
func (c *cycleClock) Since(t time.Time) time.Duration {
	c.measured.Add(1)
	return c.RealClock.Since(t)
}

// arm starts Kueue's loop, which then waits for heads.
func (w *World) arm() {
	w.loop = &loopContext{Context: w.ctx, done: make(chan struct{})}
	w.gate.open.Store(false)
	// Start returns no error: it only starts a goroutine.
	_ = w.scheduler.Start(w.loop)
	synctest.Wait()
	close(w.loop.done)
}

// cycle runs one cycle of the scheduler. It reports whether there was one: a cycle needs
// a workload at the head of a queue.
func (w *World) cycle() bool {
	if w.loop == nil {
		w.arm()
	}
	// What was submitted has woken the loop. It must find the gate shut everywhere, and
	// wait again, before the gate opens.
	synctest.Wait()
	before := w.clock.measured.Load()
	w.gate.open.Store(true)
	w.queues.Broadcast()
	synctest.Wait()
	w.gate.open.Store(false)
	if w.clock.measured.Load() == before {
		return false
	}
	w.loop = nil
	return true
}

// Close ends the goroutine of Kueue's loop.
func (w *World) Close() {
	if w.loop != nil {
		synctest.Wait() // what has happened last can have woken the loop
		w.loop.quit.Store(true)
		w.queues.Broadcast()
		synctest.Wait()
		w.loop = nil
	}
}

// inline runs at once what Kueue runs in a goroutine: the write of an admission.
type inline struct{}

// Run implements routine.Wrapper.
func (inline) Run(f func()) { f() }
