package blueprint_test

import (
	"testing"

	"github.com/batchwright/batchwright/golden/findings"
)

// TestFindings runs the cases of blueprints that do not fit the schema.
func TestFindings(t *testing.T) { findings.Run(t, "evaluate", "forms", "grammar", "indefinite") }
