// Check checks deploy folders against the libraries and schemas of the tools that
// read them. Each argument is one folder. It prints a line for each error. The exit
// code is 1 if there is an error, and 2 if the arguments are wrong. With -only, it
// makes one of its checks: the one that prints the flag's value with its errors.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/conformance/cloudbuild"
	"github.com/batchwright/batchwright/conformance/dashboards"
	"github.com/batchwright/batchwright/conformance/kaiqueues"
	"github.com/batchwright/batchwright/conformance/kueueconfig"
	"github.com/batchwright/batchwright/conformance/networkpolicies"
	"github.com/batchwright/batchwright/conformance/policies"
)

// checker is one of the checks.
type checker struct {
	name  string
	check func(folder fs.FS) []error
}

// checkers are the checks that a deploy folder must pass, by the names that are
// printed with their errors.
var checkers = []checker{
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

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprintln(stderr, "usage: check [-only CHECK] DIR...") }
	only := flags.String("only", "", "")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	folders := flags.Args()
	if len(folders) == 0 {
		flags.Usage()
		return 2
	}
	chosen := slices.DeleteFunc(slices.Clone(checkers), func(c checker) bool { return *only != "" && c.name != *only })
	if len(chosen) == 0 {
		fmt.Fprintf(stderr, "check: no check is called %q\n", *only)
		return 2
	}
	status := 0
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			fmt.Fprintf(stderr, "check: %s is not a directory\n", folder)
			return 2
		}
		for _, c := range chosen {
			for _, err := range c.check(os.DirFS(folder)) {
				status = 1
				line := strings.ReplaceAll(err.Error(), "\n", " ")
				fmt.Fprintf(stdout, "%s: %s [%s]\n", filepath.ToSlash(folder), line, c.name)
			}
		}
	}
	return status
}
