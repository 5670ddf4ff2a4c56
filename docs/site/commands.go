package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// commandPages returns a page for each command, with its help.
func commandPages(p program) ([]page, error) {
	listed, err := p.output("__complete", "")
	if err != nil {
		return nil, err
	}
	const section = "Reference: commands"
	contents := "# Commands\n\n[Arguments and exit codes](/commands.md) are the same for all commands.\n\n" +
		"| command | purpose |\n| --- | --- |\n"
	var pages []page
	for line := range strings.Lines(string(listed)) {
		name, purpose, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || name == "help" || name == "completion" {
			continue
		}
		help, err := p.output("help", name)
		if err != nil {
			return nil, err
		}
		about, usage, _ := strings.Cut(string(help), "\nUsage:\n")
		text := fmt.Sprintf("# batchwright %s\n\n%s\n## Usage\n\n%s", name, helpText(about), fence("text", usage))
		path := "reference/commands/" + name + ".md"
		pages = append(pages, page{path, section, name, text})
		contents += fmt.Sprintf("| [%s](/%s) | %s |\n", name, path, cell(purpose))
	}
	return append([]page{{"reference/commands/index.md", section, "All commands", contents}}, pages...), nil
}

// machine is a machine type, as catalog prints it.
type machine struct {
	Machine struct {
		Type, Family, Accelerator string
		VCPUs                     float64 `json:"vcpus"`
		MemoryGiB                 float64
		Count                     int
		Options                   map[string]bool
	}
	Zones []string
}

// machinePages returns a page for each family of machines.
func machinePages(p program) ([]page, error) {
	all, err := decode[machine](p, "catalog", "--format", "json")
	if err != nil {
		return nil, err
	}
	families := map[string][]machine{}
	for _, m := range all {
		families[m.Machine.Family] = append(families[m.Machine.Family], m)
	}
	const section = "Reference: machines"
	contents := "# Machine types\n\nThe catalog has " + fmt.Sprint(len(all)) +
		" machine types. `batchwright catalog` filters them, and also lists disks, topologies and quota metrics.\n\n" +
		"| family | machine types | accelerators |\n| --- | --- | --- |\n"
	var pages []page
	for _, family := range slices.Sorted(maps.Keys(families)) {
		path := "reference/machines/" + family + ".md"
		text := "# Machine family " + family + "\n\nA zone that is not listed may also have the machine.\n\n" +
			"| machine type | vCPUs | memory (GiB) | accelerators | consumption options | zones |\n" +
			"| --- | ---: | ---: | --- | --- | --- |\n"
		accelerators := map[string]bool{}
		for _, m := range families[family] {
			on, options := "", []string{}
			if t := m.Machine; t.Accelerator != "" {
				on = fmt.Sprintf("%d × %s", t.Count, t.Accelerator)
				accelerators[t.Accelerator] = true
			}
			for _, option := range slices.Sorted(maps.Keys(m.Machine.Options)) {
				if m.Machine.Options[option] {
					options = append(options, option)
				}
			}
			text += fmt.Sprintf("| %s | %v | %v | %s | %s | %s |\n", m.Machine.Type, m.Machine.VCPUs,
				m.Machine.MemoryGiB, on, strings.Join(options, ", "), strings.Join(m.Zones, ", "))
		}
		pages = append(pages, page{path, section, family, text})
		contents += fmt.Sprintf("| [%s](/%s) | %d | %s |\n", family, path, len(families[family]),
			strings.Join(slices.Sorted(maps.Keys(accelerators)), ", "))
	}
	return append([]page{{"reference/machines/index.md", section, "All families", contents}}, pages...), nil
}
