package diag

import (
	"fmt"
	"strings"
)

// Index is the element of a path that stands for the ith element of a list,
// counted from 0.
func Index(i int) string { return fmt.Sprintf("[%d]", i) }

// Path writes a field's path as people do: teams.team-a.roles[0].
func Path(elements []string) string {
	return strings.ReplaceAll(strings.Join(elements, "."), ".[", "[")
}
