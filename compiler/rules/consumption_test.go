package rules

import (
	"slices"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
)

// TestOptionsAreInTheCatalogue checks that the columns of the catalogue to which the
// options refer exist: supportsOption panics at a missing column, and a missing column of
// zones would allow every zone.
func TestOptionsAreInTheCatalogue(t *testing.T) {
	for _, o := range ir.Options() {
		supportsOption(o.Option, catalog.Machine{})
		if o.Zones != "" && !slices.ContainsFunc(catalog.All(), func(m catalog.Machine) bool {
			return m.OptionZones(o.Zones) != nil
		}) {
			t.Errorf("%s: no machine has zones of %s", o.Option, o.Zones)
		}
	}
}
