#!/usr/bin/env bash
# Empties the cluster of what would outlive it or keep it from being deleted:
# the teams' workloads, load balancers and disks. Without a cluster that runs
# there is nothing to do.
set -euo pipefail

status=$(gcloud container clusters list --project="$PROJECT" --location="$REGION" \
  --filter="name=\"$CLUSTER\"" --format='value(status)')
case $status in
RUNNING | RECONCILING | DEGRADED) ;;
*)
  echo "No cluster $CLUSTER runs: nothing to drain."
  exit 0
  ;;
esac
gcloud container clusters get-credentials "$CLUSTER" --project="$PROJECT" --location="$REGION" "$ENDPOINT"

# STOP
# The teams' namespaces go with everything in them: JobSets, Jobs and their
# pods, Services, volume claims. Nothing can be made in them from then on.
kubectl delete namespaces -l "$TEAMS" --wait=false

tries=60
while true; do
  namespaces=$(kubectl get namespaces -l "$TEAMS" -o name)
  balancers=$(kubectl get services --all-namespaces \
    -o 'jsonpath={range .items[?(@.spec.type=="LoadBalancer")]}Service {.metadata.namespace}/{.metadata.name}{"\n"}{end}')
  volumes=$(kubectl get persistentvolumes \
    -o 'jsonpath={range .items[?(@.spec.persistentVolumeReclaimPolicy=="Delete")]}PersistentVolume {.metadata.name}, claim {.spec.claimRef.namespace}/{.spec.claimRef.name}{"\n"}{end}')
  if [[ -z $namespaces$balancers$volumes ]]; then
    echo 'The cluster is drained.'
    exit 0
  fi
  tries=$((tries - 1))
  if ((tries == 0)); then
    break
  fi
  sleep 30
done

if [[ -n $balancers$volumes ]]; then
  printf 'These would outlive the cluster. Delete them, then destroy again:\n%s\n%s\n' "$balancers" "$volumes" >&2
  exit 1
fi
printf 'These namespaces have not ended. They go with the cluster:\n%s\n' "$namespaces"
