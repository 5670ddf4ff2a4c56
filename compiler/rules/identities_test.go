package rules

import "testing"

// TestHandsOver holds which roles no team can have, by family, and that roles of a
// similar name which reach no further than data are left alone.
func TestHandsOver(t *testing.T) {
	for _, role := range []string{
		"roles/owner", "roles/editor", "roles/viewer", "roles/admin",
		"roles/resourcemanager.projectIamAdmin", "roles/resourcemanager.projectMover",
		"roles/iam.serviceAccountAdmin", "roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountUser", "roles/iam.serviceAccountKeyAdmin",
		"roles/iam.serviceAccountOpenIdTokenCreator", "roles/iam.workloadIdentityUser", "roles/iam.securityAdmin", "roles/iam.roleAdmin",
		"roles/container.admin", "roles/container.clusterAdmin", "roles/container.developer", "roles/container.serviceAgent",
		"roles/gkehub.admin", "roles/aiplatform.customCodeServiceAgent",
		"roles/storage.admin", "roles/storage.objectAdmin", "roles/storage.hmacKeyAdmin",
		"roles/compute.admin", "roles/compute.instanceAdmin.v1", "roles/compute.osLogin", "roles/compute.networkAdmin", "roles/compute.securityAdmin",
		"roles/cloudbuild.builds.editor", "roles/cloudbuild.builds.builder",
		"roles/config.admin", "roles/config.agent", "roles/deploymentmanager.editor", "roles/run.admin", "roles/run.developer", "roles/cloudfunctions.developer",
		"roles/serviceusage.serviceUsageAdmin", "roles/secretmanager.admin", "roles/artifactregistry.repoAdmin", "roles/logging.admin",
	} {
		if handsOver(wideRoleFamilies(), role) == "" {
			t.Errorf("a team can have %s", role)
		}
	}
	for _, role := range []string{
		"roles/bigquery.jobUser", "roles/bigquery.dataEditor", "roles/secretmanager.secretAccessor", "roles/artifactregistry.reader",
		"roles/storage.objectViewer", "roles/logging.logWriter", "roles/monitoring.viewer", "roles/pubsub.publisher", "roles/iam.securityReviewer",
		"roles/container.clusterViewer", "roles/run.invoker", "roles/compute.viewer", "roles/serviceusage.serviceUsageConsumer",
		"projects/my-project/roles/admin", "organizations/1/roles/team.editor",
	} {
		if gives := handsOver(wideRoleFamilies(), role); gives != "" {
			t.Errorf("no team can have %s: it gives %s", role, gives)
		}
	}
}
