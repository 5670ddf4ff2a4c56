package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on the organisation policies that are enforced on the project. Google Cloud
// refuses a resource that violates one, so the build would stop in the middle.
// catalog.Constraints says what each constraint demands.

// demand is a demand of constraints that a field of the blueprint meets. Several
// constraints can make the same demand: setting the field meets all of them.
type demand struct {
	code, title string
	check       string // of catalog.Constraint
	refuses     func(*ir.Platform) bool
	state       func(*ir.Platform) string // why the constraint refuses the platform
	field       []string                  // the field that must change
	help        string
}

// Checks of catalog.Constraint that no field of the blueprint meets.
const (
	needsExemption = "exemption"         // refuses every platform
	needsRepair    = "autoRepair"        // refuses capacities that GKE does not repair
	closesPorts    = "gpuFirewall"       // refuses the firewall rules between GPUs
	needsGoogle    = "gpuNetworks"       // refuses the RDMA subnets
	needsFlowLogs  = "flowLogs"          // refuses the subnets between GPUs, and others without flow logs
	dependsOnList  = "depends"           // the name alone does not decide
	sharesMachines = "sharedReservation" // the values of the policy decide about reservations
	sharesSubnets  = "sharedSubnets"     // the values of the policy decide about subnets of a Shared VPC
	ownsNAT        = "nat"               // the values of the policy decide about Cloud NAT
	serialPorts    = "serialPortLogs"    // refuses logs of serial ports; GKE decides about pools that it creates
)

func demands() []demand {
	off := func(get func(ir.Security) bool) func(*ir.Platform) bool {
		return func(p *ir.Platform) bool { return !get(p.Security) }
	}
	is := func(state string) func(*ir.Platform) string { return func(*ir.Platform) string { return state } }
	return []demand{
		{
			code: "E1030", title: "organisation policy demands an encryption key", check: "kmsKey",
			refuses: off(func(s ir.Security) bool { return s.KMSKey != "" }), state: is("security.kmsKey is not set"),
			help: `set security: kmsKey: "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY"`,
		},
		{
			code: "E1031", title: "organisation policy demands Binary Authorization", check: "binaryAuthorization",
			refuses: off(func(s ir.Security) bool { return s.BinaryAuthorization }),
			state:   is("security.binaryAuthorization is false"), field: at("security", "binaryAuthorization"),
			help: "set security: binaryAuthorization: true",
		},
		{
			code: "E1032", title: "organisation policy demands security bulletins", check: "bulletinTopic",
			refuses: off(func(s ir.Security) bool { return s.BulletinTopic != "" }),
			state:   is("security.bulletinTopic is not set"),
			help:    `set security: bulletinTopic: "projects/PROJECT/topics/TOPIC"`,
		},
		{
			code: "E1033", title: "organisation policy refuses the release channel", check: "releaseChannel",
			refuses: func(p *ir.Platform) bool {
				return !slices.Contains([]string{"REGULAR", "STABLE"}, p.Cluster.ReleaseChannel)
			},
			state: func(p *ir.Platform) string {
				return "cluster.releaseChannel is " + strconv.Quote(p.Cluster.ReleaseChannel)
			},
			field: at("cluster", "releaseChannel"), help: `set cluster: releaseChannel: "REGULAR"`,
		},
		{
			code: "E1034", title: "organisation policy demands Google Groups", check: "securityGroup",
			refuses: func(p *ir.Platform) bool { return p.Cluster.SecurityGroup == "" },
			state:   is("cluster.securityGroup is not set"),
			help:    `set cluster: securityGroup: "gke-security-groups@DOMAIN"`,
		},
		{
			code: "E1035", title: "organisation policy demands logs of firewall rules", check: "firewallLogs",
			// With an existing network, the rules of network-team/ have the logs. Without a
			// network in the blueprint, the folder has no firewall rule.
			refuses: func(p *ir.Platform) bool { return p.Network.Name != "" && !p.Security.FirewallLogs },
			state:   is("security.firewallLogs is false"), field: at("security", "firewallLogs"),
			help: "set security: firewallLogs: true",
		},
		{
			code: "E1036", title: "organisation policy demands flow logs", check: needsFlowLogs,
			refuses: func(p *ir.Platform) bool { return p.OwnsNetwork() && !p.Security.FlowLogs },
			state:   is("security.flowLogs is false"), field: at("security", "flowLogs"),
			help: "set security: flowLogs: true",
		},
		{
			code: "E1037", title: "organisation policy demands intranode visibility", check: "intraNodeVisibility",
			refuses: off(func(s ir.Security) bool { return s.IntraNodeVisibility }),
			state:   is("security.intraNodeVisibility is false"), field: at("security", "intraNodeVisibility"),
			help: "set security: intraNodeVisibility: true",
		},
		{
			code: "E1038", title: "organisation policy refuses a public control plane", check: "publicEndpoint",
			refuses: func(p *ir.Platform) bool { return len(p.Cluster.AuthorizedNetworks) > 0 },
			state:   is("cluster.authorizedNetworks gives the control plane a public address"),
			field:   at("cluster", "authorizedNetworks"),
			help:    "remove cluster.authorizedNetworks: people can use the DNS endpoint",
		},
		{
			code: "E1043", title: "organisation policy refuses logs of serial ports", check: serialPorts,
			refuses: off(func(s ir.Security) bool { return s.NoSerialPortLogs }),
			state:   is("GKE logs the serial ports of its nodes"), field: at("security", "noSerialPortLogs"),
			help: "set security: noSerialPortLogs: true",
		},
	}
}

func organisationRules() []Rule {
	rules := []Rule{
		rule("E1039", "organisation policy refuses what the platform needs", exemptions, whole, acceptable),
		rule("N1040", "organisation policy that its name alone does not decide", policyValues),
		rule("W1041", "name of a constraint resembles another one", misspeltConstraints),
		rule("N1042", "constraint is unknown", unknownConstraints),
	}
	for _, d := range demands() {
		rules = append(rules, rule(d.code, d.title, func(r *report) { r.checkDemand(d) }, acceptable))
	}
	return rules
}

// constraintName returns the name of a constraint without the prefix that some commands
// of gcloud print.
func constraintName(policy string) string { return strings.TrimPrefix(policy, "constraints/") }

// isLandingZone reports whether an element of policies is a landing zone. The names of
// constraints contain dots.
func isLandingZone(policy string) bool { return !strings.Contains(policy, ".") }

// constraintsOf returns the constraints that batchwright knows of an element of
// policies: one, those of a landing zone, or none.
func constraintsOf(policy string) []catalog.Constraint {
	if isLandingZone(policy) {
		return catalog.LandingZone(policy)
	}
	if c, ok := catalog.LookupConstraint(constraintName(policy)); ok {
		return []catalog.Constraint{c}
	}
	return nil
}

// concerning returns the constraints of an element of policies that the platform must
// meet: the owner of a cluster that exists has met the constraints on the cluster.
func (r *report) concerning(policy string) []catalog.Constraint {
	return slices.DeleteFunc(constraintsOf(policy), func(c catalog.Constraint) bool {
		return c.Of == catalog.OfCluster && !r.Plan.OwnsCluster()
	})
}

// atPolicy returns the path of an element of policies.
func atPolicy(i int) fieldPath { return at("organisation", "policies", diag.Index(i)) }

// checkDemand reports the constraints that make a demand which the platform does not
// meet, once for all of them.
func (r *report) checkDemand(d demand) {
	if !d.refuses(r.Plan) {
		return
	}
	var places []fieldPath
	var names []string
	for i, policy := range r.Blueprint.Organisation.Policies {
		for _, c := range r.concerning(policy) {
			if c.Check == d.check {
				places, names = append(places, atPolicy(i)), append(names, c.Name)
			}
		}
	}
	if len(places) == 0 {
		return
	}
	var others []option
	for _, place := range places[1:] {
		others = append(others, when(place.last() != places[0].last(), see(place, "this policy demands the same")))
	}
	names = uniqueNames(names)
	r.add(places[0],
		say("%s %s the platform: %s", words.And(names), choosePlural(len(names), "refuses", "refuse"), d.state(r.Plan)),
		together(others...), when(d.field != nil && r.Written(d.field...), see(d.field, "the field")), advise(d.help))
}

// uniqueNames returns the different names of a list, in their order.
func uniqueNames(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// exemptions reports constraints that refuse the platform whatever the blueprint says.
func exemptions(r *report) {
	cure := help("get an exemption for the project, and write organisation: accept: %s: %q", r.rule.Code, "REASON")
	r.reportPolicies(refusesAlways, func(names []string) string {
		return say("%s %s the platform, and no field changes this", words.And(names),
			choosePlural(len(names), "refuses", "refuse"))
	}, func(c catalog.Constraint) option { return note("%s demands: %s", c.Name, c.Demands) }, cure)
}

// policyValues reports the constraints of which the name alone does not say whether they
// refuse the platform: the values of the policy decide, or the documentation is silent.
func policyValues(r *report) {
	r.reportPolicies(isUndecided, func(names []string) string {
		return say("%s can refuse the platform: the name alone does not decide it", words.And(names))
	}, func(c catalog.Constraint) option { return note("%s: %s", c.Name, strings.ReplaceAll(c.Set, "`", "")) })
}

// reportPolicies reports the elements of policies with constraints whose check refuses the
// plan, with a note for each constraint.
func (r *report) reportPolicies(refuses func(check string, p *ir.Platform) bool, message func(names []string) string,
	describe func(catalog.Constraint) option, options ...option) {
	for i, policy := range r.Blueprint.Organisation.Policies {
		var names []string
		var notes []option
		for _, c := range r.concerning(policy) {
			if refuses(c.Check, r.Plan) {
				names, notes = append(names, c.Name), append(notes, describe(c))
			}
		}
		if len(names) > 0 {
			r.add(atPolicy(i), message(names), append(notes, options...)...)
		}
	}
}

// refusesAlways reports whether a constraint with the given check refuses the plan, and
// no field of the blueprint changes this. The subnets of an existing network exist.
func refusesAlways(check string, p *ir.Platform) bool {
	gpus := len(p.Network.GPUs) > 0 && p.OwnsNetwork()
	switch check {
	case needsExemption:
		return true
	case needsRepair:
		return p.AnyCapacity(func(c ir.Capacity) bool { return c.OwnsPools() && !c.Repaired() })
	case closesPorts:
		return slices.ContainsFunc(p.Network.GPUs, func(n ir.GPUNetwork) bool { return n.Profile == "" })
	case needsGoogle:
		return gpus && slices.ContainsFunc(p.Network.GPUs, func(n ir.GPUNetwork) bool { return n.Profile != "" })
	case needsFlowLogs:
		return gpus && p.Security.FlowLogs
	}
	return false
}

// choosePlural returns one for the number 1, and otherwise many.
func choosePlural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// isUndecided reports whether the name of a constraint with the given check does not say
// whether it refuses the plan.
func isUndecided(check string, p *ir.Platform) bool {
	switch check {
	case dependsOnList:
		return true
	case sharesMachines:
		return p.AnyCapacity(usesSharedReservation)
	case sharesSubnets:
		return p.SharesVPC()
	case ownsNAT:
		return p.OwnsNetwork()
	case serialPorts:
		return p.Security.NoSerialPortLogs && p.AutoProvisioning.Create
	}
	return false
}

// usesSharedReservation reports whether another project owns the reservation of a
// capacity.
func usesSharedReservation(c ir.Capacity) bool {
	return c.Reservation != nil && c.Reservation.Owner != ""
}

// misspeltConstraints reports unknown names that are almost the name of a constraint
// that batchwright knows.
func misspeltConstraints(r *report) {
	for i, policy := range r.Blueprint.Organisation.Policies {
		if near := r.nearConstraint(policy); near != "" {
			r.add(atPolicy(i), say("batchwright does not know the constraint %s", constraintName(policy)),
				label("want %q", near), help("did you mean %q?", near))
		}
	}
}

// unknownConstraints reports constraints of which batchwright does not know what they
// demand: the organisation's own, and those of services that no platform uses.
func unknownConstraints(r *report) {
	for i, policy := range r.Blueprint.Organisation.Policies {
		if constraintsOf(policy) == nil && r.nearConstraint(policy) == "" {
			r.add(atPolicy(i), say("batchwright does not know what %s demands", constraintName(policy)),
				help("read the constraint, and compare it with the folder's terraform/"))
		}
	}
}

// nearConstraint returns the name of the constraint that an unknown name probably
// means, or "".
func (r *report) nearConstraint(policy string) string {
	if constraintsOf(policy) != nil {
		return ""
	}
	var known []string
	for _, c := range catalog.Constraints() {
		known = append(known, c.Name)
	}
	near := r.nearestName(constraintName(policy), known)
	before, _, _ := strings.Cut(near, ".")
	if near != "" && !strings.HasPrefix(constraintName(policy), before+".") {
		return "" // another service
	}
	return near
}
