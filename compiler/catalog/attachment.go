package catalog

import _ "embed"

// Source: Compute Engine documentation, "GPU machine types", and the GKE cluster
// autoscaler.
//
//go:embed attachments.jsonl
var attachments string

// Attachment is a number of GPUs of one type that can be attached to the machines of
// a family.
type Attachment struct {
	Family      string `json:"family"`
	Accelerator string `json:"accelerator"` // the GKE accelerator type
	Count       int    `json:"count"`

	// MaxVCPUs and MaxMemoryGiB are the size of the largest machine that takes the
	// GPUs; 0 means unverified.
	MaxVCPUs     int     `json:"maxVCPUs"`
	MaxMemoryGiB float64 `json:"maxMemoryGiB,omitzero"`

	// AcceleratorMemoryGiB is the memory of one GPU; 0 means unverified.
	AcceleratorMemoryGiB int `json:"acceleratorMemoryGiB,omitzero"`

	// SSDs are the local SSDs of a machine with the GPUs attached. Options are the
	// ways to obtain the machine.
	SSDs    SSDs    `json:"ssds,omitzero"`
	Options Options `json:"options"`

	// Withheld and Note have the same meaning as in Machine.
	Withheld string `json:"withheld,omitzero"`
	Note     string `json:"note,omitzero"`
}

// Attachments returns the GPUs that can be attached to a machine type and that a
// blueprint can use: the machine type's vCPUs and memory are in their range. They
// are ordered by accelerator, then by count. The result is nil if there are none.
func Attachments(machineType string) []Attachment {
	m, ok := Lookup(machineType)
	if !ok {
		return nil
	}
	var out []Attachment
	for _, a := range decodeRows[Attachment](findRows(attachments, "family", m.Family)) {
		if a.Withheld == "" && m.VCPUs <= a.MaxVCPUs && m.MemoryGiB <= a.MaxMemoryGiB {
			out = append(out, a)
		}
	}
	return out
}

// AllAttachments returns every attachment, including the withheld ones, by family,
// accelerator and count.
func AllAttachments() []Attachment {
	return decodeRows[Attachment](attachments)
}

// Find returns the machine type of the given name with count GPUs of the accelerator
// type attached; an accelerator of "" attaches none. The attachment then decides the
// ways to obtain the machine, its local SSDs and its note. Find reports false if a
// blueprint cannot use the combination.
func Find(machineType, accelerator string, count int) (Machine, bool) {
	m, ok := Usable(machineType)
	if !ok || accelerator == "" {
		return m, ok
	}
	for _, a := range Attachments(machineType) {
		if a.Accelerator == accelerator && a.Count == count {
			m.Accelerator, m.Count, m.AcceleratorMemoryGiB = a.Accelerator, a.Count, a.AcceleratorMemoryGiB
			m.SSDs, m.Options, m.Note = a.SSDs, a.Options, a.Note
			return m, true
		}
	}
	return Machine{}, false
}
