package pictures

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sitePages are the pages of the documentation site that TestSite opens: one of each kind.
var sitePages = []string{
	"/", "/guide.html", "/getting-started.html", "/blueprint.html", "/reading-a-review.html",
	"/reference/fields/", "/reference/fields/capacity.html", "/reference/findings/02.html",
	"/reference/commands/diff.html", "/reference/machines/a3.html",
}

// TestSite builds the documentation site with VitePress, which checks the links between pages,
// and opens pages in a browser: at 1280 and 480 pixels no page is wider than the window, each
// has a heading, and all pictures and links of the site exist.
func TestSite(t *testing.T) {
	t.Parallel()
	browser := findBrowser(t)
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed: the site cannot be built")
	}
	if out, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "site").CombinedOutput(); err != nil {
		t.Fatalf("make site: %v\n%s", err, out)
	}
	site := os.DirFS("../../bin/site/dist")
	input, err := json.Marshal(sitePages)
	if err != nil {
		t.Fatal(err)
	}
	measure, err := os.ReadFile("site.html")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(site))
	mux.HandleFunc("/measure", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.Replace(string(measure), "<script>", "<script>\nconst input = "+string(input), 1))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	type page struct {
		Page, Heading string
		Width         int
		Overflow      float64
		Broken, Links []string
	}
	dom := browse(t, browser, server.URL+"/measure", "--virtual-time-budget=600000", "--dump-dom")
	pages := readMeasured[page](t, dom)
	if len(pages) != 2*len(sitePages) {
		t.Errorf("%d of %d pages were measured", len(pages), 2*len(sitePages))
	}
	for _, p := range pages {
		if p.Heading == "" || strings.Contains(p.Heading, "404") {
			t.Errorf("%s at %d pixels has the heading %q", p.Page, p.Width, p.Heading)
		}
		if p.Overflow > 0 {
			t.Errorf("%s is %v pixels wider than the window of %d", p.Page, p.Overflow, p.Width)
		}
		if len(p.Broken) > 0 {
			t.Errorf("%s: pictures that do not load: %v", p.Page, p.Broken)
		}
		for _, l := range p.Links {
			file := strings.TrimPrefix(l, "/")
			if file == "" || strings.HasSuffix(file, "/") {
				file += "index.html"
			}
			if _, err := fs.Stat(site, file); err != nil {
				t.Errorf("%s: the link %s leads nowhere", p.Page, l)
			}
		}
	}
	keepPictures(t, browser, server.URL)
}

// keepPictures writes pictures of pages into $SITE_PICTURES, for a person to look at.
func keepPictures(t *testing.T, browser, address string) {
	t.Helper()
	dir := os.Getenv("SITE_PICTURES")
	if dir == "" {
		return
	}
	for _, page := range sitePages {
		for name, options := range map[string][]string{
			"desktop": {"--window-size=1280,900"},
			"narrow":  {"--window-size=500,900"},
			"dark":    {"--window-size=1280,900", "--blink-settings=preferredColorScheme=0"},
		} {
			file := strings.Trim(strings.ReplaceAll(page, "/", "-"), "-") + "-" + name + ".png"
			browse(t, browser, address+page, append(options, "--hide-scrollbars", "--virtual-time-budget=5000",
				"--screenshot="+filepath.Join(dir, file))...)
		}
	}
}
