package catalog

import (
	"testing"
	"time"
)

// TestChannels holds that the rows agree with each other: defaults lie between
// the oldest and the newest version, and channels come from the latest.
func TestChannels(t *testing.T) {
	for i, c := range channels {
		if OlderGKE(c.Default, c.Oldest) || OlderGKE(c.Newest, MinorGKE(c.Default)) {
			t.Errorf("%s: default %s is not between %s and %s", c.Name, c.Default, c.Oldest, c.Newest)
		}
		if i > 0 && c.Name != "EXTENDED" && OlderGKE(channels[i-1].Default, c.Default) {
			t.Errorf("%s starts clusters later than %s does", c.Name, channels[i-1].Name)
		}
		if got, ok := LookupChannel(c.Name); !ok || got != c {
			t.Errorf("LookupChannel(%q) = %+v, %v", c.Name, got, ok)
		}
	}
}

func TestOlderGKE(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.32", "1.33", true},
		{"1.33", "1.32", false},
		{"1.9", "1.31", true},
		{"1.33", "1.33.0-gke.1712000", false}, // the newest patch may be later
		{"1.33.0-gke.1000000", "1.33.0-gke.1712000", true},
		{"1.33.5", "1.33.0-gke.1712000", false},
		{"1.31", "1.32.1-gke.1357001", true},
	} {
		if got := OlderGKE(c.a, c.b); got != c.want {
			t.Errorf("OlderGKE(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func TestMinorGKE(t *testing.T) {
	for in, want := range map[string]string{"1.36.0-gke.3204000": "1.36", "1.33": "1.33", "1.33.5": "1.33"} {
		if got := MinorGKE(in); got != want {
			t.Errorf("MinorGKE(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBeyondGKE(t *testing.T) {
	if newest := NewestGKE(); newest != "1.37" {
		t.Errorf("newest version %s: bring the cases below up to date", newest)
	}
	for version, want := range map[string]bool{
		"1.31": false, "1.37": false, "1.38": false, "1.46.3-gke.1000": false, "1.47": true, "1.99": true,
	} {
		if _, got := BeyondGKE(version); got != want {
			t.Errorf("BeyondGKE(%q) = %v", version, got)
		}
	}
	if ahead, _ := BeyondGKE("1.99"); ahead != 62 {
		t.Errorf("1.99 is %d minor versions ahead", ahead)
	}
}

// TestAge reminds a maintainer of rows that were read long ago. It never fails: .ci/run
// prints its reminders at its end.
func TestAge(t *testing.T) {
	const most = 180 // days
	for what, read := range map[string]string{
		"default versions of GKE's release channels": defaultsDate, "minor versions of these channels": MinorsDate,
		"default versions of a blueprint": pinsDate,
	} {
		day, err := time.Parse(time.DateOnly, read)
		if err != nil {
			t.Fatal(err)
		}
		if age := int(time.Since(day).Hours() / 24); age > most {
			t.Logf("reminder: the %s were read on %s, %d days ago: compare them with their sources", what, read, age)
		}
	}
}
