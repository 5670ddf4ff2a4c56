// Package exports reads what runs on a cluster from files: Kubernetes objects as kubectl
// prints them, a cluster and its node pools as gcloud prints them, and blueprints of
// Google's Cluster Toolkit with their deployment files.
//
// Each file becomes YAML nodes with their places (document.go). The nodes become objects:
// of Kubernetes (kubernetes.go), of gcloud (google.go) and of Cluster Toolkit (toolkit.go).
// Objects of Kueue have the fields of v1beta2 (kueue.go). A mistake in a file is a finding.
// The package writes no files, and does not know the blueprint of batchwright.
package exports

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// File is a file to read. Name is the user's name of it, "-" for standard input.
type File struct {
	Name    string
	Content []byte
}

// Purpose says why files are read.
type Purpose string

// The purposes. The first two are the names of commands.
const (
	// Import reads the kinds of objects that become a part of a blueprint, of one cluster.
	Import Purpose = "import"
	// Comparison reads Kubernetes objects of every kind except Secrets, of any number of
	// clusters, and no blueprints of Cluster Toolkit.
	Comparison Purpose = "diff --live"
	// Manifests reads the objects of a compiled folder, as Comparison does, and leaves
	// Object.Value nil: the compiler's own objects have no unknown fields.
	Manifests Purpose = "the compiled folder"
)

// Kinds of objects that are not Kubernetes'.
const (
	KindCluster    = "cluster"
	KindNodePool   = "node pool"
	KindToolkit    = "Cluster Toolkit blueprint"
	KindDeployment = "Cluster Toolkit deployment file"
	KindModule     = "Cluster Toolkit module"
)

// Export is the content of files.
type Export struct {
	// All are all objects except Secrets, in the order of the files. The modules of Cluster
	// Toolkit are the last.
	All []*Object
	// Objects are the Kubernetes objects, and Clusters and Pools the clusters and node pools
	// of gcloud.
	Objects, Clusters, Pools []*Object
	Toolkits, Deployments    []*Object
	Modules                  []*Module
}

// Object is one object of an export.
type Object struct {
	Group, Kind, Namespace, Name string
	Version                      string // of the API, such as "v1beta2"; "" if it is not Kubernetes'
	// Cluster is the path of the cluster, or of the cluster of a node pool, such as
	// "projects/p/locations/us-central1/clusters/c". It is "clusters/c" if the export says
	// only the name, and "" if it does not say the cluster of a node pool.
	Cluster string
	// Fields are the fields except the status of Kubernetes objects, as encoding/json decodes
	// them with numbers as json.Number. An object of Kueue has the fields of v1beta2.
	Fields map[string]any
	// Value is an object of Kueue as a pointer to its own Go type, nil for other objects.
	Value any
	// Unknown are the fields that the API version does not have, with what follows.
	Unknown []Unknown
	// Ignored reports whether the object is of a kind that Import does not read. It then has
	// no fields.
	Ignored bool

	doc      *document
	node     *yaml.Node
	place    diag.Span // without doc: what Place returns
	template bool      // has placeholders, which a finding reports
}

// Unknown is a field that the API version of an object does not have.
type Unknown struct{ Field, Consequence string }

// Title returns the object in a sentence.
func (o *Object) Title() string {
	if o.Namespace != "" {
		return fmt.Sprintf("%s %q in namespace %q", o.Kind, o.Name, o.Namespace)
	}
	return fmt.Sprintf("%s %q", o.Kind, o.Name)
}

// Place returns the place of the object's name. An object that is in no file has none.
func (o *Object) Place() diag.Span {
	if o.doc == nil {
		return o.place
	}
	for _, path := range [][]string{{"metadata", "name"}, {"name"}, {"id"}, {"blueprint_name"}} {
		n := o.node
		for _, key := range path {
			n = child(n, key)
		}
		if n != nil {
			return o.doc.span(n)
		}
	}
	return o.doc.span(o.node)
}

// forgetNode leaves of the object's node its place. Nodes take more memory than objects.
func (o *Object) forgetNode() {
	o.place = o.Place()
	o.doc, o.node = nil, nil
}

// key identifies the object among the objects of all files. Two clusters that are compared
// can have node pools of one name.
func (r *reader) key(o *Object) string {
	cluster := o.Cluster
	if r.purpose == Import {
		cluster = ""
	}
	return strings.Join([]string{o.Group, o.Kind, cluster, o.Namespace, o.Name}, "\x00")
}

// Read reads files. The findings are mistakes in the files; with errors among them, the
// export is empty. The error is a failure of this package.
func Read(files []File, purpose Purpose) (out Export, findings diag.List, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = diag.Bug("the exports", bug)
		}
	}()
	r := &reader{purpose: purpose, findings: &findings, seen: map[string]*Object{}}
	r.readFiles(files)
	for _, o := range r.export.Objects {
		if !o.template && purpose != Manifests {
			r.decodeKueue(o)
		}
	}
	if clusters := r.export.Clusters; len(clusters) > 1 && purpose == Import {
		count := words.Count(len(clusters), "cluster")
		r.reportTwo(codeClusters, clusters[0], clusters[1], "the exports contain "+count,
			"give the export of one cluster: gcloud container clusters describe CLUSTER --format=json")
	}
	r.readModules()
	r.reportUnread()
	if purpose != Import {
		for _, o := range r.export.All {
			o.forgetNode()
		}
	}
	if findings.HasErrors() {
		return Export{}, findings, nil
	}
	return r.export, findings, nil
}

// Codes returns every code that a finding of Read can have.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: codeSyntax, Severity: diag.Error, Title: "export is damaged or incomplete"},
		{ID: codeNothing, Severity: diag.Error, Title: "file has nothing to import"},
		{ID: codeVersion, Severity: diag.Error, Title: "import does not know the API version"},
		{ID: codeTwice, Severity: diag.Error, Title: "two objects to import have the same name"},
		{ID: codeAutopilot, Severity: diag.Error, Title: "cluster to import is an Autopilot cluster"},
		{ID: codeClusters, Severity: diag.Error, Title: "exports contain several clusters"},
		{ID: codeField, Severity: diag.Warning, Title: "object has a field that its API version does not have"},
		{ID: codePassedOver, Severity: diag.Warning, Title: "file has nothing to import beside others that have"},
		{ID: codeSecret, Severity: diag.Warning, Title: "export contains a Secret"},
	}
}

// Codes of the findings.
const (
	codeSyntax    = "E0920"
	codeNothing   = "E0921"
	codeVersion   = "E0922"
	codeTwice     = "E0923"
	codeAutopilot = "E0924"
	codeField     = "W0925"
	codeSecret    = "W0926"
	codeClusters  = "E0929"

	codePassedOver = "W0930"
)
