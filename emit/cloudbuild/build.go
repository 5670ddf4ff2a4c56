package cloudbuild

import (
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// build is the part of a Cloud Build build that the platform uses (Cloud Build
// documentation: "Build configuration file schema"). The printer keeps the
// order of the fields of this type and of step, so the fields stand in the order of their
// names.
type build struct {
	Options        options           `yaml:"options"`
	ServiceAccount string            `yaml:"serviceAccount"`
	Steps          []step            `yaml:"steps"`
	Substitutions  map[string]string `yaml:"substitutions"`
	Tags           []string          `yaml:"tags"`
	Timeout        string            `yaml:"timeout"`
}

type options struct {
	Logging     string `yaml:"logging"`
	MachineType string `yaml:"machineType,omitempty"`
}

// step runs either Args, after Entrypoint or the image's own entry point, or Script.
// Steps run one after the other. The home directory and /workspace, which is the
// deploy folder, are passed from step to step.
type step struct {
	Args       []string `yaml:"args,omitempty"`
	Dir        string   `yaml:"dir,omitempty"`
	Entrypoint string   `yaml:"entrypoint,omitempty"`
	Env        []string `yaml:"env,omitempty"`
	ID         string   `yaml:"id"`
	Name       string   `yaml:"name"` // image
	Script     string   `yaml:"script,omitempty"`
	Timeout    string   `yaml:"timeout"`
}

// task is a step with its timeout in seconds.
type task struct {
	seconds int
	step
}

// newBuild returns the build of tasks, run by the platform's own account. Unless
// the blueprint limits the build, the build's timeout is the sum of its tasks' timeouts, so
// that Cloud Build always reports the task that hangs.
func newBuild(p *ir.Platform, kind string, tasks ...task) build {
	b := build{
		ServiceAccount: escapeDollars("projects/" + p.Project + "/serviceAccounts/" +
			p.Delivery.Account.Email(p.Project)),
		// A build with an account of its own must say where its log goes.
		Options:       options{Logging: "CLOUD_LOGGING_ONLY", MachineType: machineType(p.Delivery.Machine)},
		Substitutions: buildSubstitutions(p),
		Tags:          []string{"batchwright", escapeDollars(p.Name), kind},
	}
	total := 0
	limit := p.Delivery.Seconds
	for _, t := range tasks {
		if limit > 0 {
			t.seconds = min(t.seconds, limit)
		}
		t.step.Timeout = buildDuration(t.seconds)
		total += t.seconds
		b.Steps = append(b.Steps, t.step)
	}
	b.Timeout = buildDuration(total)
	if limit > 0 {
		b.Timeout = buildDuration(limit)
	}
	return b
}

// machineType returns the name of a Compute Engine machine type in Cloud Build's API, as
// E2_HIGHCPU_8 for e2-highcpu-8.
func machineType(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// terraformStep returns a step that runs Terraform in the folder terraform.
func terraformStep(p *ir.Platform, seconds int, id string, args ...string) task {
	return task{seconds, step{
		ID:   id,
		Name: escapeDollars(p.Images.Copy(p.Versions.TerraformImage())),
		Dir:  "terraform",
		Args: args,
		Env:  []string{"TF_IN_AUTOMATION=true"},
	}}
}

// terraformInit returns the step that initialises Terraform with the location of the
// state. If the folder has a lock file, Terraform changes nothing in it.
func terraformInit(p *ir.Platform) task {
	args := []string{"init", "-input=false"}
	if len(p.Versions.SHA256.GoogleProvider) > 0 {
		args = append(args, "-lockfile=readonly")
	}
	return terraformStep(p, 600, "terraform-init", append(args,
		"-backend-config=bucket=$"+ir.StateBucketSubstitution,
		"-backend-config=prefix=$"+ir.StatePrefixSubstitution)...)
}

// infrastructureManager returns a step that runs a script on the deployment of
// Infrastructure Manager.
func infrastructureManager(p *ir.Platform, seconds int, id, body string, variables ...variable) task {
	account := "projects/" + p.Project + "/serviceAccounts/" + p.Delivery.Account.Email(p.Project)
	return scriptStep(p, seconds, id, body, append([]variable{
		{"PROJECT", p.Project}, {"BUILD_REGION", p.Delivery.Region},
		{"DEPLOYMENT", p.Deployment()}, {"ACCOUNT", account}, {"TERRAFORM", "=" + ir.InfrastructureManagerTerraform},
	}, variables...)...)
}

// installRelease returns a step that installs a release. Its script has the mark MANIFEST,
// for the commands that download the manifest to the folder $work and check its SHA-256. If
// the SHA-256 of the release is "", any content of its manifest is accepted.
func installRelease(p *ir.Platform, id, script string, release ir.Release, variables ...variable) task {
	download := readScript("manifest.bash")
	if p.Images.Manifests != "" {
		download = strings.Replace(download, curlManifest, copyManifest, 1)
	}
	all := []variable{{"MANIFEST", p.Images.Source(release)}, {"MANIFEST_SHA256", release.SHA256}}
	if p.Images.Mirror != "" {
		download += readScript("mirror.bash")
		all = append(all, variable{"MIRROR", p.Images.Mirror}, variable{"IMAGE", release.Image})
	}
	return scriptStep(p, 1200, id, readScript(script, "MANIFEST", download), append(all, variables...)...)
}

// curlManifest is the command with which a step downloads a manifest from the internet,
// and copyManifest the command with which it downloads one from Cloud Storage.
const (
	curlManifest = `curl --fail --silent --show-error --location --retry 5 --output "$work/release.yaml" "$MANIFEST"`
	copyManifest = `gcloud storage cp "$MANIFEST" "$work/release.yaml"`
)

// takeTurn returns the step that waits for older builds of the platform to end.
func takeTurn(p *ir.Platform) task {
	t := scriptStep(p, 3600, "turn", readScript("turn.sh"),
		variable{"PROJECT", p.Project}, variable{"BUILD_REGION", p.Delivery.Region}, variable{"NAME", p.Name})
	t.Env = append(t.Env, "BUILD=$BUILD_ID")
	return t
}

// unlockState returns the step that removes the lock of a build that has ended
// from the Terraform state.
func unlockState(p *ir.Platform) task {
	t := scriptStep(p, 300, "unlock", readScript("unlock.sh"),
		variable{"PROJECT", p.Project}, variable{"BUILD_REGION", p.Delivery.Region}, variable{"NAME", p.Name})
	t.Env = append(t.Env, "STATE=gs://$"+ir.StateBucketSubstitution+"/$"+ir.StatePrefixSubstitution)
	return t
}

// commandStep returns a step that runs a program in the Google Cloud CLI's image. The
// image has gcloud, kubectl and GKE's credential plugin for kubectl.
func commandStep(p *ir.Platform, seconds int, id, program string, args ...string) task {
	t := task{seconds, step{ID: id, Name: gcloudImage(p), Entrypoint: program}}
	for _, arg := range args {
		t.Args = append(t.Args, escapeDollars(arg))
	}
	return t
}

// scriptStep returns a step that runs a bash script in the Google Cloud CLI's
// image, with variables in its environment.
func scriptStep(p *ir.Platform, seconds int, id, body string, variables ...variable) task {
	t := task{seconds, step{ID: id, Name: gcloudImage(p), Script: body}}
	for _, v := range variables {
		t.Env = append(t.Env, escapeDollars(v.name+"="+v.value))
	}
	return t
}

// variable is an environment variable of a step.
type variable struct{ name, value string }

func gcloudImage(p *ir.Platform) string {
	return escapeDollars(p.Images.Copy(p.Versions.GcloudImage()))
}

// endpointFlag returns the flag of "gcloud container clusters get-credentials" that
// selects the control plane's endpoint for the build. Without the DNS endpoint it is
// the control plane's private address, and the build must run in a worker pool
// inside the network.
func endpointFlag(p *ir.Platform) string {
	if p.Cluster.DNSEndpoint {
		return "--dns-endpoint"
	}
	return "--internal-ip"
}

// escapeDollars escapes s so that Cloud Build's substitution yields s. Cloud Build
// substitutes everywhere except in scripts.
func escapeDollars(s string) string { return strings.ReplaceAll(s, "$", "$$") }

func buildDuration(seconds int) string { return strconv.Itoa(seconds) + "s" }
