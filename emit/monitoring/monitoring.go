// Package monitoring holds everything that knows the name of a metric or PromQL: the
// alerts on a platform, the panels of its boards, and the controllers that are
// scraped for them. All of it is data. The packages of the formats render it:
// emit/dashboard the boards and the rules of a Prometheus, emit/terraform the alert
// policies, emit/kubernetes the objects for scraping.
//
// An alert is one row in alerts.go or alerts_kai.go, a panel one row in panels.go or
// panels_kai.go. A row has an expression with placeholders, which Notation.replacer describes,
// and says in skip for which platforms it is omitted.
package monitoring
