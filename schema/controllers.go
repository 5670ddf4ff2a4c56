package schema

// Controller is what a blueprint says about a controller of jobs: the version that the
// platform installs, the SHA-256 of its manifest and chart, and the version that others run
// in the cluster.
type Controller struct {
	Version                 string
	SHA256, Chart, Existing *string
}

// Controller returns the controller with a field of versions and cluster.existing.
func (b *Blueprint) Controller(field string) Controller {
	if field != "jobset" {
		panic("versions has no field " + field)
	}
	c := Controller{Version: b.Versions.JobSet, SHA256: b.Versions.SHA256.JobSet, Chart: b.Versions.SHA256.JobSetChart}
	if e := b.Cluster.Existing; e != nil && e.JobSet != nil {
		c.Existing = &e.JobSet.Version
	}
	return c
}
