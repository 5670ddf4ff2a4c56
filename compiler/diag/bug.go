package diag

import (
	"fmt"
	"runtime"
	"strings"
)

// Bug returns an error with the value of a panic and the place where it arose. The
// deferred function that recovers must call Bug itself. input names the input of the
// failed function.
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
