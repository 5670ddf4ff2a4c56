package load

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Mistakes in what the command line gives: too much, or not all.

// otherPlatform reports files of another directory that name another platform. Such files
// conflict in nearly every field, so nothing else is reported.
func (l *Loader) otherPlatform() {
	type named struct {
		name string
		lit  *ast.BasicLit
	}
	first := map[string]named{} // by directory
	var dirs []string
	see := func(file *ast.File) {
		dir := filepath.Dir(file.Filename)
		if _, ok := first[dir]; ok {
			return
		}
		if lit := platformName(file); lit != nil {
			if name, err := strconv.Unquote(lit.Value); err == nil {
				first[dir] = named{name, lit}
				dirs = append(dirs, dir)
			}
		}
	}
	if !l.severalDirectories() {
		return
	}
	for _, name := range l.cue {
		if file, err := ParseCUE(name, l.overlay[name], parser.ParseComments); err == nil {
			see(file)
		}
	}
	for _, file := range l.data {
		see(file)
	}
	for _, dir := range dirs {
		one, other := first[dirs[0]], first[dir]
		if one.name == other.name {
			continue
		}
		l.failed = true
		l.findings.Add(diag.Finding{
			Code: "E0009", Severity: diag.Error,
			Message: fmt.Sprintf("the PATHs are of two platforms, %q and %q", one.name, other.name),
			Span:    l.Sources.Span(other.lit.Pos()),
			Related: []diag.Related{{Message: "the name of the other platform", Span: l.Sources.Span(one.lit.Pos())}},
			Help: "check and compile each platform alone; if one of them is an overlay on the other, give the name " +
				"in only one of them",
		})
		return
	}
}

// severalDirectories reports whether the files are in more than one directory.
func (l *Loader) severalDirectories() bool {
	dirs := map[string]bool{}
	for _, name := range l.cue {
		dirs[filepath.Dir(name)] = true
	}
	for _, file := range l.data {
		dirs[filepath.Dir(file.Filename)] = true
	}
	return len(dirs) > 1
}

// platformName returns the text that a file gives as the name of the platform, nil if it
// gives none or computes it.
func platformName(file *ast.File) *ast.BasicLit {
	for _, d := range file.Decls {
		field, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		if name, _, err := ast.LabelName(field.Label); err != nil || name != "name" {
			continue
		}
		lit, _ := field.Value.(*ast.BasicLit)
		return lit
	}
	return nil
}

// unread reports CUE files beside or below the files of a directory that look as if they
// were part of the blueprint, and are not.
func (l *Loader) unread() {
	if l.Instance.PkgName == "" {
		return // the files belong to no package
	}
	for _, dir := range l.dirs {
		entries, _ := l.files.readDir(dir) // addDirectory has read it
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if e.IsDir() && !isIgnored(e.Name()) {
				l.unreadDirectory(name)
				continue
			}
			if !strings.HasPrefix(e.Name(), "_") || filepath.Ext(name) != ".cue" || slices.Contains(l.cue, name) {
				continue
			}
			if file, _ := l.parseUnread(name); file != nil && file.PackageName() == l.Instance.PkgName {
				l.addUnread(name, `is not read, because its name begins with "_"`,
					"rename it to "+strings.TrimLeft(e.Name(), "_"))
			}
		}
	}
}

// unreadDirectory reports a directory from which no file is given, although one is in the
// package of the blueprint. Of an overlay, a file is given; and a directory whose files name
// a platform is a blueprint of its own.
func (l *Loader) unreadDirectory(dir string) {
	inside := func(name string) bool {
		rel, err := filepath.Rel(dir, name)
		return err == nil && filepath.IsLocal(rel)
	}
	if slices.ContainsFunc(l.cue, inside) || slices.ContainsFunc(l.dirs, inside) {
		return
	}
	entries, _ := l.files.readDir(dir)
	first := ""
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if filepath.Ext(name) != ".cue" || e.IsDir() || isIgnored(e.Name()) {
			continue
		}
		file, whole := l.parseUnread(name)
		if file == nil || file.PackageName() != l.Instance.PkgName {
			continue
		}
		if !whole || platformName(file) != nil { // it may name a platform
			return
		}
		if first == "" {
			first = name
		}
	}
	if first != "" {
		l.addUnread(first, "is not read, because a PATH does not include the directories below it",
			"pass "+l.Sources.displayName(dir)+" as another PATH")
	}
}

// parseUnread parses a file that is not part of the blueprint, or only its package clause if
// the rest has mistakes: then whole is false. It returns nil if neither can be parsed.
func (l *Loader) parseUnread(name string) (file *ast.File, whole bool) {
	info, err := l.files.stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxFile {
		return nil, false
	}
	content, err := l.files.readFile(name)
	if err != nil {
		return nil, false
	}
	if file, err = ParseCUE(name, content, parser.ParseComments); err == nil {
		return file, true
	}
	if file, err = ParseCUE(name, content, parser.PackageClauseOnly); err == nil {
		return file, false
	}
	return nil, false
}

func (l *Loader) addUnread(name, message, help string) {
	l.findings.Add(diag.Finding{
		Code: "W0010", Severity: diag.Warning, Message: message, Help: help,
		Span: diag.Span{Source: &diag.Source{Name: l.Sources.displayName(name)}},
	})
}
