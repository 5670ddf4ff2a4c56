package disk

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/batchwright/batchwright/emit"
)

const journalPath = emit.OwnDir + "/journal.json"

// workers bounds the file operations that run at once. Most of their time is
// spent waiting for the disk.
const workers = 16

// plan lists the changes that bring a folder up to date.
type plan struct {
	files      []target // files of the tree, by path
	stale      []target // files that only an earlier tree had, by path
	history    history
	past       []byte // the manifests from which history was built
	unfinished bool   // a journal was left by a crash
}

// target is a path of the folder.
type target struct {
	emit.File
	action  action
	problem Problem // set if there is a conflict
	old     fs.FileMode
}

type action int

const (
	keep action = iota
	create
	replace
	remove
	forget // already removed
	conflict
)

// inspectFolder compares a folder with a tree.
func inspectFolder(root *os.Root, tree emit.Tree, opt WriteOptions) (plan, error) {
	p := plan{history: history{}}
	keepPath := opt.Only
	if keepPath == nil {
		keepPath = func(string) bool { return true }
	}
	dirs := directories{root: root, seen: map[string]Problem{}}

	// The files that earlier runs wrote.
	var current manifest
	for _, name := range []string{emit.ManifestPath, journalPath} {
		problem, err := dirs.dirProblem(name)
		if err != nil {
			return plan{}, err
		}
		info, own, err := fileProblem(root, name)
		if err != nil {
			return plan{}, err
		}
		var content []byte
		var all []manifest
		if problem = cmp.Or(problem, own); problem == "" && info != nil {
			if content, err = root.ReadFile(name); err != nil {
				return plan{}, err
			}
			if all, err = parseManifests(content); err != nil && !opt.Force {
				problem = Damaged
			}
			if !opt.acceptsAll(all) {
				if all = nil; !opt.Force {
					problem = Tampered
				}
			}
		}
		if problem != "" {
			p.files = append(p.files, target{File: emit.File{Path: name}, action: conflict, problem: problem})
			return p, nil
		}
		for _, m := range all {
			p.history.addManifest(m)
			if name == emit.ManifestPath {
				current = m
			}
		}
		if len(all) > 0 {
			p.past = append(p.past, content...)
		}
		if name == journalPath {
			p.unfinished = info != nil
		}
	}

	if opt.Only != nil {
		var err error
		if p.unfinished {
			if current, err = p.settledManifest(root, &dirs, current, opt.Only); err != nil {
				return plan{}, err
			}
		}
		if tree, err = selectTree(tree, current, opt.Only); err != nil {
			return plan{}, err
		}
	}
	inTree := make(map[string]bool, len(tree))
	for _, f := range tree {
		inTree[f.Path] = true
		p.files = append(p.files, target{File: f})
	}
	for _, name := range slices.Sorted(maps.Keys(p.history)) {
		if !inTree[name] && keepPath(name) {
			p.stale = append(p.stale, target{File: emit.File{Path: name}})
		}
	}

	// Check the directories first, one by one, so that the concurrent checks of
	// files need no lock.
	for _, list := range [][]target{p.files, p.stale} {
		for i := range list {
			problem, err := dirs.dirProblem(list[i].Path)
			if err != nil {
				return plan{}, err
			}
			if problem != "" {
				list[i].action, list[i].problem = conflict, problem
			}
		}
	}
	var group errgroup.Group
	group.SetLimit(workers)
	decide := func(list []target, how func(*os.Root, history, *target) error) {
		for i := range list {
			if t := &list[i]; t.action != conflict {
				group.Go(func() error { return how(root, p.history, t) })
			}
		}
	}
	decide(p.files, decideFile)
	decide(p.stale, decideStale)
	if err := group.Wait(); err != nil {
		return plan{}, err
	}
	if opt.Force {
		for i := range p.files {
			p.files[i].forceAction(replace)
		}
		for i := range p.stale {
			p.stale[i].forceAction(remove)
		}
	}
	return p, nil
}

// acceptsAll reports whether the manifests list only paths that can have been
// generated.
func (opt WriteOptions) acceptsAll(all []manifest) bool {
	for _, m := range all {
		for name := range m.Files {
			if opt.Owns != nil && !opt.Owns(name) {
				return false
			}
		}
	}
	return true
}

// settledManifest returns the manifest of the folder after an unfinished commit. It
// lists every file that is not selected with its current content, if the content is
// ours. These files then no longer need the journal.
func (p plan) settledManifest(root *os.Root, dirs *directories, current manifest,
	selected func(string) bool) (manifest, error) {
	m := manifest{manifestVersion, maps.Clone(current.Files)}
	if m.Files == nil {
		m.Files = map[string]string{}
	}
	for name, sums := range p.history {
		if selected(name) {
			continue
		}
		if problem, err := dirs.dirProblem(name); err != nil || problem != "" {
			continue // treated like an edited file
		}
		info, problem, err := fileProblem(root, name)
		if err != nil {
			return manifest{}, err
		}
		if info == nil || problem != "" {
			continue
		}
		content, err := root.ReadFile(name)
		if err != nil {
			return manifest{}, err
		}
		if sum := hashContent(content); slices.Contains(sums, sum) {
			m.Files[name] = sum
		}
	}
	return m, nil
}

func (t *target) forceAction(a action) {
	if t.action == conflict && t.problem.forcible() {
		t.action, t.problem = a, ""
	}
}

// fileProblem returns the information on a file. It returns a Problem for anything
// except a regular file. For a file that does not exist, both the information and
// the Problem are empty.
func fileProblem(root *os.Root, name string) (fs.FileInfo, Problem, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return info, Linked, nil
	case !info.Mode().IsRegular():
		return info, Obstacle, nil
	}
	return info, "", nil
}

// decideFile sets the action for a file of the tree.
func decideFile(root *os.Root, known history, t *target) error {
	info, problem, err := fileProblem(root, t.Path)
	switch {
	case err != nil:
		return err
	case problem != "":
		t.action, t.problem = conflict, problem
		return nil
	case info == nil:
		t.action = create
		return nil
	}
	t.old = info.Mode().Perm()
	content, err := root.ReadFile(t.Path)
	if err != nil {
		return err
	}
	sums, listed := known[t.Path]
	switch {
	case bytes.Equal(content, t.Content):
		t.action = keep
		if isExecutable(t.old) != isExecutable(t.Mode) {
			t.action = replace
		}
	case t.Path == emit.ManifestPath, slices.Contains(sums, hashContent(content)):
		t.action = replace
	case listed:
		t.action, t.problem = conflict, Edited
	default:
		t.action, t.problem = conflict, Foreign
	}
	return nil
}

// decideStale sets the action for a file that the tree no longer has. If it is no
// longer a regular file, its owner has replaced it, and it stays.
func decideStale(root *os.Root, known history, t *target) error {
	info, problem, err := fileProblem(root, t.Path)
	if err != nil {
		return err
	}
	if info == nil || problem != "" {
		t.action = forget
		return nil
	}
	content, err := root.ReadFile(t.Path)
	if err != nil {
		return err
	}
	if slices.Contains(known[t.Path], hashContent(content)) {
		t.action = remove
	} else {
		t.action, t.problem = conflict, Edited
	}
	return nil
}

func isExecutable(mode fs.FileMode) bool { return mode&0o100 != 0 }

// directories reports whether files can be in their directories. It examines each
// directory once.
type directories struct {
	root *os.Root
	seen map[string]Problem
}

// dirProblem returns the problem of the directories that contain a path, or "".
func (d *directories) dirProblem(name string) (Problem, error) {
	dir := path.Dir(name)
	if dir == "." {
		return "", nil
	}
	if problem, ok := d.seen[dir]; ok {
		return problem, nil
	}
	problem, err := d.dirProblem(dir)
	if err == nil && problem == "" {
		var info fs.FileInfo
		info, problem, err = fileProblem(d.root, dir)
		switch {
		case info == nil || info.IsDir():
			problem = ""
		case problem == "":
			problem = Obstacle
		}
	}
	d.seen[dir] = problem
	return problem, err
}

// selectTree returns the selected files of a tree, together with a manifest. The
// manifest lists these files, and for all other paths the entries of the current
// manifest.
func selectTree(t emit.Tree, current manifest, selected func(string) bool) (emit.Tree, error) {
	m := manifest{manifestVersion, make(map[string]string, len(t))}
	for p, sum := range current.Files {
		if !selected(p) {
			m.Files[p] = sum
		}
	}
	part := t.Select(func(p string) bool { return p != emit.ManifestPath && selected(p) })
	for _, f := range part {
		m.Files[f.Path] = hashContent(f.Content)
	}
	file, err := m.encodeFile()
	part = append(part, file)
	slices.SortFunc(part, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	return part, err
}

// summarizePlan returns the summary of a plan.
func (p plan) summarizePlan() Report {
	var r Report
	for _, t := range slices.Concat(p.files, p.stale) {
		switch t.action {
		case keep:
			r.Unchanged = append(r.Unchanged, t.Path)
		case create, replace:
			r.Written = append(r.Written, t.Path)
		case remove:
			r.Removed = append(r.Removed, t.Path)
		case conflict:
			r.Conflicts = append(r.Conflicts, Conflict{t.Path, t.problem})
		}
	}
	slices.SortFunc(r.Conflicts, func(a, b Conflict) int { return cmp.Compare(a.Path, b.Path) })
	return r
}
