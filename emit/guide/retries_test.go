package guide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestRetryPauses holds the words for the pauses before retries, of all checks or of each.
func TestRetryPauses(t *testing.T) {
	own := ir.RetryPauses{First: 90, Longest: 300}
	for _, test := range []struct {
		checks []ir.AdmissionCheck
		want   []*retryPauses
	}{
		{[]ir.AdmissionCheck{{Name: "a"}, {Name: "b"}}, []*retryPauses{{nil, "1, 2, 4, 8 and 16 minutes", 1800}}},
		{
			[]ir.AdmissionCheck{{Name: "a", Retry: ir.RetryPauses{First: 60, Longest: 60}}},
			[]*retryPauses{{nil, "", 60}},
		},
		{[]ir.AdmissionCheck{{Name: "a", Retry: own}, {Name: "b"}}, []*retryPauses{
			{[]string{"a"}, "90 seconds and 3 minutes", 300}, {[]string{"b"}, "1, 2, 4, 8 and 16 minutes", 1800},
		}},
	} {
		got := view{&ir.Platform{AdmissionChecks: test.checks}}.RetryPauses()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("pauses (-want +got):\n%s", diff)
		}
	}
}
