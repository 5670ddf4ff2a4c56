package diag

import (
	"fmt"
	"strings"
)

// Index returns the element of a path for element i of a list, from 0.
func Index(i int) string { return fmt.Sprintf("[%d]", i) }

// Path returns a field's path in the form that people write: teams.team-a.roles[0].
func Path(elements []string) string {
	return strings.ReplaceAll(strings.Join(elements, "."), ".[", "[")
}
