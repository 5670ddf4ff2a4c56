package report_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// TestReason compares Kueue's messages with the words of the report. The tests of the engine
// compare those of Kueue itself.
func TestReason(t *testing.T) {
	const failed = "couldn't assign flavors to pod set "
	long := strings.Repeat("x", 300)
	for _, test := range []struct{ message, want string }{
		{"", "it waited behind other jobs of its queue"},
		{
			failed + "main: insufficient unused quota for nvidia.com/gpu in flavor l4-spot, 1 more needed",
			"too little quota was unused: the job needed 1 more GPU of capacity l4-spot",
		},
		{
			failed + "main: insufficient unused quota for cpu in flavor a, 500m more needed, " +
				"insufficient unused quota for cpu in flavor b, 1 more needed, " +
				"insufficient unused quota for google.com/tpu in flavor a, 4 more needed, " +
				"insufficient unused quota for memory in flavor b, 27680Mi more needed",
			"too little quota was unused: the job needed 4 more TPU chips and 500m more vCPUs of capacity a, or " +
				"1 more vCPU and 27680Mi more memory of capacity b",
		},
		{
			failed + "driver: insufficient quota for nvidia.com/gpu in flavor a, previously considered podsets " +
				"requests (2) + current podset request (4) > maximum capacity (5), " +
				"insufficient unused quota for nvidia.com/gpu in flavor b, 3 more needed; " +
				failed + "workers: insufficient unused quota for nvidia.com/gpu in flavor b, 2 more needed" +
				". Pending the preemption of 2 workload(s)",
			"pods driver: too little quota was unused: the job needed 3 more GPUs of capacity b; its queue can have " +
				"at most 5 GPUs of capacity a, and the job requests 6; pods workers: too little quota was unused: " +
				"the job needed 2 more GPUs of capacity b; it waited for the end of jobs that it preempts",
		},
		// Kueue says something else in one part.
		{
			failed + "main: insufficient unused quota for cpu in flavor a, 5 more needed, flavor b not found",
			failed + "main: insufficient unused quota for cpu in flavor a, 5 more needed, flavor b not found",
		},
		{
			failed + "main: insufficient unused quota for cpu in flavor a, many more needed",
			failed + "main: insufficient unused quota for cpu in flavor a, many more needed",
		},
		{"ClusterQueue a\nis inactive", "ClusterQueue a is inactive"},
		{long, long[:239] + "…"},
	} {
		if got := report.Reason(test.message, ""); got != test.want {
			t.Errorf("%q:\n got %q\nwant %q", test.message, got, test.want)
		}
	}
}
