package export_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/trace"
	"github.com/batchwright/batchwright/compiler/trace/export"
	"github.com/batchwright/batchwright/schema"
)

// item is a Workload of an export, as kubectl prints it. at holds the times of day at which
// its conditions became true, such as "Admitted 08:10"; a condition with a dash before it
// is false.
type item struct {
	version, namespace, name, queue, created string
	at                                       []string
	sets                                     string // podSetAssignments
}

func (i item) String() string {
	var conditions []string
	admission := ""
	for _, text := range i.at {
		kind, when, _ := strings.Cut(text, " ")
		status := "True"
		if strings.HasPrefix(kind, "-") {
			kind, status = kind[1:], "False"
		}
		if kind == "Admitted" {
			admission = fmt.Sprintf(`"admission": {"clusterQueue": "cq", "podSetAssignments": [%s]},`, i.sets)
		}
		conditions = append(conditions, fmt.Sprintf(
			`{"type": %q, "status": %q, "reason": "R", "message": "", "lastTransitionTime": "2026-03-02T%s:00Z"}`,
			kind, status, when))
	}
	return fmt.Sprintf(`{
  "apiVersion": "kueue.x-k8s.io/%s", "kind": "Workload",
  "metadata": {"namespace": %q, "name": %q, "uid": %q, "creationTimestamp": "2026-03-02T%s:00Z"},
  "spec": {
    "queueName": %q, "newField": {"of": "a newer Kueue"},
    "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [
      {"name": "main", "image": "private", "env": [{"name": "TOKEN", "value": "hunter2"}]}
    ]}}}]
  },
  "status": {%s "conditions": [%s]}
}`, i.version, i.namespace, i.name, i.namespace+i.name, i.created, i.queue, admission, strings.Join(conditions, ","))
}

// list returns a List, as kubectl prints it.
func list(items ...item) string {
	var texts []string
	for _, i := range items {
		texts = append(texts, i.String())
	}
	return `{"apiVersion": "v1", "items": [` + strings.Join(texts, ",\n") + `], "kind": "List", "metadata": {}}`
}

// set returns an element of podSetAssignments.
func set(name string, count int, usage string) string {
	return fmt.Sprintf(`{"name": %q, "count": %d, "flavors": {}, "resourceUsage": {%s}}`, name, count, usage)
}

var (
	gpus = set("main", 2, `"cpu": "31500m", "memory": "128Gi", "nvidia.com/gpu": "8"`)
	ran  = []string{"QuotaReserved 08:10", "Admitted 08:10", "Finished 09:10"}
)

// TestTrace checks the lines of Workloads of all kinds, and that a rehearsal reads them.
func TestTrace(t *testing.T) {
	slice := set("driver", 1, `"cpu": "2", "memory": "4Gi"`) + "," +
		set("slice", 4, `"cpu": "400", "memory": "1600Gi", "google.com/tpu": "16"`)
	ray := set("head", 1, `"cpu": "4", "nvidia.com/gpu": "1"`) + "," + set("workers", 3, `"nvidia.com/gpu": "5"`)
	items := []item{
		{"v1beta2", "vision", "b", "lq-vision-batch", "08:00", ran, gpus},
		{"v1beta2", "vision", "a", "lq-vision-batch", "08:00", append(ran[:3:3], "PodsReady 08:13"), gpus},
		{"v1beta1", "speech", "c", "their-queue", "07:00", ran, slice},
		{
			"v1beta2", "vision", "evicted", "lq-vision-urgent", "08:01",
			append(ran[:3:3], "Evicted 08:05", "-PodsReady 08:30"), gpus,
		},
		{"v1beta2", "vision", "cpu", "lq-vision-batch", "08:02", ran, set("main", 3, `"cpu": "1500m"`)},
		{"v1beta2", "vision", "instant", "lq-vision-batch", "08:03", append(ran[1:2:2], "Finished 08:10"), gpus},
		{"v1beta2", "vision", "ray", "lq-vision-batch", "08:04", ran, ray},
		{"v1beta2", "vision", "waits", "lq-vision-batch", "08:05", []string{"-QuotaReserved 08:05"}, gpus},
		{"v1beta2", "vision", "runs", "lq-vision-batch", "08:05", ran[:2], gpus},
		{"v1beta2", "vision", "deleted", "lq-vision-batch", "08:05", ran[2:], gpus},
		{"v1beta2", "vision", "clock", "lq-vision-batch", "08:05", append(ran[1:2:2], "Finished 08:09"), gpus},
	}
	var jobs export.Jobs
	for _, text := range []string{list(items[1:]...), items[0].String() + "\n", list(items[0])} {
		if err := jobs.Read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := jobs.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := `submitted,seconds,team,tier,pods,accelerators,cpu,memory
2026-03-02T07:00:00Z,3600,speech,their-queue,4,16,400,1600Gi
2026-03-02T08:00:00Z,3420,vision,batch,2,8,31.5,128Gi
2026-03-02T08:00:00Z,3600,vision,batch,2,8,31.5,128Gi
2026-03-02T08:01:00Z,3600,vision,urgent,2,8,31.5,128Gi
2026-03-02T08:02:00Z,3600,vision,batch,3,0,1.5,0
2026-03-02T08:03:00Z,1,vision,batch,2,8,31.5,128Gi
2026-03-02T08:04:00Z,3600,vision,batch,2,6,4,0
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	omitted := map[export.Reason]int{export.Unfinished: 2, export.Unrun: 1, export.Backwards: 1, export.Repeated: 1}
	if d := cmp.Diff(omitted, jobs.Omitted); d != "" {
		t.Errorf("omitted: -want +got:\n%s", d)
	}
	if len(omitted) != len(export.Reasons()) {
		t.Errorf("the test has %d of %d reasons", len(omitted), len(export.Reasons()))
	}
	read := trace.Read(schema.Trace{
		CSV: out.String(), Columns: schema.TraceColumns{Submitted: "submitted", Seconds: "seconds"},
	})
	if len(read.Problems) > 0 || len(read.Jobs) != jobs.Len() || !read.Dated {
		t.Errorf("%d of %d lines are read: %v", len(read.Jobs), jobs.Len(), read.Problems)
	}
}

// TestReadErrors checks what is said about files that are no export.
func TestReadErrors(t *testing.T) {
	whole := list(item{"v1beta2", "vision", "a", "q", "08:00", ran, gpus})
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"cut off", whole[:len(whole)/2], "line 10: the JSON ends too early: the file was cut off"},
		{"YAML", "apiVersion: v1\n", "line 1: invalid character 'a'"},
		{
			"jobs", `{"items": [{"apiVersion": "batch/v1", "kind": "Job"}]}`,
			`line 1: no Workloads of Kueue: an object has the kind "Job"`,
		},
		{"a job", "{\n\"apiVersion\": \"batch/v1\", \"kind\": \"Job\"}", `an object has the kind "Job" of "batch/v1"`},
		{"an array", "[]", "no Workloads of Kueue: a JSON object is expected"},
		{"items", `{"items": {}}`, "no Workloads of Kueue: items is no list"},
		{"version", strings.Replace(whole, "v1beta2", "v1", 1), "the API version kueue.x-k8s.io/v1 of a Workload is"},
		{"a time", strings.Replace(whole, "08:00:00Z", "noon", 1), "cannot parse"},
		{"two", whole + whole, "text follows the JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var jobs export.Jobs
			err := jobs.Read(strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want: %s", err, test.want)
			}
			marked := errors.Is(err, export.ErrNoWorkloads)
			if marked != strings.Contains(fmt.Sprint(err), "no Workloads") {
				t.Errorf("%v is not marked as ErrNoWorkloads", err)
			}
		})
	}
}

// FuzzRead checks that no text makes Read fail, and that no secret leaves it.
func FuzzRead(f *testing.F) {
	f.Add(list(item{"v1beta2", "vision", "a", "q", "08:00", ran, gpus}))
	f.Add(item{"v1beta1", "vision", "a", "q", "08:00", ran, gpus}.String())
	f.Fuzz(func(t *testing.T, text string) {
		var jobs export.Jobs
		if jobs.Read(strings.NewReader(text)) != nil {
			return
		}
		var out strings.Builder
		if err := jobs.Write(&out); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(out.String(), "\n"); lines < jobs.Len()+1 {
			t.Errorf("%d jobs in %d lines", jobs.Len(), lines)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1000, 20000} {
		var items []item
		for i := range n {
			items = append(items,
				item{"v1beta2", "vision", fmt.Sprint("job-", i), "lq-vision-batch", "08:00", ran, gpus})
		}
		text := list(items...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var jobs export.Jobs
				if err := jobs.Read(strings.NewReader(text)); err != nil {
					b.Fatal(err)
				}
				if err := jobs.Write(io.Discard); err != nil || jobs.Len() != n {
					b.Fatal(err, jobs.Len())
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "workloads/s")
		})
	}
}
