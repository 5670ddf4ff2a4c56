package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is the address of the repository's files. Links to files without a page lead there.
const source = "https://github.com/batchwright/batchwright/blob/main/"

// topPages are the pages of the repository outside docs/.
var topPages = []string{"CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}

// link is an entry of the site's sidebar. A group has items and no link.
type link struct {
	Text      string `json:"text"`
	Link      string `json:"link,omitempty"`
	Items     []link `json:"items,omitempty"`
	Collapsed bool   `json:"collapsed,omitempty"`
}

// lay writes the pages, their pictures and sidebar.json into a directory.
func lay(p program, repository, dir string) error {
	pages, err := readPages(repository)
	if err != nil {
		return err
	}
	sidebar := order(pages["docs/README.md"])
	for name, text := range pages {
		if err := writePage(dir, sitePath(name), moveLinks(pages, name, text)); err != nil {
			return err
		}
	}
	if err := copyInto(filepath.Join(dir, "public/pictures"), filepath.Join(repository, "docs/pictures")); err != nil {
		return err
	}
	if err := copyInto(dir, filepath.Join(repository, "docs/site/vitepress")); err != nil {
		return err
	}
	generated, err := reference(p)
	if err != nil {
		return err
	}
	for _, page := range generated {
		if err := writePage(dir, page.path, page.text); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(append(sidebar, sections(generated)...), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sidebar.json"), text, 0o666)
}

// readPages returns the pages of the repository by their paths.
func readPages(repository string) (map[string]string, error) {
	names, err := filepath.Glob(filepath.Join(repository, "docs/*.md"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no pages in %s/docs: %w", repository, err)
	}
	for _, name := range topPages {
		names = append(names, filepath.Join(repository, name))
	}
	pages := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		inside, err := filepath.Rel(repository, name)
		if err != nil {
			return nil, err
		}
		pages[filepath.ToSlash(inside)] = string(text)
	}
	return pages, nil
}

// sitePath returns where the site has a page of the repository.
func sitePath(page string) string {
	if page == "docs/README.md" {
		return "guide.md"
	}
	return strings.ToLower(path.Base(page))
}

// row is a row of a table of docs/README.md with its links, and pageLink one of them.
var (
	row      = regexp.MustCompile(`^\| (\[.*?) \|`)
	pageLink = regexp.MustCompile(`\[([^\]]+)\]\(([^)#]+\.md)[^)]*\)`)
)

// order returns the sidebar that docs/README.md describes: a group for each heading, with the
// pages that its table links in the first column.
func order(contents string) []link {
	sidebar := []link{{Text: "Contents", Link: "/guide"}}
	for line := range strings.Lines(contents) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			sidebar = append(sidebar, link{Text: strings.TrimSpace(heading)})
			continue
		}
		group := &sidebar[len(sidebar)-1]
		if cell := row.FindStringSubmatch(line); cell != nil {
			for _, l := range pageLink.FindAllStringSubmatch(cell[1], -1) {
				text := strings.ToUpper(l[1][:1]) + l[1][1:]
				page := strings.TrimSuffix(sitePath(path.Join("docs", l[2])), ".md")
				group.Items = append(group.Items, link{Text: text, Link: "/" + page})
			}
		}
	}
	return slices.DeleteFunc(sidebar, func(l link) bool { return l.Link == "" && len(l.Items) == 0 })
}

// reference lists a link in Markdown, and the source of a picture in HTML.
var linkTarget = regexp.MustCompile(`(\]\(|src=")([^)"\s]+)`)

// moveLinks changes the links of a page for the site: to other pages, to pictures, and to files
// of the repository that the site does not have.
func moveLinks(pages map[string]string, page, text string) string {
	var out strings.Builder
	inCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inCode = !inCode
		}
		if !inCode {
			line = linkTarget.ReplaceAllStringFunc(line, func(found string) string {
				m := linkTarget.FindStringSubmatch(found)
				return m[1] + moveLink(pages, page, m[2])
			})
		}
		out.WriteString(line)
	}
	return out.String()
}

func moveLink(pages map[string]string, page, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "#") || strings.HasPrefix(target, "mailto:") {
		return target
	}
	file, anchor, hasAnchor := strings.Cut(target, "#")
	if hasAnchor {
		anchor = "#" + anchor
	}
	file = path.Join(path.Dir(page), file)
	switch _, isPage := pages[file]; {
	case isPage:
		return "/" + sitePath(file) + anchor
	case strings.HasPrefix(file, "docs/pictures/"):
		return "/pictures/" + path.Base(file)
	}
	return source + file + anchor
}

// copyInto copies the files of a directory into another one.
func copyInto(dir, from string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		return writePage(dir, name, string(text))
	})
}

func writePage(dir, name, text string) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// sections returns the sidebar of the generated pages, a group for each kind.
func sections(pages []page) []link {
	groups := map[string][]link{}
	for _, p := range pages {
		if p.section != "" {
			l := link{Text: p.title, Link: "/" + strings.TrimSuffix(p.path, ".md")}
			groups[p.section] = append(groups[p.section], l)
		}
	}
	var out []link
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, link{Text: name, Items: groups[name], Collapsed: true})
	}
	return out
}
