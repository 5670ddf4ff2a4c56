package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
)

// importedFile is the name of the file that import writes.
const importedFile = "platform.cue"

// maxImport is the largest size of a file to import.
const maxImport = 512 << 20

// importation holds the import command and its flags.
type importation struct {
	Command
	output  string
	options importer.Options
	force   bool
}

func (c Command) importCommand() *cobra.Command {
	o := &importation{Command: c}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Turn exports of a cluster and its queues into a blueprint",
		Long: `Import reads exports of what runs today, and prints a blueprint that describes it.
For the FILE "-", import reads standard input. It recognizes these files by their
content:

  - objects of Kueue in v1beta1 and v1beta2, and PriorityClasses, as
    "kubectl get ... -o yaml" or "-o json" prints them
  - a cluster and its node pools, as "gcloud container clusters describe
    --format=json" and "gcloud container node-pools list --format=json" print them
  - the Deployments of ` + words.And(kinds.WithControllers("Kueue")) + `, and Kueue's configuration, as "kubectl get
    deployments,configmaps -o yaml" prints them
  - blueprints of Google's Cluster Toolkit, and their deployment files

Queues, flavors, cohorts, topologies and priorities come back as they run, on nodes
and in namespaces that stay with their owners: applied to the cluster, the compiled
folder changes only labels of these objects. If the exports lack the Deployment of a
job controller, the build also installs this controller. What vet would warn about is
accepted in the blueprint with the reason "imported: it runs like this today". With
--own-pools, the blueprint describes the platform's own node pools and namespaces
instead.

A cluster in the exports belongs to another team: cluster: existing. For a blueprint
of Cluster Toolkit, and for node pools alone, the platform creates a new cluster.

A report says for each field of each object whether the compiled platform has the
same value, another value or no such field, and what follows from the difference.
Without --output the blueprint goes to standard output and the report to standard
error. With --output the report goes to standard output.

Import reads nothing from Google Cloud or a cluster. It never prints the content of
a Secret. If a file has a mistake, import writes nothing and exits with 1. If the
blueprint that it writes has errors, import shows them and exits with 3.`,
		Example: `  kubectl get clusterqueues,localqueues,resourceflavors,cohorts,topologies -A -o yaml > queues.yaml
  kubectl get admissionchecks,workloadpriorityclasses,priorityclasses -o yaml > classes.yaml
  kubectl -n kueue-system get deployments,configmaps -o yaml > kueue.yaml
  gcloud container clusters describe prod --location us-central1 --format=json > cluster.json
  batchwright import --output platform queues.yaml classes.yaml kueue.yaml cluster.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: o.run,
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "", "`directory` to write "+importedFile+" into")
	flags.StringVar(&o.options.Name, "name", "", "name of the platform (default the cluster's)")
	flags.StringVar(&o.options.Project, "project", "", "Google Cloud `project` (default the cluster's)")
	flags.StringVar(&o.options.Region, "region", "", "`region` of the platform (default the cluster's)")
	flags.StringSliceVar(&o.options.Zones, "zones", nil, "`zones` of the platform, separated by commas (default the "+
		"cluster's)")
	flags.BoolVar(&o.options.OwnPools, "own-pools", false, "make node pools and namespaces of the platform's own "+
		"beside those that run")
	flags.BoolVar(&o.force, "force", false, "overwrite "+importedFile+" in the directory")
	o.addFormat(cmd, "output format of the report", formatText, formatJSON)
	o.addColor(cmd)
	return cmd
}

func (o *importation) run(cmd *cobra.Command, names []string) error {
	if err := checkPaths(names); err != nil {
		return err
	}
	if o.force && o.output == "" {
		return usageErrorf("--force needs --output")
	}
	if err := o.options.Check(); err != nil {
		return usageErrorf("%v", err)
	}
	files, err := o.readExports(cmd.Context(), names)
	if err != nil {
		return err
	}
	end := o.meter.enter(progress.Importing)
	o.options.Judge = func(text []byte) (*diag.List, error) { return judge(cmd.Context(), text) }
	o.options.Acceptable = acceptableCodes()
	res, err := importer.Import(files, o.options)
	end()
	if err != nil {
		return err
	}
	if err := o.showErrors(&res.Findings); err != nil {
		return err
	}
	report := o.Stdout
	if o.output == "" {
		report = o.Stderr
		_, err = o.Stdout.Write(res.Blueprint)
	} else {
		err = o.writeBlueprint(res.Blueprint)
	}
	if err != nil {
		return err
	}
	if o.format.value == formatJSON {
		err = res.Report.WriteJSON(report)
	} else {
		err = res.Report.WriteText(report)
	}
	if err != nil {
		return err
	}
	return o.showFaults(res.Faults)
}

// showFaults shows errors in the blueprint that import has written, and returns an error if there are any:
// they are a fault of the import, and the blueprint is where its user can correct them. Errors of the
// existing cluster are true of it; the report says what its owners must do.
func (o *importation) showFaults(found *diag.List) error {
	written := inFolder(o.output, importedFile)
	faults := found.Filter(func(f diag.Finding) bool { return !strings.HasPrefix(f.Path, "cluster.existing.") }).
		Named(func(string) string { return written })
	if !faults.HasErrors() {
		return nil
	}
	if err := o.showText(faults); err != nil {
		return err
	}
	return trouble{fmt.Errorf("a bug: the imported blueprint has %s; correct %s by hand, and report the bug",
		words.Plural(faults.Count(diag.Error), "error", "errors"), written)}
}

// acceptableCodes returns a function that reports whether a blueprint can accept findings with a code.
func acceptableCodes() func(code string) bool {
	acceptable := map[string]bool{}
	for _, c := range compiler.Codes() {
		acceptable[c.ID] = c.Acceptable
	}
	return func(code string) bool { return acceptable[code] }
}

// judge returns the findings on the text of a blueprint.
func judge(ctx context.Context, text []byte) (*diag.List, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	res, err := compiler.Compile(ctx, compiler.Input{
		Dir: dir, Paths: []string{"-"}, Stdin: bytes.NewReader(text),
	})
	return &res.Findings, err
}

// readExports reads files that import or diff --live compares.
func (c Command) readExports(ctx context.Context, names []string) ([]exports.File, error) {
	collectLess(2) // for the objects that run, and the blueprint
	var files []exports.File
	for _, name := range names {
		content, err := c.readFile(ctx, name)
		if err != nil {
			return nil, err
		}
		files = append(files, exports.File{Name: name, Content: content})
	}
	return files, nil
}

// readFile reads a file, or standard input for "-".
func (c Command) readFile(ctx context.Context, name string) ([]byte, error) {
	in, err := c.open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(interruptible{ctx, in}, maxImport+1))
	if err == nil && len(content) > maxImport {
		return nil, usageErrorf("%s is larger than %d MiB: give several smaller exports", name, maxImport>>20)
	}
	if err != nil && ctx.Err() == nil {
		return nil, usageErrorf("%v", err) // such as a directory
	}
	return content, err
}

// writeBlueprint writes the blueprint into the output directory.
func (o *importation) writeBlueprint(content []byte) error {
	tree := emit.Tree{{Path: importedFile, Content: content}}
	if o.force {
		if err := os.MkdirAll(o.output, 0o777); err != nil {
			return err
		}
		root, err := os.OpenRoot(o.output)
		if err != nil {
			return err
		}
		defer root.Close()
		if info, err := root.Lstat(importedFile); err == nil && info.Mode().IsRegular() {
			if err := root.Remove(importedFile); err != nil {
				return err
			}
		}
	}
	report, err := disk.Create(o.output, tree, "")
	if err != nil && !errors.Is(err, disk.ErrConflict) {
		return err
	}
	if len(report.Conflicts) > 0 {
		return o.showConflicts(o.output, report.Conflicts,
			"choose another directory, or overwrite the file with --force")
	}
	_, err = fmt.Fprintf(o.Stderr, "%s written\nnext: batchwright vet %s\n", inFolder(o.output, importedFile), o.output)
	return err
}
