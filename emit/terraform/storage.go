package terraform

import (
	"slices"

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

func writeStorage(b *body, p *ir.Platform) {
	if !p.HasBuckets() {
		return
	}
	b.block("locals").setExpr("team_buckets",
		"{ for name, team in var.teams : name => team.bucket if team.bucket != null }")

	b.note("Terraform does not delete a bucket that still holds objects.")
	bucket := b.resource("google_storage_bucket", "team")
	bucket.setExpr("for_each", "local.team_buckets")
	bucket.setExpr("name", "each.value")
	bucket.setExpr("location", "var.region")
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

	member := b.resource("google_storage_bucket_iam_member", "team")
	member.setExpr("for_each", "local.team_buckets")
	member.setExpr("bucket", "google_storage_bucket.team[each.key].name")
	member.setString("role", "roles/storage.objectUser")
	member.setExpr("member", "local.team_members[each.key]")

	b.note("Programs that use the bucket as a file system read the bucket's metadata.")
	reader := b.resource("google_storage_bucket_iam_member", "team_reader")
	reader.setExpr("for_each", "local.team_buckets")
	reader.setExpr("bucket", "google_storage_bucket.team[each.key].name")
	reader.setString("role", "roles/storage.legacyBucketReader")
	reader.setExpr("member", "local.team_members[each.key]")

	if !nodesListBuckets(p) {
		return
	}
	nodes := b.resource("google_storage_bucket_iam_member", "nodes_reader")
	nodes.setExpr("for_each", "{ for name, team in var.teams : name => team.bucket if team.nodes_list_bucket }")
	nodes.setExpr("bucket", "google_storage_bucket.team[each.key].name")
	nodes.setString("role", "roles/storage.legacyBucketReader")
	nodes.setExpr("member", nodeMember)
}
