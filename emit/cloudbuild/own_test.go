package cloudbuild

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// ownPlatform returns a plan with a manifest of the administrator.
func ownPlatform() *ir.Platform {
	p := fullPlatform()
	p.Own = &ir.OwnManifests{Files: []ir.OwnManifest{{Name: "own/a.yaml", Content: "kind: Namespace\n"}}}
	return p
}

// liveObjects answers as a cluster does in which the objects with UIDs 1 and 2 are in the folder
// and the others are not.
const liveObjects = `
case $call in
*'clusters list '*) echo RUNNING ;;
*'api-resources '*)
  printf 'configmaps\nendpoints\nendpointslices.discovery.k8s.io\nevents\nnamespaces\ndaemonsets.apps\n' ;;
*'get -k '*) printf '1 2' ;;
*'get configmaps,namespaces,daemonsets.apps '*)
  printf '1 Namespace v1 tuning \n2 DaemonSet apps/v1 sysctl tuning\n3 ConfigMap v1 old tuning\n'
  printf '4 StorageClass storage.k8s.io/v1 slow \n4 StorageClass storage.k8s.io/v1 slow \n' ;;
esac
`

// deletions returns the calls that delete objects.
func deletions(r result) (out []string) {
	for _, call := range r.calls {
		if rest, ok := strings.CutPrefix(call, "kubectl delete "); ok {
			out = append(out, rest)
		}
	}
	return out
}

// TestOwnManifests checks that the build applies the manifests, and deletes only the objects that
// no manifest has any more.
func TestOwnManifests(t *testing.T) {
	s := newSandbox(t, ownPlatform())
	s.writeFile("deploy folder/kubernetes/own/kustomization.yaml", "", 0o644)
	st := findStep(t, provisionBuild(ownPlatform()), "own-manifests")
	s.answer(liveObjects)
	r := s.runStep(st)
	want := []string{
		"ConfigMap.v1. old -n tuning --ignore-not-found --wait=false",
		"StorageClass.v1.storage.k8s.io slow --ignore-not-found --wait=false",
	}
	if diff := cmp.Diff(want, deletions(r)); diff != "" || r.code != 0 {
		t.Errorf("exit code %d, deletions (-want +got):\n%s\n%s", r.code, diff, r.output)
	}
	if want := "kubectl apply --server-side --field-manager=batchwright-own -k kubernetes/own"; r.calls[0] != want {
		t.Errorf("the first call is %s", r.calls[0])
	}
	if !strings.Contains(strings.Join(r.calls, "\n"), `--all-namespaces -l batchwright/own=gke-batch`) {
		t.Errorf("the calls do not select the objects by their label:\n%s", strings.Join(r.calls, "\n"))
	}

	// A kind of the same folder exists a moment later.
	s.answer(`case $call in
*apply*) n=$(cat tries 2>/dev/null || echo 0); echo $((n + 1)) >tries; ((n > 1)) || exit 1 ;;
esac` + liveObjects)
	if r := s.runStep(st); r.code != 0 {
		t.Errorf("with a new kind: exit code %d\n%s", r.code, r.output)
	}
	s.answer(`case $call in *apply*) exit 1 ;; esac` + liveObjects)
	if r := s.runStep(st); r.code == 0 || len(deletions(r)) > 0 {
		t.Errorf("a refused manifest: exit code %d, deletions %v", r.code, deletions(r))
	}
}

// TestLastManifest checks that a folder with an empty list of manifests deletes all objects of
// an earlier folder.
func TestLastManifest(t *testing.T) {
	p := fullPlatform()
	p.Own = &ir.OwnManifests{}
	s := newSandbox(t, p)
	s.answer(liveObjects)
	r := s.runStep(findStep(t, provisionBuild(p), "own-manifests"))
	if r.code != 0 || len(deletions(r)) != 4 || strings.Contains(strings.Join(r.calls, "\n"), "apply") {
		t.Errorf("exit code %d, calls %v\n%s", r.code, r.calls, r.output)
	}
}

// TestDeleteOwn checks that a destroying build deletes the objects before it empties the cluster,
// and waits for them.
func TestDeleteOwn(t *testing.T) {
	for _, p := range []*ir.Platform{ownPlatform(), existingPlatform()} {
		p.Own = ownPlatform().Own
		b := destroyBuild(p)
		var ids []string
		for _, st := range b.Steps {
			ids = append(ids, st.ID)
		}
		if order := strings.Join(ids, " "); !strings.Contains(order, "own-manifests drain") &&
			!strings.Contains(order, "own-manifests leave") {
			t.Errorf("steps %s", order)
		}
		s := newSandbox(t, p)
		st := findStep(t, b, "own-manifests")
		s.answer(`case $call in
*'get configmaps'*) n=$(cat tries 2>/dev/null || echo 0); echo $((n + 1)) >tries; ((n < 2)) || exit 0 ;;
esac` + liveObjects)
		if r := s.runStep(st); r.code != 0 || len(deletions(r)) != 4 {
			t.Errorf("exit code %d, deletions %v\n%s", r.code, deletions(r), r.output)
		}
		s.answer(liveObjects)
		if r := s.runStep(st); r.code == 0 || !strings.Contains(r.output, "are not deleted yet") {
			t.Errorf("objects that stay: exit code %d\n%s", r.code, r.output)
		}
		s.answer("")
		if r := s.runStep(st); r.code != 0 || !strings.Contains(r.output, "nothing to do") {
			t.Errorf("without a cluster: exit code %d\n%s", r.code, r.output)
		}
	}
}
