package importer

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/exports"
)

// design is the platform that the importer writes.
type design struct {
	inv     *inventory
	assumed []FieldReport

	name, project, region string
	zones                 []string
	fill                  map[string]bool // top-level fields that must be filled in
	cluster, network      settings
	hardware              []*hardware
	capacities            []*capacity
	tiers                 []*tier
	cohorts               []cohort
	teams                 []*team

	exists bool         // the cluster exists, and others own it
	exact  *exactDesign // nil if the platform makes node pools of its own
	quota  int          // accelerators that a blueprint of Cluster Toolkit gives to its queue

	machines []catalog.Machine // all that a blueprint can use; nil until they are needed
}

// setting is a field with its value: a string, a bool, an int, or settings.
type setting struct {
	name  string
	value any
}

// settings are fields in their order.
type settings []setting

// add returns the fields with one more, unless its value is false, 0 or empty.
func (s settings) add(name string, value any) settings {
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return s
	}
	return append(s, setting{name, value})
}

// capacity is some hardware obtained through one consumption option.
type capacity struct {
	name        string
	source      string // the object that it comes from
	flavor      string // the name of the ResourceFlavor, "" if there is none
	hardware    *hardware
	consumption setting
	class       bool
	nodes       int
	max, min    int
	slices      bool // nodes and max count slices
	zones       []string
	compact     bool
	pool        *pool
	units       int64 // of guaranteed quota
	overbooked  bool
	unlimited   bool // the guarantees exceed any number of nodes
	fillCount   bool
	fillOption  bool
}

// cohort is a group of teams, below a parent or not.
type cohort struct{ name, parent string }

// tier is a class of service, from one shared ClusterQueue or from equal ClusterQueues
// of several teams.
type tier struct {
	name       string
	capacities []*capacity
	queueing   string
	inQueue    string
	toReclaim  string
	toBorrow   string
	key        string
	members    []*member
	shared     bool
	namespaces any // "all", the settings of labels, or nil for the teams' namespaces
	priorities []priority
}

// priority is a PriorityClass with its value, and a comment or "".
type priority struct {
	setting
	comment string
}

// member is a ClusterQueue in a tier.
type member struct {
	queue  *clusterQueue
	teams  []*team
	cohort string
	quotas []quota

	clusterQueue string           // its name in the blueprint
	localQueues  map[*team]string // names in the blueprint
}

// quota is a member's quota of a capacity.
type quota struct {
	capacity *capacity
	units    int64
	borrow   any // int64, "all" or nil
	lend     any // int64 or nil
}

// team is a tenant: a namespace with LocalQueues.
type team struct {
	name, namespace string // the namespace is "" if it is the name
	original        string // the namespace in the export, "" if the team is invented
	cohort          string
	hasCohort       bool
	owns            map[*tier]*member // queues of the team alone
	places          []place           // all its queues, in the order of the tiers
	labels          map[string]string // labels of its namespace that selectors ask for
}

// place is a queue in a tier.
type place struct {
	tier   *tier
	member *member
}

// design designs the platform.
func (inv *inventory) design(options Options) *design {
	exact := len(inv.clusterQueues) > 0 && !options.OwnPools && len(inv.toolkits) == 0
	d := &design{inv: inv, fill: map[string]bool{}, exists: exact || inv.inCluster()}
	d.planPlatform(options)
	if d.exists {
		d.planExisting()
	}
	if exact {
		d.planExactly()
		d.planZones(options)
		return d
	}
	d.planToolkits()
	d.planCapacities()
	d.planNetwork()
	d.planQueues()
	d.planPriorities()
	d.planChecks()
	d.planSizes()
	d.checkLimits()
	d.planZones(options)
	for _, c := range d.capacities {
		if c.pool != nil {
			d.reportPool(c)
		}
	}
	return d
}

// planPlatform sets the platform's name and project.
func (d *design) planPlatform(options Options) {
	if o := d.inv.cluster; o != nil {
		d.name = o.Name
		if _, path, _ := strings.Cut(exports.Text(o.Fields, "selfLink"), "/projects/"); strings.Contains(path, "/") {
			d.project, _, _ = strings.Cut(path, "/")
		}
	} else {
		d.project, _, d.name = d.inv.clusterOfPools()
	}
	for _, o := range d.inv.toolkits {
		d.name = cmp.Or(d.name, exports.Text(o.Fields, "vars", "deployment_name"), o.Name)
		if id := exports.Text(o.Fields, "vars", "project_id"); d.project == "" && projectID().MatchString(id) {
			d.project = id
		}
	}
	if d.exists && d.name != "" && d.inv.ownedCluster() == nil && options.Name == "" {
		d.fill["name"] = true
		d.assume("name", "the platform has the name of the cluster: give it a name of its own, with which the names "+
			"of its resources begin")
	}
	d.name, d.project = cmp.Or(options.Name, d.name), cmp.Or(options.Project, d.project)
	if d.name == "" {
		d.name = "imported"
		d.fill["name"] = true
		d.assume("name", "the exports name no cluster: fill in the name of the platform")
	}
	if fitted := fitName(d.name, 24); fitted != d.name {
		d.assume("name", "%q is no name of a platform: the folder and the cluster are called %q", d.name, fitted)
		d.name = fitted
	}
	if !projectID().MatchString(d.project) {
		d.project = "my-project"
		d.fill["project"] = true
		d.assume("project", "the exports name no project: fill in the project")
	}
}

var projectID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][-a-z0-9]{4,28}[a-z0-9]$`)
})

// fitName turns a text into a name of at most the given number of characters: lower-case
// letters, digits and dashes, a letter first. A name that must be shortened ends with a
// hash of the text, so that different texts get different names.
func fitName(s string, most int) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, s)
	name = strings.Trim(name, "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = strings.TrimSuffix("x-"+name, "-")
	}
	if len(name) > most {
		hash := fnv.New32a()
		hash.Write([]byte(s))
		name = fmt.Sprintf("%s-%06x", strings.TrimRight(name[:most-7], "-"), hash.Sum32()&0xffffff)
	}
	return name
}

// uniqueName returns a name that is not taken, with a number if necessary, and takes it.
func uniqueName(name string, most int, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		suffix := fmt.Sprintf("-%d", i)
		out = strings.TrimRight(name[:min(len(name), most-len(suffix))], "-") + suffix
	}
	taken[out] = true
	return out
}

// planZones sets the region and the zones. Without a cluster they are a place that has
// all machines.
func (d *design) planZones(options Options) {
	region, zones := d.exportedPlace(options)
	zones = slices.DeleteFunc(zones, func(z string) bool {
		return catalog.RegionOf(z) != region || !zoneName.MatchString(z)
	})
	if !knownRegion(region) {
		region = d.regionOfMachines()
		zones = nil
		d.fill["region"] = true
		d.assume("region", "the exports name no region: %s has the machines; fill in the region of your nodes",
			region)
	}
	if len(zones) == 0 {
		zones = d.zonesOfMachines(region)
		d.fill["zones"] = true
		d.assume("zones", "the exports name no zones: fill in the zones of your nodes")
	}
	d.region, d.zones = region, slices.Compact(slices.Sorted(slices.Values(zones)))
	for _, c := range d.capacities {
		c.zones = slices.DeleteFunc(c.zones, func(z string) bool { return !slices.Contains(d.zones, z) })
		if slices.Equal(slices.Sorted(slices.Values(c.zones)), d.zones) {
			c.zones = nil
		}
	}
}

// exportedPlace returns the region and the zones of the options and of the exports.
func (d *design) exportedPlace(options Options) (region string, zones []string) {
	region, zones = options.Region, slices.Clone(options.Zones)
	if region == "" && len(zones) > 0 {
		region = catalog.RegionOf(zones[0])
	}
	if o := d.inv.cluster; o != nil {
		its := locationRegion(exports.Text(o.Fields, "location"))
		if len(zones) == 0 && (region == "" || region == its) {
			zones = exports.Texts(o.Fields, "locations")
		}
		region = cmp.Or(region, its)
	} else if _, location, _ := d.inv.clusterOfPools(); location != "" {
		region = cmp.Or(region, locationRegion(location))
		for _, p := range d.inv.pools {
			if len(options.Zones) == 0 {
				zones = append(zones, p.zones...)
			}
		}
	}
	for _, o := range d.inv.toolkits {
		vars := o.Fields["vars"]
		its := append(exports.Texts(vars, "zones"), exports.Text(vars, "zone"))
		its = slices.DeleteFunc(its, func(z string) bool { return !zoneName.MatchString(z) })
		if r := exports.Text(vars, "region"); knownRegion(r) {
			region = cmp.Or(region, r)
		} else if len(its) > 0 {
			region = cmp.Or(region, catalog.RegionOf(its[0]))
		}
		if len(zones) == 0 {
			zones = its
		}
	}
	return region, zones
}

var zoneName = regexp.MustCompile(`^[a-z]+-[a-z]+[0-9]+-[a-z0-9]+$`)

func knownRegion(name string) bool {
	_, ok := catalog.LookupRegion(name)
	return ok
}

func locationRegion(location string) string {
	if knownRegion(location) {
		return location
	}
	return catalog.RegionOf(location)
}

// regionOfMachines returns the first region with a zone that has all machines, or
// us-central1.
func (d *design) regionOfMachines() string {
	regions := append([]string{"us-central1"}, catalog.Regions()...)
	i := slices.IndexFunc(regions, func(region string) bool { return len(d.zonesWith(region)) > 0 })
	return regions[max(i, 0)]
}

// zonesOfMachines returns a zone of the region that has all machines, or its first zone.
func (d *design) zonesOfMachines(region string) []string {
	r, _ := catalog.LookupRegion(region)
	return append(d.zonesWith(region), r.Zones...)[:1]
}

// zonesWith returns the zones of a region that have all machines.
func (d *design) zonesWith(region string) []string {
	r, _ := catalog.LookupRegion(region)
	return slices.DeleteFunc(slices.Clone(r.Zones), func(zone string) bool {
		return slices.ContainsFunc(d.hardware, func(h *hardware) bool {
			has := h.machine.Zones()
			return has != nil && !slices.Contains(has, zone)
		})
	})
}
