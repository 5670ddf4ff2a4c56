package main

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
	"github.com/batchwright/batchwright/emit/review"
)

// interrupted is the reason why a rehearsal was not played to its end on both sides.
const interrupted = "it was interrupted"

// printRehearsed writes a review with the differences between the rehearsals of both sides. If
// ctx is done before the rehearsals end, it writes what is known, and returns the error of ctx.
func (d *comparison) printRehearsed(ctx context.Context, r *review.Review, before, after *side) (err error) {
	r.Rehearsals, err = d.compareRehearsals(ctx, before, after)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if shown := d.printReview(r, d.folderPath(after.Plan), false); !errors.Is(shown, errFindings) {
		return shown
	}
	return cmp.Or(err, errFindings)
}

// compareRehearsals plays the rehearsals of the later side on both sides, and returns the
// differences, by the names of the rehearsals. Both sides get the same jobs. If ctx is done
// before the end, the rehearsals that were not played completely say so, and the error is that
// of ctx.
func (d *comparison) compareRehearsals(ctx context.Context, before, after *side) ([]review.Rehearsal, error) {
	at, end := d.meter.start("")
	defer end()
	out := []review.Rehearsal{}
	for _, r := range after.Plan.Rehearsals {
		compared := review.Rehearsal{Name: r.Name, Unplayed: interrupted}
		if ctx.Err() == nil {
			at.Start(progress.Rehearsing, r.Name)
			var reports [2]*report.Report
			var group errgroup.Group
			for i, s := range []*side{before, after} {
				group.Go(func() (err error) {
					reports[i], err = d.rehearseSide(ctx, s, r)
					return err
				})
			}
			err := group.Wait()
			var unplayable rehearsal.Unplayable
			switch {
			case ctx.Err() != nil:
			case errors.As(err, &unplayable):
				compared.Unplayed = unplayable.Error()
			case err != nil:
				return nil, err
			default:
				compared = review.Rehearsal{Name: r.Name, Change: report.Compare(reports[0], reports[1])}
			}
		}
		out = append(out, compared)
	}
	return out, ctx.Err()
}

// rehearseSide plays a rehearsal on one side. The error is an Unplayable if the side has no
// platform, or if the rehearsal cannot be played on it.
func (d *comparison) rehearseSide(ctx context.Context, s *side, r ir.Rehearsal) (*report.Report, error) {
	if s.Plan == nil || s.absent {
		return nil, rehearsal.Unplayable("there is no platform in " + s.Label)
	}
	scenario, err := rehearsal.OfRehearsal(s.Plan, s.Tree, r)
	if err != nil && s.Compiled != nil { // the committed folder differs from the plan
		scenario, err = rehearsal.OfRehearsal(s.Plan, s.Compiled, r)
	}
	var unplayable rehearsal.Unplayable
	if errors.As(err, &unplayable) {
		return nil, rehearsal.Unplayable("in " + s.Label + ", " + unplayable.Error())
	}
	if err != nil {
		return nil, err
	}
	history, err := d.play(ctx, scenario, false)
	if err != nil {
		return nil, err
	}
	return report.Of(s.Plan, scenario, history, r.Expect), nil
}
