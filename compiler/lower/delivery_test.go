package lower

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

func TestDelivery(t *testing.T) {
	p := &ir.Platform{
		Name:        "a",
		NodeAccount: ir.ServiceAccount{Roles: []string{"roles/artifactregistry.reader"}},
		Teams: []ir.Team{
			{Name: "one", Roles: []string{"roles/logging.logWriter", "roles/storage.objectViewer"}},
			{Name: "two", Roles: []string{"roles/bigquery.user", "roles/logging.logWriter"}},
		},
	}
	p.Delivery.StateBucket = "state"
	got := lowerDelivery(p)
	if got.StateBucket != "state" || got.StatePrefix != "a/terraform" || got.Repository != "a" ||
		got.Account.ID != "a-build" {
		t.Errorf("delivery = %+v", got)
	}
	want := []string{
		"roles/artifactregistry.reader", "roles/bigquery.user", "roles/logging.logWriter", "roles/storage.objectViewer",
	}
	if diff := cmp.Diff(want, got.GrantableRoles); diff != "" {
		t.Errorf("grantable roles (-want +got):\n%s", diff)
	}
}

// TestGroupsAreGrantable holds that the build may let a team's members reach
// the cluster, and nobody where no team has a group.
func TestGroupsAreGrantable(t *testing.T) {
	p := &ir.Platform{
		Teams:   []ir.Team{{Name: "one"}, {Name: "two"}},
		Cluster: ir.Cluster{SecurityGroup: "gke-security-groups@example.com"},
	}
	if got := lowerDelivery(p).GrantableRoles; got != nil {
		t.Errorf("without a group: %q", got)
	}
	p.Teams[0].Group, p.Teams[1].Group = "one@example.com", "two@example.com"
	if got := lowerDelivery(p).GrantableRoles; !slices.Equal(got, []string{ir.MemberRole}) {
		t.Errorf("with groups: %q", got)
	}
	p = &ir.Platform{Teams: []ir.Team{{Name: "one", Members: []string{"user:analyst@example.com"}}}}
	if got := lowerDelivery(p).GrantableRoles; !slices.Equal(got, []string{ir.MemberRole}) {
		t.Errorf("with a member without a group: %q", got)
	}
}

// TestMembersCount holds that each account among the members counts once for each role
// that it gets, however many teams list it, and a group of groups once for all.
func TestMembersCount(t *testing.T) {
	p := &ir.Platform{
		Cluster: ir.Cluster{SecurityGroup: "gke-security-groups@example.com"},
		Teams: []ir.Team{
			{Name: "one", Members: []string{"user:analyst@example.com", "user:builder@example.com"}},
			{Name: "two", Members: []string{"user:analyst@example.com"}},
		},
		Monitoring: ir.Monitoring{MemberRoles: []string{"roles/monitoring.viewer"}},
	}
	without := iamDemand(&ir.Platform{Teams: []ir.Team{{Name: "one"}}})
	if got := iamDemand(p); got.Principals-without.Principals != 4 || got.Groups != 0 {
		t.Errorf("two accounts with two roles: %+v, without them %+v", got, without)
	}
	p.Teams[1].Group = "two@example.com"
	if got := iamDemand(p); got.Principals-without.Principals != 6 || got.Groups != 2 {
		t.Errorf("two accounts and a group with two roles: %+v, without them %+v", got, without)
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
		{
			"team bucket", func(p *ir.Platform) { p.Teams = []ir.Team{{Bucket: "b"}} },
			[]string{"storage.buckets.create", "roles/storage.admin"},
		},
		{"team without bucket", func(p *ir.Platform) { p.Teams = []ir.Team{{}} }, nil},
		{"TensorBoard", func(p *ir.Platform) { p.Monitoring.TensorBoard = "us-central1" }, []string{
			"aiplatform.locations.get", "aiplatform.tensorboards.create", "aiplatform.tensorboards.delete",
			"aiplatform.tensorboards.get",
			"aiplatform.tensorboards.list", "aiplatform.tensorboards.update", "aiplatform.googleapis.com",
		}},
		{"Infrastructure Manager", func(p *ir.Platform) { p.Delivery.InfrastructureManager = true }, []string{
			"roles/config.admin", "roles/config.agent", "config.googleapis.com",
		}},
		{
			"image streaming", func(p *ir.Platform) { p.Cluster.ImageStreaming = true },
			[]string{"containerfilesystem.googleapis.com"},
		},
		{"key", func(p *ir.Platform) { p.Security.KMSKey = "k" }, []string{"cloudkms.googleapis.com"}},
		{"Binary Authorization", func(p *ir.Platform) { p.Security.BinaryAuthorization = true },
			[]string{"binaryauthorization.googleapis.com"}},
		{"posture", func(p *ir.Platform) { p.Security.Posture = true }, []string{"containersecurity.googleapis.com"}},
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
			"compute.resourcePolicies.create", "compute.resourcePolicies.delete", "compute.resourcePolicies.get",
			"compute.resourcePolicies.list",
		}},
		{"workload policy of others", func(p *ir.Platform) {
			p.Capacities = []ir.Capacity{{ComputeClass: true, Machine: ir.Machine{PlacementTopology: "1x72"}}}
		}, nil},
	}
	least := buildRights(lowerDelivery(&ir.Platform{Name: "p"}))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &ir.Platform{Name: "p"}
			tt.with(p)
			var added []string
			for _, right := range buildRights(lowerDelivery(p)) {
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

func buildRights(d ir.Delivery) []string {
	all := slices.Concat(d.Account.Roles, d.Permissions, d.APIs)
	for _, r := range d.NarrowRoles {
		all = append(all, r.Role)
	}
	return all
}

func TestDeliveryIsSortedAndNarrow(t *testing.T) {
	p := &ir.Platform{
		Name:       "p",
		Cluster:    ir.Cluster{ImageStreaming: true, Filestore: true},
		Teams:      []ir.Team{{Bucket: "b"}},
		Capacities: []ir.Capacity{{Reservation: &ir.ReservationUse{Create: true}}},
	}
	d := lowerDelivery(p)
	for name, list := range map[string][]string{
		"roles": d.Account.Roles, "permissions": d.Permissions, "APIs": d.APIs,
	} {
		if !slices.IsSorted(list) {
			t.Errorf("%s are not sorted: %v", name, list)
		}
	}
	for _, role := range d.Account.Roles {
		switch role {
		case "roles/owner", "roles/editor", "roles/resourcemanager.projectIamAdmin", "roles/iam.serviceAccountUser",
			"roles/compute.admin",
			"roles/container.admin", "roles/storage.admin":
			t.Errorf("the build has %s on the project", role)
		}
		if strings.HasPrefix(role, "roles/iam.") {
			t.Errorf("the build administers accounts or roles by %s", role)
		}
		if !strings.HasPrefix(role, "roles/") {
			t.Errorf("%q is no role", role)
		}
	}
}

// TestNarrowRoles holds that the build's widest rights end at its cluster and at
// the teams' buckets.
func TestNarrowRoles(t *testing.T) {
	p := &ir.Platform{
		Name: "a", Project: "p", Region: "r", Cluster: ir.Cluster{Name: "a", Location: "r"},
		Teams: []ir.Team{{Bucket: "p-a-one"}},
	}
	want := []ir.NarrowRole{
		{
			Role: "roles/container.admin", Scope: ir.ClusterScope, Title: "Cluster a",
			Condition: `resource.type != "container.googleapis.com/Cluster" || resource.name == ` +
				`"projects/p/locations/r/clusters/a"` +
				` || resource.name.startsWith("projects/p/locations/r/clusters/a/")`,
		},
		{
			Role: "roles/storage.admin", Scope: ir.BucketScope, Title: "Buckets of the teams of a",
			Condition: `resource.name.startsWith("projects/_/buckets/p-a-")`,
		},
	}
	if diff := cmp.Diff(want, lowerDelivery(p).NarrowRoles); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestBuildAdministersBuckets holds that the build's role on the project reaches every bucket
// of a team, whatever the policy of the bucket says: Terraform sets this policy as a whole.
func TestBuildAdministersBuckets(t *testing.T) {
	b := &schema.Blueprint{Project: "my-project", Name: "a", Scheduler: "kueue", Teams: map[string]schema.Team{
		"one": {Bucket: schema.Bucket{Wanted: true}}, "two-b": {Bucket: schema.Bucket{Wanted: true}}, "none": {},
	}}
	p := &ir.Platform{Name: b.Name, Project: b.Project, Teams: lowerTeams(b, nil, nil, nil)}
	roles := lowerDelivery(p).NarrowRoles
	i := slices.IndexFunc(roles, func(r ir.NarrowRole) bool { return r.Role == "roles/storage.admin" })
	if i < 0 {
		t.Fatalf("the build has no roles/storage.admin on the project: %+v", roles)
	}
	prefix, found := strings.CutPrefix(roles[i].Condition, `resource.name.startsWith("`)
	if prefix, _ = strings.CutSuffix(prefix, `")`); !found {
		t.Fatalf("condition %s", roles[i].Condition)
	}
	for _, team := range p.Teams {
		if name := "projects/_/buckets/" + team.Bucket; team.Bucket != "" && !strings.HasPrefix(name, prefix) {
			t.Errorf("the build does not reach %s by %s", name, roles[i].Condition)
		}
	}
}

// TestNamedBuckets checks that a condition reaches a named bucket and its objects, but no bucket
// whose name begins with that name, and that no condition has too many operators.
func TestNamedBuckets(t *testing.T) {
	p := &ir.Platform{Name: "a", Project: "my-project"}
	for i := range ir.MaxBucketsPerCondition + 1 {
		p.Teams = append(p.Teams, ir.Team{Name: fmt.Sprint("t", i), Bucket: fmt.Sprint("data-", i)})
	}
	roles := slices.DeleteFunc(lowerDelivery(p).NarrowRoles, func(r ir.NarrowRole) bool {
		return r.Role != "roles/storage.admin"
	})
	if len(roles) != 2 || roles[0].Scope != ir.NamedScope {
		t.Fatalf("got %+v, want two conditions on named buckets", roles)
	}
	if n := strings.Count(roles[0].Condition, "||"); n > 12 {
		t.Errorf("the condition has %d operators", n)
	}
	const want = `resource.name == "projects/_/buckets/data-6" || ` +
		`resource.name.startsWith("projects/_/buckets/data-6/")`
	if got := roles[1]; got.Condition != want || !slices.Equal(got.Buckets, []string{"data-6"}) {
		t.Errorf("got %+v, want %s", got, want)
	}
}

// TestExistingClusterCountsTeams holds that in a cluster of others each team counts for each
// role of every job, but an account of somebody else does not.
func TestExistingClusterCountsTeams(t *testing.T) {
	p := &ir.Platform{JobRoles: []string{"roles/a", "roles/b"}}
	p.Cluster.Existing = &ir.ExistingCluster{}
	before := iamDemand(p)
	p.Teams = []ir.Team{{Name: "one"}, {Name: "two"}, {Name: "three", Account: &ir.TeamAccount{Address: "x@y"}}}
	if got := iamDemand(p); got.Principals-before.Principals != 4 {
		t.Errorf("two teams with two roles: %+v, without them %+v", got, before)
	}
}

// TestCustomRoles holds that neither jobs nor members get the right to run anything
// in Vertex AI, and that members change nothing.
func TestCustomRoles(t *testing.T) {
	p := &ir.Platform{Name: "a-b", Project: "p", Monitoring: ir.Monitoring{TensorBoard: "us-central1"}}
	p.Monitoring.MemberRoles = memberRoles(p)
	roles := customRoles(p)
	if len(roles) != 2 || roles[0].ID != "a_b_tensorboard_writer" || roles[1].ID != "a_b_tensorboard_reader" {
		t.Fatalf("roles %+v", roles)
	}
	if !slices.Contains(p.Monitoring.MemberRoles, roles[1].Name("p")) {
		t.Errorf("members have %q", p.Monitoring.MemberRoles)
	}
	kinds := []string{
		"artifacts", "contexts", "executions", "locations", "metadataSchemas", "metadataStores", "tensorboard",
	}
	for _, role := range roles {
		if !slices.IsSorted(role.Permissions) {
			t.Errorf("%s is not sorted", role.ID)
		}
		for _, permission := range role.Permissions {
			name, ok := strings.CutPrefix(permission, "aiplatform.")
			if !ok || !slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(name, kind) }) ||
				strings.HasSuffix(name, ".delete") {
				t.Errorf("%s holds %s", role.ID, permission)
			}
			verb := name[strings.LastIndexByte(name, '.')+1:]
			if role.ID == roles[1].ID &&
				!slices.Contains([]string{
					"get", "list", "read", "batchRead", "queryContextLineageSubgraph", "queryExecutionInputsAndOutputs",
				}, verb) {
				t.Errorf("%s holds %s", role.ID, permission)
			}
		}
	}
}
