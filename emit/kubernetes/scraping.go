package kubernetes

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
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

// The types below are the emitted part of monitoring.googleapis.com/v1
// PodMonitoring. Its Go module depends on all of Prometheus.

type podMonitoring struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              podMonitoringSpec `json:"spec"`
}

type podMonitoringSpec struct {
	Selector  metav1.LabelSelector `json:"selector"`
	Endpoints []scrapeEndpoint     `json:"endpoints"`
}

type scrapeEndpoint struct {
	Port          int            `json:"port"`
	Scheme        string         `json:"scheme"`
	Path          string         `json:"path"`
	Interval      string         `json:"interval"`
	TLS           *tlsConfig     `json:"tls,omitempty"`
	Authorization *authorization `json:"authorization,omitempty"`
}

type tlsConfig struct {
	InsecureSkipVerify bool `json:"insecureSkipVerify"`
}

type authorization struct {
	Type        string      `json:"type"`
	Credentials credentials `json:"credentials"`
}

type credentials struct {
	Secret secretKey `json:"secret"`
}

type secretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// scrapeFolder is the folder of the objects for scraping, below folder.
const scrapeFolder = "monitoring"

// scrapeFiles returns the folder of the objects for scraping: a file for each target
// and a kustomization. It is empty if there are no targets.
func scrapeFiles(p *ir.Platform) ([]emit.File, error) {
	var files []emit.File
	var resources []string
	annotate := gitOpsAnnotator(p)
	for _, t := range monitoring.Targets(p) {
		file, objects := t.Name+".yaml", targetObjects(p.Name, t)
		annotate(objects)
		content, err := kubeyaml.Marshal(objects...)
		if err != nil {
			return nil, err
		}
		resources = append(resources, file)
		files = append(files, emit.File{Path: path.Join(folder, scrapeFolder, file), Content: content})
	}
	if len(resources) == 0 {
		return nil, nil
	}
	content, err := kubeyaml.Marshal(kubeyaml.NewKustomization(resources))
	if err != nil {
		return nil, err
	}
	return append(files, emit.File{Path: path.Join(folder, scrapeFolder, "kustomization.yaml"), Content: content}), nil
}

// scrapeTarget returns the PodMonitoring that scrapes a target at one endpoint.
func scrapeTarget(platform string, t monitoring.Target, endpoint scrapeEndpoint) *podMonitoring {
	endpoint.Path, endpoint.Interval = "/metrics", "30s"
	return &podMonitoring{
		TypeMeta:   metav1.TypeMeta{APIVersion: "monitoring.googleapis.com/v1", Kind: "PodMonitoring"},
		ObjectMeta: metav1.ObjectMeta{Name: t.Name, Namespace: t.Namespace, Labels: kubeyaml.Labels(platform)},
		Spec: podMonitoringSpec{
			Selector: metav1.LabelSelector{MatchLabels: t.Pods}, Endpoints: []scrapeEndpoint{endpoint},
		},
	}
}

// targetObjects returns the objects of a target. For a target that anybody may read,
// it returns only the PodMonitoring. For any other target, it also returns an account
// that may read the target's metrics, a token of the account, and the permission for
// Managed Prometheus's collectors to read this token and no other Secret.
func targetObjects(platform string, t monitoring.Target) []any {
	if t.Reader == "" {
		return []any{scrapeTarget(platform, t, scrapeEndpoint{Port: plainPort, Scheme: "http"})}
	}
	const group = rbacv1.GroupName
	account := t.Name + "-metrics-collector"
	token := account + "-token"
	tokenReader := token + "-reader"
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: t.Namespace, Labels: kubeyaml.Labels(platform)}
	}
	clusterWide := meta(account)
	clusterWide.Namespace = ""
	secret := meta(token)
	secret.Annotations = map[string]string{corev1.ServiceAccountNameKey: account}

	return []any{
		&corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: meta(account),
		},
		&corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: secret,
			Type:       corev1.SecretTypeServiceAccountToken,
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: clusterWide,
			RoleRef:    rbacv1.RoleRef{APIGroup: group, Kind: "ClusterRole", Name: t.Reader},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: t.Namespace}},
		},
		&rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
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
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: meta(tokenReader),
			RoleRef:    rbacv1.RoleRef{APIGroup: group, Kind: "Role", Name: tokenReader},
			Subjects:   collectors,
		},
		scrapeTarget(platform, t, scrapeEndpoint{
			Port: securePort, Scheme: "https",
			// The controllers sign their own certificates.
			TLS: &tlsConfig{InsecureSkipVerify: true},
			Authorization: &authorization{
				Type: "Bearer", Credentials: credentials{secretKey{Name: token, Key: corev1.ServiceAccountTokenKey}},
			},
		}),
	}
}
