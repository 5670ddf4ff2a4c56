package explain

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed links.jsonl
var linksFile string

// link is the place of a source on the web.
type link struct {
	Source string `json:"source"` // beginning of the sources that it belongs to
	URL    string `json:"url"`
}

// allLinks returns the rows of links.jsonl.
var allLinks = sync.OnceValue(func() []link {
	var all []link
	for line := range strings.Lines(linksFile) {
		var l link
		_ = json.Unmarshal([]byte(line), &l) // the package's test reads every row
		all = append(all, l)
	}
	return all
})

// linkOf returns the link with the longest beginning of a source.
func linkOf(source string) link {
	var best link
	for _, l := range allLinks() {
		if strings.HasPrefix(source, l.Source) && len(l.Source) > len(best.Source) {
			best = l
		}
	}
	return best
}

// addLink returns a source with its link at its end, unless it has a link already or has
// none.
func addLink(source string) string {
	if l := linkOf(source); l.URL != "" && !strings.Contains(source, "https://") {
		return source + ": " + l.URL
	}
	return source
}
