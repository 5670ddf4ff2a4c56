package kaiqueues_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/conformance/kaiqueues"
)

func TestCheck(t *testing.T) {
	const good = `apiVersion: v1
kind: Namespace
metadata:
  name: a
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  name: a
spec:
  parentQueue: department
  priority: 150
  resources:
    gpu:
      limit: -1
      quota: 8
`
	for _, test := range []struct {
		name, old, new string
		want           string // part of an error; "" for none at all
	}{
		{name: "good"},
		{"other objects are not looked at", "kind: Namespace", "kind: Something", ""},
		{"version", "ai/v2", "ai/v3", "unexpected scheduling.run.ai/v3 Queue"},
		{"kind", "kind: Queue", "kind: PodGroup", "unexpected scheduling.run.ai/v2 PodGroup"},
		{"field of another name", "  resources:", "  resourceQuota:", "no field spec.resourceQuota"},
		{"share of another name", "quota: 8", "quotas: 8", "no field spec.resources.gpu.quotas"},
		{"text for a number", "quota: 8", `quota: "8"`, "spec.resources.gpu.quota"},
		{"fraction for an integer", "priority: 150", "priority: 1.5", "spec.priority"},
		{"key twice", "      quota: 8\n", "      quota: 8\n      quota: 9\n", "already set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := fstest.MapFS{
				"kubernetes/teams/a.yaml": &fstest.MapFile{Data: []byte(strings.Replace(good, test.old, test.new, 1))},
			}
			err := errors.Join(kaiqueues.Check(folder)...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
