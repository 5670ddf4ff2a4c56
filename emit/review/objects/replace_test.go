package objects

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

const rootBefore = `locals {
  subnets = { a = { range = cidrsubnet(var.range, 2, 0) } }
}

resource "google_compute_network" "main" {
  name = "net"
}

resource "google_compute_subnetwork" "main" {
  for_each      = local.subnets
  name          = "${google_compute_network.main.name}-${each.key}"
  region        = var.region
  network       = google_compute_network.main.id
  ip_cidr_range = each.value.range
}

resource "google_container_cluster" "main" {
  name       = "c"
  location   = var.region
  subnetwork = google_compute_subnetwork.main["a"].id

  node_config {
    oauth_scopes = ["a"]
  }

  lifecycle {
    ignore_changes = [node_config]
  }
}

resource "google_container_node_pool" "slices" {
  for_each           = toset(["slices-0", "slices-1"])
  name               = each.key
  cluster            = google_container_cluster.main.name
  location           = google_container_cluster.main.location
  initial_node_count = 0

  node_config {
    spot = true

    dynamic "guest_accelerator" {
      for_each = var.gpus

      content {
        type  = guest_accelerator.value.type
        count = guest_accelerator.value.count
      }
    }

    reservation_affinity {
      consume_reservation_type = "SPECIFIC_RESERVATION"
      values                   = ["b", "a"]
    }
  }
}

resource "google_storage_bucket" "team" {
  for_each = { for name, team in var.teams : name => team.bucket if team.bucket != null }
  name     = each.value
  location = var.region
}

resource "google_storage_bucket_iam_member" "team" {
  for_each = var.teams
  bucket   = google_storage_bucket.team[each.key].name
  role     = "r"
  member   = "principal://projects/${data.google_project.main.number}/${local.names[each.key]}"
}

data "google_project" "main" {
  project_id = "p"
}

locals {
  pool  = "pools/${data.google_project.main.project_id}"
  names = { for name, team in var.teams : name => "${local.pool}/${team.network}" }
}

resource "google_compute_subnetwork" "team" {
  for_each = var.teams
  name     = each.key
  network  = google_compute_network.team[each.key].id
}

resource "google_compute_network" "team" {
  for_each = var.teams
  name     = each.value.network
}

resource "google_compute_reservation" "r" {
  name = "res"
  zone = "z"
}

variable "region" {
  type = string
}

variable "range" {
  type    = string
  default = "10.0.0.0/16"
}

variable "gpus" {
  type = list(object({ type = string, count = optional(number, 1) }))
}

variable "teams" {
  type = map(object({ network = string, bucket = optional(string) }))
}
`

const varsBefore = `region = "r1"
gpus   = [{ type = "l4" }]
teams = {
  t = { network = "t", bucket = "bucket-t" }
}
`

func TestReplacements(t *testing.T) {
	const follows = "  lifecycle {\n    replace_triggered_by = [google_compute_reservation.r.id]\n  }\n\n"
	plan := &ir.Platform{
		Zones:      []string{"a", "b"},
		SystemPool: ir.SystemPool{Name: "system", NodesPerZone: 2},
		Capacities: []ir.Capacity{
			{Name: "cpu", MaxNodes: 5},
			{
				Name: "slices", Slices: 2, MaxNodes: 8, Machine: ir.Machine{Slice: &ir.Slice{Hosts: 4}},
				Reservation: &ir.ReservationUse{Name: "res", Create: true},
			},
		},
		Workloads: []ir.Workload{
			{Team: "u", Name: "w", Capacities: []string{"cpu", "slices"}},
			{Team: "t", Name: "w", Capacities: []string{"cpu"}, Bucket: "bucket-t"},
			{Team: "t", Name: "x", Capacities: []string{"slices"}},
		},
	}
	for _, test := range []struct {
		name  string
		edits []string // old, new, ...
		want  string
	}{
		{"nothing", nil, ""},
		{"a comment", []string{"locals {", "# Ours.\nlocals {"}, ""},
		{
			"a value through another name",
			[]string{"name = \"net\"", "name = local.name", "locals {", "locals {\n  name = \"net\""}, "",
		},
		{"the region", []string{`"r1"`, `"r2"`}, `
google_container_cluster.main 17 nodes t/w t/x u/w
  location: r1 -> r2
  subnetwork:  -> google_compute_subnetwork.main["a"]
google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w
  location: r1 -> r2
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  location: r1 -> r2
google_storage_bucket.team["t"] 0 nodes t/w, not while it holds anything
  location: r1 -> r2
google_compute_subnetwork.main["a"] 0 nodes
  region: r1 -> r2`},
		{"the network's name", []string{`name = "net"`, `name = "other"`}, `
google_container_cluster.main 17 nodes t/w t/x u/w
  subnetwork:  -> google_compute_subnetwork.main["a"]
google_compute_network.main 0 nodes
  name: net -> other
google_compute_subnetwork.main["a"] 0 nodes
  name: net-a -> other-a
  network:  -> google_compute_network.main`},
		{"another subnet", []string{"var.range, 2, 0", "var.range, 2, 1"}, `
google_container_cluster.main 17 nodes t/w t/x u/w
  subnetwork:  -> google_compute_subnetwork.main["a"]
google_compute_subnetwork.main["a"] 0 nodes
  ip_cidr_range: 10.0.0.0/18 -> 10.0.64.0/18`},
		{"a wider subnet", []string{"var.range, 2, 0", "var.range, 1, 0"}, ""},
		{"another block for the network",
			[]string{
				`google_compute_network" "main"`, `google_compute_network" "other"`, "google_compute_network.main",
				"google_compute_network.other",
			}, `
google_container_cluster.main 17 nodes t/w t/x u/w
  subnetwork:  -> google_compute_subnetwork.main["a"]
google_compute_subnetwork.main["a"] 0 nodes
  network:  -> google_compute_network.other`},
		{"one slice less", []string{`["slices-0", "slices-1"]`, `["slices-0"]`}, `
removed: google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w`},
		{"another slice", []string{`["slices-0", "slices-1"]`, `["slices-1", "slices-2"]`}, `
removed: google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w`},
		{"no Spot", []string{"    spot = true\n", ""}, `
google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w
  node_config.spot: true -> 
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  node_config.spot: true -> `},
		{"a key of boot disks", []string{"    spot = true\n", "    spot = true\n    boot_disk_kms_key = \"k\"\n"}, `
google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w
  node_config.boot_disk_kms_key:  -> k
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  node_config.boot_disk_kms_key:  -> k`},
		{"a key of the pools that GKE makes", []string{
			"  node_config {\n    oauth_scopes",
			"  cluster_autoscaling {\n    auto_provisioning_defaults {\n      boot_disk_kms_key = \"k\"\n    }\n  " +
				"}\n\n  node_config {\n    oauth_scopes",
		}, `
google_container_cluster.main 17 nodes t/w t/x u/w
  cluster_autoscaling.auto_provisioning_defaults.boot_disk_kms_key:  -> k`},
		{"GPUs as they are by default", []string{`{ type = "l4" }`, `{ type = "l4", count = "1" }`}, ""},
		{"more GPUs",
			[]string{`{ type = "l4" }`, `{ type = "l4", count = 2 }`, `["slices-0", "slices-1"]`, `["slices-1"]`}, `
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  node_config.guest_accelerator.count: 1 -> 2
removed: google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w`},
		{"no GPUs", []string{`[{ type = "l4" }]`, `[]`, `["slices-0", "slices-1"]`, `["slices-1"]`}, `
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  node_config.guest_accelerator: {count: 1, type: l4} -> 
removed: google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w`},
		{"a set in another order", []string{`["b", "a"]`, `["a", "b"]`}, ""},
		{"what the provider keeps", []string{"  initial_node_count = 0\n", ""}, ""},
		{"what Terraform is told to ignore", []string{`oauth_scopes = ["a"]`, `oauth_scopes = ["b"]`}, ""},
		{"told no more", []string{`oauth_scopes = ["a"]`, `oauth_scopes = ["b"]`, "[node_config]", "[]"}, `
google_container_cluster.main 17 nodes t/w t/x u/w
  node_config.oauth_scopes: a -> b`},
		{"told to ignore all", []string{`"r1"`, `"r2"`, "[node_config]", "all"}, `
google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w
  location: r1 -> r2
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  location: r1 -> r2
google_storage_bucket.team["t"] 0 nodes t/w, not while it holds anything
  location: r1 -> r2
google_compute_subnetwork.main["a"] 0 nodes
  region: r1 -> r2`},
		{"a bucket", []string{"bucket-t", "bucket-u"}, `
google_storage_bucket.team["t"] 0 nodes t/w, not while it holds anything
  name: bucket-t -> bucket-u
google_storage_bucket_iam_member.team["t"] 0 nodes
  bucket: bucket-t -> bucket-u`},
		{"no team", []string{`  t = { network = "t", bucket = "bucket-t" }`, ""}, `
removed: google_storage_bucket.team["t"] 0 nodes t/w, not while it holds anything`},
		{"no reservation",
			[]string{"resource \"google_compute_reservation\" \"r\" {\n  name = \"res\"\n  zone = \"z\"\n}\n", ""}, `
removed: google_compute_reservation.r 8 nodes t/x u/w`},
		{"a reservation that nodes still use", []string{
			"resource \"google_compute_reservation\" \"r\" {\n  name = \"res\"\n  zone = \"z\"\n}\n", "",
			`["b", "a"]`, `["res"]`, `["slices-0", "slices-1"]`, `["slices-1"]`,
		}, `
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  node_config.reservation_affinity.values: a, b -> res
removed: google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w
removed: google_compute_reservation.r 8 nodes t/x u/w, not while nodes use it
  two builds: first remove the capacity, then add it again`},
		{"a capacity with another name", []string{
			"resource \"google_container_node_pool\" \"slices\"", "resource \"google_container_node_pool\" \"others\"",
		}, `
removed: google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w
  two builds: first remove the capacity, then add the other. Before, its reservation may have no room
removed: google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  two builds: first remove the capacity, then add the other. Before, its reservation may have no room`},
		{"what others refer to", []string{`network = "t"`, `network = "u"`}, `
google_compute_network.team["t"] 0 nodes
  name: t -> u
google_compute_subnetwork.team["t"] 0 nodes
  network:  -> google_compute_network.team["t"]
google_storage_bucket_iam_member.team["t"] 0 nodes
  member: …oogle_project.main.project_id/t -> …oogle_project.main.project_id/u`},
		{"a team more", []string{"teams = {", "teams = {\n  u = { network = \"u\" }"}, ""},
		{"the reservation", []string{`zone = "z"`, `zone = "y"`}, `
google_compute_reservation.r 8 nodes t/x u/w
  zone: z -> y`},
		{"a reservation that its pool follows", []string{
			`zone = "z"`, `zone = "y"`, `["slices-0", "slices-1"]`, `["slices-1"]`,
			"  node_config {\n    spot", follows + "  node_config {\n    spot",
		}, `
google_container_node_pool.slices["slices-1"] 4 nodes t/x u/w
  replace_triggered_by:  -> google_compute_reservation.r
google_compute_reservation.r 8 nodes t/x u/w
  zone: z -> y
removed: google_container_node_pool.slices["slices-0"] 4 nodes t/x u/w`},
		{"a pool that follows a reservation that stays", []string{
			"  node_config {\n    spot", follows + "  node_config {\n    spot",
		}, ""},
		{"a circle", []string{"locals {", "locals {\n  x = local.y\n  y = local.x", `zone = "z"`, "zone = local.x"}, `
google_compute_reservation.r 8 nodes t/x u/w
  zone: z -> local.x`},
		{"no Terraform", []string{"locals {", "locals {{"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			edit := strings.NewReplacer(test.edits...)
			tree := func(edit func(string) string) emit.Tree {
				return emit.Tree{
					{Path: "terraform/main.tf", Content: []byte(edit(rootBefore))},
					{Path: "terraform/terraform.tfvars", Content: []byte(edit(varsBefore))},
				}
			}
			before, after := tree(strings.NewReplacer().Replace), tree(edit.Replace)
			if len(test.edits) > 0 && slices.Equal(after[0].Content, before[0].Content) &&
				slices.Equal(after[1].Content, before[1].Content) {
				t.Fatal("the edits change nothing")
			}
			effects := EffectsOf(before, after, plan)
			got, removed := effects.Replaced, effects.Removed
			var b strings.Builder
			for _, r := range append(got, removed...) {
				if b.WriteByte('\n'); r.Because == nil {
					b.WriteString("removed: ")
				}
				fmt.Fprintf(&b, "%s %d nodes", r.Address, r.Nodes)
				for _, w := range r.Workloads {
					b.WriteString(" " + w)
				}
				if r.Guard != "" {
					fmt.Fprintf(&b, ", not %s", r.Guard)
				}
				if r.Order != "" {
					fmt.Fprintf(&b, "\n  %s", r.Order)
				}
				for _, f := range r.Because {
					fmt.Fprintf(&b, "\n  %s: %s -> %s", f.Path, f.From, f.To)
				}
				if r.File != "terraform/main.tf" || r.Line < 1 {
					t.Errorf("%s is at %s:%d", r.Address, r.File, r.Line)
				}
			}
			if d := cmp.Diff(test.want, b.String()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestGuard: what keeps a resource is what it was, not what it is to be.
func TestGuard(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{`"google_container_cluster" "r" { deletion_protection = true }`, "", "while deletion protection is on"},
		{`"google_container_cluster" "r" { deletion_protection = false }`, "", ""},
		{`"google_container_cluster" "r" {
  name                = "a"
  deletion_protection = true
}`, `"google_container_cluster" "r" {
  name                = "b"
  deletion_protection = false
}`, "while deletion protection is on"},
		{`"google_storage_bucket" "r" { name = "a" }`, "", "while it holds anything"},
		{`"google_storage_bucket" "r" { force_destroy = true }`, "", ""},
		{`"google_container_node_pool" "r" { name = "a" }`, "", ""},
	} {
		tree := func(s string) emit.Tree {
			if s != "" {
				s = "resource " + s
			}
			return emit.Tree{{Path: "terraform/main.tf", Content: []byte(s + "\n")}}
		}
		effects := EffectsOf(tree(test.before), tree(test.after), nil)
		replaced, removed := effects.Replaced, effects.Removed
		all := append(replaced, removed...)
		if len(all) != 1 || all[0].Guard != test.want || (all[0].Because == nil) != (test.after == "") {
			t.Errorf("%s: %+v, want it kept %q", test.before, all, test.want)
		}
	}
}

// TestDeep: what nests without an end is not followed.
func TestDeep(t *testing.T) {
	for _, text := range []string{"!", "-", "(", "{", "[", "a?b:", "a?b==c:", "a+", `"${`, "f(a,"} {
		_, err := readTerraform(emit.File{
			Path: "terraform/terraform.tfvars", Content: []byte("\nx = " + strings.Repeat(text, 1_000_000)),
		})
		if err == nil || err.line != 2 || err.reason != "nested too deep" {
			t.Errorf("%s...: %v", text, err)
		}
	}
}

// TestBudget: a root that takes too long to evaluate, or that Terraform does not
// take, has no replacements. Without a bound each would end the test's patience,
// or the memory.
func TestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("fills the memory that a comparison may use")
	}
	var texts, lists strings.Builder
	texts.WriteString("locals {\n  x0 = \"aaaaaaaa\"\n")
	lists.WriteString("locals {\n  x0 = [1]\n")
	for i := range 60 {
		fmt.Fprintf(&texts, "  x%d = \"${local.x%d}${local.x%d}\"\n", i+1, i, i)
		fmt.Fprintf(&lists, "  x%d = [local.x%d, local.x%d]\n", i+1, i, i)
	}
	tests := map[string]struct{ more, value string }{
		"texts of texts": {texts.String() + "}\n", "local.x60"},
		"lists of lists": {lists.String() + "}\n", "length(local.x60)"},
		"loops in loops": {"", "length([for a in range(1000): [for b in range(1000): [for c in range(1000): 1]]])"},
		"loops in texts": {
			"", `"%{ for a in range(1000) }%{ for b in range(1000) }%{ for c in range(1000) }a%{ endfor ` +
				`}%{ endfor }%{ endfor }"`,
		},
		"a set of lists": {"", "length(toset([for a in range(1000): [for b in range(1000): a]]))"},
		"declared twice": {"resource \"google_compute_network\" \"main\" {\n  name = \"x\"\n}\n", `"main"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tree := func(value string) emit.Tree {
				content := test.more + "resource \"google_compute_network\" \"main\" {\n  name = " + value + "\n}\n"
				return emit.Tree{{Path: "terraform/main.tf", Content: []byte(content)}}
			}
			if got := EffectsOf(tree(test.value), tree(`"other"`), nil).Replaced; name != "a set of lists" &&
				len(got) > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}
