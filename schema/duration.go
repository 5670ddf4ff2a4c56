package schema

import (
	"strconv"
	"strings"
)

// MaxDuration is the longest #Duration in seconds: 60 days.
const MaxDuration = 60 * 24 * 60 * 60

// durationUnit is a unit of #Duration.
type durationUnit struct {
	letter  byte
	seconds int64
}

// durationUnits returns the units of #Duration, the largest first.
func durationUnits() []durationUnit {
	return []durationUnit{{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}
}

// Seconds returns the length of a #Duration in seconds. It returns 0 for a text that is
// not a #Duration, such as "".
func Seconds(duration string) int64 {
	total, rest := int64(0), duration
	for _, u := range durationUnits() {
		number, after, found := strings.Cut(rest, string(u.letter))
		if !found {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return 0
		}
		total, rest = total+n*u.seconds, after
	}
	if rest != "" {
		return 0
	}
	return total
}

// FormatSeconds returns the shortest #Duration that is a number of seconds long. It
// returns "0s" for 0.
func FormatSeconds(seconds int64) string {
	if seconds == 0 {
		return "0s"
	}
	var out strings.Builder
	for _, u := range durationUnits() {
		if n := seconds / u.seconds; n > 0 {
			out.WriteString(strconv.FormatInt(n, 10))
			out.WriteByte(u.letter)
		}
		seconds %= u.seconds
	}
	return out.String()
}
