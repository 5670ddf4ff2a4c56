package rules

import (
	"slices"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestRulesNameSchedulers checks that the rules name schedulers that exist, and that
// a rule holds for a new scheduler unless the rule is about another one.
func TestRulesNameSchedulers(t *testing.T) {
	const invented = ir.Scheduler("invented")
	for _, r := range All() {
		named := r.except
		if r.only != "" {
			named = append(slices.Clone(named), r.only)
		}
		for _, s := range named {
			if err := s.Check(); err != nil {
				t.Errorf("%s: %v", r.Code, err)
			}
		}
		if r.only != "" && len(r.except) > 0 {
			t.Errorf("%s holds only for %s, so it needs no exceptions", r.Code, r.only)
		}
		if !slices.ContainsFunc(ir.Schedulers(), r.holdsFor) {
			t.Errorf("%s holds for no scheduler", r.Code)
		}
		if r.holdsFor(invented) != (r.only == "") {
			t.Errorf("%s holds for an invented scheduler: %v", r.Code, r.holdsFor(invented))
		}
	}
}
