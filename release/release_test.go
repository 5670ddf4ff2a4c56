package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// standIn is a repository with the same parts as this one: a program that prints
// completions, writes its manual, and depends on a module; a second program in a module of its own;
// and the module that names the toolchain.
var standIn = map[string]string{
	"LICENSE":   "the licence\n",
	"README.md": "read me\n",
	"go.mod":    "module github.com/batchwright/batchwright\n\ngo 1.26.0\n\nrequire golang.org/x/mod v0.41.0\n",
	"cmd/batchwright/main.go": `package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/mod/semver"
)

func main() {
	switch info, _ := debug.ReadBuildInfo(); os.Args[1] {
	case "manual":
		page := ".TH a 1\n.SH NAME\na \\- b\n.SH OPTIONS\n" + os.Getenv("SOURCE_DATE_EPOCH") + "\n"
		for _, name := range []string{"batchwright.1", "batchwright-compile.1"} {
			if err := os.WriteFile(filepath.Join(os.Args[2], name), []byte(page), 0o644); err != nil {
				panic(err)
			}
		}
	case "version":
		fmt.Println(semver.Canonical(info.Main.Version))
	default:
		fmt.Println("script", os.Args[1:])
	}
}
`,
	"emit/charts/LICENSE": "the licence of the charts\n",
	"rehearse/go.mod": "module github.com/batchwright/batchwright/rehearse\n\ngo 1.26.0\n\n" +
		"require github.com/batchwright/batchwright v0.0.0\n\nreplace github.com/batchwright/batchwright => ../\n",
	"rehearse/cmd/batchwright-rehearse/main.go": "package main\n\n" +
		"import \"github.com/batchwright/batchwright/shared\"\n\nfunc main() { println(shared.Name) }\n",
	"shared/shared.go": "package shared\n\nconst Name = \"shared\"\n",
	"release/go.mod":   "module github.com/batchwright/batchwright/release\n\ngo 1.26.0\n",
	".gitignore":       "/dist/\n",
}

// newStandIn returns the directory of a new repository with the files of standIn and
// one commit.
func newStandIn(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range standIn {
		write(t, filepath.Join(dir, name), content)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	commit(t, dir)
	return dir
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commit lets release/go.mod name the Go of this test, and makes a commit of all files
// at a fixed time.
func commit(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "release", "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^toolchain.*\n`).ReplaceAllString(string(content), "")
	write(t, file, text+"\ntoolchain "+runtime.Version()+"\n")
	bash(t, dir, `git init -q -b main && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm files`)
}

// bash runs a script in a repository.
func bash(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", "set -euo pipefail; "+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// releaseOf returns the options to release a repository for this platform.
func releaseOf(t *testing.T, repository string) options {
	return options{
		version: "v1.2.3", repository: repository, output: filepath.Join(t.TempDir(), "dist", "v1.2.3"),
		platforms: []platform{thisPlatform()}, programs: everyProgram(), log: t.Output(),
	}
}

// TestRelease builds a release for two platforms.
func TestRelease(t *testing.T) {
	dir := newStandIn(t)
	bash(t, dir, "git tag v1.2.3-rc.1; git tag v1.2.3; git tag v9.0.0") // only the named tag counts
	o := releaseOf(t, dir)
	o.output = ""
	o.platforms = append(o.platforms, platform{"windows", "arm64"})
	if err := release(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "dist", "v1.2.3")
	here := runtime.GOOS + "_" + runtime.GOARCH
	name := "batchwright_v1.2.3_" + here
	wantFiles := []string{
		"batchwright-rehearse_v1.2.3_" + here + ".cdx.json", "batchwright-rehearse_v1.2.3_windows_arm64.cdx.json",
		name + ".cdx.json", name + ".tar.gz", "batchwright_v1.2.3_windows_arm64.cdx.json",
		"batchwright_v1.2.3_windows_arm64.zip", "checksums.txt",
	}
	if got := namesIn(t, out); !slices.Equal(got, wantFiles) {
		t.Errorf("files %q, want %q", got, wantFiles)
	}
	if left := namesIn(t, filepath.Dir(out)); !slices.Equal(left, []string{"v1.2.3"}) {
		t.Errorf("%q are left over", left)
	}
	bash(t, out, "sha256sum --check --strict --quiet checksums.txt; test $(wc -l < checksums.txt) = 6")

	files := readTar(t, filepath.Join(out, name+".tar.gz"))
	want := []string{
		"LICENSE", "LICENSES.txt", "README.md", "batchwright", "batchwright-rehearse", "completions/_batchwright",
		"completions/batchwright.bash", "completions/batchwright.fish", "completions/batchwright.ps1",
		"man/man1/batchwright-compile.1", "man/man1/batchwright.1",
	}
	for i := range want {
		want[i] = name + "/" + want[i]
	}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files of the archive %q, want %q", got, want)
	}
	program := filepath.Join(t.TempDir(), "batchwright")
	if err := os.WriteFile(program, files[name+"/batchwright"], 0o755); err != nil {
		t.Fatal(err)
	}
	if got := bash(t, t.TempDir(), program+" version"); got != "v1.2.3\n" {
		t.Errorf("the program has version %q", got)
	}
	licences := string(files[name+"/LICENSES.txt"])
	for _, text := range []string{
		"golang.org/x/mod@v0.41.0, LICENSE", "The Go Authors", "Go " + runtime.Version()[2:] + ", LICENSE",
		"emit/charts, LICENSE\n\nthe licence of the charts",
	} {
		if !strings.Contains(licences, text) {
			t.Errorf("the licences lack %q", text)
		}
	}
	checkZip(t, filepath.Join(out, "batchwright_v1.2.3_windows_arm64.zip"), len(want))
	for _, file := range wantFiles {
		if strings.HasSuffix(file, ".cdx.json") {
			checkBill(t, filepath.Join(out, file), "golang.org/x/mod@v0.41.0")
		}
	}
	for name, text := range checkPages(t, files) {
		if !strings.Contains(text, fmt.Sprint(commitTime().Unix())) {
			t.Errorf("%s has another date than the commit:\n%s", name, text)
		}
	}

	// A release is never overwritten.
	if err := release(t.Context(), o); err == nil || !strings.Contains(err.Error(), "exists: remove it first") {
		t.Errorf("another release: %v", err)
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// readTar returns the files of an archive, and checks that their metadata do not depend on
// the build.
func readTar(t *testing.T, name string) map[string][]byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(compressed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		mode := int64(0o644)
		if strings.HasPrefix(filepath.Base(h.Name), "batchwright") && filepath.Ext(h.Name) == "" {
			mode = 0o755
		}
		if h.Mode != mode || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" || !h.ModTime.Equal(commitTime()) {
			t.Errorf("%s: mode %o, owner %d:%d, time %v", h.Name, h.Mode, h.Uid, h.Gid, h.ModTime)
		}
		if files[h.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

func commitTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func checkZip(t *testing.T, name string, count int) {
	t.Helper()
	archive, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.File) != count {
		t.Errorf("%s has %d files, want %d", name, len(archive.File), count)
	}
	programs := 0
	for _, f := range archive.File {
		want := fs.FileMode(0o644)
		if strings.HasSuffix(f.Name, ".exe") {
			want = 0o755
			programs++
		}
		if f.Mode() != want || !f.Modified.Equal(commitTime()) {
			t.Errorf("%s: mode %o, time %v", f.Name, f.Mode(), f.Modified)
		}
	}
	if programs != 2 {
		t.Errorf("%s has %d programs, want 2", name, programs)
	}
}

// checkBill checks a bill of materials against CycloneDX's schema, which is in the module of
// its types. The bill of batchwright must have the given module, as "path@version".
func checkBill(t *testing.T, name, module string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(bash(t, ".", "go list -m -f '{{.Dir}}' github.com/CycloneDX/cyclonedx-go"))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for id, file := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.ReadFile(filepath.Join(dir, "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err := errors.Join(err, compiler.AddResource(id, document)); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	document.(map[string]any)["serialNumber"] = "1"
	if schema.Validate(document) == nil {
		t.Error("the schema accepts a wrong serial number")
	}
	var bom cdx.BOM
	if err := json.Unmarshal(content, &bom); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range *bom.Components {
		found[c.PackageURL] = true
	}
	wanted := []string{"pkg:golang/std@" + runtime.Version()[2:], "pkg:golang/" + module}
	if strings.HasPrefix(filepath.Base(name), "batchwright-rehearse") {
		wanted[1] = "pkg:golang/github.com/batchwright/batchwright@" + bom.Metadata.Component.Version
	}
	for _, u := range wanted {
		if !found[u] {
			t.Errorf("%s lacks %s", name, u)
		}
	}
}

// checkPages lets groff read the pages of the manual, if it is installed, and fails at
// each warning.
func checkPages(t *testing.T, files map[string][]byte) map[string]string {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff is not installed: nothing has read the manual")
	}
	printed := map[string]string{}
	for name, content := range files {
		if err != nil || filepath.Ext(name) != ".1" {
			continue
		}
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-P-cbou")
		cmd.Stdin = bytes.NewReader(content)
		var messages bytes.Buffer
		cmd.Stderr = &messages
		text, err := cmd.Output()
		if err != nil || messages.Len() > 0 {
			t.Errorf("%s: %v\n%s", name, err, &messages)
		}
		printed[filepath.Base(name)] = string(text)
	}
	return printed
}

// TestImage checks that the recipe of the image copies files that the archive of Linux
// contains, and begins with nothing unless its user names a base.
func TestImage(t *testing.T) {
	content, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	dir := newStandIn(t)
	bash(t, dir, "git tag v1.2.3")
	o := releaseOf(t, dir)
	if err := release(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	name := "batchwright_v1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	files := readTar(t, filepath.Join(o.output, name+".tar.gz"))
	const prefix = "batchwright_${VERSION}_linux_${TARGETARCH}"
	if !strings.Contains(string(content), "\nADD "+prefix+".tar.gz /\n") {
		t.Error("the archive is not added")
	}
	copied := regexp.MustCompile(` /`+regexp.QuoteMeta(prefix)+`/(\S+)`).FindAllStringSubmatch(string(content), -1)
	if len(copied) != 4 {
		t.Errorf("%d files are copied, want 4", len(copied))
	}
	for _, m := range copied {
		if _, ok := files[name+"/"+m[1]]; !ok {
			t.Errorf("%s is not in the archive", m[1])
		}
	}
	for _, line := range []string{"ARG BASE=scratch", "FROM scratch AS archive", "FROM ${BASE}", "USER 65532:65532"} {
		if !strings.Contains(string(content), "\n"+line+"\n") {
			t.Errorf("%q is missing", line)
		}
	}
}

// TestVerify builds a release twice, with different build caches.
func TestVerify(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a part of Go's library")
	}
	dir := newStandIn(t)
	bash(t, dir, "git tag v1.2.3")
	o := releaseOf(t, dir)
	var log bytes.Buffer
	o.verify, o.programs, o.log = true, o.programs[:1], &log
	if err := release(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "both builds are equal") {
		t.Errorf("nothing was compared:\n%s", &log)
	}
	if left := namesIn(t, filepath.Dir(o.output)); !slices.Equal(left, []string{"v1.2.3"}) {
		t.Errorf("%q are left over", left)
	}
}

// TestRefused checks that nothing is released, and no file is left, unless the
// repository is clean, the version is one, its tag is at HEAD, and everything builds.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		prepare string // a script in the repository
		change  func(*options)
		want    string
	}{
		"no tag":           {"true", nil, "there is no tag v1.2.3: type git tag v1.2.3"},
		"a branch, no tag": {"git branch v1.2.3", nil, "there is no tag v1.2.3"},
		"a tag elsewhere": {
			"git tag v1.2.3; git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m later", nil,
			"check out the tag",
		},
		"a changed file":   {"git tag v1.2.3; echo >> README.md", nil, "not clean: commit or remove\nM README.md"},
		"an unknown file":  {"git tag v1.2.3; touch new.go", nil, "not clean: commit or remove\n?? new.go"},
		"all at once":      {"touch new.go", nil, "new.go\nthere is no tag v1.2.3"},
		"no version":       {"git tag 1.2.3", func(o *options) { o.version = "1.2.3" }, "want a semantic version"},
		"an empty version": {"true", func(o *options) { o.version = "" }, "make release VERSION="},
		"two numbers":      {"git tag v1.2", func(o *options) { o.version = "v1.2" }, "want v1.2.0"},
		"build metadata":   {"git tag v1.2.3+a", func(o *options) { o.version += "+a" }, "no build metadata"},
		"no repository":    {"true", func(o *options) { o.repository = os.TempDir() }, "not a git repository"},
		"a module of another major version": {
			"git tag v2.0.0", func(o *options) { o.version = "v2.0.0" }, `has version "v0.0.0-`,
		},
		"a program that does not build": {
			"echo x >> rehearse/cmd/batchwright-rehearse/main.go; git commit -qam x; git tag v1.2.3", nil,
			"syntax error",
		},
		"another Go": {
			"echo 'toolchain go1.26.1' > t; sed -i.bak '/^toolchain/d' release/go.mod; cat t >> release/go.mod; " +
				"rm t release/go.mod.bak; git commit -qam x; git tag v1.2.3",
			nil, "set GOTOOLCHAIN=go1.26.1",
		},
		"no manual": {
			"sed -i.bak 's/\"batchwright.1\", \"batchwright-compile.1\"//' cmd/batchwright/main.go; " +
				"rm cmd/batchwright/*.bak; git commit -qam x; git tag v1.2.3",
			nil, "the program has written no pages of the manual",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newStandIn(t)
			bash(t, dir, "git config user.name a; git config user.email a@example.com; "+test.prepare)
			o := releaseOf(t, dir)
			if test.change != nil {
				test.change(&o)
			}
			err := release(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if left := namesIn(t, filepath.Dir(o.output)); len(left) > 0 {
				t.Errorf("%q are left over", left)
			}
		})
	}
	for _, list := range []string{"", "plan9/amd64", "windows/arm64"} {
		if _, err := parsePlatforms(list); err == nil {
			t.Errorf("platforms %q are accepted", list)
		}
	}
}

// TestCompareReleases checks that a difference of one byte, and a file that is missing,
// are found.
func TestCompareReleases(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for dir, files := range map[string]map[string][]byte{
		a: {"same": []byte("1"), "other": []byte("12"), "first": nil},
		b: {"same": []byte("1"), "other": []byte("13"), "second": nil},
	} {
		write(t, filepath.Join(dir, "checksums.txt"), string(checksums(files)))
	}
	if err := compareReleases(a, b); err == nil || err.Error() != "two builds differ in first, other, second" {
		t.Errorf("got %v", err)
	}
	if err := compareReleases(a, a); err != nil {
		t.Error(err)
	}
}

// TestReproducible releases the files of this working tree from two clones, and
// compares every byte. To build also the scheduler for rehearsals takes minutes: set
// RELEASE_ALL for it.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds batchwright")
	}
	repository := t.TempDir()
	bash(t, "..", `git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do if [ -f "$file" ]; then printf '%s\0' "$file"; fi; done |
		tar --null --files-from - --create | tar --extract --directory '`+repository+`'`)
	commit(t, repository)
	bash(t, repository, "git tag v1.2.3")
	var outputs []string
	for _, name := range []string{"a", "a-longer-name"} {
		clone := filepath.Join(t.TempDir(), name)
		bash(t, repository, "git clone -q . "+clone)
		o := releaseOf(t, clone)
		if os.Getenv("RELEASE_ALL") == "" {
			o.programs = o.programs[:1]
		}
		if err := release(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, o.output)
	}
	if err := compareReleases(outputs[0], outputs[1]); err != nil {
		t.Error(err)
	}
	here := "batchwright_v1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	required := strings.TrimSpace(bash(t, "..", "go list -m -f '{{.Path}}@{{.Version}}' golang.org/x/mod"))
	checkBill(t, filepath.Join(outputs[0], here+".cdx.json"), required)
	bash(t, outputs[0], "tar -xzf "+here+".tar.gz")
	for _, command := range []string{"version", "--version"} {
		got := bash(t, filepath.Join(outputs[0], here), "./batchwright "+command)
		want := "batchwright v1.2.3 "
		if !strings.HasPrefix(got, want) || strings.Contains(got, "modified") {
			t.Errorf("%s prints %q", command, got)
		}
	}
	if here == "batchwright_v1.2.3_linux_amd64" {
		checkPinned(t, outputs[0], here)
	}
	files := readTar(t, filepath.Join(outputs[0], here+".tar.gz"))
	for name, text := range checkPages(t, files) {
		if !strings.Contains(text, "-h, --help") {
			t.Errorf("%s does not describe its flags:\n%s", name, text)
		}
	}
}

// checkPinned checks that the released program pins its own archive in the workflow
// that it writes.
func checkPinned(t *testing.T, dir, name string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	for ci, file := range map[string]string{
		"github": ".github/workflows/batchwright.yml", "gitlab": ".gitlab-ci.yml", "cloudbuild": "cloudbuild.yaml",
	} {
		bash(t, dir, name+"/batchwright init --from batch-platform --ci "+ci+" --checksums checksums.txt "+ci+" 2>&1")
		text, err := os.ReadFile(filepath.Join(dir, ci, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"BATCHWRIGHT_REF: v1.2.3\n", "BATCHWRIGHT_SHA256: \"" + sum + "\"\n"} {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s lacks %q", file, line)
			}
		}
	}
	got := bash(t, dir, "echo "+sum+"  another.tar.gz | "+name+
		"/batchwright init --from batch-platform --checksums - wrong 2>&1 || test $? = 2; test ! -e wrong")
	if !strings.Contains(got, name+".tar.gz; want") {
		t.Errorf("other checksums: %s", got)
	}
}
