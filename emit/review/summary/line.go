package summary

import (
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/emit/review/delta"
)

// Topic is what a line of the summary is about.
type Topic string

// Topics, in the order of a summary: what somebody decided stands before what
// mostly follows from it.
const (
	TopicCluster    Topic = "cluster"     // versions, networks, monitoring, delivery
	TopicCapacity   Topic = "capacity"    // nodes and accelerators there are
	TopicTeams      Topic = "teams"       // teams, cohorts and who belongs to them
	TopicQueues     Topic = "queues"      // which queues there are, and for whom
	TopicQuota      Topic = "quota"       // what a queue has of a capacity
	TopicPriority   Topic = "priority"    // classes, and who preempts whom
	TopicAccess     Topic = "access"      // who may submit, and who reaches the cluster
	TopicWorkloads  Topic = "workloads"   // jobs of the teams
	TopicAlerts     Topic = "alerts"      // what is watched
	TopicLimits     Topic = "limits"      // how far GKE may go by itself
	TopicCloudQuota Topic = "cloud quota" // quota that Google Cloud has to grant
)

var topics = []Topic{
	TopicCluster, TopicCapacity, TopicTeams, TopicQueues, TopicQuota, TopicPriority, TopicAccess, TopicWorkloads,
	TopicAlerts, TopicLimits, TopicCloudQuota,
}

// Line is one line of the summary.
type Line struct {
	Topic   Topic
	Op      delta.Op
	Subject string // such as `team "vision"`
	// What of the subject changed, such as "nominal quota of l4-spot in batch";
	// "" for the subject as a whole.
	What string
	// From and To are values with their units; "" where Op says all, or for no
	// value.
	From, To string
	// Note adds what one has to know to judge the change, such as what the
	// cohort now guarantees and what there is. Or "".
	Note string
}

// String is the line as a sentence without a full stop and without its topic,
// such as `team "vision": nominal quota of l4-spot in lp: 12 -> 16 GPUs (all queues
// guarantee 52 of the 72 GPUs)`.
func (l Line) String() string {
	var b strings.Builder
	b.WriteString(l.Subject)
	if l.What != "" {
		b.WriteString(": " + l.What)
	}
	value := l.To
	switch l.Op {
	case delta.Added:
		b.WriteString(" added")
	case delta.Removed:
		b.WriteString(" removed from configuration")
		value = l.From
	case delta.Changed:
		if l.From == "" && l.To == "" {
			b.WriteString(" changed")
			value = ""
			break
		}
		b.WriteString(": " + sameUnit(l.From, l.To) + " -> " + l.To)
		value = ""
	}
	if value != "" {
		b.WriteString(": " + value)
	}
	if l.Note != "" {
		b.WriteString(" (" + l.Note + ")")
	}
	return b.String()
}

// sameUnit leaves out the unit of a number where another has the same, but for
// the plural.
func sameUnit(from, to string) string {
	n, unit, ok := strings.Cut(from, " ")
	_, other, _ := strings.Cut(to, " ")
	if _, err := strconv.Atoi(n); ok && err == nil && strings.TrimSuffix(unit, "s") == strings.TrimSuffix(other, "s") {
		return n
	}
	return from
}
