package ir

import (
	"strings"
	"testing"
)

// TestChoose checks that each scheduler gets its own argument, and that an unknown
// scheduler is an error and never gets the argument of another one.
func TestChoose(t *testing.T) {
	for _, s := range Schedulers() {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if got := Choose(s, Kueue, KAI); got != s {
			t.Errorf("%s gets the argument of %s", s, got)
		}
	}
	for _, s := range []Scheduler{"", "slurm", "Kueue"} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "unknown scheduler") {
			t.Errorf("Check of %q returns %v", s, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Choose and Facts do not panic for %q", s)
				}
			}()
			s.Facts()
		}()
	}
}

// TestSchedulerFacts checks that the facts of the schedulers are complete, and that
// no two schedulers claim the same name, namespace or label.
func TestSchedulerFacts(t *testing.T) {
	owner := map[string]Scheduler{}
	for _, s := range Schedulers() {
		f := s.Facts()
		if f.Name == "" || f.QueueLabel == "" || len(f.Namespaces) == 0 {
			t.Errorf("the facts of %s lack a name, a label or a namespace", s)
		}
		for _, unique := range append([]string{f.Name, f.QueueLabel}, f.Namespaces...) {
			if other, claimed := owner[unique]; claimed {
				t.Errorf("%q belongs to %s and to %s", unique, other, s)
			}
			owner[unique] = s
		}
		if _, known := f.ClassValue(f.DefaultClass); known != (f.DefaultClass != "") {
			t.Errorf("the default PriorityClass %q of %s is not among its classes", f.DefaultClass, s)
		}
	}
}
