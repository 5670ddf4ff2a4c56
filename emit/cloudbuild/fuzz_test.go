package cloudbuild

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/hostile"
)

// FuzzBuilds: a value of a plan reaches a build's step as it is, once Cloud
// Build has substituted, and nothing else changes.
func FuzzBuilds(f *testing.F) {
	hostile.Seed(f)
	read := func(t testing.TB, text string) any {
		kueue, kai := filledPlan(text), filledPlan(text)
		kai.Scheduler = ir.KAI
		var builds []any
		for _, f := range []emit.File{emittedFiles(t, kueue)["cloudbuild/provision.yaml"],
			emittedFiles(t, kueue)["cloudbuild/destroy.yaml"], emittedFiles(t, kai)["cloudbuild/provision.yaml"]} {
			build := hostile.Documents(t, string(f.Content))[0].(map[string]any)
			values := map[string]string{}
			for name, value := range build["substitutions"].(map[string]any) {
				values[name] = value.(string)
			}
			for key, part := range build {
				if key != "substitutions" {
					build[key] = substituteParts(part, values)
				}
			}
			builds = append(builds, build)
		}
		return builds
	}
	harmless := read(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s)
		hostile.WantPrintable(t, s)
		hostile.Compare(t, s, harmless, read(t, s), nil)
	})
}

// substituteParts returns a part of a build after Cloud Build's substitution, which
// leaves scripts alone.
func substituteParts(part any, values map[string]string) any {
	switch part := part.(type) {
	case string:
		return substituteText(part, values)
	case []any:
		for i := range part {
			part[i] = substituteParts(part[i], values)
		}
	case map[string]any:
		for key := range part {
			if key != "script" {
				part[key] = substituteParts(part[key], values)
			}
		}
	}
	return part
}

// FuzzScripts: a value of a plan is one word of the scripts, which bash reads
// as it is, and nothing else changes.
func FuzzScripts(f *testing.F) {
	hostile.Seed(f)
	const create, destroy = "create-platform.sh", "destroy-platform.sh"
	harmless := emittedFiles(f, filledPlan(hostile.Mark))
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s, "\x00") // which no program can be given
		hostile.WantPrintable(t, s)
		script := words.ShellAssignment("X", s) + assignArray("Y", []string{s, "-", s}) + `printf '%s\0' "$X" "${Y[@]}"`
		out, err := exec.Command("bash", "-c", script).CombinedOutput()
		if want := strings.Join([]string{s, s, "-", s, ""}, "\x00"); err != nil || string(out) != want {
			t.Errorf("bash reads %q, want %q; %v", out, want, err)
		}
		got := emittedFiles(t, filledPlan(s))
		for _, name := range []string{create, destroy} {
			// Every value stands between single quotes.
			want := strings.ReplaceAll(string(harmless[name].Content), hostile.Mark, strings.ReplaceAll(s, "'", `'\''`))
			if d := cmp.Diff(want, string(got[name].Content)); d != "" {
				t.Errorf("%s: %q is more than a word:\n%s", name, s, d)
			}
		}
	})
}

// filledPlan is a plan with a text wherever a build or a script takes one.
func filledPlan(s string) *ir.Platform {
	p := fullPlatform()
	p.Name, p.Project, p.Region, p.Cluster.Name = s, s, s, s
	p.Delivery.StateBucket, p.Delivery.Repository, p.Delivery.Region, p.Monitoring.GrafanaNamespace = s, s, s, s
	p.Delivery.Account = ir.ServiceAccount{ID: "id", Display: s, Roles: []string{s}}
	p.NodeAccount.Display = s
	p.Versions = ir.Versions{Kueue: s, JobSet: s, KAI: s, Helm: s, Terraform: s, Gcloud: s}
	p.Delivery.APIs, p.Delivery.Permissions = []string{s}, []string{s}
	return p
}
