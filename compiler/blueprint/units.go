package blueprint

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// amountPattern matches a number with a unit.
var amountPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)[ _]?([A-Za-z]*)$`)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
	tib = 1 << 40
)

// memoryUnits are the units of memory in bytes, in lower case. Kubernetes reads M, G and
// T as powers of 10, and Mi, Gi and Ti as powers of 2. Source: Kubernetes
// documentation, "Resource Management for Pods and Containers".
func memoryUnits() map[string]float64 {
	return map[string]float64{
		"m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
		"ki": kib, "kib": kib, "mi": mib, "mib": mib, "gi": gib, "gib": gib, "ti": tib, "tib": tib,
	}
}

// splitAmount returns the number and the unit of an amount, the unit in lower case. It
// reports whether the text is an amount.
func splitAmount(s string) (n float64, unit string, ok bool) {
	m := amountPattern.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n, strings.ToLower(m[2]), err == nil
}

// guessAmount returns the amounts of memory that may be meant by a text: "16Gi" for
// 16, "16GB" or 17179869184.
func guessAmount(s string) []guess {
	n, unit, ok := splitAmount(s)
	size := memoryUnits()[unit]
	switch {
	case unit == "" && n >= mib:
		size = 1
	case unit == "":
		size = gib
	}
	// No machine has more than 32 TiB. Half of a Mi is a mistake of another kind.
	if bytes := n * size; !ok || bytes < mib || bytes > 64*tib {
		return nil
	}
	switch {
	case unit == "" && size == gib:
		meant := strconv.Quote(binaryAmount(n * gib))
		return []guess{{meant, fmt.Sprintf("write %s for %s GiB", meant, strconv.FormatFloat(n, 'f', -1, 64))}}
	case unit != "" && !strings.HasSuffix(unit, "i") && !strings.HasSuffix(unit, "ib"):
		letter := strings.ToUpper(unit[:1])
		like := map[string]float64{"M": mib, "G": gib, "T": tib}[letter]
		meant := strconv.Quote(binaryAmount(n * like))
		if strings.HasSuffix(s, "m") {
			return []guess{{meant, fmt.Sprintf("did you mean %s? m is a thousandth of a byte", meant)}}
		}
		return []guess{{meant, fmt.Sprintf("did you mean %s? %s counts in powers of 10: %s is %q", meant,
			strings.ToUpper(unit), s, fmt.Sprintf("%.0fMi", math.Floor(n*size/mib)))}}
	}
	return []guess{{source: strconv.Quote(binaryAmount(n * size))}}
}

// binaryAmount returns a number of bytes in the largest unit that gives a whole number.
func binaryAmount(bytes float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{tib, "Ti"}, {gib, "Gi"}} {
		if bytes >= u.size && math.Mod(bytes, u.size) == 0 {
			return strconv.FormatFloat(bytes/u.size, 'f', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(math.Ceil(bytes/mib), 'f', -1, 64) + "Mi"
}

// guessNumber returns the number that may be meant by a text with a unit. The name of
// the field says which unit the field has.
func guessNumber(s, field string) []guess {
	lower := strings.ToLower(field)
	number := func(n float64, counts string) []guess {
		text := strconv.FormatFloat(n, 'f', -1, 64)
		if lower == counts {
			return []guess{{text, "write " + text}}
		}
		return []guess{{text, fmt.Sprintf("write %s: %s counts %s", text, field, counts)}}
	}
	if seconds, ok := readSeconds(s); ok {
		for _, u := range []struct {
			name    string
			seconds float64
		}{{"seconds", 1}, {"hours", hour}, {"days", day}} {
			if strings.HasSuffix(lower, u.name) {
				return number(seconds/u.seconds, u.name)
			}
		}
	}
	n, unit, ok := splitAmount(s)
	switch size := memoryUnits()[unit]; {
	case !ok:
		return nil
	case strings.HasSuffix(lower, "gib") && size > 0:
		if !strings.HasSuffix(unit, "i") && !strings.HasSuffix(unit, "ib") {
			size = map[byte]float64{'m': mib, 'g': gib, 't': tib}[unit[0]] // disks are sold in GB that are GiB
		}
		return number(n*size/gib, "GiB")
	case unit == "m" && strings.HasSuffix(lower, "cpu"):
		return number(n/1000, "vCPUs, and 1000m are 1")
	case strings.HasPrefix(unit, "core") || strings.HasPrefix(unit, "cpu") || strings.HasPrefix(unit, "vcpu"):
		return []guess{{source: strconv.FormatFloat(n, 'f', -1, 64)}}
	}
	return nil
}

// guessDuration returns the #Duration that may be meant by a wrong value at a path:
// "1h30m" for 5400, "90 min" or "01:30:00". Only rehearsals have durations.
func guessDuration(s string, path []string) []guess {
	if path[0] != "rehearsals" {
		return nil
	}
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 && n <= schema.MaxDuration {
		meant := strconv.Quote(words.FormatSeconds(n))
		return []guess{{meant, fmt.Sprintf("write %s for %d seconds", meant, n)}}
	}
	seconds, ok := readSeconds(s)
	switch {
	case !ok || seconds != math.Trunc(seconds) || seconds > schema.MaxDuration:
		return nil
	case seconds == 0:
		return []guess{{source: `"0s"`}, {help: `write at least "1s"`}}
	}
	return []guess{{source: strconv.Quote(words.FormatSeconds(int64(seconds)))}}
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// durationPart matches one number with a unit of time.
var durationPart = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*`)

// clockPattern matches a time limit in the notation of Slurm: days-hours:minutes:seconds
// or hours:minutes:seconds. Source: Slurm, sbatch, option --time.
var clockPattern = regexp.MustCompile(`^(?:([0-9]+)-)?([0-9]{1,3}):([0-9]{2}):([0-9]{2})$`)

// readSeconds returns a duration such as "2h", "1h30m", "7 days" or "02:00:00" in
// seconds, and reports whether the text is one.
func readSeconds(s string) (float64, bool) {
	if m := clockPattern.FindStringSubmatch(s); m != nil {
		total := 0.0
		for i, unit := range []float64{day, hour, minute, 1} {
			n, _ := strconv.ParseFloat(m[i+1], 64) // "" for no days
			total += n * unit
		}
		return total, true
	}
	units := map[string]float64{
		"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "m": minute, "min": minute, "mins": minute,
		"minute": minute, "minutes": minute, "h": hour, "hr": hour, "hrs": hour, "hour": hour, "hours": hour,
		"d": day, "day": day, "days": day, "w": 7 * day, "week": 7 * day, "weeks": 7 * day,
	}
	total, rest := 0.0, strings.ToLower(s)
	for rest != "" {
		m := durationPart.FindStringSubmatch(rest)
		if m == nil || units[m[2]] == 0 {
			return 0, false
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, false
		}
		total, rest = total+n*units[m[2]], rest[len(m[0]):]
	}
	return total, s != ""
}
