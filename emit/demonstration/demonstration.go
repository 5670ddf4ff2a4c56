// Package demonstration renders demonstrate.sh, the script that performs the phases of
// a platform's demonstration and compares what happens with what is expected. A plan
// goes in; the script comes out, or nothing if the plan has no demonstration. The page
// about the phases, DEMONSTRATION.md, comes from package guide.
//
// The script is a file of its own. Values of the plan reach it as quoted assignments:
// the shell never parses a value as code.
package demonstration

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
)

//go:embed demonstrate.sh
var body string

// valuesMark is the line of the script that is replaced by the values of a plan.
const valuesMark = "# VALUES\n"

// Files returns demonstrate.sh, which is executable, if the platform has a
// demonstration.
func Files(p *ir.Platform) ([]emit.File, error) {
	if len(p.Demonstration) == 0 {
		return nil, nil
	}
	values := slices.Concat(platformValues(p), phaseValues(p), expectedValues(p))
	script := strings.Replace(body, valuesMark, strings.Join(values, ""), 1)
	return []emit.File{{Path: "demonstrate.sh", Content: []byte(script), Mode: 0o755}}, nil
}

// record is one line of an array of the script.
type record = []string

// array returns the assignment of an array, after a comment that names the elements of
// each line.
func array(name, elements string, records []record) string {
	return "# " + elements + "\n" + words.ShellArray(name, records...)
}

// platformValues returns the values that do not depend on a phase.
func platformValues(p *ir.Platform) []string {
	var submitters, workloads, capacities []record
	for _, all := range p.Demonstrated() {
		first, copies := all[0], 0
		for i, w := range all {
			if w.Team == first.Team {
				copies++
			}
			if i == 0 || w.Team != all[i-1].Team {
				submitters = append(submitters, record{w.Template, w.Team, w.Namespace})
			}
		}
		workloads = append(workloads, record{first.Template, strings.ToLower(string(first.Kind)),
			strconv.Itoa(copies), strconv.Itoa(first.Pods + len(first.Auxiliaries)), first.ConfigMap})
	}
	for _, c := range p.Capacities {
		capacities = append(capacities, record{c.Name, c.Selector()})
	}
	return []string{
		words.ShellAssignment("NAME", p.Name),
		words.ShellAssignment("CLEAN_UP", ir.CleanUpPhase),
		"# label of the nodes that the demonstration has cordoned\n",
		words.ShellAssignment("CORDONED", ir.CordonedKey+"="+ir.CordonedValue),
		"# a team, which shows that a cluster is the platform's\n",
		words.ShellAssignment("TEAM", p.Teams[0].Name),
		words.ShellAssignment("NAMESPACE", p.Teams[0].Namespace),
		array("WORKLOADS", "workload, kind, copies for each team, pods of a copy, ConfigMap", workloads),
		array("SUBMITTERS", "workload, team that submits it, namespace of the team", submitters),
		array("CAPACITIES", "capacity, labels of its nodes", capacities),
	}
}

// phaseValues returns the phases and their steps.
func phaseValues(p *ir.Platform) []string {
	var phases, teams, steps []record
	for _, phase := range p.Demonstration {
		phases = append(phases, record{phase.Name, describe(phase), strconv.Itoa(phase.WaitSeconds)})
		for _, t := range phase.Teams {
			teams = append(teams, record{phase.Name, t})
		}
		for _, c := range phase.Cordon {
			steps = append(steps, record{phase.Name, "cordon", c.Capacity, strconv.Itoa(c.Count)})
		}
		for _, name := range phase.Uncordon {
			steps = append(steps, record{phase.Name, "uncordon", name, ""})
		}
		for _, name := range phase.Delete {
			steps = append(steps, record{phase.Name, "delete", name, ""})
		}
		for _, name := range phase.Submit {
			steps = append(steps, record{phase.Name, "submit", name, strconv.FormatBool(phase.OneByOne)})
		}
	}
	return []string{
		array("PHASES", "phase, what it shows, longest time in seconds to wait for the expected state", phases),
		array("PHASE_TEAMS", "phase, team that takes part; all teams take part in the other phases", teams),
		array("STEPS", "phase, step, workload or capacity, number of nodes or whether jobs are submitted one by one",
			steps),
	}
}

// columns is the width of a line that the script prints after its indentation.
const columns = 76

// describe returns what a phase shows, and how long the script waits, in lines.
func describe(phase ir.Phase) string {
	most := words.Duration(phase.WaitSeconds)
	text := "Waits for at most " + most + "."
	if phase.OneByOne {
		text = "Waits for at most " + most + " for each job, and as long for the expected numbers."
	}
	shows := strings.TrimSpace(words.OneLine(phase.Shows))
	if shows != "" && !strings.ContainsAny(shows[len(shows)-1:], ".!?") {
		shows += "."
	}
	var lines []string
	width := columns
	for _, word := range strings.Fields(shows + " " + text) {
		length := utf8.RuneCountInString(word)
		if width+1+length > columns {
			lines, width = append(lines, word), length
			continue
		}
		lines[len(lines)-1] += " " + word
		width += 1 + length
	}
	return strings.Join(lines, "\n")
}

// expectedValues returns the expectations of the phases.
func expectedValues(p *ir.Platform) []string {
	var queues, evictions, completed, pods, pending, nodes []record
	for _, phase := range p.Demonstration {
		for _, c := range phase.Queues {
			queues = append(queues, record{phase.Name, c.Tier, strconv.Itoa(c.Pending), strconv.Itoa(c.Admitted)})
		}
		for _, e := range phase.Evicted {
			evictions = append(evictions, record{phase.Name, e.Template, "", strconv.Itoa(e.Count)})
		}
		for _, m := range phase.Moved {
			evictions = append(evictions, record{phase.Name, m.Template, m.Capacity, strconv.Itoa(m.Count)})
		}
		for _, name := range phase.Completed {
			completed = append(completed, record{phase.Name, name})
		}
		for _, c := range phase.Pods {
			pods = append(pods, record{phase.Name, c.Capacity, strconv.Itoa(c.Count)})
		}
		if phase.Pending != nil {
			pending = append(pending, record{phase.Name, strconv.Itoa(*phase.Pending)})
		}
		for _, node := range phase.Nodes {
			nodes = append(nodes, record{phase.Name, strings.Join(node, ", ")})
		}
	}
	return []string{
		array("QUEUES", "tier, ClusterQueue, team that uses it", expectedQueues(p)),
		array("QUEUE_COUNTS", "phase, tier, pending jobs and admitted jobs in each queue", queues),
		array(
			"EVICTIONS",
			"phase, workload, capacity on which they have quota again, jobs of each team that were evicted "+
				"for other jobs",
			evictions,
		),
		array("COMPLETED", "phase, workload all of whose jobs have succeeded", completed),
		array("POD_COUNTS", "phase, capacity, running pods", pods),
		array("PENDING_COUNTS", "phase, pods that wait for nodes", pending),
		array("NODES", "phase, workloads whose pods share a node", nodes),
	}
}

// expectedQueues returns the queues of the tiers whose counts some phase expects, by tier
// and ClusterQueue, once for each team.
func expectedQueues(p *ir.Platform) []record {
	tiers := map[string]bool{}
	for _, phase := range p.Demonstration {
		for _, c := range phase.Queues {
			tiers[c.Tier] = true
		}
	}
	var out []record
	for q, teams := range p.ClusterQueues() {
		for _, t := range teams {
			if tiers[q.Tier] {
				out = append(out, record{q.Tier, q.ClusterQueue, t.Name})
			}
		}
	}
	slices.SortFunc(out, func(a, b record) int { return slices.Compare(a, b) })
	return out
}
