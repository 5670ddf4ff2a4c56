package summary

import (
	"cmp"
	"iter"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// addTeams adds the facts about the teams, their queues and their quota.
func (s *sheet) addTeams() {
	members := map[string][]string{}
	for _, t := range s.plan.Teams {
		members[t.Cohort] = append(members[t.Cohort], t.Name)
	}
	for _, c := range s.plan.Cohorts {
		cohort := s.newSubject(TopicTeams, kindCohort, c.Name)
		cohort.exists(cmp.Or(withPrefix("in cohort ", c.Parent), words.Count(len(members[c.Name]), "team")))
		cohort.is("parent cohort", cmp.Or(c.Parent, none))
		cohort.topic = TopicPriority
		cohort.is("priority of its queue", strconv.Itoa(c.Priority))
		cohort.is("weight of its queue", strconv.Itoa(c.Weight))
		cohort.is("weight in its parent", weightText(c.Share))
		cohort.topic = TopicQuota
		cohort.is("guaranteed GPUs", cohortQuota(c))
		s.addCohortQuota(cohort, c)
	}
	for i := range s.plan.SharedQueues {
		s.sharedQueue(&s.plan.SharedQueues[i])
	}
	jobs := map[string]int{}
	for _, w := range s.plan.Workloads {
		jobs[w.Team]++
	}
	for i := range s.plan.Teams {
		t := &s.plan.Teams[i]
		if s.same[t.Name] {
			s.subjects[key{kindTeam, "", ""}]++
			continue
		}
		s.addTeam(t, jobs[t.Name], members[t.Cohort])
	}
}

// addCohortQuota adds the facts about the quota that belongs to a cohort itself.
func (s *sheet) addCohortQuota(cohort subject, c ir.Cohort) {
	q := &ir.Queue{Cohort: c.Name, Flavors: c.Flavors}
	var quotas []string
	for _, f := range c.Flavors {
		quotas = append(quotas, factPath(kindCohort, c.Name, "quota of "+f.Flavor))
	}
	if quotas == nil {
		return
	}
	cohort.follows("covered resources", strings.Join(q.Resources(), ", "), quotas...)
	for i := range c.Flavors {
		s.addFlavor(cohort, q, &c.Flavors[i], "")
	}
}

// cohortQuota returns the GPUs that are guaranteed to a cohort, in words.
func cohortQuota(c ir.Cohort) string {
	if c.Quota == nil {
		return "the sum of its teams"
	}
	return strconv.Itoa(*c.Quota)
}

func withPrefix(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func (s *sheet) addTeam(t *ir.Team, jobs int, members []string) {
	team := s.newSubject(TopicTeams, kindTeam, t.Name)
	team.exists(s.describeTeam(t, jobs))
	team.is("owner of its namespace", choose(t.InExisting, "others", "the platform"))
	team.is("namespace", t.Namespace, "objects that the team created in the old namespace are not moved")
	team.has("cohort", fact{value: cmp.Or(t.Cohort, none), notes: func() []string { return lendingNote(t, members) }})
	team.has("priority of its queue", fact{topic: TopicPriority, value: strconv.Itoa(t.Priority)})
	team.has("weight of its queue", fact{topic: TopicPriority, value: strconv.Itoa(t.Weight)})
	if t.Bucket != "" {
		team.has("bucket", fact{form: being})
		team.has("name of its bucket", fact{
			form: ratio, value: t.Bucket, follows: []string{platformName, platformProject},
			notes: remarks("Terraform replaces the bucket, and stops if it holds objects, unless it deletes them"),
		})
	}
	team.is("Terraform deletes its bucket with all objects", choose(t.DeletesBucketData, "yes", "no"),
		choose(t.DeletesBucketData, dangerous+"destroying the platform deletes the objects", ""))
	team.all("labels", labelTexts(t.Labels))
	team.is("nodes may list its bucket", choose(t.NodesListBucket, "yes", "no"))
	team.is("most Jobs at once", strconv.Itoa(t.MaxJobs))
	team.has("what its jobs may use besides", fact{form: set, list: t.Allow})

	access := team
	access.topic = TopicAccess
	// Whoever submits is reported for a new team, too.
	outside := access
	outside.part = nil
	if t.Group != "" {
		outside.is("group that may submit", t.Group)
	}
	if len(t.Members) > 0 {
		outside.has("people and service accounts that may submit", fact{form: set, list: t.Members})
	}
	access.is("Kubernetes service account of its jobs", t.KubeAccount)
	account := none
	if t.Account != nil {
		account = cmp.Or(t.Account.Address, t.Account.ID)
	}
	access.is("Google service account of its jobs", account)
	access.has("roles of its jobs", fact{form: set, list: t.Roles, tag: tagRoles})

	var selected []string // facts from which the labels of the namespace follow
	for _, q := range t.Queues {
		const fact = "namespaces that may use the queue"
		if q.Shared {
			selected = append(selected, factPath(kindTier, q.Tier, fact))
		} else {
			selected = append(selected, factPath(kindTeam, t.Name, fact+" in "+q.Tier))
		}
	}
	team.follows("labels of its namespace", labelsText(t.NamespaceLabels), selected...)
	for i := range t.Queues {
		q := &t.Queues[i]
		if q.Shared {
			// What the plan repeats there belongs to the shared queue.
			team.has("share of the queue of tier "+q.Tier, fact{
				topic: TopicQueues, form: being, tag: tagShare(q.Tier),
				follows: []string{factPath(kindTier, q.Tier, "")},
			})
			if q.LocalQueues != nil {
				queues := team
				queues.topic = TopicQueues
				queues.is("its LocalQueues in tier "+q.Tier, localQueuesText(q))
			}
			if q.ByUsage {
				team.has("weight of its usage in "+q.Tier, fact{
					topic: TopicPriority, value: weightText(q.TeamShare),
					follows: []string{factPath(kindTier, q.Tier, "jobs of the team that has used least start first")},
				})
			}
			continue
		}
		owner := team
		owner.topic = TopicQueues
		what := "queue of tier " + q.Tier
		owner.has(what, fact{form: being, value: s.describeQuotas(q)})
		owner.part = &key{kindTeam, t.Name, what}
		owner.is("names of its queues in "+q.Tier, q.ClusterQueue+", "+localQueuesText(q))
		s.addQueue(owner, q, " in "+q.Tier, factPath(kindTeam, t.Name, "cohort"))
	}
}

// localQueuesText lists the LocalQueues of a queue, with those that start no jobs.
func localQueuesText(q *ir.Queue) string {
	var texts []string
	if q.LocalQueues == nil || q.LocalQueue != q.LocalQueues[0].Name {
		texts = append(texts, q.LocalQueue)
	}
	for _, l := range q.LocalQueues {
		text := l.Name + choose(l.Stop != "", " (starts jobs: "+stopText(l.Stop)+")", "")
		texts = append(texts, text+choose(l.Share != nil, " with weight "+weightText(l.Share), ""))
	}
	return strings.Join(texts, ", ")
}

// describeTeam returns a description of a team.
func (s *sheet) describeTeam(t *ir.Team, jobs int) string {
	var parts, tiers []string
	if t.Namespace != t.Name {
		parts = append(parts, "namespace "+t.Namespace)
	}
	if t.Cohort != "" {
		parts = append(parts, "cohort "+t.Cohort)
	}
	sums := map[string]*resource.Quantity{}
	for i := range t.Queues {
		q := &t.Queues[i]
		tiers = append(tiers, q.Tier)
		for j := range q.Flavors {
			c := s.queues.capacities[q.Flavors[j].Flavor]
			if c == nil || q.Shared {
				continue
			}
			if own := quotaOf(&q.Flavors[j], c.CountedIn()); own != nil {
				if sums[own.Resource] == nil {
					sums[own.Resource] = &resource.Quantity{}
				}
				sums[own.Resource].Add(own.Nominal)
			}
		}
	}
	switch len(tiers) {
	case 0:
	case 1:
		parts = append(parts, "tier "+tiers[0])
	default:
		parts = append(parts, "tiers "+shortNames(tiers))
	}
	for _, r := range []string{ir.GPU, ir.TPU, ir.CPU} {
		if q := sums[r]; q != nil && !q.IsZero() {
			parts = append(parts, ir.PrintAmount(r, *q)+" guaranteed")
		}
	}
	if t.Bucket != "" {
		parts = append(parts, "a bucket")
	}
	if jobs > 0 {
		parts = append(parts, words.Count(jobs, "workload"))
	}
	return strings.Join(parts, ", ")
}

// lendingNote returns the note on the teams with which a team lends and borrows.
func lendingNote(t *ir.Team, members []string) []string {
	if t.Cohort == "" {
		return []string{"it neither lends nor borrows"}
	}
	others := withoutElements(members[:min(len(members), listed+2)], []string{t.Name})
	if len(others) == 0 {
		return []string{"no other team lends to it there"}
	}
	if len(members) > listed+1 {
		return []string{"it lends to, and borrows from, " + words.Count(len(members)-1, "other team")}
	}
	return []string{"it lends to, and borrows from, " + shortNames(others)}
}

// tagShare returns the tag of the facts about teams' shares of a tier's queue.
func tagShare(tier string) string { return "share of " + tier }

func (s *sheet) sharedQueue(q *ir.SharedQueue) {
	tier := s.newSubject(TopicQueues, kindTier, q.Tier)
	var teams []string
	for _, t := range q.Teams {
		teams = append(teams, t.Name)
	}
	tier.exists("a queue that " + words.Count(len(teams), "team") + " share: " + s.describeQuotas(&q.Queue))
	tier.all("teams that share its queue", teams, kindTeam, tagShare(q.Tier))
	tier.is("ClusterQueue", q.ClusterQueue)
	tier.is("LocalQueue", localQueuesText(&q.Queue))
	tier.is("its queue is shared", onOff(q.Shared))
	tier.is("cohort", cmp.Or(q.Cohort, none))
	s.addQueue(tier, &q.Queue, "", factPath(kindTier, q.Tier, "cohort"))
}

// namespacesText says which namespaces may use a ClusterQueue.
func namespacesText(n ir.Namespaces) string {
	var parts []string
	if n.All {
		parts = append(parts, "all")
	}
	if n.None {
		parts = append(parts, "none")
	}
	if n.Labels != nil {
		parts = append(parts, "those with the labels "+labelsText(n.Labels))
	}
	for i, c := range n.Conditions {
		parts = append(parts, choose(i == 0, "those with ", "")+conditionText(c))
	}
	return cmp.Or(strings.Join(parts, ", "), "those of its teams")
}

// conditionText returns a condition on a label of a namespace, in words.
func conditionText(c ir.NamespaceCondition) string {
	operator := map[string]string{
		ir.LabelIn: " in ", ir.LabelNotIn: " not in ", ir.LabelExists: "", ir.LabelMissing: " missing",
	}
	text, known := operator[c.Operator]
	if !known {
		text = " " + c.Operator + " "
	}
	return "label " + c.Label + text + strings.Join(c.Values, "|")
}

// stopText says whether a queue starts jobs.
func stopText(stop string) string {
	switch stop {
	case "":
		return "as an administrator decides"
	case ir.StopNone:
		return "yes"
	case ir.StopHold:
		return "no, and running jobs continue"
	case ir.StopDrain:
		return "no, and running jobs are evicted"
	}
	return stop
}

// addQueue adds the facts about a queue and its quota. The owner is the team, or the
// tier if teams share the queue. in is the end of the names of a team's facts, and
// "" for a tier.
func (s *sheet) addQueue(owner subject, q *ir.Queue, in, cohort string) {
	var flavors, quotas []string
	for _, f := range q.Flavors {
		flavors = append(flavors, f.Flavor)
		quotas = append(quotas, factPath(owner.kind, owner.name, "quota of "+f.Flavor+in))
	}
	owner.is("queueing"+in, q.Strategy)
	owner.is("whether the queue starts jobs"+in, stopText(q.Stop))
	owner.is("jobs of the team that has used least start first"+in, choose(q.ByUsage, "yes", "no"))
	owner.is("weight of the queue in its cohort"+in, weightText(q.Share))
	owner.is("namespaces that may use the queue"+in, namespacesText(q.Namespaces))
	owner.is("longest time that pods may take to end"+in, strconv.Itoa(q.MaxGraceSeconds)+" seconds")
	owner.has("order of capacities"+in, fact{form: order, list: flavors})
	owner.follows("covered resources"+in, strings.Join(q.Resources(), ", "), quotas...)
	priority := owner
	priority.topic = TopicPriority
	var values []string
	for _, c := range q.WorkloadPriorities {
		values = append(values, c.Name+" "+strconv.Itoa(int(c.Value)))
	}
	priority.all("workload priorities"+in, values)
	priority.has("preemption"+in,
		fact{value: preemptionText(q.Preemption), tag: tagPreemption(q.Tier), follows: []string{cohort}})
	var checks []string
	for _, c := range q.Checks {
		checks = append(checks, c.Name+" on "+cmp.Or(strings.Join(c.Flavors, "|"), "all capacities"))
	}
	owner.all("admission checks of others"+in, checks)
	owner.is("when jobs go on to the next capacity"+in, nextCapacityText(q.NextCapacity))
	for i := range q.Flavors {
		s.addFlavor(owner, q, &q.Flavors[i], in)
	}
}

// tagPreemption returns the tag of the facts about whom the jobs of a tier's queues
// evict.
func tagPreemption(tier string) string { return "preemption of " + tier }

// preemptionText returns the policies by which the jobs of a queue evict others, in
// the words of the blueprint.
func preemptionText(p ir.Preemption) string {
	var parts []string
	for _, policy := range []struct{ field, value string }{
		{"inQueue", p.InQueue}, {"toReclaim", p.ToReclaim}, {"toBorrow", p.ToBorrow},
	} {
		if ir.Evicts(policy.value) {
			parts = append(parts, policy.field+" "+policy.value)
		}
	}
	if p.LimitsToBorrow || p.ToBorrowUpTo != 0 {
		parts = append(parts, "toBorrowUpTo "+strconv.Itoa(int(p.ToBorrowUpTo)))
	}
	return cmp.Or(strings.Join(parts, ", "), "evicts nobody")
}

// nextCapacityText says when the jobs of a queue go on to the next capacity.
func nextCapacityText(n ir.NextCapacity) string {
	before := choose(n.BeforeBorrowing, "before they borrow", "if they cannot borrow")
	evicting := choose(n.AfterEvicting, "if they cannot evict jobs", "before they evict jobs")
	return before + ", and " + evicting + choose(n.PrefersEvicting, "; they prefer evicting to borrowing", "")
}

// tagNominal returns the tag of the facts about nominal quotas of a capacity.
func tagNominal(capacity string) string { return "nominal quota of " + capacity }

func (s *sheet) addFlavor(owner subject, q *ir.Queue, f *ir.FlavorQuota, in string) {
	owner.topic = TopicQuota
	what := "quota of " + f.Flavor + in
	c := s.queues.capacities[f.Flavor]
	total := func() []string {
		if c == nil {
			return nil
		}
		return s.queues.cohortNotes(q.Cohort, c)
	}
	owner.has(what, fact{form: being, value: s.flavorWords(f), notes: total, tag: tagNominal(f.Flavor)})
	owner.part = &key{owner.kind, owner.name, what}
	// The quota of other resources follows from that of the counted resource.
	if own := quotaOf(f, s.queues.countedIn(f.Flavor)); own != nil {
		of := " of " + f.Flavor + in
		owner.has("nominal quota"+of, fact{
			value: ir.PrintAmount(own.Resource, own.Nominal), tag: tagNominal(f.Flavor), notes: total,
		})
		owner.is("borrowing limit"+of, borrowText(own))
		owner.is("lending limit"+of, lendText(own))
	}
	for r := range s.exactQuotas(f) {
		owner.is("quota of "+r.Resource+" of "+f.Flavor+in, quotaWords(r))
	}
}

// exactQuotas yields the quotas of a capacity that do not follow from the resource in which it
// is counted, except for that resource and for resources of which the queue has nothing.
func (s *sheet) exactQuotas(f *ir.FlavorQuota) iter.Seq[*ir.ResourceQuota] {
	return func(yield func(*ir.ResourceQuota) bool) {
		for i := range f.Quotas {
			r := &f.Quotas[i]
			if !r.Follows && r.Usable() && r.Resource != s.queues.countedIn(f.Flavor) && !yield(r) {
				return
			}
		}
	}
}

func borrowText(q *ir.ResourceQuota) string {
	switch {
	case q.BorrowsAll:
		return "all that is idle"
	case q.Borrowing == nil:
		return ir.PrintAmount(q.Resource, resource.Quantity{})
	}
	return ir.PrintAmount(q.Resource, *q.Borrowing)
}

func lendText(q *ir.ResourceQuota) string {
	if q.Lending == nil {
		return "all"
	}
	return ir.PrintAmount(q.Resource, *q.Lending)
}

// describeQuotas returns a description of a queue's quota of each capacity.
func (s *sheet) describeQuotas(q *ir.Queue) string {
	var words []string
	for i := range q.Flavors {
		words = append(words, q.Flavors[i].Flavor+" "+s.flavorWords(&q.Flavors[i]))
	}
	return strings.Join(words, ", ")
}

// flavorWords returns a description of a queue's quota of the resource in which a
// capacity is counted, and of those that do not follow from it.
func (s *sheet) flavorWords(f *ir.FlavorQuota) string {
	var texts []string
	if q := quotaOf(f, s.queues.countedIn(f.Flavor)); q != nil {
		texts = append(texts, quotaWords(q))
	}
	for r := range s.exactQuotas(f) {
		texts = append(texts, quotaWords(r))
	}
	return cmp.Or(strings.Join(texts, ", "), none)
}

func quotaWords(q *ir.ResourceQuota) string {
	quota := ir.PrintAmount(q.Resource, q.Nominal)
	switch {
	case q.BorrowsAll:
		quota += " + all that is idle"
	case q.Borrowing != nil && !q.Borrowing.IsZero():
		quota += " + " + ir.PrintQuantity(q.Resource, *q.Borrowing) + " to borrow"
	}
	if q.Lending != nil {
		quota += " (lends " + ir.PrintQuantity(q.Resource, *q.Lending) + ")"
	}
	return quota
}

// addPriorities adds the facts about the PriorityClasses.
func (s *sheet) addPriorities() {
	for _, c := range s.plan.WorkloadPriorities {
		class := s.newSubject(TopicPriority, kindWorkloadClass, c.Name)
		class.exists("value " + strconv.Itoa(int(c.Value)))
		class.is("value", strconv.Itoa(int(c.Value)))
	}
	known := map[string]bool{} // several tiers can name a class of others
	for _, c := range s.plan.PriorityClasses {
		if known[c.Name] {
			continue
		}
		known[c.Name] = true
		class := s.newSubject(TopicPriority, kindClass, c.Name)
		class.exists("value " + strconv.Itoa(int(c.Value)) + " of tier " + c.Tier)
		class.has("value", fact{value: strconv.Itoa(int(c.Value)), notes: func() []string { return s.rankNote(c) }})
		class.is("default of pods that name no PriorityClass", choose(c.Default, "yes", "no"))
		class.follows("nodes of its pods",
			choose(c.Preempts, "takes them from lower priorities", "takes them from nobody"), tagPreemption(c.Tier))
		class.is("tier", c.Tier)
		class.is("made by", choose(c.Existing, "others", "the platform"))
	}
}

// rankNote returns the note that lists the PriorityClasses above a class.
func (s *sheet) rankNote(class ir.PriorityClass) []string {
	var above []string
	for _, c := range s.plan.PriorityClasses {
		if c.Value > class.Value {
			above = append(above, c.Name)
		}
	}
	if above == nil {
		return []string{"the highest"}
	}
	return []string{"below " + shortNames(above)}
}
