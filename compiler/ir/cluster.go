package ir

import "github.com/batchwright/batchwright/compiler/kinds"

// ExistingCluster describes a cluster that others own. The platform adds to it, and
// changes nothing that others have made.
type ExistingCluster struct {
	Version           string // GKE version of the control plane, at least
	DataplaneV2       bool
	WorkloadIdentity  bool
	ManagedPrometheus bool
	// Kueue and JobSet describe the controllers that others run in the cluster. They are
	// nil if the platform installs them.
	Kueue  *ExistingKueue
	JobSet *ExistingJobSet
}

// ExistingKueue describes Kueue that others run in the cluster.
type ExistingKueue struct {
	Version    string   // without a leading v
	Frameworks []string // kinds of jobs that it manages, in the order of the blueprint
	// NamespaceLabels are the labels that a namespace must have so that Kueue manages its
	// jobs, by key.
	NamespaceLabels []KeyValue
	// FairSharing and AdmissionFairSharing report whether its configuration sets the fields
	// of these names.
	FairSharing, AdmissionFairSharing bool
}

// ExistingJobSet describes JobSet that others run in the cluster.
type ExistingJobSet struct {
	Version string // without a leading v
}

// KueueFrameworks returns the kinds of jobs that Kueue must manage in the teams'
// namespaces: the kinds that their members may create.
func KueueFrameworks() []string { return kinds.Frameworks() }

// KueueVersion returns the release of Kueue that decides about the platform's jobs: the
// release that others run in the cluster, or the release that the platform installs.
func (p *Platform) KueueVersion() string {
	if p.OthersRunKueue() {
		return p.Cluster.Existing.Kueue.Version
	}
	return p.Versions.Kueue
}

// OwnsCluster reports whether the platform creates its cluster.
func (p *Platform) OwnsCluster() bool { return p.Cluster.Existing == nil }

// OwnsNetwork reports whether the platform creates the VPC network of its cluster.
func (p *Platform) OwnsNetwork() bool { return p.OwnsCluster() && p.Network.Existing == nil }

// ClusterScopedName returns the name of an object of the platform that is in no namespace
// and that is not named after a part of the blueprint. In a cluster that others own, the
// name begins with the platform's: objects of others may have the plain name.
func (p *Platform) ClusterScopedName(name string) string {
	if p.OwnsCluster() {
		return name
	}
	return p.Name + "-" + name
}

// LabelExisting is the label of what existed before the platform, with the value ExistingValue.
// The owner of a namespace sets it on the namespace, and gets the namespace back when the platform
// is destroyed. The platform itself sets it on the queues, flavors and cohorts that it has adopted,
// which it then leaves as they are.
const (
	LabelExisting = "batchwright-existing"
	ExistingValue = "true"
)
