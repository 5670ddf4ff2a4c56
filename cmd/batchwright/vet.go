package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/diag"
)

// vetting holds the vet command and its flags.
type vetting struct {
	Command
	strict    bool
	list      bool
	notes     noteFlag
	selection selection
}

func (c Command) vetCommand() *cobra.Command {
	v := &vetting{Command: c}
	cmd := &cobra.Command{
		Use:   "vet [PATH...]",
		Short: "Check a blueprint without writing files",
		Long: `Vet checks a blueprint as compile does, and shows its findings on standard
output: as text the fifty gravest, as JSON every finding. PATHs are as for
compile.

It exits with 1 if there are errors, and with --strict also if there are
warnings. --disable hides warnings and notes by code or by the beginning of a
code: W for all warnings, W05 for the warnings on tiers. --enable shows some of
them again; if several beginnings match a code, the longest one decides. Errors
cannot be hidden. The blueprint can accept a finding, with a reason.

Notes need no action: they are findings that the blueprint accepts, and facts
that may be of interest. Standard error counts them, and --notes shows them. --enable
with their code shows them too. JSON and SARIF always contain them.

--format github prints the ten most severe findings as annotations for GitHub
Actions; --format sarif prints a log for code scanning and editors. In both, the
paths of files start at the root of the repository, the nearest directory with a
.git.`,
		Example: `  batchwright vet blueprints/prod
  batchwright vet --strict --disable W0208,N --enable N07 .
  batchwright vet --format json . | jq -r 'select(.code) | .code'
  batchwright vet --format sarif . > results.sarif
  batchwright vet --list
  cat prod.yaml | batchwright vet yaml:-`,
		RunE: v.run,
	}
	flags := cmd.Flags()
	flags.BoolVar(&v.strict, "strict", false, "fail on warnings too")
	flags.BoolVar(&v.list, "list", false, "list every code with its severity and title, and check nothing")
	v.notes.addFlag(cmd)
	v.notes.wanted = v.selection.enables
	v.selection.addFlags(cmd)
	v.addInput(cmd)
	v.addFindingsFormat(cmd, "output format of the findings")
	v.addColor(cmd)
	return cmd
}

func (v *vetting) run(cmd *cobra.Command, paths []string) error {
	if err := v.selection.checkCodes(); err != nil {
		return err
	}
	if v.list {
		return v.listCodes(paths)
	}
	res, err := v.compileBlueprint(cmd.Context(), paths)
	if err != nil {
		return err
	}
	findings := res.Findings.Filter(v.selection.shows)
	if err := v.writeWithNotes(v.Stdout, findings, v.notes); err != nil {
		return err
	}
	if findings.HasErrors() || v.strict && findings.Count(diag.Warning) > 0 {
		return errFindings
	}
	return nil
}

// listCodes prints the table of codes. It omits the codes that the flags disable.
func (v *vetting) listCodes(paths []string) error {
	if len(paths) > 0 {
		return usageErrorf("--list checks nothing, so it takes no PATH")
	}
	if v.format.value != formatText && v.format.value != formatJSON {
		return usageErrorf("--list prints no findings: want --format %s or %s", formatText, formatJSON)
	}
	shown := slices.DeleteFunc(findingCodes(), func(c diag.Code) bool {
		return !v.selection.shows(diag.Finding{Code: c.ID, Severity: c.Severity})
	})
	return v.printCodes(shown)
}

// printCodes prints a table of codes, or one JSON object per line and code.
func (c Command) printCodes(codes []diag.Code) error {
	table := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	for _, code := range codes {
		if c.format.value == formatJSON {
			if err := json.NewEncoder(c.Stdout).Encode(struct {
				Version    int    `json:"version"`
				Type       string `json:"type"`
				Code       string `json:"code"`
				Severity   string `json:"severity"`
				Title      string `json:"title"`
				Acceptable bool   `json:"acceptable"`
			}{1, "code", code.ID, code.Severity.String(), code.Title, code.Acceptable}); err != nil {
				return err
			}
			continue
		}
		acceptable := ""
		if code.Acceptable {
			acceptable = "; can be accepted"
		}
		fmt.Fprintf(table, "%s\t%s\t%s%s\n", code.ID, code.Severity, code.Title, acceptable)
	}
	return table.Flush()
}
