package cloudbuild

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// standIns is what every bash of a sandbox reads first: a function for each program
// that would leave the machine. A function records how it was called, then does what the
// test's answers say, in a subshell without the options of the script. It costs a fork,
// where a program would cost the start of another bash.
const standIns = `stand_in() { # program, its arguments
  set +euo pipefail
  shopt -u inherit_errexit
  local call="$*" line program=$1
  shift
  printf -v line ' %q' "$@"
  line=$program$line
  printf '%s\n' "$line" >>"$SANDBOX/calls"
  printf '%s\0' "$@" >>"$SANDBOX/words"
  if [[ $call == curl* && ${7-} == --output ]]; then : >"$8"; fi
  source "$SANDBOX/answers"
  # The account of the nodes exists, unless the answers say otherwise.
  if [[ $call == *'describe gke-batch-nodes@'*displayName* && -z ${others-} ]]; then echo 'Nodes of gke-batch'; fi
  # Whoever asks for permissions has them, unless the answers say otherwise.
  if [[ $call == *testIamPermissions* && -z ${denied-} ]]; then printf '%s' "$call"; fi
}
for program in gcloud kubectl terraform curl sleep; do
  if [[ -e $SANDBOX/bin/$program ]]; then eval "$program() ( stand_in $program \"\$@\" )"; fi
done
unset program
if [[ -z ${SCRIPT-} ]]; then export SCRIPT=$$; fi # the first bash is the script
`

// stub is the program for what finds no functions: xargs, and steps without a script.
const stub = `#!/usr/bin/env bash
stand_in "${0##*/}" "$@"
`

// sandbox is a deploy folder, stand-ins for gcloud, kubectl, terraform, curl and sleep,
// and a PATH on which no other program can be found than those the scripts may use.
type sandbox struct {
	t            *testing.T
	root, folder string
	// substitutions are those with which steps are run.
	substitutions map[string]string
}

func newSandbox(t *testing.T, p *ir.Platform) *sandbox {
	t.Helper()
	if testing.Short() {
		t.Skip("runs scripts; make test runs it")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	s := &sandbox{t: t, root: t.TempDir(), substitutions: buildSubstitutions(p)}
	s.substitutions["BUILD_ID"] = "this-build"
	s.folder = filepath.Join(s.root, "deploy folder")
	s.answer("")
	for path, f := range emittedFiles(t, p) {
		s.writeFile(filepath.Join("deploy folder", path), string(f.Content), max(f.Mode, 0o644))
	}
	s.writeFile("deploy folder/kubernetes/system/kueue-configuration.yaml", "kind: ConfigMap\n", 0o644)
	s.writeFile("deploy folder/kubernetes/system/kueue-webhooks/kustomization.yaml", "kind: Component\n", 0o644)
	s.writeFile("deploy folder/kubernetes/priority-classes.yaml", "kind: PriorityClass\n", 0o644)
	s.writeFile("deploy folder/kubernetes/cohorts.yaml", "kind: Cohort\n", 0o644)
	s.writeFile("deploy folder/kubernetes/resource-flavors.yaml", "kind: ResourceFlavor\n", 0o644)
	s.writeFile("deploy folder/kubernetes/shared-queues.yaml", "kind: ClusterQueue\n", 0o644)
	s.writeFile("deploy folder/kubernetes/teams/a.yaml", "kind: Namespace\n", 0o644)
	s.writeFile("deploy folder/terraform/main.tf", "", 0o644)
	s.writeFile("deploy folder/terraform/plan.json", "{}", 0o644)
	s.writeFile("stand-ins", standIns, 0o644)
	for _, program := range []string{"gcloud", "kubectl", "terraform", "curl", "sleep"} {
		s.writeFile(filepath.Join("bin", program), stub, 0o755)
	}
	s.writeFile("deploy folder/helm", stub, 0o755) // where a step before puts it
	for _, program := range []string{
		"awk", "bash", "cat", "cp", "dirname", "mktemp", "mv", "rm", "sh", "sha256sum", "tee", "xargs",
	} {
		installed, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("%s is not installed", program)
		}
		if err := os.Symlink(installed, filepath.Join(s.root, "bin", program)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *sandbox) writeFile(path, content string, mode os.FileMode) {
	s.t.Helper()
	path = filepath.Join(s.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	// A process that a parallel test forks meanwhile would keep the file open for writing, and
	// the kernel does not run such a file.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(content), mode)
	syscall.ForkLock.RUnlock()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) readFile(path string) string {
	content, err := os.ReadFile(filepath.Join(s.root, path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(content)
}

// answer sets what the stand-ins do: shell, in which $call is the command with its
// arguments, and $line the same as it is recorded.
func (s *sandbox) answer(script string) { s.writeFile("answers", script+"\n", 0o644) }

// result is the outcome of a run: the exit code, both streams together, and
// the calls of the stand-ins.
type result struct {
	code   int
	output string
	calls  []string
}

// runProgram runs a program of the deploy folder or of the PATH, in a directory other
// than the folder unless dir says so.
func (s *sandbox) runProgram(dir string, env []string, stdin, program string, args ...string) result {
	s.t.Helper()
	for _, record := range []string{"calls", "words"} {
		if err := os.RemoveAll(filepath.Join(s.root, record)); err != nil {
			s.t.Fatal(err)
		}
	}
	if !strings.Contains(program, "/") {
		program = filepath.Join(s.root, "bin", program)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append([]string{"PATH=" + filepath.Join(s.root, "bin"), "SANDBOX=" + s.root,
		"BASH_ENV=" + filepath.Join(s.root, "stand-ins"), "HOME=" + s.root, "TMPDIR=" + s.root}, env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), output.String(), splitLines(s.readFile("calls"))}
}

// runScript runs a script at the root of the deploy folder.
func (s *sandbox) runScript(name, stdin string, args ...string) result {
	s.t.Helper()
	return s.runProgram(s.root, nil, stdin, filepath.Join(s.folder, name), args...)
}

var reference = regexp.MustCompile(`\$\$|\$[A-Z_][A-Z0-9_]*|\$\{[A-Z_][A-Z0-9_]*\}`)

// substituteText does what Cloud Build does to every text of a build but scripts.
func substituteText(s string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		if ref == "$$" {
			return "$"
		}
		return values[strings.Trim(ref, "${}")]
	})
}

// runStep runs a step of a build as Cloud Build does.
func (s *sandbox) runStep(st step) result {
	s.t.Helper()
	var env []string
	for _, e := range st.Env {
		env = append(env, substituteText(e, s.substitutions))
	}
	dir := filepath.Join(s.folder, st.Dir)
	if st.Script != "" {
		s.writeFile("step", st.Script, 0o755)
		return s.runProgram(dir, env, "", filepath.Join(s.root, "step"))
	}
	var args []string
	for _, a := range st.Args {
		args = append(args, substituteText(a, s.substitutions))
	}
	program := st.Entrypoint
	if program == "" && strings.HasPrefix(st.Name, "hashicorp/terraform:") {
		program = "terraform"
	}
	return s.runProgram(dir, env, "", program, args...)
}

// callArguments returns the arguments of all calls of the last run, whatever is in
// them.
func (s *sandbox) callArguments() []string { return strings.Split(s.readFile("words"), "\x00") }

// continuation matches a line break inside a call, with the indent of the next line.
var continuation = regexp.MustCompile(`\\\n *`)

// splitCalls returns the calls of a text, one on each line. A backslash at the end of a
// line continues the call, even inside a word.
func splitCalls(s string) []string { return splitLines(continuation.ReplaceAllString(s, "")) }

func splitLines(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\n"), func(line string) bool { return line == "" })
}

// callsWith returns the calls that begin with a prefix.
func (r result) callsWith(prefix string) []string {
	var out []string
	for _, call := range r.calls {
		if strings.HasPrefix(call, prefix) {
			out = append(out, call)
		}
	}
	return out
}
