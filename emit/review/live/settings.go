package live

import (
	"encoding/json"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// settingsOf returns how the settings of a type of resource are compared, by path.
func settingsOf(kind string) map[string]objects.Setting {
	out := map[string]objects.Setting{}
	for _, a := range gke.Arguments(kind) {
		if !a.Is(gke.Uncompared) {
			out[a.Path] = objects.Setting{
				Computed: a.Is(gke.Computed), Names: a.Is(gke.Names), AnyCase: a.Is(gke.AnyCase), Kept: a.Kept,
			}
		}
	}
	return out
}

// readBlock returns the settings of a block in a value of gcloud, and the paths of which
// nothing is known. at is the path of the block with a dot, or "".
func readBlock(rows []gke.Argument, at string, value any) (s objects.Settings, unknown []string) {
	s = objects.Settings{Values: map[string]any{}, Blocks: map[string][]objects.Settings{}}
	for _, r := range rows {
		name, inside := strings.CutPrefix(r.Path, at)
		if !inside || strings.Contains(name, ".") || r.Is(gke.Uncompared) {
			continue
		}
		v := exports.At(value, r.Keys()...)
		if v == nil && r.Is(gke.IfPrinted) {
			unknown = append(unknown, r.Path)
			continue
		}
		if r.Convert != nil {
			v = r.Convert(v)
		}
		if !r.Is(gke.Block) {
			if v = plainSetting(v); v != nil {
				s.Values[name] = v
			}
			continue
		}
		list, isList := v.([]any)
		if !isList && v != nil {
			list = []any{v}
		}
		for _, item := range list {
			b, more := readBlock(rows, r.Path+".", item)
			unknown = append(unknown, more...)
			// gcloud prints an empty object for a block that sets nothing.
			if len(b.Values)+len(b.Blocks) > 0 {
				s.Blocks[name] = append(s.Blocks[name], b)
			}
		}
	}
	return s, unknown
}

// plainSetting returns a value as objects.Settings holds it; nil for zero values and for
// what is no value of an argument.
func plainSetting(v any) any {
	switch v := v.(type) {
	case string:
		if v != "" {
			return v
		}
	case bool:
		if v {
			return v
		}
	case json.Number:
		if v != "0" {
			return v
		}
	case []any:
		if list := exports.Texts(v); len(list) > 0 {
			return list
		}
	case map[string]any:
		texts := map[string]string{}
		for key, item := range v {
			if text, ok := item.(string); ok {
				texts[key] = text
			}
		}
		if len(texts) > 0 {
			return texts
		}
	}
	return nil
}
