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
// the metrics, the managed jobs, the resources that are not counted, fair sharing, and how
// long Kueue waits for pods. The API's Go type depends on the entire Kubernetes client, which a compiler
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
		"waitForPodsReady":             waitForPodsReady(p.PodsReady()),
		"featureGates":                 featureGates(p),
		// Kueue never admits a job that requests a resource that its queue does not
		// cover. No team has quota for ephemeral storage: the nodes themselves limit
		// it.
		"resources":    kubeyaml.Fields{"excludeResourcePrefixes": []string{ir.EphemeralStorage}},
		"integrations": kubeyaml.Fields{"frameworks": ir.KueueFrameworks()},
	}
	if slices.Contains(p.QuotaResources(), ir.EphemeralStorage) {
		delete(fields, "resources")
	}
	if s := p.KueueSettings.Strategies; s != nil {
		fields["fairSharing"] = kubeyaml.Fields{"preemptionStrategies": s}
	}
	if u := p.KueueSettings.Usage; u != nil {
		fields["admissionFairSharing"] = admissionFairSharing(u)
	}
	return kubeyaml.Marshal(fields)
}

// waitForPodsReady returns what Kueue does if some pods of a workload cannot run. The workload
// gives back its quota and its nodes: two workloads that each hold half of their nodes would
// wait for each other for ever. By default it queues again behind the workloads that already
// wait, and holds up nobody.
func waitForPodsReady(r ir.PodsReady) kubeyaml.Fields {
	requeuing := kubeyaml.Fields{
		"timestamp": r.Place, "backoffBaseSeconds": r.First, "backoffMaxSeconds": r.Longest,
	}
	if r.Limit != nil {
		requeuing["backoffLimitCount"] = *r.Limit
	}
	return kubeyaml.Fields{
		"timeout": printSeconds(r.Timeout), "recoveryTimeout": printSeconds(r.Recovery), "blockAdmission": r.Blocks,
		"requeuingStrategy": requeuing,
	}
}

// admissionFairSharing returns how Kueue measures what teams have used.
func admissionFairSharing(u *ir.UsageSettings) kubeyaml.Fields {
	out := kubeyaml.Fields{
		"usageHalfLifeTime": printSeconds(u.HalfLife), "usageSamplingInterval": printSeconds(u.Interval),
	}
	if u.Weights != nil {
		weights := kubeyaml.Fields{}
		for _, w := range u.Weights {
			weights[w.Resource] = w.Weight
		}
		out["resourceWeights"] = weights
	}
	return out
}

// printSeconds returns a duration as Kueue reads it, in minutes if it is whole minutes.
func printSeconds(seconds int) string {
	if seconds%60 == 0 {
		return strconv.Itoa(seconds/60) + "m"
	}
	return strconv.Itoa(seconds) + "s"
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
