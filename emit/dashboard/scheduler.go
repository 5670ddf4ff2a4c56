package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/batchwright/batchwright/compiler/ir"
)

// scheduler holds the differences in monitoring between one scheduler of jobs and
// another.
type scheduler struct {
	admin      func(*ir.Platform) []section // the administrator's sections on quota and queues
	controller func() section               // the administrator's section on the scheduler itself
	team       func(*ir.Platform) []section // a team's sections on its quota and queues
	filters    func(*ir.Platform, board) []cloudFilter
	variables  func(*ir.Platform, board) []cog.Builder[dashboard.VariableModel]
	targets    func() []target  // scrape targets, including JobSet
	exports    func(panel) bool // whether the platform has the metrics of a panel
}

func anyPanel(panel) bool { return true }

func withoutKueue(p panel) bool { return !p.onKueue() }

func schedulerOf(p *ir.Platform) scheduler {
	return ir.Choose(p.Scheduler,
		scheduler{kueueAdmin, controller, kueueTeam, kueueFilters, kueueVariables, kueueTargets, anyPanel},
		scheduler{kaiAdmin, kaiController, kaiTeam, kaiFilters, kaiVariables, kaiTargets, withoutKueue})
}
