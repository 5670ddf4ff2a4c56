package findings

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestSecretsUnseen checks that no format shows a secret from a blueprint: neither
// as the subject of the finding, nor next to another mistake, nor in a file that
// cannot be parsed.
func TestSecretsUnseen(t *testing.T) {
	small, err := os.ReadFile(fixture.Path("golden/testdata/small.cue"))
	if err != nil {
		t.Fatal(err)
	}
	const job = `workloads: train: {tier: "lp", perPod: {cpu: 1, memory: "1Gi", accelerators: 1}, image: "a:1"}` + "\n"
	const random = "q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0"
	const apiKey = job + "workloads: train: env: API_KEY: "
	const key = "-----BEGIN PRIVATE KEY-----\n\t" + random + random + "\n\t-----END PRIVATE KEY-----"
	for name, test := range map[string]struct{ more, secret, code string }{
		"by its shape":     {job + `workloads: train: env: X: "ghp_` + random + `"`, random, "E0860"},
		"in a longer text": {job + `workloads: train: command: ["a b ghp_` + random + ` c"]`, random, "E0860"},
		"over lines":       {job + "workloads: train: files: a: \"\"\"\n\t" + key + "\n\t\"\"\"", random, "E0860"},
		"in one line":      {apiKey + `"` + strings.ReplaceAll(key, "\n\t", `\n`) + `"`, random, "E0860"},
		"by its name":      {apiKey + `"` + random + `"`, random, "W0861"},
		"in two parts":     {apiKey + `"` + random[:20] + `" + "` + random[20:] + `"`, random[:20], "W0861"},
		"beside a pod": {
			job + `workloads: train: auxiliary: up: env: X_KEY: "ghp_` + random + `"`, random, "E0102",
		},
		"a bad name":           {job + `workloads: train: env: "API KEY": "ghp_` + random + `"`, random, "E0105"},
		"another type":         {apiKey + `{"` + random + `": "ghp_` + random + `"}`, "ghp_" + random, "E0103"},
		"a conflict":           {apiKey + `"ghp_` + random + `" & "no"`, random, "E0107"},
		"a text without end":   {`notes: ["API_KEY=` + random, random, "E0003"},
		"a syntax error after": {`notes: ["API_KEY=` + random + `", }`, random, "E0003"},
		"an unknown field":     {`api_key: "` + random + `"`, random, "E0101"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			content := string(small) + test.more + "\n"
			if err := os.WriteFile(filepath.Join(dir, "platform.cue"), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			res, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			codes := ""
			for _, f := range res.Findings.Sorted() {
				codes += f.Code + " "
			}
			if !strings.Contains(codes, test.code) {
				t.Errorf("findings %s, want %s", codes, test.code)
			}
			sarif := diag.SARIFOptions{Tool: "batchwright", Codes: compiler.Codes()}
			for format, write := range map[string]func(io.Writer) error{
				"text":   func(w io.Writer) error { return diag.WriteText(w, &res.Findings, diag.TextOptions{}) },
				"json":   func(w io.Writer) error { return diag.WriteJSON(w, &res.Findings) },
				"sarif":  func(w io.Writer) error { return diag.WriteSARIF(w, &res.Findings, sarif) },
				"github": func(w io.Writer) error { return diag.WriteGitHub(w, &res.Findings) },
			} {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(b.String(), test.secret) {
					t.Errorf("%s shows the secret:\n%s", format, b.String())
				}
			}
		})
	}
}
