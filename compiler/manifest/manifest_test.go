package manifest_test

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/manifest"
)

// FuzzRead checks that every text has objects or a problem, and that all places lie in the text.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "---", "a: [", "- a", "kind: List\nitems: []", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
		"a: &a [*a]", "a: &a [1]\nb: *a", "\t", "? {a: b}\n: c\n", "\xff", "<<: {a: b}", "apiVersion: 1\nkind: 2\n",
		"apiVersion: a/b\r\nkind: c\r\nmetadata: {name: d, namespace: e}\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		objects, problems := manifest.Read(text)
		if len(objects) == 0 && len(problems) == 0 {
			t.Error("neither objects nor problems")
		}
		var spans []manifest.Span
		for _, o := range objects {
			if o.Kind == "" || o.Name == "" || o.Version == "" {
				t.Errorf("object %+v is not complete", o)
			}
			spans = append(spans, o.Span, o.At("metadata"))
		}
		for _, p := range problems {
			if p.Message == "" || p.Help == "" {
				t.Errorf("problem %+v is not complete", p)
			}
			spans = append(spans, p.Span)
		}
		for _, s := range spans {
			if s.Start < 0 || s.Start > s.End || s.End > len(text) || s.Line < 1 {
				t.Errorf("span %+v of %d bytes", s, len(text))
			}
		}
	})
}
