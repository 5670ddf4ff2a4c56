package cluster_test

import (
	"fmt"
	"strings"
	"sync"
)

// raw returns a request that creates something at a path of the API.
func raw(path string, body fields) attempt {
	return attempt{[]string{"create", "--raw=" + path, "--filename=-"}, body}
}

// replace returns a request that replaces what is at a path of the API.
func replace(path string) attempt {
	return attempt{[]string{"replace", "--raw=" + path, "--filename=-"}, fields{}}
}

// namespace returns a request that replaces the namespace of team-a with one that has the
// label or annotation.
func namespace(place, key, value string) attempt {
	put := replace("/api/v1/namespaces/team-a")
	put.object = fields{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{
		"name": "team-a", place: fields{key: value},
	}}
	return put
}

// pod returns the path of a part of a pod of team-a. Whether the pod exists does not matter:
// the API server first asks whether the member may.
func pod(part string) string { return "/api/v1/namespaces/team-a/pods/runs-0/" + part }

// sized returns a Job whose only container has these resources.
func sized(pods int, resources fields) attempt {
	return create(escapeJob("escape", pods, func(_, pod fields) {
		pod["containers"].([]any)[0].(fields)["resources"] = resources
	}))
}

// withoutRight are attempts on objects on which members have no right, by their names in the
// table.
func withoutRight() map[string]attempt {
	template := fields{"metadata": fields{"labels": fields{"a": "b"}}, "spec": escapePod()}
	controller := fields{"spec": fields{"selector": fields{"matchLabels": fields{"a": "b"}}, "template": template}}
	clusterAdmin := fields{
		"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{
			fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "somebody@example.com"},
		},
	}
	return map[string]attempt{
		"A bare pod by server-side apply": {
			[]string{"apply", "--server-side", "--dry-run=server", "--filename=-"},
			fields{
				"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": "escape", "namespace": "team-a"},
				"spec": escapePod(),
			},
		},
		"A ReplicaSet":   other("apps/v1", "ReplicaSet", controller),
		"A DaemonSet":    other("apps/v1", "DaemonSet", controller),
		"A StatefulSet":  other("apps/v1", "StatefulSet", controller),
		"A pod template": other("v1", "PodTemplate", fields{"template": template}),
		"A ReplicationController": other("v1", "ReplicationController",
			fields{"spec": fields{"selector": fields{"a": "b"}, "template": template}}),
		"A claim of devices": other("resource.k8s.io/v1", "ResourceClaim", fields{"spec": fields{
			"devices": fields{"requests": []any{fields{"name": "gpu", "exactly": fields{"deviceClassName": "gpu"}}}},
		}}),
		"A role of its own":            other("rbac.authorization.k8s.io/v1", "Role", fields{"rules": []any{}}),
		"The role of an administrator": other("rbac.authorization.k8s.io/v1", "RoleBinding", clusterAdmin),
		"An account of its own":        other("v1", "ServiceAccount", nil),
		"A Secret":                     other("v1", "Secret", nil),
		"An Ingress": other("networking.k8s.io/v1", "Ingress", fields{"spec": fields{
			"defaultBackend": fields{"service": fields{"name": "x", "port": fields{"number": 80}}},
		}}),
		"A NetworkPolicy": other("networking.k8s.io/v1", "NetworkPolicy",
			fields{"spec": fields{"podSelector": fields{}}}),
		"Endpoints of a Service": other("discovery.k8s.io/v1", "EndpointSlice",
			fields{"addressType": "IPv4", "endpoints": []any{}}),
		"An event": other("v1", "Event",
			fields{"involvedObject": fields{"kind": "Job", "name": "x", "namespace": "team-a"}}),
		"A lease": other("coordination.k8s.io/v1", "Lease", nil),
		"Default limits": other("v1", "LimitRange", fields{"spec": fields{"limits": []any{
			fields{"type": "Container", "default": fields{"cpu": "1"}},
		}}}),
		"A token of its service account": raw("/api/v1/namespaces/team-a/serviceaccounts/team-a-ksa/token",
			fields{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": fields{}}),
		"A shell in a pod":             raw(pod("exec?command=sh"), fields{}),
		"A terminal of a pod":          raw(pod("attach"), fields{}),
		"A connection to a pod's port": raw(pod("portforward"), fields{}),
		"Evicting a pod": raw(pod("eviction"), fields{
			"apiVersion": "policy/v1", "kind": "Eviction", "metadata": fields{"name": "runs-0", "namespace": "team-a"},
		}),
		"Binding a pod to a node": raw(pod("binding"), fields{
			"apiVersion": "v1", "kind": "Binding", "metadata": fields{"name": "runs-0"},
			"target": fields{"kind": "Node", "name": "l4-spot-0"},
		}),
		"Deleting a pod":               {[]string{"delete", "pod/runs-0", "--namespace=team-a"}, nil},
		"Changing the labels of a pod": replace("/api/v1/namespaces/team-a/pods/runs-0"),
		"Adding a container to a pod":  replace(pod("ephemeralcontainers")),
		"Resizing a pod":               replace(pod("resize")),
		"Changing the status of a Job": replace("/apis/batch/v1/namespaces/team-a/jobs/runs/status"),
		"Changing the status of a Workload": replace(
			"/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads/x/status"),
		"Changing the priority of a Workload": replace("/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads/x"),
		"Deleting a Workload":                 {[]string{"delete", "workloads", "--all", "--namespace=team-a"}, nil},
		"Raising the quota of a ClusterQueue": replace("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/cq-team-a-lp"),
		"Stopping another team's LocalQueue": replace(
			"/apis/kueue.x-k8s.io/v1beta2/namespaces/team-b/localqueues/lq-team-b-lp"),
		"Moving the team's namespace to another platform": namespace("labels", "app.kubernetes.io/part-of", "x"),
		"Removing Pod Security from the team's namespace": namespace("labels",
			"pod-security.kubernetes.io/enforce", "privileged"),
		"Changing the namespace's list of queues": namespace("annotations", "queues", "lq-team-a-lp=hp"),
		"Deleting the team's ResourceQuota": {
			[]string{"delete", "resourcequota/team-limits", "--namespace=team-a"}, nil,
		},
		"Deleting the team's NetworkPolicy": {
			[]string{"delete", "networkpolicy/team-only", "--namespace=team-a"}, nil,
		},
		"Deleting the binding of a policy": {
			[]string{"delete", "validatingadmissionpolicybinding/jobs-fit-nodes"}, nil,
		},
		"Creating a PriorityClass": create(fields{
			"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": fields{"name": "escape"},
			"value": 1000,
		}),
		"Changing the labels of a node": replace("/api/v1/nodes/l4-spot-0"),
		"Listing another team's pods":   {[]string{"get", "pods", "--namespace=team-b"}, nil},
		"Deleting another team's Jobs":  {[]string{"delete", "--raw=/apis/batch/v1/namespaces/team-b/jobs"}, nil},
	}
}

// moreRefusals are attempts in Jobs, JobSets and Services, by their names in the table.
func moreRefusals() map[string]attempt {
	term := func(more fields) fields {
		return fields{"podAntiAffinity": fields{required: []any{affinityTerm(required, more)}}}
	}
	nodes := func(kind, key, operator string, values ...string) fields {
		return fields{"nodeAffinity": fields{required: fields{"nodeSelectorTerms": []any{
			fields{kind: []any{fields{"key": key, "operator": operator, "values": values}}},
		}}}}
	}
	service := func(spec fields) attempt {
		spec["ports"] = []any{fields{"port": 80}}
		return other("v1", "Service", fields{"spec": spec})
	}
	container := func(field string, value any) attempt {
		return create(escapeJob("escape", 1, func(_, pod fields) {
			pod["containers"].([]any)[0].(fields)[field] = value
		}))
	}
	set := func(replicas, parallelism int) fields {
		set := escapeJobSet("escape", escapePod())
		job := set["spec"].(fields)["replicatedJobs"].([]any)[0].(fields)
		job["replicas"] = replicas
		spec := job["template"].(fields)["spec"].(fields)
		spec["parallelism"], spec["completions"] = parallelism, parallelism
		return set
	}
	slow := escapePod()
	slow["terminationGracePeriodSeconds"] = 31536000
	slowSet := escapeJobSet("escape", escapePod(), slow)
	jobs := slowSet["spec"].(fields)["replicatedJobs"].([]any)
	jobs[1].(fields)["template"].(fields)["spec"].(fields)["podReplacementPolicy"] = "Failed"
	fewest := func(number string) attempt {
		return create(escapeJob("escape", 1000, func(job, _ fields) {
			job["metadata"].(fields)["annotations"] = fields{"kueue.x-k8s.io/job-min-parallelism": number}
		}))
	}
	return map[string]attempt{
		"Small pods that are apart from other Jobs": small("affinity",
			term(fields{"mismatchLabelKeys": []string{"job-name"}})),
		"Small pods that are apart in a rack": small("affinity",
			term(fields{"topologyKey": "cloud.google.com/gce-topology-host"})),
		"Small pods that are apart in a node pool": small("affinity",
			term(fields{"topologyKey": "cloud.google.com/gke-nodepool"})),
		"Small pods with a spread for each Job": small("topologySpreadConstraints", []any{fields{
			"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": fields{}, "matchLabelKeys": []string{"job-name"},
		}}),
		"Small pods on all nodes except one, by field": small("affinity",
			nodes("matchFields", "metadata.name", "NotIn", "l4-spot-0")),
		"Small pods outside a node pool": small("affinity",
			nodes("matchExpressions", "cloud.google.com/gke-nodepool", "NotIn", "x")),
		"Small pods with a port of their node": small("containers", []any{fields{
			"name": "worker", "image": "busybox:1.37", "ports": []any{fields{"containerPort": 80, "hostPort": 80}},
			"resources": fields{"requests": fields{"cpu": "1m", "memory": "1Mi"}},
		}}),
		"Small pods in the network of their node": small("hostNetwork", true),
		"A spread over all Linux nodes": with("topologySpreadConstraints", []any{fields{
			"topologyKey": "kubernetes.io/os", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
		}}),

		"Half a GPU": sized(1, fields{
			"requests": fields{"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "500m"},
			"limits":   fields{"nvidia.com/gpu": "500m"},
		}),
		"More GPUs in limits than in requests": sized(1, fields{
			"requests": fields{"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": 1}, "limits": fields{"nvidia.com/gpu": 2},
		}),
		"A request below zero": sized(
			1, fields{"requests": fields{"cpu": "-100", "memory": "1Gi"}}),
		"A pod that requests 1e30 CPUs": sized(
			1, fields{"requests": fields{"cpu": "1e30", "memory": "1Gi"}}),
		"A pod that requests 8 exabytes of memory": sized(1, fields{"requests": fields{"cpu": "1", "memory": "8E"}}),
		"Containers larger than their pod": create(escapeJob("escape", 1, func(_, pod fields) {
			pod["resources"] = fields{"requests": fields{"cpu": "1m", "memory": "1Mi"}}
		})),
		"Two billion pods":                                       create(escapeJob("escape", 2000000000, nil)),
		"Two billion Jobs in a JobSet":                           create(set(2000000000, 1)),
		"Thousands of Jobs with thousands of pods":               create(set(40000, 40000)),
		"A negative `job-min-parallelism`":                       fewest("-5"),
		"A `job-min-parallelism` that is not a number":           fewest("1e3"),
		"A JobSet whose second Job has a grace period of a year": create(slowSet),

		"A startup probe that sets a grace period of a year": container("startupProbe", fields{
			"tcpSocket": fields{"port": 80}, "terminationGracePeriodSeconds": 31536000,
		}),
		"A second container whose probe sets a grace period of a year": with("initContainers", []any{fields{
			"name": "beside", "image": "busybox:1.37", "restartPolicy": "Always",
			"resources":     fields{"requests": fields{"cpu": "1m", "memory": "1Mi"}},
			"livenessProbe": fields{"tcpSocket": fields{"port": 80}, "terminationGracePeriodSeconds": 31536000},
		}}),
		"A waiting Job with another priority class": patch("job/waits",
			fields{"metadata": fields{"labels": fields{"kueue.x-k8s.io/priority-class": "hp"}}}),
		"A running Job that may start with fewer pods": patch("job/runs",
			fields{"metadata": fields{"annotations": fields{"kueue.x-k8s.io/job-min-parallelism": "1"}}}),

		"A Service on every node": service(fields{"type": "NodePort"}),
		"A Service with a name elsewhere": service(
			fields{"type": "ExternalName", "externalName": "example.com"}),
		"A Service with an address of the cluster": service(fields{"selector": fields{"a": "b"}}),

		"A Service with a network endpoint group": other("v1", "Service", fields{
			"metadata": fields{
				"name": "escape", "namespace": "team-a",
				"annotations": fields{"cloud.google.com/neg": `{"exposed_ports": {"80": {}}}`},
			},
			"spec": fields{"clusterIP": "None", "ports": []any{fields{"port": 80}}},
		}),

		"A disk of a driver": mounting("csi", fields{"driver": "pd.csi.storage.gke.io"}),
		"A disk in the network": mounting("iscsi",
			fields{"targetPortal": "10.0.0.2:3260", "iqn": "iqn.2001-04.com.example:disk", "lun": 0}),
		"A disk of the zone": mounting("gcePersistentDisk", fields{"pdName": "theirs"}),
	}
}

// victim checks that a job of a team that has guarantees of its own starts beside what
// members of other teams do.
func (f *folder) victim() {
	f.Helper()
	f.makeAs("team-c", queued("victim", "team-c", "hp", 1))
	f.eventually(func() string {
		w := f.workloadsOf("team-c", "victim")
		if len(w) == 1 && w[0].is("Admitted") {
			return ""
		}
		return fmt.Sprintf("the job of team-c is not admitted: %s", w)
	})
	f.runsIn("team-c", "victim", 1)
	if err := f.plane.Delete(f.ctx, f.submits("team-c"), "jobs", "team-c", "victim"); err != nil {
		f.Fatal(err)
	}
}

// honest checks that the policies admit the usual shapes of jobs, and that these run: other
// folders have jobs with eight GPUs a pod, and with TPU slices.
func (f *folder) honest() {
	f.Helper()
	whole := func(_, pod fields) { // both GPUs of a node
		pod["containers"].([]any)[0].(fields)["resources"] = fields{
			"requests": fields{"cpu": "2", "memory": "10Gi", "nvidia.com/gpu": 2},
			"limits":   fields{"nvidia.com/gpu": 2},
		}
	}
	own := fields{"matchLabels": fields{jobLabel: "apart"}}
	driver := escapePod()
	driver["containers"].([]any)[0].(fields)["resources"] = fields{"requests": fields{"cpu": "500m", "memory": "1Gi"}}
	set := escapeJobSet("driven", driver, escapePod())
	workers := set["spec"].(fields)["replicatedJobs"].([]any)[1].(fields)["template"].(fields)["spec"].(fields)
	workers["parallelism"], workers["completions"] = 2, 2
	for _, shape := range []struct {
		object fields
		job    string
		pods   int
	}{
		{escapeJob("small", 1, nil), "small", 1},
		{escapeJob("whole", 1, whole), "whole", 1},
		{escapeJob("apart", 4, func(job, pod fields) {
			whole(job, pod)
			pod["affinity"] = fields{"podAntiAffinity": fields{required: []any{
				affinityTerm(required, fields{"labelSelector": own}),
			}}}
		}), "apart", 4},
		{escapeJob("spread", 4, func(_, pod fields) {
			pod["topologySpreadConstraints"] = []any{fields{
				"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
				"labelSelector": fields{"matchLabels": fields{jobLabel: "spread"}},
			}}
		}), "spread", 4},
		{set, "driven-job-1-0", 2},
	} {
		f.make(shape.object)
		f.runs(shape.job, shape.pods)
		f.clear()
	}
}

// together calls functions at the same time, and waits for all.
func together(calls ...func()) {
	var group sync.WaitGroup
	for _, call := range calls {
		group.Go(call)
	}
	group.Wait()
}

// submitAs creates Jobs of 4 pods on l4-spot as a member of a team, and ignores refusals.
func (f *folder) submitAs(team string, jobs int) {
	for i := range jobs {
		fields := queued(fmt.Sprint("race-", i), team, "lp", 4)
		selectSpot(fields)
		f.plane.Submit(f.ctx, f.submits(team), fields, false)
	}
}

// selectSpot lets the pods of a Job run only on l4-spot.
func selectSpot(job fields) {
	job["spec"].(fields)["template"].(fields)["spec"].(fields)["nodeSelector"] = fields{"capacity": "l4-spot"}
}

// races are attempts in which members act at the same time, by their names in the table.
func races() map[string]func(*folder) {
	return map[string]func(*folder){
		"Two teams that submit at the same time": func(f *folder) {
			together(func() { f.submitAs("team-a", 6) }, func() { f.submitAs("team-b", 6) })
			f.eventually(func() string {
				running := len(f.get("pods", "--all-namespaces", "--field-selector=status.phase=Running",
					"--selector="+jobLabel))
				if running != 24 {
					return fmt.Sprintf("%d pods run, want the 24 of the cohort's guarantees on l4-spot", running)
				}
				return ""
			})
		},
		"Two changes of a waiting Job at the same time": func(f *folder) {
			f.make(queued("fills", "team-a", "lp", 16))
			f.runs("fills", 16)
			f.make(queued("changes", "team-a", "lp", 16))
			f.stopped("changes")
			change := func(texts ...string) func() {
				return func() {
					for range 5 {
						for _, text := range texts {
							f.plane.Kubectl(f.ctx, nil, append([]string{
								"patch", "job/changes", "--namespace=team-a", "--type=merge", "--patch=" + text,
							}, f.member("team-a")...)...)
						}
					}
				}
			}
			together(
				change(`{"spec": {"parallelism": 1000}}`, `{"spec": {"parallelism": 16}}`),
				change(`{"spec": {"suspend": false}}`,
					`{"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "lq-team-a-hp"}}}`),
				change(`{"metadata": {"labels": {"kueue.x-k8s.io/queue-name": null}}}`),
			)
			f.stopped("changes")
		},
		"A member of each team who deletes and submits": func(f *folder) {
			again := func(team string) func() {
				return func() {
					for range 3 {
						f.submitAs(team, 2)
						f.plane.Kubectl(f.ctx, nil, append([]string{
							"delete", "jobs", "--all", "--wait=false", "--namespace=" + team,
						}, f.member(team)...)...)
					}
				}
			}
			together(again("team-a"), again("team-b"))
			for _, team := range []string{"team-a", "team-b"} {
				f.makeAs(team, queued("last", team, "lp", 4))
				f.runsIn(team, "last", 4)
			}
		},
		"An image as a volume": func(f *folder) {
			f.make(mounting("image", fields{"reference": "busybox:1.37"}).object)
			f.runs("escape", 1)
		},
		"A priority as a number": refusedPods("priority", 1000000,
			"the integer value of priority"),
		"A preemption policy of its own": refusedPods("preemptionPolicy", "PreemptLowerPriority",
			"the string value of PreemptionPolicy"),
		"Another Job's pods by their labels": func(f *folder) {
			f.make(queued("owns", "team-a", "lp", 1))
			f.runs("owns", 1)
			adopts := queued("adopts", "team-a", "lp", 1)
			labels := fields{"batch.kubernetes.io/job-name": "owns", "job-name": "owns"}
			spec := adopts["spec"].(fields)
			spec["manualSelector"], spec["selector"] = true, fields{"matchLabels": labels}
			spec["template"].(fields)["metadata"] = fields{"labels": labels}
			f.make(adopts)
			f.runs("owns", 2) // two Jobs with a pod each, and each counts
			for _, o := range f.get("workloads", "--namespace=team-a") {
				if !o.is("Admitted") {
					f.Errorf("%s has pods without quota", o.owner())
				}
			}
		},
	}
}

// refusedPods returns an attempt with a Job whose pods the API server refuses, with a part
// of its message.
func refusedPods(field string, value any, message string) func(*folder) {
	return func(f *folder) {
		f.make(escapeJob("refused", 1, func(_, pod fields) { pod[field] = value }))
		f.eventually(func() string {
			if events := f.events(); !strings.Contains(events, message) {
				return "no pod is refused: " + events
			}
			return ""
		})
	}
}
