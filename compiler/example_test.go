package compiler_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
)

// small is the blueprint of one team with a Spot pool.
const small = `package platform

name:    "small"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]

hardware: l4: machine: "g2-standard-24"
capacity: "l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 4}
tiers: batch: {priority: 10, default: true, capacity: ["l4-spot"]}
teams: vision: quota: batch: "l4-spot": accelerators: 8
`

// Compile returns the plan of a blueprint that has no errors.
func ExampleCompile() {
	files := fstest.MapFS{"platform.cue": {Data: []byte(small)}}
	result, err := compiler.Compile(context.Background(), compiler.Input{Files: files})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range result.Plan.Capacities {
		fmt.Printf("%s: %d to %d nodes of %s\n", c.Name, c.MinNodes, c.MaxNodes, c.Machine.Type)
	}
	// Output: l4-spot: 0 to 4 nodes of g2-standard-24
}

// A mistake in the blueprint is a finding, not an error. The plan is then nil.
func ExampleCompile_findings() {
	files := fstest.MapFS{
		"platform.cue": {Data: []byte(small)},
		"teams.cue":    {Data: []byte("package platform\n\nteams: vision: cohort: \"research\"\n")},
	}
	result, err := compiler.Compile(context.Background(), compiler.Input{Files: files})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("plan:", result.Plan != nil)
	if err := diag.WriteText(os.Stdout, &result.Findings, diag.TextOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// plan: false
	// teams.cue:3:24: error[E0201]: there is no cohort named "research"
	//   |
	// 3 | teams: vision: cohort: "research"
	//   |                        ^^^^^^^^^^ no cohort is defined
	//   = help: define cohort "research", or choose another name
	//
	// 1 error
}
