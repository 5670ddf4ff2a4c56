package terraform

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// nodesListBuckets reports whether nodes list the bucket of any team.
func nodesListBuckets(p *ir.Platform) bool {
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.NodesListBucket })
}

// labelsBuckets reports whether the bucket of any team has labels of the team.
func labelsBuckets(p *ir.Platform) bool {
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Bucket != "" && len(t.Labels) > 0 })
}

// writeStorage writes the teams' buckets and their policies: two resources for each team
// that has a bucket. Every resource takes the provider a request in every plan.
//
// The policy replaces everything that the bucket's policy held, also the bindings with
// which Cloud Storage creates a bucket: project owners, editors and viewers get legacy
// roles on it (Cloud Storage documentation, "IAM roles for Cloud Storage", basic roles).
// Owners keep their roles, because they can grant themselves every role anyway, and empty
// a bucket before it is deleted.
//
// The policy cannot lock out the build: its roles/storage.admin is a role on the project,
// which every bucket inherits, and no policy of a bucket can revoke an inherited role
// (IAM documentation, "Resource hierarchy"). The condition on the role covers the names of
// all teams' buckets, which a test of compiler/lower holds.
//
// The policy is JSON of its own and not data.google_iam_policy, which would be one data
// source more for each bucket. The provider compares bindings and members as sets
// (hashicorp/terraform-provider-google, google/tpgiamresource/resource_iam_policy.go:
// jsonPolicyDiffSuppress).
func writeStorage(b *body, p *ir.Platform) {
	if !p.HasBuckets() {
		return
	}
	b.block("locals").setExpr("team_buckets",
		"{ for name, team in var.teams : name => team.bucket if team.bucket != null }")

	deletes := len(p.BucketsWithData(true)) > 0
	if deletes {
		b.note("Terraform does not delete a bucket that still holds objects, unless the team has",
			"delete_bucket_data.")
	} else {
		b.note("Terraform does not delete a bucket that still holds objects.")
	}
	bucket := b.resource("google_storage_bucket", "team")
	bucket.setExpr("for_each", "local.team_buckets")
	bucket.setExpr("name", "each.value")
	bucket.setExpr("location", "var.region")
	if deletes {
		bucket.setExpr("force_destroy", "var.teams[each.key].delete_bucket_data")
	}
	bucket.setBool("uniform_bucket_level_access", true)
	bucket.setString("public_access_prevention", "enforced")
	if labelsBuckets(p) {
		bucket.setExpr("labels", "var.teams[each.key].labels")
	}
	bucket.block("versioning").setBool("enabled", true)
	bucket.note("Overwritten and deleted objects can be restored for 30 days.")
	rule := bucket.block("lifecycle_rule")
	rule.block("condition").setNumber("days_since_noncurrent_time", 30)
	rule.block("action").setString("type", "Delete")

	b.note("Everybody who may use the bucket. The next apply revokes every other role on it. Roles on",
		"the project, such as the build's, hold on the bucket too: no policy of the bucket can",
		"revoke them.")
	policy := b.resource("google_storage_bucket_iam_policy", "team")
	policy.setExpr("for_each", "local.team_buckets")
	policy.setExpr("bucket", "google_storage_bucket.team[each.key].name")
	policy.setExpr("policy_data", bucketPolicy(p))
	if p.Delivery.InfrastructureManager {
		policy.note("A grant that is deleted after the policy is set would be missing in it.")
		policy.setExpr("depends_on", "[\n"+formerGrants("  google_storage_bucket_iam_member.", ",\n")+"]")
	}
	forgetGrants(b, p)
}

// bucketPolicy returns an expression for the policy of a team's bucket.
func bucketPolicy(p *ir.Platform) constant {
	readers := constant("[local.team_members[each.key]]")
	if nodesListBuckets(p) {
		readers = `concat(
        [local.team_members[each.key]],
        var.teams[each.key].nodes_list_bucket ? [` + nodeMember + `] : [],
      )`
	}
	return `jsonencode({
  bindings = [
    {
      role    = "roles/storage.objectUser"
      members = [local.team_members[each.key]]
    },
    {
      # Programs that use the bucket as a file system read the bucket's metadata.
      role    = "roles/storage.legacyBucketReader"
      members = ` + readers + `
    },
    {
      role    = "roles/storage.legacyBucketOwner"
      members = ["projectOwner:${var.project_id}"]
    },
    {
      role    = "roles/storage.legacyObjectOwner"
      members = ["projectOwner:${var.project_id}"]
    },
  ]
})`
}

// formerGrants joins the names of the resources that granted roles on buckets in earlier
// folders, one resource for each role and principal. Each name follows the text before, and
// precedes the text after.
func formerGrants(before, after constant) constant {
	return before + "team" + after + before + "team_reader" + after + before + "nodes_reader" + after
}

// forgetGrants lets the state of a platform that an earlier folder has built lose the
// resources that granted roles on buckets. If Terraform destroyed one of them after it has
// set the policy of the bucket, the grant would be missing in the policy.
//
// Terraform forgets them: the policy contains their grants, so nobody loses a right. The
// Terraform of Infrastructure Manager cannot forget a resource, because removed blocks
// came with version 1.7. There the resources stay with no instance, and the policies
// depend on them: Terraform creates a resource after it has destroyed the instances on
// which the resource depends (hashicorp/terraform 1.5.7,
// internal/terraform/transform_destroy_edge.go).
func forgetGrants(b *body, p *ir.Platform) {
	names := strings.Fields(string(formerGrants("", " ")))
	if p.Delivery.InfrastructureManager {
		b.note("In earlier folders these resources granted the roles that the policies grant. They must",
			"stay, without instances, until every state has lost them.")
	} else {
		b.note("In earlier folders these resources granted the roles that the policies grant. Terraform",
			"forgets them without revoking a role.")
	}
	for _, name := range names {
		if p.Delivery.InfrastructureManager {
			grant := b.resource("google_storage_bucket_iam_member", name)
			grant.setExpr("for_each", "{}")
			grant.setExpr("bucket", "each.key")
			grant.setString("role", "roles/storage.legacyBucketReader")
			grant.setExpr("member", "each.key")
			continue
		}
		removed := b.block("removed")
		removed.setTokens("from", traversalTokens("google_storage_bucket_iam_member", name))
		removed.block("lifecycle").setBool("destroy", false)
	}
}
