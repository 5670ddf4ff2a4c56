package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// useColor reports whether to write colours to a stream. The order of precedence is
// the flag, NO_COLOR (no-color.org), FORCE_COLOR (force-color.org), TERM=dumb, and
// the kind of stream.
func useColor(flag string, w io.Writer) bool {
	switch {
	case flag != colorAuto:
		return flag == colorAlways
	case os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("FORCE_COLOR") != "":
		return os.Getenv("FORCE_COLOR") != "0"
	case os.Getenv("TERM") == "dumb":
		return false
	}
	return isTerminal(w)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
