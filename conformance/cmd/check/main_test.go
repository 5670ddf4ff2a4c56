package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct {
		name           string
		folders        []string
		status         int
		stdout, stderr string // parts of the output
	}{
		{"no folder", nil, 2, "", "usage: check DIR..."},
		{"no such folder", []string{empty + "/none"}, 2, "", "is not a directory"},
		{"empty folder", []string{empty}, 1, "[dashboards]", ""},
		{"reference platform", []string{"../../../golden/batch-platform"}, 0, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(test.folders, &stdout, &stderr); status != test.status {
				t.Errorf("status %d, want %d\n%s%s", status, test.status, &stdout, &stderr)
			}
			for _, output := range []struct {
				got  *bytes.Buffer
				want string
			}{{&stdout, test.stdout}, {&stderr, test.stderr}} {
				if !strings.Contains(output.got.String(), output.want) ||
					(output.want == "") != (output.got.Len() == 0) {
					t.Errorf("output %q, want %q in it", output.got, output.want)
				}
			}
		})
	}
}
