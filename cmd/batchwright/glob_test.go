package main

import "testing"

func TestGlobs(t *testing.T) {
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"README.md", "README.md", true},
		{"README.md", "x/README.md", false},
		{"terraform", "terraform/network.tf", true},
		{"terraform/", "terraform/network.tf", true},
		{"./terraform", "terraform/network.tf", true},
		{"terra", "terraform/network.tf", false},
		{"terraform/*.tf", "terraform/network.tf", true},
		{"*.tf", "terraform/network.tf", false},
		{"**/*.tf", "terraform/network.tf", true},
		{"**/*.tf", "network.tf", true},
		{"**", "a/b/c", true},
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/x/y/c", true},
		{"a/**/c", "a/x/y/d", false},
		{"workloads/*/train.yaml", "workloads/team-a/train.yaml", true},
		{"kubernetes/teams/team-[ab].yaml", "kubernetes/teams/team-b.yaml", true},
		{"kubernetes/teams/team-[ab].yaml", "kubernetes/teams/team-c.yaml", false},
		{"a/b/c", "a/b", false},
	}
	for _, test := range tests {
		g, err := parseGlobs([]string{"no match", test.glob})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.match(test.path); got != test.want {
			t.Errorf("%q of %q: got %v", test.glob, test.path, got)
		}
	}
	if _, err := parseGlobs([]string{"a/[b"}); err == nil {
		t.Error("a broken glob passes")
	}
}
