package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// isOurCluster reports whether a path in an export can be the path of the platform's
// cluster.
func (c *comparison) isOurCluster(path string) bool {
	return path == "" || path == c.Plan.ClusterPath() || path == "clusters/"+c.Plan.Cluster.Name
}

// describeCommand returns the command that exports the cluster and its node pools.
func (c *comparison) describeCommand() string {
	return fmt.Sprintf("gcloud container clusters describe %s --project=%s --location=%s --format=json",
		words.ShellArgument(c.Plan.Cluster.Name), c.Plan.Project, c.Plan.Cluster.Location)
}

// compareGoogle compares the cluster and its node pools with the exports.
func (c *comparison) compareGoogle() error {
	clusters, pools := c.ownResources(c.export.Clusters), c.ownResources(c.export.Pools)
	foreign := map[string]bool{}
	for _, o := range slices.Concat(c.export.Clusters, c.export.Pools) {
		if !c.isOurCluster(o.Cluster) && !foreign[o.Cluster] {
			foreign[o.Cluster] = true
			c.skip("cluster "+o.Cluster+" and its node pools", "the platform's cluster is "+c.Plan.ClusterPath(), "")
		}
	}
	switch {
	case len(clusters)+len(pools) == 0:
		c.skip("the cluster and its node pools", "the exports have neither of them", c.describeCommand())
		return nil
	case !c.Plan.OwnsCluster():
		for name := range clusters {
			c.out.Facts.Staying = append(c.out.Facts.Staying, "cluster "+name)
		}
	case len(clusters) == 0:
		c.skip("the cluster", "the exports have only node pools", c.describeCommand())
	default:
		if err := c.compareResources(gke.Cluster, clusters); err != nil {
			return err
		}
	}
	if err := c.compareResources(gke.NodePool, pools); err != nil {
		return err
	}
	if c.created > 0 {
		c.skip("Terraform's state", fmt.Sprintf("the result holds if an earlier build of the platform created %s; "+
			"otherwise set takeOver, or Terraform fails because of what exists",
			words.Plural(c.created, "resource that runs", "resources that run")), "")
	}
	return nil
}

// ownResources returns the resources of the platform's cluster by name.
func (c *comparison) ownResources(all []*exports.Object) map[string]*exports.Object {
	out := map[string]*exports.Object{}
	for _, o := range all {
		if c.isOurCluster(o.Cluster) {
			out[o.Name] = o
		}
	}
	return out
}

// compareResources compares the resources of a type with the resources that run.
func (c *comparison) compareResources(kind string, running map[string]*exports.Object) error {
	all, err := objects.CompareRunning(c.Tree, objects.Type{
		Name: kind, Settings: settingsOf(kind),
		Running: func(name string) (objects.Settings, []string, bool) {
			o, ok := running[name]
			if !ok {
				return objects.Settings{}, nil, false
			}
			s, unknown := readBlock(gke.Arguments(kind), "", o.Fields)
			if kind == gke.NodePool && exports.IsTrue(o.Fields, "autoscaling", "enabled") {
				unknown = append(unknown, "node_count") // the autoscaler sizes the pool
			}
			return s, unknown, true
		},
	}, c.Plan)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, r := range all {
		wanted[r.Name] = true
		if _, runs := running[r.Name]; runs && !c.takesOver(kind, r.Name) {
			c.created++
		}
		switch {
		case r.Change.Op == "" && r.Replacement == nil:
			c.out.Facts.Unchanged++
			continue
		case r.Replacement != nil:
			c.out.Replacements = append(c.out.Replacements, *r.Replacement)
			c.reportReplacement(kind, running[r.Name], r)
		case kind == gke.NodePool && r.Change.Op == delta.Changed && recreatesNodes(r.Change.Fields):
			r.Change.Note = "GKE recreates the nodes one after the other, which stops the jobs on them"
		}
		if r.Change.Op != "" {
			c.out.Objects = append(c.out.Objects, r.Change)
		}
	}
	for name := range running {
		if !wanted[name] {
			c.out.Facts.Staying = append(c.out.Facts.Staying, nounOf(kind)+" "+name)
		}
	}
	return nil
}

// nounOf returns the noun for a resource of a type.
func nounOf(kind string) string {
	if kind == gke.Cluster {
		return "cluster"
	}
	return "node pool"
}

// takesOver reports whether the build imports a resource into Terraform's state.
func (c *comparison) takesOver(kind, name string) bool {
	if kind == gke.Cluster {
		return c.Plan.Cluster.TakeOver != nil
	}
	return slices.Contains(c.Plan.TakenOverPools(), name)
}

// recreatesNodes reports whether GKE recreates the nodes of a pool for a change.
func recreatesNodes(fields []objects.Field) bool {
	return slices.ContainsFunc(gke.Arguments(gke.NodePool), func(a gke.Argument) bool {
		return a.Is(gke.Recreates) && changes(fields, a.Path)
	})
}

// isRunning reports whether a cluster or a node pool may have nodes.
func isRunning(o *exports.Object) bool {
	switch exports.Text(o.Fields, "status") {
	case "", "RUNNING", "RECONCILING", "RUNNING_WITH_ERROR", "DEGRADED":
	default:
		return false
	}
	hasNodes := func(key string) bool {
		n, ok := o.Fields[key].(json.Number)
		return ok && n != "0"
	}
	return hasNodes("currentNodeCount") || hasNodes("initialNodeCount") ||
		len(exports.List(o.Fields, "instanceGroupUrls")) > 0
}

// reportReplacement adds a finding for a resource that runs and would be replaced.
func (c *comparison) reportReplacement(kind string, o *exports.Object, r objects.Running) {
	if kind == gke.NodePool && !isRunning(o) {
		return
	}
	var reasons []string
	for _, f := range r.Replacement.Because {
		reasons = append(reasons, f.Path+" "+cmp.Or(f.From, "unset")+" -> "+cmp.Or(f.To, "unset"))
	}
	code, place, help := codePool, c.poolPlace(r.Name), "describe the pool as it runs, or give the capacity another "+
		"name: the pool then stays, and gets no new jobs"
	if kind == gke.Cluster {
		code, place = codeCluster, c.placeOf("cluster")
		help = "describe the cluster as it runs, or give the platform another name, so that it makes a cluster of " +
			"its own"
	} else if keep := c.keptBy(r); keep != "" {
		help = "describe the pool as it runs; or write " + keep + ": the nodes then stay as they are, and Terraform " +
			"ignores the difference"
	}
	c.out.Findings.Add(diag.Finding{
		Code: code, Severity: diag.Error, Span: place, Help: help, Message: fmt.Sprintf(
			"running %s %q would be replaced: %s", nounOf(kind), r.Name, strings.Join(reasons, "; ")),
		Related: []diag.Related{{Span: o.Place(), Message: "the " + nounOf(kind) + " that runs"}},
	})
}

// keptBy returns the source of a takeOver with which a node pool is not replaced, "" if
// there is none: some differences cannot be kept, and a pool of another capacity than the
// blueprint's has none.
func (c *comparison) keptBy(r objects.Running) string {
	for _, capacity := range c.Plan.Capacities {
		if !slices.Contains(capacity.Pools(), r.Name) {
			continue
		}
		keep := slices.Clone(capacity.Kept)
		for _, f := range r.Replacement.Because {
			i := slices.IndexFunc(ir.KeptSettings(), func(s ir.KeptSetting) bool {
				return f.Path == s.Argument() || strings.HasPrefix(f.Path, s.Argument()+".")
			})
			if i < 0 || !capacity.CanKeep(ir.KeptSettings()[i]) {
				return ""
			}
			keep = append(keep, ir.KeptSettings()[i])
		}
		slices.Sort(keep)
		var names []string
		for _, s := range slices.Compact(keep) {
			names = append(names, strconv.Quote(string(s)))
		}
		return fmt.Sprintf("capacity: %q: takeOver: keep: [%s]", capacity.Name, strings.Join(names, ", "))
	}
	return ""
}

// poolPlace returns the place of the capacity of a node pool in the blueprint.
func (c *comparison) poolPlace(name string) diag.Span {
	for _, capacity := range c.Plan.Capacities {
		if slices.Contains(capacity.Pools(), name) {
			return c.Place(true, "capacity", capacity.Name)
		}
	}
	return c.placeOf("systemPool")
}

// placeOf returns the place of a top-level field of the blueprint, or of the platform's
// name if the blueprint does not set the field.
func (c *comparison) placeOf(field string) diag.Span {
	if at := c.Place(true, field); at.Valid() && at.Start > 0 { // not the beginning of the file
		return at
	}
	return c.Place(true, "name")
}
