#!/usr/bin/env bash
# Creates the dashboards in the namespace in which the cluster's Grafana looks for
# them. The namespace is created too, because Grafana may be installed later. A namespace
# that exists stays as it is.
set -euo pipefail

found=$(kubectl get namespaces "$NAMESPACE" --ignore-not-found -o name)
if [[ -z $found ]]; then
  kubectl create namespace "$NAMESPACE"
  kubectl label namespaces "$NAMESPACE" "$PLATFORM"
fi
kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards
