package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// program is the path of batchwright.
type program string

// page is a generated page. section is its group in the sidebar; "" if another page leads to it.
type page struct{ path, section, title, text string }

// reference asks the program for every field, finding, command and machine.
func reference(p program) ([]page, error) {
	var pages []page
	for _, part := range []func(program) ([]page, error){fieldPages, findingPages, commandPages, machinePages} {
		made, err := part(p)
		if err != nil {
			return nil, err
		}
		pages = append(pages, made...)
	}
	return pages, nil
}

// output returns the standard output of a command.
func (p program) output(args ...string) ([]byte, error) {
	var problems bytes.Buffer
	c := exec.Command(string(p), args...)
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("batchwright %s: %w\n%s", strings.Join(args, " "), err, problems.Bytes())
	}
	return out, nil
}

// decode decodes the JSON values that a command prints.
func decode[T any](p program, args ...string) (all []T, err error) {
	out, err := p.output(args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var value T
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("batchwright %s: %w", strings.Join(args, " "), err)
		}
		all = append(all, value)
	}
	return all, nil
}

// field is a field of the blueprint, as explain prints it.
type field struct {
	Name, Path, Accepts, Names string
	Required                   bool
	Default                    any
	Documentation              any // a text, or a list of texts
	Fields                     []field
}

// fieldPages returns a page for each field at the top of the blueprint, with all fields below it,
// and one that lists them.
func fieldPages(p program) ([]page, error) {
	top, err := p.field(".")
	if err != nil {
		return nil, err
	}
	const section = "Reference: fields"
	contents := "# Fields of a blueprint\n\n" + escape(prose(top.Documentation)) +
		"\n\n| field | meaning |\n| --- | --- |\n"
	var pages []page
	for _, f := range top.Fields {
		below, err := p.fieldsBelow("", f)
		if err != nil {
			return nil, err
		}
		name := "`" + f.Name + "`"
		if below != "" {
			path := "reference/fields/" + f.Name + ".md"
			pages = append(pages, page{path, section, f.Name, "# " + name + "\n\n" + f.meaning("\n\n") + below})
			name = "[" + name + "](/" + path + ")"
		}
		contents += "| " + name + " | " + f.meaning("<br>") + " |\n"
	}
	return append([]page{{"reference/fields/index.md", section, "All fields", contents}}, pages...), nil
}

// meaning returns what a field means, its values and its default, with a separator between them.
func (f field) meaning(separator string) string {
	parts := []string{escape(prose(f.Documentation))}
	if f.Accepts != "a struct" {
		parts = append(parts, "Values: "+cell(f.Accepts)+".")
	}
	if f.Required {
		parts = append(parts, "Required.")
	} else if f.Default != nil {
		parts = append(parts, fmt.Sprintf("Default: `%v`.", f.Default))
	}
	return strings.Join(parts, separator)
}

func (p program) field(path string) (field, error) {
	all, err := decode[field](p, "explain", "--format", "json", path)
	if err != nil || len(all) != 1 {
		return field{}, fmt.Errorf("explain %s: %d fields: %w", path, len(all), err)
	}
	return all[0], nil
}

// fieldsBelow returns the sections of all fields below a field, which is itself below a path.
func (p program) fieldsBelow(above string, f field) (string, error) {
	path := above + f.Name
	switch {
	case strings.HasPrefix(f.Accepts, "by name:"):
		path += ".NAME"
	case strings.HasPrefix(f.Accepts, "a list of"):
		path += "[0]"
	}
	if !strings.Contains(f.Accepts, "struct") && !strings.Contains(f.Accepts, "by name") {
		return "", nil
	}
	full, err := p.field(path)
	if err != nil {
		return "", err
	}
	text := ""
	for _, f := range full.Fields {
		below, err := p.fieldsBelow(path+".", f)
		if err != nil {
			return "", err
		}
		name := path + "." + f.Name
		level := "###"
		if strings.Count(strings.ReplaceAll(name, ".NAME", ""), ".") == 1 {
			level = "##"
		}
		text += fmt.Sprintf("\n\n%s `%s` {#%s}\n\n%s", level, name, anchorOf(name), f.meaning("\n\n")) + below
	}
	return text, nil
}

// anchorOf returns the anchor of a field.
func anchorOf(path string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(path), "-"), "-")
}

// finding is a code of a finding, as explain prints it.
type finding struct {
	Code, Severity, Title, Why, Language, Failing, Fixed string
	Acceptable                                           bool
	Sources                                              []string
}

// findingPages returns a page for each family of codes, with the texts of explain, and one that
// lists all codes.
func findingPages(p program) ([]page, error) {
	families := map[string][]finding{}
	codes, err := decode[finding](p, "vet", "--list", "--format", "json")
	if err != nil {
		return nil, err
	}
	for _, c := range codes {
		families[c.Code[1:3]] = append(families[c.Code[1:3]], c)
	}
	const section = "Reference: findings"
	contents := "# Findings\n\n`E` is an error, `W` a warning, and `N` a note. The first two digits are the family. " +
		"A blueprint can accept a finding, with a reason, if the last column says so.\n\n" +
		"| code | title | can be accepted |\n| --- | --- | --- |\n"
	var pages []page
	for _, family := range slices.Sorted(maps.Keys(families)) {
		path, text := "reference/findings/"+family+".md", "# Findings "+family+"xx\n"
		codes := families[family]
		slices.SortFunc(codes, func(a, b finding) int { return strings.Compare(a.Code[1:], b.Code[1:]) })
		var names []string
		for _, c := range codes {
			names = append(names, c.Code)
		}
		full, err := decode[finding](p, append([]string{"explain", "--format", "json"}, names...)...)
		if err != nil {
			return nil, err
		}
		for i, c := range full {
			accepts := map[bool]string{true: "yes", false: "no"}[codes[i].Acceptable]
			contents += fmt.Sprintf("| [%s](/%s#%s) | %s | %s |\n", c.Code, path, strings.ToLower(c.Code),
				cell(c.Title), accepts)
			text += c.section()
		}
		pages = append(pages, page{path, section, family + "xx", text})
	}
	return append([]page{{"reference/findings/index.md", section, "All findings", contents}}, pages...), nil
}

// section returns the section of a finding on the page of its family.
func (f finding) section() string {
	text := fmt.Sprintf("\n## %s: %s {#%s}\n\n%s\n", f.Code, escape(f.Title), strings.ToLower(f.Code),
		strings.TrimSpace(helpText(f.Why)))
	for _, example := range []struct{ title, code string }{{"Causes the finding:", f.Failing}, {"Fixes it:", f.Fixed}} {
		if example.code != "" {
			text += "\n" + example.title + "\n\n" + fence(f.Language, example.code)
		}
	}
	if len(f.Sources) > 0 {
		text += "\nSources:\n\n"
	}
	for _, s := range f.Sources {
		text += "- " + escape(s) + "\n"
	}
	return text
}

// fence returns a code block. Its text may contain a fence.
func fence(language, code string) string {
	const marks = "````"
	return marks + language + "\n" + strings.TrimRight(code, "\n") + "\n" + marks + "\n"
}

// indented is a block of a help or of an explanation that is code.
var indented = regexp.MustCompile(`(?m)^(?: {2,}.*\n?)+`)

// helpText returns the Markdown of a text for a terminal: indented lines are code.
func helpText(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range indented.FindAllStringIndex(text, -1) {
		out.WriteString(escape(text[at:m[0]]) + "\n")
		if block := text[m[0]:m[1]]; strings.HasPrefix(block, "  - ") {
			out.WriteString(escape(strings.ReplaceAll("\n"+block, "\n  ", "\n")) + "\n")
		} else {
			out.WriteString(fence("text", block))
		}
		at = m[1]
	}
	out.WriteString(escape(text[at:]))
	return out.String()
}

var escapes = strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "{{", "{&#8203;{", "[", `\[`, "`", "\\`")

// escape keeps Markdown and HTML from reading a text as anything else.
func escape(text string) string {
	return escapes.Replace(text)
}

// cell returns a text for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(escape(text))
}

// prose returns the documentation of a field in one paragraph.
func prose(documentation any) string {
	switch d := documentation.(type) {
	case string:
		return d
	case []any:
		var all []string
		for _, text := range d {
			all = append(all, fmt.Sprint(text))
		}
		return strings.Join(all, " ")
	}
	return ""
}
