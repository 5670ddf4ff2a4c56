// Package programtest tests the program of an engine from the outside: scenarios go in, and
// what the program writes and returns is compared.
package programtest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Case is one run of the program.
type Case struct {
	Name string
	Args []string
	In   string // standard input
	Code int    // exit code
	Says string // a part of standard error, "" for nothing
	// Check checks standard output. Without it the program must write nothing there.
	Check func(t *testing.T, out []byte)
}

// Run builds the program of the working directory as for a user: outside a test, where Go
// promises testing/synctest to nobody. Then it runs the cases, which fail when a release of
// Go breaks that.
func Run(t *testing.T, cases []Case) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, program) })
	}
}

func (c Case) run(t *testing.T, program string) {
	cmd := exec.Command(program, c.Args...)
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.In), &out, &problems
	_ = cmd.Run() // the exit code is compared below
	if code := cmd.ProcessState.ExitCode(); code != c.Code {
		t.Errorf("exit code %d, want %d", code, c.Code)
	}
	if said := problems.String(); c.Says == "" && said != "" || !strings.Contains(said, c.Says) {
		t.Errorf("standard error: %q, want: %q", said, c.Says)
	}
	if c.Check != nil {
		c.Check(t, out.Bytes())
	} else if out.Len() > 0 {
		t.Errorf("standard output: %q", out.String())
	}
}

// Contains returns a check that the program names the scheduler that it contains, such as
// "Kueue 0.19.2".
func Contains(title string) func(t *testing.T, out []byte) {
	return func(t *testing.T, out []byte) {
		var contained rehearsal.Scheduler
		if err := json.Unmarshal(out, &contained); err != nil || contained.Title() != title {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// Finishes returns a check that the only job of a scenario finishes at a time.
func Finishes(at int64) func(t *testing.T, out []byte) {
	return func(t *testing.T, out []byte) {
		var h rehearsal.History
		if err := json.Unmarshal(out, &h); err != nil {
			t.Fatal(err)
		}
		if len(h.Jobs) != 1 || h.Jobs[0].Outcome != rehearsal.Finished || h.Jobs[0].End != at {
			t.Errorf("history: %s", out)
		}
	}
}
