package dashboard

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// FuzzFiles: the texts of a plan are strings in dashboards, rules and objects.
func FuzzFiles(f *testing.F) {
	hostile.Seed(f)
	harmless := readFiles(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		if labelReference.MatchString(s) {
			t.Skip() // an alert's reference to a label
		}
		hostile.Want(t, s, "@") // which marks what depends on the dialect, and is in no name
		hostile.Compare(t, s, harmless, readFiles(t, s), nil)
	})
}

// readFiles returns the content of every file of a plan that holds a text.
func readFiles(t testing.TB, text string) any {
	t.Helper()
	p := smallPlan()
	p.Name, p.Project = text, text
	p.Teams[0].Name, p.Teams[0].Namespace, p.Monitoring.GrafanaNamespace = text, text, "g"+text
	p.Capacities[0].Name, p.Capacities[0].Reservation = text, &ir.ReservationUse{Name: text}
	kai := *p
	kai.Scheduler = ir.KAI
	kai.Cohorts = []ir.Cohort{{Name: text}}
	out, files := map[string]any{}, renderFiles(t, p)
	rules, err := kubeyaml.Files("", ruleFile([]monitoring.Alert{{
		Name: text, Group: "g" + text, Expr: text + " > 0", Summary: text, Action: "Look.\n" + text,
		Severity: "s" + text,
	}}))
	if err != nil {
		t.Fatal(err)
	}
	files["any-"+rules[0].Path] = string(rules[0].Content)
	for name, content := range renderFiles(t, &kai) {
		files["kai/"+name] = content
	}
	for name, content := range files {
		if path.Ext(name) == ".yaml" {
			out[name] = hostile.Documents(t, content)
			continue
		}
		// The address of a console page holds the project as a part of a query.
		content = strings.ReplaceAll(content, "?project="+url.QueryEscape(text)+")", "?project=my-project)")
		// A name in a pattern has its dots in brackets.
		content = strings.ReplaceAll(content, "[.]", ".")
		var v any
		if err := json.Unmarshal([]byte(content), &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = v
	}
	return out
}
