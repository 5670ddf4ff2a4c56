package rules

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// limitedRules maps the code of each rule that does not hold for every scheduler to the
// one scheduler that it holds for, or to the excepted schedulers after a dash.
var limitedRules = map[string]string{
	"E0432": "-kai", "E0433": "-kai", "W0438": "-kai", "W0441": "-kai", "W0442": "-kai",
	"E0443": "-kai", "E0444": "-kai", "W0445": "-kai", "W0446": "-kai",
	"E0504": "-kai",
	"E0505": "-kai",
	"E0507": "-kai",
	"E0510": "-kai",
	"E0520": "-kai", "E0521": "-kai", "W0522": "-kai", "E0523": "-kai",
	"E0540": "-kai", "E0541": "-kai", "W0542": "-kai", "E0543": "-kai", "N0544": "-kai", "E0545": "-kai",
	"E0547": "-kai", "E0548": "-kai", "E0549": "-kai",
	"E0266": "-kai", "W0267": "-kai",
	"E0232": "-kai", "E0233": "-kai", "E0234": "-kai", "E0235": "-kai", "E0236": "-kai",
	"E0530": "-kai", "E0531": "-kai", "W0532": "-kai", "W0533": "-kai",
	"E0607": "-kai", "E0609": "-kai", "E0612": "-kai", "E0613": "-kai",
	"W0611": "-kai", "W0616": "-kai", "W0617": "-kai", "W0618": "-kai", "W0619": "-kai",
	"E0640": "-kai", "W0641": "-kai", "W0642": "-kai",
	"E0721": "kai",
	"W0512": "-kai",
	"E0809": "-kai",
	"E0817": "-kai",
	"E1001": "kai",
	"E0843": "-kai",
	"E0844": "-kai",
	"E1002": "kai",
	"E1003": "kai",
	"E1005": "kai",
	"E1006": "-kai",
	"E1007": "kai",
	"E1008": "kai",
	"E1063": "kai",
	"E1075": "-kai",
	"E1076": "kai",
	"E1078": "-kai",
	"N0410": "-kai",
	"W0419": "-kai",
	"W0502": "-kai",
	"W0606": "-kai",
	"W0610": "-kai",
	"W0615": "-kai",
	"W0824": "-kai",
	"W1004": "kai",
	"W1009": "kai",
	"W1090": "kai",
}

// TestRulesNameSchedulers checks that the rules name schedulers that exist, and that
// a rule holds for a new scheduler unless the rule is about another one.
func TestRulesNameSchedulers(t *testing.T) {
	const invented = ir.Scheduler("invented")
	limited := map[string]string{}
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
		holds := func(s ir.Scheduler) bool { return r.holdsFor(&ir.Platform{Scheduler: s}) }
		if !slices.ContainsFunc(ir.Schedulers(), holds) {
			t.Errorf("%s holds for no scheduler", r.Code)
		}
		if r.only == "" && !holds(invented) {
			t.Errorf("%s does not hold for a new scheduler", r.Code)
		}
		limited[r.Code] = string(r.only)
		for _, s := range r.except {
			limited[r.Code] += "-" + string(s)
		}
		if limited[r.Code] == "" {
			delete(limited, r.Code)
		}
	}
	if diff := cmp.Diff(limitedRules, limited); diff != "" {
		t.Errorf("rules that hold for some schedulers only (-want +got):\n%s", diff)
	}
}
