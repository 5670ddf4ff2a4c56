package ir

import (
	"fmt"
	"slices"
	"strings"
)

// Names of resources in Kubernetes.
const (
	CPU    = "cpu"
	Memory = "memory"
	GPU    = "nvidia.com/gpu"
	TPU    = "google.com/tpu"
	Pods   = "pods"
	// EphemeralStorage is the disk of a node that its pods share. The platform's nodes limit
	// it; a queue counts it only if its quota names it.
	EphemeralStorage = "ephemeral-storage"
)

// Namespaces of the software that is installed beside the teams.
const (
	KueueNamespace = "kueue-system"
	KAINamespace   = "kai-scheduler"
	// kaiReservationNamespace is the namespace in which KAI Scheduler holds GPUs
	// that pods share.
	kaiReservationNamespace = "kai-resource-reservation"
)

// KueueWebhooks is the folder below kubernetes/ that holds the kustomize component
// which narrows the webhooks of Kueue's release.
const KueueWebhooks = "system/kueue-webhooks"

// LabelKueueQueue names a job's LocalQueue, and LabelKAIQueue a workload's queue.
// Source: Kueue, pkg/controller/constants; KAI Scheduler's documentation,
// "Scheduling queues".
const (
	LabelKueueQueue = "kueue.x-k8s.io/queue-name"
	LabelKAIQueue   = "kai.scheduler/queue"
	// LabelWorkloadPriority names the WorkloadPriorityClass of a job.
	LabelWorkloadPriority = "kueue.x-k8s.io/priority-class"
)

// QueueLabel returns the label by which a job names its queue.
func (p *Platform) QueueLabel() string { return p.Scheduler.Facts().QueueLabel }

// AnnotationMaxRun holds the time, in seconds, for which a job wants its flex-start
// nodes; Kueue passes it to the ProvisioningRequest as a parameter.
// AnnotationKAIMembers holds the number of a Job's pods that KAI Scheduler must
// start together. Source: Kueue, pkg/controller/constants; KAI Scheduler 0.17,
// pkg/podgrouper/podgrouper/plugins/constants.
const (
	AnnotationMaxRun     = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"
	AnnotationKAIMembers = "kai.scheduler/batch-min-member"
)

// LabelCapacity names the capacity of a pool, and so keeps capacities apart. All
// pools have it, although GKE labels a single pool with its name: Kueue ignores a
// label in a pod's node selector if the flavor does not have that label. See
// rules.chosenApart.
const LabelCapacity = "capacity"

// LabelResourceType is the node label that says how a node was obtained.
const LabelResourceType = "resource-type"

// LabelNodePool is the label in which GKE gives nodes the name of their pool.
const LabelNodePool = "cloud.google.com/gke-nodepool"

// LabelPlacementGroup is the label with which pods ask node auto-provisioning for
// nodes close together. Source: GKE documentation, "Compact placement".
const LabelPlacementGroup = "cloud.google.com/gke-placement-group"

// Prefixes of the default names of a team's queues. TEAM-TIER follows the prefix. The
// name of a shared ClusterQueue has only TIER after it.
const (
	ClusterQueuePrefix = "cq-"
	LocalQueuePrefix   = "lq-"
)

// NamesLocalQueue reports whether the blueprint names a LocalQueue of a team's queue of
// Kueue, so that the name does not follow from team and tier.
func (t *Team) NamesLocalQueue(q Queue) bool {
	return slices.ContainsFunc(q.LocalQueueNames(), func(name string) bool {
		return name != LocalQueuePrefix+t.Name+"-"+q.Tier
	})
}

// NamesClusterQueue reports whether the blueprint names the ClusterQueue of a team's
// queue of Kueue, or of the queue that the team shares.
func (t *Team) NamesClusterQueue(q Queue) bool {
	if q.Shared {
		return q.ClusterQueue != ClusterQueuePrefix+q.Tier
	}
	return q.ClusterQueue != ClusterQueuePrefix+t.Name+"-"+q.Tier
}

// LocalQueueExample returns the name of a LocalQueue for a text about every team:
// "LOCALQUEUE" if the blueprint names some of them, otherwise the pattern of all names.
func (p *Platform) LocalQueueExample() string {
	for i := range p.Teams {
		if t := &p.Teams[i]; slices.ContainsFunc(t.Queues, t.NamesLocalQueue) {
			return "LOCALQUEUE"
		}
	}
	return LocalQueuePrefix + "TEAM-TIER"
}

// QueueExamples are the name of a team's own ClusterQueue, and the name of a ClusterQueue
// that teams share.
type QueueExamples struct{ Own, Shared string }

// ClusterQueueExamples returns names for a text about every team: "CLUSTERQUEUE" if the
// blueprint names some of the ClusterQueues, otherwise the pattern of all names.
func (p *Platform) ClusterQueueExamples() QueueExamples {
	out := QueueExamples{ClusterQueuePrefix + "TEAM-TIER", ClusterQueuePrefix + "TIER"}
	for i := range p.Teams {
		t := &p.Teams[i]
		for _, q := range t.Queues {
			switch {
			case !t.NamesClusterQueue(q):
			case q.Shared:
				out.Shared = "CLUSTERQUEUE"
			default:
				out.Own = "CLUSTERQUEUE"
			}
		}
	}
	return out
}

// Labels of every object in the cluster, as the Kubernetes documentation recommends
// ("Recommended Labels"), and labels of a team's namespace.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelTeam      = "team"
)

// ManagedBy is the value of LabelManagedBy.
const ManagedBy = "batchwright"

// Labels of every Google Cloud resource that can have labels.
const (
	CloudLabelManagedBy = "managed-by"
	CloudLabelPlatform  = "platform"
)

// CloudLabels returns the labels of the resources that create-platform.sh creates:
// the labels that Terraform gives to its own resources.
func (p *Platform) CloudLabels() []KeyValue {
	return append([]KeyValue{{CloudLabelManagedBy, "batchwright"}, {CloudLabelPlatform, p.Name}}, p.Labels...)
}

// ReplicatedJob returns the name of the replicated job of a composite workload with the
// workload's own pods. It is "slice" if each of its Jobs has a TPU slice. The name of a pod,
// and its host name, is WORKLOAD-REPLICATEDJOB-JOB-POD.
func (w Workload) ReplicatedJob() string {
	if w.Slices > 0 {
		return "slice"
	}
	return "worker"
}

// Environment variables of pods that find each other, with the names that PyTorch
// uses, and the number of the pod's Job if a workload has several.
const (
	EnvMasterAddr = "MASTER_ADDR"
	EnvMasterPort = "MASTER_PORT"
	EnvNodes      = "NNODES"
	EnvJobIndex   = "JOB_INDEX"
)

// Environment variables with the name of the team's bucket, and with the resource
// name of the platform's TensorBoard.
const (
	EnvBucket      = "BUCKET"
	EnvTensorBoard = "TENSORBOARD"
)

// TensorBoardConfig is the ConfigMap in each team's namespace that holds the
// TensorBoard's resource name under TensorBoardKey. The build writes the ConfigMap,
// because the resource name has a number that Google Cloud assigns.
const (
	TensorBoardConfig = "tensorboard"
	TensorBoardKey    = "name"
)

// InfrastructureManagerTerraform is the version of Terraform that Infrastructure
// Manager runs, the latest that it offers. Source: its documentation, "Terraform and
// Infrastructure Manager".
const InfrastructureManagerTerraform = "1.5.7"

// ClusterPath returns the full name of the platform's cluster.
func (p *Platform) ClusterPath() string {
	return "projects/" + p.Project + "/locations/" + p.Cluster.Location + "/clusters/" + p.Cluster.Name
}

// Deployment returns the full name of the platform's Infrastructure Manager
// deployment.
func (p *Platform) Deployment() string {
	return "projects/" + p.Project + "/locations/" + p.Delivery.Region + "/deployments/" + p.Name
}

// ImageRepository returns the name of the repository of the teams' images, as images
// begin with it. A project ID with a domain has a slash for its colon there.
func (p *Platform) ImageRepository() string {
	project := strings.ReplaceAll(p.Project, ":", "/")
	return p.Delivery.Region + "-docker.pkg.dev/" + project + "/" + p.Delivery.Repository
}

// ImageAccount returns the account of the builds that make images for the teams. An
// administrator creates it when the first image is needed.
func (p *Platform) ImageAccount() ServiceAccount {
	return ServiceAccount{ID: p.Name + "-image", Display: "Builds images for " + p.Name}
}

// ImageSubstitution is the substitution with the name and the tag of an image to build.
const ImageSubstitution = "_IMAGE"

// ImageSourcePrefix returns the prefix of the sources of images in the platform's
// bucket.
func (p *Platform) ImageSourcePrefix() string { return p.Name + "/images" }

// SourcePrefix returns the prefix of the build sources in the platform's bucket.
func (p *Platform) SourcePrefix() string { return p.Name + "/source" }

// CloudDashboards returns the folder of the Cloud Monitoring dashboards, which
// Terraform reads. Infrastructure Manager receives only Terraform's own folder.
func (p *Platform) CloudDashboards() string {
	if p.Delivery.InfrastructureManager {
		return "terraform/dashboards"
	}
	return "dashboards/cloud-monitoring"
}

// HelmImage returns the image from which the build takes Helm.
func (v Versions) HelmImage() string { return pinImage("alpine/helm:"+v.Helm, v.SHA256.Helm) }

// TerraformImage returns the image in which the build runs Terraform.
func (v Versions) TerraformImage() string {
	return pinImage("hashicorp/terraform:"+v.Terraform, v.SHA256.Terraform)
}

// GcloudImage returns the image of the Google Cloud CLI.
func (v Versions) GcloudImage() string {
	return pinImage("gcr.io/google.com/cloudsdktool/google-cloud-cli:"+v.Gcloud, v.SHA256.Gcloud)
}

// pinImage appends the digest, unless it is "", to an image with a tag.
func pinImage(image, digest string) string {
	if digest == "" {
		return image
	}
	return image + "@sha256:" + digest
}

// KueueManifest returns the URL of the manifest of a Kueue release.
func (v Versions) KueueManifest() string {
	return fmt.Sprintf("https://github.com/kubernetes-sigs/kueue/releases/download/v%s/manifests.yaml", v.Kueue)
}
