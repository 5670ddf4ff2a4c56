package compiler

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/batchwright/batchwright/compiler/diag"
)

func TestGuard(t *testing.T) {
	generous := Input{Paths: []string{"some", "where"}, MaxTime: time.Hour, MaxMemory: 1 << 50}
	given := func(change func(*Input)) Input {
		in := generous
		change(&in)
		return in
	}
	release := make(chan struct{})
	gone := make(chan struct{}) // the deep stack
	defer func() { close(release); <-gone }()
	block := func() (*Result, error) { <-release; return nil, nil }
	canceled, cancel := context.WithCancel(t.Context())
	cancel()

	for _, tt := range []struct {
		name    string
		ctx     context.Context
		in      Input
		compile func() (*Result, error)
		finding string // its message, or none
		err     string // or none
	}{
		{"done", t.Context(), generous, func() (*Result, error) { return &Result{}, nil }, "", ""},
		{
			"failed", t.Context(), generous, func() (*Result, error) { return &Result{}, errors.New("no luck") }, "",
			"no luck",
		},
		{
			"time", t.Context(), given(func(in *Input) { in.MaxTime = time.Millisecond }), block,
			"takes more than 1ms to compile", "",
		},
		{
			"time, and done meanwhile", t.Context(), given(func(in *Input) { in.MaxTime = 1 }),
			func() (*Result, error) { return &Result{}, nil }, "takes more than 1ns to compile", "",
		},
		{
			"memory", t.Context(), given(func(in *Input) { in.MaxMemory = 1 << 20 }), block,
			"takes more than 1 MiB of memory to compile", "",
		},
		{
			"stack", t.Context(), generous,
			func() (*Result, error) { defer close(gone); return nil, deepenStack(maxStack, block) },
			"is nested too deep", "",
		},
		{"canceled", canceled, generous, block, "", "context canceled"},
		{"panic", t.Context(), generous, func() (*Result, error) { return nil, writeNilMap(nil) },
			"", "a bug, met with some where: assignment to entry in nil map " +
				"(github.com/batchwright/batchwright/compiler.writeNilMap, line "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := (&compilation{Input: tt.in}).runWithinLimits(tt.ctx, tt.compile)
			if tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)) || tt.err == "" && err != nil {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if res == nil {
				t.Fatal("no result")
			}
			findings := res.Findings.Sorted()
			if tt.finding == "" {
				if len(findings) > 0 {
					t.Errorf("finding: %v", findings[0].Message)
				}
				return
			}
			if len(findings) != 1 || !strings.HasPrefix(findings[0].Message, tt.finding) {
				t.Fatalf("%d findings, want %q", len(findings), tt.finding)
			}
			if f := findings[0]; f.Code != "E0007" || f.Severity != diag.Error || f.Span.Source.Name != "some" ||
				f.Help == "" {
				t.Errorf("%s %s at %s, help %q", f.Severity, f.Code, f.Span.Source.Name, f.Help)
			}
		})
	}
}

// deepenStack takes a stack of that many bytes, and more, before it calls a function.
func deepenStack(bytes int, then func() (*Result, error)) error {
	var frame [64 << 10]byte
	if bytes > 0 {
		err := deepenStack(bytes-len(frame), then)
		runtime.KeepAlive(&frame)
		return err
	}
	_, err := then()
	return err
}

func writeNilMap(entries map[string]int) error {
	entries["no"] = 1
	return nil
}
