package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/schema"
)

// defaults are the columns of a blueprint that names none.
func defaults() schema.TraceColumns {
	return schema.TraceColumns{Submitted: "submitted", Seconds: "seconds"}
}

// TestRead checks that jobs come out by time, with the units of their columns.
func TestRead(t *testing.T) {
	gpus := "gpus"
	other := schema.TraceColumns{Submitted: "submit_s", Seconds: "duration_s", Accelerators: &gpus}
	for _, test := range []struct {
		name    string
		columns schema.TraceColumns
		text    string
		want    []Job
		dated   bool
	}{
		{
			name: "every column", columns: defaults(),
			text: "submitted,seconds,team,tier,pods,accelerators,cpu,memory,note\n" +
				"2026-03-02T01:00:00+01:00,90.4,vision,batch,2,16,24.5,\"1Gi\",\"a, b\"\n" +
				"1970-01-01T00:00:07Z,0,speech,urgent,1,,,,\n",
			want: []Job{
				{Span: Span{150, 180, 3}, Submitted: 7, Seconds: 1, Team: "speech", Tier: "urgent", Pods: 1},
				{
					Span: Span{62, 126, 2}, Submitted: 1772409600, Seconds: 90, Team: "vision", Tier: "batch", Pods: 2,
					Accelerators: 16, MilliCPU: 24500, Memory: 1 << 30,
				},
			},
			dated: true,
		},
		{
			name: "other names", columns: other,
			text: "submit_s,duration_s,gpus\n12.6,60,8\n3,61,1\n3,62,2",
			want: []Job{
				{Span: Span{35, 41, 3}, Submitted: 3, Seconds: 61, Accelerators: 1},
				{Span: Span{42, 48, 4}, Submitted: 3, Seconds: 62, Accelerators: 2},
				{Span: Span{25, 34, 2}, Submitted: 13, Seconds: 60, Accelerators: 8},
			},
		},
		{
			name: "a file of Windows", columns: defaults(),
			text: "\ufeffsubmitted, seconds\r\n5,6\r\n",
			want: []Job{{Span: Span{24, 27, 2}, Submitted: 5, Seconds: 6}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Read(schema.Trace{CSV: test.text, Columns: test.columns})
			if len(got.Problems) > 0 {
				t.Fatal(got.Problems)
			}
			for i := range got.Jobs {
				span := got.Jobs[i].Span
				line := strings.TrimSuffix(strings.Split(test.text, "\n")[span.Line-1], "\r")
				if part := test.text[span.Start:span.End]; part != line {
					t.Errorf("the span of line %d is %q", span.Line, part)
				}
				got.Jobs[i].Span.Start, got.Jobs[i].Span.End = 0, 0
				test.want[i].Span.Start, test.want[i].Span.End = 0, 0
			}
			if d := cmp.Diff(test.want, got.Jobs); d != "" || got.Dated != test.dated {
				t.Errorf("dated: %v; -want +got:\n%s", got.Dated, d)
			}
		})
	}
}

// TestReadProblems checks that each mistake is reported at its place.
func TestReadProblems(t *testing.T) {
	for _, test := range []struct{ text, part, message string }{
		{"", "", "the text is empty"},
		{"submitted,seconds\n", "submitted,seconds", "the text lists no job"},
		{"seconds,team\n1,a\n", "seconds,team", `the text has no column "submitted"`},
		{"submitted,seconds\n1\n", "1", "the line has 1 columns, and the first line has 2"},
		{"submitted,seconds\n1,\n", "1,", `seconds is "": a number is expected`},
		{"submitted,seconds\n1,NaN\n", "NaN", `seconds is "NaN": a number is expected`},
		{"submitted,seconds\n1,-1\n", "-1", `seconds is "-1": the number is negative`},
		{"submitted,seconds\n1,1e99\n", "1e99", `seconds is "1e99": the number is too large`},
		{
			"submitted,seconds\n2026-13-02T08:14:05Z,1\n", "2026-13-02T08:14:05Z",
			`submitted is "2026-13-02T08:14:05Z": a time`,
		},
		{"submitted,seconds\n1e99,1\n", "1e99", `submitted is "1e99": a time`},
		{"submitted,seconds,pods\n1,1,0\n", "0", `pods is "0": a job has at least one pod`},
		{"submitted,seconds,pods\n1,1,1.5\n", "1.5", `pods is "1.5": a whole number is expected`},
		{"submitted,seconds,accelerators\n1,1,-8\n", "-8", `accelerators is "-8": the number is negative`},
		{"submitted,seconds,cpu\n1,1,many\n", "many", `cpu is "many": an amount is expected, such as 16`},
		{"submitted,seconds,memory\n1,1,-1Gi\n", "-1Gi", `memory is "-1Gi": the amount is negative`},
		{"submitted,seconds,memory\n1,1,99E\n", "99E", `memory is "99E": the amount is too large`},
		{"submitted,seconds\n1,\"1\n", "1,\"1", "the text is no list of comma-separated values"},
	} {
		got := Read(schema.Trace{CSV: test.text, Columns: defaults()})
		if len(got.Problems) != 1 || len(got.Jobs) > 0 {
			t.Errorf("%q: %d jobs, problems %v", test.text, len(got.Jobs), got.Problems)
			continue
		}
		p := got.Problems[0]
		part := test.text[p.Span.Start:p.Span.End]
		if part != test.part || !strings.HasPrefix(p.Message, test.message) || p.Help == "" {
			t.Errorf("%q: %q at %q, help %q", test.text, p.Message, part, p.Help)
		}
	}
	named := "gpus"
	columns := defaults()
	columns.Accelerators = &named
	if got := Read(schema.Trace{CSV: "submitted,seconds\n1,1\n", Columns: columns}); len(got.Problems) != 1 {
		t.Errorf("a column that the blueprint names is not there, and the problems are %v", got.Problems)
	}
}

// TestReadStops checks that a text of mistakes ends.
func TestReadStops(t *testing.T) {
	text := "submitted,seconds\n" + strings.Repeat("1,-1\n", 3*MaxProblems)
	if got := Read(schema.Trace{CSV: text, Columns: defaults()}); len(got.Problems) != MaxProblems {
		t.Errorf("%d problems", len(got.Problems))
	}
}

// FuzzRead checks that no text makes Read fail, and that all places are in the text.
func FuzzRead(f *testing.F) {
	f.Add("submitted,seconds,team,tier,pods,accelerators,cpu,memory\n2026-03-02T08:14:05Z,5400,a,b,2,4,16,64Gi\n")
	f.Add("\ufeffsubmitted,seconds\r\n\"1\",\"2\n\n\"\r\n,\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := Read(schema.Trace{CSV: text, Columns: defaults()})
		var spans []Span
		for _, p := range got.Problems {
			spans = append(spans, p.Span)
		}
		for _, j := range got.Jobs {
			spans = append(spans, j.Span)
			if j.Seconds < 1 || j.Pods < 0 || j.Accelerators < 0 || j.MilliCPU < 0 || j.Memory < 0 {
				t.Errorf("%+v", j)
			}
		}
		for _, s := range spans {
			if s.Start < 0 || s.End < s.Start || s.End > len(text) || s.Line < 1 {
				t.Errorf("%+v", s)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, lines := range []int{1000, 100000} {
		var text strings.Builder
		text.WriteString("submitted,seconds,team,tier,pods,accelerators,cpu,memory\n")
		for i := range lines {
			fmt.Fprintf(&text, "2026-03-02T08:%02d:%02dZ,%d,vision,batch,2,8,32,128Gi\n", i/60%60, i%60, i)
		}
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := Read(schema.Trace{CSV: text.String(), Columns: defaults()}); len(got.Jobs) != lines {
					b.Fatal(got.Problems)
				}
			}
			b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
