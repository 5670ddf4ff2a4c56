package check

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ObjectsIn decodes the objects of a kind from a file of a folder, in order. There must be at
// least one.
func ObjectsIn[T any](t testing.TB, files fs.FS, name, kind string) []T {
	t.Helper()
	out, err := decodeObjects[T](files, name, kind)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no %s", name, kind)
	}
	return out
}

// decodeObjects decodes the objects of a kind from a file of a folder, in order.
func decodeObjects[T any](files fs.FS, name, kind string) ([]T, error) {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var out []T
	for _, doc := range strings.Split(string(content), "\n---\n") {
		var meta struct{ Kind string }
		if err := yaml.Unmarshal([]byte(doc), &meta); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if meta.Kind != kind {
			continue
		}
		var object T
		if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, object)
	}
	return out, nil
}
