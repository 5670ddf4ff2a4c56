package exports_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/emit/kubernetes"
	"github.com/batchwright/batchwright/golden/fixture"
)

// worlds is the number of random worlds that TestExactImport imports. Their seeds are fixed.
var worlds = flag.Int("worlds", 50, "number of random worlds to import")

// TestExactImport: queues that run come back as they are, whatever they count, in any number of
// groups, in any namespaces, whoever owns the nodes.
func TestExactImport(t *testing.T) {
	for seed := range *worlds {
		text := newWorld(uint64(seed)).text(t)
		is := importWorld(t, []exports.File{{Name: "queues.yaml", Content: text}})
		if diff := compareWorlds(decodeWorld(t, text), is); diff != "" {
			t.Fatalf("world %d (-running +compiled):\n%s\n%s", seed, diff, text)
		}
	}
}

// TestFoldersComeBack: the queues of every golden folder with Kueue come back from an import of its
// objects as they are.
func TestFoldersComeBack(t *testing.T) {
	folders, err := filepath.Glob(fixture.Path("golden", "*", "kubernetes", "resource-flavors.yaml"))
	if err != nil || len(folders) < 5 {
		t.Fatalf("%d folders: %v", len(folders), err)
	}
	for _, flavors := range folders {
		folder := filepath.Dir(flavors)
		t.Run(filepath.Base(filepath.Dir(folder)), func(t *testing.T) {
			var files []exports.File
			var texts [][]byte
			for _, pattern := range []string{"*.yaml", "teams/*.yaml"} {
				names, err := filepath.Glob(filepath.Join(folder, pattern))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					content, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					files, texts = append(files, exports.File{Name: name, Content: content}), append(texts, content)
				}
			}
			was := decodeWorld(t, bytes.Join(texts, []byte("\n---\n")))
			if diff := compareWorlds(was, importWorld(t, files)); diff != "" {
				t.Errorf("(-folder +compiled):\n%s", diff)
			}
		})
	}
}

// importWorld returns the objects of Kueue that the imported blueprint of files compiles to.
func importWorld(t *testing.T, in []exports.File) map[string]any {
	t.Helper()
	res, err := importer.Import(in, importer.Options{})
	if err != nil || res.Findings.HasErrors() {
		t.Fatalf("%v %v", err, res.Findings.Sorted())
	}
	files, err := kubernetes.Files(compileImport(t, res.Blueprint))
	if err != nil {
		t.Fatal(err)
	}
	var compiled [][]byte
	for _, f := range files {
		compiled = append(compiled, f.Content)
	}
	return decodeWorld(t, bytes.Join(compiled, []byte("\n---\n")))
}

// TestExactImportFindsDifferences: a comparison of worlds sees a changed amount, a lost limit and
// another order of flavors.
func TestExactImportFindsDifferences(t *testing.T) {
	text := newWorld(1).text(t)
	for _, change := range [][2]string{
		{`nominalQuota: "`, `nominalQuota: "7`}, {"queueingStrategy: BestEffortFIFO", "queueingStrategy: StrictFIFO"},
		{"kind: LocalQueue", "kind: Other"}, {"clusterQueue: q", "clusterQueue: x"},
	} {
		other := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(text, other) {
			t.Fatalf("the world has no %s", change[0])
		}
		if compareWorlds(decodeWorld(t, text), decodeWorld(t, other)) == "" {
			t.Errorf("nothing differs with %s instead of %s", change[1], change[0])
		}
	}
}

// compareWorlds returns the difference of two worlds in the objects of Kueue, "" if there is none.
func compareWorlds(was, is map[string]any) string {
	return cmp.Diff(was, is, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "Labels", "Annotations"),
		cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }))
}

// decodeWorld returns the objects of Kueue in YAML documents, by kind, namespace and name.
func decodeWorld(t *testing.T, text []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, doc := range splitObjects(t, text) {
		var head metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		object := map[string]any{
			"ClusterQueue": new(v1beta2.ClusterQueue), "LocalQueue": new(v1beta2.LocalQueue),
			"ResourceFlavor": new(v1beta2.ResourceFlavor), "Cohort": new(v1beta2.Cohort),
			"Topology": new(v1beta2.Topology), "WorkloadPriorityClass": new(v1beta2.WorkloadPriorityClass),
		}[head.Kind]
		if object == nil {
			continue
		}
		if err := yaml.UnmarshalStrict(doc, object); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if c, ok := object.(*v1beta2.Cohort); ok {
			sortGroups(c.Spec.ResourceGroups)
		}
		out[head.Kind+" "+head.Namespace+"/"+head.Name] = object
	}
	return out
}

// sortGroups sorts the groups of a cohort and their flavors, whose order has no meaning.
func sortGroups(groups []v1beta2.ResourceGroup) {
	for _, g := range groups {
		slices.SortFunc(g.Flavors, func(a, b v1beta2.FlavorQuotas) int { return cmpNames(a.Name, b.Name) })
	}
	slices.SortFunc(groups, func(a, b v1beta2.ResourceGroup) int {
		return cmpNames(a.Flavors[0].Name, b.Flavors[0].Name)
	})
}

func cmpNames(a, b v1beta2.ResourceFlavorReference) int { return strings.Compare(string(a), string(b)) }

// world is a random set of objects of Kueue that Kueue accepts. Lists without meaning are in the
// order in which the platform writes them, and defaults are omitted.
type world struct {
	*rand.Rand
	objects []any
	flavors []string
	cohorts []string
	parents map[string]string
}

// worldResources are the resources of worlds, in the order in which queues list them.
var worldResources = []string{
	"cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "example.com/licence", "nvidia.com/mig-1g.10gb", "token",
	"pods",
}

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 36)), parents: map[string]string{}}
	if w.some(3) {
		w.add("Topology", "", "racks", &v1beta2.Topology{Spec: v1beta2.TopologySpec{
			Levels: []v1beta2.TopologyLevel{{NodeLabel: "example.com/rack"}, {NodeLabel: corev1.LabelHostname}},
		}})
	}
	for i := range 1 + w.IntN(6) {
		w.addFlavor(i)
	}
	for i := range w.IntN(4) {
		w.addCohort(i)
	}
	for i := range 1 + w.IntN(6) {
		w.addQueue(i)
	}
	if w.some(2) {
		for i := range 1 + w.IntN(3) {
			w.add("WorkloadPriorityClass", "", fmt.Sprintf("urgent.%d", i),
				&v1beta2.WorkloadPriorityClass{Value: int32(i * 100)})
		}
	}
	return w
}

// some reports true once in n times.
func (w *world) some(n int) bool { return w.IntN(n) == 0 }

func (w *world) add(kind, namespace, name string, object any) {
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
	head := metav1.TypeMeta{APIVersion: v1beta2.SchemeGroupVersion.String(), Kind: kind}
	switch o := object.(type) {
	case *v1beta2.ClusterQueue:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.LocalQueue:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.ResourceFlavor:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.Cohort:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.Topology:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.WorkloadPriorityClass:
		o.TypeMeta, o.ObjectMeta = head, meta
	}
	w.objects = append(w.objects, object)
}

func (w *world) text(t *testing.T) []byte {
	t.Helper()
	var out [][]byte
	for _, o := range w.objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return bytes.Join(out, []byte("\n---\n"))
}

func (w *world) addFlavor(i int) {
	name := []string{"default", "1x-tpu", "l4.spot", "any-node", "Zone", "h100-mega"}[i]
	if name == "Zone" {
		name = "gke-pool.with-a-very-long-name-that-no-node-pool-can-have"
	}
	f := &v1beta2.ResourceFlavor{}
	if !w.some(3) {
		f.Spec.NodeLabels = map[string]string{"cloud.google.com/gke-nodepool": fmt.Sprint("pool-", i)}
		if w.some(2) {
			f.Spec.NodeLabels["lifecycle"] = "spot"
		}
		if _, ok := w.find("Topology"); ok && w.some(2) {
			f.Spec.TopologyName = new(v1beta2.TopologyReference("racks"))
		}
	}
	if w.some(3) {
		f.Spec.NodeTaints = []corev1.Taint{
			{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule},
		}
	}
	if w.some(3) {
		f.Spec.Tolerations = []corev1.Toleration{
			{Key: "a", Operator: corev1.TolerationOpExists},
			{
				Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: new(int64(30)),
			},
			{Key: "b", Operator: corev1.TolerationOpEqual, Value: "c", Effect: corev1.TaintEffectNoSchedule},
		}
	}
	w.flavors = append(w.flavors, name)
	w.add("ResourceFlavor", "", name, f)
}

// find returns an object of a kind.
func (w *world) find(kind string) (any, bool) {
	i := slices.IndexFunc(w.objects, func(o any) bool { return fmt.Sprintf("%T", o) == "*v1beta2."+kind })
	if i < 0 {
		return nil, false
	}
	return w.objects[i], true
}

func (w *world) addCohort(i int) {
	name := fmt.Sprintf("lab.%d", i)
	c := &v1beta2.Cohort{}
	if len(w.cohorts) > 0 && w.some(2) {
		w.parents[name] = w.cohorts[w.IntN(len(w.cohorts))]
		c.Spec.ParentName = v1beta2.CohortReference(w.parents[name])
	}
	if w.some(3) {
		c.Spec.ResourceGroups = w.groups(w.parents[name] != "", true)
	}
	if w.some(3) {
		c.Spec.FairSharing = &v1beta2.FairSharing{Weight: new(resource.MustParse("2"))}
	}
	w.cohorts = append(w.cohorts, name)
	w.add("Cohort", "", name, c)
}

// groups returns resource groups. lends reports whether limits are possible. The flavors of a cohort
// have no order.
func (w *world) groups(lends, sorted bool) []v1beta2.ResourceGroup {
	flavors, resources := slices.Clone(w.flavors), slices.Clone(worldResources)
	w.Shuffle(len(flavors), func(i, j int) { flavors[i], flavors[j] = flavors[j], flavors[i] })
	w.Shuffle(len(resources), func(i, j int) { resources[i], resources[j] = resources[j], resources[i] })
	var out []v1beta2.ResourceGroup
	for range 1 + w.IntN(2) {
		if len(flavors) == 0 || len(resources) == 0 {
			break
		}
		f, r := 1+w.IntN(len(flavors)), 1+w.IntN(min(4, len(resources)))
		covered := slices.Clone(resources[:r])
		slices.SortFunc(covered, func(a, b string) int {
			return slices.Index(worldResources, a) - slices.Index(worldResources, b)
		})
		group := v1beta2.ResourceGroup{}
		for _, name := range covered {
			group.CoveredResources = append(group.CoveredResources, corev1.ResourceName(name))
		}
		mine := slices.Clone(flavors[:f])
		if sorted {
			slices.SortFunc(mine, func(a, b string) int {
				return slices.Index(w.flavors, a) - slices.Index(w.flavors, b)
			})
		}
		for _, name := range mine {
			quota := v1beta2.FlavorQuotas{Name: v1beta2.ResourceFlavorReference(name)}
			for _, name := range covered {
				quota.Resources = append(quota.Resources, w.quota(name, lends))
			}
			group.Flavors = append(group.Flavors, quota)
		}
		out = append(out, group)
		flavors, resources = flavors[f:], resources[r:]
	}
	return out
}

func (w *world) quota(name string, lends bool) v1beta2.ResourceQuota {
	amounts := []string{"0", "1", "4", "500m", "12", "3Gi", "100k", "1000000000"}
	amount := func() resource.Quantity { return resource.MustParse(amounts[w.IntN(len(amounts))]) }
	q := v1beta2.ResourceQuota{Name: corev1.ResourceName(name), NominalQuota: amount()}
	if lends && w.some(2) {
		q.BorrowingLimit = new(amount())
	}
	if lends && w.some(3) {
		q.LendingLimit = new(q.NominalQuota.DeepCopy())
	}
	return q
}

func (w *world) addQueue(i int) {
	name := fmt.Sprintf("q%d.main", i)
	q := &v1beta2.ClusterQueue{}
	if len(w.cohorts) > 0 && w.some(2) {
		q.Spec.CohortName = v1beta2.CohortReference(w.cohorts[w.IntN(len(w.cohorts))])
	}
	lends := q.Spec.CohortName != ""
	q.Spec.QueueingStrategy = []v1beta2.QueueingStrategy{v1beta2.BestEffortFIFO, v1beta2.StrictFIFO}[w.IntN(2)]
	q.Spec.ResourceGroups = w.groups(lends, false)
	q.Spec.Preemption = w.preemption(lends)
	if w.some(3) {
		q.Spec.FlavorFungibility = &v1beta2.FlavorFungibility{
			WhenCanBorrow: v1beta2.TryNextFlavor, WhenCanPreempt: v1beta2.TryNextFlavor,
			Preference: new(v1beta2.PreemptionOverBorrowing),
		}
	}
	if w.some(3) {
		q.Spec.AdmissionChecksStrategy = w.checks(q)
	}
	q.Spec.NamespaceSelector = w.selector()
	if w.some(4) {
		q.Spec.FairSharing = &v1beta2.FairSharing{Weight: new(resource.MustParse("500m"))}
	}
	if w.some(4) {
		q.Spec.StopPolicy = new(v1beta2.Hold)
	}
	w.add("ClusterQueue", "", name, q)
	namespaces := []string{"default", "kube-jobs", "team-with-a-name-that-is-much-too-long-for-a-team", "ml"}
	for j := range w.IntN(4) {
		l := &v1beta2.LocalQueue{Spec: v1beta2.LocalQueueSpec{ClusterQueue: v1beta2.ClusterQueueReference(name)}}
		if w.some(4) {
			l.Spec.StopPolicy = new(v1beta2.HoldAndDrain)
		}
		w.add("LocalQueue", namespaces[w.IntN(len(namespaces))], fmt.Sprintf("jobs-%d-%d", i, j), l)
	}
}

func (w *world) preemption(lends bool) *v1beta2.ClusterQueuePreemption {
	within := []v1beta2.PreemptionPolicy{v1beta2.PreemptionPolicyNever, v1beta2.PreemptionPolicyLowerPriority}
	p := v1beta2.ClusterQueuePreemption{
		WithinClusterQueue: within[w.IntN(2)], ReclaimWithinCohort: v1beta2.PreemptionPolicyNever,
	}
	if lends && w.some(2) {
		p.ReclaimWithinCohort = v1beta2.PreemptionPolicyAny
		if w.some(2) {
			p.BorrowWithinCohort = &v1beta2.BorrowWithinCohort{
				Policy: v1beta2.BorrowWithinCohortPolicyLowerPriority, MaxPriorityThreshold: new(int32(100)),
			}
		}
	}
	if p.WithinClusterQueue == v1beta2.PreemptionPolicyNever && p.ReclaimWithinCohort == v1beta2.PreemptionPolicyNever {
		return nil
	}
	return &p
}

// checks returns AdmissionChecks of others, one for all flavors or for the first.
func (w *world) checks(q *v1beta2.ClusterQueue) *v1beta2.AdmissionChecksStrategy {
	rule := v1beta2.AdmissionCheckStrategyRule{Name: "others"}
	if w.some(2) {
		rule.OnFlavors = []v1beta2.ResourceFlavorReference{q.Spec.ResourceGroups[0].Flavors[0].Name}
	}
	return &v1beta2.AdmissionChecksStrategy{AdmissionChecks: []v1beta2.AdmissionCheckStrategyRule{rule}}
}

func (w *world) selector() *metav1.LabelSelector {
	switch w.IntN(5) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a", "example.com/stage": "prod"}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "campus", Operator: metav1.LabelSelectorOpIn, Values: []string{"south", "north"}},
			{Key: "frozen", Operator: metav1.LabelSelectorOpDoesNotExist},
			{Key: "stage", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"test"}},
		}}
	case 3:
		return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "ml"}}
	}
	return &metav1.LabelSelector{}
}
