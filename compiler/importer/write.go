package importer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/words"
)

// fillIn marks a value that the exports do not contain.
const fillIn = "FILL IN: "

// write returns the text of the blueprint.
func (d *design) write() ([]byte, error) {
	file := &ast.File{}
	clause := &ast.Package{Name: ast.NewIdent("platform")}
	comment(clause, d.headline()...)
	file.Decls = append(file.Decls, clause)
	add := func(f *ast.Field, blank bool) {
		if blank {
			ast.SetRelPos(f, token.NewSection)
		}
		file.Decls = append(file.Decls, f)
	}
	for i, s := range []setting{{"name", d.name}, {"project", d.project}, {"region", d.region}, {"zones", d.zones}} {
		f := field(s.name, expression(s.value))
		if d.fill[s.name] {
			comment(f, fillIn+"the exports do not contain it.")
		}
		add(f, i == 0)
	}
	for _, s := range []setting{{"cluster", d.cluster}, {"network", d.network}, {"security", d.security}} {
		if list := s.value.([]setting); len(list) > 0 {
			add(field(s.name, block(list)), true)
		}
	}
	for _, part := range []struct {
		name   string
		fields []*ast.Field
	}{
		{"hardware", d.hardwareFields()}, {"capacity", d.capacityFields()}, {"cohorts", d.cohortFields()},
		{"tiers", d.tierFields()}, {"teams", d.teamFields()},
	} {
		if len(part.fields) > 0 {
			add(field(part.name, multiline(part.fields)), true)
		}
	}
	out, err := format.Node(file)
	if err != nil {
		return nil, fmt.Errorf("formatting the blueprint: %w", err)
	}
	return out, nil
}

// headline returns the comment at the top.
func (d *design) headline() []string {
	counts := d.inv.kindsOf()
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, words.Count(counts[kind], kind))
	}
	out := []string{"Imported by batchwright from " + words.And(parts) + "."}
	return append(out, `Lines with "FILL IN" contain values that the exports do not have. The report of the`,
		"import says what differs from the exports.")
}

func (d *design) hardwareFields() []*ast.Field {
	var out []*ast.Field
	for _, h := range d.hardware {
		list := []setting{{"machine", h.machine.Type}}
		if h.gpus > 0 {
			list = append(list, setting{"gpus", []setting{{"type", h.gpuType}, {"count", h.gpus}}})
		}
		if h.topology != "" {
			list = append(list, setting{"topology", h.topology})
		}
		if h.milliCPU > 0 {
			list = append(list, setting{"perAccelerator", []setting{
				{"cpu", number(strconv.FormatFloat(float64(h.milliCPU)/1000, 'f', -1, 64))}, {"memory",
					memory(h.memoryMi)},
			}})
		}
		if h.diskGiB >= 20 && h.diskGiB <= 65536 && h.diskGiB != 100 {
			list = append(list, setting{"disk", []setting{{"sizeGiB", h.diskGiB}}})
		}
		f := field(h.name, expression(list))
		if h.guessed {
			comment(f, fillIn+"the machine type, if the nodes have another one.")
		}
		out = append(out, f)
	}
	return out
}

// memory returns an amount of memory with the largest unit that keeps it whole.
func memory(mib int64) string {
	if mib%1024 == 0 {
		return fmt.Sprintf("%dGi", mib/1024)
	}
	return fmt.Sprintf("%dMi", mib)
}

func (d *design) capacityFields() []*ast.Field {
	var out []*ast.Field
	for _, c := range d.capacities {
		list := []setting{{"hardware", c.hardware.name}, {"consumption", []setting{c.consumption}}}
		fixed, most := "nodes", "maxNodes"
		if c.slices {
			fixed, most = "slices", "maxSlices"
		}
		if c.max > 0 {
			list = append(list, setting{most, c.max})
		} else {
			list = append(list, setting{fixed, c.nodes})
		}
		if c.min > 0 {
			list = append(list, setting{"minNodes", c.min})
		}
		if len(c.zones) > 0 {
			list = append(list, setting{"zones", c.zones})
		}
		if c.compact {
			list = append(list, setting{"placement", "compact"})
		}
		if c.class {
			list = append(list, setting{"computeClass", true})
		}
		if c.overbooked {
			list = append(list, setting{"accept", []setting{{"E0602", "imported: the queues guarantee more than the " +
				"nodes hold"}}})
		}
		f := field(c.name, expression(list))
		lines := []string{"From " + words.OneLine(c.source) + "."}
		if c.pool != nil && c.flavor != "" {
			lines[0] = "From " + words.OneLine(c.source) + " and " + words.OneLine(c.pool.title()) + "."
		}
		if c.fillCount {
			lines = append(lines, fillIn+"the number of nodes.")
		}
		if c.fillOption {
			lines = append(lines, fillIn+"the consumption option.")
		}
		comment(f, lines...)
		out = append(out, f)
	}
	return out
}

func (d *design) cohortFields() []*ast.Field {
	var out []*ast.Field
	for _, c := range d.cohorts {
		var list []setting
		if c.parent != "" {
			list = append(list, setting{"parent", c.parent})
		}
		out = append(out, field(c.name, expression(list)))
	}
	return out
}

func (d *design) tierFields() []*ast.Field {
	var out []*ast.Field
	for i, t := range d.tiers {
		var names []string
		for _, c := range t.capacities {
			names = append(names, c.name)
		}
		var list []setting
		if len(t.priorities) > 0 {
			list = append(list, setting{"priorities", t.priorities})
		} else {
			list = append(list, setting{"priority", 0})
		}
		if i == 0 {
			list = append(list, setting{"default", true})
		}
		list = append(list, setting{"capacity", names}, setting{"queueing", t.queueing})
		var preempts []setting
		for _, p := range []struct{ name, value, standard string }{
			{"inQueue", t.inQueue, "Never"}, {"toReclaim", t.toReclaim, "Any"}, {"toBorrow", t.toBorrow, "Never"},
		} {
			if p.value != p.standard {
				preempts = append(preempts, setting{p.name, p.value})
			}
		}
		if len(preempts) > 0 {
			list = append(list, setting{"preempts", preempts})
		}
		if t.namespaces != nil {
			list = append(list, setting{"namespaces", t.namespaces})
		}
		if t.shared {
			list = append(list, setting{"shared", t.sharedSettings()})
		}
		f := field(t.name, block(list))
		if len(t.sources) > 0 {
			comment(f, "From "+words.OneLine(words.First(t.sources, 3))+".")
		} else {
			comment(f, fillIn+"the exports contain no queues.")
		}
		out = append(out, f)
	}
	return out
}

// sharedSettings returns the fields of the queue that teams share.
func (t *tier) sharedSettings() []setting {
	m := t.members[0]
	var teams []string
	for _, team := range m.teams {
		teams = append(teams, team.name)
	}
	out := []setting{{"teams", teams}}
	if m.clusterQueue != "" && m.clusterQueue != t.defaultClusterQueue(m) {
		out = append(out, setting{"clusterQueue", m.clusterQueue})
	}
	if m.cohort != "" {
		out = append(out, setting{"cohort", m.cohort})
	}
	if len(m.quotas) > 0 {
		out = append(out, setting{"quota", m.quotaSettings()})
	}
	return out
}

// quotaSettings returns the quotas of a queue by capacity.
func (m *member) quotaSettings() []setting {
	var out []setting
	for _, q := range m.quotas {
		unit := "accelerators"
		if q.capacity.hardware.resource() == "" {
			unit = "cpus"
		}
		list := []setting{{unit, int(q.units)}}
		switch borrow := q.borrow.(type) {
		case string:
			list = append(list, setting{"borrow", borrow})
		case int64:
			if borrow > 0 {
				list = append(list, setting{"borrow", int(borrow)})
			}
		}
		if lend, ok := q.lend.(int64); ok {
			list = append(list, setting{"lend", int(lend)})
		}
		out = append(out, setting{q.capacity.name, list})
	}
	return out
}

func (d *design) teamFields() []*ast.Field {
	var out []*ast.Field
	for _, t := range d.teams {
		var list []setting
		if t.namespace != "" {
			list = append(list, setting{"namespace", t.namespace})
		}
		if t.cohort != "" {
			list = append(list, setting{"cohort", t.cohort})
		}
		quota, names := t.queueSettings()
		if len(quota) > 0 {
			list = append(list, setting{"quota", quota})
		}
		if len(names) > 0 {
			list = append(list, setting{"queues", names})
		}
		var value ast.Expr = expression(list)
		if len(list) > 0 {
			value = block(list)
		}
		f := field(t.name, value)
		switch {
		case t.original == "":
			comment(f, fillIn+"the team; the exports name no namespace for it.")
		case t.finalNamespace() != t.original:
			comment(f, fmt.Sprintf("From namespace %q, which a team cannot have.", t.original))
		}
		out = append(out, f)
	}
	return out
}

// queueSettings returns the quota of a team by tier, and the names of its queues that are
// not the default.
func (t *team) queueSettings() (quota, names []setting) {
	for _, place := range t.places {
		m, tier := place.member, place.tier
		var own []setting
		if t.owns[tier] == m {
			quota = append(quota, setting{tier.name, m.quotaSettings()})
			if m.clusterQueue != tier.defaultClusterQueue(m) {
				own = append(own, setting{"clusterQueue", m.clusterQueue})
			}
		}
		if name := m.localQueues[t]; name != "" && name != tier.defaultLocalQueue(t) {
			own = append(own, setting{"localQueue", name})
		}
		if len(own) > 0 {
			names = append(names, setting{tier.name, own})
		}
	}
	return quota, names
}

// number is a number as CUE writes it.
type number string

// expression returns a value on one line.
func expression(v any) ast.Expr {
	switch v := v.(type) {
	case string:
		return ast.NewString(v)
	case number:
		kind := token.INT
		if strings.Contains(string(v), ".") {
			kind = token.FLOAT
		}
		return ast.NewLit(kind, string(v))
	case int:
		if v < 0 {
			return &ast.UnaryExpr{Op: token.SUB, X: ast.NewLit(token.INT, strconv.Itoa(-v))}
		}
		return ast.NewLit(token.INT, strconv.Itoa(v))
	case bool:
		return ast.NewBool(v)
	case []string:
		list := &ast.ListLit{}
		for _, s := range v {
			item := ast.NewString(s)
			ast.SetRelPos(item, token.Blank)
			list.Elts = append(list.Elts, item)
		}
		return list
	case []setting:
		out := &ast.StructLit{Lbrace: token.Blank.Pos(), Rbrace: token.NoSpace.Pos()}
		for i, s := range v {
			f := field(s.name, expression(s.value))
			ast.SetRelPos(f, token.Blank)
			if i == 0 {
				ast.SetRelPos(f, token.NoSpace)
			}
			out.Elts = append(out.Elts, f)
		}
		if len(v) == 1 {
			out.Lbrace, out.Rbrace = token.NoPos, token.NoPos // a: b: value
		}
		return out
	}
	return ast.NewNull()
}

// block returns fields on a line each.
func block(list []setting) ast.Expr {
	var fields []*ast.Field
	for _, s := range list {
		var value ast.Expr
		if below, ok := s.value.([]setting); ok && len(below) > 3 {
			value = block(below)
		} else {
			value = expression(s.value)
		}
		fields = append(fields, field(s.name, value))
	}
	return multiline(fields)
}

func multiline(fields []*ast.Field) ast.Expr {
	if len(fields) == 1 && len(ast.Comments(fields[0])) == 0 {
		ast.SetRelPos(fields[0], token.Blank)
		return &ast.StructLit{Elts: []ast.Decl{fields[0]}} // a: b: value
	}
	out := &ast.StructLit{Lbrace: token.Blank.Pos(), Rbrace: token.Newline.Pos()}
	for _, f := range fields {
		ast.SetRelPos(f, token.Newline)
		out.Elts = append(out.Elts, f)
	}
	return out
}

func field(name string, value ast.Expr) *ast.Field {
	return &ast.Field{Label: ast.NewStringLabel(name), Value: value}
}

// comment adds a comment above a node.
func comment(n ast.Node, lines ...string) {
	group := &ast.CommentGroup{Doc: true}
	for _, line := range lines {
		group.List = append(group.List, &ast.Comment{Text: "// " + words.OneLine(line)})
	}
	ast.AddComment(n, group)
}
