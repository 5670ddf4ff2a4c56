package ir

// What KAI Scheduler calls itself, and where it is installed from. Source: KAI
// Scheduler's documentation, "Installation", v0.17.
const (
	KAISchedulerName = "kai-scheduler"
	KAIChart         = "oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler"
)

// Services of KAI Scheduler that tell metrics, which are also the values of the
// label app of their pods. Source: KAI Scheduler 0.17,
// pkg/operator/operands/scheduler and queue_controller.
const (
	KAISchedulerService = "kai-scheduler-default"
	KAIQueueService     = "queue-controller"
)

// KAINonPreemptible is the value of a PriorityClass from which on KAI Scheduler
// never evicts a job, and so never gives it more than its queue's quota. Source:
// KAI Scheduler's documentation, "Workload priority".
const KAINonPreemptible = 100

// KAIDefaultClass is the class that KAI Scheduler gives a Job or JobSet whose pods
// name none.
const KAIDefaultClass = "train"

// KAIClass returns the value of a PriorityClass that KAI Scheduler's chart brings
// along. Source: KAI Scheduler's documentation, "Workload priority".
func KAIClass(name string) (value int, known bool) {
	switch name {
	case KAIDefaultClass:
		return 50, true
	case "build-preemptible":
		return 75, true
	case "build":
		return 100, true
	case "inference":
		return 125, true
	}
	return 0, false
}

// GPUShare is what a queue has of the GPUs, as KAI Scheduler counts them: whatever
// their type.
type GPUShare struct {
	Guaranteed int64
	Most       int64 // with what it may borrow at most
	All        bool  // it may borrow all that is idle, beyond Most
}

// GPUs adds up what a queue has of all capacities. There is nothing of a capacity
// whose reservation has not begun.
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

// KAIDefaultQueue tells whether a queue's name is one that KAI Scheduler's chart
// gives to queues of its own. Jobs that name no queue are in the second. Source:
// values.yaml of the chart.
func KAIDefaultQueue(name string) bool {
	return name == "default-parent-queue" || name == "default-queue"
}
