package policies

import "maps"

// lasting returns requests with a queue for jobs whose pods would keep nodes after their
// quota has been given to others. Some of the requests only look similar, and must be
// admitted.
func lasting(q queue) []request {
	type fields = map[string]any
	const (
		finalizer = "remove the finalizers"
		manager   = "remove managedBy"
		whole     = "delete the job together with its pods"
	)
	field := func(name string, value any) func(template fields) {
		return func(template fields) { template["spec"].(fields)[name] = value }
	}
	out := tried(q, "a scheduling gate", "remove schedulingGates", field("schedulingGates",
		[]any{fields{"name": "example.com/wait"}}))
	out = append(out, created(q, "a finalizer of its pods", finalizer+" example.com/mine", func(template fields) {
		template["metadata"] = fields{"finalizers": []any{"example.com/mine"}}
	})...)
	out = append(out, tried(q, "pods that are replaced while they end",
		"set podReplacementPolicy of the Job to Failed", field("terminationGracePeriodSeconds", int64(31)))...)
	// with returns a Job with fields of its spec and a list of finalizers.
	with := func(spec fields, finalizers ...any) fields {
		job := edited(job(q), field("terminationGracePeriodSeconds", int64(31)))
		job["spec"].(fields)["podReplacementPolicy"] = "Failed"
		maps.Copy(job["spec"].(fields), spec)
		if finalizers != nil {
			job["metadata"].(fields)["finalizers"] = finalizers
		}
		return job
	}
	set := func(spec fields, finalizers ...any) fields {
		set := edited(jobSet(q, q.class), func(fields) {})
		maps.Copy(set["spec"].(fields), spec)
		if finalizers != nil {
			set["metadata"].(fields)["finalizers"] = finalizers
		}
		return set
	}
	part := set(nil)
	jobs := part["spec"].(fields)["replicatedJobs"].([]any)
	jobs[0].(fields)["template"].(fields)["spec"].(fields)["managedBy"] = "x"
	body := func(options fields) fields {
		out := fields{"kind": deleteOptions, "apiVersion": "v1"}
		maps.Copy(out, options)
		return out
	}
	orphan, background := body(fields{"propagationPolicy": "Orphan"}), body(fields{"propagationPolicy": "Background"})
	return append(out,
		request{"job that replaces pods when they have ended", member, jobKind, with(nil), nil, ""},
		request{"job with a finalizer", member, jobKind, with(nil, "example.com/mine"), nil, finalizer},
		request{
			"job that gets a finalizer", member, jobKind, with(nil, "orphan"), with(nil), finalizer + " orphan",
		},
		request{"job that keeps a finalizer", member, jobKind, with(nil, "a/b"), with(nil, "a/b", "c/d"), ""},
		request{
			"job that keeps a finalizer and gets another", member, jobKind, with(nil, "a/b", "orphan"),
			with(nil, "a/b"), finalizer,
		},
		request{"job that loses its finalizers", member, jobKind, with(nil), with(nil, "a/b"), ""},
		request{"jobset with a finalizer", member, jobSetKind, set(nil, "example.com/mine"), nil, finalizer},
		request{
			"job of another controller", member, jobKind, with(fields{"managedBy": "x"}), nil,
			manager + ": no controller x starts",
		},
		request{
			"job of JobSet's controller", member, jobKind,
			with(fields{"managedBy": "jobset.sigs.k8s.io/jobset-controller"}), nil, manager,
		},
		request{
			"jobset of its controller", member, jobSetKind,
			set(fields{"managedBy": "jobset.sigs.k8s.io/jobset-controller"}), nil, "",
		},
		request{
			"job of the Job controller", member, jobKind,
			with(fields{"managedBy": "kubernetes.io/job-controller"}), nil, "",
		},
		request{
			"jobset of another controller", member, jobSetKind, set(fields{"managedBy": "kueue.x-k8s.io/multikueue"}),
			nil, manager,
		},
		request{"jobset with a job of another controller", member, jobSetKind, part, nil, manager},
		request{"job that is deleted as the API does it by default", member, jobKind, body(nil), with(nil), whole},
		request{"jobset that is deleted", member, jobSetKind, body(nil), set(nil), ""},
		request{"job of a jobset that is deleted", member, jobKind, background, owned(with(nil), "a", true), ""},
		request{
			"job that is deleted with its pods, by the deprecated field", member, jobKind,
			body(fields{"orphanDependents": false}), with(nil), "",
		},
		request{"job that is deleted in the background", member, jobKind, background, with(nil), ""},
		request{"job that is deleted without its pods", member, jobKind, orphan, with(nil), whole},
		request{
			"job that is deleted without its pods, by the deprecated field", member, jobKind,
			body(fields{"orphanDependents": true}), with(nil), whole,
		},
		request{"jobset that is deleted without its jobs", member, jobSetKind, orphan, set(nil), whole},
		request{"job that Kubernetes deletes", collector, jobKind, orphan, with(nil), ""})
}
