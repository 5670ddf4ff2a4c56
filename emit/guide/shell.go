package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// unconditional is the flag of gcloud that adds a binding without a condition. Without
// the flag, gcloud asks for the condition if the policy already has a binding with one.
const unconditional = "--condition=None"

// shellCommand returns a shell command with these arguments. It quotes each
// argument, so that the shell changes none.
func shellCommand(arguments ...string) string {
	quoted := make([]string, len(arguments))
	for i, w := range arguments {
		quoted[i] = words.ShellArgument(w)
	}
	return strings.Join(quoted, " ")
}
