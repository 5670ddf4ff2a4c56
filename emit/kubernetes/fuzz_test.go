package kubernetes_test

import (
	"testing"

	"github.com/batchwright/batchwright/emit/hostile"
)

// FuzzFiles: the texts of a plan stay texts.
func FuzzFiles(f *testing.F) {
	hostile.Seed(f)
	harmless := readDocuments(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s)
		hostile.Compare(t, s, harmless, readDocuments(t, s), nil)
	})
}

// readDocuments returns the documents of every file of a plan that holds a text.
func readDocuments(t testing.TB, text string) any {
	t.Helper()
	p := testPlan()
	p.PriorityClasses[0].Note = text
	p.PriorityClasses[1].Note = "before " + text + "\n" + text
	p.Teams[0].Group, p.Teams[0].Members = text, []string{"user:" + text}
	p.Capacities[0].NodeLabels[0].Value = text
	p.Capacities[0].NodeTaints[0].Value = "x" + text
	kai := kaiPlan()
	kai.PriorityClasses[0].Note, kai.Teams[0].Group = text, text
	out := map[string]any{}
	for name, content := range renderFiles(t, p) {
		out[name] = hostile.Documents(t, content)
	}
	for name, content := range renderFiles(t, kai) {
		out["kai/"+name] = hostile.Documents(t, content)
	}
	return out
}
