package dashboard

import (
	"bytes"
	"encoding/json"
)

// boardJSON returns a board as indented JSON. It does not escape <, > and &, which are
// frequent in PromQL.
func boardJSON(board any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(board)
	return out.Bytes(), err
}
