package standing

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// object is an object of a platform, with the fields that refer to other objects.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace string            `json:"namespace"`
		Name      string            `json:"name"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		CohortName     string `json:"cohortName"`   // of a ClusterQueue
		ParentName     string `json:"parentName"`   // of a Cohort
		ClusterQueue   string `json:"clusterQueue"` // of a LocalQueue
		ResourceGroups []struct {
			Flavors []struct {
				Name string `json:"name"`
			} `json:"flavors"`
		} `json:"resourceGroups"`
		AdmissionChecksStrategy struct {
			AdmissionChecks []struct {
				Name string `json:"name"`
			} `json:"admissionChecks"`
		} `json:"admissionChecksStrategy"`
	} `json:"spec"`

	text    json.RawMessage
	content map[string]any // what Kueue decides by
}

// name identifies an object on one side.
type name struct{ kind, namespace, name string }

func (o *object) key() name { return name{o.Kind, o.Metadata.Namespace, o.Metadata.Name} }

// decodeObjects decodes the objects of a scenario.
func decodeObjects(raw []json.RawMessage) ([]object, error) {
	out := make([]object, len(raw))
	for i, text := range raw {
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("standing: %w", err)
		}
		if err := json.Unmarshal(text, &out[i].content); err != nil {
			return nil, fmt.Errorf("standing: %w", err)
		}
		out[i].text = text
		delete(out[i].content, "metadata")
		delete(out[i].content, "description")
		if out[i].Kind == "Namespace" {
			out[i].content["labels"] = out[i].Metadata.Labels
		}
	}
	return out, nil
}

// leftBehind returns the objects that only the earlier side has, as they are when the change
// has come. Namespaces stay with their jobs. The build stops the ClusterQueues that are gone,
// deletes PriorityClasses, and leaves the rest to an administrator (its step "retire"); a
// GitOps tool deletes everything else.
func leftBehind(after *ir.Platform, before, now []object) ([]object, error) {
	stays := map[name]bool{}
	for i := range now {
		stays[now[i].key()] = true
	}
	var out []object
	for _, o := range before {
		switch {
		case stays[o.key()], o.Kind == "PriorityClass", after.Delivery.GitOps.On() && o.Kind != "Namespace":
			continue
		case o.Kind == "ClusterQueue":
			var err error
			if o, err = stopped(o); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// stopped returns a ClusterQueue as the build's step "retire" leaves it.
func stopped(queue object) (object, error) {
	var fields map[string]any
	if err := json.Unmarshal(queue.text, &fields); err != nil {
		return object{}, fmt.Errorf("standing: %w", err)
	}
	spec := fields["spec"].(map[string]any)
	spec["stopPolicy"] = "HoldAndDrain"
	delete(spec, "resourceGroups")
	delete(spec, "admissionChecksStrategy")
	text, err := json.Marshal(fields)
	if err != nil {
		return object{}, fmt.Errorf("standing: %w", err)
	}
	out, err := decodeObjects([]json.RawMessage{text})
	return out[0], err
}

// trees joins the ClusterQueues and Cohorts that share quota on one of the sides.
type trees map[name]name

// root returns what stands for the tree of a ClusterQueue or Cohort.
func (t trees) root(n name) name {
	for t[n] != (name{}) {
		n = t[n]
	}
	return n
}

func (t trees) join(a, b name) {
	if a, b = t.root(a), t.root(b); a != b {
		t[a] = b
	}
}

// touched is a set of ClusterQueues, Cohorts and LocalQueues.
type touched map[name]bool

// belongsTo reports whether an object is played with these queues.
func (o *object) belongsTo(t touched) bool {
	switch o.Kind {
	case "ClusterQueue", "Cohort", "LocalQueue":
		return t[o.key()]
	}
	return true
}

// queues returns the number of ClusterQueues.
func (t touched) queues() int {
	n := 0
	for k := range t {
		if k.kind == "ClusterQueue" {
			n++
		}
	}
	return n
}

// touch returns the ClusterQueues, Cohorts and LocalQueues of the trees in which an object
// differs between both sides, and the number of ClusterQueues in the largest tree.
func touch(before, after *ir.Platform, sides [2][]object) (t touched, largest int) {
	all, users := relate(before, after, sides)
	roots := map[name]bool{}
	for _, changed := range differing(sides) {
		for _, by := range users[changed] {
			roots[all.root(by)] = true
		}
	}
	t = touched{}
	queues := map[name]int{} // ClusterQueues by root
	for _, side := range sides {
		for i := range side {
			key := side[i].key()
			root := all.root(key)
			if !roots[root] || t[key] {
				continue
			}
			t[key] = true
			if key.kind == "ClusterQueue" {
				queues[root]++
				largest = max(largest, queues[root])
			}
		}
	}
	return t, largest
}

// relate returns the trees of both sides, and the ClusterQueues and Cohorts that each object
// concerns.
func relate(before, after *ir.Platform, sides [2][]object) (trees, map[name][]name) {
	all := trees{}
	users := map[name][]name{}
	use := func(used, by name) { users[used] = append(users[used], by) }
	for _, side := range sides {
		for i := range side {
			o := &side[i]
			switch o.Kind {
			case "Cohort":
				use(o.key(), o.key())
				if o.Spec.ParentName != "" {
					all.join(o.key(), name{kind: "Cohort", name: o.Spec.ParentName})
				}
			case "LocalQueue":
				queue := name{kind: "ClusterQueue", name: o.Spec.ClusterQueue}
				all.join(o.key(), queue)
				use(o.key(), queue)
				use(name{kind: "Namespace", name: o.Metadata.Namespace}, queue)
			case "ClusterQueue":
				use(o.key(), o.key())
				if o.Spec.CohortName != "" {
					all.join(o.key(), name{kind: "Cohort", name: o.Spec.CohortName})
				}
				for _, group := range o.Spec.ResourceGroups {
					for _, f := range group.Flavors {
						use(name{kind: "ResourceFlavor", name: f.Name}, o.key())
					}
				}
				for _, check := range o.Spec.AdmissionChecksStrategy.AdmissionChecks {
					use(name{kind: "AdmissionCheck", name: check.Name}, o.key())
					use(name{kind: "ProvisioningRequestConfig", name: check.Name}, o.key())
				}
			}
		}
	}
	for _, p := range []*ir.Platform{before, after} {
		for q := range p.ClusterQueues() {
			for _, class := range q.Classes {
				use(name{kind: "PriorityClass", name: class}, name{kind: "ClusterQueue", name: q.ClusterQueue})
			}
		}
	}
	return all, users
}

// differing returns the objects that differ between both sides, sorted.
func differing(sides [2][]object) []name {
	var contents [2]map[name]map[string]any
	for i, side := range sides {
		contents[i] = map[name]map[string]any{}
		for _, o := range side {
			contents[i][o.key()] = o.content
		}
	}
	var out []name
	for i, side := range sides {
		for _, o := range side {
			other, ok := contents[1-i][o.key()]
			if !ok || i == 0 && !reflect.DeepEqual(o.content, other) {
				out = append(out, o.key())
			}
		}
	}
	slices.SortFunc(out, func(a, b name) int {
		return strings.Compare(a.kind+"/"+a.namespace+"/"+a.name, b.kind+"/"+b.namespace+"/"+b.name)
	})
	return out
}
