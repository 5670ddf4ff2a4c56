package cli_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestCommandLine runs the scripts of golden/cli against the program itself. Each
// script starts in a directory with small.cue, the platform of golden/testdata/small.cue.
// In addition to testscript's own commands it may use
//
//	status CODE PROGRAM ARGS...   run a program that must exit with CODE
//	append FILE LINE              add a line to a file
//	fill FILE BYTES               make a file of that many spaces
//	bytes FILE HEX                make a file of these bytes
//	unchanged FILE                fail if the file changed since the last touch
//	touch FILE                    set a file's time to 2001
//
// $ROOT is the repository, and $BATCHWRIGHT the directory of the program. Git commits have
// an author, and ignore the user's configuration.
func TestCommandLine(t *testing.T) {
	path := []string{
		filepath.Dir(fixture.Batchwright(t)), filepath.Dir(fixture.BatchwrightRehearse(t)), os.Getenv("PATH"),
	}
	small, err := os.ReadFile(fixture.Path("golden/testdata/small.cue"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		UpdateScripts:       fixture.Updating(),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", fixture.Root())
			for name, value := range map[string]string{
				"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
				"GIT_CEILING_DIRECTORIES": filepath.Dir(env.WorkDir),
				"GIT_AUTHOR_NAME":         "test", "GIT_AUTHOR_EMAIL": "test@example.com",
				"GIT_COMMITTER_NAME": "test", "GIT_COMMITTER_EMAIL": "test@example.com",
			} {
				env.Setenv(name, value)
			}
			env.Setenv("BATCHWRIGHT", path[0])
			env.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
			return os.WriteFile(filepath.Join(env.WorkDir, "small.cue"), small, 0o644)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":    checkStatus,
			"append":    appendLine,
			"fill":      fillFile,
			"bytes":     writeBytes,
			"touch":     touchFile,
			"unchanged": checkUnchanged,
		},
	})
}

var longAgo = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

func wantArgs(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, "status CODE PROGRAM ARGS...")
	err := ts.Exec(args[1], args[2:]...)
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		ts.Fatalf("%v", err)
	}
	got := 0
	if failed != nil {
		got = failed.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func appendLine(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, "append FILE LINE")
	content, err := os.ReadFile(ts.MkAbs(args[0]))
	if !errors.Is(err, os.ErrNotExist) {
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(content, args[1]+"\n"...), 0o644))
}

func fillFile(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, "fill FILE BYTES")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(" "), n), 0o644))
}

func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, "bytes FILE HEX")
	content, err := hex.DecodeString(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o644))
}

func touchFile(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 1, "touch FILE")
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), longAgo, longAgo))
}

func checkUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 1, "unchanged FILE")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if !info.ModTime().Equal(longAgo) {
		ts.Fatalf("%s was written at %v", args[0], info.ModTime())
	}
}
