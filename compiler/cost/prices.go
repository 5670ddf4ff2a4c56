package cost

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Columns of a file of prices. A row names either a machine type or a hardware class
// of the blueprint. An empty region stands for every region.
const (
	columnMachine  = "machine"
	columnHardware = "hardware"
	columnOption   = "consumption"
	columnRegion   = "region"
	columnCurrency = "currency"
	columnPrice    = "price"
)

// requiredColumns and columns return the columns that a file must have, and all.
func requiredColumns() []string { return []string{columnOption, columnCurrency, columnPrice} }

func columns() []string {
	return append([]string{columnMachine, columnHardware, columnRegion}, requiredColumns()...)
}

// Prices holds the prices of a file, each for one node and one hour.
type Prices struct {
	// Currency is the currency of all prices, such as "EUR".
	Currency string

	source *diag.Source
	prices map[priceKey]price
}

// priceKey identifies a price. Either machine or hardware is "". The region is "" if
// the price holds in every region.
type priceKey struct{ machine, hardware, option, region string }

type price struct {
	amount *big.Rat
	span   diag.Span // of the machine or of the hardware
}

// priceReader reads one file.
type priceReader struct {
	*Prices
	findings *diag.List
	lines    []int    // byte offset of the start of each line
	header   []string // names of the columns
}

// ReadPrices reads a file of prices in CSV: a line with the names of the columns, then
// a row for each price. Lines that begin with # are comments. It adds the mistakes to
// findings, and returns nil if one is an error.
func ReadPrices(source *diag.Source, findings *diag.List) *Prices {
	r := &priceReader{Prices: &Prices{source: source, prices: map[priceKey]price{}}, findings: &diag.List{}}
	r.readRows()
	for _, f := range r.findings.Sorted() {
		findings.Add(f)
	}
	if r.findings.HasErrors() {
		return nil
	}
	return r.Prices
}

// readRows reads all rows.
func (r *priceReader) readRows() {
	content := r.source.Content
	const byteOrderMark = "\xef\xbb\xbf"
	r.lines = []int{0}
	if bytes.HasPrefix(content, []byte(byteOrderMark)) {
		r.lines[0] = len(byteOrderMark)
	}
	for i, b := range content {
		if b == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	in := csv.NewReader(bytes.NewReader(content[r.lines[0]:]))
	in.Comment, in.FieldsPerRecord, in.TrimLeadingSpace = '#', -1, true
	for {
		record, err := in.Read()
		var mistake *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			if r.header == nil {
				r.report(unreadable, diag.Span{Source: r.source}, "the file has no rows", "", r.columnsHelp())
			}
			return
		case errors.As(err, &mistake):
			at := r.offset(mistake.Line, mistake.Column)
			r.report(unreadable, diag.Span{Source: r.source, Start: at, End: at + 1},
				"the row is not CSV: "+mistake.Err.Error(), "", `write a quote inside a field twice, or remove it`)
			return
		case err != nil: // bytes cannot fail
			panic(err)
		}
		row := r.newRow(in, record)
		switch {
		case r.header == nil && !r.readHeader(row):
			return
		case r.header == nil:
			r.header = row.texts()
		default:
			r.readRow(row)
		}
	}
}

// row is one row of the file.
type row []field

// field is one field of a row, without the spaces around it.
type field struct {
	text string
	span diag.Span
}

func (r *priceReader) newRow(in *csv.Reader, record []string) row {
	out := make(row, len(record))
	for i, text := range record {
		start := r.offset(in.FieldPos(i))
		length := len(strings.TrimSpace(text))
		if start < len(r.source.Content) && r.source.Content[start] == '"' {
			length += len(`""`)
		}
		out[i] = field{strings.TrimSpace(text), diag.Span{Source: r.source, Start: start, End: start + length}}
	}
	return out
}

// offset returns the byte offset of a place, which the library counts from 1, in
// bytes.
func (r *priceReader) offset(line, column int) int {
	return min(r.lines[line-1]+max(0, column-1), len(r.source.Content))
}

func (r row) texts() []string {
	var out []string
	for _, f := range r {
		out = append(out, f.text)
	}
	return out
}

// whole returns the span of the row.
func (r row) whole() diag.Span {
	return diag.Span{Source: r[0].span.Source, Start: r[0].span.Start, End: r[len(r)-1].span.End}
}

func (r *priceReader) report(code string, span diag.Span, message, label, help string, related ...diag.Related) {
	severity := diag.Error
	if code == otherHardware {
		severity = diag.Warning
	}
	r.findings.Add(diag.Finding{
		Code: code, Severity: severity, Span: span, Message: message, Label: label, Help: help, Related: related,
	})
}

// didYouMean returns the help with the name that is probably meant, otherwise other.
func didYouMean(near, other string) string {
	if near == "" {
		return other
	}
	return fmt.Sprintf("did you mean %q?", near)
}

func (r *priceReader) columnsHelp() string {
	return "the first row names the columns: " + strings.Join(columns(), ",")
}

// readHeader checks the names of the columns, and reports whether they are right.
func (r *priceReader) readHeader(head row) bool {
	before := r.findings.Len()
	for i, f := range head {
		switch {
		case !slices.Contains(columns(), f.text):
			r.report(wrongColumns, f.span, fmt.Sprintf("unknown column %q", f.text),
				"want one of "+words.Quoted(columns(), len(columns())),
				didYouMean(diag.Nearest(f.text, columns()), "separate the columns by commas"))
		case slices.Contains(head[:i].texts(), f.text):
			r.report(wrongColumns, f.span, fmt.Sprintf("column %q is there twice", f.text), "", "remove one of them")
		}
	}
	if r.findings.Len() > before {
		return false
	}
	names := head.texts()
	for _, need := range requiredColumns() {
		if !slices.Contains(names, need) {
			r.report(wrongColumns, head.whole(), fmt.Sprintf("column %q is missing", need), "", r.columnsHelp())
		}
	}
	if !slices.Contains(names, columnMachine) && !slices.Contains(names, columnHardware) {
		r.report(wrongColumns, head.whole(), "there is neither a column \"machine\" nor \"hardware\"", "",
			r.columnsHelp())
	}
	return r.findings.Len() == before
}

// readRow reads the row of a price. It reports every mistake in it.
func (r *priceReader) readRow(row row) {
	if len(row) != len(r.header) {
		r.report(wrongColumns, row.whole(), fmt.Sprintf("the row has %s, but the first row has %d",
			words.Count(len(row), "field"), len(r.header)), "", "write a field for each column; a field can be empty")
		return
	}
	fields := map[string]field{}
	for i, name := range r.header {
		fields[name] = row[i]
	}
	key := priceKey{
		fields[columnMachine].text, fields[columnHardware].text, fields[columnOption].text, fields[columnRegion].text,
	}
	subject := fields[columnMachine]
	if key.machine == "" {
		subject = fields[columnHardware]
	}
	before := r.findings.Len()
	r.checkMachine(row, fields[columnMachine], fields[columnHardware])
	r.checkOption(fields[columnOption], fields[columnRegion])
	r.checkCurrency(fields[columnCurrency])
	amount := r.parsePrice(fields[columnPrice])
	if r.findings.Len() > before {
		return
	}
	if other, taken := r.prices[key]; taken {
		r.report(pricedTwice, subject.span, fmt.Sprintf("the price of %s is there twice", key), "",
			"remove one of the rows", diag.Related{Span: other.span, Message: "the other row"})
		return
	}
	r.prices[key] = price{amount, subject.span}
}

// String returns the words for the thing that has the price.
func (k priceKey) String() string {
	s := k.machine
	if s == "" {
		s = fmt.Sprintf("hardware %q", k.hardware)
	}
	s += ", " + k.option
	if k.region != "" {
		s += " in " + k.region
	}
	return s
}

// checkMachine checks that a row names either a known machine type or a hardware
// class.
func (r *priceReader) checkMachine(row row, machine, hardware field) {
	_, known := catalog.Usable(machine.text)
	switch {
	case machine.text == "" && hardware.text == "":
		r.report(unknownMachine, row.whole(), "the row names no machine", "",
			"write the machine type, or the hardware of the blueprint")
	case machine.text != "" && hardware.text != "":
		r.report(unknownMachine, hardware.span, "the row names both a machine type and hardware", "",
			"remove one of them: hardware includes its machine type")
	case machine.text != "" && !known:
		r.report(unknownMachine, machine.span, fmt.Sprintf("unknown machine type %q", machine.text), "",
			didYouMean(diag.NearestSize(machine.text, catalog.Names()), "run batchwright catalog for the names"))
	}
}

func (r *priceReader) checkOption(option, region field) {
	if names := ir.PriceNames(); !slices.Contains(names, option.text) {
		r.report(unknownOption, option.span, fmt.Sprintf("unknown consumption %q", option.text),
			"want one of "+words.Quoted(names, len(names)),
			didYouMean(diag.Nearest(option.text, names), "write how the nodes are obtained"))
	}
	if _, known := catalog.LookupRegion(region.text); region.text != "" && !known {
		r.report(unknownOption, region.span, fmt.Sprintf("unknown region %q", region.text), "",
			didYouMean(diag.Nearest(region.text, catalog.Regions()),
				"write a region such as us-central1, or nothing for all regions"))
	}
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// checkCurrency checks that all prices are in one currency.
func (r *priceReader) checkCurrency(f field) {
	switch {
	case !currencyCode.MatchString(f.text):
		r.report(wrongPrice, f.span, fmt.Sprintf("%q is not a currency code", f.text),
			"want three capital letters", "write the code of ISO 4217, such as EUR")
	case r.Currency == "":
		r.Currency = f.text
	case r.Currency != f.text:
		r.report(wrongPrice, f.span, fmt.Sprintf("the price is in %s, but the first price is in %s", f.text,
			r.Currency),
			"want "+r.Currency, "convert the price to "+r.Currency+": prices in different currencies cannot be added")
	}
}

// decimalPrice is the form of a price. Its length is bounded so that the price of
// every platform can be printed.
var decimalPrice = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)

// parsePrice returns the price in a field, or nil if there is none.
func (r *priceReader) parsePrice(f field) *big.Rat {
	if !decimalPrice.MatchString(f.text) {
		message := fmt.Sprintf("%q is not a price", f.text)
		switch {
		case f.text == "":
			message = "the price is missing"
		case strings.HasPrefix(f.text, "-"):
			message = fmt.Sprintf("the price %s is negative", f.text)
		}
		r.report(wrongPrice, f.span, message, "want a decimal number, such as 12.5",
			"write the price of one node for one hour, with a decimal point and without separators")
		return nil
	}
	amount, _ := new(big.Rat).SetString(f.text) // it has the form of a number
	return amount
}

// need is a price that a platform needs.
type need struct {
	capacity string // "" for the system pool
	machine  string
	hardware string // "" for the system pool
	option   string
	// attached describes the GPUs that are attached to the machine type. Its own
	// price then does not include them. It is "" if there are none.
	attached string
}

// needOf returns the price that a capacity needs.
func needOf(c ir.Capacity) need {
	n := need{capacity: c.Name, machine: c.Machine.Type, hardware: c.Hardware, option: c.Option.Facts().Price}
	if m, _ := catalog.Lookup(c.Machine.Type); m.Accelerator != c.Machine.Accelerator {
		n.attached = fmt.Sprintf("%d %s", c.Machine.AcceleratorCount, c.Machine.Accelerator)
	}
	return n
}

// needsOf returns the prices that a platform needs, in the order of its capacities,
// and the system pool's last.
func needsOf(p *ir.Platform) []need {
	var out []need
	for _, c := range p.Capacities {
		if c.MaxNodes == 0 {
			continue
		}
		out = append(out, needOf(c))
	}
	if !p.Absent() && p.OwnsCluster() {
		out = append(out, need{machine: p.SystemPool.Machine, option: ir.SystemPrice()})
	}
	return out
}

// find returns the price that a platform needs in its region, nil if there is none. A
// price for the hardware precedes a price for the machine type, and a price for the
// region precedes a price for all regions.
func (p *Prices) find(n need, region string) *big.Rat {
	for _, k := range []priceKey{
		{"", n.hardware, n.option, region}, {"", n.hardware, n.option, ""},
		{n.machine, "", n.option, region}, {n.machine, "", n.option, ""},
	} {
		if found, ok := p.prices[k]; ok && (k.hardware != "" || k.machine != "" && n.attached == "") {
			return found.amount
		}
	}
	return nil
}

// row returns the row that a file lacks, with PRICE for the price.
func (p *Prices) row(n need) string {
	of := columnMachine + " " + n.machine
	if n.attached != "" {
		of = columnHardware + " " + n.hardware
	}
	return fmt.Sprintf("%s, %s %s, %s %s", of, columnOption, n.option, columnCurrency, p.Currency)
}

// Check reports the prices that platforms need and the file lacks, and the rows for
// hardware that no platform has. It reports whether no price is missing.
func (p *Prices) Check(findings *diag.List, platforms ...*ir.Platform) bool {
	r := &priceReader{Prices: p, findings: findings}
	hardware := map[string]bool{}
	missing := map[string]bool{}
	for _, platform := range platforms {
		for _, c := range platform.Capacities {
			hardware[c.Hardware] = true
		}
		for _, n := range needsOf(platform) {
			if p.find(n, platform.Region) != nil || missing[p.row(n)] {
				continue
			}
			missing[p.row(n)] = true
			what, who := n.machine, "the system pool"
			if n.attached != "" {
				what += " with " + n.attached
			}
			if n.capacity != "" {
				who = fmt.Sprintf("capacity %q", n.capacity)
			}
			r.report(missingPrice, diag.Span{Source: p.source},
				fmt.Sprintf("there is no price of %s, %s in %s, for %s", what, n.option, platform.Region, who), "",
				"add a row with "+p.row(n)+" and the price of one node for one hour")
		}
	}
	for k, found := range p.prices {
		if k.hardware != "" && !hardware[k.hardware] {
			r.report(otherHardware, found.span, fmt.Sprintf("no capacity uses hardware %q", k.hardware), "",
				"correct the name, or remove the row")
		}
	}
	return len(missing) == 0
}

// Example returns a file with all prices that a platform needs. The prices are made
// up.
func Example(p *ir.Platform) []byte {
	var b bytes.Buffer
	b.WriteString("# Made-up numbers: replace each price by your own, for one node and one hour.\n")
	b.WriteString(strings.Join(columns(), ",") + "\n")
	seen := map[string]bool{}
	for i, n := range needsOf(p) {
		k := priceKey{n.machine, "", n.option, p.Region}
		if n.attached != "" {
			k.machine, k.hardware = "", n.hardware
		}
		if seen[k.String()] {
			continue
		}
		seen[k.String()] = true
		fmt.Fprintf(&b, "%s,%s,%s,%s,EUR,%d.00\n", k.machine, k.hardware, k.region, k.option, i+1)
	}
	return b.Bytes()
}
