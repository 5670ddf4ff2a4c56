package golden_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
)

// FuzzGenerated: a blueprint without errors becomes a folder that passes all
// checks, whatever machines it has and whatever its texts hold.
func FuzzGenerated(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		source, err := json.Marshal(generator{rand.New(rand.NewPCG(seed, 0))}.blueprint())
		if err != nil {
			t.Fatal(err)
		}
		checkSource(t, "-", source)
	})
}

// checkSource compiles a blueprint, checks what all findings and folders have
// in common, and tells whether there is a folder.
func checkSource(t *testing.T, path string, source []byte) bool {
	t.Helper()
	res, err := compiler.Compile(t.Context(), compiler.Input{
		Dir: os.TempDir(), Paths: []string{path}, Stdin: bytes.NewReader(source), MaxTime: 20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	checkFindings(t, res)
	if res.Plan == nil {
		return false
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		t.Fatal(err)
	}
	checkFolder(t, treeFS(tree))
	return true
}

var _ emit.Tree
var _ = slices.Sort[[]string]

func checkFindings(t *testing.T, res *compiler.Result) {
	for _, f := range res.Findings.Sorted() {
		if f.Severity == diag.Error {
			t.Logf("%s %s %s", f.Code, f.Path, f.Message)
		}
	}
}
