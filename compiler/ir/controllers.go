package ir

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// Controller is the controller of a kind of jobs, as a platform has it. Its Deployment is that
// of the chart if a GitOps tool installs the chart.
type Controller struct {
	kinds.Controller
	Version string // release in the cluster
	// Installed reports whether it is part of the platform: the build or the GitOps tool
	// installs it. Otherwise others run it in the cluster. Every emitter asks this field.
	Installed bool
	// Unused reports whether nobody needs it: neither the platform nor the blueprint says that
	// it runs.
	Unused bool
	// SHA256 and ChartSHA256 are the digests of the manifest and the chart, "" if they are
	// unknown or if others run it.
	SHA256, ChartSHA256 string
}

// Controllers returns the controllers of all kinds of jobs.
func (p *Platform) Controllers() []Controller {
	var out []Controller
	for _, c := range kinds.Controllers() {
		out = append(out, p.controller(c))
	}
	return out
}

// InstalledControllers returns the controllers that are part of the platform.
func (p *Platform) InstalledControllers() []Controller {
	var out []Controller
	for _, c := range p.Controllers() {
		if c.Installed {
			out = append(out, c)
		}
	}
	return out
}

// ControllerOf returns the controller of a kind that has one.
func (p *Platform) ControllerOf(k Kind) Controller { return p.controller(*k.Facts().Controller) }

func (p *Platform) controller(facts kinds.Controller) Controller {
	version, sha256, chart, others := p.controllerFields(facts.Field)
	if *others != nil {
		return Controller{Controller: facts, Version: (*others).Version}
	}
	if p.OnlyExisting() {
		return Controller{Controller: facts, Version: *version, Unused: true}
	}
	if p.FromCharts() {
		facts.Deployment = facts.ChartDeployment
	}
	return Controller{Controller: facts, Version: *version, Installed: true, SHA256: *sha256, ChartSHA256: *chart}
}

// SetController sets the version of a controller, by its field, and the digests of its
// manifest and chart. others is the version that others run in the cluster, nil for none.
func (p *Platform) SetController(field, version, sha256, chart string, others *string) {
	atVersion, atSHA256, atChart, atOthers := p.controllerFields(field)
	*atVersion, *atSHA256, *atChart = version, sha256, chart
	if others != nil {
		*atOthers = &ExistingJobSet{*others}
	}
}

// controllerFields returns where the plan has what SetController sets.
func (p *Platform) controllerFields(field string) (version, sha256, chart *string, others **ExistingJobSet) {
	if field != JobSet.Facts().Controller.Field {
		panic("the plan has no versions of " + field)
	}
	others = new(*ExistingJobSet)
	if p.Cluster.Existing != nil {
		others = &p.Cluster.Existing.JobSet
	}
	return &p.Versions.JobSet, &p.Versions.SHA256.JobSet, &p.Versions.SHA256.JobSetChart, others
}

// Accounts returns the users that the controller can be in the cluster: with others, both
// that of a release and that of the chart.
func (c Controller) Accounts() []string {
	users := "system:serviceaccount:" + c.Namespace + ":"
	if !c.Installed {
		return []string{users + c.Deployment, users + c.ChartDeployment}
	}
	return []string{users + c.Deployment}
}

// ManifestURL returns the URL of the manifest of the release.
func (c Controller) ManifestURL() string { return fmt.Sprintf(c.Manifest, c.Version) }

// Release returns the release that the build installs.
func (c Controller) Release() Release {
	return Release{c.ManifestURL(), c.Field + "-" + c.Version + ".yaml", c.SHA256, c.Image, "v" + c.Version}
}
