package load

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Message returns the text of a CUE error without its path.
func Message(e cueerrors.Error) string {
	return strings.TrimPrefix(cueerrors.String(e), strings.Join(e.Path(), ".")+": ")
}

// errorText returns the text of an error for a finding, without file paths of this
// machine.
func (l *Loader) errorText(e cueerrors.Error) string {
	text := strings.ReplaceAll(Message(e), l.in.Dir+string(filepath.Separator), "")
	return invalidJSON.ReplaceAllString(text, "")
}

var invalidJSON = regexp.MustCompile(`^invalid JSON for file "[^"]*": `)

// unusedTag reports a tag of the input that no file of the blueprint declares.
func (l *Loader) unusedTag(tag string) {
	name, _, valued := strings.Cut(tag, "=")
	f := diag.Finding{
		Code: "E0004", Severity: diag.Error, Message: fmt.Sprintf("the blueprint has no @tag or @if named %q", name),
		Help: "declare it on a field, as in region: string @tag(region), or remove -t",
	}
	if known := l.declaredTags(); len(known) > 0 {
		f.Label = "want one of " + strings.Join(known, ", ")
		if len(known) == 1 {
			f.Label = "want " + known[0]
		}
		if near := diag.Nearest(name, known); near != "" {
			f.Help = fmt.Sprintf("did you mean %q?", near)
		}
	}
	switch known := slices.Contains(l.declaredTags(), name); {
	case known && valued:
		f.Message, f.Label = fmt.Sprintf("%q is the name of an @if, which has no value", name), ""
		f.Help = "remove the value: -t " + name
	case known:
		f.Message, f.Label = fmt.Sprintf("%q is the name of a @tag, which needs a value", name), ""
		f.Help = "add a value: -t " + name + "=VALUE"
		if _, kind := l.tagSpan(name); kind == "bool" {
			f.Help = "add a value: -t " + name + "=true"
		}
	case !valued:
		f.Help += "; a @tag needs a value: -t " + name + "=VALUE"
	}
	l.findings.Add(f)
}

// declaredTags returns the tags that the input's files declare.
func (l *Loader) declaredTags() []string {
	var known []string
	for _, name := range l.cue {
		for _, m := range tagAttribute.FindAllSubmatch(l.Sources.Get(name).Content, -1) {
			names := m[2]
			if string(m[1]) == "tag" { // options follow the name
				names, _, _ = bytes.Cut(names, []byte(","))
			}
			for _, word := range tagWord.FindAll(names, -1) {
				known = append(known, string(word))
			}
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// tagSpan returns the place where a field takes the value of a tag, and the tag's type:
// int, number, bool, or "" for a string.
func (l *Loader) tagSpan(tag string) (at diag.Span, kind string) {
	for _, name := range l.cue {
		src := l.Sources.Get(name)
		for _, m := range tagAttribute.FindAllSubmatchIndex(src.Content, -1) {
			word, options, _ := strings.Cut(string(src.Content[m[4]:m[5]]), ",")
			if strings.TrimSpace(word) != tag || string(src.Content[m[2]:m[3]]) != "tag" {
				continue
			}
			if m := tagType.FindStringSubmatch(options); m != nil {
				kind = m[1]
			}
			return diag.Span{Source: src, Start: m[0], End: m[5] + 1}, kind
		}
	}
	return diag.Span{}, ""
}

// GivenTag reports whether the input gives a value to a tag.
func (l *Loader) GivenTag(tag string) bool {
	return slices.ContainsFunc(l.in.Tags, func(given string) bool { return strings.HasPrefix(given, tag+"=") })
}

// describeTag describes that the value of a tag does not have the tag's type.
func (l *Loader) describeTag(f *diag.Finding, tag string) {
	value := ""
	for _, given := range l.in.Tags {
		if name, v, _ := strings.Cut(given, "="); name == tag {
			value = v
		}
	}
	at, kind := l.tagSpan(tag)
	if f.Span, f.Message = at, fmt.Sprintf("-t %s cannot be %q", tag, value); !at.Valid() {
		return // an imported package declares the tag
	}
	if kind == "bool" {
		truth := "true"
		if slices.Contains([]string{"no", "n", "off", "disabled"}, strings.ToLower(value)) {
			truth = "false"
		}
		f.Label, f.Help = "want true or false", fmt.Sprintf("set true or false: -t %s=%s", tag, truth)
		return
	}
	f.Label = "want a number"
	if kind == "int" {
		f.Label = "want a whole number"
	}
	if m := leadingNumber.FindStringSubmatch(value); m != nil && (kind != "int" || !strings.Contains(m[1], ".")) {
		f.Help = fmt.Sprintf("did you mean -t %s=%s?", tag, m[1])
		return
	}
	example := "NUMBER"
	declared := at.Source.Content[:at.Start]
	declared = declared[bytes.LastIndexByte(declared, '\n')+1:]
	if m := defaultNumber.FindSubmatch(declared); m != nil {
		example = string(m[1])
	}
	f.Help = fmt.Sprintf("write the number in digits: -t %s=%s", tag, example)
}

var (
	tagName      = regexp.MustCompile(`injection tag "([^"]+)"`)
	tagType      = regexp.MustCompile(`\btype\s*=\s*"?(int|number|bool)\b`)
	tagAttribute = regexp.MustCompile(`@(tag|if)\(([^)\n]*)`)
	tagWord      = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

	// leadingNumber is a number with a unit. defaultNumber is a field's default.
	leadingNumber = regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)\s*[A-Za-z%]*$`)
	defaultNumber = regexp.MustCompile(`\*\s*(-?[0-9]+(?:\.[0-9]+)?)\b`)
)

// loadErrors reports the errors of CUE's loader. It returns whether the files can be
// loaded without the wrong parts.
func (l *Loader) loadErrors(err error) bool {
	again, fatal := false, false
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		text := l.errorText(e)
		if seen[text] {
			continue
		}
		seen[text] = true
		f := diag.Finding{
			Code: "E0004", Severity: diag.Error, Message: text, Span: l.Sources.Span(e.Position()),
			Help: "correct the part that CUE cannot load",
		}
		cut := false
		switch {
		case strings.Contains(text, "no tag for"), strings.Contains(text, "not used in any file"):
			fatal = true
			for _, tag := range l.in.Tags {
				if name, _, _ := strings.Cut(tag, "="); strings.Contains(text, strconv.Quote(name)) {
					l.unusedTag(tag)
				}
			}
			continue
		case strings.Contains(text, "no package name"):
			if !l.Partial { // otherwise a file that does not parse may declare it
				for _, name := range l.cue {
					l.failFile("E0004", l.Sources.displayName(name), "has no package clause",
						"start the file with a clause such as package platform, or pass the file itself as a PATH")
				}
			}
			return false
		case strings.Contains(text, "cannot find package"):
			var why string
			f.Message, why, _ = strings.Cut(text[strings.Index(text, "cannot find package"):], ": ")
			f.Help = "copy the package into cue.mod/pkg; batchwright does not use the network"
			if strings.Contains(why, "no files in package directory") {
				f.Message, f.Help = why,
					"import the package by the name in its files: import \"PATH:NAME\""
			}
			cut = true
		case strings.Contains(text, "package import cycle not allowed"):
			f.Message = "the packages import each other in a cycle"
			f.Help = "move the common part to a package that imports neither"
			cut = true
		case strings.HasPrefix(text, "found packages"):
			f.Help = "write the same package clause in all files of the blueprint, or pass the files of one package " +
				"as PATHs"
		case strings.Contains(text, "module.cue"),
			f.Span.Valid() && strings.HasSuffix(f.Span.Source.Name, "cue.mod/module.cue"):
			if !f.Span.Valid() {
				name := l.Sources.displayName(filepath.Join(l.moduleRoot(), "cue.mod", "module.cue"))
				f.Span.Source = &diag.Source{Name: name}
			}
			f.Help = `write a module.cue such as module: "example.com/platform@v0", language: version: "v0.17.0"`
		case strings.Contains(text, "multiple @if attributes"):
			f.Help = "join the conditions: @if(a && b)"
		case tagName.MatchString(text):
			l.describeTag(&f, tagName.FindStringSubmatch(text)[1])
		case strings.Contains(text, "previous declaration here"):
			continue
		case !f.Span.Valid() && strings.Contains(text, "expected operand"):
			f.Message, f.Span = "this condition cannot be read: "+text, l.badCondition()
			f.Help = "use only names, &&, ||, ! and parentheses in a condition"
		}
		if cut && l.markCut(e.Position(), cutImport) {
			again = true
		} else {
			fatal = true
		}
		l.findings.Add(f)
	}
	return again && !fatal
}

// badCondition returns the span of the @if whose condition is not a valid
// expression.
func (l *Loader) badCondition() diag.Span {
	for _, name := range l.cue {
		src := l.Sources.Get(name)
		for _, m := range fileCondition.FindAllSubmatchIndex(src.Content, -1) {
			if _, err := parser.ParseExpr(name, src.Content[m[2]:m[3]]); err != nil {
				return diag.Span{Source: src, Start: m[0], End: m[1]}
			}
		}
	}
	return diag.Span{}
}

var fileCondition = regexp.MustCompile(`(?m)^@if\(([^\n]*)\)`)
