package catalog

import _ "embed"

// Source: the classic GPU metrics, vCPU metrics of a name of their own and that
// of standard persistent disks are of the Compute Engine API's Quota.metric; those of newer GPUs and of TPUs are
// of Google's Cluster Toolkit and the Cloud Quotas documentation. That e2 and n1
// count in CPUS, that the other families count in the metric of their name, and
// that balanced persistent disks count as SSDs, is of Google's Cluster Toolkit
// (pkg/validators/quota.go). cpus_per_vm_family and its dimension vm_family were
// read off projects.
//
//go:embed quotas.jsonl
var quotas string

// Quota is the quota metrics something counts against; "" is a metric that no
// source names.
type Quota struct {
	Standard string `json:"standard,omitzero"`

	// Preemptible is for Spot and flex-start.
	Preemptible string `json:"preemptible,omitzero"`

	// Note is about the standard metric's name, "" for nothing.
	Note string `json:"note,omitzero"`
}

// quotaRow has one of the three subjects.
type quotaRow struct {
	Accelerator string `json:"accelerator,omitzero"`
	Disk        string `json:"disk,omitzero"`
	Family      string `json:"family,omitzero"`
	Quota
}

func quotaOf(kind, name string) Quota {
	row := rows(quotas, kind, name)
	if row == "" {
		return Quota{}
	}
	return decode[quotaRow](row).Quota
}

// QuotaMetrics returns the metrics of a GKE accelerator type.
func QuotaMetrics(accelerator string) Quota { return quotaOf("accelerator", accelerator) }

// CPUQuota returns the vCPU metric of a machine family, which is "" if no source
// names it.
func CPUQuota(family string) Quota { return quotaOf("family", family) }

// DiskMetric returns the metric of a disk type's size, "" if no source names it.
func DiskMetric(diskType string) string { return quotaOf("disk", diskType).Standard }
