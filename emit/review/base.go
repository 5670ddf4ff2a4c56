package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/jobs"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// Base says what the earlier state of a comparison of two revisions is. The platform was built
// from the folder that is committed there, which can differ from what this batchwright compiles
// the blueprint of that revision to: another version wrote it, the blueprint changed without it,
// or somebody edited it.
type Base struct {
	// Folder is the path of the committed folder in the repository; "" if there is none, and the
	// earlier state is the compiled blueprint.
	Folder string `json:"folder"`
	// Reason says why there is no committed folder to compare with; "" if there is one.
	Reason string `json:"reason"`
	// Unplanned says why no blueprint belongs to the committed folder, so that the review has no
	// summary of teams, quota and access; "" if one does.
	Unplanned string `json:"unplanned"`
	// Version is the batchwright that compiled the later state, such as "batchwright v1.2.3" or
	// "batchwright 0123456789ab".
	Version string `json:"version"`
	// Objects is the number of changed objects. FromTool and FromEdits count those that do not
	// follow from the blueprint: this batchwright generates them in another way than the one that
	// wrote the committed folder, or somebody edited them there. All others follow from the
	// blueprint.
	Objects   int `json:"objects"`
	FromTool  int `json:"fromTool"`
	FromEdits int `json:"fromEdits"`
	// Edited are the files of the committed folder that were edited or deleted since they were
	// generated, relative to the folder, sorted.
	Edited []string `json:"edited"`
}

// sentences says what the earlier state is, if that is not what a reader expects; "" if it is:
// the committed folder as this batchwright would write it. label names the earlier state.
func (b *Base) sentences(label string) string {
	if b == nil {
		return ""
	}
	var out []string
	if b.Reason != "" {
		out = append(out, "Both sides are compiled by this batchwright: "+b.Reason+".")
	}
	if b.Unplanned != "" {
		out = append(out, "Compared with the committed folder only, because "+b.Unplanned+
			": nothing is known about teams, quota and access before.")
	}
	if b.FromTool > 0 {
		out = append(out, fmt.Sprintf("Compiled by %s: of %s, %s from the new version and not from the blueprint, "+
			"unless the folder in %s was not compiled after the last change of its blueprint.",
			b.Version, words.Count(b.Objects, "change"), words.Plural(b.FromTool, "comes", "come"), label))
	}
	if b.FromEdits > 0 {
		out = append(out, fmt.Sprintf("%s in %s.",
			words.Plural(b.FromEdits, "change undoes an edit by hand", "changes undo edits by hand"), label))
	}
	return strings.Join(out, " ")
}

// tellOrigins sets the origin of each change that the earlier blueprint, compiled by this
// batchwright, does not have: it does not follow from the change of the blueprint. An object that
// changed for both reasons is listed twice, each time with its own fields.
func (r *Review) tellOrigins(before, after State) {
	if slices.EqualFunc(before.Compiled, before.Tree, sameFile) {
		return
	}
	own, _ := objects.Compare(before.Compiled, after.Tree)
	follows := map[changeID]objects.Object{}
	for _, o := range own {
		follows[idOf(o)] = o
	}
	differ := differentFiles(before.Compiled, before.Tree)
	edited := map[string]bool{}
	for _, name := range r.Base.Edited {
		edited[name] = true
	}
	var told []objects.Object
	for _, o := range r.Objects {
		mine, known := follows[idOf(o)]
		if !differ[o.File] {
			told = append(told, o)
			continue
		}
		others := o
		others.Origin = objects.FromTool
		if edited[o.File] {
			others.Origin = objects.FromEdit
		}
		if known {
			o.Fields, others.Fields = splitFields(o.Fields, mine.Fields)
			told = append(told, o)
		}
		if known && len(others.Fields) == 0 {
			continue
		}
		if told = append(told, others); others.Origin == objects.FromTool {
			r.Base.FromTool++
		} else {
			r.Base.FromEdits++
		}
	}
	r.Objects, r.Base.Objects = told, len(told)
	r.addUnexplained(teamsByObject(before.Plan, after.Plan))

	effects := objects.EffectsOf(before.Compiled, after.Tree, nil)
	tell := func(all, own []objects.Replacement) {
		for i := range all {
			if !slices.ContainsFunc(own, func(x objects.Replacement) bool { return x.Address == all[i].Address }) {
				all[i].Origin = objects.FromTool
				if edited[all[i].File] {
					all[i].Origin = objects.FromEdit
				}
			}
		}
	}
	tell(r.Replacements, effects.Replaced)
	tell(r.Removals, effects.Removed)
	tell(r.Shrunk, effects.Shrunk)
	tell(r.Recreated, effects.Recreated)
}

// changeID identifies a change of an object.
type changeID struct {
	file, kind, name string
	op               delta.Op
}

func idOf(o objects.Object) changeID { return changeID{o.File, o.Kind, o.Name, o.Op} }

// splitFields returns the fields with a path that one of own has, and the others. A field whose
// earlier value differs from the one in own is both.
func splitFields(all, own []objects.Field) (follow, others []objects.Field) {
	from := map[string]string{}
	for _, f := range own {
		from[f.Path] = f.From
	}
	for _, f := range all {
		was, known := from[f.Path]
		if known {
			follow = append(follow, f)
		}
		if !known || was != f.From {
			others = append(others, f)
		}
	}
	return follow, others
}

// addUnexplained adds what the objects that changed without the blueprint mean for jobs: the plans
// that package jobs compares do not have them.
func (r *Review) addUnexplained(teams map[string]string) {
	type fate struct {
		kind    string
		removed bool
	}
	var order []fate
	names := map[fate][]string{}
	for _, o := range r.Objects {
		if o.Origin == objects.FromBlueprint || o.Op == delta.Added {
			continue
		}
		f := fate{o.Kind, o.Op == delta.Removed}
		if names[f] == nil {
			order = append(order, f)
		}
		names[f] = append(names[f], o.Name)
	}
	for _, f := range order {
		e, ok := jobs.OfObjects(f.kind, names[f], f.removed)
		if !ok {
			continue
		}
		for _, name := range names[f] {
			if teams[name] == "" { // a team that no plan has, or an object that teams share
				e.Teams = nil
				break
			}
			e.Teams = append(e.Teams, teams[name])
		}
		slices.Sort(e.Teams)
		e.Teams = slices.Compact(e.Teams)
		r.Jobs = append(r.Jobs, e)
	}
}

// teamsByObject returns the team that owns each ClusterQueue, LocalQueue and Namespace of the
// plans, by the name of the object.
func teamsByObject(plans ...*ir.Platform) map[string]string {
	teams := map[string]string{}
	for _, p := range plans {
		for i := range p.Teams {
			t := &p.Teams[i]
			teams[t.Namespace] = t.Name
			for _, q := range t.Queues {
				for _, name := range q.LocalQueueNames() {
					teams[t.Namespace+"/"+name] = t.Name
				}
				if !q.Shared {
					teams[q.ClusterQueue] = t.Name
				}
			}
		}
	}
	return teams
}

// differentFiles returns the paths of the files that differ between two trees.
func differentFiles(a, b emit.Tree) map[string]bool {
	there, differ := map[string]emit.File{}, map[string]bool{}
	for _, f := range a {
		there[f.Path] = f
	}
	for _, f := range b {
		if other, ok := there[f.Path]; !ok || !sameFile(f, other) {
			differ[f.Path] = true
		}
		delete(there, f.Path)
	}
	for path := range there {
		differ[path] = true
	}
	return differ
}

func sameFile(a, b emit.File) bool {
	return a.Path == b.Path && string(a.Content) == string(b.Content) &&
		(a.Mode&0o100 != 0) == (b.Mode&0o100 != 0)
}
