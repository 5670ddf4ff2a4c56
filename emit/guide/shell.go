package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// shellCommand returns a shell command with these arguments. It quotes each
// argument, so that the shell changes none.
func shellCommand(arguments ...string) string {
	quoted := make([]string, len(arguments))
	for i, w := range arguments {
		quoted[i] = words.ShellArgument(w)
	}
	return strings.Join(quoted, " ")
}
