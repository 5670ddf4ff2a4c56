package diag

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
)

// SARIFOptions says what a SARIF log tells beside the findings.
type SARIFOptions struct {
	Tool  string // the program's name
	Codes []Code // every code that it knows; findings refer to them
	// Help returns what explains a code, as plain text and as Markdown, "" for
	// nothing; nil explains none. An empty line ends the text's first
	// paragraph, which should say what the code is about.
	Help func(code string) (text, markdown string)
}

// WriteSARIF renders findings as a SARIF 2.1.0 log with one run, in the order
// of List.Sorted; no findings make a log without results. A finding that was
// accepted is a suppressed result. As with WriteJSON the output is safe to show
// on a terminal.
//
// Names of sources are relative to %SRCROOT%, which viewers take for the root
// of the repository: see List.Named. The log names no machine, time or version,
// so that the same findings make the same log.
//
// Source: OASIS, SARIF version 2.1.0 plus errata 01; what GitHub makes of it:
// GitHub documentation, "SARIF support for code scanning".
func WriteSARIF(w io.Writer, l *List, opt SARIFOptions) error {
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, opt.log(l), "  "); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

	// sourceRoot stands for the directory that relative names start from.
	sourceRoot = "%SRCROOT%"

	// fingerprint names how fingerprints are made, for when that changes.
	// GitHub's own, primaryLocationLineHash, its upload action adds.
	fingerprint = "finding/v1"
)

// The objects of a log, as far as findings need them. The Go modules with types
// for all of SARIF leave out what is zero, such as the index of the first rule,
// or write every key that is unset.
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
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Fixes        []sarifFix         `json:"fixes,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions"` // of all results, or of none
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"` // from 1, of related ones
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
		EndColumn   int `json:"endColumn"` // where the region has just ended
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

func (opt SARIFOptions) log(l *List) sarifLog {
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
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, opt.rule(c))
	}
	seen := map[string]int{}
	for _, f := range l.Sorted() {
		r := f.sarif()
		if i, ok := index[f.Code]; ok {
			r.RuleIndex = &i
		}
		// Of findings that are otherwise alike the first, the second, ...
		key := f.fingerprint()
		seen[key]++
		r.Fingerprints = map[string]string{fingerprint: fmt.Sprintf("%s:%d", key, seen[key])}
		run.Results = append(run.Results, r)
	}
	return sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}}
}

// rule describes a code. GitHub wants all three texts, and shows the first two
// in a line each.
func (opt SARIFOptions) rule(c Code) sarifRule {
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

func (f Finding) sarif() sarifResult {
	out := sarifResult{
		RuleID:       f.Code,
		Level:        f.Severity.String(),
		Locations:    []sarifLocation{{Physical: f.Span.sarif()}},
		Suppressions: []sarifSuppression{},
	}
	if f.Path != "" {
		out.Locations[0].Logical = []sarifLogical{{f.Path, "property"}}
	}
	text := unlinked(f.Message)
	if f.Label != "" {
		text += ": " + unlinked(f.Label)
	}
	text += "."
	if f.Help != "" {
		text += "\nhelp: " + unlinked(f.Help)
	}
	for _, r := range f.Related {
		if !r.Span.Valid() {
			text += "\nnote: " + unlinked(r.Message)
			continue
		}
		// GitHub shows a related location only where the message links to it.
		id := len(out.Related) + 1
		text += fmt.Sprintf("\nnote: [%s](%d)", linkText(r.Message), id)
		out.Related = append(out.Related,
			sarifLocation{ID: id, Physical: r.Span.sarif(), Message: &sarifText{Text: r.Message}})
	}
	out.Message.Text = text
	if f.Edit != nil && f.Edit.Span.hasText() {
		at := f.Edit.Span.sarif()
		out.Fixes = []sarifFix{{
			Description: sarifText{Text: suggestion(*f.Edit, f.Span)},
			Changes:     []sarifChange{{at.Artifact, []sarifReplacement{{at.Region, sarifText{Text: f.Edit.Text}}}}},
		}}
	}
	if f.Accepted != "" {
		out.Suppressions = append(out.Suppressions, sarifSuppression{"inSource", f.Accepted})
	}
	return out
}

// sarif returns where a span is. One that is nowhere is in the source root:
// GitHub refuses a whole log for one result without a place.
// Source: github/codeql-action, issue 1738.
func (s Span) sarif() sarifPhysical {
	if !s.Valid() {
		return sarifPhysical{Artifact: artifact(".")}
	}
	out := sarifPhysical{Artifact: artifact(s.Source.Name)}
	if s.hasText() {
		start, end := s.Source.Position(s.Start), s.Source.Position(s.End)
		out.Region = &sarifRegion{start.Line, start.Column, end.Line, end.Column}
	}
	return out
}

// artifact names a source: a relative one from the source root, an absolute one
// as a URI of its own.
func artifact(name string) sarifArtifact {
	if path.IsAbs(name) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: name}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: name}).String(), BaseID: sourceRoot}
}

// fingerprint tells a finding from others and stays the same when lines move:
// it is made of the code and of the field, or where there is none of the file
// and the message.
func (f Finding) fingerprint() string {
	about := f.Code + "\x00" + f.Path
	if f.Path == "" {
		about += "\x00" + f.Span.name() + "\x00" + f.Message
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(about)))[:16]
}

// unlinked makes a text fit for a message, in which "[text](place)" is a link.
func unlinked(s string) string { return strings.ReplaceAll(s, "](", "] (") }

// linkText makes a text fit to stand between the brackets of a link.
func linkText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
}
