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
const fillIn = words.Placeholder

// write returns the text of the blueprint.
func (d *design) write() ([]byte, error) {
	clause := &ast.Package{Name: ast.NewIdent("platform")}
	comment(clause, d.headline()...)
	file := &ast.File{Decls: []ast.Decl{clause}}
	add := func(name string, value ast.Expr, pos token.RelPos) *ast.Field {
		f := field(name, value)
		ast.SetRelPos(f, pos)
		file.Decls = append(file.Decls, f)
		return f
	}
	for _, p := range []struct {
		name  string
		value any
		what  string
		pos   token.RelPos
	}{
		{"name", d.name, "the name of the platform", token.NewSection},
		{"project", d.project, "the Google Cloud project", token.NoRelPos},
		{"region", d.region, "the region of the nodes", token.NoRelPos},
		{"zones", d.zones, "the zones of the nodes", token.NoRelPos},
	} {
		if f := add(p.name, expression(p.value), p.pos); d.fill[p.name] {
			comment(f, fillIn+p.what+".")
		}
	}
	if len(d.cluster) > 0 {
		add("cluster", block(d.cluster), token.NewSection)
	}
	if len(d.network) > 0 {
		add("network", block(d.network), token.NewSection)
	}
	type part struct {
		name   string
		fields []*ast.Field
	}
	parts := []part{
		{"hardware", d.hardwareFields()}, {"capacity", d.capacityFields()}, {"cohorts", d.cohortFields()},
		{"tiers", d.tierFields()}, {"teams", d.teamFields()},
	}
	if x := d.exact; x != nil {
		parts = []part{
			{"topologies", fieldsOf(nil, x.topologies)}, {"capacity", fieldsOf(nil, x.capacities)},
			{"cohorts", fieldsOf(nil, x.cohorts)}, {"tiers", fieldsOf(x.everyTier, x.tiers)},
			{"teams", fieldsOf(x.everyTeam, x.teams)},
		}
	}
	for _, part := range parts {
		if len(part.fields) > 0 {
			add(part.name, multiline(part.fields), token.NewSection)
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
	counts := map[string]int{}
	for _, o := range d.inv.objects {
		if !o.Ignored {
			counts[o.Kind]++
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, strings.ReplaceAll(words.Count(counts[kind], kind), " ", hardSpace))
	}
	return wrap("Imported by batchwright from "+words.And(parts)+`. Lines with "FILL`+hardSpace+`IN" contain values `+
		"that the exports do not have. The report of the import says what differs from the exports.", 85)
}

// wrap breaks a text into lines of at most the given number of characters.
func wrap(text string, most int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= most {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], hardSpace, " ")
	}
	return lines
}

// hardSpace stands for a space at which wrap breaks no line.
const hardSpace = "\x00"

func (d *design) hardwareFields() []*ast.Field {
	var out []*ast.Field
	for _, h := range d.hardware {
		list := settings{{"machine", h.machine.Type}}
		if h.gpus > 0 {
			list = list.add("gpus", settings{{"type", h.gpuType}, {"count", h.gpus}})
		}
		list = list.add("topology", h.topology)
		if h.milliCPU > 0 {
			cpu := number(strconv.FormatFloat(float64(h.milliCPU)/1000, 'f', -1, 64))
			list = list.add("perAccelerator", settings{{"cpu", cpu}, {"memory", memory(h.memoryMi)}})
		}
		list = list.add("localSSDs", h.localSSDs).add("disk", diskSettings(h.diskType, h.diskGiB)).
			add("gpuDirect", h.gpuDirect).add("gpuDriver", h.driver)
		f := field(h.name, oneLineOrBlock(list))
		if h.guessed || h.shaped {
			what := "the machine type"
			switch {
			case !h.guessed:
				what = "the topology"
			case h.shaped:
				what += " and the topology"
			}
			from := "the exports do not contain it"
			if h.hint != "" {
				from = fmt.Sprintf("this is a guess from %q", h.hint)
			}
			comment(f, fillIn+what+"; "+from+".")
		}
		out = append(out, f)
	}
	return out
}

// standardDiskGiB is the blueprint's default size of a boot disk.
const standardDiskGiB = 100

// isDiskSize reports whether a blueprint can have boot disks of a size in GiB. Source:
// schema/blueprint.cue, #Disk.
func isDiskSize(gib int) bool { return gib >= 20 && gib <= 65536 }

// diskSettings returns the fields of a boot disk that are not the defaults.
func diskSettings(kind string, gib int) settings {
	out := settings(nil).add("type", kind)
	if isDiskSize(gib) && gib != standardDiskGiB {
		out = out.add("sizeGiB", gib)
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
		list := settings{{"hardware", c.hardware.name}, {"consumption", settings{c.consumption}}}
		noun, fixed, most := "nodes", "nodes", "maxNodes"
		if c.slices {
			noun, fixed, most = "slices", "slices", "maxSlices"
		}
		if c.max > 0 {
			list = list.add(most, c.max)
		} else {
			list = append(list, setting{fixed, c.nodes})
		}
		list = list.add("minNodes", c.min).add("zones", c.zones)
		if c.compact {
			list = list.add("placement", "compact")
		}
		list = list.add("computeClass", c.class)
		var accept settings
		if c.overbooked {
			accept = accept.add("E0602", "imported: the queues guarantee more than the nodes hold")
		}
		if c.linked() {
			accept = accept.add("E1016", "imported: "+needsDriver)
		}
		f := field(c.name, oneLineOrBlock(list.add("accept", accept)))
		lines := []string{"From " + words.OneLine(c.source) + "."}
		if c.pool != nil && c.flavor != "" {
			lines[0] = "From " + words.OneLine(c.source) + " and " + words.OneLine(c.pool.Title()) + "."
		}
		var fill []string
		if c.fillCount {
			fill = append(fill, "the number of "+noun)
		}
		if c.fillOption {
			fill = append(fill, "the consumption option")
		}
		if len(fill) > 0 {
			lines = append(lines, fillIn+words.And(fill)+".")
		}
		comment(f, lines...)
		out = append(out, f)
	}
	return out
}

func (d *design) cohortFields() []*ast.Field {
	var out []*ast.Field
	for _, c := range d.cohorts {
		out = append(out, field(c.name, expression(settings(nil).add("parent", c.parent))))
	}
	return out
}

func (d *design) tierFields() []*ast.Field {
	var out []*ast.Field
	for i, t := range d.tiers {
		var capacities, queues []string
		for _, c := range t.capacities {
			capacities = append(capacities, c.name)
		}
		list := settings{{"priority", 0}}
		if len(t.priorities) > 0 {
			list = settings{{"priorities", priorityStruct(t.priorities)}}
		}
		// The default of an existing cluster also holds for the pods of others.
		list = list.add("default", i == 0 && !d.exists)
		list = append(list, setting{"capacity", capacities}, setting{"queueing", t.queueing})
		var preempts settings
		for _, p := range []struct{ name, value, standard string }{
			{"inQueue", t.inQueue, "Never"}, {"toReclaim", t.toReclaim, "Any"}, {"toBorrow", t.toBorrow, "Never"},
		} {
			if p.value != p.standard {
				preempts = append(preempts, setting{p.name, p.value})
			}
		}
		list = list.add("preempts", preempts).add("namespaces", t.namespaces)
		if t.shared {
			list = list.add("shared", t.sharedSettings())
		}
		f := field(t.name, block(list))
		for _, m := range t.members {
			if m.queue != nil {
				queues = append(queues, m.queue.Name)
			}
		}
		switch len(queues) {
		case 0:
			comment(f, fillIn+"the tier; "+d.noQueues()+".")
		case 1:
			comment(f, "From ClusterQueue "+words.Quoted(queues, 3)+".")
		default:
			comment(f, "From the ClusterQueues "+words.Quoted(queues, 3)+".")
		}
		out = append(out, f)
	}
	return out
}

// priorityStruct returns PriorityClasses with their comments, on a line each if any has
// one.
func priorityStruct(priorities []priority) ast.Expr {
	var fields []*ast.Field
	commented := false
	for _, p := range priorities {
		f := field(p.name, expression(p.value))
		if p.comment != "" {
			commented = true
			group := &ast.CommentGroup{Line: true, Position: 10, List: []*ast.Comment{{Text: "// " + p.comment}}}
			ast.AddComment(f, group)
		}
		fields = append(fields, f)
	}
	if commented || len(fields) > 3 {
		return multiline(fields)
	}
	var list settings
	for _, p := range priorities {
		list = append(list, p.setting)
	}
	return braced(list)
}

// sharedSettings returns the fields of the queue that teams share.
func (t *tier) sharedSettings() settings {
	m := t.members[0]
	var teams []string
	for _, team := range m.teams {
		teams = append(teams, team.name)
	}
	out := settings{{"teams", teams}}
	if m.clusterQueue != t.defaultClusterQueue(m) {
		out = out.add("clusterQueue", m.clusterQueue)
	}
	return out.add("cohort", m.cohort).add("quota", m.quotaSettings())
}

// quotaSettings returns the quotas of a queue by capacity.
func (m *member) quotaSettings() settings {
	var out settings
	for _, q := range m.quotas {
		unit := "accelerators"
		if q.capacity.hardware.resource() == "" {
			unit = "cpus"
		}
		list := settings{{unit, q.units}}.add("borrow", q.borrow)
		if q.lend != nil {
			list = append(list, setting{"lend", q.lend})
		}
		out = append(out, setting{q.capacity.name, list})
	}
	return out
}

func (d *design) teamFields() []*ast.Field {
	var out []*ast.Field
	for _, t := range d.teams {
		quota, names := t.queueSettings()
		list := settings(nil).add("namespace", t.namespace).add("cohort", t.cohort).add("quota", quota).
			add("queues", names)
		value := expression(list)
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
func (t *team) queueSettings() (quota, names settings) {
	for _, place := range t.places {
		m, tier := place.member, place.tier
		var own settings
		if t.owns[tier] == m {
			quota = append(quota, setting{tier.name, m.quotaSettings()})
			if m.clusterQueue != tier.defaultClusterQueue(m) {
				own = own.add("clusterQueue", m.clusterQueue)
			}
		}
		if name := m.localQueues[t]; name != tier.defaultLocalQueue(t) {
			own = own.add("localQueue", name)
		}
		names = names.add(tier.name, own)
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
		return expression(int64(v))
	case int64:
		if v < 0 {
			return &ast.UnaryExpr{Op: token.SUB, X: expression(-v)}
		}
		return ast.NewLit(token.INT, strconv.FormatInt(v, 10))
	case bool:
		return ast.NewBool(v)
	case ast.Expr:
		return v
	case remarked:
		return expression(v.value)
	case items:
		list := &ast.ListLit{}
		for _, item := range v {
			below, _ := item.value.(settings)
			e := braced(below)
			ast.SetRelPos(e, token.Newline)
			list.Elts = append(list.Elts, e)
		}
		list.Rbrack = token.Newline.Pos()
		return list
	case []string:
		list := &ast.ListLit{}
		wide := width(v) > maxWidth
		for _, s := range v {
			item := ast.NewString(s)
			ast.SetRelPos(item, token.Blank)
			if wide {
				ast.SetRelPos(item, token.Newline)
			}
			list.Elts = append(list.Elts, item)
		}
		if wide {
			list.Rbrack = token.Newline.Pos()
		}
		return list
	case settings:
		out := braced(v)
		if len(v) == 1 {
			out.Lbrace, out.Rbrace = token.NoPos, token.NoPos // a: b: value
		}
		return out
	}
	return ast.NewNull()
}

// braced returns fields in braces on one line.
func braced(list settings) *ast.StructLit {
	out := &ast.StructLit{Lbrace: token.Blank.Pos(), Rbrace: token.NoSpace.Pos()}
	for i, s := range list {
		f := field(s.name, expression(s.value))
		ast.SetRelPos(f, token.Blank)
		if i == 0 {
			ast.SetRelPos(f, token.NoSpace)
		}
		out.Elts = append(out.Elts, f)
	}
	return out
}

// maxWidth is the width of a value above which it gets a line for each of its parts.
const maxWidth = 85

// width returns about the width of a value on one line.
func width(v any) int {
	n := 0
	switch v := v.(type) {
	case []string:
		for _, s := range v {
			n += len(s) + 4
		}
	case settings:
		for _, s := range v {
			n += len(s.name) + 6 + width(s.value)
		}
	default:
		n = len(fmt.Sprint(v)) + 2
	}
	return n
}

// oneLineOrBlock returns fields on one line if they fit, and otherwise on a line each.
func oneLineOrBlock(list settings) ast.Expr {
	if width(list) > maxWidth+20 || hasRemark(list) {
		return block(list)
	}
	return expression(list)
}

// endsInScalar reports whether fields are a chain such as a: b: 1. The formatter aligns
// the value of such a chain with the values of the lines around it.
func endsInScalar(list settings) bool {
	if len(list) != 1 {
		return false
	}
	switch below := list[0].value.(type) {
	case settings:
		return endsInScalar(below)
	case []string, ast.Expr, items:
		return false
	}
	return true
}

// block returns fields on a line each.
func block(list settings) ast.Expr {
	var fields []*ast.Field
	for _, s := range list {
		value := expression(s.value)
		below, ok := s.value.(settings)
		switch {
		case ok && hasRemark(below):
			value = block(below)
		case ok && len(list) > 1 && endsInScalar(below):
			value = braced(below)
		case ok && (len(below) > 3 || width(below) > maxWidth):
			value = block(below)
		}
		f := field(s.name, value)
		if remark, ok := s.value.(remarked); ok {
			comment(f, remark.text)
		}
		fields = append(fields, f)
	}
	return multiline(fields)
}

// remarked is a value with a comment above its field.
type remarked struct {
	value any
	text  string
}

// items is a list of structs: the values of the settings, whose names have no meaning.
type items settings

// hasRemark reports whether a value contains a comment or a list of structs, and
// therefore needs several lines.
func hasRemark(v any) bool {
	switch v := v.(type) {
	case remarked, items:
		return true
	case settings:
		return slices.ContainsFunc(v, func(s setting) bool { return hasRemark(s.value) })
	}
	return false
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
