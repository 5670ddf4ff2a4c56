package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// modularBefore is a root that calls a module. The cluster's name goes into the
// module, and the subnet's ID comes out of it.
var modularBefore = map[string]string{
	"main.tf": `variable "range" {
  type = string
}

module "network" {
  source = "./modules/network"

  name   = "net"
  range  = var.range
  reader = google_container_cluster.main.name
}

resource "google_container_cluster" "main" {
  name       = "c"
  subnetwork = module.network.subnet
}

resource "google_compute_network" "more" {
  name = "${module.network.name}-more"
}
`,
	"terraform.tfvars": "range = \"10.0.0.0/20\"\n",
	"modules/network/main.tf": `variable "name" {
  type = string
}

variable "range" {
  type    = string
  default = "10.64.0.0/20"
}

variable "reader" {
  type = string
}

locals {
  bucket = "${var.name}-${var.reader}"
}

resource "google_compute_network" "main" {
  name = var.name
}

resource "google_compute_subnetwork" "main" {
  name          = "${var.name}-nodes"
  network       = google_compute_network.main.id
  ip_cidr_range = var.range
}

resource "google_storage_bucket" "logs" {
  name = "${local.bucket}-logs"
}

output "name" {
  value = google_compute_network.main.name
}

output "subnet" {
  value = google_compute_subnetwork.main.id
}
`,
}

func modularTree(change func(file, content string) string) emit.Tree {
	var out emit.Tree
	for _, name := range []string{"main.tf", "modules/network/main.tf", "terraform.tfvars"} {
		out = append(out, emit.File{Path: "terraform/" + name, Content: []byte(change(name, modularBefore[name]))})
	}
	return out
}

func TestReplacementsInModules(t *testing.T) {
	for _, test := range []struct {
		name           string
		file, old, new string
		want           string
	}{
		{name: "nothing"},
		{"a comment", "modules/network/main.tf", "resource", "# Ours.\nresource", ""},
		{"a wider range", "terraform.tfvars", "10.0.0.0/20", "10.0.0.0/19", ""},
		{"another range", "terraform.tfvars", "10.0.0.0/20", "10.64.0.0/20", `
google_container_cluster.main (terraform/main.tf:13)
  subnetwork:  -> module.network.google_compute_subnetwork.main
module.network.google_compute_subnetwork.main (terraform/modules/network/main.tf:22)
  ip_cidr_range: 10.0.0.0/20 -> 10.64.0.0/20`},
		{"the default", "main.tf", "  range  = var.range\n", "", `
google_container_cluster.main (terraform/main.tf:12)
  subnetwork:  -> module.network.google_compute_subnetwork.main
module.network.google_compute_subnetwork.main (terraform/modules/network/main.tf:22)
  ip_cidr_range: 10.0.0.0/20 -> 10.64.0.0/20`},
		{"a name that goes in and comes out", "main.tf", `"net"`, `"other"`, `
google_container_cluster.main (terraform/main.tf:13)
  subnetwork:  -> module.network.google_compute_subnetwork.main
module.network.google_storage_bucket.logs (terraform/modules/network/main.tf:28)
  name: net-c-logs -> other-c-logs
google_compute_network.more (terraform/main.tf:18)
  name: net-more -> other-more
module.network.google_compute_network.main (terraform/modules/network/main.tf:18)
  name: net -> other
module.network.google_compute_subnetwork.main (terraform/modules/network/main.tf:22)
  name: net-nodes -> other-nodes
  network:  -> module.network.google_compute_network.main`},
		{"a call by another name", "main.tf", "module.network", "module.net", `
google_container_cluster.main (terraform/main.tf:13)
  subnetwork: module.network.google_compute_subnetwork.main.id -> module.net.subnet
google_compute_network.more (terraform/main.tf:18)
  name: net-more -> "${module.net.name}-more"`},
		{"no call", "main.tf", modularBefore["main.tf"], "", `
removed: google_container_cluster.main (terraform/main.tf:13)
removed: module.network.google_storage_bucket.logs (terraform/modules/network/main.tf:28)`},
		{"no bucket", "modules/network/main.tf", `"google_storage_bucket"`, `"google_storage_buckets"`, `
removed: module.network.google_storage_bucket.logs (terraform/modules/network/main.tf:28)`},
		{"no such folder", "main.tf", "./modules/network", "./modules/net", ""},
		{"a module that calls itself", "modules/network/main.tf", "locals {",
			"module \"again\" {\n  source = \"../network\"\n}\nlocals {", ""},
		{"declared twice", "modules/network/main.tf", "locals {",
			"resource \"google_compute_network\" \"main\" {\n}\nlocals {", ""},
		{"no Terraform", "modules/network/main.tf", "locals {", "locals {{", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := modularTree(func(_, content string) string { return content })
			after := modularTree(func(file, content string) string {
				if file != test.file {
					return content
				}
				if !strings.Contains(content, test.old) {
					t.Fatalf("%s has no %q", file, test.old)
				}
				return strings.Replace(content, test.old, test.new, -1)
			})
			var b strings.Builder
			effects := EffectsOf(before, after, nil)
			replaced, removed := effects.Replaced, effects.Removed
			for _, r := range append(replaced, removed...) {
				b.WriteByte('\n')
				if r.Because == nil {
					b.WriteString("removed: ")
				}
				fmt.Fprintf(&b, "%s (%s:%d)", r.Address, r.File, r.Line)
				for _, f := range r.Because {
					fmt.Fprintf(&b, "\n  %s: %s -> %s", f.Path, f.From, f.To)
				}
			}
			if d := cmp.Diff(test.want, b.String()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestModulesNotFollowed: of a module that comes from elsewhere, or is called for
// each of several keys, nothing is known, and the rest is told all the same.
func TestModulesNotFollowed(t *testing.T) {
	for _, call := range []string{
		`source = "terraform-google-modules/network/google"`, `source = "git::https://example.com/network"`,
		`source = var.range`, "source = \"./modules/network\"\n  for_each = toset([\"a\"])",
		"source = \"./modules/network\"\n  count = 2",
	} {
		tree := func(name string) emit.Tree {
			return modularTree(func(_, content string) string {
				return strings.NewReplacer(`source = "./modules/network"`, call, `"c"`, name).Replace(content)
			})
		}
		effects := EffectsOf(tree(`"c"`), tree(`"d"`), nil)
		replaced, removed := effects.Replaced, effects.Removed
		if len(replaced) != 1 || len(removed) != 0 ||
			replaced[0].Address != "google_container_cluster.main" {
			t.Errorf("%s: %+v replaced, %+v removed", call, replaced, removed)
		}
	}
}

// TestModuleBudget: modules that call each other twice end, although there are
// more of them than can be counted.
func TestModuleBudget(t *testing.T) {
	tree := func(name string) emit.Tree {
		root := "resource \"google_compute_network\" \"main\" {\n  name = \"" + name + "\"\n}\nmodule \"a\" {\n  " +
			"source = \"./0\"\n}\n"
		out := emit.Tree{{Path: "terraform/main.tf", Content: []byte(root)}}
		dir := "terraform/0"
		for i := range 60 {
			content := fmt.Sprintf("module \"a\" {\n  source = \"./%d\"\n}\nmodule \"b\" {\n  source = \"./%d\"\n}\n",
				i+1, i+1)
			if i == 59 {
				content = "# None.\n"
			}
			out = append(out, emit.File{Path: dir + "/main.tf", Content: []byte(content)})
			dir = fmt.Sprintf("%s/%d", dir, i+1)
		}
		return out
	}
	if e := EffectsOf(tree("a"), tree("b"), nil); len(e.Replaced)+len(e.Removed) > 0 {
		t.Errorf("%+v replaced, %+v removed", e.Replaced, e.Removed)
	}
}

// TestCompareModules: a name stands for something in a module and for something
// else in the root.
func TestCompareModules(t *testing.T) {
	tree := func(root, module string) emit.Tree {
		variable := func(text string) []byte {
			return []byte("variable \"a\" {\n  description = \"" + text + "\"\n}\n")
		}
		return emit.Tree{
			{Path: "terraform/modules/m/main.tf", Content: variable(module)},
			{Path: "terraform/variables.tf", Content: variable(root)},
		}
	}
	changed, formatting := Compare(tree("x", "y"), tree("y", "x"))
	object := func(file, from, to string) Object {
		fields := []Field{{Path: "description", From: from, To: to}}
		return Object{
			File: "terraform/" + file, Line: 1, Kind: "variable", Name: "a", Op: delta.Changed, Fields: fields,
		}
	}
	want := []Object{object("modules/m/main.tf", "y", "x"), object("variables.tf", "x", "y")}
	if d := cmp.Diff(want, changed); d != "" || formatting != 0 {
		t.Errorf("%d files of other formatting, and -want +got:\n%s", formatting, d)
	}
	root, module := tree("x", "y"), tree("x", "y")
	root[0].Content, module[1].Content = nil, nil
	changed, _ = Compare(root, module)
	if len(changed) != 2 || changed[0].Op != delta.Added || changed[1].Op != delta.Removed {
		t.Errorf("a variable of the root became one of a module: %+v", changed)
	}
}
