package check

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// TestImportCheckFails checks that every part of checkImport can fail.
func TestImportCheckFails(t *testing.T) {
	const guarded = "lifecycle {\n    prevent_destroy = true\n  }"
	instances := "resource \"google_compute_network\" \"y\" {\n  for_each = toset([\"a\"])\n" +
		"  name     = each.key\n\n  " + guarded + "\n}\n"
	old := "terraform {\n  required_version = \"~> 1.5.0\"\n}\n\n"
	for _, tt := range []struct{ name, extra, want string }{
		{"right", tfNetwork(guarded) + tfImport("google_compute_network.y", `var.name`), ""},
		{"right instance", instances + tfImport(`google_compute_network.y["a"]`, `"a"`), ""},
		{"right for Terraform 1.5", old + tfNetwork(guarded) + tfImport("google_compute_network.y", `"a"`), ""},
		{"no resource", tfImport("google_compute_network.y", `"a"`), "no such resource"},
		{"not guarded", tfImport("google_compute_network.main", `"a"`), "can be destroyed"},
		{"no key", instances + tfImport("google_compute_network.y", `"a"`), "with a key, or without: false"},
		{"a key", tfNetwork(guarded) + tfImport(`google_compute_network.y["a"]`, `"a"`),
			"with a key, or without: true"},
		{"a list", tfNetwork(guarded) + tfImport("google_compute_network.y", `["a"]`), "id: string required"},
		{"no variable", tfNetwork(guarded) + tfImport("google_compute_network.y", `var.nome`), `named "nome"`},
		{"variable for 1.5", old + tfNetwork(guarded) + tfImport("google_compute_network.y", `var.name`),
			"only a literal"},
		{"no id", "import {\n  to = google_compute_network.main\n}\n", "has to and id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := maps.Clone(tfMinimal)
			files["extra.tf"] = tt.extra
			errs := Terraform(tfFolder(files))
			if (len(errs) == 0) != (tt.want == "") || !strings.Contains(fmt.Sprint(errs), tt.want) {
				t.Errorf("want %q, got %v", tt.want, errs)
			}
		})
	}
}

// tfImport returns an import block.
func tfImport(to, id string) string {
	return "\nimport {\n  to = " + to + "\n  id = " + id + "\n}\n"
}

// TestLetGoCheckFails checks that every part of checkLetGo can fail.
func TestLetGoCheckFails(t *testing.T) {
	keep := "\n\n  lifecycle {\n    destroy = false\n  }\n}\n"
	for _, tt := range []struct{ name, content, want string }{
		{"right", "removed {\n  from = module.a.google_x.b" + keep, ""},
		{
			"right instance", "moved {\n  from = module.a.google_x.b[\"c\"]\n  to   = google_x.d\n}\n\nremoved {\n  " +
				"from = google_x.d" + keep, "",
		},
		{"syntax", "removed {\n", "removed.tf:1"},
		{"format", "removed {\n  from =  google_x.b" + keep, "terraform fmt"},
		{"destroyed", "removed {\n  from = google_x.b\n}\n", "google_x.b is destroyed"},
		{"a key", "removed {\n  from = google_x.b[0]" + keep, "has a key"},
		{"an expression", "removed {\n  from = file(\"a\")" + keep, "removed.tf:2"},
		{"moved", "moved {\n  from = google_x.b[0]\n  to   = google_x.d\n}\n", "not removed"},
		{
			"another type", "moved {\n  from = google_x.b[0]\n  to   = google_y.d\n}\n\nremoved {\n  from = " +
				"google_y.d" + keep, "cannot move",
		},
		{"another block", "resource {\n  from = google_x.b\n}\n", "a block resource"},
		{"nothing", "\n", "want blocks alone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			errs := checkLetGo(fstest.MapFS{letGoFile: {Data: []byte(tt.content)}})
			if (len(errs) == 0) != (tt.want == "") || !strings.Contains(fmt.Sprint(errs), tt.want) {
				t.Errorf("want %q, got %v", tt.want, errs)
			}
		})
	}
}
