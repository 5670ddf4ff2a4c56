package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on commands that only a shell can run. Kubernetes starts the program of a
// command itself, and gives it the other elements as they are.

// commandMistake is a mistake in an element of a command.
type commandMistake struct {
	index         int
	message, cure string
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

// startMistake returns the reason why the command cannot start, nil if there is none.
func (c container) startMistake() *commandMistake {
	if len(c.command) == 0 {
		return nil
	}
	switch program := c.command[0]; {
	case strings.TrimSpace(program) == "":
		return &commandMistake{0, "the first element of command is empty: it names no program",
			"begin command with the name of the program"}
	case strings.ContainsAny(program, " \t\n"):
		return c.spacedProgram()
	case assigned.MatchString(program):
		name, _, _ := strings.Cut(program, "=")
		return &commandMistake{0,
			fmt.Sprintf("the assignment to %s is not a program: no shell reads the command", name),
			fmt.Sprintf("set %s in env, and begin command with the name of the program", name)}
	case slices.Contains(shellWords, program):
		return c.unread(0, "%q is a shell command, not a program", program)
	case strings.HasPrefix(program, "~/"):
		return &commandMistake{0, `nothing replaces "~": no shell reads the command`, "write the absolute path"}
	}
	return c.scriptMistake()
}

// spacedProgram returns the mistake of a command whose first element is a command line:
// the container runtime searches a program with that whole name.
func (c container) spacedProgram() *commandMistake {
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
	return &commandMistake{0, fmt.Sprintf(
		"command %q is one word: no shell splits it into a program and its arguments", program), cure}
}

// scriptMistake returns the mistake of a shell or an interpreter that cannot find its
// script, nil if there is none.
func (c container) scriptMistake() *commandMistake {
	start, script := c.script()
	if start < 0 {
		return nil
	}
	name := c.command[start]
	if script == len(c.command) {
		if last := c.command[script-1]; isShell(name) && shellOption.MatchString(last) {
			return &commandMistake{script - 1, fmt.Sprintf("%s %s needs a line to run", name, last),
				"add the line as the next element"}
		}
		return nil
	}
	text := c.command[script]
	switch {
	case isShell(name) && slices.ContainsFunc(c.command[start+1:script], shellOption.MatchString):
		return nil
	case strings.HasPrefix(text, "~/"):
		return &commandMistake{script, `nothing replaces "~": no shell reads the command`, "write the absolute path"}
	case isShell(name) && strings.ContainsAny(text, " \t\n"):
		command := slices.Insert(slices.Clone(c.command), script, "-c")
		return &commandMistake{script, fmt.Sprintf("%s looks for a script named %q", name, text),
			"add -c, so that the shell runs the line: command: " + quoteCommand(command...)}
	case !isShell(name) && spacedScript.MatchString(text):
		cure := "write each word as an element"
		if split := words.SplitCommand(text); split[0] != "sh" {
			cure += ": command: " + quoteCommand(slices.Replace(slices.Clone(c.command), script, script+1, split...)...)
		}
		return &commandMistake{script, fmt.Sprintf("%s looks for a script named %q", name, text), cure}
	}
	return nil
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
	script = start + 1
	for script < len(c.command) && strings.HasPrefix(c.command[script], "-") {
		option := c.command[script]
		switch {
		case option == "-" || option == "-s" || !isShell(c.command[start]) && ownCode.MatchString(option):
			return -1, 0 // the standard input, a text or a module
		case isShell(c.command[start]) && valuedOption.MatchString(option) || option == "-W" || option == "-X":
			script++
		}
		script++
	}
	if script > len(c.command) {
		return -1, 0
	}
	return start, script
}

// shellMistake returns the mistake of a command that starts, but has elements that only
// a shell would read; nil if there is none. whole reports whether a shell must run the
// command, so that it also replaces the variables.
func (c container) shellMistake() (mistake *commandMistake, whole bool) {
	if len(c.command) == 0 {
		return nil, false
	}
	program := c.command[0]
	plain := c.command[:c.plainElements()]
	if i := c.operatorIndex(); i >= 0 {
		return c.unread(i, "%q is only an argument of %s", c.command[i], program), true
	}
	if slices.Contains(shellUtilities, program) {
		return c.unread(0, "%q has an effect only in a shell", program), true
	}
	for i, e := range plain {
		value := i > 0 && strings.HasPrefix(plain[i-1], "-") && !strings.Contains(plain[i-1], "=")
		switch {
		case substituted.MatchString(e):
			return c.unread(i, "nothing runs the text between the backquotes"), true
		case ended.MatchString(e) && i > 0 && i < len(plain)-1 && !value:
			return c.unread(i, "the semicolon in %q does not end a command", e), true
		case i > 0 && !value && spacedFlag.MatchString(e):
			split := quoteCommand(strings.Fields(e)...)
			return &commandMistake{i, fmt.Sprintf("%q is one argument: no shell splits it", e),
				"write each word as an element: " + strings.Trim(split, "[]")}, false
		case i > 0 && slices.Contains(fileTools, path.Base(program)) &&
			(strings.HasPrefix(e, "~/") || strings.ContainsAny(e, "*?") && !strings.HasPrefix(e, "-")):
			return c.unread(i, "%s looks for a file named %q", program, e), true
		}
	}
	return c.parameterMistake(), false
}

// parameterMistake returns the mistake of a shell whose line is split over several
// elements: "sh -c" runs only one element, and the following are its parameters $0, $1
// and so on. A line that reads a parameter is right. One more element can be a name for
// the shell's own messages.
func (c container) parameterMistake() *commandMistake {
	start, script := c.script()
	if start < 0 || !isShell(c.command[start]) || script >= len(c.command)-1 ||
		!slices.ContainsFunc(c.command[start:script], shellOption.MatchString) {
		return nil
	}
	line, more := c.command[script], c.command[script+1:]
	if positional.MatchString(line) {
		return nil
	}
	plain := !strings.ContainsAny(strings.TrimSpace(line), " \t\n;&|")
	if !plain && len(more) == 1 && (!strings.HasPrefix(more[0], "-") || more[0] == "--") {
		return nil
	}
	if plain && len(more) == 1 && (more[0] == "--" || isShell(more[0]) || more[0] == "_") {
		return nil
	}
	cure := "write the line as one element"
	joined := append([]string{line}, more...)
	if !slices.ContainsFunc(joined[1:], func(e string) bool { return strings.ContainsAny(e, " \"'\\") }) {
		cure += ": command: " +
			quoteCommand(append(slices.Clone(c.command[:script]), strings.Join(withoutSecrets(joined), " "))...)
	}
	return &commandMistake{script + 1, fmt.Sprintf("%q is not part of the line: %s runs only the element after %s",
		more[0], c.command[start], c.command[script-1]), cure}
}

// unread returns the mistake of an element that a shell must read.
func (c container) unread(index int, format string, args ...any) *commandMistake {
	return &commandMistake{index, fmt.Sprintf(format, args...) + ": no shell reads the command", c.shellCure()}
}

// shellCure returns the correction of a command that a shell must run.
func (c container) shellCure() string {
	if slices.ContainsFunc(c.command, func(e string) bool { return strings.ContainsAny(e, " \"'\\") }) {
		return `let a shell run the command: command: ["sh", "-c", "..."]`
	}
	return "let a shell run the command: command: " +
		quoteCommand("sh", "-c", strings.Join(withoutSecrets(c.command), " "))
}

// brokenStarts reports commands that cannot start.
func brokenStarts(r *report) {
	r.eachContainer(func(c container) {
		if m := c.startMistake(); m != nil {
			r.add(c.field("command", diag.Index(m.index)), m.message, withHelp("%s", m.cure))
		}
	})
}

// shellSyntax reports elements that only a shell would read.
func shellSyntax(r *report) {
	r.eachContainer(func(c container) {
		if c.startMistake() != nil {
			return
		}
		if m, _ := c.shellMistake(); m != nil {
			r.add(c.field("command", diag.Index(m.index)), m.message, withHelp("%s", m.cure))
		}
	})
}
