package main

import (
	"io"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit"
)

// mostFindings is how many are shown as text: nobody reads more at once.
// JSON has all.
const mostFindings = 50

func writeFindings(w io.Writer, l *diag.List, format, color *choice) error {
	if format.value == formatJSON {
		return diag.WriteJSON(w, l)
	}
	return diag.WriteText(w, l, diag.TextOptions{Color: colored(color.value, w), Limit: mostFindings})
}

// conflictFindings words what emit.Write refuses in the folder at dir.
func conflictFindings(dir string, conflicts []emit.Conflict) []diag.Finding {
	known := map[emit.Problem]struct{ code, help string }{
		emit.Edited:   {"E0901", "carry the change into the blueprint, then overwrite the file with --force"},
		emit.Foreign:  {"E0902", "move it away, or overwrite it with --force"},
		emit.Damaged:  {"E0903", "restore it from version control; --force does without it, and removes nothing"},
		emit.Obstacle: {"E0904", "move away what is in the way"},
		emit.Linked:   {"E0905", "replace the link: nothing is written through links"},
	}
	var out []diag.Finding
	for _, c := range conflicts {
		out = append(out, diag.Finding{
			Code:     known[c.Problem].code,
			Severity: diag.Error,
			Message:  string(c.Problem),
			Help:     known[c.Problem].help,
			Span:     diag.Span{Source: &diag.Source{Name: inFolder(dir, c.Path)}},
		})
	}
	return out
}
