package page

import (
	"cmp"
	"math"
	"slices"
)

// maxPoints is the largest number of points of a chart.
const maxPoints = 2000

// delta is a change of an amount at a time.
type delta struct {
	at int64
	by int
}

// series is the amounts of a chart. Each amount holds until the next time.
type series struct {
	Times []int64     `json:"times"`
	Lines [][]float64 `json:"lines"` // amounts at Times, for each line
	// Mean is the number of seconds over which every amount is a mean, and 0 if the
	// amounts are exact.
	Mean int64 `json:"mean,omitempty"`
}

// newSeries returns the amounts of lines from time 0 to the end. It sorts the changes of
// each line.
func newSeries(end int64, lines [][]delta) series {
	times := []int64{0, end}
	for _, line := range lines {
		slices.SortStableFunc(line, func(a, b delta) int { return cmp.Compare(a.at, b.at) })
		for _, d := range line {
			if d.at < end {
				times = append(times, d.at)
			}
		}
	}
	slices.Sort(times)
	s := series{Times: slices.Compact(times)}
	if len(s.Times) > maxPoints {
		s.Times, s.Mean = nil, (end+maxPoints-1)/maxPoints
		for at := int64(0); at < end; at += s.Mean {
			s.Times = append(s.Times, at)
		}
		s.Times = append(s.Times, end)
	}
	for _, line := range lines {
		s.Lines = append(s.Lines, meansOf(line, s.Times))
	}
	return s
}

// meansOf returns the mean amounts from each time to the next, rounded to hundredths. The
// last amount repeats the one before: what happens at the end is not shown.
func meansOf(line []delta, times []int64) []float64 {
	out := make([]float64, 0, len(times))
	amount, next := 0, 0
	for i, from := range times[:len(times)-1] {
		for ; next < len(line) && line[next].at <= from; next++ {
			amount += line[next].by
		}
		to, at, sum := times[i+1], from, 0.0
		for ; next < len(line) && line[next].at < to; next++ {
			sum += float64(amount) * float64(line[next].at-at)
			amount, at = amount+line[next].by, line[next].at
		}
		sum += float64(amount) * float64(to-at)
		out = append(out, math.Round(sum/float64(to-from)*100)/100)
	}
	return append(out, out[len(out)-1])
}

// above returns the part of a line's amounts that is above a limit. It sorts the line.
func above(line []delta, limit int) []delta {
	slices.SortStableFunc(line, func(a, b delta) int { return cmp.Compare(a.at, b.at) })
	var out []delta
	amount, before := 0, 0
	for i, d := range line {
		amount += d.by
		over := max(amount-limit, 0)
		if (i+1 == len(line) || line[i+1].at > d.at) && over != before {
			out, before = append(out, delta{d.at, over - before}), over
		}
	}
	return out
}

// peakOf returns the largest amount of a sorted line.
func peakOf(line []delta) int {
	amount, peak := 0, 0
	for i, d := range line {
		amount += d.by
		if i+1 == len(line) || line[i+1].at > d.at {
			peak = max(peak, amount)
		}
	}
	return peak
}

// secondsOf returns the sum of the amounts of a sorted line over all seconds to the end.
func secondsOf(line []delta, end int64) int64 {
	sum := int64(0)
	for _, d := range line {
		sum += int64(d.by) * max(end-d.at, 0)
	}
	return sum
}
