package cloudbuild

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

//go:embed scripts/turn.sh
var turnScript string

//go:embed scripts/unlock.sh
var unlockScript string

//go:embed scripts/deployment.bash
var deploymentScript string

//go:embed scripts/manifest.bash
var manifestScript string

// manifestMark is the line of a script that gives way to the download of a
// release's manifest into the folder $work, and to the check of its SHA-256.
const manifestMark = "# MANIFEST\n"

// deploymentMark is the line of a script that gives way to the functions which
// follow a deployment of Infrastructure Manager.
const deploymentMark = "# DEPLOYMENT\n"

// build is the part of a Cloud Build build that the platform uses (Cloud Build
// documentation: "Build configuration file schema").
type build struct {
	Options        options           `json:"options"`
	ServiceAccount string            `json:"serviceAccount"`
	Steps          []step            `json:"steps"`
	Substitutions  map[string]string `json:"substitutions"`
	Tags           []string          `json:"tags"`
	Timeout        string            `json:"timeout"`
}

type options struct {
	Logging string `json:"logging"`
}

// step runs either Args, after Entrypoint or the image's own entry point, or
// Script. Steps run one after the other; /workspace, which is the deploy
// folder, and the home directory pass from each to the next.
type step struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"` // image
	Dir        string   `json:"dir,omitempty"`
	Entrypoint string   `json:"entrypoint,omitempty"`
	Args       []string `json:"args,omitempty"`
	Env        []string `json:"env,omitempty"`
	Script     string   `json:"script,omitempty"`
	Timeout    string   `json:"timeout"`
}

// task is a step with its longest time in seconds.
type task struct {
	seconds int
	step
}

// newBuild returns the build of tasks, run by the platform's own account. The
// build's time is that of its tasks together, so that a task that hangs is
// always what is reported.
func newBuild(p *ir.Platform, kind string, tasks ...task) build {
	b := build{
		ServiceAccount: literal("projects/" + p.Project + "/serviceAccounts/" + p.Delivery.Account.Email(p.Project)),
		// A build with an account of its own must say where its log goes.
		Options:       options{Logging: "CLOUD_LOGGING_ONLY"},
		Substitutions: substitutions(p),
		Tags:          []string{"batchwright", literal(p.Name), kind},
	}
	total := 0
	for _, t := range tasks {
		t.step.Timeout = duration(t.seconds)
		total += t.seconds
		b.Steps = append(b.Steps, t.step)
	}
	b.Timeout = duration(total)
	return b
}

// terraform returns a step that runs Terraform in the folder of that name.
func terraform(p *ir.Platform, seconds int, id string, args ...string) task {
	return task{seconds, step{
		ID:   id,
		Name: literal(p.Versions.TerraformImage()),
		Dir:  "terraform",
		Args: args,
		Env:  []string{"TF_IN_AUTOMATION=true"},
	}}
}

// terraformInit returns the step that finds the state.
func terraformInit(p *ir.Platform) task {
	return terraform(p, 600, "terraform-init", "init", "-input=false", "-backend-config=bucket=$"+stateBucket,
		"-backend-config=prefix=$"+statePrefix)
}

// infrastructureManager returns a step that runs a script on the deployment of
// Infrastructure Manager.
func infrastructureManager(p *ir.Platform, seconds int, id, body string, variables ...variable) task {
	account := "projects/" + p.Project + "/serviceAccounts/" + p.Delivery.Account.Email(p.Project)
	body = strings.Replace(body, deploymentMark, deploymentScript, 1)
	return script(p, seconds, id, body, append([]variable{
		{"PROJECT", p.Project}, {"BUILD_REGION", p.Delivery.Region},
		{"DEPLOYMENT", p.Deployment()}, {"ACCOUNT", account}, {"TERRAFORM", "=" + ir.InfrastructureManagerTerraform},
	}, variables...)...)
}

// installRelease returns a step that installs the manifest of a release: body has
// manifestMark in it. Without sha256 any manifest is right.
func installRelease(p *ir.Platform, id, body, manifest, sha256 string, variables ...variable) task {
	body = strings.Replace(body, manifestMark, manifestScript, 1)
	return script(p, 1200, id, body, append([]variable{
		{"MANIFEST", manifest}, {"MANIFEST_SHA256", sha256},
	}, variables...)...)
}

// takeTurn returns the step that lets an older build of the platform end first.
func takeTurn(p *ir.Platform) task {
	t := script(p, 3600, "turn", turnScript,
		variable{"PROJECT", p.Project}, variable{"BUILD_REGION", p.Delivery.Region}, variable{"NAME", p.Name})
	t.Env = append(t.Env, "BUILD=$BUILD_ID")
	return t
}

// unlockState returns the step that removes the lock of a build that has ended
// from the Terraform state.
func unlockState(p *ir.Platform) task {
	t := script(p, 300, "unlock", unlockScript,
		variable{"PROJECT", p.Project}, variable{"BUILD_REGION", p.Delivery.Region}, variable{"NAME", p.Name})
	t.Env = append(t.Env, "STATE=gs://$"+stateBucket+"/$"+statePrefix)
	return t
}

// command returns a step that runs a program of the Google Cloud CLI's image,
// which has gcloud, kubectl and GKE's credential plugin for it.
func command(p *ir.Platform, seconds int, id, program string, args ...string) task {
	t := task{seconds, step{ID: id, Name: cli(p), Entrypoint: program}}
	for _, arg := range args {
		t.Args = append(t.Args, literal(arg))
	}
	return t
}

// script returns a step that runs a bash script in the Google Cloud CLI's
// image, with variables in its environment.
func script(p *ir.Platform, seconds int, id, body string, variables ...variable) task {
	t := task{seconds, step{ID: id, Name: cli(p), Script: body}}
	for _, v := range variables {
		t.Env = append(t.Env, literal(v.name+"="+v.value))
	}
	return t
}

// variable is an environment variable of a step.
type variable struct{ name, value string }

func cli(p *ir.Platform) string {
	return literal(p.Versions.GcloudImage())
}

// endpoint is the flag of "gcloud container clusters get-credentials" for the
// way the build takes into the cluster. Without the DNS endpoint that is the
// control plane's private address, and the build has to run in a worker pool
// inside the network.
func endpoint(p *ir.Platform) string {
	if p.Cluster.DNSEndpoint {
		return "--dns-endpoint"
	}
	return "--internal-ip"
}

// literal returns a text that Cloud Build's substitution turns back into s.
// Substitution takes place everywhere but in scripts.
func literal(s string) string { return strings.ReplaceAll(s, "$", "$$") }

func duration(seconds int) string { return strconv.Itoa(seconds) + "s" }
