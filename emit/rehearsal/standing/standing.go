// Package standing plays a change of a platform on jobs that stand there when it comes: jobs
// that run on their quota, that borrow, and that wait, and jobs that arrive later. Two plans
// and their folders go in, and what Kueue decides otherwise because of the change comes out.
//
// A standing set is about quota: it has no nodes, and every job that has quota runs. The play
// leaves out what happens to jobs whose nodes are deleted or replaced. Where Kueue leaves to
// chance which of several waiting jobs starts, the play has one of the possible results.
package standing

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// State is a platform on one side of a change: its plan, and its deploy folder, as package
// folder builds it.
type State struct {
	Plan *ir.Platform
	Tree emit.Tree
}

// Scene is a standing set of jobs at the moment of a change.
type Scene struct {
	Name string
	// Changed is the scenario with the change, and Control the same scenario without it.
	// They have the same jobs, except that Control omits jobs for queues that only the
	// change brings.
	Changed, Control *rehearsal.Scenario

	before *ir.Platform
	jobs   map[string]standingJob // by name
	change int64                  // time of the change
	look   int64                  // time at which the jobs that still run are told from those that wait
}

// standingJob is a job of a scene.
type standingJob struct {
	team, tier string
	capacity   string // "" for any capacity of the queue
	units      int64  // of what the capacity is counted in
	isNew      bool   // submitted after the change
}

const (
	// mostQueues is the largest number of ClusterQueues that a scene plays.
	mostQueues = 200
	// mostTogether is the largest number of ClusterQueues in one tree of cohorts: Kueue compares
	// each waiting job with all running jobs of the tree. With 120 of them, a play takes 12
	// seconds of CPU time.
	mostTogether = 40
)

// Scenes returns the scenes of a change: everybody uses the guarantee, and, if queues can
// borrow, each half of the teams borrows what the other half leaves idle. It plays only the
// trees of cohorts in which an object of Kueue changes, and returns nil if there are none.
//
// The error is an Unplayable if the engine cannot play the change. Every other error is a bug:
// a tree is not that of its plan.
func Scenes(before, after State) ([]*Scene, error) {
	if err := checkSides(before.Plan, after.Plan); err != nil {
		return nil, err
	}
	var sides [2][]object
	for i, s := range []State{before, after} {
		raw, err := rehearsal.Objects(s.Plan, s.Tree)
		if err != nil {
			return nil, err
		}
		if sides[i], err = decodeObjects(raw); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(configurationOf(sides[0]), configurationOf(sides[1])) {
		return nil, rehearsal.Unplayable("Kueue gets another configuration, and starts again with it")
	}
	left, err := leftBehind(after.Plan, sides[0], sides[1])
	if err != nil {
		return nil, err
	}
	sides[1] = append(sides[1], left...)
	touched, largest := touch(before.Plan, after.Plan, sides)
	switch n := touched.queues(); {
	case n == 0:
		return nil, nil
	case n > mostQueues:
		return nil, rehearsal.Unplayable(fmt.Sprintf(
			"the change concerns cohorts with %d ClusterQueues; at most %d are played", n, mostQueues))
	case largest > mostTogether:
		return nil, rehearsal.Unplayable(fmt.Sprintf(
			"the change concerns %d ClusterQueues under one cohort; at most %d are played", largest, mostTogether))
	}
	d := &director{before: before.Plan, after: after.Plan, touched: touched}
	for i := range sides {
		for _, o := range sides[i] {
			if o.belongsTo(touched) {
				d.objects[i] = append(d.objects[i], o.text)
			}
		}
	}
	return d.direct()
}

// checkSides returns an Unplayable if the jobs of one side do not live on the other.
func checkSides(before, after *ir.Platform) error {
	was, is := before.Scheduler.Facts(), after.Scheduler.Facts()
	switch {
	case before.Absent() || after.Absent():
		return rehearsal.Unplayable("there is only one platform")
	case before.Name != after.Name || before.Project != after.Project || before.Region != after.Region:
		return rehearsal.Unplayable("the new platform has no jobs yet")
	case was.Name != is.Name:
		return rehearsal.Unplayable("the platform gets another scheduler")
	case !ir.Choose(after.Scheduler, true, false):
		return rehearsal.Unplayable("the engine of " + is.Name + " cannot play a change")
	case before.KueueVersion() != after.KueueVersion():
		return rehearsal.Unplayable("the platform gets another release of " + is.Name)
	}
	return nil
}

// configurationOf returns Kueue's configuration, nil without one.
func configurationOf(objects []object) json.RawMessage {
	for _, o := range objects {
		if o.Kind == "Configuration" {
			return o.text
		}
	}
	return nil
}
