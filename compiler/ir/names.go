package ir

import "fmt"

// Resources as Kubernetes names them.
const (
	CPU    = "cpu"
	Memory = "memory"
	GPU    = "nvidia.com/gpu"
	TPU    = "google.com/tpu"
)

// Namespaces of what is installed beside the teams.
const (
	KueueNamespace  = "kueue-system"
	KAINamespace    = "kai-scheduler"
	JobSetNamespace = "jobset-system"
	// KAIReservationNamespace is where KAI Scheduler holds GPUs that pods share.
	KAIReservationNamespace = "kai-resource-reservation"
)

// KueueWebhooks is the folder below kubernetes/ with the kustomize component that
// narrows the webhooks of Kueue's release.
const KueueWebhooks = "system/kueue-webhooks"

// PodsReadyMinutes is how long Kueue gives the pods of an admitted workload to
// be ready, before it evicts them and queues the workload again: longer than a
// GPU node takes to start and to pull an image.
const PodsReadyMinutes = 30

// CalendarReservation is the kind of reservation that was booked for some days,
// after which Compute Engine takes the machines back.
const CalendarReservation = "calendar"

// LabelKueueQueue names a job's LocalQueue, LabelKAIQueue a workload's queue.
// Source: Kueue, pkg/controller/constants; KAI Scheduler's documentation,
// "Scheduling queues".
const (
	LabelKueueQueue = "kueue.x-k8s.io/queue-name"
	LabelKAIQueue   = "kai.scheduler/queue"
)

// QueueLabel is the label by which a job names its queue.
func (p *Platform) QueueLabel() string {
	if p.Scheduler == KAI {
		return LabelKAIQueue
	}
	return LabelKueueQueue
}

// AnnotationMaxRun of a job tells how long, in seconds, its nodes are wanted that
// start on request: Kueue hands it to the ProvisioningRequest as a parameter.
// AnnotationKAIMembers of a Job tells KAI Scheduler how many of its pods start
// together. Source: Kueue, pkg/controller/constants; KAI Scheduler 0.17,
// pkg/podgrouper/podgrouper/plugins/constants.
const (
	AnnotationMaxRun     = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"
	AnnotationKAIMembers = "kai.scheduler/batch-min-member"
)

// LabelNodePool is the label that GKE gives nodes with the name of their pool.
const LabelNodePool = "cloud.google.com/gke-nodepool"

// LabelPlacementGroup is the label by which pods ask node auto-provisioning for
// nodes close together. Source: GKE documentation, "Compact placement".
const LabelPlacementGroup = "cloud.google.com/gke-placement-group"

// Names of a team's queues are these prefixes and the same TEAM-TIER.
const (
	ClusterQueuePrefix = "cq-"
	LocalQueuePrefix   = "lq-"
)

// Labels of every object in the cluster, by the recommendation of the
// Kubernetes documentation ("Recommended Labels"), and of a team's namespace.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelTeam      = "team"
)

// ReplicatedJob is the name of a JobSet's replicated job of the workload's own
// pods: "slice" where each of its Jobs has a TPU slice. A pod of it is named, as
// host too, WORKLOAD-REPLICATEDJOB-JOB-POD.
func (w Workload) ReplicatedJob() string {
	if w.Slices > 0 {
		return "slice"
	}
	return "worker"
}

// Environment of pods that find each other, by the names that PyTorch gives
// it, and the number of the pod's Job where a workload has several.
const (
	EnvMasterAddr = "MASTER_ADDR"
	EnvMasterPort = "MASTER_PORT"
	EnvNodes      = "NNODES"
	EnvJobIndex   = "JOB_INDEX"
)

// Environment of pods whose team has a bucket, and of those of a platform with
// a TensorBoard: the bucket's name, and the TensorBoard's resource name.
const (
	EnvBucket      = "BUCKET"
	EnvTensorBoard = "TENSORBOARD"
)

// TensorBoardConfig is the ConfigMap in each team's namespace that holds the
// TensorBoard's resource name under TensorBoardKey: Google Cloud gives it a
// number, so that the build writes it.
const (
	TensorBoardConfig = "tensorboard"
	TensorBoardKey    = "name"
)

// InfrastructureManagerTerraform is the version of Terraform that Infrastructure
// Manager runs, the latest it has. Source: its documentation, "Terraform and
// Infrastructure Manager".
const InfrastructureManagerTerraform = "1.5.7"

// Deployment is the full name of the platform's deployment of Infrastructure
// Manager.
func (p *Platform) Deployment() string {
	return "projects/" + p.Project + "/locations/" + p.Delivery.Region + "/deployments/" + p.Name
}

// SourcePrefix is where the sources of the builds are in the platform's bucket.
func (p *Platform) SourcePrefix() string { return p.Name + "/source" }

// CloudDashboards is the folder of the dashboards for Cloud Monitoring, which
// Terraform reads. Infrastructure Manager gets Terraform's own folder and no
// other.
func (p *Platform) CloudDashboards() string {
	if p.Delivery.InfrastructureManager {
		return "terraform/dashboards"
	}
	return "dashboards/cloud-monitoring"
}

// HelmImage is the image that the build takes Helm from.
func (v Versions) HelmImage() string { return pinImage("alpine/helm:"+v.Helm, v.SHA256.Helm) }

// TerraformImage is the image that the build runs Terraform in.
func (v Versions) TerraformImage() string {
	return pinImage("hashicorp/terraform:"+v.Terraform, v.SHA256.Terraform)
}

// GcloudImage is the image of the Google Cloud CLI.
func (v Versions) GcloudImage() string {
	return pinImage("gcr.io/google.com/cloudsdktool/google-cloud-cli:"+v.Gcloud, v.SHA256.Gcloud)
}

// pinImage adds a digest, unless it is "", to an image with a tag.
func pinImage(image, digest string) string {
	if digest == "" {
		return image
	}
	return image + "@sha256:" + digest
}

// KueueManifest is the address of the manifest of a Kueue release.
func (v Versions) KueueManifest() string {
	return fmt.Sprintf("https://github.com/kubernetes-sigs/kueue/releases/download/v%s/manifests.yaml", v.Kueue)
}

// JobSetManifest is the address of the manifest of a JobSet release.
func (v Versions) JobSetManifest() string {
	return fmt.Sprintf("https://github.com/kubernetes-sigs/jobset/releases/download/v%s/manifests.yaml", v.JobSet)
}
