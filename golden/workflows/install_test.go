package workflows_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// The parts of a release that workflows install.
const (
	releaseTag  = "v1.2.3"
	releaseName = "batchwright_v1.2.3_linux_amd64"
	released    = "released"
)

// releaseArchive returns an archive in the form of a release. Its programs print
// released.
func releaseArchive(t *testing.T) []byte {
	t.Helper()
	var content bytes.Buffer
	compressed := gzip.NewWriter(&content)
	archive := tar.NewWriter(compressed)
	for _, name := range []string{"LICENSE", "batchwright", "batchwright-rehearse", "man/man1/batchwright.1"} {
		text := "#!/bin/bash\necho " + released + "\n"
		header := &tar.Header{Name: releaseName + "/" + name, Size: int64(len(text)), Mode: 0o755}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// newReleaseServer serves the archive at the path that GitHub gives the files of a
// release; an empty archive is missing.
func newReleaseServer(t *testing.T, archive []byte) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/o/batchwright/releases/download/"+releaseTag+"/"+releaseName+".tar.gz" && len(archive) > 0:
			// GitHub answers with the address of its storage.
			http.Redirect(w, r, "/storage", http.StatusFound)
		case r.URL.Path == "/storage":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// newInstallRun returns a run whose batchwright is only what a script installs. Its go
// records every call.
func newInstallRun(t *testing.T, repository string, env map[string]string) *run {
	t.Helper()
	r := newRun(t, nil)
	if err := os.Remove(r.runPath("bin/batchwright")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, r.runPath("bin/apt-get"), "#!/bin/bash\n")
	r.env["TMPDIR"] = t.TempDir()
	r.env["BATCHWRIGHT_REPOSITORY"], r.env["BATCHWRIGHT_REF"] = repository, releaseTag
	for name, value := range env {
		r.env[name] = value
	}
	for _, name := range []string{"REPOSITORY", "REF", "SHA256"} {
		r.env["_BATCHWRIGHT_"+name] = r.env["BATCHWRIGHT_"+name]
	}
	r.env["_REHEARSE"] = r.env["REHEARSE"]
	return r
}

// TestInstall runs the lines of each template that install batchwright, against a
// server of releases. An archive whose checksum is pinned is installed only if it has
// this checksum, and then nothing is built. Without a checksum, batchwright is built
// from source.
func TestInstall(t *testing.T) {
	archive := releaseArchive(t)
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	pinned := func(sum string) map[string]string { return map[string]string{"BATCHWRIGHT_SHA256": sum} }
	rehearses := func(scheduler string) map[string]string {
		return map[string]string{"BATCHWRIGHT_SHA256": sum, "REHEARSE": scheduler}
	}
	for name, test := range map[string]struct {
		archive []byte
		env     map[string]string
		says    string // part of the messages, if the script must fail
		builds  bool
	}{
		"the pinned archive":            {archive: archive, env: pinned(sum)},
		"the checksum in upper case":    {archive: archive, env: pinned(strings.ToUpper(sum))},
		"with rehearsals":               {archive: archive, env: rehearses("kueue")},
		"without a checksum":            {archive: archive, builds: true},
		"without a checksum, no server": {builds: true, env: pinned("")},
		"another archive": {
			archive: append([]byte{}, archive[:len(archive)-1]...), env: pinned(sum),
			says: "FAILED",
		},
		"no archive":          {env: pinned(sum), says: "404"},
		"no SHA-256":          {archive: archive, env: pinned("latest"), says: "no properly formatted"},
		"another algorithm":   {archive: archive, env: pinned(sum[:40]), says: "no properly formatted"},
		"a space as checksum": {archive: archive, env: pinned(" "), says: "no properly formatted"},
		"rehearsals of KAI Scheduler": {
			archive: archive, env: rehearses("kai"),
			says: "releases do not contain KAI Scheduler",
		},
		"another scheduler": {
			archive: archive, env: rehearses("x"),
			says: `REHEARSE must be "kueue", "kai" or ""`,
		},
	} {
		for _, b := range templateBuilders(t) {
			if b.name == "pre-commit" { // it has no checksum
				continue
			}
			t.Run(b.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newInstallRun(t, newReleaseServer(t, test.archive).URL+"/o/batchwright", test.env)
				if test.builds { // the stand-in builds nothing; any repository will do
					r.env["BATCHWRIGHT_REPOSITORY"], r.env["BATCHWRIGHT_REF"] = r.dir, "main"
					r.env["_BATCHWRIGHT_REPOSITORY"], r.env["_BATCHWRIGHT_REF"] = r.dir, "main"
				}
				log, failed := r.runInstall(t, b)
				if failed != (test.says != "") || !strings.Contains(log, test.says) {
					t.Errorf("fails: %t, want %q:\n%s", failed, test.says, log)
				}
				if calls := r.readFile(t, "calls"); strings.Contains(calls, "go build") != test.builds {
					t.Errorf("builds from source: %t, want %t", !test.builds, test.builds)
				}
				for _, program := range []string{"batchwright", "batchwright-rehearse"} {
					content, err := os.ReadFile(r.runPath("bin/" + program))
					installed := err == nil && strings.Contains(string(content), released)
					if want := test.says == "" && !test.builds; installed != want {
						t.Errorf("%s is installed: %t, want %t", program, installed, want)
					}
				}
			})
		}
	}
}

// runInstall runs the scripts that install batchwright, and reports whether one fails.
func (r *run) runInstall(t *testing.T, b builder) (log string, failed bool) {
	t.Helper()
	scripts := b.scripts
	if b.name == "github.yml" { // its steps have conditions
		scripts = nil
		var w workflow
		readYAML(t, templates+"github.yml", &w)
		for _, step := range w.Jobs["review"].Steps {
			condition := "env.BATCHWRIGHT_SHA256 == ''"
			if r.env["BATCHWRIGHT_SHA256"] != "" {
				condition = "env.BATCHWRIGHT_SHA256 != ''"
			}
			if step.If == condition {
				scripts = append(scripts, step.Run)
			}
		}
		if len(scripts) == 0 {
			t.Fatal("no step installs batchwright")
		}
	}
	for _, script := range scripts {
		out, err := r.runBash(script)
		log += out
		if err != nil {
			return log, true
		}
	}
	return log, false
}

// TestInstallBeforeCheckout checks that the GitHub workflow installs batchwright before
// it checks out the files of the pull request, whatever the checksum.
func TestInstallBeforeCheckout(t *testing.T) {
	var w workflow
	readYAML(t, templates+"github.yml", &w)
	installed := map[string]bool{}
	for _, step := range w.Jobs["review"].Steps {
		if strings.HasPrefix(step.Uses, "actions/checkout@") {
			break
		}
		installed[step.If] = installed[step.If] || strings.Contains(step.Run, "GITHUB_PATH")
	}
	for _, condition := range []string{"env.BATCHWRIGHT_SHA256 != ''", "env.BATCHWRIGHT_SHA256 == ''"} {
		if !installed[condition] {
			t.Errorf("if %s, nothing is installed before the checkout", condition)
		}
	}
}

// TestAction runs the script of the action that installs batchwright.
func TestAction(t *testing.T) {
	archive := releaseArchive(t)
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	var action struct {
		Runs struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	readYAML(t, fixture.Path("action.yml"), &action)
	if len(action.Runs.Steps) != 1 || strings.Contains(action.Runs.Steps[0].Run, "${{") {
		t.Fatal("the action must have one step, without an expression in its script")
	}
	for name, test := range map[string]struct {
		env  map[string]string
		says string // part of the messages, if the script must fail
	}{
		"the pinned archive":         {},
		"the checksum in upper case": {env: map[string]string{"SHA256": strings.ToUpper(sum)}},
		"another checksum":           {map[string]string{"SHA256": strings.Repeat("0", 64)}, "has the SHA-256 " + sum},
		"no checksum":                {map[string]string{"SHA256": ""}, `the input "sha256" must be`},
		"two checksums":              {map[string]string{"SHA256": sum + "\n" + sum}, `the input "sha256" must be`},
		"no version":                 {map[string]string{"VERSION": ""}, `the input "version" must be`},
		"a version that is a path":   {map[string]string{"VERSION": "v1/../../x"}, `the input "version" must be`},
		"a version with a command":   {map[string]string{"VERSION": "v1$(touch owned)"}, `the input "version" must be`},
		"no archive":                 {map[string]string{"VERSION": "v1.2.4"}, "404"},
		"no archive for the runner":  {map[string]string{"RUNNER_ARCH": "ARM64"}, "404"},
		"Windows":                    {map[string]string{"RUNNER_OS": "Windows"}, "cannot run on Windows X64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newInstallRun(t, "", map[string]string{
				"VERSION": releaseTag, "SHA256": sum, "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
				"REPOSITORY": newReleaseServer(t, archive).URL + "/o/batchwright",
			})
			for key, value := range test.env {
				r.env[key] = value
			}
			log, err := r.runBash(action.Runs.Steps[0].Run)
			if (err != nil) != (test.says != "") || !strings.Contains(log, test.says) {
				t.Errorf("got %v, want %q:\n%s", err, test.says, log)
			}
			directory := strings.TrimSpace(r.readFile(t, "path"))
			if (directory != "") != (test.says == "") {
				t.Errorf("adds %q to PATH", directory)
			}
			if directory == "" {
				return
			}
			directory = strings.Replace(directory, "TEMP", r.home, 1)
			if out, err := r.runBash(filepath.Join(directory, "batchwright")); err != nil || out != released+"\n" {
				t.Errorf("the program prints %q, %v", out, err)
			}
		})
	}
}

// TestHookInstalled checks that the hooks run the installed batchwright only if it was
// built from the commit of their clone, without changes. Otherwise they build their own.
func TestHookInstalled(t *testing.T) {
	const other = "0123456789012345678901234567890123456789"
	for name, test := range map[string]struct {
		version string // what the installed batchwright prints; COMMIT stands for the commit
		builds  bool
	}{
		"a release of the commit": {version: "batchwright v1.2.3 COMMIT go1.26.8 linux/amd64"},
		"a build of the commit":   {version: "batchwright v1.2.4-0.20260102030405-012345 COMMIT go1.26.8 linux/amd64"},
		"a changed build":         {version: "batchwright v1.2.3 COMMIT (modified) go1.26.8 linux/amd64", builds: true},
		"another commit":          {version: "batchwright v1.2.3 " + other + " go1.26.8 linux/amd64", builds: true},
		"without a commit":        {version: "batchwright v1.2.3 go1.26.8 linux/amd64", builds: true},
		"another program":         {version: "usage: batchwright", builds: true},
		"nothing installed":       {builds: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newInstallRun(t, "", nil)
			clone := t.TempDir()
			hook, err := os.ReadFile(fixture.Path(".pre-commit.sh"))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(clone, ".pre-commit.sh"), string(hook))
			commit, err := r.runBash("cd " + clone +
				" && git init -q && git add -A && git commit -qm hook && git rev-parse HEAD")
			if err != nil {
				t.Fatal(err, commit)
			}
			if test.version != "" {
				line := strings.Replace(test.version, "COMMIT", strings.TrimSpace(commit), 1)
				writeFile(t, r.runPath("bin/batchwright"), "#!/bin/bash\nif [ \"$1\" = version ]; then echo '"+line+
					"'; else echo installed \"$@\"; fi\n")
			}
			// The stand-in for go writes the program to the path after -o.
			writeFile(t, r.runPath("bin/go"), `#!/bin/bash
				printf '#!/bin/bash\necho built "$@"\n' > "$5" && chmod +x "$5"`)
			// git sets these variables for its hooks: the repository of the commit is another.
			r.env["GIT_DIR"], r.env["GIT_INDEX_FILE"] = filepath.Join(r.dir, ".git"), filepath.Join(r.dir, ".git/index")
			want := "installed vet .\n"
			if test.builds {
				want = "built vet .\n"
			}
			for range 2 {
				if out, err := r.runBash(clone + "/.pre-commit.sh vet ."); err != nil || out != want {
					t.Errorf("got %q, %v, want %q", out, err, want)
				}
			}
		})
	}
}
