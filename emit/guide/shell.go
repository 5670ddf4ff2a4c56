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

// variable returns a variable of the shell as a part of a text for shellWord.
func variable(name string) string { return "\x00" + name + "\x00" }

// shellWord returns a text as one word of a shell command. The shell replaces the
// variables, and nothing else.
func shellWord(text string) string {
	plain, quoted, harmless := "", "", true
	for i, part := range strings.Split(text, "\x00") {
		switch {
		case i%2 == 1:
			plain += "$" + part
			quoted += `"$` + part + `"`
		case part != "":
			plain += part
			quoted += words.ShellArgument(part)
			harmless = harmless && words.ShellArgument(part) == part
		}
	}
	if plain == text || !harmless {
		return quoted
	}
	return `"` + plain + `"`
}
