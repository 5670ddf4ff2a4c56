#!/usr/bin/env bash
# Creates the dashboards in the namespace in which the cluster's Grafana looks for
# them. The namespace is created too, because Grafana may be installed later.
set -euo pipefail

kubectl create namespace "$NAMESPACE" --dry-run=client -o yaml |
  kubectl apply --server-side --field-manager=batchwright -f -
kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards
