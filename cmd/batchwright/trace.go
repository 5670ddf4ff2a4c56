package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/trace/export"
	"github.com/batchwright/batchwright/compiler/words"
)

// exportCommand is the command whose output the trace command reads.
const exportCommand = "kubectl get workloads.kueue.x-k8s.io --all-namespaces -o json"

// noExport is the code of findings about files that are no export of Workloads.
const noExport = "E0894"

// traceCodes returns the codes of findings about these files.
func traceCodes() []diag.Code {
	return []diag.Code{{ID: noExport, Severity: diag.Error, Title: "file has no Workloads of Kueue"}}
}

func (c Command) traceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace [FILE...]",
		Short: "List the jobs that ran on a cluster, for a rehearsal",
		Long: `Trace prints the jobs that have finished on a cluster with Kueue, as CSV. Each line
has the time of submission of a job, the seconds that it ran, its team, its tier, and
the sums of the requests of its pods. A rehearsal replays such a file; docs/traces.md
describes the columns.

Each FILE contains the output of the following command. Without FILEs, or for the
FILE "-", trace reads standard input.

  ` + exportCommand + `

The CSV has no images, commands or environment variables of the jobs. Trace omits
Workloads that have not finished or never had quota, and prints their number on
standard error. A Workload that several FILEs contain becomes one line.`,
		Example: `  ` + exportCommand + ` | batchwright trace > jobs.csv
  batchwright trace monday.json tuesday.json > jobs.csv`,
	}
	c.addColor(cmd)
	cmd.RunE = c.trace
	return cmd
}

// trace prints the jobs of exports. It prints nothing if one of them has a mistake.
func (c Command) trace(cmd *cobra.Command, names []string) error {
	ctx := cmd.Context()
	if len(names) == 0 {
		names = []string{"-"}
	}
	var jobs export.Jobs
	var findings diag.List
	for _, name := range names {
		if err := c.readExport(ctx, &jobs, name); err != nil {
			if ctx.Err() != nil || errors.As(err, new(usageError)) {
				return err
			}
			if name == "-" {
				name = "standard input"
			}
			findings.Add(diag.Finding{
				Code: noExport, Severity: diag.Error, Message: fmt.Sprintf("%s: %v", name, err),
				Help: "give the file that this command writes: " + exportCommand,
			})
		}
	}
	if findings.Len() > 0 {
		return cmp.Or(c.showText(&findings), errFindings)
	}
	if err := jobs.Write(c.Stdout); err != nil {
		return err
	}
	fmt.Fprintln(c.Stderr, words.Count(jobs.Len(), "job"))
	for _, reason := range export.Reasons() {
		if n := jobs.Omitted[reason]; n > 0 {
			fmt.Fprintf(c.Stderr, "left out, %s: %s\n", reason, words.Count(n, "Workload"))
		}
	}
	return nil
}

// readExport adds the jobs of a file, or of standard input for "-".
func (c Command) readExport(ctx context.Context, jobs *export.Jobs, name string) error {
	in, err := c.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return jobs.Read(interruptible{ctx, in})
}
