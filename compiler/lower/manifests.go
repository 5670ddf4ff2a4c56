package lower

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/manifest"
	"github.com/batchwright/batchwright/schema"
)

// lowerManifests returns the administrator's own manifests. It leaves out the documents that
// are no objects, which the rules reject.
func lowerManifests(b *schema.Blueprint) *ir.OwnManifests {
	if b.Delivery.Manifests == nil {
		return nil
	}
	var own ir.OwnManifests
	for name, text := range byName(b.Delivery.Manifests) {
		file := ir.OwnManifest{Name: name, Content: text}
		objects, _ := manifest.Read(text)
		for _, o := range objects {
			file.Objects = append(file.Objects, ir.OwnObject{
				Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			})
		}
		own.Files = append(own.Files, file)
	}
	return &own
}
