// Package owners reports which parts of a platform belong to others, as its deploy folder
// shows it.
package owners

import (
	"bytes"
	"io/fs"
)

// OthersRunKueue reports whether others run Kueue in the cluster of a folder: only then the
// build has the step managed.
func OthersRunKueue(folder fs.FS) bool {
	build, err := fs.ReadFile(folder, "cloudbuild/provision.yaml")
	return err == nil && bytes.Contains(build, []byte("\n  id: managed\n"))
}
