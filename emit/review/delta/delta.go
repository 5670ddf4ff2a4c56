// Package delta names what can happen to a thing between two states of a platform.
//
// Packages objects and summary set an Op for each change that they find, and the
// printers of package review read it.
package delta

// Op is what happened to a thing: to an object, a field or a fact.
type Op string

// The operations. Removed means removed from the configuration: what runs may
// still exist.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)
