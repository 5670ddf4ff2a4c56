package workload_test

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/hostile"
)

// FuzzFiles: a command, a variable and a file hold what the blueprint says, and
// are nothing else.
func FuzzFiles(f *testing.F) {
	hostile.Seed(f)
	harmless := readWorkloads(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s)
		hostile.Compare(t, s, harmless, readWorkloads(t, s), nil)
	})
}

// readWorkloads returns the documents of every file of workloads that hold a text.
func readWorkloads(t testing.TB, text string) any {
	t.Helper()
	job, set := trainingJob("train-1"), trainingJob("set-1")
	set.Kind = ir.JobSet
	for _, w := range []*ir.Workload{&job, &set} {
		w.Command = []string{text, "--flag=" + text, text + text}
		w.Env = []ir.KeyValue{{Key: "A", Value: text}, {Key: "B", Value: "b" + text + "\n" + text}}
		w.SecretEnv = []ir.SecretEnv{{Name: "C", Secret: text, Key: text}}
		w.Files = []ir.KeyValue{{Key: "a", Value: text}, {Key: "b", Value: "#!/bin/sh\n" + text + "\n"}}
	}
	out := map[string]any{}
	for name, content := range renderWorkloads(t, job, set) {
		out[name] = hostile.Documents(t, content)
	}
	return out
}
