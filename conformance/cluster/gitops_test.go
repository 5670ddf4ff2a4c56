package cluster_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// argoCD applies a folder as Argo CD applies an Application with server-side apply: wave
// by wave, deleting first what is gone, and each object with its own options. It does not
// replace what it applies with the charts, which the plane installs.
//
// Source: Argo CD 3.5, gitops-engine/pkg/sync/sync_context.go and
// docs/user-guide/sync-options.md.
type argoCD struct {
	*folder
	known map[string]manifest // the objects of earlier syncs that still exist
}

// manifest is an object of a folder.
type manifest struct {
	kind, namespace, name string
	wave                  string
	options               []string
	text                  []byte
}

func (m manifest) key() string { return m.kind + " " + m.namespace + "/" + m.name }

// read returns the objects of the folder.
func (a *argoCD) read() map[string]manifest {
	a.Helper()
	out, err := a.plane.Kubectl(a.ctx, nil, "kustomize", a.manifests())
	if err != nil {
		a.Fatal(err)
	}
	found := map[string]manifest{}
	for document := range strings.SplitSeq(out, "\n---\n") {
		var o struct {
			APIVersion, Kind string
			Metadata         struct {
				Name, Namespace string
				Annotations     map[string]string
			}
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			a.Fatal(err)
		}
		group, _, _ := strings.Cut(o.APIVersion, "/")
		if !strings.Contains(o.APIVersion, "/") {
			group = ""
		}
		m := manifest{
			kind: strings.TrimSuffix(strings.ToLower(o.Kind)+"."+group, "."), namespace: o.Metadata.Namespace,
			name: o.Metadata.Name, wave: o.Metadata.Annotations["argocd.argoproj.io/sync-wave"],
			options: strings.Split(o.Metadata.Annotations["argocd.argoproj.io/sync-options"], ","),
			text:    []byte(document),
		}
		found[m.key()] = m
	}
	return found
}

// sync applies wanted. It returns the errors of the first wave that fails, and Argo CD
// would then try again.
func (a *argoCD) sync(wanted map[string]manifest) error {
	a.Helper()
	for _, wave := range []string{"", "1"} {
		var errs []error
		for key, m := range a.known {
			if _, kept := wanted[key]; kept || m.wave != wave || slices.Contains(m.options, "Prune=false") {
				continue
			}
			args := []string{"delete", m.kind, m.name, "--wait=false", "--ignore-not-found"}
			if m.namespace != "" {
				args = append(args, "--namespace="+m.namespace)
			}
			_, err := a.plane.Kubectl(a.ctx, nil, args...)
			errs = append(errs, err)
			delete(a.known, key)
		}
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			m := wanted[key]
			if m.wave != wave {
				continue
			}
			args := []string{"apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller"}
			if slices.Contains(m.options, "Force=true") {
				if !slices.Contains(m.options, "ServerSideApply=false") {
					a.Errorf("%s: kubectl refuses --force with server-side apply", key)
				}
				args = []string{"apply", "--force"}
			}
			if _, err := a.plane.Kubectl(a.ctx, m.text, append(args, "-f", "-")...); err != nil {
				errs = append(errs, err)
				continue
			}
			a.known[key] = m
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// mustSync applies the folder, with retries.
func (a *argoCD) mustSync() {
	a.Helper()
	wanted := a.read()
	a.eventually(func() string {
		if err := a.sync(wanted); err != nil {
			return err.Error()
		}
		return ""
	})
}

// TestArgoCD plays how Argo CD applies a platform: first without Kueue, then with it, then
// changes under running jobs, and at the end everything is pruned.
func TestArgoCD(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := plane.Root(ctx)
	if err != nil {
		t.Fatal(err)
	}
	compiler := buildCompiler(ctx, t, root)
	blueprint := changesRepository(ctx, t)
	compile := func(change, gitops string) string {
		t.Helper()
		text := fmt.Sprintf("package platform\n\n_change: %q\n%s", change, gitops)
		if err := os.WriteFile(filepath.Join(blueprint, "change.cue"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "folder")
		runTool(ctx, t, blueprint, compiler, "compile", "-o", dir)
		return dir
	}
	const synced = `delivery: {gitops: "argocd", source: repository: "https://example.com/platforms"}`
	// The chart of Kueue, with the same configuration and webhooks.
	chart := compile("", "")
	p, err := plane.Start(ctx, root, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	tools := cloudTools(t, p)
	a := &argoCD{&folder{T: t, ctx: ctx, plane: p, dir: compile("", synced)}, map[string]manifest{}}

	// Before the kinds of Kueue are there, a sync fails and can be repeated.
	if err := a.sync(a.read()); err == nil || !strings.Contains(err.Error(), "kueue.x-k8s.io") {
		t.Fatalf("a sync without Kueue: %v", err)
	}
	if err := p.Prepare(ctx, chart); err != nil {
		t.Fatal(err)
	}
	a.mustSync()
	active := func() string {
		var inactive strings.Builder
		for _, o := range a.get("clusterqueues,localqueues", "--all-namespaces") {
			if !o.is("Active") {
				fmt.Fprintln(&inactive, o, o.Status.Conditions)
			}
		}
		return inactive.String()
	}
	a.eventually(active)
	uids := func() map[string]string {
		found := map[string]string{}
		for _, o := range a.get("clusterqueues,localqueues,priorityclasses,namespaces", "--all-namespaces") {
			found[o.String()] = o.Metadata.UID
		}
		return found
	}
	before := uids()
	a.mustSync()
	for key, uid := range uids() {
		if before[key] != uid {
			t.Errorf("a second sync replaces %s", key)
		}
	}

	a.add(a.pools()...)
	for _, team := range a.teams() {
		a.submit(team, "train-1")
		a.submit(team, "train-2")
		a.submit(team, "train-3")
	}
	a.queues("-batch", count{0, 3})
	all := map[string]int{"spot": 4, "ondemand": 2}
	a.running(all)

	// The value of a PriorityClass cannot be changed: the class is replaced. Jobs go on.
	a.dir = compile("priority", synced)
	a.mustSync()
	if value := a.kubectl("get", "priorityclass", "batch", "-o", "jsonpath={.value}"); value != "20" {
		t.Errorf("the class has the value %s", value)
	}
	if after := uids(); after["localqueue vision/lq-vision-batch"] != before["localqueue vision/lq-vision-batch"] {
		t.Error("the change of a class replaces a LocalQueue")
	}
	a.queues("-batch", count{0, 3})
	a.running(all)

	// An administrator stops a queue. The next sync leaves it stopped.
	a.kubectl("patch", "clusterqueues", "cq-vision-batch", "--field-manager=batchwright", "--type=merge",
		`--patch={"spec":{"stopPolicy":"Hold"}}`)
	a.mustSync()
	if policy := a.kubectl("get", "clusterqueue", "cq-vision-batch", "-o", "jsonpath={.spec.stopPolicy}"); policy !=
		"Hold" {
		t.Errorf("the sync sets stopPolicy to %s", policy)
	}
	a.kubectl("patch", "clusterqueues", "cq-vision-batch", "--field-manager=batchwright", "--type=merge",
		`--patch={"spec":{"stopPolicy":"None"}}`)
	a.eventually(active)

	// Capacity ondemand is removed. The build waits for the sync, and then stops its jobs.
	a.dir = compile("dropped", synced)
	out, err := a.step("retire", "PATH="+tools+":"+p.Bin()+":"+os.Getenv("PATH"))
	if err == nil || !strings.Contains(out, "ClusterQueue cq-vision-batch, capacity ondemand") {
		t.Errorf("before the sync the build removes nodes: %v\n%s", err, out)
	}
	a.running(all)
	a.mustSync()
	a.running(all)
	a.build(tools, "retire")
	a.queues("-batch", count{1, 2})
	a.kubectl("delete", "nodes", "--selector=cloud.google.com/gke-nodepool=ondemand", "--wait=false")
	a.running(map[string]int{"spot": 4})

	// The teams share a queue: their LocalQueues move, and their own queues end with
	// their last jobs.
	a.dir = compile("shared", synced)
	a.mustSync()
	for _, team := range a.teams() {
		queue := a.kubectl("get", "localqueue", "lq-"+team+"-batch", "--namespace="+team, "-o",
			"jsonpath={.spec.clusterQueue}")
		if queue != "cq-batch" {
			t.Errorf("team %s submits to %s", team, queue)
		}
		deleted := a.kubectl("get", "clusterqueue", "cq-"+team+"-batch", "-o", "jsonpath={.metadata.deletionTimestamp}")
		if deleted == "" {
			t.Errorf("the queue of team %s is not deleted", team)
		}
	}
	a.running(map[string]int{"spot": 4})

	// Everything is pruned under running jobs. Nothing is admitted any more; the running
	// jobs end by themselves, and the namespaces stay.
	if err := a.sync(nil); err != nil {
		t.Fatal(err)
	}
	a.running(map[string]int{"spot": 4})
	const scope = "--all-namespaces"
	a.succeed(scope, "^train-", func() string {
		var left strings.Builder
		for _, o := range a.get("clusterqueues,localqueues,resourceflavors,priorityclasses", scope) {
			if o.Metadata.Labels["app.kubernetes.io/managed-by"] == "batchwright" {
				fmt.Fprintln(&left, o, "is left")
			}
		}
		return left.String()
	})
	for _, team := range []string{"speech", "vision"} {
		if len(a.get("namespaces", "--field-selector=metadata.name="+team)) != 1 {
			t.Errorf("the namespace of team %s is gone", team)
		}
	}
}
