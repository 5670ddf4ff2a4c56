package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/words"
)

// listing holds the catalog command and its flags.
type listing struct {
	Command
	accelerators, options, zones, topologies []string
}

func (c Command) catalogCommand() *cobra.Command {
	l := &listing{Command: c}
	cmd := &cobra.Command{
		Use:   "catalog [NAME...]",
		Short: "Show machine types and their consumption options",
		Long: `Catalog lists the machine types that batchwright knows, and for each family the
GPUs that can be attached to its machines. NAMEs are machine types, beginnings of
machine types, globs, names of accelerators such as h100, v5e or trillium, gpu or
tpu for all of them, or names of custom machine types such as n2-custom-8-32768.
For one machine type catalog shows all facts, including disks, TPU slices, zones
and quota metrics.

Facts that are not verified are shown as a question mark or "unverified", and are
absent from JSON. The tables of zones are incomplete: a zone that they do not
list may also have the machine. A star marks machines that no blueprint can use.

It exits with 1 if it finds nothing, or nothing for one of the NAMEs. With --zone,
it then lists the zones that are known for this NAME.`,
		Example: `  batchwright catalog a3 a4
  batchwright catalog ct6e-standard-4t
  batchwright catalog --accelerator h100 --option flexStart
  batchwright catalog --zone us-east5 --topology 4x4
  batchwright catalog --format json | jq -r 'select(.machine.arch == "arm64").machine.type'`,
		RunE:              l.run,
		ValidArgsFunction: completeMachine,
	}
	for _, f := range l.filters() {
		cmd.Flags().StringArrayVar(f.values, f.flag, nil, f.usage)
		completeFlag(cmd, f.flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return f.valid(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	l.addFormat(cmd, "output format of the machine types", formatText, formatJSON)
	return cmd
}

// filter is a flag that selects machines.
type filter struct {
	flag   string
	values *[]string
	usage  string
	valid  func() []string
}

func (l *listing) filters() []filter {
	return []filter{
		{
			"accelerator", &l.accelerators,
			"only machines with this accelerator `type`; if repeated, with any of them", acceleratorNames,
		},
		{
			"option", &l.options, "only machines with this consumption `option`: " +
				strings.Join(optionNames(), ", ") + "; if repeated, with all of them", optionNames,
		},
		{
			"zone", &l.zones, "only machines known to be in this `zone` or region; if repeated, in any of them",
			zoneNames,
		},
		{
			"topology", &l.topologies,
			"only machines that form TPU slices of this `topology`; if repeated, of any of them", topologyNames,
		},
	}
}

func completeMachine(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, m := range catalog.All() {
		if strings.HasPrefix(m.Type, prefix) {
			out = append(out, cobra.CompletionWithDesc(m.Type, m.Summary()))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (l *listing) run(_ *cobra.Command, names []string) error {
	l.accelerators = nameAccelerators(l.accelerators)
	if err := l.checkFilters(); err != nil {
		return err
	}
	for i, n := range names {
		if _, err := path.Match(n, ""); err != nil || n == "" {
			return usageErrorf("%q is neither a machine type nor a glob", n)
		}
		names[i] = strings.ToLower(n) // as all names of the catalogue
	}
	named, missing := nameEntries(catalogEntries(), names)
	var found []entry
	unverified := 0
	for _, e := range named {
		switch l.matchFilters(e) {
		case yes:
			found = append(found, e)
		case unknown:
			unverified++
		}
	}
	if err := l.printEntries(names, named, found, unverified); err != nil {
		return err
	}
	for _, n := range missing {
		fmt.Fprintf(l.Stderr, "batchwright catalog: no machine type matches %q%s\n", n, adviseName(n))
	}
	lacking := l.lackingNames(names, missing)
	for _, n := range lacking {
		fmt.Fprintf(l.Stderr, "batchwright catalog: %s\n", l.explainLack(n))
	}
	if len(found) == 0 || len(missing)+len(lacking) > 0 {
		return errFindings
	}
	return nil
}

// lackingNames returns the names of which the filters leave nothing, without those that match
// nothing at all. Of a single name the number of found machines says it, except for the zones.
func (l *listing) lackingNames(names, missing []string) []string {
	if len(names) == 1 && len(l.zones) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		named, _ := nameEntries(catalogEntries(), []string{n})
		return slices.Contains(missing, n) ||
			slices.ContainsFunc(named, func(e entry) bool { return l.matchFilters(e) == yes })
	})
}

// explainLack returns the reason why the filters leave nothing of a name. If the zone is the only
// filter, it lists the zones that have the machines.
func (l *listing) explainLack(name string) string {
	if len(l.accelerators)+len(l.options)+len(l.topologies) > 0 {
		return fmt.Sprintf("nothing of %q matches the filters", name)
	}
	const most = 6
	var zones []string
	named, _ := nameEntries(catalogEntries(), []string{name})
	for _, e := range named {
		zones = append(zones, e.knownZones()...)
	}
	slices.Sort(zones)
	lack := fmt.Sprintf("%q is not known to be in %s", name, words.Or(l.zones))
	if zones = slices.Compact(zones); len(zones) > 0 {
		return lack + "; it is in " + words.First(zones, most)
	}
	return lack + "; its zones are unknown"
}

// adviseName returns advice about a name that matches nothing.
func adviseName(name string) string {
	if mistake := catalog.CustomMistake(name); mistake != "" {
		return ": " + mistake
	}
	if slices.Contains(zoneNames(), name) {
		return fmt.Sprintf("; did you mean --zone %s?", name)
	}
	if option := consumptionOf(name); option != "" {
		return fmt.Sprintf("; did you mean --option %s?", option)
	}
	if _, known := topicOf(name); known {
		return "; run batchwright explain " + words.ShellArgument(name)
	}
	return didYouMean(cmp.Or(diag.NearestSize(name, suggestNames()), nearestBeginning(name)))
}

// consumptionOf returns the consumption option that a word means, "" if there is none.
func consumptionOf(word string) string {
	folded := foldWord(word)
	switch folded {
	case "dws", "flex":
		return "flexStart"
	case "reserved", "reservations":
		return "reservation"
	}
	options := optionNames()
	i := slices.IndexFunc(options, func(o string) bool { return foldWord(o) == folded })
	if i < 0 {
		return ""
	}
	return options[i]
}

// suggestNames returns the values that the shell offers for NAME: machine types that
// a blueprint can use, and prefixes that several of them share.
func suggestNames() []string {
	names := catalog.Names()
	for _, n := range names {
		for i := range n {
			if n[i] == '-' {
				names = append(names, n[:i])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nearestBeginning returns the first name that begins like a misspelt name, except
// for the last two characters of the misspelt name; "" if there is none.
func nearestBeginning(misspelt string) string {
	const wrong = 2
	beginning := misspelt[:max(0, len(misspelt)-wrong)]
	for _, name := range suggestNames() {
		if len(beginning) > wrong && strings.HasPrefix(name, beginning) {
			return name
		}
	}
	return ""
}

// printEntries prints the entries that were found, in the form that suits the names.
func (l *listing) printEntries(names []string, named, found []entry, unverified int) error {
	switch {
	case l.format.value == formatJSON:
		return writeEntriesJSON(l.Stdout, found, unverified)
	case len(named) == 0:
		return nil
	case len(names) == 1 && len(found) == 1 && found[0].Type == names[0]:
		return writeMachine(l.Stdout, found[0].Machine)
	}
	if len(found) > 0 {
		if err := writeTable(l.Stdout, found); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(l.Stderr, tableLimits(found, unverified))
	return err
}

// tableLimits returns a note on the limits of the table's information.
func tableLimits(found []entry, unverified int) string {
	out := fmt.Sprintf("%d found", len(found))
	if unverified > 0 {
		out += fmt.Sprintf("; %d not known for these filters: omit a filter to see them", unverified)
	}
	var reasons []string
	for _, e := range found {
		if e.Withheld != "" && !slices.Contains(reasons, e.Withheld) {
			reasons = append(reasons, e.Withheld)
		}
	}
	switch len(reasons) {
	case 0:
		return out
	case 1:
		return out + "; * no blueprint can use it: " + reasons[0]
	}
	return out + `; * no blueprint can use it: "batchwright catalog NAME" says why`
}

// entry is a row of the catalogue: a machine type, or GPUs that can be attached.
type entry struct {
	// For GPUs, Machine is the largest machine that takes them, and its Type is the
	// machine family.
	catalog.Machine
	attachment *catalog.Attachment
}

// catalogEntries returns all rows of the catalogue, sorted by name, with numbers in
// names compared by value.
func catalogEntries() []entry {
	var out []entry
	for _, m := range catalog.All() {
		out = append(out, entry{Machine: m})
	}
	for _, a := range catalog.AllAttachments() {
		out = append(out, entry{attachment: &a, Machine: catalog.Machine{
			Type: a.Family, Family: a.Family, VCPUs: a.MaxVCPUs, MemoryGiB: a.MaxMemoryGiB,
			Accelerator: a.Accelerator, Count: a.Count, AcceleratorMemoryGiB: a.AcceleratorMemoryGiB,
			SSDs: a.SSDs, Options: a.Options, Withheld: a.Withheld, Note: a.Note,
		}})
	}
	slices.SortStableFunc(out, func(a, b entry) int { return words.CompareNatural(a.Type, b.Type) })
	return out
}

// nameEntries returns the entries that match the names, or all entries if there are
// no names, and the names that match nothing. A name that is the complete name of an
// entry does not match longer names with the same beginning. A name that no machine
// type has can mean an accelerator, and "gpu" and "tpu" mean all of their kind.
func nameEntries(all []entry, names []string) (found []entry, missing []string) {
	if len(names) == 0 {
		return all, nil
	}
	whole, hit := map[string]bool{}, map[string]bool{}
	accelerators := map[string][]string{}
	for _, n := range names {
		var m catalog.Machine
		m, whole[n] = catalog.Lookup(n)
		if whole[n] && !slices.ContainsFunc(all, func(e entry) bool { return e.Type == n }) {
			all = append(slices.Clone(all), entry{Machine: m}) // a custom machine type
		}
		if kind := catalog.AcceleratorsOfKind(n); kind != nil {
			accelerators[n] = kind
		} else if !slices.ContainsFunc(all, func(e entry) bool { return strings.HasPrefix(e.Type, n) }) {
			accelerators[n] = catalog.AcceleratorsNamed(n)
		}
	}
	for _, e := range all {
		keep := false
		for _, n := range names {
			if ok, _ := path.Match(n, e.Type); ok || !whole[n] && strings.HasPrefix(e.Type, n) ||
				slices.Contains(accelerators[n], e.Accelerator) {
				hit[n], keep = true, true
			}
		}
		if keep {
			found = append(found, e)
		}
	}
	return found, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return hit[n] })
}

// nameAccelerators replaces names that people give to accelerators with the GKE
// accelerator types. It keeps names that mean nothing.
func nameAccelerators(names []string) []string {
	var out []string
	for _, n := range names {
		types := catalog.AcceleratorsNamed(n)
		if types == nil {
			types = []string{n}
		}
		out = append(out, types...)
	}
	return out
}

func optionNames() []string {
	var names []string
	for _, o := range catalog.OptionColumns() {
		names = append(names, o.Name)
	}
	return names
}

// verdict is the result of comparing an entry with the filters.
type verdict int

const (
	yes verdict = iota
	unknown
	no
)

// text returns the verdict with a word for unknown.
func (v verdict) text(unknown string) string { return [...]string{"yes", unknown, "no"}[v] }

// matchFilters compares an entry with the filters. A single filter that says no
// decides.
func (l *listing) matchFilters(e entry) verdict {
	out := yes
	if len(l.accelerators) > 0 && !slices.Contains(l.accelerators, e.Accelerator) {
		out = no
	}
	for _, option := range l.options {
		out = max(out, verdictOf(e.Options.Offered(option)))
	}
	if len(l.zones) > 0 {
		out = max(out, l.inZones(e))
	}
	if len(l.topologies) > 0 && !slices.ContainsFunc(l.topologies, e.Lists) {
		out = no
	}
	return out
}

// inZones compares an entry with the requested zones and regions. For each requested
// option it compares also with the zones that Google states for the option.
func (l *listing) inZones(e entry) verdict {
	in := func(zones []string) bool {
		return slices.ContainsFunc(zones, func(zone string) bool {
			return slices.ContainsFunc(l.zones, func(z string) bool {
				return zone == z || strings.HasPrefix(zone, z+"-")
			})
		})
	}
	for _, option := range l.options {
		if stated := e.OptionZones(option); len(stated) > 0 && !in(stated) {
			return no
		}
	}
	switch {
	case in(e.knownZones()):
		return yes
	case len(e.Zones()) == 0:
		return unknown
	}
	return no
}

func verdictOf(offered *bool) verdict {
	switch {
	case offered == nil:
		return unknown
	case *offered:
		return yes
	}
	return no
}

// knownZones returns the zones that some table lists for the entry.
func (e entry) knownZones() []string {
	zones := e.Zones()
	for _, option := range optionNames() {
		zones = append(zones, e.OptionZones(option)...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

func acceleratorNames() []string {
	return gatherValues(func(e entry) []string { return []string{e.Accelerator} })
}

// zoneNames returns all regions, then all zones.
func zoneNames() []string {
	names := catalog.Regions()
	for _, r := range catalog.AllRegions() {
		names = append(names, r.Zones...)
	}
	return names
}

func topologyNames() []string {
	return gatherValues(func(e entry) []string {
		var out []string
		for _, s := range e.Slices() {
			out = append(out, s.Topology)
		}
		return out
	})
}

// gatherValues calls of for each entry and returns the collected values, without
// duplicates and in natural order.
func gatherValues(of func(entry) []string) []string {
	var out []string
	for _, e := range catalogEntries() {
		out = append(out, of(e)...)
	}
	out = slices.DeleteFunc(out, func(v string) bool { return v == "" })
	slices.SortFunc(out, words.CompareNatural)
	return slices.Compact(out)
}

// checkFilters rejects filter values that no entry of the catalogue has, because
// they are probably misspelt.
func (l *listing) checkFilters() error {
	for _, f := range l.filters() {
		for _, v := range *f.values {
			if valid := f.valid(); !slices.Contains(valid, v) {
				return usageErrorf("--%s %q: %s", f.flag, v, adviseValue(v, valid))
			}
		}
	}
	return nil
}

// adviseValue returns advice with the value that is probably meant, and the valid
// values.
func adviseValue(value string, valid []string) string {
	const most = 32
	if region, known := catalog.LookupRegion(catalog.RegionOf(value)); known {
		return fmt.Sprintf("the zones of %s are %s", region.Region, words.And(region.Zones))
	}
	near := ""
	if n := diag.Nearest(value, valid); n != "" {
		near = fmt.Sprintf("did you mean %q? ", n)
	}
	return near + "want one of " + words.First(valid, most)
}
