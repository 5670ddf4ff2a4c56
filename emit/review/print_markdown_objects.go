package review

import (
	"fmt"
	"html"
	"path"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// block is a part of the list of objects in a comment: one file, or neighbouring files
// of a directory in which all changed objects are new or all are gone.
type block struct {
	name  string // of the file or directory
	files int
	file  // the objects
}

// detailBlocks returns the blocks of files. Files that were compared only as a whole are
// returned apart, by their names.
func detailBlocks(files []file) (blocks []block, whole []string) {
	for _, f := range files {
		if f.comparedWhole() {
			whole = append(whole, f.name)
			continue
		}
		dir := path.Dir(f.name) + "/"
		if n := len(blocks); n > 0 && dir != "./" && f.unchanged() &&
			blocks[n-1].unchanged() && path.Dir(blocks[n-1].file.name)+"/" == dir {
			last := &blocks[n-1]
			last.name, last.files = dir, last.files+1
			last.groups = append(last.groups[:len(last.groups):len(last.groups)], f.groups...)
			continue
		}
		blocks = append(blocks, block{name: f.name, files: 1, file: f})
	}
	return blocks, whole
}

// comparedWhole reports whether only the file's name is shown: it is a page for people, or its
// contents are unknown.
func (f file) comparedWhole() bool {
	return len(f.groups) == 1 && f.groups[0].Kind == "file" && f.groups[0].Op == delta.Changed &&
		(isPage(f.groups[0].Object) || len(f.groups[0].Fields) == 0)
}

// unchanged reports whether the file has no object that both sides have.
func (f file) unchanged() bool {
	for _, g := range f.groups {
		if g.Op == delta.Changed {
			return false
		}
	}
	return true
}

// objectsPart returns the changed objects, folded. The changes of a file are a diff,
// which GitHub and GitLab colour.
func objectsPart(r *Review) part {
	groups := r.changedGroups()
	files := byFile(groups)
	blocks, whole := detailBlocks(files)
	title := "<b>Changed objects</b>: " + tallyObjects(r.Objects) + ", in " + words.Count(len(files), "file")
	return part{items: len(groups), render: func(d *markdown.Document, _, n int) {
		all := new(markdown.Document)
		left, hidden := n, 0
		for _, x := range blocks {
			shown := min(left, len(x.groups))
			left -= shown
			hidden += countObjects(x.groups[shown:])
			if shown > 0 {
				x.addGroups(all, shown)
			}
		}
		if left > 0 {
			names := make([]markdown.Markup, left)
			for i, name := range whole[:left] {
				names[i] = codeMarkup(name)
			}
			all.Para("Other changed files: ", markdown.Join(names, ", "))
		}
		addOmitted(all, hidden+len(whole)-left, "object")
		d.Fold(title, all)
	}}
}

// addGroups adds the first n groups of a block: the name of the file and a diff, which
// is folded if it is long.
func (x block) addGroups(d *markdown.Document, n int) {
	part := x.file
	part.groups = x.groups[:n]
	lines := part.diffLines(x.files > 1)
	if hidden := countObjects(x.groups[n:]); hidden > 0 {
		lines = append(lines, fmt.Sprintf("… %d more", hidden))
	}
	tally := x.tallyOperations()
	if x.files > 1 {
		tally += ", in " + words.Count(x.files, "file")
	}
	if len(lines) > markdownOpen {
		diff := new(markdown.Document)
		diff.Code("diff", lines...)
		name := words.OneLine(words.Truncate(x.name, markdownValue))
		d.Fold("<code>"+html.EscapeString(name)+"</code>: "+tally, diff)
		return
	}
	d.Para(codeMarkup(x.name), ": ", markdown.Markup(tally))
	d.Code("diff", lines...)
}

// codeLetters is the most letters of a line of code in a comment: GitHub would add a bar to scroll
// with.
const codeLetters = 96

// leastValue is the least room for a value beside a long path: its difference from the other
// value is there.
const leastValue = 45

// fieldLines returns the change of a field as lines of a diff that fit into a comment. Of a long
// path only the end is shown.
func fieldLines(f objects.Field) (out []string) {
	from, to := []rune(f.From), []rune(f.To)
	path := []rune(f.Path)
	room := max(leastValue, codeLetters-len(path))
	used := min(room, max(len(from), len(to)))
	if left := max(codeLetters-used, 1); len(path) > left {
		path = append([]rune("…"), path[len(path)-left+1:]...)
	}
	if f.From != "" {
		out = append(out, "- "+string(path)+": "+words.Truncate(f.From, room))
	}
	if f.To != "" {
		out = append(out, "+ "+string(path)+": "+words.Truncate(f.To, room))
	}
	return out
}

// diffLines returns a file's objects as lines of a diff, each new or removed object with
// its own file if the files differ.
func (f file) diffLines(withFile bool) []string {
	var out []string
	for _, o := range f.groups {
		name := words.Truncate(o.Kind+" "+o.Name, markdownValue)
		if o.Op != delta.Changed {
			if withFile {
				name += " (" + words.Truncate(path.Base(o.File), markdownValue) + ")"
			}
			if s := originText(o.Origin); s != "" {
				name += ", " + s
			}
			out = append(out, operationSign(o.Op)+" "+name)
			if o.Note != "" {
				out = append(out, "  "+words.Truncate(o.Note, markdownNote))
			}
			continue
		}
		out = append(out, "@@ "+name+" @@")
		if s := originText(o.Origin); s != "" {
			out = append(out, "! "+s)
		}
		fields, hidden := firstItems(o.Fields, markdownFields)
		for _, f := range fields {
			out = append(out, fieldLines(f)...)
		}
		if hidden > 0 {
			out = append(out, fmt.Sprintf("  … %d more", hidden))
		}
		if o.Note != "" {
			out = append(out, "! "+words.Truncate(o.Note, markdownNote))
		}
		if s := o.otherNames(markdownAlike); s != "" {
			out = append(out, "  "+words.Truncate(s, codeLetters))
		}
	}
	return out
}
