package compiler

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"

	"github.com/batchwright/batchwright/compiler/diag"
)

// syntax reports the first syntax error of each file: the others are mostly
// its echoes. The file of that name is meant where an error does not say which.
func (l *loader) syntax(name string, err error) {
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		pos := e.Position()
		if seen[pos.Filename()] {
			continue
		}
		seen[pos.Filename()] = true
		text, span := l.say(e), l.sources.span(pos)
		if m := yamlPosition.FindStringSubmatch(text); m != nil && !span.Valid() {
			line, _ := strconv.Atoi(m[2])
			if strings.HasPrefix(m[3], "did not find expected") {
				line++ // of these the YAML parser counts lines from 0
			}
			text, span = m[3], l.sources.line(filepath.Join(l.in.Dir, m[1]), line)
		} else if m := yamlAnchor.FindStringSubmatch(text); m != nil && !span.Valid() {
			src := l.sources.get(filepath.Join(l.in.Dir, m[1]))
			if at := bytes.Index(src.Content, []byte("*"+m[3])); at >= 0 {
				text, span = m[2], diag.Span{Source: src, Start: at, End: at + 1 + len(m[3])}
			}
		}
		if src := l.sources.get(name); !span.Valid() {
			text, span = strings.TrimPrefix(text, src.Name+": "), diag.Span{Source: src}
		}
		l.syntaxError(text, span)
	}
}

// yamlHint is for standard input that does not parse as CUE.
const yamlHint = `if this is YAML, name it "yaml:-"`

// yamlPosition is how the YAML parser says where: file, line, message.
var yamlPosition = regexp.MustCompile(`^(.+):([0-9]+): (.+)$`)

// yamlAnchor is how it reports an alias without an anchor, and does not say
// where.
var yamlAnchor = regexp.MustCompile(`^([^:]+): (unknown anchor '([^']+)' referenced)$`)

func (l *loader) syntaxError(text string, span diag.Span) {
	f := diag.Finding{
		Code: "E0003", Severity: diag.Error, Message: "syntax error: " + text, Span: span,
		Help: "correct it first: what the rest means depends on it",
	}
	if span.Valid() && span.Source.Name == "-" {
		f.Help += "; " + yamlHint
	}
	l.findings.Add(f)
}

// message returns a CUE error's own words, without its path.
func message(e cueerrors.Error) string {
	return strings.TrimPrefix(e.Error(), strings.Join(e.Path(), ".")+": ")
}

// say returns an error's words for a finding: without paths of this machine.
func (l *loader) say(e cueerrors.Error) string {
	text := strings.ReplaceAll(message(e), l.in.Dir+string(filepath.Separator), "")
	return invalidJSON.ReplaceAllString(text, "")
}

var invalidJSON = regexp.MustCompile(`^invalid JSON for file "[^"]*": `)

// unusedTag reports a tag that the blueprint does not have.
func (l *loader) unusedTag(tag string) {
	name, _, valued := strings.Cut(tag, "=")
	f := diag.Finding{
		Code: "E0004", Severity: diag.Error, Message: fmt.Sprintf("the blueprint has no @tag or @if named %q", name),
		Help: "declare it on a field, as in region: string @tag(region), or leave -t out",
	}
	if !valued {
		f.Help += "; a @tag needs a value: -t " + name + "=VALUE"
	}
	l.findings.Add(f)
}

// loadErrors reports what CUE's loader found.
func (l *loader) loadErrors(err error) {
	if len(l.unparsed) > 0 { // the loader loses their positions
		for _, name := range slices.Sorted(maps.Keys(l.unparsed)) {
			l.syntax(name, l.unparsed[name])
		}
		return
	}
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		text := l.say(e)
		if seen[text] {
			continue
		}
		seen[text] = true
		f := diag.Finding{
			Code: "E0004", Severity: diag.Error, Message: text, Span: l.sources.span(e.Position()),
			Help: "correct what CUE could not load",
		}
		switch {
		case strings.Contains(text, "no tag for"), strings.Contains(text, "not used in any file"):
			for _, tag := range l.in.Tags {
				if name, _, _ := strings.Cut(tag, "="); strings.Contains(text, strconv.Quote(name)) {
					l.unusedTag(tag)
				}
			}
			continue
		case strings.Contains(text, "no package name"):
			for _, name := range l.cue {
				l.fail("E0004", l.sources.display(name), "has no package clause", "begin it with a clause such as package platform, or name the file itself")
			}
			return
		case strings.Contains(text, "cannot find package"):
			f.Message, _, _ = strings.Cut(text[strings.Index(text, "cannot find package"):], ": ")
			f.Help = "vendor the package under cue.mod/pkg; nothing is fetched from the network"
		case strings.HasPrefix(text, "found packages"):
			f.Help = "a blueprint is one package: give its files the same package clause, or name the files that belong to it"
		case e.Position().IsValid():
			l.syntaxError(text, f.Span)
			return // later ones are mostly echoes
		}
		l.findings.Add(f)
	}
}
