package findings

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
)

// CheckProperties checks what holds for the findings on any blueprint. There is a plan unless
// there are errors. Each finding has a code of the compiler, valid values or a cure if it is an
// error, and places in its files. Printed, the findings are valid UTF-8 and name no file by a
// path below dir, from which they were compiled.
func CheckProperties(t testing.TB, res *compiler.Result, dir string) {
	t.Helper()
	if (res.Plan == nil) != res.Findings.HasErrors() {
		t.Errorf("plan is nil: %v, errors: %v", res.Plan == nil, res.Findings.HasErrors())
	}
	codes := compiler.Codes()
	for _, f := range res.Findings.Sorted() {
		if !slices.ContainsFunc(codes, func(c diag.Code) bool { return c.ID == f.Code }) {
			t.Errorf("%s: %s", f.Code, f.Message)
		}
		if f.Severity == diag.Error && f.Label == "" && f.Help == "" {
			t.Errorf("%s: %s: neither valid values nor a cure", f.Code, f.Message)
		}
		spans := []diag.Span{f.Span}
		for _, r := range f.Related {
			spans = append(spans, r.Span)
		}
		for _, e := range f.Edits {
			spans = append(spans, e.Span)
		}
		for _, s := range spans {
			if s.Valid() && (s.Start < 0 || s.Start > s.End || s.End > len(s.Source.Content)) {
				t.Errorf("%s: %s: bytes %d to %d of %d", f.Code, f.Message, s.Start, s.End, len(s.Source.Content))
			}
		}
	}
	var text, lines bytes.Buffer
	if err := diag.WriteText(&text, &res.Findings, diag.TextOptions{}); err != nil {
		t.Error(err)
	}
	if err := diag.WriteJSON(&lines, &res.Findings); err != nil {
		t.Error(err)
	}
	if !utf8.Valid(text.Bytes()) || !utf8.Valid(lines.Bytes()) {
		t.Errorf("not valid UTF-8:\n%q\n%q", text.Bytes(), lines.Bytes())
	}
	if strings.Contains(text.String(), dir+string(os.PathSeparator)) {
		t.Errorf("findings name an absolute path:\n%s", text.Bytes())
	}
}
