package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/jobs"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// Headline says in one sentence, without a full stop, what a reviewer decides on: nodes and data
// that are lost, jobs that stop, cost and new findings. If there is none of that, it says what
// changes instead.
func (r *Review) Headline() string {
	if r.Same() {
		return "nothing changes"
	}
	var parts []string
	if r.Base != nil && r.Base.FromTool > 0 {
		of := "of " + words.Count(r.Base.Objects, "change")
		parts = append(parts, words.Plural(r.Base.FromTool, of+" does", of+" do")+" not follow from the blueprint")
	}
	if r.Base != nil && r.Base.FromEdits > 0 {
		parts = append(parts, "undoes "+words.Plural(r.Base.FromEdits, "edit by hand", "edits by hand"))
	}
	origins := len(parts)
	if r.Unknown {
		parts = append(parts, "what happens to nodes and data is unknown, because Terraform files cannot be read")
	}
	if r.StateTo != "" {
		parts = append(parts, "moves the Terraform state")
	}
	parts = append(parts, lossPhrases("replaces", r.Replacements)...)
	parts = append(parts, lossPhrases("removes", r.Removals)...)
	parts = append(parts, lossPhrases("deletes", r.Shrunk)...)
	parts = append(parts, lossPhrases("recreates", r.Recreated)...)
	if n := r.dangers(); n > 0 {
		parts = append(parts, words.Plural(n, "change removes a protection", "changes remove a protection"))
	}
	parts = append(parts, r.jobsPhrases()...)
	quiet := len(parts) == origins
	if cause := r.cause(); cause != "" && !quiet {
		parts = append([]string{cause}, parts...)
	}
	if r.Cost != nil && r.Cost.Brief() != "" {
		parts = append(parts, r.Cost.Brief())
	}
	if r.CostUnknown != "" {
		parts = append(parts, "cost unknown: "+r.CostUnknown)
	}
	parts = append(parts, r.Findings.headline()...)
	if quiet && (len(r.Summary) > 0 || r.onlyPages()) || len(parts) == 0 {
		parts = append([]string{r.quietPhrase()}, parts...)
	}
	return strings.Join(parts, "; ")
}

// cause returns the change of the blueprint if it concerns one subject, such as a team; "" if it
// concerns several or none.
func (r *Review) cause() string {
	lines := r.decisions()
	for i := range lines {
		if lines[i].Subject != lines[0].Subject {
			return ""
		}
	}
	if len(lines) == 0 {
		return ""
	}
	l := lines[0]
	if l.Op != delta.Changed {
		l.From, l.To = "", "" // a description of the whole subject
	}
	return words.Truncate(l.String(), 2*markdownValue)
}

// decisions returns the lines of the summary that do not follow from others, without their notes.
func (r *Review) decisions() (lines []summary.Line) {
	for _, l := range r.Summary {
		if !slices.Contains(following, l.Topic) {
			l.Note = ""
			lines = append(lines, l)
		}
	}
	return lines
}

// dangers returns the number of changes that remove a protection.
func (r *Review) dangers() (n int) {
	for _, l := range r.Summary {
		if l.Dangerous() {
			n++
		}
	}
	return n
}

// following lists the topics whose lines follow from others.
var following = []summary.Topic{
	summary.TopicAlerts, summary.TopicGuarantees, summary.TopicLimits, summary.TopicCloudQuota,
}

// mostDecisions is the number of lines that a headline repeats.
const mostDecisions = 2

// quietPhrase describes a change that loses neither nodes nor data and stops no job.
func (r *Review) quietPhrase() string {
	decisions := r.decisions()
	var topics []string
	for _, l := range decisions {
		if !slices.Contains(topics, string(l.Topic)) {
			topics = append(topics, string(l.Topic))
		}
	}
	switch n := len(decisions); {
	case n > mostDecisions:
		return words.Count(n, "change") + " in " + words.And(topics)
	case n > 0:
		texts := make([]string, n)
		for i, l := range decisions {
			texts[i] = words.Truncate(l.String(), 2*markdownValue)
		}
		return strings.Join(texts, "; ")
	case len(r.Summary) > 0:
		return r.Summary[0].String()
	case r.Live != nil && len(r.Objects) > 0:
		return "applying creates or changes " + words.Count(len(r.Objects), "object")
	case r.Live != nil && len(r.Live.Adopted) > 0:
		return "applying changes only the labels of " + words.Count(len(r.Live.Adopted), "compared object")
	case r.onlyPages():
		return "changes only pages for people"
	case len(r.Objects) > 0:
		return words.Plural(len(r.Objects), "generated object changes", "generated objects change")
	}
	return "changes only the layout of files"
}

// onlyPages reports whether every changed object is a page.
func (r *Review) onlyPages() bool {
	for _, o := range r.Objects {
		if !isPage(o) {
			return false
		}
	}
	return len(r.Objects) > 0
}

// isPage reports whether an object is a generated page for people. What is new there is also new
// in the files that the page describes.
func isPage(o objects.Object) bool { return o.Kind == "file" && strings.HasSuffix(o.File, ".md") }

// mostClasses is the number of hardware classes whose nodes a headline counts one by one.
const mostClasses = 3

// nodePool is the noun of node pools.
const nodePool = "node pool"

// lossPhrases says what a list of resources means for nodes and data. The nodes of a lost cluster
// are not counted again.
func lossPhrases(verb string, all []objects.Replacement) (parts []string) {
	var classes, others []string // hardware classes of node pools, and the other nouns, in their order
	nodes, pools, counts, total := map[string]int{}, map[string]int{}, map[string]int{}, 0
	scaled := map[string]bool{} // whose number of nodes is not fixed
	for _, x := range all {
		switch noun := x.Noun(); noun {
		case "":
		case nodePool:
			if pools[x.Hardware]++; pools[x.Hardware] == 1 {
				classes = append(classes, x.Hardware)
			}
			nodes[x.Hardware] += x.Nodes
			total += x.Nodes
			scaled[x.Hardware] = scaled[x.Hardware] || !x.Fixed
		default:
			if counts[noun]++; counts[noun] == 1 {
				others = append(others, noun)
			}
		}
	}
	if i := slices.IndexFunc(all, objects.Replacement.IsCluster); i >= 0 {
		what := verb + " the cluster with all its nodes"
		if guard := all[i].Guard; guard != "" {
			what += ", and the build fails " + guard
		}
		parts = append(parts, what)
		classes = nil // the nodes are those of the cluster
		others = slices.DeleteFunc(others, func(noun string) bool { return noun == all[i].Noun() })
	}
	switch {
	case len(classes) > mostClasses:
		parts = append(parts, fmt.Sprintf("%s up to %s in %s of hardware", verb, words.Count(total, "node"),
			words.Plural(len(classes), "class", "classes")))
	default:
		for _, class := range classes {
			what := words.Count(pools[class], strings.TrimSpace(class+" "+nodePool))
			if verb == "deletes" { // some nodes of pools that stay
				what = strings.TrimSpace("some "+class) + " nodes"
			}
			if nodes[class] > 0 {
				what = words.Count(nodes[class], strings.TrimSpace(class+" node"))
				if scaled[class] {
					what = "up to " + what
				}
			}
			parts = append(parts, verb+" "+what)
		}
	}
	for _, noun := range others {
		parts = append(parts, verb+" "+words.Count(counts[noun], noun))
	}
	return parts
}

// jobsPhrases says whose jobs stop or never start.
func (r *Review) jobsPhrases() (parts []string) {
	told := "" // the teams of the phrase before, which is worse
	for _, x := range []struct {
		form string
		is   func(jobs.Effect) bool
	}{
		{"stops jobs of %s", func(e jobs.Effect) bool { return e.Running.Kind == jobs.Stop }},
		{"waiting jobs of %s never start", func(e jobs.Effect) bool { return neverStart(e.Waiting) }},
		{"some waiting jobs of %s never start", func(e jobs.Effect) bool {
			return e.Waiting.Kind == jobs.NeverStart && !neverStart(e.Waiting)
		}},
		{"may stop jobs of %s", mayStop},
	} {
		if whose := r.teamsWith(x.is); whose != "" && whose != told {
			parts = append(parts, fmt.Sprintf(x.form, whose))
			told = whose
		}
	}
	return parts
}

// mayStop reports whether jobs may stop because of the change itself, and not only when another
// queue needs its quota, as at any time.
func mayStop(e jobs.Effect) bool {
	return e.Running.Kind == jobs.MayStop && !strings.HasPrefix(e.Running.Text, "continue")
}

// neverStart reports whether jobs never start, whatever they request.
func neverStart(o jobs.Outcome) bool {
	return o.Kind == jobs.NeverStart && strings.HasPrefix(o.Text, string(jobs.NeverStart))
}

// teamsWith returns the teams that have such an effect on their jobs; "" if none has.
func (r *Review) teamsWith(is func(jobs.Effect) bool) string {
	teams := map[string]bool{}
	for _, e := range r.Jobs {
		if !is(e) {
			continue
		}
		if len(e.Teams) == 0 {
			return "all teams"
		}
		for _, name := range e.Teams {
			teams[name] = true
		}
	}
	if n := len(teams); n > mostClasses {
		return words.Count(n, "team")
	}
	return words.And(slices.Sorted(maps.Keys(teams)))
}
