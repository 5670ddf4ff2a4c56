// Package rules holds the rules that a blueprint must obey beyond its grammar: names
// must resolve, machines must be available in the requested way, and guarantees must
// be possible to keep.
//
// A rule is one function. It reads the blueprint as it was written and the plan that
// it was lowered to, and reports each mistake at the field that must change, once
// for each spot. Rules do not depend on each other, with one exception: the few
// rules on the meaning of names run first, and if they find a mistake, the rules
// that build on resolved names are skipped.
//
// A file holds a family of rules, first their rows. A row can name the fields that its
// function judges one by one, by a pattern of fields.go. What several families need is in
// files without rows, below them: references.go, machines.go, quotas.go and others, which
// find places in the blueprint and words, and package fit, which knows what fits.
package rules

import (
	"slices"
	"strings"
	"sync"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/progress"
	"github.com/batchwright/batchwright/compiler/secret"
	"github.com/batchwright/batchwright/compiler/trace"
)

// All returns every rule, sorted by code.
func All() []Rule {
	all := slices.Concat(
		nameRules(),
		entityRules(),
		refusedNameRules(),
		memberRules(),
		identityRules(),
		labelRules(),
		nodeLabelRules(),
		hardwareRules(),
		placeRules(),
		consumptionRules(),
		existingNodeRules(),
		countRules(),
		tierRules(),
		quotaRules(),
		cohortRules(),
		sharingRules(),
		resourceRules(),
		idleRules(),
		networkRules(),
		existingNetworkRules(),
		gpuNetworkRules(),
		takeOverRules(),
		versionRules(),
		gkeVersionRules(),
		maintenanceRules(),
		securityRules(),
		organisationRules(),
		nodeRules(),
		workloadRules(),
		packingRules(),
		scalingRules(),
		containerRules(),
		auxiliaryRules(),
		secretRules(),
		kaiRules(),
		acceptRules(),
		demonstrationRules(),
		rehearsalRules(),
		arrivalRules(),
		deliveryRules(),
		gitOpsRules(),
		existingClusterRules(),
		boardRules(),
		manifestRules(),
	)
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.Code, b.Code) })
	return all
}

// Run runs every rule and adds the findings. The rules on the meaning of names run
// first, because findings that depend on a misspelt name are not worth reporting.
func Run(p *Pass) {
	p.rules = All()
	p.fit = fit.New(p.Plan, p.listSubmissions)
	p.traces, p.secrets = map[string]trace.Text{}, map[string][]secret.Match{}
	p.read()
	p.Progress.Start(progress.Judging, "")
	p.Progress.Expect(len(p.rules))
	before := p.Findings.Count(diag.Error)
	p.runRules(func(r Rule) bool { return r.basic }, true)
	defer p.checkRest()
	if p.NamesOnly {
		return
	}
	resolved := p.Findings.Count(diag.Error) == before
	p.runRules(func(r Rule) bool { return !r.basic && !r.last }, resolved)
	p.runRules(func(r Rule) bool { return r.last }, resolved)
}

// runRules runs the rules of one turn. It skips those that need resolved names unless
// resolved is true.
func (p *Pass) runRules(ofTurn func(Rule) bool, resolved bool) {
	for _, r := range p.rules {
		if !ofTurn(r) {
			continue
		}
		lacking := len(p.Broken) > 0 || p.Misfiled && r.Severity != diag.Error
		if r.holdsFor(p.Plan) && (resolved || !r.resolved) && (!lacking || !r.whole) {
			r.check(p.newReport(r))
		}
		p.Progress.Step()
	}
}

// read reads what the rules need of Blueprint.
func (p *Pass) read() {
	p.entities = entitySets{}
	_, codes := acceptableCodes(p.rules)
	p.acceptances = p.of(p.Blueprint, codes)
	p.grants = sync.OnceValue(func() []grant { return listGrants(p.Blueprint) })
	p.existingTiers = sync.OnceValue(p.listExistingTiers)
}

// newRest returns the pass over Rest. In Blueprint, broken entities accept nothing,
// because they are empty.
func (p *Pass) newRest() *Pass {
	rest := *p
	rest.Blueprint, rest.inRest = p.Rest, true
	rest.read()
	return &rest
}

// checkRest runs the rules on single fields for the valid fields of broken entities.
func (p *Pass) checkRest() {
	if p.Rest == nil {
		return
	}
	rest := p.newRest()
	for _, r := range p.rules {
		if r.fieldwise && (r.basic || !p.NamesOnly) && r.holdsFor(p.Plan) {
			r.check(rest.newReport(r))
		}
	}
}
