package rules

import "testing"

// TestHandsOver holds what each family of roles that no team can have gives, and that
// roles of a similar name which reach no further than data are left alone.
func TestHandsOver(t *testing.T) {
	for _, family := range []struct {
		gives string
		roles []string
	}{
		{"permissions on the whole project", []string{"roles/owner", "roles/editor", "roles/viewer", "roles/admin"}},
		{
			"permission to grant any role, or to move and delete projects",
			[]string{"roles/resourcemanager.projectIamAdmin", "roles/resourcemanager.projectMover"},
		},
		{
			"permission to act as other accounts, or to grant roles",
			[]string{
				"roles/iam.serviceAccountAdmin", "roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountUser",
				"roles/iam.serviceAccountKeyAdmin", "roles/iam.serviceAccountOpenIdTokenCreator",
				"roles/iam.workloadIdentityUser", "roles/iam.securityAdmin", "roles/iam.roleAdmin",
			},
		},
		{
			"the permissions of a Google service in the whole project",
			[]string{"roles/container.serviceAgent", "roles/aiplatform.customCodeServiceAgent"},
		},
		{
			"access to every namespace of every cluster, regardless of Kubernetes RBAC",
			[]string{"roles/container.admin", "roles/container.clusterAdmin", "roles/container.developer"},
		},
		{"access to every cluster of the fleet, regardless of Kubernetes RBAC", []string{"roles/gkehub.admin"}},
		{
			"access to the buckets of all teams and to the Terraform state",
			[]string{"roles/storage.admin", "roles/storage.objectAdmin", "roles/storage.hmacKeyAdmin"},
		},
		{
			"permission to create machines without a queue, or to log in to nodes",
			[]string{"roles/compute.admin", "roles/compute.instanceAdmin.v1", "roles/compute.osLogin"},
		},
		{
			"control of the networks, firewalls or disks of the whole project",
			[]string{"roles/compute.networkAdmin", "roles/compute.securityAdmin"},
		},
		{
			"permission to run builds as the account that builds the platform",
			[]string{"roles/cloudbuild.builds.editor", "roles/cloudbuild.builds.builder"},
		},
		{
			"permission to run deployments as other accounts",
			[]string{"roles/config.admin", "roles/config.agent", "roles/deploymentmanager.editor"},
		},
		{
			"permission to run programs as other accounts",
			[]string{"roles/run.admin", "roles/run.developer", "roles/cloudfunctions.developer"},
		},
		{
			"permission to disable the services that the platform needs",
			[]string{"roles/serviceusage.serviceUsageAdmin"},
		},
		{
			"full control of one service in the whole project",
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
