#!/usr/bin/env bash
# Deletes each LocalQueue whose ClusterQueue changes, for example because teams begin
# to share a tier: Kueue does not allow the change in place. The step "manifests"
# creates the LocalQueue again. In between, pending jobs wait and running jobs continue.
set -euo pipefail

fields='{.kind} {.metadata.namespace} {.metadata.name} {.spec.clusterQueue}{"\n"}'
wanted=
if [[ -e kubernetes/teams ]]; then
  wanted=$(kubectl create --dry-run=client --validate=false -f kubernetes/teams -o "jsonpath=$fields")
fi
live=$(kubectl get localqueues.kueue.x-k8s.io --all-namespaces -l "$PLATFORM" -o "jsonpath={range .items[*]}$fields{end}")
awk '
  NR == FNR { if ($1 == "LocalQueue") wanted[$2, $3] = $4; next }
  ($2, $3) in wanted && wanted[$2, $3] != $4 { print "-n", $2, $3 }' <(printf '%s\n' "$wanted") - <<<"$live" |
  xargs -r -n 3 kubectl delete localqueues.kueue.x-k8s.io
