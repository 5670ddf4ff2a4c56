package catalog

import (
	_ "embed"
	"slices"
)

// Each row names its source. The rows of landing zones are the constraints that the
// datasets of Cloud Foundation Fabric enforce: fast/stages/0-org-setup/datasets/classic
// and hardened (https://github.com/GoogleCloudPlatform/cloud-foundation-fabric). The
// datasets change; the rows hold what several versions of the years 2025 and 2026
// enforce.
//
//go:embed constraints.jsonl
var constraints string

// Constraint is a constraint of organisation policies, with what it means for a
// platform.
type Constraint struct {
	Name string `json:"constraint"`
	// Demands describes the requirement of the constraint, in words.
	Demands string `json:"demands"`
	// Check names the condition under which the constraint refuses a platform, as in
	// compiler/rules. It is "" if every platform meets the constraint.
	Check string `json:"check,omitzero"`
	// Of is OfCluster if the constraint is about the cluster alone, and not about its node
	// pools: the owner of the cluster must meet it. Otherwise Of is "".
	Of string `json:"of,omitzero"`
	// Set names the fields of the blueprint that meet the constraint, in Markdown. It is ""
	// if no field does.
	Set string `json:"set,omitzero"`
	// Zones are the landing zones that enforce the constraint.
	Zones []string `json:"zones,omitzero"`
	// Source is the address of the documentation.
	Source string `json:"source"`
}

// OfCluster is a value of Constraint.Of.
const OfCluster = "cluster"

// Constraints returns every constraint that batchwright knows, sorted by name.
func Constraints() []Constraint {
	return decodeRows[Constraint](constraints)
}

// LookupConstraint returns the constraint of the given name.
func LookupConstraint(name string) (Constraint, bool) {
	return lookupRow[Constraint](constraints, "constraint", name)
}

// LandingZone returns the constraints that a landing zone enforces, sorted by name, nil
// for a name that is no landing zone.
func LandingZone(name string) []Constraint {
	return slices.DeleteFunc(Constraints(), func(c Constraint) bool { return !slices.Contains(c.Zones, name) })
}
