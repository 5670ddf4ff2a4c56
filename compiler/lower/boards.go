package lower

import (
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerBoards returns the dashboards for administrators: those of the blueprint, or one
// with all sections.
func lowerBoards(b *schema.Blueprint) []ir.Board {
	if len(b.Monitoring.Boards) == 0 {
		return ir.DefaultBoards(b.Name, ir.Scheduler(b.Scheduler))
	}
	var boards []ir.Board
	for _, name := range slices.Sorted(maps.Keys(b.Monitoring.Boards)) {
		board := b.Monitoring.Boards[name]
		boards = append(boards, ir.Board{
			Name: name, Title: valueOr(board.Title, ir.BoardTitle(b.Name, name)), Sections: board.Sections,
		})
	}
	return boards
}
