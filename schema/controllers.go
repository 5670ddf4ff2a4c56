package schema

// Controller is what a blueprint says about a controller of jobs that the platform
// installs: its version, and the SHA-256 of its manifest and chart.
type Controller struct {
	Version       string
	SHA256, Chart *string
}

// Controller returns the controller with a field of versions.
func (v Versions) Controller(field string) Controller {
	if field == "jobset" {
		return Controller{v.JobSet, v.SHA256.JobSet, v.SHA256.JobSetChart}
	}
	panic("versions has no field " + field)
}

// Controller returns the version of the controller with a field of cluster.existing, nil if
// nobody runs it there.
func (e *ExistingCluster) Controller(field string) *string {
	if field == "jobset" && e.JobSet != nil {
		return &e.JobSet.Version
	}
	return nil
}
