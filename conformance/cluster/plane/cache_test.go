package plane

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const key = "0123456789abcdef"

// TestCacheFills fills an entry from several processes. Locks of files that are opened
// separately exclude each other within one process, too.
func TestCacheFills(t *testing.T) {
	c := cache{filepath.Join(t.TempDir(), "new/folder")}
	broken := errors.New("a build fails")
	if _, err := c.get(t.Context(), key, io.Discard, func(dir string) error {
		return errors.Join(broken, os.WriteFile(filepath.Join(dir, "half"), nil, 0o666))
	}); !errors.Is(err, broken) {
		t.Fatalf("a build that fails: %v", err)
	}
	if left := names(t, c); !cmp.Equal(left, []string{"lock"}) {
		t.Errorf("a build that fails leaves %v", left)
	}

	var filled atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			found, err := c.get(t.Context(), key, io.Discard, func(dir string) error {
				filled.Add(1)
				return os.WriteFile(filepath.Join(dir, "program"), nil, 0o666)
			})
			if err != nil {
				t.Error(err)
				return
			}
			defer found.close()
			if _, err := os.Stat(filepath.Join(found.dir, "program")); err != nil {
				t.Errorf("an entry is not complete: %v", err)
			}
		})
	}
	all.Wait()
	if n := filled.Load(); n != 1 {
		t.Errorf("4 processes fill the entry %d times", n)
	}
}

// TestCacheKeepsUsed prunes a cache.
func TestCacheKeepsUsed(t *testing.T) {
	c := cache{t.TempDir()}
	since := time.Now().Add(-unused)
	earlier, later := since.Add(-time.Minute), since.Add(time.Minute)
	for name, asked := range map[string]time.Time{
		"00000000000000aa": earlier,
		"00000000000000bb": earlier, // a plane runs its programs
		"00000000000000cc": later,
		"incomplete-123":   later,
		"mine":             earlier,
	} {
		dir := filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o777); err != nil {
			t.Fatal(err)
		}
		if name == "00000000000000bb" {
			used, err := c.find(name)
			if err != nil {
				t.Fatal(err)
			}
			defer used.close()
		}
		if err := os.Chtimes(dir, asked, asked); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.prune(since); err != nil {
		t.Fatal(err)
	}
	want := []string{"00000000000000bb", "00000000000000cc", "mine"}
	if diff := cmp.Diff(want, names(t, c)); diff != "" {
		t.Errorf("left are (-want +got):\n%s", diff)
	}
	if found, err := c.find("00000000000000aa"); found != nil || err != nil {
		t.Errorf("a removed entry is found: %v, %v", found, err)
	}
}

// names returns the names in the cache.
func names(t *testing.T, c cache) []string {
	t.Helper()
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// TestCacheNeedsHome builds without a home directory.
func TestCacheNeedsHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	_, err := build(t.Context(), "..", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "into the user's cache directory") {
		t.Errorf("without HOME: %v", err)
	}
}

// TestCacheKey changes what decides about a build, and what does not.
func TestCacheKey(t *testing.T) {
	text := func(name string) string {
		content, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	files := map[string]string{}
	for _, name := range []string{"go.mod", "conformance/go.mod", "conformance/cluster/go.mod"} {
		files[name] = text(name)
	}
	of := func(name, old, replacement string) string {
		dir := t.TempDir()
		for file, content := range files {
			if file == name {
				if !strings.Contains(content, old) {
					t.Fatalf("%s does not contain %q", name, old)
				}
				content = strings.Replace(content, old, replacement, 1)
			}
			file = filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := cacheKey(t.Context(), filepath.Join(dir, "conformance/cluster"))
		if err != nil {
			t.Fatal(err)
		}
		if !entryName.MatchString(got) {
			t.Errorf("the key %q is not the name of an entry", got)
		}
		return got
	}
	same := of("", "", "")
	for _, change := range []struct {
		name, old, replacement string
		differs                bool
	}{
		{"conformance/cluster/go.mod", "module ", "// A comment.\nmodule ", false},
		{"conformance/cluster/go.mod", "sigs.k8s.io/kwok v0.8", "sigs.k8s.io/kwok v0.9", true},
		{"conformance/go.mod", prometheusModule + " v0", prometheusModule + " v1", true},
		{"conformance/go.mod", "module ", "// A comment.\nmodule ", false},
		{"go.mod", "github.com/google/go-cmp v0", "github.com/google/go-cmp v1", false},
		{"go.mod", networkingModule + " v0", networkingModule + " v1", true},
	} {
		got := of(change.name, change.old, change.replacement)
		if differs := got != same; differs != change.differs {
			t.Errorf("%s with %q: another key: %t, want %t", change.name, change.replacement, differs, change.differs)
		}
	}
}
