package catalog

import (
	_ "embed"
	"strings"
)

// Source: Compute Engine documentation, "GPU machine types", and the GKE cluster
// autoscaler.
//
//go:embed attachments.jsonl
var attachments string

// Attachment is a number of GPUs that can be attached to machines of a family.
type Attachment struct {
	Family      string `json:"family"`
	Accelerator string `json:"accelerator"` // the GKE accelerator type
	Count       int    `json:"count"`

	// MaxVCPUs and MaxMemoryGiB are the largest machine that takes them; 0
	// means unverified.
	MaxVCPUs     int     `json:"maxVCPUs"`
	MaxMemoryGiB float64 `json:"maxMemoryGiB,omitzero"`

	// AcceleratorMemoryGiB is of one GPU, 0 where it is unverified.
	AcceleratorMemoryGiB int `json:"acceleratorMemoryGiB,omitzero"`

	// SSDs are those of a machine with the GPUs attached, and Options the ways
	// to obtain it.
	SSDs    SSDs    `json:"ssds,omitzero"`
	Options Options `json:"options"`

	// Withheld and Note are as of a Machine.
	Withheld string `json:"withheld,omitzero"`
	Note     string `json:"note,omitzero"`
}

// Attachments returns the GPUs that can be attached to a machine type and that
// a blueprint can use: those whose range holds its vCPUs and memory. They are
// ordered by accelerator and then count; nil means none.
func Attachments(machineType string) []Attachment {
	m, ok := Lookup(machineType)
	if !ok {
		return nil
	}
	var out []Attachment
	for row := range strings.Lines(rows(attachments, "family", m.Family)) {
		a := decode[Attachment](row)
		if a.Withheld == "" && m.VCPUs <= a.MaxVCPUs && m.MemoryGiB <= a.MaxMemoryGiB {
			out = append(out, a)
		}
	}
	return out
}

// AllAttachments returns every attachment, by family, accelerator and count,
// withheld ones as well.
func AllAttachments() []Attachment {
	var out []Attachment
	for row := range strings.Lines(attachments) {
		out = append(out, decode[Attachment](row))
	}
	return out
}

// Find returns the machine type of that name that a blueprint can use, with so
// many GPUs of an accelerator type attached to it; "" attaches none. What the
// GPUs change of the machine is then theirs: the ways to obtain it, its local
// SSDs and its note.
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
