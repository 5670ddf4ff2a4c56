#!/usr/bin/env bash
# Deletes the teams' namespaces, and waits until the cluster has no load balancers and
# disks: they would outlive the cluster or block its deletion. If no cluster runs, the
# step does nothing.
set -euo pipefail

# INCLUDE running.bash
# STOP
# With a namespace, Kubernetes deletes everything in it: JobSets, Jobs and their pods,
# Services and volume claims. From now on, nobody can create objects in the namespaces.
kubectl delete namespaces -l "$TEAMS" --wait=false

# INCLUDE holding.bash
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
  held=$(holding "$TEAMS")
  tell "$held" "$balancers" "$volumes"
  tries=$((tries - 1))
  if ((tries == 0)); then
    break
  fi
  sleep 30
done

refusing >&2
if [[ -n $balancers$volumes ]]; then
  printf 'These load balancers and disks would outlive the cluster. Delete them, then run destroy-platform.sh again:\n%s\n%s\n' "$balancers" "$volumes" >&2
  exit 1
fi
printf 'These namespaces are not deleted yet. They are deleted with the cluster:\n%s\n%s\n' "$namespaces" "$held"
