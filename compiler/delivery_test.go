package compiler

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

func TestDelivery(t *testing.T) {
	p := &ir.Platform{
		Name:        "a",
		NodeAccount: ir.ServiceAccount{Roles: []string{"roles/artifactregistry.reader"}},
		Teams: []ir.Team{
			{Name: "one", Account: ir.ServiceAccount{Roles: []string{"roles/logging.logWriter", "roles/storage.objectViewer"}}},
			{Name: "two", Account: ir.ServiceAccount{Roles: []string{"roles/bigquery.user", "roles/logging.logWriter"}}},
		},
	}
	p.Delivery.StateBucket = "state"
	got := delivery(p)
	if got.StateBucket != "state" || got.StatePrefix != "a/terraform" || got.Repository != "a" || got.Account.ID != "a-build" {
		t.Errorf("delivery = %+v", got)
	}
	want := []string{"roles/artifactregistry.reader", "roles/bigquery.user", "roles/logging.logWriter", "roles/storage.objectViewer"}
	if diff := cmp.Diff(want, got.GrantableRoles); diff != "" {
		t.Errorf("grantable roles (-want +got):\n%s", diff)
	}
}

// TestGroupsAreGrantable holds that the build may let a team's members reach
// the cluster, and nobody where no team has a group.
func TestGroupsAreGrantable(t *testing.T) {
	p := &ir.Platform{Teams: []ir.Team{{Name: "one"}, {Name: "two"}}}
	if got := delivery(p).GrantableRoles; got != nil {
		t.Errorf("without a group: %q", got)
	}
	p.Teams[0].Group, p.Teams[1].Group = "one@example.com", "two@example.com"
	if got := delivery(p).GrantableRoles; !slices.Equal(got, []string{ir.MemberRole}) {
		t.Errorf("with groups: %q", got)
	}
}

// TestDeliveryFollowsThePlan holds that every wide right and every API is
// there only when something in the plan needs it.
func TestDeliveryFollowsThePlan(t *testing.T) {
	tests := []struct {
		name string
		with func(*ir.Platform)
		adds []string
	}{
		{"team bucket", func(p *ir.Platform) { p.Teams = []ir.Team{{Bucket: "b"}} }, []string{"roles/storage.admin"}},
		{"team without bucket", func(p *ir.Platform) { p.Teams = []ir.Team{{}} }, nil},
		{"TensorBoard", func(p *ir.Platform) { p.Monitoring.TensorBoard = "us-central1" }, []string{
			"aiplatform.locations.get", "aiplatform.tensorboards.create", "aiplatform.tensorboards.delete", "aiplatform.tensorboards.get",
			"aiplatform.tensorboards.list", "aiplatform.tensorboards.update", "aiplatform.googleapis.com",
		}},
		{"Infrastructure Manager", func(p *ir.Platform) { p.Delivery.InfrastructureManager = true }, []string{
			"roles/config.admin", "roles/config.agent", "config.googleapis.com",
		}},
		{"alerts", func(p *ir.Platform) { p.Monitoring.Alerts = []ir.Alert{{}} }, []string{"roles/monitoring.alertPolicyEditor"}},
		{"image streaming", func(p *ir.Platform) { p.Cluster.ImageStreaming = true }, []string{"containerfilesystem.googleapis.com"}},
		{"Filestore", func(p *ir.Platform) { p.Cluster.Filestore = true }, []string{"file.googleapis.com"}},
		{"reservation of others", func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{{Reservation: &ir.ReservationUse{Name: "r"}}}
		}, nil},
		{"own reservation", func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{{}, {Reservation: &ir.ReservationUse{Name: "r", Create: true}}}
		}, []string{
			"compute.reservationBlocks.get", "compute.reservationBlocks.list",
			"compute.reservations.create", "compute.reservations.delete", "compute.reservations.get",
			"compute.reservations.list", "compute.reservations.resize", "compute.reservations.update",
		}},
		{"workload policy", func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{{}, {Machine: ir.Machine{PlacementTopology: "1x72"}}}
		}, []string{
			"compute.resourcePolicies.create", "compute.resourcePolicies.delete", "compute.resourcePolicies.get", "compute.resourcePolicies.list",
		}},
		{"workload policy of others", func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{{ComputeClass: true, Machine: ir.Machine{PlacementTopology: "1x72"}}}
		}, nil},
	}
	least := rights(delivery(&ir.Platform{Name: "p"}))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &ir.Platform{Name: "p"}
			tt.with(p)
			var added []string
			for _, right := range rights(delivery(p)) {
				if !slices.Contains(least, right) {
					added = append(added, right)
				}
			}
			if diff := cmp.Diff(tt.adds, added); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
		})
	}
}

func rights(d ir.Delivery) []string {
	return slices.Concat(d.Account.Roles, d.Permissions, d.APIs)
}

func TestDeliveryIsSortedAndNarrow(t *testing.T) {
	p := &ir.Platform{
		Name:       "p",
		Cluster:    ir.Cluster{ImageStreaming: true, Filestore: true},
		Teams:      []ir.Team{{Bucket: "b"}},
		Monitoring: ir.Monitoring{Alerts: []ir.Alert{{}}},
		Capacities: []ir.Capacity{{Reservation: &ir.ReservationUse{Create: true}}},
	}
	d := delivery(p)
	for name, list := range map[string][]string{"roles": d.Account.Roles, "permissions": d.Permissions, "APIs": d.APIs} {
		if !slices.IsSorted(list) {
			t.Errorf("%s are not sorted: %v", name, list)
		}
	}
	for _, role := range d.Account.Roles {
		switch role {
		case "roles/owner", "roles/editor", "roles/resourcemanager.projectIamAdmin", "roles/iam.serviceAccountUser", "roles/compute.admin":
			t.Errorf("the build has %s on the project", role)
		}
		if !strings.HasPrefix(role, "roles/") {
			t.Errorf("%q is no role", role)
		}
	}
}

func TestTeamRoles(t *testing.T) {
	extra := []string{"roles/storage.objectViewer", "roles/logging.logWriter", "roles/aiplatform.user"}
	want := []string{"roles/aiplatform.user", "roles/logging.logWriter", "roles/monitoring.metricWriter", "roles/storage.objectViewer"}
	if diff := cmp.Diff(want, teamRoles(extra, false)); diff != "" {
		t.Errorf("teamRoles (-want +got):\n%s", diff)
	}
	if got := teamRoles(nil, true); !slices.Contains(got, "roles/aiplatform.user") {
		t.Errorf("jobs cannot write to the TensorBoard: %q", got)
	}
	if extra[0] != "roles/storage.objectViewer" {
		t.Errorf("teamRoles changed its argument: %v", extra)
	}
}
