package documents_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestOrganisationPolicies compares the tables of docs/organisation-policies.md with the
// catalogue: constraints that a setting meets, and constraints that every platform
// meets. If they differ, it prints the right tables.
func TestOrganisationPolicies(t *testing.T) {
	page, err := os.ReadFile(fixture.Path("docs/organisation-policies.md"))
	if err != nil {
		t.Fatal(err)
	}
	settings := "| constraint | demands | what to set | landing zones |\n| --- | --- | --- | --- |\n"
	met := "| constraint | demands | landing zones |\n| --- | --- | --- |\n"
	for _, c := range catalog.Constraints() {
		name, zones := fmt.Sprintf("[`%s`](%s)", c.Name, c.Source), "none"
		if len(c.Zones) > 0 {
			zones = strings.ReplaceAll(strings.Join(c.Zones, ", "), "fast-", "")
		}
		if c.Check == "" {
			met += fmt.Sprintf("| %s | %s | %s |\n", name, c.Demands, zones)
		} else {
			settings += fmt.Sprintf("| %s | %s | %s | %s |\n", name, c.Demands, c.Set, zones)
		}
	}
	for _, table := range []string{settings, met} {
		if !strings.Contains(string(page), "\n\n"+table+"\n") {
			t.Errorf("docs/organisation-policies.md lacks the table\n%s", table)
		}
	}
}
