package cloudbuild

import (
	"fmt"
	"regexp"
	"strings"
)

// narrowed maps roles that a build may have only under a condition to a text that
// the condition must contain.
var narrowed = map[string]string{
	"roles/container.admin":                 "/clusters/",
	"roles/storage.admin":                   "projects/_/buckets/",
	"roles/resourcemanager.projectIamAdmin": "modifiedGrantsByRole",
}

// checkRights checks the roles on the project that create-platform.sh grants to the
// build.
func checkRights(script string) []string {
	roles, conditions := array(script, "BUILD_ROLES"), array(script, "BUILD_CONDITIONS")
	if len(roles) == 0 || len(roles) != len(conditions) {
		return []string{fmt.Sprintf("%d roles of the build with %d conditions", len(roles), len(conditions))}
	}
	var problems []string
	for i, role := range roles {
		if about, ok := narrowed[role]; ok && !strings.Contains(conditions[i], about) {
			problems = append(problems,
				fmt.Sprintf("the build has %s on the whole project: want a condition on %s", role, about))
		}
	}
	return problems
}

// array returns the elements of an array that a script assigns, one on each line
// and in single quotes.
func array(script, name string) []string {
	_, rest, _ := strings.Cut(script, "\n"+name+"=(\n")
	list, _, _ := strings.Cut(rest, "\n)\n")
	var out []string
	for _, m := range element.FindAllStringSubmatch(list, -1) {
		out = append(out, m[1])
	}
	return out
}

var element = regexp.MustCompile(`(?m)^  '(.*)'$`)
