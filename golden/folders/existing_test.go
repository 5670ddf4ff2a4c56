package folders_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

func existingCluster(t *testing.T) fs.FS {
	return fixture.FS(compile.Reference(t, "existing"))
}

// TestExistingClusterIsNotOwned holds that the folder of a platform in a cluster of others
// creates, changes and deletes no cluster and no network, and that its build may not.
func TestExistingClusterIsNotOwned(t *testing.T) {
	files := existingCluster(t)
	owned := regexp.MustCompile(`resource "google_(container_cluster|compute_(network|subnetwork|router|firewall))`)
	err := fs.WalkDir(files, "terraform", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if found := owned.Find(fixture.ReadFile(t, files, path)); found != nil {
			t.Errorf("%s: %s", path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	create := string(fixture.ReadFile(t, files, "create-platform.sh"))
	for _, right := range []string{
		"roles/container.admin", "container.clusters.delete", "container.clusters.create", "networkAdmin",
		"securityAdmin",
	} {
		if strings.Contains(create, right) {
			t.Errorf("create-platform.sh grants %s", right)
		}
	}
	for _, build := range []string{"cloudbuild/provision.yaml", "cloudbuild/destroy.yaml"} {
		text := string(fixture.ReadFile(t, files, build))
		for _, command := range []string{
			"clusters delete", "clusters create", "clusters update", "deletion_protection=",
		} {
			if strings.Contains(text, command) {
				t.Errorf("%s: %s", build, command)
			}
		}
	}
}

// TestExistingClusterSteps lists the steps of both builds: nothing installs a controller that
// others run, and the cluster is compared before anything changes.
func TestExistingClusterSteps(t *testing.T) {
	files := existingCluster(t)
	id := regexp.MustCompile(`(?m)^  id: (\S+)$`)
	for build, want := range map[string][]string{
		"provision": {
			"settings", "access", "cluster", "turn", "state-bucket", "unlock", "terraform-init", "terraform-plan",
			"terraform-show", "retire", "terraform-apply", "credentials", "priorities", "local-queues",
			"manifests", "queues", "managed",
			"dashboards",
		},
		"destroy": {"settings", "access", "turn", "unlock", "terraform-init", "leave", "terraform-destroy"},
	} {
		var got []string
		for _, m := range id.FindAllSubmatch(fixture.ReadFile(t, files, "cloudbuild/"+build+".yaml"), -1) {
			got = append(got, string(m[1]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps of %s (-want +got):\n%s", build, diff)
		}
	}
}

// TestExistingClusterObjects lists the objects that are in no namespace. All names begin with
// the name of the platform or are names of the blueprint, no PriorityClass is the default of
// the cluster, and no object is in a namespace of others.
func TestExistingClusterObjects(t *testing.T) {
	files := existingCluster(t)
	own := []string{"speech", "vision"}
	var scoped []string
	err := fs.WalkDir(files, "kubernetes", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "kustomization.yaml" {
			return err
		}
		for document := range strings.SplitSeq(string(fixture.ReadFile(t, files, path)), "\n---\n") {
			if strings.Contains(document, "globalDefault: true") {
				t.Errorf("%s: a default PriorityClass", path)
			}
			kind := regexp.MustCompile(`(?m)^kind: (\S+)$`).FindStringSubmatch(document)[1]
			name := regexp.MustCompile(`(?m)^  name: (\S+)$`).FindStringSubmatch(document)[1]
			namespace := regexp.MustCompile(`(?m)^  namespace: (\S+)$`).FindStringSubmatch(document)
			switch {
			case namespace == nil:
				scoped = append(scoped, kind+" "+name)
			case !slices.Contains(own, namespace[1]):
				t.Errorf("%s: %s %s is in namespace %s", path, kind, name, namespace[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(scoped)
	want := []string{
		"ClusterQueue cq-speech-research-high", "ClusterQueue cq-speech-research-low",
		"ClusterQueue cq-vision-research-high", "ClusterQueue cq-vision-research-low",
		"ClusterRole research-job-submitter", "Cohort research", "Namespace speech", "Namespace vision",
		"PriorityClass research-high", "PriorityClass research-low",
		"ResourceFlavor research-l4", "ResourceFlavor research-l4-spot",
		"ValidatingAdmissionPolicy research-jobs-are-queued", "ValidatingAdmissionPolicy research-jobs-block-nobody",
		"ValidatingAdmissionPolicy research-jobs-end-with-their-pods",
		"ValidatingAdmissionPolicy research-jobs-fit-nodes",
		"ValidatingAdmissionPolicy research-jobs-stay-in-bounds",
		"ValidatingAdmissionPolicy research-services-are-headless",
		"ValidatingAdmissionPolicyBinding research-jobs-are-queued",
		"ValidatingAdmissionPolicyBinding research-jobs-block-nobody",
		"ValidatingAdmissionPolicyBinding research-jobs-end-with-their-pods",
		"ValidatingAdmissionPolicyBinding research-jobs-fit-nodes",
		"ValidatingAdmissionPolicyBinding research-jobs-stay-in-bounds",
		"ValidatingAdmissionPolicyBinding research-services-are-headless",
	}
	if diff := cmp.Diff(want, scoped); diff != "" {
		t.Errorf("objects without a namespace (-want +got):\n%s", diff)
	}
}
