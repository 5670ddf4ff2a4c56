package dashboards

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueriesOfFolders(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "../folders", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folders, err := os.ReadDir(dir)
	if err != nil || len(folders) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	for _, folder := range folders {
		name := folder.Name()
		queries, err := Queries(os.DirFS(filepath.Join(dir, name)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		files := map[string]int{}
		for _, q := range queries {
			files[q.File]++
			if len(q.Selectors) == 0 ||
				strings.ContainsAny(q.Expr, "$@") && !strings.Contains(q.Expr, `"$1"`) &&
					!strings.Contains(q.Expr, `-$1"`) {
				t.Errorf("%s: %s: %s: not filled, or asks for nothing", q.File, q.Name, q.Expr)
			}
		}
		if files["dashboards/alert-rules.yaml"] == 0 ||
			files["terraform/monitoring.tf"] < files["dashboards/alert-rules.yaml"] {
			t.Errorf("%s: queries by file: %v", name, files)
		}
	}
}

func TestSelectors(t *testing.T) {
	got, err := selectors(`sum(rate(a{x="1"}[5m])) / on () b offset 1h or a{x="1"} unless c{y!="2"} or vector(0)`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`a{x="1"}`, `b`, `c{y!="2"}`}, got); diff != "" {
		t.Errorf("selectors (-want +got):\n%s", diff)
	}
}
