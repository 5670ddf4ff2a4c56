// Package cluster_test applies the golden deploy folders to a control plane and
// plays their scenarios.
package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

const golden = "../../golden"

var (
	dir = flag.String("folders", "", "the `directory` of the deploy folders that are held; without it, the\n"+
		"blueprints are compiled")
	sceneOnly = flag.Bool("scenario", false, "play the scenarios of the folders without the checks before them")
	patience  = flag.Duration("patience", 5*time.Minute, "how `long` a state may stay wrong in the same way")
	mostWaits = flag.Int("most-waits", 4, "how `many` times the patience a state may take that keeps changing")
)

// folders lists the golden folders, the scenario that is played once a folder is
// applied, and whether its teams have members. If they have, the test acts as these
// members.
var folders = []struct {
	name     string
	scenario func(*folder)
	members  bool
}{
	{"batch-platform", batchPlatform, true}, // first, because it takes longest
	{"batch-platform-dws", batchPlatformDWS, true},
	{"a3-ultra-flex", a3UltraFlex, true},
	{"shared-vpc", nil, true},
	{"tpu-training", tpuTraining, false},
	{"kai-departments", nil, false},
}

// TestNoOtherFolders fails if a golden folder is missing in folders and gitOpsFolders, and
// is not existingFolder.
func TestNoOtherFolders(t *testing.T) {
	listed, err := filepath.Glob(filepath.Join(golden, "*/kubernetes"))
	if err != nil {
		t.Fatal(err)
	}
	if held := len(folders) + len(gitOpsFolders) + 1; len(listed) != held {
		t.Errorf("golden/ has %d folders, and the tests hold %d", len(listed), held)
	}
}

// layFolder returns the deploy folder of a blueprint. golden/ does not have it in a form
// that kubectl reads: kustomize follows no link out of a folder.
func layFolder(t *testing.T, name string) string {
	t.Helper()
	if *dir != "" {
		return filepath.Join(*dir, name)
	}
	above := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "../folders", above, name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(above, name)
}

// interrupted returns a context that is done from the first interrupt on.
var interrupted = sync.OnceValue(func() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	return ctx
})

// testContext returns the context of a test, which an interrupt cancels. The test then
// fails, and stops its plane in an orderly way.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stop := context.AfterFunc(interrupted(), cancel)
	t.Cleanup(func() {
		stop()
		cancel()
	})
	return ctx
}

// startPlane starts a plane that runs until the end of the test. start is plane.Start or
// plane.StartEmpty. Tests with planes run in parallel, because a plane waits more than it
// computes.
func startPlane(ctx context.Context, t *testing.T,
	start func(ctx context.Context, root string, log io.Writer) (*plane.Plane, error)) *plane.Plane {
	t.Helper()
	root, err := plane.Root(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(ctx, root, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// TestFolders applies each folder to a plane of its own as its guide says, plays the
// folder's scenario, and deletes the folder.
func TestFolders(t *testing.T) {
	t.Parallel()
	for _, entry := range folders {
		t.Run(entry.name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			f := &folder{T: t, ctx: ctx, plane: startPlane(ctx, t, plane.Start), dir: layFolder(t, entry.name)}
			for _, team := range f.teams() {
				if members := f.member(team) != nil; members != entry.members {
					t.Fatalf("team %s has members: %t, want %t", team, members, entry.members)
				}
			}
			began := time.Now()
			f.apply()
			if !*sceneOnly {
				f.applyAgain()
				f.submitted()
				f.example()
				f.limited()
				f.queueless()
			}
			t.Logf("applied and held in %.1f s", time.Since(began).Seconds())
			if t.Failed() {
				return
			}
			if entry.scenario != nil {
				began = time.Now()
				entry.scenario(f)
				t.Logf("played in %.1f s", time.Since(began).Seconds())
			}
			began = time.Now()
			f.delete()
			t.Logf("deleted in %.1f s", time.Since(began).Seconds())
		})
	}
}

// folder is a deploy folder that is applied to the plane.
type folder struct {
	*testing.T
	ctx   context.Context // done with the test or at an interrupt
	plane *plane.Plane
	dir   string
	nodes int // made so far
}

// object holds the fields of an object of any kind that the checks read.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace,omitempty"`
		UID             string            `json:"uid,omitempty"`
		Generation      int               `json:"generation,omitempty"`
		Created         string            `json:"creationTimestamp,omitempty"`
		Deletion        string            `json:"deletionTimestamp,omitempty"`
		Labels          map[string]string `json:"labels,omitempty"`
		Annotations     map[string]string `json:"annotations,omitempty"`
		Finalizers      []string          `json:"finalizers,omitempty"`
		OwnerReferences []struct {
			Name string `json:"name"`
		} `json:"ownerReferences,omitempty"`
	} `json:"metadata"`
	Spec struct {
		NodeName          string            `json:"nodeName,omitempty"`
		NodeSelector      map[string]string `json:"nodeSelector,omitempty"`
		PriorityClassName string            `json:"priorityClassName,omitempty"`
		Priority          int               `json:"priority,omitempty"`
		PreemptionPolicy  string            `json:"preemptionPolicy,omitempty"`
		StopPolicy        string            `json:"stopPolicy,omitempty"`  // of a queue
		Active            *bool             `json:"active,omitempty"`      // of a Workload
		Parallelism       int               `json:"parallelism,omitempty"` // of a Job
		Suspend           *bool             `json:"suspend,omitempty"`     // of a Job
	} `json:"spec"`
	Status struct {
		Conditions        []condition `json:"conditions,omitempty"`
		PendingWorkloads  int         `json:"pendingWorkloads,omitempty"`
		AdmittedWorkloads int         `json:"admittedWorkloads,omitempty"`
		Phase             string      `json:"phase,omitempty"`
		Desired           int         `json:"desiredNumberScheduled,omitempty"` // of a DaemonSet
		Ready             int         `json:"numberReady,omitempty"`
		Restarts          int         `json:"restarts,omitempty"`                // of a JobSet
		RestartsCounted   int         `json:"restartsCountTowardsMax,omitempty"` // of a JobSet
		Admission         struct {    // of a Workload
			PodSetAssignments []assignment `json:"podSetAssignments,omitempty"`
		} `json:"admission"`
		FairSharing struct { // of a LocalQueue
			AdmissionFairSharingStatus struct {
				ConsumedResources map[string]string `json:"consumedResources,omitempty"`
			} `json:"admissionFairSharingStatus"`
		} `json:"fairSharing"`
		SchedulingStats struct { // of a Workload
			Evictions []eviction `json:"evictions,omitempty"`
		} `json:"schedulingStats"`
	} `json:"status"`
}

// assignment names the flavors whose quota the pods of a Workload have, by resource. Name is
// the pod set: main in a Job, the name of a replicated job in a JobSet.
type assignment struct {
	Name    string            `json:"name"`
	Flavors map[string]string `json:"flavors"`
}

type eviction struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Generation is the generation of the object for which the condition holds, if its
	// controller writes that.
	Generation int `json:"observedGeneration,omitempty"`
}

func (o object) String() string {
	return strings.ToLower(o.Kind) + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// is reports whether a condition of the object is true.
func (o object) is(kind string) bool { return o.condition(kind).Status == "True" }

// condition returns a condition of the object, or the zero condition.
func (o object) condition(kind string) condition {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return condition{}
}

// seen reports whether the condition Active of a queue or admission check is about the
// object as it is now: Kueue acts on a change before it writes this.
func (o object) seen() bool { return o.condition("Active").Generation == o.Metadata.Generation }

// owner returns the name of the object that created this object, "" if there is
// none.
func (o object) owner() string {
	if len(o.Metadata.OwnerReferences) == 0 {
		return ""
	}
	return o.Metadata.OwnerReferences[0].Name
}

// kubectl runs kubectl. The command must succeed without a warning.
func (f *folder) kubectl(args ...string) string {
	f.Helper()
	out, err := f.plane.Kubectl(f.ctx, nil, args...)
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// get returns objects of the cluster: see plane.List.
func (f *folder) get(kinds string, options ...string) []object {
	f.Helper()
	found, err := f.plane.List(f.ctx, kinds, options...)
	if err != nil {
		f.Fatal(err)
	}
	var objects []object
	for _, o := range found {
		var read object
		if err := json.Unmarshal(o.JSON, &read); err != nil {
			f.Fatal(err)
		}
		read.APIVersion, read.Kind = o.APIVersion, o.Kind
		objects = append(objects, read)
	}
	return objects
}

// applied returns the folder's objects that are in the cluster.
func (f *folder) applied() []object {
	f.Helper()
	out := f.kubectl("get", "--ignore-not-found", "--output=json", "-k", f.manifests())
	var list struct{ Items []object }
	if out != "" { // of nothing, kubectl prints nothing
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			f.Fatal(err)
		}
	}
	return list.Items
}

// eventually waits until wrong returns "". It fails if wrong returns the same text for
// the whole patience, or if a program of the plane ends. On a busy machine a state can take
// longer, but then the text keeps changing.
func (f *folder) eventually(wrong func() string) {
	f.Helper()
	began := time.Now()
	last, changed, told := "", began, began
	const mostPause = 500 * time.Millisecond
	for pause := mostPause / 4; ; pause = min(2*pause, mostPause) {
		problem := wrong()
		if problem == "" {
			return
		}
		if err := f.plane.Ended(); err != nil {
			f.Fatalf("%v\nmeanwhile:\n%s", err, problem)
		}
		if problem != last {
			last, changed = problem, time.Now()
		}
		waited := time.Since(began).Round(time.Second)
		if time.Since(changed) > *patience || waited > time.Duration(*mostWaits)**patience {
			f.Fatalf("not within %s:\n%s", waited, problem)
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			f.Logf("not within %s yet:\n%s", waited, problem)
		}
		select {
		case <-f.ctx.Done():
			f.Fatalf("interrupted:\n%s", problem)
		case <-time.After(pause):
		}
	}
}

func (f *folder) manifests() string { return filepath.Join(f.dir, "kubernetes") }

// kueue reports whether Kueue starts the folder's jobs.
func (f *folder) kueue() bool {
	_, err := os.Stat(filepath.Join(f.manifests(), "resource-flavors.yaml"))
	return err == nil
}

// dashboards reports whether the folder has dashboards for the cluster's own
// Grafana.
func (f *folder) dashboards() bool {
	_, err := os.Stat(filepath.Join(f.dir, "dashboards/kustomization.yaml"))
	return err == nil
}

// applyArgs are the arguments of kubectl apply in the guide. They ask for strict
// validation, which is also kubectl's default.
func applyArgs(dir string) []string {
	return []string{
		"apply", "--server-side", "--force-conflicts", "--field-manager=batchwright", "--validate=strict", "-k", dir,
	}
}

// apply prepares the plane for the folder's scheduler, applies the folder, and
// waits until all queues are active.
func (f *folder) apply() {
	f.Helper()
	if err := f.plane.Prepare(f.ctx, f.dir); err != nil {
		f.Fatal(err)
	}
	f.kubectl(applyArgs(f.manifests())...)
	if f.dashboards() {
		if err := f.plane.Apply(f.ctx,
			[]map[string]any{
				{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "monitoring"}},
			}); err != nil {
			f.Fatal(err)
		}
		f.kubectl(applyArgs(filepath.Join(f.dir, "dashboards"))...)
	}
	if f.kueue() {
		f.eventually(f.inactive)
	}
}

// inactive lists the queues and admission checks that are not active, with the reasons,
// and those whose last change Kueue has not seen. A queue that is stopped must not be active.
func (f *folder) inactive() string {
	f.Helper()
	var inactive strings.Builder
	for _, o := range f.get("clusterqueues,localqueues,admissionchecks", "--all-namespaces") {
		stopped := o.Spec.StopPolicy != "" && o.Spec.StopPolicy != "None"
		if o.is("Active") == stopped || !o.seen() {
			fmt.Fprintln(&inactive, o, "generation", o.Metadata.Generation, o.Status.Conditions)
		}
	}
	return inactive.String()
}

// applyAgain applies the folder once more, which must change nothing.
func (f *folder) applyAgain() {
	f.Helper()
	f.changesNothing(func() { f.kubectl(applyArgs(f.manifests())...) })
}

// changesNothing applies the folder, which must change nothing.
func (f *folder) changesNothing(apply func()) {
	f.Helper()
	wanted := func() map[string]string {
		out, err := f.plane.Kubectl(f.ctx, nil, "get", "-o", "json", "-k", f.manifests())
		if err != nil {
			f.Fatal(err)
		}
		found, err := withoutStatus([]byte(out))
		if err != nil {
			f.Fatal(err)
		}
		return found
	}
	// Controllers write into fresh objects at any time, for example finalizers, but only a few
	// times. Applying, in contrast, makes the same change every time.
	var difference string
	for range 10 {
		before := wanted()
		f.eventually(func() string {
			earlier := before
			before = wanted()
			return changed(earlier, before)
		})
		apply()
		if difference = changed(before, wanted()); difference == "" {
			return
		}
	}
	f.Errorf("applied again, these are other than before:\n%s", difference)
}

// withoutStatus returns the objects of a list in JSON by kind, namespace and name,
// each as JSON without its status. The generation stays, which every change of the
// specification raises. Whoever writes a status raises the resource version as well,
// at any time after the object was made, so the version says nothing of what was
// applied.
func withoutStatus(list []byte) (map[string]string, error) {
	var content struct{ Items []map[string]any }
	if err := json.Unmarshal(list, &content); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, o := range content.Items {
		metadata, ok := o["metadata"].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an object without metadata: %v", o)
		}
		delete(o, "status")
		delete(metadata, "resourceVersion")
		delete(metadata, "managedFields")
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		namespace, _ := metadata["namespace"].(string)
		kind := strings.ToLower(fmt.Sprint(o["kind"]))
		found[fmt.Sprintf("%s %s/%s", kind, namespace, metadata["name"])] = string(text)
	}
	return found, nil
}

// changed lists the objects that differ in after.
func changed(before, after map[string]string) string {
	var names []string
	for name := range after {
		if before[name] != after[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// subject is a subject of the RoleBinding in a team's file.
var subject = regexp.MustCompile(`(?m)^- apiGroup: rbac\.authorization\.k8s\.io\n  kind: (Group|User)\n  name: (\S+)$`)

// submitter returns a user who may submit the jobs of a team, and the groups of the
// user: what GKE knows about a person or a service account that the team lists, or
// about somebody in the Google group of the team. user is "" if only administrators
// submit jobs.
func (f *folder) submitter(team string) (user string, groups []string) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.manifests(), "teams", team+".yaml"))
	if err != nil {
		f.Fatal(err)
	}
	const everybody = "system:authenticated"
	found := subject.FindSubmatch(text)
	switch {
	case found == nil:
		return "", nil
	case string(found[1]) == "User":
		return string(found[2]), []string{everybody}
	}
	// To GKE, the name of a group is its address. GKE looks for groups in one group, whose
	// name Terraform gives to the cluster.
	if !strings.Contains(string(found[2]), "@") {
		f.Errorf("GKE knows no group %q", found[2])
	}
	security, ok := f.variables()["security_group"]
	if !ok || !strings.HasPrefix(security.AsString(), "gke-security-groups@") {
		f.Fatalf("GKE does not know the group %s", found[2])
	}
	return "somebody@example.com", []string{string(found[2]), everybody}
}

// submits returns who submits the jobs of a team.
func (f *folder) submits(team string) plane.Member {
	f.Helper()
	user, groups := f.submitter(team)
	return plane.Member{User: user, Groups: groups}
}

// member returns the arguments with which kubectl acts as a member of a team, or nil
// if only administrators submit the team's jobs.
func (f *folder) member(team string) []string {
	f.Helper()
	user, groups := f.submitter(team)
	if user == "" {
		return nil
	}
	args := []string{"--as=" + user}
	for _, group := range groups {
		args = append(args, "--as-group="+group)
	}
	return args
}

// teams returns the names of the teams with workloads, sorted.
func (f *folder) teams() []string {
	f.Helper()
	entries, err := os.ReadDir(filepath.Join(f.dir, "workloads"))
	if err != nil {
		f.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// submitted submits every workload as a member of its team with a dry run: the API
// server, the webhooks and the policies must accept it.
func (f *folder) submitted() {
	f.Helper()
	for _, team := range f.teams() {
		f.kubectl(append([]string{
			"apply", "--server-side", "--dry-run=server", "--validate=strict", "-k",
			filepath.Join(f.dir, "workloads", team),
		}, f.member(team)...)...)
	}
}

// otherNamespace is the beginning of a command of USING.md that names the namespace of a
// team. The namespaces of the reference systems have the names of their teams.
var otherNamespace = regexp.MustCompile(`^logs -n ([a-z0-9-]+) `)

// example submits the job that USING.md shows with a dry run, as a member of the team
// that the page names, and runs the other commands of the page that need no pod. A
// command about the workload of another team runs as a member of the other team.
func (f *folder) example() {
	f.Helper()
	page, err := os.ReadFile(filepath.Join(f.dir, "USING.md"))
	if err != nil {
		f.Fatal(err)
	}
	team := regexp.MustCompile(`(?m)^TEAM=(\S+)$`).FindSubmatch(page)
	namespace := regexp.MustCompile(`(?m)^NAMESPACE=(\S+)$`).FindSubmatch(page)
	_, rest, found := bytes.Cut(page, []byte("\n```yaml\n"))
	job, _, closed := bytes.Cut(rest, []byte("```\n"))
	if team == nil || namespace == nil || !found || !closed {
		f.Fatal("USING.md names no team, or shows no job")
	}
	queue := "" // KAI Scheduler has no command about a queue
	if found := regexp.MustCompile(`(?m)^QUEUE=(\S+)$`).FindSubmatch(page); found != nil {
		queue = string(found[1])
	}
	member := f.member(string(team[1]))
	args := append([]string{
		"apply", "--server-side", "--dry-run=server", "--validate=strict", "--namespace=" + string(namespace[1]),
		"--filename=-",
	}, member...)
	if _, err := f.plane.Kubectl(f.ctx, job, args...); err != nil {
		f.Errorf("the job of USING.md is refused: %v\n%s", err, job)
	}
	ran := 0
	for line := range strings.Lines(string(page)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "kubectl ")
		if !ok || strings.Contains(command, "-f ") || strings.Contains(command, "-k ") ||
			strings.Contains(command, "scheduling.run.ai") {
			// The command needs a file or KAI Scheduler.
			continue
		}
		as := member
		if other := otherNamespace.FindStringSubmatch(command); other != nil {
			as = f.member(other[1])
		}
		command = strings.NewReplacer(`"$NAMESPACE"`, string(namespace[1]), "$NAMESPACE", string(namespace[1]),
			"$QUEUE", queue, "'", "", `"`, "").Replace(command)
		// Nobody has submitted a job yet, so kubectl may find no object of a name.
		if _, err := f.plane.Kubectl(f.ctx, nil, append(strings.Fields(command), as...)...); err != nil &&
			!strings.Contains(err.Error(), "not found") {
			f.Errorf("a command of USING.md fails: kubectl %s: %v", command, err)
		}
		ran++
	}
	if ran < 3 {
		f.Errorf("USING.md has only %d commands that need no file", ran)
	}
}

// denied are the rights that a member of a team must not have in its own namespace:
// its own pods would bypass every queue, a shell would have the rights of the pod,
// and the NetworkPolicy separates the teams.
var denied = []string{
	"create pods", "create pods/exec", "get secrets", "create rolebindings.rbac.authorization.k8s.io",
	"delete networkpolicies.networking.k8s.io", "create networkpolicies.networking.k8s.io",
}

// needed are the rights that the commands of USING.md need, with every scheduler.
var needed = []string{
	"create jobs.batch", "create jobsets.jobset.x-k8s.io", "create configmaps", "create services",
	"list pods", "get pods/log", "list events", "delete jobs.batch",
}

// right is something that a member of a team may do in the team's namespace, or must not.
type right struct {
	verb, resource, name string // resource as kubectl auth can-i has it; name "" for all
	allowed              bool
}

// rights returns all of a member's rights that are checked. Members may ask Kueue's
// visibility API which jobs wait in the LocalQueues of their namespace, but not in
// ClusterQueues, because that answer names the jobs of all teams.
func (f *folder) rights() []right {
	var all []right
	for _, list := range []struct {
		texts   []string
		allowed bool
	}{{denied, false}, {needed, true}} {
		for _, text := range list.texts {
			verb, resource, _ := strings.Cut(text, " ")
			all = append(all, right{verb, resource, "", list.allowed})
		}
	}
	if f.kueue() {
		all = append(all, right{"get", "localqueues.visibility.kueue.x-k8s.io/pendingworkloads", "queue", true},
			right{"get", "clusterqueues.visibility.kueue.x-k8s.io/pendingworkloads", "queue", false})
	}
	return all
}

// limited checks that members of teams have the rights that their commands need, and
// none of the denied rights.
func (f *folder) limited() {
	f.Helper()
	rights := f.rights()
	for _, team := range f.teams() {
		user, groups := f.submitter(team)
		if user == "" {
			continue
		}
		var reviews []map[string]any
		for _, r := range rights {
			resource, subresource, _ := strings.Cut(r.resource, "/")
			resource, group, _ := strings.Cut(resource, ".")
			reviews = append(reviews, map[string]any{
				"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
				"spec": map[string]any{"user": user, "groups": groups, "resourceAttributes": map[string]any{
					"namespace": team, "verb": r.verb, "group": group, "resource": resource, "subresource": subresource,
					"name": r.name,
				}},
			})
		}
		for i, allowed := range f.reviewed(reviews) {
			if r := rights[i]; allowed != r.allowed {
				f.Errorf("may a member of %s %s %s: %t, want %t", team, r.verb, r.resource, allowed, r.allowed)
			}
		}
	}
}

// reviewed asks the API server for access reviews, and returns which it allows.
func (f *folder) reviewed(reviews []map[string]any) []bool {
	f.Helper()
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": reviews})
	if err != nil {
		f.Fatal(err)
	}
	out, err := f.plane.Kubectl(f.ctx, list, "create", "--filename=-", `--output=jsonpath={.status.allowed}{"\n"}`)
	if err != nil {
		f.Fatal(err)
	}
	var allowed []bool
	for line := range strings.Lines(out) {
		allowed = append(allowed, strings.TrimSpace(line) == "true")
	}
	if len(allowed) != len(reviews) {
		f.Fatalf("%d access reviews have %d answers:\n%s", len(reviews), len(allowed), out)
	}
	return allowed
}

// submit submits a workload as a member of its team, as the guide says: first its
// files, then the workload.
func (f *folder) submit(team, name string) {
	f.Helper()
	dir := filepath.Join(f.dir, "workloads", team)
	args := []string{"apply", "--server-side"}
	if _, err := os.Stat(filepath.Join(dir, name+"-files.yaml")); err == nil {
		args = append(args, "-f", filepath.Join(dir, name+"-files.yaml"))
	}
	args = append(args, "-f", filepath.Join(dir, name+".yaml"))
	f.kubectl(append(args, f.member(team)...)...)
}

// queueLabel matches the line of a workload's file that names its queue.
var queueLabel = regexp.MustCompile(`(?m)^    (kueue\.x-k8s\.io/queue-name|kai\.scheduler/queue): .*\n`)

// queueless submits a workload of each team without a queue, and in another team's
// queue. Both must be refused.
func (f *folder) queueless() {
	f.Helper()
	teams := f.teams()
	for i, team := range teams {
		files, err := filepath.Glob(filepath.Join(f.dir, "workloads", team, "*.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		first := slices.IndexFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && queueLabel.Match(text)
		})
		if first < 0 {
			f.Fatalf("no workload of %s has a queue", team)
		}
		name := strings.TrimSuffix(filepath.Base(files[first]), ".yaml")
		message := "must name a queue of namespace " + team
		f.refused(team, name, func(text []byte) []byte { return queueLabel.ReplaceAll(text, nil) }, message)
		f.refused(team, name, func(text []byte) []byte {
			return queueLabel.ReplaceAllFunc(text, func(line []byte) []byte {
				return bytes.ReplaceAll(line, []byte(team), []byte(teams[(i+1)%len(teams)]))
			})
		}, message)
	}
}

// refused changes a workload and submits it as a member of the team. A policy must
// refuse it with the message. The API server enforces a policy some time after it exists.
func (f *folder) refused(team, name string, change func([]byte) []byte, message string) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "workloads", team, name+".yaml"))
	if err != nil {
		f.Fatal(err)
	}
	changed := change(text)
	if bytes.Equal(text, changed) {
		f.Fatalf("%s of %s is not changed", name, team)
	}
	args := append([]string{"apply", "--server-side", "--dry-run=server", "-f", "-"}, f.member(team)...)
	f.eventually(func() string {
		out, err := f.plane.Kubectl(f.ctx, changed, args...)
		switch {
		case err == nil:
			return fmt.Sprintf("%s of %s is accepted:\n%s", name, team, out)
		case !strings.Contains(err.Error(), message):
			return fmt.Sprintf("%s of %s is refused with another message than %q:\n%v", name, team, message, err)
		}
		return ""
	})
}

// delete deletes the folder, the last objects first. Nothing of it may remain.
func (f *folder) delete() {
	f.Helper()
	if f.dashboards() {
		f.kubectl("delete", "-k", filepath.Join(f.dir, "dashboards"))
	}
	out := f.kubectl("kustomize", f.manifests())
	documents := strings.Split(out, "\n---\n")
	slices.Reverse(documents)
	if _, err := f.plane.Kubectl(f.ctx, []byte(strings.Join(documents, "\n---\n")), "delete", "--wait=false", "-f",
		"-"); err != nil {
		f.Fatal(err)
	}
	kinds := "namespaces,priorityclasses,validatingadmissionpolicies,jobs,pods"
	if f.kueue() {
		kinds += ",clusterqueues,localqueues,cohorts,resourceflavors,workloads,provisioningrequests"
	}
	f.eventually(func() string {
		var left strings.Builder
		for _, o := range f.applied() {
			fmt.Fprintln(&left, o, "is left")
		}
		for _, o := range f.get(kinds, "--all-namespaces") {
			// Kubernetes has objects of its own of these two kinds.
			if o.Metadata.Labels["app.kubernetes.io/managed-by"] == "batchwright" ||
				o.Kind != "Namespace" && o.Kind != "PriorityClass" {
				fmt.Fprintln(&left, o, "is left")
			}
		}
		return left.String()
	})
	f.kubectl("delete", "nodes", "--all", "--wait=false") // last: KWOK ends pods only on nodes that exist
}
