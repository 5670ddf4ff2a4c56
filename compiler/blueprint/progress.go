package blueprint

import (
	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/progress"
)

// startField says that the entities of a field are checked now. It counts them with a
// copy of their iterator: CUE takes much longer to make another one than to read it.
func (c *checker) startField(name string, entities cue.Iterator) {
	if c.at == nil {
		return
	}
	n := 0
	for entities.Next() {
		if sel := entities.Selector(); sel.IsString() && !isConstraint(sel) {
			n++
		}
	}
	c.at.Start(progress.Checking, name)
	c.at.Expect(n)
}
