package page

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

const (
	// maxRuns is the largest number of runs in the timeline.
	maxRuns = 80000
	// maxWaits is the largest number of jobs and runs with which the timeline shows the
	// time for which a job waited before each run.
	maxWaits = 400
	// maxBands is the largest number of bands in the timeline.
	maxBands = 60
	// maxTeamCharts is the largest number of teams with a chart.
	maxTeamCharts = 24
)

// charts is the data that page.js draws. Amounts of time are seconds.
type charts struct {
	End      int64       `json:"end"`
	Unit     string      `json:"unit"`
	Texts    []string    `json:"texts"` // that other fields name by their indexes
	Tiers    []string    `json:"tiers"`
	Jobs     jobColumns  `json:"jobs"`
	Bands    []band      `json:"bands"`
	Group    string      `json:"group"` // what a band has the jobs of, on its capacity
	Runs     runColumns  `json:"runs"`  // by band, then lane, then time
	Waits    bool        `json:"waits"`
	Teams    []teamChart `json:"teams"`
	Waiting  series      `json:"waiting"` // by tier
	Nodes    series      `json:"nodes"`   // by capacity
	Capacity []string    `json:"capacities"`
}

// jobColumns are the jobs that have runs in the timeline.
type jobColumns struct {
	Name    []string  `json:"name"`
	Team    []int     `json:"team"` // index of a text
	Tier    []int     `json:"tier"` // index of a tier
	At      []int64   `json:"at"`
	Amount  []float64 `json:"amount"`  // 0 if jobs are counted
	Outcome []int     `json:"outcome"` // index of a text
	Waits   []int     `json:"why"`     // index of the text that says why the job waits
}

// band is the part of the timeline for the runs of one queue on one capacity.
type band struct {
	Capacity string `json:"capacity"` // "" for jobs without quota
	Label    string `json:"label"`
	Lanes    int    `json:"lanes"` // most runs at a time
}

// runColumns are the bars of the timeline.
type runColumns struct {
	Job     []int   `json:"job"` // index in jobColumns
	Band    []int   `json:"band"`
	Lane    []int   `json:"lane"`
	Waits   []int64 `json:"waits"` // when the job began to wait for this run
	From    []int64 `json:"from"`
	Started []int64 `json:"started"` // -1 if the pods never ran
	To      []int64 `json:"to"`
	Evicted []int   `json:"evicted"` // index of the reason's text, 0 if the run was not evicted
	By      []int   `json:"by"`      // index of a text
	Why     []int   `json:"cause"`   // index of a text
}

// teamChart is the amount of a team over time.
type teamChart struct {
	Team string `json:"team"`
	// Guarantee is -1 if the team has no quota of its own.
	Guarantee int64   `json:"guarantee"`
	Peak      float64 `json:"peak"`
	Used      series  `json:"used"` // the whole amount, and what is borrowed of it
}

// texts numbers texts, so that the page has each of them once. Text 0 is "".
type texts struct {
	list  []string
	index map[string]int
}

// indexOf returns the number of a text.
func (t *texts) indexOf(s string) int {
	i, ok := t.index[s]
	if !ok {
		i = len(t.list)
		t.index[s], t.list = i, append(t.list, s)
	}
	return i
}

// charts returns the data of the charts.
func (d *digest) charts() charts {
	t := &texts{list: []string{""}, index: map[string]int{"": 0}}
	c := charts{
		End: d.end, Unit: d.unit.name, Tiers: d.tiers, Waiting: newSeries(d.end, d.waiting), Teams: d.teamCharts(),
	}
	var nodes [][]delta
	for _, p := range d.history.Pools {
		c.Capacity, nodes = append(c.Capacity, p.Name), append(nodes, nodesOf(p))
	}
	c.Nodes = newSeries(d.end, nodes)
	d.addTimeline(&c, t)
	c.Texts = t.list
	return c
}

// nodesOf returns the changes of the number of nodes of a pool.
func nodesOf(p rehearsal.PoolUse) []delta {
	var out []delta
	before := 0
	for _, c := range p.Nodes {
		out, before = append(out, delta{c.At, c.N - before}), c.N
	}
	return out
}

// teamCharts returns the charts of the teams that used most, in the order of the platform.
func (d *digest) teamCharts() []teamChart {
	order := d.busiestTeams()
	out := []teamChart{}
	for i, team := range d.plan.Teams {
		if !slices.Contains(order, i) {
			continue
		}
		lines := [][]delta{d.used[i], d.borrowedBy(team)}
		chart := teamChart{Team: team.Name, Guarantee: -1, Used: newSeries(d.end, lines)}
		parts := float64(d.unit.parts)
		for _, line := range chart.Used.Lines {
			for j := range line {
				line[j] /= parts
			}
		}
		chart.Peak = float64(peakOf(d.used[i])) / parts
		if guarantee, ok := d.guaranteeOf(team); ok {
			chart.Guarantee = guarantee
		}
		out = append(out, chart)
	}
	return out
}

// busiestTeams returns the indexes of the teams that have charts.
func (d *digest) busiestTeams() []int {
	var order []int
	for i := range d.teams {
		if len(d.used[i]) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(secondsOf(d.used[b], d.end), secondsOf(d.used[a], d.end))
	})
	return order[:min(len(order), maxTeamCharts)]
}

// addTimeline adds the bands, the runs, and the jobs that have runs.
func (d *digest) addTimeline(c *charts, t *texts) {
	shown := d.shownHolds()
	c.Waits = d.showsWaits()
	keys := d.bandKeys(shown)
	c.Group = keys.group
	var ends [][]int64 // of the last run, by band and lane
	order := map[[2]string]int{}
	for i, key := range keys.sorted {
		order[key] = i
		c.Bands = append(c.Bands, band{Capacity: key[0], Label: key[1]})
		ends = append(ends, nil)
	}
	slices.SortStableFunc(shown, func(a, b hold) int { return cmp.Compare(c.start(a), c.start(b)) })
	for i := range shown {
		v := &shown[i]
		v.band = order[keys.of(*v)]
		lanes, from := &ends[v.band], c.start(*v)
		v.lane = slices.IndexFunc(*lanes, func(end int64) bool { return end <= from })
		if v.lane < 0 {
			v.lane = len(*lanes)
			*lanes = append(*lanes, 0)
		}
		(*lanes)[v.lane] = max(v.to, from+1)
	}
	for i := range c.Bands {
		c.Bands[i].Lanes = len(ends[i])
	}
	slices.SortStableFunc(shown, func(a, b hold) int {
		return cmp.Or(cmp.Compare(a.band, b.band), cmp.Compare(a.lane, b.lane))
	})
	numbers := map[int]int{}
	r := &c.Runs
	for _, e := range shown {
		n, ok := numbers[e.job]
		if !ok {
			n = len(c.Jobs.Name)
			numbers[e.job] = n
			d.addJobColumns(&c.Jobs, t, e.job)
		}
		by, why := evictorOf(e.run)
		r.Job, r.Band, r.Lane = append(r.Job, n), append(r.Band, e.band), append(r.Lane, e.lane)
		r.Waits, r.From = append(r.Waits, e.waits), append(r.From, e.run.Reserved)
		r.Started, r.To = append(r.Started, e.started), append(r.To, e.to)
		r.Evicted = append(r.Evicted, t.indexOf(string(e.run.Evicted)))
		r.By, r.Why = append(r.By, t.indexOf(by)), append(r.Why, t.indexOf(why))
	}
}

// start returns the time at which a run begins in the timeline.
func (c *charts) start(v hold) int64 {
	if c.Waits {
		return v.waits
	}
	return v.run.Reserved
}

// addJobColumns adds a job.
func (d *digest) addJobColumns(c *jobColumns, t *texts, job int) {
	template, h := d.templateOf(job), d.history.Jobs[job]
	c.Name, c.At = append(c.Name, d.scenario.Jobs[job].Name), append(c.At, d.scenario.Jobs[job].At)
	c.Team, c.Tier = append(c.Team, t.indexOf(template.Team)), append(c.Tier, slices.Index(d.tiers, template.Tier))
	amount := 0.0
	if d.unit.name != unitJobs {
		amount = float64(d.amountOf(job)) / float64(d.unit.parts)
	}
	c.Amount, c.Outcome = append(c.Amount, amount), append(c.Outcome, t.indexOf(string(h.Outcome)))
	why, by := "", ""
	for _, r := range h.Runs {
		by = cmp.Or(r.By, by)
	}
	if h.Waits != "" {
		why = report.Reason(h.Waits, by)
	}
	c.Waits = append(c.Waits, t.indexOf(why))
}

// shownHolds returns the holds in the timeline: evicted ones first, then the longest ones,
// if there are too many. In a small rehearsal they include the last wait of each job that
// waits at the end, as a hold that begins there.
func (d *digest) shownHolds() []hold {
	shown := slices.Clone(d.holds)
	if len(shown) > maxRuns {
		slices.SortStableFunc(shown, func(a, b hold) int {
			return cmp.Or(
				cmp.Compare(min(len(b.run.Evicted), 1), min(len(a.run.Evicted), 1)),
				cmp.Compare(b.to-b.run.Reserved, a.to-a.run.Reserved),
			)
		})
		return shown[:maxRuns]
	}
	if !d.showsWaits() {
		return shown
	}
	for i, j := range d.history.Jobs {
		if j.Outcome == rehearsal.Running || j.Outcome == rehearsal.Finished {
			continue
		}
		waits, until := d.scenario.Jobs[i].At, d.end
		if n := len(j.Runs); n > 0 && j.Runs[n-1].Ended > 0 {
			waits = j.Runs[n-1].Ended
		}
		if j.Outcome == rehearsal.Deleted {
			until = j.End
		}
		if until > waits {
			shown = append(shown, hold{
				job: i, run: rehearsal.Run{Reserved: until}, waits: waits, started: -1, to: until,
			})
		}
	}
	return shown
}

// showsWaits reports whether the timeline shows the time before each run.
func (d *digest) showsWaits() bool { return len(d.holds)+len(d.history.Jobs) <= maxWaits }

// bandKeys are the bands of a timeline: pairs of a capacity and a label.
type bandKeys struct {
	group  string // "queue", "tier" or "capacity"
	of     func(hold) [2]string
	sorted [][2]string
}

// bandKeys returns the bands of the timeline: one for each capacity and queue, or each
// capacity and tier, or each capacity, so that there are at most maxBands if possible.
// They are in the order of the platform.
func (d *digest) bandKeys(shown []hold) bandKeys {
	var capacities []string
	for _, c := range d.plan.Capacities {
		capacities = append(capacities, c.Name)
	}
	rank := func(v hold) [3]int {
		t := d.templateOf(v.job)
		at := slices.Index(capacities, v.capacity)
		if at < 0 {
			at = len(capacities) // jobs without quota come last
		}
		return [3]int{at, slices.Index(d.teams, t.Team), slices.Index(d.tiers, t.Tier)}
	}
	var keys bandKeys
	for _, by := range []struct {
		group string
		label func(hold) string
	}{
		{"queue", func(v hold) string { return d.history.Jobs[v.job].ClusterQueue }},
		{"tier", func(v hold) string { return "tier " + d.templateOf(v.job).Tier }},
		{"capacity", func(hold) string { return "all jobs" }},
	} {
		keys = bandKeys{group: by.group, of: func(v hold) [2]string { return [2]string{v.capacity, by.label(v)} }}
		first := map[[2]string][3]int{}
		for _, v := range shown {
			key, r := keys.of(v), rank(v)
			if old, ok := first[key]; !ok {
				keys.sorted = append(keys.sorted, key)
				first[key] = r
			} else if slices.Compare(r[:], old[:]) < 0 {
				first[key] = r
			}
		}
		slices.SortStableFunc(keys.sorted, func(a, b [2]string) int {
			x, y := first[a], first[b]
			return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a[1], b[1]))
		})
		if len(keys.sorted) <= maxBands {
			break
		}
	}
	return keys
}
