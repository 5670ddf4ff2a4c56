package objects

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// Settings are the arguments and blocks of a resource that runs, by the names that
// Terraform gives them. Values are string, bool, json.Number, []string or
// map[string]string. Zero values are omitted.
type Settings struct {
	Values map[string]any
	Blocks map[string][]Settings
}

// Setting says how the provider compares an argument or a block.
type Setting struct {
	// Computed settings keep their value if the configuration does not set them.
	Computed bool
	// Names are paths of resources, of which only the last element counts.
	Names bool
	// AnyCase texts are equal in upper and lower case.
	AnyCase bool
	// Kept reports whether a block of this key, which only runs, stays; nil for none.
	Kept func(key string) bool
}

// Type describes a type of resource for CompareRunning.
type Type struct {
	Name string
	// Settings are the settings that are compared, by path, as in "node_config.spot".
	Settings map[string]Setting
	// Running returns the settings of the resource of a name that runs, and the paths of
	// which nothing is known. It reports whether there is such a resource.
	Running func(name string) (s Settings, unknown []string, ok bool)
}

// Running is a resource of a folder, compared with the one that runs.
type Running struct {
	Name string // the argument name
	// Change is the change of the resource. Its Op is "" if nothing changes.
	Change Object
	// Replacement says why the resource must be replaced. It is nil if the resource is
	// new or can be changed in place.
	Replacement *Replacement
}

// errUnreadable is the error for a folder whose Terraform root cannot be read.
var errUnreadable = errors.New("the Terraform of the folder cannot be evaluated")

// CompareRunning compares the resources of a type in a folder with the resources that run,
// as Terraform does after an import: an argument that the folder does not set and that the
// provider does not compute is removed. Values that are known only after the apply count
// as equal. The result is sorted by address. plan is the plan of the folder.
func CompareRunning(t emit.Tree, kind Type, plan *ir.Platform) ([]Running, error) {
	r := openRoot(t, nil)
	if r == nil {
		return nil, errUnreadable
	}
	var out []Running
	for s, i := range r.instancesOf(kind.Name) {
		out = append(out, r.compareRunning(kind, s, i, plan))
	}
	if r.budget < 0 {
		return nil, errUnreadable
	}
	return out, nil
}

// compareRunning compares an instance with the resource that runs under its name.
func (r *root) compareRunning(kind Type, s *managed, i *instance, plan *ir.Platform) Running {
	name := i.argumentText("name")
	out := Running{Name: name, Change: Object{
		File: s.file, Line: s.line, Kind: "resource " + s.kind,
		Name: console.Inline(i.address[strings.LastIndex(i.address, s.kind)+len(s.kind)+1:]),
	}}
	settings, unknown, ok := kind.Running(name)
	if !ok {
		out.Change.Op = delta.Added
		return out
	}
	ignored, all := ignoredChanges(s.body)
	if all {
		return out
	}
	was := settings.toArguments()
	c := settler{root: r, kind: kind, skipped: append(ignored, unknown...)}
	is := c.settle("", i.arguments, was)
	if out.Change.Fields = settledDifferences(was, is); len(out.Change.Fields) > 0 {
		out.Change.Op = delta.Changed
	}
	table := slices.Concat(gke.Replacements(s.kind), gke.ForeignReplacements(s.kind))
	because := forcingFields(table, ignored, &instance{arguments: was}, &instance{arguments: is})
	if len(because) > 0 {
		nodes, workloads := dependentsOf(plan, s.kind, name)
		out.Replacement = &Replacement{
			Address: console.Inline(i.address), File: s.file, Line: s.line, Because: because,
			Nodes: nodes, Workloads: workloads, Guard: destroyGuard(s.kind, i),
		}
		if preventsDestroy(s.body) {
			out.Replacement.Guard = "because of prevent_destroy"
		}
	}
	return out
}

// preventsDestroy reports whether Terraform refuses a plan that destroys a resource.
func preventsDestroy(body *hclsyntax.Body) bool {
	for _, b := range body.Blocks {
		if a := b.Body.Attributes["prevent_destroy"]; b.Type == "lifecycle" && a != nil {
			v := constantValue(a.Expr)
			return v != cty.NilVal && !v.IsNull() && v.Type() == cty.Bool && v.True()
		}
	}
	return false
}

// toArguments returns the settings as evaluated arguments.
func (s Settings) toArguments() arguments {
	out := arguments{values: map[string]cty.Value{}, blocks: map[string][]arguments{}}
	for name, v := range s.Values {
		if kind, err := gocty.ImpliedType(v); err == nil {
			out.values[name], _ = gocty.ToCtyValue(v, kind)
		}
	}
	for name, blocks := range s.Blocks {
		for _, b := range blocks {
			out.blocks[name] = append(out.blocks[name], b.toArguments())
		}
	}
	return out
}

// settler compares the arguments of one resource.
type settler struct {
	root    *root
	kind    Type
	skipped []string // paths that are ignored or unknown
}

// setting returns how an argument is compared, and reports whether it is compared.
func (c settler) setting(path string) (Setting, bool) {
	s, ok := c.kind.Settings[path]
	return s, ok && !slices.ContainsFunc(c.skipped, func(skipped string) bool {
		return path == skipped || strings.HasPrefix(path, skipped+".")
	})
}

// settle returns the arguments of the folder for a comparison with the arguments that run.
// A value that the provider takes for equal, or that is not known, is replaced by the value
// that runs.
func (c settler) settle(at string, is, was arguments) arguments {
	out := arguments{values: map[string]cty.Value{}, blocks: map[string][]arguments{}}
	for _, name := range keysOf(is.values, was.values) {
		s, compared := c.setting(at + name)
		from, to := was.argumentText(name), is.argumentText(name)
		_, runs := was.values[name]
		switch {
		case !compared, to == "" && s.Computed, c.isSame(s, from, to):
			if runs {
				out.values[name] = was.values[name]
			}
		case to != "":
			out.values[name] = is.values[name]
		}
	}
	for _, name := range keysOf(is.blocks, was.blocks) {
		s, compared := c.setting(at + name)
		if !compared || len(is.blocks[name]) == 0 && s.Computed {
			if blocks, runs := was.blocks[name]; runs {
				out.blocks[name] = blocks
			}
			continue
		}
		for _, p := range pairBlocks(name, is.blocks[name], was.blocks[name]) {
			switch {
			case p.is == nil && s.Kept != nil && s.Kept(p.was.argumentText(blockKeys[name])):
				out.blocks[name] = append(out.blocks[name], *p.was)
			case p.is == nil:
			case p.was == nil:
				// A new block that sets nothing is the same as none.
				if b := c.settle(at+name+".", *p.is, arguments{}); len(b.values)+len(b.blocks) > 0 {
					out.blocks[name] = append(out.blocks[name], b)
				}
			default:
				out.blocks[name] = append(out.blocks[name], c.settle(at+name+".", *p.is, *p.was))
			}
		}
	}
	return out
}

// keysOf returns the keys of both maps, sorted.
func keysOf[T any](a, b map[string]T) []string {
	keys := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

// blockPair is a block of the folder and the one that runs; one of them can be nil.
type blockPair struct{ is, was *arguments }

// pairBlocks pairs the blocks of the folder with the blocks that run, in the order in which
// they run; blocks that do not run come last. Blocks without a key are identified by their
// number.
func pairBlocks(name string, is, was []arguments) (out []blockPair) {
	key := blockKeys[name]
	used := make([]bool, len(is))
	for n := range was {
		p := blockPair{was: &was[n]}
		for m := range is {
			if !used[m] && (key == "" && m == n || key != "" && is[m].argumentText(key) == was[n].argumentText(key)) {
				p.is, used[m] = &is[m], true
				break
			}
		}
		out = append(out, p)
	}
	for m := range is {
		if !used[m] {
			out = append(out, blockPair{is: &is[m]})
		}
	}
	return out
}

// isSame reports whether the provider takes two values for equal, or the value of the
// folder is not known.
func (c settler) isSame(s Setting, from, to string) bool {
	if strings.Contains(to, mark) {
		name, known := c.root.nameBehind(to)
		return !known || from == "" || path.Base(from) == name
	}
	return from == to || isZero(from) && isZero(to) || s.AnyCase && strings.EqualFold(from, to) ||
		s.Names && from != "" && to != "" && path.Base(from) == path.Base(to)
}

// isZero reports whether a value is the same as none.
func isZero(text string) bool { return text == "" || text == "false" || text == "0" }

// nameBehind returns the name of the resource to which an unknown value refers, and
// reports whether the name is known.
func (r *root) nameBehind(text string) (string, bool) {
	text, ok := strings.CutPrefix(text, mark)
	address, rest, _ := strings.Cut(text, mark)
	attribute, rest, _ := strings.Cut(rest, mark)
	if !ok || rest != "" || !slices.Contains([]string{"id", "name", "self_link"}, attribute) {
		return "", false
	}
	i := r.findInstance(strings.TrimLeft(address, stays+changes+opaque), "")
	name := ""
	if i != nil {
		name = i.argumentText("name")
	}
	return name, name != "" && !strings.Contains(name, mark)
}

// settledDifferences returns the differences of settled arguments from the arguments that
// run, sorted by path. Each argument of a block that is new or goes is a difference.
func settledDifferences(was, is arguments) []Field {
	c := comparison{each: true}
	c.compareAt("", was.settingsNode(), is.settingsNode())
	slices.SortStableFunc(c.out, func(a, b Field) int { return cmp.Compare(a.Path, b.Path) })
	return c.out
}

// settingsNode returns a node for arguments and the blocks in them. The elements of a map are
// nodes of their own, those of a list are not.
func (a arguments) settingsNode() *node {
	n := &node{shape: fields}
	for name, v := range a.values {
		if !isKeyed(v) {
			n.addText("."+name, scalarText(v))
			continue
		}
		elements := &node{shape: fields}
		for key, element := range v.AsValueMap() {
			elements.addText(pathStep(key), scalarText(element))
		}
		slices.Sort(elements.names)
		n.addKid("."+name, elements)
	}
	for name, blocks := range a.blocks {
		list := &node{shape: items, blocks: true}
		for i, b := range blocks {
			list.addKid("["+cmp.Or(b.argumentText(blockKeys[name]), strconv.Itoa(i))+"]", b.settingsNode())
		}
		n.addKid("."+name, list)
	}
	slices.Sort(n.names)
	return n
}

// isKeyed reports whether a value is a map.
func isKeyed(v cty.Value) bool {
	return v != cty.NilVal && !v.IsNull() && v.IsKnown() && (v.Type().IsMapType() || v.Type().IsObjectType())
}
