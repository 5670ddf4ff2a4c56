package guide_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/fixture"
)

// commandData is the folder with the stand-ins and the table of commands.
const commandData = "testdata/commands"

// functionsFile is the file with the stand-ins, which every shell of a page reads.
const functionsFile = "stand-ins.sh"

// standIns returns the programs that the test replaces, with the reason.
func standIns() map[string]string {
	return map[string]string{
		"batchwright": "needs the blueprint, which is not in the folder; golden/cli runs its commands",
		"crane":       "needs the network and a registry",
		"curl":        "needs the network",
		"docker":      "needs a daemon and the network",
		"gcloud":      "needs Google Cloud",
		"gcluster":    "needs Google Cloud",
		"git":         "needs the network",
		"helm":        "needs a cluster and the network; conformance/kai renders the chart",
		"kubectl":     "needs a cluster; conformance/cluster runs the commands of USING.md on one",
		"make":        "builds a program that git would download",
		"sha256sum":   "checks a file that curl would download",
		"sleep":       "waits for Google Cloud",
		"terraform":   "needs Google Cloud; conformance/terraform plans with it",
	}
}

// commandMentions returns the code spans that name a command without its arguments,
// with the reason. The test does not run them.
func commandMentions() map[string]string {
	return map[string]string{
		"gcloud builds submit": "the sentence says what it leaves out; the block above has the whole command",
		"gcluster destroy":     "the sentence says what it leaves; the block below has the whole command",
		"kubectl exec":         "the sentence says who may not use it",
		"kubectl logs":         "the sentence says until when it works; the blocks have whole commands",
	}
}

// commandPlaceholders returns the words in capitals that a reader replaces, with a value.
func commandPlaceholders() map[string]string {
	return map[string]string{
		"ACCOUNT":      "wi-team-a",
		"BUCKET":       "my-project-bucket",
		"CAPACITY":     "h100-reserved",
		"CLUSTERQUEUE": "dws-cluster-queue",
		"CLASS":        "low",
		"COHORT":       "cohort-a",
		"FILE":         "a-file",
		"LOCALQUEUE":   "a-queue",
		"MEMBER":       "user:someone@example.com",
		"NAME":         "a-secret",
		"NAMESPACE":    "team-a",
		"PREFIX":       "a-prefix",
		"PRIORITY":     "train",
		"QUEUE":        "cq-team-a-lp",
		"TEAM":         "team-a",
		"TIER":         "lp",
	}
}

// kubectlResources are the resources that the pages may name. The short names of resources
// are absent: two groups can share one. Sources: the API reference of Kubernetes, Kueue,
// JobSet, KAI Scheduler, Argo CD, Flux and Config Sync.
const kubectlResources = "applications clusterqueues clusterrolebindings cohorts configmap configmaps " +
	"configs.kai.scheduler deployment deployments events helmreleases jobs jobs.batch jobsets kustomizations " +
	"localqueues namespaces networkpolicies node nodes podgroups.scheduling.run.ai pods priorityclasses " +
	"queues.scheduling.run.ai resourceflavors resourcequotas rolebindings rootsyncs secrets serviceaccounts workloads"

// guideForms returns the folders in golden/testdata whose pages run, each with the golden folder
// of which its files replace files.
func guideForms() map[string]string {
	return map[string]string{
		"batch-platform-configsync": "batch-platform",
		"batch-platform-flux":       "batch-platform",
		"tpu-training-v4-managed":   "tpu-training",
	}
}

// TestGuideCommands runs every command of the pages of each golden folder: the blocks and
// the code spans of a page, in its order and in one shell. Programs that need Google
// Cloud, a cluster or the network are stand-ins. The scripts of the folder really run. The
// commands that they print at the end run after the page.
func TestGuideCommands(t *testing.T) {
	folders := map[string]fs.FS{}
	for _, name := range fixture.Blueprints(t) {
		folders[name] = os.DirFS(fixture.Path("golden", name))
	}
	for name := range guideForms() {
		folders[name] = os.DirFS(fixture.Path("golden/testdata", name))
	}
	mentioned := map[string]bool{}
	for name, folder := range folders {
		for _, page := range append(check.GuidePages, check.DemonstrationPage) {
			text, err := fs.ReadFile(folder, page)
			if errors.Is(err, fs.ErrNotExist) && (page == check.DemonstrationPage || guideForms()[name] != "") {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range guideSpans(string(text)) {
				mentioned[span.text] = true
			}
			t.Run(name+"/"+page, func(t *testing.T) {
				t.Parallel()
				g := newGuideRun(t, name, guideForms()[name])
				for _, mistake := range g.runPage(string(text)) {
					t.Error(mistake)
				}
				if g.calls < 5 {
					t.Errorf("the page calls %d programs", g.calls)
				}
			})
		}
	}
	for mention := range commandMentions() {
		if !mentioned[mention] {
			t.Errorf("no page mentions %q: remove it from commandMentions", mention)
		}
	}
}

// TestGuideCommandMistakes holds that each kind of mistake in a command is found.
func TestGuideCommandMistakes(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"kubectl get pods -n team-a", ""},
		{"TEAM=project-a\nkubectl apply -f \"workloads/$TEAM/training-job-1.yaml\"", ""},
		{"gcloud storage buckets make gs://my-project-b", "no such command"},
		{"gcloud projects delete my-project --forced", "no flag --forced"},
		{"gcloud projects delete my-project --quiet=1", "--quiet takes no value"},
		{"gcloud projects delete my-project --project", "--project needs a value"},
		{"gcloud projects delete --project=my-project", "0 arguments"},
		{"gcloud services enable compute.googleapis.com", "names no project"},
		{"gcloud iam service-accounts create a --project=my-project\n" +
			"gcloud iam service-accounts create a --project=my-project", "a exists already"},
		{"gcloud builds submit . --project=my-project --config=cloudbuild/none.yaml", "no file cloudbuild/none.yaml"},
		{"kubectl apply -f workloads/none.yaml", "no file workloads/none.yaml"},
		{"kubectl apply -k workloads", "no file workloads/kustomization.yaml"},
		{"kubectl apply --server-side -f - </dev/null", "the input is empty"},
		{"kubectl get pods -n \"$NAMESPACE\"", "NAMESPACE: unbound variable"},
		{"kubectl get pods -n", "-n needs a value"},
		{"kubectl get jobs,podz", "no resource podz"},
		{"kubectl get pods -n SPACE", "SPACE is a placeholder without a value"},
		{"gsutil ls gs://b", "gsutil: command not found"},
		{"terraform -chdir=terraform plan", "plan comes before terraform init"},
		{"terraform -chdir=terraform init\nterraform -chdir=terraform output none", `terraform has no output "none"`},
		{"terraform init", "runs outside the folder terraform/"},
		{"docker build --tag=a my-folder", "no file my-folder"},
		{"echo 0123  manifests.yaml | sha256sum --check", "0123 is no SHA-256"},
		{"./demonstrate.sh never", "demonstrate.sh lists no phase never"},
		{"./create-platform.sh --all", "line 4: exit code 2"},
		{"./deploy.sh", "No such file"},
		{"kubectl get pods '", "unexpected EOF"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			t.Parallel()
			page := "# Page\n\n```sh\n" + tt.command + "\n```\n"
			got := errors.Join(newGuideRun(t, "kai-departments", "").runPage(page)...)
			if (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
				t.Errorf("the mistakes are %v, want %q", got, tt.want)
			}
		})
	}
}

// TestGuideCommandOrder holds that blocks and spans run in the order of the page, with the
// variables that the commands above set, and that blocks in other languages do not run.
func TestGuideCommandOrder(t *testing.T) {
	const set, use = "```sh\nTEAM=project-a\n```\n", "Run `kubectl get pods -n \"$TEAM\"`.\n"
	for page, want := range map[string]string{
		set + use: "", use + set: "TEAM: unbound variable",
		"1. Do this:\n\n   ```sh\n   kubectl get podz\n   ```\n": "no resource podz",
		"```yaml\nkubectl: get podz\n```\n" + set + use:          "",
		"Run `kubectl delete queues.scheduling.run.ai TEAM`.\n":  "",
	} {
		got := errors.Join(newGuideRun(t, "kai-departments", "").runPage(page)...)
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s\nthe mistakes are %v, want %q", page, got, want)
		}
	}
}

// guideRun runs the commands of a page in a copy of its folder.
type guideRun struct {
	t                  *testing.T
	folder, bin, state string
	programs           commandTable
	calls              int
}

// newGuideRun copies a golden folder, or the folder base with the files of golden/testdata/name.
func newGuideRun(t *testing.T, name, base string) *guideRun {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	g := &guideRun{
		t: t, folder: filepath.Join(dir, "deploy folder"), bin: filepath.Join(dir, "bin"),
		state: filepath.Join(dir, "state"), programs: readPrograms(t),
	}
	sources := []string{fixture.Path("golden", name)}
	if base != "" {
		sources = []string{fixture.Path("golden", base), fixture.Path("golden/testdata", name)}
	}
	for _, source := range sources {
		g.copyFiles(source)
	}
	for _, dir := range []string{g.bin, g.state} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A shell calls a function; other programs find a file.
	functions := fixture.ReadText(t, filepath.Join(commandData, "stand-in.sh"))
	for program := range standIns() {
		functions += program + `() { stand_in ` + program + ` "$@"; }` + "\n"
		g.writeFile(filepath.Join(g.bin, program), []byte("#!/usr/bin/env bash\nstand_in "+program+" \"$@\"\n"))
	}
	g.writeFile(filepath.Join(g.state, functionsFile), []byte(functions))
	for _, tool := range []string{
		"awk", "basename", "cat", "cp", "dirname", "env", "fold", "grep", "mkdir", "mktemp", "rm", "sed", "sort",
		"tail", "tee", "tr",
	} {
		installed, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("%s is not installed", tool)
		}
		if err := os.Symlink(installed, filepath.Join(g.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(bash, filepath.Join(g.bin, "bash")); err != nil {
		t.Fatal(err)
	}
	demonstrate := filepath.Join(g.folder, "demonstrate.sh")
	switch err := os.Rename(demonstrate, filepath.Join(g.folder, "demonstrate-on-a-cluster.sh")); {
	case err == nil:
		g.writeFile(demonstrate, []byte(fixture.ReadText(t, filepath.Join(commandData, "demonstrate.sh"))))
	case !errors.Is(err, fs.ErrNotExist):
		t.Fatal(err)
	}
	return g
}

// copyFiles copies the files of a folder. Files that exist are replaced.
func (g *guideRun) copyFiles(source string) {
	g.t.Helper()
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		target := filepath.Join(g.folder, below)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // of the file to which a link leads
		if err != nil {
			return err
		}
		return fixture.WriteProgram(target, content, info.Mode().Perm())
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *guideRun) writeFile(path string, content []byte) {
	g.t.Helper()
	if err := fixture.WriteProgram(path, content, 0o755); err != nil {
		g.t.Fatal(err)
	}
}

var (
	// sourceFolder is the folder of the reader's own image.
	sourceFolder = regexp.MustCompile(`(?m)^SOURCE=(\S+)$`)

	// printedCommand is a command that a script prints for the reader to run.
	printedCommand = regexp.MustCompile(`(?m)^  (?:gcloud|kubectl) .*$`)

	// wordInCapitals is a placeholder of a page, a loop over a variable, or a variable that
	// a command sets, reads or names.
	wordInCapitals = regexp.MustCompile(`for [A-Z]+ in|[$_]?\b[A-Z]+\b=?`)

	// placeholderLeft is a word in capitals in an argument. GF_AUTH_ANONYMOUS_ENABLED=true
	// and _IMAGE=a are assignments.
	placeholderLeft = regexp.MustCompile(`(?:^|[^\w$])([A-Z]{3,})(?:[^\w=]|$)`)
)

// runPage runs the commands of a page and returns the mistakes.
func (g *guideRun) runPage(page string) []error {
	g.t.Helper()
	for _, source := range sourceFolder.FindAllStringSubmatch(page, -1) {
		if err := os.MkdirAll(filepath.Join(g.folder, source[1]), 0o755); err != nil {
			g.t.Fatal(err)
		}
	}
	for _, b := range fixture.Blocks(page) { // the reader saves the page's example
		if b.Language == "yaml" && strings.HasPrefix(b.Text, "apiVersion:") {
			g.writeFile(filepath.Join(g.folder, check.ExampleFile), []byte(b.Text))
		}
	}
	output, errs := g.runCommands(guideCommands(page))
	var printed []guideCommand
	for _, command := range printedCommand.FindAllString(output, -1) {
		printed = append(printed, guideCommand{0, command})
	}
	_, more := g.runCommands(printed)
	return append(append(errs, more...), g.checkCalls()...)
}

// guideCommand is a command of a page, or a block of commands.
type guideCommand struct {
	line int // of the page; 0 if a script has printed the command
	text string
}

// guideCommands returns the commands of a page in its order. A command that several spans
// name runs once.
func guideCommands(page string) []guideCommand {
	out := guideSpans(page)
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(c guideCommand) bool {
		again := seen[c.text]
		seen[c.text] = true
		return again || !isCommand(c.text) || commandMentions()[c.text] != ""
	})
	for _, b := range fixture.Blocks(page) {
		if b.Language == "sh" {
			out = append(out, guideCommand{b.Line + 1, b.Text})
		}
	}
	slices.SortStableFunc(out, func(a, b guideCommand) int { return a.line - b.line })
	return out
}

// guideSpans returns the code spans of a page outside its blocks.
func guideSpans(page string) []guideCommand {
	var out []guideCommand
	fenced := false
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		_, spans := check.CodeSpans(line)
		for _, span := range spans {
			out = append(out, guideCommand{i + 1, span})
		}
	}
	return out
}

// flaggedSpan is a code span with a program and a flag.
var flaggedSpan = regexp.MustCompile(`^[a-z][\w.-]* (.* )?--?[a-z]`)

// isCommand reports whether a code span is a command: a script of the folder, a program
// that the test replaces, with arguments, or any program with a flag.
func isCommand(span string) bool {
	program, arguments, _ := strings.Cut(span, " ")
	return strings.HasPrefix(span, "./") || flaggedSpan.MatchString(span) ||
		standIns()[program] != "" && arguments != ""
}

// fillPlaceholders replaces the placeholders of a command.
func fillPlaceholders(command string) string {
	filled := wordInCapitals.ReplaceAllStringFunc(command, func(word string) string {
		if value, ok := commandPlaceholders()[word]; ok {
			return value
		}
		return word
	})
	return strings.ReplaceAll(filled, "...", "") // one name stands for more
}

// runCommands runs commands in one shell, and returns their output.
func (g *guideRun) runCommands(commands []guideCommand) (string, []error) {
	g.t.Helper()
	if len(commands) == 0 {
		return "", nil
	}
	var script strings.Builder
	script.WriteString("set -euo pipefail\nexport AT\n")
	script.WriteString("trap 'code=$?; ((code == 0)) || echo \"line $AT: exit code $code\" >&2' EXIT\n")
	for _, c := range commands {
		fmt.Fprintf(&script, "AT=%d\n%s\n", c.line, fillPlaceholders(c.text))
	}
	cmd := exec.CommandContext(g.t.Context(), filepath.Join(g.bin, "bash"), "-c", script.String())
	cmd.Dir = g.folder
	cmd.Env = []string{"PATH=" + g.bin, "STATE=" + g.state, "HOME=" + g.state, "TMPDIR=" + g.state, "AT=0",
		"BASH_ENV=" + filepath.Join(g.state, functionsFile)}
	// Scripts ask for the name of the platform, and commands for a secret.
	name := regexp.MustCompile(`(?m)^NAME='(.*)'$`).FindStringSubmatch(
		fixture.ReadText(g.t, filepath.Join(g.folder, "destroy-platform.sh")))
	cmd.Stdin = strings.NewReader(strings.Repeat(name[1]+"\n", 8))
	var output, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &problems
	if err := cmd.Run(); err != nil {
		return output.String(), []error{fmt.Errorf("%w\n%s%s", err, output.String(), problems.String())}
	}
	return output.String(), nil
}

// checkCalls returns what is wrong with the calls that the stand-ins recorded.
func (g *guideRun) checkCalls() []error {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.state, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.t.Fatal(err)
	}
	var errs []error
	seen := map[string]bool{}
	for call := range strings.SplitSeq(string(content), "\x01\x00") {
		words := strings.Split(strings.TrimSuffix(call, "\x00"), "\x00")
		if len(words) < 2 {
			continue
		}
		g.calls++
		mistake := g.programs.findMistake(words[1:])
		if mistake != "" && !seen[mistake] {
			seen[mistake] = true
			errs = append(errs, fmt.Errorf("line %s: %s: %s", words[0], strings.Join(words[1:], " "), mistake))
		}
	}
	return errs
}

// commandTable is the table of the programs' commands.
type commandTable map[string]commandSyntax

// commandSyntax holds the arguments and flags that a command takes.
type commandSyntax struct {
	min, max int             // arguments besides flags
	flags    map[string]bool // by name with dashes; true if the flag takes a value
}

// commandArgument is an argument in the table.
var commandArgument = regexp.MustCompile(`^\[?NAME(\.\.\.)?\]?$`)

// readPrograms reads the table of commands.
func readPrograms(t *testing.T) commandTable {
	t.Helper()
	table := commandTable{}
	for line := range strings.Lines(fixture.ReadText(t, filepath.Join(commandData, "programs.txt"))) {
		head, flags, ok := strings.Cut(strings.TrimSpace(line), "|")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		syntax := commandSyntax{flags: map[string]bool{}}
		var name []string
		for _, word := range strings.Fields(head) {
			more := commandArgument.FindStringSubmatch(word)
			if more == nil {
				name = append(name, word)
				continue
			}
			syntax.max++
			if word[0] != '[' {
				syntax.min++
			}
			if more[1] != "" {
				syntax.max = 100
			}
		}
		for flag := range strings.FieldsSeq(flags) {
			bare, value := strings.CutSuffix(flag, "=")
			syntax.flags[bare] = value
		}
		table[strings.Join(name, " ")] = syntax
	}
	if len(table) < 60 {
		t.Fatalf("the table has %d commands", len(table))
	}
	return table
}

// findMistake returns what is wrong with the words of a call, or "".
func (table commandTable) findMistake(words []string) string {
	if words[0] == "sha256sum" || words[0] == "sleep" {
		return "" // the stand-in has checked sha256sum
	}
	command, rest := table.findCommand(words)
	if command == "" {
		return "no such command"
	}
	arguments, mistake := table.readFlags(command, rest)
	if mistake != "" {
		return mistake
	}
	if n, want := len(arguments), table[command]; n < want.min || n > want.max || slices.Contains(arguments, "") {
		return fmt.Sprintf("%d arguments %q, want %d to %d", n, arguments, want.min, want.max)
	}
	for _, word := range rest {
		left := placeholderLeft.FindStringSubmatch(word)
		if left != nil && word != "--env=TOKEN" {
			return left[1] + " is a placeholder without a value"
		}
	}
	switch words[0] {
	case "gcloud":
		return findProjectMistake(command, rest)
	case "kubectl":
		return findResourceMistake(command, rest, arguments)
	}
	return ""
}

// findCommand returns the longest command of the table with which a call begins, and the
// other words of the call. Terraform has a flag before the command.
func (table commandTable) findCommand(words []string) (command string, rest []string) {
	var before []string
	for len(words) > 1 && strings.HasPrefix(words[1], "-chdir=") {
		before, words = append(before, words[1]), slices.Delete(slices.Clone(words), 1, 2)
	}
	for n := len(words); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if _, ok := table[name]; ok && (n > 1 || !table.hasCommands(name)) {
			return name, append(before, words[n:]...)
		}
	}
	return "", nil
}

// hasCommands reports whether a program has commands of its own.
func (table commandTable) hasCommands(program string) bool {
	for command := range table {
		if strings.HasPrefix(command, program+" ") {
			return true
		}
	}
	return false
}

// readFlags returns the arguments of a command without its flags, and what is wrong with
// the flags.
func (table commandTable) readFlags(command string, words []string) (arguments []string, mistake string) {
	program, _, _ := strings.Cut(command, " ")
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") || words[i] == "-" {
			arguments = append(arguments, words[i])
			continue
		}
		name, value, given := strings.Cut(words[i], "=")
		takes, known := table[command].flags[name]
		if !known {
			takes, known = table[program].flags[name]
		}
		if positive, negated := strings.CutPrefix(name, "--no-"); !known && negated && program == "gcloud" {
			var valued bool
			valued, known = table[command].flags["--"+positive]
			known = known && !valued
		}
		switch {
		case !known:
			return nil, "no flag " + name
		case !takes && given && (program != "kubectl" || value != "true" && value != "false"):
			return nil, name + " takes no value"
		case takes && !given && (i+1 == len(words) || words[i+1] == ""), takes && given && value == "":
			return nil, name + " needs a value"
		case takes && !given:
			i++
		}
	}
	return arguments, ""
}

// findProjectMistake reports that a command of gcloud names no project: it would then use
// the reader's default, which can be another.
func findProjectMistake(command string, words []string) string {
	if strings.HasPrefix(command, "gcloud auth ") || strings.HasPrefix(command, "gcloud components ") ||
		strings.Contains(strings.Join(words, " "), "my-project") {
		return ""
	}
	return "names no project"
}

// findResourceMistake returns the resource of a command of kubectl that does not exist.
func findResourceMistake(command string, words, arguments []string) string {
	verb := strings.TrimPrefix(command, "kubectl ")
	kinds := ""
	switch {
	case verb == "auth can-i":
		kinds = arguments[1]
	case strings.HasPrefix(verb, "create"), strings.HasSuffix(verb, "cordon"), verb == "apply", verb == "kustomize",
		verb == "logs", verb == "auth whoami", len(arguments) == 0 && slices.ContainsFunc(words, readsFile):
		return ""
	case len(arguments) > 0:
		kinds, _, _ = strings.Cut(arguments[0], "/")
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		if !slices.Contains(strings.Fields(kubectlResources), kind) {
			return "no resource " + kind
		}
	}
	return ""
}

// readsFile reports whether a flag of kubectl takes the place of a resource.
func readsFile(word string) bool { return slices.Contains([]string{"-f", "-k", "--raw"}, word) }
