package exports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/golden/worlds"
)

// TestFoldersComeBack: the queues of every golden folder with Kueue come back from an import of its
// objects as they are.
func TestFoldersComeBack(t *testing.T) {
	folders, err := filepath.Glob(fixture.Path("golden", "*", "kubernetes", "resource-flavors.yaml"))
	if err != nil || len(folders) < 5 {
		t.Fatalf("%d folders: %v", len(folders), err)
	}
	for _, flavors := range folders {
		folder := filepath.Dir(flavors)
		t.Run(filepath.Base(filepath.Dir(folder)), func(t *testing.T) {
			var files []exports.File
			var texts [][]byte
			for _, pattern := range []string{"*.yaml", "teams/*.yaml"} {
				names, err := filepath.Glob(filepath.Join(folder, pattern))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					content, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					files, texts = append(files, exports.File{Name: name, Content: content}), append(texts, content)
				}
			}
			compiled, err := worlds.Recompile(t.Context(), files...)
			if err != nil {
				t.Fatal(err)
			}
			differ, err := worlds.Compare(bytes.Join(texts, []byte("\n---\n")), compiled)
			if err != nil {
				t.Fatal(err)
			}
			if len(differ) > 0 {
				t.Errorf("folder -> compiled:\n%s", strings.Join(differ, "\n"))
			}
		})
	}
}
