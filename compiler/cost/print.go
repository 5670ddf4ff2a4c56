package cost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
)

// measure is a column of a bill's tables: what is counted, for one hour.
type measure struct {
	title string
	of    func(Cost) *big.Rat
}

// measures returns the measures of a bill: money, or without prices hours.
func (b *Bill) measures() []measure {
	if b.Currency != "" {
		return []measure{{b.Currency, func(c Cost) *big.Rat { return c.Money }}}
	}
	return []measure{
		{"accelerator hours", func(c Cost) *big.Rat { return c.Accelerators }},
		{"node hours", func(c Cost) *big.Rat { return c.Nodes }},
	}
}

// Text writes a bill for a terminal. Amounts of a month are rounded to whole units.
func Text(w io.Writer, b *Bill) error {
	var buf bytes.Buffer
	for i, m := range b.measures() {
		if i > 0 {
			buf.WriteByte('\n')
		}
		fmt.Fprintf(&buf, "%s in %s: %s per month of %d hours\n", console.Inline(b.Platform), console.Inline(b.Region),
			m.title, hoursPerMonth)
		b.printCapacities(&buf, m)
		printShares(&buf, "tier", b.Tiers, nil, m)
		printShares(&buf, "team", b.Teams, b.Shared, m)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

func (b *Bill) printCapacities(buf *bytes.Buffer, m measure) {
	t := console.Table{Texts: 3}
	head := []string{"capacity", "machine", "consumption", "nodes", "standing", "guaranteed", "maximum"}
	if b.Currency != "" {
		head = append(head[:3:3], append([]string{"per hour"}, head[3:]...)...)
	}
	t.Add(head...)
	line := func(texts []string, hourly string, span Span, number func(*big.Rat) string) {
		nodes := span.Standing.Nodes.RatString() + " / " + span.Guaranteed.Nodes.RatString() + " / " +
			span.Maximum.Nodes.RatString()
		cells := texts
		if b.Currency != "" {
			cells = append(cells, hourly)
		}
		t.Add(append(cells, nodes, number(m.of(span.Standing)), number(m.of(span.Guaranteed)),
			number(m.of(span.Maximum)))...)
	}
	for _, c := range b.Capacities {
		price := c.Price
		if c.Waiting {
			price += ", not begun"
		}
		hourly := ""
		if c.Hourly != nil {
			hourly = trimDecimal(c.Hourly)
		}
		line([]string{console.Inline(c.Name), c.Machine, price}, hourly, c.Span, monthText)
	}
	line([]string{"total", "", ""}, "", b.Total, monthText)
	if b.Currency != "" {
		line([]string{"total per hour", "", ""}, "", b.Total,
			func(x *big.Rat) string { return words.GroupDigits(x.FloatString(2)) })
	}
	buf.WriteByte('\n')
	t.Print(buf)
}

// printShares prints the shares of tiers or teams, and the queues that teams share.
func printShares(buf *bytes.Buffer, of string, shares, shared []Share, m measure) {
	if len(shares)+len(shared) == 0 {
		return
	}
	t := console.Table{Texts: 1}
	t.Add(of, "guaranteed", "maximum")
	for _, s := range shares {
		t.Add(console.Inline(s.Name), monthText(m.of(s.Guaranteed)), monthText(m.of(s.Maximum)))
	}
	for _, s := range shared {
		t.Add("shared queue of tier "+console.Inline(s.Name), monthText(m.of(s.Guaranteed)),
			monthText(m.of(s.Maximum)))
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
	signed := func(x *big.Rat) string {
		s := words.GroupDigits(x.FloatString(0))
		if !strings.HasPrefix(s, "-") {
			s = "+" + s
		}
		return s
	}
	return fmt.Sprintf("This change: %s %s a month standing, %s with all guarantees in use, %s at most.",
		signed(c.Standing), c.Currency, signed(c.Guaranteed), signed(c.Maximum))
}

// jsonVersion is the number of the JSON form's version. It increases with changes
// that would break a reader.
const jsonVersion = 1

// jsonBill is the JSON form of a bill. Lists are never null, and no key is omitted.
// Amounts of money are null without prices.
type jsonBill struct {
	Version       int            `json:"version"`
	Type          string         `json:"type"`
	Platform      string         `json:"platform"`
	Region        string         `json:"region"`
	Currency      string         `json:"currency"`
	HoursPerMonth int            `json:"hoursPerMonth"`
	Total         jsonSpan       `json:"total"`
	Capacities    []jsonCapacity `json:"capacities"`
	Tiers         []jsonShare    `json:"tiers"`
	Teams         []jsonShare    `json:"teams"`
	SharedQueues  []jsonShare    `json:"sharedQueues"`
}

type jsonCapacity struct {
	Name        string       `json:"name"`
	Machine     string       `json:"machine"`
	Consumption string       `json:"consumption"`
	Price       *json.Number `json:"price"`
	Waiting     bool         `json:"waiting"`
	jsonSpan
}

type jsonShare struct {
	Name       string   `json:"name"`
	Guaranteed jsonCost `json:"guaranteed"`
	Maximum    jsonCost `json:"maximum"`
}

type jsonSpan struct {
	Standing   jsonCost `json:"standing"`
	Guaranteed jsonCost `json:"guaranteed"`
	Maximum    jsonCost `json:"maximum"`
}

type jsonCost struct {
	Nodes        json.Number  `json:"nodes"`
	Accelerators json.Number  `json:"accelerators"`
	PerHour      *json.Number `json:"perHour"`
	PerMonth     *json.Number `json:"perMonth"`
}

// jsonAmount returns an amount with at most nine decimals, or nil for nil.
func jsonAmount(x *big.Rat) *json.Number {
	if x == nil {
		return nil
	}
	return new(json.Number(trimDecimal(x)))
}

func newJSONCost(c Cost) jsonCost {
	out := jsonCost{Nodes: *jsonAmount(c.Nodes), Accelerators: *jsonAmount(c.Accelerators)}
	if c.Money != nil {
		out.PerHour, out.PerMonth = jsonAmount(c.Money), jsonAmount(perMonth(c.Money))
	}
	return out
}

func newJSONSpan(s Span) jsonSpan {
	return jsonSpan{newJSONCost(s.Standing), newJSONCost(s.Guaranteed), newJSONCost(s.Maximum)}
}

func newJSONShares(shares []Share) []jsonShare {
	out := []jsonShare{}
	for _, s := range shares {
		out = append(out, jsonShare{s.Name, newJSONCost(s.Guaranteed), newJSONCost(s.Maximum)})
	}
	return out
}

// JSON writes a bill as one JSON object on one line, for programs. Amounts are
// decimal numbers with at most nine decimals. Readers should ignore unknown keys.
func JSON(w io.Writer, b *Bill) error {
	out := jsonBill{
		Version: jsonVersion, Type: "cost", Platform: b.Platform, Region: b.Region, Currency: b.Currency,
		HoursPerMonth: hoursPerMonth, Total: newJSONSpan(b.Total), Capacities: []jsonCapacity{},
		Tiers: newJSONShares(b.Tiers), Teams: newJSONShares(b.Teams), SharedQueues: newJSONShares(b.Shared),
	}
	for _, c := range b.Capacities {
		out.Capacities = append(out.Capacities, jsonCapacity{
			c.Name, c.Machine, c.Price, jsonAmount(c.Hourly), c.Waiting, newJSONSpan(c.Span),
		})
	}
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, out, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// MarshalJSON returns the change with the amounts of a month as decimal numbers.
func (c *Change) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Currency      string       `json:"currency"`
		HoursPerMonth int          `json:"hoursPerMonth"`
		Standing      *json.Number `json:"standing"`
		Guaranteed    *json.Number `json:"guaranteed"`
		Maximum       *json.Number `json:"maximum"`
	}{c.Currency, hoursPerMonth, jsonAmount(c.Standing), jsonAmount(c.Guaranteed), jsonAmount(c.Maximum)})
}
