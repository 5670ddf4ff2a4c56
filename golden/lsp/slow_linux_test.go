package lsp_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// slowFields are fields of a blueprint whose evaluation takes hours.
const slowFields = `
_a: {a: 1, b: 2, c: 3, d: 4}
_b: {for x, _ in _a for y, _ in _a for z, _ in _a for v, _ in _a {"\(x)\(y)\(z)\(v)": 1}}
_c: {for x, _ in _b for y, _ in _b for z, _ in _b {"\(x)\(y)\(z)": 1}}
`

// TestLanguageServerSlowCheck checks that a blueprint which takes long does not delay the next
// check: the server ends the process that checks it. Otherwise the check would last as long as
// the limit allows.
func TestLanguageServerSlowCheck(t *testing.T) {
	bin := fixture.Batchwright(t)
	dir, platform := initRepository(t, bin, "batch-platform")
	e := startEditor(t, bin, dir, "--max-time", "24h")
	e.open("platform.cue", platform+slowFields)
	fixture.WaitForChild(t, e.cmd.Process.Pid)
	e.change("platform.cue", strings.Replace(platform, `"l4-spot": {hardware`, `"l4-spot": {hardwar`, 1), nil)
	e.waitFor("platform.cue", "E0101")
	e.stop()
}
