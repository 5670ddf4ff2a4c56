package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// CompareValues returns the fields in which two Kubernetes objects differ. Both are
// values as encoding/json decodes them, with numbers as json.Number. Quantities are
// equal whatever their form, and a null field is the same as an absent one.
func CompareValues(before, after map[string]any) []Field {
	before, after = maps.Clone(before), maps.Clone(after)
	for name, value := range before { // nodes cost much, and most fields are equal
		if reflect.DeepEqual(value, after[name]) {
			delete(before, name)
			delete(after, name)
		}
	}
	return compareNodes(valueNode(before, "", ""), valueNode(after, "", ""))
}

// valueNode returns the node for a value of a Kubernetes object or of a dashboard; nil for
// null. field is the name of the field that holds the value, and parent the name of the field
// that holds field. valueNode omits the position of a panel in its dashboard, which counts as
// formatting.
func valueNode(v any, field, parent string) *node {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		var place []string
		if v["gridPos"] != nil {
			place = []string{"gridPos", "id"}
		} else if v["widget"] != nil {
			place = []string{"xPos", "yPos", "width", "height"}
		}
		n := &node{shape: fields}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(place, name) {
				continue
			}
			if kid := valueNode(v[name], name, field); kid != nil {
				n.addKid(pathStep(name), kid)
			}
		}
		slices.Sort(n.names)
		return n
	case []any:
		kids := make([]*node, len(v))
		for i, item := range v {
			if kids[i] = valueNode(item, "", field); kids[i] == nil {
				kids[i] = &node{text: "null", id: "null"}
			}
		}
		return listNode(field, kids)
	}
	text := fmt.Sprint(v)
	if isQuantity(field, parent) {
		if n := quantityNode(text); n != nil {
			return n
		}
	}
	switch v := v.(type) {
	case json.Number:
		return numberNode(v.String())
	case bool:
		return &node{text: text, id: "b" + text}
	}
	return textNode(text)
}
