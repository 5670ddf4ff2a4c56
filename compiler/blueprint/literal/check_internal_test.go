package literal

import (
	"testing"

	"cuelang.org/go/cue/parser"
)

// TestCheck holds the verdict on values of each kind. FuzzLiteral of package blueprint
// holds the verdicts against CUE, but would also pass if everything were Unknown.
func TestCheck(t *testing.T) {
	s := readSchema(t)
	const defaults = `"members":[],"bucket":false,"deleteBucketData":false,"nodesListBucket":false,` +
		`"roles":[],"allow":[],` +
		`"maxJobs":5000,"labels":{},"quota":{},"queues":{},"accept":{}`
	for _, tt := range []struct {
		field, source string
		want          Verdict
		json          string
	}{
		{"name", `"a"`, Fits, `"a"`},
		{"name", `"A"`, Unfit, ""},
		{"name", `1`, Unfit, ""},
		{"name", `{}`, Unfit, ""},
		{"name", `'a'`, Unknown, ""}, // bytes
		{"name", `"\(x)"`, Unknown, ""},
		{"name", `null`, Unknown, ""},
		{"zones", `["us-central1-a"]`, Fits, `["us-central1-a"]`},
		{"zones", `["us-central1-a", ...]`, Fits, `["us-central1-a"]`},
		{"zones", `[]`, Unfit, ""},
		{"zones", `[...]`, Unknown, ""},
		{"zones", `[for x in y {x}]`, Unknown, ""},
		{"scheduler", `"kai"`, Fits, `"kai"`},
		{"scheduler", `"slurm"`, Unfit, ""},
		{"teams", `{}`, Fits, `{` + defaults + `}`},
		{"teams", `{cohort: "a"}`, Fits, `{"cohort":"a",` + defaults + `}`},
		{"teams", `{cohrt: "a"}`, Unfit, ""},
		{"teams", `{cohrt: x}`, Unfit, ""}, // whatever x is
		{"teams", `{cohort: x}`, Unknown, ""},
		{"teams", `{cohort: x, priority: -1}`, Unfit, ""},
		{"teams", `{cohort?: "a"}`, Unknown, ""},
		{"teams", `{cohort: "a", cohort: "a"}`, Unknown, ""},
		{"teams", `{cohort: "a" @tag(a)}`, Unknown, ""},
		{"teams", `{[string]: "a"}`, Unknown, ""},
		{"teams", `{priority: 1_000}`, Unknown, ""},
		{"teams", `{priority: 1.5}`, Unfit, ""},
		{"teams", `{labels: "é": "a"}`, Unknown, ""}, // CUE normalizes the label
		{"tiers", `{priority: 10, capacity: ["a"]}`, Fits, `{"priority":10,"capacity":["a"],"default":false,` +
			`"preempts":{"inQueue":"Never","toReclaim":"Any","toBorrow":"Never"},` +
			`"nextCapacity":{"beforeBorrowing":false,"beforeEvicting":true},"admissionChecks":{},` +
			`"maxGraceSeconds":120,"namespaces":"teams","accept":{}}`},
		{"tiers", `{priority: 10}`, Unfit, ""}, // capacity is required
		{"capacity", `{hardware: "a", consumption: {}}`, Unfit, ""},
		{"capacity", `{hardware: "a", consumption: {spot: {}, onDemand: {}}}`, Unfit, ""},
	} {
		x, err := parser.ParseExpr("", tt.source)
		if err != nil {
			t.Fatal(err)
		}
		shape := s.Field(tt.field)
		if entity, _ := shape.Entity(); entity != nil {
			shape = entity
		}
		if text, got := shape.Check(x); got != tt.want || string(text) != tt.json {
			t.Errorf("%s: %s: verdict %d, %s\nwant %d, %s", tt.field, tt.source, got, text, tt.want, tt.json)
		}
	}
}
