package terraform

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// constant is HCL source written in this package. The type keeps out strings from a
// plan: they become cty values, so that they are always quoted and escaped.
type constant string

// body is the content of a block or a file. Items appear in the order in which they
// are added; blank lines separate blocks and comments.
type body struct {
	*hclwrite.Body
	last    item
	aligned equalsSigns // of the last attributes, without a line between them
}

type item int

const (
	nothing item = iota
	comment
	attribute
	block
)

// addSpace adds the blank line that is needed before the next item, if any.
func (b *body) addSpace(next item) {
	switch {
	case b.last == nothing, b.last == comment:
	case b.last == attribute && next == attribute:
	default:
		b.addBlankLine()
	}
	b.last = next
}

// addBlankLine adds a blank line.
func (b *body) addBlankLine() {
	b.aligned = equalsSigns{}
	b.AppendNewline()
}

// note adds a comment above the next item, with one comment line for each string.
func (b *body) note(lines ...constant) {
	b.addSpace(comment)
	for _, line := range lines {
		b.AppendUnstructuredTokens(hclwrite.Tokens{{
			Type:  hclsyntax.TokenComment,
			Bytes: []byte("# " + line + "\n"),
		}})
	}
}

// block adds a block and returns its content.
func (b *body) block(kind string, labels ...string) *body {
	b.addSpace(block)
	return &body{Body: b.AppendNewBlock(kind, labels).Body()}
}

// resource adds a resource block and returns its content.
func (b *body) resource(kind, name string) *body { return b.block("resource", kind, name) }

// data adds a data block and returns its content.
func (b *body) data(kind, name string) *body { return b.block("data", kind, name) }

// setTokens sets an attribute to an expression.
func (b *body) setTokens(name string, tokens hclwrite.Tokens) {
	b.addSpace(attribute)
	b.AppendUnstructuredTokens(append(b.aligned.add(hclwrite.TokensForIdentifier(name), tokens), newlineToken()))
}

// setExpr sets an attribute to an expression that is written in this package.
func (b *body) setExpr(name string, source constant) { b.setTokens(name, sourceTokens(source)) }

// setLiteral sets an attribute to a literal.
func (b *body) setLiteral(name string, v cty.Value) { b.setTokens(name, hclwrite.TokensForValue(v)) }

func (b *body) setString(name, v string)    { b.setLiteral(name, cty.StringVal(v)) }
func (b *body) setBool(name string, v bool) { b.setLiteral(name, cty.BoolVal(v)) }
func (b *body) setNumber(name string, v int) {
	b.setLiteral(name, cty.NumberIntVal(int64(v)))
}

// setStrings sets an attribute to a list of literals on one line.
func (b *body) setStrings(name string, v []string) { b.setLiteral(name, stringTuple(v)) }

// sourceTokens returns the tokens of HCL source from this package. Source on one line
// is one token, printed as it stands. Other source has a token for each word, because
// hclwrite indents its lines. A test holds that the source parses and is formatted.
func sourceTokens(source constant) hclwrite.Tokens {
	if !strings.Contains(string(source), "\n") {
		return hclwrite.TokensForIdentifier(string(source))
	}
	scanned, diags := hclsyntax.LexExpression([]byte(source), "", hcl.InitialPos)
	if diags.HasErrors() {
		panic(diags)
	}
	tokens := make(hclwrite.Tokens, len(scanned)-1) // without the end of the source
	for i := range tokens {
		tokens[i] = &hclwrite.Token{Type: scanned[i].Type, Bytes: scanned[i].Bytes}
	}
	return tokens
}

// equalsSigns are the equals signs of single lines that follow each other. They stand
// below each other, as terraform fmt aligns them. hclwrite would align them too, but
// takes a third of the time of all of emit/terraform to count the columns of names.
type equalsSigns struct {
	signs   []equalsSign
	longest int // columns before a sign
}

type equalsSign struct {
	token   *hclwrite.Token
	columns int // of the name before it
}

// add returns the tokens of a name, an equals sign and a value. To hclwrite the sign is an
// operator, which has a space before and after it. A value of several lines is not
// aligned with others.
func (s *equalsSigns) add(name, value hclwrite.Tokens) hclwrite.Tokens {
	added := equalsSign{newToken(hclsyntax.TokenEqualOp, "="), countColumns(name)}
	if slices.ContainsFunc(value, func(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenNewline }) {
		*s = equalsSigns{}
	} else {
		s.signs = append(s.signs, added)
		moved := s.signs[len(s.signs)-1:]
		if added.columns > s.longest {
			s.longest, moved = added.columns, s.signs
		}
		for _, sign := range moved {
			sign.token.Bytes = []byte(strings.Repeat(" ", s.longest-sign.columns) + "=")
		}
	}
	return slices.Concat(name, hclwrite.Tokens{added.token}, value)
}

// countColumns returns the number of columns of the tokens of a name.
func countColumns(name hclwrite.Tokens) int {
	n := 0
	for _, t := range name {
		if bytes.ContainsFunc(t.Bytes, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return name.Columns()
		}
		n += len(t.Bytes)
	}
	return n
}

// traversalTokens returns the tokens of a traversal such as a.b.c.
func traversalTokens(root string, steps ...string) hclwrite.Tokens {
	traversal := hcl.Traversal{hcl.TraverseRoot{Name: root}}
	for _, step := range steps {
		traversal = append(traversal, hcl.TraverseAttr{Name: step})
	}
	return hclwrite.TokensForTraversal(traversal)
}

// tupleTokens returns the tokens of a list on one line.
func tupleTokens(elements ...hclwrite.Tokens) hclwrite.Tokens {
	return hclwrite.TokensForTuple(elements)
}

// lineTuple returns the tokens of a list of literals with one literal on each line,
// so that a change of one literal is a change of one line.
func lineTuple(v []string) hclwrite.Tokens {
	if len(v) == 0 {
		return tupleTokens()
	}
	tokens := hclwrite.Tokens{newToken(hclsyntax.TokenOBrack, "["), newlineToken()}
	for _, s := range v {
		tokens = append(tokens, stringTokens(s)...)
		tokens = append(tokens, newToken(hclsyntax.TokenComma, ","), newlineToken())
	}
	return append(tokens, newToken(hclsyntax.TokenCBrack, "]"))
}

// entry is one line of an object.
type entry struct {
	key   string
	value hclwrite.Tokens
}

// objectTokens returns the tokens of an object with its entries in order. It replaces
// hclwrite.TokensForObject, which formats its result: with teams as objects in an
// object, it would format every token several times.
func objectTokens(entries []entry) hclwrite.Tokens {
	if len(entries) == 0 {
		return hclwrite.Tokens{newToken(hclsyntax.TokenOBrace, "{"), newToken(hclsyntax.TokenCBrace, "}")}
	}
	tokens := hclwrite.Tokens{newToken(hclsyntax.TokenOBrace, "{"), newlineToken()}
	var aligned equalsSigns
	for _, e := range entries {
		key := hclwrite.TokensForIdentifier(e.key)
		// A first key named "for" would begin a for expression.
		if !hclsyntax.ValidIdentifier(e.key) || e.key == "for" {
			key = stringTokens(e.key)
		}
		tokens = append(tokens, aligned.add(key, e.value)...)
		tokens = append(tokens, newlineToken())
	}
	return append(tokens, newToken(hclsyntax.TokenCBrace, "}"))
}

// newToken returns a new token. Tokens are never shared, because formatting changes
// them.
func newToken(kind hclsyntax.TokenType, source string) *hclwrite.Token {
	return &hclwrite.Token{Type: kind, Bytes: []byte(source)}
}

func newlineToken() *hclwrite.Token { return newToken(hclsyntax.TokenNewline, "\n") }

// stringTokens returns the tokens of a string.
func stringTokens(s string) hclwrite.Tokens { return hclwrite.TokensForValue(cty.StringVal(s)) }

func stringTuple(v []string) cty.Value {
	values := make([]cty.Value, len(v))
	for i, s := range v {
		values[i] = cty.StringVal(s)
	}
	return cty.TupleVal(values)
}
