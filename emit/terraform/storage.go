package terraform

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// nodesListBuckets reports whether nodes list the bucket of any team.
func nodesListBuckets(p *ir.Platform) bool {
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.NodesListBucket })
}

func storage(b *body, p *ir.Platform) {
	if !p.HasBuckets() {
		return
	}
	b.block("locals").expr("team_buckets",
		"{ for name, team in var.teams : name => team.bucket if team.bucket != null }")

	b.note("Terraform does not delete a bucket that holds anything.")
	bucket := b.resource("google_storage_bucket", "team")
	bucket.expr("for_each", "local.team_buckets")
	bucket.expr("name", "each.value")
	bucket.expr("location", "var.region")
	bucket.flag("uniform_bucket_level_access", true)
	bucket.text("public_access_prevention", "enforced")
	bucket.block("versioning").flag("enabled", true)
	bucket.note("Overwritten and deleted objects can be had back for 30 days.")
	rule := bucket.block("lifecycle_rule")
	rule.block("condition").number("days_since_noncurrent_time", 30)
	rule.block("action").text("type", "Delete")

	member := b.resource("google_storage_bucket_iam_member", "team")
	member.expr("for_each", "local.team_buckets")
	member.expr("bucket", "google_storage_bucket.team[each.key].name")
	member.text("role", "roles/storage.objectUser")
	member.expr("member", "local.team_members[each.key]")

	b.note("Programs that take a bucket for a file system ask what the bucket is.")
	reader := b.resource("google_storage_bucket_iam_member", "team_reader")
	reader.expr("for_each", "local.team_buckets")
	reader.expr("bucket", "google_storage_bucket.team[each.key].name")
	reader.text("role", "roles/storage.legacyBucketReader")
	reader.expr("member", "local.team_members[each.key]")

	if !nodesListBuckets(p) {
		return
	}
	nodes := b.resource("google_storage_bucket_iam_member", "nodes_reader")
	nodes.expr("for_each", "{ for name, team in var.teams : name => team.bucket if team.nodes_list_bucket }")
	nodes.expr("bucket", "google_storage_bucket.team[each.key].name")
	nodes.text("role", "roles/storage.legacyBucketReader")
	nodes.expr("member", nodeMember)
}
