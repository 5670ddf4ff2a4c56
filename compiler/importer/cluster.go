package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

func oneOfTexts(texts ...string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		s, _ := v.(string)
		return s, slices.Contains(texts, s)
	}
}

func anyBool(v any) (any, bool) {
	b, ok := v.(bool)
	return b, ok
}

func onlyTrue(v any) (any, bool) { return true, v == true }

var ipv4Range = regexp.MustCompile(`^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$`)

// namedRanges accepts a list of ranges, each with a name or without, in the given fields.
func namedRanges(rangeField, nameField string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		list, _ := v.([]any)
		var out []setting
		taken := map[string]bool{}
		for i, item := range list {
			block, name := textAt(item, rangeField), textAt(item, nameField)
			if !ipv4Range.MatchString(block) {
				return nil, false
			}
			if name == "" {
				name = fmt.Sprintf("range-%d", i+1)
			}
			out = append(out, setting{uniqueName(fitName(name, 40), 40, taken), block})
		}
		return out, len(out) > 0
	}
}

// planCluster describes the cluster: one that exists, if the exports show one, and
// otherwise a new one.
func (d *design) planCluster() {
	if d.exists {
		d.planExisting()
	}
	d.planToolkits()
}

// addSetting sets the value at a path, unless it is set.
func addSetting(list []setting, path []string, value any) []setting {
	if len(path) == 1 {
		if slices.ContainsFunc(list, func(s setting) bool { return s.name == path[0] }) {
			return list
		}
		return append(list, setting{path[0], value})
	}
	for i := range list {
		if below, ok := list[i].value.([]setting); ok && list[i].name == path[0] {
			list[i].value = addSetting(below, path[1:], value)
			return list
		}
	}
	return append(list, setting{path[0], addSetting(nil, path[1:], value)})
}

// kindsOf counts the objects of each kind, for the comment at the top.
func (inv *inventory) kindsOf() map[string]int {
	out := map[string]int{}
	for _, o := range inv.objects {
		if !o.ignored {
			out[o.kind]++
		}
	}
	return maps.Clone(out)
}
