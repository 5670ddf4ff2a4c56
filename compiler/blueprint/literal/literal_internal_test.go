package literal

import (
	"os"
	"slices"
	"testing"
)

func readSchema(t testing.TB) *Schema {
	t.Helper()
	content, err := os.ReadFile("../../../schema/blueprint.cue")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(map[string][]byte{"blueprint.cue": content}, "#Blueprint")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKnown: the package knows the whole schema, so that CUE is only needed for values
// that are no literals.
func TestKnown(t *testing.T) {
	s := readSchema(t)
	var unknown []string
	seen := map[*object]bool{}
	var walk func(shape *Shape, path string)
	walk = func(shape *Shape, path string) {
		if shape.unknown {
			unknown = append(unknown, path)
		}
		if shape.list != nil {
			for _, first := range shape.list.first {
				walk(first, path+"[0]")
			}
			if shape.list.rest != nil {
				walk(shape.list.rest, path+"[]")
			}
		}
		if shape.object == nil || seen[shape.object] {
			return
		}
		seen[shape.object] = true
		if shape.object.pattern != nil {
			walk(shape.object.pattern, path+".*")
		}
		for _, name := range shape.object.names {
			f := shape.object.fields[name]
			walk(f.shape, path+"."+name)
			if _, ok := f.shape.Default(); !ok && f.presence.String() == "ILLEGAL" {
				unknown = append(unknown, path+"."+name+" has no default")
			}
		}
	}
	for _, name := range s.Names() {
		walk(s.Field(name), name)
	}
	slices.Sort(unknown)
	for _, u := range unknown {
		t.Error(u)
	}
}
