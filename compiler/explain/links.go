package explain

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// link is the address of the sources whose names start with Source.
type link struct {
	Source string `json:"source"`
	URL    string `json:"url"`
}

//go:embed links.jsonl
var linkRows string

// readLinks returns the rows of links.jsonl. A test reads every row.
func readLinks() []link {
	var links []link
	for row := range strings.Lines(linkRows) {
		var l link
		if json.Unmarshal([]byte(row), &l) == nil {
			links = append(links, l)
		}
	}
	return links
}

// linkOf returns the address of a source, "" if the source names its address itself, or
// if no row knows it. The row with the longest name decides.
func linkOf(source string, links []link) string {
	if strings.Contains(source, "://") {
		return ""
	}
	var best link
	for _, l := range links {
		if strings.HasPrefix(source, l.Source) && len(l.Source) > len(best.Source) {
			best = l
		}
	}
	return best.URL
}
