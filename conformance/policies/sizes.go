package policies

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
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
	flavors     int  // with quota, or in which it may borrow
	scales      bool // the number of nodes of a flavor follows the pods
}

// readQuotas returns the quotas of all LocalQueues, by NAMESPACE/NAME. A queue can at most
// get the quota of all queues in a flavor.
func readQuotas(folder fs.FS) (map[string]quotas, error) {
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
		eachQuota(c, func(flavor string, _ v1beta2.ResourceQuota) { q.scales = q.scales || !pools[flavor] })
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
	const node = "holds a pod of this job: request at most "
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
	const node = "holds a pod of this job: request at most "
	huge := worker(map[string]any{"requests": amounts("100000", "1Gi")})
	containers := withContainers
	foreign := worker(map[string]any{
		"requests": map[string]any{"cpu": "1", "memory": "1Gi", "example.com/fpga": "1"},
		"limits":   map[string]any{"example.com/fpga": "1"},
	})
	disk := worker(map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}})
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
	} {
		out = append(out, request{"job with " + c.name, member, jobKind, edited(job(q), c.edit), nil, c.refused})
	}
	return out
}

// tooMany returns requests with a queue for jobs of more pods than its quotas hold.
func tooMany(q queue, has quotas) []request {
	const quota = "can get. Request at most "
	if has.most == 0 {
		return nil
	}
	sized := func(fields map[string]any, pods int64) map[string]any {
		for _, template := range podTemplates(fields) {
			requests := amounts("1m", "1Mi")
			requests[has.resource] = "1"
			container := worker(map[string]any{"requests": requests})
			if has.resource != string(corev1.ResourceCPU) {
				container["resources"].(map[string]any)["limits"] = map[string]any{has.resource: "1"}
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
	least := sized(job(q), has.most+1)
	least["metadata"].(map[string]any)["annotations"] = map[string]any{"kueue.x-k8s.io/job-min-parallelism": "1"}
	set := sized(jobSet(q, q.class), has.most+1)
	set["metadata"].(map[string]any)["annotations"] = map[string]any{"kueue.x-k8s.io/job-min-parallelism": "1"}
	few := sized(job(q), has.most+1)
	few["spec"].(map[string]any)["parallelism"] = int64(1)
	both := sized(jobSet(q, q.class, q.class), has.most)
	out := []request{
		request{"job of more pods than its queue can get", member, jobKind, sized(job(q), has.most+1), nil, quota},
		request{
			"suspended job that gets more pods than its queue can get", member, jobKind, sized(job(q), has.most+1),
			sized(job(q), 1), quota,
		},
		request{
			"job that was there with more pods than its queue can get", collector, jobKind,
			sized(job(q), has.most+1), sized(job(q), has.most+1), "",
		},
		request{"job of more pods than its queue can get, one by one", member, jobKind, few, nil, ""},
		request{"job that can start with one pod", member, jobKind, least, nil, ""},
		request{
			"job that cannot start with one pod any more", member, jobKind, sized(job(q), has.most+1), least, quota,
		},
		request{"jobset that pretends to start with one pod", member, jobSetKind, set, nil, quota},
		request{
			"jobset of more pods than its queue can get", member, jobSetKind, sized(jobSet(q, q.class), has.most+1),
			nil, quota,
		},
	}
	if has.resource == "google.com/tpu" {
		chipless := jobSet(q, q.class)
		chipless["metadata"].(map[string]any)["annotations"] = map[string]any{
			"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool",
		}
		edited(chipless, func(map[string]any) {})
		out = append(out, request{
			"jobset that takes slices without chips", member, jobSetKind, chipless, nil, "must request google.com/tpu",
		}, request{
			"jobset that gets slices without chips", member, jobSetKind, chipless,
			edited(jobSet(q, q.class), func(map[string]any) {}), "must request google.com/tpu",
		})
	}
	if has.least > 0 {
		out = append(out, request{"job of the guarantee", member, jobKind, sized(job(q), has.least), nil, ""})
	}
	if has.flavors == 1 {
		out = append(out, request{
			"jobset of two kinds of pods, each for the whole queue", member, jobSetKind, both, nil, quota,
		})
	}
	return out
}
