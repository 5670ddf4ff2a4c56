package emit

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// InParallel calls f with every number from 0 to n-1, on all processors at once. It
// returns the error for the smallest number, and nil without an error. It returns after
// all calls have ended. A panic of a call becomes a panic of InParallel.
//
// f must not change what another call reads. A quantity of a plan is such a thing:
// resource.Quantity.String writes the text that it returns into the quantity, so f
// needs a copy of it.
func InParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var panicked atomic.Pointer[any]
	work := func() {
		defer func() {
			if bug := recover(); bug != nil {
				panicked.CompareAndSwap(nil, &bug)
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			errs[i] = f(i)
		}
	}
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	if bug := panicked.Load(); bug != nil {
		panic(*bug)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
