package terraform

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
)

// teamPlan returns a plan in a Shared VPC with networks of GPUs.
func teamPlan(security ir.Security) *ir.Platform {
	return editedPlan(func(p *ir.Platform) {
		p.Security = security
		p.Network = ir.Network{
			Name: "shared", Subnet: "batch",
			Existing: &ir.ExistingNetwork{Project: "net-host", PodRange: "pods", ServiceRange: "services"},
			GPUs: []ir.GPUNetwork{
				{Short: "gvnic-1", Name: "gvnic", Subnets: []ir.GPUSubnet{{Name: "gvnic-b"}}},
				{Short: "rdma", Name: "rdma", Profile: "roce", Subnets: []ir.GPUSubnet{{Name: "rdma-0", RDMA: true}}},
			},
		}
	})
}

// teamRules returns the firewall rules for the owners of the network, by their labels.
func teamRules(t *testing.T, p *ir.Platform) map[string]string {
	t.Helper()
	file := hclwrite.NewEmptyFile()
	networkTeam(&body{Body: file.Body()}, p)
	rules := map[string]string{}
	for _, block := range file.Body().Blocks() {
		if labels := block.Labels(); block.Type() == "resource" && labels[0] == "google_compute_firewall" {
			rules[labels[1]] = string(block.BuildTokens(nil).Bytes())
		}
	}
	return rules
}

// TestTeamRules holds that the rules for the owners of the network have targets and
// descriptions, that rules of egress exist only where egress is denied, and that an RDMA
// network has no rules.
func TestTeamRules(t *testing.T) {
	rules := teamRules(t, teamPlan(ir.Security{}))
	for label, network := range map[string]string{
		"webhooks": "local.network", "egress_cluster": "local.network", "egress_google": "local.network",
		"gpu_gvnic_1": "/gvnic\"", "egress_gpu_gvnic_1": "/gvnic\"",
	} {
		rule := rules[label]
		for _, want := range []string{network, "description", "[local.nodes]", "var.rule_prefix"} {
			if !strings.Contains(rule, want) {
				t.Errorf("rule %s has no %s:\n%s", label, want, rule)
			}
		}
		if egress := strings.HasPrefix(label, "egress_"); egress != strings.Contains(rule, "var.egress_is_denied") ||
			egress != strings.Contains(rule, `"EGRESS"`) || egress == strings.Contains(rule, "source_ranges") {
			t.Errorf("rule %s has the wrong direction:\n%s", label, rule)
		}
		delete(rules, label)
	}
	if len(rules) > 0 {
		t.Errorf("other rules: %q", rules)
	}
}

// TestTeamRulesLog holds that the rules of the owners of the network have logs if the
// platform asks for them: organisations demand logs of these rules, too.
func TestTeamRulesLog(t *testing.T) {
	for _, logs := range []bool{false, true} {
		for label, rule := range teamRules(t, teamPlan(ir.Security{FirewallLogs: logs})) {
			if strings.Contains(rule, "log_config") != logs {
				t.Errorf("firewallLogs %v, rule %s:\n%s", logs, label, rule)
			}
		}
	}
}
