package policies

import "slices"

// kueueController suspends and starts jobs.
const kueueController = "system:serviceaccount:kueue-system:kueue-controller-manager"

// worker returns a container with resources.
func worker(resources map[string]any) map[string]any {
	return map[string]any{"name": "worker", "image": "a/b:1", "resources": resources}
}

// amounts returns resources with an amount of CPU and of memory.
func amounts(cpu, memory any) map[string]any { return map[string]any{"cpu": cpu, "memory": memory} }

// created returns requests of a member with a queue for a Job and a JobSet, after edit has
// changed the template of their pods.
func created(q queue, name, refused string, edit func(template map[string]any)) []request {
	return []request{
		{"job with " + name, member, jobKind, edited(job(q), edit), nil, refused},
		{
			"jobset whose last job has " + name, member, jobSetKind, edited(jobSet(q, q.class, q.class), edit), nil,
			refused,
		},
	}
}

// tried returns the same requests, those of a member who changes a suspended Job, and of a
// controller that changes a Job that has existed already.
func tried(q queue, name, refused string, edit func(template map[string]any)) []request {
	return append(created(q, name, refused, edit),
		request{"suspended job that gets " + name, member, jobKind, edited(job(q), edit), job(q), refused},
		request{"job that was there with " + name, collector, jobKind, edited(job(q), edit), edited(job(q), edit), ""})
}

// edited gives the pods of a Job, or of the last Job of a JobSet, a container with requests,
// and edits their template.
func edited(fields map[string]any, edit func(template map[string]any)) map[string]any {
	templates := podTemplates(fields)
	template := templates[len(templates)-1]
	template["spec"].(map[string]any)["containers"] = []any{worker(map[string]any{"requests": amounts("1", "1Gi")})}
	edit(template)
	return fields
}

// outOfBounds returns requests with a queue for jobs whose pods would use resources
// that no quota counts, or nodes of other queues. Some of the requests only look
// similar, and must be admitted.
func outOfBounds(q queue) []request {
	var (
		out     []request
		amount  = amounts
		counted = map[string]any{"requests": amount("1", "1Gi")}
		volume  = func(kind string, fields map[string]any) map[string]any {
			return map[string]any{"name": "data", kind: fields}
		}
	)
	try := func(name, refused string, edit func(pod map[string]any)) {
		out = append(out, tried(q, name, refused, func(template map[string]any) {
			edit(template["spec"].(map[string]any))
		})...)
	}
	resources := func(name, refused string, fields map[string]any) {
		try(name, refused, func(pod map[string]any) { pod["containers"] = []any{worker(counted), worker(fields)} })
	}
	const unrequested = "resources.requests.memory of container worker"
	resources("requests", "", counted)
	resources("no resources", unrequested, nil)
	resources("no cpu", unrequested, map[string]any{"requests": map[string]any{"memory": "1Gi"}})
	resources("no memory", unrequested, map[string]any{"requests": map[string]any{"cpu": "1"}})
	resources("requests of nothing", unrequested,
		map[string]any{"requests": amount("0", "1Gi"), "limits": amount("8", "1Gi")})

	set := func(name, refused, field string, value any) {
		try(name, refused, func(pod map[string]any) { pod[field] = value })
	}
	set("a node", "remove nodeName", "nodeName", "node-1")
	set("a runtime class", "remove runtimeClassName", "runtimeClassName", "gvisor")
	set("resource claims", "remove resourceClaims", "resourceClaims", []any{map[string]any{"name": "gpu"}})
	set("half a minute to end", "", "terminationGracePeriodSeconds", int64(30))
	set("a year to end", "lower terminationGracePeriodSeconds", "terminationGracePeriodSeconds", int64(31536000))
	try("a year to end after a probe", "lower terminationGracePeriodSeconds", func(pod map[string]any) {
		container := worker(counted)
		container["startupProbe"] = map[string]any{"terminationGracePeriodSeconds": int64(31536000)}
		pod["initContainers"] = []any{container}
	})

	toleration := func(name string, fields map[string]any) {
		set(name, "must not tolerate", "tolerations", []any{fields})
	}
	toleration("tolerations of everything", map[string]any{"operator": "Exists"})
	toleration("tolerations of an effect", map[string]any{"operator": "Exists", "effect": "NoExecute"})
	toleration("tolerations of others' nodes", map[string]any{"key": "others", "operator": "Exists"})
	toleration("tolerations of half a key", map[string]any{"key": "n", "operator": "Exists"})
	away := map[string]any{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
	set("tolerations of a node that does not answer", "", "tolerations", []any{away})
	toleration("tolerations of every effect on a node that does not answer",
		map[string]any{"key": "node.kubernetes.io/unreachable", "operator": "Exists"})
	set("a selector that tells no capacities apart", "", "nodeSelector",
		map[string]any{"topology.kubernetes.io/zone": "a"})
	set("a selector of others' nodes", "must not select cloud.google.com/compute-class=other", "nodeSelector",
		map[string]any{"cloud.google.com/compute-class": "other"})
	affinity := func(operator string) map[string]any {
		expression := map[string]any{
			"key": "cloud.google.com/reservation-name", "operator": operator, "values": []any{"theirs"},
		}
		required := map[string]any{
			"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{expression}}},
		}
		return map[string]any{
			"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": required},
		}
	}
	set("an affinity to others' nodes", "must not select cloud.google.com/reservation-name=theirs", "affinity",
		affinity("In"))
	set("an affinity to all except others' nodes", "", "affinity", affinity("NotIn"))

	volumes := func(name, refused, kind string, fields map[string]any) {
		set(name, refused, "volumes", []any{volume("emptyDir", map[string]any{}), volume(kind, fields)})
	}
	volumes("files", "", "configMap", map[string]any{"name": "x"})
	volumes("a disk of its own", "data (ephemeral)", "ephemeral",
		map[string]any{"volumeClaimTemplate": map[string]any{}})
	volumes("a claim", "data (persistentVolumeClaim)", "persistentVolumeClaim", map[string]any{"claimName": "x"})
	volumes("a file server", "data (nfs)", "nfs", map[string]any{"server": "x", "path": "/"})
	volumes("a folder of the node", "data (hostPath)", "hostPath", map[string]any{"path": "/etc"})
	volumes("another's bucket", "data (csi)", "csi", map[string]any{
		"driver": "gcsfuse.csi.storage.gke.io", "volumeAttributes": map[string]any{"bucketName": "theirs"},
	})
	volumes("a bucket of no name", "data (csi)", "csi", map[string]any{"driver": "gcsfuse.csi.storage.gke.io"})
	volumes("another driver", "data (csi)", "csi", map[string]any{"driver": "x"})

	claims := jobSet(q, q.class)
	claims["spec"].(map[string]any)["volumeClaimPolicies"] = []any{map[string]any{"templates": []any{}}}
	return append(out,
		request{"jobset with claims", member, jobSetKind, claims, nil, "spec.volumeClaimPolicies"},
		request{"jobset that gets claims", member, jobSetKind, claims, jobSet(q, q.class), "spec.volumeClaimPolicies"},
		request{"jobset with claims that was there", collector, jobSetKind, claims, claims, ""})
}

// limited returns requests with a queue for jobs whose pods have limits without requests.
func limited(q queue, refused string) []request {
	gpus := map[string]any{"limits": map[string]any{"nvidia.com/gpu": int64(1)}, "requests": amounts("1", "1Gi")}
	with := func(field string, resources map[string]any) func(map[string]any) {
		return func(template map[string]any) {
			template["spec"].(map[string]any)[field] = []any{worker(resources)}
		}
	}
	disk := map[string]any{"limits": map[string]any{"ephemeral-storage": "1Gi"}, "requests": amounts("1", "1Gi")}
	return slices.Concat(
		tried(q, "limits for requests", refused,
			with("containers", map[string]any{"limits": amounts(int64(2), "1Gi")})),
		tried(q, "GPUs in limits only", refused, with("containers", gpus)),
		tried(q, "GPUs in limits only at the start", refused, with("initContainers", gpus)),
		tried(q, "a limit of its disk", "", with("containers", disk)))
}

// kueueCases returns the requests with a queue that concern only Kueue's policies.
func kueueCases(q queue) []request {
	const hand, child, reserved = "only Kueue may start or stop a job", "this Job belongs to a JobSet",
		"remove the labels and annotations"
	of := func(fields map[string]any, edit func(metadata, spec map[string]any)) map[string]any {
		edit(fields["metadata"].(map[string]any), fields["spec"].(map[string]any))
		return fields
	}
	suspended := func(on bool) map[string]any {
		return of(job(q), func(_, spec map[string]any) { spec["suspend"] = on })
	}
	parallel := func(pods int64) map[string]any {
		return of(owned(job(none), "a", true), func(_, spec map[string]any) { spec["parallelism"] = pods })
	}
	labelled := func(key string) map[string]any {
		return of(job(q), func(metadata, _ map[string]any) { metadata["labels"].(map[string]any)[key] = "x" })
	}
	wide := func(parallelism, completions int64) map[string]any {
		return of(job(q), func(_, spec map[string]any) {
			spec["suspend"], spec["parallelism"], spec["completions"] = true, parallelism, completions
		})
	}
	elsewhere := of(job(q), func(_, spec map[string]any) {
		pod := spec["template"].(map[string]any)["spec"].(map[string]any)
		pod["nodeSelector"] = map[string]any{"cloud.google.com/compute-class": "other"}
		pod["tolerations"] = []any{map[string]any{"key": "others", "operator": "Exists"}}
	})
	other := of(job(q), func(_, spec map[string]any) {
		spec["template"].(map[string]any)["spec"].(map[string]any)["schedulerName"] = "other"
	})
	elastic := of(job(q), func(metadata, _ map[string]any) {
		metadata["annotations"] = map[string]any{"kueue.x-k8s.io/elastic-job": "true"}
	})
	annotated := of(job(q), func(metadata, _ map[string]any) {
		metadata["annotations"] = map[string]any{"kueue.x-k8s.io/prebuilt-workload-name": "x"}
	})
	return []request{
		{"job of another scheduler", member, jobKind, other, nil, "remove schedulerName"},
		{"job that is started by hand", member, jobKind, suspended(false), suspended(true), hand},
		{"job that is started by Kueue", kueueController, jobKind, suspended(false), suspended(true), ""},
		{"job that is stopped by hand", member, jobKind, suspended(true), suspended(false), hand},
		{"job that is stopped by Kueue", kueueController, jobKind, suspended(true), suspended(false), ""},
		{"job that Kueue gives its nodes", kueueController, jobKind, elsewhere, job(q), ""},
		{"job of a jobset with more pods", member, jobKind, parallel(9), parallel(1), child},
		{"job of a jobset with more pods by the jobset", jobSetController, jobKind, parallel(9), parallel(1), ""},
		{"job of a jobset that Kueue stops", kueueController, jobKind, parallel(0), parallel(1), ""},
		{"job of a jobset that leaves it", member, jobKind, job(none), owned(job(none), "a", true), child},
		{"job of another priority by label", member, jobKind, labelled("kueue.x-k8s.io/priority-class"), nil, reserved},
		{
			"job that gets another priority by label", member, jobKind, labelled("kueue.x-k8s.io/priority-class"),
			job(q), reserved,
		},
		{
			"job of another priority by label that was there", collector, jobKind,
			labelled("kueue.x-k8s.io/priority-class"), labelled("kueue.x-k8s.io/priority-class"), "",
		},
		{
			"job of another workload by label", member, jobKind, labelled("kueue.x-k8s.io/prebuilt-workload-name"), nil,
			reserved,
		},
		{"job with parallelism above completions", member, jobKind, wide(3, 2), nil, "must not exceed completions"},
		{
			"job that gets parallelism above completions", member, jobKind, wide(3, 2), wide(2, 2),
			"must not exceed completions",
		},
		{"job with parallelism equal to completions", member, jobKind, wide(2, 2), nil, ""},
		{"job that grows", member, jobKind, elastic, nil, reserved},
		{"job of another workload by annotation", member, jobKind, annotated, nil, reserved},
	}
}
