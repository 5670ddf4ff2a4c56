package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Exit codes.
const (
	exitClean    = 0
	exitFindings = 1 // the input has errors, or outputs differ
	exitUsage    = 2
	exitTrouble  = 3   // I/O, or a bug
	exitSignal   = 128 // plus the number of the signal that ended the command, as shells report it
)

// Command is batchwright with the streams that it uses. It writes products to
// Stdout, and messages about them to Stderr.
type Command struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// OwnsProcess reports whether the process and these streams belong to this
	// command alone: the command may then start the process again with a memory
	// limit.
	OwnsProcess bool

	confinement *confinement // nil if the memory of a process cannot be limited
	meter       *meter

	// The flags that several commands have. Each command has a copy of the Command.
	input         inputFlags
	format, color *choice
}

// errFindings ends a command that has already shown its findings or differences.
var errFindings = errors.New("findings")

// usageError is a mistake on the command line.
type usageError struct{ error }

func usageErrorf(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// trouble is a failure that is not a mistake of the user.
type trouble struct{ error }

// Main runs one command line, given without the program's name, and returns the exit
// code.
func (c Command) Main(args []string) (code int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(c.Stderr, "batchwright: a bug: %v\n\n%s", bug, debug.Stack())
			code = exitTrouble
		}
	}()
	signaled, stop := untilSignal()
	defer stop()
	c, ctx := c.confine(signaled, args)
	if c.meter == nil {
		c.meter = newMeter(c.Stderr)
	}
	if c.confinement != nil {
		c.confinement.meter = c.meter
	}

	out := &checkedWriter{w: c.Stdout}
	root := c.rootCommand(out)
	root.SetArgs(args)
	err := cmp.Or(root.ExecuteContext(ctx), out.err)
	var failure trouble
	var elsewhere exitError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &elsewhere) && elsewhere.code > exitSignal:
		return signalCode(signaled, elsewhere.code)
	case errors.As(err, &elsewhere):
		return elsewhere.code
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &failure) && errors.Is(failure.error, context.Canceled):
		fmt.Fprintln(c.Stderr, "batchwright: interrupted")
		return signalCode(signaled, exitSignal+int(syscall.SIGINT))
	case errors.As(err, &failure):
		fmt.Fprintf(c.Stderr, "batchwright: %v\n", failure)
		return exitTrouble
	}
	// Any other error is a usageError, or one of cobra's own.
	at, rest, unknown := root.Find(args)
	if unknown != nil {
		err = unknownCommand(root, rest)
	}
	if flag := new(pflag.NotExistError); errors.As(err, &flag) {
		err = unknownFlag(at, flag)
	}
	fmt.Fprintf(c.Stderr, "%s: %v\nRun %q for usage.\n", at.CommandPath(), err, at.CommandPath()+" --help")
	return exitUsage
}

// signalError is the signal that ended a command.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return e.String() }

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. This stops the
// compiler, and lets a write that has begun complete. The second signal kills the process.
func untilSignal() (ctx context.Context, stop func()) {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case s := <-received:
			signal.Stop(received)
			number, _ := s.(syscall.Signal) // on every system that has signals
			cancel(signalError{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(nil)
	}
}

// signalCode returns the exit code of a command that a signal has ended, and other if only another
// process knows the signal: of an interrupted terminal, the confined process can end first.
func signalCode(signaled context.Context, other int) int {
	var end signalError
	if errors.As(context.Cause(signaled), &end) {
		return exitSignal + int(end.Signal)
	}
	return other
}

// checkedWriter keeps the error of a write, which cobra ignores when it prints help.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		c.err = trouble{err}
	}
	return n, err
}

func unknownCommand(root *cobra.Command, args []string) error {
	i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if i < 0 {
		return usageErrorf("a command is missing")
	}
	if advice := adviseCommand(args[i]); advice != "" {
		return usageErrorf("unknown command %q: %s", args[i], advice)
	}
	near := root.SuggestionsFor(args[i]) // in the order of the commands
	best := cmp.Or(diag.Nearest(args[i], near), append(near, "")[0])
	return usageErrorf("unknown command %q%s", args[i], didYouMean(best))
}

// didYouMean returns the end of a message that suggests a name, "" without a name.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", name)
}

// unknownFlag returns the error about a flag that a command does not have, with the flag
// that is probably meant.
func unknownFlag(cmd *cobra.Command, flag *pflag.NotExistError) error {
	for _, typed := range []string{flag.GetSpecifiedShortnames(), flag.GetSpecifiedName()} {
		if advice := adviseFlag(cmd, typed); advice != "" {
			return usageErrorf("%w; %s", flag, advice)
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := diag.Nearest(flag.GetSpecifiedName(), names); near != "" && flag.GetSpecifiedShortnames() == "" {
		return usageErrorf("%w; did you mean --%s?", flag, near)
	}
	return flag
}

func (c Command) rootCommand(out io.Writer) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "batchwright",
		Short: "Compile the blueprint of a GKE batch platform into a deploy folder",
		Long: `Batchwright compiles the blueprint of a shared GKE batch platform, written in
CUE, into a deploy folder: Terraform, Kubernetes manifests, Cloud Build steps
and dashboards. It works offline and needs no credentials.

Exit codes: 0 success; 1 errors, warnings with "vet --strict", or a difference
that diff, "compile --exit-code" or "fmt --list" reports; 2 wrong usage; 3 the
command could not do its work; 130 or 143 SIGINT (Ctrl-C) or SIGTERM ended it.`,
		Example: `  batchwright init --from batch-platform --project my-project platform
  batchwright compile .
  batchwright vet --strict .
  batchwright diff --base main .`,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // unknownCommand makes the suggestions
		CompletionOptions:  cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				_, err := fmt.Fprintln(c.Stdout, thisVersion())
				return err
			}
			cmd.SetOut(c.Stderr)
			cmd.Help()
			return usageErrorf("a command is missing")
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version and exit")
	root.SetIn(c.Stdin)
	root.SetOut(out)
	root.SetErr(c.Stderr)
	root.SuggestionsMinimumDistance = 2
	help := c.helpCommand()
	root.SetHelpCommand(help)
	root.AddCommand(c.initCommand(), c.importCommand(), c.compileCommand(), c.diffCommand(), c.vetCommand(),
		c.explainCommand(), c.schemaCommand(), c.fmtCommand(), c.graphCommand(), c.costCommand(),
		c.rehearseCommand(), c.traceCommand(), c.catalogCommand(), c.lspCommand(), c.versionCommand(),
		c.completionCommand(), c.manualCommand())
	for _, cmd := range append(root.Commands(), help, root) {
		markRunErrors(cmd)
	}
	return root
}

// markRunErrors marks the errors of a command's own work, to distinguish them from
// errors of the command line.
func markRunErrors(cmd *cobra.Command) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if err == nil || errors.Is(err, errFindings) || errors.As(err, new(exitError)) ||
			errors.As(err, new(usageError)) {
			return err
		}
		return trouble{err}
	}
}
