package catalog

import _ "embed"

// Sources: the classic GPU metrics, the vCPU metrics with a name of their own and
// the metric of standard persistent disks are from the Compute Engine API's
// Quota.metric; the metrics of newer GPUs and of TPUs are from Google's Cluster
// Toolkit and the Cloud Quotas documentation. Google's Cluster Toolkit
// (pkg/validators/quota.go) says that e2 and n1 count in CPUS, that the other
// families count in the metric of their name, and that balanced persistent disks
// count as SSDs. cpus_per_vm_family and its dimension vm_family were read from
// projects.
//
//go:embed quotas.jsonl
var quotas string

// Quota names the quota metrics that a resource counts against. A metric is "" if no
// source names it.
type Quota struct {
	Standard string `json:"standard,omitzero"`

	// Preemptible is the metric for Spot and flex-start.
	Preemptible string `json:"preemptible,omitzero"`

	// Note is a remark on the name of the standard metric, or "".
	Note string `json:"note,omitzero"`
}

// quotaRow is a row of quotas.jsonl. Exactly one of its three subjects is set.
type quotaRow struct {
	Accelerator string `json:"accelerator,omitzero"`
	Disk        string `json:"disk,omitzero"`
	Family      string `json:"family,omitzero"`
	Quota
}

func quotaOf(kind, name string) Quota {
	row, _ := lookupRow[quotaRow](quotas, kind, name)
	return row.Quota
}

// QuotaMetrics returns the quota metrics of a GKE accelerator type.
func QuotaMetrics(accelerator string) Quota { return quotaOf("accelerator", accelerator) }

// CPUQuota returns the vCPU metrics of a machine family. A metric is "" if no source
// names it.
func CPUQuota(family string) Quota { return quotaOf("family", family) }

// DiskMetric returns the quota metric of a disk type's size, "" if no source names
// it.
func DiskMetric(diskType string) string { return quotaOf("disk", diskType).Standard }
