package kubeyaml

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
)

// printer prints objects as printByLibrary does, without the maps in between, which
// takes a tenth of the time. It knows what almost all objects of a folder consist of.
// Whatever else an object holds makes it give up, and Marshal then asks the libraries:
// for example a text that needs escapes, or a number with a fraction.
type printer struct {
	out []byte
}

// printers holds printers that are not in use, with their memory.
var printers = sync.Pool{New: func() any { return new(printer) }}

// tryObject appends one document. It reports whether the printer knows everything in
// the object; if not, the output is undefined.
func (p *printer) tryObject(object any) bool {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	var written, ok bool
	switch v = v.Elem(); v.Kind() {
	case reflect.Struct:
		written, ok = p.structFields(v, factsOf(v.Type()), 0, "status")
	case reflect.Map:
		written, ok = p.entries(v, 0)
	}
	return ok && written
}

// field is a field of a struct, as its JSON tag describes it.
type field struct {
	name      string
	index     []int // as in reflect.Value.FieldByIndex; embedded structs are no pointers
	omitEmpty bool
	omitZero  func(reflect.Value) bool // nil unless the tag has omitzero
	droppable bool                     // see dropEmpty
}

// typeFacts describes a type for the printer.
type typeFacts struct {
	own    bool    // the type has its own JSON
	fields []field // of a struct without its own JSON, in the order of their names
	known  bool    // the printer can print such structs
}

var knownTypes sync.Map // of *typeFacts, by reflect.Type

// factsOf returns the facts of a type.
func factsOf(t reflect.Type) *typeFacts {
	if known, ok := knownTypes.Load(t); ok {
		return known.(*typeFacts)
	}
	facts := &typeFacts{own: printsItself(t)}
	if t.Kind() == reflect.Struct && !facts.own {
		facts.fields, facts.known = appendFields(nil, t, nil)
		slices.SortFunc(facts.fields, func(a, b field) int { return compareKeys(a.name, b.name) })
		for i, f := range facts.fields {
			facts.known = facts.known && isPlainKey(f.name) && (i == 0 || facts.fields[i-1].name != f.name)
		}
	}
	knownTypes.Store(t, facts)
	return facts
}

// appendFields appends the fields of a struct that is at an index of another, with the
// fields of embedded structs.
func appendFields(out []field, t reflect.Type, at []int) ([]field, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		index := append(slices.Clip(at), i)
		switch {
		case name == "-":
		case name == "" && f.Anonymous:
			var ok bool
			if f.Type.Kind() != reflect.Struct || printsItself(f.Type) {
				return nil, false
			}
			if out, ok = appendFields(out, f.Type, index); !ok {
				return nil, false
			}
		case !f.IsExported():
			return nil, false
		default:
			if name == "" {
				name = f.Name
			}
			known := field{name: name, index: index, droppable: isDroppable(name)}
			for option := range strings.SplitSeq(options, ",") {
				known.omitEmpty = known.omitEmpty || option == "omitempty"
				if option == "omitzero" {
					if f.Type.Kind() == reflect.Interface {
						return nil, false
					}
					known.omitZero = zeroOf(f.Type)
				}
			}
			out = append(out, known)
		}
	}
	return out, true
}

var (
	marshalerType = reflect.TypeFor[json.Marshaler]()
	zeroerType    = reflect.TypeFor[interface{ IsZero() bool }]()
	converterType = reflect.TypeFor[interface{ ToUnstructured() any }]()
	quantityType  = reflect.TypeFor[resource.Quantity]()
)

// printsItself reports whether a type has its own JSON.
func printsItself(t reflect.Type) bool {
	for _, own := range []reflect.Type{marshalerType, converterType} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

// zeroOf returns the function that omitzero calls for a type, which is no interface.
func zeroOf(t reflect.Type) func(reflect.Value) bool {
	isZero := func(v reflect.Value) bool { return v.Interface().(interface{ IsZero() bool }).IsZero() }
	switch kind := t.Kind(); {
	case kind == reflect.Pointer && t.Implements(zeroerType):
		return func(v reflect.Value) bool { return v.IsNil() || isZero(v) }
	case kind == reflect.Pointer:
	case t.Implements(zeroerType):
		return isZero
	case reflect.PointerTo(t).Implements(zeroerType):
		return func(v reflect.Value) bool {
			copied := reflect.New(t)
			copied.Elem().Set(v)
			return isZero(copied)
		}
	}
	return reflect.Value.IsZero
}

// isOmitted reports whether the tag of a field omits its value.
func (f *field) isOmitted(v reflect.Value) bool {
	if f.omitEmpty {
		switch v.Kind() {
		case reflect.Struct:
		case reflect.Array, reflect.String, reflect.Map, reflect.Slice:
			return v.Len() == 0
		default:
			if v.IsZero() {
				return true
			}
		}
	}
	return f.omitZero != nil && f.omitZero(v)
}

// structFields prints the fields of a struct, without the field skip. It returns
// whether there was one, and whether the printer knows all of them.
func (p *printer) structFields(v reflect.Value, facts *typeFacts, indent int, skip string) (written, ok bool) {
	for i := range facts.fields {
		f := &facts.fields[i]
		value := v.FieldByIndex(f.index)
		if f.name == skip || f.isOmitted(value) {
			continue
		}
		start := len(p.out)
		p.startEntry(f.name, indent, !written)
		empty, ok := p.value(value, indent, len(f.name)+1)
		if !ok {
			return false, false
		}
		if empty && f.droppable {
			p.out = p.out[:start]
			continue
		}
		written = true
	}
	return written, facts.known
}

// startEntry starts the entry of a map. The first entry of a map in a list stands on
// the line of its dash.
func (p *printer) startEntry(key string, indent int, first bool) {
	if !first || len(p.out) == 0 || p.out[len(p.out)-1] == '\n' {
		p.indent(indent)
	}
	p.out = append(p.out, key...)
	p.out = append(p.out, ':')
}

func (p *printer) indent(n int) {
	for range n {
		p.out = append(p.out, ' ')
	}
}

// value prints the value of an entry of a map with an indentation, up to the end of
// its line. The line already holds taken bytes besides the indentation. It reports
// whether the value is an empty map, and whether the printer knows it.
func (p *printer) value(v reflect.Value, indent, taken int) (empty, ok bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			p.out = append(p.out, " null\n"...)
			return false, true
		}
		v = v.Elem()
	}
	facts := factsOf(v.Type())
	switch kind := v.Kind(); {
	case facts.own:
	case kind == reflect.Struct:
		return p.nested(indent, func() (written, ok bool) { return p.structFields(v, facts, indent+2, "") })
	case kind == reflect.Map && !v.IsNil():
		return p.nested(indent, func() (written, ok bool) { return p.entries(v, indent+2) })
	case kind == reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			if v.Len() == 0 {
				p.out = append(p.out, " []\n"...)
				return false, true
			}
			p.out = append(p.out, '\n')
			return false, p.elements(v, indent)
		}
	}
	p.out = append(p.out, ' ')
	ok = p.scalar(v, facts, indent, indent+taken+1)
	p.out = append(p.out, '\n')
	return false, ok
}

// nested prints a map below its key.
func (p *printer) nested(indent int, body func() (written, ok bool)) (empty, ok bool) {
	start := len(p.out)
	p.out = append(p.out, '\n')
	written, ok := body()
	if ok && !written {
		p.out = append(p.out[:start], " {}\n"...)
	}
	return !written, ok
}

// entries prints the entries of a map. It returns whether there was one, and whether
// the printer knows all of them.
func (p *printer) entries(v reflect.Value, indent int) (written, ok bool) {
	if v.Type().Key().Kind() != reflect.String {
		return false, false
	}
	keys := make([]string, 0, v.Len())
	for key := v.MapRange(); key.Next(); {
		keys = append(keys, key.Key().String())
	}
	for _, name := range sortKeys(keys) {
		if !isPlainKey(name) {
			return false, false
		}
		start := len(p.out)
		p.startEntry(name, indent, !written)
		key := reflect.ValueOf(name).Convert(v.Type().Key())
		empty, ok := p.value(v.MapIndex(key), indent, len(name)+1)
		if !ok {
			return false, false
		}
		if empty && isDroppable(name) {
			p.out = p.out[:start]
			continue
		}
		written = true
	}
	return written, true
}

// elements prints the elements of a list that is not empty. It reports whether the
// printer knows all of them.
func (p *printer) elements(v reflect.Value, indent int) bool {
	for i := range v.Len() {
		p.indent(indent)
		p.out = append(p.out, '-', ' ')
		if !p.element(v.Index(i), indent) {
			return false
		}
	}
	return true
}

// element prints an element of a list behind its dash.
func (p *printer) element(v reflect.Value, indent int) bool {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			p.out = append(p.out, "null\n"...)
			return true
		}
		v = v.Elem()
	}
	written, ok := false, true
	switch facts := factsOf(v.Type()); {
	case v.Kind() == reflect.Struct && !facts.own:
		written, ok = p.structFields(v, facts, indent+2, "")
	case v.Kind() == reflect.Map && !facts.own && !v.IsNil():
		written, ok = p.entries(v, indent+2)
	case v.Kind() == reflect.Slice:
		return false // a list of lists
	default:
		ok = p.scalar(v, facts, indent, indent+2)
		p.out = append(p.out, '\n')
		return ok
	}
	if ok && !written {
		p.out = append(p.out, "{}\n"...)
	}
	return ok
}

// scalar prints a value that is neither a map nor a list, at a column of its line. It
// reports whether the printer knows it.
func (p *printer) scalar(v reflect.Value, facts *typeFacts, indent, column int) bool {
	switch {
	case v.Type() == quantityType:
		return p.quantity(v, indent, column)
	case facts.own:
		return p.ownJSON(v, indent, column)
	}
	switch v.Kind() {
	case reflect.String:
		return p.text(v.String(), indent, column)
	case reflect.Bool:
		p.out = strconv.AppendBool(p.out, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.out = strconv.AppendInt(p.out, v.Int(), 10)
	case reflect.Map, reflect.Slice: // nil, because others are printed elsewhere
		if !v.IsNil() {
			return false
		}
		p.out = append(p.out, "null"...)
	default:
		return false
	}
	return true
}

// quantity prints a copy of a quantity, because printing the quantity itself would
// change what it caches.
func (p *printer) quantity(v reflect.Value, indent, column int) bool {
	q := v.Interface().(resource.Quantity)
	return p.text(q.String(), indent, column)
}

// ownJSON prints a value by its own JSON, if that is a text or an integer.
func (p *printer) ownJSON(v reflect.Value, indent, column int) bool {
	own, ok := v.Interface().(json.Marshaler)
	if !ok || v.Type().Implements(converterType) {
		return false
	}
	content, err := own.MarshalJSON()
	if err != nil {
		return false
	}
	var text string
	if json.Unmarshal(content, &text) == nil && string(content) != "null" {
		return p.text(text, indent, column)
	}
	if n, err := strconv.ParseInt(string(content), 10, 64); err == nil {
		p.out = strconv.AppendInt(p.out, n, 10)
		return true
	}
	return false
}
