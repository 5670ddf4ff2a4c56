package folder

import (
	"slices"
	"strings"
)

// Owns reports whether this version or an earlier one generates a file at path,
// relative to the folder. A manifest that lists any other path was tampered with:
// using it would delete somebody else's files.
func Owns(path string) bool {
	elements := strings.Split(path, "/")
	return slices.Contains(topNames(), elements[0]) && !slices.ContainsFunc(elements, isTool)
}

// topNames returns the names at the top of a deploy folder. A name stays in the list
// when it is no longer generated, so that folders that still have it can be brought
// up to date.
func topNames() []string {
	return []string{
		".batchwright", ".gcloudignore", ".ghpc", "DEMONSTRATION.md", "README.md", "REFERENCE.md", "USING.md",
		"cloudbuild", "create-platform.sh", "dashboards", "demonstrate.sh", "destroy-platform.sh", "gitops",
		"instructions.txt", "kubectl-apply", "kubernetes", "mirror.sh", "network-team", "takeover", "terraform",
		"workloads",
	}
}

// isTool reports whether a name belongs to the private files of Git or Terraform. No
// emitter generates such a name at any depth.
func isTool(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, ".terraform")
}
