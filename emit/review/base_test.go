package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// TestOrigins checks which changes follow from the blueprint, from another version of batchwright
// and from an edit by hand, if a committed folder differs from the compiled blueprint.
func TestOrigins(t *testing.T) {
	tree := func(files ...string) (tree emit.Tree) {
		for i, content := range files {
			if content != "" {
				tree = append(tree, emit.File{Path: fmt.Sprintf("kubernetes/%d.yaml", i), Content: []byte(content)})
			}
		}
		return tree
	}
	object := func(a, b string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: \"" + a + "\"\n  b: \"" + b + "\"\n"
	}
	other := strings.Replace(object("1", "1"), "name: m", "name: n", 1)
	for _, test := range []struct {
		name                       string
		committed, compiled, after emit.Tree
		edited                     []string
		want                       []string // origin, operation and fields of each object
		tool, edits                int
	}{
		{
			name:      "only the blueprint",
			committed: tree(object("1", "1")), compiled: tree(object("1", "1")), after: tree(object("2", "1")),
			want: []string{" changed [data.a]"},
		},
		{
			name:      "only the version",
			committed: tree(object("1", "1")), compiled: tree(object("1", "2")), after: tree(object("1", "2")),
			want: []string{"batchwright changed [data.b]"}, tool: 1,
		},
		{
			name:      "both in one object",
			committed: tree(object("1", "1")), compiled: tree(object("1", "2")), after: tree(object("2", "2")),
			want: []string{" changed [data.a]", "batchwright changed [data.b]"}, tool: 1,
		},
		{
			name:      "both in one field",
			committed: tree(object("1", "1")), compiled: tree(object("1", "2")), after: tree(object("1", "3")),
			want: []string{" changed [data.b]", "batchwright changed [data.b]"}, tool: 1,
		},
		{
			name:      "a file of the version, and one of the blueprint",
			committed: tree("", object("1", "1")), compiled: tree(other, object("1", "1")), after: tree(other, ""),
			want: []string{"batchwright added []", " removed []"}, tool: 1,
		},
		{
			name:      "edited by hand",
			committed: tree(object("1", "9"), object("9", "1")), compiled: tree(object("1", "1"), object("1", "1")),
			after: tree(object("1", "1"), object("1", "1")), edited: []string{"kubernetes/0.yaml"},
			want: []string{"edit changed [data.b]", "batchwright changed [data.a]"}, tool: 1, edits: 1,
		},
		{
			name:      "an edit that the blueprint makes too",
			committed: tree(object("1", "2")), compiled: tree(object("1", "1")), after: tree(object("1", "2")),
			edited: []string{"kubernetes/0.yaml"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := &ir.Platform{Name: "p", Project: "q", Scheduler: ir.Kueue}
			base := &Base{Folder: "f", Edited: test.edited}
			r := Compare(State{Plan: plan, Tree: test.committed, Compiled: test.compiled, Base: base},
				State{Plan: plan, Tree: test.after})
			var got []string
			for _, o := range r.Objects {
				paths := []string{}
				for _, f := range o.Fields {
					paths = append(paths, f.Path)
				}
				got = append(got, fmt.Sprintf("%s %s %v", o.Origin, o.Op, paths))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if base.FromTool != test.tool || base.FromEdits != test.edits || (test.tool+test.edits > 0) !=
				(base.sentences("main") != "") {
				t.Errorf("%d from the version, %d from edits: %q", base.FromTool, base.FromEdits,
					base.sentences("main"))
			}
		})
	}
}
