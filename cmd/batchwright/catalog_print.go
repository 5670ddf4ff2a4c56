package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// writeTable writes a table with one line for each entry.
func writeTable(w io.Writer, entries []entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heading := []string{"MACHINE", "VCPUS", "GIB", "ACCELERATORS"}
	for _, o := range catalog.OptionColumns() {
		heading = append(heading, strings.ToUpper(o.Heading))
	}
	fmt.Fprintln(t, strings.Join(append(heading, "NETWORKS", "ZONES"), "\t"))
	for _, e := range entries {
		fmt.Fprintln(t, strings.Join(e.cells(), "\t"))
	}
	return t.Flush()
}

func (e entry) cells() []string {
	name, atMost := e.Type, ""
	if e.Withheld != "" {
		name += " *"
	}
	if e.attachment != nil {
		atMost = "1-"
	}
	accelerators := "-"
	if e.Count > 0 {
		accelerators = fmt.Sprintf("%d %s", e.Count, e.Accelerator)
	}
	memory := "?"
	if e.MemoryGiB > 0 {
		memory = fmt.Sprintf("%s%g", atMost, e.MemoryGiB)
	}
	cells := []string{name, atMost + strconv.Itoa(e.VCPUs), memory, accelerators}
	for _, option := range optionNames() {
		cells = append(cells, verdictOf(e.Options.Offered(option)).text("?"))
	}
	zones := "?"
	if n := len(e.knownZones()); n > 0 {
		zones = strconv.Itoa(n)
	}
	return append(cells, describeNetworks(e.Networks, "-", "?"), zones)
}

// describeNetworks describes the networks that a machine can have in addition to the
// primary network.
func describeNetworks(n catalog.Networks, none, unverified string) string {
	var out []string
	if n.GVNIC > 0 {
		out = append(out, fmt.Sprintf("%d gVNIC", n.GVNIC))
	}
	if n.RDMA > 0 {
		out = append(out, fmt.Sprintf("%d RDMA", n.RDMA))
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, ", ")
	case n.Unverified:
		return unverified
	}
	return none
}

// jsonEntry is the JSON form of an entry: the row of the catalogue, in Machine or
// Attachment, and the facts that belong to it.
type jsonEntry struct {
	Version     int                  `json:"version"`
	Type        string               `json:"type"`
	Machine     *catalog.Machine     `json:"machine,omitempty"`
	Attachment  *catalog.Attachment  `json:"attachment,omitempty"`
	Zones       []string             `json:"zones,omitempty"`
	FlexStart   []string             `json:"flexStartZones,omitempty"`
	Calendar    []string             `json:"calendarZones,omitempty"`
	Quota       jsonQuota            `json:"quota,omitzero"`
	Slices      []catalog.Slice      `json:"slices,omitempty"`
	Attachments []catalog.Attachment `json:"attachments,omitempty"`
}

type jsonQuota struct {
	Accelerators catalog.Quota     `json:"accelerators,omitzero"`
	VCPUs        string            `json:"vcpus,omitempty"`
	Disks        map[string]string `json:"disks,omitempty"`
}

// writeEntriesJSON writes one line with a JSON object for each entry, and a last
// line that counts the entries.
func writeEntriesJSON(w io.Writer, entries []entry, unverified int) error {
	enc := json.NewEncoder(w)
	for _, e := range entries {
		out := jsonEntry{
			Version: 1, Zones: e.Zones(), FlexStart: e.OptionZones("flexStart"), Calendar: e.OptionZones("calendar"),
			Quota: jsonQuota{catalog.QuotaMetrics(e.Accelerator), catalog.CPUQuota(e.Family).Standard,
				diskMetrics(e.Machine)},
			Slices: e.Slices(), Attachments: catalog.Attachments(e.Type),
		}
		if e.attachment != nil {
			out.Type, out.Attachment = "attachment", e.attachment
		} else {
			out.Type, out.Machine = "machine", &e.Machine
		}
		if err := enc.Encode(out); err != nil {
			return err
		}
	}
	return enc.Encode(struct {
		Version    int    `json:"version"`
		Type       string `json:"type"`
		Found      int    `json:"found"`
		Unverified int    `json:"unverified"`
	}{1, "summary", len(entries), unverified})
}

func diskMetrics(m catalog.Machine) map[string]string {
	out := map[string]string{}
	for _, d := range m.Disks {
		if metric := catalog.DiskMetric(d); metric != "" {
			out[d] = metric
		}
	}
	return out
}

const unverified = "unverified"

// factPage prints labelled lines about one machine type, of at most textWidth columns.
type factPage struct{ strings.Builder }

// addLine adds a line, unless its text is empty.
func (p *factPage) addLine(label, text string) {
	const indent = 22
	if text != "" {
		fillAfter(&p.Builder, fmt.Sprintf("%-*s", indent, label), strings.Repeat(" ", indent), text)
	}
}

// beginSection begins a new section of the page.
func (p *factPage) beginSection() { p.WriteString("\n") }

// addList adds a section of lines, the first of which has the label. It adds nothing
// if there are no texts.
func (p *factPage) addList(label string, texts []string) {
	for i, text := range texts {
		if i == 0 {
			p.beginSection()
		} else {
			label = ""
		}
		p.addLine(label, text)
	}
}

// writeMachine writes all facts of a machine type.
func writeMachine(w io.Writer, m catalog.Machine) error {
	var p factPage
	p.addLine("machine type", m.Type)
	if m.Withheld != "" {
		p.addLine("withheld", "no blueprint can use it: "+m.Withheld)
	}
	p.addLine("note", m.Note)
	p.addLine("family", m.Family+", "+m.Arch)
	milli, mib := m.Allocatable()
	p.addLine("vCPUs", fmt.Sprintf("%d, pods get %g", m.VCPUs, float64(milli)/1000))
	p.addLine("memory", fmt.Sprintf("%g GiB, pods get %.1f GiB", m.MemoryGiB, float64(mib)/1024))
	p.addLine("accelerators", acceleratorText(m))
	p.addLine("local SSDs", ssdText(m.SSDs))
	p.addLine("boot disks", bootDiskText(m))
	p.addLine("compact placement", compactText(m))
	p.addLine("networks", describeNetworks(m.Networks, "none beside the primary", unverified))
	p.addLine("GPUDirect", m.Networks.Direct)
	p.addLine("GKE version", versionText(m))

	p.beginSection()
	for _, o := range catalog.OptionColumns() {
		text := verdictOf(m.Options.Offered(o.Name)).text(unverified)
		if zones := m.OptionZones(o.Name); len(zones) > 0 {
			text += "; Google names " + strings.Join(zones, ", ")
		}
		p.addLine(o.Heading, text)
	}
	p.addLine("zones known", cmp.Or(strings.Join(m.Zones(), ", "), "none"))

	p.beginSection()
	if m.Accelerator != "" {
		q := catalog.QuotaMetrics(m.Accelerator)
		p.addLine("accelerator quota", strings.TrimSuffix(cmp.Or(q.Standard, unverified)+"; "+q.Note, "; "))
		p.addLine(strings.Join(ir.NodesByQuota(true), ", "), cmp.Or(q.Preemptible, unverified))
	}
	p.addLine("vCPU quota", cmp.Or(catalog.CPUQuota(m.Family).Standard, unverified))
	p.addLine("boot disk quota", diskQuotaText(m))

	p.addList("GPUs to attach", attachmentTexts(m))
	p.addList("slices", sliceTexts(m))
	_, err := io.WriteString(w, p.String())
	return err
}

func acceleratorText(m catalog.Machine) string {
	switch {
	case m.Count == 0:
		return "none"
	case m.AcceleratorMemoryGiB == 0:
		return fmt.Sprintf("%d %s, memory unverified", m.Count, m.Accelerator)
	}
	return fmt.Sprintf("%d %s, %d GiB each", m.Count, m.Accelerator, m.AcceleratorMemoryGiB)
}

func ssdText(s catalog.SSDs) string {
	switch {
	case !s.Verified():
		return unverified
	case s.Bundled > 0:
		return fmt.Sprintf("%d of %d GB come with it", s.Bundled, s.SizeGB)
	case len(s.Allowed) == 0:
		return "none"
	}
	counts := []string{"0"}
	for _, n := range s.Allowed {
		counts = append(counts, strconv.Itoa(n))
	}
	return fmt.Sprintf("%s of %d GB", words.Or(counts), s.SizeGB)
}

func bootDiskText(m catalog.Machine) string {
	var out []string
	for _, d := range m.Disks {
		if d == m.Disk {
			d += " (default)"
		}
		out = append(out, d)
	}
	return cmp.Or(strings.Join(out, ", "), unverified)
}

func compactText(m catalog.Machine) string {
	switch {
	case m.HasTPUs():
		return "always, within a slice of several hosts"
	case m.CompactNodes == nil:
		return unverified
	case *m.CompactNodes == 0:
		return "none"
	}
	return fmt.Sprintf("up to %d nodes", *m.CompactNodes)
}

func diskQuotaText(m catalog.Machine) string {
	var out []string
	for _, d := range m.Disks {
		out = append(out, fmt.Sprintf("%s: %s", d, cmp.Or(catalog.DiskMetric(d), unverified)))
	}
	return strings.Join(out, "; ")
}

func versionText(m catalog.Machine) string {
	text := cmp.Or(m.MinVersion, unverified)
	if len(m.AutoFrom) > 0 {
		text += "; auto-provisioned from " + words.Or(m.AutoFrom)
	}
	return text
}

// attachmentTexts returns one line for each type of GPU that can be attached, with
// the possible counts.
func attachmentTexts(m catalog.Machine) []string {
	var out, counts []string
	all := catalog.Attachments(m.Type)
	for i, a := range all {
		counts = append(counts, strconv.Itoa(a.Count))
		if i+1 < len(all) && all[i+1].Accelerator == a.Accelerator && all[i+1].Note == a.Note {
			continue
		}
		text := fmt.Sprintf("%s %s, %d GiB each; %s", words.Or(counts), a.Accelerator, a.AcceleratorMemoryGiB, a.Note)
		out, counts = append(out, strings.TrimSuffix(text, "; ")), nil
	}
	return out
}

func sliceTexts(m catalog.Machine) []string {
	var out []string
	for _, s := range m.Slices() {
		out = append(out, fmt.Sprintf("%s, %d chips on %s", s.Topology, s.Chips, words.Count(s.Hosts, "host")))
	}
	return out
}
