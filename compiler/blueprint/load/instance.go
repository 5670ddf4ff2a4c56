package load

import (
	"bytes"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Build evaluates the files. It reports the parts that do not compile and cuts them
// out, so that the rest can be evaluated. It also returns the conditions of the
// files, and false if the rest cannot be evaluated.
func (l *Loader) Build(cc *cue.Context) (cue.Value, []ast.Expr, bool) {
	for {
		conditions := keepConditions(l.Instance)
		value := cc.BuildInstance(l.Instance)
		if l.Instance.Err == nil {
			return value, conditions, true
		}
		if !l.compileErrors(l.Instance.Err) {
			return cue.Value{}, nil, false
		}
		if l.Instance = l.buildInstance(); l.Instance == nil {
			return cue.Value{}, nil, false
		}
	}
}

// buildInstance returns one CUE instance of all files.
func (l *Loader) buildInstance() *build.Instance {
	root := l.moduleRoot()
	l.layModule(root)
	if len(l.cue) == 0 {
		for _, tag := range l.in.Tags {
			l.unusedTag(tag)
		}
		return l.addData(build.NewContext().NewInstance(root, nil)) // data files have no imports
	}
	l.refusedTags()
	if l.files.fsys != nil {
		l.layFiles(root)
	}
	args := l.cue
	dir := root
	if len(l.dirs) == 1 {
		// As a package, the blueprint includes its files in the directories above,
		// and the files that @if selects.
		dir = l.dirs[0]
		args = append([]string{"."}, l.missedImports(root, dir)...)
		l.hideDevices(dir, root)
	}
	cfg := l.cueConfig(root)
	cfg.Dir = dir
	inst := cueload.Instances(args, cfg)[0]
	if others := l.filesOutside(dir); inst.Err == nil && len(l.dirs) == 1 && len(others) > 0 {
		args = others
		for _, f := range inst.BuildFiles {
			args = append(args, f.Filename)
		}
		inst = cueload.Instances(args, l.cueConfig(root))[0]
	}
	if inst.Err != nil {
		if l.loadErrors(inst.Err) {
			return l.buildInstance()
		}
		return nil
	}
	for _, f := range inst.IgnoredFiles {
		if slices.Contains(l.cue, f.Filename) && f.ExcludeReason != nil &&
			strings.Contains(f.ExcludeReason.Error(), "no package name") {
			file, err := ParseCUE(f.Filename, l.overlay[f.Filename], parser.PackageClauseOnly)
			if err == nil && file.PackageName() != "" || err != nil && l.parsed[f.Filename] {
				// A syntax error hides the import, for example an experiment that the module's
				// version does not support, or the whole file, if it is nested too deeply.
				continue
			}
			l.findings.Add(diag.Finding{
				Code: "E0004", Severity: diag.Error,
				Message: "has no package clause, so it is not part of the directory's package",
				Span:    diag.Span{Source: l.Sources.Get(f.Filename)},
				Help:    "start the file with: package " + inst.PkgName,
			})
		}
	}
	if inst.Module == "" { // files that are named one by one embed other files like a package
		inst.Module, inst.Root = localModule, root
	}
	embedFrom(l.files, inst.Root, inst)
	return l.addData(inst)
}

// ParseCUE parses CUE source, unless it is nested too deeply.
func ParseCUE(name string, content []byte, option parser.Option) (*ast.File, error) {
	if err := checkNesting(name, content); err != nil {
		return nil, err
	}
	return parser.ParseFile(name, content, option)
}

// cueConfig returns CUE's configuration for the files and the overlay. It has no
// environment, so that the result depends on the blueprint alone, and no registry,
// so that nothing is downloaded.
func (l *Loader) cueConfig(root string) *cueload.Config {
	cfg := &cueload.Config{
		Dir:        root,
		ModuleRoot: root,
		Overlay:    make(map[string]cueload.Source, len(l.overlay)),
		Tags:       l.in.Tags,
		ParseFile:  l.parseFile,
		Env:        []string{"CUE_REGISTRY=none", "CUE_CACHE_DIR=" + filepath.Join(root, "cue.mod", "none")},
	}
	for name, content := range l.overlay {
		cfg.Overlay[name] = cueload.FromBytes(content)
	}
	return cfg
}

// missedImports returns the packages of modules that the files directly below root
// import, in order, if dir is a directory of root and its name has one letter. CUE
// v0.17.1 looks for imports in the directories above a package only while their names
// become shorter, and the name of root is "." there (internal/mod/modimports,
// PackageFiles). An argument of its own makes such an import known.
func (l *Loader) missedImports(root, dir string) []string {
	if filepath.Dir(dir) != root || len(filepath.Base(dir)) > 1 {
		return nil
	}
	imports := make(map[string]bool)
	entries, _ := l.files.readDir(root) // the loader reports an unreadable directory
	for _, e := range entries {
		name := filepath.Join(root, e.Name())
		if filepath.Ext(name) != ".cue" || isIgnored(e.Name()) || !l.layFile(name) {
			continue
		}
		file, err := ParseCUE(name, l.overlay[name], parser.ImportsOnly)
		if err != nil {
			continue // the loader reports the error
		}
		for spec := range file.ImportSpecs() {
			path, err := strconv.Unquote(spec.Path.Value)
			if first, _, _ := strings.Cut(path, "/"); err == nil && strings.Contains(first, ".") {
				imports[path] = true // CUE's own packages have no dot
			}
		}
	}
	return slices.Sorted(maps.Keys(imports))
}

// hideDevices lays an empty file over everything that is neither a file nor a
// directory, in the directories whose files are a package: the loader would read it,
// whatever its name, and a device or a pipe may have no end. A link to nothing is hidden
// too if its name is one that CUE ignores: Emacs locks a file that it changes with a link
// such as ".#platform.cue" to the name of the user.
func (l *Loader) hideDevices(dir, root string) {
	entries, _ := l.files.readDir(dir) // the loader reports an unreadable directory
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := l.files.stat(name)
		if err != nil && isIgnored(e.Name()) || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			l.overlay[name] = nil
		}
		if _, laid := l.overlay[name]; !laid && filepath.Ext(name) == ".cue" && l.leadsOut(name, dir) {
			l.overlay[name] = nil
			l.foreignLink(l.Sources.displayName(name))
		}
	}
	if dir != root && dir != filepath.Dir(dir) {
		l.hideDevices(filepath.Dir(dir), root)
	}
}

// filesOutside returns the CUE files that are not in a directory.
func (l *Loader) filesOutside(dir string) []string {
	return slices.DeleteFunc(slices.Clone(l.cue), func(name string) bool {
		return filepath.Dir(name) == dir && filepath.Base(name) != "-.cue"
	})
}

// addData adds the YAML and JSON files to an instance, in its package.
func (l *Loader) addData(inst *build.Instance) *build.Instance {
	for _, f := range l.data {
		if f.PackageName() == "" && inst.PkgName != "" {
			f.Decls = append([]ast.Decl{&ast.Package{Name: ast.NewIdent(inst.PkgName)}}, f.Decls...)
		}
		if err := inst.AddSyntax(f); err != nil {
			l.loadErrors(err)
			return nil
		}
	}
	if len(l.data) > 0 {
		if err := inst.Complete(); err != nil {
			l.loadErrors(inst.Err)
			return nil
		}
	}
	return inst
}

// moduleRoot returns the nearest directory at or above the first file that contains
// a cue.mod, or the directory of the first file if there is none.
func (l *Loader) moduleRoot() string {
	start := l.in.Dir
	switch {
	case len(l.dirs) > 0:
		start = l.dirs[0]
	case len(l.cue) > 0:
		start = filepath.Dir(l.cue[0])
	case len(l.data) > 0:
		start = filepath.Dir(l.data[0].Filename)
	}
	root, _ := moduleRoot(start, l.files.stat)
	return root
}

// layModule adds the schema to the overlay, and a module around it if the user has
// none, so that a blueprint can import the schema offline.
func (l *Loader) layModule(root string) {
	module := filepath.Join(root, filepath.FromSlash(moduleFile))
	if _, err := l.files.stat(module); err != nil {
		l.overlay[module] = []byte(localModuleText)
	}
	dir := filepath.Join(root, filepath.FromSlash(SchemaDir))
	for name, content := range l.schema {
		l.overlay[filepath.Join(dir, name)] = content
	}
	vendored, _ := l.files.readDir(dir) // most often the directory does not exist
	if slices.ContainsFunc(vendored, func(v fs.DirEntry) bool {
		there, err := l.files.readFile(filepath.Join(dir, v.Name()))
		return err != nil || !bytes.Equal(there, l.schema[v.Name()])
	}) {
		l.findings.Add(diag.Finding{
			Code: "W0006", Severity: diag.Warning,
			Message: "the schema in cue.mod differs from the schema of this batchwright",
			Span:    diag.Span{Source: &diag.Source{Name: l.Sources.displayName(dir)}},
			Help:    "run batchwright init, so that editors use the same schema; this run used the built-in schema",
		})
	}
}

// ConditionPrefix is the prefix of the names of the hidden fields that hold
// conditions.
const ConditionPrefix = "_batchwrightCondition"

// keepConditions stores the conditions at the top level of the files in hidden
// fields, so that their values can be checked: CUE silently omits everything that
// depends on an unknown condition.
func keepConditions(inst *build.Instance) []ast.Expr {
	var conditions []ast.Expr
	for _, f := range inst.Files {
		for _, d := range slices.Clone(f.Decls) {
			c, ok := d.(*ast.Comprehension)
			if !ok {
				continue
			}
			if clause, ok := c.Clauses[0].(*ast.IfClause); ok {
				name := ConditionPrefix + strconv.Itoa(len(conditions))
				f.Decls = append(f.Decls, &ast.Field{Label: ast.NewIdent(name), Value: clause.Condition})
				conditions = append(conditions, clause.Condition)
			}
		}
	}
	return conditions
}
