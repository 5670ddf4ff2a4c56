package rehearsal

// History is what happened in a rehearsal.
type History struct {
	Scheduler Scheduler `json:"scheduler"` // the release whose code decided
	// End is the time of the last event. It is at most the scenario's Until.
	End int64 `json:"end"`
	// Interrupted reports whether somebody stopped the rehearsal before its end.
	Interrupted bool         `json:"interrupted,omitempty"`
	Jobs        []JobHistory `json:"jobs"` // in the order of Scenario.Jobs
	States      []State      `json:"states,omitempty"`
	Pools       []PoolUse    `json:"pools"` // in the order of Scenario.Pools
}

// JobHistory is what happened to a job.
type JobHistory struct {
	ClusterQueue string  `json:"queue"`
	Runs         []Run   `json:"runs,omitempty"` // by time
	Outcome      Outcome `json:"outcome"`
	// End is the time at which the job finished or was deleted. It is 0 for a job that
	// waits or runs at the end.
	End int64 `json:"end,omitempty"`
	// Waits is the scheduler's last message that says why the job waited, "" if it never waited.
	Waits string `json:"waits,omitempty"`
}

// Outcome is the state of a job at the end of the rehearsal.
type Outcome string

// The outcomes.
const (
	Finished Outcome = "finished"
	Deleted  Outcome = "deleted"
	Running  Outcome = "running" // it has quota, and perhaps waits for nodes
	Waiting  Outcome = "waiting" // it has no quota
)

// Run is one time for which a job had quota.
type Run struct {
	Reserved int64 `json:"quotaAt"` // when the scheduler reserved quota
	// Ran reports whether all pods ran at some time, and Started is the first such time.
	Ran     bool  `json:"ran,omitempty"`
	Started int64 `json:"started,omitempty"`
	// Stopped is the time after Started in which not all pods ran, because nodes were lost.
	Stopped int64 `json:"stopped,omitempty"`
	// Redone is the work of the run that the job has to do again, because nodes were lost or
	// because the job was evicted: the time since the last checkpoint.
	Redone int64 `json:"redone,omitempty"`
	// Pods is what the pods did if they are independent of each other, and nil if not.
	// Stopped and Redone are 0 then.
	Pods *PodRuns `json:"pods,omitempty"`
	// Ended is the time at which the quota was free again, and 0 if it never was.
	Ended   int64          `json:"ended,omitempty"`
	Flavors []PodSetFlavor `json:"flavors"`
	Evicted EvictionReason `json:"evicted,omitempty"` // why the job lost its quota, "" if it did not
	By      string         `json:"by,omitempty"`      // namespace/name of the job that preempted it
	Message string         `json:"message,omitempty"` // the scheduler's message about the eviction
}

// PodRuns is what the independent pods of a job did in one run.
type PodRuns struct {
	Ran    int64 `json:"ran"`              // the time that they ran, summed over the pods
	Redone int64 `json:"redone,omitempty"` // the part that has to be done again
	// Finished are the numbers of pods that have done their work, by time: they have given
	// back their quota.
	Finished []Count `json:"finished,omitempty"`
}

// EvictionReason is a reason of Kueue's condition Evicted, such as "Preempted", or an action
// of KAI Scheduler, such as "reclaim".
type EvictionReason string

// PodSetFlavor is the flavor of a pod set.
type PodSetFlavor struct {
	PodSet string `json:"podSet"`
	Flavor string `json:"flavor"`
	Pods   int    `json:"pods"`
}

// State is what somebody sees who looks at the cluster.
type State struct {
	At     int64        `json:"at"`
	Queues []QueueState `json:"queues"` // by name
	// Pods are the numbers of running pods, by pool.
	Pods map[string]int `json:"pods"`
	// Pending is the number of pods that wait for nodes.
	Pending int `json:"pending"`
	// Nodes are the workloads of the pods on each node that runs pods, sorted. It is nil if
	// the engine does not tell which pods share nodes.
	Nodes [][]string `json:"nodes,omitempty"`
}

// QueueState counts the jobs of a ClusterQueue.
type QueueState struct {
	ClusterQueue string `json:"queue"`
	Pending      int    `json:"pending"`  // without quota
	Admitted     int    `json:"admitted"` // with quota and all admission checks
}

// PoolUse is the nodes of a pool over time.
type PoolUse struct {
	Name  string  `json:"name"`
	Nodes []Count `json:"nodes"` // by time; each count holds until the next
}

// Count is a number from some time on.
type Count struct {
	At int64 `json:"at"`
	N  int   `json:"n"`
}
