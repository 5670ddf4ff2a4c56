// Package pictures measures what a reader would see in a browser: the pictures of a platform,
// which Mermaid itself draws, and the comments on pull requests, as GitHub renders them.
package pictures

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// npmPackage is a release of a package in the npm registry.
type npmPackage struct {
	name, version string
	sha512        string // of the archive, in base64
}

// releases are the releases of Mermaid that draw the pictures. A site decides itself which
// release it uses, and gives no notice: GitLab 10.7 (gitlab-org/gitlab, issue 554889),
// GitHub 11 at least. 11.17.2 is the last one that lays flowcharts out with dagre by
// default, and 12 uses ELK and a new look. A site prints its release if it draws the
// picture "info".
var releases = []npmPackage{
	{"mermaid", "10.7.0", "PsvGupPCkN1vemAAjScyw4pw34p4/0dZkSrqvAB26hUvJulOWGIwt35FZWmT9wPIi4r0QLa5X0PB4YLIGn0/YQ=="},
	{"mermaid", "11.17.2", "V6K3C8EBdEsPFZXSKMJe6ppQOENxuHARr9GvHX4hh47lAbhMRD9qf4oEK7LoaRQxULMa80/qt5gHO73aCleBBg=="},
	{"mermaid", "12.3.0", "4113TdXeLAsMruJ79OpFL5O8+LTFXhQqZ260rF3tgUmiNAtRm4Uume04I+65PRN6yZ69J4f8rVYWW8zRk65UYw=="},
}

// script is the file of a release that a page loads. It contains all that Mermaid
// needs, so that no other package is installed.
const script = "package/dist/mermaid.min.js"

// root is the repository of batchwright.
const root = "../.."

// loadFile returns the content of a file of a package. It gets the package from the npm
// registry once, and keeps the file in bin/.
func loadFile(t *testing.T, p npmPackage, file string) []byte {
	t.Helper()
	bin := filepath.Join(root, "bin")
	kept := filepath.Join(bin, p.name+"-"+p.version+path.Ext(file))
	if content, err := os.ReadFile(kept); err == nil {
		return content
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skipf("npm is not installed: %s cannot be had", p.name)
	}
	dir := t.TempDir()
	cmd := exec.Command(npm, "pack", "--silent", p.name+"@"+p.version)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm pack: %v\n%s", err, out)
	}
	packed, err := os.ReadFile(filepath.Join(dir, p.name+"-"+p.version+".tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha512.Sum512(packed); base64.StdEncoding.EncodeToString(sum[:]) != p.sha512 {
		t.Fatalf("%s %s of the npm registry is another: its SHA-512 is %x", p.name, p.version, sum)
	}
	content, err := readPacked(packed, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	// A name of its own until the file is complete: another run may look for it.
	part := filepath.Join(bin, fmt.Sprintf(".%s-%s-%d", p.name, p.version, os.Getpid()))
	if err := os.WriteFile(part, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part, kept); err != nil {
		t.Fatal(err)
	}
	return content
}

// readPacked returns a file of a gzipped tar archive.
func readPacked(packed []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the package has no %s", name)
		}
		if err != nil {
			return nil, err
		}
		if header.Name == name {
			return io.ReadAll(archive)
		}
	}
}

// findBrowser returns the path of a browser, or skips the test.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("Chromium is not installed: nothing was drawn")
	return ""
}

// measured are the measurements of a drawing, as page.html makes them.
type measured struct {
	Error  string
	Size   box
	Groups []shape
	Nodes  []shape
	Arrows []string // the color of each
}

// shape is a node or a group of a drawing.
type shape struct {
	ID    string
	Box   box
	Label struct {
		Box         box
		Text, Color string
	}
}

// box is a rectangle, in pixels of the screen.
type box struct{ Left, Top, Right, Bottom float64 }

var resultElement = regexp.MustCompile(`(?s)<pre id="measured" hidden="">(.+?)</pre>`)

// drawAll draws pictures in a theme, "light" or "dark", and measures them.
func drawAll(t *testing.T, browser string, release npmPackage, theme string, sources []string) []measured {
	t.Helper()
	files := pageFiles(t, "page.html", map[string]any{"theme": theme, "pictures": sources})
	files["mermaid.js"] = loadFile(t, release, script)
	results := measurePage[measured](t, browser, files)
	if len(results) != len(sources) {
		t.Fatalf("%d of %d pictures were drawn", len(results), len(sources))
	}
	return results
}

// pageFiles returns the files of a page: page.html, and input.js, which defines its input.
func pageFiles(t *testing.T, page string, input any) map[string][]byte {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"page.html": content, "input.js": append([]byte("const input = "), encoded...)}
}

// measurePage returns the measurements that a page has written into itself.
func measurePage[T any](t *testing.T, browser string, files map[string][]byte) []T {
	t.Helper()
	return readMeasured[T](t, openPage(t, browser, files, "--virtual-time-budget=600000", "--dump-dom"))
}

// readMeasured returns the measurements in a page.
func readMeasured[T any](t *testing.T, dom []byte) []T {
	t.Helper()
	found := resultElement.FindSubmatch(dom)
	if found == nil {
		t.Fatalf("the page did not finish\n%s", dom)
	}
	var results []T
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// openPage opens page.html, which is among the files, and returns what the browser prints.
func openPage(t *testing.T, browser string, files map[string][]byte, options ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return browse(t, browser, "file://"+filepath.Join(dir, "page.html"), options...)
}

// browse opens an address, and returns what the browser prints.
func browse(t *testing.T, browser, address string, options ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	args := append([]string{
		"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir(),
	}, options...)
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium has no sandbox for root
	}
	cmd := exec.CommandContext(ctx, browser, append(args, address)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, &stderr)
	}
	return out
}
