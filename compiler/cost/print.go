package cost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
)

// measure is a column of a bill's tables: what is counted, for one hour.
type measure struct {
	title string
	of    func(Cost) *big.Rat
}

// measures returns the measures of a bill: money, or without prices accelerator hours if the
// platform has accelerators, and node hours.
func (b *Bill) measures() []measure {
	if b.Currency != "" {
		return []measure{{b.Currency, func(c Cost) *big.Rat { return c.Money }}}
	}
	nodes := measure{"node hours", func(c Cost) *big.Rat { return c.Nodes }}
	if b.Total.Maximum.Accelerators.Sign() == 0 {
		return []measure{nodes}
	}
	return []measure{{"accelerator hours", func(c Cost) *big.Rat { return c.Accelerators }}, nodes}
}

// Text writes a bill for a terminal: the totals and the largest capacities and, with details,
// tables of everything. Amounts of a month are rounded to whole units.
func Text(w io.Writer, b *Bill, details bool) error {
	var buf bytes.Buffer
	what := ""
	if b.Currency != "" {
		what = b.Currency + " "
	}
	fmt.Fprintf(&buf, "%s in %s: %sper month of %d hours\n\n", console.Inline(b.Platform), console.Inline(b.Region),
		what, hoursPerMonth)
	b.printSummary(&buf)
	if details {
		for _, m := range b.measures() {
			b.printCapacities(&buf, m)
			printShares(&buf, "tier", b.Tiers, nil, m)
			printShares(&buf, "team", b.Teams, b.Shared, m)
		}
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// mostCapacities is the number of capacities in the summary of a bill.
const mostCapacities = 3

// printSummary prints the totals of each measure, and below the first total the capacities with
// the largest maximum.
func (b *Bill) printSummary(buf *bytes.Buffer) {
	t := console.Table{Texts: 1}
	t.Add("", "standing", "guaranteed", "maximum")
	add := func(name string, s Span, m measure) {
		t.Add(name, monthText(m.of(s.Standing)), monthText(m.of(s.Guaranteed)), monthText(m.of(s.Maximum)))
	}
	for i, m := range b.measures() {
		add("total "+m.title, b.Total, m)
		if i > 0 {
			continue
		}
		largest := slices.Clone(b.Capacities)
		slices.SortStableFunc(largest, func(x, y CapacityCost) int { return m.of(y.Maximum).Cmp(m.of(x.Maximum)) })
		for _, c := range largest[:min(mostCapacities, len(largest))] {
			if m.of(c.Maximum).Sign() > 0 {
				add("  "+console.Inline(c.Name), c.Span, m)
			}
		}
	}
	t.Print(buf)
}

func (b *Bill) printCapacities(buf *bytes.Buffer, m measure) {
	t := console.Table{Texts: 3}
	add := func(name, machine, price, hourly, nodes, standing, guaranteed, maximum string) {
		cells := []string{name, machine, price}
		if b.Currency != "" {
			cells = append(cells, hourly)
		}
		t.Add(append(cells, nodes, standing, guaranteed, maximum)...)
	}
	line := func(name, machine, price, hourly string, s Span, number func(*big.Rat) string) {
		nodes := s.Standing.Nodes.RatString() + " / " + s.Guaranteed.Nodes.RatString() + " / " +
			s.Maximum.Nodes.RatString()
		add(name, machine, price, hourly, nodes, number(m.of(s.Standing)), number(m.of(s.Guaranteed)),
			number(m.of(s.Maximum)))
	}
	buf.WriteByte('\n')
	if b.Currency == "" {
		buf.WriteString(m.title + ":\n")
	}
	add("capacity", "machine", "consumption", "per hour", "nodes", "standing", "guaranteed", "maximum")
	for _, c := range b.Capacities {
		price, hourly := c.Price, ""
		if c.Waiting {
			price += ", not begun"
		}
		if c.Hourly != nil {
			hourly = trimDecimal(c.Hourly)
		}
		line(console.Inline(c.Name), c.Machine, price, hourly, c.Span, monthText)
	}
	line("total", "", "", "", b.Total, monthText)
	if b.Currency != "" {
		line("total per hour", "", "", "", b.Total,
			func(x *big.Rat) string { return words.GroupDigits(x.FloatString(2)) })
	}
	t.Print(buf)
}

// printShares prints the shares of tiers or teams, and the queues that teams share.
func printShares(buf *bytes.Buffer, of string, shares, shared []Share, m measure) {
	if len(shares)+len(shared) == 0 {
		return
	}
	t := console.Table{Texts: 1}
	t.Add(of, "guaranteed", "maximum")
	add := func(name string, s Share) {
		t.Add(console.Inline(name), monthText(m.of(s.Guaranteed)), monthText(m.of(s.Maximum)))
	}
	for _, s := range shares {
		add(s.Name, s)
	}
	for _, s := range shared {
		add("shared queue of tier "+s.Name, s)
	}
	buf.WriteByte('\n')
	t.Print(buf)
}

// monthText returns the amount of a month, rounded to whole units.
func monthText(hourly *big.Rat) string { return words.GroupDigits(perMonth(hourly).FloatString(0)) }

// trimDecimal returns an amount with at most nine decimals, without zeros at its end.
func trimDecimal(x *big.Rat) string {
	const decimals = 9 // as in a file of prices
	return strings.TrimSuffix(strings.TrimRight(x.FloatString(decimals), "0"), ".")
}

// String returns the change in one sentence.
func (c *Change) String() string {
	return fmt.Sprintf("This change: %s %s a month standing, %s with all guarantees in use, %s at most.",
		signed(c.Standing), c.Currency, signed(c.Guaranteed), signed(c.Maximum))
}

// Brief returns the change as a phrase with one number, such as "+4,200 EUR a month": what always
// runs or, if that does not change, the first of the others that does. It is "" if none changes.
func (c *Change) Brief() string {
	for _, x := range []struct {
		amount *big.Rat
		when   string
	}{{c.Standing, ""}, {c.Guaranteed, " with all guarantees in use"}, {c.Maximum, " at most"}} {
		if x.amount.Sign() != 0 {
			return signed(x.amount) + " " + c.Currency + " a month" + x.when
		}
	}
	return ""
}

// Differs reports whether the three amounts differ, so that Brief does not say everything.
func (c *Change) Differs() bool {
	return c.Standing.Cmp(c.Guaranteed) != 0 || c.Standing.Cmp(c.Maximum) != 0
}

// signed returns an amount without decimals, with its sign.
func signed(x *big.Rat) string {
	s := words.GroupDigits(x.FloatString(0))
	if !strings.HasPrefix(s, "-") {
		s = "+" + s
	}
	return s
}

// amountJSON is an amount as a decimal number with at most nine decimals, or null.
type amountJSON struct{ *big.Rat }

// MarshalJSON returns the number.
func (a amountJSON) MarshalJSON() ([]byte, error) {
	if a.Rat == nil {
		return []byte("null"), nil
	}
	return []byte(trimDecimal(a.Rat)), nil
}

// MarshalJSON returns the cost of an hour, and its money also for a month.
func (c Cost) MarshalJSON() ([]byte, error) {
	var monthly amountJSON
	if c.Money != nil {
		monthly.Rat = perMonth(c.Money)
	}
	return json.Marshal(struct {
		Nodes        amountJSON `json:"nodes"`
		Accelerators amountJSON `json:"accelerators"`
		PerHour      amountJSON `json:"perHour"`
		PerMonth     amountJSON `json:"perMonth"`
	}{amountJSON{c.Nodes}, amountJSON{c.Accelerators}, amountJSON{c.Money}, monthly})
}

// MarshalJSON returns the capacity with its price as a decimal number.
func (c CapacityCost) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name        string     `json:"name"`
		Machine     string     `json:"machine"`
		Consumption string     `json:"consumption"`
		Price       amountJSON `json:"price"`
		Waiting     bool       `json:"waiting"`
		Span
	}{c.Name, c.Machine, c.Price, amountJSON{c.Hourly}, c.Waiting, c.Span})
}

// jsonVersion is the number of the JSON form's version. It increases with changes
// that would break a reader.
const jsonVersion = 1

// JSON writes a bill as one JSON object on one line, for programs. Lists are never null,
// no key is omitted, and amounts of money are null without prices. Readers should ignore
// unknown keys.
func JSON(w io.Writer, b *Bill) error {
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, struct {
		Version       int            `json:"version"`
		Type          string         `json:"type"`
		Platform      string         `json:"platform"`
		Region        string         `json:"region"`
		Currency      string         `json:"currency"`
		HoursPerMonth int            `json:"hoursPerMonth"`
		Total         Span           `json:"total"`
		Capacities    []CapacityCost `json:"capacities"`
		Tiers         []Share        `json:"tiers"`
		Teams         []Share        `json:"teams"`
		SharedQueues  []Share        `json:"sharedQueues"`
	}{
		jsonVersion, "cost", b.Platform, b.Region, b.Currency, hoursPerMonth, b.Total,
		append([]CapacityCost{}, b.Capacities...),
		append([]Share{}, b.Tiers...), append([]Share{}, b.Teams...), append([]Share{}, b.Shared...),
	}, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// MarshalJSON returns the change with the amounts of a month as decimal numbers.
func (c *Change) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Currency      string     `json:"currency"`
		HoursPerMonth int        `json:"hoursPerMonth"`
		Standing      amountJSON `json:"standing"`
		Guaranteed    amountJSON `json:"guaranteed"`
		Maximum       amountJSON `json:"maximum"`
	}{c.Currency, hoursPerMonth, amountJSON{c.Standing}, amountJSON{c.Guaranteed}, amountJSON{c.Maximum}})
}
