package golden_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
			_, spans := codeSpans(strings.TrimPrefix(cells[0], "| "))
			out = append(out, spans...)
		}
	}
	return out
}

// TestGuideRefusals checks that the admission policies of the folder have the messages
// that USING.md explains, except the messages of Kubernetes itself.
func TestGuideRefusals(t *testing.T) {
	kubernetes := []string{"violates PodSecurity", "field is immutable", "cannot create resource"}
	for _, name := range blueprintNames(t) {
		folder := treeFS(compileFolder(t, blueprintDirs(filepath.Join(root, "blueprints"), name)...))
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
	for _, part := range []string{"pkg/scheduler", "pkg/controller/core"} {
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
	folder := treeFS(compileFolder(t, blueprintDirs(filepath.Join(root, "blueprints"), "batch-platform-dws")...))
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
// script need, and no other role except those that a command needs besides.
func TestGuideCallerRoles(t *testing.T) {
	// builds submit runs as another account and prints a log.
	besides := []string{"roles/iam.serviceAccountUser", "roles/logging.viewer"}
	folder := treeFS(compileFolder(t, blueprintDirs(filepath.Join(root, "blueprints"), "batch-platform")...))
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
