#!/usr/bin/env bash
# Stops the ClusterQueues that the platform no longer has, and waits until every
# other admits workloads, but for those that an administrator has stopped.
set -euo pipefail

patch() { # merge patch; reads ClusterQueues
  xargs -r -n 200 -P 8 kubectl patch --type=merge -p "$1"
}

wanted=
for manifests in kubernetes/shared-queues.yaml kubernetes/teams; do
  if [[ -e $manifests ]]; then
    wanted+=$(kubectl create --dry-run=client --validate=false -f "$manifests" -o name)$'\n'
  fi
done
# With the mark of a queue that was stopped here or by a destroy.
live=$(kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
  -o 'jsonpath={range .items[*]}clusterqueue.kueue.x-k8s.io/{.metadata.name} {.metadata.annotations.batchwright/drained}{"\n"}{end}')

# A queue that is stopped still lends its quota, so it loses that too; its
# admission checks name flavors of the quota. "manifests" restores both, should
# the platform have the queue again.
gone=$(awk 'NR == FNR { wanted[$1]; next } NF && !($1 in wanted) { print $1 }' <(printf '%s\n' "$wanted") - <<<"$live")
patch '{"metadata":{"annotations":{"batchwright/drained":"true"}},"spec":{"stopPolicy":"HoldAndDrain","resourceGroups":null,"admissionChecksStrategy":null}}' <<<"$gone"
if [[ -n $gone ]]; then
  echo 'The platform no longer has these ClusterQueues. They are stopped; delete them:'
  awk '{ print "  kubectl delete " $0 }' <<<"$gone"
fi

# A destroy that did not finish has left the queues stopped.
awk 'NR == FNR { wanted[$1]; next } ($1 in wanted) && $2 == "true" { print $1 }' <(printf '%s\n' "$wanted") - <<<"$live" |
  patch '{"metadata":{"annotations":{"batchwright/drained":null}},"spec":{"stopPolicy":"None"}}'

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
    printf 'These ClusterQueues admit nothing:\n%s\n' "$inactive" >&2
    exit 1
  fi
  sleep 5
done
