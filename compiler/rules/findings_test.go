package rules_test

import (
	"testing"

	"github.com/batchwright/batchwright/golden/findings"
)

// TestFindings runs the cases of the rules, one family for each file with rules.
func TestFindings(t *testing.T) {
	findings.Run(
		t,
		"accept",
		"arrivals",
		"auxiliaries",
		"boards",
		"cohorts",
		"consumption",
		"containers",
		"counts",
		"delivery",
		"demonstrations",
		"entities",
		"existingclusters",
		"existingnetworks",
		"existingnodes",
		"gitops",
		"gkeversions",
		"gpunetworks",
		"hardware",
		"identities",
		"idle",
		"kai",
		"labels",
		"maintenance",
		"manifests",
		"members",
		"names",
		"network",
		"nodelabels",
		"nodes",
		"organisation",
		"packing",
		"places",
		"quota",
		"refusednames",
		"rehearsals",
		"resources",
		"scaling",
		"secrets",
		"security",
		"sharing",
		"takeover",
		"tiers",
		"versions",
		"workloads",
	)
}
