package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// exportCommands are the commands whose output Import reads.
const exportCommands = `"kubectl get ... -o yaml", or "gcloud container clusters describe ... --format=json"`

// kueueGroup is the API group of Kueue's objects.
const kueueGroup = "kueue.x-k8s.io"

// Kinds of objects that are not Kubernetes'.
const (
	kindCluster    = "cluster"
	kindNodePool   = "node pool"
	kindToolkit    = "Cluster Toolkit blueprint"
	kindDeployment = "Cluster Toolkit deployment file"
	kindModule     = "Cluster Toolkit module"
)

// object is one object of an export.
type object struct {
	kind, namespace, name string
	version               string // of the API, such as "v1beta2"
	doc                   *document
	node                  *yaml.Node
	raw                   map[string]any // without metadata except the names, and without status
	ignored               bool           // of a kind that Import does not read
	group                 string         // of the API, "" for the core
	cluster               string         // path of the cluster of a node pool, if it matters
	template              bool           // has placeholders, which a finding reports
	fields                []FieldReport
	vars                  map[string]any // variables of a blueprint of Cluster Toolkit
}

// title returns the object in a sentence.
func (o *object) title() string {
	if o.namespace != "" {
		return fmt.Sprintf("%s %q in namespace %q", o.kind, o.name, o.namespace)
	}
	return fmt.Sprintf("%s %q", o.kind, o.name)
}

// key identifies the object among the objects of all files.
func (o *object) key() string {
	return strings.Join([]string{o.group, o.kind, o.cluster, o.namespace, o.name}, "\x00")
}

// span returns the place of the object's name.
func (o *object) span() diag.Span {
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

// inventory holds everything that the files contain.
type inventory struct {
	// compared reports whether the files are read for a comparison: objects of all kinds
	// count, and blueprints of Cluster Toolkit do not.
	compared bool
	findings *diag.List
	objects  []*object
	seen     map[string]*object

	flavors         []typed[v1beta2.ResourceFlavor]
	clusterQueues   []typed[v1beta2.ClusterQueue]
	localQueues     []typed[v1beta2.LocalQueue]
	cohorts         []typed[v1beta2.Cohort]
	checks          []typed[v1beta2.AdmissionCheck]
	requestConfigs  []typed[v1beta2.ProvisioningRequestConfig]
	priorityClasses []*object
	workloadClasses []*object // WorkloadPriorityClasses
	namespaces      []*object
	clusters        []*object
	pools           []*pool
	toolkits        []*object
	deployments     []*object // deployment files of Cluster Toolkit
	modules         []*module
	controllers
}

// typed is an object with its own Go type.
type typed[T any] struct {
	*object
	value T
}

func (inv *inventory) add(code string, severity diag.Severity, span diag.Span, message, help string) {
	inv.findings.Add(diag.Finding{Code: code, Severity: severity, Span: span, Message: message, Help: help})
}

// readFile adds the objects of a file.
func (inv *inventory) readFile(f File) {
	doc, mistake := parseDocument(f)
	if mistake != nil {
		span := diag.Span{Source: doc.source, Start: mistake.start, End: mistake.end}
		inv.add(codeSyntax, diag.Error, span, mistake.message, mistake.help)
		return
	}
	if len(doc.roots) == 0 {
		inv.add(codeNothing, diag.Error, diag.Span{Source: doc.source}, "the file is empty",
			"export it again with "+exportCommands)
		return
	}
	inv.hideSecrets(doc)
	before := len(inv.objects)
	errors := inv.findings.Count(diag.Error)
	for _, root := range doc.roots {
		inv.readRoot(doc, root)
	}
	inv.reportTemplate(doc)
	if errors < inv.findings.Count(diag.Error) {
		return
	}
	known := func(o *object) bool { return !o.ignored }
	if !slices.ContainsFunc(inv.objects[before:], known) && !doc.repeats {
		inv.add(codeNothing, diag.Error, doc.span(doc.roots[0]),
			"the file contains nothing that "+inv.command()+" reads", inv.wanted())
	}
}

// command returns the command that reads the files.
func (inv *inventory) command() string {
	if inv.compared {
		return "diff --live"
	}
	return "import"
}

// wanted says which files the command reads.
func (inv *inventory) wanted() string {
	help := "give the output of " + exportCommands
	if inv.compared {
		return help
	}
	return help + ", or a blueprint of Google's Cluster Toolkit"
}

// hideSecrets removes the text of all Secrets from the excerpts of a document, and
// reports the Secrets by name.
func (inv *inventory) hideSecrets(doc *document) {
	var secrets []*yaml.Node
	for i, root := range doc.roots {
		end := len(doc.content)
		if i+1 < len(doc.roots) {
			end = doc.offset(doc.roots[i+1])
		}
		secrets = hideBelow(secrets, doc, root, end)
	}
	if len(secrets) == 0 {
		return
	}
	name := "without a name"
	if text := scalar(secrets[0], "metadata", "name"); text != "" {
		name = fmt.Sprintf("%q", text)
	}
	done, help := "imported", "do not export Secrets: neither the blueprint nor the report contains any part of them"
	if inv.compared {
		done, help = "compared", "do not export Secrets: the comparison neither reads nor prints any part of them"
	}
	message := fmt.Sprintf("Secret %s is not %s", name, done)
	if len(secrets) > 1 {
		message = fmt.Sprintf("%d Secrets are not %s: the first is the Secret %s", len(secrets), done, name)
	}
	start := doc.offset(secrets[0])
	inv.findings.Add(diag.Finding{
		Code: codeSecret, Severity: diag.Warning, Span: diag.Span{Source: doc.source, Start: start, End: start + 1},
		Message: message, Secret: true, Help: help,
	})
}

// hideBelow hides the Secrets at or below a node, and the credentials of a cluster, and
// adds the Secrets to a list. end is the offset of the next node that is not below the
// node.
func hideBelow(secrets []*yaml.Node, doc *document, n *yaml.Node, end int) []*yaml.Node {
	if isSecret(n) {
		doc.hide(doc.offset(n), end)
		return append(secrets, n)
	}
	for i, below := range n.Content {
		after := end
		if i+1 < len(n.Content) {
			after = doc.offset(n.Content[i+1])
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 && isCredential(n.Content[i-1].Value) {
			doc.hide(doc.offset(below), after)
			continue
		}
		if below.Kind == yaml.MappingNode || below.Kind == yaml.SequenceNode {
			secrets = hideBelow(secrets, doc, below, after)
		}
	}
	return secrets
}

// isCredential reports whether a key is one of a cluster's credentials in gcloud's output.
func isCredential(key string) bool { return key == "password" || key == "clientKey" }

// isSecret reports whether a node is a Secret or a List of Secrets.
func isSecret(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "kind" && strings.HasPrefix(n.Content[i+1].Value, "Secret") {
			return true
		}
	}
	return false
}

// readRoot adds the objects of one YAML document.
func (inv *inventory) readRoot(doc *document, root *yaml.Node) {
	switch {
	case root.Kind == yaml.SequenceNode:
		for _, item := range root.Content {
			inv.readGcloud(doc, item)
		}
	case root.Kind != yaml.MappingNode:
		inv.add(codeNothing, diag.Error, doc.span(root), "the file contains a single value, not an object",
			"give the output of "+exportCommands)
	case strings.HasSuffix(scalar(root, "kind"), "List") && child(root, "apiVersion") != nil:
		inv.readList(doc, root)
	case child(root, "apiVersion") != nil && child(root, "kind") != nil:
		inv.readObject(doc, root, "", "")
	case child(root, "items") != nil || child(root, "apiVersion") != nil:
		inv.add(codeSyntax, diag.Error, doc.span(root), "the object has no kind: its end is probably missing",
			"export it again with "+exportCommands)
	case !inv.compared && (child(root, "blueprint_name") != nil || child(root, "deployment_groups") != nil):
		inv.readToolkit(doc, root)
	case !inv.compared && isDeployment(root):
		inv.readDeployment(doc, root)
	default:
		inv.readGcloud(doc, root)
	}
}

// readList adds the objects of a List.
func (inv *inventory) readList(doc *document, root *yaml.Node) {
	items := child(root, "items")
	if items == nil || items.Kind != yaml.SequenceNode || len(items.Content) == 0 {
		inv.add(codeNothing, diag.Error, doc.span(root), "the List has no items",
			"check the context and the names of the resources, and export again with "+exportCommands)
		return
	}
	// The items of a List of one kind need not name it: kubectl get --raw prints such Lists.
	kind, version := strings.TrimSuffix(scalar(root, "kind"), "List"), scalar(root, "apiVersion")
	for _, item := range items.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.MappingNode || child(item, "kind") == nil && kind == "" {
			inv.add(codeSyntax, diag.Error, doc.span(item), "an item of the List is no object",
				"export it again with "+exportCommands)
			continue
		}
		inv.readObject(doc, item, kind, version)
	}
}

// readKinds are the kinds of Kubernetes objects that Import reads, by API group.
func readKinds() map[string][]string {
	return map[string][]string{
		kueueGroup: {
			"ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "WorkloadPriorityClass", "Topology",
			"AdmissionCheck", "ProvisioningRequestConfig",
		},
		"scheduling.k8s.io": {"PriorityClass"},
		"apps":              {"Deployment"},
		"":                  {"Namespace", "ConfigMap"},
	}
}

// readObject adds a Kubernetes object. kind and apiVersion of its List apply to an
// object that names none.
func (inv *inventory) readObject(doc *document, n *yaml.Node, kind, apiVersion string) {
	group, version, found := strings.Cut(cmp.Or(scalar(n, "apiVersion"), apiVersion), "/")
	if !found {
		group, version = "", group
	}
	o := &object{
		kind: cmp.Or(scalar(n, "kind"), kind), namespace: scalar(n, "metadata", "namespace"),
		name: scalar(n, "metadata", "name"), group: group, version: version, doc: doc, node: n,
	}
	if strings.HasPrefix(o.kind, "Secret") && group == "" {
		return
	}
	if !inv.compared && (!slices.Contains(readKinds()[group], o.kind) || !o.isController()) {
		o.ignored = true
		inv.objects = append(inv.objects, o)
		return
	}
	// Kueue below 0.14 has Topologies only in v1alpha1, with the same fields.
	if group == kueueGroup && version != "v1beta1" && version != "v1beta2" &&
		(o.kind != "Topology" || version != "v1alpha1") {
		at := child(n, "apiVersion")
		if at == nil {
			at = n
		}
		inv.add(codeVersion, diag.Error, doc.span(at),
			fmt.Sprintf("%s does not know version %q of %s", inv.command(), version, o.kind),
			fmt.Sprintf("export it as v1beta2: kubectl get %s.v1beta2.%s -A -o yaml", Plural(o.kind), kueueGroup))
		return
	}
	if o.name == "" {
		inv.add(codeSyntax, diag.Error, doc.span(n), "the "+o.kind+" has no name",
			"export it again with "+exportCommands)
		return
	}
	if inv.compared && group != kueueGroup { // objects of others may contain templates
		inv.addObject(o)
		return
	}
	places := placeholders(nil, child(child(n, "metadata"), "name"))
	places = placeholders(places, child(child(n, "metadata"), "namespace"))
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; key != "metadata" && key != "status" {
			places = placeholders(places, n.Content[i+1])
		}
	}
	o.template = len(places) > 0
	doc.placeholders = append(doc.placeholders, places...)
	inv.addObject(o)
}

// reportTemplate reports the placeholders of a template in one finding: whoever fills in
// one value fills in all.
func (inv *inventory) reportTemplate(doc *document) {
	if len(doc.placeholders) == 0 {
		return
	}
	first := doc.placeholders[0]
	message := fmt.Sprintf("the file is a template with %s: the first is %q",
		words.Count(len(doc.placeholders), "placeholder"), words.Truncate(words.OneLine(first.Value), 60))
	inv.add(codeSyntax, diag.Error, doc.span(first), message, templateHelp)
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

// addObject adds an object, unless another one has its name.
func (inv *inventory) addObject(o *object) {
	key := o.key()
	if first := inv.seen[key]; first != nil {
		inv.findings.Add(diag.Finding{
			Code: codeTwice, Severity: diag.Error, Span: o.span(),
			Message: o.title() + " occurs twice",
			Related: []diag.Related{{Span: first.span(), Message: "the first one"}},
			Help:    "remove one of them; if the same object is in two exports, give only one of the files",
		})
		return
	}
	inv.seen[key] = o
	value, err := o.doc.plain(o.node)
	if err != nil {
		span := o.span()
		if at := new(nodeError); errors.As(err, &at) && at.node.Line > 0 {
			span = o.doc.span(at.node)
		}
		inv.add(codeSyntax, diag.Error, span, err.Error(), "export it again with "+exportCommands)
		return
	}
	o.raw, _ = value.(map[string]any)
	if o.version != "" { // of Kubernetes; the status of a node pool says whether it runs
		delete(o.raw, "status")
	}
	inv.objects = append(inv.objects, o)
}

// decodeAll decodes the objects that have Go types.
func (inv *inventory) decodeAll() {
	for _, o := range inv.objects {
		if o.ignored || o.template {
			continue
		}
		switch o.kind {
		case "ClusterQueue":
			decodeInto(inv, o, &inv.clusterQueues)
		case "LocalQueue":
			decodeInto(inv, o, &inv.localQueues)
		case "ResourceFlavor":
			decodeInto(inv, o, &inv.flavors)
		case "Cohort":
			decodeInto(inv, o, &inv.cohorts)
		case "AdmissionCheck":
			decodeInto(inv, o, &inv.checks)
		case "ProvisioningRequestConfig":
			decodeInto(inv, o, &inv.requestConfigs)
		case "Topology":
			decodeInto(inv, o, new([]typed[v1beta2.Topology]))
		case "WorkloadPriorityClass":
			decodeInto(inv, o, new([]typed[v1beta2.WorkloadPriorityClass]))
			inv.workloadClasses = append(inv.workloadClasses, o)
		case "Namespace":
			inv.namespaces = append(inv.namespaces, o)
		case "PriorityClass":
			inv.priorityClasses = append(inv.priorityClasses, o)
		case "Deployment", "ConfigMap":
			inv.controllers.add(o)
		case kindCluster:
			inv.clusters = append(inv.clusters, o)
		}
	}
	if len(inv.clusters) > 1 && !inv.compared {
		inv.findings.Add(diag.Finding{
			Code: codeClusters, Severity: diag.Error, Span: inv.clusters[1].span(),
			Message: fmt.Sprintf("the exports contain %s", words.Count(len(inv.clusters), "cluster")),
			Related: []diag.Related{{Span: inv.clusters[0].span(), Message: "the first one"}},
			Help:    "give the export of one cluster: gcloud container clusters describe CLUSTER --format=json",
		})
	}
	inv.readModules()
}

// decodeInto decodes an object of Kueue, reports fields that its API version does not
// have, and appends the object to a list.
func decodeInto[T any](inv *inventory, o *object, list *[]typed[T]) {
	object := maps.Clone(o.raw)
	object["metadata"] = map[string]any{"name": o.name, "namespace": o.namespace}
	object["apiVersion"] = v1beta2.SchemeGroupVersion.String()
	if o.version == "v1beta1" {
		upgrade(o.kind, object)
	}
	text, err := json.Marshal(object)
	if err != nil {
		inv.add(codeSyntax, diag.Error, o.span(), err.Error(), "export it again with "+exportCommands)
		return
	}
	t := typed[T]{object: o}
	unknown, err := decodeStrictly(text, &t.value)
	if err != nil {
		span, message := o.span(), shortError(err)
		if n := badQuantity(o.node); n != nil {
			span, message = o.doc.span(n), fmt.Sprintf("%q is no amount, such as 8 or 96Gi", n.Value)
		}
		inv.add(codeSyntax, diag.Error, span, fmt.Sprintf("%s cannot be read: %s", o.title(), message),
			"correct the value, or export it again with "+exportCommands)
		return
	}
	for _, path := range unknown {
		inv.reportUnknown(o, path)
	}
	*list = append(*list, t)
}

// placeholders adds the values below a node that are expressions of a template to a list.
func placeholders(list []*yaml.Node, n *yaml.Node) []*yaml.Node {
	if n == nil {
		return list
	}
	if n.Kind == yaml.ScalarNode && template.MatchString(n.Value) {
		return append(list, n)
	}
	for _, below := range n.Content {
		list = placeholders(list, below)
	}
	return list
}

// badQuantity returns the first amount below a node that is none, nil if all are.
func badQuantity(n *yaml.Node) *yaml.Node {
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && below.Kind == yaml.ScalarNode &&
			slices.Contains([]string{"nominalQuota", "borrowingLimit", "lendingLimit"}, n.Content[i-1].Value) {
			if _, err := resource.ParseQuantity(below.Value); err != nil {
				return below
			}
		}
		if found := badQuantity(below); found != nil {
			return found
		}
	}
	return nil
}

// shortError returns the text of an error of the JSON decoder without the name of the
// Go type.
func shortError(err error) string {
	if mistake := new(json.UnmarshalTypeError); errors.As(err, &mistake) {
		return fmt.Sprintf("field %s cannot hold a %s", mistake.Field, mistake.Value)
	}
	return regexp.MustCompile(`Go struct field \w+\.`).ReplaceAllString(err.Error(), "field ")
}

// reportUnknown reports a field that the API version of an object does not have.
func (inv *inventory) reportUnknown(o *object, path string) {
	consequence := "Kueue drops the field, or refuses the object"
	help := "correct the field's name, or remove it"
	if o.kind == "ClusterQueue" && path == "spec.admissionChecks" {
		consequence = "jobs start without these checks, because Kueue drops the field of v1beta1"
		help = "write admissionChecksStrategy instead, if the checks are intended"
	}
	inv.add(codeField, diag.Warning, o.doc.span(fieldKey(o.node, path)),
		fmt.Sprintf("%s: version %s has no field %s; %s", o.title(), o.version, path, consequence), help)
	o.none(strings.TrimPrefix(path, "spec."), "", "the API version has no such field: "+consequence)
}
