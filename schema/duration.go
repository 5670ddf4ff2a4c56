package schema

import (
	"strconv"
	"strings"
)

// MaxDuration is the longest #Duration in seconds: 60 days.
const MaxDuration = 60 * 24 * 60 * 60

// Seconds returns the length of a #Duration in seconds. It returns 0 for a text that is
// not a #Duration, such as "".
func Seconds(duration string) int64 {
	total, rest := int64(0), duration
	for _, u := range []struct {
		letter  string
		seconds int64
	}{{"d", 24 * 60 * 60}, {"h", 60 * 60}, {"m", 60}, {"s", 1}} {
		number, after, found := strings.Cut(rest, u.letter)
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
