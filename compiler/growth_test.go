package compiler

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// TestGrowth: texts that can outgrow the memory limit are found before they are
// evaluated, with their place, and others are not suspected.
func TestGrowth(t *testing.T) {
	kilobyte := `"` + strings.Repeat("x", 1000) + `"`
	for _, tt := range []struct {
		name, source string
		want         string // what stands at the place; "" for none
	}{
		{"names", "_a: \"team\"\n_b: \"\\(_a)-\\(_a)\"\n_c: _b + \"-x\"\n", ""},
		{"loop over teams", "_names: [for name, team in teams {\"\\(name)-queue\"}]\nteams: {}\n", ""},
		{"pattern", "teams: [Name=string]: namespace: \"team-\\(Name)\"\n", ""},
		{
			"sibling in a pattern", "teams: [Name=string]: {\n\tns: \"team-\\(Name)\"\n\tqueue: \"\\(ns)-queue\"\n}\n",
			"",
		},
		{
			"sibling",
			"workloads: [string]: perPod: {cpu: perPod.accelerators * 8, memory: \"\\(perPod.accelerators*64)Gi\"}\n",
			"",
		},
		{"numbers", "_n: 4\nx: _n * 8 + 2\n", ""},
		{"range", "import \"list\"\n_n: [for i in list.Range(0, 10, 1) {\"n\\(i)\"}]\n", ""},
		{"upper case", "import \"strings\"\n_n: strings.ToUpper(\"a\")\n", ""},
		{"tag", "_n: string @tag(n)\n_m: \"\\(_n)-\\(_n)\"\n", ""},

		{"repeat", "_s: " + kilobyte + " * 1_000_000\n", kilobyte},
		{"repeat twice", "_s: \"0123456789\" * 1_000_000\n_t: _s * 1000\n", "_s"},
		{"an unknown count", "_s: " + kilobyte + "\n_n: 5000\n_t: _s * _n\n", "_s"},
		{"join", "import \"strings\"\n_s: strings.Join([], \"\")\n", "strings.Join"},
		{"renamed import", "import s \"strings\"\n_s: s.Join([], \"\")\n", "s.Join"},
		{"chain backwards", "_c: _b + _b\n_b: _a * 1_000_000\n_a: " + kilobyte + "\n", "_a"},
		{"let", "let a = " + kilobyte + " * 10_000\nlet b = a * 1000\n_c: b\n", "a"},
		{"scalar in braces", "_x: {" + kilobyte + " * 10_000}\n_y: _x * 1000\n", "_x"},
		{"list of loop", "_x: [for a in [1, 2] {1_000_000 * \"x\"}]\n_y: _x[0] * 1000\n", "_x"},
		{
			"pattern over struct", "_x: [string]: deep: 1_000_000 * \"x\"\n_x: a: {}\n_y: _x[\"a\"][\"deep\"] * 1000\n",
			"_x",
		},
		{"selector", "_x: deep: text: " + kilobyte + " * 10_000\n_y: _x.deep.text * 1000\n", "_x.deep.text"},
		{"index", "_x: [" + kilobyte + " * 10_000]\n_y: _x[0] * 1000\n", "_x"},
		{"computed label", "_x: \"\\(\"a\")\": " + kilobyte + " * 10_000\n_y: _x.a * 1000\n", "_x.a"},
		{"pattern alias", "_x: {(1_000_000 * \"x\"): 1}\n_y: [K=string]: K * 1000\n", "K"},
		{"loop key", "_x: {(1_000_000 * \"x\"): 1}\n_y: [for k, v in _x {k * 1000}]\n", "k"},
		{"loop value", "_x: [1_000_000 * \"x\"]\n_y: [for v in _x {v * 1000}]\n", "v"},
		{"embedded struct", "#A: s: 1_000_000 * \"x\"\n_b: {#A, t: s * 1000}\n", "s"},
		{
			"circle",
			"#Twice: {in: string, out: in + in}\n_a: (#Twice & {in: " + kilobyte +
				"}).out\n_b: (#Twice & {in: _a}).out\n", "in",
		},
		{
			"embedded file",
			"@extern(embed)\n\npackage platform\n\n_x: _ @embed(file=x.txt,type=text)\n_y: _x + _x + _x + _x\n", "_x",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(tt.source, "package platform") {
				tt.source = "package platform\n" + tt.source
			}
			files := fstest.MapFS{"growing.cue": {Data: []byte(tt.source)}, "x.txt": {Data: []byte("x")}}
			in := Input{Files: files, Paths: []string{"."}, RefuseUnbounded: true}
			_, err := Compile(t.Context(), in)
			var unbounded *UnboundedError
			if !errors.As(err, &unbounded) {
				if err != nil || tt.want != "" {
					t.Fatalf("error %v, want one at %s", err, tt.want)
				}
				return
			}
			span := unbounded.Finding.Span
			got := string(span.Source.Content[span.Start:])
			if tt.want == "" || !strings.HasPrefix(got, tt.want) {
				t.Errorf("found %s, want %q", got, tt.want)
			}
			if unbounded.Finding.Code != "E0007" || span.Source.Name != "growing.cue" {
				t.Errorf("%s in %s", unbounded.Finding.Code, span.Source.Name)
			}
		})
	}
}
