// Package trace reads lists of jobs: comma-separated values, one job on each line, such as
// "batchwright trace" writes them. The text goes in with the names of its columns. The jobs
// come out, and the problems of the lines that are wrong, at their places in the text.
//
// Read knows nothing of the platform: package lower resolves the teams and the tiers of the
// jobs, and package rules reports the problems.
package trace

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/schema"
)

// Column is a kind of column.
type Column int

// The columns.
const (
	Submitted Column = iota
	Seconds
	Team
	Tier
	Pods
	Accelerators
	CPU
	Memory
	columns // number of kinds
)

// names are the names of the columns in the schema, and their default names in a text.
var names = [columns]string{"submitted", "seconds", "team", "tier", "pods", "accelerators", "cpu", "memory"}

// String returns the name of the column in a text that names it as "batchwright trace"
// does.
func (c Column) String() string { return names[c] }

// columnNames are the names that a blueprint gives to columns. A column without a name has
// its default name.
type columnNames [columns]string

func namesOf(in schema.TraceColumns) columnNames {
	optional := func(name *string) string {
		if name == nil {
			return ""
		}
		return *name
	}
	return columnNames{
		Submitted: in.Submitted, Seconds: in.Seconds, Team: optional(in.Team), Tier: optional(in.Tier),
		Pods: optional(in.Pods), Accelerators: optional(in.Accelerators), CPU: optional(in.CPU),
		Memory: optional(in.Memory),
	}
}

// of returns the name of a column in the text.
func (n columnNames) of(c Column) string { return cmp.Or(n[c], c.String()) }

// need reports whether a text must have the column: the columns that every job needs, and
// those that the blueprint names.
func (n columnNames) need(c Column) bool { return c == Submitted || c == Seconds || n[c] != "" }

// Job is a line of a text.
type Job struct {
	Span         Span  // of the line
	Submitted    int64 // in seconds: since 1970, or as the text counts them
	Seconds      int64 // that the job ran, at least 1
	Team, Tier   string
	Pods         int   // 0 if the text does not say it
	Accelerators int   // of all pods together
	MilliCPU     int64 // thousandths of a vCPU, of all pods together
	Memory       int64 // bytes, of all pods together
}

// Span is a part of the text.
type Span struct {
	Start, End int // byte offsets
	Line       int // from 1
}

// Text is the result of Read.
type Text struct {
	Jobs     []Job // by time of submission, then by line
	Problems []Problem
	// Has tells which columns the text has.
	Has [columns]bool
	// Header is the span of the first line, and Names are the columns there.
	Header Span
	Names  []string
	// Dated reports whether Submitted counts from 1970, because the text has times and
	// dates.
	Dated bool
}

// Problem is a mistake in a text.
type Problem struct {
	Span    Span
	Message string
	Help    string
}

// MaxProblems is the number of problems after which Read stops: nobody reads more.
const MaxProblems = 20

// reader is Read at work.
type reader struct {
	text    string
	columns columnNames
	csv     *csv.Reader
	lines   []int // offset of each line that the csv.Reader can name
	index   [columns]int
	width   int // number of columns
	dates   int // number of lines with a date
	counts  int // number of lines with a number of seconds
	out     Text
}

// Read reads the text of a trace. Lines with problems are no jobs.
func Read(in schema.Trace) Text {
	r := &reader{text: strings.TrimPrefix(in.CSV, "\ufeff"), columns: namesOf(in.Columns)}
	shift := len(in.CSV) - len(r.text)
	r.read()
	for i := range r.out.Problems {
		r.out.Problems[i].Span.Start += shift
		r.out.Problems[i].Span.End += shift
	}
	for i := range r.out.Jobs {
		r.out.Jobs[i].Span.Start += shift
		r.out.Jobs[i].Span.End += shift
	}
	slices.SortStableFunc(r.out.Jobs, func(a, b Job) int { return cmp.Compare(a.Submitted, b.Submitted) })
	return r.out
}

func (r *reader) read() {
	r.lines = lineStarts(r.text)
	r.csv = csv.NewReader(strings.NewReader(r.text))
	r.csv.FieldsPerRecord = -1 // line says more about a line of another width
	r.csv.ReuseRecord = true
	header, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		r.problem(Span{Line: 1}, "the text is empty", "write the names of the columns on the first line")
		return
	}
	if err != nil {
		r.syntax(err)
		return
	}
	if !r.header(header) {
		return
	}
	for len(r.out.Problems) < MaxProblems {
		record, err := r.csv.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.syntax(err)
			return // the following lines depend on where this one ends
		}
		if job, ok := r.line(record); ok {
			r.out.Jobs = append(r.out.Jobs, job)
		}
	}
	if len(r.out.Jobs) == 0 && len(r.out.Problems) == 0 {
		r.problem(r.lineSpan(1), "the text lists no job", "write a line for each job")
	}
	r.out.Dated = r.dates > 0
}

// lineStarts returns the offsets of the lines of a text.
func lineStarts(text string) []int {
	starts := make([]int, 1, 1+strings.Count(text, "\n"))
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// header finds the columns, and reports whether all that are needed are there.
func (r *reader) header(record []string) bool {
	r.width = len(record)
	found := slices.Clone(record)
	for i := range found {
		found[i] = strings.TrimSpace(found[i])
	}
	r.out.Header, r.out.Names = r.lineSpan(1), found
	var missing, cures []string
	for c := range columns {
		name := r.columns.of(c)
		r.index[c] = slices.Index(found, name)
		r.out.Has[c] = r.index[c] >= 0
		if !r.out.Has[c] && r.columns.need(c) {
			missing = append(missing, strconv.Quote(name))
			cures = append(cures, fmt.Sprintf("%s: \"NAME\"", c))
		}
	}
	if len(missing) == 0 {
		return true
	}
	help := fmt.Sprintf("in the trace, write columns: {%s} with names of the text: %s",
		strings.Join(cures, ", "), strings.Join(found, ", "))
	switch {
	case len(found) == 1 && len(r.lines) == 1:
		help = "to embed a file, write csv: _ @embed(file=NAME.csv,type=text)"
	case len(found) == 1:
		help = "separate the columns with commas"
	}
	r.problem(r.lineSpan(1), fmt.Sprintf("the text has no column %s", strings.Join(missing, " or ")), help)
	return false
}

// line reads a job. It reports false if the line has a problem.
func (r *reader) line(record []string) (Job, bool) {
	first, _ := r.csv.FieldPos(0)
	if len(record) != r.width {
		r.problem(r.lineSpan(first), fmt.Sprintf("the line has %d columns, and the first line has %d",
			len(record), r.width), "")
		return Job{}, false
	}
	before := len(r.out.Problems)
	job := Job{Span: r.lineSpan(first), Team: r.field(record, Team), Tier: r.field(record, Tier)}
	job.Submitted = r.time(record)
	job.Seconds = max(1, r.number(record, Seconds, math.MaxInt32)) // 68 years
	job.Accelerators = int(r.number(record, Accelerators, 1000000))
	if r.out.Has[Pods] {
		job.Pods = int(r.number(record, Pods, 100000))
		if job.Pods == 0 && len(r.out.Problems) == before {
			r.wrong(Pods, record, "a job has at least one pod")
		}
	}
	job.MilliCPU = r.quantity(record, CPU, resource.Milli)
	job.Memory = r.quantity(record, Memory, 0)
	return job, len(r.out.Problems) == before
}

// field returns the text of a column, "" if there is no such column.
func (r *reader) field(record []string, c Column) string {
	if !r.out.Has[c] {
		return ""
	}
	return strings.TrimSpace(record[r.index[c]])
}

// number reads a number that is not negative, and rounds it. An empty field is 0, unless
// every text must have the column.
func (r *reader) number(record []string, c Column, most float64) int64 {
	text := r.field(record, c)
	if text == "" && c != Seconds {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(n):
		r.wrong(c, record, "a number is expected")
	case n < 0:
		r.wrong(c, record, "the number is negative")
	case n > most:
		r.wrong(c, record, "the number is too large")
	case c != Seconds && n != math.Trunc(n):
		r.wrong(c, record, "a whole number is expected")
	default:
		return int64(math.Round(n))
	}
	return 0
}

// time reads the time of submission.
func (r *reader) time(record []string) int64 {
	text := r.field(record, Submitted)
	if n, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(n) <= math.MaxInt32*100 {
		if r.counts++; r.dates > 0 {
			r.wrong(Submitted, record, "the lines before have dates")
		}
		return int64(math.Round(n))
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.wrong(Submitted, record, `a time such as "2026-03-02T08:14:05Z" or a number of seconds is expected`)
		return 0
	}
	if r.dates++; r.counts > 0 {
		r.wrong(Submitted, record, "the lines before have numbers of seconds")
	}
	return at.Unix()
}

// quantity reads an amount as Kubernetes writes it, in units of a scale. An empty field is
// 0.
func (r *reader) quantity(record []string, c Column, scale resource.Scale) int64 {
	text := r.field(record, c)
	if text == "" {
		return 0
	}
	amount, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		r.wrong(c, record, "an amount is expected, such as "+map[Column]string{CPU: "16", Memory: "240Gi"}[c])
	case amount.Sign() < 0:
		r.wrong(c, record, "the amount is negative")
	case amount.CmpInt64(math.MaxInt64/1000) > 0:
		r.wrong(c, record, "the amount is too large")
	default:
		return amount.ScaledValue(scale)
	}
	return 0
}

// wrong reports the value of a column.
func (r *reader) wrong(c Column, record []string, what string) {
	line, column := r.csv.FieldPos(r.index[c])
	start := r.lines[line-1] + column - 1
	span := Span{Start: start, End: start + len(record[r.index[c]]), Line: line}
	if whole := r.lineSpan(line); span.End > whole.End || span.End == span.Start {
		span = whole
	}
	r.problem(span, fmt.Sprintf("%s is %q: %s", r.columns.of(c), r.field(record, c), what), "")
}

// syntax reports a text that is no list of comma-separated values.
func (r *reader) syntax(err error) {
	line, message := 1, err.Error()
	if parse := new(csv.ParseError); errors.As(err, &parse) {
		line, message = parse.StartLine, parse.Err.Error()
	}
	r.problem(r.lineSpan(line), "the text is no list of comma-separated values: "+message,
		"write quotation marks only around whole values, and twice inside of them")
}

// problem adds a problem, unless there are enough.
func (r *reader) problem(span Span, message, help string) {
	if len(r.out.Problems) < MaxProblems {
		help = cmp.Or(help, "correct the line, or delete it")
		r.out.Problems = append(r.out.Problems, Problem{span, message, help})
	}
}

// lineSpan returns the span of a line without its end.
func (r *reader) lineSpan(line int) Span {
	start, end := r.lines[line-1], len(r.text)
	if line < len(r.lines) {
		end = r.lines[line]
	}
	return Span{Start: start, End: start + len(strings.TrimRight(r.text[start:end], "\r\n")), Line: line}
}
