// Package kinds is the table of the kinds of jobs that teams submit: their APIs, where
// their pods are, and the controllers that run them. All other packages read its rows.
// Only emit/workload, in a file for each kind, and rehearse/world have code for a kind,
// because a typed object needs its API.
package kinds

import "slices"

// Names of the kinds with code of their own.
const (
	Job    = "Job"
	JobSet = "JobSet"
)

// JobSetNamespace is the namespace of JobSet's controller.
const JobSetNamespace = "jobset-system"

// NegativePriority is the advisory on a JobSet whose PriorityClass has a negative value: it
// gets no pods.
const NegativePriority = "jobset-1280"

// Kind is a kind of jobs.
type Kind struct {
	Name                     string // in manifests, and in the blueprint
	Group, Version, Resource string // of its API: "batch", "v1", "jobs"
	Framework                string // Kueue's name of the kind
	// PodSets are the places of the pods in the spec of a job. None means that the spec is
	// that of a Job. No other kind has the first field of the first path.
	PodSets []PodSet
	// Composite reports whether a job consists of Jobs, one for each TPU slice and for each
	// auxiliary pod, which start together, and start again together if one fails.
	Composite      bool
	OwnService     bool // its controller creates the Service through which the pods find each other
	RehearsedByKAI bool // a rehearsal with KAI Scheduler plays it
	// Manager is the value of spec.managedBy that means its own controller, "" for none.
	Manager string
	// Exclusive is the annotation that gives each Job of a job a topology domain of its own,
	// by anti-affinity to pods in all namespaces, "" for none. Labels begin the labels that
	// mark such pods, which only the controller may set.
	Exclusive, Labels string
	// Priorities is the advisory on releases of the controller that start no jobs with a
	// negative priority, "" for none.
	Priorities string
	// Controller runs the jobs. It is nil for Kubernetes itself, and for a controller that
	// the platform does not install.
	Controller *Controller
}

// PodSet is a place of pods in the spec of a job: an object, or a list of objects.
type PodSet struct {
	Path           string
	List, Optional bool
	// Meta and Spec are the paths, below the object, of what has metadata and of what has
	// the pod template. "" is the object itself.
	Meta, Spec string
	Count      string // field of the object with the number of equal sets, "" for one
}

// Controller is a controller of jobs that the platform installs, unless others do.
type Controller struct {
	Name, Kind string // as written in a sentence, and the kind of its jobs
	Field      string // of versions and cluster.existing; its objects have the same name
	Namespace  string
	// Deployment and ChartDeployment are the names of its Deployment, and of its service
	// account, in the manifest of a release and in its chart.
	Deployment, ChartDeployment string
	Manifest                    string // URL of the manifest of a release, %s is the version
	Image, Chart                string // without a tag; the address in the chart's README.md
	// Secret holds its certificates. The chart declares the keys with empty values, and the
	// controller fills them in. A tool that applied the empty values again would take the
	// certificate away from the controller's webhooks.
	Secret string
	// Oldest is the oldest release whose API and service account the folder knows,
	// OldestExisting the oldest release of others that has all fields of the jobs, and
	// OldestSliced the oldest one that places the pods of a Job on one TPU slice. The
	// platform's tests run with release Tested.
	Oldest, OldestExisting, OldestSliced, Tested string
	SHA256                                       map[string]string // of the manifest, by version
	// Component is GKE's name of the metrics of the jobs, "" if it collects none, and
	// Metrics the first version that collects them.
	Component, Metrics string
}

// All returns all kinds, in the order in which manifests and texts list them.
func All() []Kind {
	return []Kind{
		{
			Name: Job, Group: "batch", Version: "v1", Resource: "jobs", Framework: "batch/job", RehearsedByKAI: true,
		},
		{
			Name: JobSet, Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets",
			Framework: "jobset.x-k8s.io/jobset",
			PodSets: []PodSet{
				{Path: "replicatedJobs", List: true, Meta: "template", Spec: "template.spec", Count: "replicas"},
			},
			Composite: true, OwnService: true, Manager: "jobset.sigs.k8s.io/jobset-controller",
			// JobSet reads the annotation of the JobSet, of a template of its Jobs, and of pods.
			// Source: JobSet 0.12, api/jobset/v1alpha2 and pkg/webhooks/pod_webhook.go.
			Exclusive: "alpha.jobset.sigs.k8s.io/exclusive-topology", Labels: "jobset.sigs.k8s.io/",
			Priorities: NegativePriority,
			Controller: &Controller{
				Name: "JobSet", Kind: JobSet, Field: "jobset", Namespace: JobSetNamespace,
				// Source: JobSet 0.12, charts/jobset and config/default.
				Deployment: "jobset-controller-manager", ChartDeployment: "jobset-controller",
				Manifest: "https://github.com/kubernetes-sigs/jobset/releases/download/v%s/manifests.yaml",
				Image:    "registry.k8s.io/jobset/jobset",
				Chart:    "oci://registry.k8s.io/jobset/charts/jobset", Secret: "jobset-webhook-server-cert",
				Oldest: "0.12.0", Tested: "0.12.0",
				// It lets Kueue change a JobSet that it suspends, and names its service account as
				// the policies do. The last field that came was failurePolicy.rules. Sources:
				// JobSet, api/jobset/v1alpha2/jobset_types.go, pkg/webhooks/jobset_webhook.go and
				// config/default at v0.5.2 and v0.6.0; kubernetes-sigs/jobset, pull request 644.
				OldestExisting: "0.6.0",
				// Older releases can divide the pods if the Job's first pod is about to end, for
				// example because Kueue has evicted the JobSet, or if its node is gone. Source:
				// JobSet, CHANGELOG-0.11; kubernetes-sigs/jobset, pull requests 1022, 1077 and 1089.
				OldestSliced: "0.11.0",
				// Source: see the pins of compiler/catalog.
				SHA256: map[string]string{
					"0.12.0": "a41aaf12dd0b7b0a3d626b8d6107f32c3dc889d7e7830adc46b8cdb77a8963bb",
				},
				// Source: GKE documentation, "Collect and view kube state metrics".
				Component: "JOBSET", Metrics: "1.32.1-gke.1357001",
			},
		},
	}
}

// Of returns the kind with a name, and a kind without a name if there is none.
func Of(name string) Kind {
	all := All()
	if i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return all[i]
	}
	return Kind{}
}

// Composite returns the kind whose jobs consist of Jobs.
func Composite() Kind {
	all := All()
	return all[slices.IndexFunc(all, func(k Kind) bool { return k.Composite })]
}

// Plurals returns the plurals of the names of all kinds.
func Plurals() []string {
	var out []string
	for _, k := range All() {
		out = append(out, k.Name+"s")
	}
	return out
}

// Frameworks returns Kueue's names of all kinds.
func Frameworks() []string {
	var out []string
	for _, k := range All() {
		out = append(out, k.Framework)
	}
	return out
}

// Controllers returns the controllers that the platform installs.
func Controllers() []Controller {
	var out []Controller
	for _, k := range All() {
		if k.Controller != nil {
			out = append(out, *k.Controller)
		}
	}
	return out
}

// WithControllers returns the names of software, and after them those of the controllers
// that the platform installs.
func WithControllers(software ...string) []string {
	for _, c := range Controllers() {
		software = append(software, c.Name)
	}
	return software
}
