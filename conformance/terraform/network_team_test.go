package terraform

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNetworkTeam validates and plans the root for the owners of an existing network. The
// numbers are counted by hand: a rule for webhooks and one for the gVNIC network, and
// three more where egress is denied; three members for each of ten subnets.
func TestNetworkTeam(t *testing.T) {
	t.Parallel()
	r := open(t, "shared-vpc")
	r.dir = filepath.Join(filepath.Dir(r.dir), "network-team")
	r.prepare(t)
	number := "-var=platform_number=123456789012"
	want := map[string]int{
		"google_compute_firewall": 2, "google_compute_subnetwork_iam_member": 30, "google_project_iam_member": 1,
		"google_project_service": 2,
	}
	got := r.plan(t, "plan", number)
	if d := cmp.Diff(want, got.kinds()); len(got.said) > 0 || d != "" {
		t.Errorf("terraform says %q and plans (-by hand +planned):\n%s", got.said, d)
	}
	want["google_compute_firewall"] = 5
	got = r.plan(t, "plan", number, "-var=egress_is_denied=true", "-var=rule_prefix=other")
	if d := cmp.Diff(want, got.kinds()); len(got.said) > 0 || d != "" {
		t.Errorf("with denied egress terraform says %q and plans (-by hand +planned):\n%s", got.said, d)
	}
	if got := r.plan(t, "plan", "-var=platform_number=my-project"); len(got.said) != 1 ||
		!strings.Contains(got.said[0], "A project number has only digits.") {
		t.Errorf("for the ID of a project terraform says %q", got.said)
	}
}

// TestUnreadableSubnet checks that a subnet that Terraform cannot read stops the plan with
// the permission that is missing.
func TestUnreadableSubnet(t *testing.T) {
	t.Parallel()
	r := open(t, "shared-vpc")
	r.prepare(t)
	r.cloud.Lock()
	r.cloud.unreadable = "google_compute_subnetwork"
	r.cloud.Unlock()
	got := r.plan(t, "plan")
	const refused = "error: googleapi: Error 403: Required 'compute.subnetworks.get' permission"
	if len(got.said) != 1 || !strings.HasPrefix(got.said[0], refused) {
		t.Errorf("terraform says %q", got.said)
	}
}
