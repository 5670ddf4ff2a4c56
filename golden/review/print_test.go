package review_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/emit/review"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/jobs"
	changed "github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
	"github.com/batchwright/batchwright/golden/fixture"
)

// printedReviews maps each archive of golden/review, which holds the output of every
// format, to a function that returns its handwritten review.
var printedReviews = map[string]func() *review.Review{
	"empty": func() *review.Review { return &review.Review{Before: "origin/main", After: "the blueprint"} },
	"formatting": func() *review.Review {
		return &review.Review{Platform: "a", Before: "deploy/", After: "the blueprint", Formatting: 3}
	},
	"quota":        quotaReview,
	"replacements": replacementsReview,
	"moved": func() *review.Review {
		return &review.Review{
			Platform: "prod", Before: "main", After: "HEAD",
			StateFrom: "gs://my-project-test-tfstate/test/terraform",
			StateTo:   "gs://my-project-prod-tfstate/prod/terraform",
			Summary: []summary.Line{
				{
					Topic: summary.TopicCluster, Op: delta.Changed, Subject: "platform", What: "name", From: "test",
					To: "prod",
				},
			},
		}
	},
	"many-teams": func() *review.Review { return manyTeamsReview(100) },
	"hostile":    hostileReview,
}

func quotaReview() *review.Review {
	return &review.Review{
		Platform: "a3-ultra-flex", Before: "origin/main", After: "HEAD",
		Summary: []summary.Line{{
			Topic: summary.TopicQuota, Op: delta.Changed, Subject: "the shared queue of high",
			What: "nominal quota of a3-ultra",
			From: "512 nvidia.com/gpu", To: "768 nvidia.com/gpu", Note: "guaranteed in all: 768 of 512 there are",
		}},
		Objects: []changed.Object{
			{File: "README.md", Line: 1, Kind: "file", Name: "README.md", Op: delta.Changed},
			{
				File: "kubernetes/shared-queues.yaml", Line: 3, Kind: "ClusterQueue", Name: "a3-ultra",
				Op: delta.Changed,
				Fields: []changed.Field{
					{
						Path: "spec.resourceGroups[0].flavors[a3-ultra].resources[nvidia.com/gpu].nominalQuota",
						From: "512", To: "768",
					},
				},
			},
		},
	}
}

func replacementsReview() *review.Review {
	pool := func(name string, because ...changed.Field) changed.Replacement {
		return changed.Replacement{
			Address: "google_container_node_pool." + name, File: "terraform/node_pools.tf", Line: 40, Because: because,
			Nodes:     24,
			Workloads: []string{"speech/tune", "vision/train"},
		}
	}
	var everybody []string
	for i := range 12 {
		everybody = append(everybody, fmt.Sprintf("team-%02d/train", i))
	}
	cluster := "google_container_cluster.gke_batch"
	return &review.Review{
		Platform: "gke-batch", Before: "v1.2.0", After: "the blueprint", Formatting: 1,
		Replacements: []changed.Replacement{
			{
				Address: cluster, File: "terraform/cluster.tf", Line: 1, Nodes: 70, Workloads: everybody,
				Guard: "while deletion protection is on",
				Order: "two builds: first set cluster.deletionProtection to false, then make the change",
				Because: []changed.Field{
					{Path: "location", From: "us-central1", To: "us-east4"}, {Path: "enable_autopilot", To: "true"},
				},
			},
			pool("l4_ondemand", changed.Field{Path: "cluster", To: cluster}),
			pool("l4_spot", changed.Field{Path: "cluster", To: cluster},
				changed.Field{Path: "node_config.spot", From: "true"}),
			{
				Address: `google_compute_resource_policy.slices["slices-1"]`, File: "terraform/node_pools.tf", Line: 12,
				Because: []changed.Field{{Path: "group_placement_policy.collocation", From: "COLLOCATED"}},
			},
		},
		Removals: []changed.Replacement{
			{
				Address: `google_storage_bucket.team["speech"]`, File: "terraform/storage.tf", Line: 6,
				Workloads: []string{"speech/tune"}, Guard: "while it holds anything",
			},
			{Address: "google_container_node_pool.a100", File: "terraform/node_pools.tf", Line: 90, Nodes: 8},
		},
		Jobs: []jobs.Effect{{
			Cause: `capacity "l4-spot": its nodes are replaced`, Teams: []string{"speech", "vision"},
			Capacity: "l4-spot",
			Running: jobs.Outcome{
				Kind: jobs.Stop, Text: "stop before the nodes are replaced, and wait in their queues again",
			},
			Waiting: jobs.Outcome{Kind: jobs.Wait, Text: "cannot start on this capacity until the build ends"},
		}},
		Summary: []summary.Line{
			{
				Topic: summary.TopicCluster, Op: delta.Changed, Subject: "the cluster", What: "region",
				From: "us-central1", To: "us-east4",
			},
			{
				Topic: summary.TopicCapacity, Op: delta.Changed, Subject: `capacity "l4-spot"`, What: "consumption",
				From: "spot", To: "on demand",
			},
			{Topic: summary.TopicCapacity, Op: delta.Removed, Subject: `capacity "a100-compact"`},
			{Topic: summary.TopicTeams, Op: delta.Added, Subject: `team "vision"`, To: `cohort "research"`},
			{
				Topic: summary.TopicTeams, Op: delta.Removed, Subject: `team "speech"`,
				Note: "its namespace is removed from configuration with all that is in it",
			},
			{
				Topic: summary.TopicAccess, Op: delta.Added, Subject: `team "vision"`, What: "group that may submit",
				To: "vision@example.com",
			},
			{
				Topic: summary.TopicSecurity, Op: delta.Changed, Subject: "cluster", What: "deletion protection",
				From: "on", To: "off",
				Note: "dangerous: Terraform no longer refuses to destroy the cluster, with all that runs there",
			},
			{
				Topic: summary.TopicWorkloads, Op: delta.Changed, Subject: `workload "train" of all 12 teams`,
				What: "command", From: "python train.py --epochs 3 | tee log",
				To: "python train.py --epochs 4 | tee log",
			},
			{Topic: summary.TopicAlerts, Op: delta.Removed, Subject: `alert "SpotPreemptionBurst"`},
			{
				Topic: summary.TopicGuarantees, Op: delta.Changed, Subject: `capacity "l4-ondemand"`,
				What: "guaranteed by all queues", From: "16 GPUs", To: "20 GPUs", Note: "more than the 18 there are",
			},
			{
				Topic: summary.TopicCloudQuota, Op: delta.Changed, Subject: "Google Cloud quota NVIDIA_L4_GPUS",
				From: "24 GPUs admitted, 56 at most", To: "28 GPUs admitted, 116 at most",
				Note: "and with it SSD_TOTAL_GB: 5000 -> 6000 GB admitted; GPUS_ALL_REGIONS: 80 -> 98 GPUs admitted",
			},
		},
		Objects: []changed.Object{
			{File: "kubernetes/teams/speech.yaml", Line: 1, Kind: "Namespace", Name: "speech", Op: delta.Removed},
			{File: "kubernetes/teams/vision.yaml", Line: 1, Kind: "Namespace", Name: "vision", Op: delta.Added},
			{
				File: "kubernetes/teams/vision.yaml", Line: 9, Kind: "LocalQueue", Name: "vision/lq-vision",
				Op: delta.Added,
			},
			{
				File: "terraform/node_pools.tf", Line: 40, Kind: "resource google_container_node_pool", Name: "l4_spot",
				Op: delta.Changed,
				Fields: []changed.Field{
					{Path: "node_config.spot", From: "true"}, {Path: "node_config.labels", To: `{ "a" = "b" }`},
				},
			},
		},
	}
}

// manyTeamsReview returns a review in which one number changed for n teams.
func manyTeamsReview(n int) *review.Review {
	r := &review.Review{Platform: "gke-batch", Before: "main", After: "HEAD", Formatting: n}
	for i := range n {
		name := fmt.Sprintf("team-%04d", i)
		r.Summary = append(r.Summary, summary.Line{
			Topic: summary.TopicQuota, Op: delta.Changed, Subject: fmt.Sprintf("team %q", name),
			What: "nominal quota of l4-spot in lp", From: "12 nvidia.com/gpu", To: "16 nvidia.com/gpu",
		})
		o := changed.Object{
			File: "kubernetes/teams/" + name + ".yaml", Line: 60, Kind: "ClusterQueue", Name: "cq-" + name + "-lp",
			Op: delta.Changed,
		}
		for _, resource := range []string{"cpu", "memory", "nvidia.com/gpu"} {
			o.Fields = append(o.Fields,
				changed.Field{
					Path: "spec.resourceGroups[0].flavors[l4-spot].resources[" + resource + "].nominalQuota",
					From: "12", To: "16",
				})
		}
		r.Objects = append(r.Objects, o)
	}
	return r
}

// hostileReview returns a review in which every text is special for a terminal,
// Markdown, HTML or a runner.
func hostileReview() *review.Review {
	const evil = "@team #1 !2 \x1b[31m|`</code></details>\n::error::x\n<img src=x> [a](http://e.com) --> %0A ``` " +
		"www.e.com \u202e"
	field := []changed.Field{{Path: evil, From: evil, To: evil}}
	return &review.Review{
		Platform: evil, Before: evil, After: evil, Formatting: 1,
		Replacements: []changed.Replacement{
			{Address: evil, File: evil, Line: 1, Because: field, Nodes: 1, Workloads: []string{evil}},
		},
		StateFrom: evil, StateTo: evil,
		Removals: []changed.Replacement{{Address: evil, File: evil, Line: 1, Workloads: []string{evil}, Guard: evil}},
		Jobs: []jobs.Effect{{
			Cause: evil, Teams: []string{evil}, Tier: evil, Running: jobs.Outcome{Kind: jobs.Stop, Text: evil},
		}},
		Summary: []summary.Line{
			{Topic: summary.TopicTeams, Op: delta.Changed, Subject: evil, What: evil, From: evil, To: evil, Note: evil},
		},
		Objects: []changed.Object{{File: evil, Line: 1, Kind: evil, Name: evil, Op: delta.Changed, Fields: field}},
	}
}

// TestPrintedReviews checks the output of every format.
func TestPrintedReviews(t *testing.T) {
	for name, make := range printedReviews {
		t.Run(name, func(t *testing.T) {
			r := make()
			var archive txtar.Archive
			print := func(file string, write func(io.Writer) error) {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				archive.Files = append(archive.Files, txtar.File{Name: file, Data: b.Bytes()})
			}
			print("review.txt", func(w io.Writer) error { return review.Text(w, r, false) })
			print("review.md", func(w io.Writer) error { return review.Markdown(w, r) })
			print("review.json", func(w io.Writer) error { return review.JSON(w, r) })
			print("github.txt", func(w io.Writer) error { return review.GitHub(w, r, "deploy/prod") })
			content := txtar.Format(&archive)
			if parsed := txtar.Parse(content); len(parsed.Files) != len(archive.Files) {
				t.Fatal("a line looks like the header of a file")
			}
			fixture.CompareFile(t, name+".txtar", content)
		})
	}
	files, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); printedReviews[name] == nil {
			t.Errorf("%s: nothing makes it", file)
		}
	}
}
