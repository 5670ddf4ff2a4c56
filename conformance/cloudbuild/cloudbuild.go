// Package cloudbuild checks the files that build and destroy a platform. It checks
// the Cloud Build builds of a deploy folder against Cloud Build's own API, and the
// builds and the scripts that submit them against rules of least privilege. A folder
// goes in; the mistakes in it come out.
package cloudbuild

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"google.golang.org/protobuf/encoding/protojson"
	"sigs.k8s.io/yaml"
)

// expected lists the files that every deploy folder has.
var expected = []string{
	"cloudbuild/provision.yaml", "cloudbuild/destroy.yaml", "create-platform.sh", "destroy-platform.sh",
}

// Check checks the folder cloudbuild/ and the two scripts of a deploy folder:
//
//   - every build decodes strictly, and satisfies the limits and rules of Cloud
//     Build that are known before it runs;
//   - every image is pinned, every step and build has a timeout, and every build
//     runs as an account of its own;
//   - nobody gets the roles of an owner or editor, the build can neither become
//     another account nor grant roles without a limit, and the Terraform state is
//     locked.
func Check(folder fs.FS) []error {
	files, err := fs.Glob(folder, "cloudbuild/*")
	if err != nil {
		return []error{err}
	}
	files = append(files, expected...)
	slices.Sort(files)

	var errs []error
	for _, file := range slices.Compact(files) {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		problems := checkText(string(text))
		if file == "create-platform.sh" {
			problems = append(problems, checkRights(string(text))...)
		}
		if path.Ext(file) == ".yaml" {
			problems = append(problems, checkBuild(text)...)
		}
		for _, problem := range problems {
			errs = append(errs, fmt.Errorf("%s: %s", file, problem))
		}
	}
	return errs
}

// forbidden lists the texts that no build and no script may contain, with the
// reasons.
var forbidden = []struct {
	pattern *regexp.Regexp
	problem string
}{
	{regexp.MustCompile(`roles/(owner|editor)\b`), "%s is a right on everything in the project"},
	{regexp.MustCompile(`roles/iam\.(serviceAccount(Admin|Creator|Deleter|KeyAdmin|TokenCreator|OpenIdTokenCreator)|` +
		`securityAdmin|roleAdmin)\b`),
		"%s is the way to every service account of the project"},
	{regexp.MustCompile(`iam\.(serviceAccounts|serviceAccountKeys)\.(setIamPolicy|` +
		`actAs|getAccessToken|getOpenIdToken|implicitDelegation|signBlob|signJwt|create)\b`),
		"%s is the way to every service account of the project"},
	{regexp.MustCompile(`resourcemanager\.projects\.setIamPolicy\b`), "%s is the right to grant any role"},
	{regexp.MustCompile(`-lock[= ]("|')?false`), "%s: two builds at once would ruin the Terraform state"},
	{regexp.MustCompile(`\|\|.*&&.*\|\|`), "%s: a failure is lost in this chain"},
}

func checkText(text string) []string {
	var problems []string
	for _, f := range forbidden {
		for _, found := range f.pattern.FindAllString(text, -1) {
			problems = append(problems, fmt.Sprintf(f.problem, found))
		}
	}
	return problems
}

// decode reads a build as Cloud Build's API defines it. It returns an error for
// duplicate keys, unknown fields and values of a wrong type.
func decode(text []byte) (*cloudbuildpb.Build, error) {
	json, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	build := new(cloudbuildpb.Build)
	if err := protojson.Unmarshal(json, build); err != nil {
		return nil, err
	}
	return build, nil
}

func checkBuild(text []byte) []string {
	build, err := decode(text)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, rule := range []func(*cloudbuildpb.Build) []string{
		account, times, order, images, commands, amounts, substitutions,
	} {
		problems = append(problems, rule(build)...)
	}
	return problems
}

// step returns the name of a step for messages.
func step(i int, s *cloudbuildpb.BuildStep) string {
	if s.GetId() == "" {
		return fmt.Sprintf("step %d", i)
	}
	return fmt.Sprintf("step %q", s.GetId())
}

// isPinned reports whether an image always has the same content, if its publisher
// does not move tags with a version.
func isPinned(image string) bool {
	if digest.MatchString(image) {
		return true
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tagged && version.MatchString(tag)
}

var (
	digest  = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	version = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+`)
)
