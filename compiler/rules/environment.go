package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// The rules on environment variables of the platform: each is set once, and references are
// to variables that are set.

// indexVariable is the variable in which Kubernetes numbers the pods of a Job.
const indexVariable = "JOB_COMPLETION_INDEX"

// platformVariable is a variable that the platform sets if other fields of the blueprint
// ask for it. If only some teams of a workload have a bucket, it is both set and lacking.
type platformVariable struct {
	by, rename  string // what sets it, "" for nothing, and the correction if the blueprint sets it too
	lacks, cure string // why it is not set, "" if it is, and the correction
}

// teamsByBucket returns, for each workload, the first team with a bucket that submits it, and
// the first one without. For a team that sets nodesListBucket, listedBuckets reports the
// missing bucket.
func (r *report) teamsByBucket() (with, without map[string]string) {
	with, without = map[string]string{}, map[string]string{}
	for _, w := range r.Plan.Workloads {
		teams := with
		if w.Bucket == "" {
			teams = without
			if r.Broken[[2]string{"teams", w.Team}] || r.Blueprint.Teams[w.Team].NodesListBucket {
				continue
			}
		}
		if teams[w.Template] == "" {
			teams[w.Template] = w.Team
		}
	}
	return with, without
}

// variablesOf returns the variables of a container. Teams with and without a bucket
// submit its workload, or "".
func (r *report) variablesOf(c container, with, without string) map[string]platformVariable {
	const rename = "rename the variable"
	var bucket, board platformVariable
	if with != "" {
		bucket.by, bucket.rename = fmt.Sprintf("team %q's bucket", with), rename
	}
	if without != "" {
		bucket.lacks = fmt.Sprintf("team %q has no bucket", without)
		bucket.cure = "set bucket: true for the team, or remove the team from the workload's teams"
	}
	if r.Plan.Monitoring.TensorBoard != "" {
		board.by, board.rename = "monitoring.tensorBoard", rename
	} else {
		board.lacks = "the platform has no TensorBoard"
		board.cure = "add monitoring: tensorBoard: {}, or set the variable in env"
	}
	all := map[string]platformVariable{ir.EnvBucket: bucket, ir.EnvTensorBoard: board}
	for _, name := range []string{ir.EnvMasterAddr, ir.EnvMasterPort, ir.EnvNodes, ir.EnvJobIndex} {
		var v platformVariable
		switch w := r.Blueprint.Workloads[c.workload]; {
		case c.auxiliary:
			v.lacks = "an auxiliary pod is not part of the rendezvous"
			v.cure = "set the variable in the env of this pod"
		case w.Rendezvous == nil:
			v.lacks, v.cure = "the workload has no rendezvous", "add rendezvous: {}, or set the variable in env"
		case name == ir.EnvJobIndex && w.Slices == 1:
			v.lacks, v.cure = "the workload runs on at most one TPU slice", "set slices, or the variable in env"
		default:
			v.by, v.rename = "rendezvous", "remove the variable, or remove rendezvous"
			all[indexVariable] = platformVariable{by: "Kubernetes, which counts the pods", rename: rename}
		}
		all[name] = v
	}
	return all
}

// setTwice reports variables that are set twice, because the pod would have only one
// of the two values.
func setTwice(r *report) {
	with, without := r.teamsByBucket()
	for _, c := range r.containers() {
		set := r.variablesOf(c, with[c.workload], without[c.workload])
		for _, name := range sortedKeys(c.env) {
			if v := set[name]; v.by != "" {
				r.addKey(c.path.at("env", name), name+" is set by "+v.by, advise(v.rename))
			}
		}
		for _, name := range sortedKeys(c.secrets) {
			path := c.path.at("secretEnv", name)
			if v := set[name]; v.by != "" {
				r.addKey(path, name+" is set by "+v.by, advise(v.rename))
			} else if _, twice := c.env[name]; twice {
				r.addKey(path, name+" is also set in env", see(c.path.at("env", name), "set here"),
					help("keep one of them"))
			}
		}
	}
}

// unsetVariables reports references to variables that are not set: Kubernetes then
// leaves $(NAME) unchanged. It looks only for the compiler's own variables:
// unknownReferences reports the others.
func unsetVariables(r *report) {
	with, without := r.teamsByBucket()
	said := map[[2]string]bool{} // by workload and reason: one mistake, however many references
	for _, c := range r.containers() {
		set := r.variablesOf(c, with[c.workload], without[c.workload])
		for _, t := range c.texts() {
			for _, name := range slices.Sorted(slices.Values(expandedNames(t.text))) {
				v, reason := set[name], [2]string{c.workload, set[name].lacks}
				if v.lacks == "" || c.sets(name) || said[reason] {
					continue
				}
				said[reason] = true
				r.add(t.path, say("%s is never set: %s", name, v.lacks), advise(v.cure),
					when(name == ir.EnvBucket, see(at("teams", without[c.workload]), "the team")))
			}
		}
	}
}
