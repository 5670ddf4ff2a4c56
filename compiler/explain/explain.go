// Package explain holds a text for every code a finding can have: what would
// happen on the cluster, what to do about it, and an example of the mistake
// and of its cure.
//
// A text is one file, CODE.txtar. Its comment is the prose, laid out as it is
// printed, then a "Source: " line for everything it rests on. Two members show
// the mistake and the cure: failing.cue and fixed.cue, or .yaml, are the part
// of a blueprint that matters, laid over testdata/base.txtar by the test;
// failing.console and fixed.console are commands, run one after the other in a
// directory that holds a blueprint. Where a blueprint can accept the finding,
// accepted.cue is what has to be added to failing.cue. No example is there that
// no test runs.
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

// Text explains a code. Every string is whole lines, each ending in a line
// feed; only Accepted can be empty.
type Text struct {
	// Why says what would happen if it were applied all the same, and what to
	// do. Empty lines part its paragraphs.
	Why string `json:"why"`
	// Language is that of the examples: "cue", "yaml", or "console" for
	// commands, each after "$ ".
	Language string `json:"language"`
	// Failing is the mistake, and Fixed its cure.
	Failing string `json:"failing"`
	Fixed   string `json:"fixed"`
	// Accepted, added to Failing, accepts the finding; "" where that cannot be.
	Accepted string `json:"accepted,omitempty"`
	// Sources name where the facts come from, without line feeds.
	Sources []string `json:"sources"`
}

// Example is one of a text's examples, with what to say before it.
type Example struct{ Heading, Source string }

// Examples returns the examples in the order in which they are to be read.
func (t Text) Examples() []Example {
	all := []Example{{"Leads to it:", t.Failing}, {"Mends it:", t.Fixed}}
	if t.Accepted != "" {
		all = append(all, Example{"Accepts it, where it is meant so:", t.Accepted})
	}
	return all
}

// Lookup returns the text of a code, such as "E0401".
func Lookup(code string) (Text, bool) {
	content, err := files.ReadFile(code + ".txtar")
	if err != nil {
		return Text{}, false
	}
	text, err := parse(content)
	return text, err == nil // the package's test reads every file
}

// Codes returns the codes that have a text, by number.
func Codes() []string {
	entries, _ := files.ReadDir(".") // embedded, so it is there
	var codes []string
	for _, e := range entries {
		codes = append(codes, strings.TrimSuffix(e.Name(), ".txtar"))
	}
	slices.SortFunc(codes, func(a, b string) int { return strings.Compare(a[1:], b[1:]) })
	return codes
}

func parse(content []byte) (Text, error) {
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
