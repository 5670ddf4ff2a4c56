// Package page writes a rehearsal as one HTML file, for a browser. The file contains all
// that it needs, and its content security policy forbids every connection.
//
// The charts are drawn by uPlot 1.6.32 (https://github.com/leeoniya/uPlot), which is
// embedded as published on npm. Its licence, MIT, is next to it and in every page.
package page

import (
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

var (
	//go:embed page.tmpl
	layout string
	//go:embed page.css
	ownStyle string
	//go:embed page.js
	ownScript string
	//go:embed uplot/uPlot.min.css
	plotStyle string
	//go:embed uplot/uPlot.iife.min.js
	plotScript string
	//go:embed uplot/LICENSE
	plotLicense string
)

// Write writes the page of a rehearsal. The scenario must be one of the platform, the
// history one of the scenario, and the report that of the history. The same arguments give the same bytes.
//
// The size of the page is bounded: long series are averaged, and the shortest runs of a
// rehearsal with very many are left out of the timeline. The page then says so.
//
// The errors are those of w.
func Write(
	w io.Writer, p *ir.Platform, s *rehearsal.Scenario, h *rehearsal.History, r *report.Report,
) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	d := newDigest(p, s, h, r)
	data, err := json.Marshal(d.charts())
	if err != nil {
		return err
	}
	style := plotStyle + "\n" + ownStyle
	license := "/*\nuPlot is part of this page, under this licence:\n\n" + plotLicense + "\n*/\n"
	script := license + plotScript + ownScript
	// Script, Style and Data are not escaped. The first two are the constants above.
	// encoding/json escapes everything in Data that could end its element.
	return t.Execute(w, struct {
		ScriptHash, StyleHash string
		Script                template.JS
		Style                 template.CSS
		Data                  template.JS
		Tables                tables
	}{
		ScriptHash: hashOf(script), StyleHash: hashOf(style),
		Script: template.JS(script), Style: template.CSS(style), Data: template.JS(data),
		Tables: d.tables(),
	})
}

// hashOf returns the hash of an element's text, as a content security policy names it.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
