package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Rules on entities that exist only because their name is misspelt: in a map of
// entities every name is new, so neither CUE nor the schema can refuse one.

func entityRules() []Rule {
	return []Rule{
		{
			Code: "W0240", Severity: diag.Warning, Title: "team without a queue resembles another team",
			check: misspeltTeams, whole: true, resolved: true,
		},
		{
			Code: "W0241", Severity: diag.Warning, Title: "nobody can submit jobs for the team",
			check: idleTeams, whole: true, resolved: true,
		},
	}
}

// misspeltTeams reports a team that has no queue and is named almost like a team of
// another file that has one.
func misspeltTeams(r *report) {
	queued := r.queuedTeams()
	for _, t := range r.queuelessTeams() {
		twin := r.twinOf(t, "teams", queued)
		if twin == "" {
			continue
		}
		r.addKey(at("teams", t), fmt.Sprintf("team %q has no queue, and is named almost like team %q", t, twin),
			withRelated(at("teams", twin), "the other team"),
			withHelp("did you mean %q? otherwise give team %q quota in a tier", twin, t))
	}
}

// idleTeams reports a team without a queue: no job can start in its namespace. A team
// with members and a bucket is excepted, because its members can use the bucket.
func idleTeams(r *report) {
	if len(r.Blueprint.Tiers) == 0 {
		return
	}
	named := map[string]bool{} // teams that workloads name: a rule on workloads reports these
	for _, w := range r.Blueprint.Workloads {
		for _, t := range w.Teams {
			named[t] = true
		}
	}
	queued := r.queuedTeams()
	for _, t := range r.queuelessTeams() {
		team := r.Blueprint.Teams[t]
		people := team.Group != nil || len(team.Members) > 0
		if people && team.Bucket || named[t] || r.twinOf(t, "teams", queued) != "" {
			continue
		}
		if people {
			r.addKey(at("teams", t),
				fmt.Sprintf("team %q has members, but no quota and no shared queue, so they can run nothing", t),
				withHelp("give the team quota in a tier, or remove the team; if its members only use a bucket, add "+
					"bucket: true"))
			continue
		}
		r.addKey(at("teams", t), fmt.Sprintf("team %q has no quota, no shared queue and no members", t),
			withHelp("give the team quota in a tier, or remove it"))
	}
}

// queuelessTeams returns the teams without a queue, sorted. A team whose quota names
// a tier is not one of them: other rules check its quota.
func (r *report) queuelessTeams() []string {
	var out []string
	for _, t := range r.Plan.Teams {
		if len(t.Queues) == 0 && len(r.Blueprint.Teams[t.Name].Quota) == 0 {
			out = append(out, t.Name)
		}
	}
	slices.Sort(out)
	return out
}

// queuedTeams returns the names of the teams that have a queue.
func (r *report) queuedTeams() []string {
	var out []string
	for _, t := range r.Plan.Teams {
		if len(t.Queues) > 0 {
			out = append(out, t.Name)
		}
	}
	return out
}

// twinOf returns the entity of another file whose name a misspelt name probably
// means, or "". It searches at most maxGuesses times for each rule.
func (r *report) twinOf(name, field string, known []string) string {
	if r.guesses++; r.guesses > maxGuesses {
		return ""
	}
	here := r.Place(true, field, name)
	for _, other := range known {
		if diag.Twins(name, other) && r.Place(true, field, other).Source != here.Source {
			return other
		}
	}
	return ""
}
