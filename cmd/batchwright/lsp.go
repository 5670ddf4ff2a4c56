package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/batchwright/batchwright/cmd/batchwright/lsp"
	"github.com/batchwright/batchwright/compiler"
)

// editing holds the lsp command and its flags.
type editing struct {
	Command
	worker    bool
	selection selection
}

// checkDelay is the time between an edit and the check of the blueprint: about the
// pause between two words.
const checkDelay = 200 * time.Millisecond

func (c Command) lspCommand() *cobra.Command {
	e := &editing{Command: c}
	cmd := &cobra.Command{
		Use:   "lsp [PATH...]",
		Short: "Start a language server: findings, completion and help in an editor",
		Long: `Lsp is a language server: an editor starts it, and speaks the Language Server
Protocol on standard input and output. docs/editors.md shows the settings of
several editors.

It shows the findings of vet in CUE, YAML and JSON files while you write, and
corrects them. In CUE and JSON it also completes fields, names and values, shows
the documentation of fields, and leads to the definitions of names. For YAML, an
editor gets these from the JSON Schema: see batchwright schema.

Each directory of CUE files and each YAML or JSON file is a blueprint of its
own, if it looks like one. For a blueprint of several PATHs, such as a directory
and an overlay, name the PATHs, as for compile.`,
		Example: `  batchwright lsp
  batchwright lsp -t env=prod
  batchwright lsp blueprints/batch-platform blueprints/batch-platform-dws`,
		RunE: e.run,
	}
	flags := cmd.Flags()
	flags.BoolVar(&e.worker, "worker", false, "check one blueprint for a language server")
	if err := flags.MarkHidden("worker"); err != nil {
		panic(err) // the command has no such flag
	}
	e.selection.addFlags(cmd)
	e.addInput(cmd)
	return cmd
}

func (e *editing) run(cmd *cobra.Command, paths []string) error {
	if err := cmp.Or(e.selection.checkCodes(), e.input.check()); err != nil {
		return err
	}
	if e.worker {
		return e.work(cmd.Context())
	}
	if err := checkPaths(paths); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for i, p := range paths {
		if isStdin(p) {
			return usageErrorf("an editor speaks on standard input, so it cannot be a PATH")
		}
		if paths[i], err = filepath.Abs(p); err != nil {
			return err
		}
	}
	stdin := e.Stdin
	if e.confinement != nil && e.confinement.stdin != nil {
		stdin = e.confinement.stdin.Reader // a recorder would keep the whole session
	}
	worker, err := e.workerCommand(cmd)
	if err != nil {
		return err
	}
	return lsp.Serve(cmd.Context(), stdin, e.Stdout, lsp.Options{
		Version: thisVersion().Version, Dir: dir, Paths: paths, Codes: findingCodes(), Delay: checkDelay, Log: e.Stderr,
		Check: func(ctx context.Context, in lsp.Request) (*lsp.Report, error) { return runWorker(ctx, worker, in) },
	})
}

// workerCommand returns the program that checks a blueprint, with its arguments: the
// flags of this command.
func (e *editing) workerCommand(cmd *cobra.Command) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	worker := []string{program, "lsp", "--worker"}
	cmd.Flags().Visit(func(f *pflag.Flag) { // those that are set
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			worker = append(worker, "--"+f.Name+"="+v)
		}
	})
	return worker, nil
}

// runWorker checks a blueprint in another process, because an evaluation cannot be
// stopped from inside: the next edit ends the process. It also frees the memory.
func runWorker(ctx context.Context, worker []string, in lsp.Request) (*lsp.Report, error) {
	request, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, worker[0], worker[1:]...)
	cmd.Stdin = bytes.NewReader(request)
	cmd.WaitDelay = time.Second // its own process may still have the streams
	lastWords := &limitedBuffer{limit: 64 << 10}
	cmd.Stderr = lastWords
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("checking the blueprint: %w\n%s", err, lastWords.Bytes())
	}
	report := &lsp.Report{}
	return report, json.Unmarshal(out, report)
}

// work checks the blueprint that a language server describes on standard input, and
// writes the report for it.
func (e *editing) work(ctx context.Context) error {
	text, err := io.ReadAll(e.Stdin)
	if err != nil {
		return err
	}
	var in lsp.Request
	if err := json.Unmarshal(text, &in); err != nil {
		return usageErrorf("the request of a language server cannot be read: %v", err)
	}
	collectLess(1)
	res, err := e.compileInput(ctx, compiler.Input{Dir: in.Dir, Paths: in.Paths, Unsaved: in.Unsaved})
	if err != nil {
		return err
	}
	return json.NewEncoder(e.Stdout).Encode(lsp.NewReport(in.Dir, res.Findings.Filter(e.selection.shows)))
}
