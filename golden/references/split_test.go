package references_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
)

// passage is a part of a document that a row describes. Its identifier is the number of
// its first line, followed by p for a picture that shares its line with text.
type passage struct {
	id   string
	kind string // heading, step, row, sample, picture or variable
	text string
}

// hash returns a hash of a passage's text. Line breaks and indentation do not change it.
func (p passage) hash() string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(p.text), " ")))
	return fmt.Sprintf("%x", sum[:8])
}

var (
	splitHeading  = regexp.MustCompile(`^#{1,6} `)
	splitItem     = regexp.MustCompile(`^\s*([-*]|\d+\.|[a-z]\.)\s`)
	splitPicture  = regexp.MustCompile(`<img [^>]*>|!\[[^\]]*\]\([^)]*\)`)
	splitRule     = regexp.MustCompile(`^\s*\|[\s|:-]+\|$`)
	splitAssigned = regexp.MustCompile(`^\s*(export )?[A-Z][A-Z0-9_]*=`)
	splitSetting  = regexp.MustCompile("^\\s*(\\*\\*)?(`[a-z0-9_]+`|[A-Z]+_[A-Z_]+)(\\*\\*)?: ")
	splitColumns  = regexp.MustCompile(`^\s*(NAME|NAMESPACE|# +size)\s`)
	splitBreak    = regexp.MustCompile(`^(- |-$|[a-z]\. |[A-Z][a-z])`)
)

// splitter collects the passages of a document, line by line.
type splitter struct {
	passages []passage
	kind     string // of the passage that is open
	open     []string
	line     int // of the open passage
	table    string
}

// split returns the passages of a document. Without a heading in Markdown, the document
// is a page as plain text, in which a line "bash" begins a sample.
func split(document string) []passage {
	s := &splitter{}
	lines := strings.Split(document, "\n")
	if strings.HasPrefix(document, "#") {
		s.markdown(lines)
	} else {
		s.plain(lines)
	}
	s.close()
	return s.passages
}

// add appends a passage that is one line.
func (s *splitter) add(line int, kind, text string) {
	s.close()
	s.passages = append(s.passages, passage{fmt.Sprint(line), kind, text})
}

// begin opens a passage at a line.
func (s *splitter) begin(line int, kind, text string) {
	s.close()
	s.kind, s.line, s.open = kind, line, []string{text}
}

// close ends the open passage.
func (s *splitter) close() {
	if text := strings.Join(s.open, "\n"); strings.Trim(text, " \n.-") != "" {
		s.passages = append(s.passages, passage{fmt.Sprint(s.line), s.kind, text})
	}
	s.open, s.kind = nil, ""
}

// markdown splits a document in Markdown.
func (s *splitter) markdown(lines []string) {
	fence := -1
	for i, text := range lines {
		switch fenced := strings.HasPrefix(strings.TrimSpace(text), "```"); {
		case fenced && fence < 0:
			s.close()
			fence = i
		case fenced:
			s.sample(lines[fence+1:i], fence+2)
			fence = -1
		case fence < 0:
			s.markdownLine(i+1, text)
		}
	}
}

// markdownLine splits a line outside of samples.
func (s *splitter) markdownLine(line int, text string) {
	pictures := splitPicture.FindAllString(text, -1)
	text = splitPicture.ReplaceAllString(text, "")
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		s.close()
		s.table = ""
	case splitHeading.MatchString(text):
		s.add(line, "heading", text)
	case splitRule.MatchString(text):
	case strings.HasPrefix(trimmed, "|"):
		s.tableRow(line, trimmed)
	case splitAssigned.MatchString(text), splitSetting.MatchString(text):
		s.begin(line, "variable", text)
	case s.open == nil, s.kind == "variable", splitItem.MatchString(text):
		s.begin(line, "step", text)
	default:
		s.open = append(s.open, text)
	}
	for _, p := range pictures {
		s.close()
		id := fmt.Sprint(line)
		if trimmed != "" && trimmed != "." {
			id += "p"
		}
		s.passages = append(s.passages, passage{id, "picture", p})
	}
}

// tableRow adds a row of a table. The rows of a table of variables are variables.
func (s *splitter) tableRow(line int, text string) {
	kind := "row"
	if s.table == "Variable" {
		kind = "variable"
	}
	if s.table == "" {
		s.table = strings.TrimSpace(strings.Split(text, "|")[1])
	}
	s.add(line, kind, text)
}

// sample splits a sample: its variables, the rows of a table that it prints, and the rest.
func (s *splitter) sample(lines []string, first int) {
	table := false
	for i, text := range lines {
		table = table || splitColumns.MatchString(text)
		switch {
		case strings.TrimSpace(text) == "":
		case table:
			s.add(first+i, "row", text)
		case splitAssigned.MatchString(text):
			s.add(first+i, "variable", text)
		case s.kind == "sample":
			s.open = append(s.open, text)
		default:
			s.begin(first+i, "sample", text)
		}
	}
	s.close()
}

// plain splits a document as plain text.
func (s *splitter) plain(lines []string) {
	for i := 0; i < len(lines); i++ {
		text := lines[i]
		switch {
		case text == "bash":
			end := i + 1
			for end < len(lines) && !endsSample(lines[end]) {
				end++
			}
			s.close()
			s.sample(lines[i+1:end], i+2)
			i = end - 1
		case strings.HasPrefix(text, "```bash "):
			end := i
			for !strings.HasSuffix(lines[end], " ```") {
				end++
			}
			s.close()
			s.sample(append([]string{strings.TrimPrefix(text, "```bash ")}, lines[i+1:end+1]...), i+1)
			i = end
		default:
			s.plainLine(i+1, text)
		}
	}
}

// endsSample reports whether a line after a sample is text.
func endsSample(line string) bool {
	return splitBreak.MatchString(line) && !strings.HasPrefix(line, "Forwarding ") // what kubectl prints
}

// plainLine splits a line outside of samples. A hyphen alone begins an item, also at the
// end of a line.
func (s *splitter) plainLine(line int, text string) {
	bullet := strings.Join(s.open, "") == "-"
	switch begins := splitBreak.MatchString(text); {
	case text == "-":
		s.begin(line, "step", text)
	case begins && !bullet && len(strings.Fields(text)) < 10 && isTitle(text):
		s.add(line, "heading", text)
	case begins && !bullet, s.open == nil:
		s.begin(line, "step", text)
	default:
		if bullet {
			s.line = line
		}
		s.open = append(s.open, text)
	}
	if text != "-" && strings.HasSuffix(text, " -") {
		s.begin(line, "step", "-")
	}
}

// isTitle reports whether a short line is a heading: it neither ends in a colon nor
// begins an item, and no code follows it.
func isTitle(text string) bool {
	last := text[len(text)-1]
	return !splitItem.MatchString(text) && last != ':' && last != ' ' && !strings.ContainsAny(text, "/(")
}
