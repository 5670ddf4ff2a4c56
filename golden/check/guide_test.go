package check

import (
	"strings"
	"testing"
	"testing/fstest"
)

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
		wantError(t, tt.name, Guide(folder), tt.want)
	}
	wantError(t, "absent", Guide(fstest.MapFS{}), "file does not exist")
}
