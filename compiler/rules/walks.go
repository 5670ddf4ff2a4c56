package rules

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Walks over the parts of the blueprint that lie deep, with the paths of their fields.

// fieldPath returns the path of a field below an entity or an element.
type fieldPath func(path ...string) []string

// below returns the fieldPath of an entity or an element.
func below(parent []string) fieldPath {
	return func(path ...string) []string { return append(slices.Clip(parent), path...) }
}

// eachPhase calls visit with every phase of the demonstration.
func (r *report) eachPhase(visit func(i int, phase schema.Phase, field fieldPath)) {
	for i, phase := range r.Blueprint.Demonstration {
		visit(i, phase, below(at("demonstration", diag.Index(i))))
	}
}

// eachRehearsal calls visit with every rehearsal.
func (r *report) eachRehearsal(visit func(name string, rehearsal schema.Rehearsal, field fieldPath)) {
	for _, name := range sortedKeys(r.Blueprint.Rehearsals) {
		visit(name, r.Blueprint.Rehearsals[name], below(at("rehearsals", name)))
	}
}

// eachArrival calls visit with every arrival of every rehearsal.
func (r *report) eachArrival(visit func(rehearsal schema.Rehearsal, arrival schema.Arrival, field fieldPath)) {
	r.eachRehearsal(func(_ string, rehearsal schema.Rehearsal, field fieldPath) {
		for i, arrival := range rehearsal.Arrivals {
			visit(rehearsal, arrival, below(field("arrivals", diag.Index(i))))
		}
	})
}

// eachNodeLimit calls visit with every limit on nodes of every rehearsal, and its
// capacity.
func (r *report) eachNodeLimit(visit func(rehearsal schema.Rehearsal, capacity string, limit schema.NodeLimit,
	field fieldPath)) {
	r.eachRehearsal(func(_ string, rehearsal schema.Rehearsal, field fieldPath) {
		for _, capacity := range sortedKeys(rehearsal.Nodes) {
			for i, limit := range rehearsal.Nodes[capacity] {
				visit(rehearsal, capacity, limit, below(field("nodes", capacity, diag.Index(i))))
			}
		}
	})
}

// eachHold calls visit with every period of every rehearsal in which queues are stopped. i
// is the index of the period.
func (r *report) eachHold(visit func(name string, i int, hold schema.QueueHold, field fieldPath)) {
	r.eachRehearsal(func(name string, rehearsal schema.Rehearsal, field fieldPath) {
		for i, hold := range rehearsal.Holds {
			visit(name, i, hold, below(field("holds", diag.Index(i))))
		}
	})
}

// eachExpectation calls visit with every expectation of every rehearsal.
func (r *report) eachExpectation(visit func(e schema.RehearsalExpectation, field fieldPath)) {
	r.eachRehearsal(func(_ string, rehearsal schema.Rehearsal, field fieldPath) {
		for i, e := range rehearsal.Expect {
			visit(e, below(field("expect", diag.Index(i))))
		}
	})
}

// eachAuxiliary calls visit for the auxiliary pods of each workload, as each team
// submits them. It skips pods whose capacity another rule reports.
func (r *report) eachAuxiliary(visit func(s fit.Submission, a ir.Auxiliary, c ir.Capacity)) {
	for s := range r.fit.Submissions().Each() {
		for _, a := range r.fit.Auxiliaries(s) {
			visit(s, a, r.fit.Named[a.Capacity])
		}
	}
}
