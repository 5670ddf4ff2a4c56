package plane

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPrune(t *testing.T) {
	bin := t.TempDir()
	since := time.Now().Add(-24 * time.Hour)
	earlier, later := since.Add(-time.Minute), since.Add(time.Minute)
	for name, asked := range map[string]time.Time{
		"00000000000000aa": earlier, // the one just built, whatever the clock says
		"00000000000000bb": later,
		"00000000000000cc": earlier,
		"build-123":        later,
		"build-456":        earlier,
		"mine":             earlier,
	} {
		if err := os.Mkdir(filepath.Join(bin, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, name, "kwok"), nil, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(bin, name), asked, asked); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(filepath.Join(bin, "00000000000000aa"), since); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(bin, "*/kwok"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = filepath.Base(filepath.Dir(left[i]))
	}
	want := []string{"00000000000000aa", "00000000000000bb", "build-123", "mine"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left are (-want +got):\n%s", diff)
	}
}
