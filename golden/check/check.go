// Package check checks deploy folders with the parsers, schemas and API types of the tools
// that read them. No output is blessed just because the compiler prints it: a folder is
// checked before it is compared with a golden one or updates it.
//
// Each check reads the folder alone, knows neither the blueprint nor the plan, and returns
// the folder's mistakes. The package also returns parts of a folder, such as its node pools,
// to tests that compare them with handwritten ones.
package check

import (
	"io/fs"
	"slices"
)

// Folder runs all checks on a deploy folder and returns its mistakes.
func Folder(folder fs.FS) []error {
	return slices.Concat(Terraform(folder), Kubernetes(folder), checkNodes(folder), Pools(folder),
		checkNetworks(folder), checkGhpc(folder), Guide(folder))
}
