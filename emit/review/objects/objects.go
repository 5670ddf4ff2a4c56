// Package objects compares two deploy folders as the tools that read them do.
//
// Two trees go in; objects and their changed fields come out. Compare lists the
// Terraform blocks, Kubernetes objects, build steps and dashboards that changed. The
// layout of a file does not matter: the readers of HCL, YAML and JSON make the same
// kind of node, and Compare compares the nodes. EffectsOf lists the Terraform
// resources that a change replaces: it evaluates both roots as far as their files
// allow, and asks package gke which arguments cannot change in place.
//
// A folder may have been edited by hand. The readers terminate for every input, and
// a file that cannot be read is reported as an object.
package objects

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// object is one object in a file.
type object struct {
	file, kind, name string
	line             int
	// scope is the area in which the name is unique: "" for the folder, otherwise a
	// file or the folder of a Terraform module.
	scope string
	value *node
}

// unreadable is the reason why a file could not be parsed as its name says.
type unreadable struct {
	line   int // from 1
	reason string
}

// String returns the reason and the line; "" for nil.
func (u *unreadable) String() string {
	if u == nil {
		return ""
	}
	return fmt.Sprintf("line %d: %s", u.line, console.Inline(u.reason))
}

// Compare returns the objects that changed, sorted by file, kind and name, and the
// number of files that differ only in formatting. A file that cannot be parsed, for
// example after an edit by hand, becomes one object that reports this.
func Compare(before, after emit.Tree) (changed []Object, formatting int) {
	was, is := byPath(before), byPath(after)
	differ := map[string]bool{}
	for _, f := range slices.Concat(before, after) {
		a, had := was[f.Path]
		b, has := is[f.Path]
		same := had && has && string(a.Content) == string(b.Content) && isExecutable(a) == isExecutable(b)
		// Ignore the manifest, which lists hashes of the other files.
		if !same && f.Path != emit.ManifestPath {
			differ[f.Path] = true
		}
	}

	old, broken := readAll(before, differ, is)
	now, brokenNow := readAll(after, differ, was)
	for p := range differ {
		whole := func(line int, field Field) {
			o := Object{File: p, Line: line, Kind: "file", Name: p, Op: fileOperation(was, is, p),
				Fields: []Field{field}}
			changed = append(changed, o)
		}
		a, b := broken[p], brokenNow[p]
		if at := cmp.Or(b, a); at != nil {
			whole(at.line, Field{Path: "unreadable", From: a.String(), To: b.String()})
		}
		from, to := was[p], is[p]
		if fileOperation(was, is, p) == delta.Changed && isExecutable(from) != isExecutable(to) {
			whole(1, Field{Path: "mode", From: fileMode(from), To: fileMode(to)})
		}
	}
	// If a file can be read on only one side, its changes are unknown.
	half := func(o object) bool { return broken[o.file] != nil || brokenNow[o.file] != nil }
	changed = append(changed, compareObjects(slices.DeleteFunc(old, half), slices.DeleteFunc(now, half))...)
	// Objects that are declared twice are distinguished by their lines.
	slices.SortStableFunc(changed, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Op, b.Op))
	})

	for _, o := range changed {
		delete(differ, o.File)
	}
	return changed, len(differ)
}

func byPath(t emit.Tree) map[string]emit.File {
	out := make(map[string]emit.File, len(t))
	for _, f := range t {
		out[f.Path] = f
	}
	return out
}

// isExecutable reports whether a file is executable, which is the only part of its
// mode that git keeps.
func isExecutable(f emit.File) bool { return f.Mode&0o100 != 0 }

func fileMode(f emit.File) string {
	if isExecutable(f) {
		return "executable"
	}
	return "not executable"
}

func fileOperation(before, after map[string]emit.File, p string) delta.Op {
	if _, ok := before[p]; !ok {
		return delta.Added
	}
	if _, ok := after[p]; !ok {
		return delta.Removed
	}
	return delta.Changed
}

// readAll returns the objects of the wanted files in the order of the tree, and the
// files that could not be read. It omits some objects that are identical in others.
func readAll(t emit.Tree, want map[string]bool, others map[string]emit.File) ([]object, map[string]*unreadable) {
	var out []object
	broken := map[string]*unreadable{}
	for _, f := range t {
		if !want[f.Path] {
			continue
		}
		f.Content = changedDocuments(f, others[f.Path])
		objects, err := readObjects(f)
		if err != nil {
			broken[f.Path] = err
		}
		out = append(out, objects...)
	}
	return out, broken
}

// changedDocuments returns a file without the YAML documents that other also
// contains, byte for byte. Usually only one of a team's dozen documents has changed,
// and parsing them is most of the work. Line numbers stay the same.
func changedDocuments(f, other emit.File) []byte {
	separator := []byte("\n---\n")
	if path.Ext(f.Path) != ".yaml" || !bytes.Contains(f.Content, separator) {
		return f.Content
	}
	there := map[string]int{}
	for _, d := range bytes.Split(other.Content, separator) {
		there[string(d)]++
	}
	documents := bytes.Split(f.Content, separator)
	for i, d := range documents {
		if there[string(d)] > 0 {
			there[string(d)]--
			documents[i] = bytes.Repeat([]byte("\n"), bytes.Count(d, []byte("\n")))
		}
	}
	return bytes.Join(documents, separator)
}

func readObjects(f emit.File) ([]object, *unreadable) {
	var objects []object
	var err *unreadable
	switch path.Ext(f.Path) {
	case ".tf", ".tfvars":
		objects, err = readTerraform(f)
	case ".yaml", ".yml":
		objects, err = readYAML(f)
	case ".json":
		objects, err = readJSON(f)
	default:
		objects = []object{{kind: "file", name: f.Path, line: 1, scope: f.Path, value: textNode(string(f.Content))}}
	}
	for i := range objects {
		objects[i].file = f.Path
		if dir := path.Dir(f.Path); path.Ext(f.Path) == ".tf" && dir != terraformDir {
			objects[i].scope = dir
		}
	}
	return objects, err
}

// compareObjects matches the objects of two sides by scope, kind and name, wherever
// they are in a file. The result is not sorted.
func compareObjects(before, after []object) []Object {
	type id struct {
		scope, kind, name string
		again             int // the number of earlier declarations of the object
	}
	index := func(objects []object) map[id]object {
		out := make(map[id]object, len(objects))
		seen := map[id]int{}
		for _, o := range objects {
			k := id{scope: o.scope, kind: o.kind, name: o.name}
			n := seen[k]
			seen[k]++
			k.again = n
			out[k] = o
		}
		return out
	}
	was, is := index(before), index(after)
	var out []Object
	change := func(o object, op delta.Op, fields []Field) {
		out = append(out,
			Object{
				File: o.file, Line: o.line, Kind: console.Inline(o.kind), Name: console.Inline(o.name), Op: op,
				Fields: fields,
			})
	}
	for k, o := range was {
		now, ok := is[k]
		if !ok {
			change(o, delta.Removed, nil)
		} else if fields := compareNodes(o.value, now.value); len(fields) > 0 {
			change(now, delta.Changed, fields)
		}
	}
	for k, o := range is {
		if _, ok := was[k]; !ok {
			change(o, delta.Added, nil)
		}
	}
	return out
}
