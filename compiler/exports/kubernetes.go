package exports

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// KueueGroup is the API group of Kueue's objects.
const KueueGroup = "kueue.x-k8s.io"

// Names of the controllers' objects in their releases and charts.
const (
	KueueDeployment = "kueue-controller-manager"
	KueueConfigMap  = "kueue-manager-config"
)

// isImported reports whether Import reads an object of Kubernetes.
func isImported(o *Object) bool {
	switch o.Group + "/" + o.Kind {
	case "scheduling.k8s.io/PriorityClass", "/Namespace":
		return true
	case "apps/Deployment":
		return o.Name == KueueDeployment || ControllerNamed(o.Name) != nil
	case "/ConfigMap":
		return o.Name == KueueConfigMap
	}
	return o.Group == KueueGroup && kueueTypes[o.Kind] != nil
}

// ControllerNamed returns the controller of jobs with a Deployment, nil if there is none.
func ControllerNamed(deployment string) *kinds.Controller {
	for _, c := range kinds.Controllers() {
		if c.Deployment == deployment {
			return &c
		}
	}
	return nil
}

// readKubernetes adds a Kubernetes object. kind and apiVersion of its List apply to an
// object that names none.
func (r *reader) readKubernetes(doc *document, n *yaml.Node, kind, apiVersion string) {
	group, version, found := strings.Cut(cmp.Or(scalar(n, "apiVersion"), apiVersion), "/")
	if !found {
		group, version = "", group
	}
	o := &Object{
		Kind: cmp.Or(scalar(n, "kind"), kind), Namespace: scalar(n, "metadata", "namespace"),
		Name: scalar(n, "metadata", "name"), Group: group, Version: version, doc: doc, node: n,
	}
	switch {
	case strings.HasPrefix(o.Kind, "Secret") && group == "":
		return
	case r.purpose == Import && !isImported(o):
		o.Ignored = true
		r.export.All = append(r.export.All, o)
		return
	// Kueue below 0.14 has Topologies only in v1alpha1, with the same fields.
	case group == KueueGroup && version != "v1beta1" && version != "v1beta2" &&
		(o.Kind != "Topology" || version != "v1alpha1"):
		r.add(codeVersion, doc.span(cmp.Or(child(n, "apiVersion"), n)),
			fmt.Sprintf("%s has version %q, but %s supports v1beta1 and v1beta2", o.Kind, version, r.purpose),
			fmt.Sprintf("export it as v1beta2: kubectl get %s.v1beta2.%s -A -o yaml", Plural(o.Kind), KueueGroup))
		return
	case o.Name == "":
		r.add(codeSyntax, doc.span(n), "the "+o.Kind+" has no name", exportAgain)
		return
	}
	if r.purpose == Import || group == KueueGroup { // other objects can contain templates
		places := placeholders(nil, child(child(n, "metadata"), "name"))
		places = placeholders(places, child(child(n, "metadata"), "namespace"))
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; key != "metadata" && key != "status" {
				places = placeholders(places, n.Content[i+1])
			}
		}
		o.template = len(places) > 0
		doc.placeholders = append(doc.placeholders, places...)
	}
	if r.addObject(&r.export.Objects, o) {
		delete(o.Fields, "status")
	}
}

// placeholders adds the values below a node that are expressions of a template to a list.
func placeholders(list []*yaml.Node, n *yaml.Node) []*yaml.Node {
	if n == nil {
		return list
	}
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "{") && template.MatchString(n.Value) {
		return append(list, n)
	}
	for _, below := range n.Content {
		list = placeholders(list, below)
	}
	return list
}

// Plural returns the name of the resource of a kind.
func Plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"):
		return name + "es"
	}
	return name + "s"
}
