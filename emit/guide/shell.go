package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// command returns a shell command with these arguments. It quotes each argument, so
// that the shell changes none.
func command(arguments ...string) string {
	quoted := make([]string, len(arguments))
	for i, w := range arguments {
		quoted[i] = words.ShellArgument(w)
	}
	return strings.Join(quoted, " ")
}
