package kubernetes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

const (
	// queuesAnnotation of a team's namespace lists the team's LocalQueues, each with
	// the PriorityClasses that its jobs can have: "lq-a-lp=lp,
	// lq-a-shared=low|high". The admission policy checks jobs against the list and
	// quotes it in its messages.
	queuesAnnotation = "queues"
	queueSeparator   = ", "
	classesSeparator = "="
	classSeparator   = "|"
	// enforceLabel selects the Pod Security Standard that a namespace enforces, and
	// auditLabel the standard whose violations the audit log names (Kubernetes documentation:
	// "Pod Security Admission"). As warnings they would tell members at each job what
	// nobody demands of them.
	enforceLabel = "pod-security.kubernetes.io/enforce"
	auditLabel   = "pod-security.kubernetes.io/audit"
	// accountAnnotation lets a Kubernetes service account act as a Google service
	// account (GKE documentation: "Authenticate to Google Cloud APIs from GKE
	// workloads"). Without the annotation, Google Cloud identifies the jobs as the
	// Kubernetes service account.
	accountAnnotation = "iam.gke.io/gcp-service-account"
)

// teamObjects returns a team's objects except its queues: namespace, network policy, quota
// of objects, service account, and the binding of the team's members. A team without members has a
// binding of nobody: if the binding were left out, the members that a team had before
// would keep their access, because a build deletes no objects.
func teamObjects(p *ir.Platform, lent ir.Lent, sliced map[string]bool, t ir.Team, onTheNode bool) []any {
	objects := []any{teamNamespace(p, lent, t, onTheNode), networkPolicy(p, t), teamQuota(p, lent, t)}
	if quota := affinityQuota(p, sliced, t); quota != nil {
		objects = append(objects, quota)
	}
	return append(objects, serviceAccount(p, t), submitterBinding(p, t))
}

func teamNamespace(p *ir.Platform, lent ir.Lent, t ir.Team, onTheNode bool) *corev1.Namespace {
	n := &corev1.Namespace{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "Namespace"),
		ObjectMeta: kubeyaml.Meta(p.Name, "", t.Namespace),
	}
	n.Labels = p.LabelsOfNamespace(&t)
	n.Labels[enforceLabel], n.Labels[auditLabel] = baseline, restricted
	if onTheNode {
		n.Labels[enforceLabel] = privileged
	}
	var queues []string
	for _, q := range t.Queues {
		for _, name := range q.LocalQueueNames() {
			queues = append(queues, name+classesSeparator+strings.Join(q.Classes, classSeparator))
		}
	}
	n.Annotations = map[string]string{queuesAnnotation: strings.Join(queues, queueSeparator)}
	if most := mostLines(lent, t); most != "" {
		n.Annotations[mostAnnotation] = most
	}
	if t.Bucket != "" {
		n.Annotations[bucketAnnotation] = t.Bucket
	}
	if len(t.Allow) > 0 {
		n.Annotations[allowAnnotation] = strings.Join(t.Allow, allowSeparator)
	}
	return n
}

// networkPolicyName is the name of the NetworkPolicy in each team's namespace.
const networkPolicyName = "team-only"

// networkPolicy returns the policy that lets the pods of a team's namespace accept
// connections only from the same namespace.
//
// It restricts only ingress: a packet from team A to team B is ingress at B, so that
// this policy in every namespace separates the teams. Egress stays open, and with it
// DNS, the metadata server, the API server and image pulls. The kubelet's probes
// come from the node, whose traffic no policy blocks (Kubernetes documentation:
// "Network Policies"). No other namespace needs access: the folder's PodMonitorings
// are in the namespaces of the controllers.
func networkPolicy(p *ir.Platform, t ir.Team) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   kubeyaml.Kind(networkingv1.SchemeGroupVersion, "NetworkPolicy"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, networkPolicyName),
		Spec: networkingv1.NetworkPolicySpec{
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}},
			}},
		},
	}
}

// Levels of the Pod Security Standards (Kubernetes documentation: "Pod Security
// Standards").
const (
	baseline   = "baseline"
	privileged = "privileged"
	restricted = "restricted"
)

// teamsOnTheNode returns the names of the teams whose pods need parts of their node
// that the baseline standard denies: the node's network, or the libraries and
// devices of GPUDirect. Every job on GPUs with GPUDirect needs the latter, including
// jobs that are not in the blueprint. No standard admits only these parts. Therefore
// these teams' namespaces enforce no standard, and podsKeepOffTheNode refuses the
// rest.
func teamsOnTheNode(p *ir.Platform) map[string]bool {
	direct := map[string]bool{} // names of capacities
	for _, c := range p.Capacities {
		direct[c.Name] = c.GPUDirect != ""
	}
	teams := map[string]bool{}
	for _, w := range p.Workloads {
		if w.HostNetwork {
			teams[w.Team] = true
		}
	}
	for _, t := range p.OwnTeams() {
		for _, q := range t.Queues {
			if slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool { return direct[f.Flavor] }) {
				teams[t.Name] = true
			}
		}
	}
	return teams
}

func serviceAccount(p *ir.Platform, t ir.Team) *corev1.ServiceAccount {
	a := &corev1.ServiceAccount{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "ServiceAccount"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, t.KubeAccount),
	}
	if t.Account != nil {
		a.Annotations = map[string]string{accountAnnotation: t.Account.Email(p.Project)}
	}
	// Jobs do not call the Kubernetes API, and Workload Identity takes its token
	// from the node's metadata server.
	a.AutomountServiceAccountToken = new(false)
	return a
}

// submitterBinding returns the binding that lets the team's members submit jobs to the
// team's namespace, and to no other. To GKE, people and IAM service accounts are both
// users, whose name is their address (GKE documentation: "Authorize actions in
// clusters using role-based access control"). The names of people and groups of a
// workforce identity pool are their principal identifiers (GKE documentation: "Use
// external identity providers to authenticate to GKE").
func submitterBinding(p *ir.Platform, t ir.Team) *rbacv1.RoleBinding {
	var subjects []rbacv1.Subject
	if t.Group != "" {
		subjects = append(subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: t.Group})
	}
	for _, m := range t.Members {
		subject := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: ir.MemberAddress(m)}
		switch {
		case ir.IsWorkforceGroup(m):
			subject.Kind, subject.Name = rbacv1.GroupKind, m
		case ir.IsWorkforce(m):
			subject.Name = m
		}
		subjects = append(subjects, subject)
	}
	return &rbacv1.RoleBinding{
		TypeMeta:   kubeyaml.Kind(rbacv1.SchemeGroupVersion, "RoleBinding"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, jobSubmitterName),
		RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: p.ClusterScopedName(jobSubmitterName),
		},
		Subjects: subjects,
	}
}
