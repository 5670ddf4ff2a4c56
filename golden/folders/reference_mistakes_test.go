package folders_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/findings"
	"github.com/batchwright/batchwright/golden/fixture"
)

// referenceMistakes lists mistakes in the hand-written files of the reference
// systems. If a folder could contain a mistake, a check looks for it in every
// golden, and must find it in a golden that was broken for it. If only the compiler
// can notice a mistake, it has a case in golden/findings.
var referenceMistakes = []struct {
	name  string
	check func(fs.FS) []error
	// The broken golden: its folder, a file in it, and an edit.
	folder, file, old, new string
	// The case in golden/findings, and the code of its finding.
	diag, code string
}{
	{
		name: "Workload Identity without the project", check: workloadIdentity,
		folder: "batch-platform", file: "kubernetes/teams/team-a.yaml", old: "wi-team-a@my-project.",
		new: "wi-team-a@.",
	},
	{
		name: "more guaranteed than reserved", diag: "overcommit", code: "E0602",
	},
	{
		name: "admission checks in a field that v1beta2 has not", check: strictQueues,
		folder: "batch-platform-dws", file: "kubernetes/shared-queues.yaml",
		old: "  admissionChecksStrategy:\n    admissionChecks:\n    - name: ", new: "  admissionChecks:\n  - name: ",
	},
	{
		name: "admission checks that no flavor has", check: strictQueues,
		folder: "batch-platform-dws", file: "kubernetes/shared-queues.yaml",
		old: "      onFlavors:\n      - h100-dws\n", new: "",
	},
	{
		name: "a taint that GKE does not set", check: acceleratorTaints,
		folder: "batch-platform", file: "kubernetes/resource-flavors.yaml", old: "value: present",
		new: "value: \"true\"",
	},
	{
		name: "pods in public space", check: privateRanges, diag: "public-range", code: "E0701",
		folder: "batch-platform", file: "terraform/terraform.tfvars", old: "10.4.0.0/14", new: "192.169.0.0/16",
	},
	{
		name:   "a build that owns the project",
		check:  checkAbsent(`roles/(owner|editor)\b`, "terraform", "cloudbuild", "create-platform.sh"),
		folder: "batch-platform", file: "terraform/identities.tf", old: "roles/", new: "roles/owner ",
		diag: "basic-role", code: "E0210",
	},
	{
		name:   "Terraform without its lock",
		check:  checkAbsent(`-lock=false`, "cloudbuild", "README.md", "create-platform.sh", "destroy-platform.sh"),
		folder: "batch-platform", file: "cloudbuild/provision.yaml", old: "-lock-timeout=300s", new: "-lock=false",
	},
	{
		// A || B && C || D runs D if C fails, and hides a failure of B.
		name: "chains that hide failures",
		check: checkAbsent(`(?m)^[^#\n]*\|\|[^\n]*&&|^[^#\n]*&&[^\n]*\|\|`, "cloudbuild", "create-platform.sh",
			"destroy-platform.sh"),
		folder: "batch-platform", file: "cloudbuild/provision.yaml", old: "set -euo pipefail\n",
		new: "set -euo pipefail\n    kubectl get ns x || kubectl create ns x && kubectl get ns x || true\n",
	},
	{
		name: "scripts that go on after an error", check: strictScripts,
		folder: "batch-platform", file: "cloudbuild/provision.yaml", old: "set -euo pipefail\n", new: "set -u\n",
	},
	{
		name: "images that are not pinned", check: pinnedImages, diag: "latest-image", code: "E0804",
		folder: "batch-platform", file: "cloudbuild/provision.yaml", old: ":573.0.0", new: ":latest",
	},
	{
		name: "images of jobs that are not pinned", check: pinnedImages,
		folder: "batch-platform-dws", file: "workloads/team-b/finetune-gemma-7b.yaml",
		old: "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime", new: "pytorch/pytorch",
	},
	{
		name: "manifests before the webhooks answer", check: webhooksFirst,
		folder: "batch-platform", file: "cloudbuild/provision.yaml", old: "--dry-run=server -f kubernetes/",
		new: "--dry-run=client -f kubernetes/",
	},
	{
		name: "a language that is retired",
		check: checkAbsent(`(?i)monitoring_?query_?language|timeSeriesQueryLanguage|"fetch |\| align `, "dashboards",
			"terraform"),
		folder: "batch-platform", file: "dashboards/cloud-monitoring/kueue.json", old: `"prometheusQuery"`,
		new: `"timeSeriesQueryLanguage"`,
	},
	{
		name: "a metric shown twice", check: distinctTiles,
		folder: "batch-platform", file: "dashboards/cloud-monitoring/kueue.json",
		old: "sum(kueue_cluster_queue_nominal_quota{", new: "sum(kueue_cluster_queue_resource_reservation{",
	},
	{
		name: "numbers doubled by the follower", check: leadersOnly,
		folder: "batch-platform", file: "dashboards/grafana/kueue.json", old: `replica_role!=\"follower\",`, new: "",
	},
	{
		name: "a gauge off by 100", check: checkPercentages,
		folder: "batch-platform", file: "dashboards/cloud-monitoring/gpus.json", old: "100 * sum by (model",
		new: "sum by (model",
	},
	{
		name: "nodes counted as chips", check: check.Pools, diag: "tpu-in-nodes", code: "E0411",
		folder: "tpu-training", file: "terraform/node_pools.tf", old: "node_count     = ", new: "node_count     = 1 + ",
	},
	{
		name: "secrets in the folder", check: noSecrets,
		folder: "batch-platform-dws", file: "workloads/team-a/finetune-gemma-2b-files.yaml", old: "kind: ConfigMap\n",
		new: "kind: Secret\n",
	},
}

func TestReferenceMistakes(t *testing.T) {
	folders, cases := fixture.Blueprints(t), findings.Cases(t, findings.Families(t)...)
	for _, m := range referenceMistakes {
		t.Run(m.name, func(t *testing.T) {
			if m.check == nil && m.diag == "" {
				t.Fatal("nothing holds it")
			}
			if m.diag != "" {
				i := slices.IndexFunc(cases, func(c *findings.Case) bool { return c.Name == m.diag })
				if i < 0 || cases[i].Code != m.code {
					t.Errorf("no case %s of golden/findings leads to %s", m.diag, m.code)
				}
			}
			if m.check == nil {
				return
			}
			for _, name := range folders {
				for _, err := range m.check(fixture.FS(compile.Reference(t, name))) {
					t.Errorf("%s: %v", name, err)
				}
			}
			broken := fstest.MapFS{}
			for _, f := range compile.Reference(t, m.folder) {
				broken[f.Path] = &fstest.MapFile{Data: f.Content}
			}
			file := broken[m.file]
			if file == nil || !strings.Contains(string(file.Data), m.old) {
				t.Fatalf("%s/%s has no %q", m.folder, m.file, m.old)
			}
			file.Data = []byte(strings.Replace(string(file.Data), m.old, m.new, 1))
			if len(m.check(broken)) == 0 {
				t.Errorf("not found in %s of a broken %s", m.file, m.folder)
			}
		})
	}
}

// checkTexts returns the errors that find returns for every file below the given files
// and folders. It ignores paths that do not exist.
func checkTexts(folder fs.FS, below []string, find func(name, text string) []error) []error {
	var errs []error
	for _, root := range below {
		if _, err := fs.Stat(folder, root); err != nil {
			continue
		}
		if err := fs.WalkDir(folder, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := fs.ReadFile(folder, name)
			errs = append(errs, find(name, string(content))...)
			return err
		}); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// checkAbsent returns a check that no text matches a pattern.
func checkAbsent(pattern string, below ...string) func(fs.FS) []error {
	re := regexp.MustCompile(pattern)
	return func(folder fs.FS) []error {
		return checkTexts(folder, below, func(name, text string) (errs []error) {
			for _, found := range re.FindAllString(text, -1) {
				errs = append(errs, fmt.Errorf("%s: %q", name, found))
			}
			return errs
		})
	}
}

// checkDocuments is like checkTexts, for the YAML documents of a kind.
func checkDocuments(folder fs.FS, kind string, below []string,
	find func(name string, document []byte) []error) []error {
	return checkTexts(folder, below, func(name, text string) (errs []error) {
		if path.Ext(name) != ".yaml" {
			return nil
		}
		for _, document := range strings.Split(text, "\n---\n") {
			var object struct{ Kind string }
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			} else if object.Kind == kind {
				errs = append(errs, find(name, []byte(document))...)
			}
		}
		return errs
	})
}

// workloadIdentity checks that a team's service account that acts as a Google
// service account names it in full.
func workloadIdentity(folder fs.FS) []error {
	address := regexp.MustCompile(`^[a-z][-a-z0-9]{5,29}@[a-z][-a-z0-9]{4,28}[a-z0-9]\.iam\.gserviceaccount\.com$`)
	return checkDocuments(folder, "ServiceAccount", []string{"kubernetes/teams"},
		func(name string, document []byte) []error {
			var account struct {
				Metadata struct{ Annotations map[string]string }
			}
			err := yaml.Unmarshal(document, &account)
			if got, acts := account.Metadata.Annotations["iam.gke.io/gcp-service-account"]; err != nil ||
				acts && !address.MatchString(got) {
				return []error{fmt.Errorf("%s: acts as %q: %v", name, got, err)}
			}
			return nil
		})
}

// strictQueues checks that ClusterQueues are valid v1beta2 objects without unknown
// fields, and have no admission check that holds up every flavor. A queue that leads
// to nodes on request must have a check on each such flavor.
func strictQueues(folder fs.FS) []error {
	requested := map[kueue.ResourceFlavorReference]bool{}
	if flavors, err := check.ResourceFlavors(folder); err == nil { // otherwise another scheduler has no flavors
		for _, f := range flavors {
			requested[kueue.ResourceFlavorReference(
				f.Name)] = f.Spec.NodeLabels["cloud.google.com/gke-queued"] == "true"
		}
	}
	return checkDocuments(folder, "ClusterQueue", []string{"kubernetes"},
		func(name string, document []byte) (errs []error) {
			var q kueue.ClusterQueue
			if err := yaml.UnmarshalStrict(document, &q); err != nil || q.APIVersion != "kueue.x-k8s.io/v1beta2" {
				return []error{fmt.Errorf("%s: %s: %w", name, q.APIVersion, err)}
			}
			var checked []kueue.ResourceFlavorReference
			if s := q.Spec.AdmissionChecksStrategy; s != nil {
				for _, c := range s.AdmissionChecks {
					if len(c.OnFlavors) == 0 {
						errs = append(errs, fmt.Errorf("%s: %s: check %s is on no flavor", name, q.Name, c.Name))
					}
					checked = append(checked, c.OnFlavors...)
				}
			}
			for _, g := range q.Spec.ResourceGroups {
				for _, f := range g.Flavors {
					if requested[f.Name] != slices.Contains(checked, f.Name) {
						errs = append(errs,
							fmt.Errorf("%s: %s: flavor %s starts on request: %v, and has a check: %v", name, q.Name,
								f.Name, requested[f.Name], !requested[f.Name]))
					}
				}
			}
			return errs
		})
}

// acceleratorTaints checks that GKE's taint of nodes with accelerators has the value
// present.
func acceleratorTaints(folder fs.FS) []error {
	var errs []error
	if flavors, err := check.ResourceFlavors(folder); err == nil {
		for _, f := range flavors {
			for _, t := range f.Spec.NodeTaints {
				if (t.Key == "nvidia.com/gpu" || t.Key == "google.com/tpu") && t.Value != "present" {
					errs = append(errs, fmt.Errorf("flavor %s: %s", f.Name, t.ToString()))
				}
			}
		}
	}
	pools, err := check.NodePools(folder)
	if err != nil {
		return append(errs, err)
	}
	for _, p := range pools {
		for _, t := range p.Taints {
			if (strings.HasPrefix(t, "nvidia.com/gpu=") || strings.HasPrefix(t, "google.com/tpu=")) &&
				!strings.Contains(t, "=present:") {
				errs = append(errs, fmt.Errorf("node pool %s: %s", p.Label, t))
			}
		}
	}
	return errs
}

// privateRanges checks that the platform's own ranges are private: of RFC 1918 or
// the shared address space.
func privateRanges(folder fs.FS) []error {
	private := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	}
	content, err := fs.ReadFile(folder, "terraform/terraform.tfvars")
	if err != nil {
		return []error{err}
	}
	var errs []error
	ranges := regexp.MustCompile(`(?m)^(\w+_range) *= "(.*)"$`).FindAllStringSubmatch(string(content), -1)
	for _, dir := range []string{check.NetworkTeamDir, "terraform/modules/cluster"} {
		if _, err := fs.Stat(folder, dir); err == nil {
			return nil // the ranges belong to others
		}
	}
	if len(ranges) < 4 {
		errs = append(errs,
			fmt.Errorf("%d ranges, want those of nodes, pods, Services and the control plane", len(ranges)))
	}
	for _, m := range ranges {
		p, err := netip.ParsePrefix(m[2])
		if err != nil ||
			!slices.ContainsFunc(private, func(all netip.Prefix) bool {
				return all.Contains(p.Addr()) && all.Bits() <= p.Bits()
			}) {
			errs = append(errs, fmt.Errorf("%s is %s: %v", m[1], m[2], err))
		}
	}
	return errs
}

// build is the part of a build that the checks read.
type build struct {
	Steps []struct {
		ID, Name, Script string
		Args             []string
	}
}

// checkBuilds is like checkTexts, for the builds of a folder.
func checkBuilds(folder fs.FS, find func(name string, b build) []error) []error {
	return checkTexts(folder, []string{"cloudbuild"}, func(name, text string) []error {
		var b build
		if err := yaml.Unmarshal([]byte(text), &b); err != nil || len(b.Steps) == 0 {
			return []error{fmt.Errorf("%s: %d steps: %v", name, len(b.Steps), err)}
		}
		return find(name, b)
	})
}

// strictScripts checks that a script ends at the first error, including errors in a
// pipe, which sh cannot detect.
func strictScripts(folder fs.FS) []error {
	strict := regexp.MustCompile(
		`^(#!/usr/bin/env bash\n(?s:.*)\nset -euo pipefail\n|#!/bin/sh\n(?s:.*)\nset -euf?\n[^|]*$)`)
	return checkBuilds(folder, func(name string, b build) (errs []error) {
		for _, s := range b.Steps {
			if s.Script != "" && !strict.MatchString(s.Script) {
				errs = append(errs, fmt.Errorf("%s: step %s goes on after errors", name, s.ID))
			}
		}
		return errs
	})
}

// pinnedImages checks that the images of builds and jobs have a digest, or a tag
// that does not move.
func pinnedImages(folder fs.FS) []error {
	pinned := regexp.MustCompile(`(:[A-Za-z0-9_][A-Za-z0-9._-]*|@sha256:[0-9a-f]{64})$`)
	check := func(name, image string) []error {
		if !pinned.MatchString(path.Base(image)) || strings.HasSuffix(image, ":latest") {
			return []error{fmt.Errorf("%s: image %s", name, image)}
		}
		return nil
	}
	ofSteps := checkBuilds(folder, func(name string, b build) (errs []error) {
		for _, s := range b.Steps {
			errs = append(errs, check(name, s.Name)...)
		}
		return errs
	})
	image := regexp.MustCompile(`(?m)^ *(?:- )?image: (\S+)$`)
	ofPods := checkTexts(folder, []string{"kubernetes", "workloads"}, func(name, text string) (errs []error) {
		for _, m := range image.FindAllStringSubmatch(text, -1) {
			errs = append(errs, check(name, m[1])...)
		}
		return errs
	})
	return slices.Concat(ofSteps, ofPods)
}

// webhooksFirst checks that the manifests are applied only once, after a step that
// waits until the controllers run and until the API server gets an answer for one of
// their objects. A GitOps tool applies the manifests of some folders, and in a cluster of
// others the controllers run before the build.
func webhooksFirst(folder fs.FS) []error {
	if _, err := fs.Stat(folder, "gitops"); err == nil {
		return nil
	}
	return checkBuilds(folder, func(name string, b build) (errs []error) {
		if path.Base(name) != "provision.yaml" {
			return nil
		}
		answered, applied := false, 0
		for _, s := range b.Steps {
			answered = answered || s.ID == "cluster" // it fails unless the controllers run
			waits := strings.Contains(s.Script, "rollout status") || strings.Contains(s.Script, "kubectl wait")
			if waits && strings.Contains(s.Script, "until ") && strings.Contains(s.Script, "--dry-run=server") &&
				s.ID != "jobset" {
				answered = true
			}
			if slices.Equal(s.Args[max(0, len(s.Args)-2):], []string{"-k", "kubernetes"}) {
				if applied++; !answered {
					errs = append(errs, fmt.Errorf("%s: step %s applies what no webhook may answer for", name, s.ID))
				}
			}
		}
		if applied != 1 {
			errs = append(errs, fmt.Errorf("%s: the manifests are applied by %d steps", name, applied))
		}
		return errs
	})
}

// tile is the part of a tile that the checks read: its title, and its queries with
// their units.
type tile struct {
	dashboard, title string
	queries          [][2]string
}

// monitoringTiles returns the tiles of the dashboards for Cloud Monitoring. Every
// folder has some.
func monitoringTiles(folder fs.FS) ([]tile, []error) {
	var out []tile
	errs := checkTexts(folder, []string{"dashboards/cloud-monitoring"}, func(name, text string) (errs []error) {
		var board struct {
			MosaicLayout struct {
				Tiles []struct {
					Widget map[string]json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &board); err != nil || len(board.MosaicLayout.Tiles) == 0 {
			errs = append(errs, fmt.Errorf("%s: %d tiles: %v", name, len(board.MosaicLayout.Tiles), err))
		}
		query := regexp.MustCompile(`"prometheusQuery":\s*("(?:[^"\\]|\\.)*")(?:,\s*"unitOverride":\s*"([^"]*)")?`)
		for _, t := range board.MosaicLayout.Tiles {
			one := tile{dashboard: name}
			for kind, content := range t.Widget {
				if kind == "title" {
					one.title = string(content)
				}
				for _, m := range query.FindAllStringSubmatch(string(content), -1) {
					var expr string
					if err := json.Unmarshal([]byte(m[1]), &expr); err != nil {
						errs = append(errs, err)
					}
					one.queries = append(one.queries, [2]string{expr, m[2]})
				}
			}
			if one.queries != nil {
				out = append(out, one)
			}
		}
		return errs
	})
	if out == nil {
		errs = append(errs, errors.New("no tiles"))
	}
	return out, errs
}

// distinctTiles checks that no two tiles of a dashboard show the same data.
func distinctTiles(folder fs.FS) []error {
	all, errs := monitoringTiles(folder)
	seen := map[string]string{}
	for _, t := range all {
		key := fmt.Sprint(t.dashboard, t.queries)
		if other, twice := seen[key]; twice {
			errs = append(errs, fmt.Errorf("%s: %s shows what %s shows", t.dashboard, t.title, other))
		}
		seen[key] = t.title
	}
	return errs
}

// leadersOnly checks that queries of Kueue's metrics select only the leader among
// Kueue's replicas, except queries for the values of a variable.
func leadersOnly(folder fs.FS) []error {
	selector := regexp.MustCompile(`(label_values\()?\bkueue_[a-z_]+\{[^}]*`)
	return checkTexts(folder, []string{"dashboards", "terraform/monitoring.tf"},
		func(name, text string) (errs []error) {
			for _, found := range selector.FindAllString(text, -1) {
				if !strings.Contains(found, "replica_role") && !strings.HasPrefix(found, "label_values") {
					errs = append(errs, fmt.Errorf("%s: %s}", name, found))
				}
			}
			return errs
		})
}

// checkPercentages checks that a ratio is multiplied by 100 if its unit is percent,
// and not if the unit itself implies the factor.
func checkPercentages(folder fs.FS) []error {
	all, errs := monitoringTiles(folder)
	for _, t := range all {
		for _, q := range t.queries {
			part, hundred := strings.Contains(q[0], ") / "), strings.Contains(q[0], "100 * ")
			if q[1] == "%" && part != hundred || q[1] == "10^2.%" && hundred {
				errs = append(errs, fmt.Errorf("%s: %s in %s: %s", t.dashboard, t.title, q[1], q[0]))
			}
		}
	}
	return errs
}

// noSecrets checks that Secrets are empty, and that no file has a Hugging Face
// token.
func noSecrets(folder fs.FS) []error {
	filled := checkDocuments(folder, "Secret", []string{"kubernetes", "workloads"},
		func(name string, document []byte) []error {
			var secret struct{ Data, StringData map[string]string }
			if err := yaml.Unmarshal(document, &secret); err != nil || len(secret.Data)+len(secret.StringData) > 0 {
				return []error{
					fmt.Errorf("%s: a Secret of %d values: %v", name, len(secret.Data)+len(secret.StringData), err),
				}
			}
			return nil
		})
	return slices.Concat(filled, checkAbsent(`\bhf_[A-Za-z0-9]{30}`, ".")(folder))
}
