package literal

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// atom is a literal that is neither a struct nor a list.
type atom struct {
	kind token.Token // STRING, INT, FLOAT, TRUE or FALSE
	text string      // content of a string; otherwise the JSON of the literal
	n    int64       // value of an INT
}

// readAtom reads a literal. It knows numbers in their plain form, such as 12, -3 and
// 0.5.
func readAtom(x ast.Expr) (atom, bool) {
	sign := ""
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		sign, x = "-", u.X
	}
	basic, ok := x.(*ast.BasicLit)
	if !ok {
		return atom{}, false
	}
	switch basic.Kind {
	case token.TRUE, token.FALSE:
		return atom{kind: basic.Kind, text: basic.Value}, sign == ""
	case token.STRING:
		text, err := unquoteString(basic.Value)
		return atom{kind: token.STRING, text: text}, sign == "" && err == nil && utf8.ValidString(text)
	case token.INT:
		n, err := strconv.ParseInt(sign+basic.Value, 10, 64)
		return atom{kind: token.INT, text: sign + basic.Value, n: n}, err == nil && isPlainNumber(basic.Value)
	case token.FLOAT:
		whole, fraction, ok := strings.Cut(basic.Value, ".")
		ok = ok && isPlainNumber(whole) && len(whole) < 16 && isDigits(fraction) && len(fraction) < 6 &&
			fraction[len(fraction)-1] != '0'
		return atom{kind: token.FLOAT, text: sign + basic.Value}, ok
	}
	return atom{}, false
}

// unquoteString returns the content of a string literal. CUE gives literals of bytes,
// which have single quotes, the same token; for them the error is not nil.
func unquoteString(s string) (string, error) {
	info, start, _, err := literal.ParseQuotes(s, s)
	if err != nil {
		return "", err
	}
	if !info.IsDouble() {
		return "", errBytes
	}
	return info.Unquote(s[start:])
}

var errBytes = errors.New("the literal is of bytes")

// isPlainNumber reports whether a text is a decimal number without leading zeros.
func isPlainNumber(s string) bool { return isDigits(s) && (s[0] != '0' || len(s) == 1) }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// compare compares a number with another, which must also be a number.
func (a atom) compare(b atom) int {
	if a.kind == token.INT && b.kind == token.INT {
		switch {
		case a.n < b.n:
			return -1
		case a.n > b.n:
			return 1
		}
		return 0
	}
	x, _ := new(big.Rat).SetString(a.text)
	y, _ := new(big.Rat).SetString(b.text)
	return x.Cmp(y)
}

func (a atom) isNumber() bool { return a.kind == token.INT || a.kind == token.FLOAT }

func (a atom) appendJSON(out []byte) []byte {
	if a.kind == token.STRING {
		return appendString(out, a.text)
	}
	return append(out, a.text...)
}

func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, _ := json.Marshal(s) // a string always has JSON
			return append(out, text...)
		}
	}
	out = append(out, '"')
	out = append(out, s...)
	return append(out, '"')
}

// appendKey appends the name of a field to the JSON of a struct.
func appendKey(out []byte, name string) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(appendString(out, name), ':')
}
