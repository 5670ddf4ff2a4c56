// Package progress says how far a long piece of work is, for a person who waits for
// it. The work reports to a Progress, and anybody can read it meanwhile. The package
// knows no terminal and no clock.
package progress

import "sync"

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

// State is how far a piece of work is at one moment.
type State struct {
	Stage   Stage
	Subject string
	// Done is the number of steps that are done, of Total. Total is 0 if nobody counts
	// the steps of the stage.
	Done, Total int
	Findings    int
}

// Progress is how far a piece of work is. The zero Progress is Idle. Several
// goroutines can use it. A nil Progress accepts all reports and keeps nothing, so work
// that nobody watches costs nothing.
type Progress struct {
	mu  sync.Mutex
	now State
}

// Start says that a stage begins, and with which subject, "" for none.
func (p *Progress) Start(stage Stage, subject string) {
	p.change(func(s *State) { *s = State{Stage: stage, Subject: subject, Findings: s.Findings} })
}

// Expect says how many steps the stage has.
func (p *Progress) Expect(steps int) { p.change(func(s *State) { s.Total = steps }) }

// Step says that one step of the stage is done.
func (p *Progress) Step() { p.change(func(s *State) { s.Done++ }) }

// Find says that there is one finding more.
func (p *Progress) Find() { p.change(func(s *State) { s.Findings++ }) }

// Now returns the state. Done is at most Total.
func (p *Progress) Now() (now State) {
	p.change(func(s *State) { now = *s })
	now.Done = min(now.Done, now.Total)
	return now
}

func (p *Progress) change(f func(*State)) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		f(&p.now)
	}
}
