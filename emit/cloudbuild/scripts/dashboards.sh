#!/usr/bin/env bash
# Puts the dashboards where the Grafana of the cluster looks for them. The
# namespace may be there before Grafana is.
set -euo pipefail

kubectl create namespace "$NAMESPACE" --dry-run=client -o yaml |
  kubectl apply --server-side --field-manager=batchwright -f -
kubectl apply --server-side --force-conflicts --field-manager=batchwright -k dashboards
