package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// This file has functions that several pages use.

// credentialsCommand returns the command that connects kubectl to the cluster.
func credentialsCommand(p *ir.Platform) string {
	location := "--region=" + p.Cluster.Location
	if !p.OwnsCluster() { // its control plane can be in a zone
		location = "--location=" + p.Cluster.Location
	}
	command := []string{"gcloud", "container", "clusters", "get-credentials", p.Cluster.Name, location,
		"--project=" + p.Project}
	if p.Cluster.DNSEndpoint {
		command = append(command, "--dns-endpoint")
	}
	return shellCommand(command...)
}

// initCommand returns the command that initializes Terraform without a change of the lock
// file.
func initCommand(p *ir.Platform) string {
	if len(p.Versions.SHA256.GoogleProvider) > 0 {
		return "terraform -chdir=terraform init -lockfile=readonly"
	}
	return "terraform -chdir=terraform init"
}

// firstNames returns a text of the first few names and the number of the others.
func firstNames(names []string) markup {
	const few = 4
	spans := make([]markup, len(names))
	for i, name := range names {
		spans[i] = codeSpan(name)
	}
	return words.First(spans, few)
}

// cohortMembers returns the teams of every cohort that has teams.
func cohortMembers(p *ir.Platform) map[string][]string {
	teams := map[string][]string{}
	for _, t := range p.Teams {
		if t.Cohort != "" {
			teams[t.Cohort] = append(teams[t.Cohort], t.Name)
		}
	}
	return teams
}

// inCohorts returns the number of cohorts that have teams, and the name of the
// cohort that contains all others. The name is "" if there is no such cohort, or if
// it has teams itself.
func inCohorts(p *ir.Platform) (count int, top string) {
	members := cohortMembers(p)
	var tops []string
	for _, c := range p.Cohorts {
		if c.Parent == "" {
			tops = append(tops, c.Name)
		}
	}
	if len(tops) == 1 && len(members) > 0 && members[tops[0]] == nil {
		top = tops[0]
	}
	return len(members), top
}
