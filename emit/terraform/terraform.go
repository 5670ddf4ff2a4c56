// Package terraform renders the plan as one Terraform root for the hashicorp/google
// provider: the network, which is a module of the root, the cluster, its node pools
// and reservations, identities, buckets, dashboards and alerts.
//
// If others own the network, the module changes nothing in it, and a second root,
// network-team/, holds what its owners must add. For resources that the platform takes
// over, takeover/ has the blocks with which their former owners let go of them.
//
// The root kubectl-apply/ installs what is in the cluster if gcluster, and not the build,
// deploys the platform.
//
// Values that an administrator would set per project are in terraform.tfvars; values
// that belong to a piece of hardware are in the block that creates it. Teams are
// data: for ten or ten thousand teams, the resource blocks are the same.
package terraform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Files returns the files under terraform/ and kubectl-apply/, network-team/main.tf and
// takeover/removed.tf, formatted like the output of terraform fmt. It returns an error if the plan has a fixed
// node count that cannot be divided evenly over the zones, because GKE would create fewer
// nodes than the quotas promise.
func Files(p *ir.Platform) ([]emit.File, error) {
	for _, c := range p.Capacities {
		if c.Static && c.MaxNodes%len(c.Zones) != 0 {
			return nil,
				fmt.Errorf("terraform: capacity %s: %d nodes cannot be divided over %d zones", c.Name, c.MaxNodes,
					len(c.Zones))
		}
	}
	var files []emit.File
	for _, f := range slices.Concat([]rootFile{
		{"versions.tf", writeVersions},
		{lockFile, writeLock},
		{"providers.tf", writeProviders},
		{"backend.tf", writeBackend},
		{"variables.tf", writeVariables},
		{"terraform.tfvars", writeValues},
		{"network.tf", network},
		{"gpu_networks.tf", gpuNetworks},
		{"cluster.tf", writeCluster},
		{"node_pools.tf", nodePools},
		{"imports.tf", writeImports},
		{"placement.tf", writePlacements},
		{"reservations.tf", writeReservations},
		{"identities.tf", writeIdentities},
		{"storage.tf", writeStorage},
		{"monitoring.tf", monitoringResources},
		{"outputs.tf", writeOutputs},
	}, moduleFiles(p)) {
		file := hclwrite.NewEmptyFile()
		f.write(&body{Body: file.Body()}, p)
		content := file.Bytes()
		if len(content) == 0 {
			continue // the platform has no such resources
		}
		files = append(files, emit.File{Path: "terraform/" + f.name, Content: content})
	}
	if p.Network.Existing != nil {
		file := hclwrite.NewEmptyFile()
		networkTeam(&body{Body: file.Body()}, p)
		files = append(files, emit.File{Path: networkTeamFile, Content: file.Bytes()})
	}
	files = append(files, kubectlApplyFiles(p)...)
	released, err := letGo(p)
	return append(files, released...), err
}

// rootFile is a file below terraform/, and the function that writes its content.
type rootFile struct {
	name  string
	write func(*body, *ir.Platform)
}

// moduleFiles returns the files of the one module, which has other owners than the rest:
// the cluster's network, or a cluster that others own.
func moduleFiles(p *ir.Platform) []rootFile {
	folder, inputs, main, outputs := networkModule, networkInputs, networkMain, networkOutputs
	if !p.OwnsCluster() {
		folder, inputs, main, outputs = clusterModule, clusterInputs, clusterMain, clusterOutputs
	}
	return []rootFile{
		{folder + "/main.tf", main},
		{folder + "/outputs.tf", outputs},
		{folder + "/variables.tf", func(b *body, p *ir.Platform) { moduleVariables(b, inputs(p)) }},
		{folder + "/versions.tf", moduleVersions},
	}
}

// createsReservation reports whether the platform creates the capacity's
// reservation.
func createsReservation(c ir.Capacity) bool { return c.Reservation != nil && c.Reservation.Create }

// resourceLabel returns the label of a pool's Terraform resources for the pool's
// name. Names of pools contain no underscores.
func resourceLabel(name string) string { return strings.ReplaceAll(name, "-", "_") }
