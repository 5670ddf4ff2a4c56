package compiler

import (
	"cmp"
	"context"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// ExplainField describes the field at a path, such as
// teams.team-a.quota.lp."l4-spot".borrow or zones[0]. A name with a dot must be
// quoted, and "*" stands for any name.
//
// If the Input has no paths, ExplainField returns the schema's description of the
// field. Otherwise it also returns the field's value in that blueprint; Value is nil
// if the blueprint cannot be evaluated, and the findings say why. The error is a
// *PathError if the path leads to no field. Any other error is a failure of the
// compiler.
func ExplainField(ctx context.Context, in Input, path string) (*blueprint.Field, *diag.List, error) {
	found, err := blueprint.FindField(path)
	if err != nil {
		return nil, &diag.List{}, err
	}
	field := found.Field
	if len(in.Paths) == 0 {
		return field, &diag.List{}, nil
	}
	in.MaxTime = cmp.Or(in.MaxTime, DefaultMaxTime)
	in.MaxMemory = cmp.Or(in.MaxMemory, DefaultMaxMemory)
	request := in.loadInput()
	filled := make(chan *blueprint.Field, 1) // the guard may leave the function behind
	res, err := (&compilation{Input: in}).runWithinLimits(ctx, func() (*Result, error) {
		res := &Result{}
		loader, err := load.Read(request, &res.Findings)
		if err != nil || loader == nil {
			return res, err
		}
		filled <- found.DescribeIn(loader)
		return res, nil
	})
	if err != nil {
		return nil, &diag.List{}, err
	}
	select {
	case field = <-filled:
	default:
	}
	return field, &res.Findings, nil
}
