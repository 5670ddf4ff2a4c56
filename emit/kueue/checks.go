package kueue

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

const (
	// requestLabel is the label of nodes that GKE starts for a ProvisioningRequest,
	// and requestDetail is the detail of the request that holds the label's value
	// (GKE documentation: "Run a large-scale workload with flex-start with queued
	// provisioning").
	requestLabel  = "autoscaling.gke.io/provisioning-request"
	requestDetail = "ResizeRequestName"
	// topologyParameter is the parameter with the topology of the requested TPU
	// slice (Google's Cluster Toolkit, module kubectl-apply).
	topologyParameter = "tpu-topology"
)

// admissionChecks returns the AdmissionChecks, each after the
// ProvisioningRequestConfig to which it refers.
func admissionChecks(p *ir.Platform) []any {
	var objects []any
	for _, c := range p.AdmissionChecks {
		pauses := c.Retry.Resolve()
		var managed []corev1.ResourceName
		for _, name := range c.Resources {
			managed = append(managed, corev1.ResourceName(name))
		}
		var parameters map[string]v1beta2.Parameter
		if c.Topology != "" {
			parameters = map[string]v1beta2.Parameter{topologyParameter: v1beta2.Parameter(c.Topology)}
		}
		objects = append(objects,
			&v1beta2.ProvisioningRequestConfig{
				TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "ProvisioningRequestConfig"),
				ObjectMeta: kubeyaml.Meta(p.Name, "", c.Name),
				Spec: v1beta2.ProvisioningRequestConfigSpec{
					ProvisioningClassName: c.Class,
					Parameters:            parameters,
					ManagedResources:      managed,
					// By default, Kueue deactivates the workload after three retries, in
					// about seven minutes.
					RetryStrategy: &v1beta2.ProvisioningRequestRetryStrategy{
						BackoffLimitCount:  new(int32(c.Retries)),
						BackoffBaseSeconds: new(int32(pauses.First)),
						BackoffMaxSeconds:  new(int32(pauses.Longest)),
					},
					// Keep the pods of a workload on the nodes that were started for
					// it.
					PodSetUpdates: &v1beta2.ProvisioningRequestPodSetUpdates{
						NodeSelector: []v1beta2.ProvisioningRequestPodSetUpdatesNodeSelector{
							{Key: requestLabel, ValueFromProvisioningClassDetail: requestDetail},
						},
					},
				},
			},
			&v1beta2.AdmissionCheck{
				TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "AdmissionCheck"),
				ObjectMeta: kubeyaml.Meta(p.Name, "", c.Name),
				Spec: v1beta2.AdmissionCheckSpec{
					ControllerName: v1beta2.ProvisioningRequestControllerName,
					Parameters: &v1beta2.AdmissionCheckParametersReference{
						APIGroup: v1beta2.SchemeGroupVersion.Group,
						Kind:     "ProvisioningRequestConfig",
						Name:     c.Name,
					},
				},
			},
		)
	}
	return objects
}
