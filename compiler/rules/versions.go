package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on versions: the folder uses features that older releases lack.

func versionRules() []Rule {
	return []Rule{
		rule("E0707", "unsupported release", versionFloors),
		rule("W0839", "release with a known defect", knownDefects),
		rule("W0842", "release is newer than the tested one", untested),
		rule("N0862", "version without a known SHA-256", unpinnedVersions),
		rule("N0837", "version has no effect", func(r *report) { unusedTerraform(r); unusedControllers(r) }),
		rule("W0838", "region is not known to offer Infrastructure Manager", managerRegion),
	}
}

func versionFloors(r *report) {
	v, others := r.Blueprint.Versions, r.controllersOfOthers()
	// Kueue 0.19.2 closed two ways to exceed the quota: a pod group that names
	// another group's Workload, and an owner with a wrong UID. Source: Kueue,
	// CHANGELOG-0.19, pull requests 14630, 14658 and 14666.
	type floor struct{ field, name, version, floor, below string }
	floors := []floor{{"kueue", "Kueue", v.Kueue, "0.19.2", ""}}
	for _, c := range r.Plan.Controllers() {
		floors = append(floors, floor{c.Field, c.Name, c.Version, c.Oldest, ""})
	}
	for _, f := range append(floors, []floor{
		{"kai", "KAI Scheduler", v.KAI, "0.16.0", ""},
		{"helm", "Helm", v.Helm, "3.8.0", ""},
		{"terraform", "Terraform", v.Terraform, "1.9.0", "2.0.0"},
		{"googleProvider", "the google provider", v.GoogleProvider, "7.45.0", "8.0.0"},
	}...) {
		if others[f.field] != "" {
			continue // unusedControllers reports a version that has no effect
		}
		if catalog.OlderRelease(f.version, f.floor) || f.below != "" && !catalog.OlderRelease(f.version, f.below) {
			want := f.floor + " or later"
			if f.below != "" {
				want += ", before " + f.below
			}
			r.add(at("versions", f.field), say("the folder does not work with %s %s", f.name, f.version),
				label("want %s", want))
		}
	}
	// These two releases are older than 0.12, and were withdrawn.
	if v.KAI == "0.20.0" || v.KAI == "0.20.1" {
		r.add(at("versions", "kai"), say("KAI Scheduler %s was retracted after its release", v.KAI),
			label("want 0.16.0 or later, except 0.20.0 and 0.20.1"))
	}
}

// releases returns the releases of the controllers of jobs, Kueue and GKE that the
// blueprint names, with their fields.
func (r *report) releases() []release {
	gke := release{"gke", "GKE", r.Plan.Cluster.MinVersion, at("cluster", "minVersion")}
	if e := r.Plan.Cluster.Existing; e != nil {
		gke = release{"gke", "GKE", e.Version, at("cluster", "existing", "version")}
	}
	var list []release
	for _, c := range r.Plan.Controllers() {
		list = append(list, release{c.Field, c.Name, c.Version, at("versions", c.Field)})
	}
	list = append(list, release{"kueue", "Kueue", r.Plan.KueueVersion(), at("versions", "kueue")}, gke)
	others := r.controllersOfOthers()
	for i, x := range list {
		if others[x.software] != "" {
			list[i].path = at("cluster", "existing", x.software, "version")
		}
	}
	return slices.DeleteFunc(list, func(x release) bool {
		return x.version == "" || !r.Written(x.path...) ||
			x.software == "kueue" && !r.Plan.InstallsKueue() && !r.Plan.OthersRunKueue()
	})
}

// release is a release of a software that the blueprint names at path.
type release struct {
	software, name, version string
	path                    fieldPath
}

// knownDefects reports releases with defects to which the platform has no answer.
func knownDefects(r *report) {
	for _, x := range r.releases() {
		for _, a := range catalog.Advisories(x.software, x.version) {
			if a.Answer != "" || a.Driver == "gcsFuse" && !r.Plan.Cluster.GCSFuse {
				continue
			}
			cure := "there is no release without the defect yet; its source is " + a.Source
			if a.Mended != "" {
				cure = fmt.Sprintf("choose %s or later; the source of the defect is %s", a.Mended, a.Source)
			}
			r.add(x.path, say("%s %s has a known defect: %s", x.name, x.version, a.Defect), advise(cure))
		}
	}
}

// untested reports releases that are newer than the one with which the platform's tests
// run, and says what they bring.
func untested(r *report) {
	for _, x := range r.releases() {
		tested := catalog.Tested(x.software)
		if tested == "" || !catalog.OlderRelease(tested, x.version) {
			continue
		}
		cure := fmt.Sprintf("read the release notes since %s, and try it in a test cluster", tested)
		if mended := catalog.Mended(x.software, tested, x.version); len(mended) > 0 {
			cure += "; it fixes " + strings.Join(mended, ", ")
		}
		r.add(x.path, say("the platform is tested with %s %s, not with %s", x.name, tested, x.version),
			help("%s; then add %s", cure, r.accepting(x.path)))
	}
}

// unpinnedVersions reports versions that the blueprint chooses without a SHA-256:
// the build then trusts everybody who can change its downloads.
func unpinnedVersions(r *report) {
	if r.Findings.HasErrors() {
		return // another rule may demand a different version
	}
	pins, downloads := r.Plan.Versions.SHA256, r.Plan.Scheduler.Facts().Downloads
	// A GitOps tool that installs no charts compares nothing.
	suffix, compares := "", !r.Plan.Delivery.GitOps.On()
	if r.Plan.FromCharts() {
		suffix, compares = "Chart", true
	}
	type download struct {
		field, suffix, pin string
		used               bool
	}
	all := []download{
		{"gcloud", "", pins.Gcloud, true},
		{"googleProvider", "", strings.Join(pins.GoogleProvider, " "), !r.Blueprint.Delivery.InfrastructureManager},
		{"helm", "", pins.Helm, slices.Contains(downloads, "helm")},
	}
	for _, c := range r.Plan.InstalledControllers() {
		all = append(all, download{c.Field, suffix, r.Plan.ComparedPin(c.SHA256, c.ChartSHA256), compares})
	}
	for _, version := range append(all, []download{
		{"kueue", suffix, r.Plan.ComparedPin(pins.Kueue, pins.KueueChart), r.Plan.InstallsKueue() && compares},
		{"terraform", "", pins.Terraform, !r.Blueprint.Delivery.InfrastructureManager},
	}...) {
		if version.used && version.pin == "" && r.Written("versions", version.field) {
			does := "the build then refuses any other file"
			if version.suffix != "" {
				does = "the GitOps tool then installs no other chart"
			}
			value := `"SHA256"`
			if version.field == "googleProvider" {
				value, does = "["+value+"]", "terraform init then refuses any other file"
			}
			r.add(at("versions", version.field), say("the SHA-256 of this version of %s is not known", version.field),
				help("set versions: sha256: %s%s: %s: %s", version.field, version.suffix, value, does))
		}
	}
}

// unusedTerraform reports a version of Terraform that has no effect, because
// Infrastructure Manager uses its own version.
func unusedTerraform(r *report) {
	if r.Blueprint.Delivery.InfrastructureManager && r.Written("versions", "terraform") {
		r.add(at("versions", "terraform"), say("Infrastructure Manager runs Terraform %s, not %s",
			ir.InfrastructureManagerTerraform, r.Blueprint.Versions.Terraform),
			see(at("delivery", "infrastructureManager"), "Infrastructure Manager is on"),
			help("remove versions.terraform, or remove infrastructureManager: the build then runs Terraform itself"))
	}
}

// unusedControllers reports versions of controllers, and their SHA-256, that have no
// effect, because others run the controller in the cluster.
func unusedControllers(r *report) {
	others := r.controllersOfOthers()
	for _, field := range sortedKeys(others) {
		for _, path := range [][]string{
			at("versions", field), at("versions", "sha256", field), at("versions", "sha256", field+"Chart"),
		} {
			if r.Written(path...) {
				r.add(path, say("%s has no effect: others run version %s in the cluster", diag.Path(path),
					others[field]),
					see(at("cluster", "existing", field), "the platform does not install it"),
					help("remove %s", diag.Path(path)))
			}
		}
	}
}

// managerRegion reports a region in which Infrastructure Manager is not known to be
// available.
func managerRegion(r *report) {
	region := r.Plan.Delivery.Region
	facts, known := catalog.LookupRegion(region) // knownRegion reports unknown regions
	if !r.Plan.Delivery.InfrastructureManager || facts.InfrastructureManager || !known {
		return
	}
	path := at("delivery", "region")
	if r.Blueprint.Delivery.Region == nil {
		path = at("delivery", "infrastructureManager")
	}
	r.add(path, say("Infrastructure Manager is not known to be available in %s", region),
		helpOrAccept("if it is available", "choose another region, such as delivery: region: \"us-central1\""))
}
