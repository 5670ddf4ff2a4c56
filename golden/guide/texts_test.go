package guide_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/golden/scale"
)

// guideSection returns a section of a page: the text from a heading of level 2 to the
// next.
func guideSection(t *testing.T, folder fs.FS, page, heading string) string {
	t.Helper()
	content, err := fs.ReadFile(folder, page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(content), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %s", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// firstCells returns the code spans in the first cell of each row of the tables in a
// section, without the heads.
func firstCells(section string) []string {
	var out []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) > 1 && strings.HasPrefix(line, "| ") {
			_, spans := check.CodeSpans(strings.TrimPrefix(cells[0], "| "))
			out = append(out, spans...)
		}
	}
	return out
}

// TestGuideTimeLimit checks that README.md gives the time limit of the builds.
func TestGuideTimeLimit(t *testing.T) {
	folders := map[string]fs.FS{
		"GitOps": fixture.FS(compile.Reference(t, "batch-platform-argocd")),
		"GitOps and Infrastructure Manager": fixture.FS(compile.Folder(t, append(
			fixture.BlueprintDirs("blueprints", "batch-platform-argocd"), "golden/testdata/gitops/managed.cue")...)),
	}
	for _, name := range fixture.Blueprints(t) {
		folders[name] = fixture.FS(compile.Reference(t, name))
	}
	for name, folder := range folders {
		t.Run(name, func(t *testing.T) { checkTimeLimit(t, folder) })
	}
}

// checkTimeLimit checks that README.md gives the time limit of the build.
func checkTimeLimit(t *testing.T, folder fs.FS) {
	t.Helper()
	var build struct{ Timeout string }
	if err := yaml.Unmarshal(fixture.ReadFile(t, folder, "cloudbuild/provision.yaml"), &build); err != nil {
		t.Fatal(err)
	}
	limit, err := time.ParseDuration(build.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	var hours float64
	_, said, _ := strings.Cut(guideSection(t, folder, "README.md", "Build it"), "after about ")
	if _, err := fmt.Sscanf(said, "%f hours (", &hours); err != nil || math.Abs(limit.Hours()-hours) > 1 {
		t.Errorf("the limit is %s; README.md says %v hours, %v", limit, hours, err)
	}
}

// TestGuideRefusals checks that the admission policies of the folder have the messages
// that USING.md explains, except the messages of Kubernetes itself.
func TestGuideRefusals(t *testing.T) {
	kubernetes := []string{"violates PodSecurity", "field is immutable", "cannot create resource",
		"cannot patch resource", "exceeded quota: " + ir.TeamQuota}
	for _, name := range fixture.Blueprints(t) {
		folder := fixture.FS(compile.Reference(t, name))
		policies, err := fs.ReadFile(folder, "kubernetes/system/admission-policies.yaml")
		if err != nil {
			t.Fatal(err)
		}
		// The YAML printer folds long lines.
		text := strings.Join(strings.Fields(string(policies)), " ")
		messages := firstCells(guideSection(t, folder, "USING.md", "What is refused"))
		if len(messages) < 12 {
			t.Errorf("%s: the page explains only %q", name, messages)
		}
		for _, message := range messages {
			if !strings.Contains(text, message) && !slices.Contains(kubernetes, message) {
				t.Errorf("%s: no policy says %q", name, message)
			}
		}
	}
}

// TestGuideWaits checks that Kueue has the messages that USING.md explains.
func TestGuideWaits(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, part := range []string{"pkg/scheduler", "pkg/controller/core", "pkg/controller/jobframework"} {
		err := filepath.WalkDir(filepath.Join(strings.TrimSpace(string(out)), part),
			func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				text, err := os.ReadFile(path)
				code.Write(text)
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	folder := fixture.FS(compile.Reference(t, "batch-platform-dws"))
	const kubelet = "CreateContainerConfigError"
	messages := firstCells(guideSection(t, folder, "USING.md", "Why a job waits"))
	if !slices.Contains(messages, "The workload is deactivated") || !slices.Contains(messages, kubelet) {
		t.Errorf("the page explains only %q", messages)
	}
	for _, message := range messages {
		if message != kubelet && !strings.Contains(code.String(), message) {
			t.Errorf("Kueue does not say %q", message)
		}
	}
}

// callerRoles are the roles that the commands of create-platform.sh need, by the words
// that begin the command. Source: IAM documentation, "IAM roles and permissions index".
var callerRoles = map[string]string{
	"services enable":      "roles/serviceusage.serviceUsageAdmin",
	"iam service-accounts": "roles/iam.serviceAccountAdmin",
	"iam roles":            "roles/iam.roleAdmin",
	"projects":             "roles/resourcemanager.projectIamAdmin",
	"artifacts":            "roles/artifactregistry.admin",
	"storage":              "roles/storage.admin",
	"builds submit":        "roles/cloudbuild.builds.editor",
	"info":                 "", // of the program itself
}

// TestGuideCallerRoles checks that README.md lists the roles that the commands of the
// script need, and no other role except the ones that a command needs besides.
func TestGuideCallerRoles(t *testing.T) {
	// builds submit runs as another account and prints a log.
	besides := []string{"roles/iam.serviceAccountUser", "roles/logging.viewer"}
	folder := fixture.FS(compile.Reference(t, "batch-platform"))
	script, err := fs.ReadFile(folder, "create-platform.sh")
	if err != nil {
		t.Fatal(err)
	}
	listed := firstCells(guideSection(t, folder, "README.md", "Before you build"))
	wanted := slices.Clone(besides)
	commands := regexp.MustCompile(`(?m)^ *#.*$`).ReplaceAllString(string(script), "")
	for _, found := range regexp.MustCompile(`gcloud ([a-z]+(?: [a-z-]+)*)`).FindAllStringSubmatch(commands, -1) {
		command := found[1]
		known := false
		for words, role := range callerRoles {
			if command == words || strings.HasPrefix(command, words+" ") {
				known = true
				if role != "" && !slices.Contains(listed, role) {
					t.Errorf("gcloud %s needs %s, which README.md does not list", command, role)
				}
				wanted = append(wanted, role)
			}
		}
		if !known && !strings.HasPrefix(command, "is not") { // a message
			t.Errorf("which role does gcloud %s need?", command)
		}
	}
	for _, role := range listed {
		if strings.HasPrefix(role, "roles/") && !slices.Contains(wanted, role) {
			t.Errorf("no command of the script needs %s", role)
		}
	}
}

// TestGuideBuildSteps checks that REFERENCE.md lists the steps of the build, all of them
// and in their order, with each scheduler and with Infrastructure Manager.
func TestGuideBuildSteps(t *testing.T) {
	compiled := map[string]emit.Tree{
		"Infrastructure Manager": compile.Reference(t, "tpu-training", "managed=true"),
	}
	for _, name := range fixture.Blueprints(t) {
		compiled[name] = compile.Reference(t, name)
	}
	for name, tree := range compiled {
		t.Run(name, func(t *testing.T) {
			checkSteps(t, fixture.FS(tree), "Steps of the build", "cloudbuild/provision.yaml")
		})
	}
}

// checkSteps checks that a section of REFERENCE.md lists the steps of a build, all of them
// and in their order.
func checkSteps(t *testing.T, folder fs.FS, heading, build string) {
	t.Helper()
	var steps []string
	for _, found := range buildStep.FindAllSubmatch(fixture.ReadFile(t, folder, build), -1) {
		steps = append(steps, string(found[1]))
	}
	listed := firstCells(guideSection(t, folder, "REFERENCE.md", heading))
	if len(steps) == 0 || !slices.Equal(listed, steps) {
		t.Errorf("REFERENCE.md lists the steps\n%q\nwant\n%q", listed, steps)
	}
}

// buildStep is the line of a build that names a step.
var buildStep = regexp.MustCompile(`(?m)^[- ] id: (\S+)$`)

// TestGuideLogs checks that each command of USING.md that prints a log selects exactly
// one pod: the labels name a Job of a workload, whose pods are numbered, and the pod
// with index 0. The command runs in a namespace that has the workload: the namespace of
// the page, or another that it names.
func TestGuideLogs(t *testing.T) {
	command := regexp.MustCompile(`(?m)^kubectl logs -n (\S+) -c worker --tail=-1 ` +
		`-l batch\.kubernetes\.io/job-name=(\S+),batch\.kubernetes\.io/job-completion-index=0$`)
	for _, name := range fixture.Blueprints(t) {
		folder := fixture.FS(compile.Reference(t, name))
		files, err := fs.Glob(folder, "workloads/*/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		pods := map[string]*int32{} // by Job, of every workload
		owners := map[string]string{}
		namespaces := map[string][]string{} // by Job
		add := func(namespace, owner, job string, spec batchv1.JobSpec) {
			owners[job] = owner
			namespaces[job] = append(namespaces[job], namespace)
			if spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion &&
				spec.Template.Spec.Containers[0].Name == "worker" {
				pods[job] = spec.Completions
			}
		}
		for _, file := range files {
			text, err := fs.ReadFile(folder, file)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.Contains(string(text), "\nkind: Job\n"):
				for _, j := range check.ObjectsIn[batchv1.Job](t, folder, file, "Job") {
					add(j.Namespace, j.Name, j.Name, j.Spec)
				}
			case strings.Contains(string(text), "\nkind: JobSet\n"):
				for _, s := range check.ObjectsIn[v1alpha2.JobSet](t, folder, file, "JobSet") {
					for _, r := range s.Spec.ReplicatedJobs {
						add(s.Namespace, s.Name, s.Name+"-"+r.Name+"-0", r.Template.Spec)
					}
				}
			}
		}
		section := guideSection(t, folder, "USING.md", "See what it did")
		page, err := fs.ReadFile(folder, "USING.md")
		if err != nil {
			t.Fatal(err)
		}
		home := regexp.MustCompile(`(?m)^NAMESPACE=(\S+)$`).FindStringSubmatch(string(page))
		if home == nil {
			t.Fatalf("%s: USING.md sets no namespace", name)
		}
		seen := map[string]bool{}
		for _, found := range command.FindAllStringSubmatch(section, -1) {
			job, namespace := found[2], strings.ReplaceAll(found[1], `"$NAMESPACE"`, home[1])
			if !slices.Contains(namespaces[job], namespace) {
				t.Errorf("%s: namespace %s has no Job %s", name, namespace, job)
			}
			seen[owners[job]] = true
			if pods[job] == nil || *pods[job] < 1 {
				t.Errorf("%s: no workload has numbered pods of a Job %s", name, job)
			}
		}
		if n := strings.Count(section, "kubectl logs -n"); n != len(command.FindAllString(section, -1)) {
			t.Errorf("%s: %d commands print a log, some in another form", name, n)
		}
		// Each workload has a row, whose first cell names it. The names of its objects
		// begin with its name.
		for _, workload := range firstCells(section) {
			has := func(object string) bool { return strings.HasPrefix(object, workload) }
			if regexp.MustCompile(`^[a-z]`).MatchString(workload) && workload != "true" &&
				!slices.ContainsFunc(slices.Collect(maps.Keys(seen)), has) {
				t.Errorf("%s: no command prints the log of %s", name, workload)
			}
		}
	}
}

// TestGuideOfManyTeams checks the pages of platforms with many teams, with and without
// workloads, and with each scheduler. Ten times as many equal teams must not make a
// page longer.
func TestGuideOfManyTeams(t *testing.T) {
	writers := map[string]func(dir string, teams int) error{
		"without workloads": func(dir string, teams int) error {
			return scale.Write(dir, fixture.Path("blueprints/batch-platform"), teams)
		},
	}
	for _, scheduler := range scale.Schedulers {
		writers[scheduler] = func(dir string, teams int) error { return scale.WriteJobs(dir, scheduler, teams) }
	}
	for name, write := range writers {
		lines := map[string]int{}
		for _, teams := range []int{40, 400} {
			dir := t.TempDir()
			if err := write(dir, teams); err != nil {
				t.Fatal(err)
			}
			tree, _ := compile.Blueprint(t, dir)
			folder := fixture.FS(tree)
			for _, err := range check.Guide(folder) {
				t.Errorf("%s, %d teams: %v", name, teams, err)
			}
			for _, page := range check.GuidePages {
				content, err := fs.ReadFile(folder, page)
				if err != nil {
					t.Fatal(err)
				}
				n := strings.Count(string(content), "\n")
				// Only tables of groups with cohorts of their own may grow, up to their limit.
				if before, seen := lines[page]; seen && n > before+40 {
					t.Errorf("%s: %s has %d lines for 40 teams, %d for 400", name, page, before, n)
				}
				lines[page] = n
			}
		}
	}
}

// TestGuideWithoutTeams checks the pages of a platform that has no teams yet.
func TestGuideWithoutTeams(t *testing.T) {
	folder := fixture.FS(compile.Text(t, `name: "empty", project: "my-project", region: "us-central1"
zones: ["us-central1-a"]
accept: W0242: "the teams come later"
`))
	for _, err := range check.Guide(folder) {
		t.Error(err)
	}
	content, err := fs.ReadFile(folder, "USING.md")
	if err != nil || !strings.Contains(string(content), "has no teams yet") {
		t.Errorf("USING.md does not say that there are no teams: %v\n%s", err, content)
	}
}
