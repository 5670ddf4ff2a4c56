// Package plane runs a Kubernetes control plane on the loopback interface: etcd,
// the API server, controller manager, scheduler, Kueue and JobSet, built from the
// source that this module's go.mod pins, and KWOK, which simulates the nodes. On
// request it also runs a Prometheus that scrapes them. The programs are built once into
// the user's cache directory.
//
// It needs only Go, the Go module proxy and free ports: no containers, no special
// rights and no other downloads. Webhooks run with certificates that are checked,
// and Kueue and JobSet have the rights of their own service accounts. The plane
// differs from a GKE cluster in three ways: KWOK only claims that nodes and pods
// run, there is no network, and the extensions of GKE are definitions without
// programs.
package plane
