package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// checkHelper reports a hidden field or a definition that no expression uses, if it
// has the name of a field or holds what a blueprint or an entity holds.
func (f *formChecker) checkHelper(d *ast.Field, name, bare string, path []string) {
	if f.isUsed(name) {
		return
	}
	outer, _, err := constraintAt(f.definition(), path)
	if err != nil {
		return
	}
	help, names := "", fieldNames(outer)
	if entity := entityOf(outer); entity.Exists() {
		if f.holdsEntity(d, name, entity, path) {
			help = "write " + bare + ":"
		}
	} else if meant := meantByHelper(bare, names); meant != "" {
		help = "write " + meant + ":"
	} else if len(path) == 0 {
		help = f.meantByContent(d, name, bare, names)
	}
	if help == "" || f.refersToBlueprint(d.Value) {
		return
	}
	kind := "a hidden field"
	if strings.Contains(name, "#") {
		kind = "a definition"
	}
	f.reportForm(d.Label, append(slices.Clip(path), bare),
		fmt.Sprintf("%s is %s that nothing uses, so it sets nothing", name, kind), help)
}

// meantByHelper returns the field that a helper's name means, or "".
func meantByHelper(bare string, names []string) string {
	if slices.Contains(names, bare) {
		return bare
	}
	for _, known := range names {
		if diag.Twins(bare, known) && bare+"s" != known { // _team is a good name for a template
			return known
		}
	}
	return ""
}

// meantByContent returns the advice for a helper at the top of a file that holds what
// a blueprint or an entity holds, or "". The name of a definition of an entity must
// be one that an entity can have: #speech may be meant as a team, #GPUTeam is a
// template. The name of a hidden field must be the name of an entity, because
// templates are hidden fields, too.
func (f *formChecker) meantByContent(d *ast.Field, name, bare string, names []string) string {
	held := heldFields(d.Value)
	if containsAll(names, held) && f.saysSomethingAt(name, nil) && f.fitsKinds(name, held) {
		return fmt.Sprintf("write %s at the top of the file, outside %s, or embed %s there",
			strings.Join(held, ", "), name, name)
	}
	for _, field := range names {
		constraint, _, err := constraintAt(f.definition(), []string{field})
		if err != nil || !entityOf(constraint).Exists() {
			continue
		}
		_, label := patternOf(constraint)
		if !strings.HasPrefix(name, "#") && !lookupPath(f.plainValue(), []string{field, bare}).Exists() ||
			!labelMatcher(label)(bare) {
			continue
		}
		if f.holdsEntity(d, name, entityOf(constraint), nil) {
			return fmt.Sprintf("write %s: %s:", field, bare)
		}
	}
	return ""
}

// fitsKinds reports whether the fields of a helper at the top of a file have the types
// of the blueprint's fields of these names.
func (f *formChecker) fitsKinds(name string, fields []string) bool {
	helper := f.helperAt(name, nil)
	return !slices.ContainsFunc(fields, func(field string) bool {
		constraint, _ := fieldOf(f.definition(), field)
		return constraint.IncompleteKind()&lookupPath(helper, []string{field}).IncompleteKind() == 0
	})
}

// holdsEntity reports whether a helper holds the concrete fields of an entity, and all
// that the entity requires.
func (f *formChecker) holdsEntity(d *ast.Field, name string, entity cue.Value, path []string) bool {
	held := heldFields(d.Value)
	lacks := func(field string) bool { return !slices.Contains(held, field) }
	return containsAll(fieldNames(entity), held) && !slices.ContainsFunc(requiredOf(entity), lacks) &&
		f.saysSomethingAt(name, path)
}

// saysSomethingAt reports whether the helper of a name in the struct at a path has a
// value that a blueprint could write.
func (f *formChecker) saysSomethingAt(name string, path []string) bool {
	value := f.helperAt(name, path)
	return value.Exists() && saysSomething(value)
}

// helperAt returns the value of a hidden field or a definition in the struct at a path.
func (f *formChecker) helperAt(name string, path []string) cue.Value {
	selector := cue.Def(name)
	if strings.HasPrefix(name, "_") {
		selector = cue.Hid(name, f.locate.inst.ID())
	}
	return lookupPath(f.plainValue(), path).LookupPath(cue.MakePath(selector))
}

// heldFields returns the names of the fields that a struct literal writes, or nil if
// it has other declarations or is not a struct literal.
func heldFields(e ast.Expr) []string {
	s, ok := e.(*ast.StructLit)
	if !ok {
		return nil
	}
	var names []string
	for _, decl := range s.Elts {
		d, ok := decl.(*ast.Field)
		if !ok || d.Constraint != token.ILLEGAL {
			return nil
		}
		name, _, err := ast.LabelName(d.Label)
		if err != nil {
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// containsAll reports whether there are names, all of which are known.
func containsAll(known, names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(known, n) })
}

// isUsed reports whether an expression of the files refers to a name.
func (f *formChecker) isUsed(name string) bool {
	if f.used == nil {
		f.used = map[string]bool{}
		for _, file := range f.locate.inst.Files {
			recordUses(file, f.used)
		}
	}
	return f.used[name]
}

// refersToBlueprint reports whether an expression refers to a field of the blueprint,
// as a check of the blueprint does.
func (f *formChecker) refersToBlueprint(e ast.Expr) bool {
	used := map[string]bool{}
	recordUses(e, used)
	return slices.ContainsFunc(fieldNames(f.definition()), func(name string) bool { return used[name] })
}

// recordUses records the names that the expressions of a node refer to. The label of
// a field is not a use of the name, unless it is computed.
func recordUses(n ast.Node, used map[string]bool) {
	ast.Walk(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if _, _, err := ast.LabelName(n.Label); err == nil {
				recordUses(n.Value, used)
				return false
			}
		case *ast.Ident:
			used[n.Name] = true
		}
		return true
	}, nil)
}
