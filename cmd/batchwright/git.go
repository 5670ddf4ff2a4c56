package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// repository is a git repository. It is read by the user's own git, with the user's
// configuration and environment, so every object storage works. Working tree and
// index are not changed. Several goroutines can use it.
type repository struct {
	ctx context.Context
	dir string // directory in which git runs, without symbolic links
	top string // directory of a revision's root: the top of the working tree, or dir if there is none

	reading sync.Mutex
	objects map[string]gitObject
	cat     *catFile
	failed  error // permanent error of cat
}

// openRepository opens the repository around a directory. The caller must close it.
func openRepository(ctx context.Context, dir string) (*repository, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	r := &repository{ctx: ctx, dir: dir, top: dir, objects: map[string]gitObject{}}
	out, err := r.runGit("rev-parse", "--is-inside-work-tree", "--show-cdup")
	if err != nil {
		return nil, err
	}
	if inside, up, _ := strings.Cut(out, "\n"); inside == "true" {
		r.top = filepath.Join(dir, filepath.FromSlash(strings.TrimSpace(up)))
	}
	return r, nil
}

// Close ends the process that reads objects.
func (r *repository) Close() {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.cat != nil {
		r.cat.stopProcess()
	}
}

// readError returns the reason why objects could not be read, or nil.
func (r *repository) readError() error {
	r.reading.Lock()
	defer r.reading.Unlock()
	return r.failed
}

// revisionPath returns the path of a file within a revision. The file need not exist.
func (r *repository) revisionPath(name string) (string, error) {
	absolute := filepath.Join(r.dir, name)
	if filepath.IsAbs(name) {
		absolute = realPath(name)
	}
	rel, err := filepath.Rel(r.top, absolute)
	if err != nil || !filepath.IsLocal(rel) {
		return "", usageErrorf("%s is outside the repository at %s", name, r.top)
	}
	return filepath.ToSlash(rel), nil
}

// readTree returns the files of a revision.
func (r *repository) readTree(revision string) (gitTree, error) {
	id, err := r.runGit("rev-parse", "--verify", "--end-of-options", revision+"^{tree}")
	id = strings.TrimSpace(id)
	switch {
	case err == nil && !strings.HasPrefix(id, "^"): // git prints ^ID for the revision ^REVISION
		return gitTree{r, id}, nil
	case err != nil && !strings.Contains(err.Error(), "Needed a single revision"):
		return gitTree{}, err
	}
	return gitTree{}, fmt.Errorf("the repository has no revision %q%s", revision, r.adviseRevision(revision))
}

// adviseRevision returns the advice about a revision that the repository does not
// have.
func (r *repository) adviseRevision(revision string) string {
	if strings.Contains(revision, "..") {
		return "; this is a range: write its ends as --base and --head"
	}
	if out, _ := r.runGit("rev-parse", "--is-shallow-repository"); strings.TrimSpace(out) == "true" {
		return "; this is a shallow clone, so fetch the revision first: git fetch --unshallow, or a CI checkout of " +
			"full depth (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
	}
	return didYouMean(diag.Nearest(revision, r.revisionNames()))
}

// revisionNames returns the names of branches and tags, or nothing if git fails.
func (r *repository) revisionNames() []string {
	out, _ := r.runGit("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
	return strings.Fields(out)
}

// runGit runs git and returns its output. The error contains git's own message.
func (r *repository) runGit(args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := r.gitCommand(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", r.gitError(err, stderr.String())
	}
	return stdout.String(), nil
}

// gitCommand returns a git command whose messages do not depend on the user's
// language.
func (r *repository) gitCommand(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second // a child process of git, such as one that fetches, may keep the output open
	return cmd
}

func (r *repository) gitError(err error, stderr string) error {
	var said []string
	for line := range strings.Lines(stderr) {
		for _, prefix := range []string{"fatal: ", "error: "} {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				said = append(said, text)
			}
		}
		// Git's advice for a repository of another user.
		if cure := strings.TrimSpace(line); strings.HasPrefix(cure, "git config --global --add safe.directory ") {
			said = append(said, "if you trust it, "+cure)
		}
	}
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("git is not installed, but is necessary to read revisions")
	case len(said) > 0:
		return fmt.Errorf("git: %s", strings.Join(said, "; "))
	}
	return fmt.Errorf("git: %w", err)
}

// gitObject is a tree or a file. It has no content if it is larger than a file of a
// blueprint may be.
type gitObject struct {
	kind    string
	size    int64
	content []byte
	entries []gitEntry // of a tree, sorted by name
}

// readObject reads an object from the repository.
func (r *repository) readObject(id string) (gitObject, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if o, ok := r.objects[id]; ok || r.failed != nil {
		return o, r.failed
	}
	if r.cat == nil {
		if r.cat, r.failed = startCatFile(r.gitCommand("cat-file", "--batch")); r.failed != nil {
			return gitObject{}, r.failed
		}
	}
	o, err := r.cat.readObject(id)
	if err != nil {
		r.failed = r.gitError(err, r.cat.stopProcess())
		return gitObject{}, r.failed
	}
	if o.kind == "tree" {
		if o.size > load.MaxFile {
			return gitObject{}, fmt.Errorf("git: tree %s: %w", id, errLarge)
		}
		if o.entries, err = parseTree(o.content, len(id)/2); err != nil {
			return gitObject{}, fmt.Errorf("git: tree %s: %w", id, err)
		}
	}
	r.objects[id] = o
	return o, nil
}

// catFile is a running git cat-file --batch. For each line of input it prints an
// object.
type catFile struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

func startCatFile(cmd *exec.Cmd) (*catFile, error) {
	c := &catFile{cmd: cmd}
	cmd.Stderr = &c.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	cmd.Cancel = func() error { return errors.Join(cmd.Process.Kill(), out.Close()) }
	return c, cmd.Start()
}

// readObject requests an object and reads it. Source: git-cat-file(1), "Batch output".
func (c *catFile) readObject(id string) (o gitObject, err error) {
	if _, err := io.WriteString(c.in, id+"\n"); err != nil {
		return o, err
	}
	header, err := c.out.ReadSlice('\n')
	if err != nil {
		return o, err
	}
	fields := strings.Fields(string(header))
	if len(fields) != 3 {
		return o, errors.New(strings.TrimSpace(string(header))) // ID missing
	}
	o.kind = fields[1]
	size, err := strconv.ParseUint(fields[2], 10, 63)
	if err != nil {
		return o, err
	}
	o.size = int64(size)
	if o.size > load.MaxFile {
		_, err = io.CopyN(io.Discard, c.out, o.size)
	} else {
		o.content = make([]byte, o.size)
		_, err = io.ReadFull(c.out, o.content)
	}
	if err == nil {
		_, err = c.out.Discard(1) // the line feed after the content
	}
	return o, err
}

// stopProcess ends the process and returns its error output.
func (c *catFile) stopProcess() string {
	c.in.Close()
	c.cmd.Wait() // its exit status does not matter
	return c.stderr.String()
}

// parseTree parses a tree whose IDs have size bytes. Each entry is MODE NAME NUL ID,
// with an octal mode. Source: git's tree-walk.c, decode_tree_entry.
func parseTree(content []byte, size int) ([]gitEntry, error) {
	var entries []gitEntry
	for len(content) > 0 {
		head, rest, ended := bytes.Cut(content, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ended || !spaced || err != nil || len(rest) < size {
			return nil, errors.New("cannot be read")
		}
		entries = append(entries, gitEntry{name, uint32(bits), hex.EncodeToString(rest[:size])})
		content = rest[size:]
	}
	// Git sorts directories as if their names ended with a slash.
	slices.SortFunc(entries, func(a, b gitEntry) int { return cmp.Compare(a.name, b.name) })
	return entries, nil
}
