package ir

import (
	"slices"
	"strings"
)

// reservedDomains are the domains of labels and taints that Kubernetes, GKE, device plugins
// and the schedulers set.
var reservedDomains = []string{
	"kubernetes.io", "k8s.io", "x-k8s.io", "cloud.google.com", "gke.io", "google.com", "nvidia.com", "kai.scheduler",
	"run.ai",
}

// ReservedDomain returns the domain of the key of a label or taint of nodes if Kubernetes, GKE
// or a scheduler sets keys of it, otherwise "".
func ReservedDomain(key string) string {
	domain, _, found := strings.Cut(key, "/")
	if found && slices.ContainsFunc(reservedDomains, func(own string) bool {
		return domain == own || strings.HasSuffix(domain, "."+own)
	}) {
		return domain
	}
	return ""
}

// IsMarkOfPlatform reports whether a key is that of a label or taint of every node pool of a
// platform.
func IsMarkOfPlatform(key string) bool {
	return key == LabelCapacity || key == LabelResourceType ||
		slices.ContainsFunc(options, func(o OptionFacts) bool { return o.Taint == key })
}
