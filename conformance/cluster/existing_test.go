package cluster_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// existingFolder is the golden folder of a platform in a cluster that others own.
const existingFolder = "existing"

// ofOthers are the kinds of objects that others have in a cluster.
const ofOthers = "namespaces,configmaps,serviceaccounts,secrets,jobs,pods,deployments,daemonsets,workloads," +
	"clusterqueues,localqueues,cohorts,resourceflavors,priorityclasses,clusterroles,clusterrolebindings,roles," +
	"rolebindings,networkpolicies,validatingadmissionpolicies,validatingadmissionpolicybindings," +
	"mutatingwebhookconfigurations,validatingwebhookconfigurations,customresourcedefinitions"

// ownLabel selects the objects of the platform.
const ownLabel = "app.kubernetes.io/part-of=research"

// fittingCluster is a gcloud that says what golden/existing expects of its cluster.
const fittingCluster = `#!/bin/sh
case "$*" in
*'clusters list'*) echo RUNNING ;;
*'clusters describe prod '*)
  echo '` + fittingAnswer + `' ;;
esac
`

// fittingAnswer is the cluster in the format that the step cluster asks for.
const fittingAnswer = "1.34.1-gke.100|False|my-project.svc.id.goog|ADVANCED_DATAPATH|False|" +
	"gke-security-groups@example.com|True|True|n|s"

// availableKueue is a kubectl that reports an available replica of Kueue's Deployment, which
// has none in the plane. It leaves everything else to the kubectl in the folder %s.
const availableKueue = `#!/bin/sh
case "$*" in
*'get deployment kueue-controller-manager'*availableReplicas*) echo 1 ;;
*) exec '%s/kubectl' "$@" ;;
esac
`

// releasing is the same kubectl, used by somebody who reads what the step leave waits for, and
// removes it: a finalizer, and a queue that others own and that uses a platform's flavor.
const releasing = `#!/bin/sh
real=%[1]s/kubectl
case "$*" in
*'get deployment kueue-controller-manager'*availableReplicas*) echo 1 ;;
*go-template=*)
  out=$("$real" "$@") || exit
  printf '%%s\n' "$out"
  case $out in
  *example.com/hold*)
    "$real" patch configmap held --namespace=speech --type=merge -p '{"metadata":{"finalizers":null}}' >&2 ;;
  *'ResourceFlavor research-l4 waits'*) "$real" delete clusterqueue guest >&2 ;;
  esac ;;
*) exec "$real" "$@" ;;
esac
`

// holders are the objects that releasing removes.
const holders = `apiVersion: v1
kind: ConfigMap
metadata:
  name: held
  namespace: speech
  finalizers: [example.com/hold]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: guest
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: research-l4
      resources: [{name: cpu, nominalQuota: 0}]
`

// TestExistingCluster runs the build steps of a platform in an existing cluster, and destroys
// the platform while something holds a namespace and a flavor. The platform must work, and the
// existing Kueue, its queues and its jobs must not change by a byte.
func TestExistingCluster(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := startPlane(ctx, t, plane.Start)
	t.Run(existingFolder, func(t *testing.T) {
		f := &folder{T: t, ctx: ctx, plane: p, dir: layFolder(t, existingFolder)}
		tools := cloudTools(t, p)
		for name, text := range map[string]string{
			"gcloud":  fittingCluster,
			"kubectl": fmt.Sprintf(availableKueue, p.Bin()),
		} {
			if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		f.others()
		before := f.snapshot()
		vision := before["namespace /vision"]

		f.conflicts(tools)
		if diff := changedObjects(before, f.snapshot()); diff != "" {
			t.Fatalf("the step cluster has changed:\n%s", diff)
		}

		// The owner of a namespace hands it over, as the step says.
		f.kubectl("label", "Namespace", "vision", "app.kubernetes.io/part-of=research", "batchwright-existing=true",
			"--overwrite")
		delete(before, "namespace /vision")
		steps := []string{
			"cluster", "retire", "priorities", "local-queues", "manifests", "queues", "managed", "dashboards",
		}
		f.build(tools, steps...)
		f.applyAgain()
		f.submitted()
		f.example()
		f.limited()
		f.queueless()
		if t.Failed() {
			return
		}

		f.add(f.pools()...)
		f.submit("vision", "finetune")
		f.running(map[string]int{"others": 2, "research-l4-spot": 2})
		f.build(tools, steps...) // a second build, with jobs
		f.running(map[string]int{"others": 2, "research-l4-spot": 2})
		if diff := changedObjects(before, f.snapshot()); diff != "" {
			t.Errorf("the platform has changed what others own:\n%s", diff)
		}

		if _, err := p.Kubectl(ctx, []byte(holders), "create", "-f", "-"); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(tools, "kubectl")
		if err := os.WriteFile(name, fmt.Appendf(nil, releasing, p.Bin()), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := f.stepOf("destroy", "leave", "PATH="+tools+":"+p.Bin()+":"+os.Getenv("PATH"))
		if err != nil {
			t.Fatalf("step leave: %v\n%s", err, out)
		}
		for _, held := range []string{
			"speech: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
			"ResourceFlavor research-l4 waits for its finalizers [kueue.x-k8s.io/resource-in-use]",
		} {
			if !strings.Contains(out, held) {
				t.Errorf("step leave does not say %q:\n%s", held, out)
			}
		}
		f.kubectl("delete", "nodes", "-l", "cloud.google.com/gke-nodepool notin (others)", "--wait=false")
		kinds := ofOthers + ",admissionchecks,provisioningrequestconfigs,podmonitorings"
		for _, o := range f.get(kinds, "--all-namespaces", "--selector="+ownLabel) {
			t.Errorf("%s is left", o)
		}
		after := f.snapshot()
		if diff := changedObjects(before, after); diff != "" {
			t.Errorf("the platform leaves with changes of what others own:\n%s", diff)
		}
		if got := after["namespace /vision"]; got != vision {
			t.Errorf("the namespace that was handed over comes back as\n%s\nand not as\n%s", got, vision)
		}
		f.running(map[string]int{"others": 2})
	})
}

// others installs Kueue as others have configured it, with their queues and jobs.
func (f *folder) others() {
	f.Helper()
	const data = "testdata/others"
	if err := f.plane.Prepare(f.ctx, data); err != nil {
		f.Fatal(err)
	}
	f.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=owner", "-f",
		data+"/kubernetes/system/kueue-configuration.yaml")
	f.kubectl("apply", "--server-side", "--field-manager=owner", "-f", data+"/objects.yaml")
	f.add(pool{
		name: "others", nodes: 2, machine: "e2-standard-4",
		labels: map[string]string{"pool": "others", "cloud.google.com/gke-nodepool": "others"},
	})
	f.running(map[string]int{"others": 2})
	f.kubectl("apply", "--server-side", "--field-manager=owner", "-f", data+"/waits.yaml")
	f.queues("others", count{1, 1})
	f.eventually(f.unfinished)
	// Other changes, which nobody expects, must not come with the platform.
	const quiet = 2 * time.Second
	last, since := f.snapshot(), time.Now()
	f.eventually(func() string {
		now := f.snapshot()
		if diff := changedObjects(last, now); diff != "" {
			last, since = now, time.Now()
			return diff
		}
		if time.Since(since) < quiet {
			return fmt.Sprintf("no change for less than %s", quiet)
		}
		return ""
	})
}

// unfinished lists what controllers still have to add to new objects in the cluster, besides
// their status.
func (f *folder) unfinished() string {
	f.Helper()
	var late strings.Builder
	has := map[string]bool{}
	objects := f.get("namespaces,configmaps,serviceaccounts,deployments,pods,clusterqueues,resourceflavors",
		"--all-namespaces")
	for _, o := range objects {
		has[o.String()] = true
	}
	for _, o := range objects {
		name := o.Metadata.Name
		switch o.Kind {
		case "Namespace":
			for _, own := range []string{
				"serviceaccount " + name + "/default", "configmap " + name + "/kube-root-ca.crt",
			} {
				if !has[own] {
					fmt.Fprintln(&late, "there is no", own)
				}
			}
		case "Deployment":
			if o.Metadata.Annotations["deployment.kubernetes.io/revision"] == "" {
				fmt.Fprintln(&late, o, "has no revision")
			}
		case "Pod":
			if o.Status.Phase != "Running" {
				fmt.Fprintln(&late, o, "does not run")
			}
		case "ClusterQueue", "ResourceFlavor":
			if len(o.Metadata.Finalizers) == 0 {
				fmt.Fprintln(&late, o, "has no finalizer")
			}
		}
	}
	return late.String()
}

// conflicts checks that the step cluster reports objects of others that have the names of
// objects of the folder, and Kueue that is older than the blueprint says.
func (f *folder) conflicts(tools string) {
	f.Helper()
	path := "PATH=" + tools + ":" + f.plane.Bin() + ":" + os.Getenv("PATH")
	out, err := f.step("cluster", path)
	want := "- Namespace vision exists and belongs to others. " +
		"Rename it in the blueprint, or let its owner hand it over: " +
		"kubectl label Namespace vision app.kubernetes.io/part-of=research batchwright-existing=true --overwrite\n"
	if err == nil || !strings.HasSuffix(out, "does not fit the platform:\n"+want) {
		f.Fatalf("a namespace of others: %v\n%s", err, out)
	}
	flavor := []byte("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: research-l4}}")
	if _, err := f.plane.Kubectl(f.ctx, flavor, "create", "-f", "-"); err != nil {
		f.Fatal(err)
	}
	out, err = f.step("cluster", path)
	if err == nil || !strings.Contains(out, "- ResourceFlavor research-l4 exists") || !strings.Contains(out, want) {
		f.Fatalf("two objects of others: %v\n%s", err, out)
	}
	f.kubectl("delete", "resourceflavors", "research-l4")
	out, err = f.step("cluster", path, "FRAMEWORKS=batch/job ray.io/rayjob")
	if err == nil || !strings.Contains(out, "- Kueue does not manage jobs of kind ray.io/rayjob:") {
		f.Fatalf("a kind that Kueue does not manage: %v\n%s", err, out)
	}
	// Kueue manages only namespaces with its owner's label.
	probe := "QUEUES=default:none:others-default"
	want = "- default: managedJobsNamespaceSelector of the configuration does not select it: kueue-managed=true\n"
	if out, err = f.step("managed", path, probe); err == nil || !strings.Contains(out, want) {
		f.Fatalf("a namespace that Kueue does not manage: %v\n%s", err, out)
	}
}

// snapshot returns the objects in the cluster that do not belong to the platform, as in
// withoutStatus.
func (f *folder) snapshot() map[string]string {
	f.Helper()
	out, err := f.plane.Kubectl(f.ctx, nil, "get", "-o", "json", ofOthers, "--all-namespaces", "-l",
		strings.Replace(ownLabel, "=", "!=", 1))
	if err != nil {
		f.Fatal(err)
	}
	found, err := withoutStatus([]byte(out))
	if err != nil {
		f.Fatal(err)
	}
	return found
}

// changedObjects lists the objects of before that are missing or different in after, with
// both texts.
func changedObjects(before, after map[string]string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			fmt.Fprintf(&out, "%s\n  was %s\n  is  %s\n", name, before[name], after[name])
		}
	}
	return out.String()
}
