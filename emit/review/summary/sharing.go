package summary

import (
	"cmp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// addSettings adds the facts about the settings of Kueue, which hold for the whole cluster.
func (s *sheet) addSettings() {
	if s.plan.Absent() || !ir.Choose(s.plan.Scheduler, true, false) {
		return
	}
	kueue := s.newSubject(TopicPriority, kindCluster, "")
	strategies, usage := s.plan.KueueSettings.Strategies, s.plan.KueueSettings.Usage
	kueue.is("fair sharing", cmp.Or(strings.Join(strategies, ", then "), "off"),
		choose(strategies == nil, "the job that comes first borrows",
			"weights decide who borrows, and jobs of queues that borrow more may be evicted"))
	if usage == nil {
		usage = &ir.UsageSettings{}
	}
	kueue.is("time after which past usage counts half",
		choose(usage.HalfLife == 0, "usage is not measured", words.Duration(usage.HalfLife)))
	kueue.is("interval between measurements of usage",
		choose(usage.Interval == 0, "usage is not measured", words.Duration(usage.Interval)))
	var weights []string
	for _, w := range usage.Weights {
		weights = append(weights, w.Resource+" "+strconv.FormatFloat(w.Weight, 'f', -1, 64))
	}
	kueue.all("weights of resources in past usage", weights)

	kueue.topic = TopicQueues
	ready := s.plan.PodsReady()
	kueue.is("time for the pods of an admitted job to start", words.Duration(ready.Timeout))
	kueue.is("time to replace a lost pod", words.Duration(ready.Recovery))
	kueue.is("an admitted job holds up all others until its pods have started", choose(ready.Blocks, "yes", "no"))
	kueue.is("place of a job whose pods did not start", "by the time of its "+strings.ToLower(ready.Place))
	limit := "without limit"
	if ready.Limit != nil {
		limit = strconv.Itoa(*ready.Limit)
	}
	kueue.is("most times that such a job is queued again", limit)
	kueue.is("first pause of such a job", words.Duration(ready.First))
	kueue.is("longest pause of such a job", words.Duration(ready.Longest))
}

// weightText returns a weight of fair sharing.
func weightText(weight *resource.Quantity) string {
	if weight == nil {
		return "1"
	}
	return words.Decimal(*weight)
}
