package ir

// DemonstrationRehearsal is the name under which the demonstration is rehearsed. No
// rehearsal of a blueprint has this name.
const DemonstrationRehearsal = "demonstration"

// Rehearsal is a rehearsal of the platform. Times and lengths are in whole seconds, and
// times count from the start of the rehearsal.
type Rehearsal struct {
	Name     string
	Shows    string // what the rehearsal shows, "" if the blueprint does not say it
	Until    int64  // end of the rehearsal
	Seed     int    // all random times and lengths follow from it
	Arrivals []Arrival
	// Workloads are the jobs that only the rehearsal has, one for each team and each kind
	// of job. Their pods run no program.
	Workloads []Workload
	Limits    []NodeLimit // by capacity, then by time
	Holds     []QueueHold // in the order of the blueprint
	Expect    []RehearsalExpectation
}

// Arrival is a series of jobs: of one workload, or of a trace.
type Arrival struct {
	// Index is the index of the arrival in the blueprint.
	Index int
	// Template is the workload's name in the blueprint, the Template of one of the
	// rehearsal's own Workloads, or "" for a trace.
	Template string
	Teams    []string // the teams that submit these jobs, sorted
	At       int64    // of the first job of each team
	Every    int64    // between two jobs of a team; 0 if all arrive at once
	// Random reports whether the times between jobs are exponentially distributed, with
	// the mean Every. The time from At to the first job is then also random.
	Random bool
	Count  int // jobs of each team
	Runs   RunTime
	// IndependentPods reports whether each pod runs for a time of its own, from its own
	// start, and the job ends with its last pod.
	IndependentPods bool
	Checkpoint      int64 // between two checkpoints; 0 if an evicted job starts again
	// Trace holds the jobs of a trace, by time. Of the fields above it has Index,
	// Checkpoint and, if the blueprint names teams, Teams.
	Trace []TracedJob
}

// TracedJob is a job of a trace.
type TracedJob struct {
	Line       int    // of the text, from 1
	Team, Tier string // as the platform names them, or would
	// Workload is the index of the job's kind in the rehearsal's Workloads. It is -1 if
	// there is no such team or tier, if the team has no quota in the tier, or if the
	// accelerators cannot be divided evenly among the pods.
	Workload int
	At       int64 // of its arrival
	Runs     int64 // from the start of all its pods to the end
}

// RunTime is the time from the start of all pods of a job to its end, or the distribution
// of this time. Only the fields of one distribution are set; the others are 0.
type RunTime struct {
	Fixed       int64
	From, To    int64 // bounds of a uniform distribution
	Median, P95 int64 // of a log-normal distribution
}

// NodeLimit is a period in which a capacity can have fewer nodes.
type NodeLimit struct {
	Capacity  string
	From      int64
	To        int64 // 0 for the end of the rehearsal
	Available int   // most nodes
	// Preempts reports whether nodes above Available are taken away with their pods. If
	// not, nodes that exist stay.
	Preempts bool
}

// QueueHold is a period in which queues admit no job.
type QueueHold struct {
	ClusterQueues []string // sorted
	From          int64
	To            int64 // 0 for the end of the rehearsal
	Drain         bool  // evicts the jobs that have quota
}

// RehearsalExpectation selects jobs of a rehearsal, and says what must happen to them.
// StartsWithin, Evictions and Utilization are bounds; one or more of them are set.
type RehearsalExpectation struct {
	Index    int      // in the blueprint
	Template string   // of the workload of the jobs, "" for all
	Tier     string   // of the jobs, "" for all
	Teams    []string // of the jobs, sorted; nil for all

	StartsWithin int64 // from arrival to the start of all pods; 0 for any time
	Percentile   int   // percentage of the jobs that start within StartsWithin
	Evictions    *int  // most evictions of the jobs together; nil for any number
	// Utilization is the lowest percentage of the accelerator time of the nodes of
	// Capacity that the jobs use, 0 for any. Without accelerators, vCPU time counts.
	Utilization int
	Capacity    string // "" if Utilization is 0
}
