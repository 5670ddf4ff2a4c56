package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// options are the choices for one release.
type options struct {
	version    string
	repository string // directory of the repository with the tag
	output     string // directory to write; "" for dist/VERSION in the repository
	platforms  []platform
	programs   []program
	verify     bool
	log        io.Writer
}

// platform is an operating system and an architecture, in the words of Go.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// everyPlatform returns the platforms of a release.
func everyPlatform() []string {
	return []string{
		"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64",
	}
}

// parsePlatforms reads platforms that spaces separate. The platform of this machine
// must be among them, because its program prints the completions and the manual.
func parsePlatforms(list string) ([]platform, error) {
	var all []platform
	for _, text := range strings.Fields(list) {
		if !slices.Contains(everyPlatform(), text) {
			return nil, fmt.Errorf("platform %q: want some of %s", text, strings.Join(everyPlatform(), ", "))
		}
		system, arch, _ := strings.Cut(text, "/")
		all = append(all, platform{system, arch})
	}
	if !slices.Contains(all, thisPlatform()) {
		return nil, fmt.Errorf("the platforms lack %s, this machine, whose program prints the manual", thisPlatform())
	}
	return all, nil
}

func thisPlatform() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// program is a main package of the repository.
type program struct {
	name   string
	module string // directory of its module
}

// everyProgram returns the programs of an archive. batchwright runs the scheduler of a
// rehearsal from the file beside it. batchwright-rehearse-kai is not among them: it is
// the largest of the three, takes the longest to build, and few platforms need it.
func everyProgram() []program {
	return []program{{"batchwright", "."}, {"batchwright-rehearse", "rehearse"}}
}

// release checks the repository, and writes the release. The output is complete, or
// does not exist.
func release(ctx context.Context, o options) (err error) {
	source, err := checkRepository(ctx, o.repository, o.version)
	if err != nil {
		return err
	}
	output, err := filepath.Abs(cmp.Or(o.output, filepath.Join(source.root, "dist", o.version)))
	if err != nil {
		return err
	}
	if _, err := os.Lstat(output); err == nil {
		return fmt.Errorf("%s exists: remove it first", output)
	}
	// The files are built beside the output, so that they can be renamed.
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return err
	}
	parts, err := os.MkdirTemp(filepath.Dir(output), ".release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(parts)) }()

	first := filepath.Join(parts, "first")
	if err := buildRelease(ctx, o, source, first, ""); err != nil {
		return err
	}
	if o.verify {
		fmt.Fprintln(o.log, "again, in another directory and with an empty build cache")
		// A path of another length shows paths in programs and archives.
		second := filepath.Join(parts, "the-second-time")
		if err := buildRelease(ctx, o, source, second, filepath.Join(parts, "cache")); err != nil {
			return err
		}
		if err := compareReleases(first+"/out", second+"/out"); err != nil {
			return err
		}
		fmt.Fprintln(o.log, "both builds are equal")
	}
	if err := os.Rename(first+"/out", output); err != nil {
		return err
	}
	fmt.Fprintln(o.log, output)
	return nil
}

// removeAll removes a directory. It makes the directories in it writable first, because
// the build cache may hold others.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// buildRelease clones the source into work, builds all files of the release, and
// writes them to the directory "out" in it. cache is the directory of the build cache;
// "" means the user's build cache.
func buildRelease(ctx context.Context, o options, source checkout, work, cache string) error {
	b := &builder{options: o, checkout: source, clone: filepath.Join(work, "source"), bin: filepath.Join(work, "bin")}
	out := filepath.Join(work, "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := b.cloneTag(ctx); err != nil {
		return err
	}
	if err := b.setEnvironment(ctx, cache); err != nil {
		return err
	}
	files := map[string][]byte{} // of the output, by name
	for _, p := range o.platforms {
		for _, program := range o.programs {
			fmt.Fprintf(o.log, "%s for %s\n", program.name, p)
			if err := b.build(ctx, program, p); err != nil {
				return err
			}
			bill, err := b.billOfMaterials(program, p)
			if err != nil {
				return err
			}
			files[b.artefact(program.name, p)+".cdx.json"] = bill
		}
	}
	common, err := b.commonFiles(ctx)
	if err != nil {
		return err
	}
	for _, p := range o.platforms {
		name, content, err := b.archive(p, common)
		if err != nil {
			return err
		}
		files[name] = content
	}
	files["checksums.txt"] = checksums(files)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// artefact returns the name of a file for a platform, without its ending.
func (b *builder) artefact(name string, p platform) string {
	return strings.Join([]string{name, b.version, p.os, p.arch}, "_")
}

// checksums returns the SHA-256 of each file, as sha256sum prints and reads them.
func checksums(files map[string][]byte) []byte {
	var list bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return list.Bytes()
}

// compareReleases returns an error that names all files whose checksums differ between two
// directories, or that only one of them has.
func compareReleases(a, b string) error {
	lines := map[string]int{} // how many directories have a line
	for _, dir := range []string{a, b} {
		list, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(list)) {
			lines[line]++
		}
	}
	differ := map[string]bool{}
	for line, n := range lines {
		if n == 1 {
			differ[strings.Fields(line)[1]] = true
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("two builds differ in %s", strings.Join(slices.Sorted(maps.Keys(differ)), ", "))
	}
	return nil
}
