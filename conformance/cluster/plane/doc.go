// Package plane brings up a Kubernetes control plane on the loopback interface:
// etcd, the API server, controller manager, scheduler, Kueue and JobSet from the
// source that this module's go.mod pins, and KWOK, which plays the nodes. A
// Prometheus can be asked for that scrapes them.
//
// Nothing but Go, the Go module proxy and free ports is needed: no container, no
// rights, no other download. The webhooks answer, with certificates that are
// checked, and Kueue and JobSet have the rights of their own service accounts.
// What differs from a cluster of GKE: nodes and pods are claims that KWOK keeps,
// there is no network, and what GKE itself adds is there as definitions only.
package plane
