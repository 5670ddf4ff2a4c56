package lower

import (
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerKueueSettings resolves the settings of Kueue, which the platform only decides if it
// installs Kueue: the rules reject others.
func lowerKueueSettings(b *schema.Blueprint) ir.KueueSettings {
	var out ir.KueueSettings
	if in := b.Kueue.FairSharing; in != nil {
		out.Strategies = in.Strategies
	}
	if in := b.Kueue.AdmissionFairSharing; in != nil {
		out.Usage = &ir.UsageSettings{HalfLife: secondsOf(in.HalfLife), Interval: secondsOf(in.Interval)}
		for name, weight := range byName(in.Resources) {
			if weight != 1 {
				out.Usage.Weights = append(out.Usage.Weights, ir.ResourceWeight{Resource: name, Weight: weight})
			}
		}
	}
	in := b.Kueue.WaitForPodsReady
	own := ir.PodsReady{
		Timeout: secondsOf(in.Timeout), Recovery: secondsOf(in.Recovery), Blocks: in.Blocks, Place: in.Place,
		Limit: in.Limit, First: secondsOf(in.First), Longest: secondsOf(in.Longest),
	}
	if !reflect.DeepEqual(own, ir.DefaultPodsReady()) && own.Timeout > 0 {
		out.OwnPodsReady = &own
	}
	return out
}

// secondsOf returns the length of a duration that the schema admits.
func secondsOf(duration string) int { return int(schema.Seconds(duration)) }

// lowerWeight returns the first weight that is given, nil for Kueue's default, 1.
func lowerWeight(weights ...*float64) *resource.Quantity {
	for _, w := range weights {
		if w != nil && *w != 1 {
			return new(resource.MustParse(strconv.FormatFloat(*w, 'f', -1, 64)))
		}
		if w != nil {
			return nil
		}
	}
	return nil
}

// queueWeightOf returns the weight of a queue or a cohort in KAI Scheduler. The rules reject one
// that is no whole number.
func queueWeightOf(b *schema.Blueprint, weight *float64) int {
	return ir.Choose(ir.Scheduler(b.Scheduler), queueWeight, int(valueOr(weight, queueWeight)))
}
