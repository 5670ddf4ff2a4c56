package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestLay checks that every page is in the sidebar, and that every link between pages, also to
// a heading, leads somewhere.
func TestLay(t *testing.T) {
	dir := t.TempDir()
	if err := lay(program(fixture.Batchwright(t)), fixture.Path(), dir); err != nil {
		t.Fatal(err)
	}
	sidebar := fixture.ReadText(t, filepath.Join(dir, "sidebar.json"))
	anchors := map[string]map[string]bool{} // by page
	pages := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		inside, err := filepath.Rel(dir, file)
		name := "/" + filepath.ToSlash(inside)
		pages[name] = fixture.ReadText(t, file)
		anchors[name] = headings(pages[name])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 100 {
		t.Errorf("the site has %d pages only", len(pages))
	}
	for name, text := range pages {
		listed := `"` + strings.TrimSuffix(strings.TrimSuffix(name, ".md"), "index") + `"`
		if name != "/index.md" && !strings.Contains(sidebar, listed) &&
			!strings.Contains(sidebar, `"`+strings.TrimSuffix(name, ".md")+`"`) {
			t.Errorf("%s is not in the sidebar: docs/README.md must list it", name)
		}
		for _, m := range pageTarget.FindAllStringSubmatch(text, -1) {
			target, anchor, hasAnchor := strings.Cut(m[1], "#")
			if target == "" {
				target = name
			}
			switch {
			case strings.HasPrefix(target, "/pictures/"):
				if _, err := os.Stat(filepath.Join(dir, "public", target)); err != nil {
					t.Errorf("%s: no picture %s", name, target)
				}
			case pages[target] == "":
				t.Errorf("%s: no page %s", name, m[1])
			case hasAnchor && !anchors[target][anchor]:
				t.Errorf("%s: %s has no heading #%s", name, target, anchor)
			}
		}
	}
}

// pageTarget is a link to a page, a heading or a picture of the site.
var pageTarget = regexp.MustCompile(`(?:\]\(|src=")([/#][^)"\s]*)`)

// headings returns the anchors of a page, as VitePress makes them of its headings.
func headings(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*?)(?: \{#(.*)\})?$`).FindAllStringSubmatch(text, -1) {
		anchor := m[2]
		if anchor == "" {
			anchor = regexp.MustCompile(`[^a-z0-9_]+`).ReplaceAllString(strings.ToLower(m[1]), "-")
			anchor = strings.Trim(anchor, "-")
		}
		out[anchor] = true
	}
	return out
}

// TestMoveLink checks where the links of a page lead on the site.
func TestMoveLink(t *testing.T) {
	pages := map[string]string{"docs/blueprint.md": "", "docs/README.md": "", "CONTRIBUTING.md": ""}
	for _, test := range []struct{ page, target, want string }{
		{"docs/cost.md", "blueprint.md#tiers", "/blueprint.md#tiers"},
		{"docs/cost.md", "../CONTRIBUTING.md", "/contributing.md"},
		{"CONTRIBUTING.md", "docs/README.md", "/guide.md"},
		{"docs/cost.md", "../blueprints/existing", source + "blueprints/existing"},
		{"docs/cost.md", "pictures/a.png", "/pictures/a.png"},
		{"docs/cost.md", "https://kueue.sigs.k8s.io/docs", "https://kueue.sigs.k8s.io/docs"},
		{"docs/cost.md", "#prices", "#prices"},
	} {
		if got := moveLink(pages, test.page, test.target); got != test.want {
			t.Errorf("on %s, %s leads to %s, want %s", test.page, test.target, got, test.want)
		}
	}
}

// TestEscape checks texts that Markdown or VitePress would read as something else.
func TestEscape(t *testing.T) {
	const text = "a <b> *c* _d_ [e](f) {{g}}"
	const want = `a &lt;b> \*c\* \_d\_ \[e](f) {&#8203;{g}}`
	if got := escape(text); got != want {
		t.Errorf("escape: %s, want %s", got, want)
	}
}
