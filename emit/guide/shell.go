package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// command joins arguments to a shell command that reads each of them as it is,
// whatever it holds.
func command(arguments ...string) string {
	quoted := make([]string, len(arguments))
	for i, w := range arguments {
		quoted[i] = words.ShellArgument(w)
	}
	return strings.Join(quoted, " ")
}
