package rules

import (
	"github.com/batchwright/batchwright/schema"
)

// Rules on how the builds run, and where they keep the Terraform state.

func deliveryRules() []Rule {
	return []Rule{
		rule("E1064", "delivery.machine has no effect in a private worker pool", machineOfPool),
		rule("E1065", "time limit of the build is too short or too long", buildTimes, fieldwise),
		rule("E1066", "prefix of a state that Infrastructure Manager keeps", unusedPrefix, fieldwise),
	}
}

// machineOfPool reports a machine type for builds that only a private worker pool can run. The
// configuration of the pool sets the machine type of its workers (Cloud Build documentation:
// "Private pool configuration file schema").
func machineOfPool(r *report) {
	if r.Blueprint.Delivery.Machine == nil || r.Plan.Cluster.DNSEndpoint {
		return
	}
	endpoint := at("cluster", "dnsEndpoint")
	if !r.Plan.OwnsCluster() {
		endpoint = at("cluster", "existing", "has", "dnsEndpoint")
	}
	r.add(at("delivery", "machine"), "the build runs in a private worker pool, which has its own machine type",
		see(endpoint, "without this endpoint, only a worker pool in the VPC network reaches the control plane"),
		help("remove machine, and choose the machine type of the worker pool"))
}

// The shortest and the longest time limit of a build, in seconds. Cloud Build stops a build
// after 24 hours (Cloud Build documentation: "Quotas and limits"). A build that creates a
// cluster cannot end within ten minutes.
const (
	shortestBuild = 10 * 60
	longestBuild  = 24 * 60 * 60
)

func buildTimes(r *report) {
	limit := r.Blueprint.Delivery.Timeout
	if limit == nil {
		return
	}
	switch seconds := schema.Seconds(*limit); {
	case seconds < shortestBuild:
		r.add(at("delivery", "timeout"), say("no build can create a cluster in %s", *limit),
			label(`want "10m" to "24h"`), help("remove timeout, or allow more time"))
	case seconds > longestBuild:
		r.add(at("delivery", "timeout"), say("Cloud Build stops every build after 24 hours, but timeout is %s", *limit),
			label(`want "10m" to "24h"`), help("remove timeout, or allow less time"))
	}
}

func unusedPrefix(r *report) {
	if d := r.Blueprint.Delivery; d.InfrastructureManager && d.StatePrefix != nil {
		r.add(
			at("delivery", "statePrefix"),
			"Infrastructure Manager keeps the Terraform state, and ignores statePrefix",
			see(at("delivery", "infrastructureManager"), "Infrastructure Manager"),
			help("remove statePrefix"),
		)
	}
}
