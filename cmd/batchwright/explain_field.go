package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// textWidth is the width of explanations in columns.
const textWidth = 80

// explainField explains the field at a path, and its value in the blueprint at the
// given paths. Without paths, it uses the blueprint of the working directory, if
// there is one.
func (c Command) explainField(ctx context.Context, field string, paths []string) error {
	if err := cmp.Or(checkPaths(paths), c.input.check()); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if files, _ := filepath.Glob("*.cue"); len(paths) == 0 && len(files) > 0 {
		paths = []string{"."}
	}
	f, findings, err := compiler.ExplainField(ctx, compiler.Input{
		Dir: dir, Paths: paths, Tags: c.input.tags, Stdin: interruptible{ctx, c.Stdin},
		MaxTime: c.input.maxTime, MaxMemory: c.input.maxMemory.Value(),
	}, field)
	var wrong *blueprint.PathError
	if errors.As(err, &wrong) {
		return c.explainWord(ctx, field, paths, err)
	}
	if err != nil {
		return err
	}
	if c.format.value == formatJSON {
		err = writeFieldJSON(c.Stdout, f)
	} else {
		err = writeField(c.Stdout, f, useColor(c.color.value, c.Stdout))
	}
	if err != nil {
		return err
	}
	return c.showErrors(findings)
}

// explainWord explains the fields that a word means, if the word is no path. Otherwise it
// returns wrong, the error about the path.
func (c Command) explainWord(ctx context.Context, word string, paths []string, wrong error) error {
	if strings.ContainsAny(word, `.["`) {
		return usageError{wrong}
	}
	if t, known := topicOf(word); known {
		return c.explainTopic(word, t)
	}
	found, err := blueprint.FieldsNamed(word)
	if errors.As(err, new(*blueprint.PathError)) {
		if command := catalogCommandFor(word); command != "" {
			return usageErrorf("a blueprint has no field %q, but the catalogue of machine types knows it: run %s", word,
				command)
		}
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if len(found) == 1 {
		return c.explainField(ctx, found[0].Name, paths)
	}
	return c.writeMembers(word, topic{}, fmt.Sprintf("%s can mean %d fields:", word, len(found)), found)
}

// explainTopic explains the fields of a topic, or that a blueprint cannot describe it.
func (c Command) explainTopic(word string, t topic) error {
	found, err := blueprint.FieldsAt(t.fields)
	if err != nil {
		return err
	}
	title := word + ": " + t.note
	switch {
	case t.absent:
		title = "absent: a blueprint does not describe " + strconv.Quote(word) + ". " + t.note
	case t.note == "":
		title = fmt.Sprintf("%s can mean %d fields:", word, len(found))
	}
	if t.note != "" && len(found) > 0 {
		title += "\nFields:"
	}
	return c.writeMembers(word, t, title, found)
}

// writeMembers writes the fields that a word means, below a title of one or two paragraphs.
func (c Command) writeMembers(word string, t topic, title string, found []blueprint.Member) error {
	if c.format.value == formatJSON {
		return json.NewEncoder(c.Stdout).Encode(struct {
			Version int                `json:"version"`
			Type    string             `json:"type"`
			Word    string             `json:"word"`
			Fields  []blueprint.Member `json:"fields"`
			Absent  bool               `json:"absent"`
			Note    string             `json:"note"`
		}{1, "fields", word, append([]blueprint.Member{}, found...), t.absent, t.note})
	}
	var b strings.Builder
	about, fields, _ := strings.Cut(title, "\n")
	fillParagraph(&b, "", about)
	if fields != "" {
		b.WriteString("\n" + fields + "\n")
	}
	for _, m := range found {
		writeMember(&b, m)
	}
	_, err := io.WriteString(c.Stdout, escapeControls(b.String()))
	return err
}

// writeMember writes the description of a field in a list of fields.
func writeMember(b *strings.Builder, m blueprint.Member) {
	b.WriteString("\n")
	fillParagraph(b, "  ", m.Name+": "+m.Accepts+unsetMeaning(m))
	if m.Doc != "" {
		fillParagraph(b, "      ", m.Doc)
	}
}

// writeField writes the explanation of a field for people.
func writeField(w io.Writer, f *blueprint.Field, color bool) error {
	name := f.Path
	if name == "" || name == "." {
		name = "a blueprint"
	}
	paragraphs := append([]string{name + ": " + f.Accepts}, f.Facts()...)
	if f.HasElements {
		paragraphs = append(paragraphs, "The fields of an element: batchwright explain '"+f.Path+"[0]'")
	}
	if len(f.SameName) > 0 {
		paragraphs = append(paragraphs, "Other fields of this name: "+words.And(f.SameName)+".")
	}
	var b strings.Builder
	for i, p := range paragraphs {
		if i > 0 {
			b.WriteString("\n")
		}
		fillParagraph(&b, "", p)
	}
	if len(f.Fields) > 0 {
		b.WriteString("\nFields:\n")
	}
	for _, m := range f.Fields {
		writeMember(&b, m)
		if m.Value != nil {
			b.WriteString("      Here: " + summarizeValue(m.Value) + "\n")
		}
	}
	if _, err := io.WriteString(w, escapeControls(b.String())); err != nil {
		return err
	}
	return writeValue(w, f, color)
}

// escapeControls replaces characters that could control a terminal, because a
// blueprint can contain any character.
func escapeControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}

// unsetMeaning returns the meaning of a field that is not written.
func unsetMeaning(m blueprint.Member) string {
	switch {
	case m.Required:
		return " (required)"
	case m.Default != nil:
		return " (default: " + string(m.Default) + ")"
	}
	return ""
}

// summarizeValue returns a value on one line, with the place that decides the value.
func summarizeValue(v *blueprint.Value) string {
	text := v.Text
	switch {
	case v.Origin == blueprint.Unknown:
		text = "invalid"
	case len(v.Names) > 0:
		text = firstNames(v.Names)
	case strings.Contains(text, "\n") || len(text) > 2*textWidth:
		text = "see the file"
	}
	if len(v.Places) > 0 {
		text += " (" + v.Places[0].Span.String() + ")"
	}
	return text
}

// mostPlaces is the number of places that are shown for a value.
const mostPlaces = 5

// writeValue writes the value of a field in the blueprint.
func writeValue(w io.Writer, f *blueprint.Field, color bool) error {
	v := f.Value
	if v == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n")
	switch {
	case v.Absent != "":
		text := "This blueprint has no " + v.Absent
		if len(v.Names) > 0 {
			text += "; it has " + firstNames(v.Names)
		}
		fillParagraph(&b, "", text+".")
	case v.Origin == blueprint.Container && f.Names != "":
		text := "This blueprint has none."
		if len(v.Names) > 0 {
			text = fmt.Sprintf("This blueprint has %d: %s.", len(v.Names), firstNames(v.Names))
		}
		fillParagraph(&b, "", text)
	case len(v.Places) > 0 && v.Origin != blueprint.Unknown && strings.Contains(v.Text, "\n"):
		b.WriteString("In this blueprint the value is\n\n" + firstLines(indentExample(v.Text+"\n")))
	case len(v.Places) > 0 && v.Origin != blueprint.Unknown:
		b.WriteString("In this blueprint the value is " + v.Text + ".\n")
	case v.Origin == blueprint.Defaulted:
		b.WriteString("This blueprint does not set it, so the value is " + v.Text + ".\n")
	case v.Origin == blueprint.Unset:
		b.WriteString("This blueprint does not set it.\n")
	case v.Origin == blueprint.Unknown:
		b.WriteString("In this blueprint the value is invalid or unknown: see batchwright vet.\n")
	default:
		b.Reset()
	}
	if _, err := io.WriteString(w, escapeControls(b.String())); err != nil {
		return err
	}
	for i, p := range v.Places {
		if i == mostPlaces {
			_, err := fmt.Fprintf(w, "\nThe files set it in %d more places.\n", len(v.Places)-mostPlaces)
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := diag.WriteExcerpt(w, p.Span, p.Message, color); err != nil {
			return err
		}
	}
	return nil
}

// firstLines returns the first lines of a text, as many as people read.
func firstLines(text string) string {
	const most = 40
	if lines := strings.SplitAfter(text, "\n"); len(lines) > most {
		return strings.Join(lines[:most], "") + "    ...\n"
	}
	return text
}

// firstNames returns a list of the first names, as many as people read.
func firstNames(names []string) string {
	const most = 12
	return words.First(names, most)
}

// fillParagraph appends a paragraph in lines of at most textWidth columns.
func fillParagraph(b *strings.Builder, indent, text string) { fillAfter(b, indent, indent, text) }

// fillAfter is fill with another start of the first line.
func fillAfter(b *strings.Builder, start, indent, text string) {
	column := 0
	for i, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			b.WriteString(start)
			column = len(start)
		case column+1+width > textWidth:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += width
	}
	b.WriteString("\n")
}

// writeFieldJSON writes a field for programs.
func writeFieldJSON(w io.Writer, f *blueprint.Field) error {
	return json.NewEncoder(w).Encode(struct {
		Version int    `json:"version"`
		Type    string `json:"type"`
		*blueprint.Field
	}{1, "field", f})
}
