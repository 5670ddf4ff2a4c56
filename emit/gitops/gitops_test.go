package gitops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit/gitops"
	"github.com/batchwright/batchwright/emit/hostile"
)

// testPlan has a team, and a Grafana.
func testPlan(tool ir.GitOpsTool) *ir.Platform {
	return &ir.Platform{
		Scheduler:  ir.Kueue,
		Name:       "demo",
		Versions:   ir.Versions{Kueue: "0.19.2", JobSet: "0.12.0"},
		Teams:      []ir.Team{{Name: "team-a", Namespace: "ns-a"}},
		Monitoring: ir.Monitoring{Grafana: true, GrafanaNamespace: "grafana"},
		Delivery: ir.Delivery{GitOps: ir.GitOps{
			Tool: tool, Repository: "https://example.com/platforms", Branch: "main", Path: "a/demo",
		}},
	}
}

// renderFiles returns the files of a plan by path.
func renderFiles(t testing.TB, p *ir.Platform) map[string]string {
	t.Helper()
	files, err := gitops.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		out[f.Path] = string(f.Content)
	}
	return out
}

// TestWithoutTool checks that a platform without a GitOps tool has no such folder.
func TestWithoutTool(t *testing.T) {
	if files := renderFiles(t, testPlan("")); len(files) != 0 {
		t.Errorf("%d files", len(files))
	}
}

// TestRoot checks the paths of a deploy folder that is the whole repository.
func TestRoot(t *testing.T) {
	for tool, want := range map[ir.GitOpsTool][]string{
		ir.ArgoCD:     {"path: kubernetes", "path: dashboards"},
		ir.Flux:       {"path: ./kubernetes", "path: ./dashboards", "path: ./gitops/system"},
		ir.ConfigSync: {"dir: kubernetes", "dir: dashboards", "dir: gitops/kueue", "dir: gitops/jobset"},
	} {
		p := testPlan(tool)
		p.Delivery.GitOps.Path = "."
		var all []string
		for _, content := range renderFiles(t, p) {
			all = append(all, strings.Split(content, "\n")...)
		}
		for _, line := range want {
			if !slices.ContainsFunc(all, func(l string) bool { return strings.TrimLeft(l, " -") == line }) {
				t.Errorf("%s: no line %q", tool, line)
			}
		}
	}
}

// TestDestination checks the cluster of an Argo CD that runs elsewhere.
func TestDestination(t *testing.T) {
	p := testPlan(ir.ArgoCD)
	p.Delivery.GitOps.Destination = "batch-us"
	for name, content := range renderFiles(t, p) {
		if strings.Contains(content, "server:") {
			t.Errorf("%s names the address of a cluster:\n%s", name, content)
		}
	}
	project := renderFiles(t, p)["gitops/project.yaml"]
	if n := strings.Count(project, "name: batch-us\n"); n != 5 {
		t.Errorf("%d destinations in\n%s", n, project)
	}
}

// TestCredentials checks how the tools find the credentials for the repository.
func TestCredentials(t *testing.T) {
	for _, tt := range []struct {
		tool       ir.GitOpsTool
		repository string
		file       string
		want       []string
	}{
		{ir.Flux, "ssh://git@example.com/p", "gitops/source.yaml", []string{"secretRef:", "name: key"}},
		{ir.ConfigSync, "ssh://git@example.com/p", "gitops/platform.yaml", []string{"auth: ssh", "name: key"}},
		{ir.ConfigSync, "https://example.com/p", "gitops/platform.yaml", []string{"auth: token", "name: key"}},
	} {
		p := testPlan(tt.tool)
		p.Delivery.GitOps.Repository, p.Delivery.GitOps.Secret = tt.repository, "key"
		for _, want := range tt.want {
			if content := renderFiles(t, p)[tt.file]; !strings.Contains(content, want+"\n") {
				t.Errorf("%s, %s: no %q in\n%s", tt.tool, tt.repository, want, content)
			}
		}
	}
}

// TestDigest checks that a chart with a known SHA-256 is pinned by its digest.
func TestDigest(t *testing.T) {
	sha256 := strings.Repeat("0a", 32)
	for tool, want := range map[ir.GitOpsTool][2]string{
		ir.ArgoCD: {"gitops/platform.yaml", "targetRevision: sha256:" + sha256},
		ir.Flux:   {"gitops/system/kueue.yaml", "digest: sha256:" + sha256},
	} {
		p := testPlan(tool)
		file, line := want[0], want[1]
		if content := renderFiles(t, p)[file]; strings.Contains(content, "sha256:") {
			t.Errorf("%s: a digest although no SHA-256 is known:\n%s", tool, content)
		}
		p.Versions.SHA256.KueueChart = sha256
		if content := renderFiles(t, p)[file]; strings.Count(content, line+"\n") != 1 {
			t.Errorf("%s: no %q in\n%s", tool, line, content)
		}
	}
}

// TestExplicitNamespaces checks that no RootSync can take the namespaces of Kueue and
// JobSet away from the RootSyncs that install them.
func TestExplicitNamespaces(t *testing.T) {
	files := renderFiles(t, testPlan(ir.ConfigSync))
	for _, name := range []string{"kueue", "jobset", "platform"} {
		if content := files["gitops/"+name+".yaml"]; !strings.Contains(content, "namespaceStrategy: explicit\n") {
			t.Errorf("%s may create namespaces:\n%s", name, content)
		}
	}
}

// TestNothingInstalled checks a platform in a cluster in which others run Kueue and
// JobSet: no tool installs them, and Argo CD's project allows only what is left.
func TestNothingInstalled(t *testing.T) {
	for _, tool := range []ir.GitOpsTool{ir.ArgoCD, ir.Flux, ir.ConfigSync} {
		p := testPlan(tool)
		p.Cluster.Existing = &ir.ExistingCluster{Kueue: &ir.ExistingKueue{}, JobSet: &ir.ExistingJobSet{}}
		for name, content := range renderFiles(t, p) {
			for _, word := range []string{
				ir.KueueChart, kinds.Composite().Controller.Chart, "kueue-system", "jobset-system", "CustomResource",
			} {
				if strings.Contains(content, word) {
					t.Errorf("%s: %s mentions %s:\n%s", tool, name, word, content)
				}
			}
		}
		p.Monitoring.Grafana = false
		if files := renderFiles(t, p); tool == ir.Flux && files["gitops/system/kustomization.yaml"] != "" {
			t.Errorf("an empty Kustomization:\n%v", files)
		}
	}
}

// TestNoGrafana checks that a platform without dashboards for Grafana has no objects for
// them.
func TestNoGrafana(t *testing.T) {
	for _, tool := range []ir.GitOpsTool{ir.ArgoCD, ir.Flux, ir.ConfigSync} {
		p := testPlan(tool)
		with := len(renderFiles(t, p))
		p.Monitoring.Grafana = false
		files := renderFiles(t, p)
		for name, content := range files {
			if strings.Contains(content, "dashboards") || strings.Contains(content, "grafana") {
				t.Errorf("%s: %s mentions Grafana or its dashboards:\n%s", tool, name, content)
			}
		}
		// Flux has the dashboards in one file with the platform, and a namespace.
		if got := with - len(files); got != 1 {
			t.Errorf("%s: %d files fewer", tool, got)
		}
	}
}

// TestRestart checks that a change of Kueue's configuration changes the digest that
// restarts the controller, if no chart does it.
func TestRestart(t *testing.T) {
	const name = "gitops/kueue/kustomization.yaml"
	p := testPlan(ir.ConfigSync)
	before := renderFiles(t, p)[name]
	p.Name = "other" // the configuration names the platform
	after := renderFiles(t, p)[name]
	if before == after || !strings.Contains(after, "batchwright/configuration: ") {
		t.Errorf("the same kustomization for another configuration:\n%s", after)
	}
}

// FuzzFiles: the texts of a plan stay texts.
func FuzzFiles(f *testing.F) {
	hostile.Seed(f)
	harmless := readDocuments(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s)
		hostile.Compare(t, s, harmless, readDocuments(t, s), nil)
	})
}

// readDocuments returns the documents of every file of a plan that holds a text.
func readDocuments(t testing.TB, text string) any {
	t.Helper()
	out := map[string]any{}
	for _, tool := range []ir.GitOpsTool{ir.ArgoCD, ir.Flux, ir.ConfigSync} {
		p := testPlan(tool)
		g := &p.Delivery.GitOps
		g.Repository, g.Branch, g.Secret = "https://"+text, text, "x"+text
		if tool == ir.ArgoCD {
			g.Destination = text
		}
		p.Versions.JobSet = "0" + text
		for name, content := range renderFiles(t, p) {
			out[string(tool)+"/"+name] = hostile.Documents(t, content)
		}
	}
	return out
}
