// Package summary compares two plans of a platform and describes the changes in the
// platform's own words: teams, quota, capacity, priorities, access.
//
// Two plans go in; lines come out. Each plan is first turned into facts, and a fact
// that differs between the plans becomes a line.
package summary

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// Of returns the changes between two plans, by topic. It turns each plan into facts,
// each with its own key, and returns the facts that differ. A change and its
// opposite therefore have the same lines, with their sides exchanged. If no fact differs, but
// the plans do, one line names the field. The time is linear in the size of the plans.
func Of(before, after *ir.Platform) []Line {
	same := sameTeams(before, after)
	changes := compareFacts(planFacts(before, same), planFacts(after, same))
	lines := slices.Concat(foldChanges(changes), cloudQuota(before.Demand.Rows, after.Demand.Rows))
	if len(lines) > 0 {
		return lines
	}
	field := firstDifference("", reflect.ValueOf(*before), reflect.ValueOf(*after))
	if field == "" {
		return nil
	}
	return []Line{{Topic: TopicCluster, Subject: kindPlatform, What: derivedValue(field), Op: delta.Changed}}
}

// derivedValue says what a line is about that tells a difference which no fact tells: the value
// of a field of the plan changed, which follows from other fields, although they did not. Of
// "Capacities.NodeLabels" it is "derived value: capacities, node labels".
func derivedValue(field string) string {
	split := regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(field, "$1 $2")
	return "derived value: " + strings.ToLower(strings.ReplaceAll(split, ".", ", "))
}

// isUntold reports whether no line tells a change of the field: a text for the people who
// submit the workload, which changes nothing that runs.
func isUntold(path string) bool { return path == "Workloads.Shows" || path == "Workloads.ExampleLog" }

// firstDifference returns the first field in which two values of a plan differ, such as
// "Capacities.NodeLabels", except the fields that no line tells; "" if there is none. path is
// the field that holds the values.
func firstDifference(path string, a, b reflect.Value) string {
	if a.Type() == reflect.TypeFor[resource.Quantity]() {
		q := a.Interface().(resource.Quantity)
		return choose(q.Cmp(b.Interface().(resource.Quantity)) != 0, path, "")
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return choose(a.IsNil() != b.IsNil(), path, "")
		}
		return firstDifference(path, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return path
		}
		for i := range a.Len() {
			if field := firstDifference(path, a.Index(i), b.Index(i)); field != "" {
				return field
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			name := strings.TrimPrefix(path+"."+a.Type().Field(i).Name, ".")
			if field := firstDifference(name, a.Field(i), b.Field(i)); field != "" {
				return field
			}
		}
		return ""
	}
	return choose(isUntold(path) || reflect.DeepEqual(a.Interface(), b.Interface()), "", path)
}

// planFacts returns the facts of a plan, except those of the teams in same, of which
// nothing changed.
func planFacts(p *ir.Platform, same map[string]bool) *sheet {
	s := &sheet{plan: p, same: same, at: map[key]int{}, subjects: map[key]int{}, queues: newTally(p)}
	s.addPlatform()
	s.addNetwork()
	s.addDelivery()
	s.addMonitoring()
	s.addCapacities()
	s.addTeams()
	s.addPriorities()
	s.addSettings()
	s.addWorkloads()
	return s
}

// key identifies a fact: the kind and name of its subject, and the part of the
// subject, which is "" for the subject as a whole.
type key struct{ kind, name, what string }

// factPath returns the name of a key in fact.follows. The name of a subject is a
// prefix of the names of its parts.
func factPath(parts ...string) string { return strings.Join(parts, "\x00") }

// sameTeams returns the teams that are equal in both plans, together with all their
// workloads. On a platform with many teams, most are equal.
func sameTeams(before, after *ir.Platform) map[string]bool {
	type tenant struct {
		team *ir.Team
		jobs []ir.Workload
	}
	tenants := func(p *ir.Platform) map[string]*tenant {
		out := map[string]*tenant{}
		for i := range p.Teams {
			out[p.Teams[i].Name] = &tenant{team: &p.Teams[i]}
		}
		for jobs := range keyRuns(p.Workloads, func(w *ir.Workload) string { return w.Team }) {
			if t := out[jobs[0].Team]; t != nil {
				t.jobs = jobs
			}
		}
		return out
	}
	was, same := tenants(before), map[string]bool{}
	for name, is := range tenants(after) {
		same[name] = was[name] != nil && reflect.DeepEqual(is, was[name])
	}
	return same
}

// keyRuns cuts a slice into runs of neighbours with the same key.
func keyRuns[T any](all []T, by func(*T) string) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && by(&all[n]) == by(&all[0]) {
				n++
			}
			if !yield(all[:n:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// fact is one statement of a plan, in words.
type fact struct {
	key
	topic Topic
	form  form
	// value is "" only if it is not shown.
	value string
	list  []string // the members of a set or an order
	// part is the key of the fact to which this fact belongs; nil for none. If the
	// other fact was added or removed, its line covers this fact.
	part *key
	// follows lists the causes of the fact; if one of them changed, the fact is
	// omitted. An entry is a key or a tag. For causes that have no follows
	// themselves, it can also be a kind, or a subject (path of its kind and name).
	follows []string
	tag     string // one name for several facts in follows, or ""
	group   string // facts of one group that changed alike share a line
	alone   bool   // never shares a line with other facts
	// notes returns remarks that a reader needs, based on the fact's plan; nil for
	// none.
	notes func() []string
}

// form says how the values of a fact are compared.
type form int

const (
	plain  form = iota // compare the values
	being              // compare only whether the fact exists
	opaque             // compare the values, but do not show them
	set                // compare the members of list
	order              // compare the order of the members that both lists have
	ratio              // compare the values; omit the fact if one of them is missing
)

// sheet holds the facts of a plan.
type sheet struct {
	plan  *ir.Platform
	facts []fact
	at    map[key]int
	// same are the omitted teams. For them, subjects holds the number of subjects by
	// kind and group.
	same     map[string]bool
	subjects map[key]int
	// queues holds the amounts of capacities that the plan's queues are guaranteed.
	queues tally
}

// addFact adds a fact. It replaces an earlier fact with the same key; plans of the
// compiler have no two facts with one key.
func (s *sheet) addFact(f fact) {
	if i, known := s.at[f.key]; known {
		s.facts[i] = f
		return
	}
	s.at[f.key] = len(s.facts)
	s.facts = append(s.facts, f)
}

func (s *sheet) factOf(k key) *fact {
	if i, ok := s.at[k]; ok {
		return &s.facts[i]
	}
	return nil
}

// subject adds facts about one subject and topic.
type subject struct {
	*sheet
	topic      Topic
	kind, name string
	group      string
	part       *key
}

func (s *sheet) newSubject(topic Topic, kind, name string) subject {
	return subject{sheet: s, topic: topic, kind: kind, name: name}
}

// exists adds the fact that the subject exists. All facts that are added later are
// part of it.
func (s *subject) exists(description string) {
	s.addFact(fact{
		key: key{s.kind, s.name, ""}, topic: s.topic, form: being, value: description, group: s.group, part: s.part,
	})
	s.part = &key{s.kind, s.name, ""}
}

// has adds a fact about the part what of the subject, and completes the fact's key.
func (s subject) has(what string, f fact) {
	f.key = key{s.kind, s.name, what}
	f.topic = cmp.Or(f.topic, s.topic)
	f.group = s.group
	if f.part == nil {
		f.part = s.part
	}
	s.addFact(f)
}

// is adds a value, with or without notes.
func (s subject) is(what, value string, notes ...string) {
	s.has(what, fact{value: value, notes: remarks(notes...)})
}

// remarks returns fixed notes for a fact.
func remarks(notes ...string) func() []string {
	if len(notes) == 0 {
		return nil
	}
	return func() []string { return notes }
}

// follows adds a value that follows from other facts.
func (s subject) follows(what, value string, from ...string) {
	s.has(what, fact{value: cmp.Or(value, none), follows: from})
}

// all adds a set.
func (s subject) all(what string, values []string, from ...string) {
	s.has(what, fact{form: set, list: values, follows: from})
}

// change is a line under construction.
type change struct {
	Line
	fact *fact // of the later plan; without one, of the earlier plan
	// alike is the number of subjects in both plans that could have the same change:
	// all subjects of the fact's kind and group. It is 0 for a subject that was
	// added or removed.
	alike int
}

// compareFacts returns the changes between two plans, by topic, kind and name.
func compareFacts(before, after *sheet) []change {
	var found []change
	for i := range after.facts {
		found = append(found, factChanges(before.factOf(after.facts[i].key), &after.facts[i])...)
	}
	for i := range before.facts {
		if after.factOf(before.facts[i].key) == nil {
			found = append(found, factChanges(&before.facts[i], nil)...)
		}
	}
	found = slices.DeleteFunc(found, func(c change) bool {
		return cameOrWent(c.fact.part, before, after)
	})
	told := indexCauses(found)
	found = slices.DeleteFunc(found, func(c change) bool {
		return told.explains(c, before, after)
	})
	subjects := countSubjects(before, after)
	for i := range found {
		c := &found[i]
		if c.fact.form != being || c.fact.what != "" {
			c.alike = subjects[key{c.fact.kind, c.fact.group, ""}]
		}
		if c.fact.notes != nil {
			c.Note = strings.Join(c.fact.notes(), "; ")
		}
		if c.Op == delta.Removed && strings.HasPrefix(c.Note, dangerous) {
			c.Note = "" // the danger is over
		}
	}
	noteRenames(found)
	slices.SortStableFunc(found, func(a, b change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(topics, a.Topic), slices.Index(topics, b.Topic)),
			cmp.Compare(slices.Index(kinds, a.fact.kind), slices.Index(kinds, b.fact.kind)),
			cmp.Compare(a.fact.group, b.fact.group),
			cmp.Compare(a.fact.name, b.fact.name),
		)
	})
	return found
}

// noteRenames adds a note to a removed and an added subject of the same kind and
// description, if there is only one of each: somebody may have wanted only to rename
// it.
func noteRenames(changes []change) {
	type alike struct{ kind, description string }
	went, came := map[alike][]*change{}, map[alike][]*change{}
	for i := range changes {
		c := &changes[i]
		if c.fact.what != "" || !slices.Contains(named, c.fact.kind) {
			continue
		}
		k := alike{c.fact.kind, c.fact.value}
		switch c.Op {
		case delta.Removed:
			went[k] = append(went[k], c)
		case delta.Added:
			came[k] = append(came[k], c)
		}
	}
	for k, gone := range went {
		if come := came[k]; len(gone) == 1 && len(come) == 1 {
			gone[0].Note = quoteName(come[0].fact.name) + " is added with the same: another name makes another " +
				k.kind
			come[0].Note = "the same as " + quoteName(gone[0].fact.name) + ", which is removed"
		}
	}
}

// factChanges returns the changes of a fact between two plans. One of the facts may be
// nil.
func factChanges(before, after *fact) []change {
	one := cmp.Or(after, before)
	line := Line{Topic: one.topic, What: one.what}
	only := func(op delta.Op, from, to string) []change {
		line.Op, line.From, line.To = op, from, to
		if one.form == opaque {
			line.From, line.To = "", ""
		}
		return []change{{Line: line, fact: one}}
	}
	switch {
	case one.form == set:
		var out []change
		if gone := withoutElements(listOf(before), listOf(after)); len(gone) > 0 {
			out = append(out, only(delta.Removed, shortNames(gone), "")...)
		}
		if come := withoutElements(listOf(after), listOf(before)); len(come) > 0 {
			out = append(out, only(delta.Added, "", shortNames(come))...)
		}
		return out
	case one.form == order:
		if before == nil || after == nil {
			return nil
		}
		was, is := commonElements(before.list, after.list), commonElements(after.list, before.list)
		if slices.Equal(was, is) {
			return nil
		}
		return only(delta.Changed, strings.Join(before.list, ", "), strings.Join(after.list, ", "))
	case before == nil || after == nil:
		switch {
		case one.form == ratio:
			return nil
		case before == nil:
			return only(delta.Added, "", after.value)
		}
		return only(delta.Removed, before.value, "")
	case one.form == being || before.value == after.value:
		return nil
	}
	return only(delta.Changed, before.value, after.value)
}

func listOf(f *fact) []string {
	if f == nil {
		return nil
	}
	return f.list
}

// withoutElements returns the elements of list that are not in other, each once.
func withoutElements(list, other []string) []string {
	known := map[string]bool{}
	for _, s := range other {
		known[s] = true
	}
	var out []string
	for _, s := range list {
		if !known[s] {
			known[s] = true
			out = append(out, s)
		}
	}
	return out
}

// commonElements returns the elements that are in both lists, in the order of list.
func commonElements(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
}

// cameOrWent reports whether the fact whole, or a fact that whole is part of, is in
// only one of the plans.
func cameOrWent(whole *key, before, after *sheet) bool {
	for whole != nil {
		was, is := before.factOf(*whole), after.factOf(*whole)
		if was == nil || is == nil {
			return true
		}
		whole = is.part
	}
	return false
}

// causes holds the changed facts under all their names in fact.follows.
type causes map[string]bool

func indexCauses(changes []change) causes {
	out := causes{}
	for _, c := range changes {
		k := c.fact.key
		out[factPath(k.kind, k.name, k.what)] = true
		if c.fact.tag != "" {
			out[c.fact.tag] = true
		}
		if c.fact.follows == nil {
			out[k.kind], out[factPath(k.kind, k.name)] = true, true
		}
	}
	return out
}

// explains reports whether a change follows from other changes in told.
func (told causes) explains(c change, before, after *sheet) bool {
	if c.fact.follows == nil {
		return false
	}
	for _, f := range []*fact{before.factOf(c.fact.key), after.factOf(c.fact.key)} {
		if f != nil && slices.ContainsFunc(f.follows, func(cause string) bool { return told[cause] }) {
			return true
		}
	}
	return false
}

// countSubjects returns the number of subjects that are in both plans, by kind and
// group.
func countSubjects(before, after *sheet) map[key]int {
	out := maps.Clone(after.subjects)
	for i := range after.facts {
		f := &after.facts[i]
		if f.form == being && f.what == "" && before.factOf(f.key) != nil {
			out[key{f.kind, f.group, ""}]++
		}
	}
	return out
}

// foldChanges returns changes as lines. Subjects that changed alike share one line,
// in the place of the first of them.
func foldChanges(changes []change) []Line {
	type alike struct {
		kind, group string
		Line        // without its subject and note
	}
	heaps := gatherChanges(changes, func(c change) (alike, bool) {
		line := c.Line
		line.Note = ""
		return alike{c.fact.kind, c.fact.group, line}, !c.fact.alone && slices.Contains(folded, c.fact.kind)
	})
	var workloads []change
	var out []Line
	for _, heap := range heaps {
		line := heap[0].Line
		line.Note = commonNotes(heap)
		if heap[0].fact.kind == kindWorkload {
			// The line covers several templates that changed alike, for the same
			// teams.
			line.Subject = ownerNames(heap)
			workloads = append(workloads, change{Line: line, fact: heap[0].fact})
			continue
		}
		line.Subject = subjectsTitle(heap)
		out = append(out, line)
	}
	for _, heap := range gatherChanges(workloads, func(c change) (Line, bool) { return c.Line, true }) {
		line := heap[0].Line
		var templates []string
		for _, c := range heap {
			templates = append(templates, quoteName(c.fact.group))
		}
		what := kindWorkload
		if len(templates) > 1 {
			what = words.Count(len(templates), kindWorkload) + ":"
		}
		line.Subject = what + " " + shortNames(templates) + " of " + heap[0].Subject
		out = append(out, line)
	}
	return out
}

// gatherChanges returns changes in groups with the same key, in the order of each
// group's first change. by returns the key of a change, and whether the change may
// share a group.
func gatherChanges[K comparable](changes []change, by func(change) (K, bool)) [][]change {
	var heaps [][]change
	at := map[K]int{}
	for _, c := range changes {
		k, may := by(c)
		i, known := at[k]
		if !known || !may {
			i = len(heaps)
			at[k] = i
			heaps = append(heaps, nil)
		}
		heaps[i] = append(heaps[i], c)
	}
	return heaps
}

// commonNotes returns the notes that all of the changes have.
func commonNotes(changes []change) string {
	if len(changes) == 1 {
		return changes[0].Note
	}
	if changes[0].fact.notes == nil {
		return ""
	}
	notes := changes[0].fact.notes()
	for _, c := range changes[1:] {
		if len(notes) == 0 {
			break
		}
		notes = commonElements(notes, c.fact.notes())
	}
	return strings.Join(notes, "; ")
}

// subjectsTitle returns the subjects of changes: as a total if all subjects changed,
// otherwise by name.
func subjectsTitle(changes []change) string {
	if first := changes[0].fact; len(changes) == 1 {
		return subjectName(first.kind, first.name)
	}
	return severalSubjects(changes, changes[0].fact.kind)
}

// ownerNames returns the names of the teams whose copies of one template changed.
func ownerNames(changes []change) string {
	if len(changes) == 1 {
		team, _, _ := strings.Cut(changes[0].fact.name, "/")
		return subjectName(kindTeam, team)
	}
	return severalSubjects(changes, kindTeam)
}

func severalSubjects(changes []change, noun string) string {
	if len(changes) == changes[0].alike {
		if len(changes) == 2 {
			return "both " + strings.TrimPrefix(words.Count(2, noun), "2 ")
		}
		return "all " + words.Count(len(changes), noun)
	}
	var members []string
	for _, c := range changes {
		member, _, _ := strings.Cut(c.fact.name, "/") // for a workload its team
		members = append(members, member)
	}
	return words.Count(len(members), noun) + ": " + shortNames(members)
}
