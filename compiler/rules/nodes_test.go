package rules

import (
	"math"
	"testing"
)

// The amounts follow from the formula in GKE's documentation.
func TestImageSpace(t *testing.T) {
	for disk, want := range map[int]float64{20: 8, 40: 16, 50: 21.5, 100: 49, 1000: 800} {
		if got := imageSpace(disk); math.Abs(got-want) > 0.001 {
			t.Errorf("%d GiB: %v, want %v", disk, got, want)
		}
	}
}
