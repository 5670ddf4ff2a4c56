package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/emit/review"
)

// formatMarkdown is the format for a comment on a pull request.
const formatMarkdown = "markdown"

// comparison holds the diff command and its flags.
type comparison struct {
	Command
	base   string
	head   string
	out    string
	prices string
	// rehearse reports whether to play the rehearsals on both revisions.
	rehearse bool
	// live are the names of exports to compare with.
	live []string
	// handover is the directory for what the owners of running objects do, "" for none.
	handover string
}

func (c Command) diffCommand() *cobra.Command {
	d := &comparison{Command: c}
	cmd := &cobra.Command{
		Use:   "diff [PATH...]",
		Short: "Show the effect of a change to a blueprint",
		Long: `Diff compiles a blueprint and compares the result, object by object, with the
deploy folder on the disk. It shows files that were edited by hand, are out of
date, are missing or are no longer generated.

With --base it compares two revisions instead: the deploy folder that is
committed at --base, from which the platform was built, with what the blueprint
at --head or, by default, in the working tree compiles to. It reads the
revisions with git, without a checkout or a stash. If the earlier blueprint does
not compile to the committed folder, because another version wrote the folder or
it was edited by hand, the output marks the changes that do not follow from the
blueprint. Without a committed folder, it compiles both revisions, and prints a
note.

The output has these parts:

  - a headline: nodes and data that are lost, jobs that stop, cost, findings
  - findings that are new, changed or gone
  - resources that Terraform must replace, and those with nodes or data that
    leave the configuration
  - a Terraform state that moves
  - what happens to running, waiting and new jobs, for each team and tier
  - changes to the platform, such as a team's quota
  - changed objects

If a revision has no blueprint, the output shows the platform as added or
removed. With --prices, the headline has the difference in cost; docs/cost.md
describes the file. With --rehearse, diff plays the rehearsals of the later
revision on both platforms, as "batchwright rehearse" does, and shows how waits,
evictions and utilization change.

With --format sarif, it prints no review, but the findings that --head or the
working tree has and --base has not. Their positions refer to the later revision.

With --live it compares the blueprint with exports of a running cluster, as
import reads them: objects from "kubectl get ... -o yaml", and a cluster with
its node pools from "gcloud container clusters describe ... --format=json". It
works offline, and shows what applying the compiled folder would create, change
and replace. If Terraform would replace the running cluster or one of its node
pools, diff reports an error. Objects that only the cluster has are not the
platform's, and stay. docs/import.md describes the comparison. With --handover, it
also writes a folder for the owners of running objects, who hand them over: which
tools, such as Argo CD, must keep them first, and the commands in their order.

PATHs work as in compile, and apply to both revisions.

Differences only in comments, order and layout are counted but not shown.
Diff exits with 0 without differences, 1 with differences, 2 for wrong usage,
and 3 if it cannot compare, for example because a blueprint has errors.`,
		Example: `  batchwright diff blueprints/prod                        # is ./NAME as it should be?
  batchwright diff -o deploy blueprints/prod
  batchwright diff --base HEAD blueprints/prod            # what have I changed?
  batchwright diff --base origin/main blueprints/prod     # what does my branch change?
  batchwright diff --base v1.2 --head v1.3 --format markdown blueprints/prod
  batchwright diff --live queues.yaml --live cluster.json blueprints/prod
  batchwright diff --live queues.yaml --handover handover blueprints/prod`,
		RunE: d.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&d.base, "base", "", "compare with this `revision`, not with the folder")
	flags.StringVar(&d.head, "head", "", "`revision` to compare with --base (default the working tree)")
	for _, flag := range []string{"base", "head"} {
		completeFlag(cmd, flag, completeRevision)
	}
	flags.StringVarP(&d.out, "output", "o", "",
		"`directory` of the deploy folder (default ./NAME, after the blueprint)")
	pricesFlag(cmd, &d.prices)
	flags.BoolVar(&d.rehearse, "rehearse", false, "play the rehearsals of the later revision on both, and compare")
	flags.StringArrayVar(&d.live, "live", nil,
		"compare with what runs: a `file` that kubectl or gcloud has exported; repeatable")
	flags.StringVar(&d.handover, "handover", "",
		"with --live: `directory` to write the hand-over of running objects into")
	d.addInput(cmd)
	d.addFormat(cmd, "output format of the differences", formatText, formatMarkdown, formatJSON, formatGitHub,
		formatSARIF)
	d.addColor(cmd)
	return cmd
}

func (d *comparison) run(cmd *cobra.Command, paths []string) error {
	changed := cmd.Flags().Changed
	if changed("output") && d.out == "" || d.out == "-" {
		return usageErrorf("-o: want a directory")
	}
	if err := cmp.Or(checkNamed(cmd, "prices", d.prices), checkNamed(cmd, "handover", d.handover), checkPaths(paths),
		d.input.check()); err != nil {
		return err
	}
	if changed("live") {
		for _, other := range []string{"base", "head", "rehearse", "prices"} {
			if changed(other) {
				return usageErrorf("--live excludes --%s: a cluster is no revision of the blueprint", other)
			}
		}
		if d.format.value == formatSARIF {
			return usageErrorf("--live excludes --format sarif: a cluster has no findings to compare with")
		}
		return d.compareLive(cmd.Context(), paths)
	}
	if changed("handover") {
		return usageErrorf("--handover needs --live: exports say which objects run, and who applies them")
	}
	if !changed("base") {
		switch {
		case changed("head"):
			return usageErrorf("--head needs --base, the revision to compare it with")
		case d.rehearse:
			return usageErrorf("--rehearse needs --base: a deploy folder has no rehearsals")
		case changed("prices"):
			return usageErrorf("--prices needs --base: the cost of a deploy folder cannot be computed")
		case d.format.value == formatSARIF:
			return usageErrorf("--format sarif needs --base: a deploy folder has no findings to compare with")
		}
		return d.compareFolder(cmd.Context(), paths)
	}
	if err := cmp.Or(checkRevision(cmd, "base", d.base), checkRevision(cmd, "head", d.head)); err != nil {
		return err
	}
	if slices.ContainsFunc(paths, isStdin) {
		return usageErrorf("standard input has no revisions: pass the files of the blueprint")
	}
	return d.compareRevisions(cmd.Context(), paths)
}

// checkRevision rejects revisions that git would read as an option.
func checkRevision(cmd *cobra.Command, flag, revision string) error {
	switch {
	case revision == "" && cmd.Flags().Changed(flag):
		return usageErrorf("--%s: the revision is empty; is a variable unset?", flag)
	case strings.HasPrefix(revision, "-"):
		return usageErrorf("--%s %s: a revision cannot start with -", flag, revision)
	}
	return nil
}

func completeRevision(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	r, err := openRepository(cmd.Context(), ".")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer r.Close()
	return append(r.revisionNames(), "HEAD"), cobra.ShellCompDirectiveNoFileComp
}

// compareFolder compares the folder on the disk with the folder that the blueprint
// compiles to.
func (d *comparison) compareFolder(ctx context.Context, paths []string) error {
	after, err := d.compileAfter(ctx, paths)
	if err != nil {
		return err
	}
	dir := d.folderPath(after.Plan)
	end := d.meter.enter(progress.Comparing)
	have, err := disk.Read(dir, after.Tree)
	end()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s: write it with batchwright compile, or give a revision with --base",
			dir)
	case errors.Is(err, disk.ErrNotFolder):
		return usageErrorf("%s is not a directory", dir)
	case err != nil:
		return err
	}
	before := &side{State: review.State{Label: filepath.ToSlash(dir), Tree: have.Tree}}
	if len(have.Differences) > 0 {
		if source := d.findSource(ctx, paths, dir, after); source != nil {
			before.Plan, before.Compiled, before.Base = source.Plan, source.Tree, &review.Base{
				Folder: before.Label, Edited: editedFiles(have.Tree, source.Tree), Version: thisVersion().brief(),
			}
			before.files, before.findings, before.prefix = source.files, source.findings, source.prefix
		}
	}
	r := d.compareStates(before.State, after.State)
	if before.Plan != nil {
		if r.Findings, err = reviewFindings(before, after); err != nil {
			return err
		}
	}
	same := r.Same() && !slices.ContainsFunc(have.Differences, func(f disk.Difference) bool {
		return f.Problem != disk.Edited && f.Problem != disk.Outdated
	})
	if same {
		return d.printReview(r, dir, same)
	}
	if d.format.value == formatText { // a reader wants to know first what changes
		shown := d.printReview(r, dir, same)
		return cmp.Or(d.printFiles(dir, have.Differences), shown)
	}
	return cmp.Or(d.printFiles(dir, have.Differences), d.printReview(r, dir, same))
}

// findSource returns the compiled blueprint that the folder at dir was written from: the one that
// is compared with it or, if that has changed since, the one in the last commit. It returns nil
// if the folder was written from neither, by this version. Nothing else tells what the teams had
// before.
func (d *comparison) findSource(ctx context.Context, paths []string, dir string, after *side) *side {
	manifest, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(emit.ManifestPath)))
	wrote := func(s *side) bool { return hasManifest(s.Tree, manifest) }
	switch {
	case err != nil || slices.ContainsFunc(paths, isStdin):
		return nil
	case wrote(after):
		return after
	case len(paths) == 0:
		paths = []string{"."}
	}
	repository, err := openRepository(ctx, ".")
	if err != nil {
		return nil
	}
	defer repository.Close()
	head, err := revisionSide(repository, "HEAD", paths)
	if err != nil || d.compileSide(ctx, head) != nil || !wrote(head) {
		return nil
	}
	return head
}

// hasManifest reports whether a tree has a manifest: the folder was written from the tree.
func hasManifest(tree emit.Tree, manifest []byte) bool {
	return slices.ContainsFunc(tree, func(f emit.File) bool {
		return f.Path == emit.ManifestPath && bytes.Equal(f.Content, manifest)
	})
}

// editedFiles returns the files that somebody edited, deleted or added in a folder since this
// version wrote it from a tree: every difference.
func editedFiles(folder, wrote emit.Tree) (paths []string) {
	there := map[string]emit.File{}
	for _, f := range folder {
		there[f.Path] = f
	}
	for _, f := range wrote {
		now, ok := there[f.Path]
		same := ok && bytes.Equal(now.Content, f.Content) && now.Mode&0o100 == f.Mode&0o100
		if delete(there, f.Path); !same && f.Path != emit.ManifestPath {
			paths = append(paths, f.Path)
		}
	}
	return append(paths, slices.Sorted(maps.Keys(there))...)
}

// compileAfter compiles the blueprint on the disk, to compare it with what is there.
func (d *comparison) compileAfter(ctx context.Context, paths []string) (*side, error) {
	collectLess(1)
	s := workingTree(paths)
	if err := d.compileSide(ctx, s); err != nil {
		return nil, err
	}
	if s.Plan == nil {
		return nil, d.showFindings(s)
	}
	s.Label = "the blueprint"
	return s, nil
}

// mostFiles limits the list of files in text output.
const mostFiles = 40

// stale lists the differences of files that compile would remove.
var stale = []disk.Problem{disk.Outdated, disk.Missing, disk.Stale}

// printFiles prints the files of a folder that differ from the compiled ones: on
// standard output if the format has a place for them, and as a message otherwise.
func (d *comparison) printFiles(dir string, files []disk.Difference) error {
	if d.format.value == formatJSON {
		var buf bytes.Buffer
		if err := console.EncodeJSON(&buf, struct {
			Version int               `json:"version"`
			Type    string            `json:"type"`
			Folder  string            `json:"folder"`
			Files   []disk.Difference `json:"files"` // paths are relative to the folder
		}{1, "files", filepath.ToSlash(dir), append([]disk.Difference{}, files...)}, ""); err != nil {
			return err
		}
		_, err := d.Stdout.Write(buf.Bytes())
		return err
	}
	w := d.Stderr
	var list bytes.Buffer
	if d.format.value == formatText {
		w = d.Stdout
		list.WriteByte('\n')
	}
	// What a person has done comes before what compile would do.
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b disk.Difference) int {
		return cmp.Compare(slices.Index(stale, a.Problem), slices.Index(stale, b.Problem))
	})
	shown := files[:min(len(files), mostFiles)]
	for _, f := range shown {
		fmt.Fprintf(&list, "%s %s\n", console.Inline(inFolder(dir, f.Path)), f.Problem)
	}
	if hidden := len(files) - len(shown); hidden > 0 {
		fmt.Fprintf(&list, "… %s more; --format json lists all\n", words.Count(hidden, "file"))
	}
	if d.format.value != formatText {
		list.WriteByte('\n')
	}
	_, err := w.Write(list.Bytes())
	return err
}

// folderPath returns the path of the deploy folder.
func (d *comparison) folderPath(plan *ir.Platform) string { return cmp.Or(d.out, plan.Name) }

// showFindings shows the findings of the sides that do not compile.
func (d *comparison) showFindings(sides ...*side) error {
	var labels []string
	for _, s := range sides {
		if !s.findings.HasErrors() {
			continue
		}
		labels = append(labels, s.Label)
		w, format := d.Stderr, formatText
		switch {
		case d.format.value == formatJSON:
			format = formatJSON
		case d.format.value == formatGitHub && s.files == nil: // a revision has no files to annotate
			w, format = d.Stdout, formatGitHub
		}
		errors := s.findings.Filter(func(f diag.Finding) bool { return f.Severity == diag.Error })
		if err := d.writeFindings(w, errors, format); err != nil {
			return err
		}
	}
	hint := ""
	if slices.ContainsFunc(sides, func(s *side) bool {
		return s.files != nil &&
			slices.ContainsFunc(s.findings.Sorted(), func(f diag.Finding) bool { return f.Code == "E0101" })
	}) {
		hint = "; note that this version of batchwright compiles all revisions"
	}
	return fmt.Errorf("the blueprint does not compile in %s%s", strings.Join(labels, " and in "), hint)
}

// printReview writes a review, and ends the command with exit code 1 unless
// everything is the same.
func (d *comparison) printReview(r *review.Review, dir string, same bool) error {
	if same && (d.format.value == formatText || d.format.value == formatGitHub) {
		return review.Text(d.Stderr, r, false) // files can differ only in formatting
	}
	if err := d.writeReview(r, dir); err != nil || same {
		return err
	}
	return errFindings
}

// writeReview writes a review of the folder at dir.
func (d *comparison) writeReview(r *review.Review, dir string) error {
	switch d.format.value {
	case formatMarkdown:
		return review.Markdown(d.Stdout, r)
	case formatJSON:
		return review.JSON(d.Stdout, r)
	case formatGitHub:
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		return review.GitHub(d.Stdout, r, fromRepository(here)(dir))
	}
	return review.Text(d.Stdout, r, useColor(d.color.value, d.Stdout))
}
