package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/terraform"
)

// tfMinimal is a root without mistakes.
var tfMinimal = map[string]string{
	"main.tf": `variable "name" {
  description = "Name."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z-]+$", var.name))
    error_message = "Lower-case letters."
  }
}

variable "ranges" {
  description = "Ranges."
  type        = map(object({ cidr = string, note = optional(string, "none") }))
}

locals {
  upper = join("-", [var.name])
}

resource "google_compute_network" "main" {
  name = var.name
}

resource "google_compute_subnetwork" "each" {
  for_each      = var.ranges
  name          = "${local.upper}-${each.key}-${each.value.note}"
  network       = google_compute_network.main.id
  ip_cidr_range = each.value.cidr
}

output "subnets" {
  description = "Subnets."
  value       = { for name, subnet in google_compute_subnetwork.each : name => subnet.self_link }
}
`,
	"terraform.tfvars": `name = "x"
ranges = {
  a = { cidr = "10.0.0.0/24" }
}
`,
}

func tfFolder(files map[string]string) fs.FS {
	folder := fstest.MapFS{}
	for name, content := range files {
		folder["terraform/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	return folder
}

// TestTerraformCheckFails checks that every part of Terraform can fail.
func TestTerraformCheckFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		extra string            // another .tf file
		vars  string            // another .tfvars file
		files map[string]string // replace files of tfMinimal
		want  string
	}{
		{name: "nothing wrong"},
		{name: "syntax", extra: "resource {", want: "extra.tf:1"},
		{
			name:  "format",
			extra: "locals {\n  a =  1\n}\n\noutput \"a\" {\n  description = \"\"\n  value       = local.a\n}\n",
			want:  "terraform fmt would change it",
		},
		{name: "block", extra: "modul \"x\" {\n}\n", want: "no such block"},
		{name: "labels", extra: "resource \"google_compute_network\" {\n}\n", want: "no such block"},
		{
			name: "twice", extra: "resource \"google_compute_network\" \"main\" {\n  name = \"y\"\n}\n",
			want: "google_compute_network.main is declared twice",
		},
		{name: "no tfvars", files: map[string]string{"terraform.tfvars": ""}, want: "variable name has no value"},
		{name: "stray value", vars: "nome = 1\n", want: "there is no variable nome"},
		{
			name:  "value of the wrong type",
			files: map[string]string{"terraform.tfvars": "name = \"x\"\nranges = {\n  a = { cidr = [] }\n}\n"},
			want:  "variable ranges",
		},
		{
			name:  "value that is not valid",
			files: map[string]string{"terraform.tfvars": "name   = \"X\"\nranges = {}\n"},
			want:  "variable name is not valid",
		},
		{
			name: "variable without type",
			extra: "variable \"y\" {\n  description = \"\"\n  default     = 1\n}\n\noutput \"y\" {\n  description = " +
				"\"\"\n  value       = var.y\n}\n", want: "has no type",
		},
		{
			name:  "unused variable",
			extra: "variable \"y\" {\n  description = \"\"\n  type        = string\n  default     = \"\"\n}\n",
			want:  "var.y is not used",
		},
		{name: "unused local", extra: "locals {\n  y = 1\n}\n", want: "local.y is not used"},
		{name: "unknown variable", extra: tfOutput("var.nome"), want: `named "nome"`},
		{name: "unknown local", extra: tfOutput("local.nome"), want: `named "nome"`},
		{name: "unknown resource", extra: tfOutput("google_compute_network.other.name"), want: `named "other"`},
		{
			name: "unknown kind of resource", extra: tfOutput("google_compute_router.main.name"),
			want: `named "google_compute_router"`,
		},
		{name: "unknown function", extra: tfOutput("upcase(var.name)"), want: "upcase"},
		{name: "unknown field of a variable", extra: tfOutput(`var.ranges["a"].mask`), want: `named "mask"`},
		{name: "each outside for_each", extra: tfOutput("each.key"), want: `named "each"`},
		{name: "missing file", extra: tfOutput(`file("${path.module}/../nothing.json")`), want: "nothing.json"},
		{
			name:  "for_each over a list",
			extra: "resource \"google_compute_network\" \"y\" {\n  for_each = [\"a\"]\n  name     = each.key\n}\n",
			want:  "for_each takes",
		},
		{
			name: "unknown field of an element",
			extra: "resource \"google_compute_network\" \"y\" {\n  for_each = var.ranges\n" +
				"  name     = each.value.mask\n}\n",
			want: `named "mask"`,
		},
		{
			name:  "key twice",
			extra: tfOutput(`{ for name, range in var.ranges : range.note => name }`),
			files: map[string]string{"terraform.tfvars": "name = \"x\"\nranges = {\n" +
				"  a = { cidr = \"10.0.0.0/24\" }\n  b = { cidr = \"10.0.1.0/24\" }\n}\n"},
			want: "Duplicate object key",
		},
		{
			name: "depends_on nothing", extra: tfNetwork("depends_on = [google_compute_network.other]"),
			want: `named "other"`,
		},
		{
			name:  "replaced by nothing",
			extra: tfNetwork("lifecycle {\n    replace_triggered_by = [terraform_data.other]\n  }"),
			want:  `named "terraform_data"`,
		},
		{name: "lifecycle", extra: tfNetwork("lifecycle {\n    prevent = true\n  }"), want: "lifecycle has no prevent"},
		{
			name: "variable in a backend", extra: "terraform {\n  backend \"gcs\" {\n    bucket = var.name\n  }\n}\n",
			want: "Variables not allowed",
		},

		{name: "module", extra: tfCalls("name = var.name"), files: tfModule(tfModuleMain)},
		{
			name: "module of a path", extra: tfCalls("name = path.module"),
			files: tfModule(
				strings.Replace(tfModuleMain, "= var.name", `= "${path.module == "modules/m" ? var.name : 1 / 0}"`, 1)),
		},
		{name: "no module", extra: tfCalls("name = var.name"), want: "there is no terraform/modules/m/*.tf"},
		{
			name:  "module from elsewhere",
			extra: strings.Replace(tfCalls("name = var.name"), "./modules/m", "git::https://e.com/m", 1),
			files: tfModule(tfModuleMain), want: "module m is not in the folder",
		},
		{
			name: "module above", extra: strings.Replace(tfCalls("name = var.name"), "./modules/m", "./modules/..", 1),
			files: tfModule(tfModuleMain), want: "module m is not below its caller",
		},
		{
			name: "module without a value", extra: tfCalls(""), files: tfModule(tfModuleMain),
			want: "module m: variable name has no value",
		},
		{
			name: "value that a module does not take", extra: tfCalls("name = var.name\n  nome = 1"),
			files: tfModule(tfModuleMain), want: "module m has no variable nome",
		},
		{
			name: "value of another type for a module", extra: tfCalls("name = [1]"), files: tfModule(tfModuleMain),
			want: "name: string required",
		},
		{
			name: "unknown value for a module", extra: tfCalls("name = var.nome"), files: tfModule(tfModuleMain),
			want: `named "nome"`,
		},
		{
			name: "unknown output", extra: tfCalls("name = var.name") + tfOutput("module.m.nome"),
			files: tfModule(tfModuleMain), want: `named "nome"`,
		},
		{
			name: "unused output", extra: strings.Replace(tfCalls("name = var.name"), "module.m.id", "module.m", 1),
			files: tfModule(tfModuleMain), want: "module.m.id is not used",
		},
		{
			name: "mistake in a module", extra: tfCalls("name = var.name"),
			files: tfModule(strings.Replace(tfModuleMain, "= var.name", `= "${var.name}-${local.nome}"`, 1)),
			want:  `named "local"`,
		},
		{
			name: "format of a module", extra: tfCalls("name = var.name"),
			files: tfModule(strings.Replace(tfModuleMain, "= var.name", "=   var.name", 1)),
			want:  "modules/m/main.tf: terraform fmt",
		},
		{
			name: "provider in a module", extra: tfCalls("name = var.name"),
			files: tfModule(tfModuleMain + "\nprovider \"google\" {\n}\n"), want: "has no provider of its own",
		},
		{name: "depends_on no module", extra: tfNetwork("depends_on = [module.m]"), want: `named "module"`},
		{
			name: "argument in a module", extra: tfCalls("name = var.name"),
			files: tfModule(strings.Replace(tfModuleMain, "  name = var.name\n", "  name = var.name\n  nome = 1\n", 1)),
			want:  `named "nome"`,
		},

		{
			name: "no such resource type", extra: "resource \"google_compute_netwrk\" \"y\" {\n}\n",
			want: "the provider has no resource google_compute_netwrk",
		},
		{name: "no such argument", extra: tfNetwork("nome = 1"), want: `named "nome"`},
		{
			name: "computed argument", extra: tfNetwork("gateway_ipv4 = \"10.0.0.1\""),
			want: `named "gateway_ipv4"`,
		},
		{name: "no such block", extra: tfNetwork("parms {\n  }"), want: `type "parms"`},
		{
			name: "missing argument", extra: "resource \"google_compute_network\" \"y\" {\n}\n",
			want: `"name" is required`,
		},
		{name: "wrong type", extra: tfNetwork("mtu = \"large\""), want: "a number is required"},
		{
			name: "too many blocks", extra: tfNetwork("params {\n  }\n\n  params {\n  }"),
			want: `No more than 1 "params"`,
		},
		{
			name: "too few blocks",
			extra: "resource \"google_monitoring_alert_policy\" \"y\" {\n  display_name = \"y\"\n  combiner     = " +
				"\"OR\"\n}\n", want: `At least 1 "conditions"`,
		},
		{
			name: "argument in a dynamic block",
			extra: "resource \"google_compute_router\" \"y\" {\n  name = \"y\"\n\n  dynamic \"bgp\" {\n    for_each " +
				"= var.ranges\n\n    content {\n      asm = 1\n    }\n  }\n}\n", want: `named "asm"`,
		},
		{
			name: "no such attribute", extra: tfOutput("google_compute_network.main.nome"),
			want: `named "nome"`,
		},
		{
			name: "ignored argument", extra: tfNetwork("lifecycle {\n    ignore_changes = [nome]\n  }"),
			want: "google_compute_network has no nome",
		},
		{name: "import", extra: tfImport("var.name")},
		{name: "import of a list", extra: tfImport(`["a"]`), want: "id: string required"},
		{name: "import of nothing", extra: tfImport("var.nome"), want: `named "nome"`},
		{
			name: "provider argument", extra: "provider \"google\" {\n  projct = var.name\n}\n",
			want: `named "projct"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := maps.Clone(tfMinimal)
			maps.Copy(files, tt.files)
			if tt.extra != "" {
				files["extra.tf"] = tt.extra
			}
			if tt.vars != "" {
				files["extra.auto.tfvars"] = tt.vars
			}
			errs := Terraform(tfFolder(files))
			if tt.want == "" && len(errs) > 0 || tt.want != "" && !strings.Contains(fmt.Sprint(errs), tt.want) {
				t.Errorf("want %q, got %v", tt.want, errs)
			}
		})
	}
}

// tfModuleMain is a module without mistakes.
const tfModuleMain = `variable "name" {
  description = "Name."
  type        = string
}

resource "google_compute_network" "main" {
  name = var.name
}

output "id" {
  description = "ID."
  value       = google_compute_network.main.id
}
`

// tfModule returns the file of a module, to replace files of tfMinimal.
func tfModule(main string) map[string]string { return map[string]string{"modules/m/main.tf": main} }

// tfCalls returns a call of the module with arguments, and a use of its output.
func tfCalls(arguments string) string {
	return "module \"m\" {\n  source = \"./modules/m\"\n\n  " + arguments + "\n}\n\noutput \"m\" {\n  description = " +
		"\"\"\n  value       = module.m.id\n}\n"
}

func tfOutput(value string) string {
	return "output \"y\" {\n  description = \"\"\n  value       = " + value + "\n}\n"
}

// tfImport returns an import block.
func tfImport(id string) string {
	return "import {\n  to = google_compute_network.main\n  id = " + id + "\n}\n"
}

// tfNetwork returns a network with an additional line.
func tfNetwork(more string) string {
	return "resource \"google_compute_network\" \"y\" {\n  name = \"y\"\n\n  " + more + "\n}\n"
}

// TestTerraformPlans checks the roots of platforms that no blueprint covers against
// the provider's schema: a platform with every consumption option, and an empty
// platform.
func TestTerraformPlans(t *testing.T) {
	for name, change := range map[string]func(p *ir.Platform){
		"everything": func(p *ir.Platform) {},
		"open": func(p *ir.Platform) {
			p.Cluster.AuthorizedNetworks = []ir.NamedRange{{Name: "office", CIDR: "203.0.113.0/24"}}
			p.Cluster.DNSEndpoint = false
		},
		"without teams": func(p *ir.Platform) { p.Teams = nil },
		"without buckets": func(p *ir.Platform) {
			for i := range p.Teams {
				p.Teams[i].Bucket = ""
			}
		},
		"without groups": func(p *ir.Platform) {
			for i := range p.Teams {
				p.Teams[i].Group = ""
			}
		},
		"without listed members": func(p *ir.Platform) { p.Teams[0].Members = nil },
		"without groups and listed members": func(p *ir.Platform) {
			p.Teams[0].Group, p.Teams[0].Members, p.Cluster.SecurityGroup = "", nil, ""
		},
		"only listed members": func(p *ir.Platform) { p.Teams[0].Group, p.Cluster.SecurityGroup = "", "" },
		"without roles": func(p *ir.Platform) {
			for i := range p.Teams {
				p.Teams[i].Roles = nil
			}
		},
		"bare": func(p *ir.Platform) {
			p.Capacities, p.Teams, p.Monitoring = nil, nil, ir.Monitoring{}
			p.AutoProvisioning = ir.AutoProvisioning{Profile: "BALANCED"}
			p.Cluster.MinVersion, p.Cluster.SecurityGroup = "", ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tfPlan()
			change(p)
			files, err := terraform.Files(p)
			if err != nil {
				t.Fatal(err)
			}
			folder := fstest.MapFS{
				"dashboards/cloud-monitoring/admin.json": {Data: []byte("{}")},
				"dashboards/cloud-monitoring/team.json":  {Data: []byte("{}")},
			}
			for _, f := range files {
				folder[f.Path] = &fstest.MapFile{Data: f.Content}
			}
			for _, err := range Terraform(folder) {
				t.Error(err)
			}
			// The check must notice a mistake.
			broken := folder["terraform/cluster.tf"]
			broken.Data = bytes.Replace(broken.Data, []byte("var.node_account"), []byte("var.nodes_account"), 1)
			if len(Terraform(folder)) == 0 {
				t.Error("a broken reference is not found")
			}
		})
	}
}

// tfPlan returns a platform with every consumption option.
func tfPlan() *ir.Platform {
	zones := []string{"us-central1-a", "us-central1-b"}
	capacity := func(name string, option ir.Option, change func(c *ir.Capacity)) ir.Capacity {
		c := ir.Capacity{
			Name: name, Option: option, Zones: zones, MaxNodes: 4, DiskType: "pd-ssd", DiskSizeGiB: 100,
			GPUDriver: "DISABLED",
			Machine: ir.Machine{
				Type: "g2-standard-24", Family: "g2", Accelerator: "nvidia-l4", AcceleratorCount: 2,
				Resource: "nvidia.com/gpu",
			},
			PoolLabels: []ir.KeyValue{
				{Key: "cloud.google.com/gke-queued", Value: "true"},
				{Key: "resource-type", Value: option.Facts().ResourceType},
			},
			PoolTaints: []ir.Taint{{Key: "option", Value: string(option), Effect: "NoExecute"}},
			NodeTaints: []ir.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}},
		}
		change(&c)
		return c
	}
	reservation := func(name string, use ir.ReservationUse) ir.Capacity {
		return capacity(name, ir.Reservation, func(c *ir.Capacity) { c.Static, c.Reservation = true, &use })
	}
	tpu := func(topology string, change func(c *ir.Capacity)) func(c *ir.Capacity) {
		return func(c *ir.Capacity) {
			c.Machine = ir.Machine{
				Type: "ct6e-standard-4t", Family: "ct6e", Accelerator: "tpu-v6e-slice", AcceleratorCount: 4,
				Resource: ir.TPU,
				Slice:    &ir.Slice{Topology: topology, Chips: 8, Hosts: 2}, PlacementTopology: topology,
			}
			c.Zones, c.GPUDriver, c.Slices = zones[:1], "", 2
			change(c)
		}
	}
	return &ir.Platform{
		Scheduler: ir.Kueue,
		Name:      "every", Project: "my-project", Region: "us-central1", Zones: zones,
		Versions: ir.Versions{GoogleProvider: "7.45.0"},
		Network: ir.Network{
			Name: "every", Subnet: "every", Nodes: "10.0.0.0/20", Pods: "10.4.0.0/14", Services: "10.0.32.0/20",
			ControlPlane: "172.16.0.32/28",
		},
		Cluster: ir.Cluster{
			Name: "every", ReleaseChannel: "REGULAR", MinVersion: "1.33", DNSEndpoint: true,
			SecurityGroup: "gke-security-groups@example.com",
			Maintenance:   ir.Maintenance{Days: []string{"SU"}, Start: "23:00", Hours: 8},
			Metrics:       []string{"DCGM", "SYSTEM_COMPONENTS"},
		},
		SystemPool: ir.SystemPool{Name: "system", Machine: "e2-standard-4", NodesPerZone: 1},
		NodeAccount: ir.ServiceAccount{
			ID: "every-nodes", Display: "Nodes", Roles: []string{"roles/container.defaultNodeServiceAccount"},
		},
		Capacities: []ir.Capacity{
			capacity("any", ir.AnyReservationOnly, func(*ir.Capacity) {}),
			capacity("auto", ir.Spot, func(c *ir.Capacity) { c.AutoProvisioned = true }),
			capacity("class", ir.Spot, func(c *ir.Capacity) { c.ComputeClass = true }),
			capacity("compact", ir.OnDemand, func(c *ir.Capacity) { c.Compact, c.Zones = true, zones[:1] }),
			capacity("cpu", ir.OnDemand, func(c *ir.Capacity) {
				c.Machine, c.GPUDriver, c.NodeTaints, c.PoolLabels = ir.Machine{
					Type: "c3-standard-8", Family: "c3",
				}, "", nil, nil
			}),
			capacity("flex", ir.FlexStart, func(c *ir.Capacity) { c.MaxRunSeconds = 3600 }),
			capacity("flex-queued", ir.QueuedFlexStart, func(c *ir.Capacity) {
				c.MaxRunSeconds = 604800
			}),
			capacity("on-demand", ir.OnDemand, func(c *ir.Capacity) { c.MinNodes = 1 }),
			reservation("reserved", ir.ReservationUse{Name: "old"}),
			reservation("reserved-shared", ir.ReservationUse{Name: "theirs", Owner: "other-project"}),
			capacity("reserved-zone", ir.Reservation, func(c *ir.Capacity) {
				c.Static, c.Zones, c.Reservation = true, zones[1:], &ir.ReservationUse{Name: "one-zone", Create: true}
			}),
			capacity("spot", ir.Spot, func(c *ir.Capacity) { c.Machine.AcceleratorNetworks = true }),
			capacity("ssds", ir.Reservation, func(c *ir.Capacity) {
				c.Static, c.Zones, c.LocalSSDs, c.Machine.SSDSizeGB, c.Reservation = true, zones[1:], 2, 375,
					&ir.ReservationUse{Name: "ssds", Create: true}
			}),
			capacity("tpu-linked", ir.OnDemand, tpu("2x2x2", func(c *ir.Capacity) { c.Static = true })),
			capacity("tpu-none", ir.OnDemand, tpu("2x2x4", func(c *ir.Capacity) { c.Static, c.Slices = true, 0 })),
			capacity("tpu-slices", ir.QueuedFlexStart, tpu("2x4", func(c *ir.Capacity) {
				c.MaxRunSeconds, c.Machine.PlacementTopology = 600, ""
			})),
			capacity("waiting", ir.Calendar, func(c *ir.Capacity) {
				c.Waiting, c.Reservation = true, &ir.ReservationUse{
					Name: "later", Block: "b", SubBlock: "s", Kind: ir.CalendarReservation,
				}
			}),
		},
		AutoProvisioning: ir.AutoProvisioning{
			Profile: "OPTIMIZE_UTILIZATION", Create: true,
			Limits: []ir.ResourceLimit{
				{Type: "cpu", Max: 100}, {Type: "memory", Max: 400}, {Type: "nvidia-l4", Max: 8},
			},
		},
		Teams: []ir.Team{
			{
				Name: "a", Namespace: "a", KubeAccount: "a-ksa", Group: "a@example.com", Bucket: "bucket-a",
				Members: []string{"user:analyst@example.com"},
				Account: &ir.TeamAccount{ID: "wi-team-a"},
				Roles:   []string{"roles/logging.logWriter", "${var.project_id} %{ for }"},
			},
			{Name: "b", Namespace: "b", KubeAccount: "b-ksa"},
		},
		Monitoring: ir.Monitoring{
			NotificationChannels: []string{"projects/my-project/notificationChannels/1"},
		},
		Delivery: ir.Delivery{StateBucket: "my-project-every-tfstate", StatePrefix: "every"},
	}
}
