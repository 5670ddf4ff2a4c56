package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// addWorkloads adds the facts about the teams' workloads. All copies of a template for
// a team count as one workload.
func (s *sheet) addWorkloads() {
	tiers := map[[2]string]string{}
	for _, t := range s.plan.Teams {
		for _, q := range t.Queues {
			tiers[[2]string{t.Name, q.LocalQueue}] = q.Tier
		}
	}
	for all := range keyRuns(s.plan.Workloads, func(w *ir.Workload) string { return w.Team + "/" + w.Template }) {
		first := &all[0]
		if s.same[first.Team] {
			s.subjects[key{kindWorkload, first.Template, ""}]++
			continue
		}
		tier, known := tiers[[2]string{first.Team, first.Queue}]
		if !known {
			tier = first.Queue
		}
		s.addWorkload(copies{s.newSubject(TopicWorkloads, kindWorkload, first.Team+"/"+first.Template), all}, tier)
	}
}

// copies holds the copies of a workload, which differ in their names and in where
// they run.
type copies struct {
	subject
	all []ir.Workload
}

// copyValues returns the different values of the copies, each once.
func (c copies) copyValues(of func(*ir.Workload) string) string {
	var values []string
	for i := range c.all {
		if v := of(&c.all[i]); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return strings.Join(values, " or ")
}

func (c copies) is(what string, of func(*ir.Workload) string) {
	c.has(what, fact{value: cmp.Or(c.copyValues(of), none)})
}

func (s *sheet) addWorkload(w copies, tier string) {
	first := &w.all[0]
	w.group = first.Template
	team := factPath(kindTeam, first.Team)
	whole := key{kindTeam, first.Team, ""}
	w.part = &whole
	w.exists(fmt.Sprintf("%s, tier %s, %s", words.Count(len(w.all), string(first.Kind)), tier, first.Image))

	own := factPath(kindWorkload, w.name)

	w.has("copies", fact{value: strconv.Itoa(len(w.all))})
	w.is("kind", func(w *ir.Workload) string { return string(w.Kind) })
	w.has("queue", fact{value: "tier " + tier})
	w.is("PriorityClass", func(w *ir.Workload) string { return w.PriorityClass })
	w.is("workload priority", func(w *ir.Workload) string { return w.WorkloadPriority })
	w.has("capacities", fact{
		value:   cmp.Or(w.copyValues(func(w *ir.Workload) string { return strings.Join(w.Capacities, ", ") }), none),
		follows: []string{team, factPath(kindTier, tier), factPath(own, "queue")},
	})
	w.is("pods of each", func(w *ir.Workload) string { return strconv.Itoa(w.Pods) })
	w.is("TPU slices of each", func(w *ir.Workload) string { return strconv.Itoa(w.Slices) })
	w.is("requests of a pod", func(w *ir.Workload) string { return amountsText(w.Requests) })
	w.is("image", func(w *ir.Workload) string { return w.Image })
	w.is("command", func(w *ir.Workload) string { return excerptLine(strings.Join(w.Command, " ")) })
	w.has("end of its command", fact{
		form: opaque, follows: []string{factPath(own, "command")},
		value: w.copyValues(func(w *ir.Workload) string { return strings.Join(w.Command, "\n") }),
	})
	for i := range w.all {
		c := &w.all[i]
		w.addVariables("environment variable ", c.Env)
		for _, e := range c.SecretEnv {
			variable := "environment variable " + e.Name
			w.has(variable, fact{value: "key " + e.Key + " of Secret " + e.Secret})
			w.has("notes of "+variable, fact{form: opaque, value: strings.Join(e.Notes, "\n"),
				follows: []string{factPath(own, variable)}})
		}
		for _, f := range c.Files {
			w.has("file "+f.Key, fact{form: opaque, value: f.Value})
		}
	}
	w.is("rendezvous", func(w *ir.Workload) string {
		if w.Port == 0 {
			return none
		}
		return "port " + strconv.Itoa(w.Port)
	})
	w.is("retries", func(w *ir.Workload) string { return strconv.Itoa(w.Retries) })
	w.is("network of the nodes", func(w *ir.Workload) string { return onOff(w.HostNetwork) })
	w.is("longest run", func(w *ir.Workload) string {
		if w.MaxRunSeconds == 0 {
			return "as long as it takes"
		}
		return words.Duration(w.MaxRunSeconds)
	})
	w.is("usual run", func(w *ir.Workload) string {
		if w.UsualSeconds == 0 {
			return "unknown"
		}
		return words.Span(int64(w.UsualSeconds))
	})
	w.is("time until it is deleted after its end", func(w *ir.Workload) string {
		if w.KeepSeconds == 0 {
			return "never"
		}
		return words.Duration(w.KeepSeconds)
	})
	for i := range w.all {
		for _, a := range w.all[i].Auxiliaries {
			w.addAuxiliary(a)
		}
	}
}

// addVariables adds the facts about the variables of an environment.
func (c copies) addVariables(what string, all []ir.KeyValue) {
	for _, e := range all {
		value := quoteName(excerptLine(e.Value))
		c.has(what+e.Key, fact{value: value})
		c.has("end of "+what+e.Key,
			fact{form: opaque, value: e.Value, follows: []string{factPath(kindWorkload, c.name, what+e.Key)}})
	}
}

// addAuxiliary adds the facts about a pod that runs beside a workload's own pods.
func (c copies) addAuxiliary(a ir.Auxiliary) {
	of := "pod beside it " + quoteName(a.Name)
	c.has(of, fact{form: being, value: "on " + a.Capacity + ", " + a.Image})
	c.part = &key{kindWorkload, c.name, of}
	of += ", "
	c.has(of+"capacity", fact{value: a.Capacity})
	c.has(of+"requests", fact{value: amountsText(a.Requests)})
	c.has(of+"image", fact{value: a.Image})
	c.has(of+"command", fact{value: cmp.Or(excerptLine(strings.Join(a.Command, " ")), none)})
	c.has(of+"end of its command",
		fact{form: opaque, value: strings.Join(a.Command, "\n"), follows: []string{
			factPath(kindWorkload, c.name, of+"command"),
		}})
	c.addVariables(of+"environment variable ", a.Env)
}
