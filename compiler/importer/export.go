package importer

import (
	"maps"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Export is the content of files for a comparison with a deploy folder.
type Export struct {
	// Objects are the Kubernetes objects except Secrets, in the order of the files.
	Objects []Exported
	// Clusters and Pools are the clusters and their node pools, as gcloud prints them.
	Clusters, Pools []Exported
}

// Exported is an object of an export.
type Exported struct {
	Group, Kind, Namespace, Name string
	// Cluster is the path of the cluster, or of the cluster of a node pool, such as
	// "projects/p/locations/us-central1/clusters/c". It is "clusters/c" if the export says
	// only the name, and "" if it does not say the cluster of a node pool.
	Cluster string
	Place   diag.Span
	// Fields are the fields except the status, as encoding/json decodes them with
	// numbers as json.Number. An object of Kueue has the fields of v1beta2.
	Fields map[string]any
}

// Read reads files for a comparison. Unlike Import, it reads Kubernetes objects of every
// kind except Secrets, and no blueprints of Cluster Toolkit. The findings are the
// mistakes that Import reports, too. The error is a failure of the importer.
func Read(files []File) (out Export, findings diag.List, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = diag.Bug("the files to compare", bug)
		}
	}()
	inv := &inventory{findings: &findings, seen: map[string]*object{}, compared: true}
	for _, f := range files {
		inv.readFile(f)
	}
	inv.decodeAll()
	if findings.HasErrors() {
		return Export{}, findings, nil
	}
	for _, o := range inv.objects {
		x := Exported{
			Group: o.group, Kind: o.kind, Namespace: o.namespace, Name: o.name, Cluster: o.cluster,
			Place: o.span(), Fields: o.raw,
		}
		switch o.kind {
		case kindCluster:
			out.Clusters = append(out.Clusters, x)
		case kindNodePool:
			out.Pools = append(out.Pools, x)
		default:
			if o.version == "v1beta1" && o.group == kueueGroup {
				x.Fields = maps.Clone(x.Fields)
				upgrade(o.kind, x.Fields)
			}
			out.Objects = append(out.Objects, x)
		}
	}
	return out, findings, nil
}
