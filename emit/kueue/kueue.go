// Package kueue renders the cluster's queueing side: Kueue's configuration and
// its flavors, cohorts and queues, the ComputeClasses behind flavors, and the
// teams' namespaces, identities and rights. A plan goes in, the folder
// kubernetes/ comes out, less what is there for monitoring.
package kueue

import (
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// folder is the kustomization's place in the deploy folder.
const folder = "kubernetes"

// Files returns the folder kubernetes/ but its subfolder monitoring, which the
// kustomization lists last all the same. Files come in the order in which they
// are to be applied; the kustomization is the last of them.
func Files(p *ir.Platform) ([]emit.File, error) {
	kueueConfiguration, err := configuration(p)
	if err != nil {
		return nil, err
	}
	type manifest struct {
		name    string
		objects []any
	}
	manifests := []manifest{
		{"system/kueue-configuration.yaml", []any{kueueConfiguration}},
		{"system/job-submitter.yaml", []any{jobSubmitter(p)}},
		{"system/admission-policies.yaml", admissionPolicies(p)},
		{"priority-classes.yaml", priorityClasses(p)},
		{"compute-classes.yaml", computeClasses(p)},
		{"resource-flavors.yaml", resourceFlavors(p)},
		{"admission-checks.yaml", admissionChecks(p)},
		{"cohorts.yaml", cohorts(p)},
	}
	for _, t := range p.Teams {
		manifests = append(manifests, manifest{path.Join("teams", t.Name+".yaml"), team(p, t)})
	}

	files := make([]emit.File, 0, len(manifests)+1)
	resources := make([]string, 0, len(manifests)+1)
	for _, m := range manifests {
		if len(m.objects) == 0 {
			continue
		}
		content, err := kubeyaml.Marshal(m.objects...)
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Path: path.Join(folder, m.name), Content: content})
		resources = append(resources, m.name)
	}
	content, err := kubeyaml.Marshal(kubeyaml.NewKustomization(append(resources, "monitoring")))
	if err != nil {
		return nil, err
	}
	return append(files, emit.File{Path: path.Join(folder, "kustomization.yaml"), Content: content}), nil
}

// meta returns the metadata of an object, with labels that are its own to add
// to. The namespace is "" for an object of the cluster.
func meta(p *ir.Platform, namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: kubeyaml.Labels(p.Name)}
}

// kind returns the type of an object.
func kind(group schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: group.String(), Kind: kind}
}
