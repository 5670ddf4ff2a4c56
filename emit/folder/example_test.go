package folder_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit/folder"
)

// Build renders the deploy folder of a plan in memory. emit.Write writes it.
func ExampleBuild() {
	files := fstest.MapFS{"platform.cue": {Data: []byte(`package platform

name:    "small"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]

hardware: l4: machine: "g2-standard-24"
capacity: "l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 4}
tiers: batch: {priority: 10, default: true, capacity: ["l4-spot"]}
teams: vision: quota: batch: "l4-spot": accelerators: 8
`)}}
	result, err := compiler.Compile(context.Background(), compiler.Input{Files: files})
	if err != nil {
		log.Fatal(err)
	}
	tree, err := folder.Build(result.Plan)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range tree {
		if strings.HasPrefix(f.Path, "terraform/modules/") {
			fmt.Println(f.Path)
		}
	}
	// Output:
	// terraform/modules/network/main.tf
	// terraform/modules/network/outputs.tf
	// terraform/modules/network/variables.tf
	// terraform/modules/network/versions.tf
}
