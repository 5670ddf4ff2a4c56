package importer

import (
	"fmt"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/batchwright/batchwright/schema"
)

// schemaDefault returns the default of a field of the blueprint. path has dots.
func schemaDefault(t *testing.T, path string) string {
	t.Helper()
	text, err := schema.Files.ReadFile("blueprint.cue")
	if err != nil {
		t.Fatal(err)
	}
	v := cuecontext.New().CompileBytes(text).LookupPath(cue.ParsePath("#Blueprint." + path))
	out, found := v.Default()
	if v.Err() != nil || !found {
		t.Fatalf("the schema has no default of %s: %v", path, v.Err())
	}
	return strings.Trim(fmt.Sprint(out), `"`)
}

// TestBlueprintDefaults holds the defaults that the importer omits from a blueprint against
// the schema.
func TestBlueprintDefaults(t *testing.T) {
	defaults := map[string]any{"cluster.systemPool.disk.sizeGiB": standardDiskGiB}
	for _, s := range standardRanges() {
		defaults["network."+s.name] = s.value
	}
	for _, row := range clusterSettings() {
		if row.standard != nil {
			defaults[row.becomes] = row.standard
		}
	}
	for path, value := range defaults {
		if want := schemaDefault(t, path); fmt.Sprint(value) != want {
			t.Errorf("default of %s: got %v, want %s", path, value, want)
		}
	}
}
