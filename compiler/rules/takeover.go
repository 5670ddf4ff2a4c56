package rules

import (
	"iter"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on clusters and node pools that the platform takes over.

func takeOverRules() []Rule {
	return []Rule{
		rule("E0420", "takeOver of a capacity without node pools of its own", onEach(takenOver, poolsOfGKE)),
		rule("E0421", "node pool cannot be taken over", onEach(takenOver, poolsToLeave)),
		rule("E0422", "two capacities take over the same node pool", repeatedAddresses),
		rule("E0423", "address of one node pool for a capacity with several", onEach(takenOver, addressOfOne)),
		rule("E0723", "cluster to take over without its network", clusterWithoutNetwork),
	}
}

// takenOver yields the capacities that take over node pools.
func takenOver(r *report) iter.Seq[ir.Capacity] {
	return slices.Values(slices.DeleteFunc(slices.Clone(r.Plan.Capacities), func(c ir.Capacity) bool {
		return c.TakeOver == nil
	}))
}

// poolsOfGKE reports a takeover of pools that GKE creates and deletes, which no Terraform
// configuration has.
func poolsOfGKE(r *report, c ir.Capacity) {
	path := at("capacity", c.Name, "takeOver")
	field := "computeClass"
	if c.AutoProvisioned {
		field = "autoProvisioned"
	}
	if !c.OwnsPools() {
		r.addKey(path, say("capacity %q has no node pool to take over, because GKE creates its pools", c.Name),
			see(at("capacity", c.Name, field), "GKE creates the pools"), help("remove takeOver, or remove %s", field))
	}
}

// poolsToLeave reports a takeover that would harm the pool, or that Terraform would
// refuse for certain.
func poolsToLeave(r *report, c ir.Capacity) {
	path := at("capacity", c.Name, "takeOver")
	reservation := at("capacity", c.Name, "consumption", c.Option.Facts().Field)
	switch {
	case !c.OwnsPools(): // poolsOfGKE reports it
	case c.Waiting:
		r.addKey(path,
			say("the build would remove all nodes of pool %q, because its reservation has not begun", c.Name),
			see(reservation, "the reservation"),
			help("set active: true if the reservation has begun, otherwise remove takeOver until then"))
	case c.SlicesOff():
		r.addKey(path, say("capacity %q has no TPU slices, so there is no node pool to take over", c.Name),
			help("set slices to the number of node pools that exist, or remove takeOver"))
	case c.Reservation != nil && c.Reservation.Create:
		r.addKey(path,
			say("node pool %q exists, but the platform would create the reservation that its nodes must come from",
				c.Name), see(append(reservation, "create"), "the platform creates the reservation"),
			help("if the reservation exists too, remove create; otherwise Terraform would have to replace the "+
				"pool: remove takeOver, and rename the capacity"))
	case c.Keeps(ir.KeepReservationAffinity) && !c.CanKeep(ir.KeepReservationAffinity):
		r.add(append(path, "keep"),
			say("the nodes of %q may come from elsewhere than reservation %q if they keep their affinity", c.Name,
				c.Reservation.Name), see(reservation, "the reservation"),
			help("remove %q from keep", ir.KeepReservationAffinity))
	case c.Keeps(ir.KeepPlacementPolicy) && !c.CanKeep(ir.KeepPlacementPolicy):
		r.add(append(path, "keep"),
			say("the placement policy of %q is the topology of its TPU slices, and cannot differ", c.Name),
			see(at("capacity", c.Name, "hardware"), "TPU slices"),
			help("remove %q from keep, and write the topology of the slices that exist", ir.KeepPlacementPolicy))
	}
}

// repeatedAddresses reports addresses that have a node pool in common.
func repeatedAddresses(r *report) {
	type named struct{ capacity, from string }
	var seen []named
	for c := range takenOver(r) {
		from := c.TakeOver.From
		if from == "" || !c.OwnsPools() {
			continue
		}
		for _, other := range seen {
			if ir.AddressesOverlap(from, other.from) {
				r.add(at("capacity", c.Name, "takeOver", "from"),
					say("capacities %q and %q take over the same node pool", other.capacity, c.Name),
					see(at("capacity", other.capacity, "takeOver", "from"), "the other address"),
					help("write the address of the node pool that has the name of the capacity, with its key in "+
						"brackets if the resource has several"))
				break
			}
		}
		seen = append(seen, named{c.Name, from})
	}
}

// addressOfOne reports an address with a key for a capacity with several node pools.
func addressOfOne(r *report, c ir.Capacity) {
	path := at("capacity", c.Name, "takeOver")
	if n := len(c.Pools()); n > 1 && c.TakeOver.NamesOnePool() {
		r.add(append(path, "from"),
			say("capacity %q has %s, but the address names one of them", c.Name, words.Count(n, "node pool")),
			help("remove the key at the end: the address without it names all node pools of the resource; if each "+
				"slice has a resource of its own, remove from, and let the former owner run terraform state rm"))
	}
}

// clusterWithoutNetwork reports a cluster to take over whose network the blueprint does
// not name. The provider cannot change the network of a cluster. Source: Terraform google
// provider, google_container_cluster.
func clusterWithoutNetwork(r *report) {
	b := r.Blueprint
	if b.Cluster.TakeOver == nil || b.Cluster.Existing != nil || b.Network.Existing != nil {
		return
	}
	r.addKey(at("cluster", "takeOver"),
		say("cluster %q exists in a network, and cannot move to the new network of the platform", b.Name),
		help(`name the network of the cluster, such as network: existing: {network: "NETWORK", subnet: "SUBNET", `+
			`pods: "RANGE", services: "RANGE"}: gcloud container clusters describe prints the names`))
}
