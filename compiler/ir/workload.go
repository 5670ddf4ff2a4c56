package ir

import "github.com/batchwright/batchwright/compiler/kinds"

// Kind is the kind of a workload's object. Code that all kinds share asks for its Facts.
type Kind string

// Kinds of workload that pages for people describe.
const (
	Job    Kind = kinds.Job
	JobSet Kind = kinds.JobSet
)

// JobSetNamespace is the namespace of JobSet.
const JobSetNamespace = kinds.JobSetNamespace

// Facts returns the facts of a kind.
func (k Kind) Facts() kinds.Kind { return kinds.Of(string(k)) }

// Workload is one object that a team submits.
type Workload struct {
	Template      string // name in the blueprint
	Name          string // name of the object
	Kind          Kind
	Team          string
	Namespace     string
	KubeAccount   string
	Queue         string // name of the LocalQueue
	PriorityClass string
	// WorkloadPriority is the WorkloadPriorityClass of the job, "" for the value of its
	// PriorityClass.
	WorkloadPriority string
	// Capacities are the capacities of the queue that the workload can run on, in
	// the queue's order.
	Capacities []string
	// Queueing holds the labels and annotations for the workload's scheduler.
	Queueing Queueing
	Pods     int
	// Slices is the number of TPU slices that a copy runs on. Each slice has an
	// equal share of Pods, one for each host. It is 0 without multi-host TPUs.
	Slices    int
	Requests  []Amount // requests of each pod; also its limits, except for cpu
	Image     string
	Command   []string    // nil means the image's command
	Env       []KeyValue  // as OrderVariables returns them
	SecretEnv []SecretEnv // by name
	// Bucket is the team's Cloud Storage bucket, "" if it has none.
	Bucket string
	// TensorBoard reports whether the pods get the name of the platform's
	// TensorBoard.
	TensorBoard  bool
	Files        []KeyValue // name and content, by name
	ConfigMap    string     // name of the ConfigMap that holds Files, "" without Files
	Port         int        // port of the rendezvous, 0 for none
	Shows        string     // what the log of the first pod shows, "" if the blueprint does not say
	ExampleLog   string     // an example of this log, "" for none
	Retries      int
	NodeSelector []KeyValue // by key
	Tolerations  []Taint    // by key
	// PlacementGroup is the group in which auto-provisioning places the nodes, or
	// "". It is one of NodeSelector's values.
	PlacementGroup string
	// Networks reports whether each pod claims the networks of its node's
	// accelerators. The pod then has the node to itself.
	Networks bool
	// GPUDirect is the transport between the GPUs of the pods, each of which has a
	// node to itself; "" for none.
	GPUDirect GPUDirect
	// DaemonImage is the image of the daemon that receives data for each pod, "" without
	// GPUDirect-TCPX and TCPXO.
	DaemonImage string
	// Interfaces are the network interfaces of each pod after its first, by number.
	// They are in the networks of its node, in the same order.
	Interfaces []Interface
	// HostNetwork reports whether pods use the network of their node.
	HostNetwork bool
	// Auxiliaries are the pods of a composite workload in addition to its own, by name.
	Auxiliaries []Auxiliary
	// MaxRunSeconds bounds the run, and the lifetime of its flex-start nodes. 0
	// means no bound.
	MaxRunSeconds int
	// GraceSeconds is the time that a pod may take to stop; 0 means the default.
	GraceSeconds int
	// UsualSeconds is the time from the start of a copy's pods to their end, 0 if the
	// blueprint does not say it.
	UsualSeconds int
	// KeepSeconds is the time after which Kubernetes deletes a copy that has ended.
	// 0 means never.
	KeepSeconds int
}

// Queueing holds the fields by which the scheduler recognises a job.
type Queueing struct {
	Labels, Annotations []KeyValue // of the queued object, by key
	PodLabels           []KeyValue // of its pods, by key
	SchedulerName       string     // of its pods, "" for the cluster's default scheduler
}

// SecretEnv is an environment variable whose value is in a Secret.
type SecretEnv struct {
	Name, Secret, Key string
	Notes             []string // for the administrator who creates the Secret
}

// Interface is a network interface of a pod.
type Interface struct{ Name, Network string }

// Auxiliary is a pod in addition to a workload's own. It has the workload's files,
// and takes no part in its rendezvous.
type Auxiliary struct {
	Name         string   // also the name of its replicated job
	Capacity     string   // capacity of the workload's queue that it runs on
	Requests     []Amount // also its limits, except for cpu
	Image        string
	Command      []string   // nil means the image's command
	Env          []KeyValue // as OrderVariables returns them
	NodeSelector []KeyValue // by key
	Tolerations  []Taint    // by key
	GraceSeconds int        // as in Workload
}
