package diag

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
)

// SARIFOptions says what a SARIF log contains besides the findings.
type SARIFOptions struct {
	Tool  string // the program's name
	Codes []Code // every code that the tool knows; findings refer to them
	// Help returns the explanation of a code, as plain text and as Markdown, "" if
	// there is none. A nil Help explains no code. An empty line ends the text's
	// first paragraph, which should say what the code is about.
	Help func(code string) (text, markdown string)
}

// WriteSARIF renders findings as a SARIF 2.1.0 log with one run, in the order of
// List.grouped. An empty list becomes a log without results. An accepted finding
// becomes a suppressed result. As with WriteJSON, the output is safe to show on a
// terminal.
//
// Names of sources are relative to %SRCROOT%, which viewers interpret as the root of
// the repository: see List.Named. The log contains no machine, time or version, so
// that the same findings always produce the same log.
//
// Sources: OASIS, SARIF version 2.1.0 plus errata 01; for GitHub's interpretation,
// GitHub documentation, "SARIF support for code scanning".
func WriteSARIF(w io.Writer, l *List, opt SARIFOptions) error {
	return opt.writeLog(w, baseline{"", l})
}

// WriteSARIFDelta renders the findings that a change brings as WriteSARIF does. The
// baselineState of a result is "new" or, for a changed finding, "updated". The log has
// no results for findings that are gone or did not change: GitHub ignores
// baselineState, and would show these results as alerts of the change.
//
// Sources: SARIF version 2.1.0, 3.27.24 "baselineState property"; GitHub documentation,
// "SARIF support for code scanning", "Supported SARIF output file properties".
func WriteSARIFDelta(w io.Writer, d Delta, opt SARIFOptions) error {
	return opt.writeLog(w, baseline{"new", d.New}, baseline{"updated", d.Changed})
}

// baseline is a list of findings with the same baselineState, "" if they are not
// compared.
type baseline struct {
	state    string
	findings *List
}

func (opt SARIFOptions) writeLog(w io.Writer, parts ...baseline) error {
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, opt.buildLog(parts), "  "); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

	// mostRelated is the most related locations of a result. GitHub rejects a log whose
	// results have more than 1000, and shows 100. Source: GitHub documentation,
	// "SARIF support for code scanning", "Validating your SARIF file".
	mostRelated = 100

	// sourceRoot stands for the directory that names are relative to.
	sourceRoot = "%SRCROOT%"

	// fingerprint names the method of computing fingerprints, and changes with it.
	// GitHub's upload action adds its own fingerprint, primaryLocationLineHash.
	fingerprint = "finding/v2"
)

// The objects of a log, with the fields that findings need. The Go modules with
// types for all of SARIF either omit zero values, such as the index of the first
// rule, or write every unset key.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool                `json:"tool"`
		SourceRoots map[string]sarifArtifact `json:"originalUriBaseIds"`
		ColumnKind  string                   `json:"columnKind"`
		Results     []sarifResult            `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string             `json:"id"`
		Short   sarifText          `json:"shortDescription"`
		Full    sarifText          `json:"fullDescription"`
		Help    sarifText          `json:"help"`
		Default sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId,omitempty"`
		RuleIndex    *int               `json:"ruleIndex,omitempty"`
		Level        string             `json:"level"`
		Baseline     string             `json:"baselineState,omitempty"` // set on all results or on none
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Fixes        []sarifFix         `json:"fixes,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions"` // set on all results or on none
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"` // from 1, for related locations
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI         string     `json:"uri,omitempty"`
		BaseID      string     `json:"uriBaseId,omitempty"`
		Description *sarifText `json:"description,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"` // column after the end of the region
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  *sarifRegion `json:"deletedRegion"`
		Inserted sarifText    `json:"insertedContent"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

func (opt SARIFOptions) buildLog(parts []baseline) sarifLog {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: opt.Tool, Rules: []sarifRule{}}},
		SourceRoots: map[string]sarifArtifact{
			sourceRoot: {Description: &sarifText{Text: "The root of the repository."}},
		},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	index := map[string]int{}
	for i, c := range opt.Codes {
		index[c.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, opt.describeRule(c))
	}
	seen := map[string]int{}
	for _, part := range parts {
		for _, f := range part.findings.grouped() {
			r := f.toSARIF()
			r.Baseline = part.state
			if i, ok := index[f.Code]; ok {
				r.RuleIndex = &i
			}
			// Equal fingerprints are numbered: 1, 2, ...
			key := f.fingerprint()
			seen[key]++
			r.Fingerprints = map[string]string{fingerprint: fmt.Sprintf("%s:%d", key, seen[key])}
			run.Results = append(run.Results, r)
		}
	}
	return sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}}
}

// describeRule returns the SARIF rule of a code. GitHub demands all three texts, and
// shows the first two on one line each.
func (opt SARIFOptions) describeRule(c Code) sarifRule {
	r := sarifRule{
		ID: c.ID, Short: sarifText{Text: c.Title}, Full: sarifText{Text: c.Title}, Help: sarifText{Text: c.Title},
		Default: sarifConfiguration{c.Severity.String()},
	}
	if opt.Help != nil {
		if text, markdown := opt.Help(c.ID); text != "" {
			r.Full.Text, _, _ = strings.Cut(text, "\n\n")
			r.Help = sarifText{text, markdown}
		}
	}
	return r
}

func (f Finding) toSARIF() sarifResult {
	out := sarifResult{
		RuleID:       f.Code,
		Level:        f.Severity.String(),
		Locations:    []sarifLocation{{Physical: f.Span.toLocation()}},
		Suppressions: []sarifSuppression{},
	}
	if f.Path != "" {
		out.Locations[0].Logical = []sarifLogical{{f.Path, "property"}}
	}
	text := removeLinks(f.Message)
	if f.Label != "" {
		text += ": " + removeLinks(f.Label)
	}
	text += "."
	if f.Help != "" {
		text += "\nhelp: " + removeLinks(f.Help)
	}
	// GitHub shows a related location only if the message links to it.
	relate := func(kind, message string, at Span) {
		id := len(out.Related) + 1
		if kind != "" {
			text += fmt.Sprintf("\n%s: [%s](%d)", kind, linkText(message), id)
		}
		out.Related = append(out.Related,
			sarifLocation{ID: id, Physical: at.toLocation(), Message: &sarifText{Text: message}})
	}
	for _, r := range f.Related {
		if r.Span.Valid() {
			relate("note", r.Message, r.Span)
		} else {
			text += "\nnote: " + removeLinks(r.Message)
		}
	}
	for i, other := range f.Others[:max(0, min(len(f.Others), mostRelated-len(out.Related)))] {
		kind := ""
		if i < mostPlaces {
			kind = "also"
		}
		relate(kind, other.Message, other.Span)
	}
	if hidden := len(f.Others) - mostPlaces; hidden > 0 {
		text += fmt.Sprintf("\nand %d more", hidden)
	}
	out.Message.Text = text
	out.Fixes = f.toFixes()
	if f.Accepted != "" {
		out.Suppressions = append(out.Suppressions, sarifSuppression{"inSource", f.Accepted})
	}
	return out
}

// toFixes returns the fix with all edits of a finding, nil without edits.
func (f Finding) toFixes() []sarifFix {
	var fix sarifFix
	var said []string
	for _, e := range f.Edits {
		if !e.Span.hasText() {
			continue
		}
		at := e.Span.toLocation()
		said = append(said, describeEdit(e, f.Span))
		replaced := sarifReplacement{at.Region, sarifText{Text: e.Text}}
		i := slices.IndexFunc(fix.Changes, func(c sarifChange) bool { return c.Artifact == at.Artifact })
		if i < 0 {
			i = len(fix.Changes)
			fix.Changes = append(fix.Changes, sarifChange{Artifact: at.Artifact})
		}
		fix.Changes[i].Replacements = append(fix.Changes[i].Replacements, replaced)
	}
	if fix.Changes == nil {
		return nil
	}
	fix.Description.Text = strings.Join(said, ", and ")
	return []sarifFix{fix}
}

// toLocation returns the location of a span. For a span without a place it is the
// source root, because GitHub rejects a whole log if one result has no location.
// Source: github/codeql-action, issue 1738.
func (s Span) toLocation() sarifPhysical {
	if !s.Valid() {
		return sarifPhysical{Artifact: artifactLocation(".")}
	}
	out := sarifPhysical{Artifact: artifactLocation(s.Source.Name)}
	if s.hasText() {
		start, end := s.Source.Position(s.Start), s.Source.Position(s.End)
		out.Region = &sarifRegion{start.Line, start.Column, end.Line, end.Column}
	}
	return out
}

// artifactLocation returns the location of a source: relative to the source root for a
// relative name, a complete URI for an absolute one.
func artifactLocation(name string) sarifArtifact {
	if path.IsAbs(name) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: name}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: name}).String(), BaseID: sourceRoot}
}

// fingerprint returns a string that identifies the finding and stays the same when
// lines move, and when a later version words the finding differently. It consists of
// the code and the field or, without a field, of the code, the file and the message.
// For several findings that are shown as one, it consists of the code and groupName.
func (f Finding) fingerprint() string {
	about := f.Code + "\x00" + f.Path
	switch {
	case len(f.Others) > 0:
		about = f.Code + "\x00" + f.groupName()
	case f.Path == "":
		about += "\x00" + f.Span.sourceName() + "\x00" + f.Message
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(about)))[:16]
}

// removeLinks returns the text without links for use in a message, in which
// "[text](place)" would be a link.
func removeLinks(s string) string { return strings.ReplaceAll(s, "](", "] (") }

// linkText returns the text escaped for use between the brackets of a link.
func linkText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
}
