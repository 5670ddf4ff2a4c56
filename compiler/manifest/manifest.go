// Package manifest reads Kubernetes objects in YAML, such as an administrator adds to the
// platform. The text goes in; the objects come out with their places, and the problems of the
// documents that are no objects.
//
// Read knows nothing of the platform: package rules judges the objects.
package manifest

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Object is a Kubernetes object in a text.
type Object struct {
	Group, Version, Kind, Namespace, Name string
	Fields                                map[string]any
	Span                                  Span // of the line with the kind
	lines                                 map[string]Span
}

// At returns the line of a top-level field, or of the kind if the object has no such field.
func (o Object) At(field string) Span {
	if at, ok := o.lines[field]; ok {
		return at
	}
	return o.Span
}

// Span is a line of the text, without its indentation.
type Span struct {
	Start, End int // byte offsets
	Line       int // from 1
}

// Problem is a mistake in a text.
type Problem struct {
	Span    Span
	Message string
	Help    string
}

// reader is Read at work.
type reader struct {
	text     string
	lines    []int // byte offset of each line
	objects  []Object
	problems []Problem
}

// Read reads the objects of a text. A document that is no object is a problem, and the text
// after a mistake of syntax is not read.
func Read(text string) ([]Object, []Problem) {
	r := &reader{text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document yaml.Node
		err := decode(func() error { return d.Decode(&document) })
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.reportSyntax(err)
			return r.objects, r.problems
		}
		if len(document.Content) == 1 && document.Content[0].ShortTag() != "!!null" {
			r.readObject(document.Content[0])
		}
	}
	if r.objects == nil && r.problems == nil {
		r.report(1, "the file has no object", "remove the file, or write an object")
	}
	return r.objects, r.problems
}

// decode calls a function of the YAML parser, whose panics are errors.
func decode(do func() error) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("yaml: %v", bug)
		}
	}()
	return do()
}

func (r *reader) report(line int, message, help string) {
	r.problems = append(r.problems, Problem{r.line(line), message, help})
}

var errorLine = regexp.MustCompile(`^line ([0-9]+): (.*)`)

func (r *reader) reportSyntax(err error) {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	message = strings.TrimSpace(strings.TrimPrefix(message, "unmarshal errors:\n"))
	message, _, _ = strings.Cut(message, "\n")
	if at := errorLine.FindStringSubmatch(strings.TrimSpace(message)); at != nil {
		line, _ = strconv.Atoi(at[1])
		message = at[2]
	}
	help := "correct the YAML"
	if strings.Contains(r.text, "{{") {
		help = `write plain YAML: for a chart, keep the output of "helm template"`
	}
	r.report(line, "the file is not YAML: "+message, help)
}

// line returns a line, or the nearest one that exists.
func (r *reader) line(n int) Span {
	n = max(1, min(n, len(r.lines)))
	start, end := r.lines[n-1], len(r.text)
	if n < len(r.lines) {
		end = r.lines[n] - 1
	}
	whole := r.text[start:end]
	start += len(whole) - len(strings.TrimLeft(whole, " \t"))
	return Span{start, max(start, r.lines[n-1]+len(strings.TrimRight(whole, " \t\r"))), n}
}

// readObject reads a document.
func (r *reader) readObject(root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		r.report(root.Line, "the document is no Kubernetes object", "write apiVersion, kind and metadata")
		return
	}
	o := Object{Span: r.line(root.Line), lines: map[string]Span{}}
	if err := decode(func() error { return root.Decode(&o.Fields) }); err != nil {
		r.reportSyntax(err)
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		o.lines[root.Content[i].Value] = r.line(root.Content[i].Line)
	}
	o.Span = o.At("kind")
	apiVersion, kind := Text(o.Fields, "apiVersion"), Text(o.Fields, "kind")
	o.Group, o.Version, _ = strings.Cut(apiVersion, "/")
	if o.Version == "" {
		o.Group, o.Version = "", apiVersion
	}
	o.Kind, o.Name, o.Namespace = kind, Text(o.Fields, "metadata", "name"), Text(o.Fields, "metadata", "namespace")
	for _, field := range []struct{ name, value string }{
		{"apiVersion", apiVersion}, {"kind", kind},
	} {
		if field.value == "" {
			r.report(o.Span.Line, "the object has no "+field.name, "add "+field.name)
			return
		}
	}
	switch {
	case o.Group == "kustomize.config.k8s.io":
		r.report(o.Span.Line, "kustomize reads a "+kind+", and Kubernetes has no such object",
			`keep the output of "kubectl kustomize" instead`)
	case strings.HasSuffix(kind, "List") && o.Fields["items"] != nil:
		r.report(
			o.Span.Line,
			"a "+kind+" has no name of its own",
			`write its items as documents, with "---" between them`,
		)
	case o.Name == "":
		r.report(
			o.Span.Line,
			"the "+kind+" has no name",
			"add metadata: name; generateName makes a new object in each build",
		)
	default:
		r.objects = append(r.objects, o)
	}
}

// Text returns the text at a path of fields, "" if there is none.
func Text(fields map[string]any, path ...string) string {
	text, _ := Field(fields, path...).(string)
	return text
}

// Field returns the value at a path of fields, nil if there is none.
func Field(fields map[string]any, path ...string) any {
	var value any = fields
	for _, name := range path {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

// Elements returns the maps in the list at a path of fields.
func Elements(fields map[string]any, path ...string) []map[string]any {
	list, _ := Field(fields, path...).([]any)
	var out []map[string]any
	for _, element := range list {
		if inner, ok := element.(map[string]any); ok {
			out = append(out, inner)
		}
	}
	return out
}

// Texts returns the texts in the list at a path of fields.
func Texts(fields map[string]any, path ...string) []string {
	list, _ := Field(fields, path...).([]any)
	var out []string
	for _, element := range list {
		if text, ok := element.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// builtIn are the kinds of Kubernetes whose objects are in a namespace.
//
// Source: "kubectl api-resources --namespaced=true" of Kubernetes 1.34.
var builtIn = map[string][]string{
	"": {"ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate",
		"ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"},
	"apps":                      {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"autoscaling":               {"HorizontalPodAutoscaler"},
	"batch":                     {"CronJob", "Job"},
	"coordination.k8s.io":       {"Lease"},
	"discovery.k8s.io":          {"EndpointSlice"},
	"networking.k8s.io":         {"Ingress", "NetworkPolicy"},
	"policy":                    {"PodDisruptionBudget"},
	"rbac.authorization.k8s.io": {"Role", "RoleBinding"},
	"storage.k8s.io":            {"CSIStorageCapacity"},
}

// NeedsNamespace reports whether Kubernetes itself has the kind, and its objects are in a
// namespace.
func (o Object) NeedsNamespace() bool { return slices.Contains(builtIn[o.Group], o.Kind) }
