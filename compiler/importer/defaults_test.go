package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// schemaValue returns the value at a path of the blueprint's schema.
func schemaValue(t *testing.T, path string) cue.Value {
	t.Helper()
	text, err := schema.Files.ReadFile("blueprint.cue")
	if err != nil {
		t.Fatal(err)
	}
	v := cuecontext.New().CompileBytes(text).LookupPath(cue.ParsePath(path))
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return v
}

// TestBlueprintDefaults holds the defaults that the importer omits from a blueprint against
// the schema.
func TestBlueprintDefaults(t *testing.T) {
	defaults := map[string]any{"#Disk.sizeGiB": standardDiskGiB, "#FlexStart.retries": usualRetries}
	for _, s := range standardRanges() {
		defaults["#Network."+s.name] = s.value
	}
	for _, row := range clusterFates() {
		if row.standard != nil {
			defaults["#Blueprint."+row.becomes] = row.standard
		}
	}
	for _, f := range features() {
		defaults["#ExistingCluster.has."+f.field] = f.standard
	}
	for path, value := range defaults {
		v, found := schemaValue(t, path).Default()
		if want := strings.Trim(fmt.Sprint(v), `"`); !found || fmt.Sprint(value) != want {
			t.Errorf("default of %s: got %v, want %s", path, value, want)
		}
	}
	var frameworks []string
	v, _ := schemaValue(t, "#ExistingKueue.frameworks").Default()
	if err := v.Decode(&frameworks); err != nil || !slices.Equal(kinds.Frameworks(), frameworks) {
		t.Errorf("frameworks: got %q, want %q, %v", kinds.Frameworks(), frameworks, err)
	}
}

// TestBlueprintPatterns holds the regular expressions of the importer against the schema.
func TestBlueprintPatterns(t *testing.T) {
	for definition, pattern := range map[string]*regexp.Regexp{
		"#GKEVersion": gkeVersion(), "#SecurityGroup": securityGroup(),
	} {
		op, operands := schemaValue(t, definition).Expr()
		if op != cue.RegexMatchOp {
			t.Fatalf("%s is not a regular expression", definition)
		}
		if want, err := operands[0].String(); err != nil || pattern.String() != want {
			t.Errorf("%s: got %s, want %s, %v", definition, pattern, want, err)
		}
	}
}

// TestUnwrittenFields holds the fields of Kueue that no platform sets against the rows of the
// report.
func TestUnwrittenFields(t *testing.T) {
	for _, kind := range []string{
		"ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "Topology", "ProvisioningRequestConfig",
	} {
		for _, f := range kueueFates(kind) {
			if exports.Writable(kind, f.field) == (f.status == NoPart) {
				t.Errorf("%s: the report says of %s: %s", kind, f.field, f.status)
			}
		}
	}
}
