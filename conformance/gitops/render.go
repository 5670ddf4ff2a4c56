package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// sums are the checksums of the modules whose files are read, as in a go.sum. No code of
// these modules is used, so go.mod does not list them: it would also list everything that
// they import.
var sums = map[string]string{
	"github.com/argoproj/argo-cd/v3@v3.5.7":         "h1:Xm1BF+I5OgDKUG3SDK49vn2/Y5AMyaNVko+/JT08gj0=",
	"github.com/fluxcd/kustomize-controller@v1.9.6": "h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=",
	"github.com/fluxcd/source-controller@v1.9.6":    "h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=",
	"sigs.k8s.io/jobset@v0.12.0":                    "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ=",
	"sigs.k8s.io/kueue@v0.19.2":                     "h1:mPNzr37u0nwI7ikST5QQl5gg6EgtYOAvC9ZbTgywdN8=",
}

// ModuleDir returns the directory of the files of a module, PATH@VERSION.
func ModuleDir(ctx context.Context, module string) (string, error) {
	// In this directory a go.mod would pin another version.
	dir, err := os.MkdirTemp("", "module")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	c := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	var found struct{ Dir, Sum, Error string }
	if json.Unmarshal(out, &found) != nil || err != nil || found.Error != "" {
		return "", fmt.Errorf("%s: %v %s", module, err, found.Error)
	}
	if found.Sum != sums[module] {
		return "", fmt.Errorf("%s has the checksum %q, want %q", module, found.Sum, sums[module])
	}
	return found.Dir, nil
}

// Chart says how a tool installs a chart.
type Chart struct {
	Address, Version   string
	Release, Namespace string
	Values             map[string]any
}

// Name returns the name of the chart.
func (c Chart) Name() string { return path.Base(c.Address) }

// Render returns the objects of the chart, as "helm template --include-crds" does. The
// chart comes from the module of the program.
func (c Chart) Render(ctx context.Context) ([]byte, error) {
	module, err := ModuleDir(ctx, "sigs.k8s.io/"+c.Name()+"@v"+c.Version)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.Load(filepath.Join(module, "charts", c.Name()))
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(&action.Configuration{})
	install.DryRun, install.ClientOnly, install.IncludeCRDs = true, true, true
	install.ReleaseName, install.Namespace = c.Release, c.Namespace
	rendered, err := install.RunWithContext(ctx, loaded, c.Values)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", c.Name(), err)
	}
	return []byte(rendered.Manifest), nil
}

// Kustomize returns the objects of a kustomization.
func Kustomize(dir string) ([]byte, error) {
	found, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return found.AsYaml()
}

// Decode returns the objects of a YAML text.
func Decode(text []byte) ([]map[string]any, error) {
	var objects []map[string]any
	for _, document := range bytes.Split(append([]byte("\n"), text...), []byte("\n---")) {
		var fields map[string]any
		if err := yaml.Unmarshal(document, &fields); err != nil {
			return nil, err
		}
		if len(fields) > 0 {
			objects = append(objects, fields)
		}
	}
	return objects, nil
}

// Application is one of Argo CD's Applications in a deploy folder, with the objects that
// its sources render to.
type Application struct {
	Name      string
	Namespace string              // of its destination
	Options   []string            // of its syncs
	Ignored   []IgnoredDifference // fields that belong to others
	Objects   []map[string]any
}

// IgnoredDifference names fields of an object that an Application leaves alone.
type IgnoredDifference struct {
	Kind, Namespace, Name string
	JSONPointers          []string
}

// application is the part of an Application that says what Argo CD applies.
type application struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Destination struct{ Namespace string }
		Source      *source
		Sources     []source
		SyncPolicy  struct{ SyncOptions []string }

		IgnoreDifferences []IgnoredDifference
	}
}

type source struct {
	RepoURL, Path, TargetRevision string
	Helm                          *struct {
		ReleaseName, Namespace string
		ValuesObject           map[string]any
	}
}

// Applications returns Argo CD's Applications in the folder gitops/ of a deploy folder, by
// name.
func Applications(ctx context.Context, folder string) ([]Application, error) {
	files, err := fs.Glob(os.DirFS(folder), "gitops/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Application
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		var a application
		if err := yaml.Unmarshal(text, &a); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if a.Kind != "Application" {
			continue
		}
		sources := a.Spec.Sources
		if a.Spec.Source != nil {
			sources = append(sources, *a.Spec.Source)
		}
		rendered := Application{
			Name: a.Metadata.Name, Namespace: a.Spec.Destination.Namespace,
			Options: a.Spec.SyncPolicy.SyncOptions, Ignored: a.Spec.IgnoreDifferences,
		}
		for _, s := range sources {
			objects, err := s.render(ctx, folder)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			rendered.Objects = append(rendered.Objects, objects...)
		}
		all = append(all, rendered)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no Application of Argo CD", folder)
	}
	slices.SortFunc(all, func(a, b Application) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return all, nil
}

// render returns the objects of a source: of a chart, or of a folder of the deploy folder.
func (s source) render(ctx context.Context, folder string) ([]map[string]any, error) {
	var text []byte
	var err error
	if s.Helm != nil {
		text, err = Chart{s.RepoURL, s.TargetRevision, s.Helm.ReleaseName, s.Helm.Namespace, s.Helm.ValuesObject}.
			Render(ctx)
	} else {
		text, err = Kustomize(filepath.Join(folder, path.Base(s.Path)))
	}
	if err != nil {
		return nil, err
	}
	return Decode(text)
}
