package kubernetes

import (
	"path"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// ownFiles returns the administrator's manifests as they were written, and a kustomization
// that lists them. It labels their objects, but not the pods of these objects, so that a later
// build finds the objects that no manifest has any more.
func ownFiles(p *ir.Platform) ([]emit.File, error) {
	var files []emit.File
	var names []string
	for _, f := range p.OwnFiles() {
		files = append(files, emit.File{Path: path.Join(ir.OwnFolder, f.Name), Content: []byte(f.Content)})
		names = append(names, f.Name)
	}
	if names == nil {
		return nil, nil
	}
	kustomizations, err := kubeyaml.Files(ir.OwnFolder, kubeyaml.Manifest{
		Name: kubeyaml.KustomizationFile, Objects: []any{kubeyaml.Fields{
			"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": names,
			"labels": []kubeyaml.Fields{{"pairs": map[string]string{ir.LabelOwn: p.Name}}},
		}},
	})
	return append(files, kustomizations...), err
}
