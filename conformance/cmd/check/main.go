// Check checks deploy folders against the libraries and schemas of the tools that
// read them. Each argument is one folder. It prints a line for each error. The exit
// code is 1 if there is an error, and 2 if the arguments are wrong.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/batchwright/batchwright/conformance/cloudbuild"
	"github.com/batchwright/batchwright/conformance/dashboards"
	"github.com/batchwright/batchwright/conformance/kaiqueues"
	"github.com/batchwright/batchwright/conformance/kueueconfig"
	"github.com/batchwright/batchwright/conformance/networkpolicies"
	"github.com/batchwright/batchwright/conformance/policies"
)

// checkers are the checks that a deploy folder must pass, by the names that are
// printed with their errors.
var checkers = []struct {
	name  string
	check func(folder fs.FS) []error
}{
	{"cloudbuild", cloudbuild.Check},
	{"dashboards", dashboards.Check},
	{"kaiqueues", kaiqueues.Check},
	{"kueueconfig", kueueconfig.Check},
	{"networkpolicies", networkpolicies.Check},
	{"policies", policies.Check},
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(folders []string, stdout, stderr io.Writer) int {
	if len(folders) == 0 {
		fmt.Fprintln(stderr, "usage: check DIR...")
		return 2
	}
	status := 0
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			fmt.Fprintf(stderr, "check: %s is not a directory\n", folder)
			return 2
		}
		for _, c := range checkers {
			for _, err := range c.check(os.DirFS(folder)) {
				status = 1
				line := strings.ReplaceAll(err.Error(), "\n", " ")
				fmt.Fprintf(stdout, "%s: %s [%s]\n", filepath.ToSlash(folder), line, c.name)
			}
		}
	}
	return status
}
