package folder

import (
	"slices"
	"strings"
)

// Owns reports whether this version, or an earlier one, generates a file at a
// path, relative to the folder. A manifest that lists any other path was
// tampered with: following it would delete what is somebody else's.
func Owns(path string) bool {
	elements := strings.Split(path, "/")
	return slices.Contains(topNames(), elements[0]) && !slices.ContainsFunc(elements, isTool)
}

// topNames are the names at the top of a folder. A name stays here when it is no
// longer generated, so that folders that have it can be brought up to date.
func topNames() []string {
	return []string{
		".batchwright", ".gcloudignore", ".ghpc", "README.md", "cloudbuild", "create-platform.sh", "dashboards",
		"destroy-platform.sh", "instructions.txt", "kubernetes", "terraform", "workloads",
	}
}

// isTool reports whether a name is of what Git and Terraform keep for
// themselves, which nothing generates at any depth.
func isTool(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, ".terraform")
}
