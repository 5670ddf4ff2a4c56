package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on commands that only a shell can run. Kubernetes starts the program of a
// command itself, and gives it the other elements as they are.

// commandMistake is a mistake in an element of a command. The zero value is none.
type commandMistake struct {
	index         int
	cure, message string
	unread        bool // a shell must run the command, and then also replaces the variables
	fatal         bool // the command cannot start
}

// brokenStarts reports commands that cannot start.
func brokenStarts(r *report) { r.reportMistakes(true) }

// shellSyntax reports elements that only a shell would read.
func shellSyntax(r *report) { r.reportMistakes(false) }

// reportMistakes reports the commands that cannot start, or those that can.
func (r *report) reportMistakes(fatal bool) {
	for _, c := range r.containers() {
		if m := c.mistake(); m.fatal == fatal && m.message != "" {
			r.add(c.path.at("command", diag.Index(m.index)), m.message, advise(m.cure))
		}
	}
}

// mistake returns the first mistake of the command.
func (c container) mistake() commandMistake {
	if len(c.command) == 0 {
		return commandMistake{}
	}
	m := c.startMistake()
	if m.message == "" {
		m = c.scriptMistake()
	}
	if m.message != "" {
		m.fatal = true
		return m
	}
	if m = c.shellMistake(); m.message == "" {
		m = c.parameterMistake()
	}
	return m
}

// Words that only a shell knows. No image has a program of a name in shellWords: they
// change the shell itself, or are part of its grammar. Some images have programs of the
// names in shellUtilities, which change nothing but themselves. Source: POSIX.1-2017,
// Shell Command Language, 2.4 and 2.14, and Rationale, C.1.7.
var (
	shellWords = []string{
		"!", ".", ":", "break", "case", "continue", "declare", "do", "done", "eval", "exec", "export", "fi", "for",
		"function", "if", "local", "popd", "pushd", "return", "set", "shift", "source", "trap", "unset", "until",
		"while", "{", "(", "[[",
	}
	shellUtilities = []string{"alias", "bg", "cd", "fg", "jobs", "read", "ulimit", "umask", "unalias", "wait"}
)

// wrappers are programs that start the program of their arguments.
var wrappers = []string{
	"chrt", "dumb-init", "env", "ionice", "nice", "nohup", "numactl", "setsid", "stdbuf", "sudo", "taskset", "time",
	"timeout", "tini",
}

// fileTools are programs that take the names of files as they are: no pattern is
// replaced by names, and "~" is not replaced by a directory.
var fileTools = []string{
	"cat", "chgrp", "chmod", "chown", "cp", "du", "head", "ln", "ls", "mkdir", "mv", "rm", "rmdir", "sort", "tail",
	"tar", "touch", "wc",
}

var (
	assigned    = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	interpreter = regexp.MustCompile(`^(python[0-9.]*|torchrun)$`)
	// spacedScript matches a script and its arguments in one element.
	spacedScript = regexp.MustCompile(`^\S+\.(py|sh)\s+\S`)
	// spacedFlag matches a flag and its value, or several flags, in one element. A value
	// after "=" can contain spaces.
	spacedFlag = regexp.MustCompile(`^(--[A-Za-z][\w-]*\s+\S.*|--[A-Za-z][\w-]*=\S*(\s+--[A-Za-z][\w-]*=\S*)+)$`)
	// substituted matches an element that is the output of a command in a shell. In
	// longer texts, backquotes are as likely a mark of Markdown.
	substituted = regexp.MustCompile("^[^\\s`]*`[^`]+`[^\\s`]*$")
	ended       = regexp.MustCompile(`^[\w./-]+;$`)
	// ownCode matches an option of an interpreter before a text or a module.
	ownCode = regexp.MustCompile(`^-[A-Za-z]*[cm]$`)
	// valuedOption matches an option of a shell that takes the next element.
	valuedOption = regexp.MustCompile(`^(-[A-Za-z]*[oO]|--rcfile|--init-file)$`)
	positional   = regexp.MustCompile(`\$[{#!]*[0-9@*#]|\b(shift|getopts|set --)\b`)
)

// mistakeAt returns the mistake of an element, with its cure.
func mistakeAt(index int, cure, format string, args ...any) commandMistake {
	return commandMistake{index: index, cure: cure, message: fmt.Sprintf(format, args...)}
}

// unread returns the mistake of an element that a shell must read.
func (c container) unread(index int, format string, args ...any) commandMistake {
	cure := `let a shell run the command: command: ["sh", "-c", "..."]`
	if !slices.ContainsFunc(c.command, needsQuotes) {
		cure = "let a shell run the command: command: " +
			quoteCommand("sh", "-c", strings.Join(withoutSecrets(c.command), " "))
	}
	m := mistakeAt(index, cure, format+": no shell reads the command", args...)
	m.unread = true
	return m
}

// needsQuotes reports whether an element has to stand in quotes in a line of a shell.
func needsQuotes(element string) bool { return strings.ContainsAny(element, " \"'\\") }

// unexpandedHome returns the mistake of a path that begins with "~".
func unexpandedHome(index int) commandMistake {
	return mistakeAt(index, "write the absolute path", `nothing replaces "~": no shell reads the command`)
}

// startMistake returns the mistake of a command whose first element is no program.
func (c container) startMistake() commandMistake {
	switch program := c.command[0]; {
	case strings.TrimSpace(program) == "":
		return mistakeAt(0, "begin command with the name of the program",
			"the first element of command is empty: it names no program")
	case strings.ContainsAny(program, " \t\n"):
		return c.spacedProgram()
	case assigned.MatchString(program):
		name, _, _ := strings.Cut(program, "=")
		return mistakeAt(0, fmt.Sprintf("set %s in env, and begin command with the name of the program", name),
			"the assignment to %s is not a program: no shell reads the command", name)
	case slices.Contains(shellWords, program):
		return c.unread(0, "%q is a shell command, not a program", program)
	case strings.HasPrefix(program, "~/"):
		return unexpandedHome(0)
	}
	return commandMistake{}
}

// spacedProgram returns the mistake of a command whose first element is a command line:
// the container runtime searches a program with that whole name.
func (c container) spacedProgram() commandMistake {
	program := c.command[0]
	fields := strings.Fields(program)
	line := program
	if shown := withoutSecrets(fields); !slices.Equal(fields, shown) {
		line = strings.Join(shown, " ")
	}
	cure := "let a shell split it: command: " + quoteCommand("sh", "-c", line)
	if split := words.SplitCommand(program); slices.Equal(split, fields) && len(split) > 0 {
		cure = "write each word as an element: command: " + quoteCommand(append(split, c.command[1:]...)...)
	}
	return mistakeAt(0, cure, "command %q is one word: no shell splits it into a program and its arguments", program)
}

// scriptMistake returns the mistake of a shell or an interpreter that cannot find its
// script.
func (c container) scriptMistake() commandMistake {
	start, script := c.script()
	if start < 0 {
		return commandMistake{}
	}
	name, last := c.command[start], c.command[script-1]
	ofShell := isShell(name)
	if script == len(c.command) {
		if ofShell && shellOption.MatchString(last) {
			return mistakeAt(script-1, "add the line as the next element", "%s %s needs a line to run", name, last)
		}
		return commandMistake{}
	}
	cure := ""
	switch text := c.command[script]; {
	case ofShell && slices.ContainsFunc(c.command[start+1:script], shellOption.MatchString):
		return commandMistake{}
	case strings.HasPrefix(text, "~/"):
		return unexpandedHome(script)
	case ofShell && strings.ContainsAny(text, " \t\n"):
		cure = "add -c, so that the shell runs the line: command: " +
			quoteCommand(slices.Insert(slices.Clone(c.command), script, "-c")...)
	case !ofShell && spacedScript.MatchString(text):
		cure = "write each word as an element"
		if split := words.SplitCommand(text); split[0] != "sh" {
			cure += ": command: " + quoteCommand(slices.Replace(slices.Clone(c.command), script, script+1, split...)...)
		}
	default:
		return commandMistake{}
	}
	return mistakeAt(script, cure, "%s looks for a script named %q", name, c.command[script])
}

func isShell(program string) bool {
	return slices.Contains(shells, path.Base(program)) && path.Base(program) != "su"
}

// script returns the index of the shell or the interpreter that the command starts, -1
// if there is none, and the index of the first element after its options.
func (c container) script() (start, script int) {
	start = slices.IndexFunc(c.command, func(e string) bool {
		return isShell(e) || interpreter.MatchString(path.Base(e))
	})
	if start < 0 || start > 0 && !slices.Contains(wrappers, path.Base(c.command[0])) {
		return -1, 0
	}
	ofShell := isShell(c.command[start])
	for script = start + 1; script < len(c.command) && strings.HasPrefix(c.command[script], "-"); script++ {
		switch option := c.command[script]; {
		case option == "-" || option == "-s" || !ofShell && ownCode.MatchString(option):
			return -1, 0 // the standard input, a text or a module
		case ofShell && valuedOption.MatchString(option) || option == "-W" || option == "-X":
			script++
		}
	}
	if script > len(c.command) {
		return -1, 0
	}
	return start, script
}

// shellMistake returns the mistake of a command that starts, but has elements that only
// a shell would read.
func (c container) shellMistake() commandMistake {
	program := c.command[0]
	plain := c.command[:c.plainElements()]
	for i, e := range plain {
		if operator.MatchString(e) && !c.isDelimiter(i) {
			return c.unread(i, "%q is only an argument of %s", e, program)
		}
	}
	if slices.Contains(shellUtilities, program) {
		return c.unread(0, "%q has an effect only in a shell", program)
	}
	for i, e := range plain {
		value := i > 0 && strings.HasPrefix(plain[i-1], "-") && !strings.Contains(plain[i-1], "=")
		switch {
		case substituted.MatchString(e):
			return c.unread(i, "nothing runs the text between the backquotes")
		case ended.MatchString(e) && i > 0 && i < len(plain)-1 && !value:
			return c.unread(i, "the semicolon in %q does not end a command", e)
		case i > 0 && !value && spacedFlag.MatchString(e):
			cure := "write each word as an element: " + strings.Trim(quoteCommand(strings.Fields(e)...), "[]")
			return mistakeAt(i, cure, "%q is one argument: no shell splits it", e)
		case i > 0 && slices.Contains(fileTools, path.Base(program)) && isPattern(e):
			return c.unread(i, "%s looks for a file named %q", program, e)
		}
	}
	return commandMistake{}
}

// isPattern reports whether a shell would replace an argument by the names of files.
func isPattern(argument string) bool {
	return strings.HasPrefix(argument, "~/") ||
		strings.ContainsAny(argument, "*?") && !strings.HasPrefix(argument, "-")
}

// parameterMistake returns the mistake of a shell whose line is split over several
// elements: "sh -c" runs only one element, and the following are its parameters $0, $1
// and so on. A line that reads a parameter is right. One more element can be a name for
// the shell's own messages.
func (c container) parameterMistake() commandMistake {
	start, script := c.script()
	if start < 0 || !isShell(c.command[start]) || script >= len(c.command)-1 ||
		!slices.ContainsFunc(c.command[start:script], shellOption.MatchString) {
		return commandMistake{}
	}
	line, more := c.command[script], c.command[script+1:]
	if positional.MatchString(line) {
		return commandMistake{}
	}
	plain := !strings.ContainsAny(strings.TrimSpace(line), " \t\n;&|")
	if !plain && len(more) == 1 && (!strings.HasPrefix(more[0], "-") || more[0] == "--") {
		return commandMistake{}
	}
	if plain && len(more) == 1 && (more[0] == "--" || isShell(more[0]) || more[0] == "_") {
		return commandMistake{}
	}
	cure := "write the line as one element"
	joined := append([]string{line}, more...)
	if !slices.ContainsFunc(more, needsQuotes) {
		cure += ": command: " +
			quoteCommand(append(slices.Clone(c.command[:script]), strings.Join(withoutSecrets(joined), " "))...)
	}
	return mistakeAt(script+1, cure, "%q is not part of the line: %s runs only the element after %s", more[0],
		c.command[start], c.command[script-1])
}

// withoutSecrets returns the elements of a command without the arguments that look like
// secrets by their flag. It is for the text of findings, where other
// secrets are masked by their shape.
func withoutSecrets(command []string) []string {
	shown := slices.Clone(command)
	for i, e := range command {
		if i > 0 && secret.IsValue(strings.TrimLeft(command[i-1], "-"), e) {
			shown[i] = "..."
		} else if password, ok := secret.InArgument(command, i); ok {
			shown[i] = e[:password.Start] + "..."
		}
	}
	return shown
}

// quoteCommand returns a command as CUE writes it, shortened if it is long, and without
// secrets.
func quoteCommand(elements ...string) string {
	const most = 6
	var quoted []string
	for i, e := range withoutSecrets(elements) {
		if i == most || len(e) > 60 {
			quoted = append(quoted, "...")
			break
		}
		quoted = append(quoted, strconv.Quote(e))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// operator matches an element that is an operator or a redirection of a shell.
var operator = regexp.MustCompile(`^(&&|\|\|?|;|&|<|[12&]?>>?(&[12]|/[-\w./]+)?)$`)

// Programs that read the text of a command themselves: shells, which read the text
// after an option -c, and programs that give "$" or the operators a meaning of their
// own.
var (
	shells  = []string{"ash", "bash", "dash", "ksh", "sh", "su", "zsh"}
	readers = []string{
		"[", "awk", "envsubst", "expr", "find", "gawk", "jq", "make", "mawk", "parallel", "perl", "php", "ruby", "sed",
		"ssh", "test", "yq",
	}
	shellOption = regexp.MustCompile(`^-[A-Za-z]*c[A-Za-z]*$`)
)

// plainElements returns the number of elements at the start of the command that no
// program interprets. From there on a shell reads the text, or another program with
// its own meaning of "$" and of operators.
func (c container) plainElements() int {
	shell := false
	for i, e := range c.command {
		switch name := path.Base(e); {
		case shell && shellOption.MatchString(e):
			return i
		case slices.Contains(shells, name):
			shell = true
		case slices.Contains(readers, name):
			return i
		}
	}
	return len(c.command)
}

// Flags whose value is a character that separates fields, and the programs that have
// such a flag of one letter.
var (
	delimiterFlag = regexp.MustCompile(`^--?(\w+[-_])*(sep|separator|delim|delimiter|terminator)$`)
	delimiterTool = regexp.MustCompile(`^(column|csv\w+|cut|join|mlr|mysql|paste|psql|sort|xargs|xsv)$`)
	letterFlag    = regexp.MustCompile(`^-[dFst]$`)
)

// isDelimiter reports whether an element of the command is the value of a flag that sets
// a delimiter, such as "|" after "-d" of cut.
func (c container) isDelimiter(i int) bool {
	if i == 0 || len(c.command[i]) != 1 {
		return false
	}
	flag := c.command[i-1]
	return delimiterFlag.MatchString(flag) ||
		letterFlag.MatchString(flag) && delimiterTool.MatchString(path.Base(c.command[0]))
}
