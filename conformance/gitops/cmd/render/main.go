// Render prints what Argo CD applies for a deploy folder, as JSON: its Applications, with
// the objects of their charts and folders.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/batchwright/batchwright/conformance/gitops"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: render FOLDER")
		return 2
	}
	applications, err := gitops.Applications(ctx, args[0])
	if err == nil {
		err = json.NewEncoder(stdout).Encode(applications)
	}
	if err != nil {
		fmt.Fprintln(stderr, "render:", err)
		return 1
	}
	return 0
}
