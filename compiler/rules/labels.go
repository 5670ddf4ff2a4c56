package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on the labels of the platform and of teams. A label is at the same time a
// label of Google Cloud resources and of Kubernetes namespaces, so both rule sets hold
// for every label.
//
// Source: Google Cloud documentation, "Requirements for labels"; Kubernetes
// documentation, "Labels and Selectors", syntax and character set.

func labelRules() []Rule {
	return []Rule{
		rule("E0250", "key of a label is invalid", on(allLabels, labelKeys), fieldwise),
		rule("E0251", "value of a label is invalid", on(allLabels, labelValues), fieldwise),
		rule("E0252", "key of a label is reserved", on(allLabels, reservedLabels), fieldwise),
		rule("E0253", "too many labels", labelCount),
		rule("E0255", "label of a namespace has two values", selectedLabels, resolved),
	}
}

const (
	// maxLabelLength is the maximum length of a key and of a value.
	maxLabelLength = 63
	// maxLabels is the number of labels that a blueprint can give a resource: Google
	// Cloud allows 64. Three are taken: batchwright's two, and
	// goog-terraform-provisioned, which the provider adds.
	maxLabels = 64 - 3
	// googlePrefix begins the keys that Google Cloud reserves for itself.
	googlePrefix = "goog-"
)

var (
	labelKey   = regexp.MustCompile(`^[a-z]([-_a-z0-9]*[a-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?)?$`)
	notInLabel = regexp.MustCompile(`[^-_a-z0-9]+`)
)

// allLabels are the labels of the platform and of teams.
const allLabels = "labels.* teams.*.labels.*"

func labelKeys(r *report, path fieldPath, _ string) {
	key := path.last()
	if labelKey.MatchString(key) && len(key) <= maxLabelLength {
		return
	}
	cure := "begin the key with a lower-case letter"
	if valid := labelText(strings.TrimLeft(strings.ToLower(key), "0123456789-_")); valid != "" {
		cure = say("write %q", valid)
	}
	r.addKey(path, say("%s is no valid key of a label", quoteNames([]string{key})),
		label("want a letter, then at most %d of a-z, 0-9, - and _, and no - or _ at the end", maxLabelLength-1),
		advise(cure))
}

func labelValues(r *report, path fieldPath, value string) {
	if !labelValue.MatchString(value) || len(value) > maxLabelLength {
		r.add(path, say("%s is no valid value of a label", quoteNames([]string{value})),
			label("want at most %d of a-z, 0-9, - and _, and no - or _ at the ends", maxLabelLength),
			help("write %q", labelText(value)))
	}
}

// selectedLabels reports a label for cost reports that differs from the label by which a
// queue, or Kueue that others run, selects the namespace of the team. The namespace can
// have only one of them.
func selectedLabels(r *report) {
	var ofKueue []ir.KeyValue
	if e := r.Plan.Cluster.Existing; e != nil && e.Kueue != nil {
		ofKueue = e.Kueue.NamespaceLabels
	}
	for _, t := range r.Plan.Teams {
		for _, selected := range t.NamespaceLabels {
			path := at("teams", t.Name, "labels", selected.Key)
			value, given := r.Blueprint.Teams[t.Name].Labels[selected.Key]
			if !given {
				path = at("labels", selected.Key)
				value, given = r.Blueprint.Labels[selected.Key]
			}
			if !given || value == selected.Value {
				continue
			}
			selector := "its queue"
			cure := fmt.Sprintf("write %q here, or select namespaces by another key", selected.Value)
			if slices.Contains(ofKueue, selected) {
				selector, cure = "Kueue", fmt.Sprintf("write %q here: Kueue manages only namespaces with this value",
					selected.Value)
			}
			r.add(path, say("the namespace of team %q would have the label %s with two values: %q, and %q by which "+
				"%s selects it", t.Name, selected.Key, value, selected.Value, selector), advise(cure))
		}
	}
}

// labelText returns the text that a label can have instead of an invalid one.
func labelText(text string) string {
	text = strings.Trim(notInLabel.ReplaceAllString(strings.ToLower(text), "-"), "-_")
	return strings.TrimRight(text[:min(len(text), maxLabelLength)], "-_")
}

// reservedLabels reports keys that Google Cloud reserves, and keys of batchwright's own
// labels.
func reservedLabels(r *report, path fieldPath, _ string) {
	key := path.last()
	owner, better := "", "my-"+labelText(key)
	switch {
	case strings.HasPrefix(key, googlePrefix):
		better = labelText(strings.TrimPrefix(key, googlePrefix))
		owner = "Google Cloud reserves keys that begin with " + googlePrefix
	case key == ir.CloudLabelManagedBy || key == ir.CloudLabelPlatform:
		owner = "batchwright itself sets this label on every resource"
	case key == ir.LabelTeam && path[0] == "teams":
		owner = "batchwright itself sets this label on the namespace: it holds the name of the team"
	default:
		return
	}
	r.addKey(path, say("key %q of a label is reserved", key), note("%s", owner),
		help("write another key, such as %q", better))
}

// labelCount reports more labels than a resource can have. A team's bucket also has the
// labels of the platform.
func labelCount(r *report) {
	if n := len(r.Blueprint.Labels); n > maxLabels {
		r.addKey(at("labels"), say("the platform has %d labels, but at most %d are possible", n, maxLabels),
			help("remove at least %s: Google Cloud allows 64 on a resource, and 3 are taken",
				words.Count(n-maxLabels, "label")))
		return
	}
	for _, name := range sortedKeys(r.Blueprint.Teams) {
		n := len(r.Blueprint.Labels)
		for key := range r.Blueprint.Teams[name].Labels {
			if _, replaced := r.Blueprint.Labels[key]; !replaced {
				n++
			}
		}
		if n > maxLabels {
			r.addKey(at("teams", name, "labels"),
				say("team %q has %d labels with those of the platform, but at most %d are possible", name, n,
					maxLabels), help("remove at least %s: Google Cloud allows 64 on a resource, and 3 are taken",
					words.Count(n-maxLabels, "label")))
		}
	}
}
