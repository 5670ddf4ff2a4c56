package exports

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

const (
	// exportCommands are the commands whose output Read reads.
	exportCommands = `"kubectl get ... -o yaml", or "gcloud container clusters describe ... --format=json"`
	exportAgain    = "export it again with " + exportCommands
	giveOutput     = "give the output of " + exportCommands
	fillInTemplate = "fill in the values of the template, or export the objects from the cluster with " + exportCommands
)

// reader holds what the files contain.
type reader struct {
	purpose  Purpose
	findings *diag.List
	export   Export
	seen     map[string]*Object
	// unread are findings about files, or documents in them, of which nothing is read.
	unread []diag.Finding
}

// add adds an error.
func (r *reader) add(code string, span diag.Span, message, help string) {
	r.findings.Add(diag.Finding{Code: code, Severity: diag.Error, Span: span, Message: message, Help: help})
}

// reportTwo adds an error about two objects.
func (r *reader) reportTwo(code string, first, second *Object, message, help string) {
	r.findings.Add(diag.Finding{
		Code: code, Severity: diag.Error, Span: second.Place(), Message: message, Help: help,
		Related: []diag.Related{{Span: first.Place(), Message: "the first one"}},
	})
}

// readFiles adds the objects of files. It reports a file that is given twice once, instead of each of
// its objects.
func (r *reader) readFiles(files []File) {
	names, contents := map[string]bool{}, map[[sha256.Size]byte]string{} // the second of files with objects
	for _, f := range files {
		name, sum := filepath.Clean(f.Name), sha256.Sum256(f.Content)
		message := ""
		if other, same := contents[sum]; same {
			message = fmt.Sprintf("the file %s has the same content as %s", f.Name, other)
		}
		if names[name] {
			message = fmt.Sprintf("the file %s is given twice", f.Name)
		}
		names[name] = true
		if message != "" {
			source := &diag.Source{Name: f.Name} // the excerpt would be any line of the file
			r.add(codeTwice, diag.Span{Source: source}, message, "give the file once")
			continue
		}
		before := len(r.export.All)
		r.readFile(f)
		if len(r.export.All) > before {
			contents[sum] = f.Name
		}
	}
}

// readFile adds the objects of a file.
func (r *reader) readFile(f File) {
	doc, mistake := parseDocument(f)
	if mistake != nil {
		span := diag.Span{Source: doc.source, Start: mistake.start, End: mistake.end}
		r.add(codeSyntax, span, mistake.message, mistake.help)
		return
	}
	if len(doc.roots) == 0 {
		r.add(codeNothing, diag.Span{Source: doc.source}, "the file is empty", exportAgain)
		return
	}
	r.hideSecrets(doc)
	before, mistakes := len(r.export.All), r.findings.Count(diag.Error)+len(r.unread)
	for _, root := range doc.roots {
		r.readRoot(doc, root)
	}
	if n := len(doc.placeholders); n > 0 { // one finding for all placeholders
		first := doc.placeholders[0]
		r.add(codeSyntax, doc.span(first), fmt.Sprintf("the file is a template with %s: the first is %q",
			words.Count(n, "placeholder"), words.Truncate(words.OneLine(first.Value), 60)), fillInTemplate)
	}
	isRead := func(o *Object) bool { return !o.Ignored }
	if mistakes == r.findings.Count(diag.Error)+len(r.unread) && !doc.repeats &&
		!slices.ContainsFunc(r.export.All[before:], isRead) {
		r.addUnread(doc.span(doc.roots[0]), fmt.Sprintf("the file contains nothing that %s reads", r.purpose))
	}
}

// addUnread adds a finding about a file, or a document in it, of which nothing is read.
func (r *reader) addUnread(span diag.Span, message string) {
	r.unread = append(r.unread, diag.Finding{
		Code: codeNothing, Severity: diag.Error, Span: span, Message: message, Help: r.wanted(),
	})
}

// reportUnread reports what is not read. Import passes over it if it reads something else: a folder
// of manifests also has files such as kustomization.yaml.
func (r *reader) reportUnread() {
	read := r.purpose == Import &&
		slices.ContainsFunc(r.export.All, func(o *Object) bool { return !o.Ignored })
	for _, f := range r.unread {
		if read {
			f.Code, f.Severity = codePassedOver, diag.Warning
			f.Help = "it is passed over; if import should read it, " + f.Help
		}
		r.findings.Add(f)
	}
}

// wanted says which files the command reads.
func (r *reader) wanted() string {
	if r.purpose == Import {
		return giveOutput + ", or a blueprint of Google's Cluster Toolkit"
	}
	return giveOutput
}

// hideSecrets removes the text of all Secrets from the excerpts of a document, and
// reports the Secrets by name.
func (r *reader) hideSecrets(doc *document) {
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
	done, help := "imported", "neither the blueprint nor the report contains any part of them"
	if r.purpose == Comparison {
		done, help = "compared", "the comparison neither reads nor prints any part of them"
	}
	message := fmt.Sprintf("Secret %s is not %s", name, done)
	if len(secrets) > 1 {
		message = fmt.Sprintf("%d Secrets are not %s: the first is the Secret %s", len(secrets), done, name)
	}
	start := doc.offset(secrets[0])
	r.findings.Add(diag.Finding{
		Code: codeSecret, Severity: diag.Warning, Span: diag.Span{Source: doc.source, Start: start, End: start + 1},
		Message: message, Secret: true, Help: "do not export Secrets: " + help,
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
		if n.Kind == yaml.MappingNode && i%2 == 1 && slices.Contains(credentials, n.Content[i-1].Value) {
			doc.hide(doc.offset(below), after)
		} else if below.Kind == yaml.MappingNode || below.Kind == yaml.SequenceNode {
			secrets = hideBelow(secrets, doc, below, after)
		}
	}
	return secrets
}

// credentials are the keys of a cluster's credentials in gcloud's output.
var credentials = []string{"password", "clientKey"}

// isSecret reports whether a node is a Secret or a List of Secrets.
func isSecret(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "kind" && strings.HasPrefix(n.Content[i+1].Value, "Secret") {
			return true
		}
	}
	return false
}

// readRoot adds the objects of one YAML document.
func (r *reader) readRoot(doc *document, root *yaml.Node) {
	has := func(key string) bool { return child(root, key) != nil }
	switch {
	case root.Kind == yaml.SequenceNode:
		r.readItems(doc, root)
	case !has("name") && isList(child(root, "clusters")): // as the REST API answers
		r.readItems(doc, child(root, "clusters"))
	case !has("name") && isList(child(root, "nodePools")):
		r.readItems(doc, child(root, "nodePools"))
	case root.Kind != yaml.MappingNode:
		r.add(codeNothing, doc.span(root), "the file contains a single value, not an object", giveOutput)
	case strings.HasSuffix(scalar(root, "kind"), "List") && has("apiVersion"):
		r.readList(doc, root)
	case has("apiVersion") && has("kind"):
		r.readKubernetes(doc, root, "", "")
	case has("items") || has("apiVersion"):
		r.add(codeSyntax, doc.span(root), "the object has no kind: its end is probably missing", exportAgain)
	case r.purpose == Import && (has("blueprint_name") || has("deployment_groups")):
		r.addObject(&r.export.Toolkits, &Object{
			Kind: KindToolkit, Name: scalar(root, "blueprint_name"), doc: doc, node: root,
		})
	case r.purpose == Import && isDeployment(root):
		name := cmp.Or(scalar(root, "vars", "deployment_name"), doc.source.Name)
		r.addObject(&r.export.Deployments, &Object{Kind: KindDeployment, Name: name, doc: doc, node: root})
	default:
		r.readGoogle(doc, root)
	}
}

// readItems adds clusters or node pools.
func (r *reader) readItems(doc *document, list *yaml.Node) {
	for _, item := range list.Content {
		r.readGoogle(doc, item)
	}
}

func isList(n *yaml.Node) bool { return n != nil && n.Kind == yaml.SequenceNode }

// readList adds the objects of a List.
func (r *reader) readList(doc *document, root *yaml.Node) {
	items := child(root, "items")
	if items == nil || items.Kind != yaml.SequenceNode || len(items.Content) == 0 {
		r.add(codeNothing, doc.span(root), "the List has no items",
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
			r.add(codeSyntax, doc.span(item), "an item of the List is no object", exportAgain)
			continue
		}
		r.readKubernetes(doc, item, kind, version)
	}
}

// addObject decodes an object and adds it to a list of the export, unless another one has its
// name. It reports whether it did.
func (r *reader) addObject(list *[]*Object, o *Object) bool {
	key := r.key(o)
	if first := r.seen[key]; first != nil {
		r.reportTwo(codeTwice, first, o, o.Title()+" occurs twice",
			"remove one of them; if the same object is in two exports, give only one of the files")
		return false
	}
	r.seen[key] = o
	value, err := o.doc.plain(o.node)
	if err != nil {
		span := o.Place()
		if at := new(nodeError); errors.As(err, &at) && at.node.Line > 0 {
			span = o.doc.span(at.node)
		}
		r.add(codeSyntax, span, err.Error(), exportAgain)
		return false
	}
	o.Fields, _ = value.(map[string]any)
	r.export.All, *list = append(r.export.All, o), append(*list, o)
	return true
}
