package guide_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// existingForms returns the files of platforms in clusters of others, by what is special
// about each.
func existingForms() map[string][]string {
	blueprint, own := fixture.Path("blueprints/existing"), "golden/guide/testdata/existing/own-kueue.cue"
	gitops := func(name string) string { return filepath.Join("golden/testdata/gitops", name+".cue") }
	return map[string][]string{
		"Kueue of others":                                {blueprint},
		"Kueue of others, Argo CD":                       {blueprint, fixture.Path("blueprints/batch-platform-argocd")},
		"Kueue of others, Infrastructure Manager":        {blueprint, gitops("managed")},
		"its own Kueue":                                  {own},
		"its own Kueue, Flux":                            {own, gitops("flux")},
		"its own Kueue, Config Sync, no Terraform state": {own, gitops("configsync"), gitops("managed")},
		"a node pool that is taken over":                 {blueprint, "golden/guide/testdata/existing/takeover.cue"},
		"networks of GPUs":                               {"golden/guide/testdata/existing/gpus.cue"},
	}
}

// ownClusterWords are true only of a platform that creates its cluster or its network.
var ownClusterWords = regexp.MustCompile(`(?i)deletion.protection|release channel|projects delete|delete the project|` +
	`platform alone|own project|(create|delete|destroy)s? the (network|cluster\b)[^.]|and its network|system pool|` +
	`once the cluster exists|when the cluster exists|new cluster|the network, the|services disable|` +
	`cluster\.(securityGroup|autoProvisioning|authorizedNetworks|minVersion)|maintenance window on|` +
	`no public IP address|get-credentials \S+ --region| 0 nodes of type|: 0 of|` + "``" + `|\*\*\*`)

// TestExistingGuide checks the pages and the scripts of platforms in clusters of others:
// they say nothing that is true only of a cluster of the platform, they give the time limit
// of the build, and they list the steps of both builds.
func TestExistingGuide(t *testing.T) {
	for name, paths := range existingForms() {
		t.Run(name, func(t *testing.T) {
			folder := fixture.FS(compile.Folder(t, paths...))
			for _, err := range check.Folder(folder) {
				t.Error(err)
			}
			checkOwnWords(t, folder)
			checkSteps(t, folder, "Steps of the build", "cloudbuild/provision.yaml")
			checkSteps(t, folder, "Steps of the removal", "cloudbuild/destroy.yaml")
			checkTimeLimit(t, folder)
		})
	}
}

// checkOwnWords reports texts that are true only of a cluster of the platform.
func checkOwnWords(t *testing.T, folder fs.FS) {
	t.Helper()
	for _, name := range append([]string{
		"instructions.txt", "create-platform.sh", "destroy-platform.sh", "network-team/README.md",
	}, check.GuidePages...) {
		if name == "network-team/README.md" {
			if _, err := fs.Stat(folder, name); err != nil {
				continue
			}
		}
		for i, line := range strings.Split(string(fixture.ReadFile(t, folder, name)), "\n") {
			if found := ownClusterWords.FindString(line); found != "" && !strings.HasPrefix(line, "```") {
				t.Errorf("%s:%d says %q: %s", name, i+1, found, line)
			}
		}
	}
}
