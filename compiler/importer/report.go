package importer

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// Status says how much of a field the blueprint has.
type Status string

// Statuses of a field.
const (
	Exact        Status = "exact"          // the compiled object has the same value
	Approximated Status = "approximated"   // the compiled object has another value; the consequence says which
	NoPart       Status = "no counterpart" // a blueprint has no field for it
)

// Report says what became of each object.
type Report struct{ Objects []ObjectReport }

// ObjectReport says what became of the fields of an object.
type ObjectReport struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Place     string `json:"place"`
	// Count is the number of objects that the entry is about, 0 for one. Name and Place
	// describe the first of them.
	Count  int           `json:"count,omitempty"`
	Fields []FieldReport `json:"fields"`
}

// FieldReport says what became of a field. Becomes is the path in the blueprint, ""
// if there is none. Consequence is "" only if the field is exact.
type FieldReport struct {
	Field       string `json:"field"`
	Status      Status `json:"status"`
	Becomes     string `json:"becomes,omitempty"`
	Consequence string `json:"consequence,omitempty"`
}

func (o *object) report(field string, status Status, becomes, consequence string) {
	o.fields = append(o.fields, FieldReport{field, status, becomes, consequence})
}

func (o *object) exact(field, becomes string) { o.report(field, Exact, becomes, "") }

func (o *object) approximate(field, becomes, format string, args ...any) {
	o.report(field, Approximated, becomes, fmt.Sprintf(format, args...))
}

func (o *object) none(field, becomes, format string, args ...any) {
	o.report(field, NoPart, becomes, fmt.Sprintf(format, args...))
}

// exactIf reports a field as exact or, if it is not, as approximated.
func (o *object) exactIf(exact bool, field, becomes, format string, args ...any) {
	if exact {
		o.exact(field, becomes)
	} else {
		o.report(field, Approximated, becomes, fmt.Sprintf(format, args...))
	}
}

// assume reports a value that no object has.
func (d *design) assume(field, format string, args ...any) {
	d.assumed = append(d.assumed, FieldReport{field, Approximated, field, fmt.Sprintf(format, args...)})
}

// report returns the report on all objects, in the order of the files. The first entry
// is about values that no object has.
func (d *design) report() Report {
	out := Report{Objects: []ObjectReport{}}
	if len(d.assumed) > 0 {
		out.Objects = append(out.Objects, ObjectReport{Kind: "platform", Name: d.name, Fields: d.assumed})
	}
	ignored := map[string]int{} // index of the entry, by kind
	for _, o := range d.inv.objects {
		if i, known := ignored[o.Kind]; known && o.Ignored {
			out.Objects[i].Count = max(out.Objects[i].Count, 1) + 1
			continue
		}
		if o.Ignored {
			ignored[o.Kind] = len(out.Objects)
			o.report("object", NoPart, "", ignoredConsequence(o.Kind))
		} else {
			if d.exact == nil {
				o.reportFates()
			}
			o.reportMetadata()
		}
		out.Objects = append(out.Objects, ObjectReport{
			Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Place: o.Place().String(), Fields: o.fields,
		})
	}
	return out
}

// ignoredConsequence says what follows for objects of a kind that Import does not read.
func ignoredConsequence(kind string) string {
	switch kind {
	case "MultiKueueConfig", "MultiKueueCluster":
		return "the platform is one cluster: Kueue sends no jobs to other clusters"
	case "Deployment", "ConfigMap":
		return "import reads only the Deployments of " + words.And(kinds.WithControllers("Kueue")) +
			", and Kueue's configuration"
	case "Workload":
		return "a blueprint does not describe running jobs"
	}
	return "import does not read objects of this kind"
}

// reportMetadata reports the labels and annotations of an object that the platform applies.
// It omits the labels and annotations of kubectl and of Kubernetes itself: they have no
// meaning for others.
func (o *object) reportMetadata() {
	if o.Kind == "Deployment" || o.Kind == "ConfigMap" {
		return
	}
	applier, applied := o.Applier()
	for _, field := range []string{"annotations", "labels"} {
		values, _ := exports.At(o.Fields, "metadata", field).(map[string]any)
		if !hasOwnKeys(values) {
			continue
		}
		consequence := "the compiled object has labels and annotations of its own"
		if applied {
			consequence = applier.String() + " applies the object: hand it over first, as \"batchwright diff --live " +
				"FILE --handover DIR\" describes"
			applied = false // once
		}
		o.report("metadata."+field, NoPart, "", consequence)
	}
}

// hasOwnKeys reports whether labels or annotations have a key that neither kubectl nor Kubernetes
// itself sets.
func hasOwnKeys(values map[string]any) bool {
	for key := range values {
		if !strings.HasPrefix(key, "kubectl.kubernetes.io/") && !strings.HasPrefix(key, "kubernetes.io/") {
			return true
		}
	}
	return false
}

// Count returns the number of fields with the status.
func (r Report) Count(s Status) int {
	n := 0
	for _, o := range r.Objects {
		for _, f := range o.Fields {
			if f.Status == s {
				n++
			}
		}
	}
	return n
}

// WriteJSON writes the report as one JSON object on one line, for programs. Readers should ignore
// unknown keys.
func (r Report) WriteJSON(w io.Writer) error {
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, struct {
		Version int            `json:"version"`
		Type    string         `json:"type"`
		Objects []ObjectReport `json:"objects"`
	}{1, "import", append([]ObjectReport{}, r.Objects...)}, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// WriteText writes the report for people: what differs, object by object, and then the
// numbers of fields.
func (r Report) WriteText(w io.Writer) error {
	var text strings.Builder
	for _, o := range r.Objects {
		title := fmt.Sprintf("%s %q", o.Kind, o.Name)
		if o.Namespace != "" {
			title += fmt.Sprintf(" in namespace %q", o.Namespace)
		}
		if o.Count > 1 {
			title = fmt.Sprintf("%s, the first %q", words.Count(o.Count, o.Kind), o.Name)
		}
		if o.Place != "" {
			title += ", " + o.Place
		}
		text.WriteString(title + "\n")
		for _, f := range o.Fields {
			fmt.Fprintf(&text, "  %-14s  %s", f.Status, words.OneLine(f.Field))
			if f.Becomes != "" {
				text.WriteString(" -> " + words.OneLine(f.Becomes))
			}
			if f.Consequence != "" {
				text.WriteString(": " + words.OneLine(f.Consequence))
			}
			text.WriteString("\n")
		}
	}
	exact, approximated, none := r.Count(Exact), r.Count(Approximated), r.Count(NoPart)
	fmt.Fprintf(&text, "%s: %d exact, %d approximated, %d without counterpart\n",
		words.Count(exact+approximated+none, "field"), exact, approximated, none)
	_, err := io.WriteString(w, text.String())
	return err
}
