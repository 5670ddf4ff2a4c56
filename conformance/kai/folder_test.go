package kai_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	kaiv2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var folders = flag.String("folders", "../../golden", "the `directory` of the deploy folder kai-departments")

// document is one object of a YAML file, not decoded.
type document []byte

// documents returns the objects of a kind in the files that match a pattern, in the
// files' order. It fails the test if there are none.
func documents(t *testing.T, pattern, kind string) []document {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*folders, "kai-departments", pattern))
	if err != nil {
		t.Fatal(err)
	}
	var found []document
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range bytes.Split(text, []byte("\n---\n")) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal(d, &meta); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if meta.Kind == kind {
				found = append(found, d)
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("no %s in %s", kind, pattern)
	}
	return found
}

// decode decodes a document strictly: T must have all of its fields.
func decode[T any](t *testing.T, d document) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict(d, object); err != nil {
		var meta metav1.PartialObjectMetadata
		_ = yaml.Unmarshal(d, &meta) // for the message alone
		t.Fatalf("%s %s: %v", meta.Kind, meta.Name, err)
	}
	return object
}

func queueDocuments(t *testing.T) []document {
	t.Helper()
	return append(documents(t, "kubernetes/cohorts.yaml", "Queue"), documents(t, "kubernetes/teams/*.yaml", "Queue")...)
}

func queues(t *testing.T) []*kaiv2.Queue {
	t.Helper()
	var all []*kaiv2.Queue
	for _, d := range queueDocuments(t) {
		all = append(all, decode[kaiv2.Queue](t, d))
	}
	return all
}

// jobs returns the folder's Jobs by name.
func jobs(t *testing.T) map[string]*batchv1.Job {
	t.Helper()
	all := map[string]*batchv1.Job{}
	for _, d := range documents(t, "workloads/*/*.yaml", "Job") {
		job := decode[batchv1.Job](t, d)
		all[job.Name] = job
	}
	return all
}

// script is the text of demonstrate.sh, which holds the phases as arrays of quoted
// strings.
type script string

func readScript(t *testing.T) script {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*folders, "kai-departments/demonstrate.sh"))
	if err != nil {
		t.Fatal(err)
	}
	return script(text)
}

var quotedStrings = regexp.MustCompile(`'[^']*'`)

// array returns the lines of an array, each of which holds n strings. A string can have
// several lines.
func (s script) array(t *testing.T, name string, n int) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(string(s), "\n"+name+"=(")
	body, _, closed := strings.Cut(rest, "\n)\n")
	if !found || !closed {
		t.Fatalf("demonstrate.sh has no array %s", name)
	}
	elements := quotedStrings.FindAllString(body, -1)
	if len(elements)%n != 0 {
		t.Fatalf("%s has %d strings, want %d in each line", name, len(elements), n)
	}
	for i, e := range elements {
		elements[i] = strings.Trim(e, "'")
	}
	return slices.Collect(slices.Chunk(elements, n))
}

// pool holds the attributes of a Terraform node pool that decide about its nodes.
type pool struct {
	Name   string `hcl:"name"`
	Count  int    `hcl:"node_count"`
	Config struct {
		Machine string            `hcl:"machine_type"`
		Labels  map[string]string `hcl:"labels,optional"`
		Taints  []struct {
			Key    string `hcl:"key"`
			Value  string `hcl:"value"`
			Effect string `hcl:"effect"`
		} `hcl:"taint,block"`
		GPU *struct {
			Type  string   `hcl:"type"`
			Count int64    `hcl:"count"`
			Rest  hcl.Body `hcl:",remain"`
		} `hcl:"guest_accelerator,block"`
		Rest hcl.Body `hcl:",remain"`
	} `hcl:"node_config,block"`
	Rest hcl.Body `hcl:",remain"`
}

// nodes returns the nodes of the folder's only pool with GPUs, named POOL-1 and so
// on, as GKE creates them: with the pool's labels and taints, and the labels that
// GKE adds.
func nodes(t *testing.T) []*corev1.Node {
	t.Helper()
	file, diags := hclparse.NewParser().ParseHCLFile(filepath.Join(*folders, "kai-departments/terraform/node_pools.tf"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "resource", LabelNames: []string{"type", "name"}}},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var all []*corev1.Node
	for _, block := range content.Blocks {
		var p pool
		if diags := gohcl.DecodeBody(block.Body, nil, &p); diags.HasErrors() {
			t.Fatal(diags)
		}
		if p.Config.GPU == nil {
			continue
		}
		for i := range p.Count {
			all = append(all, p.node(t, i+1))
		}
	}
	return all
}

func (p pool) node(t *testing.T, i int) *corev1.Node {
	t.Helper()
	if p.Config.Machine != "a3-highgpu-8g" {
		t.Fatalf("how large is a %s?", p.Config.Machine)
	}
	size := corev1.ResourceList{
		"nvidia.com/gpu": *resource.NewQuantity(p.Config.GPU.Count, resource.DecimalSI),
		// Source: Compute Engine documentation, "GPU machine types". GKE keeps some
		// of it, which the jobs do not come near.
		corev1.ResourceCPU:    resource.MustParse("208"),
		corev1.ResourceMemory: resource.MustParse("1872Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", p.Name, i),
			Labels: map[string]string{
				"cloud.google.com/gke-nodepool":    p.Name,
				"cloud.google.com/gke-accelerator": p.Config.GPU.Type,
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    size,
			Allocatable: size,
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for key, value := range p.Config.Labels {
		node.Labels[key] = value
	}
	for _, taint := range p.Config.Taints {
		if taint.Effect != "NO_SCHEDULE" {
			t.Fatalf("taint of effect %s", taint.Effect)
		}
		node.Spec.Taints = append(node.Spec.Taints,
			corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffectNoSchedule})
	}
	return node
}
