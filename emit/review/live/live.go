// Package live compares a deploy folder with what runs: it says, from exports alone, what
// applying the folder would change.
//
// The exports and the folder go in; objects with their changed fields, resources that
// Terraform would replace, and findings come out. Kubernetes objects are compared by a
// server-side apply in memory (apply.go), whose tables (kinds.go) hold the facts of the
// APIs. Clusters and node pools are compared as Terraform would after an import
// (google.go): their tables hold the names that gcloud prints. Package objects finds the
// fields that differ.
package live

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// Folder is the folder to compare with the exports.
type Folder struct {
	Tree emit.Tree
	Plan *ir.Platform
	// Place returns the place of a field of the blueprint, as compiler.Result does.
	Place func(key bool, path ...string) diag.Span
}

// Result is what applying a folder changes.
type Result struct {
	// Objects are the objects that the apply creates, changes or takes out of service,
	// sorted by file, kind and name. An object of the exports that the folder does not
	// have, has the file and line of the export.
	Objects []objects.Object
	// Replacements are the clusters and node pools that Terraform must replace.
	Replacements []objects.Replacement
	Facts        Facts
	// Foreign are the objects of others that the folder has too, in the order of the folder.
	Foreign []*exports.Object
	// Unexported are kinds of the folder of which the exports have no object.
	Unexported Unexported
	// Findings are errors: what runs and would be replaced.
	Findings diag.List
}

// Unexported are kinds without exported objects: with the number of the folder's objects, and the
// command that exports them. Both are "" for none.
type Unexported struct{ Kinds, Command string }

// Facts are what a comparison with exports knows besides the changes.
type Facts struct {
	// Unchanged is the number of objects and resources that stay as they are.
	Unchanged int `json:"unchanged"`
	// Adopted are the objects of others that get the labels by which the platform
	// recognizes its objects, sorted by kind and name. Unless Objects holds them, too,
	// nothing else about them changes.
	Adopted []string `json:"adopted"`
	// Appliers are the tools that apply objects which the folder has too, sorted by tool and name.
	Appliers []Applier `json:"appliers"`
	// Staying are the objects that the folder does not have and that stay as they are,
	// sorted by kind and name.
	Staying []string `json:"staying"`
	// Skipped are the kinds and resources that were not compared.
	Skipped []Skipped `json:"skipped"`
}

// Applier is a tool of others, such as Argo CD, that applies objects which the folder has too.
type Applier struct {
	// Name is the tool, and what in it applies the objects: "Argo CD Application queues".
	Name string `json:"name"`
	// Objects are the objects by kind and name.
	Objects []string `json:"objects"`
	// Deletes are those that the tool deletes when they leave its source.
	Deletes []string `json:"deletes"`
}

// Skipped is something that was not compared.
type Skipped struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
	// Export is the command that exports what is missing, "" for none.
	Export string `json:"export"`
}

// Codes returns every code that a finding of Compare can have.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: codePool, Severity: diag.Error, Title: "running node pool would be replaced"},
		{ID: codeCluster, Severity: diag.Error, Title: "running cluster would be replaced"},
	}
}

// Codes of the findings.
const (
	codePool    = "E0927"
	codeCluster = "E0928"
)

// comparison is a comparison while it runs.
type comparison struct {
	Folder
	export exports.Export
	out    Result
	// created is the number of clusters and node pools that run and that the platform
	// does not take over: an earlier build must have created them.
	created int
}

// Compare compares the folder with exports. The error is a failure of this package: the
// folder cannot be read.
func Compare(f Folder, export exports.Export) (*Result, error) {
	c := &comparison{Folder: f, export: export}
	manifests, secrets, err := readManifests(f.Tree)
	if err != nil {
		return nil, err
	}
	c.compareKubernetes(manifests)
	c.skip("the rest of the folder",
		"the exports hold no networks, roles, buckets, reservations, alerts and dashboards, and no releases of "+
			"controllers", "")
	if secrets > 0 {
		c.skip(fmt.Sprintf("Secret (%d)", secrets), "a comparison reads no Secrets", "")
	}
	if err := c.compareGoogle(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.out.Objects, func(a, b objects.Object) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	c.out.Facts.Appliers = appliers(c.out.Foreign)
	slices.Sort(c.out.Facts.Adopted)
	slices.Sort(c.out.Facts.Staying)
	return &c.out, nil
}

// kubernetesDir is the path of the Kubernetes objects in a deploy folder.
const kubernetesDir = "kubernetes"

// readManifests returns the Kubernetes objects of a folder except Secrets, and the number
// of Secrets.
func readManifests(t emit.Tree) (manifests []*exports.Object, secrets int, err error) {
	// A component holds patches, not objects.
	components := map[string]bool{}
	for _, f := range t {
		if path.Base(f.Path) == "kustomization.yaml" && bytes.Contains(f.Content, []byte("\nkind: Component\n")) {
			components[path.Dir(f.Path)] = true
		}
	}
	var files []exports.File
	for _, f := range t {
		if strings.HasPrefix(f.Path, kubernetesDir+"/") && path.Ext(f.Path) == ".yaml" &&
			path.Base(f.Path) != "kustomization.yaml" && !components[path.Dir(f.Path)] {
			files = append(files, exports.File{Name: f.Path, Content: f.Content})
		}
	}
	export, findings, err := exports.Read(files, exports.Manifests)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range findings.Sorted() {
		switch {
		case f.Severity == diag.Error:
			return nil, 0, fmt.Errorf("the compiled folder cannot be read: %s: %s", f.Span, f.Message)
		case f.Secret:
			secrets++
		}
	}
	return export.Objects, secrets, nil
}

// objectID identifies a Kubernetes object.
type objectID struct{ group, kind, namespace, name string }

func identify(o *exports.Object) objectID { return objectID{o.Group, o.Kind, o.Namespace, o.Name} }

// String returns the object in a list: its kind, its namespace and its name.
func (id objectID) String() string { return id.kind + " " + id.objectName() }

// objectName returns the name with the namespace, if the object is in one.
func (id objectID) objectName() string {
	if id.namespace != "" {
		return id.namespace + "/" + id.name
	}
	return id.name
}

// kindID identifies a kind of Kubernetes object.
type kindID struct{ group, kind string }

// compareKubernetes compares the Kubernetes objects of the folder with the exports.
func (c *comparison) compareKubernetes(manifests []*exports.Object) {
	running := map[objectID]*exports.Object{}
	exported := map[kindID]bool{}
	for _, o := range c.export.Objects {
		running[identify(o)] = o
		exported[kindID{o.Group, o.Kind}] = true
	}
	missing := map[kindID]int{}
	wanted := map[objectID]bool{}
	kinds := map[kindID]bool{}
	for _, m := range manifests {
		kind := kindID{m.Group, m.Kind}
		wanted[identify(m)], kinds[kind] = true, true
		if !exported[kind] {
			missing[kind]++
			continue
		}
		if o, ok := running[identify(m)]; ok {
			c.compareObject(o, m)
			continue
		}
		c.addObject(m, delta.Added, nil, c.refuseDefaultClass(m))
	}
	others := map[string]bool{}
	for _, o := range c.export.Objects {
		switch {
		case wanted[identify(o)]:
		case kinds[kindID{o.Group, o.Kind}] || isExact(o):
			c.leftOver(o)
		default:
			others[o.Kind] = true
		}
	}
	c.skipKinds(missing)
	if len(others) > 0 {
		c.skip(strings.Join(slices.Sorted(maps.Keys(others)), ", "), "the folder has no objects of these kinds", "")
	}
}

func (c *comparison) skip(what, reason, export string) {
	c.out.Facts.Skipped = append(c.out.Facts.Skipped, Skipped{what, reason, export})
}

// addObject adds an object to the result. note says what follows from the change.
func (c *comparison) addObject(o *exports.Object, op delta.Op, fields []objects.Field, note string) {
	file, line := "", 1
	if source := o.Place().Source; source != nil {
		file, line = source.Name, source.Position(o.Place().Start).Line
	}
	c.out.Objects = append(c.out.Objects, objects.Object{
		File: file, Line: line, Kind: o.Kind, Name: identify(o).objectName(), Op: op, Fields: fields, Note: note,
	})
}

// platformLabels are the labels by which the platform recognizes its objects.
var platformLabels = []string{ir.LabelManagedBy, ir.LabelPartOf, ir.LabelTeam, ir.LabelExisting}

// isOurs reports whether an earlier folder of the platform made an object.
func (c *comparison) isOurs(o *exports.Object) bool {
	return labelOf(o, ir.LabelPartOf) == c.Plan.Name
}

// compareObject compares an object that runs with its manifest.
func (c *comparison) compareObject(running, manifest *exports.Object) {
	ours := c.isOurs(running)
	if !ours {
		c.out.Foreign = append(c.out.Foreign, running)
	}
	exports.SetDefaults(running.Kind, running.Fields) // which an export of a cluster has
	after := apply(running, manifest, ownerOf(running, manager(c.Plan), ours))
	if ours && c.restarts(running) {
		after = admitAgain(after)
	}
	fields := objects.CompareValues(withoutNoise(running.Fields), withoutNoise(after))
	// The labels of a namespace decide which jobs Kueue manages, so they are no mere mark.
	if !ours && labelOf(running, ir.LabelPartOf) == "" && running.Kind != kindNamespace {
		rest := slices.DeleteFunc(slices.Clone(fields), func(f objects.Field) bool {
			return f.From == "" && slices.ContainsFunc(platformLabels, func(label string) bool {
				return f.Path == "metadata.labels["+label+"]" || f.Path == "metadata.labels."+label
			})
		})
		if len(rest) < len(fields) {
			c.out.Facts.Adopted = append(c.out.Facts.Adopted, identify(running).String())
			if fields = rest; len(fields) == 0 {
				return
			}
		}
	}
	if len(fields) == 0 {
		c.out.Facts.Unchanged++
		return
	}
	c.addObject(manifest, delta.Changed, fields, c.noteChange(running, manifest, after, fields))
}

// appliers returns the tools that apply objects.
func appliers(foreign []*exports.Object) []Applier {
	found := map[string]*Applier{}
	for _, o := range foreign {
		by, ok := o.Applier()
		if !ok {
			continue
		}
		a := found[by.String()]
		if a == nil {
			a = &Applier{Name: by.String()}
			found[a.Name] = a
		}
		a.Objects = append(a.Objects, identify(o).String())
		if !by.Tool.Keeps(o) {
			a.Deletes = append(a.Deletes, identify(o).String())
		}
	}
	var out []Applier
	for _, name := range slices.Sorted(maps.Keys(found)) {
		slices.Sort(found[name].Objects)
		slices.Sort(found[name].Deletes)
		out = append(out, *found[name])
	}
	return out
}

// String says what the tool does with its objects.
func (a Applier) String() string {
	text := a.Name + ": " + words.Count(len(a.Objects), "object")
	switch len(a.Deletes) {
	case 0:
		return text + "; it keeps what leaves its source"
	case len(a.Objects):
		return text + "; it deletes what leaves its source"
	}
	return fmt.Sprintf("%s; it deletes %d of them when they leave its source", text, len(a.Deletes))
}

// noise are the fields of metadata that belong to the API and its controllers.
var noise = []string{
	"managedFields", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "generation", "finalizers", "selfLink", "ownerReferences",
}

// withoutNoise returns the fields of an object that a manifest can set.
func withoutNoise(fields map[string]any) map[string]any {
	out := maps.Clone(fields)
	delete(out, "apiVersion") // the versions have the same fields here
	metadata, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	metadata = maps.Clone(metadata)
	for _, name := range noise {
		delete(metadata, name)
	}
	// Empty maps stand for missing ones, so that each key is a field of its own.
	for _, name := range []string{"labels", "annotations"} {
		keys := map[string]any{}
		if has, ok := metadata[name].(map[string]any); ok {
			keys = maps.Clone(has)
		}
		delete(keys, lastApplied)
		metadata[name] = keys
	}
	out["metadata"] = metadata
	if out["spec"] == nil {
		out["spec"] = map[string]any{}
	}
	return out
}

// Totals returns the totals in words.
func (f Facts) Totals() []string {
	var out []string
	if n := len(f.Adopted); n > 0 {
		out = append(out, words.Count(n, "object")+" to hand over")
	}
	if n := len(f.Staying); n > 0 {
		out = append(out, words.Plural(n, "other stays", "others stay"))
	}
	return append(out, fmt.Sprintf("%d unchanged", f.Unchanged))
}
