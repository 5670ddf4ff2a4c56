package cloudbuild

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
)

// reference matches the texts that Cloud Build's substitution replaces: an escaped
// dollar, or a name in upper case after a dollar, bare or in braces. Any other
// dollar stays unchanged.
var reference = regexp.MustCompile(`\$\$|\$([A-Z_][A-Z0-9_]*)|\$\{([A-Z_][A-Z0-9_]*)\}`)

// ownName matches the names of substitutions that a build declares itself.
var ownName = regexp.MustCompile(`^_[A-Z0-9_]{1,99}$`)

// builtIn lists the substitutions that Cloud Build provides (Cloud Build
// documentation: "Substitute variable values").
var builtIn = []string{
	"BRANCH_NAME", "BUILD_ID", "COMMIT_SHA", "LOCATION", "PROJECT_ID", "PROJECT_NUMBER", "REF_NAME", "REPO_FULL_NAME",
	"REPO_NAME",
	"REVISION_ID", "SERVICE_ACCOUNT", "SERVICE_ACCOUNT_EMAIL", "SHORT_SHA", "TAG_NAME", "TRIGGER_BUILD_CONFIG_PATH",
	"TRIGGER_NAME",
}

// substitutions checks that every name that a build uses is built in or declared,
// and that every declared name is used. An upper-case shell variable is also such a
// name, unless its dollar is doubled.
func substitutions(b *cloudbuildpb.Build) []string {
	var problems []string
	used := map[string]bool{}
	for _, place := range substituted(b) {
		for _, m := range reference.FindAllStringSubmatch(place.text, -1) {
			name := m[1] + m[2]
			if name == "" {
				continue
			}
			used[name] = true
			_, declared := b.GetSubstitutions()[name]
			switch {
			case strings.HasPrefix(name, "_") && !declared:
				problems = append(problems, fmt.Sprintf("%s: substitution %q is not declared", place.name, name))
			case !strings.HasPrefix(name, "_") && !slices.Contains(builtIn, name):
				problems = append(problems,
					fmt.Sprintf("%s: %q is no built-in substitution: double the dollar", place.name, name))
			}
		}
	}
	mapped := b.GetOptions().GetAutomapSubstitutions()
	for _, s := range b.GetSteps() {
		mapped = mapped || s.GetAutomapSubstitutions()
	}
	for _, name := range slices.Sorted(maps.Keys(b.GetSubstitutions())) {
		if !ownName.MatchString(name) {
			problems = append(problems, fmt.Sprintf("substitutions: the name %q does not have the form _NAME", name))
		}
		if len(b.GetSubstitutions()[name]) > maxValueBytes {
			problems = append(problems, fmt.Sprintf("substitutions: %s has more than %d bytes", name, maxValueBytes))
		}
		if !used[name] && !mapped {
			problems = append(problems, fmt.Sprintf("substitutions: %s is never used", name))
		}
	}
	return problems
}

// place is a text in which Cloud Build substitutes, which excludes scripts.
type place struct{ name, text string }

func substituted(b *cloudbuildpb.Build) []place {
	var places []place
	add := func(name string, texts ...string) {
		for _, t := range texts {
			places = append(places, place{name, t})
		}
	}
	for i, s := range b.GetSteps() {
		add(step(i, s), s.GetName(), s.GetDir(), s.GetEntrypoint())
		add(step(i, s), s.GetArgs()...)
		add(step(i, s), s.GetEnv()...)
	}
	add("images", b.GetImages()...)
	add("tags", b.GetTags()...)
	add("options.env", b.GetOptions().GetEnv()...)
	add("artifacts", b.GetArtifacts().GetImages()...)
	add("artifacts", b.GetArtifacts().GetObjects().GetPaths()...)
	add("artifacts", b.GetArtifacts().GetObjects().GetLocation())
	add("serviceAccount", b.GetServiceAccount())
	add("logsBucket", b.GetLogsBucket())
	return places
}
