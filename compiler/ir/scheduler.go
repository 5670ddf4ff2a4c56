package ir

import (
	"fmt"
	"slices"
)

// Scheduler is the software that starts the teams' jobs.
type Scheduler string

// The schedulers. Most of their differences are already in the plan: how a workload
// names its queue (Workload.Queueing), and which capacities need an admission check.
// Code that all schedulers share asks for their Facts. Where a scheduler needs code
// or words of its own, Choose selects them.
const (
	Kueue Scheduler = "kueue"
	KAI   Scheduler = "kai"
)

// Schedulers returns all schedulers, in the order of the parameters of Choose.
func Schedulers() []Scheduler { return []Scheduler{Kueue, KAI} }

// Check returns an error if the scheduler is unknown.
func (s Scheduler) Check() error {
	if !slices.Contains(Schedulers(), s) {
		return fmt.Errorf("unknown scheduler %q", s)
	}
	return nil
}

// Choose returns the argument that belongs to the scheduler. No other code
// distinguishes schedulers. Each scheduler has a parameter of its own, so a new
// scheduler stops the build at every call that lacks an argument for it. Choose
// panics if the scheduler is unknown: a plan with such a scheduler is a bug, which
// Check finds first.
func Choose[T any](s Scheduler, kueue, kai T) T {
	switch s {
	case Kueue:
		return kueue
	case KAI:
		return kai
	}
	panic(fmt.Sprintf("scheduler %q has no argument of Choose", s))
}

// SchedulerFacts are the properties of a scheduler that matter to code that all
// schedulers share.
type SchedulerFacts struct {
	// Name is the name as written in a sentence.
	Name string
	// Namespaces are the namespaces that belong to the scheduler, its own first.
	Namespaces []string
	// Groups are the API groups of the scheduler's objects.
	Groups []string
	// Downloads are the programs that only this scheduler's installation downloads
	// and compares with a SHA-256, by their fields of versions.
	Downloads []string

	// QueueLabel is the label by which a job names its queue.
	QueueLabel string
	// OneQueue reports whether a team has one queue, with the name of the team.
	// Otherwise a team has a queue in each of its tiers.
	OneQueue bool
	// QuotaPerCapacity reports whether quota is counted for each capacity
	// separately, so that the nominal quotas bound the nodes in use. Otherwise
	// quotas of all capacities are added up, and idle accelerators are lent.
	QuotaPerCapacity bool
	// CountsCPU reports whether quota also limits cpu and memory. Otherwise it
	// limits only GPUs.
	CountsCPU bool
	// CountsJobs reports whether queues show the numbers of their jobs, and jobs how
	// often they were evicted.
	CountsJobs bool
	// PacksPods reports whether pods are packed onto as few nodes as possible, so that
	// the nodes that they share can be foretold.
	PacksPods bool
	// MatchesAllLabels reports whether a pod starts only on nodes that have all
	// labels of its node selector. Otherwise labels that a capacity's ResourceFlavor
	// lacks are ignored when a workload is admitted to it.
	MatchesAllLabels bool

	// Sections are the sections of the administrators' dashboards, in their order.
	Sections []string

	// PreemptsByPriority reports whether every job can evict the preemptible jobs
	// with a lower PriorityClass in its queue. Otherwise the tier decides.
	PreemptsByPriority bool
	// DefaultClass is the PriorityClass of jobs whose pods name none, in a cluster
	// without a default class; "" if there is none.
	DefaultClass string
	// Classes are the PriorityClasses that the scheduler's installation creates.
	Classes []BuiltInClass
}

// BuiltInClass is a PriorityClass that a scheduler's installation creates.
type BuiltInClass struct {
	Name  string
	Value int
}

// ClassValue returns the value of a PriorityClass that the scheduler's installation
// creates, and reports whether it creates the class.
func (f SchedulerFacts) ClassValue(name string) (value int, known bool) {
	for _, c := range f.Classes {
		if c.Name == name {
			return c.Value, true
		}
	}
	return 0, false
}

// Facts returns the facts of a known scheduler.
func (s Scheduler) Facts() SchedulerFacts { return Choose(s, kueueFacts, kaiFacts)() }

func kueueFacts() SchedulerFacts {
	return SchedulerFacts{
		Name:             "Kueue",
		Namespaces:       []string{KueueNamespace},
		Groups:           []string{"kueue.x-k8s.io"},
		Downloads:        []string{"kueue"},
		QueueLabel:       LabelKueueQueue,
		QuotaPerCapacity: true,
		CountsCPU:        true,
		CountsJobs:       true,
		Sections: []string{
			"overview", "quota", "queues", "evictions", "nodes", "capacity", "accelerators", "costs", "controller",
		},
	}
}

func kaiFacts() SchedulerFacts {
	return SchedulerFacts{
		Name:               "KAI Scheduler",
		Namespaces:         []string{KAINamespace, kaiReservationNamespace},
		Groups:             []string{"scheduling.run.ai", "kai.scheduler"},
		Downloads:          []string{"helm"},
		QueueLabel:         LabelKAIQueue,
		OneQueue:           true,
		PacksPods:          true,
		MatchesAllLabels:   true,
		PreemptsByPriority: true,
		Sections: []string{
			"overview", "cohorts", "teams", "evictions", "nodes", "capacity", "accelerators", "costs", "controller",
		},
		// Source: KAI Scheduler's documentation, "Workload priority".
		DefaultClass: "train",
		Classes:      []BuiltInClass{{"train", 50}, {"build-preemptible", 75}, {"build", 100}, {"inference", 125}},
	}
}
