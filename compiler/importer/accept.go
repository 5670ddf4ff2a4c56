package importer

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
)

// asItRuns is the reason with which an import accepts what is found in queues that run.
const asItRuns = "imported: it runs like this today"

// accept adds to the exact design the acceptances of findings on it: what runs stays as it is. A
// finding that no struct of the design can accept stays.
func (d *design) accept(findings []diag.Finding) {
	x := d.exact
	found := map[*entry][]string{}
	for _, f := range findings {
		for _, one := range append([]diag.Finding{f}, f.Others...) {
			if e := x.entryAt(one.Path); e != nil && !slices.Contains(found[e], f.Code) {
				found[e] = append(found[e], f.Code)
			}
		}
	}
	x.everyTeam = acceptInAll(x.everyTeam, x.teams, found)
	x.everyTier = acceptInAll(x.everyTier, x.tiers, found)
	for e, codes := range found {
		e.fields = e.fields.add("accept", acceptances(codes))
	}
}

// entryAt returns the entity of the design that contains a field of the blueprint, nil for others.
func (x *exactDesign) entryAt(path string) *entry {
	for _, section := range []struct {
		name    string
		entries []entry
	}{
		{"capacity.", x.capacities}, {"cohorts.", x.cohorts}, {"tiers.", x.tiers}, {"teams.", x.teams},
		{"topologies.", x.topologies},
	} {
		below, ok := strings.CutPrefix(path, section.name)
		if !ok {
			continue
		}
		i := x.index(section.name, section.entries, below)
		if i >= 0 {
			return &section.entries[i]
		}
	}
	return nil
}

// index returns the index of the entity whose name a path begins with, -1 if there is none. Of two
// such names, which contain dots, it is the longer one.
func (x *exactDesign) index(section string, entries []entry, path string) int {
	if x.indexes == nil {
		x.indexes = map[string]map[string]int{}
	}
	names := x.indexes[section]
	if names == nil {
		names = map[string]int{}
		for i, e := range entries {
			names[e.name] = i
		}
		x.indexes[section] = names
	}
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if i, known := names[path[:end]]; known {
			return i
		}
	}
	return -1
}

// acceptInAll moves the codes that are found in all of several entities to the fields of all of
// them.
func acceptInAll(every settings, entries []entry, found map[*entry][]string) settings {
	if len(entries) < 2 {
		return every
	}
	common := slices.Clone(found[&entries[0]])
	for i := range entries {
		common = slices.DeleteFunc(common, func(code string) bool { return !slices.Contains(found[&entries[i]], code) })
	}
	if len(common) == 0 {
		return every
	}
	for i := range entries {
		found[&entries[i]] = slices.DeleteFunc(found[&entries[i]], func(code string) bool {
			return slices.Contains(common, code)
		})
	}
	return every.add("accept", acceptances(common))
}

// acceptances returns the field accept with codes, sorted.
func acceptances(codes []string) settings {
	var out settings
	for _, code := range slices.Sorted(slices.Values(codes)) {
		out = append(out, setting{code, asItRuns})
	}
	return out
}
