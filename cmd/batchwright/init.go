package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/batchwright/batchwright/blueprints"
	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
)

// templates holds the files of a new repository. In them, VERSION stands for the
// version of this batchwright, CHECKSUM for the SHA-256 of its released archive, and
// NAME for the name of the platform. The directory minimal holds the smallest example.
//
//go:embed templates
var templates embed.FS

// example is a blueprint that a new repository can start from.
type example struct {
	name, about string
	directories []string // in files; the files of all directories make one package
}

// files returns the file system of the example's directories.
func (e example) files() fs.FS {
	if e.name == minimalExample {
		return templates
	}
	return blueprints.Files
}

// minimalExample is the example that describes no published platform.
const minimalExample = "minimal"

func exampleBlueprints() []example {
	return []example{
		{"a3-ultra-flex", "512 H200 GPUs by flex-start, with GPUDirect RDMA", []string{"a3-ultra-flex"}},
		{"batch-platform", "four teams, L4 and A100 GPUs: reserved, on demand, Spot", []string{"batch-platform"}},
		{
			"batch-platform-argocd", "the same, and Argo CD applies what is in the cluster",
			[]string{"batch-platform", "batch-platform-argocd"},
		},
		{
			"batch-platform-dws", "the same, and GPUs that start for whole jobs",
			[]string{"batch-platform", "batch-platform-dws"},
		},
		{"existing", "node pools, queues and teams in an existing cluster", []string{"existing"}},
		{"kai-departments", "KAI Scheduler, two departments share 32 H100 GPUs", []string{"kai-departments"}},
		{
			minimalExample, "two teams share eight L4 Spot GPUs, in ten lines and their comments",
			[]string{"templates/minimal"},
		},
		{"shared-vpc", "in an existing network: H200 GPUs, and copies of all images", []string{"shared-vpc"}},
		{"tpu-training", "TPU slices that teams share by priority", []string{"tpu-training"}},
	}
}

// Values of --ci.
const (
	ciGitHub     = "github"
	ciGitLab     = "gitlab"
	ciCloudBuild = "cloudbuild"
	ciNone       = "none"
)

// initiation holds the init command and its flags.
type initiation struct {
	Command
	from, name, project string
	region              string
	zones               []string
	checksums           string // file
	preCommit           bool
	ci                  *choice
	platforms           []string // the arguments of compile for each
}

func (c Command) initCommand() *cobra.Command {
	o := &initiation{Command: c}
	var list strings.Builder
	for _, e := range exampleBlueprints() {
		fmt.Fprintf(&list, "\n  %-23s%s", e.name, e.about)
	}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Start a repository from an example, or refresh the schema in one",
		Long: `Init --from writes a new repository into DIR, by default the working directory:
the blueprint of an example, the schema for editors and "cue vet", hooks for
pre-commit and a workflow that checks pull requests. Examples are
` + list.String() + `

Without --from, init writes the schema of this batchwright for the blueprint in
DIR, an existing repository: run it whenever you change the version of
batchwright. The workflow and .pre-commit-config.yaml also specify the version:
update it in both. With --ci and --pre-commit, init writes these files too, if none of
them exists.

With --platform, init writes the hooks and the workflow for a repository whose
blueprints are in other directories, or in YAML: one line for each platform.
Run it in the root of the repository. Each platform must compile.

With --region, init writes the region into the blueprint, and zones in it that
offer all the example's machines. --zone chooses the zones. If a region or zone
is not known to offer a machine, init lists those that do.

The workflow builds batchwright from source. With --checksums and this release's
checksums.txt, the workflow downloads the released archive instead, and compares
its SHA-256, which init writes into the workflow.

Init overwrites only files of the schema. If another file is in the way, init
lists it, writes nothing and exits with 1. Only README.md and
.gitignore may exist already: init keeps them.`,
		Example: `  batchwright init --from minimal --project my-project platform
  batchwright init --from batch-platform --name prod --project my-project platform
  batchwright init --from batch-platform --region europe-west4 platform
  batchwright init --from tpu-training --ci gitlab .
  batchwright init               # after another version was installed
  batchwright init --pre-commit  # add its configuration
  batchwright init --platform "-o deploy/dev base dev" --platform "-o deploy/prod base prod"
  batchwright init --ci github --checksums checksums.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: o.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.from, "from", "", "`example` to start from")
	completeFlag(cmd, "from", cobra.FixedCompletions(exampleNames(), cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&o.name, "name", "", "name of the platform, with --from (default the example's)")
	flags.StringVar(&o.project, "project", "", "Google Cloud `project`, with --from (default \"my-project\")")
	flags.StringVar(&o.region, "region", "", "Google Cloud `region`, with --from (default the region of --zone, "+
		"or else the example's)")
	flags.StringSliceVar(&o.zones, "zone", nil,
		"`zone` of the region, with --from; repeatable (default zones that have the example's machines)")
	flags.BoolVar(&o.preCommit, "pre-commit", false, "write .pre-commit-config.yaml (default true with --from)")
	o.ci = choiceFlag(cmd, "ci", "CI system to write a workflow for (with --from, the default is github)", ciNone,
		ciGitHub, ciGitLab, ciCloudBuild)
	flags.StringVar(&o.checksums, "checksums", "",
		"`file` with the checksums of this release, for the workflow; - for standard input")
	flags.StringArrayVar(&o.platforms, "platform", nil, "`arguments` of batchwright compile for one platform of the "+
		"repository; repeatable")
	o.addColor(cmd)
	return cmd
}

func (o *initiation) run(cmd *cobra.Command, args []string) error {
	dir := append(args, ".")[0]
	if err := checkPaths([]string{dir}); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usageErrorf("%s is not a directory", dir)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := o.checkFlags(cmd, absolute); err != nil {
		return err
	}
	if len(o.platforms) > 0 {
		return o.writeForPlatforms(cmd.Context(), dir)
	}
	m, err := load.FindModule(absolute)
	if err != nil {
		return err
	}
	if !m.Found && o.from == "" {
		return usageErrorf("%s contains no blueprint; start one with --from and one of %s, or use --platform for "+
			"blueprints in YAML or in other directories", dir, strings.Join(exampleNames(), ", "))
	}
	if m.Language != "" && semver.Compare(m.Language, load.SchemaLanguage) < 0 {
		return usageErrorf("the CUE module at %s has language version %s, which cannot read the schema: raise it to "+
			"%s in "+"its cue.mod/module.cue", m.Root, m.Language, load.SchemaLanguage)
	}
	tree, err := o.filesToWrite(cmd.Context(), m)
	if err != nil {
		return err
	}
	report, err := disk.Create(m.Root, tree, load.SchemaDir)
	if err != nil && !errors.Is(err, disk.ErrConflict) {
		return err
	}
	if err := o.printNextSteps(dir, m.Root, report); err != nil || len(report.Conflicts) > 0 {
		return err
	}
	return o.adviseRoot(absolute)
}

func exampleNames() []string {
	var names []string
	for _, e := range exampleBlueprints() {
		names = append(names, e.name)
	}
	return names
}

// checkFlags rejects flags that conflict, and sets flags that depend on others. A
// file that is read only at the root of a repository is not written below the root.
func (o *initiation) checkFlags(cmd *cobra.Command, dir string) error {
	given := cmd.Flags().Changed
	for _, f := range []struct{ name, value string }{
		{"name", o.name}, {"project", o.project}, {"region", o.region}, {"zone", strings.Join(o.zones, "")},
		{"checksums", o.checksums},
	} {
		if given(f.name) && f.value == "" {
			return usageErrorf("--%s is empty; is a variable unset?", f.name)
		}
	}
	root, below := repositoryRoot(dir)
	below = below && root != dir
	if err := o.checkPlatforms(given("from"), root, below); err != nil {
		return err
	}
	switch {
	case o.from == "" && slices.ContainsFunc([]string{"name", "project", "region", "zone"}, given):
		return usageErrorf("--name, --project, --region and --zone need --from: without it, the blueprint sets them")
	case given("from") && !slices.Contains(exampleNames(), o.from):
		return usageErrorf("--from %q: %s", o.from, adviseValue(o.from, exampleNames()))
	case below && (o.preCommit || o.ci.value != ciNone):
		return usageErrorf("--pre-commit and --ci work only in the root of the repository, %s", root)
	}
	if o.from != "" && !below || len(o.platforms) > 0 {
		o.preCommit = o.preCommit || !given("pre-commit")
		if !given("ci") {
			o.ci.value = ciGitHub
		}
	}
	if given("checksums") && o.ci.value == ciNone {
		return usageErrorf("--checksums is for a workflow, and there is none: it needs --ci")
	}
	return nil
}

// filesToWrite returns the files to write, relative to the root of the module.
func (o *initiation) filesToWrite(ctx context.Context, m load.Module) (emit.Tree, error) {
	files, name := m.Files, ""
	add := func(name string, content []byte) { files[path.Join(m.Dir, name)] = content }
	switch {
	case o.from != "":
		example, err := o.exampleFiles(ctx)
		if err != nil {
			return nil, err
		}
		for file, content := range example {
			add(file, content)
		}
		add("schema.cue", load.SchemaReference("platform"))
		if at := valueOf("name").FindSubmatch(example["platform.cue"]); at != nil {
			name = string(at[2])
		}
	case o.ci.value != ciNone: // a workflow names the folder
		res, err := compiler.Compile(ctx, compiler.Input{Dir: filepath.Join(m.Root, m.Dir)})
		if err != nil {
			return nil, err
		}
		if res.Plan == nil {
			return nil, cmp.Or(o.showText(&res.Findings), errFindings)
		}
		name = res.Plan.Name
	}
	checksum, err := o.archiveChecksum()
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("VERSION", thisVersion().source(), "CHECKSUM", checksum, "NAME", name)
	isNew := func(name string) bool { return o.from != "" && !fileExists(filepath.Join(m.Root, m.Dir, name)) }
	for _, f := range []struct {
		template, name string
		wanted         bool
	}{
		{"github.yml", ".github/workflows/batchwright.yml", o.ci.value == ciGitHub},
		{"gitlab-ci.yml", ".gitlab-ci.yml", o.ci.value == ciGitLab},
		{"cloudbuild.yaml", "cloudbuild.yaml", o.ci.value == ciCloudBuild},
		{"pre-commit.yaml", ".pre-commit-config.yaml", o.preCommit},
		{"README.md", "README.md", isNew("README.md")},
		{"gitignore", ".gitignore", isNew(".gitignore")},
	} {
		if f.wanted {
			content, err := templates.ReadFile(path.Join("templates", f.template))
			if err != nil {
				return nil, err
			}
			add(f.name, []byte(fill.Replace(string(content))))
		}
	}
	var tree emit.Tree
	for name, content := range files {
		tree = append(tree, emit.File{Path: name, Content: content})
	}
	slices.SortFunc(tree, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	return tree, nil
}

// valueOf returns a pattern for a string field at the top level of an example. Its
// groups are the text before the value, and the value.
func valueOf(field string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(` + field + `: *\*?)"([^"]*)"`)
}

// exampleFiles returns the files of the example, with the requested name, project, region and
// zones.
func (o *initiation) exampleFiles(ctx context.Context) (map[string][]byte, error) {
	files := map[string][]byte{}
	i := slices.IndexFunc(exampleBlueprints(), func(e example) bool { return e.name == o.from })
	chosen := exampleBlueprints()[i]
	for _, dir := range chosen.directories {
		sub, err := fs.Sub(chosen.files(), dir)
		if err != nil {
			return nil, err
		}
		err = fs.WalkDir(sub, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			files[name], err = fs.ReadFile(sub, name)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := o.moveExample(ctx, chosen, files); err != nil {
		return nil, err
	}
	for _, f := range []struct{ field, value string }{{"name", o.name}, {"project", o.project}} {
		if f.value == "" {
			continue
		}
		if err := o.checkField(ctx, f.field, f.value); err != nil {
			return nil, err
		}
		files["platform.cue"] = valueOf(f.field).ReplaceAll(files["platform.cue"], []byte(`${1}"`+f.value+`"`))
	}
	var err error
	files["platform.cue"], _, err = blueprint.Format("platform.cue", files["platform.cue"])
	return files, err
}

// checkField rejects a value that a field of the blueprint cannot have.
func (o *initiation) checkField(ctx context.Context, field, value string) error {
	blueprint, err := json.Marshal(map[string]string{field: value})
	if err != nil {
		return err
	}
	res, err := compiler.Compile(ctx, compiler.Input{Paths: []string{"-"}, Stdin: strings.NewReader(string(blueprint))})
	if err != nil {
		return err
	}
	for _, f := range res.Findings.Sorted() {
		if f.Path == field {
			return usageErrorf("--%s %q: %s", field, value, f.Label)
		}
	}
	return nil
}

// printNextSteps prints the changes and the next steps.
func (o *initiation) printNextSteps(dir, root string, r disk.Report) error {
	working, err := os.Getwd()
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(working, root); err == nil {
		root = rel
	}
	if len(r.Conflicts) > 0 {
		err := o.showConflicts(root, r.Conflicts, "move the file, or choose another directory")
		fmt.Fprintf(o.Stderr, "%s: nothing written\n", root)
		return err
	}
	if _, err := fmt.Fprintf(o.Stderr, "%s: %d files written, %d unchanged, %d removed\n", root, len(r.Written),
		len(r.Unchanged), len(r.Removed)); err != nil {
		return err
	}
	next := "batchwright compile"
	if len(o.platforms) > 0 {
		next += " " + o.platforms[0]
	} else if o.from == "" {
		next = "batchwright vet"
	}
	if dir != "." {
		next = "cd " + dir + " && " + next
	}
	_, err = fmt.Fprintf(o.Stderr, "next: %s\n", next)
	return err
}
