package main

import "syscall"

// canConfine reports whether the system limits the memory of a process.
const canConfine = true

// limitMemory makes the system refuse memory that would bring this process beyond
// a limit, in bytes, besides the program itself: the Go runtime then ends it.
//
// RLIMIT_DATA counts what is mapped to be written, and not what is only reserved
// as RLIMIT_AS does. The stacks of threads count as a whole.
func limitMemory(limit int64) error {
	var rlimit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &rlimit); err != nil {
		return err
	}
	rlimit.Cur = min(rlimit.Max, uint64(limit+limit/32))
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &rlimit)
}

// peakMemory returns the most memory that an ended process held, in bytes.
func peakMemory(usage any) int64 {
	if usage, ok := usage.(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}
