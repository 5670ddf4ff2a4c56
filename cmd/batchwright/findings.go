package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review/live"
)

// mostFindings is the number of findings that are shown as text, because nobody
// reads more at once. JSON contains all.
const mostFindings = 50

// omittedCode is the code of the note that says how many findings are omitted. It is
// always shown: without it, the other findings look complete.
const omittedCode = "N0109"

// noteFlag is the flag --notes of a command that shows findings.
type noteFlag struct {
	show bool
	// wanted reports whether the command line asks for a note by its code; nil if it
	// cannot.
	wanted func(diag.Finding) bool
}

// addFlag adds the flag --notes.
func (n *noteFlag) addFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&n.show, "notes", false,
		"also show notes and accepted findings, in the formats "+formatText+" and "+formatGitHub)
}

// keeps reports whether a finding is shown.
func (n noteFlag) keeps(f diag.Finding) bool {
	return f.Severity != diag.Note || n.show || f.Code == omittedCode || n.wanted != nil && n.wanted(f)
}

// writeWithNotes writes findings, and hides notes that nobody asked for from people.
// A line on standard error counts the hidden notes and says how to see them. JSON and SARIF
// always contain all findings: their readers filter by severity, and code scanning
// shows accepted findings as suppressed.
func (c Command) writeWithNotes(w io.Writer, l *diag.List, n noteFlag) error {
	if c.format.value == formatJSON || c.format.value == formatSARIF {
		return c.writeFindings(w, l, c.format.value)
	}
	if err := c.writeFindings(w, l.Filter(n.keeps), c.format.value); err != nil {
		return err
	}
	hidden := len(l.Filter(func(f diag.Finding) bool { return !n.keeps(f) }).Sorted())
	if hidden == 0 {
		return nil
	}
	_, err := fmt.Fprintln(c.Stderr, words.Plural(hidden, "note; --notes shows it", "notes; --notes shows them"))
	return err
}

// showText writes findings as text to standard error.
func (c Command) showText(l *diag.List) error { return c.writeFindings(c.Stderr, l, formatText) }

// showErrors is showText that returns errFindings if one of the findings is an error.
func (c Command) showErrors(l *diag.List) error {
	if err := c.showText(l); err != nil || !l.HasErrors() {
		return err
	}
	return errFindings
}

// writeFindings writes findings in a format.
func (c Command) writeFindings(w io.Writer, l *diag.List, format string) error {
	switch format {
	case formatJSON:
		return diag.WriteJSON(w, l)
	case formatText:
		return diag.WriteText(w, l, diag.TextOptions{
			Color: useColor(c.color.value, w), Limit: mostFindings, Explain: "batchwright explain",
		})
	}
	// Readers of these formats know the repository, not the working directory.
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	l = l.Named(fromRepository(dir))
	if format == formatGitHub {
		return diag.WriteGitHub(w, l)
	}
	return diag.WriteSARIF(w, l, sarifOptions())
}

func sarifOptions() diag.SARIFOptions {
	return diag.SARIFOptions{Tool: "batchwright", Codes: findingCodes(), Help: ruleHelp}
}

// repositoryRoot returns the root of the repository around a directory, which is the
// nearest directory with a .git, and reports whether there is one.
func repositoryRoot(dir string) (root string, found bool) {
	for root = dir; !fileExists(filepath.Join(root, ".git")); root = filepath.Dir(root) {
		if root == filepath.Dir(root) {
			return "", false
		}
	}
	return root, true
}

// fromRepository returns a function that converts a name relative to dir into a name
// relative to the root of the repository around dir. Names outside of the repository
// become absolute. Without a repository, names stay the same.
func fromRepository(dir string) func(name string) string {
	root, found := repositoryRoot(dir)
	if !found {
		return filepath.ToSlash
	}
	return func(name string) string {
		if name == "-" {
			return name
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		return filepath.ToSlash(name)
	}
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// conflictCode is the code of a problem that disk.Write rejects, with the advice.
type conflictCode struct {
	problem         disk.Problem
	id, title, help string
}

func conflictCodes() []conflictCode {
	return []conflictCode{
		{
			disk.Edited, "E0901", "generated file was edited by hand",
			"make the change in the blueprint, then overwrite the file with --force",
		},
		{
			disk.Foreign, "E0902", "file was not generated by batchwright",
			"move the file, or overwrite it with --force",
		},
		{
			disk.Damaged, "E0903", "manifest of the folder cannot be read",
			"restore it from version control; --force ignores it, and removes no file",
		},
		{disk.Obstacle, "E0904", "path is not a regular file", "move or remove it"},
		{
			disk.Linked, "E0905", "symbolic link in the folder",
			"replace the link with a file or a directory: batchwright does not write through links",
		},
		{
			disk.Tampered, "E0906", "manifest of the folder lists a path that batchwright never generates",
			"restore it from version control, or compile with --force, which ignores it and removes no file",
		},
	}
}

// findingCodes returns every code that a command can show, sorted by number.
func findingCodes() []diag.Code {
	all := slices.Concat(compiler.Codes(), rehearsalCodes(), traceCodes(), cost.Codes(), exports.Codes(),
		live.Codes())
	for _, c := range conflictCodes() {
		all = append(all, diag.Code{ID: c.id, Severity: diag.Error, Title: c.title})
	}
	all = append(all, lossCode())
	slices.SortFunc(all, diag.Code.Compare)
	return all
}

// conflictFindings returns findings for the conflicts that disk.Write found in the
// folder at dir.
func conflictFindings(dir string, conflicts []disk.Conflict) []diag.Finding {
	known := conflictCodes()
	var out []diag.Finding
	for _, c := range conflicts {
		var code conflictCode // of a problem without one, the zero code
		if i := slices.IndexFunc(known, func(k conflictCode) bool { return k.problem == c.Problem }); i >= 0 {
			code = known[i]
		}
		out = append(out, diag.Finding{
			Code: code.id, Severity: diag.Error, Message: string(c.Problem), Help: code.help,
			Span: diag.Span{Source: &diag.Source{Name: inFolder(dir, c.Path)}},
		})
	}
	return out
}

// showConflicts shows the conflicts that disk.Create found at dir, with other advice, and
// returns errFindings.
func (c Command) showConflicts(dir string, conflicts []disk.Conflict, help string) error {
	var l diag.List
	for _, f := range conflictFindings(dir, conflicts) {
		f.Help = help
		l.Add(f)
	}
	return cmp.Or(c.showText(&l), errFindings)
}

// lossCode returns the code of a folder that would lose what people use.
func lossCode() diag.Code {
	return diag.Code{
		ID: "E0907", Severity: diag.Error,
		Title: "folder would lose its last team, tier or capacity, or most of its teams or node pools",
	}
}

// lossFindings returns findings for what the folder at dir would lose.
func lossFindings(dir string, losses []folder.Loss) []diag.Finding {
	const most = 10 // names that a finding lists
	end := map[string]string{
		"team":      "the next build would delete their namespaces with all jobs in them",
		"tier":      "the next build would delete their queues and stop all jobs in them",
		"capacity":  "the next build would stop all jobs on their nodes",
		"node pool": "the next build would delete their nodes and stop all jobs there",
	}
	code := lossCode()
	var out []diag.Finding
	for _, l := range losses {
		of := fmt.Sprintf("%d of its %s", len(l.Lost), words.Count(l.Had, l.Kind))
		switch len(l.Lost) {
		case 1:
			of = "its only " + l.Kind
		case l.Had:
			of = "all of its " + words.Count(l.Had, l.Kind)
		}
		out = append(out, diag.Finding{
			Code: code.ID, Severity: code.Severity,
			Message: fmt.Sprintf("would lose %s, %s: %s", of, words.Quoted(l.Lost, most), end[l.Kind]),
			Help: "pass all PATHs of the blueprint together, as for the last compilation; if the removal is " +
				"intended, compile with --allow-removal",
			Span: diag.Span{Source: &diag.Source{Name: inFolder(dir, l.Path)}},
		})
	}
	return out
}
