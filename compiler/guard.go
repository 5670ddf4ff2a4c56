package compiler

import (
	"context"
	"fmt"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Limits of one compilation where the Input sets none. Ten thousand teams take
// some 4 s and 600 MiB on a small machine; a slow one may be five times slower.
const (
	DefaultMaxTime   = time.Minute
	DefaultMaxMemory = 3 << 30
)

const (
	// maxStack is how much the memory for stacks may grow, in bytes. Go ends
	// the process, beyond any recovery, where one stack would need more than
	// 512 MiB. A file nested as deep as is allowed takes less than a tenth of
	// this.
	maxStack = 256 << 20

	// sampling is how often memory is looked at: it grows by some 50 MiB
	// meanwhile.
	sampling = 20 * time.Millisecond
)

// outcome is what a compilation has come to.
type outcome struct {
	result *Result
	err    error
}

// guard runs a compilation until it is done, ctx is done, or it has taken more
// than the Input allows, which is a finding: a dozen lines of CUE can mean more
// values than there are atoms. Evaluation cannot be stopped from outside, so in
// the latter cases it is left behind, and goes on until the process ends.
//
// A panic in it is an error: the libraries' parsers and evaluator have met
// input that their authors did not think of.
func (c *compilation) guard(ctx context.Context, compile func() (*Result, error)) (*Result, error) {
	began := time.Now()
	_, before := held()
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
			if time.Since(began) < c.MaxTime { // not both at once, by chance
				return o.result, o.err
			}
			return c.outOfTime(), nil
		case <-ctx.Done():
			return &Result{}, ctx.Err()
		case <-expired.C:
			return c.outOfTime(), nil
		case <-tick.C:
			memory, stacks := held()
			switch {
			case memory > uint64(c.MaxMemory):
				return c.outOfMemory(), nil
			case stacks > before+maxStack:
				return c.exceeded("is nested too deeply, or has too long a chain of references",
					"look for a value at the end of a chain of many thousand references, and for embedded files"), nil
			}
		}
	}
}

// usualGrowth is what usually costs too much.
const usualGrowth = "look for values that repeat other values several times, nested comprehensions, and very long lists"

// outOfTime is the result of a compilation that took too long.
func (c *compilation) outOfTime() *Result {
	return c.exceeded(fmt.Sprintf("takes more than %v to compile", c.MaxTime),
		usualGrowth+"; if the blueprint needs more time, set --max-time")
}

// outOfMemory is the result of a compilation that took too much memory.
func (c *compilation) outOfMemory() *Result {
	res := &Result{}
	res.Findings.Add(c.memoryFinding())
	return res
}

// memoryFinding says that a compilation takes too much memory. It is at a text
// that can outgrow the limit, if there is one.
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

// exceeded is the result of a compilation that was given up.
func (c *compilation) exceeded(message, help string) *Result {
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

// held returns the memory that the process holds, and the part of it that is
// for stacks, in bytes.
func held() (memory, stacks uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64(), samples[2].Value.Uint64()
}
