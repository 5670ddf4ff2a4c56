package cluster_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// argoCD applies objects as Argo CD applies an Application with server-side apply: wave by
// wave, and in a wave by kind; deleting first what is gone; and each object with its own
// options. It compares nothing, and applies every object in every sync.
//
// Source: Argo CD 3.5, gitops-engine/pkg/sync/sync_context.go and sync_tasks.go,
// docs/user-guide/sync-options.md and sync-waves.md.
type argoCD struct {
	*folder
	application
	known map[string]manifest // the objects of earlier syncs that still exist
	// healthy returns an error if the objects of the first wave are not healthy. Argo CD
	// then begins no other wave. A nil function stands for objects that always are.
	healthy func() error
}

// application is an Application of Argo CD with the objects that its sources render to, as
// conformance/gitops prints it.
type application struct {
	Name      string
	Namespace string
	Options   []string
	Ignored   []struct {
		Kind, Namespace, Name string
		JSONPointers          []string
	}
	Objects []map[string]any
}

// manifest is an object that is applied.
type manifest struct {
	resource, kind, namespace, name string // resource is the kind with its group, for kubectl
	wave                            int
	options                         []string
	text                            []byte
}

func (m manifest) key() string { return m.resource + " " + m.namespace + "/" + m.name }

// with reports whether an option is set for the object.
func (m manifest) with(option string) bool { return slices.Contains(m.options, option) }

// newManifest returns an object with what its annotations ask of Argo CD.
func newManifest(object map[string]any) (manifest, error) {
	// JSON is YAML, and keeps integers exact.
	text, err := json.Marshal(object)
	if err != nil {
		return manifest{}, err
	}
	var o struct {
		APIVersion, Kind string
		Metadata         struct {
			Name, Namespace string
			Annotations     map[string]string
		}
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return manifest{}, err
	}
	group, _, _ := strings.Cut(o.APIVersion, "/")
	if !strings.Contains(o.APIVersion, "/") {
		group = ""
	}
	m := manifest{
		resource: strings.TrimSuffix(strings.ToLower(o.Kind)+"."+group, "."), kind: o.Kind,
		namespace: o.Metadata.Namespace, name: o.Metadata.Name,
		options: strings.Split(o.Metadata.Annotations["argocd.argoproj.io/sync-options"], ","), text: text,
	}
	if wave := o.Metadata.Annotations["argocd.argoproj.io/sync-wave"]; wave != "" {
		m.wave, err = strconv.Atoi(wave)
	}
	return m, err
}

// manifestsOf returns objects by their keys.
func manifestsOf(t *testing.T, objects []map[string]any) map[string]manifest {
	t.Helper()
	found := map[string]manifest{}
	for _, o := range objects {
		m, err := newManifest(o)
		if err != nil {
			t.Fatalf("%v: %v", o, err)
		}
		found[m.key()] = m
	}
	return found
}

// read returns the objects of the folder.
func (a *argoCD) read() map[string]manifest {
	a.Helper()
	out, err := a.plane.Kubectl(a.ctx, nil, "kustomize", a.manifests())
	if err != nil {
		a.Fatal(err)
	}
	var objects []map[string]any
	for document := range strings.SplitSeq(out, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			a.Fatal(err)
		}
		objects = append(objects, o)
	}
	return manifestsOf(a.T, objects)
}

// kinds are the kinds that Argo CD applies before all other kinds of a wave, in this
// order. It omits kinds that no platform has.
var kinds = []string{
	"Namespace", "NetworkPolicy", "ServiceAccount", "Secret", "ConfigMap", "CustomResourceDefinition", "ClusterRole",
	"ClusterRoleBinding", "Role", "RoleBinding", "Service", "DaemonSet", "Deployment", "APIService",
}

// inOrder compares two objects by kind and name, as Argo CD does within a wave.
func inOrder(m, n manifest) int {
	place := func(kind string) int {
		if i := slices.Index(kinds, kind); i >= 0 {
			return i
		}
		return len(kinds)
	}
	return cmp.Or(place(m.kind)-place(n.kind), strings.Compare(m.resource, n.resource), strings.Compare(m.name, n.name),
		strings.Compare(m.namespace, n.namespace))
}

// pruned returns the known objects that are not wanted, by the wave in which Argo CD
// deletes them: the waves of these objects in reverse.
func (a *argoCD) pruned(wanted map[string]manifest) map[int][]manifest {
	gone := map[int][]manifest{}
	for key, m := range a.known {
		if _, kept := wanted[key]; !kept && !m.with("Prune=false") {
			gone[m.wave] = append(gone[m.wave], m)
		}
	}
	waves := slices.Sorted(maps.Keys(gone))
	out := map[int][]manifest{}
	for i, wave := range waves {
		out[wave] = gone[waves[len(waves)-1-i]]
	}
	return out
}

// sync applies wanted. It returns the errors of the first wave that fails, and Argo CD
// would then try again.
func (a *argoCD) sync(wanted map[string]manifest) error {
	a.Helper()
	if err := a.createNamespace(); err != nil {
		return err
	}
	pruned := a.pruned(wanted)
	byWave := map[int][]manifest{}
	for _, m := range wanted {
		byWave[m.wave] = append(byWave[m.wave], m)
	}
	waves := slices.Concat(slices.Collect(maps.Keys(pruned)), slices.Collect(maps.Keys(byWave)))
	slices.Sort(waves)
	waves = slices.Compact(waves)
	for i, wave := range waves {
		var errs []error
		for _, m := range pruned[wave] {
			errs = append(errs, a.deleteObject(m))
		}
		errs = append(errs, a.applyWave(byWave[wave]))
		if err := errors.Join(errs...); err != nil || i == len(waves)-1 {
			return err
		}
		for _, m := range pruned[wave] {
			if a.kubectl(append(m.arguments("get"), "--ignore-not-found", "--output=name")...) != "" {
				return fmt.Errorf("%s is being deleted", m.key())
			}
		}
		if a.healthy != nil {
			if err := a.healthy(); err != nil {
				return err
			}
		}
	}
	return nil
}

// createNamespace creates the namespace of the Application, if the Application asks for
// it and the namespace is missing.
func (a *argoCD) createNamespace() error {
	a.Helper()
	if !slices.Contains(a.Options, "CreateNamespace=true") ||
		a.kubectl("get", "namespace", a.Namespace, "--ignore-not-found", "--output=name") != "" {
		return nil
	}
	_, err := a.plane.Kubectl(a.ctx, nil, "create", "namespace", a.Namespace)
	return err
}

// arguments returns the arguments of a kubectl command for the object.
func (m manifest) arguments(verb string) []string {
	args := []string{verb, m.resource, m.name}
	if m.namespace != "" {
		args = append(args, "--namespace="+m.namespace)
	}
	return args
}

// deleteObject deletes an object, and does not wait until it is gone.
func (a *argoCD) deleteObject(m manifest) error {
	_, err := a.plane.Kubectl(a.ctx, nil, append(m.arguments("delete"), "--wait=false", "--ignore-not-found")...)
	delete(a.known, m.key())
	return err
}

// applyWave applies the objects of a wave. If some fail, the others are applied all the
// same.
func (a *argoCD) applyWave(objects []manifest) error {
	a.Helper()
	slices.SortFunc(objects, inOrder)
	var errs []error
	for len(objects) > 0 {
		// Objects of one kind with the same options are applied together.
		first := objects[0]
		n := slices.IndexFunc(objects, func(m manifest) bool {
			return m.resource != first.resource || !slices.Equal(m.options, first.options)
		})
		if n < 0 {
			n = len(objects)
		}
		args := []string{"apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller"}
		if first.with("Force=true") {
			if !first.with("ServerSideApply=false") {
				a.Errorf("%s: kubectl refuses --force with server-side apply", first.key())
			}
			args = []string{"apply", "--force"}
		}
		var list bytes.Buffer
		for _, m := range objects[:n] {
			text, err := a.withoutIgnored(m)
			errs = append(errs, err)
			fmt.Fprintf(&list, "---\n%s\n", text)
			a.known[m.key()] = m
		}
		_, err := a.plane.Kubectl(a.ctx, list.Bytes(), append(args, "-f", "-")...)
		errs = append(errs, err)
		objects = objects[n:]
	}
	return errors.Join(errs...)
}

// withoutIgnored returns the text of an object to apply. If the Application respects the
// differences that it ignores, these fields are as they are in the cluster. A new object
// has them as the manifest has them.
func (a *argoCD) withoutIgnored(m manifest) ([]byte, error) {
	a.Helper()
	if !slices.Contains(a.Options, "RespectIgnoreDifferences=true") {
		return m.text, nil
	}
	for _, ignored := range a.Ignored {
		if ignored.Kind != m.kind || ignored.Namespace != m.namespace || ignored.Name != m.name {
			continue
		}
		live := a.kubectl(append(m.arguments("get"), "--ignore-not-found", "--output=json")...)
		if live == "" {
			return m.text, nil
		}
		var wanted, found map[string]any
		if err := errors.Join(json.Unmarshal(m.text, &wanted), json.Unmarshal([]byte(live), &found)); err != nil {
			return nil, err
		}
		for _, pointer := range ignored.JSONPointers {
			field, top := strings.CutPrefix(pointer, "/")
			if !top || strings.Contains(field, "/") {
				return nil, fmt.Errorf("%s: the stand-in knows only fields at the top, not %s", m.key(), pointer)
			}
			wanted[field] = found[field]
		}
		return json.Marshal(wanted)
	}
	return m.text, nil
}

// mustSync applies objects, with retries.
func (a *argoCD) mustSync(wanted map[string]manifest) {
	a.Helper()
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
	t.Parallel()
	ctx := testContext(t)
	compiler := buildCompiler(ctx, t)
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
	p := startPlane(ctx, t, plane.Start)
	tools := cloudTools(t, p)
	a := &argoCD{folder: &folder{T: t, ctx: ctx, plane: p, dir: compile("", synced)}, known: map[string]manifest{}}

	// Before the kinds of Kueue are there, a sync fails and can be repeated.
	if err := a.sync(a.read()); err == nil || !strings.Contains(err.Error(), "kueue.x-k8s.io") {
		t.Fatalf("a sync without Kueue: %v", err)
	}
	if err := p.Prepare(ctx, chart); err != nil {
		t.Fatal(err)
	}
	a.mustSync(a.read())
	a.eventually(a.inactive)
	uids := func() map[string]string {
		found := map[string]string{}
		for _, o := range a.get("clusterqueues,localqueues,priorityclasses,namespaces", "--all-namespaces") {
			found[o.String()] = o.Metadata.UID
		}
		return found
	}
	before := uids()
	a.mustSync(a.read())
	for key, uid := range uids() {
		if before[key] != uid {
			t.Errorf("a second sync replaces %s", key)
		}
	}

	a.takesOver("vision")

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
	a.mustSync(a.read())
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
	a.mustSync(a.read())
	if policy := a.kubectl("get", "clusterqueue", "cq-vision-batch", "-o", "jsonpath={.spec.stopPolicy}"); policy !=
		"Hold" {
		t.Errorf("the sync sets stopPolicy to %s", policy)
	}
	a.kubectl("patch", "clusterqueues", "cq-vision-batch", "--field-manager=batchwright", "--type=merge",
		`--patch={"spec":{"stopPolicy":"None"}}`)
	a.eventually(a.inactive)

	// Capacity ondemand is removed. The build waits for the sync, and then stops its jobs.
	a.dir = compile("dropped", synced)
	a.plan("ondemand")
	out, err := a.step("retire", "PATH="+tools+":"+p.Bin()+":"+os.Getenv("PATH"))
	if err == nil || !strings.Contains(out, "ClusterQueue cq-vision-batch, capacity ondemand") {
		t.Errorf("before the sync the build removes nodes: %v\n%s", err, out)
	}
	a.running(all)
	a.mustSync(a.read())
	a.running(all)
	a.build(tools, "retire")
	a.queues("-batch", count{1, 2})
	a.kubectl("delete", "nodes", "--selector=cloud.google.com/gke-nodepool=ondemand", "--wait=false")
	a.running(map[string]int{"spot": 4})

	// The teams share a queue: their LocalQueues move, and their own queues end with
	// their last jobs.
	a.dir = compile("shared", synced)
	a.mustSync(a.read())
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
	a.keeps("speech", "vision")
}

// takesOver checks the command of docs/gitops.md for a platform that the build has applied
// before: the namespace of a team belongs to the build too, until the build applies nothing
// but its name. Then a label that leaves the folder leaves the namespace.
func (a *argoCD) takesOver(namespace string) {
	a.Helper()
	const label = "pod-security.kubernetes.io/audit"
	build := func(text []byte) {
		if _, err := a.plane.Kubectl(a.ctx, text, "apply", "--server-side", "--force-conflicts",
			"--field-manager=batchwright", "-f", "-"); err != nil {
			a.Fatal(err)
		}
	}
	wanted := a.read()
	key := "namespace /" + namespace
	var object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
	}
	if err := json.Unmarshal(wanted[key].text, &object); err != nil {
		a.Fatalf("%s: %v", key, err)
	}
	labels, _ := object.Metadata["labels"].(map[string]any)
	if labels[label] == nil {
		a.Fatalf("%s has no label %s", key, label)
	}
	delete(labels, label)
	text, err := json.Marshal(object)
	if err != nil {
		a.Fatal(err)
	}
	kept := func() bool {
		for _, o := range a.get("namespaces", "--selector="+label) {
			if o.Metadata.Name == namespace {
				return true
			}
		}
		return false
	}
	build(wanted[key].text)
	changed := wanted[key]
	changed.text = text
	wanted[key] = changed
	a.mustSync(wanted)
	if !kept() {
		a.Errorf("%s does not belong to the build: what is held here has no object", key)
	}
	build([]byte("{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "}}"))
	a.mustSync(wanted)
	if kept() {
		a.Errorf("%s keeps a label that the folder does not have", key)
	}
	a.mustSync(a.read())
	if !kept() {
		a.Errorf("%s does not get back its label", key)
	}
}

// keeps checks that the namespaces of teams are still there, with what running jobs need.
func (a *argoCD) keeps(namespaces ...string) {
	a.Helper()
	for _, namespace := range namespaces {
		var found []string
		for _, o := range a.get("serviceaccounts,networkpolicies,rolebindings", "--namespace="+namespace,
			"--selector=app.kubernetes.io/managed-by=batchwright") {
			found = append(found, o.Kind)
		}
		slices.Sort(found)
		if want := []string{"NetworkPolicy", "ServiceAccount"}; !slices.Equal(found, want) {
			a.Errorf("namespace %s still has %q, want %q", namespace, found, want)
		}
		if len(a.get("namespaces", "--field-selector=metadata.name="+namespace)) != 1 {
			a.Errorf("namespace %s is gone", namespace)
		}
	}
}

// gitOpsFolders are the golden folders that Argo CD applies, and the scenarios that are
// played once they are applied.
var gitOpsFolders = []struct {
	name     string
	scenario func(*folder)
}{
	{"batch-platform-argocd", batchPlatformArgoCD},
}

// TestGitOps lets a stand-in for Argo CD apply golden folders to a cluster without Kueue
// and JobSet: the charts, the folder kubernetes/ and the dashboards, as the Applications
// in gitops/ say. Then the platform must work, and another sync must change nothing. At
// the end the platform leaves the folder, and the charts stay.
func TestGitOps(t *testing.T) {
	t.Parallel()
	for _, entry := range gitOpsFolders {
		t.Run(entry.name, func(t *testing.T) {
			ctx := testContext(t)
			p := startPlane(ctx, t, plane.StartEmpty)
			f := &folder{T: t, ctx: ctx, plane: p, dir: layFolder(t, entry.name)}
			applications := f.applications()
			for _, a := range applications {
				a.bootstrap()
			}
			f.eventually(f.inactive)
			f.changesNothing(func() {
				for _, a := range applications {
					a.mustSync(manifestsOf(t, a.Objects))
				}
			})
			f.submitted()
			f.example()
			f.limited()
			f.queueless()
			if t.Failed() {
				return
			}
			entry.scenario(f)
			for _, a := range applications {
				a.certificates()
				a.leave()
			}
		})
	}
}

// applications returns Argo CD's Applications in the folder. conformance/gitops, which has
// Helm and Kustomize, renders their objects.
func (f *folder) applications() []*argoCD {
	f.Helper()
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		f.Fatal(err)
	}
	render := exec.CommandContext(f.ctx, "go", "-C", "../gitops", "run", "./cmd/render", dir)
	render.Stderr = os.Stderr
	out, err := render.Output()
	var found []application
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		f.Fatalf("the objects of %s: %v", f.dir, err)
	}
	var all []*argoCD
	for _, a := range found {
		if !slices.Contains(a.Options, "ServerSideApply=true") {
			f.Fatalf("Application %s has not the options of the stand-in: %q", a.Name, a.Options)
		}
		if a.Objects, err = f.plane.Adapt(a.Objects); err != nil {
			f.Fatal(err)
		}
		all = append(all, &argoCD{folder: f, application: a, known: map[string]manifest{}})
	}
	return all
}

// charts reports whether the Application installs Kueue and JobSet.
func (a *argoCD) charts() bool {
	return slices.ContainsFunc(a.Objects, func(o map[string]any) bool { return o["kind"] == "Deployment" })
}

// bootstrap syncs the Application for the first time. If it has the charts, no queue may
// exist before their controllers run.
func (a *argoCD) bootstrap() {
	a.Helper()
	wanted := manifestsOf(a.T, a.Objects)
	if !a.charts() {
		a.mustSync(wanted)
		return
	}
	a.healthy = func() error { return errors.New("the Deployments are not healthy") }
	if err := a.sync(wanted); err == nil || err.Error() != "the Deployments are not healthy" {
		a.Fatalf("a sync with Deployments that are not healthy: %v", err)
	}
	if queues := a.get("clusterqueues,localqueues,resourceflavors", "--all-namespaces"); len(queues) > 0 {
		a.Fatalf("before Kueue runs there are %v", queues)
	}
	started := false
	a.healthy = func() error {
		if !started {
			if err := a.plane.StartCharts(a.ctx); err != nil {
				a.Fatal(err)
			}
		}
		started = true
		return nil
	}
	a.mustSync(wanted)
}

// certificates checks that JobSet keeps its certificates: it writes them into the Secret of its
// chart, and another sync must not take them away.
func (a *argoCD) certificates() {
	a.Helper()
	if !a.charts() {
		return
	}
	const certificate = "Y2VydGlmaWNhdGU="
	secret := []string{"secret", "jobset-webhook-server-cert", "--namespace=jobset-system"}
	a.kubectl(append([]string{"patch", "--type=merge", `--patch={"data":{"tls.crt":"` + certificate + `"}}`},
		secret...)...)
	a.mustSync(manifestsOf(a.T, a.Objects))
	got := a.kubectl(append([]string{"get", `--output=jsonpath={.data.tls\.crt}`}, secret...)...)
	if got != certificate {
		a.Errorf("a sync sets the certificate of JobSet to %q", got)
	}
}

// leave syncs the Application without the objects of the folder. Nothing of it may remain,
// except what stays with the namespaces of the teams.
func (a *argoCD) leave() {
	a.Helper()
	if !a.charts() {
		return
	}
	wanted := manifestsOf(a.T, a.Objects)
	var kept []string
	for key, m := range wanted {
		switch {
		case m.wave == 0 && m.kind == "Namespace" && slices.Contains(a.teams(), m.name):
			kept = append(kept, m.name)
			delete(wanted, key)
		case m.wave > 0:
			delete(wanted, key)
		}
	}
	a.mustSync(wanted)
	const own = "clusterqueues,localqueues,cohorts,resourceflavors,priorityclasses,validatingadmissionpolicies," +
		"podmonitorings"
	a.eventually(func() string {
		var left strings.Builder
		for _, o := range a.get(own, "--all-namespaces", "--selector=app.kubernetes.io/managed-by=batchwright") {
			fmt.Fprintln(&left, o, "is left")
		}
		return left.String()
	})
	a.keeps(kept...)
	for _, namespace := range kept { // as README.md says
		a.kubectl("delete", "namespaces", namespace, "--wait=false")
	}
}
