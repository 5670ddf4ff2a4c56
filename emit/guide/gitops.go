package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// gitOps holds the parts of the pages that differ between GitOps tools.
type gitOps struct {
	before  func(*document, *ir.Platform) // what must exist before the tool is connected
	connect []string                      // the commands that connect the tool
	look    string                        // the command that shows what the tool does
	ready   markup                        // when the platform is ready
	queues  markup                        // what the tool says of a queue that is not active
	replace markup                        // what happens to an object that cannot be changed
	pause   []string                      // the commands that disconnect the tool
}

// gitOpsOf returns the parts for the GitOps tool of a platform.
func gitOpsOf(p *ir.Platform) gitOps {
	const gone = "Kubernetes forbids some changes: of the value of a PriorityClass, and of the ClusterQueue of a " +
		"LocalQueue. "
	replaced := markup(gone + "The tool then deletes the object and creates it again. In between, pending jobs " +
		"wait and running jobs continue.")
	return ir.ChooseGitOps(p.Delivery.GitOps.Tool,
		gitOps{
			before:  beforeArgoCD,
			connect: []string{"kubectl apply -n argocd -k gitops"},
			look:    "kubectl get applications -n argocd",
			ready:   "The platform is ready when every Application is `Synced` and `Healthy`.",
			queues: "With the health checks, an Application with a queue that is not active is `Progressing`, and " +
				"with a queue that somebody has stopped it is `Suspended`. Without them Argo CD takes every queue " +
				"for healthy. Do not turn on server-side diff for the Application " +
				codeSpan(p.Name) + ": Argo CD would ask the API server about a change that Kubernetes " +
				"forbids, and then neither compare nor sync.",
			replace: replaced,
			pause:   []string{"kubectl delete -n argocd -k gitops"},
		},
		gitOps{
			before:  beforeFlux,
			connect: []string{"kubectl apply -k gitops"},
			look:    "kubectl get kustomizations,helmreleases -n flux-system",
			ready:   "The platform is ready when all of them are ready.",
			queues: "A Kustomization with a queue that is not active is not ready. A queue that somebody has " +
				"stopped counts as ready.",
			replace: replaced + oneDefault(p),
			pause:   []string{"kubectl delete -k gitops"},
		},
		gitOps{
			before:  beforeConfigSync,
			connect: []string{"kubectl apply -k gitops"},
			look:    "kubectl get rootsyncs -n config-management-system",
			ready:   untilKueueRuns(p) + "The platform is ready when no RootSync reports an error.",
			queues: "Config Sync cannot tell whether a queue is active: `kubectl get clusterqueues -o wide` shows " +
				"it.",
			replace: gone + "Config Sync reports an error. Delete the object by hand: Config Sync then creates it " +
				"again. In between, pending jobs wait and running jobs continue.",
			pause: []string{"kubectl delete -k gitops"},
		})
}

// oneDefault says what to do for Flux if another PriorityClass becomes the default. Flux
// asks the API server about every class before it changes one, and the API server refuses
// a second default class (Flux: pkg/ssa, ApplyAll; Kubernetes:
// plugin/pkg/admission/priority).
func oneDefault(p *ir.Platform) markup {
	if !slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Default && !c.BuiltIn }) {
		return ""
	}
	return " If another PriorityClass becomes the default of the cluster, delete the old default: `kubectl delete " +
		"priorityclasses " + classPlaceholder(p) + "`. Flux cannot do it, because it first asks Kubernetes about all " +
		"classes, and Kubernetes refuses a second default. Existing pods keep their priority."
}

// toolName returns the name of the platform's GitOps tool.
func toolName(p *ir.Platform) markup { return escapeText(p.Delivery.GitOps.Tool.Facts().Name) }

// explainSync explains how to connect a GitOps tool, and what it does.
func explainSync(d *document, p *ir.Platform) {
	g := p.Delivery.GitOps
	if !g.On() {
		return
	}
	own := gitOpsOf(p)
	d.Heading(2, syncHeading)
	d.Para(toolName(p), installsSoftware(p), " applies ", fileLink("kubernetes/"), ". The build only runs Terraform. ",
		toolName(p), " reads branch ", codeSpan(g.Branch), " of the repository ", codeSpan(g.Repository),
		", where this folder must be ", folderPlace(g.Path), ". Its objects are in ", fileLink("gitops/"), ".")
	own.before(d, p)
	d.Para("Then run this command in the folder:")
	d.Code("sh", own.connect...)
	d.Para("The command ", codeSpan(own.look), " shows the state. ", own.ready, " ", own.queues)
	d.Para(own.replace)
	if p.Monitoring.TensorBoard != "" && len(p.Teams) > 0 {
		d.Para("Then run `./create-platform.sh` again, and also after a sync that brings a new team. The name of the ",
			"TensorBoard is not in the folder: the build writes it into the namespaces of the teams.")
	}
}

// installsSoftware says what a GitOps tool installs and how, before what else it does.
// It is "" if somebody else installs Kueue and JobSet.
func installsSoftware(p *ir.Platform) markup {
	names := software(p)
	if len(names) == 0 {
		return ""
	}
	what := [...]markup{" from the manifests of its release", " from the manifests of their releases"}
	if p.FromCharts() {
		what = [...]markup{" from its chart", " from their charts"}
	}
	return " installs " + words.And(names) + what[len(names)-1] + ", and"
}

// software returns the names of what the platform installs beside its own objects.
func software(p *ir.Platform) (names []markup) {
	if p.InstallsKueue() {
		names = append(names, "Kueue")
	}
	if p.InstallsJobSet() {
		names = append(names, "JobSet")
	}
	return names
}

// folderPlace describes a path in a repository.
func folderPlace(path string) markup {
	if path == "." {
		return "the root"
	}
	return "the folder " + codeSpan(path)
}

// platformCluster names the cluster of the platform, of which it may be one of several
// users.
func platformCluster(p *ir.Platform) markup {
	if p.OwnsCluster() {
		return "the platform's cluster"
	}
	return "cluster " + codeSpan(p.Cluster.Name)
}

func beforeArgoCD(d *document, p *ir.Platform) {
	g := p.Delivery.GitOps
	where, context := platformCluster(p), markup("")
	if g.Destination != "" {
		where = "another cluster, which knows " + platformCluster(p) + " as " + codeSpan(g.Destination)
		context = " Connect `kubectl` to the cluster of Argo CD for the commands of this section."
	}
	d.Para("Argo CD 3.5 or later runs in ", where, ". If not everybody can read the repository, register it in "+
		"Argo CD ",
		"first, with its credentials.", context, " The commands assume that Argo CD is in namespace `argocd`.")
	d.Para("Argo CD knows nothing about Kueue's objects. Its administrator adds the health checks once, for all ",
		"platforms:")
	d.Code("sh", "kubectl patch configmap argocd-cm -n argocd --patch-file=gitops/health-checks.yaml")
	d.Para("The project ", codeSpan(p.Name), " lets its Applications use only the sources, namespaces and kinds of ",
		"objects of this platform.")
}

func beforeFlux(d *document, p *ir.Platform) {
	d.Para("Flux 2.9 or later runs in ", platformCluster(p), ", in namespace `flux-system`, with its source, "+
		"kustomize and ",
		"helm controllers.", credentialsNote(p, "the keys that Flux expects in the Secret of a GitRepository"))
}

func beforeConfigSync(d *document, p *ir.Platform) {
	m := "Config Sync runs in " + platformCluster(p) + "."
	if len(software(p)) > 0 {
		m += " It needs access to `github.com`, from where it downloads the manifests. It cannot use the charts: it " +
			"refuses webhook configurations with a namespace, as the chart of Kueue 0.19 has them, and would restore " +
			"the empty certificates of the chart of JobSet 0.12."
	}
	d.Para(m, credentialsNote(p, "the keys that Config Sync expects for its kind of access"))
}

// untilKueueRuns says what Config Sync reports until Kueue runs, if Config Sync installs
// Kueue.
func untilKueueRuns(p *ir.Platform) markup {
	if !p.InstallsKueue() {
		return ""
	}
	return "RootSyncs do not wait for each other. Until Kueue runs, the RootSync " + codeSpan(p.Name+"-platform") +
		" reports unknown kinds, or webhooks that do not answer, and tries again. "
}

// credentialsNote says which Secret with credentials must exist.
func credentialsNote(p *ir.Platform, keys markup) markup {
	g := p.Delivery.GitOps
	if g.Secret == "" {
		return " Everybody must be able to read the repository, because the blueprint names no Secret with " +
			"credentials."
	}
	return " The Secret " + codeSpan(g.Secret) + " in namespace " + codeSpan(g.Tool.Facts().Namespace) +
		" holds the credentials for the repository, with " + keys + "."
}

// explainDisconnect explains how to disconnect the GitOps tool before the platform is
// destroyed.
func explainDisconnect(d *document, p *ir.Platform) {
	if !p.Delivery.GitOps.On() {
		return
	}
	d.Para("First disconnect ", toolName(p), ", which would create again what the build deletes. The objects in the ",
		"cluster stay:")
	d.Code("sh", gitOpsOf(p).pause...)
}

// gitOpsRemove explains how to remove a team, a tier or a capacity if a GitOps tool
// deletes the objects.
func gitOpsRemove(d *document, p *ir.Platform) {
	d.Para("Delete the team, tier or capacity from the blueprint and compile: this removes its files, and every "+
		"mention ",
		"of it in other files. Merge the change. ", toolName(p), " then deletes the objects that this folder no "+
			"longer ",
		"has:")
	d.List(
		"A ClusterQueue admits no more jobs. It stays until its running jobs have ended, and keeps their quota "+
			"until "+
			"then. Nobody stops these jobs. To stop them, run the command for `HoldAndDrain` above before you merge.",
		"A flavor stays until no ClusterQueue names it.",
		"A team's namespace stays, with its network policy, its service account and all objects of the team: jobs, "+
			"volume claims and Secrets. The members lose their rights in it. When nobody needs the objects, an "+
			"administrator deletes the namespace: `kubectl delete namespaces NAMESPACE`.",
	)
	d.Para("Then run `./create-platform.sh`. For a removed team, the build revokes the roles "+
		"that the blueprint gave its jobs", deletesBucket(p),
		". For a removed capacity, it deletes the node pool. Its step ", codeSpan("retire"), " stops if a queue "+
			"still ",
		"gives quota of the capacity, because ", toolName(p), " has not synced yet. Otherwise it first stops "+
			"the jobs on ",
		"the capacity. They keep their place in their queue, and start again on a capacity that they may use; a "+
			"job that ",
		"may use no other waits until somebody deletes it. If a capacity loses nodes or gets other ones, the step ",
		"cordons the nodes that go away and stops the jobs that run on the capacity. Kueue admits them again at once; "+
			"their pods wait for nodes, and "+requeuedLater(p)+" Kueue queues them again.")
	explainBuckets(d, p)
	explainRightsThatStay(d, p)
	keepNamespaces(d, p)
}

// requeuedLater says when Kueue queues the jobs again that have lost their nodes.
func requeuedLater(p *ir.Platform) markup {
	if p.OthersRunKueue() {
		return "if Kueue's configuration waits for pods,"
	}
	return recoveryTimeout() + " later"
}

// syncedKept explains how to stop a queue that a GitOps tool applies. Flux takes back
// what kubectl has changed, unless the change has another field manager (Flux:
// docs/spec/v1/kustomizations.md).
func syncedKept(p *ir.Platform) markup {
	return "To stop a queue, for example for maintenance, run `kubectl patch clusterqueues QUEUE " +
		"--field-manager=batchwright --type=merge --patch='{\"spec\":{\"stopPolicy\":\"Hold\"}}'`. `QUEUE` is the " +
		"name of a ClusterQueue. With `Hold`, running jobs continue. With `HoldAndDrain`, Kueue evicts them. With " +
		"`None`, the queue starts jobs again. The folder does not have this field, so " +
		"" + toolName(p) + " keeps the setting."
}

// explainSyncedSteps explains how to apply the objects by hand instead of the steps of a
// build: the GitOps tool applies them.
func explainSyncedSteps(d *document, p *ir.Platform) {
	d.Para(toolName(p), " applies the objects in the cluster: ", linkTo(readmePage, syncHeading), ".")
	tensorBoard(d, p)
}

// syncedInstructions are the lines of instructions.txt about what gcluster does not
// create.
func syncedInstructions(p *ir.Platform) []string {
	return []string{
		p.Delivery.GitOps.Tool.Facts().Name + " applies the rest. README.md says how to connect it: section",
		"\"" + string(syncHeading) + "\".",
	}
}
