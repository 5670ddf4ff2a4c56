package folder

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
)

// declare returns the files of a folder with things of the given names.
func declare(teams, tiers, capacities, pools string) map[string]string {
	files := map[string]string{
		"kubernetes/priority-classes.yaml": objects(tiers), "kubernetes/resource-flavors.yaml": objects(capacities),
		"README.md": "Not looked at.\n",
	}
	for _, name := range strings.Fields(teams) {
		files["kubernetes/teams/"+name+".yaml"] = objects(name)
	}
	text := "resource \"google_container_node_pool\" \"system\" {\n}\n"
	for _, name := range strings.Fields(pools) {
		text += fmt.Sprintf("resource \"google_container_node_pool\" %q {\n}\n", name)
	}
	files["terraform/node_pools.tf"] = text
	return files
}

func objects(names string) string {
	var out []string
	for _, name := range strings.Fields(names) {
		out = append(out, "kind: Any\nmetadata:\n  labels:\n    name: other\n  name: "+name+"\nspec:\n  name: other\n")
	}
	return strings.Join(out, "---\n")
}

func TestLosses(t *testing.T) {
	const twelve = "a b c d e f g h i j k l"
	for _, test := range []struct {
		name          string
		before, after map[string]string
		only          func(string) bool
		want          []Loss
	}{
		{"a new folder", nil, declare("a", "x", "l4", "l4"), nil, nil},
		{"the same", declare("a", "x", "l4", "l4"), declare("a", "x", "l4", "l4"), nil, nil},
		{"half of the teams", declare(twelve, "x", "l4", "l4"), declare("a b c d e f", "x", "l4", "l4"), nil, nil},
		{
			"more than half of the teams", declare(twelve, "x", "l4", "l4"),
			declare("a b c d e z", "x", "l4", "l4"), nil,
			[]Loss{{"team", "kubernetes/teams", []string{"f", "g", "h", "i", "j", "k", "l"}, 12}},
		},
		{"one of two tiers", declare("a", "x y", "l4", "l4"), declare("a", "y", "l4", "l4"), nil, nil},
		{
			"another tier and capacity, on the same pool", declare("a", "x", "l4", "l4"), declare("a", "y", "t4", "l4"),
			nil, nil,
		},
		{
			"nothing is left", declare("a", "x", "l4", "l4"), declare("", "", "", ""), nil,
			[]Loss{
				{"team", "kubernetes/teams", []string{"a"}, 1},
				{"tier", "kubernetes/priority-classes.yaml", []string{"x"}, 1},
				{"capacity", "kubernetes/resource-flavors.yaml", []string{"l4"}, 1},
				{"node pool", "terraform/node_pools.tf", []string{"l4"}, 1},
			},
		},
		{
			"only files that nothing is lost from", declare("a", "x", "l4", "l4"), declare("", "", "", ""),
			func(path string) bool { return path == "README.md" }, nil,
		},
		{
			"only pools", declare("a", "x", "l4", "a b c"), declare("", "", "", "c"),
			func(path string) bool { return strings.HasPrefix(path, "terraform/") },
			[]Loss{{"node pool", "terraform/node_pools.tf", []string{"a", "b"}, 3}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := fstest.MapFS{}
			var generated emit.Tree
			for name, content := range test.before {
				folder[name] = &fstest.MapFile{Data: []byte(content)}
				generated = append(generated, emit.File{Path: name, Content: []byte(content)})
			}
			manifest, err := disk.Manifest(generated)
			if err != nil {
				t.Fatal(err)
			}
			folder[manifest.Path] = &fstest.MapFile{Data: manifest.Content}
			for _, own := range []string{"x", "y", "z"} { // files of the user
				folder["kubernetes/teams/own-"+own+".yaml"] = &fstest.MapFile{Data: []byte(objects(own))}
			}
			var tree emit.Tree
			for name, content := range test.after {
				tree = append(tree, emit.File{Path: name, Content: []byte(content)})
			}
			got, err := Losses(folder, tree, test.only)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
