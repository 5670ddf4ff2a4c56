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
	dirs := newDirectories(root)
	current, err := p.readManifests(dirs, opt)
	if err != nil || len(p.files) > 0 {
		return p, err
	}
	if opt.Only != nil {
		if p.unfinished {
			if current, err = p.settledManifest(dirs, current, opt.Only); err != nil {
				return p, err
			}
		}
		if tree, err = selectTree(tree, current, opt.Only); err != nil {
			return p, err
		}
	}
	return p, p.compareTree(dirs, tree, opt)
}

// readManifests reads which files earlier runs wrote, and returns the manifest. A
// manifest that cannot be used becomes the only file of the plan.
func (p *plan) readManifests(dirs *directories, opt WriteOptions) (current manifest, err error) {
	for _, name := range []string{emit.ManifestPath, journalPath} {
		problem, err := dirs.dirProblem(name)
		if err != nil {
			return manifest{}, err
		}
		there, err := readRegular(dirs.root, name)
		if err != nil {
			return manifest{}, err
		}
		var all []manifest
		if problem = cmp.Or(problem, there.problem); problem == "" && there.info != nil {
			if all, err = parseManifests(there.content); err != nil && !opt.Force {
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
			return manifest{}, nil
		}
		for _, m := range all {
			p.history.addManifest(m)
			if name == emit.ManifestPath {
				current = m
			}
		}
		if len(all) > 0 {
			p.past = append(p.past, there.content...)
		}
		p.unfinished = there.info != nil // of the journal, which is the last
	}
	return current, nil
}

// compareTree decides what to do with the files of a tree, and with those that only an
// earlier tree had.
func (p *plan) compareTree(dirs *directories, tree emit.Tree, opt WriteOptions) error {
	inTree := make(map[string]bool, len(tree))
	for _, f := range tree {
		inTree[f.Path] = true
		p.files = append(p.files, target{File: f})
	}
	for _, name := range slices.Sorted(maps.Keys(p.history)) {
		if !inTree[name] && (opt.Only == nil || opt.Only(name)) {
			p.stale = append(p.stale, target{File: emit.File{Path: name}})
		}
	}
	// Check the directories first, one by one, so that the concurrent checks of
	// files need no lock.
	for _, list := range [][]target{p.files, p.stale} {
		for i := range list {
			problem, err := dirs.dirProblem(list[i].Path)
			if err != nil {
				return err
			}
			if problem != "" {
				list[i].action, list[i].problem = conflict, problem
			}
		}
	}
	var group errgroup.Group
	group.SetLimit(workers)
	decide := func(list []target, how func(*target, regular, history), forced action) {
		for i := range list {
			t := &list[i]
			if t.action == conflict {
				continue
			}
			group.Go(func() error {
				there, err := readRegular(dirs.root, t.Path)
				how(t, there, p.history)
				if opt.Force && t.action == conflict && t.problem.forcible() {
					t.action, t.problem = forced, ""
				}
				return err
			})
		}
	}
	decide(p.files, (*target).decideFile, replace)
	decide(p.stale, (*target).decideStale, remove)
	return group.Wait()
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
func (p *plan) settledManifest(
	dirs *directories, current manifest, selected func(string) bool,
) (manifest, error) {
	m := newManifest(nil)
	maps.Copy(m.Files, current.Files)
	for name, sums := range p.history {
		if selected(name) {
			continue
		}
		if problem, err := dirs.dirProblem(name); err != nil || problem != "" {
			continue // treated like an edited file
		}
		there, err := readRegular(dirs.root, name)
		if err != nil {
			return manifest{}, err
		}
		if sum := hashContent(there.content); there.isRegular() && slices.Contains(sums, sum) {
			m.Files[name] = sum
		}
	}
	return m, nil
}

// regular is what is at a path where a regular file should be.
type regular struct {
	info    fs.FileInfo // nil if there is nothing
	problem Problem     // "" for a regular file and for nothing
	content []byte      // of a regular file
}

func (r regular) isRegular() bool { return r.info != nil && r.problem == "" }

// fileProblem examines a path, and does not read the file.
func fileProblem(root *os.Root, name string) (regular, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return regular{}, nil
	case err != nil:
		return regular{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		return regular{info: info, problem: Linked}, nil
	case !info.Mode().IsRegular():
		return regular{info: info, problem: Obstacle}, nil
	}
	return regular{info: info}, nil
}

// readRegular examines a path, and reads a regular file.
func readRegular(root *os.Root, name string) (regular, error) {
	r, err := fileProblem(root, name)
	if err == nil && r.isRegular() {
		r.content, err = root.ReadFile(name)
	}
	return r, err
}

// decideFile sets the action for a file of the tree.
func (t *target) decideFile(there regular, known history) {
	if there.problem != "" {
		t.action, t.problem = conflict, there.problem
		return
	}
	if there.info == nil {
		t.action = create
		return
	}
	t.old = there.info.Mode().Perm()
	sums, listed := known[t.Path]
	switch {
	case bytes.Equal(there.content, t.Content):
		t.action = keep
		if isExecutable(t.old) != isExecutable(t.Mode) {
			t.action = replace
		}
	case t.Path == emit.ManifestPath, slices.Contains(sums, hashContent(there.content)):
		t.action = replace
	case listed:
		t.action, t.problem = conflict, Edited
	default:
		t.action, t.problem = conflict, Foreign
	}
}

// decideStale sets the action for a file that the tree no longer has. If it is no
// longer a regular file, its owner has replaced it, and it stays.
func (t *target) decideStale(there regular, known history) {
	switch {
	case !there.isRegular():
		t.action = forget
	case slices.Contains(known[t.Path], hashContent(there.content)):
		t.action = remove
	default:
		t.action, t.problem = conflict, Edited
	}
}

func isExecutable(mode fs.FileMode) bool { return mode&0o100 != 0 }

// directories reports whether files can be in their directories. It examines each
// directory once.
type directories struct {
	root *os.Root
	seen map[string]Problem
}

func newDirectories(root *os.Root) *directories { return &directories{root, map[string]Problem{}} }

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
		var there regular
		there, err = fileProblem(d.root, dir)
		if there.info != nil && !there.info.IsDir() {
			problem = cmp.Or(there.problem, Obstacle)
		}
	}
	d.seen[dir] = problem
	return problem, err
}

// selectTree returns the selected files of a tree, together with a manifest. The
// manifest lists these files, and for all other paths the entries of the current
// manifest.
func selectTree(t emit.Tree, current manifest, selected func(string) bool) (emit.Tree, error) {
	part := t.Select(func(p string) bool { return p != emit.ManifestPath && selected(p) })
	m := newManifest(part)
	for p, sum := range current.Files {
		if !selected(p) {
			m.Files[p] = sum
		}
	}
	file, err := m.encodeFile()
	part = append(part, file)
	slices.SortFunc(part, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	return part, err
}

// summarizePlan returns the summary of a plan, and ErrConflict if it has conflicts.
func (p plan) summarizePlan() (Report, error) {
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
	if len(r.Conflicts) == 0 {
		return r, nil
	}
	sortConflicts(r.Conflicts)
	return r, ErrConflict
}

func sortConflicts(list []Conflict) {
	slices.SortFunc(list, func(a, b Conflict) int { return cmp.Compare(a.Path, b.Path) })
}
