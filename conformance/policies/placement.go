package policies

import (
	"fmt"
	"slices"
)

// alone returns requests with a queue for jobs whose pods cannot share a node, and request
// little of it. Only on nodes whose number follows the pods, they would start many.
func alone(q queue, has quotas) []request {
	const host = "kubernetes.io/hostname"
	type fields = map[string]any
	refused, disk := "", ""
	if has.scales && !has.sharesNodes() {
		return nil // with an accelerator, the pods may request half of a node: see asWhole
	}
	if has.scales {
		refused, disk = "must request at least half of it", "the share of ephemeral-storage that a pod requests"
	}
	with := func(field string, value any) func(template fields) {
		return func(template fields) { template["spec"].(fields)[field] = value }
	}
	port := func(template fields) {
		container := worker(fields{"requests": amounts("100m", "64Mi")})
		container["ports"] = []any{fields{"containerPort": int64(80), "hostPort": int64(80)}}
		template["spec"].(fields)["containers"] = []any{container}
	}
	full := func(template fields) {
		requests := amounts("100m", "64Mi")
		requests["ephemeral-storage"] = has.halfDisk()
		template["spec"].(fields)["containers"] = []any{worker(fields{"requests": requests})}
	}
	required := func(term fields) fields {
		return fields{"requiredDuringSchedulingIgnoredDuringExecution": []any{term}}
	}
	spread := func(when string) []any {
		return []any{fields{"topologyKey": host, "maxSkew": int64(1), "whenUnsatisfiable": when}}
	}
	node := func(field string) fields {
		term := fields{field: []any{fields{"key": host, "operator": "NotIn", "values": []any{"a"}}}}
		return fields{"nodeAffinity": fields{
			"requiredDuringSchedulingIgnoredDuringExecution": fields{"nodeSelectorTerms": []any{term}},
		}}
	}
	return slices.Concat(
		tried(q, "anti-affinity on a node", refused,
			with("affinity", fields{"podAntiAffinity": required(fields{"topologyKey": host, "namespaces": []any{}})})),
		created(q, "affinity on a node", "",
			with("affinity", fields{"podAffinity": required(fields{"topologyKey": host})})),
		created(q, "a spread over nodes that it demands", refused,
			with("topologySpreadConstraints", spread("DoNotSchedule"))),
		created(q, "a spread over nodes that it prefers", "",
			with("topologySpreadConstraints", spread("ScheduleAnyway"))),
		created(q, "the name of a node", refused, with("nodeSelector", fields{host: "a"})),
		created(q, "all nodes except one", refused, with("affinity", node("matchExpressions"))),
		created(q, "all nodes except one by field", refused, with("affinity", node("matchFields"))),
		created(q, "the network of its node", refused, with("hostNetwork", true)),
		created(q, "a port of its node", refused, port),
		created(q, "most of the disk of its node", disk, full))
}

// blocking returns requests with a queue for jobs whose pods would keep the pods of other
// teams away from nodes. Some of the requests only look similar, and must be admitted.
func blocking(q queue) []request {
	const (
		others    = "must select only pods of its own namespace"
		domain    = "topologyKey topology.kubernetes.io/region is not allowed"
		exclusive = "exclusive-topology"
		key       = "alpha.jobset.sigs.k8s.io/exclusive-topology"
		host      = "kubernetes.io/hostname"
		region    = "topology.kubernetes.io/region"
		required  = "requiredDuringSchedulingIgnoredDuringExecution"
		preferred = "preferredDuringSchedulingIgnoredDuringExecution"
	)
	type fields = map[string]any
	var out []request
	affinity := func(name, refused, kind, when string, term fields) {
		term["labelSelector"] = fields{"matchLabels": fields{"a": "b"}}
		if when == preferred {
			term = fields{"weight": int64(1), "podAffinityTerm": term}
		}
		out = append(out, created(q, when+" "+kind+" "+name, refused, func(template fields) {
			template["spec"].(fields)["affinity"] = fields{kind: fields{when: []any{term}}}
		})...)
	}
	affinity("in a zone", "", "podAntiAffinity", required,
		fields{"topologyKey": "topology.kubernetes.io/zone", "namespaces": []any{}})
	affinity("on a node", "", "podAffinity", preferred, fields{"topologyKey": host})
	another := func() fields { return fields{"topologyKey": host, "namespaces": []any{"kube-system"}} }
	affinity("to another namespace", others, "podAntiAffinity", required, another())
	affinity("to another namespace", others, "podAffinity", preferred, another())
	affinity("to a list with its own namespace", others, "podAffinity", required,
		fields{"topologyKey": host, "namespaces": []any{"team-a"}})
	affinity("to all namespaces", others, "podAntiAffinity", required,
		fields{"topologyKey": host, "namespaceSelector": fields{}})
	affinity("to some namespaces", others, "podAntiAffinity", preferred, fields{
		"topologyKey": host, "namespaceSelector": fields{"matchLabels": fields{"team": "b"}},
	})
	affinity("in a region", domain, "podAntiAffinity", required, fields{"topologyKey": region})
	affinity("in a region", domain, "podAffinity", preferred, fields{"topologyKey": region})
	for name, c := range map[string]struct{ key, refused string }{
		"spread over nodes": {host, ""}, "spread over regions": {region, domain},
	} {
		out = append(out, tried(q, name, c.refused, func(template fields) {
			template["spec"].(fields)["topologySpreadConstraints"] = []any{
				fields{"topologyKey": c.key, "maxSkew": int64(1), "whenUnsatisfiable": "ScheduleAnyway"},
			}
		})...)
	}
	annotate := func(object fields) {
		metadata, _ := object["metadata"].(fields)
		if metadata == nil {
			metadata = fields{}
			object["metadata"] = metadata
		}
		metadata["annotations"] = fields{key: "kubernetes.io/os"}
	}
	out = append(out, tried(q, "an exclusive topology in its pods", exclusive, annotate)...)
	set := func(edit func(set, job fields)) fields {
		s := jobSet(q, q.class)
		templates := podTemplates(s)
		templates[0]["spec"].(fields)["containers"] = []any{worker(fields{"requests": amounts("1", "1Gi")})}
		edit(s, s["spec"].(fields)["replicatedJobs"].([]any)[0].(fields)["template"].(fields))
		return s
	}
	whole := func() fields { return set(func(set, _ fields) { annotate(set) }) }
	part := set(func(_, job fields) { annotate(job) })
	out = append(out,
		request{"jobset of an exclusive topology", member, jobSetKind, whole(), nil, exclusive},
		request{"jobset that gets an exclusive topology", member, jobSetKind, whole(), jobSet(q, q.class), exclusive},
		request{"jobset of an exclusive topology that was there", collector, jobSetKind, whole(), whole(), ""},
		request{"jobset with a job of an exclusive topology", member, jobSetKind, part, nil, exclusive})
	// The order of a map's keys is another one each time.
	child := func(i int) fields {
		fields := job(q)
		labels := map[string]any{"child": fmt.Sprint(i)}
		for _, name := range []string{"job-key", "job-index", "jobset-name", "replicatedjob-name", "restart-attempt"} {
			labels["jobset.sigs.k8s.io/"+name] = "x"
		}
		podTemplates(fields)[0]["metadata"] = map[string]any{"labels": labels}
		return fields
	}
	for i := range 5 {
		out = append(out,
			request{"job with labels of JobSet that were there", collector, jobKind, child(i), child(i), ""})
	}
	return append(out, tried(q, "a label of JobSet", "remove the labels of jobset.sigs.k8s.io", func(template fields) {
		template["metadata"] = fields{"labels": fields{"jobset.sigs.k8s.io/job-key": "x"}}
	})...)
}
