// Package explain holds a text for every code that a finding can have: what would
// happen on the cluster, what to do about it, and an example of the mistake and of
// its correction.
//
// A text is one file, CODE.txtar. Its comment is the prose as it is printed,
// followed by a "Source: " line for every source of its facts; links.jsonl holds the
// addresses of sources that a text does not give itself. Two members show the
// mistake and the correction. failing.cue and fixed.cue, or .yaml, are the relevant
// part of a blueprint; the test lays them over testdata/base.txtar. failing.console
// and fixed.console are commands that run one after the other in a directory with a
// blueprint. If a blueprint can accept the finding, accepted.cue is the part to add
// to failing.cue. A test runs every example.
package explain

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed *.txtar
var files embed.FS

// Text explains a code. Every string consists of whole lines, each ending in a line
// feed; only Accepted can be empty.
type Text struct {
	// Why says what would happen if the blueprint were applied with the mistake, and
	// what to do. Empty lines separate its paragraphs.
	Why string `json:"why"`
	// Language is the language of the examples: "cue", "yaml", or "console" for
	// commands, each after "$ ".
	Language string `json:"language"`
	// Failing shows the mistake, and Fixed its correction.
	Failing string `json:"failing"`
	Fixed   string `json:"fixed"`
	// Accepted is the part that accepts the finding if it is added to Failing, "" if
	// the finding cannot be accepted.
	Accepted string `json:"accepted,omitempty"`
	// Sources name the sources of the facts. If a source is public, its last line is
	// the address.
	Sources []string `json:"sources"`
}

// Example is one example of a text, with its heading.
type Example struct{ Heading, Source string }

// Examples returns the examples in reading order.
func (t Text) Examples() []Example {
	all := []Example{{"Causes the finding:", t.Failing}, {"Fixes it:", t.Fixed}}
	if t.Accepted != "" {
		all = append(all, Example{"Accepts it, if it is intended:", t.Accepted})
	}
	return all
}

// Lookup returns the text of a code, such as "E0401", and reports whether there is
// one.
func Lookup(code string) (Text, bool) {
	content, err := files.ReadFile(code + ".txtar")
	if err != nil {
		return Text{}, false
	}
	text, err := parseText(content)
	links := readLinks()
	for i, source := range text.Sources {
		if link := linkOf(source, links); link != "" {
			text.Sources[i] = source + ":\n" + link
		}
	}
	return text, err == nil // the package's test reads every file
}

// Codes returns the codes that have a text, sorted by number.
func Codes() []string {
	entries, _ := files.ReadDir(".") // embedded, so it is there
	var codes []string
	for _, e := range entries {
		codes = append(codes, strings.TrimSuffix(e.Name(), ".txtar"))
	}
	slices.SortFunc(codes, func(a, b string) int { return strings.Compare(a[1:], b[1:]) })
	return codes
}

func parseText(content []byte) (Text, error) {
	archive := txtar.Parse(content)
	why, sources, ok := strings.Cut(string(archive.Comment), "\n\nSource: ")
	if !ok {
		return Text{}, errors.New("want prose, an empty line, then lines of sources")
	}
	text := Text{Why: why + "\n", Sources: strings.Split(strings.TrimSpace(sources), "\nSource: ")}
	for _, f := range archive.Files {
		example, language, _ := strings.Cut(f.Name, ".")
		switch example {
		case "failing":
			text.Failing, text.Language = string(f.Data), language
		case "fixed":
			text.Fixed = string(f.Data)
		case "accepted":
			text.Accepted = string(f.Data)
		default:
			return Text{}, fmt.Errorf("unknown example %s", f.Name)
		}
	}
	if text.Failing == "" || text.Fixed == "" {
		return Text{}, errors.New("want an example of the mistake, and one of its cure")
	}
	return text, nil
}
