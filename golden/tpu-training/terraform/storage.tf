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

# Everybody who may use the bucket. The next apply revokes every other role on it. Roles on
# the project, such as the build's, hold on the bucket too: no policy of the bucket can
# revoke them.
resource "google_storage_bucket_iam_policy" "team" {
  for_each = local.team_buckets
  bucket   = google_storage_bucket.team[each.key].name
  policy_data = jsonencode({
    bindings = [
      {
        role    = "roles/storage.objectUser"
        members = [local.team_members[each.key]]
      },
      {
        # Programs that use the bucket as a file system read the bucket's metadata.
        role = "roles/storage.legacyBucketReader"
        members = concat(
          [local.team_members[each.key]],
          var.teams[each.key].nodes_list_bucket ? ["serviceAccount:${var.node_account}"] : [],
        )
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
  })
}

# In earlier folders these resources granted the roles that the policies grant. Terraform
# forgets them without revoking a role.
removed {
  from = google_storage_bucket_iam_member.team

  lifecycle {
    destroy = false
  }
}

removed {
  from = google_storage_bucket_iam_member.team_reader

  lifecycle {
    destroy = false
  }
}

removed {
  from = google_storage_bucket_iam_member.nodes_reader

  lifecycle {
    destroy = false
  }
}
