package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/review"
)

// costing holds the cost command and its flags.
type costing struct {
	Command
	prices           string
	example, details bool
}

func (c Command) costCommand() *cobra.Command {
	v := &costing{Command: c}
	cmd := &cobra.Command{
		Use:   "cost [PATH...]",
		Short: "Compute what a blueprint costs, with your prices",
		Long: `Cost computes what the nodes of a blueprint cost: what stands and is paid even
if no job runs, what is paid if all guarantees are used, and what is paid if all
capacities have their maximum size, for a month of 730 hours. It prints the total
and the largest capacities; with --details also tables of all capacities, tiers
and teams. PATHs are as for compile.

The prices are yours: --prices names a file of prices in CSV, and --example
prints such a file for the blueprint, with made-up numbers. Without prices, cost
counts accelerator hours and node hours. JSON always contains all details.

The result contains only nodes, without disks, networks and fees of GKE. Local
SSDs count only where they come with the machine type.`,
		Example: `  batchwright cost blueprints/prod
  batchwright cost --example blueprints/prod > prices.csv
  batchwright cost --prices prices.csv blueprints/prod
  batchwright cost --prices prices.csv --details blueprints/prod
  batchwright cost --prices prices.csv --format json . | jq .total.standing.perMonth`,
		RunE: v.run,
	}
	pricesFlag(cmd, &v.prices)
	cmd.Flags().BoolVar(&v.example, "example", false, "print a file of prices with made-up numbers instead")
	cmd.Flags().BoolVar(&v.details, "details", false, "also print tables of all capacities, tiers and teams")
	v.addInput(cmd)
	v.addFormat(cmd, "output format of the result", formatText, formatJSON)
	v.addColor(cmd)
	return cmd
}

// pricesFlag adds the flag --prices.
func pricesFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "prices", "", "`file` with prices of nodes, in CSV")
}

func (v *costing) run(cmd *cobra.Command, paths []string) error {
	changed := cmd.Flags().Changed
	switch {
	case v.example && changed("prices"):
		return usageErrorf("--example prints prices: it excludes --prices")
	case v.example && changed("format"):
		return usageErrorf("--example prints CSV: it excludes --format")
	}
	if err := checkNamed(cmd, "prices", v.prices); err != nil {
		return err
	}
	plan, err := v.compilePlan(cmd.Context(), paths)
	if err != nil {
		return err
	}
	if v.example {
		_, err := v.Stdout.Write(cost.Example(plan))
		return err
	}
	var prices *cost.Prices
	if v.prices != "" {
		if prices, err = v.readPrices(cmd.Context(), v.prices, plan); err != nil {
			return err
		}
	}
	bill := cost.Of(plan, prices)
	if v.format.value == formatJSON {
		return cost.JSON(v.Stdout, bill)
	}
	if err := cost.Text(v.Stdout, bill, v.details); err != nil || v.details {
		return err
	}
	hint := "--details also prints tables of all capacities, tiers and teams"
	if prices == nil {
		hint = "these are hours; --prices FILE computes money, and " + hint
	}
	_, err = fmt.Fprintln(v.Stderr, hint)
	return err
}

// mostPrices is the most bytes that a file of prices may have.
const mostPrices = 16 << 20

// readPrices reads a file of prices, and shows its mistakes. It returns errFindings if
// the file does not have the prices that the platforms need.
func (c Command) readPrices(ctx context.Context, name string, platforms ...*ir.Platform) (*cost.Prices, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, usageErrorf("--prices: %v", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(interruptible{ctx, file}, mostPrices+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > mostPrices:
		return nil, usageErrorf("--prices: %s has more than %d MiB", name, mostPrices>>20)
	}
	var findings diag.List
	prices := cost.ReadPrices(&diag.Source{Name: filepath.ToSlash(name), Content: content}, &findings)
	complete := prices != nil && prices.Check(&findings, platforms...)
	if err := c.showText(&findings); err != nil {
		return nil, err
	}
	if !complete {
		return nil, errFindings
	}
	return prices, nil
}

// addCost adds the cost of a change to a review. Prices that cannot be used do not hide the rest of
// the review: the findings on them are shown, and the review says that the cost is unknown.
func (d *comparison) addCost(ctx context.Context, r *review.Review, before, after *ir.Platform) error {
	if d.prices == "" {
		return nil
	}
	prices, err := d.readPrices(ctx, d.prices, before, after)
	switch {
	case err == errFindings:
		r.CostUnknown = "the prices in " + filepath.ToSlash(d.prices) + " are not complete"
		return nil
	case err != nil:
		return err
	}
	r.Cost = cost.Compare(cost.Of(before, prices), cost.Of(after, prices))
	return nil
}
