// Package progress says how far a long piece of work is, for a person who waits for
// it. The work reports to a Progress, and anybody can read it meanwhile. The package
// knows no terminal and no clock.
package progress

import "sync/atomic"

// Stage is a part of the work.
type Stage int

// The stages, in their order. Work that has not started is Idle: it waits for its
// input, for example.
const (
	Idle       Stage = iota
	Reading          // the files of a blueprint
	Evaluating       // the blueprint, as CUE
	Checking         // the entities of one field, which is the subject
	Planning         // defaults, names and amounts
	Judging          // by rules
	Rendering        // the folder
	Writing          // the files of the folder
	Comparing        // with another folder, or with a cluster
	Rehearsing       // the rehearsal that is the subject
	Importing        // exports of a cluster
)

// Progress is how far a piece of work is. The zero Progress is Idle. Several
// goroutines can use it. A nil Progress accepts all reports and keeps nothing, so work
// that nobody watches costs nothing.
type Progress struct {
	now      atomic.Pointer[part]
	findings atomic.Int64
}

// part is one stage of the work, as far as it is done.
type part struct {
	stage       Stage
	subject     string
	done, total atomic.Int64
}

// State is a Progress at one moment.
type State struct {
	Stage   Stage
	Subject string
	// Done is the number of steps that are done, of Total. Total is 0 if nobody counts
	// the steps of the stage.
	Done, Total int
	Findings    int
}

// Start says that a stage begins, and with which subject, "" for none.
func (p *Progress) Start(stage Stage, subject string) {
	if p != nil {
		p.now.Store(&part{stage: stage, subject: subject})
	}
}

// Expect says how many steps the stage has.
func (p *Progress) Expect(steps int) {
	if p == nil {
		return
	}
	if now := p.now.Load(); now != nil {
		now.total.Store(int64(steps))
	}
}

// Step says that one step of the stage is done.
func (p *Progress) Step() {
	if p == nil {
		return
	}
	if now := p.now.Load(); now != nil {
		now.done.Add(1)
	}
}

// Find says that there is one finding more.
func (p *Progress) Find() {
	if p != nil {
		p.findings.Add(1)
	}
}

// Now returns the state. Done is at most Total.
func (p *Progress) Now() State {
	if p == nil {
		return State{}
	}
	s := State{Findings: int(p.findings.Load())}
	if now := p.now.Load(); now != nil {
		s.Stage, s.Subject, s.Total = now.stage, now.subject, int(now.total.Load())
		s.Done = min(int(now.done.Load()), s.Total)
	}
	return s
}
