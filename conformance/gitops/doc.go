// Package gitops holds the folder gitops/ of deploy folders against the GitOps tools' own
// CRDs, types and languages, and renders what the tools would apply: the charts of Kueue
// and JobSet with Helm, and the folders with Kustomize.
package gitops
