package dashboard

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Orders of the keys of an object.
const (
	inOrder = false // of the fields of the Go type
	sorted  = true
)

// boardJSON returns a board as indented JSON. It does not escape <, > and &, which are
// frequent in PromQL: the escapes of json.Marshal are removed, because types of Grafana's
// library that marshal themselves write them whatever the settings of an encoder. To sort
// the keys by decoding and encoding the JSON again took half of the time of this package.
// Keys that need escapes are in the order of their escaped forms.
func boardJSON(board any, sort bool) ([]byte, error) {
	compact, err := json.Marshal(board)
	if err != nil {
		return nil, err
	}
	p := jsonPrinter{in: compact, out: make([]byte, 0, 3*len(compact)), sort: sort}
	p.value(0)
	return append(p.out, '\n'), nil
}

// jsonPrinter prints the JSON that it reads.
type jsonPrinter struct {
	in, out []byte
	sort    bool
	members []jsonMember // of all objects around the place
	printed []byte       // space for the members of one object
}

// jsonMember locates a member of an object in the printed text.
type jsonMember struct{ key, value, end int }

// value reads and prints a value. The line on which it ends has the indentation.
func (p *jsonPrinter) value(indent int) {
	switch p.in[0] {
	case '{':
		p.object(indent)
	case '[':
		p.list(indent)
	case '"':
		p.text()
	default: // a number or a word
		end := bytes.IndexAny(p.in, ",]}")
		if end < 0 {
			end = len(p.in)
		}
		p.out, p.in = append(p.out, p.in[:end]...), p.in[end:]
	}
}

func (p *jsonPrinter) list(indent int) {
	p.out = append(p.out, '[')
	empty := p.in[1] == ']'
	for p.in = p.in[1:]; p.in[0] != ']'; {
		if p.in[0] == ',' {
			p.out, p.in = append(p.out, ','), p.in[1:]
		}
		p.startLine(indent + 1)
		p.value(indent + 1)
	}
	p.in = p.in[1:]
	if !empty {
		p.startLine(indent)
	}
	p.out = append(p.out, ']')
}

// object prints the members of an object as they come, and then moves them to their
// places.
func (p *jsonPrinter) object(indent int) {
	first, start := len(p.members), len(p.out)
	for p.in = p.in[1:]; p.in[0] != '}'; {
		if p.in[0] == ',' {
			p.in = p.in[1:]
		}
		m := jsonMember{key: len(p.out) - start}
		p.text()
		m.value = len(p.out) - start
		p.out, p.in = append(p.out, ": "...), p.in[1:]
		p.value(indent + 1)
		m.end = len(p.out) - start
		p.members = append(p.members, m)
	}
	p.in = p.in[1:]
	printed := append(p.printed[:0], p.out[start:]...)
	members := p.members[first:]
	if p.sort {
		slices.SortFunc(members, func(a, b jsonMember) int {
			return bytes.Compare(printed[a.key:a.value-len(`"`)], printed[b.key:b.value-len(`"`)])
		})
	}
	p.out = append(p.out[:start], '{')
	for i, m := range members {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		p.startLine(indent + 1)
		p.out = append(p.out, printed[m.key:m.end]...)
	}
	if len(members) > 0 {
		p.startLine(indent)
	}
	p.out = append(p.out, '}')
	p.members, p.printed = p.members[:first], printed
}

func (p *jsonPrinter) startLine(indent int) {
	p.out = append(p.out, '\n')
	for range indent {
		p.out = append(p.out, "  "...)
	}
}

func (p *jsonPrinter) text() {
	p.out, p.in = append(p.out, '"'), p.in[1:]
	for {
		n := bytes.IndexAny(p.in, `"\`)
		p.out, p.in = append(p.out, p.in[:n]...), p.in[n:]
		if p.in[0] == '"' {
			break
		}
		if n = len(`\n`); p.in[1] == 'u' {
			n = len(`\u0000`)
		}
		switch escape := string(p.in[:n]); escape {
		case `\u003c`:
			p.out = append(p.out, '<')
		case `\u003e`:
			p.out = append(p.out, '>')
		case `\u0026`:
			p.out = append(p.out, '&')
		case `\ufffd`: // for bytes that are not UTF-8
			p.out = append(p.out, "\ufffd"...)
		default:
			p.out = append(p.out, escape...)
		}
		p.in = p.in[n:]
	}
	p.out, p.in = append(p.out, '"'), p.in[1:]
}
