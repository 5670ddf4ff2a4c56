package load_test

import (
	"testing"

	"github.com/batchwright/batchwright/golden/findings"
)

// TestFindings runs the cases of files that cannot be loaded.
func TestFindings(t *testing.T) { findings.Run(t, "load") }
