package exports

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readGoogle adds a cluster or a node pool as gcloud prints it.
func (r *reader) readGoogle(doc *document, n *yaml.Node) {
	n = unalias(n)
	has := func(key string) bool { return scalar(n, "name") != "" && child(n, key) != nil }
	switch {
	case has("currentMasterVersion") || has("nodePools") || has("autopilot"):
		r.readCluster(doc, n)
	case has("config"):
		r.readPool(doc, n, clusterPath(n))
	default:
		r.addUnread(doc.span(n), fmt.Sprintf("this is no object that %s knows", r.purpose))
	}
}

// readCluster adds a cluster and its node pools.
func (r *reader) readCluster(doc *document, n *yaml.Node) {
	o := &Object{Kind: KindCluster, Name: scalar(n, "name"), Cluster: clusterPath(n), doc: doc, node: n}
	if scalar(n, "autopilot", "enabled") == "true" {
		r.add(codeAutopilot, doc.span(child(child(n, "autopilot"), "enabled")),
			fmt.Sprintf("cluster %q is an Autopilot cluster", o.Name),
			"give the export of a Standard cluster: batchwright makes node pools, which Autopilot does not allow")
		return
	}
	r.addObject(&r.export.Clusters, o)
	for _, item := range contentOf(child(n, "nodePools")) {
		r.readPool(doc, item, o.Cluster)
	}
}

// readPool adds a node pool of a cluster. The list of node pools repeats the node pools of
// the cluster.
func (r *reader) readPool(doc *document, n *yaml.Node, cluster string) {
	o := &Object{Kind: KindNodePool, Name: scalar(n, "name"), Cluster: cluster, doc: doc, node: n}
	if first := r.seen[r.key(o)]; first != nil && first.doc != doc {
		doc.repeats = true
	} else {
		r.addObject(&r.export.Pools, o)
	}
}

// clusterPath returns the path of the cluster in the self link of a cluster or of a node
// pool, such as "projects/p/locations/us-central1/clusters/c". Without a link it returns
// "clusters/c" for a cluster, and "" for a node pool.
func clusterPath(n *yaml.Node) string {
	_, path, found := strings.Cut(scalar(n, "selfLink"), "/projects/")
	switch {
	case !found && child(n, "config") != nil:
		return ""
	case !found:
		return "clusters/" + scalar(n, "name")
	}
	path, _, _ = strings.Cut("projects/"+path, "/nodePools/")
	return strings.Replace(path, "/zones/", "/locations/", 1) // links of zonal clusters have zones
}
