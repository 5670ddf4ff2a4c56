// Package monitoring holds everything that knows the name of a metric or PromQL: the
// alerts on a platform, the panels and variables of its boards, and the controllers
// that are scraped for them. All of it is data. Packages that know a format render it:
// emit/dashboard the boards and the rules of a Prometheus, emit/terraform the alert
// policies, emit/kubernetes the objects for scraping.
//
// An alert is one row in alerts.go or alerts_kai.go, a panel one row in panels.go or
// panels_kai.go. The expression of a row has placeholders, which Notation.fill
// lists. The field skip says on which platforms the row is omitted.
package monitoring
