package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit"
)

// mostFindings is how many are shown as text: nobody reads more at once.
// JSON has all.
const mostFindings = 50

func writeFindings(w io.Writer, l *diag.List, format, color *choice) error {
	switch format.value {
	case formatJSON:
		return diag.WriteJSON(w, l)
	case formatText:
		return diag.WriteText(w, l, diag.TextOptions{
			Color: colored(color.value, w), Limit: mostFindings, Explain: "batchwright explain",
		})
	}
	// Whoever reads these knows the repository, not the working directory.
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	l = l.Named(fromRepository(dir))
	if format.value == formatGitHub {
		return diag.WriteGitHub(w, l)
	}
	return diag.WriteSARIF(w, l, diag.SARIFOptions{Tool: "batchwright", Codes: codes(), Help: ruleHelp})
}

// repositoryRoot returns the root of the repository around a directory, which is
// the nearest one with a .git.
func repositoryRoot(dir string) (root string, found bool) {
	for root = dir; !exists(filepath.Join(root, ".git")); root = filepath.Dir(root) {
		if root == filepath.Dir(root) {
			return "", false
		}
	}
	return root, true
}

// fromRepository returns how files are called from the root of the repository
// around a directory instead of from the directory. Names outside of it become absolute; without a repository, names
// stay as they are.
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

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// conflictCodes are the codes of what emit.Write refuses, with the cure.
func conflictCodes() map[emit.Problem]conflictCode {
	return map[emit.Problem]conflictCode{
		emit.Edited: {
			diag.Code{ID: "E0901", Severity: diag.Error, Title: "a generated file was edited by hand"},
			"carry the change into the blueprint, then overwrite the file with --force",
		},
		emit.Foreign: {
			diag.Code{ID: "E0902", Severity: diag.Error, Title: "a file is there that was not generated"},
			"move it away, or overwrite it with --force",
		},
		emit.Damaged: {
			diag.Code{ID: "E0903", Severity: diag.Error, Title: "the folder's manifest cannot be read"},
			"restore it from version control; --force does without it, and removes nothing",
		},
		emit.Tampered: {
			diag.Code{
				ID: "E0906", Severity: diag.Error, Title: "the folder's manifest lists a path that is never generated",
			},
			"restore the manifest from version control, or write with --force, which ignores the " +
				"manifest and removes no file",
		},
		emit.Obstacle: {
			diag.Code{ID: "E0904", Severity: diag.Error, Title: "something is in the way that is no file"},
			"move away what is in the way",
		},
		emit.Linked: {
			diag.Code{ID: "E0905", Severity: diag.Error, Title: "a symbolic link, where files are written"},
			"replace the link: nothing is written through links",
		},
	}
}

type conflictCode struct {
	diag.Code
	help string
}

// codes returns every code that a command can show, by number.
func codes() []diag.Code {
	all := compiler.Codes()
	for _, c := range conflictCodes() {
		all = append(all, c.Code)
	}
	slices.SortFunc(all, diag.Code.Compare)
	return all
}

// conflictFindings words what emit.Write refuses in the folder at dir.
func conflictFindings(dir string, conflicts []emit.Conflict) []diag.Finding {
	known := conflictCodes()
	var out []diag.Finding
	for _, c := range conflicts {
		code := known[c.Problem]
		out = append(out, diag.Finding{
			Code:     code.ID,
			Severity: code.Severity,
			Message:  string(c.Problem),
			Help:     code.help,
			Span:     diag.Span{Source: &diag.Source{Name: inFolder(dir, c.Path)}},
		})
	}
	return out
}
