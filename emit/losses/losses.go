// Package losses decides which node pools lose nodes when Terraform applies a plan.
//
// A plan goes in, and node pools come out. The build of a folder runs Template on the plan
// that Terraform has made. A review runs it on the plan that it expects.
package losses

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// Template reads the JSON of "terraform show -json" for a plan. It prints a line for each
// reason why a node pool loses nodes: the resource label, the pool name and a Why. Zone
// also has the zone, and Fewer the number of nodes that stay in each zone. Protected has the
// label and the name of a cluster.
//
// It is a template because two programs must decide the same: kubectl runs it in the build,
// and Of in a review.
//
// Source: Kubernetes documentation, "kubectl create", output format go-template.
var Template = strings.TrimSpace(source)

//go:embed losses.tmpl
var source string

// Why says why a node pool loses nodes.
type Why string

// The reasons, as Template prints them.
const (
	Removed  Why = "removed"  // the pool is deleted
	Replaced Why = "replaced" // another pool takes its name
	Zone     Why = "zone"     // it leaves a zone
	Fewer    Why = "fewer"    // it gets fewer nodes in each zone
	// Recreated is no loss by the plan, and Template does not print it: an argument changes in
	// place, for which GKE recreates the nodes of the pool, and drains each before. A review
	// finds it.
	Recreated Why = "recreated"
	// Protected is no loss: the plan deletes a cluster whose deletion protection is on, which
	// fails after other resources are gone.
	Protected Why = "protected"
)

// Loss is a reason why a node pool loses nodes.
type Loss struct {
	Capacity string // or the system's pool
	Pool     string
	Why      Why
	Zone     string // that the pool leaves; "" unless Why is Zone
	Nodes    int    // that stay in each zone; 0 unless Why is Fewer
}

// Of returns why node pools lose nodes when a plan is applied, in the order of the plan. The
// plan has the form of the JSON that Terraform prints, as encoding/json decodes it into an
// any. The error says where it has another form.
//
// Source: Terraform documentation, "JSON Output Format", Plan Representation.
func Of(plan any) ([]Loss, error) {
	t, err := template.New("losses").Parse(Template)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	if err := t.Execute(&out, plan); err != nil {
		return nil, err
	}
	var losses []Loss
	for line := range strings.Lines(out.String()) {
		l := Loss{}
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return nil, fmt.Errorf("no node pool: %q", line)
		}
		// The names of pools and capacities contain no underscores.
		l.Capacity, l.Pool, l.Why = strings.ReplaceAll(fields[0], "_", "-"), fields[1], Why(fields[2])
		switch detail := strings.Join(fields[3:], " "); l.Why {
		case Zone:
			l.Zone = detail
		case Fewer:
			if l.Nodes, err = strconv.Atoi(detail); err != nil {
				return nil, err
			}
		}
		losses = append(losses, l)
	}
	return losses, nil
}
