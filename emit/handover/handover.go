// Package handover renders a folder for the owners of objects that run already and that a
// platform takes over: which of the tools that apply them have to keep them, and the commands
// that hand them over, in an order in which nothing is deleted.
//
// Running objects go in, as exports hold them; files come out.
package handover

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// The lists of objects, for kubectl.
const (
	objectsFile    = "objects.yaml"
	namespacesFile = "namespaces.yaml"
)

// source is what applies objects, and the folder with what its owner needs.
type source struct {
	by      exports.Applier
	folder  string
	objects []*exports.Object
	// deleted are the objects that the tool deletes when they leave the source.
	deleted []*exports.Object
}

// Files returns the folder for objects that others own, and that a platform takes over: a page with
// the order, lists of the objects, and for each tool a component of Kustomize that keeps them,
// sorted by path. The objects come in any order. Without objects, there is only the page.
// missing names the kinds of the platform that were not exported, and export is the command that
// exports them; both are "" for none.
func Files(platform string, objects []*exports.Object, missing, export string) (emit.Tree, error) {
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(a, b *exports.Object) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var namespaces, others []*exports.Object
	for _, o := range objects {
		if o.Group == "" && o.Kind == "Namespace" {
			namespaces = append(namespaces, o)
		} else {
			others = append(others, o)
		}
	}
	h := &handover{platform: platform, sources: sourcesOf(objects), missing: missing, export: export}
	h.list(objectsFile, others)
	h.list(namespacesFile, namespaces)
	for _, s := range h.sources {
		h.list(s.folder+"/"+objectsFile, s.objects)
		h.keep(s)
	}
	h.files = append(h.files, emit.File{Path: "README.md", Content: h.page(len(others), len(namespaces)).Bytes()})
	slices.SortFunc(h.files, func(a, b emit.File) int { return cmp.Compare(a.Path, b.Path) })
	return h.files, h.err
}

// handover is a folder under construction.
type handover struct {
	platform string
	sources  []source
	missing  string // kinds that were not exported
	export   string // the command that exports them
	files    emit.Tree
	err      error
}

// add adds a file with objects, unless there are none.
func (h *handover) add(path string, objects ...any) {
	if h.err != nil || len(objects) == 0 {
		return
	}
	content, err := kubeyaml.Marshal(objects...)
	h.files, h.err = append(h.files, emit.File{Path: path, Content: content}), err
}

// list adds a file that names objects.
func (h *handover) list(path string, objects []*exports.Object) {
	var named []any
	for _, o := range objects {
		fields := identity(o, nil)
		named = append(named, &fields)
	}
	h.add(path, named...)
}

// identity returns what names an object, with annotations.
func identity(o *exports.Object, annotations map[string]string) kubeyaml.Fields {
	metadata := kubeyaml.Fields{"name": o.Name}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	return kubeyaml.Fields{"apiVersion": apiVersion(o), "kind": o.Kind, "metadata": metadata}
}

func apiVersion(o *exports.Object) string {
	if o.Group == "" {
		return o.Version
	}
	return o.Group + "/" + o.Version
}

// keep adds the component of Kustomize that keeps the objects of a source which its tool would
// delete.
func (h *handover) keep(s source) {
	var patches []any
	for _, o := range s.deleted {
		patch := identity(o, map[string]string{s.by.Tool.KeepKey: s.by.Tool.KeepingValue(o)})
		text, err := kubeyaml.Marshal(&patch)
		if err != nil {
			h.err = err
			return
		}
		// The repository can have another version of the API.
		target := kubeyaml.Fields{"kind": o.Kind, "name": regexp.QuoteMeta(o.Name)}
		if o.Group != "" {
			target["group"] = o.Group
		}
		if o.Namespace != "" {
			target["namespace"] = regexp.QuoteMeta(o.Namespace)
		}
		patches = append(patches, kubeyaml.Fields{"target": target, "patch": string(text)})
	}
	if len(patches) > 0 {
		h.add(s.folder+"/"+kubeyaml.KustomizationFile, &kubeyaml.Fields{
			"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": patches,
		})
	}
}

// sourcesOf returns what applies the objects, sorted by name.
func sourcesOf(objects []*exports.Object) []source {
	var out []source
	at := map[exports.Applier]int{}
	for _, o := range objects {
		by, ok := o.Applier()
		if !ok {
			continue
		}
		i, known := at[by]
		if !known {
			i = len(out)
			at[by] = i
			out = append(out, source{by: by})
		}
		out[i].objects = append(out[i].objects, o)
		if !by.Tool.Keeps(o) {
			out[i].deleted = append(out[i].deleted, o)
		}
	}
	slices.SortFunc(out, func(a, b source) int { return cmp.Compare(a.by.String(), b.by.String()) })
	taken := map[string]bool{}
	for i, s := range out {
		name := folderName(s.by.Tool.Name + " " + s.by.Name)
		out[i].folder = name
		for n := 2; taken[out[i].folder]; n++ {
			out[i].folder = fmt.Sprintf("%s-%d", name, n)
		}
		taken[out[i].folder] = true
	}
	return out
}

// notInFolders is what the name of a folder does not have.
var notInFolders = regexp.MustCompile(`[^a-z0-9]+`)

// folderName returns the name of a folder for a text.
func folderName(text string) string {
	const most = 60
	name := notInFolders.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(name[:min(len(name), most)], "-")
}
