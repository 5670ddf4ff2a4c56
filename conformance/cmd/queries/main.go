// Queries prints, as JSON, every query of a deploy folder's dashboards and alerts.
// It serves the tests of conformance/cluster, which cannot import the checks because
// they use another version of Kubernetes.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/batchwright/batchwright/conformance/dashboards"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: queries DIR")
		return 2
	}
	queries, err := dashboards.Queries(os.DirFS(args[0]))
	if err == nil {
		err = json.NewEncoder(stdout).Encode(queries)
	}
	if err != nil {
		fmt.Fprintln(stderr, "queries:", err)
		return 1
	}
	return 0
}
