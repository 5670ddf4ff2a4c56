package objects

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/batchwright/batchwright/emit"
)

// terraformDir is where the root is in a folder.
const terraformDir = "terraform"

// What an expression comes to that the root alone does not tell is a text of
// this form, so that it shows in every text that is made of it: mark, how it is
// known, the address of the resource, mark, and the attribute, mark.
const (
	mark    = "\x00"
	stays   = "=" // it is the same before and after
	changes = "!" // the resource is created, perhaps in place of another
	opaque  = "?" // the expression as it is written: it cannot be evaluated here
)

// root is a Terraform root with the modules that it calls, evaluated by need:
// references between resources are followed wherever they lead.
type root struct {
	sources   map[string]source // by path
	functions map[string]function.Function
	main      *module
	resources map[string]*managed // by address, without keys
	data      map[string]bool     // data sources, by address
	names     []string            // attributes that some expression asks for
	// earlier is the root before the change, nil of that one itself.
	earlier *root
	// budget is what is left of work; below 0 nothing is evaluated any more.
	budget int
}

// managed is a resource block: one resource, or one for each key.
type managed struct {
	module        *module // whose names its expressions have
	address       string  // without a key
	kind, file    string
	line          int
	body          *hclsyntax.Body
	visited, done bool
	instances     map[string]*instance // by key, "" for the only one
	value         cty.Value            // NilVal until something refers to it
}

// instance is one resource of Terraform's state.
type instance struct {
	key, address string
	arguments
	// because are the reasons to replace it, none to keep it.
	because []Field
	how     string // what is computed of it is known
}

// arguments are what a block sets.
type arguments struct {
	values map[string]cty.Value
	blocks map[string][]arguments
}

// openRoot reads a root. It returns nil for a root that Terraform cannot read.
func openRoot(t emit.Tree, earlier *root) *root {
	r := &root{
		sources: map[string]source{}, functions: functions(t), resources: map[string]*managed{},
		data:    map[string]bool{},
		earlier: earlier, budget: work,
	}
	o := &opener{root: r, tree: t, dirs: map[string]*moduleDir{}}
	given := map[string]hclsyntax.Expression{}
	for _, f := range t {
		if f.Path != path.Join(terraformDir, "terraform.tfvars") {
			continue
		}
		body := o.parse(f)
		if body == nil {
			return nil
		}
		for name, a := range body.Attributes {
			given[name] = a.Expr
		}
	}
	if r.main = o.open("", []string{terraformDir}); r.main == nil {
		return nil
	}
	for name, in := range r.main.variables {
		in.given = given[name]
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	return r
}

// asked returns the names of attributes in expressions.
func asked(body *hclsyntax.Body) []string {
	var out []string
	hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		var steps hcl.Traversal
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			steps = n.Traversal
		case *hclsyntax.RelativeTraversalExpr:
			steps = n.Traversal
		}
		for _, s := range steps {
			if a, ok := s.(hcl.TraverseAttr); ok {
				out = append(out, a.Name)
			}
		}
		return nil
	})
	return out
}

// evaluate evaluates everything.
func (r *root) evaluate() {
	for _, address := range slices.Sorted(maps.Keys(r.resources)) {
		r.resource(address)
	}
}

// value evaluates an expression, to what it says where it cannot.
func (r *root) value(e hclsyntax.Expression, file string, ctx *hcl.EvalContext) cty.Value {
	v, diags := e.Value(ctx)
	if r.budget -= weight(v, r.budget); r.budget < 0 || diags.HasErrors() || !v.IsWhollyKnown() {
		return cty.StringVal(mark + opaque + mark + r.sources[file].tokens(e).text + mark)
	}
	return v
}

// resource evaluates the instances of a resource.
func (r *root) resource(address string) {
	s := r.resources[address]
	if s == nil || s.visited {
		return
	}
	s.visited = true
	var references []hcl.Traversal
	hclsyntax.VisitAll(s.body, func(n hclsyntax.Node) hcl.Diagnostics {
		if a, ok := n.(*hclsyntax.Attribute); ok && a.Name != "depends_on" {
			references = append(references, a.Expr.Variables()...)
		}
		return nil
	})
	ctx := s.module.need(references)
	s.instances = map[string]*instance{}
	if each := s.body.Attributes["for_each"]; each == nil {
		r.instance(s, "", address, ctx)
	} else {
		for key, value := range elements(r.value(each.Expr, s.file, ctx)) {
			if key.Type() != cty.String || key.IsNull() {
				continue
			}
			child := ctx.NewChild()
			child.Variables = map[string]cty.Value{
				"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value}),
			}
			r.instance(s, key.AsString(), fmt.Sprintf("%s[%q]", address, key.AsString()), child)
		}
	}
	s.done = true
}

// object returns what the address of a resource stands for in expressions,
// NilVal if there is no such resource, or it is about to be evaluated.
func (r *root) object(address string) cty.Value {
	r.resource(address)
	s := r.resources[address]
	switch {
	case s == nil:
		return cty.NilVal
	case !s.done, s.value != cty.NilVal:
		return s.value
	}
	values := map[string]cty.Value{}
	for key, i := range s.instances {
		v := i.object()
		for _, name := range r.names {
			if set, ok := v[name]; !ok || set.IsNull() {
				v[name] = cty.StringVal(mark + i.how + i.address + mark + name + mark)
			}
		}
		values[key] = cty.ObjectVal(v)
	}
	if s.value = cty.ObjectVal(values); s.body.Attributes["for_each"] == nil {
		s.value = values[""]
	}
	return s.value
}

// elements yields the keys and values that Terraform makes of for_each, in
// their order: of a set both are the element.
func elements(v cty.Value) func(yield func(k, v cty.Value) bool) {
	return func(yield func(k, v cty.Value) bool) {
		if v.IsNull() || !v.CanIterateElements() {
			return
		}
		set := v.Type().IsSetType()
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if set {
				k = e
			}
			if !yield(k, e) {
				return
			}
		}
	}
}

// instance evaluates an instance of a resource, and whether it is replaced.
func (r *root) instance(s *managed, key, address string, ctx *hcl.EvalContext) {
	i := &instance{key: key, address: address, how: stays, arguments: r.arguments(s.body, s.file, ctx, true)}
	s.instances[key] = i
	if r.earlier == nil {
		return
	}
	was := r.earlier.find(s.address, key)
	if was != nil {
		i.because = replaced(s, was, i, r.triggered(s))
	}
	if was == nil || len(i.because) > 0 {
		i.how = changes
	}
}

// find returns an instance, nil if there is none.
func (r *root) find(address, key string) *instance {
	r.resource(address)
	if s := r.resources[address]; s != nil {
		return s.instances[key]
	}
	return nil
}

// meta are arguments and blocks that are Terraform's own.
var meta = []string{"for_each", "count", "depends_on", "provider", "lifecycle", "provisioner", "connection", "timeouts"}

// arguments evaluates a block.
func (r *root) arguments(body *hclsyntax.Body, file string, ctx *hcl.EvalContext, top bool) arguments {
	out := arguments{values: map[string]cty.Value{}, blocks: map[string][]arguments{}}
	for name, a := range body.Attributes {
		if !top || !slices.Contains(meta, name) {
			out.values[name] = r.value(a.Expr, file, ctx)
		}
	}
	for _, b := range body.Blocks {
		switch {
		case top && slices.Contains(meta, b.Type):
		case b.Type == "dynamic" && len(b.Labels) == 1:
			out.blocks[b.Labels[0]] = append(out.blocks[b.Labels[0]], r.dynamic(b, file, ctx)...)
		default:
			out.blocks[b.Type] = append(out.blocks[b.Type], r.arguments(b.Body, file, ctx, false))
		}
	}
	return out
}

// dynamic evaluates the blocks that a dynamic block stands for.
func (r *root) dynamic(b *hclsyntax.Block, file string, ctx *hcl.EvalContext) []arguments {
	each := b.Body.Attributes["for_each"]
	if each == nil {
		return nil
	}
	name := b.Labels[0]
	if a := b.Body.Attributes["iterator"]; a != nil {
		name = hcl.ExprAsKeyword(a.Expr)
	}
	var out []arguments
	for k, v := range elements(r.value(each.Expr, file, ctx)) {
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{name: cty.ObjectVal(map[string]cty.Value{"key": k, "value": v})}
		for _, content := range b.Body.Blocks {
			if content.Type == "content" {
				out = append(out, r.arguments(content.Body, file, child, false))
			}
		}
	}
	return out
}

// object returns the arguments as expressions see them.
func (a arguments) object() map[string]cty.Value {
	out := maps.Clone(a.values)
	for name, blocks := range a.blocks {
		list := make([]cty.Value, len(blocks))
		for i, b := range blocks {
			list[i] = cty.ObjectVal(b.object())
		}
		out[name] = cty.TupleVal(list)
	}
	return out
}

// functions are those of Terraform that the folders use where it matters here.
func functions(t emit.Tree) map[string]function.Function {
	files := byPath(t)
	return map[string]function.Function{
		"length": stdlib.LengthFunc,
		"merge":  stdlib.MergeFunc,
		"range":  stdlib.RangeFunc,
		"toset":  toSet(),
		"file": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "path", Type: cty.String}},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				name := path.Join(terraformDir, args[0].AsString())
				f, ok := files[name]
				if !ok {
					return cty.NilVal, fmt.Errorf("there is no %s", name)
				}
				return cty.StringVal(string(f.Content)), nil
			},
		}),
		"cidrsubnet": function.New(&function.Spec{
			Params: []function.Parameter{
				{Name: "prefix", Type: cty.String}, {Name: "newbits", Type: cty.Number},
				{Name: "netnum", Type: cty.Number},
			},
			Type: function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				s, err := subnet(args[0].AsString(), args[1], args[2])
				return cty.StringVal(s), err
			},
		}),
	}
}

// subnet returns a part of an IPv4 range.
func subnet(prefix string, newBits, number cty.Value) (string, error) {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return "", err
	}
	bits, _ := newBits.AsBigFloat().Int64()
	n, _ := number.AsBigFloat().Int64()
	if !p.Addr().Is4() || bits < 0 || bits > int64(32-p.Bits()) || n < 0 || n >= 1<<bits {
		return "", fmt.Errorf("%s has no part %d of %d bits more", prefix, n, bits)
	}
	length := p.Bits() + int(bits)
	a := p.Masked().Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+uint32(n)<<(32-length))
	return netip.PrefixFrom(netip.AddrFrom4(a), length).String(), nil
}

// known is a value for readers: without the marks of what is not known.
func known(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, mark)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		address, rest, _ := strings.Cut(rest, mark)
		attribute, rest, _ := strings.Cut(rest, mark)
		if address = strings.TrimLeft(address, stays+changes+opaque); address != "" {
			attribute = address + "." + attribute
		}
		b.WriteString(attribute)
		s = rest
	}
}
