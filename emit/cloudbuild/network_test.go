package cloudbuild

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// sharedPlatform returns a plan in a Shared VPC, with copies of images and manifests.
func sharedPlatform() *ir.Platform {
	p := fullPlatform()
	p.Network = ir.Network{
		Name: "shared", Subnet: "batch",
		Existing: &ir.ExistingNetwork{
			Project: "net-host", PodRange: "pods", ServiceRange: "services", ControlPlaneSubnet: "control",
			NodePrefix: 24, PodPrefix: 16, ServicePrefix: 27, GPUPrefix: 28,
		},
		GPUs: []ir.GPUNetwork{{Name: "gpu", Subnets: []ir.GPUSubnet{{Name: "gpu-b", Network: "vpc1"}}}},
	}
	p.Images = ir.Images{Mirror: "us-docker.pkg.dev/net-host/mirror", Manifests: "gs://net-host-mirror/manifests"}
	p.Versions.SHA256 = ir.Pins{Kueue: strings.Repeat("0", 64)}
	return p
}

// fittingNetwork answers as a network does that fits sharedPlatform.
const fittingNetwork = `
case $call in
*'subnets describe batch '*flatten*) printf 'pods 10.132.0.0/16\nservices 10.0.32.0/20\n' ;;
*'subnets describe batch '*) echo 'shared 10.128.0.0/24 True' ;;
*'subnets describe control '*) echo 'shared 10.129.0.0/28 False' ;;
*'subnets describe gpu-b '*) echo 'gpu 10.130.0.0/28 False' ;;
*'subnets list-usable'*) echo projects/net-host/regions/us-central1/subnetworks/batch ;;
esac
`

// TestCheckNetwork holds that the step accepts a network that fits, and reports all
// differences of one that does not.
func TestCheckNetwork(t *testing.T) {
	s := newSandbox(t, sharedPlatform())
	st := findStep(t, provisionBuild(sharedPlatform()), "network")
	s.answer(fittingNetwork)
	r := s.runStep(st)
	if r.code != 0 || r.output != "" {
		t.Errorf("a network that fits: exit code %d\n%s", r.code, r.output)
	}
	want := "gcloud compute networks subnets describe gpu-b --project=net-host --region=us-central1 "
	if len(r.callsWith(want)) != 1 {
		t.Errorf("no %q in %q", want, r.calls)
	}
	s.answer(`if [[ $call == *'list-usable'* ]]; then echo 'Required permission' >&2; exit 1; fi` + fittingNetwork)
	r = s.runStep(st)
	if want := "GKE does not say whether its agent may use the subnet: Required permission\n"; r.code != 0 ||
		r.output != want {
		t.Errorf("usable subnets cannot be listed: exit code %d\n%s", r.code, r.output)
	}
	const every = "The network does not fit the platform:\n"
	for _, tt := range []struct{ name, answers, says string }{
		{
			"a subnet that cannot be read",
			`if [[ $call == *'describe gpu-b '* ]]; then echo 'Required permission' >&2; exit 1; fi` + fittingNetwork,
			every + "- subnet gpu-b of project net-host cannot be read: Required permission\n",
		},
		{
			"every difference at once", `
case $call in
*'subnets describe batch '*flatten*) printf 'pods 10.132.0.0/17\n' ;;
*'subnets describe batch '*) echo 'other 10.128.0.0/25 False' ;;
*'subnets describe control '*) echo 'shared 10.129.0.0/30 False' ;;
*'subnets describe gpu-b '*) echo 'gpu 10.130.0.0/28 False' ;;
*subnetworks/gpu-b/testIamPermissions*) denied=true; echo '{}' ;;
*'subnets list-usable'*) echo projects/net-host/regions/us-central1/subnetworks/other-batch ;;
esac
`, every + `- subnet batch is in network other, not in shared
- subnet batch has the range 10.128.0.0/25, but needs at least a /24
- subnet batch has no Private Google Access
- subnet control has the range 10.129.0.0/30, but needs at least a /29
- this build may not use subnet gpu-b: it needs roles/compute.networkUser
- the secondary range pods is 10.132.0.0/17, but needs at least a /16
- subnet batch has no secondary range services
- GKE's agent in project my-project may not use subnet batch: it needs roles/compute.networkUser on the subnet, and ` +
				"roles/container.hostServiceAgentUser on project net-host\n",
		},
	} {
		s.answer(tt.answers)
		r := s.runStep(st)
		if r.code != 1 || !strings.HasPrefix(r.output, tt.says) ||
			!strings.HasSuffix(r.output, "Give network-team/README.md to the owners of project net-host. "+
				"A new right takes effect after some minutes.\n") {
			t.Errorf("%s: exit code %d\n%s", tt.name, r.code, r.output)
		}
	}
}

// TestMirroredRelease holds that a release is downloaded from Cloud Storage, and applied
// only if all its images come from the mirror.
func TestMirroredRelease(t *testing.T) {
	p := sharedPlatform()
	p.Versions.SHA256 = ir.Pins{}
	s := newSandbox(t, p)
	st := findStep(t, provisionBuild(p), "jobset")
	if want := p.Images.Mirror + "/gcr.io/google.com/cloudsdktool/google-cloud-cli:573.0.0"; st.Name != want {
		t.Errorf("the step runs in %s, want %s", st.Name, want)
	}
	const download = `if [[ $call == 'gcloud storage cp'* ]]; then : >"$4"; fi` + "\n"
	const rendered = `if [[ $call == 'kubectl kustomize'* ]]; then printf '        image: %s\n        image:\n' `
	s.answer(download + rendered + `us-docker.pkg.dev/net-host/mirror/registry.k8s.io/jobset/jobset:v0.12.0; ` +
		`cp "$2/kustomization.yaml" "$SANDBOX/kustomization"; fi`)
	r := s.runStep(st)
	if r.code != 0 || len(r.callsWith("curl")) > 0 || len(r.callsWith("kubectl apply")) != 1 {
		t.Errorf("exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	if len(r.callsWith("gcloud storage cp gs://net-host-mirror/manifests/jobset-0.12.0.yaml ")) != 1 {
		t.Errorf("calls %q", r.calls)
	}
	want := `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- release.yaml
images:
- name: registry.k8s.io/jobset/jobset
  newName: us-docker.pkg.dev/net-host/mirror/registry.k8s.io/jobset/jobset
`
	if diff := cmp.Diff(want, s.readFile("kustomization")); diff != "" {
		t.Errorf("kustomization (-want +got):\n%s", diff)
	}

	s.answer(download + rendered + `registry.k8s.io/jobset/other:v0.12.0; fi`)
	r = s.runStep(st)
	if r.code != 1 || len(r.callsWith("kubectl apply")) > 0 ||
		!strings.Contains(r.output, "\nregistry.k8s.io/jobset/other:v0.12.0\n") {
		t.Errorf("an image without a copy: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
}

// TestMirrorScript holds that mirror.sh copies what is missing, lists without copying, and
// keeps a manifest with another digest out.
func TestMirrorScript(t *testing.T) {
	p := sharedPlatform()
	s := newSandbox(t, p)
	s.writeFile("bin/crane", stub, 0o755)
	const kueue = "registry.k8s.io/kueue/kueue:v0.19.2"
	const copied = "us-docker.pkg.dev/net-host/mirror/"

	s.answer("")
	r := s.runScript("mirror.sh", "", "--list")
	if r.code != 0 || len(r.calls) > 0 || !strings.Contains(r.output, kueue+" "+copied+kueue+"\n") ||
		!strings.Contains(r.output, "hashicorp/terraform:1.13.5 "+copied+"docker.io/hashicorp/terraform:1.13.5\n") ||
		!strings.Contains(r.output, "manifests.yaml gs://net-host-mirror/manifests/kueue-0.19.2.yaml\n") {
		t.Errorf("--list: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	// Kueue's image has no copy yet.
	s.answer(`if [[ $call == 'crane digest '*kueue* && ! -e $SANDBOX/copied ]]; then exit 1; fi
if [[ $call == 'crane copy'* ]]; then : >"$SANDBOX/copied"; fi`)
	r = s.runScript("mirror.sh", "")
	if r.code != 1 || !strings.Contains(r.output, "It was not copied.") || len(r.callsWith("gcloud storage cp")) > 0 {
		t.Errorf("a manifest with another digest: exit code %d, calls %q\n%s", r.code, r.calls, r.output)
	}
	if diff := cmp.Diff([]string{"crane copy " + kueue + " " + copied + kueue}, r.callsWith("crane copy")); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	if r := s.runScript("mirror.sh", "", "--wrong"); r.code != 2 {
		t.Errorf("a wrong option: exit code %d", r.code)
	}
	if files := emittedFiles(t, fullPlatform()); files["mirror.sh"].Content != nil {
		t.Error("mirror.sh without a mirror")
	}
}
