package main

import (
	"context"
	"io"
	"os"
	"slices"
)

// interruptible ends a read when a context is done: a read from a terminal or a pipe
// could otherwise wait forever. Data that arrives later is lost.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buffer := make([]byte, len(p))
	go func() {
		n, err := i.r.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}

// open opens a file, or standard input for "-".
func (c Command) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usageErrorf("%v", err)
	}
	return file, nil
}

// checkPaths rejects arguments that are certainly a mistake.
func checkPaths(paths []string) error {
	if slices.Contains(paths, "") {
		return usageErrorf("a path is empty; is a variable unset?")
	}
	if first := slices.IndexFunc(paths, isStdin); first >= 0 && slices.ContainsFunc(paths[first+1:], isStdin) {
		return usageErrorf("standard input is given twice")
	}
	return nil
}

// isStdin reports whether a path stands for standard input.
func isStdin(path string) bool { return path == "-" || path == "yaml:-" }
