// Package generate makes random blueprints.
package generate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/emit/hostile"
)

// Blueprint returns a random blueprint in JSON. A seed always gives the same one.
func Blueprint(t testing.TB, seed uint64) []byte {
	t.Helper()
	source, err := json.Marshal(generator{rand.New(rand.NewPCG(seed, 0))}.randomBlueprint())
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// generator makes random blueprints, with machines of the catalogue in the options
// that they are offered in, and texts that are special in one format or another. The
// rules decide what the generator cannot know, such as whether two capacities can be
// distinguished. Most blueprints have no errors.
type generator struct{ *rand.Rand }

type object = map[string]any

// randomBlueprint returns a random blueprint, ready for JSON.
func (g generator) randomBlueprint() object {
	region := g.pick("us-central1", "us-east4", "europe-west4")
	zones := []string{region + "-a", region + "-b", region + "-c"}[:1+g.IntN(3)]
	b := object{
		"name": g.pick("p", "gke-batch", "a2-b-c3"), "project": "my-project", "region": region, "zones": zones,
		"cluster": object{
			"releaseChannel": g.pick("REGULAR", "RAPID", "STABLE"), "deletionProtection": g.chance(2),
			"dnsEndpoint":    g.chance(2),
			"imageStreaming": g.chance(2), "csiDrivers": object{"filestore": g.chance(2)},
			"securityGroup": "gke-security-groups@example.com",
			"systemPool":    object{"nodesPerZone": 1 + g.IntN(2)},
			"description":   g.hostileReason(),
			"maintenance":   object{"days": []string{"SA", "SU"}, "start": "04:30", "hours": 6 + g.IntN(6)},
		},
		"monitoring": object{
			"grafana": g.chance(2), "notificationChannels": []string{"projects/my-project/notificationChannels/12"},
		},
		"accept": object{"W0203": g.hostileReason()},
	}
	kai := g.chance(4)
	if kai {
		b["scheduler"] = "kai"
	}
	if g.chance(2) {
		b["notes"] = []string{g.hostileReason(), g.hostileReason()}
	}
	if g.chance(4) {
		b["monitoring"].(object)["tensorBoard"] = object{"region": g.pick("us-central1", "europe-west4")}
	}
	if g.chance(4) {
		b["delivery"] = object{"infrastructureManager": true}
	}
	classes := g.randomClasses(zones, kai)
	hardware, capacity := object{}, object{}
	for _, c := range classes {
		hardware[c.name] = c.hardware
		maps.Copy(capacity, c.capacity)
	}
	cohorts := object{}
	for i := range g.IntN(4) {
		c := object{}
		if kai {
			c["priority"] = g.IntN(300)
		} else if i > 0 && g.chance(2) {
			c["parent"] = fmt.Sprintf("cohort-%d", g.IntN(i))
		}
		cohorts[fmt.Sprintf("cohort-%d", i)] = c
	}
	tiers, use, classesOf := object{}, map[string]class{}, map[string][]string{}
	count := 1 + g.IntN(4)
	if kai { // has one queue for each team
		count = 1
	}
	for i := range count {
		c := classes[g.IntN(len(classes))]
		name := fmt.Sprintf("tier-%d", i)
		use[name] = c
		t := object{"default": i == 0, "capacity": c.names(), "accept": object{"W0502": g.hostileReason()}}
		if !kai {
			t["preempts"], t["queueing"] = g.preempts(), g.pick("StrictFIFO", "BestEffortFIFO")
		}
		if g.chance(2) {
			t["priority"] = g.IntN(2000) - 20
		} else {
			priorities := object{}
			for j := range 1 + g.IntN(3) {
				class := fmt.Sprintf("class-%d-%d", i, j)
				priorities[class] = g.IntN(2000) - 200
				classesOf[name] = append(classesOf[name], class)
			}
			t["priorities"] = priorities
		}
		if !kai && g.chance(3) {
			t["shared"] = object{}
			if g.chance(2) {
				quota := object{}
				for _, capacity := range c.names() {
					quota[capacity] = object{c.unit: c.perNode}
				}
				t["shared"] = object{"quota": quota}
			}
		}
		tiers[name] = t
	}
	teams, quotas := object{}, map[string][]string{} // teams by tier
	for i := range 1 + g.IntN(5) {
		name := fmt.Sprintf("team-%c", 'a'+i)
		bucket := g.chance(2)
		t := object{"bucket": bucket, "nodesListBucket": bucket && g.chance(2),
			"accept": object{"W0606": g.hostileReason()}}
		if g.chance(2) {
			t["group"] = name + "@example.com"
		}
		if g.chance(3) {
			t["namespace"] = "ns-" + name
		}
		if g.chance(3) {
			t["roles"] = []string{"roles/storage.objectViewer"}
		}
		cohort := len(cohorts) > 0 && g.chance(2)
		if cohort {
			t["cohort"] = fmt.Sprintf("cohort-%d", g.IntN(len(cohorts)))
		}
		if kai {
			t["priority"] = g.IntN(300)
		}
		quota := object{}
		for _, tier := range slices.Sorted(maps.Keys(use)) {
			c := use[tier]
			if tiers[tier].(object)["shared"] != nil {
				quotas[tier] = append(quotas[tier], name)
				continue
			}
			if len(quota) > 0 && g.chance(2) {
				continue
			}
			quotas[tier] = append(quotas[tier], name)
			share := object{}
			for _, capacity := range c.names() {
				q := object{c.unit: c.perNode * (1 + g.IntN(2))}
				if cohort && g.chance(2) {
					q["borrow"] = c.perNode * (1 + g.IntN(3))
				} else if cohort && g.chance(2) {
					q["borrow"] = "all"
				}
				if cohort && !kai && g.chance(3) {
					q["lend"] = c.perNode
				}
				share[capacity] = q
			}
			quota[tier] = share
		}
		t["quota"] = quota
		teams[name] = t
	}
	workloads := object{}
	for i := range g.IntN(4) {
		tier := fmt.Sprintf("tier-%d", g.IntN(len(tiers)))
		if len(quotas[tier]) > 0 && use[tier].hosts <= 1 {
			w := g.randomWorkload(tier, use[tier], quotas[tier])
			if names := classesOf[tier]; names != nil && g.chance(2) {
				w["priority"] = names[g.IntN(len(names))]
			}
			workloads[fmt.Sprintf("work-%d", i)] = w
		}
	}
	b["hardware"], b["capacity"], b["tiers"], b["cohorts"], b["teams"], b["workloads"] = hardware, capacity, tiers,
		cohorts, teams, workloads
	return b
}

// class is a hardware class with its capacities.
type class struct {
	name     string
	hardware object
	capacity object
	unit     string // of quota: accelerators or cpus
	perNode  int    // of the unit, or of a slice
	hosts    int    // of a slice, 0 without TPUs
}

func (c class) names() []string { return slices.Sorted(maps.Keys(c.capacity)) }

func (g generator) randomClasses(zones []string, kai bool) []class {
	machines := slices.DeleteFunc(catalog.All(), func(m catalog.Machine) bool {
		return m.Withheld != "" || m.VCPUs < 4 || m.MemoryGiB < 8
	})
	var out []class
	for i := range 1 + g.IntN(3) {
		m := machines[g.IntN(len(machines))]
		if g.chance(2) { // most machines have no accelerators
			for m.Accelerator == "" {
				m = machines[g.IntN(len(machines))]
			}
		}
		c := class{
			name: fmt.Sprintf("class-%d", i), unit: "cpus", perNode: max(1, m.VCPUs/2), capacity: object{},
			hardware: object{"machine": m.Type, "accept": object{"W0312": g.hostileReason()}},
		}
		if m.Accelerator != "" {
			c.unit, c.perNode = "accelerators", m.Count
		}
		if m.Networks.Direct != "" && g.chance(2) {
			c.hardware["gpuDirect"] = true
			zones = zones[:1]
		}
		if len(m.Disks) > 0 && g.chance(2) {
			c.hardware["disk"] = object{"type": m.Disks[g.IntN(len(m.Disks))], "sizeGiB": 100 + g.IntN(100)}
		}
		if shapes := m.Slices(); len(shapes) > 0 {
			shape := shapes[g.IntN(len(shapes))]
			c.hardware["topology"], c.perNode, c.hosts = shape.Topology, shape.Chips, shape.Hosts
		}
		for _, o := range []struct {
			option  string
			offered *bool
		}{
			{"flexStart", m.Options.Queued}, {"onDemand", m.Options.OnDemand},
			{"reservation", m.Options.Reservation}, {"spot", m.Options.Spot},
		} {
			option := o.option
			if o.offered == nil || !*o.offered || len(c.capacity) > 0 && (kai || g.chance(2)) ||
				kai && option == "flexStart" {
				continue
			}
			where, arm := zones[:1], object{}
			switch option {
			case "flexStart":
				arm = object{"queued": true, "maxRunSeconds": 3600}
			case "reservation":
				arm = object{"name": fmt.Sprintf("reserved-%d", i)}
			default:
				if c.hosts == 0 {
					where = zones
				}
			}
			v := object{
				"hardware": c.name, "consumption": object{option: arm}, "zones": where,
				"accept": object{"E0602": g.hostileReason(), "W0308": g.hostileReason(), "W0402": g.hostileReason(),
					"W0208": g.hostileReason()},
			}
			count, most := "nodes", "maxNodes"
			if c.hosts > 0 {
				count, most = "slices", "maxSlices"
			}
			if n := len(where) * (1 + g.IntN(3)); option == "reservation" || g.chance(4) && option != "flexStart" {
				v[count] = n
			} else {
				v[most] = n
			}
			c.capacity[fmt.Sprintf("pool-%d-%s", i, strings.ToLower(option))] = v
		}
		if len(c.capacity) > 0 {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return g.randomClasses(zones, kai)
	}
	return out
}

func (g generator) randomWorkload(tier string, c class, teams []string) object {
	pod := object{"cpu": 1, "memory": "1Gi"}
	if c.unit == "accelerators" {
		pod["accelerators"] = c.perNode // all chips of a TPU slice's host, and all of a machine
	}
	w := object{
		"tier": tier, "teams": teams[:1+g.IntN(len(teams))], "kind": g.pick("Job", "JobSet"), "copies": 1 + g.IntN(3),
		"perPod": pod,
		"image":  g.pick("a/b:1", "us-docker.pkg.dev/p/r/i@sha256:"+strings.Repeat("0a", 32)), "retries": g.IntN(9),
	}
	env, files := object{}, object{}
	for i := range g.IntN(3) {
		env[fmt.Sprintf("_A%d", i)] = g.hostileText()
		files[fmt.Sprintf("%c.py", 'a'+i)] = g.hostileText()
	}
	w["env"], w["files"] = env, files
	if g.chance(3) {
		w["secretEnv"] = object{"_TOKEN": object{"secret": "tokens", "key": g.pick("token", ".a_b-C")}}
	}
	if c.hosts > 0 && g.chance(2) {
		w["hostNetwork"] = true
	}
	if c.unit == "cpus" && w["kind"] == "JobSet" && g.chance(2) {
		w["auxiliary"] = object{
			"beside": object{
				"capacity": c.names()[0], "cpu": 1, "memory": "1Gi", "image": "a/b:1",
				"env": object{"_A": g.hostileText()},
			},
		}
	}
	if g.chance(3) {
		w["capacity"] = c.names()[:1]
	}
	if g.chance(2) {
		w["command"] = []string{"train", g.hostileText(), g.hostileText()}
	}
	if g.chance(2) {
		w["rendezvous"] = object{"port": 2000 + g.IntN(1000)}
	}
	return w
}

// preempts returns policies that Kueue accepts together.
func (g generator) preempts() object {
	p := object{
		"inQueue":   g.pick("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
		"toReclaim": g.pick("Any", "LowerPriority", "Never"),
	}
	if p["toReclaim"] != "Never" {
		p["toBorrow"] = g.pick("Never", "LowerPriority")
	}
	return p
}

// hostileText returns a random sequence of hostile texts.
func (g generator) hostileText() string {
	texts := hostile.Texts()
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(texts[g.IntN(len(texts))])
	}
	return strings.ReplaceAll(b.String(), "\ufeff", "") // CUE accepts it only at the start of a file
}

// hostileReason returns a hostile text that the schema accepts as a reason.
func (g generator) hostileReason() string {
	for {
		s := strings.ReplaceAll(g.hostileText(), "\n", " ")
		if n := utf8.RuneCountInString(s); n >= 3 && n <= 200 && strings.ContainsFunc(s, unicode.IsPrint) {
			return s
		}
	}
}

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// chance returns true with probability 1/n.
func (g generator) chance(n int) bool { return g.IntN(n) == 0 }
