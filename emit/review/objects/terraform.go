package objects

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/batchwright/batchwright/emit"
)

// readTerraform returns the blocks of a Terraform file, with a separate object for
// each local value, or the values in a file of variables.
func readTerraform(f emit.File) ([]object, *unreadable) {
	body, err := parseTerraform(f)
	if err != nil {
		return nil, err
	}
	s := source(f.Content)
	var out []object
	// single adds an object whose only field has the object's name.
	single := func(kind, name string, line int, v *node) {
		n := &node{shape: fields}
		first, _, _ := strings.Cut(name, " ") // the type without labels
		n.addKid(pathStep(first), v)
		out = append(out, object{kind: kind, name: name, line: line, value: n})
	}
	attributes := func(kind string, body *hclsyntax.Body) {
		for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
			a := body.Attributes[name]
			single(kind, name, a.NameRange.Start.Line, s.expressionNode(a.Expr))
		}
	}
	if strings.HasSuffix(f.Path, ".tfvars") {
		attributes("value", body)
	} else {
		attributes("argument", body) // our own Terraform files have none at the top level
	}
	for _, b := range body.Blocks {
		switch line := b.DefRange().Start.Line; b.Type {
		case "locals":
			attributes("local", b.Body)
		case "terraform":
			attributes("terraform", b.Body)
			for _, inner := range b.Body.Blocks {
				name := strings.Join(append([]string{inner.Type}, inner.Labels...), " ")
				single("terraform", name, inner.DefRange().Start.Line, s.bodyNode(inner.Body))
			}
		default:
			o := object{kind: b.Type, line: line, value: s.bodyNode(b.Body)}
			if last := len(b.Labels) - 1; last >= 0 {
				o.kind = strings.Join(append([]string{b.Type}, b.Labels[:last]...), " ")
				o.name = b.Labels[last]
			} else if a := b.Body.Attributes[blockAddresses[b.Type]]; a != nil {
				o.name = s.tokensNode(a.Expr).text
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// parseTerraform parses a Terraform file.
func parseTerraform(f emit.File) (*hclsyntax.Body, *unreadable) {
	if line := deepLine(f.Content); line > 0 {
		return nil, &unreadable{line, "nested too deep"}
	}
	file, diags := hclsyntax.ParseConfig(f.Content, f.Path, hcl.InitialPos)
	if i := slices.IndexFunc(diags, func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagError }); i >= 0 {
		line := 1
		if at := diags[i].Subject; at != nil {
			line = max(1, at.Start.Line)
		}
		return nil, &unreadable{line, diags[i].Summary}
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil, &unreadable{1, "no HCL"}
	}
	return body, nil
}

// deepLine returns the line at which the file is nested deeper than anybody would
// write, or 0. The parser would recurse as deep as the file is nested: brackets,
// operators in a row, conditions in conditions. deepLine also counts characters in
// strings, which is accurate enough.
func deepLine(content []byte) int {
	const longest = 64 << 10 // bytes without "=" or ","
	line, brackets, run, operators := 1, 0, 0, 0
	for _, c := range content {
		run++
		switch c {
		case '\n':
			line++
		case '(', '[', '{':
			brackets++
		case ')', ']', '}':
			brackets = max(0, brackets-1)
		case '=':
			run = 0
		case ',':
			run, operators = 0, 0
		case '?', '&', '|', '!', '<', '>', '+':
			operators++
		}
		if brackets > 10*deepest || run > longest || operators > 100*deepest {
			return line
		}
	}
	return 0
}

// blockAddresses maps the types of blocks without labels to the argument with the address
// of their resource.
var blockAddresses = map[string]string{"import": "to", "moved": "from", "removed": "from"}

// blockKeys maps the types of repeated blocks to the argument that identifies a
// block. Source: the documentation of the provider hashicorp/google.
var blockKeys = map[string]string{
	"allow":              "protocol",
	"cidr_blocks":        "display_name",
	"guest_accelerator":  "type",
	"guest_accelerators": "accelerator_type",
	"resource_limits":    "resource_type",
	"secondary_ip_range": "range_name",
	"taint":              "key",
}

// source is the content of a file.
type source []byte

// bodyNode returns a node for the content between braces.
func (s source) bodyNode(body *hclsyntax.Body) *node {
	n := &node{shape: fields}
	for name, a := range body.Attributes {
		n.addKid("."+name, s.expressionNode(a.Expr))
	}
	for _, b := range body.Blocks {
		name := "." + b.Type
		// In files that Terraform can read, no block has the name of an argument.
		for n.kids[name] != nil && !n.kids[name].blocks {
			name += "#"
		}
		if n.kids[name] == nil {
			n.addKid(name, &node{shape: items, blocks: true})
		}
		list, inner := n.kids[name], s.bodyNode(b.Body)
		k := strings.Join(b.Labels, " ")
		if k == "" {
			k = inner.scalarField(blockKeys[b.Type])
		}
		if k != "" {
			k = strconv.Quote(k)
		}
		list.addKid("["+cmp.Or(k, strconv.Itoa(len(list.names)))+"]", inner)
	}
	slices.Sort(n.names)
	return n
}

// expressionNode returns a node for an expression: for constant parts their values,
// for other parts their tokens.
func (s source) expressionNode(e hclsyntax.Expression) *node {
	switch e := e.(type) {
	case *hclsyntax.ObjectConsExpr:
		n := &node{shape: fields}
		for _, item := range e.Items {
			k := constantValue(item.KeyExpr)
			if k == cty.NilVal || k.Type() != cty.String {
				n.addKid("["+s.tokensNode(item.KeyExpr).text+"]", s.expressionNode(item.ValueExpr))
			} else if name := k.AsString(); hclsyntax.ValidIdentifier(name) && !strings.Contains(name, "-") {
				n.addKid("."+name, s.expressionNode(item.ValueExpr))
			} else {
				n.addKid("["+strconv.Quote(name)+"]", s.expressionNode(item.ValueExpr))
			}
		}
		slices.Sort(n.names)
		return n
	case *hclsyntax.TupleConsExpr:
		kids := make([]*node, len(e.Exprs))
		for i, item := range e.Exprs {
			kids[i] = s.expressionNode(item)
		}
		return listNode("", kids)
	case *hclsyntax.ParenthesesExpr:
		return s.expressionNode(e.Expression)
	}
	switch v := constantValue(e); {
	case v == cty.NilVal:
		return s.tokensNode(e)
	case v.IsNull():
		return &node{text: "null", id: "null"}
	case v.Type() == cty.String:
		return textNode(v.AsString())
	case v.Type() == cty.Number:
		f := v.AsBigFloat()
		t := f.Text('g', -1)
		if f.MantExp(nil) < 100 {
			t = f.Text('f', -1)
		}
		return &node{text: t, id: "n" + t}
	default:
		t := strconv.FormatBool(v.True())
		return &node{text: t, id: "b" + t}
	}
}

// constantValue returns the value of a literal: null, a string, a number, a bool, or a key of
// an object. It returns NilVal for any other expression.
func constantValue(e hclsyntax.Expression) cty.Value {
	if !isLiteral(e) {
		return cty.NilVal
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() {
		return cty.NilVal
	}
	return v
}

// isLiteral reports whether an expression is a literal.
func isLiteral(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return !slices.ContainsFunc(e.Parts, func(part hclsyntax.Expression) bool { return !isLiteral(part) })
	case *hclsyntax.ObjectConsKeyExpr:
		return hcl.ExprAsKeyword(e.Wrapped) != "" && !e.ForceNonLiteral || isLiteral(e.Wrapped)
	case *hclsyntax.UnaryOpExpr:
		return e.Op == hclsyntax.OpNegate && isLiteral(e.Val)
	}
	return false
}

// tokensNode returns an expression as it is written, without layout and comments.
func (s source) tokensNode(e hclsyntax.Expression) *node {
	r := e.Range()
	if r.Start.Byte < 0 || r.End.Byte > len(s) || r.Start.Byte > r.End.Byte {
		return &node{id: "e"}
	}
	written := s[r.Start.Byte:r.End.Byte]
	tokens, _ := hclsyntax.LexExpression(written, "", hcl.InitialPos)
	var id strings.Builder
	for i, t := range tokens {
		switch {
		case t.Type == hclsyntax.TokenNewline, t.Type == hclsyntax.TokenComment, t.Type == hclsyntax.TokenEOF:
			continue
		case t.Type == hclsyntax.TokenComma && endsList(tokens[i+1:]):
			continue
		}
		id.Write(t.Bytes)
		id.WriteByte(0)
	}
	return &node{text: strings.Join(strings.Fields(string(written)), " "), id: "e" + id.String()}
}

// endsList reports whether the next of the tokens is a closing bracket, before which a
// comma is optional.
func endsList(tokens hclsyntax.Tokens) bool {
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			continue
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			return true
		}
		return false
	}
	return false
}
