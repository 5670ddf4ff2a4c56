package words

import "strings"

// unquotedShell holds the characters that mean nothing to a shell within an
// argument. The equals sign is one of them: only a command's first word can be
// an assignment.
const unquotedShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+"

// ShellArgument returns s as one argument of a command that a person reads: a
// word of harmless characters stays as it is, and any other is quoted as
// ShellString does.
//
// Quote of mvdan.cc/sh/v3/syntax is not used. It quotes each argument with an
// equals sign, such as --project=p, and for POSIX shells it refuses characters
// that are not printable, which a blueprint's text may have.
func ShellArgument(s string) string {
	if s != "" && strings.Trim(s, unquotedShell) == "" {
		return s
	}
	return ShellString(s)
}

// ShellString returns s in single quotes, always, as a POSIX shell reads it. It
// is for the assignments of a script: their form stays the same whatever the
// value is, so that a change of a value changes nothing else. The text must not
// contain the byte 0, which no shell can hold.
func ShellString(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
