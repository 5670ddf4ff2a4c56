package cloudbuild

import (
	_ "embed"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

//go:embed scripts/settings.sh
var settingsScript string

// The substitutions with the location of the Terraform state.
const (
	stateBucket = "_TF_STATE_BUCKET"
	statePrefix = "_TF_STATE_PREFIX"
)

// setting is a value that a build takes as a substitution and for which the deploy
// folder was compiled: node pools, quotas and jobs depend on it. If the values
// differ, the build stops.
type setting struct {
	name  string // name of the substitution
	field string // field of the blueprint
	value string
}

// platformSettings returns the platform's settings. A setting is omitted if the
// platform has no single value for it, for example with several teams.
func platformSettings(p *ir.Platform) []setting {
	out := []setting{
		{"_CLUSTER_NAME", "name", p.Cluster.Name},
		{"_JOBSET_VERSION", "versions.jobset", p.Versions.JobSet},
		schedulerOf(p).version,
	}
	if len(p.Teams) == 1 {
		out = append(out, setting{"_NAMESPACE", "teams", p.Teams[0].Namespace})
	}
	out = append(out, tpuSettings(p)...)
	out = append(out, setting{"_REGION", "region", p.Region})
	if len(p.Zones) == 1 {
		out = append(out, setting{"_ZONE", "zones", p.Zones[0]})
	}
	return out
}

// tpuSettings returns the TPU settings of a platform whose slices are all of one
// kind.
func tpuSettings(p *ir.Platform) []setting {
	pools, chips := 0, 0
	var kinds []string
	for _, c := range p.Capacities {
		if !c.HasTPUs() || c.Machine.Slice == nil {
			continue
		}
		if kind := c.Machine.TPUType; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		pools += len(c.Pools())
		chips += c.MaxNodes * c.Machine.AcceleratorCount
	}
	if len(kinds) != 1 {
		return nil
	}
	return []setting{
		{"_NUM_OF_CHIPS", "capacity", strconv.Itoa(chips)},
		{"_NUM_TPU_POOLS", "capacity", strconv.Itoa(pools)},
		{"_TPU_TYPE", "hardware", kinds[0]},
	}
}

// checkSettings returns the step that compares the build's substitutions with the
// values for which its folder was compiled.
func checkSettings(p *ir.Platform) task {
	t := scriptStep(p, 60, "settings", settingsScript)
	for _, s := range platformSettings(p) {
		t.Env = append(t.Env, "SETTING"+s.name+"="+s.field+"|"+escapeDollars(s.value)+"|$"+s.name)
	}
	return t
}

// buildSubstitutions returns the substitutions of both builds, with the deploy
// folder's values as defaults.
func buildSubstitutions(p *ir.Platform) map[string]string {
	out := map[string]string{}
	if !p.Delivery.InfrastructureManager {
		out[stateBucket], out[statePrefix] = p.Delivery.StateBucket, p.Delivery.StatePrefix
	}
	for _, s := range platformSettings(p) {
		out[s.name] = s.value
	}
	return out
}
