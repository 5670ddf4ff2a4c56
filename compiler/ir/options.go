package ir

import (
	"fmt"
	"slices"
)

// Option is a consumption option: the way in which machines are obtained. It is the
// key of a row of facts.
type Option string

// The consumption options. A blueprint chooses one with a field of #Consumption,
// and for some fields with a parameter of it.
const (
	OnDemand           Option = "on-demand"
	Spot               Option = "spot"
	Reservation        Option = "reservation"          // of a given name
	Calendar           Option = "calendar"             // a reservation of a given name, booked in calendar mode
	AnyReservation     Option = "any-reservation"      // or else on demand
	AnyReservationOnly Option = "any-reservation-only" // or else nothing
	FlexStart          Option = "flex-start"
	QueuedFlexStart    Option = "queued-flex-start" // with queued provisioning
	ExistingNodes      Option = "existing"          // others own the nodes
)

// CalendarReservation is the kind of a reservation that is booked for a number of
// days. Afterwards Compute Engine takes the machines back.
const CalendarReservation = "calendar"

// OptionFacts is the row of a consumption option: everything that rules and
// emitters need to know about it. A field that is not set means no, or none.
type OptionFacts struct {
	Option Option

	// Field is the field of #Consumption that chooses the option. Findings on the
	// option point to it, or to Parameter, the field below it that asks for more.
	Field, Parameter string

	// Name is the option in a sentence: "queued flex-start". How completes "nodes
	// that are available ...": "with queued flex-start". Nodes is the word for its
	// nodes among others: "flex-start". Summary describes the option in a table.
	Name, How, Nodes, Summary string
	// Note tells a reviewer of a node pool how its nodes are obtained. Each item is
	// a line.
	Note []string

	// Pages are the pages of Google Cloud about the option.
	Pages []DocPage

	// ResourceType is the value of the node label resource-type, and Taint is the
	// key of the taint that keeps other pods off the nodes of the platform's pools.
	ResourceType, Taint string

	// NodeConfig is the field of node_config, in Terraform and in GKE's API, that
	// asks for such nodes, and ReservationAffinity is the value of
	// node_config.reservation_affinity.consume_reservation_type.
	NodeConfig, ReservationAffinity string
	// ClassField is the field of a ComputeClass's priority that asks for such nodes,
	// and ClassAffinity is the value of its reservations.affinity. If both are "",
	// a ComputeClass does not have the option.
	ClassField, ClassAffinity string
	// AutoLabel is the label by which pods ask node auto-provisioning for such
	// nodes. It is the zero label if auto-provisioning does not have the option.
	// AutoTaint reports whether GKE also taints these nodes with it.
	AutoLabel KeyValue
	AutoTaint bool

	// PreemptibleQuota reports whether accelerators count against preemptible quota.
	// PreemptibleCPUs reports whether vCPUs and local SSDs do so too. NoQuota
	// reports whether machines count against no quota except their disks'.
	PreemptibleQuota, PreemptibleCPUs, NoQuota bool

	// Preempted reports whether Compute Engine can take a node back at any time.
	// GraceSeconds is the time that pods then have to stop.
	Preempted    bool
	GraceSeconds int
	// Booked reports whether machines are booked for a number of days, after which
	// Compute Engine takes them back.
	Booked bool
	// OnRequest reports whether nodes exist only while jobs need them: their number
	// cannot be fixed, and has no minimum.
	OnRequest bool
	// Queued reports whether GKE starts all nodes of a workload at once, for a
	// ProvisioningRequest.
	Queued bool
	// ShortLived reports whether GKE upgrades no running node, and NoRepair whether
	// GKE requires that it does not repair nodes.
	ShortLived, NoRepair bool

	// AnyReservation reports whether nodes come from any reservation of the project
	// that matches and is open to all. OnlyReserved reports whether nodes come from
	// nothing but reservations.
	AnyReservation, OnlyReserved bool

	// MinVersion is the lowest GKE version that has the option, and TPUMinVersion
	// the lowest that has it for TPUs; "" stands for every version that a blueprint
	// can name.
	MinVersion, TPUMinVersion string

	// Price is the option's name in a file of prices. Options with the same price
	// share it.
	Price string

	// Column is the catalogue's column that says which machines have the option.
	// Zones is the column of the zones that Google states for the option.
	Column, Zones string
}

// DocPage is a page of documentation.
type DocPage struct{ Title, Address string }

// Pages about the options.
var (
	pricePage       = DocPage{"VM instance pricing", "https://cloud.google.com/compute/vm-instance-pricing"}
	spotPage        = DocPage{"Spot VMs", "https://cloud.google.com/compute/docs/instances/spot"}
	reservationPage = DocPage{"Reservations",
		"https://cloud.google.com/compute/docs/instances/reservations-overview"}
	// A commitment lowers the price of a reservation, which otherwise costs the list price.
	commitmentPage = DocPage{"Reservations with committed use discounts",
		"https://cloud.google.com/compute/docs/instances/reservations-with-commitments"}
	dwsPage = DocPage{"About flex-start", "https://cloud.google.com/kubernetes-engine/docs/concepts/dws"}
	dwsPost = DocPage{"Introducing Dynamic Workload Scheduler",
		"https://cloud.google.com/blog/products/compute/introducing-dynamic-workload-scheduler"}
	provisioningPage = DocPage{"Provisioning requests",
		"https://cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest"}
)

// spotGrace is the time in seconds that pods on Spot nodes may take to stop. GKE
// documents less than 30 seconds between the notice and the end of the machine.
const spotGrace = 25

// flexStartFrom is the lowest version with flex-start. Source: GKE documentation,
// "About GPU and TPU provisioning with flex-start"; it states two versions for GPUs,
// and this is the later one.
const flexStartFrom = "1.33.0-gke.1712000"

// options holds the rows, in the order of #Consumption. Sources: GKE documentation,
// "Provisioning models", "Node auto-provisioning", "About custom ComputeClasses", and
// "Node upgrade strategies" for short-lived upgrades; Google Cloud documentation,
// "Compute Engine instances provisioning models" for preemptible quota.
var options = []OptionFacts{
	{
		Option: OnDemand, Field: "onDemand",
		Pages: []DocPage{pricePage},
		Name:  "on demand", How: "on demand", Nodes: "on demand", Summary: "on demand",
		Note:         []string{"On demand: nodes cost the list price, and start only while capacity is available."},
		ResourceType: "ondemand", Taint: "ondemand",
		// Do not consume reservations that others have made.
		ReservationAffinity: "NO_RESERVATION", ClassAffinity: "None",
		AutoLabel: KeyValue{"cloud.google.com/gke-provisioning", "standard"},
		Price:     "onDemand", Column: "onDemand",
	},
	{
		Option: Spot, Field: "spot",
		Pages: []DocPage{spotPage},
		Name:  "Spot", How: "as Spot nodes", Nodes: "Spot", Summary: "Spot",
		Note:         []string{"Spot VMs: Compute Engine can reclaim the nodes at any time."},
		ResourceType: "spot", Taint: "spot",
		NodeConfig: "spot", ReservationAffinity: "NO_RESERVATION", ClassField: "spot",
		// Auto-provisioning itself sets the taint, for pods that both select and
		// tolerate the key.
		AutoLabel: KeyValue{"cloud.google.com/gke-spot", "true"}, AutoTaint: true,
		PreemptibleQuota: true, PreemptibleCPUs: true,
		Preempted: true, GraceSeconds: spotGrace,
		Price: "spot", Column: "spot",
	},
	{
		Option: Reservation, Field: "reservation",
		Pages: []DocPage{reservationPage, commitmentPage},
		Name:  "a reservation", How: "from a reservation", Nodes: "reserved", Summary: "reservation",
		Note:         []string{"Nodes come only from one specific reservation."},
		ResourceType: "reservation", Taint: "reserved",
		ReservationAffinity: "SPECIFIC_RESERVATION", ClassAffinity: "Specific", OnlyReserved: true,
		Price: "reservation", Column: "reservation",
	},
	{
		Option: Calendar, Field: "reservation", Parameter: "kind",
		Pages: []DocPage{reservationPage},
		Name:  "a calendar reservation", How: "from a calendar reservation", Nodes: "reserved", Summary: "reservation",
		Note: []string{
			"Nodes come only from one specific reservation.",
			"Compute Engine reclaims the nodes when the reservation ends.",
		},
		ResourceType: "reservation", Taint: "reserved",
		ReservationAffinity: "SPECIFIC_RESERVATION", ClassAffinity: "Specific", OnlyReserved: true,
		// Source: AI Hypercomputer documentation, "Capacity overview".
		NoQuota: true,
		Booked:  true,
		Price:   "calendar", Column: "calendar", Zones: "calendar",
	},
	{
		Option: AnyReservation, Field: "anyReservation",
		Pages: []DocPage{reservationPage, commitmentPage},
		Name:  `anyReservation with otherwise: "onDemand"`, How: `through anyReservation with otherwise: "onDemand"`,
		Nodes: "reserved", Summary: "any reservation that matches, else on demand",
		Note: []string{
			"Nodes come from any matching reservation, or on demand if no reservation has any left.",
		},
		ResourceType: "any-reservation", Taint: "any-reservation",
		ReservationAffinity: "ANY_RESERVATION", ClassAffinity: "AnyBestEffort", AnyReservation: true,
		Price: "reservation", Column: "reservation",
	},
	{
		Option: AnyReservationOnly, Field: "anyReservation",
		Pages: []DocPage{reservationPage, commitmentPage},
		Name:  `anyReservation with otherwise: "none"`, How: `through anyReservation with otherwise: "none"`,
		Nodes: "reserved", Summary: "any reservation that matches",
		Note:         []string{"Nodes come from any matching reservation, and never on demand."},
		ResourceType: "any-reservation", Taint: "any-reservation",
		ReservationAffinity: "ANY_RESERVATION_THEN_FAIL", ClassAffinity: "AnyThenFail", AnyReservation: true,
		OnlyReserved: true,
		// The affinity is new, in node pools and in ComputeClasses. Source: GKE
		// release notes, June 2026.
		MinVersion: "1.36.0-gke.3204000",
		Price:      "reservation", Column: "reservation",
	},
	{
		Option: FlexStart, Field: "flexStart",
		Pages: []DocPage{dwsPage, dwsPost},
		Name:  "flex-start", How: "with flex-start", Nodes: "flex-start", Summary: "flex-start",
		Note:         []string{"Flex-start: Dynamic Workload Scheduler starts the nodes once capacity is available."},
		ResourceType: "flex-start", Taint: "flex-start",
		NodeConfig: "flex_start", ReservationAffinity: "NO_RESERVATION", ClassField: "flexStart",
		PreemptibleQuota: true,
		OnRequest:        true, ShortLived: true, NoRepair: true,
		MinVersion: flexStartFrom,
		Price:      "flexStart", Column: "flexStart", Zones: "flexStart",
	},
	{
		Option: QueuedFlexStart, Field: "flexStart", Parameter: "queued",
		Pages: []DocPage{dwsPage, dwsPost, provisioningPage},
		Name:  "queued flex-start", How: "with queued flex-start", Nodes: "flex-start",
		Summary:      "flex-start, all nodes of a job at once",
		Note:         []string{"Flex-start: Dynamic Workload Scheduler starts the nodes once capacity is available."},
		ResourceType: "flex-start", Taint: "flex-start",
		NodeConfig: "flex_start", ReservationAffinity: "NO_RESERVATION",
		PreemptibleQuota: true,
		OnRequest:        true, Queued: true, ShortLived: true, NoRepair: true,
		MinVersion: flexStartFrom,
		// An older GKE answers "Flex start node pools don't support TPUs with
		// queued provisioning." Sources: AI-Hypercomputer/xpk, pull request 900,
		// and GoogleCloudPlatform/cluster-toolkit, pull request 5218.
		TPUMinVersion: "1.35.0",
		Price:         "flexStart", Column: "queued", Zones: "flexStart",
	},
}

// existingNodes is the row of nodes that others own, which is not a way to obtain machines.
var existingNodes = OptionFacts{
	Option: ExistingNodes, Field: "existing",
	Name: "existing nodes", How: "as existing nodes", Nodes: "existing", Summary: "nodes of others",
	NoQuota: true,
}

// SystemPrice returns the name of the price of the system pool's nodes. They are on
// demand.
func SystemPrice() string { return OnDemand.Facts().Price }

// HasListPrice reports whether nodes cost the list price, as the nodes of the system
// pool do.
func (f OptionFacts) HasListPrice() bool { return f.Price == SystemPrice() }

// PriceNames returns the names of all prices, in the order of the options.
func PriceNames() []string {
	var names []string
	for _, f := range options {
		if !slices.Contains(names, f.Price) {
			names = append(names, f.Price)
		}
	}
	return names
}

// Options returns the facts of all consumption options by which the platform obtains nodes.
func Options() []OptionFacts { return slices.Clone(options) }

// Existing reports whether others own the nodes.
func (o Option) Existing() bool { return o == ExistingNodes }

// Facts returns the row of the option. It panics if the option has none: each
// option of a plan is one of the constants.
func (o Option) Facts() OptionFacts {
	if o.Existing() {
		return existingNodes
	}
	i := slices.IndexFunc(options, func(f OptionFacts) bool { return f.Option == o })
	if i < 0 {
		panic(fmt.Sprintf("consumption option %q has no row", o))
	}
	return options[i]
}

// NameWithout returns the words for the option in a finding on a property that the
// option lacks: its name, or only its field if no option of the field has the property.
// Then nobody removes a parameter in vain.
func (f OptionFacts) NameWithout(property func(OptionFacts) bool) string {
	if slices.ContainsFunc(options, func(o OptionFacts) bool { return o.Field == f.Field && property(o) }) {
		return f.Name
	}
	return "consumption: " + f.Field
}

// HasAutoProvisioning reports whether node auto-provisioning has the option.
func (f OptionFacts) HasAutoProvisioning() bool { return f.AutoLabel.Key != "" }

// HasComputeClass reports whether a ComputeClass can ask for such nodes.
func (f OptionFacts) HasComputeClass() bool { return f.ClassField != "" || f.ClassAffinity != "" }

// TakesReservations reports whether nodes consume reservations, at least where there
// are some.
func (f OptionFacts) TakesReservations() bool { return f.AnyReservation || f.OnlyReserved }

// NodesByQuota returns the words for the nodes whose accelerators count against
// preemptible quota, or against standard quota.
func NodesByQuota(preemptible bool) []string {
	var out []string
	for _, f := range options {
		if f.PreemptibleQuota == preemptible && !slices.Contains(out, f.Nodes) {
			out = append(out, f.Nodes)
		}
	}
	return out
}
