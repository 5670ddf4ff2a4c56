package guide

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestNoCohorts holds that the pages speak of cohorts, lending and borrowing only if the
// platform has them.
func TestNoCohorts(t *testing.T) {
	// As the compiler does, a queue without a cohort has no limit on borrowing.
	stand := func(q *ir.Queue) {
		q.Cohort, q.Flavors = "", slices.Clone(q.Flavors)
		for i := range q.Flavors {
			f := &q.Flavors[i]
			f.Quotas = slices.Clone(f.Quotas)
			for j := range f.Quotas {
				f.Quotas[j].Borrowing, f.Quotas[j].BorrowsAll = nil, false
			}
		}
	}
	alone := func(p *ir.Platform) {
		p.Cohorts = nil
		for i := range p.Teams {
			p.Teams[i].Cohort = ""
			for j := range p.Teams[i].Queues {
				stand(&p.Teams[i].Queues[j])
			}
		}
		for i := range p.SharedQueues {
			stand(&p.SharedQueues[i].Queue)
		}
	}
	many := []string{"cohort", "Cohort", "borrow", "lends its"}
	few := []string{"other teams in its cohort", "another team in your cohort"}
	for name, c := range map[string]struct {
		platform func() *ir.Platform
		lacks    []string
	}{
		"teams without cohorts": {func() *ir.Platform { p := newPlatform(2); alone(p); return p }, many},
		"one team":              {func() *ir.Platform { p := newPlatform(1); alone(p); return p }, many},
		"many teams":            {func() *ir.Platform { p := newPlatform(40); alone(p); return p }, many},
		"a shared queue":        {func() *ir.Platform { p := withShared(2); alone(p); return p }, many},
		"KAI Scheduler": {
			func() *ir.Platform { p := kaiPlatform(2); alone(p); return p }, []string{"A cohort is", "of its cohort,"},
		},
		"a team alone in its cohort": {func() *ir.Platform { return newPlatform(1) }, few},
		"each team in a cohort": {func() *ir.Platform {
			p := newPlatform(2)
			p.Cohorts = append(p.Cohorts, ir.Cohort{Name: "other"})
			p.Teams[1].Cohort = "other"
			for i := range p.Teams[1].Queues {
				p.Teams[1].Queues[i].Cohort = "other"
			}
			return p
		}, few},
		"no queue borrows": {func() *ir.Platform {
			p := newPlatform(2)
			for i := range p.Teams {
				for j := range p.Teams[i].Queues {
					cohort := p.Teams[i].Queues[j].Cohort
					stand(&p.Teams[i].Queues[j])
					p.Teams[i].Queues[j].Cohort = cohort
				}
			}
			return p
		}, append(few, "lends its unused guarantee", "borrowing only moves")},
	} {
		t.Run(name, func(t *testing.T) {
			for page, text := range renderPages(t, c.platform()) {
				if !strings.HasSuffix(page, ".md") {
					continue
				}
				for line := range strings.Lines(text) {
					for _, word := range c.lacks {
						if strings.Contains(line, word) {
							t.Errorf("%s says %q: %s", page, word, line)
						}
					}
				}
			}
		})
	}
	got := renderPages(t, newPlatform(2))
	wantTexts(t, got, map[string][]string{
		readmePage:    {"to the other teams in its cohort", "kubectl delete cohorts COHORT", "| Team | Cohort |"},
		usingPage:     {"another team in your cohort"},
		referencePage: {"lends its unused guarantee to the cohort", "flavors, cohorts, teams"},
	})
}

// TestKept holds that USING.md says which finished jobs Kubernetes deletes.
func TestKept(t *testing.T) {
	p := withShared(2)
	const stays, deletes = "A finished job stays until you delete it.", "Kubernetes deletes some finished jobs"
	if got := renderUsing(t, p); !strings.Contains(got, stays) || strings.Contains(got, deletes) {
		t.Errorf("USING.md lacks %q, or says that Kubernetes deletes jobs", stays)
	}
	for i := range p.Workloads {
		if w := &p.Workloads[i]; w.Template == "tune" {
			w.KeepSeconds = 1200
		}
	}
	wantTexts(t, renderPages(t, p), map[string][]string{usingPage: {
		deletes + " with their pods: `tune` after 20 minutes. Any other finished job stays until you delete it.",
	}})
	for i := range p.Workloads {
		p.Workloads[i].KeepSeconds = 3600
	}
	if got := renderUsing(t, p); strings.Contains(got, "stays until") ||
		!strings.Contains(got, "`low-priority` after 1 hour and `tune` after 1 hour.") {
		t.Error("USING.md says that finished jobs stay")
	}
}
