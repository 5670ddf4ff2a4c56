package cloudbuild

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit"
)

// untestedRoles returns the roles of a build that its access step does not test,
// with the reason.
func untestedRoles() map[string]string {
	return map[string]string{
		"roles/logging.logWriter":               "the build does not fail without its log",
		"roles/resourcemanager.projectIamAdmin": "access.sh reads the policy that this role changes",
		"roles/storage.admin":                   "its condition names buckets, so the project does not have it",
	}
}

// TestAccessTestsEveryRole holds that the access step of every golden folder waits
// for every role that create-platform.sh gives the build, except untestedRoles.
func TestAccessTestsEveryRole(t *testing.T) {
	folders, err := filepath.Glob("../../golden/*/cloudbuild/provision.yaml")
	if err != nil || len(folders) < 5 {
		t.Fatalf("%d golden folders, %v", len(folders), err)
	}
	unused := untestedRoles()
	for _, provision := range folders {
		folder := filepath.Dir(filepath.Dir(provision))
		access := findStep(t, decodeBuild(t, readGolden(t, provision)), "access")
		tested := strings.Fields(stepVariable(t, access, "PERMISSIONS"))
		script := string(readGolden(t, filepath.Join(folder, "create-platform.sh")).Content)
		roles := scriptList(t, script, "BUILD_ROLES")
		custom := scriptList(t, script, "CUSTOM_ROLES")
		ofNodePools := slices.ContainsFunc(custom, func(id string) bool {
			return strings.HasSuffix(id, "_node_pool_admin")
		})
		if slices.Contains(roles, "roles/container.admin") == ofNodePools { // the latter in a cluster of others
			t.Errorf("%s: roles of the build %q", folder, roles)
		}
		for _, role := range roles {
			delete(unused, role)
			switch {
			case strings.HasPrefix(role, "projects/"): // a custom role, by its permissions
				i := slices.Index(custom, path.Base(role))
				for _, permission := range strings.Split(scriptList(t, script, "CUSTOM_PERMISSIONS")[i], ",") {
					if !slices.Contains(tested, permission) {
						t.Errorf("%s: the access step does not test %s of %s", folder, permission, role)
					}
				}
			case untestedRoles()[role] != "":
			case !slices.Contains(tested, rolePermissions[role][provisioning]):
				t.Errorf("%s: the access step does not test %s", folder, role)
			}
		}
	}
	for role := range unused {
		t.Errorf("no golden build has %s: remove it from untestedRoles", role)
	}
}

// readGolden reads a file of a golden folder.
func readGolden(t *testing.T, path string) emit.File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return emit.File{Path: path, Content: content}
}

// stepVariable returns the value of a variable of a step.
func stepVariable(t *testing.T, s step, name string) string {
	t.Helper()
	for _, v := range s.Env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	t.Fatalf("step %s has no variable %s", s.ID, name)
	return ""
}

// scriptList returns the elements of an array in a script.
func scriptList(t *testing.T, script, name string) []string {
	t.Helper()
	body := regexp.MustCompile(`(?ms)^` + name + `=\(\n(.*?)^\)$`).FindStringSubmatch(script)
	if body == nil {
		t.Fatalf("the script has no array %s", name)
	}
	var elements []string
	for _, line := range regexp.MustCompile(`(?m)^  '(.*)'$`).FindAllStringSubmatch(body[1], -1) {
		elements = append(elements, line[1])
	}
	return elements
}
