#!/usr/bin/env bash
# Removes from the cluster, which others own, everything that the platform has added to it,
# and nothing else. The objects of the platform have its label. If no cluster runs, the step
# does nothing.
set -euo pipefail

# INCLUDE running.bash
# STOP
# With a namespace, Kubernetes deletes everything in it: JobSets, Jobs and their pods,
# Services and volume claims. A namespace that its owner has handed over stays.
own=$(kubectl get namespaces -l "$TEAMS,!$EXISTING" -o 'jsonpath={.items[*].metadata.name}')
kubectl delete namespaces -l "$TEAMS,!$EXISTING" --wait=false

# INCLUDE holding.bash
# remaining prints what is not deleted yet: the namespaces and what holds them, and their
# disks, which outlive them.
remaining() {
  kubectl get namespaces -l "$TEAMS,!$EXISTING" -o name || return
  holding "$TEAMS,!$EXISTING" || return
  kubectl get persistentvolumes \
    -o 'jsonpath={range .items[?(@.spec.persistentVolumeReclaimPolicy=="Delete")]}PersistentVolume {.metadata.name} {.spec.claimRef.namespace}{"\n"}{end}' |
    awk -v "own= $own " 'NF == 3 && index(own, " " $3 " ")'
}

tries=120
until left=$(remaining) && [[ -z $left ]]; do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf 'These are not deleted yet. Correct the cause, then run destroy-platform.sh again:\n%s\n' "$left" >&2
    refusing >&2
    exit 1
  fi
  tell "$left"
  sleep 15
done

# known prints the kinds of a list that the cluster knows. Kinds of CRDs have a group that
# is not built in.
known() { # kinds
  local kind out=
  for kind; do
    case $kind in
    *.kueue.x-k8s.io | *.cloud.google.com | *.networking.gke.io | *.monitoring.googleapis.com)
      [[ -n $(kubectl get customresourcedefinitions "$kind" --ignore-not-found -o name) ]] || continue
      ;;
    esac
    out+="${out:+,}$kind"
  done
  printf '%s' "$out"
}

# objects prints the platform's objects of some kinds, and why they are still there.
objects() { # kinds, flags of kubectl
  kubectl get "$1" --all-namespaces -l "$PLATFORM" "${@:2}" \
    -o go-template='{{range .items}}{{.kind}} {{with .metadata.namespace}}{{.}}/{{end}}{{.metadata.name}} {{if .metadata.deletionTimestamp}}waits for its finalizers {{.metadata.finalizers}}{{else}}is there again: somebody creates it{{end}}{{"\n"}}{{end}}'
}

# remove deletes the platform's objects of the kinds that the cluster knows, and waits until
# they are gone. Kueue keeps an object with a finalizer as long as another one uses it.
remove() { # kinds, flags of kubectl
  local kinds left tries=90
  # shellcheck disable=SC2086 # a list
  kinds=$(known $1)
  if [[ -z $kinds ]]; then
    return
  fi
  kubectl delete "$kinds" --all-namespaces -l "$PLATFORM" --wait=false "${@:2}"
  until left=$(objects "$kinds" "${@:2}") && [[ -z $left ]]; do
    tries=$((tries - 1))
    if ((tries == 0)); then
      printf 'These objects stay. Stop who creates them, or delete what uses them, then run destroy-platform.sh again:\n%s\n' "$left" >&2
      refusing >&2
      exit 1
    fi
    tell "$left"
    sleep 10
  done
}

# Queues come before flavors and checks, which cannot go while a queue names them.
for kinds in localqueues.kueue.x-k8s.io clusterqueues.kueue.x-k8s.io \
  'cohorts.kueue.x-k8s.io resourceflavors.kueue.x-k8s.io admissionchecks.kueue.x-k8s.io' \
  'topologies.kueue.x-k8s.io workloadpriorityclasses.kueue.x-k8s.io' \
  provisioningrequestconfigs.kueue.x-k8s.io \
  'validatingadmissionpolicybindings validatingadmissionpolicies' \
  'clusterrolebindings clusterroles priorityclasses computeclasses.cloud.google.com' \
  'networks.networking.gke.io gkenetworkparamsets.networking.gke.io'; do
  remove "$kinds"
done
# The namespaces of the controllers go with the controllers. If others use a controller, it
# stays, and needs its configuration.
remove 'rolebindings roles serviceaccounts secrets configmaps networkpolicies resourcequotas daemonsets.apps podmonitorings.monitoring.googleapis.com' \
  --field-selector="metadata.namespace!=$KUEUE,metadata.namespace!=$JOBSET"

# The platform has created the namespace of the dashboards, if there was none. It stays if
# somebody uses it.
namespaces=$(kubectl get namespaces -l "$PLATFORM,!team,!$EXISTING" -o 'jsonpath={.items[*].metadata.name}')
for namespace in $namespaces; do
  users=$(kubectl -n "$namespace" get pods,deployments,statefulsets,persistentvolumeclaims -o name)
  if [[ -z $users ]]; then
    kubectl delete namespaces "$namespace" --timeout=900s
  fi
done

# The owner of a namespace that was handed over gets it back, with its jobs. An object
# without fields removes all labels and annotations that only the platform has set; the
# owner has set the last two labels.
namespaces=$(kubectl get namespaces -l "$TEAMS,$EXISTING" -o 'jsonpath={.items[*].metadata.name}')
for namespace in $namespaces; do
  printf '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%s"}}' "$namespace" |
    kubectl apply --server-side --field-manager=batchwright -f -
  kubectl label namespaces "$namespace" app.kubernetes.io/part-of- "$EXISTING-"
done
# Queues and flavors that ran before the platform stay as they are, without its labels.
for kind in localqueues clusterqueues cohorts resourceflavors topologies workloadpriorityclasses; do
  if [[ -n $(known "$kind.kueue.x-k8s.io") ]]; then
    kubectl label "$kind.kueue.x-k8s.io" --all-namespaces -l "${PLATFORM%%,*},$EXISTING" \
      app.kubernetes.io/part-of- app.kubernetes.io/managed-by- team- "$EXISTING-"
  fi
done
echo 'The cluster has nothing of the platform any more, except its node pools.'
