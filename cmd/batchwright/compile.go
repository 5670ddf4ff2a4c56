package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/folder"
)

// compilation holds the compile command and its flags.
type compilation struct {
	Command
	out      string
	dryRun   bool
	exitCode bool
	force    bool
	removal  bool // of all or most teams and machines is intended
	only     []string
	notes    noteFlag
}

func (c Command) compileCommand() *cobra.Command {
	o := &compilation{Command: c}
	cmd := &cobra.Command{
		Use:   "compile [PATH...]",
		Short: "Write the deploy folder of a blueprint",
		Long: `Compile checks a blueprint and writes its deploy folder. If the blueprint has
errors, it writes nothing.

Each PATH is a directory of CUE files, or a .cue, .yaml or .json file; "-" is
standard input in CUE or JSON, "yaml:-" in YAML. All PATHs together are one
blueprint. The default is the working directory.

Compile does not touch files that are up to date, and removes generated files
that the blueprint no longer needs. It keeps files that batchwright did not
write, and refuses to overwrite a file that was edited by hand, except with
--force. It also needs --force if the deploy folder itself is to be the top of a
Git repository, or a directory that holds CUE files. It never writes to the home
directory or to the root of the file system.

A few lines of CUE can need more time or memory than a computer has. Compile
rejects a blueprint that exceeds --max-time or --max-memory; ten thousand teams
take a few seconds and 500 MiB.

Findings go to standard error, and the report of --format json to standard
output. With --format github and sarif, as in vet, findings go to standard
output, and all other text to standard error. As in vet, notes are only counted;
--notes shows them.`,
		Example: `  batchwright compile                          # the working directory, into ./NAME
  batchwright compile -o deploy blueprints/prod
  batchwright compile --dry-run .              # list what would change
  batchwright compile --exit-code --dry-run .  # fail if the folder is out of date
  batchwright compile --only kubernetes/teams .
  batchwright compile -o - . | less            # as a txtar archive
  batchwright compile -t region=us-east4 . overlays/prod.cue`,
		RunE: o.run,
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.out, "output", "o", "",
		"`directory` to write to (default ./NAME, after the blueprint), or - to print a txtar archive")
	flags.BoolVar(&o.dryRun, "dry-run", false, "list the changes, write nothing")
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit with 1 if anything changed or, with --dry-run, would change")
	flags.BoolVar(&o.force, "force", false, "also overwrite and remove files that were edited by hand")
	flags.BoolVar(&o.removal, "allow-removal", false,
		"also remove the last team, tier or capacity, or more than half of the teams or node pools")
	flags.StringArrayVar(&o.only, "only", nil,
		"write and remove only files that match a `glob` of paths in the folder, or that are in a directory that "+
			"matches; can be repeated")
	o.notes.addFlag(cmd)
	o.addInput(cmd)
	o.addFindingsFormat(cmd, "output format of the findings (and of the report, with json)")
	o.addColor(cmd)
	return cmd
}

func (o *compilation) run(cmd *cobra.Command, paths []string) error {
	keep, err := o.selectFiles(cmd)
	if err != nil {
		return err
	}
	findings, _ := o.outputStreams()
	tree, res, err := o.buildFolder(cmd.Context(), paths, withoutPlaces)
	if err != nil {
		return err
	}
	if tree == nil || o.out == "-" {
		err := o.writeWithNotes(findings, &res.Findings, o.notes)
		if err == nil && tree == nil {
			err = errFindings
		}
		if err != nil {
			return err
		}
		return o.printArchive(tree, keep)
	}
	dir := cmp.Or(o.out, res.Plan.Name)
	if err := checkOutput(dir, o.force); err != nil {
		return err
	}
	var losses []folder.Loss
	if !o.removal {
		if losses, err = folder.Losses(os.DirFS(dir), tree, keep); err != nil {
			return err
		}
	}
	report, err := o.writeFolder(dir, tree, keep, o.dryRun || len(losses) > 0)
	if err != nil && !errors.Is(err, disk.ErrConflict) {
		return err
	}
	for _, f := range slices.Concat(lossFindings(dir, losses), conflictFindings(dir, report.Conflicts)) {
		res.Findings.Add(f)
	}
	if err := o.writeWithNotes(findings, &res.Findings, o.notes); err != nil {
		return err
	}
	refused := len(losses)+len(report.Conflicts) > 0
	if err := o.reportChanges(dir, report, refused); err != nil {
		return err
	}
	if refused || o.exitCode && report.Changed() {
		return errFindings
	}
	return nil
}

// selectFiles checks the flags and returns the filter for --only.
func (o *compilation) selectFiles(cmd *cobra.Command) (func(string) bool, error) {
	if o.out == "" && cmd.Flags().Changed("output") {
		return nil, usageErrorf("-o: want a directory, or -")
	}
	if o.out == "-" && (o.dryRun || o.exitCode || o.force) {
		return nil, usageErrorf("-o - prints the folder: it excludes --dry-run, --exit-code and --force")
	}
	if o.out == "-" && o.printsFindings() {
		return nil,
			usageErrorf("-o - prints the folder: it excludes --format %s, which prints the findings", o.format)
	}
	if len(o.only) == 0 {
		return nil, nil
	}
	globs, err := parseGlobs(o.only)
	if err != nil {
		return nil, usageErrorf("--only: %w", err)
	}
	return globs.match, nil
}

// outputStreams returns the stream for findings and the stream for the report on the
// folder. With workflow commands and SARIF, the findings are the product, so they go
// to standard output.
func (o *compilation) outputStreams() (findings, report io.Writer) {
	if o.printsFindings() {
		return o.Stdout, o.Stderr
	}
	return o.Stderr, o.Stdout
}

func (o *compilation) printsFindings() bool {
	return o.format.value == formatGitHub || o.format.value == formatSARIF
}

// compileBlueprint compiles a blueprint. The caller must show the result's findings.
func (c Command) compileBlueprint(ctx context.Context, paths []string) (*compiler.Result, error) {
	if err := cmp.Or(checkPaths(paths), c.input.check()); err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	collectLess(1)
	at, end := c.meter.start("")
	defer end()
	return c.compileInput(ctx, compiler.Input{
		Dir: dir, Paths: paths, Stdin: interruptible{ctx, c.Stdin}, Progress: at,
	})
}

// compilePlan compiles a blueprint, and shows its findings without the notes. It returns
// errFindings if there is no plan.
func (c Command) compilePlan(ctx context.Context, paths []string) (*ir.Platform, error) {
	res, err := c.compileBlueprint(ctx, paths)
	if err != nil {
		return nil, err
	}
	return res.Plan, c.showErrors(res.Findings.Filter(noteFlag{}.keeps))
}

// compileInput compiles a blueprint with the options of the flags.
func (c Command) compileInput(ctx context.Context, in compiler.Input) (*compiler.Result, error) {
	in.Tags, in.MaxTime, in.MaxMemory = c.input.tags, c.input.maxTime, c.input.maxMemory.Value()
	return c.confinement.compileConfined(ctx, in)
}

// Whether buildFolder keeps Result.Place, which holds the syntax of all files. This
// takes more memory than the plan.
const withPlaces, withoutPlaces = true, false

// buildFolder compiles a blueprint and renders its folder. The tree is nil if the
// findings have errors.
func (c Command) buildFolder(
	ctx context.Context, paths []string, places bool,
) (emit.Tree, *compiler.Result, error) {
	at, end := c.meter.start("")
	defer end()
	res, err := c.compileBlueprint(ctx, paths)
	if err != nil || res.Plan == nil {
		return nil, res, err
	}
	if !places {
		res.Place = nil
	}
	startRendering(at, res.Plan)
	tree, err := folder.Build(res.Plan)
	return tree, res, err
}

// printArchive writes the folder as a txtar archive to standard output.
func (o *compilation) printArchive(tree emit.Tree, keep func(string) bool) error {
	if keep != nil {
		tree = tree.Select(keep)
		if len(tree) == 0 {
			return o.nothingMatches()
		}
	}
	for _, f := range tree {
		if len(txtar.Parse(f.Content).Files) > 0 {
			return errors.New("a file has lines that look like the headers of a txtar archive; use -o DIR")
		}
	}
	out := bufio.NewWriterSize(o.Stdout, 1<<20)
	for _, f := range tree { // one by one: the whole archive would need as much memory as the tree
		one := &txtar.Archive{Files: []txtar.File{{Name: f.Path, Data: f.Content}}}
		if _, err := out.Write(txtar.Format(one)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeFolder updates the folder. In a dry run it only reports what it would do.
func (o *compilation) writeFolder(dir string, tree emit.Tree, keep func(string) bool,
	dryRun bool) (disk.Report, error) {
	at, end := o.meter.start("")
	defer end()
	at.Start(progress.Writing, "")
	opt := disk.WriteOptions{
		Force: o.force, DryRun: dryRun, Only: keep, Owns: folder.Owns,
		Staged: func(of int) {
			at.Expect(of)
			at.Step()
		},
	}
	if keep != nil && len(tree.Select(keep)) == 0 {
		// --only must then select the files to remove.
		dry := opt
		dry.DryRun = true
		report, err := disk.Write(dir, tree, dry)
		if err == nil && len(report.Removed) == 0 {
			return report, o.nothingMatches()
		}
	}
	report, err := disk.Write(dir, tree, opt)
	if errors.Is(err, disk.ErrNotFolder) {
		return report, usageErrorf("%s is not a directory", dir)
	}
	return report, err
}

func (o *compilation) nothingMatches() error {
	return usageErrorf("--only %q matches nothing in the folder", o.only)
}

// reportChanges writes the changes to the folder: as JSON with --format json, and
// otherwise as a one-line message on standard error. In a dry run it also lists the
// files, on the stream that outputStreams returns. If the changes are refused, there are
// none.
func (o *compilation) reportChanges(dir string, r disk.Report, refused bool) error {
	if refused {
		r.Written, r.Removed = nil, nil
	}
	if o.format.value == formatJSON {
		return o.reportJSON(dir, r)
	}
	would := ""
	if o.dryRun {
		would = "would be "
		var list strings.Builder
		for _, p := range r.Written {
			list.WriteString("write " + inFolder(dir, p) + "\n")
		}
		for _, p := range r.Removed {
			list.WriteString("remove " + inFolder(dir, p) + "\n")
		}
		_, product := o.outputStreams()
		if _, err := io.WriteString(product, list.String()); err != nil {
			return err
		}
	}
	if refused {
		_, err := fmt.Fprintf(o.Stderr, "%s: nothing %swritten\n", dir, would)
		return err
	}
	_, err := fmt.Fprintf(o.Stderr, "%s: %s %swritten, %d unchanged, %d %sremoved\n",
		dir, words.Count(len(r.Written), "file"), would, len(r.Unchanged), len(r.Removed), would)
	return err
}

// reportJSON writes a report as JSON. Paths are relative to the folder.
func (o *compilation) reportJSON(dir string, r disk.Report) error {
	return json.NewEncoder(o.Stdout).Encode(struct {
		Version   int             `json:"version"`
		Type      string          `json:"type"`
		Folder    string          `json:"folder"`
		DryRun    bool            `json:"dryRun"`
		Written   []string        `json:"written"`
		Unchanged []string        `json:"unchanged"`
		Removed   []string        `json:"removed"`
		Conflicts []disk.Conflict `json:"conflicts"`
	}{
		1, "report", dir, o.dryRun, append([]string{}, r.Written...), append([]string{}, r.Unchanged...),
		append([]string{}, r.Removed...), append([]disk.Conflict{}, r.Conflicts...),
	})
}

// inFolder returns the name of a file in the folder as the user would write it.
func inFolder(dir, name string) string {
	return path.Join(filepath.ToSlash(dir), name)
}
