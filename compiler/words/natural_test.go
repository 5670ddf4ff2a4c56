package words

import (
	"cmp"
	"testing"
)

func TestCompareNatural(t *testing.T) {
	want := []string{
		"", "a", "a2-highgpu-1g", "a2-highgpu-8g", "a2-megagpu-16g", "a4x", "c3-standard-4", "c3-standard-4-lssd",
		"c3-standard-8", "c3-standard-22", "c3d-standard-4", "n1", "n1-standard-1",
	}
	for i, a := range want {
		for j, b := range want {
			if got := CompareNatural(a, b); got != cmp.Compare(i, j) {
				t.Errorf("CompareNatural(%q, %q) = %d", a, b, got)
			}
		}
	}
}
