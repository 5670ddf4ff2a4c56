package rules

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// Rules on GitOps tools: what a tool needs to find the deploy folder, and what has no
// effect with it.

func gitOpsRules() []Rule {
	return []Rule{
		rule("E1061", "source of the GitOps tool is incomplete", reportIncompleteSource),
		rule("E1062", "GitOps setting has no effect", reportIneffectiveGitOps),
	}
}

// reportIncompleteSource reports a GitOps tool that cannot find the folder, or cannot
// read it. Nothing else in a blueprint names the repository, and a tool that gets a
// wrong one applies nothing, or the objects of somebody else.
func reportIncompleteSource(r *report) {
	d := r.Blueprint.Delivery
	if d.GitOps == nil {
		return
	}
	tool := ir.GitOpsTool(*d.GitOps).Facts()
	switch {
	case d.Source == nil:
		r.add(at("delivery", "gitops"), say("%s does not know the repository of the deploy folder", tool.Name),
			help("add delivery: source: repository: \"https://HOST/REPOSITORY\""))
	case tool.NamesSecret && d.Source.Secret == nil && strings.HasPrefix(d.Source.Repository, "ssh://"):
		r.add(at("delivery", "source", "repository"),
			say("%s has no key for the ssh address of the repository", tool.Name),
			help("add secret: \"NAME\": the Secret in namespace %s that holds the key; if anybody can read the "+
				"repository, write its https address", tool.Namespace))
	}
}

// reportIneffectiveGitOps reports settings that nothing reads: settings of a GitOps tool
// without the tool, settings of another tool, and the SHA-256 of manifests or charts that
// nobody downloads.
func reportIneffectiveGitOps(r *report) {
	d := r.Blueprint.Delivery
	reportUncomparedSHA256(r)
	if d.GitOps == nil {
		for _, field := range []string{"source", "destination"} {
			if r.Written("delivery", field) {
				r.add(at("delivery", field), say("without gitops, nothing reads delivery.%s", field),
					help("add gitops: \"argocd\", \"flux\" or \"configsync\"; or remove %s: the build then "+
						"applies everything", field))
			}
		}
		return
	}
	tool := ir.GitOpsTool(*d.GitOps).Facts()
	if d.Destination != nil && !tool.Elsewhere {
		r.add(at("delivery", "destination"),
			say("%s runs in the platform's cluster, and reads no destination", tool.Name), help("remove destination"))
	}
	if d.Source != nil && d.Source.Secret != nil && !tool.NamesSecret {
		r.add(at("delivery", "source", "secret"),
			say("%s keeps the credentials of repositories in its own configuration", tool.Name),
			help("remove secret, and register the repository in %s", tool.Name))
	}
}

// reportUncomparedSHA256 reports the SHA-256 of manifests with a GitOps tool, and of
// charts without a tool that installs charts.
func reportUncomparedSHA256(r *report) {
	others := r.controllersOfOthers()
	fields := []string{"kueue"}
	for _, c := range kinds.Controllers() {
		fields = append(fields, c.Field)
	}
	for _, field := range fields {
		if others[field] != "" {
			continue // unusedControllers reports it
		}
		manifest, chart := field, field+"Chart"
		unread, instead := []string{chart}, manifest
		message := "the build installs the manifest of the release, not the chart"
		var options []option
		if name := r.Blueprint.Delivery.GitOps; name != nil {
			options = append(options, see(at("delivery", "gitops"), "the GitOps tool"))
			tool := ir.GitOpsTool(*name).Facts()
			if tool.Charts {
				unread, instead = []string{manifest}, chart
				message = tool.Name + " installs the chart, not the manifest of the release"
			} else {
				unread, instead = []string{manifest, chart}, ""
				message = tool.Name + " installs the software, and does not compare the SHA-256"
			}
		}
		for _, pin := range unread {
			if !r.Written("versions", "sha256", pin) {
				continue
			}
			cure := "remove versions.sha256." + pin
			if instead != "" {
				cure += ", or set versions.sha256." + instead
			}
			r.add(at("versions", "sha256", pin), message, append(options, advise(cure))...)
		}
	}
}
