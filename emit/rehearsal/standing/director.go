package standing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/workload"
)

const (
	// apart is the time between two events, in seconds: Kueue leaves the order of what happens
	// in one second to chance, and needs some seconds for what follows.
	apart = 10
	// fewQueues is the largest number of ClusterQueues whose jobs come one after the other. The
	// time of a play grows with the number of events, and with the number of queues at each.
	fewQueues = 20
	// settled is the time after which nothing more follows.
	settled = 300
)

// director builds the scenes of a change.
type director struct {
	before, after *ir.Platform
	objects       [2][]json.RawMessage // of both sides
	touched       touched
}

// direct returns the scenes.
func (d *director) direct() ([]*Scene, error) {
	queues := queuesOf(d.before, d.touched)
	scenes := []func() (*Scene, error){func() (*Scene, error) { return d.full(queues) }}
	for half := range 2 {
		if d.canBorrow(queues, half) {
			scenes = append(scenes, func() (*Scene, error) { return d.lent(queues, half) })
		}
	}
	var out []*Scene
	for _, build := range scenes {
		s, err := build()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// canBorrow reports whether a queue can borrow while the queues of the other half are idle.
func (d *director) canBorrow(queues []*queue, half int) bool {
	return slices.ContainsFunc(queues, func(q *queue) bool {
		return q.half == half && slices.ContainsFunc(q.shares(), func(s share) bool {
			return borrowable(s, queues, half) > 0
		})
	})
}

// borrowable returns how much a queue can borrow of a capacity from the queues of the other
// half.
func borrowable(s share, queues []*queue, half int) int64 {
	if s.borrowing == 0 || s.queue.quota.Cohort == "" {
		return 0
	}
	roots := s.queue.plan.RootCohorts()
	idle := int64(0)
	for _, q := range queues {
		if q.half == half || roots[q.quota.Cohort] != roots[s.queue.quota.Cohort] {
			continue
		}
		for _, other := range q.shares() {
			if other.capacity.Name == s.capacity.Name {
				idle += other.nominal
			}
		}
	}
	if s.borrowing < 0 {
		return idle
	}
	return min(s.borrowing, idle)
}

// full returns the scene in which every queue uses its quota, and more jobs wait: in each queue
// a job for 2, which is older than two of the running jobs for 1, and behind it a job of the
// highest priority. After the change a job ends in each queue, with as much as the first job
// that waits needs, and new jobs arrive.
func (d *director) full(queues []*queue) (*Scene, error) {
	s := d.open("every queue uses its quota")
	var shares []share
	for _, q := range queues {
		shares = append(shares, q.shares()...)
	}
	var short [2][]int // jobs that end before the change, one after the other
	var first []int    // jobs that end after it
	for _, has := range shares {
		rest := has.nominal
		if rest >= 3 {
			for i := range short {
				short[i] = append(short[i], s.submit(has, i, 1, lowest))
				rest--
				s.next()
			}
		}
		if large := min(2, has.nominal); has.waits() && rest >= large {
			first = append(first, s.submit(has, 0, large, lowest))
			rest -= large
			s.next()
		}
		for _, units := range split(rest, 1) {
			s.submit(has, 1, units, lowest)
			s.next()
		}
	}
	s.wait()
	shares = slices.DeleteFunc(shares, func(has share) bool { return !has.waits() })
	for _, has := range shares {
		s.submit(has, 0, min(2, has.nominal), lowest)
		s.next()
	}
	for i := range 2 {
		s.wait()
		for _, has := range shares {
			if has.nominal >= 3 {
				s.submit(has, i+1, 1, lowest)
				s.next()
			}
		}
	}
	for i := range 2 {
		s.wait()
		for _, job := range short[i] {
			s.endAt(job)
			s.next()
		}
	}
	s.wait()
	for _, has := range shares {
		if len(has.queue.quota.Classes) > 1 {
			s.submit(has, 0, 1, highest)
			s.next()
		}
	}
	s.change()
	for _, job := range first {
		s.endAt(job)
		s.next()
	}
	s.wait()
	return s.finish(func(share) int64 { return 1 })
}

// lent returns the scene in which the queues of one half borrow what those of the other half
// leave idle. Then the others claim half of their quota. After the change some of their jobs
// end, and they claim the rest.
func (d *director) lent(queues []*queue, half int) (*Scene, error) {
	s := d.open(fmt.Sprintf("half %d of the teams borrows", half+1))
	var borrowers, lenders []share
	for _, q := range queues {
		if q.half == half {
			borrowers = append(borrowers, q.shares()...)
		} else {
			lenders = append(lenders, q.shares()...)
		}
	}
	for _, has := range borrowers {
		for i, units := range split(has.nominal, 2) {
			s.submit(has, i, units, lowest)
			s.next()
		}
	}
	s.wait()
	values := map[string]int32{}
	for _, class := range d.before.PriorityClasses {
		values[class.Name] = class.Value
	}
	slices.SortStableFunc(borrowers, func(a, b share) int {
		return cmp.Compare(values[lowest(a.queue.quota)], values[lowest(b.queue.quota)])
	})
	for _, has := range borrowers {
		for i, units := range split(borrowable(has, queues, half), 3) {
			s.submit(has, i, units, lowest)
			s.next()
		}
	}
	s.wait()
	for _, has := range borrowers {
		if has.waits() {
			s.submit(has, 0, 1, highest)
			s.next()
		}
	}
	s.wait()
	var claims []int
	for _, has := range lenders {
		for i, units := range split((has.nominal+1)/2, 2) {
			job := s.submit(has, i, units, lowest)
			if i == 0 {
				claims = append(claims, job)
			}
			s.next()
		}
	}
	s.change()
	for _, job := range claims {
		s.endAt(job)
		s.next()
	}
	s.wait()
	return s.finish(func(has share) int64 { return max(1, has.nominal/2) })
}

// split divides a number into at most parts parts that differ by at most 1.
func split(n int64, parts int64) []int64 {
	var out []int64
	for ; n > 0; parts-- {
		part := (n + parts - 1) / parts
		out = append(out, part)
		n -= part
	}
	return out
}

// lowest and highest return a PriorityClass of a queue, "" if it has none.
func lowest(q *ir.Queue) string {
	if len(q.Classes) == 0 {
		return ""
	}
	return q.Classes[0]
}

func highest(q *ir.Queue) string {
	if len(q.Classes) == 0 {
		return ""
	}
	return q.Classes[len(q.Classes)-1]
}

// stage is a scene that is being built.
type stage struct {
	*director
	scene *Scene
	now   int64
	jobs  []staged
	err   error
}

// staged is a job and its templates: on the side before the change, and on the side after it.
type staged struct {
	job     rehearsal.Job
	ends    int64 // 0 for a job that runs until all end
	on      [2]*rehearsal.Template
	details standingJob
}

func (d *director) open(name string) *stage {
	return &stage{director: d, scene: &Scene{Name: name, before: d.before, jobs: map[string]standingJob{}}, now: apart}
}

// wait lets Kueue decide.
func (s *stage) wait() { s.now += apart }

// next lets Kueue decide, too, unless there are many queues: what follows then happens at the
// same time, and the order in which jobs are submitted decides.
func (s *stage) next() {
	if s.touched.queues() <= fewQueues {
		s.wait()
	}
}

// submit submits a job of the n-th member of a queue to one of its capacities, and returns its
// number.
func (s *stage) submit(has share, n int, units int64, class func(*ir.Queue) string) int {
	m := has.queue.members[n%len(has.queue.members)]
	return s.add(staged{
		on:      [2]*rehearsal.Template{s.template(has, m, units, class(m.queue), has.capacity.NodeLabels)},
		details: standingJob{team: m.team.Name, tier: m.queue.Tier, capacity: has.capacity.Name, units: units},
	})
}

// add adds a job at this moment.
func (s *stage) add(j staged) int {
	j.job.Name, j.job.At = fmt.Sprint("job-", len(s.jobs)), s.now
	s.jobs = append(s.jobs, j)
	return len(s.jobs) - 1
}

// endAt ends a job at this moment, if it runs.
func (s *stage) endAt(job int) { s.jobs[job].ends = s.now }

// template returns the template of a job with pods that count 1 each.
func (s *stage) template(has share, m member, units int64, class string, selector []ir.KeyValue) *rehearsal.Template {
	w := ir.Workload{
		Template: "standing", Name: "standing", Kind: kinds.Job, Team: m.team.Name, Namespace: m.team.Namespace,
		KubeAccount: m.team.KubeAccount, Queue: m.queue.LocalQueue, PriorityClass: class, Pods: int(units),
		Requests: has.unit, Image: "standing", NodeSelector: selector,
		Queueing: ir.Queueing{Labels: []ir.KeyValue{{Key: ir.LabelKueueQueue, Value: m.queue.LocalQueue}}},
	}
	object, err := json.Marshal(workload.Object(has.queue.plan, w))
	if err != nil && s.err == nil {
		s.err = err
	}
	return &rehearsal.Template{
		Name: w.Template, Team: w.Team, Tier: m.queue.Tier, Namespace: w.Namespace, Pods: w.Pods,
		Capacities: []string{has.capacity.Name}, Object: object,
	}
}

// change lets the change come, when Kueue has nothing more to decide.
func (s *stage) change() {
	s.now += settled
	s.scene.change = s.now
	s.now += settled
}

// finish adds the jobs that arrive after the change, and returns the scene. units is what a
// new job requests.
func (s *stage) finish(units func(share) int64) (*Scene, error) {
	s.arrive(units)
	s.now += settled
	s.scene.look = s.now
	end := s.now + settled // all jobs that run end then, and those that wait follow
	until := 100 * end
	base := rehearsal.Scenario{
		Name:      s.scene.Name,
		Scheduler: rehearsal.Scheduler{Name: s.after.Scheduler, Version: s.after.KueueVersion()},
		Until:     until, Objects: s.objects[0], Templates: []rehearsal.Template{}, Jobs: []rehearsal.Job{},
		Pools: []rehearsal.Pool{}, Looks: []int64{s.scene.look},
	}
	control, changed := base, base
	changed.Changes = []rehearsal.Change{{At: s.scene.change, Objects: s.objects[1]}}
	for _, j := range s.jobs {
		j.job.Runs = cmp.Or(j.ends, end) - j.job.At
		s.scene.jobs[j.job.Name] = j.details
		addJob(&control, j.job, j.on[0])
		addJob(&changed, j.job, cmp.Or(j.on[1], j.on[0]))
	}
	s.scene.Control, s.scene.Changed = &control, &changed
	return s.scene, s.err
}

// addJob adds a job with its template to a scenario, if there is a template.
func addJob(s *rehearsal.Scenario, j rehearsal.Job, t *rehearsal.Template) {
	if t == nil {
		return
	}
	j.Template = len(s.Templates)
	s.Templates = append(s.Templates, *t)
	s.Jobs = append(s.Jobs, j)
}

// arrive submits new jobs to every queue of both sides: for each capacity of a queue one that
// selects the capacity, and one that can use any. A queue that both sides have gets the same
// jobs on both.
func (s *stage) arrive(units func(share) int64) {
	var jobs []*staged
	known := map[standingJob]*staged{}
	add := func(side int, m member, has share, capacity string, selector []ir.KeyValue) {
		key := standingJob{team: m.team.Name, tier: m.queue.Tier, capacity: capacity, isNew: true}
		j := known[key]
		if j == nil {
			j = &staged{details: key}
			j.details.units = units(has)
			known[key], jobs = j, append(jobs, j)
		}
		j.on[side] = s.template(has, m, j.details.units, lowest(m.queue), selector)
	}
	for side, p := range []*ir.Platform{s.before, s.after} {
		for _, q := range queuesOf(p, s.touched) {
			shares := q.shares()
			// In a strict queue, a job that must borrow would hide what becomes of the others.
			guaranteed := slices.Clone(shares)
			slices.SortStableFunc(guaranteed, func(a, b share) int {
				return cmp.Compare(min(b.nominal, 1), min(a.nominal, 1))
			})
			for _, m := range q.members {
				for _, has := range guaranteed {
					add(side, m, has, has.capacity.Name, has.capacity.NodeLabels)
				}
				if len(shares) > 1 && shares[0].counted == shares[1].counted {
					add(side, m, shares[0], "", nil)
				}
			}
		}
	}
	for _, j := range jobs {
		s.add(*j)
		s.next()
	}
}
