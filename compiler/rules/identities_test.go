package rules

import "testing"

// TestHandsOver holds what each family of roles that no team can have gives, and that
// roles of a similar name which reach no further than data are left alone.
func TestHandsOver(t *testing.T) {
	for _, family := range []struct {
		gives string
		roles []string
	}{
		{"rights over the whole project", []string{"roles/owner", "roles/editor", "roles/viewer", "roles/admin"}},
		{
			"the right to grant any role, or to move and delete projects",
			[]string{"roles/resourcemanager.projectIamAdmin", "roles/resourcemanager.projectMover"},
		},
		{
			"the way to the rights of other accounts and to new rights",
			[]string{
				"roles/iam.serviceAccountAdmin", "roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountUser",
				"roles/iam.serviceAccountKeyAdmin", "roles/iam.serviceAccountOpenIdTokenCreator",
				"roles/iam.workloadIdentityUser", "roles/iam.securityAdmin", "roles/iam.roleAdmin",
			},
		},
		{
			"the rights of a Google service in the whole project",
			[]string{"roles/container.serviceAgent", "roles/aiplatform.customCodeServiceAgent"},
		},
		{
			"every namespace of every cluster, past Kubernetes RBAC",
			[]string{"roles/container.admin", "roles/container.clusterAdmin", "roles/container.developer"},
		},
		{"every cluster of the fleet, past Kubernetes RBAC", []string{"roles/gkehub.admin"}},
		{
			"the buckets of all teams and the Terraform state",
			[]string{"roles/storage.admin", "roles/storage.objectAdmin", "roles/storage.hmacKeyAdmin"},
		},
		{
			"machines past every queue, and a way into the nodes",
			[]string{"roles/compute.admin", "roles/compute.instanceAdmin.v1", "roles/compute.osLogin"},
		},
		{
			"the networks, firewalls or disks of the whole project",
			[]string{"roles/compute.networkAdmin", "roles/compute.securityAdmin"},
		},
		{
			"builds, which can run as the account that builds the platform",
			[]string{"roles/cloudbuild.builds.editor", "roles/cloudbuild.builds.builder"},
		},
		{
			"deployments, which act with the rights of other accounts",
			[]string{"roles/config.admin", "roles/config.agent", "roles/deploymentmanager.editor"},
		},
		{
			"programs that run as other accounts",
			[]string{"roles/run.admin", "roles/run.developer", "roles/cloudfunctions.developer"},
		},
		{
			"the right to switch off the services that the platform runs on",
			[]string{"roles/serviceusage.serviceUsageAdmin"},
		},
		{
			"everything of its service in the whole project",
			[]string{"roles/secretmanager.admin", "roles/artifactregistry.repoAdmin", "roles/logging.admin"},
		},
	} {
		for _, role := range family.roles {
			if gives := handsOver(wideRoleFamilies(), role); gives != family.gives {
				t.Errorf("%s gives %q, want %q", role, gives, family.gives)
			}
		}
	}
	for _, role := range []string{
		"roles/bigquery.jobUser", "roles/bigquery.dataEditor", "roles/secretmanager.secretAccessor",
		"roles/artifactregistry.reader",
		"roles/storage.objectViewer", "roles/logging.logWriter", "roles/monitoring.viewer", "roles/pubsub.publisher",
		"roles/iam.securityReviewer",
		"roles/container.clusterViewer", "roles/run.invoker", "roles/compute.viewer",
		"roles/serviceusage.serviceUsageConsumer",
		"projects/my-project/roles/admin", "organizations/1/roles/team.editor",
	} {
		if gives := handsOver(wideRoleFamilies(), role); gives != "" {
			t.Errorf("no team can have %s: it gives %s", role, gives)
		}
	}
}
