package kueue

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// managerConfiguration is Kueue's own configuration: the part of the API
// config.kueue.x-k8s.io/v1beta2 that is set here. The API's Go type depends on the
// entire Kubernetes client, which a compiler does not need.
type managerConfiguration struct {
	metav1.TypeMeta              `json:",inline"`
	Health                       health                `json:"health"`
	Metrics                      metrics               `json:"metrics"`
	Webhook                      webhook               `json:"webhook"`
	LeaderElection               leaderElection        `json:"leaderElection"`
	Controller                   controller            `json:"controller"`
	ClientConnection             clientConnection      `json:"clientConnection"`
	ManageJobsWithoutQueueName   bool                  `json:"manageJobsWithoutQueueName"`
	ManagedJobsNamespaceSelector *metav1.LabelSelector `json:"managedJobsNamespaceSelector"`
	WaitForPodsReady             waitForPodsReady      `json:"waitForPodsReady"`
	Integrations                 integrations          `json:"integrations"`
	FeatureGates                 map[string]bool       `json:"featureGates"`
	Resources                    resources             `json:"resources"`
}

type health struct {
	HealthProbeBindAddress string `json:"healthProbeBindAddress"`
}

type metrics struct {
	BindAddress                 string `json:"bindAddress"`
	EnableClusterQueueResources bool   `json:"enableClusterQueueResources"`
}

type webhook struct {
	Port int `json:"port"`
}

type leaderElection struct {
	LeaderElect  bool   `json:"leaderElect"`
	ResourceName string `json:"resourceName"`
}

type controller struct {
	GroupKindConcurrency map[string]int `json:"groupKindConcurrency"`
}

type clientConnection struct {
	QPS   int `json:"qps"`
	Burst int `json:"burst"`
}

type waitForPodsReady struct {
	Timeout           string            `json:"timeout"`
	RecoveryTimeout   string            `json:"recoveryTimeout"`
	BlockAdmission    bool              `json:"blockAdmission"`
	RequeuingStrategy requeuingStrategy `json:"requeuingStrategy"`
}

type requeuingStrategy struct {
	Timestamp          string `json:"timestamp"`
	BackoffBaseSeconds int    `json:"backoffBaseSeconds"`
	BackoffMaxSeconds  int    `json:"backoffMaxSeconds"`
}

type integrations struct {
	Frameworks []string `json:"frameworks"`
}

type resources struct {
	ExcludeResourcePrefixes []string `json:"excludeResourcePrefixes"`
}

// featureGates returns the gates that differ from Kueue's defaults.
func featureGates(p *ir.Platform) map[string]bool {
	// Report why workloads wait (metric unadmitted_workloads).
	gates := map[string]bool{"UnadmittedWorkloadsObservability": true}
	if p.AnyCapacity(ir.Capacity.HasAcceleratorNetworks) {
		// Kueue counts claims for a number of devices, and holds up workloads that
		// claim all devices, as pods do for the networks of their GPUs. The quota of
		// the GPUs limits both.
		for _, gate := range []string{
			"KueueDRAIntegration", "KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices",
			"KueueDRARejectWorkloadsWhenDRADisabled",
		} {
			gates[gate] = false
		}
	}
	return gates
}

// Configuration returns the text that Kueue's controller reads when it starts. It sets
// the values of the release (Kueue 0.19:
// config/components/manager/controller_manager_config.yaml), except for the frameworks,
// the metrics, the managed jobs, the resources that are not counted, and how long Kueue
// waits for pods.
func Configuration(p *ir.Platform) ([]byte, error) {
	return kubeyaml.Marshal(&managerConfiguration{
		TypeMeta:       metav1.TypeMeta{APIVersion: "config.kueue.x-k8s.io/v1beta2", Kind: "Configuration"},
		Health:         health{HealthProbeBindAddress: ":8081"},
		Metrics:        metrics{BindAddress: ":8443", EnableClusterQueueResources: true},
		Webhook:        webhook{Port: 9443},
		LeaderElection: leaderElection{LeaderElect: true, ResourceName: "c1f6bfd2.kueue.x-k8s.io"},
		Controller: controller{GroupKindConcurrency: map[string]int{
			"Job.batch":                     5,
			"Pod":                           5,
			"Workload.kueue.x-k8s.io":       10,
			"LocalQueue.kueue.x-k8s.io":     5,
			"Cohort.kueue.x-k8s.io":         1,
			"ClusterQueue.kueue.x-k8s.io":   5,
			"ResourceFlavor.kueue.x-k8s.io": 1,
		}},
		ClientConnection: clientConnection{QPS: 300, Burst: 500},
		// A job that got past the admission policy stays suspended.
		ManageJobsWithoutQueueName:   true,
		ManagedJobsNamespaceSelector: kubeyaml.TeamNamespaces(p.Name),
		// If some pods of a workload cannot run, the workload gives back its quota
		// and its nodes: two workloads that each hold half of their nodes would wait
		// for each other for ever.
		WaitForPodsReady: waitForPodsReady{
			// Several GPU nodes may have to start, install their driver and pull the
			// image.
			Timeout:         strconv.Itoa(ir.PodsReadyMinutes) + "m",
			RecoveryTimeout: strconv.Itoa(ir.RecoveryMinutes) + "m",
			// One team's slow start must not hold up the others.
			BlockAdmission: false,
			// Requeue behind the workloads that already wait, after a pause that
			// doubles each time.
			RequeuingStrategy: requeuingStrategy{
				Timestamp: "Eviction", BackoffBaseSeconds: 60, BackoffMaxSeconds: 3600,
			},
		},
		FeatureGates: featureGates(p),
		// Kueue never admits a job that requests a resource that its queue does not
		// cover. No team has quota for ephemeral storage: the nodes themselves limit
		// it.
		Resources:    resources{ExcludeResourcePrefixes: []string{string(corev1.ResourceEphemeralStorage)}},
		Integrations: integrations{Frameworks: ir.KueueFrameworks()},
	})
}

// ConfigMap returns the ConfigMap with the configuration. It replaces the release's
// ConfigMap.
func ConfigMap(p *ir.Platform) (*corev1.ConfigMap, error) {
	text, err := Configuration(p)
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "ConfigMap"),
		ObjectMeta: kubeyaml.Meta(p.Name, ir.KueueNamespace, "kueue-manager-config"),
		Data:       map[string]string{"controller_manager_config.yaml": string(text)},
	}, nil
}
