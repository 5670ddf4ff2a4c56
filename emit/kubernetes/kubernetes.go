// Package kubernetes renders what is in the cluster: the teams' namespaces,
// identities, rights and queues, priority classes, and the ComputeClasses and
// networks of nodes. A plan goes in, the folder kubernetes/ comes out, less what
// is there for monitoring.
//
// What differs from one scheduler to another is in the scheduler's own package.
package kubernetes

import (
	"path"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kai"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// folder is the kustomization's place in the deploy folder.
const folder = "kubernetes"

// scheduler is what a scheduler of jobs has in the folder, and all that sets one
// apart from another there.
type scheduler struct {
	// system is what it is configured by.
	system func(*ir.Platform) ([]kubeyaml.Manifest, error)
	// release is how the manifests of its release are changed where it is
	// installed, or nil. The folder's own kustomization does not list it.
	release func(*ir.Platform) ([]kubeyaml.Manifest, error)
	// queues is what the queues of all teams have in common.
	queues func(*ir.Platform) []kubeyaml.Manifest
	// team is a team's queues.
	team func(*ir.Platform, ir.Team) []any
	// follows are the resources by which a team follows its jobs in the queues.
	follows rbacv1.PolicyRule
	// guard makes the policy on jobs refuse what would get past this scheduler.
	guard func(*ir.Platform, *admissionv1.ValidatingAdmissionPolicy)
	// controllers are the users that change jobs for the scheduler.
	controllers []string
	// tier returns a CEL expression of the tier of variables.queue.
	tier func(*ir.Platform) string
	// otherScheduler is a CEL term that lists schedulerName where a pod p names
	// another scheduler than its queue's, or is "" where guard refuses that.
	otherScheduler string
	// defaultClass is the PriorityClass of pods that name none, in a cluster
	// without a default of its own; "" for none.
	defaultClass string
}

func schedulerOf(p *ir.Platform) scheduler {
	if p.Scheduler == ir.KAI {
		return scheduler{
			system: kai.System, queues: kai.Queues, team: kai.Team, follows: kai.Follows(), guard: kai.Guard,
			tier: kai.TierOfQueue, defaultClass: ir.KAIDefaultClass,
		}
	}
	return scheduler{
		system: kueue.System, release: kueue.Release, queues: kueue.Queues, team: kueue.Team, follows: kueue.Follows(),
		guard:       kueue.Guard,
		controllers: []string{kueue.Controller}, tier: kueue.TierOfQueue, otherScheduler: kueue.OtherScheduler,
	}
}

// Files returns the folder kubernetes/ but its subfolder monitoring, which the
// kustomization lists last all the same. Files come in the order in which they
// are to be applied; the kustomization is the last of them.
func Files(p *ir.Platform) ([]emit.File, error) {
	scheduler := schedulerOf(p)
	manifests, err := scheduler.system(p)
	if err != nil {
		return nil, err
	}
	onTheNode := teamsOnTheNode(p)
	manifests = append(manifests,
		kubeyaml.Manifest{Name: "system/job-submitter.yaml", Objects: []any{jobSubmitter(p, scheduler)}},
		kubeyaml.Manifest{
			Name: "system/admission-policies.yaml", Objects: admissionPolicies(p, scheduler, len(onTheNode) > 0),
		},
		kubeyaml.Manifest{Name: "system/gpu-installers.yaml", Objects: gpuInstallers(p)},
		kubeyaml.Manifest{Name: "priority-classes.yaml", Objects: priorityClasses(p)},
		kubeyaml.Manifest{Name: "compute-classes.yaml", Objects: computeClasses(p)},
		kubeyaml.Manifest{Name: "networks.yaml", Objects: gpuNetworks(p)},
	)
	manifests = append(manifests, scheduler.queues(p)...)
	for _, t := range p.Teams {
		objects := append(teamObjects(p, t, onTheNode[t.Name]), scheduler.team(p, t)...)
		manifests = append(manifests, kubeyaml.Manifest{Name: path.Join("teams", t.Name+".yaml"), Objects: objects})
	}

	files := make([]emit.File, 0, len(manifests)+1)
	resources := make([]string, 0, len(manifests)+1)
	if scheduler.release != nil {
		changes, err := scheduler.release(p)
		if err != nil {
			return nil, err
		}
		if files, _, err = appendFiles(files, nil, changes); err != nil {
			return nil, err
		}
	}
	files, resources, err = appendFiles(files, resources, manifests)
	if err != nil {
		return nil, err
	}
	content, err := kubeyaml.Marshal(kubeyaml.NewKustomization(append(resources, "monitoring")))
	if err != nil {
		return nil, err
	}
	return append(files, emit.File{Path: path.Join(folder, "kustomization.yaml"), Content: content}), nil
}

// appendFiles appends the files of the manifests that have objects, and their
// names to resources.
func appendFiles(files []emit.File, resources []string, manifests []kubeyaml.Manifest) ([]emit.File, []string, error) {
	for _, m := range manifests {
		if len(m.Objects) == 0 {
			continue
		}
		content, err := kubeyaml.Marshal(m.Objects...)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, emit.File{Path: path.Join(folder, m.Name), Content: content})
		resources = append(resources, m.Name)
	}
	return files, resources, nil
}
