// Package pulls_test holds twelve pull requests for one platform, and the comment with which
// batchwright reviews each of them.
//
// platform.cue is the platform at the base of every pull request, and prices.csv has the prices
// of its nodes. NAME.md is the comment on the pull request NAME. conformance/pictures renders
// the comments as GitHub does, and measures them.
package pulls_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// pull is a pull request.
type pull struct {
	name string
	// blueprint holds the edits of the blueprint.
	blueprint []edit
	// older holds the edits that turn the folder at the base, by file, into a folder that
	// an older batchwright has written from the same blueprint.
	older map[string]edit
}

// edit replaces a text that occurs once in a file.
type edit struct{ old, new string }

// pulls are the pull requests.
var pulls = []pull{
	{
		// The older version left the local SSDs of H100 nodes to pods as block devices, so this
		// one replaces the nodes, although the blueprint is unchanged.
		name: "upgrade-batchwright",
		older: map[string]edit{"terraform/node_pools.tf": {
			"ephemeral_storage_local_ssd_config {\n      local_ssd_count = 16",
			"local_nvme_ssd_block_config {\n      local_ssd_count = 16",
		}},
	},
	{name: "upgrade-kueue", blueprint: []edit{{`"0.19.2"`, `"0.19.6"`}}},
	{name: "nodes-without-quota", blueprint: []edit{{`nodes: 12`, `nodes: 20`}}},
	{name: "zone", blueprint: []edit{{`zones: ["\(region)-b"]`, `zones: ["\(region)-c"]`}}},
	{name: "machine", blueprint: []edit{{`"g2-standard-24"`, `"g2-standard-48"`}}},
	{name: "reservation", blueprint: []edit{{`"h100-2026"`, `"h100-2027"`}}},
	{name: "namespace", blueprint: []edit{{`namespace: "speech"`, `namespace: "speech-recognition"`}}},
	{name: "preemption", blueprint: []edit{
		{`preempts: toReclaim: "LowerPriority"`, `preempts: {inQueue: "LowerPriority", toReclaim: "Any"}`},
	}},
	{name: "team-removed", blueprint: []edit{{
		"\tads: {\n\t\tcohort: \"products\"\n\t\tquota: batch: \"l4-spot\": {accelerators: 24, borrow: 8}\n\t}\n", "",
	}}},
	{name: "region", blueprint: []edit{{`"europe-west4"`, `"us-central1"`}}},
	{name: "quota", blueprint: []edit{
		{`train: h100: {accelerators: 32, borrow: 16}`, `train: h100: {accelerators: 24, borrow: 16}`},
	}},
	{name: "comment", blueprint: []edit{{`borrows H100s for`, `borrows H100 GPUs for`}}},
}

// TestComments compares the comment on each pull request with its golden. As in a workflow,
// both revisions have the blueprint and the folder that was compiled from it.
func TestComments(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	program := fixture.Batchwright(t)
	start := repository{t, t.TempDir()}
	start.run("git", "init", "-q", "-b", "main")
	start.write("platform.cue", fixture.ReadText(t, "platform.cue"))
	start.run(program, "compile", "-o", "deploy", "platform.cue")
	start.run("git", "add", "--all")

	comments := map[string]bool{}
	for _, p := range pulls {
		comments[p.name+".md"] = true
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			r := repository{t, t.TempDir()}
			if err := os.CopyFS(r.dir, os.DirFS(start.dir)); err != nil {
				t.Fatal(err)
			}
			fixture.CompareFile(t, p.name+".md", p.writeComment(t, program, r))
		})
	}
	goldens, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range goldens {
		if !comments[name] {
			t.Errorf("%s: no pull request has this comment", name)
		}
	}
}

// writeComment commits the pull request in a repository with the blueprint and its folder, and
// returns the comment of the program.
func (p pull) writeComment(t *testing.T, program string, r repository) []byte {
	t.Helper()
	for name, e := range p.older {
		r.rewriteGenerated(name, e)
	}
	r.commit("base")

	blueprint := r.read("platform.cue")
	for _, e := range p.blueprint {
		blueprint = e.apply(t, blueprint)
	}
	r.write("platform.cue", blueprint)
	r.run(program, "compile", "-o", "deploy", "platform.cue")
	r.commit("head")

	prices, err := filepath.Abs("prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	comment := r.run(program, "diff", "--base", "base", "--head", "head", "-o", "deploy", "--prices", prices,
		"--format", "markdown", "platform.cue")
	return compiledBy.ReplaceAll(comment, []byte("Compiled by this batchwright:"))
}

// compiledBy matches the version of the program, which can be a commit.
var compiledBy = regexp.MustCompile(`Compiled by [^:]*batchwright[^:]*:`)

// apply returns the text with the edit.
func (e edit) apply(t *testing.T, text string) string {
	t.Helper()
	if n := strings.Count(text, e.old); n != 1 {
		t.Fatalf("%q occurs %d times, want once", e.old, n)
	}
	return strings.Replace(text, e.old, e.new, 1)
}

// repository is a git repository in a directory.
type repository struct {
	t   *testing.T
	dir string
}

// run runs a program in the repository, and returns its output. It accepts exit code 1, with
// which diff reports differences.
func (r repository) run(program string, args ...string) []byte {
	r.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = r.dir
	// The engine plays sample jobs, as in a workflow with a release.
	path := filepath.Dir(fixture.BatchwrightRehearse(r.t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd.Env = append(os.Environ(), "PATH="+path, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !(errors.As(err, &failed) && failed.ExitCode() == 1 && args[0] == "diff") {
		r.t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, &stderr)
	}
	return out
}

// commit commits all files, and tags the commit.
func (r repository) commit(tag string) {
	r.t.Helper()
	r.run("git", "add", "--all")
	r.run("git", "commit", "-q", "--allow-empty", "-m", tag)
	r.run("git", "tag", tag)
}

// read returns the content of a file.
func (r repository) read(name string) string {
	r.t.Helper()
	return fixture.ReadText(r.t, filepath.Join(r.dir, name))
}

// write writes a file.
func (r repository) write(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// rewriteGenerated edits a file of the deploy folder, and its checksum in the folder's manifest.
func (r repository) rewriteGenerated(name string, e edit) {
	r.t.Helper()
	const manifest = "deploy/.batchwright/manifest.json"
	file := "deploy/" + name
	before := r.read(file)
	after := e.apply(r.t, before)
	r.write(file, after)
	checksums := edit{checksum(before), checksum(after)}
	r.write(manifest, checksums.apply(r.t, r.read(manifest)))
}

// checksum returns the SHA-256 of a text as the manifest has it.
func checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
