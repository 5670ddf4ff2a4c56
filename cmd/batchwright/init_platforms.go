package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
)

// platform holds the arguments of batchwright compile for one platform of a repository.
type platform struct {
	folder string // of -o
	paths  []string
}

// plainArgument is an argument that means the same to a shell and in a flow sequence of YAML.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9._/][A-Za-z0-9._/+=-]*$`)

// parsePlatform reads the value of --platform. The folder is "" if there is no -o.
func parsePlatform(arguments string) (platform, error) {
	var p platform
	rest := strings.Fields(arguments)
	for len(rest) > 0 {
		argument := rest[0]
		rest = rest[1:]
		switch {
		case argument == "-o" && len(rest) > 0 && p.folder == "" && plainArgument.MatchString(rest[0]):
			p.folder, rest = path.Clean(rest[0]), rest[1:]
		case plainArgument.MatchString(argument):
			p.paths = append(p.paths, argument)
		default:
			return p, usageErrorf("--platform %q: %q is not allowed; want -o FOLDER and PATHs, such as \"-o "+
				"deploy/dev base dev\", with letters, digits, and . _ / + = -", arguments, argument)
		}
	}
	for _, inside := range append([]string{cmp.Or(p.folder, "folder")}, p.paths...) {
		if !filepath.IsLocal(inside) {
			return p, usageErrorf("--platform %q: %s is outside of the repository", arguments, inside)
		}
	}
	if p.folder == "." {
		return p, usageErrorf("--platform %q: the folder would be the repository itself; choose a directory in it",
			arguments)
	}
	if len(p.paths) == 0 {
		return p, usageErrorf("--platform %q: the PATHs of the blueprint are missing", arguments)
	}
	return p, nil
}

// checkPlatforms rejects flags that conflict with --platform. below reports whether the directory
// is below the root of its repository.
func (o *initiation) checkPlatforms(from bool, root string, below bool) error {
	switch {
	case len(o.platforms) == 0:
	case from:
		return usageErrorf("--platform is for blueprints that exist, and --from starts one")
	case below:
		return usageErrorf("--platform works only in the root of the repository, %s", root)
	case o.ci.value == ciGitLab || o.ci.value == ciCloudBuild:
		return usageErrorf("--platform and --ci %s: a job there reviews one platform; copy it for each, and set "+
			"BLUEPRINT and FOLDER", o.ci.value)
	}
	return nil
}

// writeForPlatforms writes the hooks and the workflow of a repository with the platforms of
// --platform, each of which must compile.
func (o *initiation) writeForPlatforms(ctx context.Context, dir string) error {
	var platforms []platform
	for _, arguments := range o.platforms {
		p, err := parsePlatform(arguments)
		if err != nil {
			return err
		}
		name, err := o.compiledName(ctx, dir, p.paths)
		if err != nil {
			return err
		}
		p.folder = cmp.Or(p.folder, name)
		if slices.ContainsFunc(platforms, func(other platform) bool { return other.folder == p.folder }) {
			return usageErrorf("two platforms compile to %s: give each its own -o", p.folder)
		}
		platforms = append(platforms, p)
	}
	tree, err := o.hooksAndWorkflow(platforms)
	if err != nil {
		return err
	}
	report, err := disk.Create(dir, tree, "")
	if err != nil && !errors.Is(err, disk.ErrConflict) {
		return err
	}
	return o.printNextSteps(dir, dir, report)
}

// compiledName returns the name of the platform that paths below dir describe.
func (o *initiation) compiledName(ctx context.Context, dir string, paths []string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	res, err := compiler.Compile(ctx, compiler.Input{Dir: absolute, Paths: paths})
	if err != nil {
		return "", err
	}
	if res.Plan == nil {
		return "", cmp.Or(o.showText(&res.Findings), errFindings)
	}
	return res.Plan.Name, nil
}

// The lines of the templates that stand for one platform.
const (
	matrixLine = "          - {blueprint: \".\", folder: \"NAME\"}\n"
	hookLine   = "  - id: batchwright-compile\n"
)

// hooksAndWorkflow returns the files that a repository with some platforms has at its root.
func (o *initiation) hooksAndWorkflow(platforms []platform) (tree emit.Tree, err error) {
	checksum, err := o.archiveChecksum()
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("VERSION", thisVersion().source(), "CHECKSUM", checksum)
	var matrix, hooks strings.Builder
	for _, p := range platforms {
		fmt.Fprintf(&matrix, "          - {blueprint: %q, folder: %q}\n", strings.Join(p.paths, " "), p.folder)
		fmt.Fprintf(&hooks, "  - {id: batchwright-compile, name: %q, args: [-o, %s]}\n", p.folder,
			strings.Join(append([]string{p.folder}, p.paths...), ", "))
	}
	for _, f := range []struct {
		template, name, line, lines string
		wanted                      bool
	}{
		{"github.yml", ".github/workflows/batchwright.yml", matrixLine, matrix.String(), o.ci.value == ciGitHub},
		{"pre-commit.yaml", ".pre-commit-config.yaml", hookLine, hooks.String(), o.preCommit},
	} {
		if !f.wanted {
			continue
		}
		content, err := templates.ReadFile(path.Join("templates", f.template))
		if err != nil {
			return nil, err
		}
		text := fill.Replace(string(content))
		if strings.Count(text, f.line) != 1 {
			return nil, fmt.Errorf("the template %s does not have one line for a platform", f.template)
		}
		tree = append(tree, emit.File{Path: f.name, Content: []byte(strings.Replace(text, f.line, f.lines, 1))})
	}
	return tree, nil
}

// adviseRoot says which command writes the hooks and the workflow of a repository, if init has
// written a blueprint below its root and the root has neither.
func (o *initiation) adviseRoot(dir string) error {
	root, below := repositoryRoot(dir)
	if !below || root == dir || fileExists(filepath.Join(root, ".pre-commit-config.yaml")) ||
		fileExists(filepath.Join(root, ".github")) {
		return nil
	}
	inside, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	working, err := os.Getwd()
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(working, root); err == nil {
		root = rel
	}
	_, err = fmt.Fprintf(o.Stderr, "note: no hooks and no workflow are written below the root of a repository; in %s, "+
		"run batchwright init --platform \"-o FOLDER %s\"\n", root, filepath.ToSlash(inside))
	return err
}
