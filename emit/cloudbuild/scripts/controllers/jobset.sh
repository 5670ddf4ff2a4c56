#!/usr/bin/env bash
# Installs JobSet and waits until the API server reaches its webhook.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# MANIFEST

kubectl apply --server-side --force-conflicts --field-manager=jobset-release -f "$work/release.yaml"
kubectl -n "$NAMESPACE" rollout status deployment/jobset-controller-manager --timeout=600s

# The controller is ready before the API server has its certificate. A dry run sends
# this JobSet through the webhook without creating it.
probe='
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: probe
  namespace: default
spec:
  replicatedJobs:
  - name: probe
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
            - name: probe
              image: probe
'
tries=60
until problem=$(kubectl create --dry-run=server -f - <<<"$probe" 2>&1); do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe webhook of JobSet does not answer. Check the pods of namespace %s, then submit this build again.\n' \
      "$problem" "$NAMESPACE" >&2
    exit 1
  fi
  sleep 5
done
