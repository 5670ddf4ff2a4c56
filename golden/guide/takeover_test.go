package guide_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestTakeOverCommands checks the commands of the page of a takeover against the table of commands.
func TestTakeOverCommands(t *testing.T) {
	table := readPrograms(t)
	page := fixture.ReadText(t, fixture.Path("golden/testdata/adopted-cluster/takeover/README.md"))
	commands := 0
	for _, b := range fixture.Blocks(page) {
		for line := range strings.Lines(strings.ReplaceAll(b.Text, "ADDRESS", "address")) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), " >")
			words := strings.Fields(command)
			if standIns()[words[0]] == "" {
				continue
			}
			commands++
			if mistake := table.findMistake(words); mistake != "" {
				t.Errorf("%s: %s", command, mistake)
			}
		}
	}
	if commands != 4 {
		t.Errorf("%d commands", commands)
	}
}
