package diag

import (
	"fmt"
	"runtime"
	"strings"
)

// Bug returns an error that says what a panic came with and where it arose. The
// deferred function that recovers calls Bug itself; input names what was read.
func Bug(input string, bug any) error {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Errorf("a bug, met with %s: %v (%s, line %d)", input, bug, f.Function, f.Line)
		}
	}
}
