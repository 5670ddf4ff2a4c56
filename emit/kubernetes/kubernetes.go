// Package kubernetes renders the objects in the cluster: the teams' namespaces,
// identities, permissions and queues, the priority classes, the ComputeClasses and
// networks of nodes, and the objects that let Google Managed Prometheus scrape the
// scheduler and the controllers of jobs. A plan goes in; the folder kubernetes/ comes out.
//
// The objects that differ between schedulers are in each scheduler's own package.
package kubernetes

import (
	"path"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kai"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/kueue"
)

// folder is the path of the kustomization in the deploy folder.
const folder = "kubernetes"

// scheduler holds a scheduler's part of the folder, which is the only part that
// differs between schedulers.
type scheduler struct {
	// system returns the scheduler's configuration.
	system func(*ir.Platform) ([]kubeyaml.Manifest, error)
	// release returns the changes to the manifests of the scheduler's release, which
	// are applied when it is installed. The folder's own kustomization does not list
	// them.
	release func(*ir.Platform) ([]kubeyaml.Manifest, error)
	// queues returns the objects that the queues of all teams share.
	queues func(*ir.Platform) []kubeyaml.Manifest
	// team returns a team's queues.
	team func(*ir.Platform, ir.Team) []any
	// follows are the rules for the resources in which a team follows its jobs in the
	// queues.
	follows []rbacv1.PolicyRule
	// guard adds rules to the policy on jobs, against jobs that would get past this
	// scheduler.
	guard func(*ir.Platform, *admissionv1.ValidatingAdmissionPolicy)
	// controllers are the users that change jobs on behalf of the scheduler.
	controllers []string
	// tier returns a CEL expression for the tier of variables.queue.
	tier func(*ir.Platform) string
	// otherScheduler is a CEL term that lists schedulerName if a pod p names a
	// scheduler other than its queue's. It is "" if guard refuses such pods.
	otherScheduler string
	// fewestPods is a CEL expression for the number of pods with which the scheduler may
	// start a job, as a string. It is "" if the scheduler counts no quota of jobs.
	fewestPods string
}

func schedulerOf(p *ir.Platform) scheduler {
	return ir.Choose(p.Scheduler,
		scheduler{
			system: kueue.System, release: kueue.Release, queues: kueue.Queues, team: kueue.Team,
			follows: kueue.Follows(), guard: kueue.Guard, controllers: []string{kueue.Controller},
			tier: kueue.TierOfQueue, otherScheduler: kueue.OtherScheduler,
			fewestPods: kueue.FewestPods,
		},
		scheduler{
			system: kai.System, release: kai.Release, queues: kai.Queues, team: kai.Team,
			follows: kai.Follows(), guard: kai.Guard, tier: kai.TierOfQueue,
		})
}

// Files returns the folder kubernetes/. When the files are applied, kustomize sorts the
// objects.
func Files(p *ir.Platform) ([]emit.File, error) {
	scheduler := schedulerOf(p)
	manifests, err := scheduler.system(p)
	if err != nil {
		return nil, err
	}
	onTheNode := teamsOnTheNode(p)
	manifests = append(manifests, kubeyaml.Manifest{Name: "system/namespaces.yaml", Objects: systemNamespaces(p)})
	if !p.OnlyExisting() { // otherwise no namespace has the role, and no policy holds anywhere
		manifests = append(manifests,
			kubeyaml.Manifest{Name: "system/job-submitter.yaml", Objects: []any{jobSubmitter(p, scheduler)}},
			kubeyaml.Manifest{
				Name: "system/admission-policies.yaml", Objects: admissionPolicies(p, scheduler, len(onTheNode) > 0),
			})
	}
	manifests = append(manifests,
		kubeyaml.Manifest{Name: "system/gpu-installers.yaml", Objects: gpuInstallers(p)},
		kubeyaml.Manifest{Name: "priority-classes.yaml", Objects: priorityClasses(p)},
		kubeyaml.Manifest{Name: "compute-classes.yaml", Objects: computeClasses(p)},
		kubeyaml.Manifest{Name: "networks.yaml", Objects: gpuNetworks(p)},
	)
	manifests = append(manifests, scheduler.queues(p)...)
	resources := kubeyaml.Names(manifests)
	for _, t := range p.Teams {
		resources = append(resources, "teams/"+t.Name+".yaml")
	}
	if scraping := scrapeManifests(p); scraping != nil {
		resources = append(resources, scrapeFolder)
		for _, m := range scraping {
			manifests = append(manifests, kubeyaml.Manifest{Name: path.Join(scrapeFolder, m.Name), Objects: m.Objects})
		}
	}
	annotate := gitOpsAnnotator(p)
	for _, m := range manifests {
		annotate(m.Objects)
	}
	changes, err := scheduler.release(p)
	if err != nil {
		return nil, err
	}
	files, err := kubeyaml.Files(folder, slices.Concat(changes, manifests,
		[]kubeyaml.Manifest{kubeyaml.ListFiles(resources...)})...)
	if err != nil {
		return nil, err
	}
	lent := p.Lent()
	sliced := p.SlicedTiers()
	teams, err := teamFiles(p, func(t ir.Team) []any {
		objects := scheduler.team(p, t)
		if !t.InExisting {
			objects = append(teamObjects(p, lent, sliced, t, onTheNode[t.Name]), objects...)
		}
		annotate(objects)
		return objects
	})
	if err != nil {
		return nil, err
	}
	own, err := ownFiles(p)
	return slices.Concat(files, teams, own), err
}

// teamFiles returns a file for each team, in the order of the teams. Each file is
// finished before the next begins, so that the objects of all teams never exist
// together.
func teamFiles(p *ir.Platform, objects func(ir.Team) []any) ([]emit.File, error) {
	files := make([]emit.File, len(p.Teams))
	err := emit.InParallel(len(files), func(i int) error {
		team := p.Teams[i]
		content, err := kubeyaml.Marshal(objects(team)...)
		files[i] = emit.File{Path: path.Join(folder, "teams", team.Name+".yaml"), Content: content}
		return err
	})
	return files, err
}
