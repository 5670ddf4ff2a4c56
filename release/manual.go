package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
)

// page is a page of the manual, with the parts of a command's help.
type page struct {
	name, short string // such as "batchwright-compile"
	help        string
	others      []string // the pages to see also
}

// manual returns the pages of the manual by the names of their files. They are made
// from the help that the program prints. Its texts have line breaks and columns of
// their own, which a converter from Markdown would not keep.
func (b *builder) manual(ctx context.Context) (map[string][]byte, error) {
	help, err := b.runProgram(ctx, "help")
	if err != nil {
		return nil, err
	}
	root := page{name: "batchwright", help: help}
	root.short = "compile the blueprint of a GKE batch platform into a deploy folder"
	var pages []page
	for _, line := range sections(help)["Available Commands:"] {
		command, short, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			return nil, fmt.Errorf("the help lists a command without a description: %q", line)
		}
		text, err := b.runProgram(ctx, "help", command)
		if err != nil {
			return nil, err
		}
		name := "batchwright-" + command
		pages = append(pages, page{name, lowerFirst(strings.TrimSpace(short)), text, []string{"batchwright"}})
		root.others = append(root.others, name)
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("the help lists no commands:\n%s", help)
	}
	files := map[string][]byte{}
	for _, p := range append(pages, root) {
		content, err := p.print(b.time.Format("2006-01-02"), "batchwright "+b.version)
		if err != nil {
			return nil, fmt.Errorf("the page %s: %w", p.name, err)
		}
		files[p.name+".1"] = content
	}
	return files, nil
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// sectionHeading matches the headings that cobra prints. The text before the first one
// has the heading "".
var sectionHeading = regexp.MustCompile(`^(Usage|Examples|Available Commands|Flags):$`)

// sections returns the lines below each heading of a help text, without empty lines at
// the end.
func sections(help string) map[string][]string {
	all, at := map[string][]string{}, ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, " \n")
		switch {
		case sectionHeading.MatchString(line):
			at = line
		case strings.HasPrefix(line, `Use "`) && at != "": // cobra's advice about help
		default:
			all[at] = append(all[at], line)
		}
	}
	for heading, lines := range all {
		for len(lines) > 0 && lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		all[heading] = lines
	}
	return all
}

// flagLine matches the description of a flag: its short name, its name, the word for
// its value, and its meaning.
var flagLine = regexp.MustCompile(`^ {2}(-\w, | {4})(--\S+)(?: (\S+))?(?: {2,}(.*))?$`)

// print returns the page as troff reads it.
func (p page) print(date, version string) ([]byte, error) {
	parts := sections(p.help)
	var w bytes.Buffer
	fmt.Fprintf(&w, ".TH %s 1 %s %s %s\n", quoteTroff(strings.ToUpper(p.name)), quoteTroff(date), quoteTroff(version),
		quoteTroff("batchwright manual"))
	// Names of fields and flags must not be hyphenated.
	fmt.Fprintf(&w, ".nh\n.ad l\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", escapeTroff(p.name), escapeTroff(p.short))
	printLiteral(&w, parts["Usage:"])
	w.WriteString(".SH DESCRIPTION\n")
	printText(&w, parts[""])
	if lines := parts["Available Commands:"]; len(lines) > 0 {
		w.WriteString(".SH COMMANDS\n")
		for _, line := range lines {
			command, short, _ := strings.Cut(strings.TrimSpace(line), " ")
			printTagged(&w, `\fB`+escapeTroff(command)+`\fR`, strings.TrimSpace(short))
		}
	}
	w.WriteString(".SH OPTIONS\n")
	for _, line := range parts["Flags:"] {
		m := flagLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("not the description of a flag: %q", line)
		}
		tag := `\fB` + escapeTroff(m[2]) + `\fR`
		if short := strings.TrimRight(m[1], ", "); short != "" {
			tag = `\fB` + escapeTroff(strings.TrimSpace(short)) + `\fR, ` + tag
		}
		if m[3] != "" {
			tag += ` \fI` + escapeTroff(m[3]) + `\fR`
		}
		printTagged(&w, tag, m[4])
	}
	if lines := parts["Examples:"]; len(lines) > 0 {
		w.WriteString(".SH EXAMPLES\n")
		printLiteral(&w, lines)
	}
	w.WriteString(".SH SEE ALSO\n")
	for i, other := range p.others {
		end := ","
		if i == len(p.others)-1 {
			end = ""
		}
		fmt.Fprintf(&w, ".BR %s (1)%s\n", escapeTroff(other), end)
	}
	return w.Bytes(), nil
}

// printTagged prints a term and its description.
func printTagged(w *bytes.Buffer, tag, text string) {
	fmt.Fprintf(w, ".TP\n%s\n%s\n", tag, escapeTroff(text))
}

// printLiteral prints lines as they are, without their common indentation.
func printLiteral(w *bytes.Buffer, lines []string) {
	w.WriteString(".nf\n")
	for _, line := range lines {
		w.WriteString(escapeTroff(strings.TrimPrefix(line, "  ")) + "\n")
	}
	w.WriteString(".fi\n")
}

// printText prints paragraphs. Indented lines keep their breaks and columns.
func printText(w *bytes.Buffer, lines []string) {
	literal := false
	for _, line := range lines {
		indented := strings.HasPrefix(line, " ")
		switch {
		case indented && !literal:
			w.WriteString(".RS 2\n.nf\n")
		case !indented && literal:
			w.WriteString(".fi\n.RE\n")
		}
		literal = indented
		if line == "" {
			w.WriteString(".PP\n")
		} else {
			w.WriteString(escapeTroff(strings.TrimPrefix(line, "  ")) + "\n")
		}
	}
	if literal {
		w.WriteString(".fi\n.RE\n")
	}
}

// escapeTroff returns a text that troff prints as it is.
func escapeTroff(s string) string {
	var b strings.Builder
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoteTroff returns an argument of a request.
func quoteTroff(s string) string { return `"` + strings.ReplaceAll(escapeTroff(s), `"`, `\(dq`) + `"` }
