#!/usr/bin/env bash
# Stops the ClusterQueues that the platform no longer has and that the step "retire" could
# not stop, because Kueue did not run. Waits until all others admit workloads, except the
# queues that an administrator has stopped.
set -euo pipefail

# patch applies a merge patch to the ClusterQueues that it reads.
patch() { # merge patch
  xargs -r -n 200 -P 8 kubectl patch --type=merge -p "$1"
}

wanted=
for manifests in kubernetes/shared-queues.yaml kubernetes/teams; do
  if [[ -e $manifests ]]; then
    wanted+=$(kubectl create --dry-run=client --validate=false -f "$manifests" -o name)$'\n'
  fi
done
# Each line holds the name of a queue, and "true" if this step or a destroying build has
# stopped the queue.
live=$(kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
  -o 'jsonpath={range .items[*]}clusterqueue.kueue.x-k8s.io/{.metadata.name} {.metadata.annotations.batchwright/drained}{"\n"}{end}')

awk 'NR == FNR { wanted[$1]; next } NF && !($1 in wanted) && $2 != "true" { print $1 }' <(printf '%s\n' "$wanted") - <<<"$live" |
  patch '{"metadata":{"annotations":{"batchwright/drained":"true"}},"spec":{"stopPolicy":"HoldAndDrain","resourceGroups":null,"admissionChecksStrategy":null}}'

# A destroying build that did not finish has left these queues stopped.
awk 'NR == FNR { wanted[$1]; next } ($1 in wanted) && $2 == "true" { print $1 }' <(printf '%s\n' "$wanted") - <<<"$live" |
  patch '{"metadata":{"annotations":{"batchwright/drained":null}},"spec":{"stopPolicy":"None"}}'
# HELD

tries=60
while true; do
  inactive=$(kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
    -o 'jsonpath={range .items[?(@.spec.stopPolicy=="None")]}{.metadata.name}{" "}{.status.conditions[?(@.type=="Active")].status}{" "}{.status.conditions[?(@.type=="Active")].message}{"\n"}{end}' |
    awk '$2 != "True"')
  if [[ -z $inactive ]]; then
    break
  fi
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf 'These ClusterQueues admit no workloads. Correct the causes, then submit this build again:\n%s\n' "$inactive" >&2
    exit 1
  fi
  sleep 5
done
