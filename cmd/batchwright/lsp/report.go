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

// Found is a finding with the positions of the protocol.
type Found struct {
	Code     string `json:"code"`
	Severity int    `json:"severity"` // of the protocol
	Path     string `json:"path"`     // path of the blueprint's field, or ""
	Message  string `json:"message"`
	Accepted bool   `json:"accepted"`
	place
	Related []remark `json:"related"`
	Edit    *edit    `json:"edit"`
}

// place is a range of a file.
type place struct {
	File  string `json:"file"` // absolute
	Range span   `json:"range"`
}

type remark struct {
	place
	Message string `json:"message"`
}

type edit struct {
	place
	Text string `json:"text"`
}

// NewReport returns the report of findings whose files are named relative to dir.
func NewReport(dir string, findings *diag.List) *Report {
	texts := map[*diag.Source]*text{}
	placeOf := func(s diag.Span) place {
		if !s.Valid() {
			return place{}
		}
		if texts[s.Source] == nil {
			texts[s.Source] = newText(s.Source.Content)
		}
		name := filepath.FromSlash(s.Source.Name)
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return place{name, texts[s.Source].span(s.Start, s.End)}
	}
	out := &Report{}
	for _, f := range findings.Sorted() {
		found := Found{
			Code: f.Code, Severity: severityOf(f), Path: f.Path, Message: messageOf(f), Accepted: f.Accepted != "",
			place: placeOf(f.Span),
		}
		for _, r := range f.Related {
			found.Related = append(found.Related, remark{placeOf(r.Span), r.Message})
		}
		if f.Edit != nil {
			found.Edit = &edit{placeOf(f.Edit.Span), f.Edit.Text}
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

// diagnosticOf returns a finding as the editor shows it. The caller must hold mu.
func (s *Server) diagnosticOf(f Found) diagnostic {
	d := diagnostic{Range: f.Range, Code: f.Code, Source: program, Message: f.Message, Severity: f.Severity}
	for _, r := range f.Related {
		if r.File != "" {
			d.Related = append(d.Related, related{location{s.uriFor(r.File), r.Range}, r.Message})
		}
	}
	return d
}

// uriFor returns the URI of a file, as the editor writes it if the file is open. The
// caller must hold mu.
func (s *Server) uriFor(file string) string {
	if d := s.documents[file]; d != nil {
		return d.uri
	}
	return uriOf(file)
}
