package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the dashboards for administrators.

func boardRules() []Rule {
	return []Rule{
		rule("E1101", "dashboard section has no data", emptySections, resolved),
		rule("E1102", "section is on a dashboard already", repeatedSections),
		rule("E1103", "name or title of a dashboard is taken", takenBoards),
	}
}

// eachSection visits the sections of all dashboards, in the order of the dashboards' names.
func (r *report) eachSection(visit func(section string, path fieldPath)) {
	for name, board := range sorted(r.Blueprint.Monitoring.Boards) {
		for i, section := range board.Sections {
			visit(section, at("monitoring", "boards", name, "sections", diag.Index(i)))
		}
	}
}

func emptySections(r *report) {
	facts := r.Plan.Scheduler.Facts()
	var shown []string
	for _, section := range facts.Sections {
		if r.Plan.HasSection(section) {
			shown = append(shown, section)
		}
	}
	r.eachSection(func(section string, path fieldPath) {
		why := map[string]string{
			"accelerators": "no capacity has accelerators", "capacity": "no capacity has accelerators or a reservation",
			"cohorts": "the platform has no cohorts",
		}[section]
		switch {
		case slices.Contains(shown, section):
			return
		case !slices.Contains(facts.Sections, section):
			why = fmt.Sprintf("%s has no metrics for it", facts.Name)
		}
		r.add(path, say("section %q has nothing to show: %s", section, why), choices(shown),
			help("remove it, or write another section"))
	})
}

func repeatedSections(r *report) {
	first := map[string]fieldPath{}
	r.eachSection(func(section string, path fieldPath) {
		if on, taken := first[section]; taken {
			r.add(path, say("section %q is already on dashboard %q", section, on[2]),
				see(on[:3], "the dashboard"), help("show each section once: remove it from one of the lists"))
			return
		}
		first[section] = path
	})
}

func takenBoards(r *report) {
	titles := map[string]string{ir.BoardTitle(r.Blueprint.Name, ir.TeamBoard): ir.TeamBoard}
	for name, board := range sorted(r.Blueprint.Monitoring.Boards) {
		title := boardTitle(r.Blueprint.Name, name, board)
		switch other, taken := titles[title]; {
		case name == ir.TeamBoard:
			r.addKey(at("monitoring", "boards", name), `"team" is the dashboard for teams`,
				help("choose another name"))
		case taken:
			r.addKey(at("monitoring", "boards", name),
				say("dashboard %q would have the title %q, as dashboard %q has", name, title, other),
				help("give it another title: people choose a dashboard by its title"))
		default:
			titles[title] = name
		}
	}
}

// boardTitle returns the title that a dashboard has.
func boardTitle(platform, name string, board schema.Board) string {
	if board.Title != nil {
		return *board.Title
	}
	return ir.BoardTitle(platform, name)
}
