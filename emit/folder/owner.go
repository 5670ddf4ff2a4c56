package folder

import (
	"fmt"
	"io/fs"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/guide"
)

// Owner identifies the platform to which a folder belongs.
type Owner guide.Owner

// Is reports whether the folder belongs to a platform.
func (o Owner) Is(p *ir.Platform) bool { return o.Name == p.Name && o.Project == p.Project }

// String returns the name and the project, for a message.
func (o Owner) String() string { return fmt.Sprintf("%s in project %s", o.Name, o.Project) }

// OwnerOf reads to which platform a folder belongs. The error is fs.ErrNotExist if there is no
// folder, or none that batchwright has written.
func OwnerOf(dir fs.FS) (Owner, error) {
	if _, err := fs.Stat(dir, emit.ManifestPath); err != nil {
		return Owner{}, err
	}
	content, err := fs.ReadFile(dir, emit.IdentityPath)
	if err != nil {
		return Owner{}, err
	}
	owner, err := guide.ReadOwner(content)
	return Owner(owner), err
}
