package rules

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on entities that exist only because their name is misspelt: in a map of
// entities every name is new, so neither CUE nor the schema can refuse one.

func entityRules() []Rule {
	return []Rule{
		rule("W0240", "team without a queue resembles another team", misspeltTeams, whole, resolved),
		rule("W0241", "nobody can submit jobs for the team", idleTeams, whole, resolved),
		rule("W0242", "blueprint has no capacity, no tiers or no teams", missingEntities, whole),
	}
}

// missingEntities reports a blueprint without capacity, tiers or teams. Usually the command
// line lacks a file.
func missingEntities(r *report) {
	var missing []string
	for _, m := range []struct {
		field string
		n     int
	}{
		{"capacity", len(r.Blueprint.Capacity)}, {"tiers", len(r.Blueprint.Tiers)}, {"teams", len(r.Blueprint.Teams)},
	} {
		if m.n == 0 {
			missing = append(missing, m.field)
		}
	}
	for _, t := range r.Blueprint.Tiers {
		if t.Shared != nil && len(missing) == 1 {
			return // with teams, a rule on shared queues reports what is missing
		}
	}
	if len(missing) == 0 {
		return
	}
	r.add(at("name"), say("the blueprint has no %s, so nobody can run a job on the platform", words.Or(missing)),
		helpOrAccept("if this is intended", "add %s, or pass all PATHs of the blueprint together", words.And(missing)))
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
		r.addKey(at("teams", t), say("team %q has no queue, and is named almost like team %q", t, twin),
			see(at("teams", twin), "the other team"),
			help("did you mean %q? otherwise give team %q quota in a tier", twin, t))
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
		if people && team.Bucket.Wanted || named[t] || r.twinOf(t, "teams", queued) != "" {
			continue
		}
		if people {
			r.addKey(at("teams", t),
				say("team %q has members, but no quota and no shared queue, so they can run nothing", t),
				help("give the team quota in a tier, or remove the team; if its members only use a bucket, add "+
					"bucket: true"))
			continue
		}
		r.addKey(at("teams", t), say("team %q has no quota, no shared queue and no members", t),
			help("give the team quota in a tier, or remove it"))
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
