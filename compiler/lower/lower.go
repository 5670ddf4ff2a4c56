// Package lower turns a checked blueprint into the plan of a platform.
//
// A schema.Blueprint comes in, with every default of the schema filled in. An
// ir.Platform goes out, with every name, amount and reference resolved. Blueprint is
// the only way in. It first resolves each part of the platform from the blueprint
// and from parts that are passed on as arguments. From the resolved platform it then
// derives the admission limits, the rights and the quota of the project.
// No function changes a part that another one has returned. Lower reads no file, and
// reports no findings: package rules judges the plan.
package lower

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// Blueprint returns the plan of the blueprint's platform. It lowers a blueprint that
// the rules will reject as far as possible: a part that refers to an unknown name is
// left out. It returns an error only if package ir does not know the scheduler,
// which means that the schema accepts a scheduler too many.
func Blueprint(b *schema.Blueprint) (*ir.Platform, error) {
	scheduler := ir.Scheduler(b.Scheduler)
	if err := scheduler.Check(); err != nil {
		return nil, err
	}
	zones := sortedUnique(b.Zones)
	capacities, existing := lowerCapacities(b, zones)
	offers := offersOf(b, capacities, existing)
	shared := lowerSharedQueues(b, offers)
	tensorBoard, podRoles := lowerTensorBoard(b)
	teams := lowerTeams(b, offers, shared, podRoles)
	cohorts := lowerCohorts(b, offers)
	granted := &ir.Platform{SharedQueues: shared, Teams: teams, Cohorts: cohorts}
	capacities, existing = withGuarantees(capacities, granted), withGuarantees(existing, granted)
	gpuNetworks, gpuRanges := lowerGPUNetworks(b, capacities)

	p := &ir.Platform{
		Name:    b.Name,
		Project: b.Project,
		Region:  b.Region,
		Zones:   zones,
		Labels:  keyValues(b.Labels),
		Versions: ir.Versions{
			Kueue: b.Versions.Kueue, KAI: b.Versions.KAI, Helm: b.Versions.Helm, GIB: b.Versions.GIB,
			Terraform: b.Versions.Terraform, GoogleProvider: b.Versions.GoogleProvider, Gcloud: b.Versions.Gcloud,
			SHA256: lowerPins(b.Versions),
		},
		Scheduler: scheduler,
		Network:   lowerNetwork(b, gpuNetworks, gpuRanges),
		Images: ir.Images{
			Mirror: valueOr(b.Images.Mirror, ""), Manifests: valueOr(b.Images.Manifests, ""),
		},
		Cluster: lowerCluster(b, len(gpuNetworks) > 0),
		Security: ir.Security{
			KMSKey:              valueOr(b.Security.KMSKey, ""),
			BinaryAuthorization: b.Security.BinaryAuthorization,
			FlowLogs:            b.Security.FlowLogs,
			FirewallLogs:        b.Security.FirewallLogs,
			IntraNodeVisibility: b.Security.IntraNodeVisibility,
			NoSerialPortLogs:    b.Security.NoSerialPortLogs,
			BulletinTopic:       valueOr(b.Security.BulletinTopic, ""),
			Posture:             b.Security.Posture,
			DataAccessLogs:      b.Security.DataAccessLogs,
		},
		SystemPool:  lowerSystemPool(b.Cluster),
		NodeAccount: lowerNodeAccount(b),
		Capacities:  capacities,

		ExistingCapacities: existing,
		Topologies:         lowerTopologies(b),

		PriorityClasses: lowerPriorityClasses(b),

		WorkloadPriorities: lowerWorkloadPriorities(b),
		AdmissionChecks:    lowerAdmissionChecks(capacities),
		Cohorts:            cohorts,
		KueueSettings:      lowerKueueSettings(b),
		SharedQueues:       shared,
		Teams:              teams,
		JobRoles:           podRoles,
		Monitoring: ir.Monitoring{
			NotificationChannels: sortedUnique(b.Monitoring.NotificationChannels),
			Grafana:              b.Monitoring.Grafana,
			GrafanaNamespace:     b.Monitoring.GrafanaNamespace,
			Boards:               lowerBoards(b),
			TensorBoard:          tensorBoard,
		},
		Delivery: ir.Delivery{
			Region:                valueOr(b.Delivery.Region, b.Region),
			StateBucket:           valueOr(b.Delivery.StateBucket, b.Project+"-"+b.Name+"-tfstate"),
			StatePrefix:           valueOr(b.Delivery.StatePrefix, ""),
			Machine:               valueOr(b.Delivery.Machine, ""),
			Seconds:               int(optionalSeconds(b.Delivery.Timeout)),
			InfrastructureManager: b.Delivery.InfrastructureManager,
			GitOps:                lowerGitOps(b),
		},
		Notes: b.Notes,
	}
	for _, c := range kinds.Controllers() {
		of := b.Controller(c.Field)
		p.SetController(c.Field, of.Version, pinOf(of.SHA256, c.Field, of.Version),
			pinOf(of.Chart, c.Field+"Chart", of.Version), of.Existing)
	}
	p.Own = lowerManifests(b)
	p.Defects = lowerDefects(p)
	p.Workloads = lowerWorkloads(b, p)
	p.Teams, p.SharedQueues = withQueueing(b, p)
	p.Demonstration = lowerDemonstration(b, p)
	p.Rehearsals = lowerRehearsals(b, p)
	deriveFacts(b, p)
	return p, nil
}

// deriveFacts adds to a platform what follows from the whole of it. The order matters:
// the delivery and the demand read all that stands before them.
func deriveFacts(b *schema.Blueprint, p *ir.Platform) {
	p.Network.Existing = withNeededRanges(p)
	p.AutoProvisioning = lowerAutoProvisioning(b.Cluster, p)
	if b.Monitoring.OpenToMembers && p.HasMembers() {
		p.Monitoring.MemberRoles = memberRoles(p)
	}
	p.Delivery = lowerDelivery(p)
	p.Demand = lowerDemand(p)
}

// lowerDefects returns the names of the known defects of the platform's releases.
func lowerDefects(p *ir.Platform) []string {
	var all []catalog.Advisory
	for _, c := range p.Controllers() {
		all = append(all, catalog.Advisories(c.Field, c.Version)...)
	}
	all = append(all, ir.Choose(p.Scheduler, catalog.Advisories("kueue", p.KueueVersion()), nil)...)
	var out []string
	for _, a := range all {
		out = append(out, a.Name)
	}
	return out
}

// lowerTensorBoard returns the region of the platform's TensorBoard, "" for none,
// and the roles that the pods of every job have.
func lowerTensorBoard(b *schema.Blueprint) (region string, podRoles []string) {
	podRoles = jobRoles()
	if t := b.Monitoring.TensorBoard; t != nil {
		region = valueOr(t.Region, b.Region)
		podRoles = sortedUnique(append(podRoles, tensorBoardWriter(b.Name).Name(b.Project)))
	}
	return region, podRoles
}

// lowerCluster resolves the cluster. gpuNetworks reports whether nodes have networks
// between their GPUs.
func lowerCluster(b *schema.Blueprint, gpuNetworks bool) ir.Cluster {
	c := b.Cluster
	if c.Existing != nil {
		return lowerExistingCluster(b)
	}
	out := ir.Cluster{
		Name:               b.Name,
		Location:           b.Region,
		Description:        valueOr(c.Description, ""),
		ReleaseChannel:     c.ReleaseChannel,
		MinVersion:         valueOr(c.MinVersion, ""),
		DNSEndpoint:        c.DNSEndpoint,
		SecurityGroup:      valueOr(c.SecurityGroup, ""),
		DeletionProtection: c.DeletionProtection,
		TakeOver:           takeOverCluster(c.TakeOver),
		ImageStreaming:     c.ImageStreaming,
		Filestore:          c.CSIDrivers.Filestore,
		GCSFuse:            c.CSIDrivers.GCSFuse,
		MultiNetworking:    valueOr(c.MultiNetworking, gpuNetworks),
		Maintenance: ir.Maintenance{
			Days: uniqueInOrder(c.Maintenance.Days), Start: c.Maintenance.Start, Hours: c.Maintenance.Hours,
		},
	}
	for name, e := range byName(c.Maintenance.Exclusions) {
		out.Maintenance.Exclusions = append(out.Maintenance.Exclusions, ir.Exclusion{
			Name: name, Start: e.Start, End: e.End, Scope: e.Scope,
		})
	}
	for _, m := range catalog.MetricsComponents() {
		if m.From == "" || c.MinVersion == nil || !catalog.OlderGKE(*c.MinVersion, m.From) {
			out.Metrics = append(out.Metrics, m.Component)
		}
	}
	for name, cidr := range byName(c.AuthorizedNetworks) {
		out.AuthorizedNetworks = append(out.AuthorizedNetworks, ir.NamedRange{Name: name, CIDR: cidr})
	}
	return out
}

// lowerExistingCluster resolves a cluster that others own.
func lowerExistingCluster(b *schema.Blueprint) ir.Cluster {
	e := b.Cluster.Existing
	existing := &ir.ExistingCluster{
		Version:           e.Version,
		DataplaneV2:       e.Has.DataplaneV2,
		WorkloadIdentity:  e.Has.WorkloadIdentity,
		ManagedPrometheus: e.Has.ManagedPrometheus,
	}
	if k := e.Kueue; k != nil {
		existing.Kueue = &ir.ExistingKueue{
			Version: k.Version, Frameworks: k.Frameworks, NamespaceLabels: keyValues(k.NamespaceLabels),
			FairSharing: k.FairSharing, AdmissionFairSharing: k.AdmissionFairSharing,
		}
	}
	return ir.Cluster{
		Name:            e.Name,
		Location:        valueOr(e.Location, b.Region),
		Existing:        existing,
		DNSEndpoint:     e.Has.DNSEndpoint,
		SecurityGroup:   valueOr(e.Has.SecurityGroup, ""),
		ImageStreaming:  b.Cluster.ImageStreaming,
		MultiNetworking: e.Has.MultiNetworking,
	}
}

func lowerPriorityClasses(b *schema.Blueprint) []ir.PriorityClass {
	facts := ir.Scheduler(b.Scheduler).Facts()
	var out []ir.PriorityClass
	for tier, t := range b.Tiers {
		classes := t.PriorityClasses(tier)
		note := "Tier " + tier + " of the batch platform"
		if len(classes) > 1 {
			note += ", one of its " + strconv.Itoa(len(classes)) + " priorities"
		}
		usual := slices.IndexFunc(classes, func(c schema.PriorityClass) bool { return !c.Existing })
		for i, class := range classes {
			value, known := facts.ClassValue(class.Name)
			out = append(out, ir.PriorityClass{
				Name: class.Name, Value: int32(class.Value),
				Default:  t.Default && i == usual && b.Cluster.Existing == nil,
				Preempts: facts.PreemptsByPriority || preemptsPods(t),
				Tier:     tier, Note: note,
				BuiltIn: known && value == class.Value, Existing: class.Existing,
			})
		}
	}
	slices.SortFunc(out, func(a, b ir.PriorityClass) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// lowerWorkloadPriorities returns the WorkloadPriorityClasses of all tiers. A rule reports a class
// with two values.
func lowerWorkloadPriorities(b *schema.Blueprint) []ir.WorkloadPriority {
	values := map[string]int{}
	for _, t := range byName(b.Tiers) {
		maps.Copy(values, t.WorkloadPriorities)
	}
	var out []ir.WorkloadPriority
	for name, value := range byName(values) {
		out = append(out, ir.WorkloadPriority{Name: name, Value: int32(value)})
	}
	return out
}

// preemptsPods reports whether kube-scheduler may evict pods of a lower value for the
// pods of the tier. Kueue evicts jobs by itself, and needs no such class. When nodes
// are short, for example because Spot VMs were taken away, kube-scheduler knows
// neither queues nor guarantees: it evicts pods of any team, the jobs keep their
// quota, and Kueue does not count the eviction. Therefore a tier that only gets its
// guarantee back never asks for it. A tier whose jobs give way to a higher priority
// in their own queue does: there the priority decides, also about nodes.
func preemptsPods(t schema.Tier) bool { return ir.Evicts(t.Preempts.InQueue) }

// lowerCohorts returns the cohorts, parents before children. It omits cohorts in a
// circle, which the rules reject.
func lowerCohorts(b *schema.Blueprint, offers map[string]*offer) []ir.Cohort {
	cohorts := b.Cohorts
	depths := map[string]int{}
	var depth func(name string) int
	depth = func(name string) int {
		if d, known := depths[name]; known {
			return d
		}
		depths[name] = -1 // -1 marks a cohort whose depth is being computed: meeting it again means a circle
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
		if depth(name) < 0 {
			continue
		}
		cohort := ir.Cohort{
			Name: name, Parent: valueOr(c.Parent, ""), Priority: valueOr(c.Priority, queuePriority),
			Weight: queueWeightOf(b, c.Weight), Share: lowerWeight(c.Weight),
		}
		if exact := c.Exact(); ir.Scheduler(b.Scheduler).Facts().QuotaPerCapacity {
			cohort.Flavors = lowerFlavors(slices.Sorted(maps.Keys(exact)), exact, cohort.Parent, offers)
		}
		if c.Quota != nil {
			cohort.Quota = c.Quota.GPUs
		}
		out = append(out, cohort)
	}
	slices.SortFunc(out, func(a, b ir.Cohort) int {
		return cmp.Or(cmp.Compare(depths[a.Name], depths[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// valueOr returns the value that a pointer points to, or the default for nil.
func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// byName yields the entries of a map in the order of their names.
func byName[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// sortedUnique returns the strings sorted and without duplicates.
func sortedUnique(in []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(in)))
}

// uniqueInOrder returns the strings without duplicates, in their original order.
func uniqueInOrder(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
