package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/editor"
)

// question is a question about a place in a file of a platform.
type question struct {
	files []editor.File
	*document
	at int // byte offset
}

// withQuestion returns a method that answers a question about a position in a document.
// The result is none if the document is not part of a blueprint, or too large to be one.
func (s *Server) withQuestion(answer func(question, params) any, none any) method {
	return func(p params) any {
		d := s.documents[fileOf(p.TextDocument.URI)]
		if d == nil || len(d.content) > load.MaxFile {
			return none
		}
		of := s.platformOf(d.name)
		if of == nil || s.platforms[of.key] == nil {
			return none
		}
		return answer(question{s.readFiles(of.paths), d, d.offset(p.Position)}, p)
	}
}

// Kinds of completion items.
const (
	itemField  = 5
	itemModule = 9
	itemValue  = 12
)

func (s *Server) completeAt(q question, _ params) any {
	var items []completionItem
	c := s.editor.Complete(q.files, q.name, q.at)
	replaced := q.span(c.Start, c.End)
	kinds := map[editor.Kind]int{
		editor.FieldName: itemField, editor.EntityName: itemModule, editor.Literal: itemValue,
	}
	for i, o := range c.Offers {
		item := completionItem{
			Label: o.Label, Kind: kinds[o.Kind], Detail: o.Detail, SortText: fmt.Sprintf("%05d", i),
			TextEdit: textEdit{replaced, o.Insert},
		}
		if c.Quoted { // editors compare it with the text that is replaced
			item.FilterText = strings.TrimSuffix(o.Insert, ": ")
		}
		if o.Doc != "" {
			item.Documentation = object{"kind": "plaintext", "value": o.Doc}
		}
		items = append(items, item)
	}
	return completionList(items)
}

// completionList returns the answer with completion items.
func completionList(items []completionItem) object {
	return object{"isIncomplete": false, "items": append([]completionItem{}, items...)}
}

// hoverAt shows the documentation of a field, and explains the findings at the place.
func (s *Server) hoverAt(q question, p params) any {
	var parts []string
	var around *span
	if h, ok := s.editor.Hover(q.files, q.name, q.at); ok {
		parts = append(parts, h.Markdown)
		r := q.span(h.Start, h.End)
		around = &r
	}
	for _, f := range s.findingsOf(q.name) {
		if !f.Range.contains(p.Position) {
			continue
		}
		if about := s.editor.Explain(f.Code); about != "" && !slices.Contains(parts, about) {
			parts = append(parts, about)
		}
		if around == nil {
			around = &f.Range
		}
	}
	if len(parts) == 0 {
		return nil
	}
	text := object{"kind": "markdown", "value": strings.Join(parts, "\n\n---\n\n")}
	return object{"contents": text, "range": around}
}

// contains reports whether a position is in a range or at its end.
func (r span) contains(p position) bool { return !p.before(r.Start) && !r.End.before(p) }

func (p position) before(q position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

func (s *Server) findDefinition(q question, _ params) any {
	out := []location{}
	texts := map[string]*text{}
	for _, place := range s.editor.Definition(q.files, q.name, q.at) {
		if texts[place.File] == nil {
			i := slices.IndexFunc(q.files, func(f editor.File) bool { return f.Name == place.File })
			texts[place.File] = newText(q.files[i].Content)
		}
		out = append(out, location{s.uriFor(place.File), texts[place.File].span(place.Start, place.End)})
	}
	return out
}

// Kinds of symbols.
const (
	symbolField  = 8
	symbolObject = 19
)

func (s *Server) listSymbols(q question, _ params) any {
	return symbolsOf(q.text, editor.Symbols(editor.File{Name: q.name, Content: q.content}))
}

func symbolsOf(t *text, symbols []*editor.Symbol) []documentSymbol {
	out := []documentSymbol{}
	for _, sym := range symbols {
		kind := symbolField
		if sym.Entity {
			kind = symbolObject
		}
		out = append(out, documentSymbol{
			sym.Name, kind, t.span(sym.Start, sym.End), t.span(sym.NameStart, sym.NameEnd), symbolsOf(t, sym.Fields),
		})
	}
	return out
}

// kindQuickFix is the kind of the actions that correct a finding.
const kindQuickFix = "quickfix"

// asksFor reports whether an editor asks for the actions of a finding: the finding
// touches the range, or the editor names it. Neovim 0.11 and older send the cursor as
// the range, and name the findings of the line.
func (p params) asksFor(f Found) bool {
	if !f.Range.End.before(p.Range.Start) && !p.Range.End.before(f.Range.Start) {
		return true
	}
	return slices.ContainsFunc(p.Context.Diagnostics, func(d contextDiagnostic) bool {
		return d.Code == f.Code && d.Range == f.Range
	})
}

// listActions returns the corrections of the findings that an editor asks for. There
// are none while the findings are outdated: their places could be wrong.
func (s *Server) listActions(q question, p params) any {
	out := []codeAction{}
	wanted := func(kind string) bool { return kind == "" || kind == kindQuickFix }
	if len(p.Context.Only) > 0 && !slices.ContainsFunc(p.Context.Only, wanted) {
		return out
	}
	file := editor.File{Name: q.name, Content: q.content}
	for _, platform := range s.platforms {
		if !platform.isChecked {
			continue
		}
		for _, f := range platform.found[q.name] {
			if !p.asksFor(f) {
				continue
			}
			if len(f.Edits) > 0 {
				out = append(out, codeAction{
					Title: titleOf(f.Edits), Kind: kindQuickFix, IsPreferred: true,
					Diagnostics: []diagnostic{f.diagnostic}, Edit: s.changeOf(f.Edits...),
				})
			}
			if a, ok := s.editor.Accept(file, f.Code, f.Path); ok && !f.Accepted {
				out = append(out, codeAction{
					Title: "accept " + f.Code + ", then write the reason", Kind: kindQuickFix,
					Diagnostics: []diagnostic{f.diagnostic},
					Edit:        s.changeOf(edit{q.name, textEdit{q.span(a.At, a.At), a.Text}}),
				})
			}
		}
	}
	return out
}

// titleOf returns the title of the action that makes edits: the new text, once if all edits
// write the same, or the number of edits.
func titleOf(edits []edit) string {
	if slices.ContainsFunc(edits, func(e edit) bool { return e.NewText != edits[0].NewText }) {
		return fmt.Sprintf("correct all %d places", len(edits))
	}
	return "use " + edits[0].NewText
}

// changeOf returns the change that edits make in their files.
func (s *Server) changeOf(edits ...edit) object {
	changes := map[string][]textEdit{}
	for _, e := range edits {
		uri := s.uriFor(e.File)
		changes[uri] = append(changes[uri], e.textEdit)
	}
	return object{"changes": changes}
}
