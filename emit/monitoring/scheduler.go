package monitoring

import "github.com/batchwright/batchwright/compiler/ir"

// scheduler holds the differences in monitoring between one scheduler of jobs and
// another.
type scheduler struct {
	alerts         func(*ir.Platform) []Alert
	admin          func(*ir.Platform) []Section  // the administrator's sections on quota and queues
	controller     func(*ir.Platform) Section    // the administrator's section on the scheduler itself
	team           func(*ir.Platform) []Section  // a team's sections on its quota and queues
	adminVariables func(*ir.Platform) []Variable // of every board
	teamVariables  func(*ir.Platform) []Variable // the further ones of a team's board
	targets        func(*ir.Platform) []Target   // scrape targets, including the controllers of jobs
	exports        func(Panel) bool              // whether the platform has the metrics of a panel
}

func anyPanel(Panel) bool { return true }

func withoutKueue(p Panel) bool { return !p.onKueue() }

func schedulerOf(p *ir.Platform) scheduler {
	return ir.Choose(p.Scheduler,
		scheduler{
			kueueAlerts, kueueAdminSections, controllerSection, kueueTeamSections,
			kueueAdminVariables, kueueTeamVariables, kueueTargets, anyPanel,
		},
		scheduler{
			kaiAlerts, kaiAdminSections, kaiControllerSection, kaiMySections,
			kaiAdminVariables, kaiTeamVariables, kaiTargets, withoutKueue,
		})
}
