package workload

import (
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
)

const (
	// networks is the name of a pod's claim and of the only request in the claim.
	networks = "networks"
	// networkClass is the class of the network interfaces between accelerators
	// (Google's Cluster Toolkit, example gke-a4x).
	networkClass = "mrdma.google.com"
)

// networkClaim returns the template with which each pod of a workload claims all
// accelerator networks of its node. It has the name of the workload.
func networkClaim(p *ir.Platform, w ir.Workload) *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{
		TypeMeta:   metav1.TypeMeta{APIVersion: resourcev1.SchemeGroupVersion.String(), Kind: "ResourceClaimTemplate"},
		ObjectMeta: objectMeta(p, w, w.Name),
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{
				Name: networks,
				Exactly: &resourcev1.ExactDeviceRequest{
					DeviceClassName: networkClass, AllocationMode: resourcev1.DeviceAllocationModeAll,
				},
			}},
		}}},
	}
}
