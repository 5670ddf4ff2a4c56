package monitoring

import (
	"regexp"
	"strconv"
	"testing"
	"time"
)

// TestHours holds that the sum over a period counts hours: its steps divide an hour into
// as many parts as the sum is divided by.
func TestHours(t *testing.T) {
	for _, p := range []period{day, week, month} {
		found := regexp.MustCompile(`^\[[0-9]+[hd]:([0-9]+[mh])\]$`).FindStringSubmatch(p.window)
		if found == nil {
			t.Errorf("window of %s: %s", p.name, p.window)
			continue
		}
		step, err := time.ParseDuration(found[1])
		if err != nil {
			t.Fatal(err)
		}
		if want := strconv.Itoa(int(time.Hour / step)); p.steps != want {
			t.Errorf("%s: steps of %s are %s an hour, not %s", p.name, step, want, p.steps)
		}
	}
}

// TestHoursOfCPUs holds that platforms without accelerators show hours of vCPUs.
func TestHoursOfCPUs(t *testing.T) {
	for name, want := range map[string]int{"accelerators": 2, "vCPUs": 1} {
		plan := testPlan()
		if name == "vCPUs" {
			plan = barePlan()
		}
		for _, s := range adminSections(plan) {
			if s.Title == "Costs by team" && len(s.Panels) != want {
				t.Errorf("%s: %d panels, want %d", name, len(s.Panels), want)
			}
		}
	}
}
