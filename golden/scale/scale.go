// Package scale makes blueprints of any number of teams, for benchmarks.
package scale

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Sizes are the numbers of teams that benchmarks run with.
var Sizes = []int{100, 1000, 10000}

// Write makes a blueprint in a directory: the hardware, capacities and tiers of
// the batch platform's blueprint, which is read from the directory example, and
// teams written out one by one, two to a cohort, each with quota in three
// tiers. It has no workloads.
func Write(dir, example string, teams int) error {
	source, err := os.ReadFile(filepath.Join(example, "platform.cue"))
	if err != nil {
		return err
	}
	head, _, found := strings.Cut(string(source), "cohorts: {")
	if !found {
		return errors.New("the batch platform has no cohorts")
	}
	var b strings.Builder
	b.WriteString(head)
	for _, name := range []string{"l4-ondemand", "l4-spot", "a100-compact"} {
		fmt.Fprintf(&b, "capacity: %q: accept: E0602: \"many teams\"\n", name)
	}
	b.WriteString("cohorts: {\n")
	for i := range (teams + 1) / 2 {
		fmt.Fprintf(&b, "\t\"cohort-%05d\": {}\n", i)
	}
	b.WriteString("}\nteams: {\n")
	for i := range teams {
		fmt.Fprintf(&b, `	"team-%05[1]d": {
		cohort: "cohort-%05[2]d"
		group:  "team-%05[1]d@example.com"
		bucket: true
		quota: {
			lp: {"l4-reserved": borrow: 4, "l4-spot": {accelerators: 12, borrow: 4}}
			hp: {"l4-reserved": accelerators: 4, "l4-ondemand": {accelerators: 4, borrow: 4}}
			compact: "a100-compact": accelerators: 2
		}
	}
`, i, i/2)
	}
	b.WriteString("}\n")
	return os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(b.String()), 0o644)
}
