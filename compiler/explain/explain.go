// Package explain holds a text for every code a finding can have: what would
// happen on the cluster, what to do about it, and an example of the mistake
// and of its cure.
//
// A text is one file, CODE.txtar. Its comment is the prose, laid out as it is
// printed, then a "Source: " line for everything it rests on. Two members show
// the mistake and the cure: failing.cue and fixed.cue, or .yaml, are the part
// of a blueprint that matters, laid over testdata/base.txtar by the test;
// failing.console and fixed.console are commands, run one after the other in a
// directory that holds a blueprint. No example is there that no test runs.
package explain

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed *.txtar
var files embed.FS

// Text explains a code. Every string is whole lines, each ending in a line
// feed; none is empty.
type Text struct {
	// Why says what would happen if it were applied all the same, and what to
	// do. Empty lines part its paragraphs.
	Why string
	// Sources name where the facts come from, without line feeds.
	Sources []string
	// Language is that of the examples: "cue", "yaml", or "console" for
	// commands, each after "$ ".
	Language string
	// Failing is the mistake, and Fixed its cure.
	Failing, Fixed string
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
		return Text{}, fmt.Errorf("want prose, an empty line, then lines that begin with Source:")
	}
	text := Text{Why: why + "\n", Sources: strings.Split(strings.TrimSpace(sources), "\nSource: ")}
	if len(archive.Files) != 2 {
		return Text{}, fmt.Errorf("%d examples, want failing and fixed", len(archive.Files))
	}
	failing, fixed := archive.Files[0], archive.Files[1]
	text.Language = strings.TrimPrefix(path.Ext(failing.Name), ".")
	if !slices.Contains([]string{"cue", "yaml", "console"}, text.Language) || failing.Name != "failing."+text.Language || fixed.Name != "fixed."+text.Language {
		return Text{}, fmt.Errorf("examples %s and %s, want failing and fixed in .cue, .yaml or .console", failing.Name, fixed.Name)
	}
	text.Failing, text.Fixed = string(failing.Data), string(fixed.Data)
	return text, nil
}
