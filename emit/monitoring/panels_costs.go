package monitoring

import "github.com/batchwright/batchwright/compiler/ir"

// Metrics of what containers request.
const (
	acceleratorRequest = `kubernetes_io:container_accelerator_request`
	cpuRequest         = `kubernetes_io:container_cpu_request_cores`
)

// period is a time over which a panel adds up hours.
type period struct {
	name   string
	window string // range and resolution of a subquery
	steps  string // number of steps in an hour
}

// The periods of the panels on costs. A long period has long steps, so that no query reads
// more than some hundred points of each series.
var (
	day   = period{"24 hours", "[24h:5m]", "12"}
	week  = period{"7 days", "[7d:15m]", "4"}
	month = period{"30 days", "[30d:1h]", "1"}
)

// hoursOf returns an expression for the integral of an expression over a period, in hours.
func hoursOf(expr string, p period) string {
	return `sum_over_time((` + expr + `)` + p.window + `) / ` + p.steps
}

// costSection returns the administrator's section on the shares of the teams in the costs
// of the platform. Cloud Monitoring has no prices, so the section shows the hours to which
// the costs are proportional: Cloud Billing divides the costs of nodes by the requests of
// pods. Source: GKE documentation, "View detailed breakdown of cluster costs".
func costSection(p *ir.Platform) Section {
	const among = `{monitored_resource="k8s_container",@system}`
	note := "What the pods of each namespace requested; each team has its own namespace. Cloud Billing divides the " +
		"costs of nodes by the same requests. To compare costs, multiply the hours by your price of one hour."
	hours := func(title, metric string) Panel {
		panel := newPanel(title, note, Table, amount).sortedBy(month.name, false)
		for _, each := range []period{day, week, month} {
			query := grouped("sum", metric+among, "namespace_name").named(each.name)
			query.expr = hoursOf(query.expr, each)
			panel.Queries = append(panel.Queries, query)
		}
		return panel
	}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	plain := p.AnyCapacity(func(c ir.Capacity) bool { return !c.HasAccelerators() })
	return Section{Name: "costs", Title: "Costs by team", Folded: true, Panels: []Panel{
		newPanel("Accelerators requested by namespace", "Each team has its own namespace.", Stack, count,
			grouped("sum", acceleratorRequest+among, "namespace_name").largest()).when(chipped),
		hours("Accelerator hours by namespace", acceleratorRequest).when(chipped),
		hours("vCPU hours by namespace", cpuRequest).when(plain),
	}}
}
