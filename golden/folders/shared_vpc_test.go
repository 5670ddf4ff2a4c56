package folders_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

func sharedVPC(t *testing.T) fs.FS {
	return fixture.FS(compile.Reference(t, "shared-vpc"))
}

// TestSharedVPCMakesNoNetwork holds that the platform's own Terraform creates nothing of a
// network, and that its build may not.
func TestSharedVPCMakesNoNetwork(t *testing.T) {
	files := sharedVPC(t)
	made := regexp.MustCompile(`resource "google_compute_(network|subnetwork|router|router_nat|firewall|route|address)`)
	err := fs.WalkDir(files, "terraform", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if found := made.Find(fixture.ReadFile(t, files, path)); found != nil {
			t.Errorf("%s: %s", path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	create := fixture.ReadFile(t, files, "create-platform.sh")
	for _, role := range []string{"networkAdmin", "securityAdmin", "networkUser"} {
		if strings.Contains(string(create), role) {
			t.Errorf("create-platform.sh grants %s in the platform's own project", role)
		}
	}
	clusters, err := check.TerraformResources(files, "terraform/cluster.tf", "google_container_cluster")
	if err != nil || len(clusters) != 1 {
		t.Fatalf("%d clusters, %v", len(clusters), err)
	}
	if strings.Contains(string(fixture.ReadFile(t, files, "terraform/cluster.tf")), "master_ipv4_cidr_block") {
		t.Error("the control plane has a range of its own")
	}
}

// TestSharedVPCTeam holds that the file and the page for the owners of the network name
// the same subnets, members and roles. The lists are written by hand from GKE's
// documentation, "Set up clusters with Shared VPC".
func TestSharedVPCTeam(t *testing.T) {
	files := sharedVPC(t)
	for _, path := range []string{"network-team/main.tf", "network-team/README.md"} {
		text := strings.ReplaceAll(string(fixture.ReadFile(t, files, path)), "${var.platform_number}", "NUMBER")
		for _, want := range []string{
			"gpu-gvnic-b", "gpu-rdma-b-0", "gpu-rdma-b-7", "batch-pods",
			"serviceAccount:shared-vpc-build@my-project.iam.gserviceaccount.com",
			"serviceAccount:NUMBER@cloudservices.gserviceaccount.com",
			"serviceAccount:service-NUMBER@container-engine-robot.iam.gserviceaccount.com",
			"roles/compute.networkUser", "roles/container.hostServiceAgentUser",
			"shared-vpc-nodes@my-project.iam.gserviceaccount.com", "8082", "9443", "199.36.153.4/30",
			"compute.googleapis.com", "container.googleapis.com",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not name %s", path, want)
			}
		}
	}
}

// TestSharedVPCImages holds that everything that the platform installs comes from the
// mirror. Only the teams' own workloads name other images.
func TestSharedVPCImages(t *testing.T) {
	files := sharedVPC(t)
	const mirror = "us-docker.pkg.dev/net-host/mirror/"
	image := regexp.MustCompile(`(?m)^\s*(?:- )?(image|name): (\S+[/:]\S*)$`)
	var own []string
	for _, dir := range []string{"kubernetes", "cloudbuild", "workloads", "dashboards"} {
		err := fs.WalkDir(files, dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".yaml") {
				return err
			}
			for _, m := range image.FindAllSubmatch(fixture.ReadFile(t, files, path), -1) {
				name := string(m[2])
				if string(m[1]) == "name" && dir != "cloudbuild" {
					continue // only a step of a build has its image there
				}
				registry, _, _ := strings.Cut(name, "/")
				switch {
				case strings.HasPrefix(name, mirror), strings.Contains(name, "$IMAGE"):
				case !strings.ContainsAny(registry, ".:") && !strings.HasPrefix(name, "hashicorp/"):
					// a name of something else
				case strings.HasPrefix(path, "workloads/"):
					own = append(own, name)
				default:
					t.Errorf("%s: %s does not come from the mirror", path, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	own = slices.Compact(own)
	if diff := cmp.Diff([]string{"us-docker.pkg.dev/my-project/shared-vpc/all-gather:1.0"}, own); diff != "" {
		t.Errorf("images of workloads (-want +got):\n%s", diff)
	}
}
