package emit_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/batchwright/batchwright/emit"
)

func TestInParallel(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		called := make([]atomic.Int32, n)
		if err := emit.InParallel(n, func(i int) error { called[i].Add(1); return nil }); err != nil {
			t.Error(err)
		}
		for i := range called {
			if c := called[i].Load(); c != 1 {
				t.Errorf("n = %d: %d calls with %d", n, c, i)
			}
		}
	}
}

// TestInParallelFails: the error does not depend on which call ends first.
func TestInParallelFails(t *testing.T) {
	first := errors.New("3")
	for range 100 {
		err := emit.InParallel(100, func(i int) error {
			switch {
			case i == 3:
				return first
			case i > 3:
				return fmt.Errorf("%d", i)
			}
			return nil
		})
		if err != first {
			t.Fatalf("error %v", err)
		}
	}
}

// TestInParallelPanics: the caller can recover from a panic of any call.
func TestInParallelPanics(t *testing.T) {
	for _, bad := range []int{0, 50, 99} {
		func() {
			defer func() {
				if got := recover(); got != bad {
					t.Errorf("recovered %v, want %d", got, bad)
				}
			}()
			_ = emit.InParallel(100, func(i int) error {
				if i == bad {
					panic(bad)
				}
				return nil
			})
		}()
	}
}
