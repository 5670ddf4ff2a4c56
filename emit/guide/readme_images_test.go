package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestOwnImages checks that the pages name the workloads whose images somebody must
// build, that their commands build the first of these images, and that the pages say
// where its directory is. An image with a digest exists.
func TestOwnImages(t *testing.T) {
	const repository = "us-central1-docker.pkg.dev/my-project/gke-batch"
	p := newPlatform(4)
	p.Project, p.Delivery.Region, p.Delivery.Repository = "my-project", "us-central1", "gke-batch"
	for _, test := range []struct {
		name, image, auxiliary string
		needs, readme          string
	}{
		{"public", "python:3.12.8", "", "", "IMAGE=my-image:1.0"},
		{"another project", "us-central1-docker.pkg.dev/other/gke-batch/train:1", "", "", "IMAGE=my-image:1.0"},
		{"own", repository + "/nlp/train:1.4", "", "requires the image `nlp/train:1.4`",
			"SOURCE=../train\nIMAGE=nlp/train:1.4"},
		{"by digest", repository + "/train@sha256:" + strings.Repeat("0", 64), "", "",
			"SOURCE=my-image\nIMAGE=my-image:1.0"},
		{"by tag and digest", repository + "/train:1.4@sha256:" + strings.Repeat("0", 64), repository + "/upload:2",
			"requires the image `upload:2`", "SOURCE=../upload\nIMAGE=upload:2"},
		{"both", repository + "/train:1.4", repository + "/upload:2", "requires the images `train:1.4`, " +
			"`upload:2`", "SOURCE=../train\nIMAGE=train:1.4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := ir.Workload{Template: "train", Name: "train", Kind: ir.JobSet, Team: p.Teams[0].Name}
			w.Image = test.image
			if test.auxiliary != "" {
				w.Auxiliaries = []ir.Auxiliary{{Name: "upload", Image: test.auxiliary}}
			}
			p.Workloads = []ir.Workload{w}
			pages := renderPages(t, p)
			for _, page := range []string{readmePage, usingPage} {
				if got := strings.Contains(pages[page], "from this repository"); got != (test.needs != "") ||
					!strings.Contains(pages[page], test.needs) {
					t.Errorf("%s names images to build: %t, want %q", page, got, test.needs)
				}
			}
			if !strings.Contains(pages[readmePage], test.readme+"\n") {
				t.Errorf("README.md lacks %q", test.readme)
			}
			for _, page := range []string{readmePage, usingPage} {
				if strings.Contains(pages[page], "`batchwright init`, the directory is `../") != (test.needs != "") {
					t.Errorf("%s says where the Dockerfile is, or does not", page)
				}
			}
			const named = "A workload that specifies the image with this tag requires no change."
			if got := strings.Contains(pages[readmePage], named); got != (test.needs != "") {
				t.Errorf("README.md says that the blueprint names the image: %t", got)
			}
			const all = "all of your team's workloads. First an administrator builds `"
			if got := strings.Contains(pages[usingPage], all); got != (test.needs != "") {
				t.Errorf("USING.md says which images all workloads need: %t", got)
			}
			using := strings.Replace(test.readme, "IMAGE=", "IMAGE="+repository+"/", 1)
			if !strings.Contains(pages[usingPage], using+"\n") {
				t.Errorf("USING.md lacks %q", using)
			}
		})
	}
}
