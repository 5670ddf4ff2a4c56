package ir

// OwnManifests are the administrator's own manifests. The build applies them after the
// platform's objects. If there are none, it deletes the objects of an earlier folder.
type OwnManifests struct{ Files []OwnManifest }

// OwnManifest is a file of objects that the folder has as the administrator has written it.
type OwnManifest struct {
	Name    string // path below OwnFolder
	Content string
	Objects []OwnObject // in the order of the file
}

// OwnObject identifies an object of a manifest.
type OwnObject struct {
	Group, Kind, Namespace, Name string // Namespace is "" for an object without a namespace
}

// FullName returns the name of the object, after its namespace.
func (o OwnObject) FullName() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

const (
	// OwnFolder is the folder of the administrator's manifests in the deploy folder.
	OwnFolder = "kubernetes/own"
	// LabelOwn is the label of their objects; its value is the platform's name.
	LabelOwn = "batchwright/own"
)

// OwnFiles returns the administrator's manifests.
func (p *Platform) OwnFiles() []OwnManifest {
	if p.Own == nil {
		return nil
	}
	return p.Own.Files
}

// OwnObjects returns the objects of the administrator's manifests, in the order of the files.
func (p *Platform) OwnObjects() []OwnObject {
	var out []OwnObject
	for _, f := range p.OwnFiles() {
		out = append(out, f.Objects...)
	}
	return out
}
