package compiler

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lower resolves a blueprint into a plan. A blueprint that the rules will
// refuse is lowered as far as it goes: what a dangling name leads to is left
// out.
func lower(b *schema.Blueprint) *ir.Platform {
	p := &ir.Platform{
		Name:    b.Name,
		Project: b.Project,
		Region:  b.Region,
		Zones:   sorted(b.Zones),
		Versions: ir.Versions{
			Kueue: b.Versions.Kueue, JobSet: b.Versions.JobSet, KAI: b.Versions.KAI, Helm: b.Versions.Helm,
			GIB:       b.Versions.GIB,
			Terraform: b.Versions.Terraform, GoogleProvider: b.Versions.GoogleProvider, Gcloud: b.Versions.Gcloud,
			SHA256: lowerPins(b.Versions),
		},
		Scheduler: ir.Scheduler(b.Scheduler),
		Network: ir.Network{
			Name: b.Name, Subnet: b.Name,
			Nodes: b.Network.Nodes, Pods: b.Network.Pods, Services: b.Network.Services,
			ControlPlane: b.Network.ControlPlane,
		},
		Cluster: lowerCluster(b),
		Security: ir.Security{
			KMSKey:              value(b.Security.KMSKey, ""),
			BinaryAuthorization: b.Security.BinaryAuthorization,
			FlowLogs:            b.Security.FlowLogs,
			Posture:             b.Security.Posture,
			DataAccessLogs:      b.Security.DataAccessLogs,
		},
		SystemPool:  lowerSystemPool(b.Cluster.SystemPool),
		NodeAccount: ir.ServiceAccount{ID: b.Name + "-nodes", Display: "Nodes of " + b.Name, Roles: nodeRoles()},
		Monitoring: ir.Monitoring{
			NotificationChannels: sorted(b.Monitoring.NotificationChannels),
			Grafana:              b.Monitoring.Grafana,
			GrafanaNamespace:     b.Monitoring.GrafanaNamespace,
		},
		JobRoles: jobRoles(),
		Notes:    b.Notes,
	}
	if t := b.Monitoring.TensorBoard; t != nil {
		p.Monitoring.TensorBoard = value(t.Region, b.Region)
		p.JobRoles = sorted(append(p.JobRoles, tensorBoardWriter(b.Name).Name(b.Project)))
	}
	for _, name := range slices.Sorted(maps.Keys(b.Capacity)) {
		p.Capacities = append(p.Capacities, lowerCapacity(b, name, p.Zones))
	}
	p.Network.GPUs, p.Network.GPURanges = lowerGPUNetworks(b, p.Capacities)
	p.Cluster.MultiNetworking = value(b.Cluster.MultiNetworking, len(p.Network.GPUs) > 0)
	p.PriorityClasses = lowerPriorityClasses(b)
	p.AdmissionChecks = lowerAdmissionChecks(p.Capacities)
	p.Cohorts = lowerCohorts(b.Cohorts)
	offers := offersOf(b, p.Capacities)
	p.SharedQueues = lowerSharedQueues(b, offers)
	p.Teams = lowerTeams(b, offers, p.SharedQueues, p.JobRoles)
	if b.Monitoring.OpenToMembers && p.HasGroups() {
		p.Monitoring.MemberRoles = memberRoles(p)
	}
	p.AutoProvisioning = lowerAutoProvisioning(b.Cluster.AutoProvisioning, p)
	p.Workloads = lowerWorkloads(b, p)
	p.Monitoring.Alerts = alerts(p)
	p.Delivery = ir.Delivery{
		Region:                value(b.Delivery.Region, b.Region),
		StateBucket:           value(b.Delivery.StateBucket, b.Project+"-"+b.Name+"-tfstate"),
		InfrastructureManager: b.Delivery.InfrastructureManager,
	}
	p.Delivery = delivery(p)
	p.Demand = demand(p)
	return p
}

func lowerCluster(b *schema.Blueprint) ir.Cluster {
	c := b.Cluster
	out := ir.Cluster{
		Name:               b.Name,
		ReleaseChannel:     c.ReleaseChannel,
		MinVersion:         value(c.MinVersion, ""),
		DNSEndpoint:        c.DNSEndpoint,
		SecurityGroup:      value(c.SecurityGroup, ""),
		DeletionProtection: c.DeletionProtection,
		ImageStreaming:     c.ImageStreaming,
		Filestore:          c.CSIDrivers.Filestore,
		GCSFuse:            c.CSIDrivers.GCSFuse,
		Maintenance: ir.Maintenance{
			Days: unique(c.Maintenance.Days), Start: c.Maintenance.Start, Hours: c.Maintenance.Hours,
		},
	}
	for _, name := range slices.Sorted(maps.Keys(c.Maintenance.Exclusions)) {
		e := c.Maintenance.Exclusions[name]
		out.Maintenance.Exclusions = append(out.Maintenance.Exclusions, ir.Exclusion{
			Name: name, Start: e.Start, End: e.End, Scope: e.Scope,
		})
	}
	for _, m := range catalog.MetricsComponents() {
		if m.From == "" || c.MinVersion == nil || !catalog.OlderGKE(*c.MinVersion, m.From) {
			out.Metrics = append(out.Metrics, m.Component)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.AuthorizedNetworks)) {
		out.AuthorizedNetworks = append(out.AuthorizedNetworks,
			ir.NamedRange{Name: name, CIDR: c.AuthorizedNetworks[name]})
	}
	return out
}

func lowerPriorityClasses(b *schema.Blueprint) []ir.PriorityClass {
	// KAI Scheduler goes by the values alone: in a queue the higher evicts the
	// lower, unless that is never evicted.
	kai := b.Scheduler == string(ir.KAI)
	var out []ir.PriorityClass
	for tier, t := range b.Tiers {
		classes := t.PriorityClasses(tier)
		note := "Tier " + tier + " of the batch platform"
		if len(classes) > 1 {
			note += ", one of its " + strconv.Itoa(len(classes)) + " priorities"
		}
		for i, class := range classes {
			value, known := ir.KAIClass(class.Name)
			out = append(out, ir.PriorityClass{
				Name: class.Name, Value: int32(class.Value), Default: t.Default && i == 0, Preempts: t.Preempts || kai,
				Tier: tier, Note: note,
				BuiltIn: kai && known && value == class.Value,
			})
		}
	}
	slices.SortFunc(out, func(a, b ir.PriorityClass) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// lowerCohorts puts parents before children; a circle, which the rules refuse,
// is left out.
func lowerCohorts(cohorts map[string]schema.Cohort) []ir.Cohort {
	depths := map[string]int{}
	var depth func(name string) int
	depth = func(name string) int {
		if d, known := depths[name]; known {
			return d
		}
		depths[name] = -1 // while it is being found: a circle
		d := 0
		if parent := cohorts[name].Parent; parent != nil {
			if d = depth(*parent); d >= 0 {
				d++
			}
		}
		depths[name] = d
		return d
	}
	var out []ir.Cohort
	for name, c := range cohorts {
		if depth(name) >= 0 {
			out = append(out,
				ir.Cohort{Name: name, Parent: value(c.Parent, ""), Priority: value(c.Priority, queuePriority)})
		}
	}
	slices.SortFunc(out, func(a, b ir.Cohort) int {
		return cmp.Or(cmp.Compare(depths[a.Name], depths[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// value returns what a pointer points to, or a default for nil.
func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// sorted returns the strings in order, each once.
func sorted(in []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(in)))
}

// unique returns the strings in their order, each once.
func unique(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
