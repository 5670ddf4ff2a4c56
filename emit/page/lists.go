package page

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

// The functions of this file select elements of a list of the view. A condition on an
// element is the path of a field or of a method without arguments, such as "Machine.Arm".

// where returns the elements of a slice for which a condition is true: not false, 0, nil
// or empty.
func where(list any, condition string) (any, error) { return filter(list, condition, true) }

// without returns the elements of a slice for which a condition is not true.
func without(list any, condition string) (any, error) { return filter(list, condition, false) }

// filter returns the elements of a slice for which a condition has a value.
func filter(list any, condition string, want bool) (any, error) {
	in := reflect.ValueOf(list)
	out := reflect.MakeSlice(in.Type(), 0, in.Len())
	for i := range in.Len() {
		v, err := follow(in.Index(i), condition)
		if err != nil {
			return nil, err
		}
		if is, _ := template.IsTrue(v.Interface()); is == want {
			out = reflect.Append(out, in.Index(i))
		}
	}
	return out.Interface(), nil
}

// each returns what a path leads to in each element of a slice: a string.
func each(list any, path string) ([]string, error) {
	in := reflect.ValueOf(list)
	out := make([]string, in.Len())
	for i := range out {
		v, err := follow(in.Index(i), path)
		if err != nil {
			return nil, err
		}
		out[i] = v.String()
	}
	return out, nil
}

// follow returns what a path leads to.
func follow(v reflect.Value, path string) (reflect.Value, error) {
	for name := range strings.SplitSeq(path, ".") {
		method := v.MethodByName(name)
		if !method.IsValid() && v.CanAddr() {
			method = v.Addr().MethodByName(name)
		}
		if v = reflect.Indirect(v); method.IsValid() {
			v = method.Call(nil)[0]
		} else if v.Kind() != reflect.Struct || !v.FieldByName(name).IsValid() {
			return v, fmt.Errorf("no %q in %s", name, v.Type())
		} else {
			v = v.FieldByName(name)
		}
	}
	return v, nil
}

// first returns at most n elements from the beginning of a slice.
func first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(n, v.Len())).Interface()
}

// rest returns the elements of a slice that first leaves out.
func rest(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(min(n, v.Len()), v.Len()).Interface()
}
