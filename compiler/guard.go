package compiler

import (
	"context"
	"fmt"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Default limits of one compilation. Ten thousand teams take about 3 s and 500 MiB
// on a small machine; a slow machine may take five times as long.
const (
	DefaultMaxTime   = time.Minute
	DefaultMaxMemory = 3 << 30
)

const (
	// maxStack is the most, in bytes, that the memory for stacks may grow. Go ends
	// the process, without a chance to recover, if one stack needs more than 512
	// MiB. A file with the deepest allowed nesting takes less than a tenth of
	// maxStack.
	maxStack = 256 << 20

	// sampling is the interval between measurements of the memory, in which the
	// memory grows by about 50 MiB.
	sampling = 20 * time.Millisecond
)

// outcome is the result of a compilation that has ended.
type outcome struct {
	result *Result
	err    error
}

// runWithinLimits runs a compilation until it is done, ctx is done, or it exceeds
// the Input's limits. The last case is a finding, because a dozen lines of CUE can
// describe more values than there are atoms. Evaluation cannot be stopped from
// outside: if ctx is done or a limit is exceeded, it goes on in the background until
// the process ends.
//
// A panic in the compilation is returned as an error: a parser or evaluator of the
// libraries has failed on unexpected input.
func (c *compilation) runWithinLimits(ctx context.Context, compile func() (*Result, error)) (*Result, error) {
	began := time.Now()
	_, before := heldMemory()
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if bug := recover(); bug != nil {
				done <- outcome{&Result{}, diag.Bug(strings.Join(c.Paths, " "), bug)}
			}
		}()
		result, err := compile()
		done <- outcome{result, err}
	}()

	expired := time.NewTimer(c.MaxTime)
	defer expired.Stop()
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		select {
		case o := <-done:
			if time.Since(began) < c.MaxTime { // do not report both results if they arrive at the same time
				return o.result, o.err
			}
			return c.outOfTime(), nil
		case <-ctx.Done():
			return &Result{}, ctx.Err()
		case <-expired.C:
			return c.outOfTime(), nil
		case <-tick.C:
			memory, stacks := heldMemory()
			switch {
			case memory > uint64(c.MaxMemory):
				return c.outOfMemory(), nil
			case stacks > before+maxStack:
				return c.exceededResult("is nested too deeply, or has too long a chain of references",
					"look for a value at the end of a chain of many thousand references, and for embedded files"), nil
			}
		}
	}
}

// usualGrowth is the advice about the usual causes of high cost.
const usualGrowth = "look for values that repeat other values several times, nested comprehensions, and very long lists"

// outOfTime returns the result of a compilation that took too long.
func (c *compilation) outOfTime() *Result {
	return c.exceededResult(fmt.Sprintf("takes more than %v to compile", c.MaxTime),
		usualGrowth+"; if the blueprint needs more time, set --max-time")
}

// outOfMemory returns the result of a compilation that took too much memory.
func (c *compilation) outOfMemory() *Result {
	res := &Result{OutOfMemory: true}
	res.Findings.Add(c.memoryFinding())
	return res
}

// memoryFinding returns the finding that a compilation takes too much memory. If a
// text can outgrow the limit, the finding is at that text.
func (c *compilation) memoryFinding() diag.Finding {
	f := c.limitFinding(fmt.Sprintf("takes more than %d MiB of memory to compile", c.MaxMemory>>20),
		usualGrowth+"; if the blueprint needs more memory, set --max-memory")
	if at := c.suspect.Load(); at != nil {
		f.Span = *at
		f.Message = fmt.Sprintf("the blueprint takes more than %d MiB of memory to compile", c.MaxMemory>>20)
		f.Label = "this text can exceed the limit"
		f.Help = "look here for a text that repeats other texts several times; if the blueprint needs more memory, " +
			"set --max-memory"
	}
	return f
}

// exceededResult returns the result of a compilation that exceeded a limit.
func (c *compilation) exceededResult(message, help string) *Result {
	res := &Result{}
	res.Findings.Add(c.limitFinding(message, help))
	return res
}

func (c *compilation) limitFinding(message, help string) diag.Finding {
	return diag.Finding{
		Code: "E0007", Severity: diag.Error, Message: message, Help: help,
		Span: diag.Span{Source: &diag.Source{Name: c.Paths[0]}},
	}
}

// heldMemory returns the memory that the process holds, and the part of it that is
// used for stacks, in bytes.
func heldMemory() (memory, stacks uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64(), samples[2].Value.Uint64()
}
