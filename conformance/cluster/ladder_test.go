package cluster_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/cluster/plane"
)

// importPage has the commands that export queues, and the steps from queues to a platform.
const importPage = "../../docs/import.md"

// ladder plays how running queues become a platform, as importPage says: the queues, their jobs
// and the blueprint that changes step by step.
type ladder struct {
	*folder
	work     string // has the exports and the folder platform with the blueprint
	tools    string
	compiler string
	pods     map[string]string // running pods with their UIDs, which must stay
}

// TestLadder imports queues that run and that Argo CD applies, lets the platform adopt them, leave
// them, adopt them again, guard their namespaces and own their node pool. Jobs run and wait
// meanwhile: none stops, and none starts too early.
func TestLadder(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	compiler := buildCompiler(ctx, t)
	p := startPlane(ctx, t, plane.Start)
	tools := cloudTools(t, p)
	for name, text := range map[string]string{
		"gcloud": fittingCluster, "kubectl": fmt.Sprintf(availableKueue, p.Bin()),
	} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := &ladder{
		folder: &folder{T: t, ctx: ctx, plane: p}, work: t.TempDir(), tools: tools, compiler: compiler,
	}
	argo := l.run()
	l.importQueues()

	l.compile("adopt")
	l.handOver(argo)
	l.changesOnlyLabels()
	l.adopted()

	// The platform leaves, and comes back.
	if out, err := l.stepOf("destroy", "leave", l.path()); err != nil {
		t.Fatalf("step leave: %v\n%s", err, out)
	}
	for _, o := range l.get("clusterqueues,localqueues,cohorts,resourceflavors", "--all-namespaces") {
		if len(o.Metadata.Labels) > 0 || o.Metadata.Deletion != "" {
			t.Errorf("after the platform has left, %s has the labels %v", o, o.Metadata.Labels)
		}
	}
	l.stays()
	l.labelAll()
	l.adopted()

	l.edit(
		`capacity: l4: {`, "hardware: l4: machine: \"g2-standard-24\"\ncapacity: l4: {hardware: \"l4\", nodes: 2, ",
		`jobs: {capacity: ["l4"]`, `jobs: {priority: 10, capacity: ["l4"]`,
		`namespace: {existing: "vision"}`, `members: ["user:vision@example.com"]`,
		`namespace: {existing: "speech"}`, `members: ["user:speech@example.com"]`,
		`resources: {cpu: 22, memory: "80Gi", "nvidia.com/gpu": 2}`, `accelerators: 2`,
	)
	l.compile("guard")
	l.labelAll()
	l.applies()
	l.guarded()

	l.edit(
		`capacity: l4: {`, `capacity: gpus: {takeOver: {}, `, `consumption: existing: {}`, `consumption: onDemand: {}`,
		`flavor: nodeLabels: "cloud.google.com/gke-nodepool": "gpus"`, `flavor: name: "l4"`,
		`capacity: ["l4"]`, `capacity: ["gpus"]`, `quota: jobs: l4:`, `quota: jobs: gpus:`,
	)
	l.compile("own")
	l.takesPool()
	l.applies()

	// The job that has waited through all steps starts on the platform's node pool.
	l.succeed("--namespace=speech", "^runs$", func() string {
		if w := l.workloadsOf("vision", "waits"); len(w) != 1 || !w[0].is("Admitted") {
			return fmt.Sprintf("not admitted: %v", w)
		}
		return ""
	})
	l.runsIn("vision", "waits", 2)
	l.runsIn("vision", "runs", 2)
	selector := l.get("pods", "--namespace=vision", "--selector="+jobLabel+"=waits")[0].Spec.NodeSelector
	if selector["capacity"] != "gpus" {
		t.Errorf("the job that waited selects nodes by %v", selector)
	}
}

// run lets Argo CD apply the queues, adds nodes, and submits a job that runs in each namespace,
// and one that waits. It returns Argo CD.
func (l *ladder) run() *argoCD {
	l.Helper()
	const data = "testdata/others"
	if err := l.plane.Prepare(l.ctx, data); err != nil {
		l.Fatal(err)
	}
	l.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=owner", "-f",
		data+"/kubernetes/system/kueue-configuration.yaml")
	l.kubectl("apply", "--server-side", "--field-manager=owner", "-f", "testdata/ladder/namespaces.yaml")
	argo := &argoCD{folder: l.folder, application: application{Name: "queues"}, known: map[string]manifest{}}
	text, err := os.ReadFile("testdata/ladder/queues.yaml")
	if err != nil {
		l.Fatal(err)
	}
	argo.mustSync(argo.tracked(text))
	l.eventually(l.inactive)
	l.add(pool{
		name: "gpus", nodes: 2, machine: "g2-standard-24", accelerator: 2,
		labels: map[string]string{"cloud.google.com/gke-nodepool": "gpus"},
		taints: []taint{{"nvidia.com/gpu", "present", "NoSchedule"}},
	})
	l.kubectl("apply", "--server-side", "--field-manager=owner", "-f", "testdata/ladder/jobs.yaml")
	l.running(map[string]int{"gpus": 4})
	l.kubectl("apply", "--server-side", "--field-manager=owner", "-f", "testdata/ladder/waits.yaml")
	l.queues("vision", count{1, 1})
	l.pods = l.jobPods()
	return argo
}

// tracked returns the objects of a source as Argo CD applies them: with its annotation.
func (a *argoCD) tracked(text []byte) map[string]manifest {
	a.Helper()
	var objects []map[string]any
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var o map[string]any
		if err := yaml.Unmarshal(document, &o); err != nil {
			a.Fatal(err)
		}
		metadata := o["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if annotations == nil {
			annotations = map[string]any{}
			metadata["annotations"] = annotations
		}
		annotations["argocd.argoproj.io/tracking-id"] = fmt.Sprintf("%s:kueue.x-k8s.io/%s:%v/%s", a.Name, o["kind"],
			metadata["namespace"], metadata["name"])
		objects = append(objects, o)
	}
	return manifestsOf(a.T, objects)
}

// jobPods returns the UIDs of the jobs' pods.
func (l *ladder) jobPods() map[string]string {
	l.Helper()
	found := map[string]string{}
	for _, o := range l.get("pods", "--all-namespaces") {
		if o.Metadata.Labels[jobLabel] != "" && o.Metadata.Deletion == "" {
			found[o.String()] = o.Metadata.UID
		}
	}
	return found
}

// stays checks that the same pods run, and that the job that waits still waits. Kueue has seen
// the last change of the queues.
func (l *ladder) stays() {
	l.Helper()
	l.queues("vision", count{1, 1})
	l.queues("speech", count{0, 1})
	l.running(map[string]int{"gpus": 4})
	if pods := l.jobPods(); !maps.Equal(pods, l.pods) {
		l.Fatalf("the jobs have the pods %v, and not %v", pods, l.pods)
	}
}

// path is the variable PATH with the tools of the build.
func (l *ladder) path() string {
	return "PATH=" + l.tools + ":" + l.plane.Bin() + ":" + os.Getenv("PATH")
}

// shell runs a command with the tools of the build in a directory.
func (l *ladder) shell(dir, command string) {
	l.Helper()
	c := exec.CommandContext(l.ctx, "bash", "-e", "-c", command)
	c.Dir, c.Env = dir, append(l.plane.Environ(), l.path())
	if out, err := c.CombinedOutput(); err != nil {
		l.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// export exports the queues and the controllers with the commands of importPage.
func (l *ladder) export() {
	l.Helper()
	page, err := os.ReadFile(importPage)
	if err != nil {
		l.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^ +(kubectl .* > (queues|kueue|jobset)\.yaml)$`).FindAllSubmatch(page, -1)
	if len(commands) != 3 {
		l.Fatalf("%s has %d commands that export queues", importPage, len(commands))
	}
	for _, c := range commands {
		l.shell(l.work, string(c[1]))
	}
}

// importQueues writes the blueprint of the queues, and fills in what nobody but a user can know.
func (l *ladder) importQueues() {
	l.Helper()
	l.export()
	runTool(l.ctx, l.T, l.work, l.compiler, "import", "--name", "research", "--project", "my-project", "--region",
		"us-central1", "--zones", "us-central1-a", "-o", "platform", "queues.yaml", "kueue.yaml", "jobset.yaml")
	l.edit(`"my-cluster"`, `"prod"`, `version: "0.16.0"`, `version: "0.19.2"`)
	runTool(l.ctx, l.T, l.work, l.compiler, "vet", "platform")
}

// edit replaces parts of the blueprint, each of which must be there.
func (l *ladder) edit(replacements ...string) {
	l.Helper()
	name := filepath.Join(l.work, "platform/platform.cue")
	text, err := os.ReadFile(name)
	if err != nil {
		l.Fatal(err)
	}
	for i := 0; i < len(replacements); i += 2 {
		if !bytes.Contains(text, []byte(replacements[i])) {
			l.Fatalf("the blueprint has no %s:\n%s", replacements[i], text)
		}
	}
	text = []byte(strings.NewReplacer(replacements...).Replace(string(text)))
	if err := os.WriteFile(name, text, 0o666); err != nil {
		l.Fatal(err)
	}
}

// compile compiles the blueprint for a step.
func (l *ladder) compile(step string) {
	l.Helper()
	l.dir = filepath.Join(l.work, step)
	runTool(l.ctx, l.T, l.work, l.compiler, "compile", "-o", step, "platform")
}

// compareLive exports again, compares the blueprint with that, and writes the hand-over. It
// returns what the comparison prints, and whether there are differences.
func (l *ladder) compareLive() (text string, differs bool) {
	l.Helper()
	l.export()
	text = runTool(l.ctx, l.T, l.work, "sh", "-c",
		l.compiler+" diff --live queues.yaml --handover handover platform && "+
			"echo same || [ $? = 1 ]")
	return text, !strings.HasSuffix(text, "\nsame\n")
}

// page returns the page of the hand-over.
func (l *ladder) page() string {
	l.Helper()
	text, err := os.ReadFile(filepath.Join(l.work, "handover/README.md"))
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

// commands runs the commands of the hand-over.
func (l *ladder) commands() {
	l.Helper()
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(l.page(), -1)
	if len(blocks) == 0 {
		l.Fatalf("the hand-over has no commands:\n%s", l.page())
	}
	for _, block := range blocks {
		l.shell(filepath.Join(l.work, "handover"), block[1])
	}
}

// handOver lets Argo CD keep the queues and then let go of them, as the hand-over says. Before,
// the build must stop.
func (l *ladder) handOver(argo *argoCD) {
	l.Helper()
	const deleted = "Argo CD Application queues: 6 objects; it deletes what leaves"
	if out, _ := l.compareLive(); !strings.Contains(out, deleted) {
		l.Fatalf("the comparison does not say that Argo CD would delete the queues:\n%s", out)
	}
	out, err := l.step("cluster", l.path())
	if err == nil || strings.Count(out, " is applied by Argo CD, ") != 6 {
		l.Fatalf("objects that Argo CD applies: %v\n%s", err, out)
	}
	// The owner of the source adds the component.
	source := l.TempDir()
	l.shell(source, "cp -R '"+filepath.Join(l.work, "handover/argo-cd-queues")+"' keep")
	queues, err := os.ReadFile("testdata/ladder/queues.yaml")
	if err != nil {
		l.Fatal(err)
	}
	for name, text := range map[string]string{
		"queues.yaml":        string(queues),
		"kustomization.yaml": "resources: [queues.yaml]\ncomponents: [keep]\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o666); err != nil {
			l.Fatal(err)
		}
	}
	argo.mustSync(argo.tracked([]byte(l.kubectl("kustomize", source))))
	const kept = "Argo CD Application queues: 6 objects; it keeps what leaves"
	if out, _ := l.compareLive(); !strings.Contains(out, kept) {
		l.Fatalf("the comparison does not say %q:\n%s", kept, out)
	}
	if err := argo.sync(nil); err != nil { // the objects leave the source
		l.Fatal(err)
	}
	l.stays()
	l.commands()
}

// labelAll hands over what has no label of the platform, without another tool.
func (l *ladder) labelAll() {
	l.Helper()
	l.compareLive()
	l.commands()
}

// changesOnlyLabels checks that a comparison with what runs has nothing but labels.
func (l *ladder) changesOnlyLabels() {
	l.Helper()
	out, _ := l.compareLive()
	label := regexp.MustCompile(
		`^ {6}\+ metadata\.labels[.[](app\.kubernetes\.io/managed-by|batchwright-existing|team)\]?: `)
	labels := 0
	for line := range strings.Lines(out) {
		switch {
		case label.MatchString(line):
			labels++
		case regexp.MustCompile(`^ {6}[-+~] | -> `).MatchString(line):
			l.Errorf("applying changes %s:\n%s", line, out)
		}
	}
	if labels == 0 {
		l.Errorf("applying changes no labels:\n%s", out)
	}
}

// applies runs the steps of the build in the cluster, twice. The jobs go on as before.
func (l *ladder) applies() {
	l.Helper()
	for range 2 {
		l.build(l.tools, "cluster", "retire", "priorities", "local-queues", "manifests", "queues", "managed",
			"dashboards")
		l.eventually(l.inactive)
		l.stays()
	}
}

// adopted applies the adopted queues. Then nothing is left to change.
func (l *ladder) adopted() {
	l.Helper()
	l.applies()
	out, differs := l.compareLive()
	if differs || !strings.Contains(l.page(), "there is nothing to hand over") {
		l.Errorf("after the build, the comparison says:\n%s", out)
	}
}

// guarded checks that the namespaces have the platform's policies: a job without a queue is
// refused, for its owners too, and a job of the tier is not.
func (l *ladder) guarded() {
	l.Helper()
	job := func(name, queue, class string) fields {
		labels := fields{}
		if queue != "" {
			labels["kueue.x-k8s.io/queue-name"] = queue
		}
		resources := fields{"cpu": "1", "memory": "1Gi"}
		return fields{
			"apiVersion": "batch/v1", "kind": "Job",
			"metadata": fields{"name": name, "namespace": "vision", "labels": labels},
			"spec": fields{"template": fields{"spec": fields{
				"restartPolicy": "Never", "priorityClassName": class,
				"containers": []any{fields{
					"name": "main", "image": "busybox", "resources": fields{"requests": resources, "limits": resources},
				}},
			}}},
		}
	}
	member := plane.Member{User: "vision@example.com", Groups: []string{"system:authenticated"}}
	l.eventually(func() string {
		err := l.plane.Submit(l.ctx, member, job("bare", "", ""), true)
		if err == nil || !strings.Contains(err.Error(), "must name a queue of namespace vision") {
			return fmt.Sprintf("a job without a queue: %v", err)
		}
		return ""
	})
	if err := l.plane.Submit(l.ctx, member, job("queued", "jobs", "jobs"), true); err != nil {
		l.Errorf("a job of the tier is refused: %v", err)
	}
}

// takesPool changes the nodes of the pool that the platform takes over, as Terraform does in
// place: pods that do not tolerate a taint stay.
func (l *ladder) takesPool() {
	l.Helper()
	pool := l.pool("gpus")
	args := []string{"label", "nodes", "--all", "--overwrite"}
	for key, value := range pool.labels {
		args = append(args, key+"="+value)
	}
	l.kubectl(args...)
	args = []string{"taint", "nodes", "--all", "--overwrite"}
	for _, t := range pool.taints {
		args = append(args, t.Key+"="+t.Value+":"+t.Effect)
	}
	l.kubectl(args...)
}
