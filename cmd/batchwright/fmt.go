package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// formatter holds the fmt command and its flags.
type formatter struct {
	Command
	list, diff, write bool

	findings diag.List
	differs  bool
}

func (c Command) fmtCommand() *cobra.Command {
	f := &formatter{Command: c}
	cmd := &cobra.Command{
		Use:   "fmt [PATH...]",
		Short: "Format CUE files",
		Long: `Fmt formats CUE files as "cue fmt" does, and prints the result unless -l, -d or
-w is set. Each PATH is a file, or a directory, of which fmt formats all .cue
files at any depth, except in cue.mod and behind links that lead out of the
directory. Without a PATH, or for "-", fmt formats standard input.

With -l or -d it exits with 1 if any file is not formatted. Files that cannot be
formatted are findings, on standard error.`,
		Example: `  batchwright fmt -w .          # format in place
  batchwright fmt -l .          # list what is not formatted, and fail
  batchwright fmt -d prod.cue   # show what would change, and fail
  batchwright fmt < prod.cue`,
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.list, "list", "l", false, "list the files whose formatting differs")
	flags.BoolVarP(&f.diff, "diff", "d", false, "print the differences")
	flags.BoolVarP(&f.write, "write", "w", false, "write the result to the files")
	f.addFindingsFormat(cmd, "output format of the findings")
	f.addColor(cmd)
	return cmd
}

func (f *formatter) run(cmd *cobra.Command, paths []string) error {
	if err := checkPaths(paths); err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	for _, p := range paths {
		if err := f.formatPath(cmd.Context(), p); err != nil {
			return err
		}
	}
	if err := f.writeFindings(f.Stderr, &f.findings, f.format.value); err != nil {
		return err
	}
	if f.differs || f.findings.HasErrors() {
		return errFindings
	}
	return nil
}

// formatPath formats the files that one argument names.
func (f *formatter) formatPath(ctx context.Context, name string) error {
	if name == "-" {
		if f.write {
			return usageErrorf("-w: standard input cannot be written to")
		}
		content, err := io.ReadAll(io.LimitReader(interruptible{ctx, f.Stdin}, load.MaxFile+1))
		if err != nil {
			return err
		}
		return f.formatFile("-", content)
	}
	return filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.reportFailure(p, "cannot be read: "+errorReason(err), "pass a CUE file, or a directory")
			return nil
		case d.IsDir() && d.Name() == "cue.mod":
			return fs.SkipDir
		case d.IsDir(), p != name && filepath.Ext(p) != ".cue":
			return nil
		case filepath.Ext(p) != ".cue":
			f.reportFailure(p, "is not a CUE file", "pass .cue files only")
			return nil
		}
		isLink := p != name && d.Type()&fs.ModeSymlink != 0
		info, err := os.Stat(p)
		switch {
		case isLink && strings.HasPrefix(d.Name(), "."): // the lock of an editor, such as ".#platform.cue" of Emacs
			return nil
		case isLink && leadsOut(p, name):
			f.reportFailure(p, "is a symbolic link to a file outside the directory",
				"pass the target of the link, or remove the link")
			return nil
		case err == nil && !info.Mode().IsRegular():
			f.reportFailure(p, "is not a regular file", "pass regular files only")
			return nil
		}
		content, err := readFile(p)
		if err != nil {
			f.reportFailure(p, "cannot be read: "+errorReason(err), "make it readable, or do not pass it")
			return nil
		}
		return f.formatFile(p, content)
	})
}

// leadsOut reports whether a symbolic link leads out of a directory.
func leadsOut(link, dir string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false // it leads nowhere and cannot be read
	}
	root, err := filepath.EvalSymlinks(dir)
	return err != nil || !isBelow(target, root)
}

// readFile reads a file, at most one byte more than can be formatted.
func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, load.MaxFile+1))
}

// errorReason returns the text of an error without the name of the file.
func errorReason(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

func (f *formatter) reportFailure(name, message, help string) {
	f.findings.Add(diag.Finding{
		Code: "E0001", Severity: diag.Error, Message: message, Help: help,
		Span: diag.Span{Source: &diag.Source{Name: name}},
	})
}

// formatFile formats one file.
func (f *formatter) formatFile(name string, content []byte) error {
	formatted, findings, err := blueprint.Format(name, content)
	if err != nil {
		return err
	}
	if findings.HasErrors() {
		for _, finding := range findings.Sorted() {
			f.findings.Add(finding)
		}
		return nil
	}
	if !f.list && !f.diff && !f.write {
		_, err := f.Stdout.Write(formatted)
		return err
	}
	if bytes.Equal(content, formatted) {
		return nil
	}
	var out []byte
	if f.list {
		out = fmt.Appendln(out, name)
	}
	if f.diff {
		out = append(out, diff.Diff(name+".orig", content, name, formatted)...)
	}
	if len(out) > 0 {
		f.differs = true
		if _, err := f.Stdout.Write(out); err != nil {
			return err
		}
	}
	if f.write {
		return replaceFile(name, formatted)
	}
	return nil
}

// replaceFile writes a file: all of it, or nothing. It keeps the mode of an existing file.
// For a symbolic link, it writes the link's target.
func replaceFile(name string, content []byte) (err error) {
	name = realPath(name)
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".batchwright-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}
