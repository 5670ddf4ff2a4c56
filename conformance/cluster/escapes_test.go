package cluster_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// escapesTable is the file with the table of attempts and their answers. The answer
// to a refused attempt contains the message in backticks.
const escapesTable = "../../docs/quota-escapes.md"

// fields holds the fields of an object, or of a part of one.
type fields = map[string]any

// attempt is an attempt of a member of team-a to exceed the quota of the queue
// lq-team-a-lp: the arguments of kubectl, and an object on its standard input, or nil. Without
// arguments it creates the object, in a dry run.
type attempt struct {
	args   []string
	object fields
}

// create submits an object in a dry run: the server refuses or accepts it without
// keeping it.
func create(object fields) attempt { return attempt{object: object} }

// try makes an attempt as a member of team-a, and returns what kubectl prints.
func (f *folder) try(a attempt) (string, error) {
	f.Helper()
	if a.args == nil {
		return "", f.plane.Submit(f.ctx, f.submits("team-a"), a.object, true)
	}
	return f.plane.Kubectl(f.ctx, a.text(), append(slices.Clone(a.args), f.member("team-a")...)...)
}

// patch changes an object of team-a. An accepted change is kept.
func patch(name string, change fields) attempt {
	text, err := json.Marshal(change)
	if err != nil {
		panic(err) // a mistake of this test
	}
	return attempt{[]string{"patch", name, "--namespace=team-a", "--type=merge", "--patch=" + string(text)}, nil}
}

// escapeJob returns a Job with some pods in the low-priority queue of team-a, after
// edit has changed the Job and the spec of its pods.
func escapeJob(name string, pods int, edit func(job, pod fields)) fields {
	pod := escapePod()
	job := fields{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": fields{
			"name": name, "namespace": "team-a", "labels": fields{"kueue.x-k8s.io/queue-name": "lq-team-a-lp"},
		},
		"spec": fields{"parallelism": pods, "completions": max(pods, 1), "template": fields{"spec": pod}},
	}
	if edit != nil {
		edit(job, pod)
	}
	return job
}

func escapePod() fields {
	container := fields{"name": "worker", "image": "busybox:1.37", "resources": fields{
		"requests": fields{"cpu": "100m", "memory": "64Mi", "nvidia.com/gpu": 1},
		"limits":   fields{"nvidia.com/gpu": 1},
	}}
	return fields{"restartPolicy": "Never", "containers": []any{container}}
}

// escapeJobSet returns a JobSet in the same queue, with one replicated job for each
// pod.
func escapeJobSet(name string, pods ...fields) fields {
	var jobs []any
	for i, pod := range pods {
		jobs = append(jobs, fields{"name": fmt.Sprint("job-", i), "template": fields{"spec": fields{
			"parallelism": 1, "completions": 1, "template": fields{"spec": pod},
		}}})
	}
	return fields{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
		"metadata": fields{
			"name": name, "namespace": "team-a", "labels": fields{"kueue.x-k8s.io/queue-name": "lq-team-a-lp"},
		},
		"spec": fields{"replicatedJobs": jobs},
	}
}

// copies gives the first replicated job of a JobSet a thousand Jobs.
func copies(set fields) fields {
	set["spec"].(fields)["replicatedJobs"].([]any)[0].(fields)["replicas"] = 1000
	return set
}

// compact moves a Job or JobSet to the queue in which each job has nodes of its own. Its pods
// request no GPUs.
func compact(job fields) fields {
	job["metadata"].(fields)["labels"] = fields{"kueue.x-k8s.io/queue-name": "lq-team-a-compact"}
	specs := []any{job["spec"]}
	if jobs, ok := job["spec"].(fields)["replicatedJobs"].([]any); ok {
		specs = nil
		for _, j := range jobs {
			specs = append(specs, j.(fields)["template"].(fields)["spec"])
		}
	}
	for _, s := range specs {
		pod := s.(fields)["template"].(fields)["spec"].(fields)
		pod["priorityClassName"] = "compact"
		pod["containers"].([]any)[0].(fields)["resources"] = fields{"requests": fields{"cpu": "100m", "memory": "64Mi"}}
	}
	return job
}

// with returns a Job whose pods have the field.
func with(field string, value any) attempt {
	return create(escapeJob("escape", 1, func(_, pod fields) { pod[field] = value }))
}

// small returns a Job whose pods request next to nothing, and have the field.
func small(field string, value any) attempt {
	return create(escapeJob("escape", 24, func(_, pod fields) {
		pod["containers"] = []any{fields{
			"name": "worker", "image": "busybox:1.37",
			"resources": fields{"requests": fields{"cpu": "1m", "memory": "1Mi"}},
		}}
		pod[field] = value
	}))
}

// mounting returns a Job whose pods mount the volume.
func mounting(kind string, source fields) attempt {
	return with("volumes", []any{fields{"name": "data", kind: source}})
}

// named returns a Job with the labels or annotations.
func named(kind, key, value string) attempt {
	return create(escapeJob("escape", 1, func(job, _ fields) {
		names, ok := job["metadata"].(fields)[kind].(fields)
		if !ok {
			names = fields{}
			job["metadata"].(fields)[kind] = names
		}
		names[key] = value
	}))
}

// When kube-scheduler heeds a term of an affinity.
const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

// apart returns a Job whose pods have anti-affinity, with the fields of its term.
func apart(when string, term fields) attempt {
	return with("affinity", fields{"podAntiAffinity": fields{when: []any{affinityTerm(when, term)}}})
}

// near returns a Job whose pods require affinity, with the fields of its term.
func near(term fields) attempt {
	return with("affinity", fields{"podAffinity": fields{required: []any{affinityTerm(required, term)}}})
}

// affinityTerm returns a term about the pods of queues on a node, unless fields say
// something else.
func affinityTerm(when string, more fields) fields {
	term := fields{
		"topologyKey": "kubernetes.io/hostname",
		"labelSelector": fields{"matchExpressions": []any{
			fields{"key": "kueue.x-k8s.io/cluster-queue-name", "operator": "Exists"},
		}},
	}
	maps.Copy(term, more)
	if when == preferred {
		return fields{"weight": 100, "podAffinityTerm": term}
	}
	return term
}

// exclusive returns a JobSet that asks for topology domains of its own: level 0 for the
// JobSet, 1 for its Job, 2 for the pods.
func exclusive(domain string, level int) attempt {
	set := escapeJobSet("escape", escapePod())
	job := set["spec"].(fields)["replicatedJobs"].([]any)[0].(fields)["template"].(fields)
	object := []fields{set, job, job["spec"].(fields)["template"].(fields)}[level]
	metadata, _ := object["metadata"].(fields)
	if metadata == nil {
		metadata = fields{}
		object["metadata"] = metadata
	}
	metadata["annotations"] = fields{"alpha.jobset.sigs.k8s.io/exclusive-topology": domain}
	return create(set)
}

// managed returns a JobSet that another controller manages, or such a Job in a JobSet.
func managed(by string, job bool) fields {
	set := escapeJobSet("escape", escapePod())
	spec := set["spec"].(fields)
	if job {
		spec = spec["replicatedJobs"].([]any)[0].(fields)["template"].(fields)["spec"].(fields)
	}
	spec["managedBy"] = by
	return set
}

// remove deletes an object of team-a without what it owns.
func remove(what string) attempt {
	return attempt{[]string{"delete", what, "--namespace=team-a", "--cascade=orphan", "--wait=false"}, nil}
}

// other returns an object of another kind in team-a.
func other(version, kind string, rest fields) attempt {
	object := fields{"apiVersion": version, "kind": kind, "metadata": fields{"name": "escape", "namespace": "team-a"}}
	maps.Copy(object, rest)
	return create(object)
}

// refusals are the attempts that must be refused, by their names in the table.
// Attempts that change an object find a running Job named runs, a waiting Job named
// waits, a started Job without pods named empty, and a running JobSet named set.
func refusals() map[string]attempt {
	noRequests := escapePod()
	noRequests["containers"] = []any{fields{"name": "worker", "image": "busybox:1.37"}}
	claims := escapeJobSet("escape", escapePod())
	claims["spec"].(fields)["volumeClaimPolicies"] = []any{fields{"templates": []any{fields{
		"metadata": fields{"name": "data"},
		"spec": fields{
			"accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "64Ti"}},
		},
	}}}}
	claim := fields{
		"accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "64Ti"}},
	}
	nodes := fields{"nodeSelectorTerms": []any{
		fields{
			"matchExpressions": []any{fields{"key": "capacity", "operator": "In", "values": []string{"l4-ondemand"}}},
		},
	}}
	affinity := fields{"nodeAffinity": fields{required: nodes}}
	foreign := escapeJob("escape", 1, nil)
	foreign["metadata"].(fields)["namespace"] = "team-b"
	return map[string]attempt{
		// Other queues and priorities.
		"A Job without a queue": create(
			escapeJob("escape", 1, func(job, _ fields) { delete(job["metadata"].(fields), "labels") })),
		"Another team's queue":                  named("labels", "kueue.x-k8s.io/queue-name", "lq-team-b-lp"),
		"Another priority than the queue's":     with("priorityClassName", "hp"),
		"A new Job with another priority class": named("labels", "kueue.x-k8s.io/priority-class", "hp"),
		"Another Job's Workload, by annotation": named("annotations", "kueue.x-k8s.io/prebuilt-workload-name",
			"job-runs"),
		"Another Job's Workload, by label": named("labels", "kueue.x-k8s.io/prebuilt-workload-name", "job-runs"),
		"A Job that grows while it runs":   named("annotations", "kueue.x-k8s.io/elastic-job", "true"),
		"A Job that names a controller": create(escapeJob("escape", 1, func(job, _ fields) {
			job["metadata"].(fields)["ownerReferences"] = []any{fields{
				"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set", "uid": "1",
				"controller": true,
			}}
		})),
		"A Job in another team's namespace": create(foreign),

		// Pods that no quota counts.
		"Containers without requests": create(escapeJob("escape", 1, func(job, _ fields) {
			job["spec"].(fields)["template"] = fields{"spec": noRequests}
		})),
		"A JobSet whose second job has no requests": create(escapeJobSet("escape", escapePod(), noRequests)),
		"A Service of type LoadBalancer": other("v1", "Service", fields{"spec": fields{
			"type": "LoadBalancer", "ports": []any{fields{"port": 80}},
		}}),
		"A bare pod": other("v1", "Pod", fields{"spec": escapePod()}),
		"A Deployment": other("apps/v1", "Deployment", fields{"spec": fields{
			"selector": fields{"matchLabels": fields{"a": "b"}},
			"template": fields{"metadata": fields{"labels": fields{"a": "b"}}, "spec": escapePod()},
		}}),
		"A CronJob": other("batch/v1", "CronJob", fields{"spec": fields{
			"schedule": "* * * * *", "jobTemplate": fields{"spec": fields{"template": fields{"spec": escapePod()}}},
		}}),
		"A Workload created by hand": other("kueue.x-k8s.io/v1beta2", "Workload",
			fields{"spec": fields{"queueName": "lq-team-a-lp"}}),
		"A LocalQueue created by hand": other("kueue.x-k8s.io/v1beta2", "LocalQueue",
			fields{"spec": fields{"clusterQueue": "cq-team-b-hp"}}),

		// Nodes for pods that leave them empty.
		"Small pods that refuse to share a node": small("affinity", fields{
			"podAntiAffinity": fields{required: []any{affinityTerm(required, fields{})}},
		}),
		"Small pods with a required spread over nodes": small("topologySpreadConstraints", []any{fields{
			"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
			"minDomains": 24, "labelSelector": fields{},
		}}),
		"Small pods whose node affinity excludes the nodes that run": small("affinity", fields{
			"nodeAffinity": fields{required: fields{"nodeSelectorTerms": []any{fields{"matchExpressions": []any{
				fields{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": []string{"l4-spot-1"}},
			}}}}},
		}),
		"Small pods on a node by its name": small("nodeSelector", fields{"kubernetes.io/hostname": "l4-spot-1"}),
		"Small pods that fill the disks of nodes": small("containers", []any{fields{
			"name": "worker", "image": "busybox:1.37",
			"resources": fields{"requests": fields{"cpu": "1m", "memory": "1Mi", "ephemeral-storage": "40Gi"}},
		}}),

		// Jobs that can never run, and would hold up their queue.
		"A Job larger than its queue": create(escapeJob("escape", 1000, nil)),
		"A waiting Job that becomes larger than its queue": patch("job/waits",
			fields{"spec": fields{"parallelism": 1000}}),
		"A JobSet whose Jobs together exceed its queue": create(copies(escapeJobSet("escape", escapePod()))),
		"A pod larger than every node": with("containers", []any{fields{
			"name": "worker", "image": "busybox:1.37",
			"resources": fields{"requests": fields{"cpu": "500", "memory": "64Mi"}},
		}}),
		"A container that needs more than every node before its pod starts": with("initContainers", []any{fields{
			"name": "first", "image": "busybox:1.37",
			"resources": fields{"requests": fields{"cpu": "1", "memory": "64Ti"}},
		}}),
		"A pod that fills more disk than every node has": with("containers", []any{fields{
			"name": "worker", "image": "busybox:1.37",
			"resources": fields{"requests": fields{"cpu": "12", "memory": "32Gi", "ephemeral-storage": "2Ti"}},
		}}),
		"A small job on nodes of its own":            create(compact(escapeJob("escape", 1, nil))),
		"A JobSet of small jobs on nodes of its own": create(compact(escapeJobSet("escape", escapePod(), escapePod()))),
		"A resource that no node has": with("containers", []any{fields{
			"name": "worker", "image": "busybox:1.37", "resources": fields{
				"requests": fields{"cpu": "1", "memory": "64Mi", "hugepages-2Mi": "4Mi"},
				"limits":   fields{"hugepages-2Mi": "4Mi"},
			},
		}}),

		// Other nodes.
		"`nodeName`":                  with("nodeName", "system-1"),
		"`schedulerName`":             with("schedulerName", "another"),
		"`runtimeClassName`":          with("runtimeClassName", "gvisor"),
		"A toleration for everything": with("tolerations", []any{fields{"operator": "Exists"}}),
		"A toleration for other nodes": with("tolerations",
			[]any{fields{"key": "ondemand", "operator": "Equal", "value": "true", "effect": "NoSchedule"}}),
		"A selector for other nodes":   with("nodeSelector", fields{"capacity": "l4-ondemand"}),
		"An affinity to other nodes":   with("affinity", affinity),
		"A selector for a reservation": with("nodeSelector", fields{"cloud.google.com/reservation-name": "theirs"}),
		"Resource claims": with("resourceClaims",
			[]any{fields{"name": "gpu", "resourceClaimTemplateName": "gpu"}}),
		"A waiting Job that gets a toleration for everything": patch("job/waits",
			fields{"spec": fields{"template": fields{"spec": fields{
				"tolerations": []any{fields{"operator": "Exists"}},
			}}}}),

		// Nodes that other teams' pods cannot use.
		"Anti-affinity to another team":   apart(required, fields{"namespaces": []string{"team-b"}}),
		"Anti-affinity to all namespaces": apart(required, fields{"namespaceSelector": fields{}}),
		"Anti-affinity to every team's namespace": apart(required, fields{"namespaceSelector": fields{
			"matchExpressions": []any{fields{"key": "team", "operator": "Exists"}},
		}}),
		"A preference to be apart from another team": apart(preferred, fields{"namespaces": []string{"team-b"}}),
		"Affinity to another team":                   near(fields{"namespaces": []string{"team-b"}}),
		"Anti-affinity in a region": apart(required,
			fields{"topologyKey": "topology.kubernetes.io/region"}),
		"Anti-affinity in the operating system": apart(required, fields{"topologyKey": "kubernetes.io/os"}),
		"A spread over capacities": with("topologySpreadConstraints", []any{fields{
			"topologyKey": "capacity", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
		}}),
		"A JobSet that claims all Linux nodes": exclusive("kubernetes.io/os", 0),
		"A JobSet that claims a node pool":     exclusive("cloud.google.com/gke-nodepool", 0),
		"A JobSet whose Job claims a zone":     exclusive("topology.kubernetes.io/zone", 1),
		"A JobSet whose pods claim nodes":      exclusive("kubernetes.io/hostname", 2),
		"Pods with JobSet's labels": create(escapeJob("escape", 1, func(job, _ fields) {
			job["spec"].(fields)["template"].(fields)["metadata"] = fields{
				"labels": fields{"jobset.sigs.k8s.io/job-key": "x"},
			}
		})),

		// Nodes that are kept after an eviction.
		"A year's grace period": create(escapeJob("escape", 1, func(job, pod fields) {
			job["spec"].(fields)["podReplacementPolicy"] = "Failed"
			pod["terminationGracePeriodSeconds"] = 31536000
		})),

		"Pods that are replaced while they end": with("terminationGracePeriodSeconds", 100),
		"A probe that ends after a year": create(escapeJob("escape", 1, func(_, pod fields) {
			pod["containers"].([]any)[0].(fields)["livenessProbe"] = fields{
				"exec": fields{"command": []string{"true"}}, "terminationGracePeriodSeconds": 31536000,
			}
		})),
		"A finalizer on a Job": create(escapeJob("escape", 1, func(job, _ fields) {
			job["metadata"].(fields)["finalizers"] = []string{"example.com/mine"}
		})),
		"A finalizer on pods": create(escapeJob("escape", 1, func(job, _ fields) {
			job["spec"].(fields)["template"].(fields)["metadata"] = fields{"finalizers": []string{"example.com/mine"}}
		})),
		"A finalizer that leaves the pods": patch("job/runs",
			fields{"metadata": fields{"finalizers": []string{"orphan"}}}),
		"A Job for another controller": create(escapeJob("escape", 1, func(job, _ fields) {
			job["spec"].(fields)["managedBy"] = "example.com/me"
		})),
		"A JobSet for another cluster's Kueue":       create(managed("kueue.x-k8s.io/multikueue", false)),
		"A JobSet with a Job for another controller": create(managed("example.com/me", true)),
		"A scheduling gate": with("schedulingGates",
			[]any{fields{"name": "example.com/wait"}}),
		"A Job that is deleted without its pods":    remove("job/runs"),
		"A JobSet that is deleted without its Jobs": remove("jobset/set"),
		"A Job that is deleted as the API does it by default": {
			[]string{"delete", "--raw=/apis/batch/v1/namespaces/team-a/jobs/runs"}, nil,
		},
		"A running Job with more pods":  patch("job/runs", fields{"spec": fields{"parallelism": 50}}),
		"A Job without pods that grows": patch("job/empty", fields{"spec": fields{"parallelism": 50}}),

		// Storage.
		"A disk for each pod":            mounting("ephemeral", fields{"volumeClaimTemplate": fields{"spec": claim}}),
		"A JobSet with disks":            create(claims),
		"A volume claim created by hand": other("v1", "PersistentVolumeClaim", fields{"spec": claim}),
		"An existing volume claim":       mounting("persistentVolumeClaim", fields{"claimName": "data"}),
		"A file server":                  mounting("nfs", fields{"server": "10.0.0.2", "path": "/"}),
		"A folder on the node":           mounting("hostPath", fields{"path": "/var/lib"}),
		"Another's bucket": mounting("csi",
			fields{"driver": "gcsfuse.csi.storage.gke.io", "volumeAttributes": fields{"bucketName": "theirs"}}),

		// After admission.
		"A running Job that leaves its queue": patch("job/runs",
			fields{"metadata": fields{"labels": fields{"kueue.x-k8s.io/queue-name": nil}}}),
		"A running Job that goes to a better queue": patch("job/runs",
			fields{"metadata": fields{"labels": fields{"kueue.x-k8s.io/queue-name": "lq-team-a-hp"}}}),
		"A waiting Job that is started by hand":    patch("job/waits", fields{"spec": fields{"suspend": false}}),
		"A running Job that is stopped by hand":    patch("job/runs", fields{"spec": fields{"suspend": true}}),
		"A running JobSet that is stopped by hand": patch("jobset/set", fields{"spec": fields{"suspend": true}}),
		"A JobSet's Job with more pods":            patch("job/set-job-0-0", fields{"spec": fields{"parallelism": 50}}),
		"Removing a Job from its JobSet": patch("job/set-job-0-0",
			fields{"metadata": fields{"ownerReferences": nil}}),
		"GPUs in limits only": create(escapeJob("escape", 1, func(_, pod fields) {
			resources := pod["containers"].([]any)[0].(fields)["resources"].(fields)
			delete(resources["requests"].(fields), "nvidia.com/gpu")
		})),
		"A Job with parallelism above completions": create(escapeJob("escape", 2, func(job, _ fields) {
			job["spec"].(fields)["completions"] = 1
		})),
		"CPU and memory in limits only": create(escapeJob("escape", 1, func(_, pod fields) {
			pod["containers"].([]any)[0].(fields)["resources"] = fields{"limits": fields{"cpu": 1, "memory": "1Gi"}}
		})),
		"A running JobSet with more Jobs": {[]string{"patch", "jobset/set", "--namespace=team-a", "--type=json",
			`--patch=[{"op": "replace", "path": "/spec/replicatedJobs/0/replicas", "value": 50}]`}, nil},
	}
}

// played are the attempts that take more than one request, by their names in the table.
// Most are accepted but gain nothing.
func played() map[string]func(*folder) {
	return map[string]func(*folder){
		"A privileged container": func(f *folder) {
			privileged := attempt{nil, escapeJob("privileged", 1, func(_, pod fields) {
				pod["containers"].([]any)[0].(fields)["securityContext"] = fields{"privileged": true}
			})}
			// The API server warns, and creates the Job.
			f.plane.Submit(f.ctx, f.submits("team-a"), privileged.object, false)
			f.eventually(func() string {
				if events := f.events(); !strings.Contains(events, "violates PodSecurity") {
					return "no pod is refused: " + events
				}
				return ""
			})
		},
		"Anti-affinity to its own pods": func(f *folder) {
			f.make(apart(required, fields{}).object)
			f.runs("escape", 1)
			victim := escapeJob("victim", 1, nil)
			victim["metadata"] = fields{
				"name": "victim", "namespace": "team-b", "labels": fields{"kueue.x-k8s.io/queue-name": "lq-team-b-lp"},
			}
			f.makeAs("team-b", victim)
			f.runsIn("team-b", "victim", 1)
		},
		"Thousands of Jobs":                           thousandsOfJobs,
		"Jobs that are created and deleted in a loop": podsThatEnd,
		"A request for ephemeral storage": func(f *folder) {
			f.make(escapeJob("grows", 1, func(_, pod fields) {
				container := pod["containers"].([]any)[0].(fields)
				container["resources"].(fields)["requests"].(fields)["ephemeral-storage"] = "1Gi"
			}))
			f.eventually(func() string { // the nodes here have no disks
				if w := f.workloadsOf("team-a", "grows"); len(w) != 1 || !w[0].is("Admitted") {
					return fmt.Sprintf("not admitted: %v", w)
				}
				return ""
			})
		},
	}
}

// events returns the messages of all events in the namespace of team-a.
func (f *folder) events() string {
	f.Helper()
	found, err := f.plane.List(f.ctx, "events", "--namespace=team-a")
	if err != nil {
		f.Fatal(err)
	}
	var messages []string
	for _, o := range found {
		var event struct{ Message string }
		if err := json.Unmarshal(o.JSON, &event); err != nil {
			f.Fatal(err)
		}
		messages = append(messages, event.Message)
	}
	return strings.Join(messages, " ")
}

// limitTeam changes the quota of team-a's objects and pods.
func (f *folder) limitTeam(name, most string) {
	f.Helper()
	f.kubectl("patch", "resourcequota/team-limits", "--namespace=team-a", "--type=merge",
		fmt.Sprintf(`--patch={"spec": {"hard": {%q: %q}}}`, name, most))
}

// thousandsOfJobs checks that a member can create no more Jobs than the team's quota has.
func thousandsOfJobs(f *folder) {
	f.limitTeam("count/jobs.batch", "1")
	f.make(escapeJob("first", 1, nil))
	second := create(escapeJob("second", 1, nil))
	f.eventually(func() string {
		_, err := f.try(second)
		if err == nil || !strings.Contains(err.Error(), "exceeded quota: team-limits") {
			return fmt.Sprint("a second Job with a quota of one: ", err)
		}
		return ""
	})
	f.limitTeam("count/jobs.batch", "5k")
}

// podsThatEnd checks that pods with accelerators count until they have ended: the API
// server refuses pods beyond what the team can use, even if Kueue has admitted their job.
func podsThatEnd(f *folder) {
	before := f.kubectl("get", "resourcequota/team-limits", "--namespace=team-a",
		`--output=jsonpath={.spec.hard.requests\.nvidia\.com/gpu}`)
	f.limitTeam("requests.nvidia.com/gpu", "1")
	f.make(escapeJob("more", 2, nil))
	f.eventually(func() string {
		events := f.events()
		if !strings.Contains(events, "exceeded quota: team-limits, requested: requests.nvidia.com/gpu=1") {
			return "no quota counts the accelerators of pods: " + events
		}
		return ""
	})
	f.runs("more", 1)
	f.limitTeam("requests.nvidia.com/gpu", before)
}

// escapes makes every attempt of the table as a member of team-a.
func (f *folder) escapes() {
	f.Helper()
	answers := f.answers()
	f.make(escapeJob("runs", 1, nil))
	f.make(escapeJobSet("set", escapePod()))
	f.runs("runs", 1)
	f.runs("set-job-0-0", 1)
	f.make(escapeJob("empty", 0, func(job, _ fields) { delete(job["spec"].(fields), "completions") }))
	f.eventually(func() string {
		got := f.suspended("empty")
		if got != "false" {
			return "Kueue has not started the Job of no pods: " + got
		}
		return ""
	})
	f.make(escapeJob("fills", 5, nil))                  // more than what is left of l4-reserved, so on l4-spot
	f.make(escapeJob("waits", 16, func(job, _ fields) { // for all of l4-spot, and holds up its queue
		job["spec"].(fields)["completions"] = 2000
	}))
	refusals, played := refusals(), played()
	maps.Copy(refusals, withoutRight())
	maps.Copy(refusals, moreRefusals())
	maps.Copy(played, races())
	var messages []string
	for _, name := range slices.Sorted(maps.Keys(refusals)) {
		a := refusals[name]
		message, refused := answers[name]
		delete(answers, name)
		if !refused || message == "" {
			f.Errorf("%s does not say with which message %q is refused", escapesTable, name)
			continue
		}
		wrong := func() string {
			out, err := f.try(a)
			if err == nil {
				return fmt.Sprintf("%s: not refused:\n%s", name, out)
			}
			said := strings.Join(strings.Fields(err.Error()), " ")
			if !strings.Contains(said, message) {
				return fmt.Sprintf("%s: refused with another message than %q:\n%v", name, message, err)
			}
			messages = append(messages, said)
			return ""
		}
		if a.object != nil { // the API server enforces a policy some time after it exists
			f.eventually(wrong)
		} else if problem := wrong(); problem != "" { // a change that is accepted is kept
			f.Error(problem)
		}
	}
	f.runs("runs", 1)
	f.runs("set-job-0-0", 1)
	f.victim()
	f.clear()
	for _, name := range slices.Sorted(maps.Keys(played)) {
		if _, told := answers[name]; !told {
			f.Errorf("%s does not say what becomes of %q", escapesTable, name)
		}
		delete(answers, name)
		f.Log(name)
		played[name](f)
		f.victim()
		f.clear()
	}
	for name := range answers {
		f.Errorf("%s: nobody tries %q", escapesTable, name)
	}
	f.refusedRows(append(messages, f.events()))
}

// uncounted checks that Kueue itself keeps pods without requests on the nodes of a
// flavor and within a quota, in case a policy ever admits such pods.
func (f *folder) uncounted() {
	f.Helper()
	bare := func(_, pod fields) { pod["containers"] = []any{fields{"name": "worker", "image": "busybox:1.37"}} }
	job, tooMany := escapeJob("uncounted", 30, bare), escapeJob("too-many", 2000, bare)
	played := func() {
		f.make(job)
		f.runs("uncounted", 30)
		objects := f.get("nodes,pods", "--all-namespaces")
		pools, got := nodePools(objects), map[string]bool{}
		for _, o := range objects {
			if o.Metadata.Labels[jobLabel] == "uncounted" {
				got[pools[o.Spec.NodeName]] = true
			}
		}
		if diff := cmp.Diff(map[string]bool{"l4-reserved": true}, got); diff != "" {
			f.Fatalf("pods without requests run on nodes of (-want +got):\n%s", diff)
		}
		f.make(tooMany)
		f.stopped("too-many")
	}
	f.without("jobs-stay-in-bounds", job, func() { f.without("jobs-fit-nodes", tooMany, played) })
}

// unblocked checks that a quota refuses pods that would keep the pods of other namespaces
// off nodes, in case a policy ever admits their Job.
func (f *folder) unblocked() {
	f.Helper()
	blocker := apart(required, fields{"namespaces": []string{"team-b"}}).object
	f.without("jobs-block-nobody", blocker, func() {
		f.make(blocker)
		f.eventually(func() string {
			events := f.events()
			if !strings.Contains(events, "exceeded quota: no-affinity-to-other-namespaces") {
				return "no quota refuses pods with affinity to another namespace: " + events
			}
			return ""
		})
	})
}

// without removes the binding of a policy, waits until a member can create an object that
// the policy refuses, calls a function, and puts the binding back.
func (f *folder) without(policy string, object fields, call func()) {
	f.Helper()
	binding := "validatingadmissionpolicybinding/" + policy
	kept := f.kubectl("get", binding, "--output=json")
	f.kubectl("delete", binding)
	try := create(object)
	f.eventually(func() string { // until the API server has forgotten the policy
		if _, err := f.try(try); err != nil {
			return err.Error()
		}
		return ""
	})
	call()
	f.clear()
	var was fields
	if err := json.Unmarshal([]byte(kept), &was); err != nil {
		f.Fatal(err)
	}
	metadata := was["metadata"].(fields)
	was["metadata"] = fields{"name": metadata["name"], "labels": metadata["labels"]}
	if _, err := f.plane.Kubectl(f.ctx, attempt{nil, was}.text(), "apply", "--server-side",
		"--field-manager=batchwright", "--filename=-"); err != nil {
		f.Fatal(err)
	}
}

// text returns the attempt's object as kubectl reads it, or nil if there is none.
func (a attempt) text() []byte {
	if a.object == nil {
		return nil
	}
	text, err := json.Marshal(a.object)
	if err != nil {
		panic(err) // a mistake of this test
	}
	return text
}

// answers reads the table. It returns the message for each attempt, "" for an
// attempt that is accepted.
func (f *folder) answers() map[string]string {
	f.Helper()
	text, err := os.ReadFile(filepath.FromSlash(escapesTable))
	if err != nil {
		f.Fatal(err)
	}
	row := regexp.MustCompile(
		"(?m)^\\| ([^|]+?) +\\| (?:refused: `([^`]+)`|pods refused|(?:bounded|harmless): [^|]+?) +\\| [^|]+\\|$")
	out := map[string]string{}
	table, _, _ := strings.Cut(string(text), "\n## ")
	for _, found := range row.FindAllStringSubmatch(table, -1) {
		if _, twice := out[found[1]]; twice {
			f.Errorf("%s: %q is there twice", escapesTable, found[1])
		}
		out[found[1]] = found[2]
	}
	if rows := strings.Count(table, "\n| ") - 2; rows != len(out) {
		f.Errorf("%s has %d rows, of which %d can be read", escapesTable, rows, len(out))
	}
	return out
}

// make creates an object as a member of team-a.
func (f *folder) make(object fields) {
	f.Helper()
	f.makeAs("team-a", object)
}

// makeAs creates an object as a member of a team.
func (f *folder) makeAs(team string, object fields) {
	f.Helper()
	if err := f.plane.Submit(f.ctx, f.submits(team), object, false); err != nil {
		f.Fatal(err)
	}
}

// runs waits until a Job of team-a has the given number of running pods.
func (f *folder) runs(job string, want int) {
	f.Helper()
	f.runsIn("team-a", job, want)
}

// runsIn waits until a Job in a namespace has the given number of running pods.
func (f *folder) runsIn(namespace, job string, want int) {
	f.Helper()
	f.eventually(func() string {
		got := 0
		for _, o := range f.get("pods", "--namespace="+namespace, "--selector="+jobLabel+"="+job) {
			if o.Status.Phase == "Running" {
				got++
			}
		}
		if got != want {
			return fmt.Sprintf("%s: %d pods run, want %d", job, got, want)
		}
		return ""
	})
}

// stopped waits until a Job of team-a waits for quota and has no pods.
func (f *folder) stopped(job string) {
	f.Helper()
	f.eventually(func() string {
		out := f.suspended(job)
		workload := f.workloadsOf("team-a", job)
		pods := len(f.get("pods", "--namespace=team-a", "--selector="+jobLabel+"="+job))
		if out == "true" && pods == 0 && len(workload) == 1 && !workload[0].is("QuotaReserved") {
			return ""
		}
		return fmt.Sprintf("%s: suspended: %s, %d pods, workloads %v", job, out, pods, workload)
	})
}

// suspended returns whether a Job of team-a is suspended, "" if there is no such Job or it does
// not say.
func (f *folder) suspended(job string) string {
	f.Helper()
	for _, o := range f.get("jobs", "--namespace=team-a") {
		if o.Metadata.Name == job && o.Spec.Suspend != nil {
			return strconv.FormatBool(*o.Spec.Suspend)
		}
	}
	return ""
}

// workloadsOf returns Kueue's Workloads of a Job or JobSet.
func (f *folder) workloadsOf(team, job string) []object {
	f.Helper()
	var out []object
	for _, o := range f.get("workloads", "--namespace="+team) {
		if o.owner() == job {
			out = append(out, o)
		}
	}
	return out
}
