package kueue

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

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
// waits for pods. The API's Go type depends on the entire Kubernetes client, which a compiler
// does not need.
func Configuration(p *ir.Platform) ([]byte, error) {
	fields := kubeyaml.Fields{
		"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
		"health":         kubeyaml.Fields{"healthProbeBindAddress": ":8081"},
		"metrics":        kubeyaml.Fields{"bindAddress": ":8443", "enableClusterQueueResources": true},
		"webhook":        kubeyaml.Fields{"port": 9443},
		"leaderElection": kubeyaml.Fields{"leaderElect": true, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
		"controller": kubeyaml.Fields{"groupKindConcurrency": map[string]int{
			"Job.batch":                     5,
			"Pod":                           5,
			"Workload.kueue.x-k8s.io":       10,
			"LocalQueue.kueue.x-k8s.io":     5,
			"Cohort.kueue.x-k8s.io":         1,
			"ClusterQueue.kueue.x-k8s.io":   5,
			"ResourceFlavor.kueue.x-k8s.io": 1,
		}},
		"clientConnection": kubeyaml.Fields{"qps": 300, "burst": 500},
		// A job that got past the admission policy stays suspended.
		"manageJobsWithoutQueueName":   true,
		"managedJobsNamespaceSelector": kubeyaml.TeamNamespaces(p.Name),
		// If some pods of a workload cannot run, the workload gives back its quota
		// and its nodes: two workloads that each hold half of their nodes would wait
		// for each other for ever.
		"waitForPodsReady": kubeyaml.Fields{
			// Several GPU nodes may have to start, install their driver and pull the
			// image.
			"timeout":         strconv.Itoa(ir.PodsReadyMinutes) + "m",
			"recoveryTimeout": strconv.Itoa(ir.RecoveryMinutes) + "m",
			// One team's slow start must not hold up the others.
			"blockAdmission": false,
			// Requeue behind the workloads that already wait, after a pause that
			// doubles each time.
			"requeuingStrategy": kubeyaml.Fields{
				"timestamp": "Eviction", "backoffBaseSeconds": 60, "backoffMaxSeconds": 3600,
			},
		},
		"featureGates": featureGates(p),
		// Kueue never admits a job that requests a resource that its queue does not
		// cover. No team has quota for ephemeral storage: the nodes themselves limit
		// it.
		"resources":    kubeyaml.Fields{"excludeResourcePrefixes": []string{ir.EphemeralStorage}},
		"integrations": kubeyaml.Fields{"frameworks": ir.KueueFrameworks()},
	}
	if slices.Contains(p.QuotaResources(), ir.EphemeralStorage) {
		delete(fields, "resources")
	}
	return kubeyaml.Marshal(fields)
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
