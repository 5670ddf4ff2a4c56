package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"
)

// GuidePages are the pages of a deploy folder.
var GuidePages = []string{"README.md", "USING.md", "REFERENCE.md"}

// DemonstrationPage is the page of a deploy folder with a demonstration.
const DemonstrationPage = "DEMONSTRATION.md"

// Guide checks the pages of a deploy folder. All rows of a table have the same
// number of cells, fences are closed, no line has trailing spaces, the Mermaid drawing
// follows its grammar, and an example in YAML is an object of Kubernetes. Every file
// that the text, a link or a command names is in the folder, and every link to a
// heading leads to one.
func Guide(folder fs.FS) []error {
	var errs []error
	anchors := map[string]map[string]bool{}
	for _, page := range GuidePages {
		errs = append(errs, checkGuidePage(folder, page, anchors)...)
	}
	if _, err := fs.Stat(folder, DemonstrationPage); err == nil {
		errs = append(errs, checkGuidePage(folder, DemonstrationPage, anchors)...)
	}
	return errs
}

func checkGuidePage(folder fs.FS, page string, anchors map[string]map[string]bool) []error {
	content, err := fs.ReadFile(folder, page)
	if err != nil {
		return []error{err}
	}
	c := &guideCheck{
		folder: folder, page: page, lines: strings.Split(string(content), "\n"), variables: map[string]string{},
		anchors: anchors,
	}
	if last := len(c.lines) - 1; c.lines[last] != "" || last > 0 && c.lines[last-1] == "" {
		c.errorf(last, "does not end with one line end")
	}
	for i := 0; i < len(c.lines); i++ {
		line := c.lines[i]
		switch {
		case strings.HasPrefix(line, "```"):
			i = c.checkFence(i)
		case strings.HasPrefix(line, "|"):
			i = c.checkTable(i)
		default:
			c.checkLine(i)
		}
	}
	for i, line := range c.lines {
		if strings.TrimRight(line, " \t\r") != line {
			c.errorf(i, "trailing white space")
		}
	}
	return c.errs
}

type guideCheck struct {
	folder    fs.FS
	page      string
	lines     []string
	variables map[string]string          // of the shell, as the commands above have set them
	anchors   map[string]map[string]bool // of the headings of the pages that were linked to
	errs      []error
}

// errorf adds an error at a line, counted from 0.
func (c *guideCheck) errorf(line int, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s:%d: %w", c.page, line+1, fmt.Errorf(format, args...)))
}

// checkFence checks the block that a fence opens and returns its last line.
func (c *guideCheck) checkFence(start int) int {
	fence := c.lines[start][:len(c.lines[start])-len(strings.TrimLeft(c.lines[start], "`"))]
	length := slices.Index(c.lines[start+1:], fence)
	if length < 0 {
		c.errorf(start, "the fence is not closed")
		return len(c.lines)
	}
	switch language := strings.TrimPrefix(c.lines[start], fence); language {
	case "text": // a log
	case "mermaid":
		c.checkMermaid(start+1, c.lines[start+1:start+1+length])
	case "sh":
		for i := range length {
			c.checkCommand(start+1+i, c.lines[start+1+i])
		}
	case "yaml":
		c.checkExample(start+1, c.lines[start+1:start+1+length])
	default:
		c.errorf(start, "a block in %q", language)
	}
	return start + 1 + length
}

var guideRule = regexp.MustCompile(`^(\| ---:? )+\|$`)

// checkTable checks the table that starts at a line and returns its last line.
func (c *guideCheck) checkTable(start int) int {
	end := start
	for end+1 < len(c.lines) && strings.HasPrefix(c.lines[end+1], "|") {
		end++
	}
	if end < start+2 || !guideRule.MatchString(c.lines[start+1]) {
		c.errorf(start, "a table is a head, a rule and rows")
		return end
	}
	columns := countCells(c.lines[start])
	for i := start; i <= end; i++ {
		if n := countCells(c.lines[i]); n != columns {
			c.errorf(i, "%d cells under a head of %d", n, columns)
		}
		c.checkLine(i)
	}
	return end
}

// countCells returns the number of cells in a row of a table, or 0 if the row does not
// end with a bar.
func countCells(row string) int {
	row = strings.ReplaceAll(row, `\|`, "")
	if !strings.HasSuffix(row, "|") {
		return 0
	}
	return strings.Count(row, "|") - 1
}

var (
	guideLink = regexp.MustCompile(`\[[^\[\]]*\]\(([^()]*)\)`)
	// an address in angle brackets, all of which a reader sees
	guideAddress = regexp.MustCompile(`<https://[a-zA-Z0-9._~/-]+>`)
	guideFile    = regexp.MustCompile(`^[\w./-]+(\.(json|md|sh|tf|tfvars|yaml)|/)$`)
)

// guideWarning is the line before the one line of a warning.
const guideWarning = "> [!WARNING]"

// checkLine checks the links and code spans of a line.
func (c *guideCheck) checkLine(i int) {
	line, spans := CodeSpans(c.lines[i])
	for _, span := range spans {
		switch {
		case span == ExampleFile && slices.Contains(c.lines, "```yaml"):
		case guideFile.MatchString(span):
			c.checkPath(i, span)
		case strings.HasPrefix(span, "kubectl "), strings.HasPrefix(span, "./"):
			c.checkCommand(i, span)
		}
	}
	for _, link := range guideLink.FindAllStringSubmatch(line, -1) {
		if strings.HasPrefix(link[1], "https://") {
			continue
		}
		file, heading, within := strings.Cut(link[1], "#")
		if file != "" {
			target, err := url.PathUnescape(file)
			if err != nil {
				c.errorf(i, "%w", err)
			}
			c.checkPath(i, target)
		}
		if within && !c.hasHeading(cmp.Or(file, c.page), heading) {
			c.errorf(i, "the link %s leads to no heading", link[1])
		}
	}
	if strings.Contains(guideLink.ReplaceAllString(line, ""), "](") {
		c.errorf(i, "half a link")
	}
	line = guideAddress.ReplaceAllString(line, "")
	if c.lines[i] == guideWarning || i > 0 && c.lines[i-1] == guideWarning {
		line = strings.TrimPrefix(line, "> ")
	}
	if strings.ContainsAny(line, "`<>") {
		c.errorf(i, "a stray backtick, or HTML")
	}
}

// hasHeading reports whether a page has a heading with an anchor.
func (c *guideCheck) hasHeading(page, anchor string) bool {
	if c.anchors[page] == nil {
		content, err := fs.ReadFile(c.folder, page)
		if err != nil {
			return false
		}
		c.anchors[page] = headingAnchors(string(content))
	}
	return c.anchors[page][anchor]
}

// headingAnchors returns the anchors of the headings of a page. GitHub makes the
// anchor of a heading from its words in lower case, without punctuation, joined by
// dashes, and numbers equal anchors of a page (GitHub documentation: "Basic writing and
// formatting syntax", section links).
func headingAnchors(content string) map[string]bool {
	out := map[string]bool{}
	seen := map[string]int{}
	for _, heading := range guideHeading.FindAllStringSubmatch(guideFence.ReplaceAllString(content, ""), -1) {
		own := strings.ReplaceAll(guidePunctuation.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
		seen[own]++
		if n := seen[own] - 1; n > 0 {
			own += fmt.Sprint("-", n)
		}
		out[own] = true
	}
	return out
}

var (
	guideHeading     = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	guideFence       = regexp.MustCompile("(?ms)^```.*?^```$")
	guidePunctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// ExampleFile is the file in which the reader saves the example of a page.
const ExampleFile = "my-job.yaml"

// checkExample checks the example that starts at a line: it must be a Job or a JobSet
// without unknown fields.
func (c *guideCheck) checkExample(start int, lines []string) {
	text := []byte(strings.Join(lines, "\n"))
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(text, &kind); err != nil {
		c.errorf(start, "%w", err)
	}
	if lines[0] == "volumes:" { // a part of the pods
		if err := yaml.UnmarshalStrict(text, &corev1.PodSpec{}); err != nil {
			c.errorf(start, "%w", err)
		}
		return
	}
	object := any(&batchv1.Job{})
	if kind.Kind == "JobSet" {
		object = &v1alpha2.JobSet{}
	}
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		c.errorf(start, "%w", err)
	}
	if kind.Kind != "Job" && kind.Kind != "JobSet" {
		c.errorf(start, "an example is a %q", kind.Kind)
	}
}

// CodeSpans separates a line of Markdown from its code spans. A span ends with as
// many backticks as it starts with. Escaped characters are in neither result.
func CodeSpans(line string) (rest string, spans []string) {
	var b strings.Builder
	for line != "" {
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			line = line[len(fence):]
			if end := closingFence(line, fence); end >= 0 {
				spans = append(spans, line[:end])
				line = line[end+len(fence):]
			} else {
				b.WriteString(fence)
			}
		case line[0] == '\\' && len(line) > 1:
			line = line[2:]
		default:
			b.WriteByte(line[0])
			line = line[1:]
		}
	}
	return b.String(), spans
}

// closingFence returns the index in a line at which a run of exactly as many
// backticks as in fence starts, or -1.
func closingFence(line, fence string) int {
	for _, run := range guideBackticks.FindAllStringIndex(line, -1) {
		if run[1]-run[0] == len(fence) {
			return run[0]
		}
	}
	return -1
}

var guideBackticks = regexp.MustCompile("`+")

var (
	guideAssignment = regexp.MustCompile(`^([A-Z]+)=([\w./:-]+|\$\(.*\))$`)
	guideLoop       = regexp.MustCompile(`^ *for ([A-Z]+) in ([a-z0-9-]+)( [a-z0-9-]+)*; do$`)
	guideTyped      = regexp.MustCompile(`\b(?:read -rs|for) ([A-Z]+)\b`)
	guideVariable   = regexp.MustCompile(`\$([A-Z]+)`)
)

// checkCommand checks the files that a shell command reads, and that the page sets the
// variables that it uses.
func (c *guideCheck) checkCommand(i int, command string) {
	if set := guideAssignment.FindStringSubmatch(command); set != nil {
		c.variables[set[1]] = set[2]
		return
	}
	if loop := guideLoop.FindStringSubmatch(command); loop != nil {
		c.variables[loop[1]] = loop[2] // the first value stands for the others
		return
	}
	for _, typed := range guideTyped.FindAllStringSubmatch(command, -1) {
		c.variables[typed[1]] = "typed"
	}
	command = guideVariable.ReplaceAllStringFunc(command, func(variable string) string {
		value, set := c.variables[variable[1:]]
		if !set {
			c.errorf(i, "nothing sets %s", variable)
		}
		return value
	})
	before := ""
	for word := range strings.FieldsSeq(command) {
		word = strings.Trim(word, `'"`)
		switch {
		case before == "-k":
			c.checkPath(i, path.Join(word, "kustomization.yaml"))
		case word == ExampleFile && slices.Contains(c.lines, "```yaml"):
		case before == "-f" && word != "-" && !strings.HasPrefix(word, "https://"), strings.HasPrefix(word, "./"):
			c.checkPath(i, word)
		case strings.HasPrefix(word, "-chdir="):
			c.checkPath(i, strings.TrimPrefix(word, "-chdir=")+"/")
		}
		before = word
	}
}

// checkPath checks that a file exists, or a folder if the name ends with a slash.
func (c *guideCheck) checkPath(i int, name string) {
	info, err := fs.Stat(c.folder, path.Clean(name))
	if err == nil && strings.HasSuffix(name, "/") != info.IsDir() {
		err = errors.New("a folder's name ends with a slash, and no file's")
	}
	if err != nil {
		c.errorf(i, "%q: %w", name, err)
	}
}

const guideLabel = `\["((?:[A-Za-z0-9 ,:…-]|#[0-9]+;|<br>)+)"\]`

var (
	mermaidGroup = regexp.MustCompile(`^subgraph (\w+)` + guideLabel + `$`)
	mermaidNode  = regexp.MustCompile(`^(\w+)(?:` + guideLabel + `|\(` + guideLabel + `\))$`)
	mermaidArrow = regexp.MustCompile(`^(\w+(?: & \w+)*) --> (\w+)$`)
	mermaidClass = regexp.MustCompile(`^class (\w+(?:,\w+)*) (\w+)$`)
	mermaidStyle = regexp.MustCompile(`^(?:classDef (\w+)|linkStyle \d+(?:,\d+)*) ` +
		`(?:fill:#[0-9a-f]+,)?stroke:#[0-9a-f]+(?:,stroke-width:2px)?(?:,color:#[0-9a-f]+)?$`)
)

// checkMermaid checks the flowchart that starts at a line: its first lines, then
// groups, nodes and arrows, each on a line of its own, and their styles. Every label
// must be quoted and escaped, and every identifier must be declared once, before an
// arrow or a style uses it.
func (c *guideCheck) checkMermaid(start int, lines []string) {
	head := []string{"---", "config:", "  flowchart:", "    wrappingWidth: 480", "---", "flowchart LR"}
	if len(lines) < len(head) || !slices.Equal(lines[:len(head)], head) {
		c.errorf(start, "no flowchart")
		return
	}
	start += len(head) - 1
	lines = lines[len(head)-1:]
	declared := map[string]bool{}
	declare := func(i int, id string) {
		if declared[id] || id == "end" {
			c.errorf(i, "%s cannot be declared, or is twice", id)
		}
		declared[id] = true
	}
	depth := 0
	for i, line := range lines[1:] {
		i += start + 1
		line = strings.TrimLeft(line, " ")
		var names []string
		if m := mermaidGroup.FindStringSubmatch(line); m != nil {
			declare(i, m[1])
			depth++
		} else if m := mermaidNode.FindStringSubmatch(line); m != nil {
			declare(i, m[1])
		} else if m := mermaidArrow.FindStringSubmatch(line); m != nil {
			names = append(strings.Split(m[1], " & "), m[2])
		} else if m := mermaidStyle.FindStringSubmatch(line); m != nil {
			if m[1] != "" {
				declare(i, m[1])
			}
		} else if m := mermaidClass.FindStringSubmatch(line); m != nil {
			names = append(strings.Split(m[1], ","), m[2])
		} else if line == "end" && depth > 0 {
			depth--
		} else {
			c.errorf(i, "no Mermaid: %q", line)
		}
		for _, id := range names {
			if !declared[id] {
				c.errorf(i, "a line names %s, which is not declared", id)
			}
		}
	}
	if depth != 0 {
		c.errorf(start+len(lines), "a subgraph is not ended")
	}
}
