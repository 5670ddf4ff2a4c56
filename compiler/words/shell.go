package words

import "strings"

// unquotedShell holds the characters without a special meaning for a shell within an
// argument. The equals sign is one of them: only the first word of a command can be
// an assignment.
const unquotedShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+"

// ShellArgument returns s as one argument of a command that a person reads. It
// returns a word of harmless characters unchanged, and any other text quoted by
// ShellString.
//
// Quote of mvdan.cc/sh/v3/syntax is not used. It quotes each argument with an equals
// sign, such as --project=p, and for POSIX shells it rejects unprintable characters,
// which a blueprint's text may have.
func ShellArgument(s string) string {
	if s != "" && strings.Trim(s, unquotedShell) == "" {
		return s
	}
	return ShellString(s)
}

// ShellString returns s in single quotes for a POSIX shell. It always quotes, for
// assignments in a script: the form of an assignment is then the same for every
// value, and a changed value changes nothing else. The text must not contain the
// byte 0, which no shell can hold.
func ShellString(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// SplitCommand returns the elements of a command that does what a shell does with the
// line. These are the line's words if a shell reads nothing but words in it; otherwise
// a shell and the line.
func SplitCommand(line string) []string {
	split := strings.Fields(line)
	for i, word := range split {
		if strings.Trim(word, unquotedShell) != "" || i == 0 && strings.Contains(word, "=") {
			return []string{"sh", "-c", line}
		}
	}
	return split
}
