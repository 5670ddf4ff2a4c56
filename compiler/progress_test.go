package compiler_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/progress"
)

// readerFunc is a reader that is a function.
type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// TestProgressOfCompile: a compilation is idle until its input is read, and ends with
// the rules. It counts the findings that are no notes.
func TestProgressOfCompile(t *testing.T) {
	at := &progress.Progress{}
	text := strings.NewReader(`name: "small", project: "my-project", region: "europe-west4", zone: "x"`)
	res, err := compiler.Compile(t.Context(), compiler.Input{
		Paths: []string{"-"}, Progress: at,
		Stdin: readerFunc(func(p []byte) (int, error) {
			if got := at.Now(); got != (progress.State{}) {
				t.Errorf("while it waits for its input: %+v", got)
			}
			return io.Reader(text).Read(p)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := res.Findings.Count(diag.Error) + res.Findings.Count(diag.Warning)
	if got := at.Now().Findings; got != want || want == 0 {
		t.Errorf("%d findings, want %d", got, want)
	}
}

// TestProgressOfRules: each rule is counted, also one that does not hold.
func TestProgressOfRules(t *testing.T) {
	dir, err := filepath.Abs("../golden/testdata")
	if err != nil {
		t.Fatal(err)
	}
	at := &progress.Progress{}
	res, err := compiler.Compile(t.Context(), compiler.Input{Dir: dir, Paths: []string{"small.cue"}, Progress: at})
	if err != nil || res.Plan == nil {
		t.Fatal(err, res.Findings.Sorted())
	}
	if got := at.Now(); got.Stage != progress.Judging || got.Total == 0 || got.Done != got.Total {
		t.Errorf("got %+v", got)
	}
}
