package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestOtherNodes checks that README.md speaks of nodes that start with jobs only if a
// capacity can have more nodes than run without jobs.
func TestOtherNodes(t *testing.T) {
	const others = "; other nodes start with the jobs that need them"
	p := newPlatform(2)
	if got := renderReadme(t, p); !strings.Contains(got, "8: 4 of `system`, 4 of `l4-reserved`"+others+" |\n") {
		t.Errorf("README.md lacks %q", others)
	}
	p.Capacities[1].Static = true
	if got := renderReadme(t, p); !strings.Contains(got, "44: 4 of `system`, 4 of `l4-reserved`, 36 of `l4-spot` |\n") {
		t.Errorf("README.md has %q without such nodes", others)
	}
}

// TestEndpoints checks that README.md says what the authorized networks restrict.
func TestEndpoints(t *testing.T) {
	const (
		dns        = "It accepts callers from any network with the IAM permission "
		none       = "The control plane has no public IP address."
		restricted = "restricts only the public IP address, which accepts connections from `192.0.2.0/24`."
	)
	p := newPlatform(2)
	check := func(want map[string]bool) {
		t.Helper()
		got := renderReadme(t, p)
		for text, has := range want {
			if strings.Contains(got, text) != has {
				t.Errorf("README.md has %q: %t, want %t", text, !has, has)
			}
		}
	}
	check(map[string]bool{dns: true, none: true, restricted: false})
	p.Cluster.AuthorizedNetworks = []ir.NamedRange{{Name: "office", CIDR: "192.0.2.0/24"}}
	check(map[string]bool{dns: true, none: false, restricted: true})
	p.Cluster.DNSEndpoint = false
	check(map[string]bool{dns: false, none: false, restricted: false})
}

// TestAdmission checks that the pages count the time for the pods from the admission,
// which comes after the quota if nodes start at once, and that they say what happens to
// jobs without nodes with each kind of capacity.
func TestAdmission(t *testing.T) {
	const (
		quota   = "and lets its pods start, when the job has its quota |"
		nodes   = "and lets its pods start, when the job has its quota, and all of its nodes if they start together |"
		pending = ": their pods stay Pending, no other capacity takes them, and 30 minutes after their admission"
		never   = "never admitted: their requests for nodes fail, and Kueue repeats the requests until it deactivates"
	)
	for _, test := range []struct {
		name   string
		queued []int
		has    []string
		lacks  []string
	}{
		{"none", nil, []string{quota, pending}, []string{nodes, never}},
		{
			"one", []int{1},
			[]string{nodes, pending, "again. On `l4-spot`, however, the excess jobs are " + never}, []string{quota},
		},
		{"all", []int{0, 1}, []string{nodes, "still get quota, and are " + never}, []string{quota, pending}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlatform(2)
			for _, i := range test.queued {
				p.Capacities[i].Option, p.Capacities[i].Reservation = ir.QueuedFlexStart, nil
			}
			pages := renderPages(t, p)
			wantTexts(t, pages, map[string][]string{readmePage: test.has, usingPage: {
				"the pods were not all ready 30 minutes after Kueue had admitted the job",
				"If they are not all ready 30 minutes after the admission, Kueue evicts the job",
			}})
			for _, no := range test.lacks {
				if strings.Contains(pages[readmePage], no) {
					t.Errorf("README.md has %q", no)
				}
			}
			for name, page := range pages {
				if strings.Contains(page, "got its quota") {
					t.Errorf("%s counts the time from the quota", name)
				}
			}
		})
	}
}
