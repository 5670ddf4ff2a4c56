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

// ShellAssignment returns the line of a script that assigns a string to a variable.
func ShellAssignment(name, value string) string { return name + "=" + ShellString(value) + "\n" }

// ShellArray returns the lines of a script that assign an array to a variable. Each
// line holds the strings of one record; all are elements of the array, in order.
func ShellArray(name string, records ...[]string) string {
	var b strings.Builder
	b.WriteString(name + "=(\n")
	for _, record := range records {
		for i, s := range record {
			if i == 0 {
				b.WriteByte(' ')
			}
			b.WriteString(" " + ShellString(s))
		}
		b.WriteByte('\n')
	}
	b.WriteString(")\n")
	return b.String()
}

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
