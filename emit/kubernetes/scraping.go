package kubernetes

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// collectors are the accounts of Managed Prometheus's collectors. There are several
// because GKE versions differ in the namespace in which the collectors run. Source:
// GKE documentation, managed collection.
var collectors = []rbacv1.Subject{
	{Kind: rbacv1.ServiceAccountKind, Name: "collector", Namespace: "gke-gmp-system"},
	{Kind: rbacv1.ServiceAccountKind, Name: "collector", Namespace: "gmp-system"},
}

// Ports are numbers, because the name of the container port has changed between
// releases.
const (
	securePort = 8443
	plainPort  = 8080
)

// scrapeFolder is the folder of the objects for scraping, below folder.
const scrapeFolder = "monitoring"

// scrapeManifests returns the folder of the objects for scraping: a file for each target
// and a kustomization. It is empty if there are no targets.
func scrapeManifests(p *ir.Platform) []kubeyaml.Manifest {
	var manifests []kubeyaml.Manifest
	for _, t := range monitoring.Targets(p) {
		manifests = append(manifests, kubeyaml.Manifest{Name: t.Name + ".yaml", Objects: targetObjects(p.Name, t)})
	}
	if manifests == nil {
		return nil
	}
	return append(manifests, kubeyaml.ListFiles(kubeyaml.Names(manifests)...))
}

// scrapeTarget returns the PodMonitoring that scrapes a target at one endpoint. The Go module
// of its API depends on all of Prometheus.
func scrapeTarget(platform string, t monitoring.Target, endpoint kubeyaml.Fields) *kubeyaml.Object {
	endpoint["path"], endpoint["interval"] = "/metrics", "30s"
	return kubeyaml.NewObject("monitoring.googleapis.com/v1", "PodMonitoring",
		kubeyaml.Meta(platform, t.Namespace, t.Name), kubeyaml.Fields{
			"selector": metav1.LabelSelector{MatchLabels: t.Pods}, "endpoints": []kubeyaml.Fields{endpoint},
		})
}

// targetObjects returns the objects of a target. For a target that anybody may read,
// it returns only the PodMonitoring. For any other target, it also returns an account
// that may read the target's metrics, a token of the account, and the permission for
// Managed Prometheus's collectors to read this token and no other Secret.
func targetObjects(platform string, t monitoring.Target) []any {
	if t.Reader == "" {
		return []any{scrapeTarget(platform, t, kubeyaml.Fields{"port": plainPort, "scheme": "http"})}
	}
	const group = rbacv1.GroupName
	account := t.Name + "-metrics-collector"
	token := account + "-token"
	tokenReader := token + "-reader"
	meta := func(name string) metav1.ObjectMeta { return kubeyaml.Meta(platform, t.Namespace, name) }
	secret := meta(token)
	secret.Annotations = map[string]string{corev1.ServiceAccountNameKey: account}

	return []any{
		&corev1.ServiceAccount{
			TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "ServiceAccount"),
			ObjectMeta: meta(account),
		},
		&corev1.Secret{
			TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "Secret"),
			ObjectMeta: secret,
			Type:       corev1.SecretTypeServiceAccountToken,
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   kubeyaml.Kind(rbacv1.SchemeGroupVersion, "ClusterRoleBinding"),
			ObjectMeta: kubeyaml.Meta(platform, "", account),
			RoleRef:    rbacv1.RoleRef{APIGroup: group, Kind: "ClusterRole", Name: t.Reader},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: t.Namespace}},
		},
		&rbacv1.Role{
			TypeMeta:   kubeyaml.Kind(rbacv1.SchemeGroupVersion, "Role"),
			ObjectMeta: meta(tokenReader),
			Rules: []rbacv1.PolicyRule{{
				APIGroups:     []string{corev1.GroupName},
				Resources:     []string{"secrets"},
				ResourceNames: []string{token},
				// A collector watches the Secret, so that it notices a new token.
				Verbs: []string{"get", "list", "watch"},
			}},
		},
		&rbacv1.RoleBinding{
			TypeMeta:   kubeyaml.Kind(rbacv1.SchemeGroupVersion, "RoleBinding"),
			ObjectMeta: meta(tokenReader),
			RoleRef:    rbacv1.RoleRef{APIGroup: group, Kind: "Role", Name: tokenReader},
			Subjects:   collectors,
		},
		scrapeTarget(platform, t, kubeyaml.Fields{
			"port": securePort, "scheme": "https",
			// The controllers sign their own certificates.
			"tls": kubeyaml.Fields{"insecureSkipVerify": true},
			"authorization": kubeyaml.Fields{"type": "Bearer", "credentials": kubeyaml.Fields{
				"secret": kubeyaml.Fields{"name": token, "key": corev1.ServiceAccountTokenKey},
			}},
		}),
	}
}
