package policies

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// quotas are the bounds on the number of pods with one accelerator each that can start
// together in a LocalQueue, or with one vCPU each in a queue without accelerators. least can
// surely start, and more than most never can.
type quotas struct {
	resource    string
	least, most int64
	flavors     int    // with quota, or in which it may borrow
	scales      bool   // the number of nodes of a flavor follows the pods
	nodes       []node // of all flavors
}

// node is a row in the policies' table of nodes.
type node struct {
	sizes        []float64 // the last is of its disk
	counted      int       // index of the resource in which quota is counted
	least, slice float64   // in this resource
	apart        bool
	labels       map[string]string
}

// nodeRow is a node in the policy on the sizes of jobs.
var nodeRow = regexp.MustCompile(strings.ReplaceAll(`\{'name': dyn\('([^']+)'\), 'offers': dyn\('[^']+'\), `+
	`'sizes': dyn\(\[([^]]+)\]\), 'counted': dyn\((\d)\), 'least': dyn\(([\d.]+)\), 'slice': dyn\(([\d.]+)\), `+
	`'scales': dyn\((?:true|false)\), 'apart': dyn\((true|false)\), 'labels': dyn\(\{([^}]*)\}\)\}`, ", ", `,\s+`))

// readNodes returns the nodes in the policies, by capacity.
func readNodes(policies []policy) (map[string]node, error) {
	out := map[string]node{}
	for _, p := range policies {
		for _, v := range p.Spec.Variables {
			for _, row := range nodeRow.FindAllStringSubmatch(v.Expression, -1) {
				n := node{apart: row[6] == "true", labels: map[string]string{}}
				numbers := append(strings.Split(row[2], ", "), row[3], row[4], row[5])
				for _, number := range numbers {
					x, err := strconv.ParseFloat(number, 64)
					if err != nil {
						return nil, fmt.Errorf("policy %s: nodes of %s: %w", p.Name, row[1], err)
					}
					n.sizes = append(n.sizes, x)
				}
				last := len(n.sizes) - 3
				n.counted, n.least, n.slice = int(n.sizes[last]), n.sizes[last+1], n.sizes[last+2]
				n.sizes = n.sizes[:last]
				for _, l := range strings.Split(row[7], ", ") {
					if key, value, found := strings.Cut(l, ": "); found {
						n.labels[strings.Trim(key, "'")] = strings.Trim(value, "'")
					}
				}
				out[row[1]] = n
			}
		}
	}
	return out, nil
}

// perPod returns how much of the counted resource a pod must request so that its job is not
// refused for leaving nodes empty. It is at least 1.
func (q quotas) perPod() int64 {
	most := 1.0
	for _, n := range q.nodes {
		most = max(most, n.least)
	}
	return int64(math.Ceil(most))
}

// sharesNodes reports whether a job without accelerators is admitted.
func (q quotas) sharesNodes() bool {
	return q.perPod() == 1 && !slices.ContainsFunc(q.nodes, func(n node) bool { return n.least > 0 }) && !q.mixed()
}

// mixed reports whether a tier has nodes with accelerators, and others that pods can select.
func (q quotas) mixed() bool {
	return slices.ContainsFunc(q.nodes, func(n node) bool { return n.apart }) &&
		slices.ContainsFunc(q.nodes, func(n node) bool { return n.counted > 0 })
}

// halfDisk returns an amount of storage that is half of a node's disk.
func (q quotas) halfDisk() string {
	disk := math.MaxFloat64
	for _, n := range q.nodes {
		disk = min(disk, n.sizes[len(n.sizes)-1])
	}
	return strconv.FormatInt(int64(disk/2), 10)
}

// asWhole makes the pods of the requests request as much of the counted resource as perPod
// says, if they request none.
func (q quotas) asWhole(requests []request) []request {
	if q.sharesNodes() {
		return requests
	}
	for _, r := range requests {
		for _, fields := range []map[string]any{r.object, r.old} {
			if fields["spec"] == nil || r.kind != jobKind && r.kind != jobSetKind {
				continue
			}
			for _, template := range podTemplates(fields) {
				pod := template["spec"].(map[string]any)
				if pod["resources"] == nil && !strings.Contains(fmt.Sprint(pod["containers"]), q.resource) {
					pod["resources"] = map[string]any{"requests": map[string]any{q.resource: q.perPod()}}
				}
			}
		}
	}
	return requests
}

// readQuotas returns the quotas of all LocalQueues, by NAMESPACE/NAME. A queue can at most
// get the quota of all queues in a flavor.
func readQuotas(folder fs.FS, policies []policy) (map[string]quotas, error) {
	nodes, err := readNodes(policies)
	if err != nil {
		return nil, err
	}
	clusterQueues, locals := map[string]v1beta2.ClusterQueue{}, map[string]v1beta2.LocalQueue{}
	teams, err := fs.Glob(folder, "kubernetes/teams/*.yaml")
	if err != nil {
		return nil, err
	}
	shared, err := fs.Glob(folder, "kubernetes/shared-queues.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(teams, shared) {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var c v1beta2.ClusterQueue
			var l v1beta2.LocalQueue
			if bytes.Contains(document, []byte("kind: ClusterQueue\n")) {
				if err := yaml.UnmarshalStrict(document, &c); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				clusterQueues[c.Name] = c
			} else if bytes.Contains(document, []byte("kind: LocalQueue\n")) {
				if err := yaml.UnmarshalStrict(document, &l); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				locals[l.Namespace+"/"+l.Name] = l
			}
		}
	}
	all := map[string]int64{} // by flavor and resource
	for _, c := range clusterQueues {
		eachQuota(c, func(flavor string, r v1beta2.ResourceQuota) {
			all[flavor+" "+string(r.Name)] += r.NominalQuota.Value()
		})
	}
	pools, err := fixedPools(folder)
	if err != nil {
		return nil, err
	}
	out := map[string]quotas{}
	for name, l := range locals {
		c := clusterQueues[string(l.Spec.ClusterQueue)]
		q := quotasOf(c, all)
		seen := map[string]bool{}
		eachQuota(c, func(flavor string, _ v1beta2.ResourceQuota) {
			q.scales = q.scales || !pools[flavor]
			if n, known := nodes[flavor]; known && !seen[flavor] {
				q.nodes, seen[flavor] = append(q.nodes, n), true
			}
		})
		out[name] = q
	}
	return out, nil
}

// poolBlock is a node pool of the folder, with its name and its arguments.
var poolBlock = regexp.MustCompile(`(?m)^resource "google_container_node_pool" "(.*)" \{\n((?:  .*\n|\n)*)\}\n`)

// fixedPools returns the names of the node pools that do not scale.
func fixedPools(folder fs.FS) (map[string]bool, error) {
	text, err := fs.ReadFile(folder, "terraform/node_pools.tf")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]bool{}
	for _, block := range poolBlock.FindAllSubmatch(text, -1) {
		out[strings.ReplaceAll(string(block[1]), "_", "-")] = !bytes.Contains(block[2], []byte("  autoscaling {"))
	}
	return out, nil
}

// quotasOf returns the quotas of a queue. all is the quota of all queues by flavor and
// resource.
func quotasOf(c v1beta2.ClusterQueue, all map[string]int64) quotas {
	q := quotas{resource: string(corev1.ResourceCPU)}
	for _, g := range c.Spec.ResourceGroups {
		for _, r := range g.CoveredResources {
			if r == "nvidia.com/gpu" || r == "google.com/tpu" {
				q.resource = string(r)
			}
		}
	}
	eachQuota(c, func(flavor string, r v1beta2.ResourceQuota) {
		if string(r.Name) != q.resource {
			return
		}
		least, most := r.NominalQuota.Value(), r.NominalQuota.Value()
		if c.Spec.CohortName != "" {
			most = all[flavor+" "+string(r.Name)]
			if r.BorrowingLimit != nil {
				most = min(most, least+r.BorrowingLimit.Value())
			}
		}
		q.least, q.most = max(q.least, least), max(q.most, most)
		if most > 0 {
			q.flavors++
		}
	})
	return q
}

func eachQuota(c v1beta2.ClusterQueue, do func(flavor string, r v1beta2.ResourceQuota)) {
	for _, g := range c.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				do(string(f.Name), r)
			}
		}
	}
}

// withContainers returns a function that sets a list of containers of a pod template.
func withContainers(field string, containers ...any) func(template map[string]any) {
	return func(template map[string]any) { template["spec"].(map[string]any)[field] = containers }
}

// manyContainers returns requests with a queue for jobs whose pods are larger than a node
// only together with all of their containers. They take long to check.
func manyContainers(q queue) []request {
	const node = "has no node for a pod of this job: request at most "
	var containers, beside []any
	for range 350 { // more than the CPUs of any machine
		containers = append(containers, worker(map[string]any{"requests": amounts("3", "1Mi")}))
		sidecar := worker(map[string]any{"requests": amounts("3", "1Mi")})
		sidecar["restartPolicy"] = "Always"
		beside = append(beside, sidecar)
	}
	submit := func(name, refused string, edit func(template map[string]any)) request {
		return request{"job with " + name, member, jobKind, edited(job(q), edit), nil, refused}
	}
	return []request{
		submit("more cpu than a node beside it", node, withContainers("initContainers", beside...)),
		submit("more cpu than a node in all containers", node, withContainers("containers", containers...)),
		submit("containers that prepare it one by one", "", withContainers("initContainers", containers...)),
	}
}

// tooLarge returns requests with a queue for jobs whose pods no node can hold.
func tooLarge(q queue) []request {
	const node = "has no node for a pod of this job: request at most "
	huge := worker(map[string]any{"requests": amounts("100000", "1Gi")})
	containers := withContainers
	foreign := worker(map[string]any{
		"requests": map[string]any{"cpu": "1", "memory": "1Gi", "example.com/fpga": "1"},
		"limits":   map[string]any{"example.com/fpga": "1"},
	})
	disk := worker(map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}})
	full := worker(map[string]any{"requests": map[string]any{
		"cpu": "1", "memory": "1Gi", "ephemeral-storage": "900Ti",
	}})
	out := tried(q, "more cpu than a node", node, containers("containers", huge))
	for _, c := range []struct {
		name, refused string
		edit          func(template map[string]any)
	}{
		{
			"more memory than a node", node,
			containers("containers", worker(map[string]any{"requests": amounts("1", "900Ti")})),
		},
		{"more cpu than a node before it starts", node, containers("initContainers", huge)},
		{
			"more cpu than a node for the pod", node, func(template map[string]any) {
				template["spec"].(map[string]any)["resources"] = map[string]any{"requests": amounts("100000", "1Gi")}
			},
		},
		{"a resource of no node", "no node offers example.com/fpga", containers("containers", foreign)},
		{"a request of its disk", "", containers("containers", disk)},
		{"more disk than a node", node, containers("containers", full)},
	} {
		out = append(out, request{"job with " + c.name, member, jobKind, edited(job(q), c.edit), nil, c.refused})
	}
	return out
}

// tooMany returns requests with a queue for jobs of more pods than its quotas hold.
func tooMany(q queue, has quotas) []request {
	const quota = "can get. Request at most "
	perPod := has.perPod()
	most, guarantee := has.most/perPod, has.least/perPod
	if most == 0 {
		return nil
	}
	sized := func(fields map[string]any, pods int64) map[string]any {
		for _, template := range podTemplates(fields) {
			requests := amounts("1m", "1Mi")
			requests[has.resource] = perPod
			container := worker(map[string]any{"requests": requests})
			if has.resource != string(corev1.ResourceCPU) {
				container["resources"].(map[string]any)["limits"] = map[string]any{has.resource: perPod}
			}
			template["spec"].(map[string]any)["containers"] = []any{container}
		}
		spec := fields["spec"].(map[string]any)
		jobs, ok := spec["replicatedJobs"].([]any)
		if !ok {
			spec["parallelism"], spec["completions"], spec["suspend"] = pods, pods, true
			return fields
		}
		for _, j := range jobs {
			j.(map[string]any)["replicas"] = pods
		}
		return fields
	}
	least := sized(job(q), most+1)
	least["metadata"].(map[string]any)["annotations"] = map[string]any{"kueue.x-k8s.io/job-min-parallelism": "1"}
	set := sized(jobSet(q, q.class), most+1)
	set["metadata"].(map[string]any)["annotations"] = map[string]any{"kueue.x-k8s.io/job-min-parallelism": "1"}
	few := sized(job(q), most+1)
	few["spec"].(map[string]any)["parallelism"] = int64(1)
	both := sized(jobSet(q, q.class, q.class), most)
	out := []request{
		request{"job of more pods than its queue can get", member, jobKind, sized(job(q), most+1), nil, quota},
		request{
			"suspended job that gets more pods than its queue can get", member, jobKind, sized(job(q), most+1),
			sized(job(q), 1), quota,
		},
		request{
			"job that was there with more pods than its queue can get", collector, jobKind,
			sized(job(q), most+1), sized(job(q), most+1), "",
		},
		request{"job of more pods than its queue can get, one by one", member, jobKind, few, nil, ""},
		request{"job that can start with one pod", member, jobKind, least, nil, ""},
		request{
			"job that cannot start with one pod any more", member, jobKind, sized(job(q), most+1), least, quota,
		},
		request{"jobset that pretends to start with one pod", member, jobSetKind, set, nil, quota},
		request{
			"jobset of more pods than its queue can get", member, jobSetKind, sized(jobSet(q, q.class), most+1),
			nil, quota,
		},
	}
	if guarantee > 0 {
		out = append(out, request{"job of the guarantee", member, jobKind, sized(job(q), guarantee), nil, ""})
	}
	if has.flavors == 1 && 2*most*perPod > has.most {
		out = append(out, request{
			"jobset of two kinds of pods, each for the whole queue", member, jobSetKind, both, nil, quota,
		})
	}
	return out
}

// leavesEmpty returns requests with a queue for jobs that would take more of the nodes than
// quota counts. Some of the requests only look similar, and must be admitted.
func leavesEmpty(q queue, has quotas) []request {
	var out []request
	submit := func(name, refused string, fields map[string]any) {
		out = append(out, request{name, member, jobKind, fields, nil, refused})
	}
	ofNode := func(selector map[string]string, requests map[string]any) map[string]any {
		return edited(job(q), func(template map[string]any) {
			pod := template["spec"].(map[string]any)
			pod["containers"] = []any{worker(map[string]any{"requests": requests})}
			if selector != nil {
				pod["nodeSelector"] = anyValues(selector)
			}
		})
	}
	own := slices.ContainsFunc(has.nodes, func(n node) bool { return n.least > 0 })
	switch {
	case has.mixed():
		submit("job without accelerators", "must select nodes without accelerators", ofNode(nil, amounts("1m", "1Mi")))
		for _, n := range has.nodes {
			if n.apart {
				submit("job without accelerators on other nodes", "", ofNode(n.labels, amounts("1m", "1Mi")))
				near := ofNode(nil, amounts("1m", "1Mi"))
				var terms []any
				for key, value := range n.labels {
					terms = append(terms, map[string]any{"key": key, "operator": "In", "values": []any{value}})
				}
				required := map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": terms}}}
				podTemplates(near)[0]["spec"].(map[string]any)["affinity"] = map[string]any{
					"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": required},
				}
				submit("job without accelerators with affinity to other nodes", "", near)
			}
		}
	case own:
		const cause = "each job has nodes of its own"
		submit("job that leaves its own node empty", cause, ofNode(nil, amounts("1m", "1Mi")))
		old, changed := ofNode(nil, amounts("1m", "1Mi")), ofNode(nil, amounts("1m", "1Mi"))
		old["spec"].(map[string]any)["parallelism"] = int64(2)
		old["spec"].(map[string]any)["suspend"], changed["spec"].(map[string]any)["suspend"] = true, true
		out = append(out,
			request{"suspended job that gets fewer pods on its own node", member, jobKind, changed, old, cause})
	}
	for i, n := range has.nodes {
		for _, o := range has.nodes[:i] {
			// A pod that selects a small node must not be larger than this node.
			small, large := n, o
			if small.sizes[0] > large.sizes[0] {
				small, large = large, small
			}
			if small.sizes[0] < large.sizes[0] && len(small.labels) > 0 && !has.mixed() {
				cpu := strconv.FormatFloat(large.sizes[0], 'f', 3, 64)
				submit("job that selects a node that is too small", "has no node for a pod of this job",
					ofNode(small.labels, amounts(cpu, "1Mi")))
			}
		}
	}
	return append(out, partsOfSlices(q, has)...)
}

// anyValues returns labels as a field of an object.
func anyValues(labels map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range labels {
		out[key] = value
	}
	return out
}

// partsOfSlices returns requests with a queue for JobSets that take TPU slices for themselves.
func partsOfSlices(q queue, has quotas) []request {
	sliced := slices.DeleteFunc(slices.Clone(has.nodes), func(n node) bool { return n.slice == 0 })
	if has.resource != "google.com/tpu" || len(sliced) != 1 {
		return nil
	}
	const all = "must request all of its chips"
	taking := func(chips, pods int64) map[string]any {
		fields := edited(jobSet(q, q.class), func(template map[string]any) {
			resources := map[string]any{"requests": amounts("1m", "1Mi")}
			if i := slices.IndexFunc(has.nodes, func(n node) bool { return n.apart }); chips == 0 && i >= 0 {
				template["spec"].(map[string]any)["nodeSelector"] = anyValues(has.nodes[i].labels)
			}
			if chips > 0 {
				resources["requests"].(map[string]any)[has.resource] = chips
				resources["limits"] = map[string]any{has.resource: chips}
			}
			template["spec"].(map[string]any)["containers"] = []any{worker(resources)}
		})
		fields["metadata"].(map[string]any)["annotations"] = map[string]any{
			"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool",
		}
		jobs := fields["spec"].(map[string]any)["replicatedJobs"].([]any)
		jobs[0].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["parallelism"] = pods
		return fields
	}
	n := sliced[0]
	chips := int64(n.sizes[n.counted])
	out := []request{
		{"jobset that takes slices without chips", member, jobSetKind, taking(0, 1), nil, all},
		{
			"jobset that gets slices without chips", member, jobSetKind, taking(0, 1),
			edited(jobSet(q, q.class), func(map[string]any) {}), all,
		},
	}
	if hosts := int64(n.slice) / chips; hosts > 1 {
		out = append(out,
			request{"jobset that takes a slice with few pods", member, jobSetKind, taking(chips, hosts-1), nil, all},
			request{"jobset that takes a slice with few chips", member, jobSetKind, taking(1, hosts), nil, all},
			request{"jobset that takes a slice with all chips", member, jobSetKind, taking(chips, hosts), nil, ""})
	}
	return out
}
