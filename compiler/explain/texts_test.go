package explain

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cuelang.org/go/cue/format"
	"github.com/google/go-cmp/cmp"
)

// authorities are the beginnings of the sources that a text may name; "batchwright"
// stands for conventions of our own.
var authorities = []string{
	"Argo CD documentation, ",
	"batchwright, ",
	"Cloud Foundation Fabric, ",
	"Cluster Toolkit, ",
	"Cloud Storage FUSE CSI driver, ",
	"Config Sync documentation, ",
	"Compute Engine documentation, ",
	"CUE language specification, ",
	"Flux documentation, ",
	"gcpdiag, ",
	"GKE cluster autoscaler, ",
	"GKE documentation, ",
	"Go documentation, ",
	"Google Cloud documentation, ",
	"JobSet 0.12, CHANGELOG/",
	"JobSet 0.12, config/",
	"JobSet issues, ",
	"JobSet v1alpha2 API, ",
	"KAI Scheduler 0.12, pkg/",
	"KAI Scheduler chart, ",
	"KAI Scheduler documentation, ",
	"KAI Scheduler issues, ",
	"Kubernetes autoscaler, ",
	"Kubernetes documentation, ",
	"Kueue documentation, ",
	"Kueue 0.19, CHANGELOG/",
	"Kueue 0.19, config/",
	"Kueue 0.19, pkg/",
	"Kueue Configuration v1beta2 API, ",
	"Kueue v1beta2 API, ",
	"Managed Service for Prometheus, ",
	"MySQL Reference Manual, ",
	"Terraform documentation, ",
	"Terraform google provider, ",
	"YAML specification, ",
	"POSIX.1-2017, ",
	"RFC 3986, ",
	"RFC 7515, ",
	"cryptnono issues, ",
	"curl manual, ",
	"detect-secrets, ",
	"gitleaks, config/",
	"VPC documentation, ",
}

// TestLayout: texts are printed as they are written, examples behind a margin.
func TestLayout(t *testing.T) {
	const columns, margin = 80, 4
	for _, code := range Codes() {
		text := lookupText(t, code)
		checkLines(t, code, text.Why, columns)
		for _, example := range []string{text.Failing, text.Fixed, text.Accepted} {
			checkLines(t, code, example, columns-margin)
			if formatted, err := format.Source([]byte(example)); text.Language == "cue" && example != "" &&
				err == nil && string(formatted) != example {
				t.Errorf("%s: an example is not formatted:\n%s", code, cmp.Diff(string(formatted), example))
			}
		}
		if !slices.Contains([]string{"cue", "yaml", "console"}, text.Language) {
			t.Errorf("%s: examples in %q", code, text.Language)
		}
	}
}

// checkLines reports lines that are too long or end in a space.
func checkLines(t *testing.T, code, text string, most int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		if n := utf8.RuneCountInString(line); n > most || strings.TrimRight(line, " ") != line {
			t.Errorf("%s: a line of %d columns, of at most %d, or with spaces at its end: %s", code, n, most, line)
		}
	}
}

// TestProse: every text says something of its own, and what it rests on.
func TestProse(t *testing.T) {
	const telling = 25 // characters; shorter sentences may come again
	said := map[string]string{}
	for _, code := range Codes() {
		text := lookupText(t, code)
		prose := strings.Join(strings.Fields(text.Why), " ")
		sentences := regexp.MustCompile(`[.?!:] `).Split(prose, -1)
		if len(sentences) < 2 || !strings.HasSuffix(prose, ".") {
			t.Errorf("%s: want two sentences at least, and a full stop at the end", code)
		}
		for _, s := range sentences {
			if other, again := said[s]; again && len(s) > telling {
				t.Errorf("%s says as %s does: %s", code, other, s)
			}
			said[s] = code
		}
		for _, s := range text.Sources {
			if !slices.ContainsFunc(authorities, func(a string) bool { return strings.HasPrefix(s, a) }) {
				t.Errorf("%s: source %q begins with none of authorities, which this file lists", code, s)
			}
		}
		for _, other := range regexp.MustCompile(`\b[EWN][0-9]{4}\b`).FindAllString(text.Why, -1) {
			if _, ok := Lookup(other); !ok {
				t.Errorf("%s speaks of %s, which does not exist", code, other)
			}
		}
	}
}

// ownTexts are the texts without a link, by the reason: they speak only of batchwright.
func ownTexts() map[string][]string {
	return map[string][]string{
		"the files that batchwright reads, and its limits": {"E0001", "E0002", "E0007", "E0009", "W0006", "W0118"},
		"labels of a namespace":                            {"E0255"},
		"what the folder of a GitOps tool names":           {"E0722"},
		"the language of the blueprint": {
			"E0102", "E0202", "E0211", "E0213", "E0303", "E0306", "E0431", "E0432", "E0434", "E0435", "E0604", "E1102",
			"N0109", "W0203", "W0212", "W0242",
		},
		"the names and accounts that batchwright makes":          {"E0207", "E0220", "E0224"},
		"nodes and namespaces that batchwright leaves to others": {"E0430", "E0437"},
		"the policies that batchwright writes":                   {"E0436", "W0439", "E0803", "E0811"},
		"the script that performs the demonstration":             {"E0870", "W0872"},
		"the rehearsals that batchwright plays": {
			"E0880", "E0881", "E0882", "E0883", "E0884", "E0885", "E0886", "E0887", "W0888", "W0889", "W0890",
			"E0891", "E0892", "E0893", "E0894", "E0897", "E0898", "W0899",
		},
		"the exports that batchwright imports": {
			"E0920", "E0921", "E0922", "E0923", "E0924", "W0925", "W0926", "E0929", "W0930",
		},
		"the folder that batchwright writes": {"E0901", "E0902", "E0903", "E0904", "E0905", "E0906", "E0907"},
		"the user's own file of prices": {
			"E0910", "E0911", "E0912", "E0913", "E0914", "E0915", "E0916", "W0917",
		},
		"the checksums that batchwright knows": {"N0862"},
	}
}

// TestLinks: a text that rests on an outside fact links to public documentation, and
// every link is used.
func TestLinks(t *testing.T) {
	own := map[string]bool{}
	for _, codes := range ownTexts() {
		for _, code := range codes {
			own[code] = true
		}
	}
	used := map[link]bool{}
	for _, code := range Codes() {
		linked := false
		for _, s := range lookupText(t, code).Sources {
			hasLink := regexp.MustCompile(`https://[a-z0-9.-]+/\S+`).MatchString(s)
			if !hasLink && !strings.HasPrefix(s, "batchwright, ") {
				t.Errorf("%s: the source %q has no link: write one behind it, or a row in links.jsonl", code, s)
			}
			linked = linked || hasLink
			used[linkOf(s)] = true
		}
		if linked == own[code] {
			t.Errorf("%s has a link: %v, and is listed in ownTexts: %v", code, linked, own[code])
		}
		delete(own, code)
	}
	for code := range own {
		t.Errorf("ownTexts lists %s, which does not exist", code)
	}
	for i, l := range allLinks() {
		if !strings.HasPrefix(l.URL, "https://") || l.Source == "" {
			t.Errorf("line %d of links.jsonl is not complete: %+v", i+1, l)
		}
		if !used[l] {
			t.Errorf("no text has a source that begins with %q", l.Source)
		}
	}
	if !slices.IsSortedFunc(allLinks(), func(a, b link) int { return strings.Compare(a.Source, b.Source) }) {
		t.Error("links.jsonl is not sorted by source")
	}
}

func lookupText(t *testing.T, code string) Text {
	t.Helper()
	content, err := files.ReadFile(code + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	text, err := parseText(content)
	if err != nil {
		t.Fatalf("%s.txtar: %v", code, err)
	}
	return text
}
