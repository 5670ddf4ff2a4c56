package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/emit"
)

// treeOf makes a tree with its manifest of "path=content" pairs. Paths that end
// in .sh are executable.
func treeOf(t testing.TB, pairs ...string) emit.Tree {
	t.Helper()
	var out emit.Tree
	for _, pair := range pairs {
		path, content, _ := strings.Cut(pair, "=")
		f := emit.File{Path: path, Content: []byte(content)}
		if strings.HasSuffix(path, ".sh") {
			f.Mode = 0o755
		}
		out = append(out, f)
	}
	m, err := Manifest(out)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, m)
	slices.SortFunc(out, func(a, b emit.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// listFolder returns what lies in a folder, "path=content", directories as "path/",
// links as "path@", without the manifest.
func listFolder(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case rel == "." || rel == emit.OwnDir || rel == emit.ManifestPath:
		case d.IsDir():
			out = append(out, rel+"/")
		case d.Type()&fs.ModeSymlink != 0:
			out = append(out, rel+"@")
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out = append(out, rel+"="+string(content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func putContent(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t testing.TB, dir string, tree emit.Tree, opt WriteOptions) Report {
	t.Helper()
	report, err := Write(dir, tree, opt)
	if err != nil {
		t.Fatalf("%v: %+v", err, report)
	}
	return report
}

func checkEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

const m = emit.ManifestPath

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "folder")
	first := treeOf(t, "a=1", "b/c=2", "b/d/e=3", "run.sh=4")

	report := mustWrite(t, dir, first, WriteOptions{})
	checkEqual(t, "report", Report{Written: []string{m, "a", "b/c", "b/d/e", "run.sh"}}, report)
	checkEqual(t, "folder", []string{"a=1", "b/", "b/c=2", "b/d/", "b/d/e=3", "run.sh=4"}, listFolder(t, dir))
	entries, _ := os.ReadDir(filepath.Join(dir, emit.OwnDir))
	if len(entries) != 1 {
		t.Errorf("more than the manifest in %s: %v", emit.OwnDir, entries)
	}

	// A second run touches nothing.
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, f := range first {
		if err := os.Chtimes(filepath.Join(dir, f.Path), past, past); err != nil {
			t.Fatal(err)
		}
	}
	report = mustWrite(t, dir, first, WriteOptions{})
	checkEqual(t, "second report", Report{Unchanged: []string{m, "a", "b/c", "b/d/e", "run.sh"}}, report)

	// A change touches what it changes; an extra file stays and keeps its
	// directory, others go.
	putContent(t, dir, "b/mine", "x")
	report = mustWrite(t, dir, treeOf(t, "a=1", "n/w=5", "run.sh=6"), WriteOptions{})
	checkEqual(t, "third report", Report{
		Written:   []string{m, "n/w", "run.sh"},
		Unchanged: []string{"a"},
		Removed:   []string{"b/c", "b/d/e"},
	}, report)
	checkEqual(t, "folder", []string{"a=1", "b/", "b/mine=x", "n/", "n/w=5", "run.sh=6"}, listFolder(t, dir))
	if info, _ := os.Stat(filepath.Join(dir, "a")); !info.ModTime().Equal(past) {
		t.Error("an unchanged file was touched")
	}

	// What was deleted by hand comes back.
	os.Remove(filepath.Join(dir, "n/w"))
	report = mustWrite(t, dir, treeOf(t, "a=1", "n/w=5", "run.sh=6"), WriteOptions{})
	checkEqual(t, "written", []string{"n/w"}, report.Written)
}

// TestWriteStaged: Write reports each new content, and how many there are.
func TestWriteStaged(t *testing.T) {
	dir := t.TempDir()
	write := func(tree emit.Tree, want int) {
		t.Helper()
		var mu sync.Mutex
		staged := 0
		_, err := Write(dir, tree, WriteOptions{Staged: func(of int) {
			mu.Lock()
			defer mu.Unlock()
			if staged++; of != want {
				t.Errorf("of %d files, want %d", of, want)
			}
		}})
		if err != nil || staged != want {
			t.Errorf("%d files are staged, want %d; error %v", staged, want, err)
		}
	}
	write(treeOf(t, "a=1", "b=2"), 3) // with the manifest
	write(treeOf(t, "a=1", "b=2"), 0)
	write(treeOf(t, "a=1", "b=3"), 2)
}

func TestWriteModes(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, treeOf(t, "a=1", "b=1", "run.sh=1"), WriteOptions{})
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if mode("a")&0o111 != 0 || mode("run.sh")&0o100 == 0 {
		t.Errorf("modes %v and %v", mode("a"), mode("run.sh"))
	}
	os.Chmod(filepath.Join(dir, "a"), 0o600)
	os.Chmod(filepath.Join(dir, "b"), 0o755)
	os.Chmod(filepath.Join(dir, "run.sh"), 0o640)
	report := mustWrite(t, dir, treeOf(t, "a=2", "b=1", "run.sh=1"), WriteOptions{})
	checkEqual(t, "written", []string{m, "a", "b", "run.sh"}, report.Written)
	checkEqual(t, "modes", []fs.FileMode{0o600, 0o644, 0o750}, []fs.FileMode{mode("a"), mode("b"), mode("run.sh")})
}

// What a user would lose is refused, all of it at once, and nothing is
// written; what Force overcomes it overcomes.
func TestWriteConflicts(t *testing.T) {
	next := treeOf(t, "a=new", "b/c=2", "d/e=3")
	tests := map[string]struct {
		prepare   func(dir string)
		conflicts []Conflict
		forced    []string // the folder after Force; nil: refused still
	}{
		"edited and foreign": {
			func(dir string) {
				putContent(t, dir, "a", "edited")
				putContent(t, dir, "d/e", "foreign")
			},
			[]Conflict{{"a", Edited}, {"d/e", Foreign}},
			[]string{"a=new", "b/", "b/c=2", "d/", "d/e=3"},
		},
		"edited and to be removed": {
			func(dir string) { putContent(t, dir, "old/file", "edited") },
			[]Conflict{{"old/file", Edited}},
			[]string{"a=new", "b/", "b/c=2", "d/", "d/e=3"},
		},
		"a directory in the way": {
			func(dir string) {
				os.Remove(filepath.Join(dir, "a"))
				putContent(t, dir, "a/x", "mine")
				putContent(t, dir, "d", "mine")
			},
			[]Conflict{{"a", Obstacle}, {"d/e", Obstacle}},
			nil,
		},
		"a link in place of a file": {
			func(dir string) {
				os.Remove(filepath.Join(dir, "a"))
				os.Symlink("b/c", filepath.Join(dir, "a"))
			},
			[]Conflict{{"a", Linked}},
			nil,
		},
		"a link that leads out of the folder": {
			func(dir string) { os.Symlink("..", filepath.Join(dir, "d")) },
			[]Conflict{{"d/e", Linked}},
			nil,
		},
		"a link that stays in the folder": {
			func(dir string) {
				os.RemoveAll(filepath.Join(dir, "b"))
				putContent(t, dir, "x/c", "1")
				os.Symlink("x", filepath.Join(dir, "b"))
			},
			[]Conflict{{"b/c", Linked}},
			nil,
		},
		"a link before a file to be removed": {
			func(dir string) {
				os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "moved"))
				os.Symlink("moved", filepath.Join(dir, "old"))
			},
			[]Conflict{{"old/file", Linked}},
			nil,
		},
		"a broken manifest": {
			func(dir string) { putContent(t, dir, m, "<<<<<<< ours\n") },
			[]Conflict{{m, Damaged}},
			[]string{"a=new", "b/", "b/c=2", "d/", "d/e=3", "old/", "old/file=0"},
		},
		"an empty manifest": {
			func(dir string) { putContent(t, dir, m, "") },
			[]Conflict{{m, Damaged}},
			[]string{"a=new", "b/", "b/c=2", "d/", "d/e=3", "old/", "old/file=0"},
		},
		"a manifest that leads out of the folder": {
			func(dir string) {
				putContent(t, dir, m, `{"version":1,"files":{"../secret":"`+hashContent([]byte("s"))+`"}}`)
			},
			[]Conflict{{m, Damaged}},
			[]string{"a=new", "b/", "b/c=2", "d/", "d/e=3", "old/", "old/file=0"},
		},
		"a manifest that is a link": {
			func(dir string) {
				os.Rename(filepath.Join(dir, m), filepath.Join(dir, "x"))
				os.Symlink("../x", filepath.Join(dir, m))
			},
			[]Conflict{{m, Linked}},
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			putContent(t, parent, "secret", "s")
			dir := filepath.Join(parent, "folder")
			mustWrite(t, dir, treeOf(t, "a=1", "b/c=1", "old/file=0"), WriteOptions{})
			test.prepare(dir)
			before := listFolder(t, parent)

			for _, opt := range []WriteOptions{{DryRun: true}, {}} {
				report, err := Write(dir, next, opt)
				if !errors.Is(err, ErrConflict) {
					t.Errorf("got error %v", err)
				}
				checkEqual(t, "conflicts", test.conflicts, report.Conflicts)
				checkEqual(t, "files", before, listFolder(t, parent))
			}
			_, err := Write(dir, next, WriteOptions{Force: true})
			if test.forced == nil {
				if !errors.Is(err, ErrConflict) {
					t.Errorf("forced: got error %v", err)
				}
				checkEqual(t, "files", before, listFolder(t, parent))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkEqual(t, "forced", test.forced, listFolder(t, dir))
			if report := mustWrite(t, dir, next, WriteOptions{}); report.Changed() {
				t.Errorf("the run after force changes %+v", report)
			}
		})
	}
}

// A file with the right content is adopted, wherever it came from, as after a
// merge that took files and manifest from different sides.
func TestWriteAdopts(t *testing.T) {
	dir := t.TempDir()
	putContent(t, dir, "a", "1")
	report := mustWrite(t, dir, treeOf(t, "a=1", "b=2"), WriteOptions{})
	checkEqual(t, "report", Report{Written: []string{m, "b"}, Unchanged: []string{"a"}}, report)
	report = mustWrite(t, dir, treeOf(t, "b=2"), WriteOptions{})
	checkEqual(t, "removed", []string{"a"}, report.Removed)
}

func TestWriteOnly(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, treeOf(t, "a=1", "k/b=1", "k/c=1"), WriteOptions{})
	only := func(path string) bool { return strings.HasPrefix(path, "k/") }
	report := mustWrite(t, dir, treeOf(t, "k/b=2", "new=2"), WriteOptions{Only: only})
	checkEqual(t, "report", Report{Written: []string{m, "k/b"}, Removed: []string{"k/c"}}, report)
	checkEqual(t, "folder", []string{"a=1", "k/", "k/b=2"}, listFolder(t, dir))
	// The manifest still knows the rest: a full run removes and writes it.
	report = mustWrite(t, dir, treeOf(t, "k/b=2", "new=2"), WriteOptions{})
	checkEqual(t, "report", Report{Written: []string{m, "new"}, Unchanged: []string{"k/b"}, Removed: []string{"a"}},
		report)
}

func TestWriteDryRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	report := mustWrite(t, dir, treeOf(t, "a=1"), WriteOptions{DryRun: true})
	checkEqual(t, "written", []string{m, "a"}, report.Written)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a dry run made the folder")
	}
	mustWrite(t, dir, treeOf(t, "a=1", "b=1"), WriteOptions{})
	before := listFolder(t, dir)
	dry := mustWrite(t, dir, treeOf(t, "a=2", "c=1"), WriteOptions{DryRun: true})
	checkEqual(t, "files", before, listFolder(t, dir))
	checkEqual(t, "reports", dry, mustWrite(t, dir, treeOf(t, "a=2", "c=1"), WriteOptions{}))
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	putContent(t, dir, "file", "x")
	good := treeOf(t, "a=1")
	if _, err := Write(filepath.Join(dir, "file"), good, WriteOptions{}); !errors.Is(err, ErrNotFolder) {
		t.Errorf("a file as target: %v", err)
	}
	if _, err := Write(filepath.Join(dir, "x"), good[1:], WriteOptions{}); err == nil {
		t.Error("a tree without a manifest was written")
	}
	for _, path := range []string{
		"", ".", "/a", "../a", "a/../../b", "a//b", "a/", `a\b`, "a\nb", emit.OwnDir + "/lock", stageDir + "/0",
	} {
		if err := (emit.Tree{{Path: path}}).Check(); err == nil {
			t.Errorf("path %q passes", path)
		}
	}
	for _, paths := range [][]string{{"b", "a"}, {"a", "a"}, {"a", "a/b"}, {"a", "a.b", "a/b"}} {
		var bad emit.Tree
		for _, p := range paths {
			bad = append(bad, emit.File{Path: p})
		}
		if err := bad.Check(); err == nil {
			t.Errorf("%q pass", paths)
		}
		if _, err := Write(filepath.Join(dir, "x"), bad, WriteOptions{}); err == nil {
			t.Errorf("%q were written", paths)
		}
	}
	os.Symlink(dir, filepath.Join(dir, "link"))
	os.MkdirAll(filepath.Join(dir, "elsewhere"), 0o777)
	os.Symlink("../elsewhere", filepath.Join(dir, "folder"))
	inner := filepath.Join(dir, "inner")
	os.MkdirAll(inner, 0o777)
	os.Symlink("../elsewhere", filepath.Join(inner, emit.OwnDir))
	if _, err := Write(inner, good, WriteOptions{}); err == nil {
		t.Error("batchwright's own directory may be a link")
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "elsewhere")); len(entries) > 0 {
		t.Errorf("written through a link: %v", entries)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a refused tree left a folder")
	}
}

// disks are file systems with and without hard links, on which every step is
// announced first, as an operation and the path that it makes or removes, and
// may be refused.
var disks = map[string]func(step func(name string) error) disk{
	"links": func(step func(string) error) disk { return announcedDisk(step) },
	"no links": func(step func(string) error) disk {
		d := announcedDisk(step)
		d.link = func(*os.Root, string, string) error { return errors.ErrUnsupported }
		return d
	},
}

func announcedDisk(step func(name string) error) disk {
	two := func(op string, do func(*os.Root, string, string) error) func(*os.Root, string, string) error {
		return func(root *os.Root, from, to string) error {
			if err := step(op + " " + to); err != nil {
				return err
			}
			return do(root, from, to)
		}
	}
	return disk{
		rename: two("rename", (*os.Root).Rename),
		link:   two("link", (*os.Root).Link),
		mkdir: func(root *os.Root, name string, mode fs.FileMode) error {
			if err := step("mkdir " + name); err != nil {
				return err
			}
			return root.Mkdir(name, mode)
		},
		remove: func(root *os.Root, name string) error {
			if err := step("remove " + name); err != nil {
				return err
			}
			return root.Remove(name)
		},
	}
}

// Whichever rename fails, or directory cannot be made, the folder is as it was
// before.
func TestWriteRollsBack(t *testing.T) {
	before := treeOf(t, "a=1", "b/c=1", "old/x=1", "run.sh=1")
	after := treeOf(t, "a=2", "b/c=1", "new/d/e=2", "run.sh=2")
	for name := range disks {
		t.Run(name, func(t *testing.T) {
			failures := 0
			for {
				dir := t.TempDir()
				mustWrite(t, dir, before, WriteOptions{})
				want := listFolder(t, dir)
				calls, failed := 0, ""
				_, err := writeTree(dir, after, WriteOptions{}, disks[name](func(step string) error {
					if strings.HasPrefix(step, "rename") || strings.HasPrefix(step, "mkdir") {
						if calls++; calls == failures+1 {
							failed = step
							return errors.New("full")
						}
					}
					return nil
				}))
				if (err != nil) != (failed != "") {
					t.Fatalf("failure of %q: error %v", failed, err)
				}
				if err == nil {
					break
				}
				failures++
				checkEqual(t, "after failure of "+failed, want, listFolder(t, dir))
				if entries, _ := os.ReadDir(filepath.Join(dir, emit.OwnDir)); len(entries) != 1 {
					t.Errorf("failure of %s leaves %v", failed, entries)
				}
				if report := mustWrite(t, dir, before, WriteOptions{}); report.Changed() {
					t.Errorf("failure of %s changed the folder: %+v", failed, report)
				}
			}
			if failures < 9 {
				t.Errorf("only %d steps failed", failures)
			}
		})
	}
}

// What was replaced is not lost when it cannot be put back either, not even by
// writing again.
func TestWriteKeepsWhatItCannotPutBack(t *testing.T) {
	for name := range disks {
		for _, kept := range []string{savedDir, stageDir} {
			t.Run(name+" "+path.Base(kept), func(t *testing.T) {
				dir := t.TempDir()
				mustWrite(t, dir, treeOf(t, "a=1", "b=1"), WriteOptions{})
				putContent(t, dir, "a", "edited")
				gone := false
				_, err := writeTree(dir, treeOf(t, "a=2", "b=2"), WriteOptions{Force: true},
					disks[name](func(step string) error {
						gone = gone || step == "rename b"
						if gone && strings.HasPrefix(step, "rename") &&
							(step != "rename "+savedDir || kept == stageDir) {
							return errors.New("gone")
						}
						return nil
					}))
				saved := kept + "/0.old"
				if err == nil || !strings.Contains(err.Error(), "a is kept as "+saved) {
					t.Errorf("the error does not say where the original is: %v", err)
				}
				for _, force := range []bool{false, true} {
					if _, err := Write(dir, treeOf(t, "a=3", "b=3"), WriteOptions{Force: force}); !errors.Is(err,
						errSaved) {
						t.Errorf("force %t: got error %v", force, err)
					}
				}
				if content, err := os.ReadFile(filepath.Join(dir, saved)); string(content) != "edited" {
					t.Errorf("the original is %q, %v", content, err)
				}
				os.RemoveAll(filepath.Join(dir, kept))
				mustWrite(t, dir, treeOf(t, "a=3", "b=3"), WriteOptions{Force: true})
				checkEqual(t, "folder", []string{"a=3", "b=3"}, listFolder(t, dir))
			})
		}
	}
}

// TestWriteCrashes kills the process at every step, twice in a row with changing
// blueprints. The next Write recovers without Force, also one that writes a part
// of the folder before one that writes all of it.
func TestWriteCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a folder in a process for each place of a crash")
	}
	const crashed = 7 // an exit code
	trees := []emit.Tree{
		treeOf(t, "a=1", "b/c=1", "old/x=1", "run.sh=1"),
		treeOf(t, "a=2", "b/c=2", "new/d/e=2", "run.sh=2"),
		treeOf(t, "a=3", "b/c=3", "other/f=3"),
		treeOf(t, "a=4", "b/c=4"),
	}
	if at := os.Getenv("BATCHWRIGHT_TEST_CRASH"); at != "" {
		var name, dir string
		var which, n int
		fmt.Sscanf(at, "%d %d %q %q", &which, &n, &name, &dir)
		_, err := writeTree(dir, trees[which], WriteOptions{}, disks[name](func(string) error {
			if n--; n < 0 {
				os.Exit(crashed)
			}
			return nil
		}))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	crash := func(t *testing.T, name, dir string, which, n int) bool {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriteCrashes$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("BATCHWRIGHT_TEST_CRASH=%d %d %q %q", which, n, name, dir))
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState.ExitCode() != crashed {
			t.Fatalf("%v: %s", err, out)
		}
		return err != nil
	}
	for _, tt := range []struct {
		disk  string
		first bool // nothing was ever written before the crash
	}{
		{"links", false}, {"no links", false}, {"links", true},
	} {
		for _, part := range []string{"", "a", "b/c"} {
			t.Run(fmt.Sprintf("%s/%t/%s", tt.disk, tt.first, part), func(t *testing.T) {
				t.Parallel()
				for n := 0; ; n++ {
					dir := t.TempDir()
					if !tt.first {
						mustWrite(t, dir, trees[0], WriteOptions{})
					}
					putContent(t, dir, "mine", "x")
					if !crash(t, tt.disk, dir, 1, n) {
						if n < 10 {
							t.Errorf("there were only %d steps", n)
						}
						break
					}
					if part == "" {
						crash(t, tt.disk, dir, 2, n*5%12)
					} else {
						mustWrite(t, dir, trees[3], WriteOptions{Only: func(path string) bool { return path == part }})
					}
					mustWrite(t, dir, trees[3], WriteOptions{})
					checkEqual(t, fmt.Sprintf("folder after a crash at step %d", n),
						[]string{"a=4", "b/", "b/c=4", "mine=x"}, listFolder(t, dir))
					if entries, _ := os.ReadDir(filepath.Join(dir, emit.OwnDir)); len(entries) != 1 {
						t.Errorf("step %d leaves %v", n, entries)
					}
				}
			})
		}
	}
	// An edit after a crash is still an edit.
	dir := t.TempDir()
	mustWrite(t, dir, trees[0], WriteOptions{})
	crash(t, "links", dir, 1, 6)
	putContent(t, dir, "a", "edited")
	report, err := Write(dir, trees[3], WriteOptions{})
	if !errors.Is(err, ErrConflict) {
		t.Errorf("got error %v", err)
	}
	checkEqual(t, "conflicts", []Conflict{{"a", Edited}}, report.Conflicts)
}

func TestWriteConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			mustWrite(t, dir, treeOf(t, fmt.Sprintf("a=%d", i), fmt.Sprintf("b%d=", i), fmt.Sprintf("c=%d", i)),
				WriteOptions{})
		})
	}
	group.Wait()
	got := listFolder(t, dir)
	if len(got) != 3 {
		t.Fatalf("files of several trees: %v", got)
	}
	n := strings.TrimPrefix(got[0], "a=")
	checkEqual(t, "folder", []string{"a=" + n, "b" + n + "=", "c=" + n}, got)
}

func BenchmarkWrite(b *testing.B) {
	var pairs []string
	for i := range 10_000 {
		pairs = append(pairs, fmt.Sprintf("teams/team-%05d/file.yaml=%s", i, strings.Repeat("x", 3000)))
	}
	big := treeOf(b, pairs...)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			mustWrite(b, filepath.Join(b.TempDir(), "folder"), big, WriteOptions{})
		}
	})
	dir := filepath.Join(b.TempDir(), "folder")
	mustWrite(b, dir, big, WriteOptions{})
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			mustWrite(b, dir, big, WriteOptions{})
		}
	})
	for i := range pairs {
		pairs[i] += "y"
	}
	other := treeOf(b, pairs...)
	b.Run("all changed", func(b *testing.B) {
		for b.Loop() {
			big, other = other, big
			mustWrite(b, dir, big, WriteOptions{})
		}
	})
	b.Run("one changed", func(b *testing.B) {
		one := slices.Clone(big)
		for i := 0; b.Loop(); i++ {
			one[1].Content = fmt.Append(nil, i)
			var err error
			if one[0], err = Manifest(one); err != nil {
				b.Fatal(err)
			}
			mustWrite(b, dir, one, WriteOptions{})
		}
	})
}
