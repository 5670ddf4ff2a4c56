package catalog

import "testing"

func TestOlderRelease(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0.15.0", "0.15.0", false},
		{"0.14.9", "0.15.0", true},
		{"0.15.1", "0.15.0", false},
		{"0.9.9", "0.10.0", true},
		{"1.0.0", "0.19.2", false},
	} {
		if got := OlderRelease(c.a, c.b); got != c.want {
			t.Errorf("OlderRelease(%q, %q) = %v", c.a, c.b, got)
		}
	}
}
