// Package page renders the pages for people in the deploy folder. A page is a Markdown
// file with conditions, in the notation of text/template, over a view of the plan. The
// package prints each value so that it stays a value: text in a paragraph, an argument of
// a command in a block of shell code. So a text from a blueprint never becomes Markdown,
// HTML or shell syntax.
//
// In a page, a paragraph, an item of a list and a row of a table can have several source
// lines, of which some are printed under a condition: the lines are joined with spaces. A
// line that consists of one {{if}}, {{else}}, {{end}}, {{range}}, {{with}}, assignment or
// comment leaves no trace. A line that is whole in a condition or a loop stands for such
// lines around another: {{if .A}}| cell |{{end}} is a row of a table.
//
// The rule below the head of a table is not written: it depends on the rows. A table
// without rows, a list without items and a block of code without lines are not printed.
// Steps of a numbered list all begin with "1. ".
//
// A page whose name ends in ".txt" is plain text, in which values stand as they are. Its
// lines are printed as they are, without the lines that leave no trace.
package page

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// Command is a line of shell code whose values are quoted already. In a paragraph it is
// a code span.
type Command string

// Set is a set of pages, which can use the definitions of each other.
type Set struct{ templates *template.Template }

// Parse reads the pages and definitions in the files of a file system that match one of
// the patterns. The name of a page is the path of its file. Functions add to those of
// package page; their results are values, or markdown.Markup, Command or []Command. It
// returns an error for a page that cannot be read: a mistake in the page.
func Parse(files fs.FS, functions template.FuncMap, patterns ...string) (*Set, error) {
	set := template.New("").Funcs(builtins).Funcs(functions)
	for _, pattern := range patterns {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			source, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, err
			}
			marked, err := markBlocks(string(source), isText(name))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if _, err := set.New(name).Parse(marked); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range set.Templates() {
		if t.Tree != nil {
			markValues(t.Root)
		}
	}
	return &Set{set}, nil
}

// Render returns a page. The view is what the page's fields and methods are of.
func (s *Set) Render(name string, view any) ([]byte, error) {
	var out bytes.Buffer
	if err := s.templates.ExecuteTemplate(&out, name, view); err != nil {
		return nil, err
	}
	if isText(name) {
		return printText(out.String()), nil
	}
	return printBlocks(out.String()), nil
}

// isText reports whether a page is plain text.
func isText(name string) bool { return path.Ext(name) == ".txt" }

// builtins are the functions of every page.
var builtins = template.FuncMap{
	// mark prints a value of the view. Parse calls it for each value.
	"mark": markValue,
	// code returns a code span of strings and numbers, joined.
	"code": func(parts ...any) markdown.Markup { return markdown.Code(fmt.Sprint(join(parts)...)) },
	// codes returns each name in a code span.
	"codes": markdown.Codes,
	// names returns the first few names, and the number of the others.
	"names": func(names []string) markdown.Markup { return words.First(spans(names), fewNames) },
	// spans returns each name in a code span, for enumerate.
	"spans": spans,
	// enumerate joins parts with commas and "and".
	"enumerate": words.And[markdown.Markup],
	// console returns a link to a page of the Google Cloud console about a project.
	"console": func(label markdown.Markup, project string, page ...string) markdown.Markup {
		return "[" + label + "](" + markdown.Markup(words.ConsolePage(strings.Join(page, ""), project)) + ")"
	},
	// file returns a link to a file or folder of the deploy folder.
	"file": func(parts ...any) markdown.Markup { return markdown.File(fmt.Sprint(join(parts)...)) },
	// linked returns a text whose plain addresses become links.
	"linked": markdown.LinkedText,
	// duration returns a number of seconds in the largest unit that divides it.
	"duration": func(seconds int) markdown.Markup { return markdown.Markup(words.Duration(seconds)) },
	// count returns the number of the elements, or the number, with its noun.
	"count": count,
	// plural returns one phrase or another, by the number of elements or a number.
	"plural": plural,
	"where":  where, "without": without, "each": each, "first": first, "rest": rest,
	// arg returns one argument of a command, of strings and numbers, joined.
	"arg": func(parts ...any) Command { return Command(words.ShellArgument(fmt.Sprint(join(parts)...))) },
}

// fewNames is how many names a sentence lists.
const fewNames = 4

// spans returns each name in a code span.
func spans(names []string) []markdown.Markup {
	out := make([]markdown.Markup, len(names))
	for i, name := range names {
		out[i] = markdown.Code(name)
	}
	return out
}

// join puts an empty string between operands of fmt.Sprint, which otherwise separates
// numbers.
func join(parts []any) []any {
	out := make([]any, 0, 2*len(parts))
	for _, p := range parts {
		out = append(out, p, "")
	}
	return out
}

// count returns the number of the elements of a slice, or the number, with its noun. The
// noun is text of the page.
func count(of any, noun string) (markdown.Markup, error) {
	n, err := size(of)
	return markdown.Markup(words.Count(n, noun)), err
}

// plural returns one if a slice has one element, or a number is 1, and otherwise many.
// Both are text of the page.
func plural(of any, one, many markdown.Markup) (markdown.Markup, error) {
	if n, err := size(of); n != 1 || err != nil {
		return many, err
	}
	return one, nil
}

// size returns the number of the elements of a slice or a map, or the number.
func size(of any) (int, error) {
	switch v := reflect.ValueOf(of); {
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		return v.Len(), nil
	case v.CanInt():
		return int(v.Int()), nil
	}
	return 0, fmt.Errorf("no number of %T", of)
}

// markValues makes every action of a tree that prints a value mark it.
func markValues(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				markValues(child)
			}
		}
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 {
			n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{
				NodeType: parse.NodeCommand, Pos: n.Pos,
				Args: []parse.Node{parse.NewIdentifier("mark").SetPos(n.Pos)},
			})
		}
	case *parse.IfNode:
		markValues(n.List)
		markValues(n.ElseList)
	case *parse.RangeNode:
		markValues(n.List)
		markValues(n.ElseList)
	case *parse.WithNode:
		markValues(n.List)
		markValues(n.ElseList)
	}
}
