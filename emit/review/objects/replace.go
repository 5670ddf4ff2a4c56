package objects

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/losses"
)

// Effects is what Terraform does to resources that exist before a change. The lists start
// with clusters, reservations, buckets and node pools, and are sorted by address.
type Effects struct {
	// Replaced are resources that exist before and after the change, of which an argument
	// changes that cannot be changed in place. The computed attributes of a replaced
	// resource change with it.
	Replaced []Replacement
	// Removed are the clusters, reservations, buckets and node pools that left the
	// configuration.
	Removed []Replacement
	// Shrunk are the node pools that stay and lose nodes: they leave a zone, or get fewer nodes.
	Shrunk []Replacement
	// Recreated are the node pools of which an argument changes in place, for which GKE
	// recreates all nodes.
	Recreated []Replacement
	// Lost are the node pools that lose nodes, and those whose nodes are recreated.
	Lost []losses.Loss
	// Unknown reports whether a root cannot be read or takes too long to evaluate. The other
	// fields are empty then.
	Unknown bool
	// Refused are the changes in place that Google Cloud refuses: a Path is the name of a
	// secondary range that a cluster uses.
	Refused []Field
}

// EffectsOf returns what Terraform does between two roots. If the earlier plan is nil, the
// replaced and removed resources do not list the affected nodes and workloads.
func EffectsOf(before, after emit.Tree, earlier *ir.Platform) (e Effects) {
	if slices.EqualFunc(rootOf(before), rootOf(after), func(a, b emit.File) bool {
		return a.Path == b.Path && string(a.Content) == string(b.Content)
	}) {
		return Effects{}
	}
	was := openRoot(before, nil)
	if was == nil {
		return Effects{Unknown: true}
	}
	is := openRoot(after, was)
	if is == nil {
		return Effects{Unknown: true}
	}
	for s, i := range is.instancesOf("") {
		if len(i.because) > 0 {
			e.Replaced = append(e.Replaced, describe(earlier, s, i, was.findInstance(s.address, i.key)))
		}
	}
	e.addPools(is, was, earlier)
	for _, kind := range grave {
		for s, i := range was.instancesOf(kind) {
			if is.findInstance(s.address, i.key) == nil {
				r := describe(earlier, s, i, i)
				is.explainRemoval(&r, s.kind, i)
				e.Removed = append(e.Removed, r)
			}
		}
	}
	e.Refused = is.refusedRanges()
	lost, err := losses.Of(is.planPools())
	if err != nil || was.budget < 0 || is.budget < 0 {
		return Effects{Unknown: true}
	}
	e.Lost = append(lost, e.Lost...)
	for _, list := range [][]Replacement{e.Replaced, e.Removed, e.Shrunk, e.Recreated} {
		slices.SortFunc(list, func(a, b Replacement) int {
			return cmp.Or(cmp.Compare(typeRank(a.Address), typeRank(b.Address)), cmp.Compare(a.Address, b.Address))
		})
	}
	return e
}

// describe returns a resource that is replaced or removed. old is the earlier instance, which is
// the same as i if the resource is removed.
func describe(earlier *ir.Platform, s *managed, i, old *instance) Replacement {
	r := Replacement{
		Address: console.Inline(i.address), File: s.file, Line: s.line, Because: i.because,
		Guard: destroyGuard(s.kind, old),
	}
	if s.kind == "google_container_cluster" && r.Guard != "" {
		r.Order = "two builds: first set cluster.deletionProtection to false, then make the change"
	}
	if earlier != nil {
		r.Nodes, r.Workloads = dependentsOf(earlier, s.kind, old.argumentText("name"))
		if s.kind == "google_container_node_pool" {
			r.describePool(earlier, old.argumentText("name"))
		}
	}
	return r
}

// addPools adds the node pools that stay, and lose nodes or get others.
func (e *Effects) addPools(is, was *root, earlier *ir.Platform) {
	for s, i := range is.instancesOf("google_container_node_pool") {
		old := was.findInstance(s.address, i.key)
		if old == nil || len(i.because) > 0 {
			continue
		}
		if because, nodes := lostNodes(old, i); because != nil {
			r := describe(earlier, s, i, old)
			r.Because, r.Nodes = because, nodes
			e.Shrunk = append(e.Shrunk, r)
		}
		if because := recreatingFields(old, i); because != nil {
			r := describe(earlier, s, i, old)
			r.Because = because
			e.Recreated = append(e.Recreated, r)
			label := s.address[strings.LastIndexByte(s.address, '.')+1:]
			e.Lost = append(e.Lost, losses.Loss{
				Capacity: strings.ReplaceAll(label, "_", "-"), Pool: i.argumentText("name"), Why: losses.Recreated,
			})
		}
	}
}

// explainRemoval says what keeps a removed resource, and how builds remove it. r is the root in
// which the resource is no more.
func (r *root) explainRemoval(removal *Replacement, kind string, i *instance) {
	switch kind {
	case "google_compute_reservation":
		name := i.argumentText("name")
		users := r.consumers(name)
		switch {
		case len(users) > 0 && r.creates(name):
			removal.Order = "two builds: first remove the capacity, then add the other"
		case len(users) > 0:
			removal.Guard = "while nodes use it"
			removal.Order = "two builds: first remove the capacity, then add it again"
		}
	case "google_container_node_pool":
		existed := func(address string) bool { return r.earlier.resources[address] != nil }
		if slices.ContainsFunc(r.consumers(i.consumes()), func(user string) bool { return !existed(user) }) {
			removal.Order = "two builds: first remove the capacity, then add the other. " +
				"Before, its reservation may have no room"
		}
	}
}

// refusedRanges returns the secondary ranges that get other addresses, with their names as
// paths. A folder creates a subnet with secondary ranges only for its cluster, which uses
// them.
//
// Source: hashicorp/terraform-provider-google, issues 2570 and 7474: "Existing secondary
// range cannot be modified".
func (r *root) refusedRanges() (out []Field) {
	for s, is := range r.instancesOf("google_compute_subnetwork") {
		was := r.earlier.findInstance(s.address, is.key)
		if was == nil || len(is.because) > 0 { // Terraform replaces the subnet
			continue
		}
		ranges := was.secondaryRanges()
		for name, cidr := range is.secondaryRanges() {
			if from := ranges[name]; from != "" && from != cidr {
				out = append(out, Field{Path: name, From: readableValue(from), To: readableValue(cidr)})
			}
		}
	}
	slices.SortFunc(out, func(a, b Field) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// secondaryRanges returns the addresses of a subnet's secondary ranges by name.
func (i *instance) secondaryRanges() map[string]string {
	out := map[string]string{}
	for _, b := range i.blocks["secondary_ip_range"] {
		out[b.argumentText("range_name")] = b.argumentText("ip_cidr_range")
	}
	return out
}

// lostNodes returns the arguments by which a node pool that stays loses nodes, nil if it loses
// none, and the number of nodes that it loses, 0 if it is not known.
func lostNodes(old, i *instance) (because []Field, nodes int) {
	was, is := old.zones(), i.zones()
	left := slices.DeleteFunc(slices.Clone(was), func(zone string) bool { return slices.Contains(is, zone) })
	perZone, now := poolArguments(old)["node_count"], poolArguments(i)["node_count"]
	from, fixed := perZone.(float64)
	to, stays := now.(float64)
	if len(left) > 0 {
		because = append(because,
			Field{Path: "node_locations", From: strings.Join(was, ", "), To: strings.Join(is, ", ")})
		if fixed {
			nodes += int(from) * len(left)
		} else if most, scales := old.mostNodes(); scales && len(left) == len(was) {
			nodes += int(math.Round(most * float64(len(was))))
		}
	}
	if fixed && stays && to < from {
		because = append(because, Field{Path: "node_count", From: scalarNumber(from), To: scalarNumber(to)})
		nodes += int(from-to) * (len(was) - len(left))
	}
	return because, nodes
}

func scalarNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// recreatingFields returns the arguments of a node pool that change in place, and for which GKE
// recreates its nodes.
func recreatingFields(old, i *instance) (because []Field) {
	for _, f := range settledDifferences(old.arguments, i.arguments) {
		for _, a := range gke.Arguments(gke.NodePool) {
			if a.Is(gke.Recreates) && (f.Path == a.Path || strings.HasPrefix(f.Path, a.Path+".")) {
				because = append(because, f)
				break
			}
		}
	}
	return because
}

// planPools returns what Terraform will plan for the node pools that exist before the
// change, in the form of its JSON, with the arguments that losses.Template reads.
func (r *root) planPools() any {
	var pools []any
	for s, old := range r.earlier.instancesOf("google_container_node_pool") {
		was := poolArguments(old)
		if most, scales := old.mostNodes(); scales {
			was["node_count"] = most
		}
		change := map[string]any{"before": was, "actions": []string{"update"}}
		if i := r.findInstance(s.address, old.key); i != nil {
			change["after"] = poolArguments(i)
			if len(i.because) > 0 {
				change["actions"] = []string{"delete", "create"}
			}
		}
		name := s.address[strings.LastIndexByte(s.address, '.')+1:]
		pools = append(pools, map[string]any{"type": s.kind, "name": name, "change": change})
	}
	return map[string]any{"resource_changes": pools}
}

// poolArguments returns the arguments of a node pool that losses.Template reads, except those
// that the root alone does not determine.
func poolArguments(i *instance) map[string]any {
	out := map[string]any{"name": i.argumentText("name")}
	if count, err := strconv.ParseFloat(i.argumentText("node_count"), 64); err == nil {
		out["node_count"] = count
	}
	out["node_locations"] = i.zones()
	return out
}

// mostNodes returns how many nodes the autoscaler gives to a node pool at most, as an average of
// its zones, and whether it sizes the pool. A plan has the average of the nodes that run.
func (i *instance) mostNodes() (n float64, scales bool) {
	for _, b := range i.blocks["autoscaling"] {
		if each, err := strconv.Atoi(b.argumentText("max_node_count")); err == nil {
			return float64(each), true
		}
		total, err := strconv.Atoi(b.argumentText("total_max_node_count"))
		if zones := len(i.zones()); err == nil && zones > 0 {
			return float64(total / zones), true
		}
	}
	return 0, false
}

// zones returns the zones of a node pool.
func (i *instance) zones() []string {
	zones := []string{}
	if v := i.values["node_locations"]; v != cty.NilVal && v.CanIterateElements() {
		for _, zone := range v.Elements() {
			zones = append(zones, scalarText(zone))
		}
	}
	return zones
}

// destroyGuard returns the condition under which a resource cannot be destroyed, or
// "".
//
// Source: documentation of the Terraform provider hashicorp/google.
// google_container_cluster: deletion protection must be false in the state before
// the cluster can be destroyed. google_storage_bucket: without force_destroy
// Terraform fails to delete a bucket that has objects.
func destroyGuard(kind string, i *instance) string {
	switch {
	case kind == "google_container_cluster" && i.argumentText("deletion_protection") == "true":
		return "while deletion protection is on"
	case kind == "google_storage_bucket" && i.argumentText("force_destroy") != "true":
		return "while it holds anything"
	}
	return ""
}

// consumers returns the addresses of the node pools that consume a reservation with a name.
// Compute Engine does not delete such a reservation. The reservations of other projects
// have paths.
//
// Source: Compute Engine documentation, "Delete reservations".
func (r *root) consumers(reservation string) (addresses []string) {
	for s, i := range r.instancesOf("google_container_node_pool") {
		if reservation != "" && i.consumes() == reservation {
			addresses = append(addresses, s.address)
		}
	}
	return addresses
}

// creates reports whether a resource creates a reservation with a name.
func (r *root) creates(reservation string) bool {
	for _, i := range r.instancesOf("google_compute_reservation") {
		if i.argumentText("name") == reservation {
			return true
		}
	}
	return false
}

// consumes returns the name of the reservation that a node pool consumes, or "".
func (i *instance) consumes() string {
	for _, node := range i.blocks["node_config"] {
		for _, affinity := range node.blocks["reservation_affinity"] {
			return affinity.argumentText("values")
		}
	}
	return ""
}

// grave lists the types that hold nodes or data, in the order of the results: what stops the
// most jobs comes first.
var grave = []string{
	"google_container_cluster", "google_container_node_pool", "google_compute_reservation", "google_storage_bucket",
}

// rootOf returns the files of a Terraform root and its modules.
func rootOf(t emit.Tree) emit.Tree {
	return t.Select(func(p string) bool { return strings.HasPrefix(p, terraformDir+"/") })
}

// typeRank returns the position of a resource's type in grave, or len(grave) for other
// types.
func typeRank(address string) int {
	if i := slices.Index(grave, kindOf(address)); i >= 0 {
		return i
	}
	return len(grave)
}

// kindOf returns the type of a resource from its address, in any module.
func kindOf(address string) string {
	for {
		kind, rest, _ := strings.Cut(address, ".")
		if kind != "module" {
			return kind
		}
		_, address, _ = strings.Cut(rest, ".")
	}
}

// replacingFields returns the arguments that replace an instance. If triggered is set,
// these include arguments that replace it only because of a trigger.
func replacingFields(s *managed, was, is *instance, triggered bool) []Field {
	ignored, all := ignoredChanges(s.body)
	if all {
		return nil
	}
	table := gke.Replacements(s.kind)
	if !triggered {
		table = slices.DeleteFunc(slices.Clone(table), func(a gke.Replacement) bool { return a.Triggered })
	}
	return forcingFields(table, ignored, was, is)
}

// forcingFields returns the differences of two instances in the arguments of a table,
// except arguments whose changes are ignored, sorted by path.
func forcingFields(table []gke.Replacement, ignored []string, was, is *instance) []Field {
	var out []Field
	for _, a := range table {
		if !slices.ContainsFunc(ignored, func(path string) bool {
			return a.Path == path || strings.HasPrefix(a.Path, path+".")
		}) {
			out = append(out, argumentDifferences(a, &was.arguments, &is.arguments, strings.Split(a.Path, "."), "")...)
		}
	}
	slices.SortStableFunc(out, func(a, b Field) int { return cmp.Compare(a.Path, b.Path) })
	// The line of an added or removed block covers the arguments in it.
	return slices.DeleteFunc(slices.Clone(out), func(f Field) bool {
		return slices.ContainsFunc(out, func(block Field) bool { return strings.HasPrefix(f.Path, block.Path+".") })
	})
}

// trigger returns what the resource's replace_triggered_by makes of the change. It reports
// whether an argument that it names exists before and after the change, and differs. If
// that argument is computed, its resource is replaced, and this is the reason.
func (r *root) trigger(s *managed) (differs bool, because []Field) {
	for _, b := range s.body.Blocks {
		a := b.Body.Attributes["replace_triggered_by"]
		if b.Type != "lifecycle" || a == nil {
			continue
		}
		for _, t := range a.Expr.Variables() {
			key := ""
			if len(t) == 4 { // an instance of a resource
				if index, ok := t[2].(hcl.TraverseIndex); ok && index.Key.Type() == cty.String {
					key, t = index.Key.AsString(), slices.Delete(slices.Clone(t), 2, 3)
				}
			}
			if len(t) != 3 {
				continue // not an argument of a resource
			}
			name, _ := t[1].(hcl.TraverseAttr)
			argument, _ := t[2].(hcl.TraverseAttr)
			address := s.module.prefix + t.RootName() + "." + name.Name
			was, is := r.earlier.findInstance(address, key), r.findInstance(address, key)
			switch {
			case was == nil || is == nil:
			case was.argumentText(argument.Name) != is.argumentText(argument.Name):
				differs = true
			case is.values[argument.Name] == cty.NilVal && is.how == changes:
				because = append(because, Field{Path: "replace_triggered_by", To: console.Inline(is.address)})
			}
		}
	}
	return differs, because
}

// ignoredChanges returns the arguments whose changes Terraform ignores. all reports
// whether it ignores every change.
func ignoredChanges(body *hclsyntax.Body) (paths []string, all bool) {
	for _, b := range body.Blocks {
		a := b.Body.Attributes["ignore_changes"]
		if b.Type != "lifecycle" || a == nil {
			continue
		}
		list, ok := a.Expr.(*hclsyntax.TupleConsExpr)
		if !ok {
			return nil, hcl.ExprAsKeyword(a.Expr) == "all"
		}
		for _, e := range list.Exprs {
			t, _ := hcl.RelTraversalForExpr(e)
			var names []string
			for _, step := range t {
				if a, ok := step.(hcl.TraverseAttr); ok {
					names = append(names, a.Name)
				}
			}
			paths = append(paths, strings.Join(names, "."))
		}
	}
	return paths, false
}

// argumentDifferences returns the differences of two blocks in the argument a. rest
// is the path from the blocks to the argument, and at the path of the blocks. A nil
// block is a missing one.
func argumentDifferences(a gke.Replacement, was, is *arguments, rest []string, at string) []Field {
	name := rest[0]
	if at != "" {
		at += "."
	}
	at += name
	from, to := was.nestedBlocks(name), is.nestedBlocks(name)
	if len(rest) > 1 {
		var out []Field
		for i := range max(len(from), len(to)) {
			var f, t *arguments
			if i < len(from) {
				f = &from[i]
			}
			if i < len(to) {
				t = &to[i]
			}
			out = append(out, argumentDifferences(a, f, t, rest[1:], at)...)
		}
		return out
	}
	if len(from)+len(to) > 0 {
		if len(from) == len(to) {
			return nil
		}
		return []Field{{Path: at, From: blocksText(from), To: blocksText(to)}}
	}
	f, t := was.argumentText(name), is.argumentText(name)
	switch {
	case f == t, t == "" && a.Computed, a.Forces != nil && !a.Forces(f, t):
		return nil
	}
	field := Field{Path: at, To: unknownUntil(t)}
	if field.To == "" {
		field.From, field.To = shortenPair(readableValue(f), readableValue(t))
	}
	return []Field{field}
}

// blocksText returns a list of blocks as text for readers.
func blocksText(list []arguments) string {
	if len(list) == 0 {
		return ""
	}
	n := list[0].toNode()
	if len(list) > 1 {
		n = &node{shape: items}
		for i, b := range list {
			n.addKid(strconv.Itoa(i), b.toNode())
		}
	}
	out, _ := shortenPair(briefText(n), "")
	return out
}

func (a arguments) toNode() *node {
	n := &node{shape: fields}
	for name, v := range a.values {
		n.addText("."+name, scalarText(v))
	}
	slices.Sort(n.names)
	return n
}

func (a *arguments) nestedBlocks(name string) []arguments {
	if a == nil {
		return nil
	}
	return a.blocks[name]
}

// argumentText returns the value of an argument as text; "" if it is not set. Equal
// values have equal texts, whatever the type in which they are written, because
// Terraform converts them to the provider's type.
func (a *arguments) argumentText(name string) string {
	if a == nil {
		return ""
	}
	return scalarText(a.values[name])
}

// scalarText returns a value as text. It sorts lists, because the relevant lists are
// sets.
func scalarText(v cty.Value) string {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return ""
	}
	if v.Type().IsPrimitiveType() {
		s, err := convert.Convert(v, cty.String)
		if err != nil || s.IsNull() {
			return ""
		}
		return s.AsString()
	}
	if !v.CanIterateElements() {
		return ""
	}
	var parts []string
	keyed := v.Type().IsMapType() || v.Type().IsObjectType()
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		part := scalarText(e)
		if keyed {
			part = scalarText(k) + " = " + part
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// unknownUntil returns the addresses of the resources that must be created before the
// value is known; "" if there are none.
func unknownUntil(s string) string {
	var out []string
	for rest := s; ; {
		_, tail, ok := strings.Cut(rest, mark+changes)
		if !ok {
			break
		}
		address, after, _ := strings.Cut(tail, mark)
		out, rest = append(out, console.Inline(address)), after
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// describePool adds the hardware class of a node pool's nodes, and whether their number is fixed.
func (r *Replacement) describePool(p *ir.Platform, pool string) {
	r.Fixed = pool == p.SystemPool.Name && !p.SystemPool.Scales()
	for _, c := range p.Capacities {
		if slices.Contains(c.Pools(), pool) {
			r.Hardware, r.Fixed = c.Hardware, c.Static || c.Sliced()
		}
	}
}

// dependentsOf returns what depends on a resource: the largest number of nodes, and
// the teams' workloads.
func dependentsOf(p *ir.Platform, kind, name string) (nodes int, workloads []string) {
	var capacities []string
	switch kind {
	case "google_container_cluster":
		nodes = p.SystemPool.MostPerZone() * len(p.Zones)
		for _, c := range p.Capacities {
			nodes += c.MaxNodes
			capacities = append(capacities, c.Name)
		}
	case "google_container_node_pool":
		if name == p.SystemPool.Name {
			return p.SystemPool.MostPerZone() * len(p.Zones), nil
		}
		for _, c := range p.Capacities {
			if !slices.Contains(c.Pools(), name) {
				continue
			}
			if nodes = c.MaxNodes; c.Sliced() {
				nodes = c.Machine.Slice.Hosts
			}
			capacities = append(capacities, c.Name)
		}
	case "google_compute_reservation":
		for _, c := range p.Capacities {
			if c.Reservation != nil && c.Reservation.Name == name && c.OwnsReservation() {
				nodes += c.MaxNodes
				capacities = append(capacities, c.Name)
			}
		}
	}
	for _, w := range p.Workloads {
		runs := kind == "google_storage_bucket" && w.Bucket == name
		for _, c := range capacities {
			runs = runs || slices.Contains(w.Capacities, c) ||
				slices.ContainsFunc(w.Auxiliaries, func(a ir.Auxiliary) bool { return a.Capacity == c })
		}
		if runs {
			workloads = append(workloads, w.Team+"/"+w.Name)
		}
	}
	slices.Sort(workloads)
	return nodes, slices.Compact(workloads)
}
