package objects

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

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
	files     map[string]emit.Tree // Terraform files by folder
	sources   map[string]source    // by path
	resources map[string]*managed  // by address, without instance keys
	names     map[string]bool      // names of the attributes to which expressions refer
	// broken reports whether Terraform cannot read the root, or whether it is too large.
	broken bool
	// earlier is the root before the change; nil in the earlier root itself.
	earlier *root
	// budget is the remaining work; below 0 nothing more is evaluated.
	budget int
}

// managed is a resource block: one resource, or one for each instance key.
type managed struct {
	module     *module // the module in which its expressions are evaluated
	address    string  // without an instance key
	kind, file string
	line       int
	body       *hclsyntax.Body
	visited    bool
	instances  map[string]*instance // by key, "" for the only one; nil while they are evaluated
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
		files: map[string]emit.Tree{}, sources: map[string]source{}, resources: map[string]*managed{},
		names: map[string]bool{}, earlier: earlier, budget: work,
	}
	given := map[string]*term{}
	for _, f := range t {
		switch {
		case path.Ext(f.Path) == ".tf":
			r.files[path.Dir(f.Path)] = append(r.files[path.Dir(f.Path)], f)
			r.budget += workPerByte * len(f.Content)
		case f.Path == path.Join(terraformDir, "terraform.tfvars"):
			r.budget += workPerByte * len(f.Content)
			for name, a := range r.parseFile(f).Attributes {
				given[name] = &term{evaluate: func() cty.Value { return r.evaluateExpr(a.Expr, nil) }}
			}
		}
	}
	r.openModule([]string{terraformDir}, "", given)
	if r.broken {
		return nil
	}
	return r
}

// instancesOf yields the resources of a type, or of every type for "", with their instances. They
// are sorted by address and key.
func (r *root) instancesOf(kind string) iter.Seq2[*managed, *instance] {
	return func(yield func(*managed, *instance) bool) {
		for _, address := range slices.Sorted(maps.Keys(r.resources)) {
			s := r.resources[address]
			if kind != "" && s.kind != kind {
				continue
			}
			instances := s.evaluate()
			for _, key := range slices.Sorted(maps.Keys(instances)) {
				if !yield(s, instances[key]) {
					return
				}
			}
		}
	}
}

// evaluateExpr evaluates an expression. If it cannot be evaluated, evaluateExpr
// returns its source text, marked as opaque.
func (r *root) evaluateExpr(e hclsyntax.Expression, ctx *hcl.EvalContext) cty.Value {
	v, diags := e.Value(ctx)
	if r.budget -= valueWeight(v, r.budget); r.budget < 0 || diags.HasErrors() || !v.IsWhollyKnown() {
		return cty.StringVal(mark + opaque + mark + r.sources[e.Range().Filename].tokensNode(e).text + mark)
	}
	return v
}

// evaluate evaluates the instances of a resource.
func (s *managed) evaluate() map[string]*instance {
	if s.visited {
		return s.instances
	}
	s.visited = true
	r := s.module.root
	var references []hcl.Traversal
	hclsyntax.VisitAll(s.body, func(n hclsyntax.Node) hcl.Diagnostics {
		if a, ok := n.(*hclsyntax.Attribute); ok && a.Name != "depends_on" {
			references = append(references, a.Expr.Variables()...)
		}
		return nil
	})
	ctx := s.module.needTerms(references)
	instances := map[string]*instance{}
	if each := s.body.Attributes["for_each"]; each == nil {
		instances[""] = r.evaluateInstance(s, "", s.address, ctx)
	} else {
		for key, value := range forEachElements(r.evaluateExpr(each.Expr, ctx)) {
			if key.Type() != cty.String || key.IsNull() {
				continue
			}
			child := ctx.NewChild()
			child.Variables = map[string]cty.Value{
				"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value}),
			}
			name := key.AsString()
			instances[name] = r.evaluateInstance(s, name, fmt.Sprintf("%s[%q]", s.address, name), child)
		}
	}
	s.instances = instances
	return instances
}

// attributeValue returns the value of the resource's address in expressions. It returns NilVal
// while the resource is being evaluated.
func (s *managed) attributeValue() cty.Value {
	values := map[string]cty.Value{}
	for key, i := range s.evaluate() {
		values[key] = cty.ObjectVal(s.module.root.completeAttributes(i.attributeValues(), i.how+i.address))
	}
	if s.body.Attributes["for_each"] == nil {
		return values[""]
	}
	return cty.ObjectVal(values)
}

// completeAttributes adds the attributes to which expressions refer and that are not set.
// origin is the address of the resource, after the constant that says how they are known.
func (r *root) completeAttributes(attributes map[string]cty.Value, origin string) map[string]cty.Value {
	for name := range r.names {
		if v, ok := attributes[name]; !ok || v.IsNull() {
			attributes[name] = cty.StringVal(mark + origin + mark + name + mark)
		}
	}
	return attributes
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
func (r *root) evaluateInstance(s *managed, key, address string, ctx *hcl.EvalContext) *instance {
	i := &instance{key: key, address: address, how: stays, arguments: r.evaluateBlock(s.body, ctx, true)}
	if r.earlier == nil {
		return i
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
	return i
}

// findInstance returns the instance with a key, or nil if there is none.
func (r *root) findInstance(address, key string) *instance {
	if s := r.resources[address]; s != nil {
		return s.evaluate()[key]
	}
	return nil
}

// meta lists the arguments and blocks that belong to Terraform itself.
var meta = []string{"for_each", "count", "depends_on", "provider", "lifecycle", "provisioner", "connection", "timeouts"}

// evaluateBlock evaluates the arguments and nested blocks of a block.
func (r *root) evaluateBlock(body *hclsyntax.Body, ctx *hcl.EvalContext, top bool) arguments {
	out := arguments{values: map[string]cty.Value{}, blocks: map[string][]arguments{}}
	for name, a := range body.Attributes {
		if !top || !slices.Contains(meta, name) {
			out.values[name] = r.evaluateExpr(a.Expr, ctx)
		}
	}
	for _, b := range body.Blocks {
		switch {
		case top && slices.Contains(meta, b.Type):
		case b.Type == "dynamic" && len(b.Labels) == 1:
			out.blocks[b.Labels[0]] = append(out.blocks[b.Labels[0]], r.evaluateDynamic(b, ctx)...)
		default:
			out.blocks[b.Type] = append(out.blocks[b.Type], r.evaluateBlock(b.Body, ctx, false))
		}
	}
	return out
}

// evaluateDynamic evaluates the blocks that a dynamic block generates.
func (r *root) evaluateDynamic(b *hclsyntax.Block, ctx *hcl.EvalContext) []arguments {
	each := b.Body.Attributes["for_each"]
	if each == nil {
		return nil
	}
	var out []arguments
	for k, v := range forEachElements(r.evaluateExpr(each.Expr, ctx)) {
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{
			b.Labels[0]: cty.ObjectVal(map[string]cty.Value{"key": k, "value": v}),
		}
		for _, content := range b.Body.Blocks {
			if content.Type == "content" {
				out = append(out, r.evaluateBlock(content.Body, child, false))
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
