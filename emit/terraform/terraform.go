// Package terraform renders the plan as one Terraform root for the
// hashicorp/google provider: the network, the cluster, its node pools and
// reservations, identities, buckets, dashboards and alerts.
//
// What an administrator would set per project stands in terraform.tfvars; what
// belongs to a piece of hardware stands in the block that makes it. Teams are
// data: ten or ten thousand, the resources are the same few blocks.
package terraform

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Files returns the files under terraform/, formatted as terraform fmt does.
// It fails on a plan that contradicts itself: nodes that cannot be divided
// over their zones, or a provider version that is none.
func Files(p *ir.Platform) ([]emit.File, error) {
	if !release.MatchString(p.Versions.GoogleProvider) {
		return nil, fmt.Errorf("terraform: provider version %q is not MAJOR.MINOR.PATCH", p.Versions.GoogleProvider)
	}
	for _, c := range p.Capacities {
		if err := divisible(c); err != nil {
			return nil, err
		}
	}
	var files []emit.File
	for _, f := range []struct {
		name  string
		write func(*body, *ir.Platform)
	}{
		{"versions.tf", versions},
		{"providers.tf", providers},
		{"backend.tf", backend},
		{"variables.tf", variables},
		{"terraform.tfvars", values},
		{"network.tf", network},
		{"cluster.tf", cluster},
		{"node_pools.tf", nodePools},
		{"reservations.tf", reservations},
		{"identities.tf", identities},
		{"storage.tf", storage},
		{"monitoring.tf", monitoring},
		{"outputs.tf", outputs},
	} {
		file := hclwrite.NewEmptyFile()
		f.write(&body{Body: file.Body()}, p)
		content := file.Bytes()
		if len(content) == 0 {
			continue // nothing of the kind in this platform
		}
		files = append(files, emit.File{Path: "terraform/" + f.name, Content: content})
	}
	return files, nil
}

var release = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// divisible tells why a capacity's fixed node count does not fit its zones:
// GKE and Compute Engine count nodes and reserved machines by the zone.
func divisible(c ir.Capacity) error {
	if c.AutoProvisioned {
		return nil
	}
	if len(c.Zones) == 0 {
		return fmt.Errorf("terraform: capacity %s has no zone", c.Name)
	}
	if (c.Static || creates(c)) && c.MaxNodes%len(c.Zones) != 0 {
		return fmt.Errorf("terraform: capacity %s: %d nodes cannot be divided over %d zones", c.Name, c.MaxNodes, len(c.Zones))
	}
	return nil
}

// creates tells whether the platform creates the capacity's reservation.
func creates(c ir.Capacity) bool { return c.Reservation != nil && c.Reservation.Create }

// label turns the name of a pool, which has no underscores, into the label of
// its Terraform resources.
func label(name string) string { return strings.ReplaceAll(name, "-", "_") }
