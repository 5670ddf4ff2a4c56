package policies_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/conformance/policies"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           string // part of an error; "" for none at all
	}{
		{name: "nothing"},
		{"not CEL", "variables.queue != ''", "variables.queue !=", "Syntax error"},
		{"unknown variable", "variables.queue != ''", "variables.name != ''", "undefined field 'name'"},
		{"message not CEL", "request.namespace", "request.team", "does not name"},
		{"empty queue admitted", "variables.queue != '' && ", "", "admitted"},
		{"any queue admitted", "variables.queue in variables.queues.split(', ')", "true", "job with another's queue: admitted"},
		{"queue may be lost", "variables.queue == variables.before", "true", "job that loses its queue: admitted"},
		{"clean-up refused", "'UPDATE'", "'DELETE'", "job that is cleaned up: refused"},
		{"jobsets forgotten", "      - jobsets\n", "      - jobs\n", "jobset without a queue: admitted"},
		{"a jobset's jobs refused", "jobset-controller-manager", "controller-manager", "job of a jobset: refused"},
		{"message names no queue", " + variables.queues\n", "\n", "does not name"},
		{"other services admitted", "== 'None'", "!= 'x'", "load balancer: admitted"},
		{"other namespaces", "key: team", "key: tenant", "does not apply"},
		{"only warns", "- Deny", "- Warn", "does not enforce"},
		{"binds another policy", "policyName: jobs-name-a-queue", "policyName: jobs", "does not enforce"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := fstest.MapFS{}
			for _, name := range []string{"system/admission-policies.yaml", "teams/team-a.yaml", "teams/team-b.yaml"} {
				text, err := os.ReadFile("testdata/" + name)
				if err != nil {
					t.Fatal(err)
				}
				folder["kubernetes/"+name] = &fstest.MapFile{Data: []byte(strings.Replace(string(text), test.old, test.new, 1))}
			}
			err := errors.Join(policies.Check(folder)...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
