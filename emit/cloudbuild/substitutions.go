package cloudbuild

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// checkSettings returns the step that compares the build's substitutions with the
// values for which its folder was compiled.
func checkSettings(p *ir.Platform) task {
	t := scriptStep(p, 60, "settings", readScript("settings.sh"))
	for _, s := range p.BuildSettings() {
		t.Env = append(t.Env, "SETTING"+s.Substitution+"="+s.Field+"|"+escapeDollars(strings.Join(s.Values, " "))+
			"|$"+s.Substitution)
	}
	return t
}

// buildSubstitutions returns the substitutions of both builds, with the deploy
// folder's values as defaults.
func buildSubstitutions(p *ir.Platform) map[string]string {
	out := map[string]string{}
	if !p.Delivery.InfrastructureManager {
		out[ir.StateBucketSubstitution] = p.Delivery.StateBucket
		out[ir.StatePrefixSubstitution] = p.Delivery.StatePrefix
	}
	for _, s := range p.BuildSettings() {
		out[s.Substitution] = s.Default()
	}
	return out
}
