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

# Nothing starts any more, and what runs is stopped. The mark tells these queues
# from those that an administrator has stopped, should the platform be built
# again. Of a platform that was only half built Kueue may be missing, and then
# no queue admits anything. With another scheduler jobs end with their namespace,
# in which no others can be made.
if [[ -n $KUEUE ]]; then
  ready=$(kubectl -n "$KUEUE" get deployment kueue-controller-manager --ignore-not-found \
    -o 'jsonpath={.status.availableReplicas}')
  if ((${ready:-0} > 0)); then
    kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
      -o 'jsonpath={range .items[?(@.spec.stopPolicy=="None")]}{.metadata.name}{"\n"}{end}' |
      xargs -r -n 200 -P 8 kubectl patch clusterqueues.kueue.x-k8s.io --type=merge \
        -p '{"metadata":{"annotations":{"batchwright/drained":"true"}},"spec":{"stopPolicy":"HoldAndDrain"}}'
  else
    echo 'Kueue does not run: its queues are not stopped.'
  fi
fi

# The teams' namespaces go with everything in them: JobSets, Jobs and their
# pods, Services, volume claims. Kueue, where it is, takes its finalizers off as
# jobs end.
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
