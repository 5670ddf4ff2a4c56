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

// terraformDir is the root's path in a deploy folder.
const terraformDir = "terraform"

// If the root alone does not determine the value of an expression, the value is a
// text of this form: mark, one of the constants below, the address of the resource,
// mark, the attribute, mark. Texts that are built from the value contain it, so that
// they show the same.
const (
	mark    = "\x00"
	stays   = "=" // the value is the same before and after
	changes = "!" // the resource is created, perhaps in place of another
	opaque  = "?" // the attribute is the expression's source text: it cannot be evaluated here
)

// root is a Terraform root with the modules that it calls. It is evaluated on
// demand: references between resources are followed wherever they lead.
type root struct {
	sources   map[string]source // by path
	functions map[string]function.Function
	main      *module
	resources map[string]*managed // by address, without instance keys
	data      map[string]bool     // data sources, by address
	names     []string            // names of the attributes to which expressions refer
	// earlier is the root before the change; nil in the earlier root itself.
	earlier *root
	// budget is the remaining work; below 0 nothing more is evaluated.
	budget int
}

// managed is a resource block: one resource, or one for each instance key.
type managed struct {
	module        *module // the module in which its expressions are evaluated
	address       string  // without an instance key
	kind, file    string
	line          int
	body          *hclsyntax.Body
	visited, done bool
	instances     map[string]*instance // by key, "" for the only one
	value         cty.Value            // NilVal until something refers to it
}

// instance is one resource in Terraform's state.
type instance struct {
	key, address string
	arguments
	// because holds the reasons to replace the instance; if there are none, it is
	// kept.
	because []Field
	how     string // how its computed attributes are known: stays or changes
}

// arguments holds the arguments and nested blocks of a block.
type arguments struct {
	values map[string]cty.Value
	blocks map[string][]arguments
}

// openRoot parses a root. It returns nil if Terraform cannot read the root.
func openRoot(t emit.Tree, earlier *root) *root {
	r := &root{
		sources: map[string]source{}, functions: usedFunctions(t), resources: map[string]*managed{},
		data:    map[string]bool{},
		earlier: earlier, budget: work,
	}
	o := &opener{root: r, tree: t, dirs: map[string]*moduleDir{}}
	values := &hclsyntax.Body{}
	if f, ok := byPath(t)[path.Join(terraformDir, "terraform.tfvars")]; ok {
		if values = o.parseFile(f); values == nil {
			return nil
		}
	}
	if r.main = o.openModule("", []string{terraformDir}); r.main == nil {
		return nil
	}
	for name, in := range r.main.variables {
		if a := values.Attributes[name]; a != nil {
			in.given = a.Expr
		}
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	return r
}

// attributesUsed returns the names of the attributes to which expressions refer.
func attributesUsed(body *hclsyntax.Body) []string {
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

// evaluateResources evaluates all resources.
func (r *root) evaluateResources() {
	for _, address := range slices.Sorted(maps.Keys(r.resources)) {
		r.evaluateResource(address)
	}
}

// evaluateExpr evaluates an expression. If it cannot be evaluated, evaluateExpr
// returns its source text, marked as opaque.
func (r *root) evaluateExpr(e hclsyntax.Expression, file string, ctx *hcl.EvalContext) cty.Value {
	v, diags := e.Value(ctx)
	if r.budget -= valueWeight(v, r.budget); r.budget < 0 || diags.HasErrors() || !v.IsWhollyKnown() {
		return cty.StringVal(mark + opaque + mark + r.sources[file].tokensNode(e).text + mark)
	}
	return v
}

// evaluateResource evaluates the instances of a resource.
func (r *root) evaluateResource(address string) {
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
	ctx := s.module.needValues(references)
	s.instances = map[string]*instance{}
	if each := s.body.Attributes["for_each"]; each == nil {
		r.evaluateInstance(s, "", address, ctx)
	} else {
		for key, value := range forEachElements(r.evaluateExpr(each.Expr, s.file, ctx)) {
			if key.Type() != cty.String || key.IsNull() {
				continue
			}
			child := ctx.NewChild()
			child.Variables = map[string]cty.Value{
				"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value}),
			}
			r.evaluateInstance(s, key.AsString(), fmt.Sprintf("%s[%q]", address, key.AsString()), child)
		}
	}
	s.done = true
}

// resourceValue returns the value of a resource's address in expressions. It returns
// NilVal if there is no such resource, or while the resource is being evaluated.
func (r *root) resourceValue(address string) cty.Value {
	r.evaluateResource(address)
	s := r.resources[address]
	switch {
	case s == nil:
		return cty.NilVal
	case !s.done, s.value != cty.NilVal:
		return s.value
	}
	values := map[string]cty.Value{}
	for key, i := range s.instances {
		v := i.attributeValues()
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

// forEachElements yields the keys and values of a for_each argument, in Terraform's
// order. For a set, key and value are both the element.
func forEachElements(v cty.Value) func(yield func(k, v cty.Value) bool) {
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

// evaluateInstance evaluates an instance of a resource, and decides whether it is
// replaced.
func (r *root) evaluateInstance(s *managed, key, address string, ctx *hcl.EvalContext) {
	i := &instance{key: key, address: address, how: stays, arguments: r.evaluateBlock(s.body, s.file, ctx, true)}
	s.instances[key] = i
	if r.earlier == nil {
		return
	}
	was := r.earlier.findInstance(s.address, key)
	if was != nil {
		differs, because := r.trigger(s)
		if i.because = replacingFields(s, was, i, differs); len(i.because) == 0 {
			i.because = because
		}
	}
	if was == nil || len(i.because) > 0 {
		i.how = changes
	}
}

// findInstance returns the instance with a key, or nil if there is none.
func (r *root) findInstance(address, key string) *instance {
	r.evaluateResource(address)
	if s := r.resources[address]; s != nil {
		return s.instances[key]
	}
	return nil
}

// meta lists the arguments and blocks that belong to Terraform itself.
var meta = []string{"for_each", "count", "depends_on", "provider", "lifecycle", "provisioner", "connection", "timeouts"}

// evaluateBlock evaluates the arguments and nested blocks of a block.
func (r *root) evaluateBlock(body *hclsyntax.Body, file string, ctx *hcl.EvalContext, top bool) arguments {
	out := arguments{values: map[string]cty.Value{}, blocks: map[string][]arguments{}}
	for name, a := range body.Attributes {
		if !top || !slices.Contains(meta, name) {
			out.values[name] = r.evaluateExpr(a.Expr, file, ctx)
		}
	}
	for _, b := range body.Blocks {
		switch {
		case top && slices.Contains(meta, b.Type):
		case b.Type == "dynamic" && len(b.Labels) == 1:
			out.blocks[b.Labels[0]] = append(out.blocks[b.Labels[0]], r.evaluateDynamic(b, file, ctx)...)
		default:
			out.blocks[b.Type] = append(out.blocks[b.Type], r.evaluateBlock(b.Body, file, ctx, false))
		}
	}
	return out
}

// evaluateDynamic evaluates the blocks that a dynamic block generates.
func (r *root) evaluateDynamic(b *hclsyntax.Block, file string, ctx *hcl.EvalContext) []arguments {
	each := b.Body.Attributes["for_each"]
	if each == nil {
		return nil
	}
	name := b.Labels[0]
	if a := b.Body.Attributes["iterator"]; a != nil {
		name = hcl.ExprAsKeyword(a.Expr)
	}
	var out []arguments
	for k, v := range forEachElements(r.evaluateExpr(each.Expr, file, ctx)) {
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{name: cty.ObjectVal(map[string]cty.Value{"key": k, "value": v})}
		for _, content := range b.Body.Blocks {
			if content.Type == "content" {
				out = append(out, r.evaluateBlock(content.Body, file, child, false))
			}
		}
	}
	return out
}

// attributeValues returns the arguments as attributes for expressions.
func (a arguments) attributeValues() map[string]cty.Value {
	out := maps.Clone(a.values)
	for name, blocks := range a.blocks {
		list := make([]cty.Value, len(blocks))
		for i, b := range blocks {
			list[i] = cty.ObjectVal(b.attributeValues())
		}
		out[name] = cty.TupleVal(list)
	}
	return out
}

// usedFunctions returns the functions of Terraform that the folders use in relevant
// expressions.
func usedFunctions(t emit.Tree) map[string]function.Function {
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
				s, err := cidrSubnet(args[0].AsString(), args[1], args[2])
				return cty.StringVal(s), err
			},
		}),
	}
}

// cidrSubnet returns a part of an IPv4 range, like Terraform's cidrsubnet.
func cidrSubnet(prefix string, newBits, number cty.Value) (string, error) {
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

// readableValue returns a value for readers, without the marks of unknown values.
func readableValue(s string) string {
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
