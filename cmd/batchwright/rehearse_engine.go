package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// engine is a program that contains a scheduler and plays scenarios.
type engine struct {
	name   string
	target string // of make, which builds the program
}

// engineOf returns the engine that contains a scheduler.
func engineOf(s ir.Scheduler) engine {
	return ir.Choose(s, engine{"batchwright-rehearse", "make"}, engine{"batchwright-rehearse-kai", "make rehearse-kai"})
}

// mostEngineWords is the most bytes of the engine's messages that an error contains.
const mostEngineWords = 4 << 10

// find returns the path of the engine: next to this program, or on PATH.
func (e engine) find(s ir.Scheduler) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(realPath(self)), e.name)
		if runtime.GOOS == "windows" {
			beside += ".exe"
		}
		if found, err := exec.LookPath(beside); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(e.name)
	if err != nil {
		return "", fmt.Errorf("the program %s, which contains %s, is neither next to batchwright nor on PATH: "+
			"run %q in a clone of batchwright, which builds it", e.name, s.Facts().Name, e.target)
	}
	return found, nil
}

// play runs the engine, and returns the history. With progresses it shows on a terminal how
// far the engine is. If ctx is done before the end, the
// history is as far as it is known, and Interrupted.
func (c Command) play(ctx context.Context, s *rehearsal.Scenario, progresses bool) (
	*rehearsal.History, error,
) {
	engine := engineOf(s.Scheduler.Name)
	program, err := engine.find(s.Scheduler.Name)
	if err != nil {
		return nil, err
	}
	scenario, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "progress")
	cmd.Stdin = bytes.NewReader(scenario)
	var history bytes.Buffer
	progress := &progressWriter{scenario: s}
	if progresses {
		progress.meter = c.meter
	}
	cmd.Stdout, cmd.Stderr = &history, progress
	// The engine answers an interrupt with the history so far.
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	err = cmd.Run()
	progress.clear()
	if exit := new(exec.ExitError); errors.As(err, &exit) || err != nil && ctx.Err() == nil {
		if said := strings.TrimSpace(strings.TrimPrefix(progress.words.String(), engine.name+": ")); said != "" {
			return nil, errors.New(said)
		}
		return nil, fmt.Errorf("%s: %w; if it is from another build, run %q again", engine.name, err, engine.target)
	}
	h := &rehearsal.History{}
	decoder := json.NewDecoder(&history)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(h); err != nil {
		return nil, errors.Join(ctx.Err(),
			fmt.Errorf("%s: its answer cannot be read: %w; run %q again", engine.name, err, engine.target))
	}
	if len(h.Jobs) != len(s.Jobs) || len(h.Pools) != len(s.Pools) {
		return nil, fmt.Errorf("%s answers another version of batchwright: run %q again", engine.name, engine.target)
	}
	return h, nil
}

// progressWriter reads the engine's messages: it shows the progress on a terminal, and
// keeps the rest.
type progressWriter struct {
	meter    *meter // nil if the progress is not shown
	scenario *rehearsal.Scenario
	line     bytes.Buffer // the unfinished line
	words    bytes.Buffer // all that is not progress, up to mostEngineWords
}

func (p *progressWriter) Write(content []byte) (int, error) {
	p.line.Write(content)
	for {
		line, rest, whole := bytes.Cut(p.line.Bytes(), []byte("\n"))
		if !whole {
			return len(content), nil
		}
		p.read(line)
		p.line = *bytes.NewBuffer(bytes.Clone(rest))
	}
}

// read reads one line.
func (p *progressWriter) read(line []byte) {
	var at struct {
		Now  *int64 `json:"now"`
		Done int    `json:"done"`
	}
	if json.Unmarshal(line, &at) != nil || at.Now == nil {
		if p.words.Len() < mostEngineWords {
			p.words.Write(append(line, '\n'))
		}
		return
	}
	p.meter.draw(fmt.Sprintf("%s of %s, %d of %d jobs have ended",
		words.Span(*at.Now), words.Span(p.scenario.Until), at.Done, len(p.scenario.Jobs)))
}

// clear removes the progress from the terminal, and ends the last line.
func (p *progressWriter) clear() {
	if p.line.Len() > 0 {
		p.read(p.line.Bytes())
	}
	p.meter.erase()
}
