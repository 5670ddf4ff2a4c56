package terraform

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestBucketPolicies holds that the policy of a team's bucket gives roles to the team's jobs,
// to the nodes if they list the bucket, and to the owners of the project, and to nobody else:
// the policy replaces everything else on the bucket.
func TestBucketPolicies(t *testing.T) {
	files := emitFiles(t, editedPlan(func(p *ir.Platform) {
		for i := range p.Teams {
			p.Teams[i].Bucket = "my-project-x-" + p.Teams[i].Name
			p.Teams[i].NodesListBucket = i == 0
		}
	}))
	source := flatBlock(t, files, "storage.tf", "google_storage_bucket_iam_policy", "team")["policy_data"]
	expression, diags := hclsyntax.ParseExpression([]byte(source), "storage.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	const jobs, owners = "principal://pool/subject/jobs", "projectOwner:my-project"
	for lists, want := range map[bool][]string{
		false: {
			"roles/storage.legacyBucketOwner " + owners, "roles/storage.legacyBucketReader " + jobs,
			"roles/storage.legacyObjectOwner " + owners, "roles/storage.objectUser " + jobs,
		},
		true: {
			"roles/storage.legacyBucketOwner " + owners, "roles/storage.legacyBucketReader " + jobs,
			"roles/storage.legacyBucketReader serviceAccount:nodes@x", "roles/storage.legacyObjectOwner " + owners,
			"roles/storage.objectUser " + jobs,
		},
	} {
		object := func(key string, v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{key: v}) }
		v, diags := expression.Value(&hcl.EvalContext{
			Variables: map[string]cty.Value{
				"each":  object("key", cty.StringVal("a")),
				"local": object("team_members", object("a", cty.StringVal(jobs))),
				"var": cty.ObjectVal(map[string]cty.Value{
					"project_id": cty.StringVal("my-project"), "node_account": cty.StringVal("nodes@x"),
					"teams": object("a", object("nodes_list_bucket", cty.BoolVal(lists))),
				}),
			},
			Functions: map[string]function.Function{"concat": stdlib.ConcatFunc, "jsonencode": stdlib.JSONEncodeFunc},
		})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var policy struct {
			Bindings []struct {
				Role    string
				Members []string
			}
		}
		if err := json.Unmarshal([]byte(v.AsString()), &policy); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range policy.Bindings {
			for _, member := range b.Members {
				got = append(got, b.Role+" "+member)
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("nodes list the bucket: %t (-want +got)\n%s", lists, d)
		}
	}
}

// TestFormerBucketGrants holds that Terraform forgets the grants of earlier folders, or
// destroys them before it sets a policy if it is too old to forget a resource. Package
// terraform of conformance applies both.
func TestFormerBucketGrants(t *testing.T) {
	for _, managed := range []bool{false, true} {
		files := emitFiles(t, editedPlan(func(p *ir.Platform) { p.Delivery.InfrastructureManager = managed }))
		for _, name := range []string{"team", "team_reader", "nodes_reader"} {
			address, text := "google_storage_bucket_iam_member."+name, string(files["storage.tf"])
			forgets := strings.Contains(text,
				"removed {\n  from = "+address+"\n\n  lifecycle {\n    destroy = false\n")
			depends := strings.Contains(
				flatBlock(t, files, "storage.tf", "google_storage_bucket_iam_policy", "team")["depends_on"],
				address+",")
			stays := strings.Contains(text,
				`resource "google_storage_bucket_iam_member" "`+name+"\" {\n  for_each = {}\n")
			if forgets == managed || depends != managed || stays != managed {
				t.Errorf("managed %t, %s: forgotten %t, awaited %t, declared %t", managed, address, forgets,
					depends, stays)
			}
		}
	}
}

// TestRolesOfTeams holds which teams' jobs get a role in a cluster that others own: every
// team's principal without a Google service account gets the roles of every job, an account
// of the platform has them among its own, and an account of somebody else gets none.
func TestRolesOfTeams(t *testing.T) {
	for _, test := range []struct {
		name  string
		edit  func(p *ir.Platform)
		lines []string
	}{
		{"no account", func(*ir.Platform) {}, []string{
			`for role in local.job_roles : "${name}/${role}" => { team = name, role = role }`,
			"role_members = { for grant in local.job_grants : grant.role => local.team_members[grant.team]... }",
		}},
		{"an account and roles", func(p *ir.Platform) {
			p.Teams[0].Account = &ir.TeamAccount{ID: "wi"}
			p.Teams[0].Roles = []string{"roles/logging.logWriter", "roles/pubsub.viewer"}
		}, []string{
			`for role in local.job_roles : "${name}/${role}" => { team = name, role = role } if team.account == null`,
			`for role in team.roles : "${name}/${role}" => { team = name, role = role }`,
			"role_members = { for grant in merge(local.job_grants, local.team_grants) : " +
				"grant.role => local.team_members[grant.team]... }",
		}},
		{"accounts of others", func(p *ir.Platform) {
			for i := range p.Teams {
				p.Teams[i].Account = &ir.TeamAccount{Address: "a@b.iam.gserviceaccount.com"}
			}
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := editedPlan(func(p *ir.Platform) {
				p.Cluster.Existing = &ir.ExistingCluster{}
				p.JobRoles = []string{"roles/logging.logWriter"}
				for i := range p.Teams {
					p.Teams[i].Account, p.Teams[i].Roles = nil, nil
				}
				test.edit(p)
			})
			text := string(emitFiles(t, p)["identities.tf"])
			for _, line := range test.lines {
				if !strings.Contains(text, line+"\n") {
					t.Errorf("no line %s in\n%s", line, text)
				}
			}
			granted := strings.Contains(text, `"google_project_iam_binding" "team"`)
			if granted != (test.lines != nil) {
				t.Errorf("roles are granted: %t", granted)
			}
		})
	}
}
