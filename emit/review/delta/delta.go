// Package delta defines the changes that can happen to a thing between two states of
// a platform.
//
// Packages objects and summary set an Op for each change that they find, and the
// printers of package review read it.
package delta

// Op is the change of an object, a field or a fact.
type Op string

// The operations. Removed means removed from the configuration: the running resource
// may still exist.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)
