// Package workload renders the jobs that the teams submit. A plan goes in, the
// folder workloads/ comes out: a subfolder for each team, with a file for each
// Job or JobSet and for each ConfigMap of files, and a kustomization.
package workload

import (
	"fmt"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// folder is the path, in the deploy folder, of the teams' subfolders.
const folder = "workloads"

// Files returns the folder workloads/, team by team. In a team's subfolder
// ConfigMaps come before the jobs that mount them, and the kustomization is last.
// Teams without workloads have no subfolder. It is an error if two objects of a team
// claim the same file.
func Files(p *ir.Platform) ([]emit.File, error) {
	var files []emit.File
	for rest := p.Workloads; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Team == rest[0].Team {
			n++
		}
		team, err := teamFiles(p, rest[:n])
		if err != nil {
			return nil, err
		}
		files = append(files, team...)
		rest = rest[n:]
	}
	return files, nil
}

// teamFiles returns the subfolder of one team. All workloads must belong to the
// team.
func teamFiles(p *ir.Platform, workloads []ir.Workload) ([]emit.File, error) {
	dir, mounted := path.Join(folder, workloads[0].Team), map[string]bool{}
	manifests := make([]kubeyaml.Manifest, 0, 2*len(workloads)+1)
	for _, w := range workloads {
		if w.ConfigMap != "" && !mounted[w.ConfigMap] {
			mounted[w.ConfigMap] = true
			manifests = append(manifests,
				kubeyaml.Manifest{Name: w.ConfigMap + ".yaml", Objects: []any{configMap(p, w)}})
		}
	}
	for _, w := range workloads {
		manifests = append(manifests, kubeyaml.Manifest{Name: w.Name + ".yaml", Objects: workloadDocuments(p, w)})
	}
	names := kubeyaml.Names(manifests)
	taken := map[string]bool{kubeyaml.KustomizationFile: true}
	for _, name := range names {
		if taken[name] {
			return nil, fmt.Errorf("workload: two objects claim %s", path.Join(dir, name))
		}
		taken[name] = true
	}
	return kubeyaml.Files(dir, append(manifests, kubeyaml.ListFiles(names...))...)
}

// workloadDocuments returns the documents of a workload's file, the job last.
func workloadDocuments(p *ir.Platform, w ir.Workload) []any {
	var out []any
	if w.Networks {
		out = append(out, networkClaim(p, w))
	}
	if !w.Kind.Facts().OwnService && w.Port != 0 {
		out = append(out, headlessService(p, w))
	}
	return append(out, Object(p, w))
}

// builders build the objects of the kinds of jobs, each in a file of its own.
var builders = map[ir.Kind]func(*ir.Platform, ir.Workload) any{kinds.Job: indexedJob, kinds.JobSet: jobSet}

// Object returns the job of a workload.
func Object(p *ir.Platform, w ir.Workload) any { return builders[w.Kind](p, w) }

// objectMeta returns the metadata of an object that a workload needs.
func objectMeta(p *ir.Platform, w ir.Workload, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.Namespace, Name: name, Labels: kubeyaml.Labels(p.Name)}
}

// queuedMeta returns the metadata of the object that the scheduler queues.
func queuedMeta(p *ir.Platform, w ir.Workload) metav1.ObjectMeta {
	m := objectMeta(p, w, w.Name)
	for _, l := range w.Queueing.Labels {
		m.Labels[l.Key] = l.Value
	}
	for _, a := range w.Queueing.Annotations {
		metav1.SetMetaDataAnnotation(&m, a.Key, a.Value)
	}
	return m
}

// podLabels returns the labels by which a scheduler recognises a workload's pods;
// nil if there are none.
func podLabels(w ir.Workload) map[string]string {
	var labels map[string]string
	for _, l := range w.Queueing.PodLabels {
		if labels == nil {
			labels = make(map[string]string, len(w.Queueing.PodLabels))
		}
		labels[l.Key] = l.Value
	}
	return labels
}
