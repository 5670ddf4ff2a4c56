package scale

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Mistakes are the kinds of mistakes that WriteMistakes can make.
var Mistakes = []string{"fields", "pattern", "embedded", "conflicts", "references", "unresolved", "yaml"}

// WriteMistakes makes a blueprint with some twelve mistakes in every team, in
// a directory; the kind says which:
//
//	fields      fields that do not fit the schema
//	pattern     the same, in one pattern for all teams
//	embedded    the same, where the file embeds the schema
//	conflicts   fields with two values
//	references  names that nothing has, beside thousands that are right
//	unresolved  CUE references that lead nowhere
//	yaml        as fields, in platform.yaml
func WriteMistakes(dir, kind string, teams int) error {
	const wrong = `cohort: 3, group: "x", bucket: "yes", bukket: true, namspace: "x", roles: ["a", "b"], roless: 3, ` +
		`quota: {lp: {"l4-spot": {accelerators: -1, borrow: "x", lend: 1.5, cpus: -2, cpuz: 3}}}`
	team, after, schema := "{}", "", ""
	switch kind {
	case "fields", "yaml":
		team = "{" + wrong + "}"
	case "embedded":
		team = "{" + wrong + "}"
		schema = "import \"github.com/batchwright/batchwright/schema\"\n\nschema.#Blueprint\n\n"
	case "pattern":
		after = "teams: [string]: {" + wrong + "}\n"
	case "conflicts":
		team = `{cohort: "a" & "b", namespace: "a" & "b", group: "a" & "b"}`
	case "references":
		var tiers []string
		for i := range 11 {
			tiers = append(tiers, fmt.Sprintf("lp%d: {}", i))
		}
		team = `{cohort: "cohrt-NUMBER", quota: {` + strings.Join(tiers, ", ") + "}}"
	case "unresolved":
		team = "{cohort: cohortNUMBER, group: groupNUMBER}"
	default:
		return fmt.Errorf("no such kind: %q", kind)
	}
	var b strings.Builder
	name := "platform.yaml"
	if kind != "yaml" {
		name = "platform.cue"
		b.WriteString("package platform\n\n" + schema)
	}
	b.WriteString(`name: "small"
project: "my-project"
region: "us-central1"
zones: ["us-central1-a"]
hardware: {l4: {machine: "g2-standard-24"}}
capacity: {"l4-spot": {hardware: "l4", consumption: {spot: {}}, maxNodes: 4}}
tiers: {lp: {priority: 10, default: true, capacity: ["l4-spot"]}}
cohorts: {
`)
	for i := range teams {
		fmt.Fprintf(&b, "  \"cohort-%05d\": {},\n", i)
	}
	b.WriteString("}\nteams: {\n")
	for i := range teams {
		number := fmt.Sprintf("%05d", i)
		fmt.Fprintf(&b, "  \"team-%s\": %s,\n", number, strings.ReplaceAll(team, "NUMBER", number))
	}
	b.WriteString("}\n" + after)
	return os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644)
}
