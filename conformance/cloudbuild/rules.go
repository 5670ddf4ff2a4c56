package cloudbuild

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
)

// account checks that the build has its own account and the log settings that Cloud
// Build then requires (Cloud Build documentation: "Configure user-specified service
// accounts").
func account(b *cloudbuildpb.Build) []string {
	var problems []string
	if !ownAccount.MatchString(b.GetServiceAccount()) {
		problems = append(problems,
			fmt.Sprintf("serviceAccount %q is no account of the build's own: want "+
				"projects/PROJECT/serviceAccounts/NAME@PROJECT.iam.gserviceaccount.com", b.GetServiceAccount()))
	}
	logging := b.GetOptions().GetLogging()
	switch {
	case logging == cloudbuildpb.BuildOptions_CLOUD_LOGGING_ONLY,
		logging == cloudbuildpb.BuildOptions_NONE,
		b.GetLogsBucket() != "",
		b.GetOptions().GetDefaultLogsBucketBehavior() == cloudbuildpb.BuildOptions_REGIONAL_USER_OWNED_BUCKET:
	default:
		problems = append(problems,
			"a build with a serviceAccount must say where its log goes, such as options.logging: CLOUD_LOGGING_ONLY")
	}
	return problems
}

var ownAccount = regexp.MustCompile(`^projects/[^/]+/serviceAccounts/[^/@]+@[^/@]+\.iam\.gserviceaccount\.com$`)

// longest is the largest timeout of a build.
const longest = 24 * time.Hour

// times checks that the build and every step have a timeout, and that the build's
// timeout is long enough for each step.
func times(b *cloudbuildpb.Build) []string {
	var problems []string
	total := b.GetTimeout().AsDuration()
	if total <= 0 || total > longest {
		problems = append(problems,
			fmt.Sprintf("timeout of the build is %s: want more than 0 and at most %s", total, longest))
	}
	for i, s := range b.GetSteps() {
		if t := s.GetTimeout().AsDuration(); t <= 0 || t > total {
			problems = append(problems,
				fmt.Sprintf("%s: timeout is %s: want more than 0 and at most the build's %s", step(i, s), t, total))
		}
	}
	return problems
}

// order checks that steps have unique names and wait only for earlier steps.
func order(b *cloudbuildpb.Build) []string {
	var problems []string
	if len(b.GetSteps()) == 0 {
		problems = append(problems, "no steps")
	}
	earlier := map[string]bool{}
	for i, s := range b.GetSteps() {
		if id := s.GetId(); id == "" || id == "-" || earlier[id] {
			problems = append(problems, fmt.Sprintf("%s: id %q is empty, reserved or taken", step(i, s), id))
		}
		for _, name := range s.GetWaitFor() {
			if !earlier[name] && (name != "-" || len(s.GetWaitFor()) > 1) {
				problems = append(problems, fmt.Sprintf("%s: waitFor %q is no earlier step", step(i, s), name))
			}
		}
		earlier[s.GetId()] = true
	}
	return problems
}

func images(b *cloudbuildpb.Build) []string {
	var problems []string
	for i, s := range b.GetSteps() {
		if !isPinned(s.GetName()) {
			problems = append(problems,
				fmt.Sprintf("%s: image %q is not pinned by a version or digest", step(i, s), s.GetName()))
		}
	}
	return problems
}

// commands checks that every step runs either arguments or a script that names its
// interpreter, and that no failure of a step is ignored.
func commands(b *cloudbuildpb.Build) []string {
	var problems []string
	for i, s := range b.GetSteps() {
		if s.GetScript() != "" && (len(s.GetArgs()) > 0 || s.GetEntrypoint() != "") {
			problems = append(problems, fmt.Sprintf("%s: script excludes args and entrypoint", step(i, s)))
		}
		if s.GetScript() != "" && !strings.HasPrefix(s.GetScript(), "#!") {
			problems = append(problems, fmt.Sprintf("%s: script does not begin with #!", step(i, s)))
		}
		if s.GetScript() == "" && len(s.GetArgs()) == 0 && s.GetEntrypoint() == "" {
			problems = append(problems, fmt.Sprintf("%s: nothing to run", step(i, s)))
		}
		if s.GetAllowFailure() || len(s.GetAllowExitCodes()) > 0 {
			problems = append(problems, fmt.Sprintf("%s: failures are passed over", step(i, s)))
		}
	}
	return problems
}

// Limits of Cloud Build (Cloud Build documentation: "Build configuration file
// schema", "Quotas and limits").
const (
	maxSteps         = 100
	maxArgs          = 100
	maxArgBytes      = 10_000
	maxEnv           = 100
	maxTags          = 64
	maxSubstitutions = 100
	maxValueBytes    = 4_000
)

func amounts(b *cloudbuildpb.Build) []string {
	var problems []string
	bound := func(where string, n, most int) {
		if n > most {
			problems = append(problems, fmt.Sprintf("%s: %d, want at most %d", where, n, most))
		}
	}
	bound("number of steps", len(b.GetSteps()), maxSteps)
	bound("number of tags", len(b.GetTags()), maxTags)
	bound("number of substitutions", len(b.GetSubstitutions()), maxSubstitutions)
	volumes := map[string]int{}
	for i, s := range b.GetSteps() {
		bound(step(i, s)+": number of args", len(s.GetArgs()), maxArgs)
		bound(step(i, s)+": number of env", len(s.GetEnv()), maxEnv)
		for j, arg := range s.GetArgs() {
			bound(fmt.Sprintf("%s: bytes of argument %d", step(i, s), j), len(arg), maxArgBytes)
		}
		for _, v := range s.GetVolumes() {
			volumes[v.GetName()]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(volumes)) {
		if volumes[name] < 2 {
			problems = append(problems, fmt.Sprintf("volume %q is used by one step only", name))
		}
	}
	return problems
}
