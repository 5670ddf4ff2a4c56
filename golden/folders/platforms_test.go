package folders_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestPlatformsAreClean compiles platforms of many kinds that an administrator would
// call right, and expects no finding and a folder that passes all checks. A new rule
// that finds something here gives a false alarm.
func TestPlatformsAreClean(t *testing.T) {
	paths, err := filepath.Glob(fixture.Path("golden/testdata/platforms/*.cue"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d platforms, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".cue"), func(t *testing.T) {
			tree, findings := compile.Blueprint(t, path)
			for _, f := range findings {
				t.Errorf("%s: %s[%s]: %s", f.Path, f.Severity, f.Code, f.Message)
			}
			checkFolder(t, fixture.FS(tree))
		})
	}
}
