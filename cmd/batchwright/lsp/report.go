package lsp

import (
	"path/filepath"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
)

// program is the name of the program, for the editor.
const program = "batchwright"

// Request is the input of a check.
type Request struct {
	Dir     string            `json:"dir"`     // working directory, absolute
	Paths   []string          `json:"paths"`   // paths of the platform, absolute
	Unsaved map[string][]byte `json:"unsaved"` // content of open files, by absolute name
}

// Report is the result of a check.
type Report struct {
	Findings []Found `json:"findings"`
}

// Found is a finding, as the editor shows it in a file.
type Found struct {
	File     string `json:"file"` // absolute, "" for none
	Path     string `json:"path"` // path of the blueprint's field, or ""
	Accepted bool   `json:"accepted"`
	Edits    []edit `json:"edits"`
	diagnostic
}

type edit struct {
	File string `json:"file"` // absolute
	textEdit
}

// NewReport returns the report of findings whose files are named relative to dir.
func NewReport(dir string, findings *diag.List) *Report {
	texts := map[*diag.Source]*text{}
	placeOf := func(s diag.Span) (file string, r span) {
		if !s.Valid() {
			return "", span{}
		}
		if texts[s.Source] == nil {
			texts[s.Source] = newText(s.Source.Content)
		}
		file = filepath.FromSlash(s.Source.Name)
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		return file, texts[s.Source].span(s.Start, s.End)
	}
	out := &Report{}
	for _, f := range findings.Sorted() {
		found := Found{Path: f.Path, Accepted: f.Accepted != "", diagnostic: diagnostic{
			Severity: severityOf(f), Code: f.Code, Source: program, Message: messageOf(f),
		}}
		found.File, found.Range = placeOf(f.Span)
		for _, r := range f.Related {
			if file, at := placeOf(r.Span); file != "" {
				found.Related = append(found.Related, related{location{uriOf(file), at}, r.Message})
			}
		}
		for _, e := range f.Edits {
			file, at := placeOf(e.Span)
			found.Edits = append(found.Edits, edit{file, textEdit{at, e.Text}})
		}
		out.Findings = append(out.Findings, found)
	}
	return out
}

// severityOf returns the severity with which an editor shows a finding.
func severityOf(f diag.Finding) int {
	switch {
	case f.Severity == diag.Error:
		return severityError
	case f.Severity == diag.Warning:
		return severityWarning
	case f.Accepted != "":
		return severityHint
	}
	return severityInformation
}

// messageOf returns the text that an editor shows for a finding.
func messageOf(f diag.Finding) string {
	lines := []string{f.Message}
	if f.Label != "" {
		lines = append(lines, f.Label)
	}
	if f.Help != "" {
		lines = append(lines, "help: "+f.Help)
	}
	if f.Accepted != "" {
		lines = append(lines, "accepted: "+f.Accepted)
	} else {
		lines = append(lines, "explain: "+program+" explain "+f.Code)
	}
	return strings.Join(lines, "\n")
}

// uriFor returns the URI of a file, as the editor writes it if the file is open. The
// caller must hold mu.
func (s *Server) uriFor(file string) string {
	if d := s.documents[file]; d != nil {
		return d.uri
	}
	return uriOf(file)
}
