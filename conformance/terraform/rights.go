package terraform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// readPermissions are the permissions that the provider's read of a resource
// needs, by type. The provider reads after every create and update, and in every
// plan, apply and destroy: without one of them nothing can be built, changed or
// destroyed any more.
//
// Source: the read function of each resource, in google/services of
// hashicorp/terraform-provider-google, and what the API's reference says that each
// call needs. Two calls are easily missed: the read of a cluster and of a node pool
// lists the instance group managers of its zones, for the number of nodes
// (flattenNodePool), and the read of a reservation lists its blocks (post_read of
// the template compute_reservetion.go.tmpl of GoogleCloudPlatform/magic-modules).
var readPermissions = map[string][]string{
	"google_compute_firewall":          {"compute.firewalls.get"},
	"google_compute_network":           {"compute.networks.get"},
	"google_compute_reservation":       {"compute.reservations.get", "compute.reservationBlocks.list"},
	"google_compute_resource_policy":   {"compute.resourcePolicies.get"},
	"google_compute_router":            {"compute.routers.get"},
	"google_compute_router_nat":        {"compute.routers.get"},
	"google_compute_subnetwork":        {"compute.subnetworks.get"},
	"google_container_cluster":         {"container.clusters.get", "compute.instanceGroupManagers.list"},
	"google_container_node_pool":       {"container.clusters.get", "compute.instanceGroupManagers.list"},
	"google_monitoring_alert_policy":   {"monitoring.alertPolicies.get"},
	"google_monitoring_dashboard":      {"monitoring.dashboards.get"},
	"google_project_iam_binding":       {"resourcemanager.projects.getIamPolicy"},
	"google_project_iam_member":        {"resourcemanager.projects.getIamPolicy"},
	"google_storage_bucket":            {"storage.buckets.get"},
	"google_storage_bucket_iam_member": {"storage.buckets.getIamPolicy"},
	"google_storage_bucket_iam_policy": {"storage.buckets.getIamPolicy"},
	"google_vertex_ai_tensorboard":     {"aiplatform.tensorboards.get"},
}

// rolePermissions are the permissions of readPermissions that a predefined role
// contains.
//
// Source: IAM documentation, "IAM roles and permissions index".
var rolePermissions = map[string][]string{
	"roles/compute.networkAdmin": {
		"compute.firewalls.get", "compute.instanceGroupManagers.list", "compute.networks.get", "compute.routers.get",
		"compute.subnetworks.get",
	},
	"roles/container.admin":                 {"container.clusters.get"},
	"roles/monitoring.alertPolicyEditor":    {"monitoring.alertPolicies.get"},
	"roles/monitoring.dashboardEditor":      {"monitoring.dashboards.get"},
	"roles/resourcemanager.projectIamAdmin": {"resourcemanager.projects.getIamPolicy"},
	"roles/storage.admin":                   {"storage.buckets.get", "storage.buckets.getIamPolicy"},
}

// rights are the permissions of the account that runs Terraform.
type rights []string

var (
	scriptList     = regexp.MustCompile(`(?ms)^(\w+)=\(\n(.*?)^\)$`)
	scriptElement  = regexp.MustCompile(`(?m)^  '(.*)'$`)
	permissionName = regexp.MustCompile(`[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+`)
)

// readRights returns the permissions that create-platform.sh gives to the build: by
// the lists of roles and of permissions in the script, and by the role to
// administer the project's policy, which the script grants with a condition.
func readRights(script string) rights {
	roles := []string{"roles/resourcemanager.projectIamAdmin"}
	var out rights
	for _, list := range scriptList.FindAllStringSubmatch(script, -1) {
		for _, element := range scriptElement.FindAllStringSubmatch(list[2], -1) {
			switch {
			case strings.HasSuffix(list[1], "ROLES"):
				roles = append(roles, element[1])
			case strings.HasSuffix(list[1], "PERMISSIONS"):
				out = append(out, permissionName.FindAllString(element[1], -1)...)
			}
		}
	}
	for _, role := range roles {
		out = append(out, rolePermissions[role]...)
	}
	return out
}

// read returns the error of the provider's read of a resource with these rights, or
// nil.
func (r rights) read(kind string) error {
	needed, ok := readPermissions[kind]
	if !ok {
		return fmt.Errorf("%s: which permissions its read needs is not in readPermissions", kind)
	}
	for _, permission := range needed {
		if !slices.Contains(r, permission) {
			return fmt.Errorf("error reading %s: googleapi: Error 403: Required '%s' permission, forbidden", kind,
				permission)
		}
	}
	return nil
}
