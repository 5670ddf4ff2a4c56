package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// unsetVariables reports references to variables that are not set: Kubernetes then
// leaves $(NAME) unchanged. It looks only for the compiler's own variables:
// unknownReferences reports the others.
func unsetVariables(r *report) {
	without := map[string]string{} // for each workload, a team without a bucket that submits it
	for _, w := range r.Plan.Workloads {
		// For a team that sets nodesListBucket, listedBuckets reports the missing
		// bucket.
		known := !r.Broken[[2]string{"teams", w.Team}] && !r.Blueprint.Teams[w.Team].NodesListBucket
		if w.Bucket == "" && without[w.Template] == "" && known {
			without[w.Template] = w.Team
		}
	}
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		var beside []option
		missing := map[string]unset{}
		if team := without[name]; team != "" {
			missing[ir.EnvBucket] = unset{
				fmt.Sprintf("team %q has no bucket", team),
				"set bucket: true for the team, or remove the team from the workload's teams",
			}
			beside = append(beside, withRelated(at("teams", team), "the team"))
		}
		if r.Plan.Monitoring.TensorBoard == "" {
			missing[ir.EnvTensorBoard] = unset{
				"the platform has no TensorBoard", "add monitoring: tensorBoard: {}, or set the variable in env",
			}
		}
		aux := map[string]unset{ir.EnvBucket: missing[ir.EnvBucket], ir.EnvTensorBoard: missing[ir.EnvTensorBoard]}
		meet := "add rendezvous: {}, or set the variable in env"
		for _, v := range []string{ir.EnvMasterAddr, ir.EnvMasterPort, ir.EnvNodes, ir.EnvJobIndex} {
			aux[v] = unset{"an auxiliary pod is not part of the rendezvous", "set the variable in the env of this pod"}
			switch {
			case w.Rendezvous == nil:
				missing[v] = unset{"the workload has no rendezvous", meet}
			case v == ir.EnvJobIndex && w.Slices == 1:
				missing[v] = unset{"the workload runs on at most one TPU slice", "set slices, or the variable in env"}
			}
		}
		said := map[string]bool{} // one mistake, however many references
		r.reportUnset(at("workloads", name), w.Command, w.Env, w.SecretEnv, missing, beside, said)
		for _, a := range sortedKeys(w.Auxiliary) {
			r.reportUnset(at("workloads", name, "auxiliary", a), w.Auxiliary[a].Command, w.Auxiliary[a].Env, nil, aux,
				beside, said)
		}
	}
}

// unset says why a variable is not set, and the correction. The zero value means
// that the variable is set.
type unset struct{ why, cure string }

// reportUnset reports the variables that a container refers to and that are not set,
// except those in said.
func (r *report) reportUnset(container, command []string, env map[string]string, secrets map[string]schema.SecretKey,
	missing map[string]unset, beside []option, said map[string]bool) {
	check := func(path []string, text string) {
		for _, v := range sortedKeys(missing) {
			_, given := env[v]
			_, secret := secrets[v]
			if given || secret || said[missing[v].why] || missing[v].why == "" || !refersTo(text, v) {
				continue
			}
			said[missing[v].why] = true
			options := []option{withHelp("%s", missing[v].cure)}
			if v == ir.EnvBucket {
				options = append(options, beside...)
			}
			r.add(path, fmt.Sprintf("%s is never set: %s", v, missing[v].why), options...)
		}
	}
	for i, text := range command {
		check(append(slices.Clip(container), "command", diag.Index(i)), text)
	}
	for _, v := range sortedKeys(env) {
		check(append(slices.Clip(container), "env", v), env[v])
	}
}

// refersTo reports whether a text has a reference that Kubernetes would replace with
// the variable. It would not replace $$(NAME).
func refersTo(text, variable string) bool {
	reference := "$(" + variable + ")"
	for {
		before, after, found := strings.Cut(text, reference)
		if !found {
			return false
		}
		if dollars := len(before) - len(strings.TrimRight(before, "$")); dollars%2 == 0 {
			return true
		}
		text = after
	}
}

// mounted matches the names of files in the directory of a workload's files.
var mounted = regexp.MustCompile(`(?:^|[^-\w./])/workload/(\w[-\w.]*)`)

// missingFiles reports files that a command names and the workload does not have. If
// a workload has files, the directory contains only these. If it has none, the
// directory can be part of the image.
func missingFiles(r *report) {
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		if len(w.Files) == 0 {
			continue
		}
		r.commandFiles(at("workloads", name), w.Command, sortedKeys(w.Files))
		for _, a := range sortedKeys(w.Auxiliary) {
			r.commandFiles(at("workloads", name, "auxiliary", a), w.Auxiliary[a].Command, sortedKeys(w.Files))
		}
	}
}

func (r *report) commandFiles(container, command, known []string) {
	for i, text := range command {
		for _, m := range mounted.FindAllStringSubmatch(text, -1) {
			file := strings.TrimRight(m[1], ".")
			if hasName(known, file) {
				continue
			}
			cure := withHelp("add the file to files, or choose another file")
			if near := r.nearestName(file, known); near != "" {
				cure = withHelp("did you mean %q?", near)
			}
			r.add(append(slices.Clip(container), "command", diag.Index(i)),
				fmt.Sprintf("file %q does not exist: /workload holds only the workload's files", file),
				withChoices(len(known), quoteNames(known)), cure)
		}
	}
}
