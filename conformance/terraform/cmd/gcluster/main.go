// Gcluster plays Cluster Toolkit's gcluster in an empty Google Cloud project, for tests that
// have a control plane: package terraform, Project. The only argument is the project, as JSON.
// Verbs come from standard input, and answers go to standard output.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/batchwright/batchwright/conformance/terraform"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var project terraform.Project
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &project) != nil {
		fmt.Fprintln(stderr, "usage: gcluster PROJECT")
		return 2
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := project.Play(ctx, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "gcluster:", err)
		return 1
	}
	return 0
}
