#!/usr/bin/env bash
# Waits until every ClusterQueue of the platform admits workloads.
set -euo pipefail

# A destroy that did not finish has left the queues stopped.
kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
  -o 'jsonpath={range .items[?(@.spec.stopPolicy!="None")]}{.metadata.name}{"\n"}{end}' |
  xargs -r -n 200 -P 8 kubectl patch clusterqueues.kueue.x-k8s.io --type=merge -p '{"spec":{"stopPolicy":"None"}}'

tries=60
while true; do
  inactive=$(kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
    -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{.status.conditions[?(@.type=="Active")].status}{" "}{.status.conditions[?(@.type=="Active")].message}{"\n"}{end}' |
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
