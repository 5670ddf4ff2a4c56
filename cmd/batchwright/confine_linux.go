package main

import "syscall"

// canConfine reports whether the system can limit the memory of a process.
const canConfine = true

// limitMemory limits the memory of this process, in bytes, not counting the program
// itself: the system refuses memory beyond the limit, and the Go runtime then ends
// the process.
//
// RLIMIT_DATA counts memory that is mapped for writing. It does not count memory
// that is only reserved, as RLIMIT_AS does. It counts the stacks of threads in full.
func limitMemory(limit int64) error {
	var rlimit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &rlimit); err != nil {
		return err
	}
	rlimit.Cur = min(rlimit.Max, uint64(limit+limit/32))
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &rlimit)
}

// peakMemory returns the most memory, in bytes, that an ended process held.
func peakMemory(usage any) int64 {
	if usage, ok := usage.(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}
