package networkpolicies_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/conformance/networkpolicies"
)

const golden = "../../golden"

func TestGoldenFolders(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(golden, "*", "kubernetes"))
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	for _, folder := range folders {
		folder = filepath.Dir(folder)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			for _, err := range networkpolicies.Check(os.DirFS(folder)) {
				t.Error(err)
			}
		})
	}
}

// TestCheck breaks a folder. If a case has an ingress rule, it replaces the
// folder's rule by a rule of the Kubernetes documentation ("Network Policies").
func TestCheck(t *testing.T) {
	const (
		teamA, teamB = "kubernetes/teams/team-a.yaml", "kubernetes/teams/team-b.yaml"
		rule         = "  ingress:\n  - from:\n    - podSelector: {}\n"
		everyPod     = "  podSelector: {}\n  policyTypes:\n  - Ingress\n"
	)
	for _, test := range []struct {
		name, file, old, new string
		want                 []string // parts of the errors
		not                  string   // no part of them
	}{
		{name: "nothing", file: teamA},
		{
			name: "policy of another kind", file: teamA, old: "kind: NetworkPolicy", new: "kind: NetPolicy",
			want: []string{
				"a pod of team-b reaches a pod of team-a", "a pod of default reaches a pod of team-a",
				"the internet reaches a pod of team-a",
			},
			not: "reaches a pod of team-b",
		},
		{
			name: "all sources", file: teamB, old: rule, new: "  ingress:\n  - {}\n",
			want: []string{"a pod of team-a reaches a pod of team-b", "the internet reaches a pod of team-b"},
			not:  "reaches a pod of team-a",
		},
		{
			name: "no source", file: teamA, old: rule, new: "",
			want: []string{"a pod of team-a does not reach a pod of team-a"}, not: "team-b",
		},
		{
			name: "all namespaces", file: teamA, old: rule, new: "  ingress:\n  - from:\n    - namespaceSelector: {}\n",
			want: []string{"a pod of team-b reaches a pod of team-a"}, not: "the internet reaches",
		},
		{
			name: "one namespace besides", file: teamA, old: rule,
			new: rule +
				"    - namespaceSelector:\n        matchLabels:\n          kubernetes.io/metadata.name: team-b\n",
			want: []string{"a pod of team-b reaches a pod of team-a"}, not: "a pod of team-c reaches",
		},
		{
			name: "pods of one label in any namespace", file: teamA, old: rule,
			new: rule +
				"    - namespaceSelector: {}\n      podSelector:\n        matchLabels:\n          app: worker\n",
			want: []string{"a pod of team-b reaches a pod of team-a"}, not: "a pod of default",
		},
		{
			name: "pods of one label alone", file: teamA, old: "    - podSelector: {}\n",
			new:  "    - podSelector:\n        matchLabels:\n          app: worker\n",
			want: []string{"a pod of team-a does not reach a pod of team-a"},
		},
		{
			name: "one port", file: teamA, old: rule, new: rule + "    ports:\n    - port: 29500\n",
			want: []string{"a pod of team-a does not reach a pod of team-a at TCP 53"},
		},
		{
			name: "addresses", file: teamA, old: rule, new: rule + "    - ipBlock:\n        cidr: 203.0.113.0/24\n",
			want: []string{"the internet reaches a pod of team-a at TCP 8080"}, not: "another network",
		},
		{
			name: "some pods", file: teamA, old: everyPod,
			new:  "  podSelector:\n    matchLabels:\n      app: worker\n  policyTypes:\n  - Ingress\n",
			want: []string{"a pod of team-b reaches a pod of team-a"},
		},
		{
			name: "egress too", file: teamA, old: everyPod, new: everyPod + "  - Egress\n",
			want: []string{
				"a pod of team-a does not reach a pod of team-a",
				"a pod of team-a does not reach a pod of kube-system at UDP 53",
				"does not reach the metadata server at TCP 80", "does not reach the API server at TCP 443",
				"does not reach the internet at TCP 443",
			},
		},
		{
			name: "policy in the namespace of a controller", file: teamA,
			old: "  name: team-only\n  namespace: team-a\n", new: "  name: team-only\n  namespace: kueue-system\n",
			want: []string{"a pod of gmp-system does not reach a pod of kueue-system at TCP 8443",
				"a pod of team-b reaches a pod of team-a"},
		},
		{
			name: "policy types left to their default", file: teamA, old: "  policyTypes:\n  - Ingress\n", new: "",
			want: []string{"NetworkPolicy team-only does not say its policyTypes"},
		},
		{
			name: "unknown field", file: teamA, old: "  - from:\n", new: "  - sources:\n",
			want: []string{teamA + ": ", `unknown field "sources"`},
		},
		{
			name: "another dataplane", file: "terraform/cluster.tf", old: `"ADVANCED_DATAPATH"`,
			new:  `"LEGACY_DATAPATH"`,
			want: []string{"the cluster does not have Dataplane V2"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := readFolder(t, filepath.Join(golden, "batch-platform"))
			text := string(folder[test.file].Data)
			if !strings.Contains(text, test.old) {
				t.Fatalf("%s has no %q", test.file, test.old)
			}
			folder[test.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, test.old, test.new, 1))}
			err := errors.Join(networkpolicies.Check(folder)...)
			if err == nil {
				err = errors.New("")
			}
			if len(test.want) == 0 && err.Error() != "" {
				t.Errorf("unexpected: %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			if test.not != "" && strings.Contains(err.Error(), test.not) {
				t.Errorf("got %v, and %q in it", err, test.not)
			}
		})
	}
}

func readFolder(t *testing.T, name string) fstest.MapFS {
	folder := fstest.MapFS{}
	root := os.DirFS(name)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		folder[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
