package terraform

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manyTeams is a blueprint with the teams team-0, team-1 and so on, whose fields an overlay
// adds.
const manyTeams = `package platform

name:    "many"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]
hardware: l4: machine: "g2-standard-24"
capacity: l4: {hardware: "l4", consumption: spot: {}, maxNodes: 4}
tiers: batch: {priority: 10, capacity: ["l4"], shared: {}}
monitoring: openToMembers: true
`

// clusters are the owners of the cluster, as overlays of manyTeams.
var clusters = map[string]string{
	"own": "tiers: batch: default: true\n",
	"existing": `cluster: existing: {
	name:    "prod"
	version: "1.34"
	kueue: version: "0.19.2"
	jobset: version: "0.12.0"
}
`,
}

// TestResourcesOfTeams holds that a team with a bucket adds two resources, the bucket and its
// policy, and a team without one adds none, in a cluster of the platform and in a cluster
// that others own: the provider asks Google Cloud for every resource in every plan. The
// members and the roles of teams cost a resource for each role, however many teams have it.
func TestResourcesOfTeams(t *testing.T) {
	t.Parallel()
	const few, more = 2, 4
	const roles = `roles: ["roles/bigquery.jobUser", "roles/pubsub.viewer"]`
	for _, team := range []struct {
		name, fields string
		each         int
	}{
		{"plain", "", 0},
		{"members", `members: ["user:member-\(i)@example.com"], ` + roles, 0},
		{"account", `serviceAccount: "wi-team-\(i)", ` + roles, 0},
		{"account of others", `serviceAccount: "research-\(i)@other-project.iam.gserviceaccount.com"`, 0},
		{"bucket", "bucket: true", 2},
		{
			"all", `bucket: true, nodesListBucket: true, serviceAccount: "wi-team-\(i)", labels: owner: "t\(i)", ` +
				`members: ["user:member-\(i)@example.com"], ` + roles, 2,
		},
	} {
		for owner, cluster := range clusters {
			t.Run(team.name+"/"+owner, func(t *testing.T) {
				count := func(teams int) map[string]int {
					var list strings.Builder
					for i := range teams {
						fmt.Fprintf(&list, "teams: \"team-%d\": {%s}\n", i,
							strings.ReplaceAll(team.fields, `\(i)`, fmt.Sprint(i)))
					}
					file := filepath.Join(t.TempDir(), "platform.cue")
					write(t, file, manyTeams+cluster+list.String())
					r := open(t, file)
					r.prepare(t)
					first := r.plan(t, "plan")
					if len(first.said) > 0 {
						t.Fatal(first.said)
					}
					return first.kinds()
				}
				fewer, got := count(few), count(more)
				for kind, n := range fewer {
					if got[kind] -= n; got[kind] == 0 {
						delete(got, kind)
					}
				}
				want := map[string]int{}
				if team.each > 0 {
					want["google_storage_bucket"] = more - few
					want["google_storage_bucket_iam_policy"] = more - few
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%d teams more (-want +got):\n%s", more-few, d)
				}
			})
		}
	}
}

// formerStorage and formerIdentities are the grants of an earlier folder, one resource for
// each role and principal. Policies of buckets and bindings of roles replace them.
const (
	formerStorage = `
resource "google_storage_bucket_iam_member" "team" {
  for_each = local.team_buckets
  bucket   = google_storage_bucket.team[each.key].name
  role     = "roles/storage.objectUser"
  member   = local.team_members[each.key]
}

resource "google_storage_bucket_iam_member" "team_reader" {
  for_each = local.team_buckets
  bucket   = google_storage_bucket.team[each.key].name
  role     = "roles/storage.legacyBucketReader"
  member   = local.team_members[each.key]
}

resource "google_storage_bucket_iam_member" "nodes_reader" {
  for_each = { for name, team in var.teams : name => team.bucket if team.nodes_list_bucket }
  bucket   = google_storage_bucket.team[each.key].name
  role     = "roles/storage.legacyBucketReader"
  member   = "serviceAccount:${var.node_account}"
}
`
	formerIdentities = `
resource "google_project_iam_member" "team" {
  for_each = local.team_grants
  project  = var.project_id
  role     = each.value.role
  member   = local.team_members[each.value.team]
}
`
	formerJobs = `
resource "google_project_iam_member" "jobs" {
  for_each = {
    for pair in setproduct(local.job_roles, keys(var.teams)) : "${pair[0]} ${pair[1]}" => pair
  }
  project = var.project_id
  role    = each.value[0]
  member  = local.team_members[each.value[1]]
}

resource "google_project_iam_member" "viewer_accounts" {
  for_each = toset(var.member_accounts)
  project  = var.project_id
  role     = "roles/monitoring.viewer"
  member   = each.key

  condition {
    title      = "Members of ${var.platform}"
    expression = "request.time > timestamp(\"2000-01-01T00:00:00Z\")"
  }
}
`
)

// TestFormerGrants builds a platform with the grants of an earlier folder, and then with the
// folder. A new platform must then have the same policies of the bucket and of the
// project, although Google Cloud is slow to revoke: no former grant may be revoked after
// Terraform has set what replaces it. Only where Terraform cannot forget a resource, because
// it is older than 1.7, it destroys the former grants of the bucket.
func TestFormerGrants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		form, storage, identities string
		want                      []string
	}{
		{ofOthers, "", formerJobs, []string{
			"create google_project_iam_binding.member_accounts", "create google_project_iam_binding.team",
			"create google_project_iam_binding.viewer_accounts", "create google_project_iam_member.members",
			"create google_project_iam_member.viewers", "delete google_project_iam_member.jobs",
			"delete google_project_iam_member.viewer_accounts",
		}},
		{"tpu-training", formerStorage, formerIdentities, []string{
			"create google_project_iam_binding.team", "create google_storage_bucket_iam_policy.team",
			"delete google_project_iam_member.team", "remove google_storage_bucket_iam_member.nodes_reader",
			"remove google_storage_bucket_iam_member.team", "remove google_storage_bucket_iam_member.team_reader",
		}},
		{managed, formerStorage, formerIdentities, []string{
			"create google_project_iam_binding.team", "create google_storage_bucket_iam_policy.team",
			"delete google_project_iam_member.team", "delete google_storage_bucket_iam_member.nodes_reader",
			"delete google_storage_bucket_iam_member.team", "delete google_storage_bucket_iam_member.team_reader",
		}},
	} {
		t.Run(test.form, func(t *testing.T) {
			r := open(t, test.form)
			r.prepare(t)
			r.create(t)
			fresh := r.cloud.policies

			r = open(t, test.form)
			r.prepare(t)
			is := map[string]string{}
			for file, change := range map[string][2]string{
				"storage.tf":    {"\n# Everybody who may use the bucket.", test.storage},
				"identities.tf": {"\nresource \"google_project_iam_binding\"", test.identities},
			} {
				if change[1] != "" {
					name := filepath.Join(r.dir, file)
					is[name] = read(t, name)
					write(t, name, cut(t, is[name], change[0])+change[1])
				}
			}
			r.create(t)
			for name, content := range is {
				write(t, name, content)
			}
			r.cloud.slow = []string{"google_project_iam_member", "google_storage_bucket_iam_member"}
			planned := r.plan(t, "plan")
			var got []string
			for address, action := range planned.actions {
				name, _, _ := strings.Cut(address, "[")
				if what := action + " " + name; !slices.Contains(got, what) {
					got = append(got, what)
				}
			}
			slices.Sort(got)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("terraform plans (-want +got):\n%s", d)
			}
			r.must(t, "apply", "-auto-approve", "-input=false")
			if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
				t.Errorf("a second apply would do %v, and terraform says %q", again.actions, again.said)
			}
			if d := cmp.Diff(fresh, r.cloud.policies); d != "" {
				t.Errorf("grants (-of a new platform +of this):\n%s", d)
			}
		})
	}
}

// cut returns the text before a line, which it must have.
func cut(t *testing.T, text, line string) string {
	t.Helper()
	before, _, found := strings.Cut(text, line)
	if !found {
		t.Fatalf("no %q in\n%s", line, text)
	}
	return before
}
