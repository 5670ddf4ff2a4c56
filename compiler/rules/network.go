package rules

import (
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
	"net/netip"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on address ranges and on the resources around the cluster.

func networkRules() []Rule {
	return []Rule{
		rule("E0701", "address range is not private", privateRanges),
		rule("W0321", "address range is not verified for this use", unverifiedRanges),
		rule("E0702", "address ranges overlap", overlappingRanges),
		rule("E0703", "address range has the wrong size", rangeSizes),
		rule("E0704", "invalid address range", authorizedRanges, newCluster),
		rule("W0705", "the control plane is open to the internet", openControlPlane, whole, newCluster),
		rule("E0708", "accelerator limit of auto-provisioning is invalid", autoProvisioningLimits),
		rule("N0709", "auto-provisioning limit is below the guarantees", clusterLimits, whole),
	}
}

type namedRange struct {
	path   fieldPath
	field  string // the last element of path
	text   string
	prefix netip.Prefix // invalid if the text is not a range
}

// addressRanges returns the known address ranges of the platform. It includes the
// ranges between GPUs only if the platform creates such networks.
func (r *report) addressRanges() []namedRange {
	n := r.Plan.Network
	var out []namedRange
	for _, given := range slices.Concat([]ir.NamedRange{
		{Name: "nodes", CIDR: n.Nodes}, {Name: "pods", CIDR: n.Pods}, {Name: "services", CIDR: n.Services},
		{Name: "controlPlane", CIDR: n.ControlPlane},
	}, n.GPURanges) {
		if given.CIDR != "" {
			out = append(out, namedRange{path: r.rangePath(given.Name), field: given.Name, text: given.CIDR})
		}
	}
	for i := range out {
		if p, err := netip.ParsePrefix(out[i].text); err == nil && p == p.Masked() {
			out[i].prefix = p
		}
	}
	return out
}

// rangePath returns the path of a range of the network in the blueprint.
func (r *report) rangePath(field string) fieldPath {
	switch {
	case r.Plan.Network.Existing == nil:
		return at("network", field)
	case field == "controlPlane":
		return at("network", "existing", field)
	}
	return at("network", "existing", "ranges", field)
}

// private holds the ranges that every use accepts: RFC 1918 and the shared address
// space of RFC 6598.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
}

// reserved holds the other ranges that are not public, and that subnets can have.
// GKE supports them for nodes, pods and Services, and by default pods keep their own
// addresses when they send packets to them. Sources: VPC documentation, "Subnets",
// valid IPv4 ranges; GKE documentation, "Best practices for GKE networking" and "IP
// masquerade agent".
var reserved = []netip.Prefix{
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), classE,
}

var classE = netip.MustParsePrefix("240.0.0.0/4")

// broadcast is the address of class E that no subnet can have: the range of a subnet
// cannot match a prohibited range, or be narrower or broader. Source: VPC
// documentation, "Subnets", prohibited IPv4 subnet ranges.
var broadcast = netip.MustParseAddr("255.255.255.255")

// isWithin reports whether one of the ranges contains the whole prefix.
func isWithin(prefix netip.Prefix, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool {
		return p.Contains(prefix.Addr()) && p.Bits() <= prefix.Bits() && !prefix.Contains(broadcast)
	})
}

// checkCIDR reports a text that is not a valid range, and returns whether it is valid.
func (r *report) checkCIDR(path fieldPath, text string) bool {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		r.add(path, say("%q is not an address range", text), help("write it as ADDRESS/BITS, such as 10.0.0.0/20"))
		return false
	}
	if p != p.Masked() {
		r.add(path, say("address range %q does not start at its first address", text), label("want %q", p.Masked()))
		return false
	}
	return true
}

func privateRanges(r *report) {
	for _, n := range r.addressRanges() {
		path := n.path
		// The owners of an existing network may use public ranges privately.
		if !r.checkCIDR(path, n.text) || r.Plan.Network.Existing != nil {
			continue
		}
		if classE.Contains(n.prefix.Addr()) && n.prefix.Contains(broadcast) {
			cure := help("choose a private range")
			if alsoReserved(n.field) != "" {
				cure = help("choose a range that ends before it, such as %s",
					netip.PrefixFrom(classE.Addr(), max(n.prefix.Bits(), classE.Bits()+1)))
			}
			r.add(path, say("%s contains the broadcast address, %s, which no subnet can have", n.text, broadcast), cure)
		} else if !isWithin(n.prefix, private) && !isWithin(n.prefix, reserved) {
			r.add(path, say("%s is not a private address range", n.text),
				label("want a range in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10"),
				help("choose a private range%s", alsoReserved(n.field)))
		}
	}
}

// alsoReserved returns the words that a range of network can be reserved, "" if that
// is not verified.
func alsoReserved(field string) string {
	if slices.Contains([]string{"nodes", "pods", "services"}, field) {
		return ", or one of class E, such as 240.0.0.0/8"
	}
	return ""
}

// unverifiedRanges reports reserved ranges for which no source says that they work:
// the control plane's, and the ranges of the networks between GPUs.
func unverifiedRanges(r *report) {
	if r.Plan.Network.Existing != nil {
		return
	}
	for _, n := range r.addressRanges() {
		if n.prefix.IsValid() && isWithin(n.prefix, reserved) && alsoReserved(n.field) == "" {
			path := n.path
			r.add(path, say("%s is a reserved range, which is not verified to work for network.%s", n.text, n.field),
				label("want a range in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10"),
				helpOrAccept("if you know that the reserved range works", "choose such a range"))
		}
	}
}

func overlappingRanges(r *report) {
	all := r.addressRanges()
	for i, a := range all {
		for _, b := range all[:i] {
			if !a.prefix.IsValid() || !b.prefix.IsValid() || !a.prefix.Overlaps(b.prefix) {
				continue
			}
			if !r.Written(a.path...) { // point at a range that the user wrote
				a, b = b, a
			}
			origin, written := " (the default)", r.Written(b.path...)
			if written {
				origin = ""
			}
			r.add(a.path,
				say("%s, %s, overlaps %s, %s%s", diag.Path(a.path), a.text, diag.Path(b.path), b.text, origin),
				when(written, see(b.path, "the other range")), help("choose ranges that do not overlap"))
			break
		}
	}
}

// reservedAddresses is the number of addresses that Google Cloud reserves in every
// primary range. Source: VPC documentation, "Subnets".
const reservedAddresses = 4

// describePeak says how many nodes the platform has at most, and how many of them only
// upgrades add.
func (r *report) describePeak() string {
	if surge := r.Plan.SurgeNodes(); surge > 0 {
		return fmt.Sprintf("%d, %d of them only during upgrades", r.Plan.PeakNodes(), surge)
	}
	return strconv.Itoa(r.Plan.PeakNodes())
}

func rangeSizes(r *report) {
	nodes := r.Plan.PeakNodes()
	taken := reservedAddresses + r.Plan.EndpointAddresses() // of the range of the nodes
	direct := map[ir.GPUDirect]int{}                        // number of nodes by transport
	for _, c := range r.Plan.Capacities {
		if len(c.Networks) > 0 {
			direct[c.GPUDirect] += c.MaxNodes
		}
	}
	cuts := map[string]int{} // number of bits by which each range is cut
	for _, n := range r.Plan.Network.GPUs {
		for _, s := range n.Subnets {
			cuts[s.Cut.Of] = s.Cut.Bits
		}
	}
	for _, n := range r.addressRanges() {
		if !n.prefix.IsValid() {
			continue
		}
		bits := n.prefix.Bits()
		addresses := 1 << (32 - bits)
		switch n.field {
		case "nodes":
			if nodes > addresses-taken {
				r.addRange(n, nodes+taken, fmt.Sprintf("%s, %s, has room for %d nodes, but the platform can have %s",
					diag.Path(n.path), n.text, max(0, addresses-taken), r.describePeak()))
			}
		case "pods":
			// A node needs a /24 for up to 110 pods.
			if room := addresses / 256; nodes > room {
				r.addRange(n, nodes*256,
					fmt.Sprintf("%s, %s, has room for the pods of %d nodes, but the platform can have %s",
						diag.Path(n.path), n.text, room, r.describePeak()))
			}
		case "gvnic", "rdma":
			r.subnetSize(n, 1<<cuts[n.field], direct[ir.RDMA])
		case "tcpx":
			r.subnetSize(n, 1<<cuts[n.field], direct[ir.TCPX]+direct[ir.TCPXO])
		case "services":
			if bits > 27 {
				r.add(n.path, "the range of Services must be a /27 or larger", help("choose a larger range"))
			}
		case "controlPlane":
			if bits != 28 {
				r.add(n.path, say("the range of the control plane must be a /28, not a /%d", bits), label("want a /28"))
			}
		}
	}
}

// subnetSize reports a range whose parts have too few addresses for the nodes.
func (r *report) subnetSize(n namedRange, parts, nodes int) {
	// Google Cloud rejects ranges smaller than a /29.
	room := max(0, 1<<(32-n.prefix.Bits())/parts-reservedAddresses)
	if room < max(nodes, 4) {
		of := "has"
		if parts > 1 {
			of = fmt.Sprintf("is divided into %d ranges, each of which has", parts)
		}
		r.addRange(n, parts*powerOfTwo(max(nodes, 4)+4),
			fmt.Sprintf("network.%s, %s, %s room for %d nodes, but %d nodes can have GPUDirect", n.field, n.text, of,
				room, nodes))
	}
}

// addRange reports a range with too few addresses. The help names the smallest range
// that is large enough and does not overlap the others. If the blueprint does not
// write the network, the finding is at the largest count of nodes: nothing else in
// the blueprint caused it.
func (r *report) addRange(n namedRange, addresses int, message string) {
	path := n.path
	span := r.Place(false, path...)
	if !r.Written("network") {
		span = r.Place(false, r.largestCount()...)
	}
	cure := help("reduce the number of nodes: no private range is large enough")
	if r.Plan.Network.Existing != nil {
		cure = help("reduce the number of nodes, or ask the owners of the network for a range of at least a /%d",
			33-mathbits.Len(uint(powerOfTwo(addresses))))
	} else if p := r.freeRange(n, addresses); p.IsValid() {
		cure = help("write network: %s: %q", n.field, p)
	}
	r.newFinding(span, path, message, []option{cure})
}

// largestCount returns the path of the count of the capacity that can have the most
// nodes.
func (r *report) largestCount() fieldPath {
	most, path := 0, at("network")
	for _, c := range r.Plan.Capacities {
		if c.MaxNodes <= most {
			continue
		}
		most, path = c.MaxNodes, at("capacity", c.Name)
		for _, field := range []string{"nodes", "maxNodes", "slices", "maxSlices"} {
			if r.Written("capacity", c.Name, field) {
				path = at("capacity", c.Name, field)
			}
		}
	}
	return path
}

// freeRange returns the smallest private range that has the addresses and overlaps
// no other range of the platform: the range itself, enlarged, or the first free one.
// It returns the zero Prefix if there is none.
func (r *report) freeRange(n namedRange, addresses int) netip.Prefix {
	bits := 33 - mathbits.Len(uint(powerOfTwo(addresses)))
	isFree := func(p netip.Prefix) bool {
		for _, other := range r.addressRanges() {
			if other.field != n.field && other.prefix.IsValid() && other.prefix.Overlaps(p) {
				return false
			}
		}
		return !slices.ContainsFunc(r.proposed, p.Overlaps) &&
			slices.ContainsFunc(private, func(all netip.Prefix) bool {
				return all.Bits() <= p.Bits() && all.Contains(p.Addr())
			})
	}
	propose := func(p netip.Prefix) netip.Prefix {
		r.proposed = append(r.proposed, p)
		return p
	}
	if p := netip.PrefixFrom(n.prefix.Addr(), max(bits, 0)).Masked(); bits > 0 && isFree(p) {
		return propose(p)
	}
	for _, all := range private {
		if bits < all.Bits() {
			continue
		}
		first := binary.BigEndian.Uint32(all.Addr().AsSlice())
		for i := range 1 << (bits - all.Bits()) {
			address := binary.BigEndian.AppendUint32(nil, first+uint32(i)<<(32-bits))
			addr, _ := netip.AddrFromSlice(address)
			if p := netip.PrefixFrom(addr, bits); isFree(p) {
				return propose(p)
			}
		}
	}
	return netip.Prefix{}
}

// powerOfTwo returns the smallest power of two that is at least n.
func powerOfTwo(n int) int { return 1 << mathbits.Len(uint(n-1)) }

func authorizedRanges(r *report) {
	for name, text := range sorted(r.Blueprint.Cluster.AuthorizedNetworks) {
		r.checkCIDR(at("cluster", "authorizedNetworks", name), text)
	}
}

func openControlPlane(r *report) {
	for name, text := range sorted(r.Blueprint.Cluster.AuthorizedNetworks) {
		if p, err := netip.ParsePrefix(text); err == nil && p.Bits() < 8 {
			who := "most of the internet"
			if p.Bits() == 0 {
				who = "the whole internet"
			}
			r.add(at("cluster", "authorizedNetworks", name),
				say("%s lets %s reach the public IP address of the control plane", p, who),
				help("list your own networks only; the DNS endpoint needs no list"))
		}
	}
}

// autoProvisioningLimits reports accelerator limits that are lower than the need of
// the capacities, and names of accelerators that do not exist. The limits bound the whole
// cluster, including its node pools. existingAcceleratorLimits reports low limits of an
// existing cluster.
func autoProvisioningLimits(r *report) {
	limits := r.Blueprint.Cluster.AutoProvisioning.Accelerators
	if e := r.Blueprint.Cluster.Existing; e != nil {
		limits = nil // fieldsOfNewCluster reports them
		if e.Has.AutoProvisioning != nil {
			limits = e.Has.AutoProvisioning.Accelerators
		}
	}
	if len(limits) == 0 {
		return
	}
	known := catalog.Accelerators()
	for _, name := range sortedKeys(limits) {
		path := append(r.limitPath("accelerators"), name)
		if !hasName(known, name) {
			r.addKey(path, say("there is no accelerator type named %q", name), choices(known),
				didYouMean(meantAccelerator(name, known), help("batchwright catalog lists the accelerator types")))
			continue
		}
		if !r.Plan.OwnsCluster() {
			continue
		}
		need := 0
		for _, c := range r.Plan.Capacities {
			if c.Machine.Accelerator == name {
				need += c.MaxNodes * c.Machine.AcceleratorCount
			}
		}
		if most := limits[name]; most < need {
			r.add(path, say("the capacities can have %d %s, but the cluster at most %d", need, name, most),
				label("want at least %d", need))
		}
	}
}

// clusterLimits checks the limits of the whole cluster: with auto-provisioning, the
// autoscaler starts no node beyond the limits, in any pool.
func clusterLimits(r *report) {
	if !r.Plan.AutoProvisioning.Create {
		return
	}
	for _, l := range []struct {
		resource string
		need     int
	}{{ir.CPU, r.Plan.Demand.VCPUs}, {ir.Memory, r.Plan.Demand.MemoryGiB}} {
		most := r.writtenLimit(l.resource)
		// noRoomForNodes reports limits with which no node starts
		if most == nil || l.need <= *most || r.fit.SmallestLimit(l.resource).Amount > float64(*most) {
			continue
		}
		field, what := limitOn(l.resource)
		r.add(r.limitPath(field),
			say("the nodes for all guarantees need %d %s, but the limit of the cluster is %d", l.need, what, *most),
			label("want at least %d to keep all guarantees at once", l.need), advise(r.raiseLimit()))
	}
}
