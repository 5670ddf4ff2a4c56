package ir

// Kind is the kind of a workload's object.
type Kind string

// Kinds of workload.
const (
	Job    Kind = "Job"
	JobSet Kind = "JobSet"
)

// Workload is one object a team submits.
type Workload struct {
	Template      string // the blueprint's name of it
	Name          string // of the object
	Kind          Kind
	Team          string
	Namespace     string
	KubeAccount   string
	Queue         string // LocalQueue
	PriorityClass string
	// Capacities are those of the queue it can run on, in the queue's order.
	Capacities []string
	// Queueing is what the queued object bears for its scheduler.
	Queueing Queueing
	Pods     int
	// Slices are the TPU slices a copy runs on, each with an equal share of
	// Pods, one for each host; 0 without multi-host TPUs.
	Slices    int
	Requests  []Amount // of each pod; but for cpu also its limits
	Image     string
	Command   []string    // nil leaves it to the image
	Env       []KeyValue  // by name
	SecretEnv []SecretEnv // by name
	// Bucket is the team's Cloud Storage bucket, "" without.
	Bucket string
	// TensorBoard tells that the pods get the name of the platform's TensorBoard.
	TensorBoard  bool
	Files        []KeyValue // name and content, by name
	ConfigMap    string     // that holds Files, "" without
	Port         int        // of the rendezvous, 0 without
	Retries      int
	NodeSelector []KeyValue // by key
	Tolerations  []Taint    // by key
	// PlacementGroup is the group in which auto-provisioning places the nodes,
	// one of NodeSelector's values, or "".
	PlacementGroup string
	// Networks tells that each pod, which has a node to itself, claims the
	// networks of the node's accelerators.
	Networks bool
	// GPUDirect is how pods, each with a node to itself, reach the GPUs of others,
	// "" for not.
	GPUDirect GPUDirect
	// Interfaces are those that each pod has besides its first, by their number:
	// of the networks of its node, in the same order.
	Interfaces []Interface
	// HostNetwork gives pods the network of their node.
	HostNetwork bool
	// Auxiliaries are pods beside those of a JobSet, by name.
	Auxiliaries []Auxiliary
	// MaxRunSeconds bounds the run: what the workload asks for, and what its
	// flex-start nodes last. 0 for no bound.
	MaxRunSeconds int
	// GraceSeconds is how long a pod may take to stop; 0 leaves the default.
	GraceSeconds int
}

// Queueing is how a job is known to its scheduler.
type Queueing struct {
	Labels, Annotations []KeyValue // of the object that is queued, by key
	PodLabels           []KeyValue // of its pods, by key
	SchedulerName       string     // of its pods, "" for the cluster's own
}

// SecretEnv is an environment variable whose value is in a Secret.
type SecretEnv struct{ Name, Secret, Key string }

// Interface is a network interface of a pod.
type Interface struct{ Name, Network string }

// Auxiliary is a pod beside a workload's. It has the workload's files, and no
// part in its rendezvous.
type Auxiliary struct {
	Name         string   // also of its replicated job
	Capacity     string   // it runs on, of the workload's queue
	Requests     []Amount // but for cpu also its limits
	Image        string
	Command      []string   // nil leaves it to the image
	Env          []KeyValue // by name
	NodeSelector []KeyValue // by key
	Tolerations  []Taint    // by key
	GraceSeconds int        // as the workload's
}
