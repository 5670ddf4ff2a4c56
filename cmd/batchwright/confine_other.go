//go:build !linux

package main

import "errors"

// canConfine reports whether the system can limit the memory of a process. Only
// Linux counts the memory that a Go process maps.
const canConfine = false

func peakMemory(any) int64 { return 0 }

func limitMemory(int64) error { return errors.ErrUnsupported }
