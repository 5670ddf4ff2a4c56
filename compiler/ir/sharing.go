package ir

// KueueSettings are settings of Kueue for the whole cluster, as its configuration has them.
type KueueSettings struct {
	// Strategies are the preemptionStrategies of fair sharing, in the order in which Kueue
	// tries them; nil without fair sharing.
	Strategies []string
	// Usage is how Kueue measures past usage; nil if it does not.
	Usage *UsageSettings
	// OwnPodsReady is what the blueprint decides about workloads whose pods do not start; nil
	// means DefaultPodsReady.
	OwnPodsReady *PodsReady
}

// UsageSettings are how Kueue measures what teams have used of a queue.
type UsageSettings struct {
	HalfLife, Interval int              // in seconds
	Weights            []ResourceWeight // by resource; the weight of any other is 1
}

// ResourceWeight is the weight of a unit of a resource.
type ResourceWeight struct {
	Resource string
	Weight   float64
}

// PodsReady says what happens to an admitted workload whose pods do not all start. Times are
// in seconds.
type PodsReady struct {
	// Timeout is the time in which the pods must become ready. After it, Kueue evicts them
	// and queues the workload again.
	Timeout int
	// Recovery is the time in which another pod must replace a lost pod of a running
	// workload.
	Recovery int
	// Blocks reports whether no other workload is admitted until all pods are ready.
	Blocks bool
	// Place is where an evicted workload queues again: PlaceEviction, or PlaceCreation.
	Place string
	// Limit is how often it is queued again, nil for no limit.
	Limit *int
	// First is the pause before it can start again. The pause doubles with each eviction, up
	// to Longest.
	First, Longest int
}

// The places of an evicted workload in its queue, spelt as in the API of Kueue.
const (
	PlaceEviction = "Eviction" // behind the workloads that wait when it is evicted
	PlaceCreation = "Creation" // as if it had not been evicted
)

// DefaultPodsReady returns what holds unless the blueprint decides otherwise. Timeout is longer
// than a GPU node takes to start and to pull an image. Recovery is shorter: one node must be
// replaced, while the pods on all others waste GPU time.
func DefaultPodsReady() PodsReady {
	return PodsReady{Timeout: 30 * 60, Recovery: 15 * 60, Place: PlaceEviction, First: 60, Longest: 60 * 60}
}

// PodsReady returns what happens to an admitted workload whose pods do not all start, if the
// platform installs Kueue.
func (p *Platform) PodsReady() PodsReady {
	if own := p.KueueSettings.OwnPodsReady; own != nil {
		return *own
	}
	return DefaultPodsReady()
}

// SharesFairly reports whether weights decide which queues borrow.
func (p *Platform) SharesFairly() bool {
	if e := p.Cluster.Existing; e != nil && e.Kueue != nil {
		return e.Kueue.FairSharing
	}
	return p.KueueSettings.Strategies != nil
}

// MeasuresUsage reports whether Kueue measures what teams have used of a queue.
func (p *Platform) MeasuresUsage() bool {
	if e := p.Cluster.Existing; e != nil && e.Kueue != nil {
		return e.Kueue.AdmissionFairSharing
	}
	return p.KueueSettings.Usage != nil
}
