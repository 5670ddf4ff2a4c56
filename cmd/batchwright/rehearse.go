package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/page"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// Values of --ties.
const (
	tiesFirst    = "first"
	tiesReversed = "reversed"
)

// rehearsing holds the rehearse command and its flags.
type rehearsing struct {
	Command
	only   []string
	ties   *choice
	html   string
	prices string
	bill   *cost.Bill // nil without prices
}

func (c Command) rehearseCommand() *cobra.Command {
	v := &rehearsing{Command: c}
	cmd := &cobra.Command{
		Use:   "rehearse [PATH...]",
		Short: "Show who will wait, before anything is deployed",
		Long: `Rehearse plays jobs on the platform of a blueprint. It reports which jobs wait,
which jobs are evicted, and how much of the capacity the jobs use. Kueue's own
scheduler decides, in virtual time: a week takes seconds and needs no cluster. PATHs
are the same as for compile.

Without --only, it plays the demonstration of the blueprint and then each rehearsal.
The demonstration has the name "demonstration". An expectation of the blueprint that
is not met is a finding, and the exit code is then 1.

With --prices, the report contains the cost of the nodes while they existed.
docs/cost.md describes the file.

On a cluster, chance decides some ties, such as the tie between two jobs that were
created in the same second. A rehearsal prefers the job that was submitted first;
--ties reversed prefers the other job. If the two results differ, the result on a
cluster depends on chance.

A rehearsal simulates nodes, people and job controllers; docs/rehearsal.md lists the
differences from a cluster. Rehearse runs the program batchwright-rehearse, which
contains Kueue: "make" builds it next to batchwright. For platforms with KAI
Scheduler it runs batchwright-rehearse-kai, which "make rehearse-kai" builds.`,
		Example: `  batchwright rehearse blueprints/batch-platform
  batchwright rehearse --only busy-week --html week.html blueprints/prod
  batchwright rehearse --only busy-week --ties reversed blueprints/prod
  batchwright rehearse --format json . | jq '.teams'`,
		RunE: v.run,
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&v.only, "only", nil, "play only the rehearsal with this `name`; can be repeated")
	v.ties = choiceFlag(cmd, "ties", "job that Kueue prefers in a tie", tiesFirst, tiesReversed)
	flags.StringVar(&v.html, "html", "", "also draw the rehearsal, as a web page in this `file` (NAME.html)")
	pricesFlag(cmd, &v.prices)
	v.addInput(cmd)
	v.addFormat(cmd, "output format of the report", formatText, formatJSON, formatMarkdown)
	v.addColor(cmd)
	return cmd
}

// run plays the chosen rehearsals one after the other, and reports each when it has
// ended.
func (v *rehearsing) run(cmd *cobra.Command, paths []string) error {
	if err := cmp.Or(checkNamed(cmd, "html", v.html), checkNamed(cmd, "prices", v.prices)); err != nil {
		return err
	}
	if v.html != "" {
		if err := checkPage(v.html); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	tree, res, err := v.buildFolder(ctx, paths, withPlaces)
	if err != nil {
		return err
	}
	if err := v.showErrors(res.Findings.Filter(noteFlag{}.keeps)); err != nil {
		return err
	}
	chosen, err := v.choose(res.Plan)
	if err != nil {
		return err
	}
	if v.prices != "" {
		prices, err := v.readPrices(ctx, v.prices, res.Plan)
		if err != nil {
			return err
		}
		v.bill = cost.Of(res.Plan, prices)
	}
	var findings diag.List
	for i, name := range chosen {
		if i > 0 && v.format.value != formatJSON {
			fmt.Fprintln(v.Stdout)
		}
		if err := v.rehearse(ctx, name, res, tree, &findings); err != nil {
			return err
		}
	}
	return v.showErrors(&findings)
}

// choose returns the names of the rehearsals to play: the demonstration first, then by
// name, or as --only names them.
func (v *rehearsing) choose(p *ir.Platform) ([]string, error) {
	var known []string
	if len(p.Demonstration) > 0 {
		known = append(known, ir.DemonstrationRehearsal)
	}
	for _, r := range p.Rehearsals {
		known = append(known, r.Name)
	}
	var chosen []string
	for _, name := range v.only {
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) == 0 {
		chosen = known
	}
	for _, name := range chosen {
		if slices.Contains(known, name) {
			continue
		}
		return nil, usageErrorf("--only: there is no rehearsal %q%s", name,
			cmp.Or(didYouMean(diag.Nearest(name, known)), "; "+listOr(known, "the blueprint has none")))
	}
	switch {
	case len(chosen) == 0:
		return nil, usageErrorf("the blueprint has nothing to rehearse: " +
			"write rehearsals or a demonstration (batchwright explain rehearsals)")
	case v.html != "" && len(chosen) > 1:
		return nil, usageErrorf("--html draws one rehearsal: choose it with --only; %s", listOr(known, ""))
	}
	return chosen, nil
}

// listOr returns a sentence that lists the rehearsals, or what to say if there are none.
func listOr(known []string, none string) string {
	if len(known) == 0 {
		return none
	}
	return "the blueprint has " + words.Quoted(known, len(known))
}

// rehearse plays one rehearsal, writes its report, and adds what is not as expected to
// the findings. If ctx is done before the end, it reports what has happened so far and
// returns the error of ctx.
func (v *rehearsing) rehearse(
	ctx context.Context, name string, res *compiler.Result, tree emit.Tree, findings *diag.List,
) error {
	scenario, expect, err := scenarioOf(res.Plan, tree, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	scenario.ReversedTies = v.ties.value == tiesReversed
	history, err := v.play(ctx, scenario, true)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r := report.Of(res.Plan, scenario, history, expect)
	if v.bill != nil {
		r.Price(v.bill)
	}
	write := map[string]func(io.Writer, *report.Report) error{
		formatText: report.Text, formatJSON: report.JSON, formatMarkdown: report.Markdown,
	}[v.format.value]
	if err := write(v.Stdout, r); err != nil {
		return err
	}
	if v.html != "" {
		var content bytes.Buffer
		if err := page.Write(&content, res.Plan, scenario, history, r); err != nil {
			return err
		}
		if err := replaceFile(v.html, content.Bytes()); err != nil {
			return err
		}
	}
	addUnexpected(findings, res, name, r)
	return ctx.Err()
}

// scenarioOf returns the scenario of a rehearsal, and what the rehearsal expects.
func scenarioOf(p *ir.Platform, tree emit.Tree, name string) (
	*rehearsal.Scenario, []ir.RehearsalExpectation, error,
) {
	if name == ir.DemonstrationRehearsal {
		s, err := rehearsal.OfDemonstration(p, tree)
		return s, nil, err
	}
	i := slices.IndexFunc(p.Rehearsals, func(r ir.Rehearsal) bool { return r.Name == name })
	s, err := rehearsal.OfRehearsal(p, tree, p.Rehearsals[i])
	return s, p.Rehearsals[i].Expect, err
}

// checkPage rejects a name that is certainly not meant for a page.
func checkPage(name string) error {
	if ext := filepath.Ext(name); ext != ".html" && ext != ".htm" {
		return usageErrorf("--html: %s does not end in .html", name)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return usageErrorf("--html: %s is not a regular file", name)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return usageErrorf("--html: there is no directory %s", filepath.Dir(name))
	}
	return nil
}
