package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/standing"
	"github.com/batchwright/batchwright/emit/review"
)

// playSamples plays a standing set of jobs through the change, if the scheduler's engine is
// installed, and returns what becomes of them. It returns nil without an engine: the review then
// has only what follows by rule. A problem does not hide the review: the result says why the jobs
// were not played.
func (d *comparison) playSamples(ctx context.Context, before, after *side) *review.Played {
	scheduler := after.Plan.Scheduler
	if !ir.Choose(scheduler, true, false) {
		return nil // its engine plays no change of the configuration
	}
	if _, err := engineOf(scheduler).find(scheduler); err != nil {
		return nil
	}
	earlier := standing.State{Plan: before.Plan, Tree: before.Tree}
	played, err := d.playScenes(ctx, earlier, after)
	var unplayable rehearsal.Unplayable
	if err != nil && before.Compiled != nil && ctx.Err() == nil && !errors.As(err, &unplayable) {
		// Another version wrote the committed folder, so its queues differ from the plan.
		earlier.Tree = before.Compiled
		played, err = d.playScenes(ctx, earlier, after)
	}
	switch {
	case ctx.Err() != nil:
		return &review.Played{Unplayed: interrupted}
	case err != nil:
		return &review.Played{Unplayed: err.Error()}
	}
	return played
}

// playScenes plays the scenes of a change, each with and without it. What it returns is not
// complete if ctx is done.
func (d *comparison) playScenes(ctx context.Context, before standing.State, after *side) (*review.Played, error) {
	scenes, err := standing.Scenes(before, standing.State{Plan: after.Plan, Tree: after.Tree})
	if err != nil || len(scenes) == 0 {
		return nil, err
	}
	at, end := d.meter.start("")
	defer end()
	at.Start(progress.Rehearsing, "sample jobs")
	histories := make([][2]*rehearsal.History, len(scenes))
	var group errgroup.Group
	for i, scene := range scenes {
		for j, scenario := range []*rehearsal.Scenario{scene.Control, scene.Changed} {
			group.Go(func() (err error) {
				histories[i][j], err = d.play(ctx, scenario, false)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var outcomes []standing.Outcome
	played := &review.Played{Decider: rehearsal.Decider(scenes[0].Changed, histories[0][1])}
	for i, scene := range scenes {
		all, unaffected := scene.Outcomes(histories[i][0], histories[i][1])
		outcomes = append(outcomes, all...)
		played.Unaffected += unaffected
	}
	played.Lines = standing.Lines(outcomes)
	return played, nil
}
