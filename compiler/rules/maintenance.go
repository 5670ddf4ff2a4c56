package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on the times at which GKE upgrades the cluster and its nodes. Source: GKE
// documentation, "Maintenance windows and exclusions".

func maintenanceRules() []Rule {
	return []Rule{
		rule("E0706", "maintenance window is too short", maintenanceTime, newCluster),
		rule("E1013", "invalid maintenance exclusion", exclusionLimits, newCluster),
		rule("E1014", "field upgrades is unavailable for nodes that GKE creates or never upgrades",
			onEach(capacities, upgradesOfOwnPools)),
		rule("W1015", "run can be longer than the time between maintenance windows",
			runsBeyondWindows, resolved, newCluster),
	}
}

// maintenanceTime reports windows that are too short. GKE demands 48 hours in any 32
// days, which contain every weekday at least four times.
func maintenanceTime(r *report) {
	m := r.Plan.Cluster.Maintenance
	if hours := 4 * len(m.Days) * m.Hours; hours < 48 {
		r.addKey(at("cluster", "maintenance"),
			say("the maintenance window is open for %d hours in 32 days, but GKE needs 48", hours),
			help("add a day to cluster: maintenance: days, or raise hours to %d", (48+4*len(m.Days)-1)/(4*len(m.Days))))
	}
}

// Limits of maintenance exclusions.
const (
	mostExclusions     = 20 // of one cluster
	mostFullExclusions = 3  // of one cluster, with scope NO_UPGRADES
	mostFullDays       = 30 // of one exclusion with scope NO_UPGRADES

	// In any leastIn days, windows outside exclusions with scope NO_UPGRADES must be
	// open for at least leastHours hours.
	leastIn, leastHours = 92, 48
)

const noUpgrades = "NO_UPGRADES"

// dates are the days of an exclusion: from start, and before end.
type dates struct{ start, end time.Time }

// containsDay reports whether a day is in the exclusion.
func (d dates) containsDay(day time.Time) bool { return !day.Before(d.start) && day.Before(d.end) }

func exclusionLimits(r *report) {
	exclusions := r.Blueprint.Cluster.Maintenance.Exclusions
	path := at("cluster", "maintenance", "exclusions")
	if len(exclusions) > mostExclusions {
		r.addKey(path, say("the cluster has %d maintenance exclusions", len(exclusions)),
			label("want at most %d", mostExclusions), help("remove exclusions that have ended"))
	}
	var full []dates
	wrong := false
	for _, name := range sortedKeys(exclusions) {
		e, here := exclusions[name], path.at(name)
		start, err := time.Parse(time.DateOnly, e.Start)
		if err != nil {
			r.add(here.at("start"), say("%s is not a date", e.Start), help("write a date such as \"2026-12-20\""))
			wrong = true
			continue
		}
		end, err := time.Parse(time.DateOnly, e.End)
		if err != nil {
			r.add(here.at("end"), say("%s is not a date", e.End), help("write a date such as \"2026-12-20\""))
			wrong = true
			continue
		}
		days := int(end.Sub(start).Hours() / 24)
		switch {
		case days <= 0:
			r.add(here.at("end"), say("exclusion %q ends before it starts, or on the same day", name),
				label("want a date after %s", e.Start),
				help("write end: %q, or a later date", start.AddDate(0, 0, 1).Format(time.DateOnly)))
			wrong = true
		case e.Scope == noUpgrades && days > mostFullDays:
			r.add(here.at("end"), say("exclusion %q blocks all upgrades for %d days", name, days),
				label("want at most %d days", mostFullDays),
				help(`choose an earlier end, or allow patches: scope: "NO_MINOR_OR_NODE_UPGRADES"`))
			wrong = true
		}
		if e.Scope == noUpgrades {
			full = append(full, dates{start, end})
		}
	}
	switch {
	case wrong:
	case len(full) > mostFullExclusions:
		r.addKey(path, say("the cluster has %d exclusions of scope NO_UPGRADES", len(full)),
			label("want at most %d", mostFullExclusions),
			help(`remove exclusions that have ended, or allow patches: scope: "NO_MINOR_OR_NODE_UPGRADES"`))
	default:
		if from, hours := shortestMaintenance(r.Plan.Cluster.Maintenance, full); hours < leastHours {
			message := say(
				"in the %d days from %s the maintenance window is open for %d hours, but GKE needs %d",
				leastIn, from.Format(time.DateOnly), hours, leastHours)
			r.addKey(path, message, help("shorten an exclusion, or add days or hours to the maintenance window"))
		}
	}
}

// shortestMaintenance returns the period of leastIn days in which exclusions leave
// the fewest hours of maintenance windows: its first day, and the hours. Without
// exclusions it returns enough hours, because maintenanceTime reports windows that
// are too short.
func shortestMaintenance(m ir.Maintenance, exclusions []dates) (from time.Time, hours int) {
	hours = leastHours
	for _, e := range exclusions {
		for first := e.end.AddDate(0, 0, -leastIn); !first.After(e.start); first = first.AddDate(0, 0, 1) {
			open := 0
			for i := range leastIn {
				day := first.AddDate(0, 0, i)
				excluded := slices.ContainsFunc(exclusions, func(e dates) bool { return e.containsDay(day) })
				if !excluded && slices.Contains(m.Days, weekday[day.Weekday()]) {
					open += m.Hours
				}
			}
			if open < hours {
				from, hours = first, open
			}
		}
	}
	return from, hours
}

// weekday holds the names of the days in RFC 5545, in the order of time.Weekday.
var weekday = [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// upgradesOfOwnPools reports upgrade settings of capacities without node pools of
// the platform, where GKE decides, and of flex-start, where GKE upgrades no running
// node. Source: GKE documentation, "Node upgrade strategies", short-lived upgrades.
func upgradesOfOwnPools(r *report, c ir.Capacity) {
	if r.Blueprint.Capacity[c.Name].Upgrades == nil {
		return
	}
	path := at("capacity", c.Name, "upgrades")
	switch {
	case c.Option.Facts().ShortLived:
		r.addKey(path, say("field upgrades is unavailable for %s: GKE does not upgrade its running nodes",
			c.Option.Facts().Nodes), help("remove upgrades"))
	case !c.OwnsPools():
		r.addKey(path,
			say("field upgrades is unavailable for capacity %q: GKE creates and upgrades its node pools itself",
				c.Name), help("remove upgrades; or "+givesOwnPool, creatorField(c)))
	}
}

// runsBeyondWindows reports runs that are longer than the time between two windows.
// Such a run always meets a window, and the upgrade of a node ends its pods.
func runsBeyondWindows(r *report) {
	between := timeBetweenWindows(r.Plan.Cluster.Maintenance)
	for name, w := range sorted(r.Blueprint.Workloads) {
		if w.MaxRunSeconds == nil || time.Duration(*w.MaxRunSeconds)*time.Second <= between {
			continue
		}
		for _, capacity := range r.runsOn(w) {
			c, known := r.fit.Named[capacity]
			if !known || c.Option.Facts().ShortLived || c.KeepsVersion {
				continue
			}
			cure := fmt.Sprintf(`postpone the upgrades of the nodes: capacity: %q: upgrades: "endOfSupport"; `+
				"or remove days from the maintenance window", capacity)
			if !c.OwnsPools() {
				cure = "remove days from the maintenance window; or save checkpoints, and add " +
					r.accepting(at("workloads", name))
			}
			most := int(between.Seconds())
			r.add(at("workloads", name, "maxRunSeconds"),
				say("a run of %s overlaps a maintenance window, in which GKE can upgrade nodes of %q",
					printHours(*w.MaxRunSeconds), capacity),
				label("want at most %d: the time between windows is %s", most, printHours(most)),
				see(at("capacity", capacity), "the nodes"), advise(cure))
			break
		}
	}
}

// printHours returns a duration in whole hours, rounded down.
func printHours(seconds int) string { return words.Count(seconds/3600, "hour") }

// timeBetweenWindows returns the longest time from the end of a weekly window to the
// start of the next.
func timeBetweenWindows(m ir.Maintenance) time.Duration {
	const week = 7
	var longest time.Duration
	for first := range week {
		if !slices.Contains(m.Days, weekday[first]) {
			continue
		}
		for days := 1; days <= week; days++ {
			if slices.Contains(m.Days, weekday[(first+days)%week]) {
				longest = max(longest, time.Duration(24*days-m.Hours)*time.Hour)
				break
			}
		}
	}
	return longest
}
