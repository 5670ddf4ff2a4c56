package golden_test

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
	"testing"
	"testing/fstest"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"
)

// guidePages are the pages of a deploy folder.
var guidePages = []string{"README.md", "USING.md", "REFERENCE.md"}

// guideDemonstration is the page of a deploy folder with a demonstration.
const guideDemonstration = "DEMONSTRATION.md"

// checkGuide checks the pages of a deploy folder. All rows of a table have the same
// number of cells, fences are closed, no line has trailing spaces, the Mermaid drawing
// follows its grammar, and an example in YAML is an object of Kubernetes. Every file
// that the text, a link or a command names is in the folder, and every link to a
// heading leads to one.
func checkGuide(folder fs.FS) []error {
	var errs []error
	for _, page := range guidePages {
		errs = append(errs, checkGuidePage(folder, page)...)
	}
	if _, err := fs.Stat(folder, guideDemonstration); err == nil {
		errs = append(errs, checkGuidePage(folder, guideDemonstration)...)
	}
	return errs
}

func checkGuidePage(folder fs.FS, page string) []error {
	content, err := fs.ReadFile(folder, page)
	if err != nil {
		return []error{err}
	}
	c := &guideCheck{
		folder: folder, page: page, lines: strings.Split(string(content), "\n"), variables: map[string]string{},
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
	variables map[string]string // of the shell, as the commands above have set them
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

// checkLine checks the links and code spans of a line.
func (c *guideCheck) checkLine(i int) {
	line, spans := codeSpans(c.lines[i])
	for _, span := range spans {
		switch {
		case span == exampleFile && slices.Contains(c.lines, "```yaml"):
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
	if strings.ContainsAny(line, "`<>") {
		c.errorf(i, "a stray backtick, or HTML")
	}
}

// hasHeading reports whether a page has a heading with an anchor. GitHub makes the
// anchor of a heading from its words in lower case, without punctuation, joined by
// dashes, and numbers equal anchors of a page (GitHub documentation: "Basic writing and
// formatting syntax", section links).
func (c *guideCheck) hasHeading(page, anchor string) bool {
	content, err := fs.ReadFile(c.folder, page)
	if err != nil {
		return false
	}
	seen := map[string]int{}
	for _, heading := range guideHeading.FindAllStringSubmatch(guideFence.ReplaceAllString(string(content), ""), -1) {
		own := strings.ReplaceAll(guidePunctuation.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
		seen[own]++
		if n := seen[own] - 1; n > 0 {
			own += fmt.Sprint("-", n)
		}
		if own == anchor {
			return true
		}
	}
	return false
}

var (
	guideHeading     = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	guideFence       = regexp.MustCompile("(?ms)^```.*?^```$")
	guidePunctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// exampleFile is the file in which the reader saves the example of a page.
const exampleFile = "my-job.yaml"

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

// codeSpans separates a line of Markdown from its code spans. A span ends with as
// many backticks as it starts with. Escaped characters are in neither result.
func codeSpans(line string) (rest string, spans []string) {
	var b strings.Builder
	for line != "" {
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch end := closingFence(line[len(fence):], fence); {
		case fence != "" && end >= 0:
			spans = append(spans, line[len(fence):len(fence)+end])
			line = line[end+2*len(fence):]
		case fence != "":
			b.WriteString(fence)
			line = line[len(fence):]
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
		case word == exampleFile && slices.Contains(c.lines, "```yaml"):
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

func TestCheckGuide(t *testing.T) {
	const good = "# `gke-batch`\n\nSee [`terraform/`](terraform/), [Quotas](https://e.com/q?project=p) and " +
		"`run.sh`.\n\n| Name | Reason |\n| --- | ---: |\n| `a\\|b` | x \\| \\[y\\](z) |\n|  | 2 " +
		"|\n\n```mermaid\n---\nconfig:\n  flowchart:\n    wrappingWidth: 480\n---\nflowchart LR\n  subgraph " +
		"n1[\"cohort a\"]\n    n2[\"cq-a: #35;<br>b\"]\n  end\n  n3([\"l4\"])\n  n2 & n3 --> n3\n  linkStyle 0,1 " +
		"stroke:#3b82f6,stroke-width:2px\n  classDef hue fill:#ffffff,stroke:#3b82f6,color:#1f2328\n  " +
		"class n2,n3 hue\n```\n\n```sh\n./run.sh\nterraform -chdir=terraform init\nkubectl apply -k " +
		"kubernetes\nkubectl apply -f kubernetes/a.yaml -f https://e.com/m.yaml\nkubectl create ns a -o yaml | " +
		"kubectl apply -f -\n```\n\n- item `kubectl get nodes` and ``a`<b>``\n- [up](#gke-batch), " +
		"[on](USING.md#remove-a-team-a-tier), [twice](USING.md#twice-1)\n\n```sh\nTEAM=kubernetes\n" +
		"kubectl apply -k \"$TEAM\" -f \"$TEAM/a.yaml\"\nkubectl apply -f my-job.yaml\n```\n\n" +
		"```yaml\nkind: Job\nspec:\n  parallelism: 1\n```\n"
	const using = "## Remove a team, a tier\n\n```sh\n# a comment\n```\n\n## Twice\n\n## Twice\n"
	tests := []struct {
		name, old, new string
		want           string // in an error; "" for none
	}{
		{name: "good", old: "#35;", new: "#35;"},
		{"no entity code", "cohort a", "cohort #quot", "no Mermaid"},
		{"quote in a label", "cohort a", `cohort "a`, "no Mermaid"},
		{"bracket in a label", "cohort a", "cohort [a]", "no Mermaid"},
		{"unquoted label", `n3(["l4"])`, "n3([l4])", "no Mermaid"},
		{"undeclared node", "n2 & n3 --> n3", "n2 & n9 --> n3", "names n9"},
		{"undeclared style", "class n2,n3 hue", "class n2,n3 hew", "names hew"},
		{"style of no node", "class n2,n3 hue", "class n2,n8 hue", "names n8"},
		{"script in a style", "#3b82f6,stroke-width", "url(x),stroke-width", "no Mermaid"},
		{"node twice", `n3(["l4"])`, `n2(["l4"])`, "n2 cannot be declared"},
		{"open subgraph", "  end\n", "", "not ended"},
		{"end of nothing", "  n2 & n3 --> n3", "  end\n  n2 & n3 --> n3", "no Mermaid"},
		{"no flowchart", "flowchart LR", "graph", "no flowchart"},
		{"link to no heading", "(#gke-batch)", "(#gke-batches)", "leads to no heading"},
		{"link to a heading of another page", "(#gke-batch)", "(#remove-a-team-a-tier)", "leads to no heading"},
		{"link with punctuation", "#remove-a-team-a-tier", "#remove-a-team,-a-tier", "leads to no heading"},
		{"link to a comment", "(#gke-batch)", "(#a-comment)", "leads to no heading"},
		{"link to a third heading", "#twice-1", "#twice-2", "leads to no heading"},
		{"link to a heading of no page", "USING.md#twice-1", "MISSING.md#twice-1", `"MISSING.md"`},
		{"loop over another folder", "TEAM=kubernetes", "for TEAM in terraform kubernetes; do",
			"terraform/kustomization.yaml"},
		{
			name: "variable that is typed", old: "kubectl apply -f my-job.yaml\n",
			new: "read -rs VALUE; echo \"$VALUE\"\n",
		},
		{"variable of nobody", "TEAM=kubernetes\n", "", "nothing sets $TEAM"},
		{"variable of another folder", "TEAM=kubernetes", "TEAM=terraform", "terraform/kustomization.yaml"},
		{"example of no kind", "kind: Job", "kind: Pod", `an example is a "Pod"`},
		{"example with another field", "parallelism", "parallel", "unknown field"},
		{"example that is no YAML", "kind: Job", "kind: [", "yaml"},
		{"file without an example", "```yaml\nkind: Job\nspec:\n  parallelism: 1\n```", "- done", "my-job.yaml"},
		{"trailing space", "and `run.sh`.", "and `run.sh`. ", "trailing white space"},
		{"carriage return", "- item", "- \r\n- item", "trailing white space"},
		{"no line end", "1\n```\n", "1\n```", "one line end"},
		{"empty line at the end", "1\n```\n", "1\n```\n\n", "one line end"},
		{"too few cells", "|  | 2 |", "| 2 |", "1 cells under a head of 2"},
		{"too many cells", "|  | 2 |", "|  | 2 | 3 |", "3 cells under a head of 2"},
		{"bar in a cell", `a\|b`, "a|b", "3 cells under a head of 2"},
		{"row is not closed", "|  | 2 |", "|  | 2", "0 cells"},
		{"no rule", "| --- | ---: |\n", "", "a head, a rule and rows"},
		{"no rows", "| `a\\|b` | x \\| \\[y\\](z) |\n|  | 2 |\n", "", "a head, a rule and rows"},
		{"link to nothing", "](terraform/)", "](terra/)", `"terra/"`},
		{"link to a folder as a file", "](terraform/)", "](terraform)", "ends with a slash"},
		{"half a link", "](terraform/)", "](terraform/", "half a link"},
		{"link in a value", `\[y\](z)`, "[y](z)", `"z"`},
		{"file that is not there", "`run.sh`", "`gone.sh`", `"gone.sh"`},
		{"script that is not there", "./run.sh", "./gone.sh", `"./gone.sh"`},
		{"no kustomization", "-k kubernetes", "-k terraform", "terraform/kustomization.yaml"},
		{"manifest that is not there", "-f kubernetes/a.yaml", "-f kubernetes/b.yaml", "kubernetes/b.yaml"},
		{"root that is not there", "-chdir=terraform", "-chdir=terra", `"terra/"`},
		{"command in the text", "`kubectl get nodes`", "`kubectl apply -k gone`", "gone/kustomization.yaml"},
		{"open fence", "parallelism: 1\n```\n", "parallelism: 1\n", "not closed"},
		{"unknown language", "```sh", "```bash", `a block in "bash"`},
		{"HTML", "- item", "- <b>item", "HTML"},
		{name: "address", old: "- item", new: "- item of <https://e.com/a_b-c.d/~e/f>,"},
		{"address with a user", "- item", "- item of <https://e.com@f.com>", "HTML"},
		{"address without TLS", "- item", "- item of <http://e.com>", "HTML"},
		{"stray backtick", "- item", "- it`em", "backtick"},
	}
	for _, tt := range tests {
		readme := good
		if !strings.Contains(readme, tt.old) {
			t.Fatalf("%s: %q is not in the README", tt.name, tt.old)
		}
		readme = strings.Replace(readme, tt.old, tt.new, 1)
		folder := fstest.MapFS{
			"README.md":                     {Data: []byte(strings.Replace(readme, "#35;", "#35;", 1))},
			"USING.md":                      {Data: []byte(using)},
			"REFERENCE.md":                  {Data: []byte("# Reference\n")},
			"run.sh":                        {Data: []byte("\n")},
			"terraform/a.tf":                {Data: []byte("\n")},
			"kubernetes/kustomization.yaml": {Data: []byte("\n")},
			"kubernetes/a.yaml":             {Data: []byte("\n")},
		}
		wantError(t, tt.name, checkGuide(folder), tt.want)
	}
	wantError(t, "absent", checkGuide(fstest.MapFS{}), "file does not exist")
}
