package objects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/emit"
)

// readYAML returns the objects of a YAML file: Kubernetes objects, a kustomization,
// a build, alert rules, or anything else.
func readYAML(f emit.File) ([]object, *unreadable) {
	docs, err := parseYAML(f.Content)
	if err != nil {
		return nil, err
	}
	var out []object
	for _, doc := range docs {
		out = append(out, documentObjects(f.Path, doc)...)
	}
	return out, nil
}

// documentObjects returns the objects in a YAML document, depending on its type.
func documentObjects(file string, n *node) []object {
	whole := object{kind: "file", name: file, line: n.line, scope: file, value: n}
	kind, name := n.scalarField("kind"), ""
	if metadata := n.kids[".metadata"]; n.shape == fields && metadata != nil {
		if name = metadata.scalarField("name"); name != "" && metadata.scalarField("namespace") != "" {
			name = metadata.scalarField("namespace") + "/" + name
		}
	}
	switch {
	case n.shape != fields:
	case path.Base(file) == "kustomization.yaml":
		whole.kind, whole.name = cmp.Or(kind, "Kustomization"), path.Dir(file)
	case kind != "" && name != "":
		whole.kind, whole.name, whole.scope = kind, name, ""
	case n.listField("steps") != nil:
		return buildObjects(whole)
	case n.listField("groups") != nil:
		return alertObjects(whole)
	}
	return []object{whole}
}

// buildObjects returns an object for each step, and one for the other fields of the
// build and the order of the steps.
func buildObjects(whole object) []object {
	whole.kind, whole.name = "build", strings.TrimSuffix(path.Base(whole.scope), path.Ext(whole.scope))
	steps := whole.value.listField("steps")
	out := []object{whole}
	for _, name := range steps.names {
		step := steps.kids[name]
		out = append(out,
			object{kind: "step", name: strings.Trim(name, "[]"), line: step.line, scope: whole.scope, value: step})
	}
	steps.ordered, steps.places = true, true
	return out
}

// alertObjects returns an object for each rule, which includes the fields of its
// group, and one for the rest of the file.
func alertObjects(whole object) []object {
	groups := whole.value.listField("groups")
	out := []object{whole}
	out[0].value = whole.value.withoutKid(".groups")
	for _, name := range groups.names {
		rules := groups.kids[name].listField("rules")
		if rules == nil {
			return []object{whole}
		}
		group := groups.kids[name].withoutKid(".rules")
		for _, name := range rules.names {
			rule := rules.kids[name].withoutKid(".group")
			rule.addKid(".group", group)
			slices.Sort(rule.names)
			out = append(out,
				object{kind: "alert", name: strings.Trim(name, "[]"), line: rule.line, scope: whole.scope, value: rule})
		}
	}
	return out
}

// withoutKid returns a copy of a node without one of its kids.
func (n *node) withoutKid(name string) *node {
	out := *n
	out.kids = maps.Clone(n.kids)
	delete(out.kids, name)
	out.names = slices.DeleteFunc(slices.Clone(n.names), func(s string) bool { return s == name })
	return &out
}

// listField returns a field that is a list with elements other than scalars, or nil.
func (n *node) listField(name string) *node {
	if kid := n.kids["."+name]; n.shape == fields && kid != nil && kid.shape == items {
		return kid
	}
	return nil
}

// parseYAML returns the documents of a file, without empty ones.
func parseYAML(content []byte) ([]*node, *unreadable) {
	var out []*node
	r := reader{budget: 20*len(content) + 1000}
	for d := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, yamlError(err)
		}
		n, err := r.readNode(&doc, "", "", 0)
		if err != nil {
			return nil, &unreadable{max(1, r.line), err.Error()}
		}
		if n != nil {
			out = append(out, n)
		}
	}
}

// yamlError separates the line number from the message of the library's error.
func yamlError(err error) *unreadable {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, reason, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			return &unreadable{max(1, line), reason}
		}
	}
	return &unreadable{1, message}
}

// deepest is the depth to which parsed values may be nested.
const deepest = 1000

// reader turns YAML into nodes. Its budget limits aliases, with which a short file
// could describe a huge value.
type reader struct{ budget, line int }

// readNode returns the node for a YAML node; nil for null, because Kubernetes treats a
// null field as absent. field is the name of the field that holds the value, and
// parent the name of the field that holds field.
func (r *reader) readNode(y *yaml.Node, field, parent string, depth int) (*node, error) {
	r.line = y.Line
	if r.budget--; r.budget < 0 || depth > deepest {
		return nil, errors.New("nested too deep, or aliases of aliases")
	}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 0 {
			return nil, nil
		}
		return r.readNode(y.Content[0], field, parent, depth+1)
	case yaml.AliasNode:
		return r.readNode(y.Alias, field, parent, depth+1)
	case yaml.MappingNode:
		n := &node{shape: fields, line: y.Line}
		for i := 0; i+1 < len(y.Content); i += 2 {
			k := y.Content[i]
			if k.Kind != yaml.ScalarNode {
				return nil, errors.New("a key that is no text")
			}
			v, err := r.readNode(y.Content[i+1], k.Value, field, depth+1)
			if err != nil {
				return nil, err
			}
			name := pathStep(k.Value)
			if _, ok := n.kids[name]; ok {
				r.line = k.Line
				return nil, fmt.Errorf("%q is there twice", k.Value)
			}
			if v != nil {
				n.addKid(name, v)
			}
		}
		slices.Sort(n.names)
		return n, nil
	case yaml.SequenceNode:
		var kids []*node
		for _, item := range y.Content {
			v, err := r.readNode(item, "", field, depth+1)
			if err != nil {
				return nil, err
			}
			if v == nil {
				v = &node{text: "null", id: "null"}
			}
			kids = append(kids, v)
		}
		n := listNode(field, kids)
		n.line = y.Line
		return n, nil
	}
	n := yamlScalar(y, field, parent)
	if n != nil {
		n.line = y.Line
	}
	return n, nil
}

func yamlScalar(y *yaml.Node, field, parent string) *node {
	if isQuantity(field, parent) {
		if n := quantityNode(y.Value); n != nil {
			return n
		}
	}
	switch tag := y.ShortTag(); tag {
	case "!!null":
		return nil
	case "!!bool":
		return &node{text: y.Value, id: "b" + strings.ToLower(y.Value)}
	case "!!int", "!!float":
		return numberNode(y.Value)
	case "!!str", "!!timestamp": // Kubernetes reads a timestamp as a string
		return textNode(y.Value)
	default:
		return &node{text: y.Value, id: tag + y.Value}
	}
}

// numberNode returns a scalar node for a number.
func numberNode(s string) *node {
	id := s
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		id = strconv.FormatInt(i, 10)
	} else if f, err := strconv.ParseFloat(s, 64); err == nil {
		id = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return &node{text: s, id: "n" + id}
}

// isQuantity reports whether a field is an amount of a resource.
func isQuantity(field, parent string) bool {
	switch field {
	case "nominalQuota", "borrowingLimit", "lendingLimit", "sizeLimit":
		return true
	}
	return parent == "requests" || parent == "limits" || field == "weight" && parent == "fairSharing"
}

// quantityNode returns a scalar node for an amount; equal amounts have equal nodes,
// for example 1000m and 1. It returns nil if s is not an amount, or if the exponent
// has more than two digits, because a short text would then produce a huge number.
func quantityNode(s string) *node {
	digits, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if len(digits) > 40 || len(strings.TrimLeft(exponent, "+-")) > 2 {
		return nil
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return nil
	}
	exact, ok := new(big.Rat).SetString(q.AsDec().String())
	if !ok {
		return nil
	}
	return &node{text: s, id: "q" + exact.RatString()}
}

// structuredNode returns the node for a text of several lines that is a map in JSON or
// YAML; nil for any other text.
func structuredNode(s string) *node {
	var n *node
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		n, _ = parseJSON([]byte(s))
	} else if docs, err := parseYAML([]byte(s)); err == nil && len(docs) == 1 {
		n = docs[0]
	}
	if n == nil || n.shape != fields {
		return nil
	}
	return n
}

// readJSON returns the objects of a JSON file: a dashboard of Grafana or Cloud
// Monitoring, or anything else.
func readJSON(f emit.File) ([]object, *unreadable) {
	n, err := parseJSON(f.Content)
	if err != nil {
		return nil, err
	}
	o := object{kind: "file", name: f.Path, line: 1, scope: f.Path, value: n}
	if title := cmp.Or(n.scalarField("title"), n.scalarField("displayName")); title != "" {
		o.kind, o.name = "dashboard", title
	}
	return []object{o}, nil
}

func parseJSON(content []byte) (*node, *unreadable) {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the value")
		}
	}
	if err != nil {
		at := d.InputOffset()
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return nil, &unreadable{1 + bytes.Count(content[:min(at, int64(len(content)))], []byte("\n")), err.Error()}
	}
	if n := valueNode(v, "", ""); n != nil {
		return n, nil
	}
	return &node{text: "null", id: "null"}, nil
}
