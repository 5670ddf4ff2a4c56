locals {
  team_buckets = { for name, team in var.teams : name => team.bucket if team.bucket != null }
}

# Terraform does not delete a bucket that still holds objects.
resource "google_storage_bucket" "team" {
  for_each                    = local.team_buckets
  name                        = each.value
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  versioning {
    enabled = true
  }

  # Overwritten and deleted objects can be restored for 30 days.
  lifecycle_rule {
    condition {
      days_since_noncurrent_time = 30
    }

    action {
      type = "Delete"
    }
  }
}

resource "google_storage_bucket_iam_member" "team" {
  for_each = local.team_buckets
  bucket   = google_storage_bucket.team[each.key].name
  role     = "roles/storage.objectUser"
  member   = local.team_members[each.key]
}

# Programs that use the bucket as a file system read the bucket's metadata.
resource "google_storage_bucket_iam_member" "team_reader" {
  for_each = local.team_buckets
  bucket   = google_storage_bucket.team[each.key].name
  role     = "roles/storage.legacyBucketReader"
  member   = local.team_members[each.key]
}
