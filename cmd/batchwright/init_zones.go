package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// moveExample writes the requested region and zones into an example's files, for the platform
// and for each capacity. It returns an error if the catalog lists no zone there that offers the
// example's machines.
func (o *initiation) moveExample(ctx context.Context, e example, files map[string][]byte) error {
	if o.region == "" && len(o.zones) == 0 {
		return nil
	}
	region, err := o.chosenRegion()
	if err != nil {
		return err
	}
	res, err := compiler.Compile(ctx, compiler.Input{Files: e.files(), Paths: e.directories})
	if err != nil {
		return err
	}
	if res.Plan == nil {
		return cmp.Or(o.showText(&res.Findings), errFindings)
	}
	chosen, lacks, ok := fit.ChooseZones(res.Plan, region.Region, o.zones)
	if !ok {
		return o.lackingZones(res.Plan, region.Region, lacks)
	}
	if len(o.zones) > 0 {
		chosen.Platform = o.zones
	}
	for name, zones := range chosen.Capacity { // each is the only list of its line
		replaceSpan(files, res.Place(false, "capacity", name, "zones"), cueList(zones))
	}
	platform := files["platform.cue"]
	platform = replaceFirst(platform, strconv.Quote(region.Region), `(?m)^(region: *\*?)"[^"]*"`, `(?m)^(region: *).*$`)
	if region.InfrastructureManager { // which an example with a region for builds can use
		platform = replaceFirst(platform, strconv.Quote(region.Region), `(?m)^(\tregion: +)_\S+`)
	}
	if zone := strconv.Quote(chosen.Platform[0]); len(chosen.Platform) == 1 && definedZone.Match(platform) {
		platform = definedZone.ReplaceAll(platform, []byte("${1}"+zone))
	} else {
		platform = replaceFirst(platform, cueList(chosen.Platform), `(?m)^(zones: *).*$`)
	}
	files["platform.cue"] = platform
	return nil
}

// definedZone matches the zone of an example that takes its zone from a tag.
var definedZone = regexp.MustCompile(`(?m)^(_zone: *\*?)"[^"]*"`)

// replaceFirst replaces what the first pattern that matches has after its group.
func replaceFirst(content []byte, text string, patterns ...string) []byte {
	for _, p := range patterns {
		if pattern := regexp.MustCompile(p); pattern.Match(content) {
			return pattern.ReplaceAll(content, []byte("${1}"+text))
		}
	}
	return content
}

// replaceSpan replaces the first occurrence of the span's text in the span's file.
func replaceSpan(files map[string][]byte, span diag.Span, text string) {
	name := path.Base(span.Source.Name)
	content := string(files[name])
	at := min(span.Start, len(content))
	files[name] = []byte(content[:at] + strings.Replace(content[at:], span.Text(), text, 1))
}

func cueList(texts []string) string {
	var quoted []string
	for _, t := range texts {
		quoted = append(quoted, strconv.Quote(t))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// chosenRegion returns the region that the flags request, if its zones are known.
func (o *initiation) chosenRegion() (catalog.Region, error) {
	name := o.region
	if name == "" {
		name = catalog.RegionOf(o.zones[0])
	}
	region, known := catalog.LookupRegion(name)
	if !known {
		flag, given := "region", name
		if o.region == "" {
			flag, given = "zone", o.zones[0]
		}
		return region, usageErrorf("--%s %q: %q is not a known region: %s", flag, given, name,
			adviseValue(name, catalog.Regions()))
	}
	for i, z := range o.zones {
		if !slices.Contains(region.Zones, z) {
			return region, usageErrorf("--zone %q: %s", z, adviseValue(z, region.Zones))
		}
		if slices.Contains(o.zones[:i], z) {
			return region, usageErrorf("--zone %q is given twice", z)
		}
	}
	return region, nil
}

// lackingZones returns the error for zones in which a capacity's machines are not known to be
// available. The error lists the zones in the region that offer them. If there are none, it lists
// the regions.
func (o *initiation) lackingZones(p *ir.Platform, region string, lacks *ir.Capacity) error {
	flag := "--region " + strconv.Quote(region)
	if len(o.zones) > 0 {
		flag = "--zone " + strings.Join(o.zones, ",")
	}
	known := fit.KnownZones(*lacks)
	problem := fmt.Sprintf("%s: %s, the machine of capacity %q, is not known to be available there", flag,
		lacks.Machine.Type, lacks.Name)
	if all, _, ok := fit.ChooseZones(p, region, nil); ok {
		return usageErrorf("%s: use for example --zone %s", problem, strings.Join(all.Platform, ","))
	}
	var regions []string
	for _, z := range known {
		if _, _, ok := fit.ChooseZones(p, catalog.RegionOf(z), nil); ok {
			regions = append(regions, catalog.RegionOf(z))
		}
	}
	const most = 12
	regions = slices.Compact(regions)
	return usageErrorf("%s: want %s", problem, words.OneOf(len(regions), words.Quoted(regions, most)))
}
