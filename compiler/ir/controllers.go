package ir

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/kinds"
)

// Controller is the controller of a kind of jobs, as a platform has it.
type Controller struct {
	kinds.Controller
	Version string // release in the cluster
	// Installed reports whether it is part of the platform: the build or the GitOps tool
	// installs it. Otherwise others run it in the cluster. Every emitter asks this field.
	Installed bool
	// SHA256 and ChartSHA256 are the digests of the manifest and the chart, "" if they are
	// unknown or if others run it.
	SHA256, ChartSHA256 string
	charts              bool // a GitOps tool installs the chart
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
	return Controller{facts, *version, true, *sha256, *chart, p.FromCharts()}
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

// Account returns the name of the Deployment, and of its service account, as the platform
// installs the controller.
func (c Controller) Account() string {
	if c.charts {
		return c.ChartDeployment
	}
	return c.Deployment
}

// Accounts returns the users that the controller can be in the cluster: with others, both
// that of a release and that of the chart.
func (c Controller) Accounts() []string {
	const users = "system:serviceaccount:"
	if !c.Installed {
		return []string{users + c.Namespace + ":" + c.Deployment, users + c.Namespace + ":" + c.ChartDeployment}
	}
	return []string{users + c.Namespace + ":" + c.Account()}
}

// ManifestURL returns the URL of the manifest of the release.
func (c Controller) ManifestURL() string { return fmt.Sprintf(c.Manifest, c.Version) }

// Release returns the release that the build installs.
func (c Controller) Release() Release {
	return Release{c.ManifestURL(), c.Field + "-" + c.Version + ".yaml", c.SHA256, c.Image, "v" + c.Version}
}
