package summary

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/emit/review/delta"
)

// Topic is the subject area of a line of the summary.
type Topic string

// The topics in the order of a summary: topics of decisions come before topics whose
// lines mostly follow from them.
const (
	TopicCluster    Topic = "cluster"     // versions, networks, monitoring, delivery
	TopicCapacity   Topic = "capacity"    // number of nodes and accelerators
	TopicTeams      Topic = "teams"       // teams, cohorts and who belongs to them
	TopicQueues     Topic = "queues"      // queues, and the teams that use them
	TopicQuota      Topic = "quota"       // a queue's quota of a capacity
	TopicPriority   Topic = "priority"    // classes, and which preempts which
	TopicAccess     Topic = "access"      // who may submit, and who reaches the cluster
	TopicSecurity   Topic = "security"    // protection of the cluster and of its data
	TopicWorkloads  Topic = "workloads"   // jobs of the teams
	TopicAlerts     Topic = "alerts"      // alerts on the platform
	TopicGuarantees Topic = "guarantees"  // what all queues together guarantee of a capacity
	TopicLimits     Topic = "limits"      // limits of GKE's auto-provisioning
	TopicCloudQuota Topic = "cloud quota" // quota that Google Cloud must grant
)

var topics = []Topic{
	TopicCluster, TopicCapacity, TopicTeams, TopicQueues, TopicQuota, TopicPriority, TopicAccess, TopicSecurity,
	TopicWorkloads, TopicAlerts, TopicGuarantees, TopicLimits, TopicCloudQuota,
}

// Topics returns all topics in the order of a summary.
func Topics() []Topic { return slices.Clone(topics) }

// BeforeBuild is the beginning of a note about what must be true before the change is built.
const BeforeBuild = "before the build, "

// dangerous is the beginning of a note about a change that removes a protection.
const dangerous = "dangerous: "

// Line is one line of the summary.
type Line struct {
	Topic   Topic    `json:"topic"`
	Op      delta.Op `json:"op"`
	Subject string   `json:"subject"` // such as `team "vision"`
	// What is the changed part of the subject, such as "nominal quota of l4-spot in
	// batch"; "" for the subject as a whole.
	What string `json:"what"`
	// From and To are the values with their units; "" if there is no value, or if Op
	// says everything.
	From string `json:"from"`
	To   string `json:"to"`
	// Note adds facts that a reader needs to judge the change, such as the cohort's
	// new guarantee and the number of existing GPUs; "" if there is none.
	Note string `json:"note"`
	// Grows reports whether the platform can use more of a Google Cloud quota than before.
	Grows bool `json:"grows,omitempty"`
}

// Dangerous reports whether the change removes a protection, as its note says.
func (l Line) Dangerous() bool { return strings.HasPrefix(l.Note, dangerous) }

// String returns the line as a sentence without a full stop and without its topic,
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

// sameUnit returns from without its unit if to has the same unit, in the singular or
// plural. Otherwise it returns from unchanged.
func sameUnit(from, to string) string {
	n, unit, ok := strings.Cut(from, " ")
	_, other, _ := strings.Cut(to, " ")
	if _, err := strconv.Atoi(n); ok && err == nil && strings.TrimSuffix(unit, "s") == strings.TrimSuffix(other, "s") {
		return n
	}
	return from
}
