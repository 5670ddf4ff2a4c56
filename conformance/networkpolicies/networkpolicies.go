// Package networkpolicies checks which pods reach each other under the
// NetworkPolicies of a deploy folder. No pod has a network where the checks run,
// so that Cyclonus, from which Kubernetes' own Policy Assistant is derived,
// evaluates the policies.
package networkpolicies

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/mattfenwick/cyclonus/pkg/matcher"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	manifests   = "kubernetes"
	clusterFile = "terraform/cluster.tf"
	teamLabel   = "team" // of a team's namespace
)

// Check evaluates the NetworkPolicies of a deploy folder and checks that GKE
// enforces them. Pods of a team reach each other, and no pod of another namespace
// reaches them. The egress of a team's pods is open, and the collectors of Managed
// Prometheus reach the pods of every PodMonitoring.
func Check(folder fs.FS) []error {
	c, err := readCluster(folder)
	if err != nil {
		return []error{err}
	}
	errs := checkDataplane(folder)
	for _, to := range c.teams {
		for _, from := range c.teams {
			errs = append(errs, c.checkPair(from, to)...)
		}
		for _, from := range outsiders() {
			errs = append(errs, c.checkTraffic(from, pod(to, nil), corev1.ProtocolTCP, 8080, false)...)
		}
		errs = append(errs, c.checkEgress(to)...)
	}
	return append(errs, c.checkScraping()...)
}

// cluster is the part of a folder that decides which pods reach each other.
type cluster struct {
	teams       []corev1.Namespace
	policy      *matcher.Policy
	monitorings []podMonitoring
}

// podMonitoring is the part of a PodMonitoring that names the pods to scrape.
type podMonitoring struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port intstr.IntOrString `json:"port"`
		} `json:"endpoints"`
	} `json:"spec"`
}

func readCluster(folder fs.FS) (*cluster, error) {
	c := &cluster{}
	var policies []*networkingv1.NetworkPolicy
	err := fs.WalkDir(folder, manifests, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		documents := kubeyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				policies, err = c.readDocument(policies, document)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	c.policy = matcher.BuildNetworkPolicies(false, policies)
	return c, nil
}

// readDocument adds a team's namespace or a PodMonitoring to the cluster, and
// appends a NetworkPolicy to policies. It ignores other kinds.
func (c *cluster) readDocument(
	policies []*networkingv1.NetworkPolicy, document []byte,
) ([]*networkingv1.NetworkPolicy, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "v1 Namespace":
		var namespace corev1.Namespace
		if err := yaml.UnmarshalStrict(document, &namespace); err != nil {
			return nil, err
		}
		if namespace.Labels[teamLabel] != "" {
			// The API server adds the label.
			namespace.Labels[corev1.LabelMetadataName] = namespace.Name
			c.teams = append(c.teams, namespace)
		}
	case "networking.k8s.io/v1 NetworkPolicy":
		policy := &networkingv1.NetworkPolicy{}
		if err := yaml.UnmarshalStrict(document, policy); err != nil {
			return nil, err
		}
		if len(policy.Spec.PolicyTypes) == 0 {
			return nil, fmt.Errorf("NetworkPolicy %s does not say its policyTypes", policy.Name)
		}
		policies = append(policies, policy)
	case "monitoring.googleapis.com/v1 PodMonitoring":
		var monitoring podMonitoring
		if err := yaml.Unmarshal(document, &monitoring); err != nil {
			return nil, err
		}
		c.monitorings = append(c.monitorings, monitoring)
	}
	return policies, nil
}

// checkDataplane checks that the cluster has Dataplane V2: without it, or Calico,
// GKE stores NetworkPolicies and ignores them. If others own the cluster, Terraform must
// check it.
func checkDataplane(folder fs.FS) []error {
	const module = "terraform/modules/cluster/main.tf"
	if text, err := fs.ReadFile(folder, module); err == nil {
		if !bytes.Contains(text, []byte(`.datapath_provider == "ADVANCED_DATAPATH"`)) {
			return []error{fmt.Errorf("%s: nothing checks whether the cluster has Dataplane V2", module)}
		}
		return nil
	}
	text, err := fs.ReadFile(folder, clusterFile)
	if err != nil {
		return []error{err}
	}
	file, diagnostics := hclsyntax.ParseConfig(text, clusterFile, hcl.InitialPos)
	if diagnostics.HasErrors() {
		return []error{diagnostics}
	}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if block.Type != "resource" || block.Labels[0] != "google_container_cluster" {
			continue
		}
		if attribute := block.Body.Attributes["datapath_provider"]; attribute != nil {
			value, diagnostics := attribute.Expr.Value(nil)
			if !diagnostics.HasErrors() && value.AsString() == "ADVANCED_DATAPATH" {
				return nil
			}
		}
	}
	return []error{fmt.Errorf("%s: the cluster does not have Dataplane V2, which enforces policies", clusterFile)}
}

// checkPair checks that pods of a team reach all pods of the same team, and none
// of another. It returns the first error alone.
func (c *cluster) checkPair(from, to corev1.Namespace) []error {
	want := from.Name == to.Name
	for _, labels := range []map[string]string{nil, {"app": "worker"}, {"job-name": "train"}} {
		for _, port := range []int{53, 80, 443, 8471, 29500} {
			for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
				if errs := c.checkTraffic(pod(from, labels), pod(to, labels), protocol, port, want); errs != nil {
					return errs
				}
			}
		}
	}
	return nil
}

// checkEgress checks that pods of a team reach what every job needs.
func (c *cluster) checkEgress(from corev1.Namespace) []error {
	dns := pod(systemNamespace(metav1.NamespaceSystem), map[string]string{"k8s-app": "kube-dns"})
	var errs []error
	for _, needed := range []struct {
		to       peer
		protocol corev1.Protocol
		port     int
	}{
		{dns, corev1.ProtocolUDP, 53},
		{dns, corev1.ProtocolTCP, 53},
		{address("NodeLocal DNSCache", "169.254.20.10"), corev1.ProtocolUDP, 53},
		{address("the metadata server", "169.254.169.254"), corev1.ProtocolTCP, 80},
		{address("GKE's metadata server", "169.254.169.252"), corev1.ProtocolTCP, 988},
		{address("the API server", "172.16.0.2"), corev1.ProtocolTCP, 443},
		{address("Google's APIs", "199.36.153.8"), corev1.ProtocolTCP, 443},
		{address("the internet", "203.0.113.1"), corev1.ProtocolTCP, 443},
	} {
		errs = append(errs, c.checkTraffic(pod(from, nil), needed.to, needed.protocol, needed.port, true)...)
	}
	return errs
}

// checkScraping checks that the collectors of Managed Prometheus reach the pods of
// each PodMonitoring, which are in its namespace.
func (c *cluster) checkScraping() []error {
	var errs []error
	for _, m := range c.monitorings {
		namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.Namespace}}
		for _, endpoint := range m.Spec.Endpoints {
			scraped := pod(namespace, m.Spec.Selector.MatchLabels)
			port := endpoint.Port.IntValue()
			errs = append(errs, c.checkTraffic(collector(), scraped, corev1.ProtocolTCP, port, true)...)
		}
	}
	return errs
}

// peer is one end of a connection.
type peer struct {
	name string
	matcher.TrafficPeer
}

// pod returns a pod with labels. All pods have one address: no rule on addresses
// tells teams apart.
func pod(namespace corev1.Namespace, labels map[string]string) peer {
	internal := matcher.InternalPeer{
		Namespace: namespace.Name, NamespaceLabels: namespace.Labels, PodLabels: labels,
	}
	return peer{"a pod of " + namespace.Name, matcher.TrafficPeer{Internal: &internal, IP: "10.8.0.1"}}
}

// systemNamespace returns a namespace that no file of the folder makes, with the
// label that the API server gives it.
func systemNamespace(name string) corev1.Namespace {
	labels := map[string]string{corev1.LabelMetadataName: name}
	return corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// address returns a peer that is not a pod.
func address(name, ip string) peer {
	return peer{name, matcher.TrafficPeer{IP: ip}}
}

// collector returns a collector of Managed Prometheus.
func collector() peer {
	return pod(systemNamespace("gmp-system"),
		map[string]string{"app": "managed-prometheus-collector", "app.kubernetes.io/name": "collector"})
}

// outsiders returns peers that have no business with a team's pods.
func outsiders() []peer {
	other := pod(systemNamespace(metav1.NamespaceDefault), nil)
	return []peer{other, address("another network", "10.128.0.9"), address("the internet", "203.0.113.1")}
}

// checkTraffic checks that the first peer reaches the second one, or that it does
// not.
func (c *cluster) checkTraffic(from, to peer, protocol corev1.Protocol, port int, want bool) []error {
	got := c.policy.IsTrafficAllowed(&matcher.Traffic{
		Source: &from.TrafficPeer, Destination: &to.TrafficPeer, Protocol: protocol, ResolvedPort: port,
	}).IsAllowed()
	switch {
	case got && !want:
		return []error{fmt.Errorf("%s reaches %s at %s %d", from.name, to.name, protocol, port)}
	case want && !got:
		return []error{fmt.Errorf("%s does not reach %s at %s %d", from.name, to.name, protocol, port)}
	}
	return nil
}
