package ir

// Names that KAI Scheduler uses for itself, and the place from which it is
// installed. Source: KAI Scheduler's documentation, "Installation", v0.17.
const (
	KAISchedulerName = "kai-scheduler"
	KAIChart         = "oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler"
)

// KAINonPreemptible is the lowest value of a PriorityClass whose jobs KAI Scheduler
// never evicts. Such a job never gets more than its queue's quota. Source: KAI
// Scheduler's documentation, "Workload priority".
const KAINonPreemptible = 100

// GPUShare is a queue's share of the GPUs. KAI Scheduler counts GPUs of all types
// together.
type GPUShare struct {
	Guaranteed int64
	Most       int64 // guaranteed and borrowed GPUs together, at most
	All        bool  // the queue may borrow all idle GPUs, beyond Most
}

// GPUs returns the sum of the queue's shares of all capacities. A capacity whose
// reservation has not begun counts as none.
func (q Queue) GPUs() GPUShare {
	var out GPUShare
	for _, f := range q.Flavors {
		if f.Waiting {
			continue
		}
		for _, r := range f.Quotas {
			if r.Resource != GPU {
				continue
			}
			out.Guaranteed += r.Nominal.Value()
			out.Most += r.Nominal.Value()
			if r.Borrowing != nil {
				out.Most += r.Borrowing.Value()
			}
			out.All = out.All || r.BorrowsAll
		}
	}
	return out
}

// KAIDefaultQueue reports whether KAI Scheduler's chart gives the name to a queue of
// its own. Jobs that name no queue are in the second of these queues. Source:
// values.yaml of the chart.
func KAIDefaultQueue(name string) bool {
	return name == "default-parent-queue" || name == "default-queue"
}

// KAIQuota returns the number of GPUs that KAI Scheduler guarantees to a cohort: its own
// quota, or else the sum of its teams' guarantees.
func (p *Platform) KAIQuota(c Cohort) int64 {
	if c.Quota != nil {
		return int64(*c.Quota)
	}
	return p.TeamGuarantees(c.Name)
}

// TeamGuarantees returns the sum of the GPUs that are guaranteed to the teams of a cohort.
func (p *Platform) TeamGuarantees(cohort string) int64 {
	var sum int64
	for _, t := range p.Teams {
		if t.Cohort != cohort {
			continue
		}
		for _, q := range t.Queues {
			sum += q.GPUs().Guaranteed
		}
	}
	return sum
}
