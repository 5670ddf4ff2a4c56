package diag

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func renderSARIF(t testing.TB, opt SARIFOptions, findings ...Finding) string {
	t.Helper()
	var l List
	for _, f := range findings {
		l.Add(f)
	}
	var b strings.Builder
	if err := WriteSARIF(&b, &l, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteSARIF(t *testing.T) {
	topology := newSource("blueprints/train a.cue", "package train\n\nv5p: {\n    /* 🚀 */ topology: \"2x2x3\"\n}\n")
	opt := SARIFOptions{
		Tool: "tool",
		Codes: []Code{
			{ID: "E0104", Severity: Error, Title: "not one of several"},
			{ID: "W0105", Severity: Warning, Title: "a name"},
		},
		Help: func(code string) (text, markdown string) {
			if code != "W0105" {
				return "", ""
			}
			return "A name like this.\n\nChange it.", "A name like *this*."
		},
	}
	got := renderSARIF(t, opt,
		Finding{
			Code: "E0104", Severity: Error, Path: "v5p.topology", Message: `topology "2x2x3" is not available`,
			Span: spanOf(t, topology, `"2x2x3"`), Label: `want "2x2x2"`, Help: "use \"2x2x2\"\nor less",
			Edits:   []Edit{{spanOf(t, topology, `"2x2x3"`), `"2x2x2"`}},
			Related: []Related{{Span{}, "nowhere"}, {spanOf(t, topology, "v5p"), `of [this] \`}},
		},
		Finding{
			Code: "W0105", Severity: Note, Message: "m", Span: Span{Source: newSource("/abs/ä%.cue", "")},
			Accepted: "as agreed",
		},
	)
	want := `{
  "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {
        "driver": {
          "name": "tool",
          "rules": [
            {
              "id": "E0104",
              "shortDescription": {
                "text": "not one of several"
              },
              "fullDescription": {
                "text": "not one of several"
              },
              "help": {
                "text": "not one of several"
              },
              "defaultConfiguration": {
                "level": "error"
              }
            },
            {
              "id": "W0105",
              "shortDescription": {
                "text": "a name"
              },
              "fullDescription": {
                "text": "A name like this."
              },
              "help": {
                "text": "A name like this.\n\nChange it.",
                "markdown": "A name like *this*."
              },
              "defaultConfiguration": {
                "level": "warning"
              }
            }
          ]
        }
      },
      "originalUriBaseIds": {
        "%SRCROOT%": {
          "description": {
            "text": "The root of the repository."
          }
        }
      },
      "columnKind": "unicodeCodePoints",
      "results": [
        {
          "ruleId": "W0105",
          "ruleIndex": 1,
          "level": "note",
          "message": {
            "text": "m."
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "file:///abs/%C3%A4%25.cue"
                }
              }
            }
          ],
          "partialFingerprints": {
            "finding/v2": "FINGERPRINT:1"
          },
          "suppressions": [
            {
              "kind": "inSource",
              "justification": "as agreed"
            }
          ]
        },
        {
          "ruleId": "E0104",
          "ruleIndex": 0,
          "level": "error",
          "message": {
            "text": "topology \"2x2x3\" is not available: want \"2x2x2\".` +
		`\nhelp: use \"2x2x2\"\nor less\nnote: nowhere\nnote: [of \\[this\\] \\\\](1)"
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "blueprints/train%20a.cue",
                  "uriBaseId": "%SRCROOT%"
                },
                "region": {
                  "startLine": 4,
                  "startColumn": 23,
                  "endLine": 4,
                  "endColumn": 30
                }
              },
              "logicalLocations": [
                {
                  "fullyQualifiedName": "v5p.topology",
                  "kind": "property"
                }
              ]
            }
          ],
          "relatedLocations": [
            {
              "id": 1,
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "blueprints/train%20a.cue",
                  "uriBaseId": "%SRCROOT%"
                },
                "region": {
                  "startLine": 3,
                  "startColumn": 1,
                  "endLine": 3,
                  "endColumn": 4
                }
              },
              "message": {
                "text": "of [this] \\"
              }
            }
          ],
          "partialFingerprints": {
            "finding/v2": "FINGERPRINT:1"
          },
          "fixes": [
            {
              "description": {
                "text": "replace ` + "`\\\"2x2x3\\\"` with `\\\"2x2x2\\\"`" + `"
              },
              "artifactChanges": [
                {
                  "artifactLocation": {
                    "uri": "blueprints/train%20a.cue",
                    "uriBaseId": "%SRCROOT%"
                  },
                  "replacements": [
                    {
                      "deletedRegion": {
                        "startLine": 4,
                        "startColumn": 23,
                        "endLine": 4,
                        "endColumn": 30
                      },
                      "insertedContent": {
                        "text": "\"2x2x2\""
                      }
                    }
                  ]
                }
              ]
            }
          ],
          "suppressions": []
        }
      ]
    }
  ]
}
`
	if diff := cmp.Diff(want, hideFingerprints(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// hideFingerprints writes FINGERPRINT for every hash.
func hideFingerprints(log string) string {
	lines := strings.SplitAfter(log, "\n")
	for i, line := range lines {
		if key, value, ok := strings.Cut(line, `"finding/v2": "`); ok {
			lines[i] = key + `"finding/v2": "FINGERPRINT` + value[16:]
		}
	}
	return strings.Join(lines, "")
}

// readResults reads the results of a log back.
func readResults(t testing.TB, log string) []sarifResult {
	t.Helper()
	var out sarifLog
	d := json.NewDecoder(strings.NewReader(log))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Runs[0].Results
}

// No findings are no results, rather than no list of results, which would mean
// that the check did not run.
func TestWriteSARIFEmpty(t *testing.T) {
	got := renderSARIF(t, SARIFOptions{Tool: "tool"})
	for _, want := range []string{`"results": []`, `"rules": []`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestSARIFPlaces(t *testing.T) {
	tests := map[string]struct {
		span Span
		want sarifPhysical
	}{
		"nowhere": {Span{}, sarifPhysical{Artifact: sarifArtifact{URI: ".", BaseID: sourceRoot}}},
		"a colon": {
			Span{Source: newSource("a:b", "")},
			sarifPhysical{Artifact: sarifArtifact{URI: "./a:b", BaseID: sourceRoot}},
		},
		"hostile": {
			Span{Source: newSource("a?b#c\x1b\xff", "")},
			sarifPhysical{Artifact: sarifArtifact{URI: "a%3Fb%23c%1B%FF", BaseID: sourceRoot}},
		},
		"above": {
			Span{Source: newSource("../a.cue", "")},
			sarifPhysical{Artifact: sarifArtifact{URI: "../a.cue", BaseID: sourceRoot}},
		},
		"standard input": {
			Span{newSource("-", "a: 1"), 3, 4},
			sarifPhysical{sarifArtifact{URI: "-", BaseID: sourceRoot}, &sarifRegion{1, 4, 1, 5}},
		},
		"several lines": {
			Span{newSource("a", "x: {\n}\n"), 3, 6},
			sarifPhysical{sarifArtifact{URI: "a", BaseID: sourceRoot}, &sarifRegion{1, 4, 2, 2}},
		},
		"an empty span": {
			Span{newSource("a", "xyz"), 1, 1},
			sarifPhysical{sarifArtifact{URI: "a", BaseID: sourceRoot}, &sarifRegion{1, 2, 1, 2}},
		},
		"beyond the end": {
			Span{newSource("a", "xyz"), 7, 9},
			sarifPhysical{sarifArtifact{URI: "a", BaseID: sourceRoot}, &sarifRegion{1, 4, 1, 4}},
		},
		"code points only": {
			Span{newSource("a", "e\u0301🚀x"), 7, 8},
			sarifPhysical{sarifArtifact{URI: "a", BaseID: sourceRoot}, &sarifRegion{1, 4, 1, 5}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.span.toLocation()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A fingerprint outlives moved lines and changed figures, and tells apart what
// is not the same.
func TestFingerprints(t *testing.T) {
	fingerprints := func(findings ...Finding) []string {
		var out []string
		for _, r := range readResults(t, renderSARIF(t, SARIFOptions{}, findings...)) {
			out = append(out, r.Fingerprints[fingerprint])
		}
		return out
	}
	a, moved := newSource("a.cue", "x: 1\nx: 2\n"), newSource("a.cue", "\n\nx: 1\nx: 2\n")
	first := func(src *Source) Finding {
		return Finding{Code: "E1", Path: "x", Message: "1 of 2", Span: spanOf(t, src, "1")}
	}
	second := func(src *Source) Finding {
		return Finding{Code: "E1", Path: "x", Message: "2 of 2", Span: spanOf(t, src, "2")}
	}
	changed := first(moved)
	changed.Message = "1 of 3"
	before, after := fingerprints(first(a), second(a)), fingerprints(changed, second(moved))
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("moved: -before +after:\n%s", diff)
	}
	all := append(before, fingerprints(Finding{Code: "E2", Path: "x"})...)
	all = append(all, fingerprints(Finding{Code: "E1", Path: "y"})...)
	all = append(all, fingerprints(Finding{Code: "E1", Message: "m"})...)
	all = append(all, fingerprints(Finding{Code: "E1", Message: "n"})...)
	all = append(all, fingerprints(Finding{Code: "E1", Message: "n", Span: Span{Source: a}})...)
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f] {
			t.Errorf("two findings have the fingerprint %s", f)
		}
		seen[f] = true
	}
}

// The fingerprint of a group stays the same when its texts are worded differently, when
// a number changes, and when another finding is its first. Groups about other names,
// fields or codes have other fingerprints.
func TestGroupFingerprints(t *testing.T) {
	src := newSource("a.cue", strings.Repeat("a\n", 30))
	group := func(code, field, message, help string, from int) string {
		var all []Finding
		for i := from; i < from+5; i++ {
			team := fmt.Sprintf("team-%d", i)
			all = append(all, Finding{
				Code: code, Path: "teams." + team + "." + field, Help: help,
				Message: strings.ReplaceAll(message, "TEAM", team), Span: Span{src, 2 * i, 2*i + 1},
			})
		}
		results := readResults(t, renderSARIF(t, SARIFOptions{}, all...))
		if len(results) != 1 {
			t.Fatalf("%d results, want one group", len(results))
		}
		return results[0].Fingerprints[fingerprint]
	}
	const message = `team "TEAM" has 3 queues in "lp"`
	want := group("E1", "quota", message, "write 4", 0)
	for name, got := range map[string]string{
		"another help":   group("E1", "quota", message, "add quota", 0),
		"another first":  group("E1", "quota", message, "write 4", 2),
		"another number": group("E1", "quota", `team "TEAM" has 5 queues in "lp"`, "write 6", 0),
		"another text":   group("E1", "quota", `there are 3 queues of team "TEAM" in "lp"`, "write 4", 0),
	} {
		if got != want {
			t.Errorf("%s changes the fingerprint from %s to %s", name, want, got)
		}
	}
	for name, got := range map[string]string{
		"code":  group("E2", "quota", message, "write 4", 0),
		"field": group("E1", "cohort", message, "write 4", 0),
		"name":  group("E1", "quota", `team "TEAM" has 3 queues in "hp"`, "write 4", 0),
	} {
		if got == want {
			t.Errorf("a group with another %s has the same fingerprint", name)
		}
	}
}

// What a blueprint holds comes back as it was, and makes no links.
func TestWriteSARIFHostile(t *testing.T) {
	message := "[click](https://example.com) \x1b[31m \u202e \xff </script>"
	log := renderSARIF(t, SARIFOptions{}, Finding{Message: message, Help: "[a](1)\r\n", Label: "](", Accepted: message})
	if strings.ContainsAny(log, "\x1b\u202e\r") || strings.Contains(log, "\xff") {
		t.Errorf("control characters in %q", log)
	}
	got := readResults(t, log)
	want := "[click] (https://example.com) \x1b[31m \u202e \ufffd </script>: ] (.\nhelp: [a] (1)\r\n"
	if len(got) != 1 || got[0].Message.Text != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	if want := strings.ToValidUTF8(message, "\ufffd"); got[0].Suppressions[0].Justification != want {
		t.Errorf("got %q, want %q", got[0].Suppressions[0].Justification, want)
	}
}

// TestWriteSARIFDelta: every result of a comparison has a state, and what is gone is not
// in the log.
func TestWriteSARIFDelta(t *testing.T) {
	delta := Compare(
		listOf("a.cue", 0, `capacity.a|"a" has 4 nodes`, `capacity.b|"b" has 4 nodes`, `capacity.c|"c" has 4 nodes`),
		listOf("a.cue", 5, `capacity.a|"a" has 8 nodes`, `capacity.b|"b" has 4 nodes`, `capacity.d|"d" has 4 nodes`,
			`capacity.e|"e" has 4 nodes|later`))
	var b strings.Builder
	if err := WriteSARIFDelta(&b, delta, SARIFOptions{}); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(b.String()), &log); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		got = append(got, fmt.Sprintf("%s %s %s %d", r.Baseline, r.Level, r.Message.Text, len(r.Suppressions)))
	}
	want := []string{
		`new warning "d" has 4 nodes. 0`, `new note "e" has 4 nodes. 1`, `updated warning "a" has 8 nodes. 0`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
